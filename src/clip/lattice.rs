//! Lattice steps: baked keys are integer multiples of a step.
//!
//! A step is a power of two times a five-bit number. Its multiples below 2^19 are therefore exact in f32,
//! so values have the same bits however they are computed. Translations in a frame of another [`unit`] have such steps
//! in model space; their multiples are rounded to f32 once.

#[cfg(feature = "phx")]
use crate::math::LANES;
use crate::skeleton::Frames;
#[cfg(feature = "phx")]
use crate::skeleton::{NO_JOINT, Skeleton};

/// Steps per octave.
const PER_OCTAVE: i32 = 16;
/// The exponent of the finest step, 2^−40.
const LEAST: i32 = -40;
/// Number of steps: the coarsest is just below 2^24.
pub(crate) const STEPS: u16 = 64 * PER_OCTAVE as u16;
/// Multiples below this are exact in f32.
pub(crate) const MAX_MULTIPLE: f64 = (1 << 19) as f64;

/// The step of a code below [`STEPS`].
pub(crate) fn step(code: u16) -> f64 {
    let (octave, part) = (i32::from(code) / PER_OCTAVE, i32::from(code) % PER_OCTAVE);
    let octave = f64::from_bits(((1023 + LEAST + octave) as u64) << 52);
    octave * f64::from(PER_OCTAVE + part) / f64::from(PER_OCTAVE)
}

/// The code of the largest step not above a value; 0 if there is none.
pub(crate) fn code_below(value: f64) -> u16 {
    let (mut low, mut high) = (0, STEPS);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if step(middle) <= value {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The divisor of the steps of a joint's translations, 1 to 2: the scale of their frame without its power of two. With it
/// the same positions in model space are stored below nodes of any scale. Changing it breaks the coded form.
pub(crate) fn unit(frames: &Frames, joint: usize) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let unit = f64::from_bits(frames.above(joint).to_bits() & FRACTION | 1023 << 52);
    // Scales of 1 are often off by rounding.
    match (1.0 + NEAR_ONE..2.0 - NEAR_ONE).contains(&unit) {
        true => unit,
        false => 1.0,
    }
}

/// Units this near to a power of two count as the power.
const NEAR_ONE: f64 = 1e-4;

/// The [`unit`] of the translations of every lane.
#[cfg(feature = "phx")]
pub(crate) fn units(skeleton: &Skeleton) -> Vec<f64> {
    let frames = Frames::of_rest(skeleton);
    let mut units = vec![1.0; skeleton.blocks() * LANES];
    for (unit_of, &joint) in units.iter_mut().zip(skeleton.joint_of()) {
        if joint != NO_JOINT {
            *unit_of = unit(&frames, joint.into());
        }
    }
    units
}

/// The multiple of `step` that has a value's bits in f32, if one below [`MAX_MULTIPLE`] does; never for −0.0.
#[cfg(feature = "phx")]
pub(crate) fn multiple_of(value: f32, step: f64) -> Option<i32> {
    let k = (f64::from(value) / step).round();
    let multiple = k as i32;
    let stored = (f64::from(multiple) * step) as f32;
    (k.abs() < MAX_MULTIPLE && stored.to_bits() == value.to_bits()).then_some(multiple)
}

/// 1.5 × 2^52: adding a number to it rounds the number to an integer.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// Rounds to the nearest integer, ties to even, for magnitudes below 2^51. The optimiser rounds eight
/// numbers at once in the same way, so both give the same bits.
#[cfg(feature = "phx")]
fn round(v: f64) -> f64 {
    (v + SHIFT) - SHIFT
}

/// The fourth component of a unit quaternion from the other three, all as multiples of `step`.
#[cfg(feature = "phx")]
pub(crate) fn fourth(others: [i32; 3], step: f64, negative: bool) -> i32 {
    let square: f64 = others.iter().map(|&k| (f64::from(k) * step).powi(2)).sum();
    let k = round((1.0 - square).max(0.0).sqrt() * (1.0 / step)) as i32;
    if negative { -k } else { k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_exact_in_f32() {
        for code in (0..STEPS).step_by(7) {
            let s = step(code);
            assert_eq!(code_below(s * 1.01), code);
            for k in [1, 3, 77, 65_535, (1 << 19) - 1] {
                let value = s * f64::from(k);
                assert_eq!(f64::from(value as f32), value, "{code} {k}");
                #[cfg(feature = "phx")]
                assert_eq!(multiple_of(value as f32, s), Some(k));
            }
        }
        assert_eq!(step(40 * 16), 1.0);
    }
}
