//! Clips: timelines, SoA blocks of keys, key hints. Knows `math` and `skeleton`; how clips are made
//! is `offline`'s business, how they are sampled is `runtime`'s.

mod clip_data;
mod encoding;
pub(crate) mod lattice;
pub(crate) mod marker;
mod root_motion;
mod store;
pub(crate) mod timeline;

pub(crate) use clip_data::split_lane;
pub use clip_data::{Block, BlockKind, Channel, Clip, ClipError, ClipKind, ClipParts, TrackCounts};
pub use encoding::Encoding;
pub use marker::{MAX_MARKERS, Marker};
pub use root_motion::{RootMotion, RootMotionParts};
#[cfg(feature = "phx")]
pub use store::SharedBytes;
pub use store::Store;
pub use timeline::{Cursor, MAX_KEYS, REGULAR_TOLERANCE, Timeline};
