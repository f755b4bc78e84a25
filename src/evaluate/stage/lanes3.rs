//! Vectors and matrices of three, one per lane of four.

use crate::simd::each;
use fearless_simd::{f32x4, mask32x4, prelude::*};
use glam::Vec3;
use std::ops::{Add, Mul, Sub};

/// The number of lanes.
pub(super) const LANES: usize = 4;

/// Three components of four vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vec3x4<S: Simd>(pub [f32x4<S>; 3]);

/// The columns of four matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mat3x4<S: Simd>(pub [Vec3x4<S>; 3]);

impl<S: Simd> Add for Vec3x4<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self([self.0[0] + b.0[0], self.0[1] + b.0[1], self.0[2] + b.0[2]])
    }
}

impl<S: Simd> Sub for Vec3x4<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self([self.0[0] - b.0[0], self.0[1] - b.0[1], self.0[2] - b.0[2]])
    }
}

impl<S: Simd> Mul<f32x4<S>> for Vec3x4<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, by: f32x4<S>) -> Self {
        Self([self.0[0] * by, self.0[1] * by, self.0[2] * by])
    }
}

impl<S: Simd> Vec3x4<S> {
    #[inline(always)]
    pub fn from_lanes(simd: S, all: [Vec3; LANES]) -> Self {
        let zero = f32x4::splat(simd, 0.0);
        Self(each!(zero; 3; c => f32x4::load_array(simd, each!(0.0; LANES; i => all[i][c]))))
    }

    #[inline(always)]
    pub fn lane(&self, i: usize) -> Vec3 {
        Vec3::new(self.0[0].as_array()[i], self.0[1].as_array()[i], self.0[2].as_array()[i])
    }

    /// `self + a × b`.
    #[inline(always)]
    pub fn plus(self, a: Self, b: f32x4<S>) -> Self {
        Self(each!(b; 3; c => a.0[c].mul_add(b, self.0[c])))
    }

    #[inline(always)]
    pub fn dot(self, b: Self) -> f32x4<S> {
        self.0[0].mul_add(b.0[0], self.0[1].mul_add(b.0[1], self.0[2] * b.0[2]))
    }

    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, b.0);
        Self([b.mul_sub(z, c * y), c.mul_sub(x, a * z), a.mul_sub(y, b * x)])
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

    #[inline(always)]
    pub fn select(mask: mask32x4<S>, yes: Self, no: Self) -> Self {
        Self(each!(no.0[0]; 3; c => mask.select(yes.0[c], no.0[c])))
    }
}

impl<S: Simd> Mul<Vec3x4<S>> for Mat3x4<S> {
    type Output = Vec3x4<S>;

    #[inline(always)]
    fn mul(self, v: Vec3x4<S>) -> Vec3x4<S> {
        let [x, y, z] = self.0;
        (x * v.0[0]).plus(y, v.0[1]).plus(z, v.0[2])
    }
}

impl<S: Simd> Mul for Mat3x4<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self([self * b.0[0], self * b.0[1], self * b.0[2]])
    }
}

impl<S: Simd> Mat3x4<S> {
    #[inline(always)]
    pub fn transposed(self) -> Self {
        let [x, y, z] = self.0;
        Self(each!(x; 3; c => Vec3x4([x.0[c], y.0[c], z.0[c]])))
    }

    /// The rotations about unit vectors by angles with these cosines and sines.
    #[inline(always)]
    pub fn about(axis: Vec3x4<S>, cos: f32x4<S>, sin: f32x4<S>) -> Self {
        let across = axis * (1.0 - cos);
        let ([x, y, z], [sx, sy, sz]) = (axis.0, (axis * sin).0);
        let [a, b, c] = [across * x, across * y, across * z];
        Self([
            Vec3x4([a.0[0] + cos, a.0[1] + sz, a.0[2] - sy]),
            Vec3x4([b.0[0] - sz, b.0[1] + cos, b.0[2] + sx]),
            Vec3x4([c.0[0] + sy, c.0[1] - sx, c.0[2] + cos]),
        ])
    }

    /// The inverses; not finite where there is none.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let [x, y, z] = self.0;
        let [a, b, c] = [y.cross(z), z.cross(x), x.cross(y)];
        let by = 1.0 / x.dot(a);
        Self([a * by, b * by, c * by]).transposed()
    }

    /// The sums of all elements; not finite if one is not.
    #[inline(always)]
    pub fn sum(self) -> f32x4<S> {
        let sum = self.0[0] + self.0[1] + self.0[2];
        sum.0[0] + sum.0[1] + sum.0[2]
    }
}
