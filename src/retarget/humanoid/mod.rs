//! Humanoid maps: the joints of a skeleton that are the bones of a human body.
//!
//! Start with [`HumanoidMap::find`]. Depends only on skeletons; no clips, no files but the JSON of a map.

mod find;
#[cfg(feature = "gltf")]
mod json;
mod map;
mod names;
mod shape;
mod tables;

pub use crate::skeleton::HumanBone;
pub(crate) use map::is_below;
pub use map::{HumanoidMap, MapOrigin};
pub(super) use names::{sides, unindexed};
