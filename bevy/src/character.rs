//! `PhalanxCharacter`, and how characters become instances of the crowd.

use crate::PhalanxSystems;
use crate::calls;
use crate::crowd::{PhalanxCrowd, Resumed};
use crate::events::PhalanxError;
use crate::levels;
use crate::loader::PhalanxRig;
use crate::morphs::{self, Morphed};
use crate::player::{Call, PhalanxPlayer};
use bevy::asset::{AssetId, Assets, Handle};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{InheritedVisibility, NoAutoAabb, Visibility};
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::message::MessageWriter;
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::{App, ReflectComponent, ReflectDefault, Transform};
use bevy::reflect::Reflect;
use bevy::world_serialization::WorldAssetRoot;
use phalanx::crowd::{InstanceId, RigId};
use std::ops::Range;
use tracing::{error, info};

/// A character of the crowd: spawn it with a rig, a [`Transform`] and, to move, a [`PhalanxPlayer`].
///
/// With a `WorldAssetRoot` of Bevy's beside it, the scene of the same file, the character takes the meshes and materials
/// of that scene, whose nodes go. Without one, when the rig has loaded, the character gets a child for each primitive of
/// the rig's meshes, and a [`PhalanxInstance`].
///
/// With Bevy's `Disabled` it stands still.
///
/// When its file changes, or its handle, what plays goes on by its names once the other rig has loaded. The children
/// are then those of before, as many as the rig needs, with what was put on them; a material in the place of the rig's
/// stays, too. Those of a scene are spawned again.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
#[require(Transform, Visibility)]
pub struct PhalanxCharacter(pub Handle<PhalanxRig>);

/// A character that is an instance of the crowd. The plugin adds and removes it.
#[derive(Component, Debug)]
pub struct PhalanxInstance {
    pub(crate) instance: InstanceId,
    pub(crate) rig: RigId,
    pub(crate) asset: AssetId<PhalanxRig>,
    /// Its meshes, children that the plugin spawned or that were a scene's, with the rows of the palette that each shows.
    pub(crate) meshes: Vec<(Entity, Range<usize>)>,
    /// The level of detail of these meshes.
    pub(crate) level: usize,
    /// True if the plugin spawned them: it then has those of other levels.
    pub(crate) own_meshes: bool,
    /// The box around them in this frame, in model space.
    pub(crate) bounds: Aabb,
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
    let systems = (release, bind, halt, calls::apply).chain();
    app.add_systems(schedule, systems.in_set(PhalanxSystems::Bind));
}

/// A character that Bevy's `Disabled` has stopped, with its speed until then.
#[derive(Component)]
struct Halted(f32);

/// Characters that are disabled stand still and are not evaluated.
fn halt(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    off: Query<(Entity, &PhalanxInstance), (With<Disabled>, Without<Halted>)>,
    mut on: Query<
        (Entity, &PhalanxInstance, &Halted, &InheritedVisibility, Option<&mut PhalanxPlayer>),
        Without<Disabled>,
    >,
) {
    let mut set = |instance: InstanceId, speed, visible| {
        let before = crowd.crowd.playing(instance).map_or(1.0, |playing| playing.character_speed());
        // It is bound, and its speed was one before.
        let _ = crowd.crowd.player(instance).and_then(|mut p| p.set_character_speed(speed));
        let _ = crowd.crowd.set_visible(instance, visible);
        before
    };
    for (entity, instance) in &off {
        let speed = set(instance.instance, 0.0, false);
        commands.entity(entity).try_insert(Halted(speed));
    }
    for (entity, instance, &Halted(speed), visible, player) in &mut on {
        set(instance.instance, speed, visible.get());
        // Its calls have waited.
        player.into_iter().for_each(|mut player| player.set_changed());
        commands.entity(entity).try_remove::<Halted>();
    }
}

/// A skin of Bevy's without joint entities and inverse bind matrices: Bevy reserves matrices for it and leaves them alone.
pub fn skin(joints: usize) -> SkinnedMesh {
    SkinnedMesh { joints: vec![Entity::PLACEHOLDER; joints], ..SkinnedMesh::default() }
}

/// `Allow<Disabled>`, whose queries know their length.
type OnOrOff = Or<(With<Disabled>, Without<Disabled>)>;

/// Characters that are gone, or have another rig or a changed one, leave the crowd.
fn release(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    assets: Res<Assets<PhalanxRig>>,
    mut gone: RemovedComponents<PhalanxInstance>,
    orphans: Query<Entity, (With<PhalanxInstance>, Without<PhalanxCharacter>, Allow<Disabled>)>,
    bound: Query<(&PhalanxCharacter, &PhalanxInstance), Allow<Disabled>>,
    changed: Query<Entity, (With<PhalanxInstance>, Changed<PhalanxCharacter>, Allow<Disabled>)>,
    all: Query<(Entity, &PhalanxInstance), OnOrOff>,
    mut scenes: Query<&mut WorldAssetRoot>,
    mut waiting: Local<Vec<Entity>>,
) {
    let mut leave: Vec<InstanceId> = Vec::new();
    // One that was bound again in the frame in which it was released has another instance.
    for entity in gone.read().filter(|&entity| !all.contains(entity)) {
        leave.extend(crowd.instances.remove(&entity));
    }
    if crowd.instances.len() != all.iter().len() {
        // Some were despawned before they got their component, or where removals are not seen.
        let gone = |entity: &Entity, _: &mut InstanceId| !all.contains(*entity);
        leave.extend(crowd.instances.extract_if(gone).map(|(_, instance)| instance));
    }
    // With what they go on with, if they get another rig.
    let mut unbound: Vec<(Entity, Option<Vec<Call>>)> = orphans.iter().map(|e| (e, None)).collect();
    waiting.extend(&changed);
    waiting.sort_unstable();
    waiting.dedup();
    waiting.retain(|&entity| {
        let Ok((character, instance)) = bound.get(entity) else { return false };
        if instance.is_of(character) {
            return false;
        }
        let asset = character.0.id();
        let loaded = assets.get(asset).is_some_and(|rig| !crowd.is_refused(asset, &rig.rig));
        if loaded {
            let names = crowd.rigs.get(&instance.asset).map(|loaded| &loaded.names);
            let calls = names.map(|names| calls::resume(&crowd.crowd, names, instance.instance));
            unbound.push((entity, Some(calls.unwrap_or_default())));
        }
        // Until the other rig has loaded, it stays what it is.
        !loaded
    });
    for (asset, rig) in crowd.changed_rigs(&assets) {
        match crowd.replace(asset, &rig) {
            Ok(names) => {
                for (entity, instance) in all.iter().filter(|(_, i)| i.asset == asset) {
                    let calls = calls::resume(&crowd.crowd, &names, instance.instance);
                    unbound.push((entity, Some(calls)));
                }
            }
            Err(error) => error!("{}: its characters stay as they were: {error}", rig.name()),
        }
    }
    for (entity, calls) in unbound {
        let Ok((_, instance)) = all.get(entity) else { continue };
        let mut meshes: Vec<Entity> = instance.meshes.iter().map(|(mesh, _)| *mesh).collect();
        if calls.is_none() || !instance.own_meshes {
            meshes.drain(..).for_each(|mesh| commands.entity(mesh).try_despawn());
        }
        if let Some(calls) = calls {
            crowd.resumed.insert(entity, Resumed { calls, meshes });
        }
        if let Ok(mut scene) = scenes.get_mut(entity) {
            // Bevy spawns it again.
            scene.set_changed();
        }
        commands.entity(entity).try_remove::<(PhalanxInstance, Morphed)>();
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
        (Entity, &PhalanxCharacter, Has<WorldAssetRoot>),
        (Without<PhalanxInstance>, Allow<Disabled>),
    >,
    mut drawn: Query<levels::Drawn, Allow<Disabled>>,
    children: Query<&Children>,
    mut errors: MessageWriter<PhalanxError>,
) {
    let crowd = &mut *crowd;
    for (entity, character, scene) in &waiting {
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
        let resumed = crowd.resumed.remove(&entity).unwrap_or_default();
        for call in resumed.calls {
            let known = |name| crowd.playable(id, name).is_ok();
            if call.name().is_none_or(known) {
                calls::apply_one(crowd, entity, instance, &call, &mut errors);
            } else {
                info!(
                    "{entity}: {} does not go on, {} has none",
                    call.name().unwrap_or(""),
                    rig.rig.name()
                );
            }
        }
        let mut meshes: Vec<(Entity, Range<usize>)> = Vec::new();
        // Bevy's scene brings meshes of its own.
        let own = levels::children(rig).into_iter().filter(|_| !scene);
        let mut surfaces = levels::of_level(rig, 0);
        let morphed = rig.surfaces.iter().any(|surface| surface.targets > 0);
        let mut kept = resumed.meshes.clone().into_iter();
        for rows in own {
            let surface = surfaces.next();
            let child = match kept.find(|&child| drawn.contains(child)) {
                Some(child) => commands.entity(child).try_insert(skin(rows)).id(),
                None => {
                    let bounds = (Aabb::default(), NoAutoAabb);
                    let drawn = levels::drawn(surface);
                    commands.spawn((drawn, skin(rows), bounds, ChildOf(entity))).id()
                }
            };
            if let Ok(drawn) = drawn.get_mut(child) {
                levels::show(drawn, surface);
            }
            if morphed || !resumed.meshes.is_empty() {
                morphs::follow(&mut commands.entity(child), rig, surface);
            }
            meshes.push((child, surface.map_or(0..0, |surface| surface.rows.clone())));
        }
        let left = |mesh: &Entity| meshes.iter().all(|(child, _)| child != mesh);
        // Those of a saved scene are spawned anew, as its handles of meshes are.
        let saved = children.get(entity).into_iter().flatten().copied();
        let saved = saved.filter(|&child| drawn.contains(child));
        for mesh in resumed.meshes.into_iter().chain(saved).filter(left) {
            commands.entity(mesh).try_despawn();
        }
        if morphed {
            commands.entity(entity).insert(Morphed);
        }
        commands.entity(entity).insert(PhalanxInstance {
            instance,
            rig: id,
            asset,
            meshes,
            level: 0,
            own_meshes: !scene,
            bounds: Aabb::default(),
        });
    }
    for mesh in crowd.resumed.drain().flat_map(|(_, resumed)| resumed.meshes) {
        commands.entity(mesh).try_despawn();
    }
}
