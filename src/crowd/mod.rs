//! Crowds: SoA state of many instances, advanced, scheduled and evaluated together into one
//! `BoneBuffer`. Knows `playback`, `runtime` and below; nothing of files or the GPU.

mod bone_buffer;
mod crowd_data;
mod evaluate;
mod memory;
mod play;
mod query;
mod rigs;
mod scene;
mod schedule;
mod snapshot;

pub use crate::playback::{
    ACTIONS_PER_LAYER, ClipId, InstanceId, LayerOptions, MAX_INSTANCES, MAX_LAYERS, MAX_TAG,
    MAX_TIME, PlayOptions, PlaybackError as CrowdError, RigId, RowMove, RowOrder,
};
#[cfg(feature = "gpu")]
pub(crate) use bone_buffer::reserve_rows;
pub use bone_buffer::{BoneBuffer, RowMemoryError};
pub use crowd_data::{Crowd, FrameStats};
pub use memory::PaletteMemory;
pub use schedule::{FrameId, RowGroup, RowLayout, Schedule};
pub use snapshot::CrowdSnapshot;
