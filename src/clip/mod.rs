//! Clips: timelines, SoA blocks of keys, key hints. Knows `math` and `skeleton`; how clips are made
//! is `build`'s business, how they are sampled is `runtime`'s.

mod block;
mod check;
mod clip_data;
mod defaults;
mod encoding;
mod error;
pub(crate) mod lattice;
mod limits;
pub(crate) mod marker;
mod reach;
mod root_motion;
mod store;
pub(crate) mod timeline;

pub(crate) use block::split_lane;
pub use block::{Block, BlockKind, Channel, TrackCounts};
pub use clip_data::{Clip, ClipKind, ClipParts};
pub(crate) use defaults::{Defaults, neutral, rest_value};
pub use encoding::Encoding;
pub use error::ClipError;
pub use limits::MAX_SHARING;
pub use marker::{MAX_MARKERS, Marker};
pub use root_motion::{RootMotion, RootMotionParts};
#[cfg(feature = "phx")]
pub use store::SharedBytes;
pub use store::Store;
pub use timeline::{Cursor, MAX_KEYS, REGULAR_TOLERANCE, Timeline};
