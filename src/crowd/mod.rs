//! Crowds: SoA state of many instances, advanced, scheduled and evaluated together into one
//! `BoneBuffer`. Knows `playback`, `runtime` and below; nothing of files or the GPU.

mod actions;
mod bone_buffer;
mod crowd_data;
mod error;
mod evaluate;
mod ids;
mod plans;
mod play;
mod pool;
mod query;
mod snapshot;
mod standard;
mod workload;

pub use actions::{ACTIONS_PER_LAYER, PlayOptions};
pub use bone_buffer::BoneBuffer;
pub use crowd_data::{Crowd, FrameStats, MAX_TIME};
pub use error::CrowdError;
pub use ids::{ClipId, InstanceId, RigId};
pub use pool::{LayerOptions, MAX_LAYERS};
pub use snapshot::CrowdSnapshot;
pub use standard::{hash01, standard_crowd};
pub use workload::{Workload, WorkloadClips};
