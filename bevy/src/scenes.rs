//! Characters spawned from Bevy's own scenes: their meshes stay, their joints go.

use crate::PhalanxSystems;
use crate::character::{self, PhalanxCharacter, PhalanxInstance};
use crate::crowd::PhalanxCrowd;
use crate::joints::PhalanxAttachment;
use bevy::asset::AssetServer;
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{DynamicSkinnedMeshBounds, NoAutoAabb};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::mesh::Mesh3d;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::{App, Transform};
use bevy::world_serialization::WorldInstanceReady;
use phalanx::rig::Rig;
use std::ops::Range;
use tracing::error;

/// The scene of a character has spawned, and its meshes are still Bevy's.
#[derive(Component)]
pub struct SceneReady;

pub fn add(app: &mut App) {
    app.add_observer(
        |ready: On<WorldInstanceReady>,
         mut commands: Commands,
         c: Query<(), With<PhalanxCharacter>>| {
            if c.contains(ready.entity) {
                commands.entity(ready.entity).try_insert(SceneReady);
            }
        },
    );
}

pub fn add_systems(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_systems(schedule, adopt.after(character::bind).in_set(PhalanxSystems::Bind));
}

/// Gives the meshes of a scene the palettes of its character and takes its nodes away.
fn adopt(
    mut commands: Commands,
    crowd: Res<PhalanxCrowd>,
    server: Res<AssetServer>,
    mut ready: Query<(Entity, &mut PhalanxInstance), With<SceneReady>>,
    children: Query<&Children>,
    skinned: Query<&SkinnedMesh>,
    meshes: Query<&ChildOf, (With<Mesh3d>, Without<SkinnedMesh>)>,
    names: Query<&Name>,
) {
    for (entity, mut instance) in &mut ready {
        let Ok(rig) = crowd.crowd.rig(instance.rig()) else { continue };
        let roots: Vec<Entity> = children.get(entity).into_iter().flatten().copied().collect();
        for descendant in children.iter_descendants(entity) {
            if let Ok(skin) = skinned.get(descendant) {
                let path = server.get_path(skin.inverse_bindposes.id());
                let label = path.as_ref().and_then(|path| path.label()).unwrap_or("");
                let Some(rows) = skin_rows(rig, label, skin.joints.len()) else {
                    error!(
                        "{descendant}: skin `{label}` of {} joints is not in {}",
                        skin.joints.len(),
                        rig.name()
                    );
                    continue;
                };
                commands
                    .entity(descendant)
                    .insert((
                        character::skin(rows.len()),
                        Transform::IDENTITY,
                        Aabb::default(),
                        NoAutoAabb,
                    ))
                    .insert(ChildOf(entity))
                    .remove::<DynamicSkinnedMeshBounds>();
                instance.meshes.push((descendant, rows));
            } else if let Ok(node) = meshes.get(descendant) {
                // A mesh without a skin hangs below its node, which moves as a joint.
                let node = node.parent();
                let name = names.get(node).map(Name::as_str).unwrap_or("");
                if rig.skeleton().joint(name).is_err() {
                    error!("{descendant}: its node `{name}` is no joint of {}", rig.name());
                    continue;
                }
                commands
                    .entity(node)
                    .insert((PhalanxAttachment::new(name), Transform::IDENTITY))
                    .insert(ChildOf(entity));
            }
        }
        commands.entity(entity).remove::<SceneReady>();
        // After the calls above, so that what has moved stays.
        commands.queue(move |world: &mut World| {
            for root in roots {
                let kept = world.get::<SkinnedMesh>(root).is_some()
                    || world.get::<PhalanxAttachment>(root).is_some();
                if !kept && let Ok(root) = world.get_entity_mut(root) {
                    root.despawn();
                }
            }
        });
    }
}

/// The rows of a skin of the file by the label that Bevy's loader gives its matrices: `Skin0/InverseBindMatrices`.
fn skin_rows(rig: &Rig, label: &str, joints: usize) -> Option<Range<usize>> {
    let number = label.strip_prefix("Skin")?.split('/').next()?.parse::<usize>().ok()?;
    let skin = rig.file_skins().get(number).filter(|skin| skin.len() == joints)?;
    let offset = rig.palette_offset(number);
    Some(offset..offset + skin.len())
}
