//! Limits on the product of scales down a chain of joints, over the rest pose and all clips of a rig.

use crate::clip::{Clip, ClipKind};
use crate::error::BuildError;
use crate::skeleton::Skeleton;
use crate::skeleton::limits::{MAX_ADDITIVE_REACH, MAX_CHAIN_SCALE, check_chain, scale_factor};
use crate::words::shorten;

/// Checks that clips can play together.
///
/// Each joint counts with its largest scale over the rest pose and all full clips, since a blend may combine
/// any of them. Additive clips count `additive` times: the number of actions that can play at once on
/// additive layers.
pub(crate) fn check_scales<'c>(
    skeleton: &Skeleton,
    clips: impl Iterator<Item = &'c Clip>,
    additive: usize,
) -> Result<(), BuildError> {
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
    // The skeleton's check covers the rest pose, and each clip's own check covers that clip.
    if lanes == 0 || (full.is_empty() && (added.is_empty() || additive == 0)) {
        return Ok(());
    }
    let lane = |joint: usize| usize::from(skeleton.lane_of()[joint]);
    let own = |joint: usize| scale_factor(skeleton, &full, joint);
    let fail = |what: &'static str, limit: f64| {
        move |(joint, product): (usize, f64)| {
            let name = shorten(&skeleton.names()[joint]);
            let place = format!(
                "the product of the largest scales of {what} down to joint {joint} \"{name}\""
            );
            BuildError::Beyond { place, value: product as f32, limit: limit as f32 }
        }
    };
    check_chain(skeleton.parents(), MAX_CHAIN_SCALE, own)
        .map_err(fail("the rest pose and all clips", MAX_CHAIN_SCALE))?;
    if added.is_empty() || additive == 0 {
        return Ok(());
    }
    // Additive translations add up, so the limit shrinks with the number of actions.
    let places = 4.0 * (skeleton.len() as f64 + 1.0) * (additive as f64 + 1.0);
    let limit = MAX_ADDITIVE_REACH / places;
    let with = |joint: usize| {
        let factor = added.get(lane(joint)).copied().unwrap_or(1.0);
        own(joint).max(1.0) * f64::from(factor).powi(additive.min(1 << 16) as i32)
    };
    let checked = check_chain(skeleton.parents(), limit, with);
    checked.map(|_| ()).map_err(fail("all clips with those of additive layers", limit))
}
