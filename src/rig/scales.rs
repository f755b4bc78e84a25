//! How far the scales of a rig multiply down a chain, over its rest pose and clips.

use crate::clip::{Clip, ClipKind};
use crate::skeleton::Skeleton;
use crate::skeleton::limits::{MAX_ADDITIVE_REACH, MAX_CHAIN_SCALE, check_chain, scale_factor};
use thiserror::Error;

/// The scales of a rig and its clips multiply to too much down a chain of joints.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "the largest scales of {what} down to joint {joint} \"{name}\" multiply to {product:e}, the limit is {limit:e}"
)]
pub struct ScaleError {
    /// Of what: all clips, or those of additive layers too.
    pub what: &'static str,
    /// The joint.
    pub joint: usize,
    /// Its name.
    pub name: String,
    /// The product.
    pub product: f64,
    /// What it may be.
    pub limit: f64,
}

/// Checks that clips may play together. Each joint counts with the largest of its scales over the rest
/// pose and all full clips, since a blend may take each from another clip; with `additive` actions that
/// may play at once on additive layers, with those of additive clips as often.
pub(crate) fn check_scales<'c>(
    skeleton: &Skeleton,
    clips: impl Iterator<Item = &'c Clip>,
    additive: usize,
) -> Result<(), ScaleError> {
    let lanes = skeleton.lane_of().len();
    let mut full: Vec<f32> = Vec::new();
    let mut added: Vec<f32> = Vec::new();
    for clip in clips {
        let factors = clip.scale_factors();
        let all = match clip.kind() {
            ClipKind::Full => &mut full,
            ClipKind::Additive => &mut added,
        };
        all.resize(all.len().max(factors.len()), 1.0);
        for (most, &factor) in all.iter_mut().zip(factors) {
            *most = most.max(factor);
        }
    }
    // The rest pose alone was checked when the skeleton was made, each clip when it was.
    if lanes == 0 || (full.is_empty() && (added.is_empty() || additive == 0)) {
        return Ok(());
    }
    let lane = |joint: usize| usize::from(skeleton.lane_of()[joint]);
    let own = |joint: usize| scale_factor(skeleton, &full, joint);
    let fail = |what, limit: f64| {
        move |(joint, product): (usize, f64)| ScaleError {
            what,
            joint,
            name: skeleton.names()[joint].clone(),
            product,
            limit,
        }
    };
    check_chain(skeleton.parents(), MAX_CHAIN_SCALE, own)
        .map_err(fail("the rest pose and all clips", MAX_CHAIN_SCALE))?;
    if added.is_empty() || additive == 0 {
        return Ok(());
    }
    // Additive translations add up, so lengths count as often.
    let places = 4.0 * (skeleton.len() as f64 + 1.0) * (additive as f64 + 1.0);
    let limit = MAX_ADDITIVE_REACH / places;
    let with = |joint: usize| {
        let factor = added.get(lane(joint)).copied().unwrap_or(1.0);
        own(joint).max(1.0) * f64::from(factor).powi(additive.min(1 << 16) as i32)
    };
    let checked = check_chain(skeleton.parents(), limit, with);
    checked
        .map(|_| ())
        .map_err(fail("all clips with those of additive layers", limit))
}
