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
    /// Checks sizes and joints, then runs.
    ///
    /// # Errors
    /// If the output has not one matrix per slot, or a slot's joint has no model matrix.
    pub fn run(self) -> Result<(), JobError> {
        self.run_at(SimdLevel::current())
    }

    fn run_at(self, level: SimdLevel) -> Result<(), JobError> {
        const NAME: &str = "PaletteJob";
        exact(NAME, "output", self.output.len(), self.skin.len())?;
        for (place, &joint) in self.skin.joints().iter().enumerate() {
            if joint != NO_JOINT && usize::from(joint) >= self.models.len() {
                return Err(JobError::Index {
                    job: NAME,
                    what: "joint",
                    index: usize::from(joint),
                    place,
                    have: self.models.len(),
                });
            }
        }
        dispatch(level, self);
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
    use crate::runtime::random::matrices;
    use glam::DAffine3;

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
        let joints: Vec<u16> = (0..40).map(|slot| slot * 7 % 19).collect();
        let (binds, models) = (matrices(joints.len(), 1), matrices(19, 2));
        let skin = Skin::new(None, joints.clone(), binds.clone(), 19).unwrap();
        for level in SimdLevel::supported() {
            let mut output = vec![Affine3x4::IDENTITY; joints.len()];
            let job = PaletteJob { skin: &skin, models: &models, output: &mut output };
            job.run_at(level).unwrap();
            for ((found, &joint), bind) in output.iter().zip(&joints).zip(&binds) {
                let wanted = DAffine3::from(models[usize::from(joint)]) * DAffine3::from(*bind);
                let near = DAffine3::from(*found).abs_diff_eq(wanted, 4e-6);
                assert!(near, "{level}, joint {joint}: {found:?} {wanted:?}");
            }
        }
    }
}
