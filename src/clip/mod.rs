//! Clips: animations of one skeleton, laid out for sampling 16 joints at once.
//!
//! Start with [`Clip`]. [`build`](crate::build) makes clips from raw keys, [`bake`](crate::bake) reduces
//! them to 16-bit keys, and [`SampleJob`](crate::runtime::SampleJob) samples them into a pose.
//!
//! ```text
//! row    | lane 0 | lane 1 | … | lane 15 |      one component of 16 joints, 64 bytes
//! key    | row x | row y | row z | row w |      one rotation of 16 joints
//! block  | key 0 | key 1 | … |                  one channel of 16 joints, on one timeline
//! clip   timelines, blocks of four channels, rows, integers of packed blocks
//! ```

mod block;
mod check;
mod clip_data;
mod defaults;
mod encoding;
mod lanes;
pub(crate) mod lattice;
mod limits;
pub(crate) mod marker;
mod reach;
mod root_motion;
mod store;
pub(crate) mod timeline;

pub(crate) use block::split_lane;
pub use block::{Block, BlockKind, Channel};
#[cfg(feature = "phx")]
pub(crate) use clip_data::ClipOrigin;
pub use clip_data::{Clip, ClipKind, ClipParts};
pub(crate) use defaults::{Defaults, neutral, rest_value};
pub use encoding::Encoding;
pub(crate) use encoding::{Extent, FloatKeys, PACKED_END, PackedKeys, Part};
pub use lanes::reorder_lanes;
pub(crate) use lanes::{CUBIC_SLERP_MAX_ANGLE, Knot, LaneCurve};
#[cfg(feature = "gltf")]
pub(crate) use marker::MAX_MARKERS;
pub use marker::Marker;
pub use root_motion::{RootMotion, RootMotionParts};
#[cfg(feature = "phx")]
pub(crate) use store::SharedBytes;
#[cfg(feature = "phx")]
pub(crate) use store::Store;
pub use timeline::{Cursor, MAX_IRREGULAR_KEYS, MAX_KEYS};
