//! `TakenJoints`: the watched joints that a worker collects in a frame.

use super::{Scratch, Sources, Watched, matrices};
use crate::math::Affine3x4;
use crate::simd::{Lanes, out_of_line};

/// The watched joints that a worker collects while it evaluates palettes.
#[derive(Debug, Default)]
pub(crate) struct TakenJoints {
    /// Index of the pool, index of the instance, and number of its joints.
    of: Vec<(u16, u32, u32)>,
    models: Vec<Affine3x4>,
}

impl TakenJoints {
    /// Collects the joints of an instance that was evaluated.
    #[inline(always)]
    pub fn take<S: Lanes>(
        &mut self,
        simd: S,
        (watched, pool, index): (&Watched, u16, usize),
        run: (&Sources<'_>, &Scratch, bool),
        palette: &[Affine3x4],
    ) {
        let joints = &watched.rows.joints[watched.rows.range(index)];
        self.of.push((pool, index as u32, joints.len() as u32));
        out_of_line(
            simd,
            #[inline(always)]
            || {
                let first = self.models.len();
                self.models.resize(first + joints.len(), Affine3x4::IDENTITY);
                let out = &mut self.models[first..];
                matrices(simd, run, (joints, watched.rows.before), palette, out);
            },
        );
    }

    /// Moves the collected matrices to the watched joints of the pools.
    pub fn put<P>(&mut self, pools: &mut [Option<P>], of: impl Fn(&mut P) -> &mut Watched) {
        let mut rest = &self.models[..];
        for &(pool, index, count) in &self.of {
            let (taken, later) = rest.split_at(count as usize);
            rest = later;
            if let Some(Some(pool)) = pools.get_mut(usize::from(pool)) {
                of(pool).put(index as usize, taken);
            }
        }
        self.clear();
    }

    /// Drops the matrices that a frame which was cut short has collected.
    pub fn clear(&mut self) {
        self.of.clear();
        self.models.clear();
    }
}
