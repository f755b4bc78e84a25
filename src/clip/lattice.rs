//! The steps that keys are multiples of.
//!
//! A step is a power of two times a number of five bits, so that its multiples below 2^19 are exact
//! in f32, and values have the same bits however they are computed.

/// Steps per doubling.
const PER_OCTAVE: i32 = 16;
/// The exponent of the finest step, 2^−40.
const LEAST: i32 = -40;
/// Number of steps: the coarsest is just below 2^24.
pub(crate) const STEPS: u16 = 64 * PER_OCTAVE as u16;
/// Multiples that are exact.
pub(crate) const MAX_MULTIPLE: f64 = (1 << 19) as f64;

/// The step of a code below [`STEPS`].
pub(crate) fn step(code: u16) -> f64 {
    let (octave, part) = (i32::from(code) / PER_OCTAVE, i32::from(code) % PER_OCTAVE);
    let octave = f64::from_bits(((1023 + LEAST + octave) as u64) << 52);
    octave * f64::from(PER_OCTAVE + part) / f64::from(PER_OCTAVE)
}

/// The code of the largest step that is not above a value.
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

/// How many steps a value is, if it is an exact multiple.
#[cfg(feature = "phx")]
pub(crate) fn multiple_of(value: f32, step: f64) -> Option<i32> {
    let k = f64::from(value) / step;
    (k.fract() == 0.0 && k.abs() < MAX_MULTIPLE).then_some(k as i32)
}

/// 1.5 × 2^52: a number that is added to it loses its fraction.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// To the nearest whole number, ties to even; for numbers below 2^51. As the optimiser rounds, eight
/// numbers at once.
#[cfg(feature = "phx")]
fn round(v: f64) -> f64 {
    (v + SHIFT) - SHIFT
}

/// The multiple of `step` that makes a unit quaternion of three others, with a sign.
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
