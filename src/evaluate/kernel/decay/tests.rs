//! The quintic, rotations by shares of an angle and offsets, against f64 at every level of this machine.

use super::*;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use glam::DQuat;
use phalanx_workload::hash01;

/// Calls the kernels with numbers of one lane each.
struct Call<'a, const N: usize, const M: usize>([f32; N], &'a dyn Fn([f32; N]) -> Op);

/// What is called.
#[derive(Clone, Copy)]
enum Op {
    Decay,
    Turned,
    Rotation,
    Vector,
}

impl<const N: usize, const M: usize> Kernel for Call<'_, N, M> {
    type Output = [f32; M];

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> [f32; M] {
        let v = |i: usize| S::f32s::splat(simd, self.0[i]);
        let mut out = [0.0; M];
        let mut put = |all: &[S::f32s]| {
            for (out, v) in out.iter_mut().zip(all) {
                *out = v.as_slice()[0];
            }
        };
        match (self.1)(self.0) {
            Op::Decay => put(&[decay(simd, v(0), (v(1), v(2)))]),
            Op::Turned => put(&turned(simd, &[v(0), v(1), v(2)], v(3))),
            Op::Rotation => {
                let (now, before) = ([v(0), v(1), v(2), v(3)], [v(4), v(5), v(6), v(7)]);
                let (d, rate) = rotation_offset(simd, &now, &before, v(8));
                put(&[d[0], d[1], d[2], rate]);
            }
            Op::Vector => {
                let (now, before) = ([v(0), v(1), v(2)], [v(3), v(4), v(5)]);
                let (d, rate) = vector_offset(simd, (&now, &before), &[v(6); 3], v(7));
                put(&[d[0], d[1], d[2], rate]);
            }
        }
        out
    }
}

fn call<const N: usize, const M: usize>(op: Op, x: [f32; N]) -> Vec<[f64; M]> {
    let levels = SimdLevel::supported();
    levels.map(|level| dispatch(level, Call(x, &|_| op)).map(f64::from)).collect()
}

/// The quintic with an offset of 1 and the velocity `v` ≤ 0, by its six conditions: the coefficients of t³ to t⁵ solve
/// x(t1) = x'(t1) = x''(t1) = 0.
fn quintic(v: f64, seconds: f64) -> (impl Fn(f64) -> [f64; 3], f64) {
    let t1 = if v < 0.0 { seconds.min(-5.0 / v) } else { seconds };
    let a0 = ((-8.0 * v * t1 - 20.0) / (t1 * t1)).max(0.0);
    let a = -(a0 * t1 * t1 + 6.0 * v * t1 + 12.0) / (2.0 * t1.powi(5));
    let b = (3.0 * a0 * t1 * t1 + 16.0 * v * t1 + 30.0) / (2.0 * t1.powi(4));
    let c = -(3.0 * a0 * t1 * t1 + 12.0 * v * t1 + 20.0) / (2.0 * t1.powi(3));
    let at = move |t: f64| {
        let x = ((((a * t + b) * t + c) * t + 0.5 * a0) * t + v) * t + 1.0;
        let x1 = (((5.0 * a * t + 4.0 * b) * t + 3.0 * c) * t + a0) * t + v;
        let x2 = ((20.0 * a * t + 12.0 * b) * t + 6.0 * c) * t + a0;
        [x, x1, x2]
    };
    (at, t1)
}

#[test]
fn offsets_decay_by_the_quintic() {
    for n in 0..400 {
        let seconds = 0.05 + 2.0 * hash01(3 * n);
        // Rates from 0 to twice the one that shortens the fade.
        let rate = 10.0 * hash01(3 * n + 1) / seconds * f64::from(u8::from(n % 7 != 0));
        let (at, t1) = quintic(-rate, seconds);
        let ([x, v, _], end) = (at(0.0), at(t1));
        assert!((x - 1.0).abs() < 1e-12 && (v + rate).abs() < 1e-9);
        let small = [1.0, t1, t1 * t1].map(|s| 1e-9 / s);
        assert!(end.iter().zip(small).all(|(v, small)| v.abs() < small), "{end:?}");
        for step in 0..=60 {
            let t = seconds * f64::from(step) / 50.0;
            let exact = if t < t1 { at(t)[0] } else { 0.0 };
            // It neither overshoots nor grows.
            assert!((-1e-9..=1.0 + 1e-9).contains(&exact), "{rate} {seconds} {t}: {exact}");
            let x = [rate as f32, t as f32, (1.0 / seconds) as f32];
            for [found] in call::<3, 1>(Op::Decay, x) {
                assert!((found - exact).abs() < 3e-6, "{rate} {seconds} {t}: {found} {exact}");
            }
        }
    }
}

/// A rotation by the number `n`, of an angle up to `most`.
fn dice(n: u64, most: f64) -> DQuat {
    let of = |i: u64| 2.0 * hash01(n * 8 + i) - 1.0;
    let axis = glam::DVec3::new(of(0), of(1), of(2)).normalize();
    DQuat::from_axis_angle(axis, most * hash01(n * 8 + 3))
}

fn narrow(q: DQuat) -> [f32; 4] {
    q.to_array().map(|v| v as f32)
}

#[test]
fn rotations_turn_about_their_axis_and_keep_their_velocity() {
    let seconds = 1.0 / 60.0;
    let mut fell = 0;
    for n in 0..600u64 {
        let now = dice(n, std::f64::consts::PI);
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        let before = dice(n + 5000, 0.3) * now;
        let [a, b] = [narrow(now), narrow(before * sign)];
        let x = [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], 60.0];
        let (axis, angle) = now.to_axis_angle();
        // The twist of the rotation before about the axis, and how far it has turned since.
        let along = glam::DVec3::new(before.x, before.y, before.z).dot(axis);
        let twist = 2.0 * along.atan2(before.w);
        let moved = (angle - twist + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        let rate = (-moved / seconds / angle).max(0.0);
        fell += usize::from(rate > 0.0);
        for [dx, dy, dz, found] in call::<9, 4>(Op::Rotation, x) {
            let half = axis * (0.5 * angle);
            assert!((glam::DVec3::new(dx, dy, dz) - half).length() < 2e-6, "{n}");
            assert!((found - rate).abs() < 1e-4 * (1.0 + rate / angle), "{n}: {found} {rate}");
            for share in [0.0, 0.3, 1.0] {
                let x = [dx, dy, dz, share].map(|v| v as f32);
                for q in call::<4, 4>(Op::Turned, x) {
                    let exact = DQuat::from_axis_angle(axis, angle * share);
                    let off = DQuat::from_array(q) - exact;
                    assert!(off.length() < 2e-6, "{n} {share}: {q:?} {exact}");
                }
            }
        }
    }
    assert!((200..400).contains(&fell), "{fell}");
    // Equal rotations have no offset, on either side of the sphere.
    for w in [1.0, -1.0] {
        let x = [0.0, 0.0, 0.0, w, 0.1, 0.0, 0.0, 1.0, 60.0];
        assert!(call::<9, 4>(Op::Rotation, x).iter().all(|v| *v == [0.0; 4]));
    }
}

#[test]
fn vectors_keep_the_velocity_along_their_direction() {
    let of = |x: [f32; 8]| call::<8, 4>(Op::Vector, x);
    for v in of([3.0, 4.0, 0.0, 3.6, 4.8, 7.0, 1.0, 60.0]) {
        assert!((v[3] - 12.0).abs() < 1e-4 && v[..3] == [3.0, 4.0, 0.0], "{v:?}");
    }
    // A velocity that leads away counts as none, and so does an offset that is rounding.
    assert!(of([3.0, 4.0, 0.0, 2.0, 3.0, 0.0, 1.0, 60.0]).iter().all(|v| v[3] == 0.0));
    assert!(of([1e-4, 0.0, 0.0, 1.0, 0.0, 0.0, 100.0, 60.0]).iter().all(|v| *v == [0.0; 4]));
}
