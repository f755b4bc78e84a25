//! Entities at joints, and joints of characters by name.

use crate::PhalanxSystems;
use crate::character::{PhalanxCharacter, PhalanxInstance};
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::error::Result;
use bevy::ecs::prelude::*;
use bevy::light::SimulationLightSystems;
use bevy::math::Affine3A;
use bevy::prelude::{
    App, GlobalTransform, PostUpdate, ReflectComponent, ReflectDefault, Transform, Visibility,
};
use bevy::reflect::Reflect;
use phalanx::crowd::{Crowd, PoseStage, RigId};
use phalanx::skeleton::Skeleton;
use tracing::error;

/// A child of a character that follows one of its joints: a sword in a hand, a hat on a head. Its [`Transform`] is
/// relative to the joint. Its [`GlobalTransform`], and those of its descendants, are of this frame from
/// [`PhalanxSystems::Evaluate`](crate::PhalanxSystems::Evaluate) on.
///
/// Until its character has been evaluated for the first time it is where Bevy puts any child. With tiers it has the pose
/// of each frame while the character is in the picture, even if the tier shows the mesh an older or interpolated one.
/// Out of the picture, or hidden, it keeps the last pose and moves with the character's transform.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::PhalanxAttachment;
///
/// fn arm(mut commands: Commands, guard: Entity, sword: Handle<Mesh>) {
///     commands.spawn((PhalanxAttachment::new("RightHand"), Mesh3d(sword), ChildOf(guard)));
/// }
/// # let _ = arm;
/// ```
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
#[require(Transform, Visibility)]
pub struct PhalanxAttachment {
    /// The name of the joint.
    pub joint: String,
}

impl PhalanxAttachment {
    /// Follows a joint.
    pub fn new(joint: &str) -> Self {
        Self { joint: joint.to_owned() }
    }
}

/// Beside a [`PhalanxCharacter`](crate::PhalanxCharacter): an entity per joint as its child, with the joint's name and
/// [`PhalanxAttachment`]. They go with this component. When the rig changes, joints of the same names keep their
/// entities.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxJointEntities;

/// An entity of [`PhalanxJointEntities`]. One that comes with a saved scene is known by it.
#[derive(Component, Reflect, Default)]
#[reflect(Component, Default)]
struct JointEntity;

/// The joint that an attachment has found; `None` if the rig has none of its name.
#[derive(Component)]
struct Attached {
    rig: RigId,
    joint: Option<usize>,
}

impl PhalanxCrowd {
    /// Where a joint of a character is in the world, by the joint's name: as the crowd stands, with the world transform
    /// that the character had in the last [`PhalanxSystems::Evaluate`](crate::PhalanxSystems::Evaluate). The call
    /// evaluates the character; for every frame, an entity with [`PhalanxAttachment`] costs less.
    ///
    /// # Errors
    /// If the entity is not a character whose rig has loaded, or has no joint of this name.
    pub fn joint(&self, character: Entity, joint: &str) -> Result<GlobalTransform> {
        let instance = self
            .instance(character)
            .ok_or_else(|| format!("{character} is no character whose rig has loaded"))?;
        let model = self.crowd.model_matrix(instance, joint)?;
        let world = self.crowd.world(instance)?;
        Ok(GlobalTransform::from(frame::affine(world) * frame::affine(&model)))
    }
}

/// What needs the places of entities that hang from joints runs after this set.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hung;

pub fn add(app: &mut App) {
    app.register_type::<PhalanxAttachment>()
        .register_type::<PhalanxJointEntities>()
        .register_type::<JointEntity>();
    // A character may hang from another, and a camera or a target from a joint: they are where the joint was in the last
    // frame, below the present transform of its character, until this frame's poses are known.
    let hang = follow
        .in_set(Hung)
        .before(frame::set_worlds)
        .before(SimulationLightSystems::UpdateDirectionalLightCascades);
    let find = (spawn, find).chain().after(Hung).before(frame::evaluate);
    let follow = follow.after(frame::evaluate);
    app.add_systems(PostUpdate, (hang, find, follow).in_set(PhalanxSystems::Evaluate));
}

/// The name of a joint, or its path where others have its name, too.
pub fn handle(skeleton: &Skeleton, joint: usize) -> String {
    let name = &skeleton.names()[joint];
    match skeleton.joint(name) == Ok(joint) {
        true => name.clone(),
        false => skeleton.path(joint),
    }
}

type NewlyJointed = Or<(Added<PhalanxInstance>, Added<PhalanxJointEntities>)>;

/// Spawns joint entities of characters that are new or have another rig; takes away those that are not asked for.
fn spawn(
    mut commands: Commands,
    crowd: Res<PhalanxCrowd>,
    new: Query<(Entity, &PhalanxInstance), (With<PhalanxJointEntities>, NewlyJointed)>,
    mut removed: RemovedComponents<PhalanxJointEntities>,
    mut gone: RemovedComponents<PhalanxInstance>,
    asked: Query<(), (With<PhalanxJointEntities>, With<PhalanxCharacter>)>,
    children: Query<&Children>,
    joints: Query<&PhalanxAttachment, With<JointEntity>>,
) {
    let of = |entity: Entity| children.get(entity).into_iter().flatten().copied();
    for entity in removed.read().chain(gone.read()).filter(|&entity| !asked.contains(entity)) {
        for child in of(entity).filter(|&child| joints.contains(child)) {
            commands.entity(child).try_despawn();
        }
    }
    for (entity, instance) in &new {
        let Ok(rig) = crowd.crowd.rig(instance.rig) else { continue };
        let skeleton = rig.skeleton();
        let joints_of_rig = 0..skeleton.len();
        let mut missing: Vec<(String, &String)> = joints_of_rig
            .map(|joint| (handle(skeleton, joint), &skeleton.names()[joint]))
            .collect();
        for child in of(entity) {
            let Ok(attachment) = joints.get(child) else { continue };
            match missing.iter().position(|(handle, _)| *handle == attachment.joint) {
                Some(at) => _ = missing.remove(at),
                None => commands.entity(child).try_despawn(),
            }
        }
        for (joint, name) in missing {
            let name = Name::new(name.clone());
            commands.spawn((PhalanxAttachment { joint }, JointEntity, name, ChildOf(entity)));
        }
    }
}

/// The crowd needs the joint of an attachment no longer; false if it had none.
fn unwatch(crowd: &mut Crowd, kept: Option<(RigId, usize)>) -> bool {
    let Some((rig, joint)) = kept else { return false };
    // A rig that is gone keeps nothing.
    let _ = crowd.unwatch(rig, &[joint], PoseStage::After);
    true
}

/// Finds joints of attachments that are new or whose character has another rig, and has the crowd keep them.
fn find(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    attachments: Query<(Entity, Ref<PhalanxAttachment>, &ChildOf, Option<&Attached>)>,
    characters: Query<&PhalanxInstance>,
    mut removed: RemovedComponents<PhalanxAttachment>,
    mut alone: RemovedComponents<ChildOf>,
    mut kept: Local<EntityHashMap<(RigId, usize)>>,
) {
    let crowd = &mut crowd.crowd;
    let gone = removed.read().chain(alone.read());
    for entity in gone.filter(|&entity| !attachments.contains(entity)) {
        if unwatch(crowd, kept.remove(&entity)) {
            commands.entity(entity).try_remove::<Attached>();
        }
    }
    for (entity, attachment, child_of, attached) in &attachments {
        let Ok(instance) = characters.get(child_of.parent()) else {
            if unwatch(crowd, kept.remove(&entity)) {
                commands.entity(entity).try_remove::<Attached>();
            }
            continue;
        };
        if attached.is_some_and(|attached| attached.rig == instance.rig) && !attachment.is_changed()
        {
            continue;
        }
        unwatch(crowd, kept.remove(&entity));
        let Ok(rig) = crowd.rig(instance.rig) else { continue };
        let found = rig.skeleton().joint(attachment.joint.as_str());
        let joint = match found.map_err(Into::into).and_then(|joint| {
            crowd.watch(instance.rig, &[joint], PoseStage::After)?;
            Ok::<_, phalanx::crowd::CrowdError>(joint)
        }) {
            Ok(joint) => Some(joint),
            Err(error) => {
                error!("{entity} follows no joint: {error}");
                None
            }
        };
        kept.extend(joint.map(|joint| (entity, (instance.rig, joint))));
        commands.entity(entity).try_insert(Attached { rig: instance.rig, joint });
    }
}

/// Places attachments, and what hangs below them: other characters with attachments, too.
fn follow(
    crowd: Res<PhalanxCrowd>,
    attachments: Query<(Entity, &ChildOf, &Attached), With<PhalanxAttachment>>,
    characters: Query<&PhalanxInstance>,
    nodes: Query<(&Transform, Option<&Children>)>,
    mut globals: Query<&mut GlobalTransform>,
    mut stack: Local<Vec<(Entity, Affine3A)>>,
) {
    // The joint of an attachment in the space of its character, from the evaluation of this frame.
    let joint = |attachment: Entity, character: Entity| -> Option<Affine3A> {
        let (.., attached) = attachments.get(attachment).ok()?;
        let instance = characters.get(character).ok()?;
        let watched = crowd.crowd.watched(instance.instance, PoseStage::After).ok()?;
        watched.age?;
        let joint = attached.joint.filter(|_| attached.rig == instance.rig)?;
        Some(frame::affine(watched.model(joint)?))
    };
    for (entity, child_of, _) in &attachments {
        let Some(joint_space) = joint(entity, child_of.parent()) else { continue };
        let Ok(character) = globals.get(child_of.parent()) else { continue };
        stack.push((entity, character.affine() * joint_space));
        while let Some((entity, space)) = stack.pop() {
            let Ok((transform, children)) = nodes.get(entity) else { continue };
            let world = space * transform.compute_affine();
            if let Ok(mut global) = globals.get_mut(entity) {
                global.set_if_neq(GlobalTransform::from(world));
            }
            for &child in children.into_iter().flatten() {
                let space = joint(child, entity).map_or(world, |joint| world * joint);
                stack.push((child, space));
            }
        }
    }
}
