//! Every polynomial against f64 at every level of this machine, over its whole range, within the bound that its doc
//! states.

use super::*;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use phalanx_workload::hash01;

/// A function of `N` numbers with `M` results.
trait Function<const N: usize, const M: usize>: Copy {
    fn of<S: Simd, V: Floats<S>>(self, simd: S, x: [V; N]) -> [V; M];
}

/// A function at points, by registers.
struct Sweep<'a, F, const N: usize, const M: usize>(F, &'a [[f32; N]]);

impl<F: Function<N, M>, const N: usize, const M: usize> Kernel for Sweep<'_, F, N, M> {
    type Output = Vec<[f32; M]>;

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> Vec<[f32; M]> {
        let width = <S::f32s as SimdBase<S>>::LEN;
        let mut out = Vec::with_capacity(self.1.len());
        for points in self.1.chunks(width) {
            let mut x = [<S::f32s as SimdBase<S>>::splat(simd, 0.0); N];
            for (i, x) in x.iter_mut().enumerate() {
                let mut lanes = [0.0; 16];
                for (lane, point) in lanes.iter_mut().zip(points) {
                    *lane = point[i];
                }
                *x = <S::f32s as SimdBase<S>>::from_slice(simd, &lanes[..width]);
            }
            let y = self.0.of(simd, x);
            for lane in 0..points.len() {
                out.push(each!(0.0; M; i => y[i].as_slice()[lane]));
            }
        }
        out
    }
}

/// Fails if `error` of a point and the result is above `bound` anywhere. Fails also if it is nowhere above half of
/// `bound`, which then says too little.
#[track_caller]
fn sweep<F: Function<N, M>, const N: usize, const M: usize>(
    function: F,
    points: &[[f32; N]],
    bound: f64,
    error: impl Fn([f64; N], [f64; M]) -> f64,
) {
    let mut worst = 0.0f64;
    let mut at_worst = String::new();
    for level in SimdLevel::supported() {
        let found = dispatch(level, Sweep(function, points));
        assert_eq!(found.len(), points.len());
        for (point, found) in points.iter().zip(found) {
            let off = error(point.map(f64::from), found.map(f64::from));
            let off = if off.is_nan() { f64::INFINITY } else { off };
            if off > worst {
                (worst, at_worst) = (off, format!("{level} at {point:?}: {found:?}"));
            }
        }
    }
    println!("off by {worst:e} of {bound:e}, {at_worst}");
    assert!(worst <= bound, "off by {worst:e}, {at_worst}");
    // The bounds are of levels without fused operations, too.
    let fused_alone = SimdLevel::supported().eq([SimdLevel::Neon]);
    assert!(fused_alone || worst >= 0.5 * bound, "off by {worst:e} at most");
}

macro_rules! function {
    ($name:ident($($input:ident),*), $inputs:literal to $outputs:literal, $simd:ident => $value:expr) => {
        #[derive(Clone, Copy)]
        struct $name;

        impl Function<$inputs, $outputs> for $name {
            #[inline(always)]
            fn of<S: Simd, V: Floats<S>>(self, $simd: S, [$($input),*]: [V; $inputs]) -> [V; $outputs] {
                $value
            }
        }
    };
}

/// Numbers from one end to the other, both included.
fn grid(from: f64, to: f64, steps: u32) -> impl Iterator<Item = f64> + Clone {
    (0..=steps).map(move |i| from + (to - from) * f64::from(i) / f64::from(steps))
}

/// The parameters between two keys.
fn parameters() -> impl Iterator<Item = f32> + Clone {
    grid(0.0, 1.0, 192).map(|t| t as f32)
}

type Quat = [f64; 4];

fn length(q: &[f64]) -> f64 {
    q.iter().map(|c| c * c).sum::<f64>().sqrt()
}

fn unit(q: Quat) -> Quat {
    let length = length(&q);
    q.map(|c| c / length)
}

/// Appendix C.4 of glTF 2.0, for keys on one side.
fn exact_slerp(a: Quat, b: Quat, t: f64) -> Quat {
    let (a, b) = (unit(a), unit(b));
    let between: [f64; 4] = std::array::from_fn(|i| b[i] - a[i]);
    let angle = 2.0 * (0.5 * length(&between)).asin();
    if angle == 0.0 {
        return a;
    }
    let (from, to) = (((1.0 - t) * angle).sin(), (t * angle).sin());
    std::array::from_fn(|i| (a[i] * from + b[i] * to) / angle.sin())
}

/// The largest difference of a component.
fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    // In this form NaN counts as the worst.
    off.fold(0.0, |worst, off| if off <= worst { worst } else { off })
}

/// Pairs of unit quaternions that are rotations up to `degrees` apart, about axes in all directions, with parameters.
fn rotations(degrees: f64) -> Vec<[f32; 9]> {
    let mut points = Vec::new();
    for (n, angle) in (0..).zip(grid(0.0, degrees.to_radians(), 120)) {
        let random = |i: u64| 2.0 * hash01(n * 8 + i) - 1.0;
        let a = unit([0, 1, 2, 3].map(random));
        // A quaternion at a right angle to the first, then one on the arc between them.
        let other = [4, 5, 6, 7].map(random);
        let along: f64 = (0..4).map(|i| a[i] * other[i]).sum();
        let aside = unit(std::array::from_fn(|i| other[i] - along * a[i]));
        let (sin, cos) = (0.5 * angle).sin_cos();
        let b: Quat = std::array::from_fn(|i| a[i] * cos + aside[i] * sin);
        let key = |q: Quat| q.map(|c| c as f32);
        let ([ax, ay, az, aw], [bx, by, bz, bw]) = (key(a), key(b));
        points.extend(parameters().map(|t| [ax, ay, az, aw, bx, by, bz, bw, t]));
    }
    points
}

fn keys([ax, ay, az, aw, bx, by, bz, bw, t]: [f64; 9]) -> (Quat, Quat, f64) {
    ([ax, ay, az, aw], [bx, by, bz, bw], t)
}

/// 1 − the cosine between keys whose rotations are up to 60 degrees apart, with parameters.
fn cases() -> Vec<[f32; 2]> {
    let half = grid(0.0, 0.5 * SLERP_MAX_ANGLE, 480);
    let e = half.map(|half| (1.0 - half.cos()) as f32);
    e.flat_map(|e| parameters().map(move |t| [e, t])).collect()
}

function!(Slerp(e, t), 2 to 1, simd => [slerp(simd, e, t)]);

#[test]
fn the_corrected_parameter_meets_slerp() {
    // The arc that normalised lerp covers at the corrected parameter, and the part of it that it should.
    sweep(Slerp, &cases(), 1.6e-7, |[e, t], [s]| {
        let angle = 2.0 * (0.5 * e).sqrt().asin();
        let (x, y) = (1.0 - s + s * angle.cos(), s * angle.sin());
        (y.atan2(x) - t * angle).abs()
    });
}

function!(InverseLength(e, t), 2 to 1, simd => [inverse_length(simd, e, t)]);

#[test]
fn the_length_of_a_lerp_is_made_up_for() {
    sweep(InverseLength, &cases(), 2e-7, |[e, t], [found]| {
        let exact = 1.0 / (1.0 - 2.0 * t * (1.0 - t) * e).sqrt();
        (found / exact - 1.0).abs()
    });
}

function!(InverseRoot(d), 1 to 1, simd => [inverse_root(simd, d)]);

#[test]
fn the_inverse_root_is_one() {
    let points: Vec<[f32; 1]> = grid(0.0, 0.067, 50_000).map(|d| [d as f32]).collect();
    sweep(InverseRoot, &points, 1.8e-7, |[d], [found]| (found * (1.0 - d).sqrt() - 1.0).abs());
}

function!(WeightOfSquare(n, w), 2 to 1, simd => [weight_of_square(simd, n, w)]);

/// The bound has a share for rounding one third beside the fit's own error.
#[test]
fn the_weight_of_a_square_is_the_inverse_root() {
    let squares = grid(0.95, 1.002, 20_000).map(|n| n as f32);
    let weights = [1.0, 1.0f32 / 3.0, 0.003];
    let points: Vec<_> = squares.flat_map(|n| weights.map(|w| [n, w])).collect();
    sweep(WeightOfSquare, &points, 1.8e-6, |[n, w], [found]| (found * n.sqrt() / w - 1.0).abs());
}

function!(Rotation(ax, ay, az, aw, bx, by, bz, bw, t), 9 to 4, simd => {
    let (a, b) = ([ax, ay, az, aw], [bx, by, bz, bw]);
    let e = V::splat(simd, 1.0) - dot4(&a, &b);
    let t = slerp(simd, e, t);
    let (q, inverse) = (lerp(simd, &a, &b, t), inverse_length(simd, e, t));
    each!(t; 4; c => q[c] * inverse)
});

function!(Uncorrected(ax, ay, az, aw, bx, by, bz, bw, t), 9 to 4, simd => {
    let (a, b) = ([ax, ay, az, aw], [bx, by, bz, bw]);
    let e = V::splat(simd, 1.0) - dot4(&a, &b);
    let (q, inverse) = (lerp(simd, &a, &b, t), inverse_length(simd, e, t));
    each!(t; 4; c => q[c] * inverse)
});

/// Both polynomials together, as rotations are sampled.
#[test]
fn rotations_meet_slerp() {
    sweep(Rotation, &rotations(60.0), 3e-7, |point, found| {
        let (a, b, t) = keys(point);
        distance(found, exact_slerp(a, b, t))
    });
    let near = rotations(NLERP_MAX_ANGLE.to_degrees());
    sweep(Uncorrected, &near, 2.2e-7, |point, found| {
        let (a, b, t) = keys(point);
        distance(found, exact_slerp(a, b, t))
    });
}

function!(PackedSlerp(ax, ay, az, aw, bx, by, bz, bw, t), 9 to 4, simd => {
    // Steps finer than the 16-bit integers of stored keys.
    let steps = V::splat(simd, 32_768.0);
    let (a, b) = ([ax, ay, az, aw], [bx, by, bz, bw]);
    let (a, b) = (each!(t; 4; c => a[c] * steps), each!(t; 4; c => b[c] * steps));
    let step = V::splat(simd, 1.0 / 32_768.0);
    let k = packed_slerp(simd, &a, &b, step, t);
    from_steps(simd, &[V::splat(simd, 0.0); 4], step, &k)
});

/// The angle between the sampled rotation and slerp, radians.
#[test]
fn packed_rotations_meet_slerp() {
    for (degrees, bound) in [(30.0, 1.4e-6), (60.0, 3.9e-5)] {
        sweep(PackedSlerp, &rotations(degrees), bound, |point, found| {
            let (a, b, t) = keys(point);
            let (found, exact) = (unit(found), exact_slerp(a, b, t));
            let chord: Quat = std::array::from_fn(|i| found[i] - exact[i]);
            4.0 * (0.5 * length(&chord)).asin()
        });
    }
}

function!(Lerp(a, b, t), 3 to 1, simd => lerp(simd, &[a], &[b], t));
function!(PackedLerp(a, b, t), 3 to 1, simd => packed_lerp(simd, &[a], &[b], t));

/// Numbers in [−1, 1] with parameters.
fn numbers<const N: usize>() -> Vec<[f32; N]> {
    let mut points = Vec::new();
    for n in 0..400u64 {
        let of = |i: usize| (2.0 * hash01(n * 16 + i as u64) - 1.0) as f32;
        points.extend(
            parameters().map(|t| std::array::from_fn(|i| if i + 1 < N { of(i) } else { t })),
        );
    }
    points
}

#[test]
fn lerps_are_lines() {
    let exact = |a: f64, b: f64, t: f64| a + t * (b - a);
    sweep(Lerp, &numbers(), 1.8e-7, |[a, b, t], [found]| {
        if t == 0.0 || t == 1.0 {
            assert_eq!(found, if t == 0.0 { a } else { b });
        }
        (found - exact(a, b, t)).abs() / a.abs().max(b.abs())
    });
    let integers = numbers().into_iter().map(|[a, b, t]: [f32; 3]| {
        let [a, b] = [a, b].map(|v| (32_767.5 * (v + 1.0)).floor());
        [a, b, t]
    });
    let integers: Vec<[f32; 3]> = integers.collect();
    sweep(PackedLerp, &integers, 8e-8, |[a, b, t], [found]| {
        (found - exact(a, b, t)).abs() / a.abs().max(b.abs()).max(1.0)
    });
}

function!(Hermite(v0, m0, m1, v1, t), 5 to 1, simd => hermite(simd, [[v0], [m0], [m1], [v1]], t));

#[test]
fn splines_are_cubic() {
    sweep(Hermite, &numbers(), 2e-7, |[v0, m0, m1, v1, t], [found]| {
        let (t2, t3) = (t * t, t * t * t);
        let exact = (2.0 * t3 - 3.0 * t2 + 1.0) * v0
            + (t3 - 2.0 * t2 + t) * m0
            + (3.0 * t2 - 2.0 * t3) * v1
            + (t3 - t2) * m1;
        let sizes = [v0, m0, m1, v1].map(f64::abs);
        (found - exact).abs() / sizes.iter().sum::<f64>()
    });
}

function!(Product(ax, ay, az, aw, bx, by, bz, bw), 8 to 4, _simd => {
    product(&[ax, ay, az, aw], &[bx, by, bz, bw])
});
function!(Turn(x, y, z, w, weight), 5 to 4, simd => turn(simd, &[x, y, z, w], weight));

fn exact_product([ax, ay, az, aw]: Quat, [bx, by, bz, bw]: Quat) -> Quat {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

#[test]
fn products_and_turns_are_those_of_quaternions() {
    let eight: Vec<[f32; 8]> =
        numbers().iter().map(|p: &[f32; 9]| std::array::from_fn(|i| p[i])).collect();
    sweep(Product, &eight, 1.6e-7, |[ax, ay, az, aw, bx, by, bz, bw], found| {
        let (a, b) = ([ax, ay, az, aw], [bx, by, bz, bw]);
        distance(found, exact_product(a, b)) / (length(&a) * length(&b))
    });
    // Differences of unit length, and weights of either sign.
    let turns = numbers().into_iter().map(|[x, y, z, w, t]: [f32; 5]| {
        let [x, y, z, w] = unit([x, y, z, w].map(f64::from)).map(|c| c as f32);
        [x, y, z, w, 2.0 * t - 1.0]
    });
    let turns: Vec<[f32; 5]> = turns.collect();
    sweep(Turn, &turns, 6e-8, |[x, y, z, w, weight], found| {
        // A negative weight turns away from the identity's side.
        let side = if w < 0.0 { -1.0 } else { 1.0 };
        let sign = if weight < 0.0 { -side } else { side };
        let d = [x * sign, y * sign, z * sign, w * side];
        let size = weight.abs();
        let one = [0.0, 0.0, 0.0, 1.0];
        let exact: Quat = std::array::from_fn(|i| one[i] * (1.0 - size) + d[i] * size);
        distance(found, exact)
    });
}
