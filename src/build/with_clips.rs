//! A rig with more clips, in a lane order that follows from all of them.

use super::lanes::LaneScan;
use super::rig::measure_bounds;
use crate::clip::{Clip, reorder_lanes};
use crate::error::BuildError;
use crate::rig::{Rig, RigParts};
use crate::skeleton::SkeletonMismatch;
use std::sync::Arc;

/// Makes a rig with more clips: clips of other files, bound or retargeted clips. The lane order is derived again, so
/// that the joints that move come first; all clips are converted to it.
///
/// The clips may have any order of the lanes and joints of the rig's skeleton. To add single clips in the rig's lane
/// order, use [`add_clip`](crate::crowd::Crowd::add_clip).
///
/// # Errors
/// If a clip is of another skeleton, needs more memory in the new order than
/// [`Clip::reorder_limit`], or the scales of all clips multiply beyond the limit.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::build::with_clips;
///
/// let hero = phalanx::import::mannequin()?;
/// let walk = hero.clips()[0].as_ref().clone().with_name("Stroll");
/// let rig = with_clips(&hero, vec![walk])?;
/// assert_eq!(rig.clips().len(), hero.clips().len() + 1);
/// assert!(rig.find_clip("Stroll").is_some());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
pub fn with_clips(rig: &Rig, clips: Vec<Clip>) -> Result<Rig, BuildError> {
    let mut scan = LaneScan::default();
    let own = rig.clips().iter().map(|c| c.as_ref());
    for clip in own.clone().chain(&clips) {
        match clip.skeleton().mismatch(rig.skeleton()) {
            Some(SkeletonMismatch::JointOrder) => {
                scan.add_clip(&reorder_lanes(clip, rig.skeleton(), clip.reorder_limit())?)
            }
            _ => scan.add_clip(clip),
        };
    }
    let skeleton = match rig.clips().is_empty() && clips.is_empty() {
        true => rig.skeleton().clone(),
        false => Arc::new(rig.skeleton().in_lane_order(&scan.order())?),
    };
    let mut laid = Vec::with_capacity(rig.clips().len() + clips.len());
    for clip in own.chain(&clips) {
        laid.push(Arc::new(reorder_lanes(clip, &skeleton, clip.reorder_limit())?));
    }
    let mut made = Rig::new(RigParts { skeleton, clips: laid, ..rig.parts() })?;
    made.humanoid.clone_from(&rig.humanoid);
    made.springs.clone_from(&rig.springs);
    measure_bounds(&mut made);
    Ok(made)
}
