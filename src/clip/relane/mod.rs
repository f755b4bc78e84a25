//! Clips in another order of the lanes or joints of an equal skeleton. Lanes are moved bit for bit if all lanes of a new
//! block have one timeline (`moved.rs`). If timelines or kinds mix, curves are split at the union of their key times
//! (`mixed.rs`), and the difference is measured (`difference.rs`).
//!
//! Nothing here builds clips from raw keys: that is `build`.

mod curve;
mod difference;
mod mixed;
mod moved;
mod plan;

pub(crate) use curve::LaneCurve;
pub use difference::RelaneDifference;
pub(crate) use mixed::CUBIC_SLERP_MAX_ANGLE;

use super::Clip;
use crate::error::BuildError;
use crate::skeleton::{Skeleton, SkeletonMismatch};
use crate::words::{says, shorten};
use moved::Mover;

/// Limit on the memory of a clip in another lane order, in bytes per byte that it takes in its own.
///
/// The 16 lanes of a block may come into 16 blocks, and linear keys that meet cubic ones take three times the room:
/// 48 bytes for one. A single lane of a 16-bit key takes 2 bytes, in a row of f32 it takes 64.
pub const RELANE_BYTES_PER_BYTE: usize = 64;

/// Memory that a clip may take in addition, whatever its size, bytes: 1 MiB.
pub const RELANE_BYTES: usize = 1 << 20;

/// Why a clip cannot be converted to another lane order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RelaneFault {
    /// The skeletons differ in more than the order of their lanes and joints.
    Skeleton {
        /// The clip.
        clip: String,
        /// The first difference: in the clip's skeleton, and in the other.
        mismatch: SkeletonMismatch,
    },
    /// The clip needs more memory in the new order than allowed.
    Memory {
        /// The clip.
        clip: String,
        /// Bytes needed, at least.
        needed: usize,
        /// Bytes allowed.
        limit: usize,
    },
}

says! { RelaneFault:
    Self::Skeleton { clip, mismatch } =>
        ("clip \"{clip}\" was built for another skeleton: {mismatch}", clip = shorten(clip)),
    Self::Memory { clip, needed, limit } =>
        ("clip \"{clip}\" needs {needed} bytes in another lane order, the limit is {limit}", clip = shorten(clip)),
}

/// A clip in another lane order.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaned {
    /// The clip.
    pub clip: Clip,
    /// Differences from the original clip.
    pub difference: RelaneDifference,
}

impl Clip {
    /// The memory that the clip may take in another lane order, bytes: [`RELANE_BYTES_PER_BYTE`] for each of its bytes, and
    /// [`RELANE_BYTES`].
    pub fn relane_limit(&self) -> usize {
        let bytes = self.bytes().saturating_mul(RELANE_BYTES_PER_BYTE);
        bytes.saturating_add(RELANE_BYTES)
    }
}

/// Converts a clip to a skeleton that differs from its own only in the order of its lanes, or of its joints, as in
/// exports with another order of `skins[].joints`.
///
/// If the lanes that share a block in the new order have one timeline, their keys are kept bit for bit. Blocks of 16-bit
/// keys stay so; 16-bit keys that join rows of f32 become f32. Rotations that were nlerped are slerped if a new
/// neighbour needs it. Lanes of several timelines get the key times of all of them, and become cubic if one of them is;
/// the result states the difference. `max_bytes` bounds the keys in the new order, because lanes that shared rows may be
/// separated.
///
/// # Errors
/// If the skeletons differ in structure, the keys need more memory than allowed, or a block needs more keys than a
/// timeline holds.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::clip::relane;
///
/// let rig = phalanx::import::mannequin()?;
/// let order: Vec<u16> = (0..rig.skeleton().len() as u16).rev().collect();
/// let other = rig.skeleton().in_lane_order(&order)?;
/// let walk = &rig.clips()[0];
/// let relaned = relane(walk, &other, walk.relane_limit())?;
/// assert!(relaned.clip.fits(&other));
/// println!("{}", relaned.difference);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
pub fn relane(clip: &Clip, to: &Skeleton, max_bytes: usize) -> Result<Relaned, BuildError> {
    let joints = match clip.skeleton().mismatch(to) {
        Some(SkeletonMismatch::LaneOrder) => None,
        Some(SkeletonMismatch::JointOrder) => clip.skeleton().joints_in(to),
        Some(mismatch) => {
            let clip = clip.name().to_owned();
            return Err(BuildError::Relane(RelaneFault::Skeleton { clip, mismatch }));
        }
        None => {
            return Ok(Relaned {
                clip: clip.clone(),
                difference: RelaneDifference::default(),
            });
        }
    };
    let joints = joints.as_deref();
    let plans = plan::plan(clip, (to, joints))?;
    let mover = Mover::new(clip, (to, joints), &plans, max_bytes)?;
    let new = Clip::new(mover.parts()?, to)?;
    let difference = difference::measure(clip, &new, &plans);
    Ok(Relaned {
        clip: new,
        difference,
    })
}
