//! Morph targets: Bevy draws them from weights that a mesh's entity holds.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::ecs::prelude::*;
use bevy::mesh::morph::MeshMorphWeights;
use bevy::prelude::{App, PostUpdate};
use phalanx::rig::Rig;
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
        set_weights.in_set(PhalanxSystems::Evaluate).after(frame::evaluate),
    );
}

/// What a mesh with the weights of a rig's node has; `None` if it has none.
pub fn weights(rig: &Rig, node: usize) -> Option<(MorphScalars, MeshMorphWeights)> {
    let scalars = rig.nodes().get(node)?.morphs.clone();
    let weights = vec![0.0; scalars.len()];
    (!scalars.is_empty()).then_some((MorphScalars(scalars), MeshMorphWeights::Value { weights }))
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
                && weights.len() == now.len()
            {
                weights.copy_from_slice(now);
            }
        }
    }
}
