//! Vectors and matrices of three, one per lane of a register.

use crate::simd::each;
use fearless_simd::{Simd, f32x4, f32x8, mask32x4, mask32x8};
use std::ops::{Add, Mul, Sub};

/// What vectors and matrices ask of a register of floats, whatever its width.
pub(super) trait Register:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    type Mask: Copy;

    /// `self × by + plus`.
    fn mul_add(self, by: Self, plus: Self) -> Self;

    /// `self × by − minus`.
    fn mul_sub(self, by: Self, minus: Self) -> Self;

    fn inverse(self) -> Self;

    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

macro_rules! registers {
    ($($register:ident $mask:ident),*) => {$(
        impl<S: Simd> Register for $register<S> {
            type Mask = $mask<S>;

            #[inline(always)]
            fn mul_add(self, by: Self, plus: Self) -> Self {
                fearless_simd::SimdFloat::mul_add(self, by, plus)
            }

            #[inline(always)]
            fn mul_sub(self, by: Self, minus: Self) -> Self {
                fearless_simd::SimdFloat::mul_sub(self, by, minus)
            }

            #[inline(always)]
            fn inverse(self) -> Self {
                1.0 / self
            }

            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                fearless_simd::Select::select(mask, yes, no)
            }
        }
    )*};
}

registers!(f32x4 mask32x4, f32x8 mask32x8);

/// Three components of as many vectors as a register has lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vec3s<V>(pub [V; 3]);

/// The columns of as many matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mat3s<V>(pub [Vec3s<V>; 3]);

impl<V: Register> Add for Vec3s<V> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self([self.0[0] + b.0[0], self.0[1] + b.0[1], self.0[2] + b.0[2]])
    }
}

impl<V: Register> Sub for Vec3s<V> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self([self.0[0] - b.0[0], self.0[1] - b.0[1], self.0[2] - b.0[2]])
    }
}

impl<V: Register> Mul<V> for Vec3s<V> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, by: V) -> Self {
        Self([self.0[0] * by, self.0[1] * by, self.0[2] * by])
    }
}

impl<V: Register> Vec3s<V> {
    /// `self + a × b`.
    #[inline(always)]
    pub fn plus(self, a: Self, b: V) -> Self {
        Self(each!(b; 3; c => a.0[c].mul_add(b, self.0[c])))
    }

    #[inline(always)]
    pub fn dot(self, b: Self) -> V {
        self.0[0].mul_add(b.0[0], self.0[1].mul_add(b.0[1], self.0[2] * b.0[2]))
    }

    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, b.0);
        Self([b.mul_sub(z, c * y), c.mul_sub(x, a * z), a.mul_sub(y, b * x)])
    }

    #[inline(always)]
    pub fn select(mask: V::Mask, yes: Self, no: Self) -> Self {
        Self(each!(no.0[0]; 3; c => V::select(mask, yes.0[c], no.0[c])))
    }
}

impl<V: Register> Mul<Vec3s<V>> for Mat3s<V> {
    type Output = Vec3s<V>;

    #[inline(always)]
    fn mul(self, v: Vec3s<V>) -> Vec3s<V> {
        let [x, y, z] = self.0;
        (x * v.0[0]).plus(y, v.0[1]).plus(z, v.0[2])
    }
}

impl<V: Register> Mul for Mat3s<V> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self([self * b.0[0], self * b.0[1], self * b.0[2]])
    }
}

impl<V: Register> Mat3s<V> {
    #[inline(always)]
    pub fn transposed(self) -> Self {
        let [x, y, z] = self.0;
        Self(each!(x; 3; c => Vec3s([x.0[c], y.0[c], z.0[c]])))
    }

    /// The inverses; not finite where there is none.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let [x, y, z] = self.0;
        let [a, b, c] = [y.cross(z), z.cross(x), x.cross(y)];
        let by = x.dot(a).inverse();
        Self([a * by, b * by, c * by]).transposed()
    }

    /// The sums of all elements; not finite if one is not.
    #[inline(always)]
    pub fn sum(self) -> V {
        let sum = self.0[0] + self.0[1] + self.0[2];
        sum.0[0] + sum.0[1] + sum.0[2]
    }
}
