//! `PhalanxCharacter`, and how characters become instances of the crowd.

use crate::PhalanxSystems;
use crate::crowd::PhalanxCrowd;
use crate::events::PhalanxError;
use crate::joints::PhalanxAttachment;
use crate::loader::PhalanxRig;
use crate::player;
use bevy::asset::{AssetId, Assets, Handle};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{NoAutoAabb, Visibility};
use bevy::ecs::message::MessageWriter;
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::mesh::Mesh3d;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::pbr::MeshMaterial3d;
use bevy::prelude::{App, ReflectComponent, ReflectDefault, Transform};
use bevy::reflect::Reflect;
use bevy::world_serialization::WorldAssetRoot;
use phalanx::crowd::{InstanceId, RigId};
use std::ops::Range;
use tracing::{error, info};

/// A character of the crowd: spawn it with a rig, a [`Transform`] and, to move, a [`PhalanxPlayer`].
///
/// With a `WorldAssetRoot` of Bevy's beside it, the scene of the same file, the character takes the meshes and materials
/// of that scene, whose nodes go. Without one, when the rig has loaded, the character gets a child for each primitive of the rig's meshes, and a
/// [`PhalanxInstance`].
///
/// When its file changes, or its handle, what plays goes on by its names once the other rig has loaded.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
#[require(Transform, Visibility)]
pub struct PhalanxCharacter(pub Handle<PhalanxRig>);

/// Beside a [`PhalanxCharacter`]: an entity per joint as its child, with the joint's name and [`PhalanxAttachment`].
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxJointEntities;

/// A character that is an instance of the crowd. The plugin adds and removes it.
#[derive(Component, Debug)]
pub struct PhalanxInstance {
    pub(crate) instance: InstanceId,
    pub(crate) rig: RigId,
    asset: AssetId<PhalanxRig>,
    /// The children that the plugin spawned, with the rows of the palette that each shows.
    pub(crate) meshes: Vec<(Entity, Range<usize>)>,
}

impl PhalanxInstance {
    /// The instance, for [`PhalanxCrowd::crowd`].
    pub fn id(&self) -> InstanceId {
        self.instance
    }

    /// True if its rig is the one that the character is to have.
    pub(crate) fn is_of(&self, character: &PhalanxCharacter) -> bool {
        self.asset == character.0.id()
    }

    /// Its rig.
    pub fn rig(&self) -> RigId {
        self.rig
    }
}

pub fn add(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_systems(schedule, (release, bind, player::apply).chain().in_set(PhalanxSystems::Bind));
}

/// A skin of Bevy's without joint entities and inverse bind matrices: Bevy reserves matrices for it and leaves them alone.
pub fn skin(joints: usize) -> SkinnedMesh {
    SkinnedMesh { joints: vec![Entity::PLACEHOLDER; joints], ..SkinnedMesh::default() }
}

/// The entities that the plugin spawned for the joints of a character with [`PhalanxJointEntities`].
#[derive(Component)]
pub struct JointEntities(Vec<Entity>);

/// Characters that are gone, or have another rig or a changed one, leave the crowd.
fn release(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    assets: Res<Assets<PhalanxRig>>,
    mut gone: RemovedComponents<PhalanxInstance>,
    orphans: Query<Entity, (With<PhalanxInstance>, Without<PhalanxCharacter>)>,
    bound: Query<(Entity, &PhalanxCharacter, &PhalanxInstance)>,
    all: Query<(Entity, &PhalanxInstance)>,
    mut scenes: Query<&mut WorldAssetRoot>,
    joints: Query<&JointEntities>,
) {
    let mut leave: Vec<InstanceId> = Vec::new();
    // One that was bound again in the same frame stays.
    for entity in gone.read().filter(|&entity| !all.contains(entity)) {
        leave.extend(crowd.instances.remove(&entity));
    }
    if crowd.instances.len() != all.iter().len() {
        // Some were despawned before they got their component, or where removals are not seen.
        let gone = |entity: &Entity, _: &mut InstanceId| !all.contains(*entity);
        leave.extend(crowd.instances.extract_if(gone).map(|(_, instance)| instance));
    }
    let mut unbound: Vec<Entity> = orphans.iter().collect();
    for &entity in &unbound {
        for &joint in joints.get(entity).into_iter().flat_map(|joints| &joints.0) {
            commands.entity(joint).try_despawn();
        }
        commands.entity(entity).try_remove::<JointEntities>();
    }
    for (entity, character, instance) in bound.iter().filter(|(_, c, i)| !i.is_of(c)) {
        // Until the other rig has loaded, it stays what it is.
        let Some(rig) = assets.get(character.0.id()) else { continue };
        if !crowd.is_refused(character.0.id(), &rig.rig) {
            let names = crowd.rigs.get(&instance.asset).map(|loaded| &loaded.names);
            let calls = names.map(|names| player::resume(&crowd.crowd, names, instance.instance));
            crowd.resumed.insert(entity, calls.unwrap_or_default());
            unbound.push(entity);
        }
    }
    for (asset, rig) in crowd.changed_rigs(&assets) {
        match crowd.replace(asset, &rig) {
            Ok(names) => {
                for (entity, instance) in all.iter().filter(|(_, i)| i.asset == asset) {
                    let calls = player::resume(&crowd.crowd, &names, instance.instance);
                    crowd.resumed.insert(entity, calls);
                    unbound.push(entity);
                }
            }
            Err(error) => error!("{}: its characters stay as they were: {error}", rig.name()),
        }
    }
    for entity in unbound {
        let Ok((_, instance)) = all.get(entity) else { continue };
        for (mesh, _) in &instance.meshes {
            commands.entity(*mesh).try_despawn();
        }
        if let Ok(mut scene) = scenes.get_mut(entity) {
            // Bevy spawns it again.
            scene.set_changed();
        }
        commands.entity(entity).try_remove::<PhalanxInstance>();
        leave.extend(crowd.instances.remove(&entity));
    }
    for &instance in &leave {
        crowd.entities.remove(&instance);
    }
    if let Err(error) = crowd.crowd.despawn_many(&leave) {
        error!("characters cannot leave the crowd: {error}");
    }
    crowd.drop_rigs(&assets);
}

/// Characters whose rig has loaded become instances.
pub fn bind(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    assets: Res<Assets<PhalanxRig>>,
    waiting: Query<
        (
            Entity,
            &PhalanxCharacter,
            Has<WorldAssetRoot>,
            Has<PhalanxJointEntities>,
            Option<&JointEntities>,
        ),
        Without<PhalanxInstance>,
    >,
    attachments: Query<&PhalanxAttachment>,
    mut errors: MessageWriter<PhalanxError>,
) {
    let crowd = &mut *crowd;
    for (entity, character, scene, joints, old_joints) in &waiting {
        let asset = character.0.id();
        let Some(rig) = assets.get(asset) else { continue };
        if crowd.is_refused(asset, &rig.rig) {
            continue;
        }
        let bound = crowd.load(asset, &rig.rig).and_then(|id| Ok((id, crowd.crowd.spawn(id)?)));
        let (id, instance) = match bound {
            Ok(bound) => bound,
            Err(error) => {
                error!("{}: no characters: {error}", rig.rig.name());
                crowd.refuse(asset, &rig.rig);
                continue;
            }
        };
        crowd.instances.insert(entity, instance);
        crowd.entities.insert(instance, entity);
        for call in crowd.resumed.remove(&entity).into_iter().flatten() {
            let known = |name| crowd.playable(id, name).is_ok();
            if call.name().is_none_or(known) {
                player::apply_one(crowd, entity, instance, &call, &mut errors);
            } else {
                info!(
                    "{entity}: {} does not go on, {} has none",
                    call.name().unwrap_or(""),
                    rig.rig.name()
                );
            }
        }
        let mut meshes = Vec::new();
        // Bevy's scene brings meshes of its own.
        for surface in rig.surfaces.iter().filter(|surface| surface.lod == 0 && !scene) {
            let skin = skin(surface.rows.len());
            let mesh = Mesh3d(surface.mesh.clone());
            let material = MeshMaterial3d(surface.material.clone());
            let child = commands
                .spawn((mesh, material, skin, Aabb::default(), NoAutoAabb, ChildOf(entity)))
                .id();
            meshes.push((child, surface.rows.clone()));
        }
        if joints {
            let names = rig.rig.skeleton().names();
            let mut kept = old_joints.map_or_else(Vec::new, |old| old.0.clone());
            // What the game hung on the joints of the rig before stays, if the joints do.
            kept.retain(|&joint| match attachments.get(joint) {
                Ok(attachment) if names.contains(&attachment.joint) => true,
                _ => {
                    commands.entity(joint).try_despawn();
                    false
                }
            });
            let has = |name: &String| {
                kept.iter().any(|&j| attachments.get(j).is_ok_and(|a| a.joint == *name))
            };
            let missing: Vec<&String> = names.iter().filter(|name| !has(name)).collect();
            for name in missing {
                let attachment = PhalanxAttachment::new(name);
                let joint = (attachment, Name::new(name.clone()), ChildOf(entity));
                kept.push(commands.spawn(joint).id());
            }
            commands.entity(entity).try_insert(JointEntities(kept));
        }
        commands.entity(entity).try_insert(PhalanxInstance { instance, rig: id, asset, meshes });
    }
    crowd.resumed.clear();
}
