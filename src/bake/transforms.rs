//! Transforms and matrices of one joint at eight times at once, in f64, and the distance between the points of a shell
//! under two matrices. Operations are not fused, so results are bit-identical on every machine.

use super::shells::Shell;
use crate::simd::each;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// Number of times that are processed together.
pub(super) const TIMES: usize = 8;

/// One number at eight times, in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct V(pub [f64; TIMES]);

impl V {
    pub const ZERO: Self = Self::splat(0.0);

    pub const fn splat(v: f64) -> Self {
        Self([v; TIMES])
    }
}

/// Translation xyz, rotation xyzw and scale xyz at eight times.
pub(super) type Local = [V; 10];

/// Rotation and matrix of a joint in model space at eight times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    turn: [V; 4],
    pub matrix: [[V; 4]; 3],
}

impl Model {
    pub const ZERO: Self = Self { turn: [V::ZERO; 4], matrix: [[V::ZERO; 4]; 3] };
}

/// Types in registers, at eight times: a rotation xyzw, a local transform, the rows of a 3×4 matrix.
pub(super) type Turn<S> = [f64x8<S>; 4];
pub(super) type Trs<S> = [f64x8<S>; 10];
pub(super) type Matrix<S> = [[f64x8<S>; 4]; 3];

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, v: &Local) -> Trs<S> {
    each!(f64x8::splat(simd, 0.0); 10; i => f64x8::load_array_ref(simd, &v[i].0))
}

#[inline(always)]
pub(super) fn store<S: Simd>(v: &Trs<S>, out: &mut Local) {
    let mut i = 0;
    while i < 10 {
        v[i].store_array(&mut out[i].0);
        i += 1;
    }
}

#[inline(always)]
pub(super) fn store_turn<S: Simd>(v: &Turn<S>, out: &mut [V]) {
    let mut i = 0;
    while i < 4 {
        v[i].store_array(&mut out[i].0);
        i += 1;
    }
}

/// A [`Model`] in registers.
#[derive(Clone, Copy)]
pub(super) struct Live<S: Simd> {
    pub turn: Turn<S>,
    pub matrix: Matrix<S>,
}

impl<S: Simd> Live<S> {
    /// The identity: the parent of roots.
    #[inline(always)]
    pub fn root(simd: S) -> Self {
        let (zero, one) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, 1.0));
        Self {
            turn: [zero, zero, zero, one],
            matrix: [[one, zero, zero, zero], [zero, one, zero, zero], [zero, zero, one, zero]],
        }
    }

    #[inline(always)]
    pub fn load(simd: S, model: &Model) -> Self {
        let zero = f64x8::splat(simd, 0.0);
        let row = |v: &[V; 4]| each!(zero; 4; i => f64x8::load_array_ref(simd, &v[i].0));
        Self { turn: row(&model.turn), matrix: each!([zero; 4]; 3; r => row(&model.matrix[r])) }
    }

    #[inline(always)]
    pub fn store(&self, out: &mut Model) {
        let mut i = 0;
        while i < 4 {
            self.turn[i].store_array(&mut out.turn[i].0);
            let mut r = 0;
            while r < 3 {
                self.matrix[r][i].store_array(&mut out.matrix[r][i].0);
                r += 1;
            }
            i += 1;
        }
    }

    /// A local transform whose rotation has unit length.
    #[inline(always)]
    pub fn own(simd: S, local: &Trs<S>) -> Self {
        Self { turn: [local[3], local[4], local[5], local[6]], matrix: matrix(simd, local) }
    }

    /// The product of this transform and that of a child.
    #[inline(always)]
    pub fn below(&self, own: &Self) -> Self {
        Self { turn: product(&self.turn, &own.turn), matrix: multiply(&self.matrix, &own.matrix) }
    }
}

#[inline(always)]
pub(super) fn product<S: Simd>(a: &Turn<S>, b: &Turn<S>) -> Turn<S> {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (*a, *b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

#[inline(always)]
pub(super) fn conjugate<S: Simd>(q: &Turn<S>) -> Turn<S> {
    [-q[0], -q[1], -q[2], q[3]]
}

#[inline(always)]
pub(super) fn unit<S: Simd>(q: &Turn<S>) -> Turn<S> {
    let square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    let length = square.sqrt();
    let k = f64x8::splat(square.simd, 1.0) / length;
    [q[0] * k, q[1] * k, q[2] * k, q[3] * k]
}

/// Rounds to the nearest integer, ties to even, for magnitudes below 2^51, with the same bits as `clip::lattice`.
#[inline(always)]
pub(super) fn round<S: Simd>(v: f64x8<S>) -> f64x8<S> {
    let shift = f64x8::splat(v.simd, crate::clip::lattice::SHIFT);
    (v + shift) - shift
}

/// The matrix of a local transform whose rotation has unit length.
#[inline(always)]
fn matrix<S: Simd>(simd: S, local: &Trs<S>) -> Matrix<S> {
    let [tx, ty, tz, x, y, z, w, sx, sy, sz] = *local;
    let one = f64x8::splat(simd, 1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, tx],
        [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, ty],
        [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, tz],
    ]
}

#[inline(always)]
fn multiply<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    let mut r = 0;
    while r < 3 {
        let mut c = 0;
        while c < 4 {
            let sum = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c];
            out[r][c] = if c == 3 { sum + a[r][3] } else { sum };
            c += 1;
        }
        r += 1;
    }
    out
}

/// The square of the largest distance between the points of a joint's shell in two clips; the first is the raw one.
#[inline(always)]
pub(super) fn apart<S: Simd>(
    simd: S,
    raw: &Matrix<S>,
    built: &Matrix<S>,
    shell: &Shell,
) -> f64x8<S> {
    let mut worst = f64x8::splat(simd, 0.0);
    let places = each!(worst; 3; r => built[r][3] - raw[r][3]);
    let mut axis = 0;
    while axis < 3 {
        let mut offset = f64x8::splat(simd, shell.offsets[axis]);
        if !shell.steady {
            let (x, y, z) = (raw[0][axis], raw[1][axis], raw[2][axis]);
            let length = (x * x + y * y + z * z).sqrt();
            offset = (f64x8::splat(simd, shell.distance) / length).min(offset);
        }
        let mut sum = f64x8::splat(simd, 0.0);
        let mut r = 0;
        while r < 3 {
            let d = (built[r][axis] - raw[r][axis]) * offset + places[r];
            sum += d * d;
            r += 1;
        }
        worst = worst.max(sum);
        axis += 1;
    }
    worst
}
