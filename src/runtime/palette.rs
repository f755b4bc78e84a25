//! `PaletteJob`: model matrices × inverse binds, one 3×4 matrix per slot.

use super::check::{JobError, exact};
use crate::evaluate::multiply;
use crate::math::Affine3x4;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::{NO_JOINT, Skin};

/// Computes the skinning palette of a skin, in model space.
#[derive(Debug)]
pub struct PaletteJob<'a> {
    /// The skin.
    pub skin: &'a Skin,
    /// Model matrices of the skeleton, in joint order.
    pub models: &'a [Affine3x4],
    /// One matrix per slot; written front to back.
    pub output: &'a mut [Affine3x4],
}

impl PaletteJob<'_> {
    const NAME: &'static str = "PaletteJob";

    /// Checks sizes.
    fn validate(&self) -> Result<(), JobError> {
        exact(Self::NAME, "output", self.output.len(), self.skin.len())?;
        for (place, &joint) in self.skin.joints().iter().enumerate() {
            if joint != NO_JOINT && usize::from(joint) >= self.models.len() {
                return Err(JobError::Index {
                    job: Self::NAME,
                    what: "joint",
                    index: usize::from(joint),
                    place,
                    have: self.models.len(),
                });
            }
        }
        Ok(())
    }

    /// Validates, then runs.
    ///
    /// # Errors
    /// If the output has not one matrix per slot, or a slot's joint has no model matrix.
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        dispatch(SimdLevel::current(), self);
        Ok(())
    }
}

impl Kernel for PaletteJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { skin, models, output } = self;
        let slots = skin.joints().iter().zip(skin.inverse_bind());
        for (out, (&joint, bind)) in output.iter_mut().zip(slots) {
            if joint == NO_JOINT {
                *out = *bind;
            } else {
                let [x, y, z] = &bind.rows;
                multiply(simd, &models[usize::from(joint)], [x, y, z], out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_and_joints_beyond_their_arrays_are_refused() {
        let skin = Skin::new(None, vec![0, 1], vec![Affine3x4::IDENTITY; 2], 2).unwrap();
        let run = |models: usize, output: usize| {
            let (models, mut output) =
                (vec![Affine3x4::IDENTITY; models], vec![Affine3x4::IDENTITY; output]);
            PaletteJob { skin: &skin, models: &models, output: &mut output }.run()
        };
        assert_eq!(run(2, 2), Ok(()));
        assert!(matches!(
            run(2, 3),
            Err(JobError::Size { buffer: "output", have: 3, needed: 2, .. })
        ));
        assert!(matches!(run(1, 2), Err(JobError::Index { index: 1, place: 1, have: 1, .. })));
    }

    #[test]
    fn rows_are_products_at_every_level() {
        let mut seed = 0;
        let mut matrix = || Affine3x4 {
            rows: std::array::from_fn(|_| {
                std::array::from_fn(|_| {
                    seed += 1;
                    phalanx_workload::hash01(seed) as f32 * 4.0 - 2.0
                })
            }),
        };
        let joints: Vec<u16> = (0..40).map(|slot| slot * 7 % 19).collect();
        let binds: Vec<_> = joints.iter().map(|_| matrix()).collect();
        let models: Vec<_> = (0..19).map(|_| matrix()).collect();
        let skin = Skin::new(None, joints.clone(), binds.clone(), 19).unwrap();
        for level in SimdLevel::supported() {
            let mut output = vec![Affine3x4::IDENTITY; joints.len()];
            let job = PaletteJob { skin: &skin, models: &models, output: &mut output };
            dispatch(level, job);
            for ((found, &joint), bind) in output.iter().zip(&joints).zip(&binds) {
                let model = &models[usize::from(joint)];
                for r in 0..3 {
                    for c in 0..4 {
                        let product =
                            |k: usize| f64::from(model.rows[r][k]) * f64::from(bind.rows[k][c]);
                        let last = if c == 3 { model.rows[r][3] } else { 0.0 };
                        let wanted = (0..3).map(product).sum::<f64>() + f64::from(last);
                        let off = (f64::from(found.rows[r][c]) - wanted).abs();
                        assert!(off < 4e-6, "{level}, joint {joint}, {r} {c}: {off}");
                    }
                }
            }
        }
    }
}
