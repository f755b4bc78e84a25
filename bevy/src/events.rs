//! Events of clips as messages, and root motion.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use bevy::ecs::message::{Message, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::math::{Quat, Vec3};
use bevy::prelude::{App, ReflectComponent, ReflectDefault, Transform};
use bevy::reflect::Reflect;
use phalanx::clip::Clip;
use phalanx::crowd::{CrowdError, Event, EventKind};
use std::sync::Arc;
use thiserror::Error;

/// Something that happened to a clip of a character in the last step: a marker was passed, a pass ended, the clip
/// finished or was stopped.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::PhalanxEvent;
///
/// fn footsteps(mut events: MessageReader<PhalanxEvent>) {
///     for event in events.read().filter(|event| event.marker() == Some("step") && event.event.leading) {
///         println!("{} steps in {}", event.entity, event.clip.name());
///     }
/// }
/// # let _ = footsteps;
/// ```
#[derive(Message, Clone, Debug)]
pub struct PhalanxEvent {
    /// The character.
    pub entity: Entity,
    /// The clip.
    pub clip: Arc<Clip>,
    /// Layer, time, weight and the rest, as the crowd reports it.
    pub event: Event,
}

impl PhalanxEvent {
    /// What happened.
    pub fn kind(&self) -> EventKind {
        self.event.kind
    }

    /// The name of the marker; `None` for other kinds.
    pub fn marker(&self) -> Option<&str> {
        let marker =
            (self.event.kind == EventKind::Marker).then_some(usize::from(self.event.marker))?;
        Some(&self.clip.markers().get(marker)?.name)
    }
}

/// A call of a [`PhalanxPlayer`](crate::PhalanxPlayer) that the crowd has refused, as a message. It changed nothing.
#[derive(Message, Clone, Debug, Error)]
#[error("{entity}: {}{error}", .name.as_ref().map(|name| format!("`{name}`: ")).unwrap_or_default())]
pub struct PhalanxError {
    /// The character.
    pub entity: Entity,
    /// The clip or blend space of the call; `None` for calls about all that plays.
    pub name: Option<String>,
    /// Why.
    #[source]
    pub error: PlayerError,
}

/// Why a call of a [`PhalanxPlayer`](crate::PhalanxPlayer) is refused.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum PlayerError {
    /// The crowd refuses it.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A clip has no parameter.
    #[error("it is a clip; only blend spaces have a parameter")]
    NoParameter,
}

/// What a character's root has travelled in the last step, in the space of the character. Systems that use it run in the
/// schedule of the plugin, after [`PhalanxSystems::Advance`]: with a fixed schedule a frame has several steps, or none. It
/// needs clips with root motion: [`RigSettings::root_motion`](crate::RigSettings::root_motion).
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxRootMotion {
    /// The way.
    pub translation: Vec3,
    /// The turn.
    pub rotation: Quat,
    /// True if the plugin moves the character's [`Transform`] by it.
    pub apply: bool,
}

impl PhalanxRootMotion {
    /// Root motion that moves the character.
    pub fn applied() -> Self {
        Self { apply: true, ..Self::default() }
    }
}

pub fn add(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_message::<PhalanxEvent>()
        .add_message::<PhalanxError>()
        .register_type::<PhalanxRootMotion>();
    let systems = (send, move_roots).after(crate::frame::advance).in_set(PhalanxSystems::Advance);
    app.add_systems(schedule, systems);
}

fn send(crowd: Res<PhalanxCrowd>, mut messages: MessageWriter<PhalanxEvent>) {
    for event in crowd.crowd.events() {
        // A character that was despawned in this frame has no entity any more.
        if let (Some(entity), Ok(clip)) =
            (crowd.entity(event.instance), crowd.crowd.clip(event.clip))
        {
            messages.write(PhalanxEvent { entity, clip: clip.clone(), event: *event });
        }
    }
}

fn move_roots(
    crowd: Res<PhalanxCrowd>,
    mut characters: Query<(&mut PhalanxRootMotion, &mut Transform), With<PhalanxInstance>>,
) {
    for (mut motion, _) in &mut characters {
        if motion.translation != Vec3::ZERO || motion.rotation != Quat::IDENTITY {
            (motion.translation, motion.rotation) = (Vec3::ZERO, Quat::IDENTITY);
        }
    }
    for loaded in crowd.rigs.values() {
        let Ok(motions) = crowd.crowd.root_motion(loaded.id) else { continue };
        for (i, &instance) in motions.instances.iter().enumerate() {
            let Some(Ok((mut motion, mut transform))) =
                crowd.entity(instance).map(|e| characters.get_mut(e))
            else {
                continue;
            };
            motion.translation = Vec3::from(motions.translations[i].to_array());
            motion.rotation = Quat::from_array(motions.rotations[i].to_array());
            let moved = motion.translation != Vec3::ZERO || motion.rotation != Quat::IDENTITY;
            if motion.apply && moved {
                let way = transform.rotation * (transform.scale * motion.translation);
                transform.translation += way;
                transform.rotation = (transform.rotation * motion.rotation).normalize();
            }
        }
    }
}
