//! Entities at joints.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::ecs::prelude::*;
use bevy::math::Affine3A;
use bevy::prelude::{
    App, GlobalTransform, PostUpdate, ReflectComponent, ReflectDefault, Transform, Visibility,
};
use bevy::reflect::Reflect;
use phalanx::crowd::{PoseStage, RigId};
use tracing::error;

/// A child of a character that follows one of its joints: a sword in a hand, a hat on a head. Its [`Transform`] is
/// relative to the joint. Its [`GlobalTransform`], and those of its descendants, are of this frame from
/// [`PhalanxSystems::Evaluate`](crate::PhalanxSystems::Evaluate) on.
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

/// The joint that an attachment has found; `None` if the rig has none of its name.
#[derive(Component)]
struct Attached {
    rig: RigId,
    joint: Option<usize>,
}

pub fn add(app: &mut App) {
    app.register_type::<PhalanxAttachment>();
    let follow = follow.in_set(PhalanxSystems::Evaluate).after(frame::evaluate);
    app.add_systems(
        PostUpdate,
        (find.in_set(PhalanxSystems::Evaluate).before(frame::evaluate), follow),
    );
}

/// Finds joints of attachments that are new or whose character has another rig, and has the crowd keep them.
fn find(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    attachments: Query<(Entity, Ref<PhalanxAttachment>, &ChildOf, Option<&Attached>)>,
    characters: Query<&PhalanxInstance>,
    mut removed: RemovedComponents<PhalanxAttachment>,
    mut kept: Local<bevy::ecs::entity::EntityHashMap<(RigId, usize)>>,
) {
    let crowd = &mut crowd.crowd;
    for entity in removed.read() {
        if let Some((rig, joint)) = kept.remove(&entity) {
            // A rig that is gone keeps nothing.
            let _ = crowd.unwatch(rig, &[joint], PoseStage::After);
        }
    }
    for (entity, attachment, child_of, attached) in &attachments {
        let Ok(instance) = characters.get(child_of.parent()) else { continue };
        if attached.is_some_and(|attached| attached.rig == instance.rig) && !attachment.is_changed()
        {
            continue;
        }
        if let Some((rig, joint)) = kept.remove(&entity) {
            let _ = crowd.unwatch(rig, &[joint], PoseStage::After);
        }
        let Ok(rig) = crowd.rig(instance.rig) else { continue };
        let joint = match rig.skeleton().joint(attachment.joint.as_str()) {
            Ok(joint) => {
                if let Err(error) = crowd.watch(instance.rig, &[joint], PoseStage::After) {
                    error!("{entity}: {error}");
                }
                kept.insert(entity, (instance.rig, joint));
                Some(joint)
            }
            Err(error) => {
                error!("{entity} follows no joint: {error}");
                None
            }
        };
        commands.entity(entity).try_insert(Attached { rig: instance.rig, joint });
    }
}

/// Places attachments, and what hangs below them.
fn follow(
    crowd: Res<PhalanxCrowd>,
    attachments: Query<(Entity, &PhalanxAttachment, &ChildOf, &Transform)>,
    characters: Query<&PhalanxInstance>,
    children: Query<&Children>,
    locals: Query<&Transform>,
    mut globals: Query<&mut GlobalTransform>,
    found: Query<&Attached>,
    mut stack: Local<Vec<(Entity, Affine3A)>>,
) {
    for (entity, _, child_of, transform) in &attachments {
        let (Ok(Attached { joint: Some(joint), .. }), Ok(instance)) =
            (found.get(entity), characters.get(child_of.parent()))
        else {
            continue;
        };
        let Ok(watched) = crowd.crowd.watched(instance.instance, PoseStage::After) else {
            continue;
        };
        let (Some(model), Some(_)) = (watched.model(*joint), watched.age) else { continue };
        let Ok(character) = globals.get(child_of.parent()) else { continue };
        let world = character.affine() * frame::affine(model) * transform.compute_affine();
        stack.push((entity, world));
        while let Some((entity, world)) = stack.pop() {
            if let Ok(mut global) = globals.get_mut(entity) {
                *global = GlobalTransform::from(world);
            }
            for &child in children.get(entity).into_iter().flatten() {
                if let Ok(local) = locals.get(child) {
                    stack.push((child, world * local.compute_affine()));
                }
            }
        }
    }
}
