//! Clips in another order of the lanes or joints of an equal skeleton. Lanes are moved bit for bit if all lanes of a new
//! block have one timeline (`moved.rs`). If timelines or kinds mix, curves are split at the union of their key times
//! (`mixed.rs`).
//!
//! Nothing here builds clips from raw keys: that is `build`.

mod curve;
mod mixed;
mod moved;
mod plan;

pub(crate) use curve::{Knot, LaneCurve};
pub(crate) use mixed::CUBIC_SLERP_MAX_ANGLE;

use super::Clip;
use crate::error::BuildError;
use crate::skeleton::{Skeleton, SkeletonMismatch};
use moved::Mover;

/// Limit on the memory of a clip in another lane order, in bytes per byte that it takes in its own.
///
/// The 16 lanes of a block may come into 16 blocks, and linear keys that meet cubic ones take three times the room:
/// 48 bytes for one. A single lane of a 16-bit key takes 2 bytes, in a row of f32 it takes 64.
pub const REORDER_BYTES_PER_BYTE: usize = 64;

/// Memory that a clip may take in addition, whatever its size, bytes: 1 MiB.
pub const REORDER_BYTES: usize = 1 << 20;

impl Clip {
    /// The memory that the clip may take in another lane order, bytes: 64 for each of its bytes,
    /// and 1 MiB.
    pub fn reorder_limit(&self) -> usize {
        let bytes = self.bytes().saturating_mul(REORDER_BYTES_PER_BYTE);
        bytes.saturating_add(REORDER_BYTES)
    }
}

/// Converts a clip to a skeleton that differs from its own only in the order of its lanes, or of its joints, as in
/// exports with another order of `skins[].joints`.
///
/// If the lanes that share a block in the new order have one timeline, their keys are kept bit for bit. Blocks of 16-bit
/// keys stay so; 16-bit keys that join rows of f32 become f32. Rotations that were nlerped are slerped if a new
/// neighbour needs it. Lanes of several timelines get the key times of all of them, and become cubic if one of them is:
/// rotations then differ by less than 2e-5 radians between keys. `max_bytes` bounds the keys in the new order, because
/// lanes that shared rows may be separated.
///
/// # Errors
/// If the skeletons differ in structure, the keys need more memory than allowed, or a block needs more keys than a
/// timeline holds.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::clip::reorder_lanes;
///
/// let rig = phalanx::import::mannequin()?;
/// let order: Vec<u16> = (0..rig.skeleton().len() as u16).rev().collect();
/// let other = rig.skeleton().in_lane_order(&order)?;
/// let walk = &rig.clips()[0];
/// let laid = reorder_lanes(walk, &other, walk.reorder_limit())?;
/// assert!(laid.fits(&other));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
pub fn reorder_lanes(clip: &Clip, to: &Skeleton, max_bytes: usize) -> Result<Clip, BuildError> {
    let joints = match clip.skeleton().mismatch(to) {
        Some(SkeletonMismatch::LaneOrder) => None,
        Some(SkeletonMismatch::JointOrder) => clip.skeleton().joints_in(to),
        Some(mismatch) => {
            let clip = clip.name().to_owned();
            return Err(BuildError::Skeleton { clip, mismatch });
        }
        None => return Ok(clip.clone()),
    };
    let joints = joints.as_deref();
    let plans = plan::plan(clip, (to, joints))?;
    let mover = Mover::new(clip, (to, joints), &plans, max_bytes)?;
    Clip::new(mover.parts(), to)
}
