//! Crowds: many instances of many rigs, advanced and evaluated together into one bone buffer.
//!
//! Start with [`Crowd::new`]. [`Crowd::player`] sets what an instance plays; [`BoneBuffer`] holds the palettes of a
//! frame. Engines that evaluate into their own memory use [`Crowd::schedule`].

mod advance;
mod bone_buffer;
mod bulk;
mod crowd_data;
mod feet;
mod memory;
mod mirrors;
mod modifiers;
mod overrides;
mod parts;
mod play;
mod poses;
mod query;
mod rigs;
mod scene;
mod schedule;
mod scratches;
mod set_poses;
mod snapshot;
mod tiers;
mod view;
mod watch;

pub use crate::evaluate::{PoseStage, TierDetail};
pub use crate::playback::{
    ACTIONS_PER_LAYER, ActionState, Aim, AtEnd, BlendSpace, BlendSpaceId, ClipId, CrossFade,
    EndRotation, Event, EventKind, EventKinds, FadeKind, Feet, Fill, Foot, Ground, Hook,
    InstanceId, LayerOptions, LoopMode, MAX_INSTANCES, MAX_LAYERS, MAX_MODIFIERS, MAX_TAG,
    MAX_TIME, Modifier, ModifierId, Parameter, PlayOptions, Playable, PlaybackError as CrowdError,
    Player, Playing, Pole, PoseError, PoseMut, PoseSpace, RigId, RootMotions, Space, Sync, Target,
    TwoBoneIk, Unknown,
};
pub use bone_buffer::BoneBuffer;
#[cfg(feature = "gpu")]
pub(crate) use bone_buffer::reserve_rows;
pub use crowd_data::{Crowd, FrameStats};
pub use memory::PaletteMemory;
pub use scene::SceneStats;
pub use schedule::{FrameId, RowLayout, RowSpan, Schedule};
pub use snapshot::CrowdSnapshot;
pub use tiers::{MAX_TIERS, RATES, Shown, Tier, TierFrame, TierStats, Tiers, View};
pub use view::RigView;
pub use watch::WatchedJoints;
