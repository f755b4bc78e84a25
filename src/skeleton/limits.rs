//! Limits on the numbers of rigs and clips, so that palettes stay within f32.
//!
//! A palette row is the product of the local matrices down a chain and an inverse bind matrix. With the
//! limits below and n joints, an element of the product of local matrices is at most
//! [`MAX_CHAIN_SCALE`], its translation at most √3 n [`MAX_LENGTH`] [`MAX_CHAIN_SCALE`], and both at most
//! 1e30 after the inverse bind matrix; f32 ends at 3.4e38. Each scale counts as at least 1, so the same
//! holds for every part of a chain, whatever the order of its products. Weighted means of poses stay
//! within the largest value of each joint; for a rig, that is the largest of all its clips.
//!
//! No real model comes near: 1e12 mm are a million kilometres, and the largest scale found in any model is
//! 100.

use super::{Skeleton, Trs, skeleton_data::NO_JOINT};
use crate::math::{Affine3x4, within};
use glam::Vec4;

/// The largest component of a translation, an inverse bind matrix, a node's matrix, a position or a
/// tangent of a spline, in the file's unit.
pub const MAX_LENGTH: f32 = 1.0e12;

/// The largest morph weight, or number of a user channel.
pub const MAX_SCALAR: f32 = 1.0e12;

/// The largest key time and duration, in seconds: about 30,000 years.
pub const MAX_SECONDS: f32 = 1.0e12;

/// The largest product of scales down a chain of joints. Each joint counts with the largest magnitude of
/// its scale in the rest pose and in all clips, and with at least 1.
pub const MAX_CHAIN_SCALE: f64 = 1.0e12;

/// The largest value of 4 × joints × actions × the product of scales down a chain, in a rig with additive
/// layers. Every action of every additive layer counts at full weight: their scales multiply, and their
/// translations add up.
pub const MAX_ADDITIVE_REACH: f64 = 1.0e20;

/// The largest product, down a chain of joints, of the factors by which the overrides of an instance
/// stretch. Each joint counts with at least 1.
pub const MAX_OVERRIDE_SCALE: f64 = 1.0e6;

/// The largest component of an override's translation, in the file's unit.
pub const MAX_OVERRIDE_LENGTH: f32 = 1.0e9;

/// The largest element of a world transform and of a node's transform in a scene graph. Room for a
/// thousand models of [`MAX_LENGTH`] side by side.
pub const MAX_WORLD: f32 = 1.0e15;

/// Bounds of a rotation's squared length. Between two keys of one hemisphere within these bounds, no
/// interpolated rotation comes near zero at any SIMD level: the polynomials for slerp and for lengths
/// hold well beyond them. At the coarsest bake error, 16-bit rotations deviate from length 1 by up to
/// 0.05.
pub const ROTATION_SQUARES: [f32; 2] = [0.5, 2.0];

/// The smallest dot product of neighbouring keys of a rotation. Builders flip keys to one hemisphere; the
/// margin below 0 is for rounding to 16 bits.
pub const LEAST_ROTATION_DOT: f32 = -0.1;

/// A number beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beyond {
    pub what: &'static str,
    pub value: f32,
    pub limit: f32,
}

/// The largest magnitude among numbers; NaN counts as infinite.
pub(crate) fn largest(values: &[f32]) -> f32 {
    // Comparisons with NaN are false, and branches are rare.
    let most = values.iter().fold(0.0f32, |most, v| if v.abs() > most { v.abs() } else { most });
    if values.iter().any(|v| v.is_nan()) { f32::INFINITY } else { most }
}

/// Fails with the first number that is NaN or whose magnitude is above a limit.
pub(crate) fn beyond(what: &'static str, values: &[f32], limit: f32) -> Result<(), Beyond> {
    let bad = values.iter().find(|v| !within(**v, limit));
    bad.map_or(Ok(()), |&value| Err(Beyond { what, value, limit }))
}

/// The limits of a row of a local matrix that is set in an evaluation.
const SET: Vec4 = {
    let scale = MAX_OVERRIDE_SCALE as f32;
    Vec4::new(scale, scale, scale, MAX_OVERRIDE_LENGTH)
};

/// Checks a local matrix that is set in an evaluation. The error has the number of greatest size; infinite for one that
/// is not finite.
#[inline]
pub(crate) fn check_set(local: &Affine3x4) -> Result<(), Beyond> {
    // Of NaN no comparison is true.
    let within = |row: &[f32; 4]| Vec4::from_array(*row).abs().cmple(SET).all();
    if local.rows.iter().all(within) { Ok(()) } else { Err(beyond_set(local)) }
}

#[cold]
fn beyond_set(local: &Affine3x4) -> Beyond {
    let what = "local matrix";
    let linear = local.rows.map(|row| largest(&row[..3]));
    let linear = linear.into_iter().fold(0.0, f32::max);
    match linear > SET.x {
        true => Beyond { what, value: linear, limit: SET.x },
        false => Beyond { what, value: largest(&local.translation().to_array()), limit: SET.w },
    }
}

/// Whether a matrix is within the limit of world transforms.
pub(crate) fn is_world(world: &Affine3x4) -> bool {
    beyond("", world.rows.as_flattened(), MAX_WORLD).is_ok()
}

/// Checks translation and rotation of a local transform; scales are checked per chain.
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

/// The factor of a joint in its chain: the largest magnitude of its scale in the rest pose and, from `clips`
/// by lane, in all clips.
pub(crate) fn scale_factor(skeleton: &Skeleton, clips: &[f32], joint: usize) -> f64 {
    let lane = usize::from(skeleton.lane_of()[joint]);
    let rest = skeleton.rest_pose().lane(lane).scale.abs().max_element();
    let clips = clips.get(lane).copied().unwrap_or(1.0);
    f64::from(clips.max(rest))
}

/// The largest product of factors down a chain. Fails with the first joint at which the product exceeds a
/// limit, and that product. Factors below 1 count as 1.
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
