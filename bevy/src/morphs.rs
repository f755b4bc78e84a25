//! Morph targets: Bevy draws them from weights that a mesh's entity holds.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::loader::{PhalanxRig, RigSurface};
use crate::{frame, levels};
use bevy::ecs::prelude::*;
use bevy::mesh::morph::MeshMorphWeights;
use bevy::prelude::{App, PostUpdate};
use std::ops::Range;
use tracing::warn;

/// A character some of whose meshes have morph targets.
#[derive(Component)]
pub struct Morphed;

/// The scalars of a character's skeleton that are the weights of a mesh.
#[derive(Component)]
pub struct MorphScalars(pub Range<usize>);

pub fn add(app: &mut App) {
    app.add_systems(
        PostUpdate,
        set_weights.in_set(PhalanxSystems::Evaluate).after(frame::evaluate).after(levels::choose),
    );
}

/// Gives a mesh the weights that the morph targets of a surface need. One without targets has none.
pub fn follow(mesh: &mut EntityCommands, rig: &PhalanxRig, surface: Option<&RigSurface>) {
    let weights = surface.and_then(|surface| {
        let node = rig.rig.nodes().get(rig.rig.meshes().get(surface.mesh_index)?.node)?;
        weights(node.morphs.clone(), surface.targets)
    });
    match weights {
        Some(weights) => mesh.try_insert(weights),
        None => mesh.try_remove::<(MorphScalars, MeshMorphWeights)>(),
    };
}

/// What a mesh of so many targets has, whose weights are these scalars; `None` if it has no targets.
pub fn weights(scalars: Range<usize>, targets: usize) -> Option<(MorphScalars, MeshMorphWeights)> {
    // Bevy reads a weight for each target. A coarser level may have more than the mesh that has the weights.
    let (end, weights) = (scalars.end.min(scalars.start + targets), vec![0.0; targets]);
    let scalars = MorphScalars(scalars.start..end);
    (targets > 0).then_some((scalars, MeshMorphWeights::Value { weights }))
}

/// Weights of this frame, of the characters that are in a picture.
fn set_weights(
    crowd: Res<PhalanxCrowd>,
    characters: Query<&PhalanxInstance, With<Morphed>>,
    mut meshes: Query<(&MorphScalars, &mut MeshMorphWeights)>,
    mut scalars: Local<Vec<f32>>,
) {
    let crowd = &crowd.crowd;
    for instance in &characters {
        if crowd.shown(instance.id()).is_none() {
            continue;
        }
        scalars.clear();
        if let Err(error) = crowd.scalars(instance.id(), &mut scalars) {
            warn!("a character keeps its morph weights: {error}");
            continue;
        }
        for (mesh, _) in &instance.meshes {
            let Ok((MorphScalars(range), mut weights)) = meshes.get_mut(*mesh) else { continue };
            if let (MeshMorphWeights::Value { weights }, Some(now)) =
                (&mut *weights, scalars.get(range.clone()))
                && let Some(weights) = weights.get_mut(..now.len())
            {
                weights.copy_from_slice(now);
            }
        }
    }
}
