//! Vectors and matrices of three, one per lane of four.

use super::vec3s::{Mat3s, Vec3s};
use crate::simd::each;
use fearless_simd::{f32x4, mask32x4, prelude::*};
use glam::Vec3;

/// The number of lanes.
pub(super) const LANES: usize = 4;

/// Four vectors.
pub(super) type Vec3x4<S> = Vec3s<f32x4<S>>;

/// Four matrices.
pub(super) type Mat3x4<S> = Mat3s<f32x4<S>>;

impl<S: Simd> Vec3s<f32x4<S>> {
    #[inline(always)]
    pub fn from_lanes(simd: S, all: [Vec3; LANES]) -> Self {
        let zero = f32x4::splat(simd, 0.0);
        Self(each!(zero; 3; c => f32x4::load_array(simd, each!(0.0; LANES; i => all[i][c]))))
    }

    #[inline(always)]
    pub fn lane(&self, i: usize) -> Vec3 {
        Vec3::new(self.0[0].as_array()[i], self.0[1].as_array()[i], self.0[2].as_array()[i])
    }

    #[inline(always)]
    pub fn length(self) -> f32x4<S> {
        self.dot(self).sqrt()
    }

    /// The directions, and a mask of the vectors that are longer than `least`.
    #[inline(always)]
    pub fn direction(self, least: f32x4<S>) -> (Self, mask32x4<S>) {
        let length = self.length();
        let infinity = f32x4::splat(least.simd, f32::INFINITY);
        let known = length.simd_gt(least) & length.simd_lt(infinity);
        (self * (1.0 / length), known)
    }

    /// The direction of what is across unit vectors `of`, and where there is some.
    #[inline(always)]
    pub fn across(self, of: Self) -> (Self, mask32x4<S>) {
        let along = self.dot(of);
        self.plus(of, -along).direction(f32x4::splat(along.simd, 1e-4))
    }
}

impl<S: Simd> Mat3s<f32x4<S>> {
    /// The rotations about unit vectors by angles with these cosines and sines.
    #[inline(always)]
    pub fn about(axis: Vec3x4<S>, cos: f32x4<S>, sin: f32x4<S>) -> Self {
        let across = axis * (1.0 - cos);
        let ([x, y, z], [sx, sy, sz]) = (axis.0, (axis * sin).0);
        let [a, b, c] = [across * x, across * y, across * z];
        Self([
            Vec3s([a.0[0] + cos, a.0[1] + sz, a.0[2] - sy]),
            Vec3s([b.0[0] - sz, b.0[1] + cos, b.0[2] + sx]),
            Vec3s([c.0[0] + sy, c.0[1] - sx, c.0[2] + cos]),
        ])
    }
}
