//! Eight times at once, in f64: transforms and matrices of one joint, and how far two matrices carry
//! the points of a shell apart. Plain arrays without fused operations: the same bits on every machine.

use crate::clip::lattice::round;
use std::ops::{Add, Mul, Sub};

/// Times side by side.
pub(super) const TIMES: usize = 8;

/// One number at each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct V(pub [f64; TIMES]);

/// Rotation, as xyzw.
pub(super) type Turn = [V; 4];
/// Translation, rotation and scale, as ten numbers.
pub(super) type Local = [V; 10];
/// Rows of a 3×4 matrix.
pub(super) type Matrix = [[V; 4]; 3];

macro_rules! each {
    ($i:ident => $value:expr) => {{
        let mut out = [0.0; TIMES];
        let mut $i = 0;
        while $i < TIMES {
            out[$i] = $value;
            $i += 1;
        }
        V(out)
    }};
}

impl V {
    pub const ZERO: Self = Self([0.0; TIMES]);

    #[inline(always)]
    pub const fn splat(v: f64) -> Self {
        Self([v; TIMES])
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        each!(i => self.0[i].sqrt())
    }

    #[inline(always)]
    pub fn max(self, b: Self) -> Self {
        each!(i => if self.0[i] > b.0[i] { self.0[i] } else { b.0[i] })
    }

    /// To the nearest integer, ties to even; for numbers below 2^51.
    #[inline(always)]
    pub fn round(self) -> Self {
        each!(i => round(self.0[i]))
    }

    #[inline(always)]
    pub fn copysign(self, b: Self) -> Self {
        each!(i => self.0[i].copysign(b.0[i]))
    }

    #[inline(always)]
    pub fn recip(self) -> Self {
        each!(i => 1.0 / self.0[i])
    }
}

impl Add for V {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        each!(i => self.0[i] + b.0[i])
    }
}

impl Sub for V {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        each!(i => self.0[i] - b.0[i])
    }
}

impl Mul for V {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        each!(i => self.0[i] * b.0[i])
    }
}

/// Hamilton product `a × b`.
#[inline(always)]
pub(super) fn product(a: &Turn, b: &Turn) -> Turn {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (*a, *b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

#[inline(always)]
pub(super) fn conjugate(q: &Turn) -> Turn {
    let minus = V::splat(-1.0);
    [q[0] * minus, q[1] * minus, q[2] * minus, q[3]]
}

#[inline(always)]
pub(super) fn unit(q: &Turn) -> Turn {
    let k = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        .sqrt()
        .recip();
    [q[0] * k, q[1] * k, q[2] * k, q[3] * k]
}

/// The matrix of a local transform, whose rotation is of length 1.
#[inline(always)]
pub(super) fn matrix(local: &Local) -> Matrix {
    let [tx, ty, tz, x, y, z, w, sx, sy, sz] = *local;
    let (one, two) = (V::splat(1.0), V::splat(2.0));
    let (x2, y2, z2) = (x * two, y * two, z * two);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, tx],
        [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, ty],
        [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, tz],
    ]
}

/// `a × b` of matrices.
#[inline(always)]
pub(super) fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = [[V::ZERO; 4]; 3];
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

/// The square of the largest distance between where two matrices carry the points of a shell: as in
/// ACL, three points on the axes suffice, for the joint's place and its scale on each of them.
#[inline(always)]
pub(super) fn apart(a: &Matrix, b: &Matrix, shell: f64) -> V {
    let shell = V::splat(shell);
    let mut worst = V::ZERO;
    let mut axis = 0;
    while axis < 3 {
        let mut sum = V::ZERO;
        let mut r = 0;
        while r < 3 {
            let d = (a[r][axis] - b[r][axis]) * shell + (a[r][3] - b[r][3]);
            sum = sum + d * d;
            r += 1;
        }
        worst = worst.max(sum);
        axis += 1;
    }
    worst
}

/// What eight times of a joint's transforms become in model space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    pub turn: Turn,
    pub matrix: Matrix,
}

impl Model {
    /// A root's parent.
    pub const ROOT: Self = {
        let (zero, one) = (V::ZERO, V::splat(1.0));
        Self {
            turn: [zero, zero, zero, one],
            matrix: [
                [one, zero, zero, zero],
                [zero, one, zero, zero],
                [zero, zero, one, zero],
            ],
        }
    };

    /// A joint below this one; its rotation is of length 1.
    #[inline(always)]
    pub fn below(&self, local: &Local) -> Self {
        Self {
            turn: product(&self.turn, &[local[3], local[4], local[5], local[6]]),
            matrix: multiply(&self.matrix, &matrix(local)),
        }
    }
}
