//! Loads and stores of a [`Mix`]: poses, keys of clips, weights of lanes.

use super::Mix;
use crate::evaluate::kernel::track::{Keys, get};
use crate::evaluate::tables::ClipProgram;
use crate::simd::{Lanes, each};
use fearless_simd::prelude::*;

impl<'a, S: Lanes> Mix<'a, S> {
    #[inline(always)]
    pub(super) fn splat(&self, v: f32) -> S::f32s {
        S::f32s::splat(self.simd, v)
    }

    /// `C` registers of a pose.
    #[inline(always)]
    pub(super) fn get<const C: usize>(&self, pose: &[f32], at: usize) -> [S::f32s; C] {
        get(self.simd, pose, at)
    }

    #[inline(always)]
    pub(super) fn put<const C: usize>(&self, pose: &mut [f32], at: usize, v: &[S::f32s; C]) {
        self.write(self.floats::<C>(pose, at), v);
    }

    /// The floats of `C` registers, checked once for reading and writing.
    #[inline(always)]
    pub(super) fn floats<'p, const C: usize>(
        &self,
        pose: &'p mut [f32],
        at: usize,
    ) -> &'p mut [f32] {
        &mut pose[at..][..C * S::f32s::LEN]
    }

    #[inline(always)]
    pub(super) fn read<const C: usize>(&self, floats: &[f32]) -> [S::f32s; C] {
        let n = S::f32s::LEN;
        each!(self.splat(0.0); C; c => S::f32s::from_slice(self.simd, &floats[c * n..(c + 1) * n]))
    }

    #[inline(always)]
    pub(super) fn write<const C: usize>(&self, floats: &mut [f32], v: &[S::f32s; C]) {
        let n = S::f32s::LEN;
        let mut c = 0;
        while c < C {
            v[c].store_slice(&mut floats[c * n..(c + 1) * n]);
            c += 1;
        }
    }

    /// The tables of a clip, with the cursors from `cursor` on.
    #[inline(always)]
    pub(super) fn keys<'k>(&self, clip: &'k ClipProgram, cursor: usize) -> Keys<'k>
    where
        'a: 'k,
    {
        Keys {
            rows: clip.clip.rows(),
            packed: clip.clip.packed(),
            constants: clip.constants.pose(),
            cursors: &self.cursors[cursor..],
        }
    }

    /// Weight × mask of a group, given by its first lane.
    #[inline(always)]
    pub(super) fn lane_weight(&self, mask: Option<&[f32]>, weight: f32, lane: usize) -> S::f32s {
        let w = self.splat(weight);
        match mask {
            Some(mask) => {
                let [m] = self.get(mask, lane);
                m * w
            }
            None => w,
        }
    }
}
