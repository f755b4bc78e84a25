//! Characters spawned from Bevy's own scenes: their meshes stay, their joints go.

use crate::PhalanxSystems;
use crate::character::{self, PhalanxCharacter, PhalanxInstance};
use crate::crowd::PhalanxCrowd;
use crate::joints::{self, PhalanxAttachment};
use crate::morphs::{self, Morphed};
use bevy::asset::AssetServer;
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{DynamicSkinnedMeshBounds, NoAutoAabb};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::math::{Affine3A, Mat4, Quat};
use bevy::mesh::Mesh3d;
use bevy::mesh::morph::MeshMorphWeights;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::{App, Transform};
use bevy::world_serialization::{InstanceId, WorldInstanceReady, WorldInstanceSpawner};
use phalanx::rig::Rig;
use std::ops::Range;
use tracing::error;

/// The scene of a character has spawned, and its meshes are still Bevy's.
#[derive(Component)]
pub struct SceneReady(InstanceId);

pub fn add(app: &mut App) {
    app.add_observer(
        |ready: On<WorldInstanceReady>,
         mut commands: Commands,
         c: Query<(), With<PhalanxCharacter>>| {
            if c.contains(ready.entity) {
                commands.entity(ready.entity).try_insert(SceneReady(ready.instance_id));
            }
        },
    );
}

pub fn add_systems(app: &mut App, schedule: InternedScheduleLabel) {
    let adopt = adopt.run_if(resource_exists::<WorldInstanceSpawner>).after(character::bind);
    app.add_systems(schedule, adopt.in_set(PhalanxSystems::Bind));
}

/// Gives the meshes of a scene the palettes of its character and takes its nodes away.
fn adopt(
    mut commands: Commands,
    crowd: Res<PhalanxCrowd>,
    server: Res<AssetServer>,
    spawner: Res<WorldInstanceSpawner>,
    mut ready: Query<(Entity, &SceneReady, &mut PhalanxInstance)>,
    skinned: Query<&SkinnedMesh>,
    meshes: Query<(&ChildOf, Has<SkinnedMesh>, Has<MeshMorphWeights>), With<Mesh3d>>,
    tree: Query<(Option<&Name>, &ChildOf)>,
    children: Query<&Children>,
) {
    for (entity, scene, mut instance) in &mut ready {
        commands.entity(entity).remove::<SceneReady>();
        let Ok(rig) = crowd.crowd.rig(instance.rig()) else { continue };
        if rig.lod_count() > 1 {
            error!("{entity}: a scene of Bevy's has no levels of detail; spawn without it");
        }
        let of_scene: Vec<Entity> = spawner.iter_instance_entities(scene.0).collect();
        let mut kept = Vec::new();
        if !instance.own_meshes {
            // Those of a scene before this one are gone with it.
            instance.meshes.clear();
        }
        for &mesh in &of_scene {
            let Ok((child_of, skins, morphs)) = meshes.get(mesh) else { continue };
            let node = child_of.parent();
            let siblings = |parent| {
                let all = children.get(parent).into_iter().flatten().copied();
                all.filter(|&child| !meshes.contains(child))
            };
            let Some(found) = find(rig, entity, node, &tree, &siblings) else {
                error!("{mesh}: its node {node} is not in {}", rig.name());
                continue;
            };
            let adopted = match skins {
                true => skin(&mut commands, &server, rig, (entity, mesh), &skinned),
                false => Some(rigid(&mut commands, rig, (entity, mesh), found)),
            };
            let Some(rows) = adopted else { continue };
            kept.push(mesh);
            let scalars = rig.nodes()[found].morphs.clone();
            let targets = if morphs { scalars.len() } else { 0 };
            if let Some(weights) = morphs::weights(scalars, targets) {
                commands.entity(mesh).insert(weights);
                commands.entity(entity).insert(Morphed);
            }
            if !rows.is_empty() || morphs {
                instance.meshes.push((mesh, rows));
            }
        }
        // The other nodes go, without those that have moved out of them.
        let is_root = |e: &Entity| tree.get(*e).is_ok_and(|(_, above)| above.parent() == entity);
        for root in of_scene.into_iter().filter(is_root).filter(|root| !kept.contains(root)) {
            commands.entity(root).try_despawn();
        }
    }
}

/// The node of a rig that an entity of a scene is: of its parent's children of one name the k-th is the k-th. `None` for
/// the root of the scene, which is below the character, and for what the rig does not have.
fn find<S: Iterator<Item = Entity>>(
    rig: &Rig,
    character: Entity,
    entity: Entity,
    tree: &Query<(Option<&Name>, &ChildOf)>,
    siblings: &impl Fn(Entity) -> S,
) -> Option<usize> {
    let above = |entity| tree.get(entity).ok().map(|(_, child_of)| child_of.parent());
    let name = |entity| tree.get(entity).ok().and_then(|(name, _)| name).map_or("", Name::as_str);
    let parent = above(entity).filter(|&parent| parent != character)?;
    let at = match above(parent)? {
        root if root == character => None,
        _ => Some(find(rig, character, parent, tree, siblings)?),
    };
    let own = name(entity);
    let before = siblings(parent).take_while(|&other| other != entity);
    let number = before.filter(|&other| name(other) == own).count();
    let named = rig.nodes().iter().enumerate().filter(|(_, node)| {
        node.parent == at
            && match &node.name {
                Some(name) => name == own,
                None => own.strip_prefix("GltfNode").is_some_and(|n| n == node.source.to_string()),
            }
    });
    // A light beside it may have its name.
    named.take(number + 1).last().map(|(index, _)| index)
}

/// A mesh with a skin: it hangs below the character. `None` if the rig has no such skin.
fn skin(
    commands: &mut Commands,
    server: &AssetServer,
    rig: &Rig,
    (character, mesh): (Entity, Entity),
    skinned: &Query<&SkinnedMesh>,
) -> Option<Range<usize>> {
    let skin = skinned.get(mesh).ok()?;
    let path = server.get_path(skin.inverse_bindposes.id());
    let label = path.as_ref().and_then(|path| path.label()).unwrap_or("");
    let joints = skin.joints.len();
    let Some(rows) = skin_rows(rig, label, joints) else {
        error!("{mesh}: skin `{label}` of {joints} joints is not in {}", rig.name());
        return None;
    };
    let bounds = (Aabb::default(), NoAutoAabb);
    commands
        .entity(mesh)
        .insert((character::skin(joints), Transform::IDENTITY, bounds, ChildOf(character)))
        .remove::<DynamicSkinnedMeshBounds>();
    Some(rows)
}

/// A mesh without a skin follows the joint that its node is, or stands where the file has it.
fn rigid(
    commands: &mut Commands,
    rig: &Rig,
    (character, mesh): (Entity, Entity),
    found: usize,
) -> Range<usize> {
    let mut place = Affine3A::IDENTITY;
    let mut at = Some(found);
    let mut joint = None;
    while let Some(node) = at.and_then(|at| rig.nodes().get(at)).filter(|_| joint.is_none()) {
        joint = node.joint;
        if joint.is_none() {
            let local = match &node.matrix {
                Some(matrix) => Affine3A::from_mat4(Mat4::from_cols_array(matrix)),
                None => Affine3A::from_scale_rotation_translation(
                    node.local.scale.to_array().into(),
                    Quat::from_array(node.local.rotation.to_array()),
                    node.local.translation.to_array().into(),
                ),
            };
            place = local * place;
        }
        at = node.parent;
    }
    let transform = Transform::from_matrix(place.into());
    let mut mesh = commands.entity(mesh);
    mesh.insert((transform, ChildOf(character)));
    if let Some(joint) = joint {
        let joint = joints::handle(rig.skeleton(), usize::from(joint));
        mesh.insert(PhalanxAttachment { joint });
    }
    0..0
}

/// The rows of a skin of the file by the label that Bevy's loader gives its matrices: `Skin0/InverseBindMatrices`.
fn skin_rows(rig: &Rig, label: &str, joints: usize) -> Option<Range<usize>> {
    let number = label.strip_prefix("Skin")?.split('/').next()?.parse::<usize>().ok()?;
    let skin = rig.file_skins().get(number).filter(|skin| skin.len() == joints)?;
    let offset = rig.palette_offset(number);
    Some(offset..offset + skin.len())
}
