//! Playback: actions, layers, fades, loop modes, blend spaces, events and root motion.
//!
//! [`Mixer`] plays one character; start with [`Mixer::new`]. [`Player`] has all calls on the layers and actions of
//! one character, whether of a mixer or of a [`Crowd`](crate::crowd::Crowd), and the table of what they do;
//! [`Playing`] reads them. [`evaluate_pose`] evaluates a rig at given clip times without any playback state.

mod action;
pub(crate) mod advance;
pub(crate) mod arena;
pub(crate) mod blend_space;
mod calendar;
pub(crate) mod changes;
pub(crate) mod clock;
mod cross_fade;
mod entries;
mod error;
mod event_sink;
pub(crate) mod events;
mod fire;
pub(crate) mod hook;
pub(crate) mod ids;
mod inertia;
mod inputs;
mod interval;
mod layer_state;
mod lead;
pub(crate) mod library;
mod linear_fade;
mod lists;
mod loop_mode;
mod mixer;
mod modifiers;
mod motions;
pub(crate) mod options;
pub(crate) mod overrides;
mod player;
mod player_settings;
mod player_stage;
mod playing;
pub(crate) mod pool;
mod pose;
mod poses;
pub(crate) mod root_motion;
pub(crate) mod scheduled;
pub(crate) mod snapshot;
mod speeds;
pub(crate) mod springs;
mod state;
mod sync;
mod unknown;

pub use crate::evaluate::{EndRotation, MAX_INERTIAL_BYTES, Pole};
pub use blend_space::{BlendSpace, Parameter};
pub use error::PlaybackError;
pub use events::{Event, EventKind, EventKinds, MAX_EVENTS_PER_ACTION};
pub use hook::{PoseError, PoseMut};
pub use ids::{
    BlendSpaceId, ClipId, InstanceId, MAX_INSTANCES, MAX_TAG, ModifierId, Playable, RigId,
};
pub use layer_state::ACTIONS_PER_LAYER;
pub use loop_mode::LoopMode;
pub use mixer::Mixer;
pub use modifiers::{
    Aim, Feet, Foot, Ground, Hook, MAX_MODIFIERS, Modifier, Space, Target, TwoBoneIk,
};
pub use options::{AtEnd, Fill, LayerOptions, MAX_LAYERS, MAX_SPEED, MAX_TIME, PlayOptions};
pub use player::Player;
pub use playing::{ActionState, Playing};
pub use pose::{EvaluatedPose, MAX_POSED_STEPS, PoseAction, evaluate_pose};
pub use poses::PoseSpace;
pub use root_motion::RootMotions;
pub use snapshot::{MixerSnapshot, SNAPSHOT_MEMORY_PER_BYTE, SNAPSHOT_VERSION};
pub use sync::{CrossFade, FadeKind, Sync};
pub use unknown::Unknown;
