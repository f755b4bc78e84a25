//! `LerpPaletteJob`: palette rows between two poses.

use super::check::{JobError, exact, in_range};
use crate::math::Affine3x4;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use fearless_simd::{f32x4, f32x16, prelude::*};

/// Interpolates two palettes of one instance: `from + (to - from) × factor`, element by element of the 3×4 rows.
///
/// For instances that are evaluated in some frames only and shown between two evaluations, where rows are read on the
/// CPU; the shaders of `gpu` do the same on the device. Both palettes are in the same space, usually model space, and so
/// is the output.
///
/// A rotation between the two poses shortens lengths: a joint that turns by the angle `a` shrinks to `cos(a / 2)`
/// halfway, by 0.4% at 10 degrees.
///
/// ```
/// use phalanx::math::Affine3x4;
/// use phalanx::runtime::LerpPaletteJob;
///
/// # fn main() -> Result<(), phalanx::runtime::JobError> {
/// let from = [Affine3x4::IDENTITY];
/// let mut to = from;
/// to[0].rows[1][3] = 2.0;
/// let mut shown = from;
/// LerpPaletteJob { from: &from, to: &to, factor: 0.25, output: &mut shown }.run()?;
/// assert_eq!(shown[0].rows[1], [0.0, 1.0, 0.0, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LerpPaletteJob<'a> {
    /// The rows at factor 0.
    pub from: &'a [Affine3x4],
    /// The rows at factor 1; the same number as `from`.
    pub to: &'a [Affine3x4],
    /// Position between the two, 0 to 1. At 0 the output has the bits of `from`, at 1 the bits of `to`.
    pub factor: f32,
    /// One row per row of `from`; written front to back.
    pub output: &'a mut [Affine3x4],
}

impl LerpPaletteJob<'_> {
    const NAME: &'static str = "LerpPaletteJob";

    /// Checks sizes and the factor.
    fn validate(&self) -> Result<(), JobError> {
        exact(Self::NAME, "to", self.to.len(), self.from.len())?;
        exact(Self::NAME, "output", self.output.len(), self.from.len())?;
        in_range(Self::NAME, "factor", self.factor, 0.0, 1.0)
    }

    /// Validates, then runs.
    ///
    /// # Errors
    /// If the number of rows of `to` or the output differs from that of `from`, or the factor is NaN or outside 0 to 1.
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        self.run_at(SimdLevel::current());
        Ok(())
    }

    fn run_at(self, level: SimdLevel) {
        // The formula would turn -0 into 0, and might miss `to` by rounding.
        if self.factor == 0.0 {
            self.output.copy_from_slice(self.from);
        } else if self.factor == 1.0 {
            self.output.copy_from_slice(self.to);
        } else {
            dispatch(level, self);
        }
    }
}

impl Kernel for LerpPaletteJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { from, to, factor, output } = self;
        // A row has twelve floats; they are taken sixteen at a time, then four at a time.
        let (from, from_rest) = bytemuck::cast_slice::<_, f32>(from).as_chunks::<16>();
        let (to, to_rest) = bytemuck::cast_slice::<_, f32>(to).as_chunks::<16>();
        let output = bytemuck::cast_slice_mut::<_, f32>(output);
        let (output, output_rest) = output.as_chunks_mut::<16>();
        let all = f32x16::splat(simd, factor);
        for ((out, a), b) in output.iter_mut().zip(from).zip(to) {
            let a = f32x16::load_array_ref(simd, a);
            let b = f32x16::load_array_ref(simd, b);
            (b - a).mul_add(all, a).store_array(out);
        }
        let four = f32x4::splat(simd, factor);
        let rest = output_rest.as_chunks_mut::<4>().0.iter_mut();
        let rest = rest.zip(from_rest.as_chunks::<4>().0);
        for ((out, a), b) in rest.zip(to_rest.as_chunks::<4>().0) {
            let a = f32x4::load_array_ref(simd, a);
            let b = f32x4::load_array_ref(simd, b);
            (b - a).mul_add(four, a).store_array(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::random::matrices as rows;

    fn bits(rows: &[Affine3x4]) -> Vec<u32> {
        let floats: &[f32] = bytemuck::cast_slice(rows);
        floats.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn sizes_that_differ_and_factors_outside_0_to_1_are_refused() {
        let run = |from: usize, to: usize, output: usize, factor: f32| {
            let mut output = rows(output, 3);
            LerpPaletteJob { from: &rows(from, 1), to: &rows(to, 2), factor, output: &mut output }
                .run()
        };
        for factor in [0.0, -0.0, 0.3, 1.0] {
            assert_eq!(run(3, 3, 3, factor), Ok(()));
        }
        assert_eq!(run(0, 0, 0, 0.5), Ok(()));
        let size = |buffer, have, needed| {
            let job = "LerpPaletteJob";
            Err(JobError::Size { job, buffer, have, needed })
        };
        assert_eq!(run(3, 2, 3, 0.5), size("to", 2, 3));
        assert_eq!(run(3, 4, 3, 0.0), size("to", 4, 3));
        assert_eq!(run(3, 3, 5, 0.5), size("output", 5, 3));
        for factor in [f32::NAN, -1e-9, 1.0f32.next_up(), f32::INFINITY] {
            let refused = run(3, 3, 3, factor);
            let Err(JobError::Value { what, low, high, .. }) = refused else {
                panic!("{factor}: {refused:?}");
            };
            assert_eq!((what, low, high), ("factor", 0.0, 1.0));
        }
    }

    #[test]
    fn rows_are_interpolated_at_every_level() {
        // These counts leave every remainder of 16 floats; 0 has no rows.
        for (count, level) in (0..9).flat_map(|n| SimdLevel::supported().map(move |l| (n, l))) {
            let (from, to) = (rows(count, 1), rows(count, 2));
            for factor in [1e-7, 0.25, 0.3, 0.5, 0.999] {
                let mut output = rows(count, 3);
                LerpPaletteJob { from: &from, to: &to, factor, output: &mut output }.run_at(level);
                let floats = |rows| bytemuck::cast_slice::<Affine3x4, f32>(rows);
                let pairs = floats(&from).iter().zip(floats(&to));
                for (found, (&a, &b)) in floats(&output).iter().zip(pairs) {
                    let (a, b) = (f64::from(a), f64::from(b));
                    let off = (f64::from(*found) - (a + (b - a) * f64::from(factor))).abs();
                    assert!(off < 4e-7, "{level}, {count} rows at {factor}: {off}");
                }
            }
        }
    }

    #[test]
    fn ends_have_the_bits_of_their_palettes_at_every_level() {
        let (mut from, mut to) = (rows(5, 1), rows(5, 2));
        (from[2].rows[0][1], to[4].rows[2][3]) = (-0.0, -0.0);
        (from[0].rows[0], to[0].rows[0]) = ([1e30; 4], [1e-30; 4]);
        for level in SimdLevel::supported() {
            for (factor, wanted) in [(0.0, &from), (-0.0, &from), (1.0, &to)] {
                let mut output = rows(5, 3);
                LerpPaletteJob { from: &from, to: &to, factor, output: &mut output }.run_at(level);
                assert_eq!(bits(&output), bits(wanted), "{level} at {factor}");
            }
            // Rows that do not differ keep their bits.
            let mut output = rows(5, 3);
            LerpPaletteJob { from: &to, to: &to, factor: 0.7, output: &mut output }.run_at(level);
            assert_eq!(output, to, "{level}");
        }
    }
}
