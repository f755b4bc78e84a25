//! Playback: actions, layers, fades, loop modes, blend spaces, events and root motion.
//!
//! [`Mixer`] plays one character; start with [`Mixer::new`]. [`Player`] has all calls on the layers and actions of
//! one character, whether of a mixer or of a [`Crowd`](crate::crowd::Crowd), and the table of what they do;
//! [`Playing`] reads them. [`evaluate_pose`] evaluates a rig at given clip times without any playback state.

mod actions;
mod advance;
pub(crate) mod arena;
pub(crate) mod blend_space;
mod clips;
mod cross_fade;
mod error;
mod event_sink;
mod events;
mod fire;
pub(crate) mod ids;
mod interval;
pub(crate) mod lent;
mod linear_fade;
mod loop_mode;
mod mixer;
mod mixer_action;
mod options;
pub(crate) mod overrides;
mod places;
mod plans;
mod play_rule;
mod player;
mod player_actions;
mod player_layers;
mod playing;
pub(crate) mod pool;
mod pose;
mod root_motion;
pub(crate) mod snapshot;
mod sync;
mod unknown;

pub use actions::ACTIONS_PER_LAYER;
pub use blend_space::BlendSpace1D;
pub use error::PlaybackError;
pub use events::{Event, EventKind, Events, MAX_EVENTS_PER_ACTION};
pub use ids::{ActionId, BlendSpaceId, ClipId, InstanceId, MAX_INSTANCES, MAX_TAG, Motion, RigId};
pub use loop_mode::LoopMode;
pub use mixer::Mixer;
pub use mixer_action::ActionMut;
pub use options::{AtEnd, PlayOptions};
pub use places::{RowMove, RowOrder};
pub use player::{MAX_SPEED, Player};
pub use playing::{ActionState, Playing};
pub use pool::{Fill, LayerOptions, MAX_LAYERS, MAX_TIME};
pub use pose::{
    EvaluatedPose, MAX_POSED_STEPS, PoseAction, PoseError, PosedPrimitive, evaluate_pose,
};
pub use root_motion::RootMotions;
pub use snapshot::MixerSnapshot;
pub use sync::{CrossFade, Sync};
pub use unknown::Unknown;
