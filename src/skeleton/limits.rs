//! How large the numbers of rigs and clips may be, so that palettes stay within f32.
//!
//! A palette row is the product of the local matrices down a chain and an inverse bind matrix. With the
//! limits below and n joints, an element of the product of local matrices is at most
//! [`MAX_CHAIN_SCALE`], its translation at most √3 n [`MAX_LENGTH`] [`MAX_CHAIN_SCALE`], and both at most
//! 1e30 after the inverse bind matrix; f32 ends at 3.4e38. Each scale counts with at least 1, so the same
//! holds for every part of a chain, whatever the order of its products. Weighted means of poses stay
//! within the largest value of each joint: a rig counts with the largest of all its clips.
//!
//! No model of the world comes near: a light year in millimetres is 1e19, the largest scale of any model
//! that was seen is 100.

use super::{Skeleton, Trs, skeleton_data::NO_JOINT};
use crate::math::{Affine3x4, within};

/// The largest component of a translation, an inverse bind matrix, a node's matrix, a position or a
/// tangent of a spline, in the file's unit.
pub const MAX_LENGTH: f32 = 1.0e12;

/// The largest morph weight, or number of a user channel.
pub const MAX_SCALAR: f32 = 1.0e12;

/// The largest key time and duration, in seconds: 30,000 years.
pub const MAX_SECONDS: f32 = 1.0e12;

/// The largest product of scales down a chain of joints. Every joint counts with the largest size of its
/// scale in the rest pose and in all clips, at least with 1.
pub const MAX_CHAIN_SCALE: f64 = 1.0e12;

/// The largest product of scales down a chain in a rig with additive layers, × 4 × joints × actions, where
/// every action of every additive layer counts at full weight: they multiply, and their translations add up.
pub const MAX_ADDITIVE_REACH: f64 = 1.0e20;

/// The largest product of what the overrides of an instance stretch by down a chain of joints, each with
/// at least 1.
pub const MAX_OVERRIDE_SCALE: f64 = 1.0e6;

/// The largest component of an override's translation.
pub const MAX_OVERRIDE_LENGTH: f32 = 1.0e9;

/// The largest element of a world transform and of a node's transform in a scene graph: models of
/// [`MAX_LENGTH`] stand side by side, a thousand in a row.
pub const MAX_WORLD: f32 = 1.0e15;

/// The least and the largest square of a rotation's length. Between keys of one hemisphere within them
/// no interpolation comes near zero, whatever the level of SIMD: the fits for slerp and for lengths hold
/// well beyond. Rotations of 16 bits are off 1 by up to 0.05 at the coarsest error that was baked.
pub const ROTATION_SQUARES: [f32; 2] = [0.5, 2.0];

/// Neighbouring keys of a rotation have at least this dot product; builders turn them to one hemisphere,
/// and 16 bits round.
pub const LEAST_ROTATION_DOT: f32 = -0.1;

/// A number of a transform that is beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beyond {
    pub what: &'static str,
    pub value: f32,
    pub limit: f32,
}

/// The largest size among numbers; NaN counts as infinite.
pub(crate) fn largest(values: &[f32]) -> f32 {
    let size = |v: &f32| if v.is_nan() { f32::INFINITY } else { v.abs() };
    values.iter().map(size).fold(0.0, f32::max)
}

/// The first number whose size is above a limit, or NaN.
pub(crate) fn beyond(what: &'static str, values: &[f32], limit: f32) -> Result<(), Beyond> {
    let bad = values.iter().find(|v| !within(**v, limit));
    bad.map_or(Ok(()), |&value| Err(Beyond { what, value, limit }))
}

/// Whether a matrix may be a world transform.
pub(crate) fn is_world(world: &Affine3x4) -> bool {
    beyond("", world.rows.as_flattened(), MAX_WORLD).is_ok()
}

/// Checks a local transform; its scale counts with the chain that it stands in.
pub(crate) fn check_local(rest: &Trs) -> Result<(), Beyond> {
    beyond("translation", &rest.translation.to_array(), MAX_LENGTH)?;
    let [low, high] = ROTATION_SQUARES;
    let value = rest.rotation.length_squared();
    let limit = if value < low { low } else { high };
    if !(low..=high).contains(&value) {
        let what = "square of the rotation's length";
        return Err(Beyond { what, value, limit });
    }
    Ok(())
}

/// What a joint counts with in its chain: the largest size of its scale in the rest pose, and what clips scale
/// its lane by.
pub(crate) fn scale_factor(skeleton: &Skeleton, clips: &[f32], joint: usize) -> f64 {
    let lane = usize::from(skeleton.lane_of()[joint]);
    let rest = skeleton.rest_pose().lane(lane).scale.abs().max_element();
    let clips = clips.get(lane).copied().unwrap_or(1.0);
    f64::from(clips.max(rest))
}

/// The first joint at which the product of factors down its chain is above a limit, and the product.
/// Factors below 1 count as 1.
pub(crate) fn check_chain(
    parents: &[u16],
    limit: f64,
    factor: impl Fn(usize) -> f64,
) -> Result<f64, (usize, f64)> {
    let mut products: Vec<f64> = Vec::with_capacity(parents.len());
    let mut most = 1.0f64;
    for (joint, &parent) in parents.iter().enumerate() {
        let above = match parent {
            NO_JOINT => 1.0,
            parent => products.get(usize::from(parent)).copied().unwrap_or(1.0),
        };
        let product = above * factor(joint).max(1.0);
        if product > limit || product.is_nan() {
            return Err((joint, product));
        }
        most = most.max(product);
        products.push(product);
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_multiply_down_and_never_shrink() {
        let parents = [NO_JOINT, 0, 1, 0, NO_JOINT];
        let scales = [100.0, 0.001, 50.0, 2.0, 7.0];
        let most = check_chain(&parents, 6000.0, |j| scales[j]);
        assert_eq!(most, Ok(5000.0), "0.001 counts as 1");
        let refused = check_chain(&parents, 4999.0, |j| scales[j]);
        assert_eq!(refused, Err((2, 5000.0)));
        assert!(check_chain(&parents, 1e300, |_| f64::INFINITY).is_err());
    }

    #[test]
    fn nothing_that_is_no_number_is_within() {
        for bad in [f32::NAN, f32::INFINITY, -2.0] {
            let found = beyond("x", &[1.0, bad], 1.0);
            assert_eq!(found.map_err(|b| b.value.to_bits()), Err(bad.to_bits()));
        }
        assert_eq!(beyond("x", &[1.0, -1.0, 0.0], 1.0), Ok(()));
        assert_eq!(largest(&[1.0, -3.0]), 3.0);
        assert_eq!(largest(&[1.0, f32::NAN]), f32::INFINITY);
    }
}
