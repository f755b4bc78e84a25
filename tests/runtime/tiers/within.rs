//! `Tier::shared_error` keeps its bound, however clips move.

use super::{DT, apart, exact, one, palettes};
use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, Tier};
use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
use phalanx::rig::Rig;
use std::sync::Arc;

/// The chain with one clip of a second.
fn rig(tracks: Vec<RawTrack>) -> Arc<Rig> {
    let mut raw = phalanx_testkit::chain::raw();
    raw.clips.truncate(1);
    raw.clips[0].duration = 1.0;
    raw.clips[0].tracks = tracks;
    Arc::new(build_rig(raw, &Default::default()).unwrap())
}

/// The chain whose first joint moves along the x axis as a track says: times and places.
fn moved(interpolation: Interpolation, keys: &[(f32, f32)]) -> Arc<Rig> {
    rig(vec![RawTrack {
        node: 0,
        channel: RawChannel::Translation,
        interpolation,
        times: keys.iter().map(|k| k.0).collect(),
        values: keys.iter().flat_map(|k| [k.1, 0.0, 0.0]).collect(),
    }])
}

/// Whether instances of a rig share palettes within an error, and how far the shared ones are from where they belong at
/// most.
fn shared_within(rig: &Arc<Rig>, error: f32) -> (bool, f32) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let clip = crowd.clip_by_index(id, 0).unwrap();
    let mut all: Vec<InstanceId> = Vec::new();
    crowd.spawn_many(id, 50, &mut all).unwrap();
    for (n, &i) in all.iter().enumerate() {
        let options = PlayOptions { time: 0.02 * n as f64, ..PlayOptions::default() };
        crowd.play(i, clip, &options).unwrap();
    }
    let tiers = one(Tier { shared_error: Some(error), ..Tier::default() });
    crowd.set_tiers(Some(tiers)).unwrap();
    let mut bones = BoneBuffer::new();
    let (mut shares, mut worst) = (false, 0.0f32);
    for _ in 0..120 {
        crowd.advance(DT * 0.37).unwrap();
        crowd.evaluate(&mut bones);
        let shown = palettes(&crowd, &bones, &all);
        let exact = exact(&crowd, rig, &all);
        for ((a, b), &i) in shown.iter().zip(&exact).zip(&all) {
            if crowd.shown(i).is_some_and(|s| s.shared) {
                shares = true;
                worst = worst.max(apart(a, b));
            }
        }
    }
    (shares, worst)
}

#[test]
fn jumps_of_step_keys_are_within_the_bound() {
    let jumps = |far| moved(Interpolation::Step, &[(0.0, 0.0), (0.5, far), (1.0, 0.0)]);
    for (far, error, expected) in [
        (0.1, 0.05, false),
        (0.1, 0.01, false),
        (0.02, 0.003, false),
        (0.02, 0.05, true),
        (0.1, 0.11, true),
    ] {
        let (shares, worst) = shared_within(&jumps(far), error);
        let what = format!("a jump of {far} m, {error} m allowed: {worst} m");
        assert!(shares == expected && worst <= error, "{what}");
    }
    // Many small ones: several of them in half of a phase.
    let stairs: Vec<(f32, f32)> = (0..=30).map(|k| (k as f32 / 30.0, 0.01 * k as f32)).collect();
    let (shares, worst) = shared_within(&moved(Interpolation::Step, &stairs), 0.05);
    assert!(shares && worst > 0.01 && worst <= 0.05, "{worst}");
}

/// What moves there and back between two samples of 60 Hz, between keys of 240 Hz, and in a ramp that is nearly a step.
#[test]
fn quick_moves_are_within_the_bound() {
    let place = |n: usize| if n % 4 == 2 { 0.05 } else { 0.0 };
    let shakes: Vec<(f32, f32)> = (0..241).map(|n| (n as f32 / 240.0, place(n))).collect();
    let (shares, worst) = shared_within(&moved(Interpolation::Linear, &shakes), 0.003);
    assert!(shares && worst > 0.0 && worst <= 0.003, "{worst}");
    let ramp = [(0.0, 0.0), (0.5, 0.0), (0.50001, 0.1), (1.0, 0.1)];
    let (shares, worst) = shared_within(&moved(Interpolation::Linear, &ramp), 0.01);
    assert!(!shares, "{worst}");
}

/// Keys that are closer to each other than their rounding, and slow moves with many keys.
#[test]
fn rounding_is_no_motion() {
    let close = (1..1000).flat_map(|k| {
        let time = k as f32 / 1000.0;
        [time, time.next_up()].map(|t| (t, 0.05 * t))
    });
    let keys: Vec<(f32, f32)> = [(0.0, 0.0)].into_iter().chain(close).collect();
    let rig = moved(Interpolation::Linear, &keys);
    let (shares, worst) = shared_within(&rig, 0.01);
    assert!(shares && worst > 0.001 && worst <= 0.01, "{worst}");
}

/// Cubic splines whose values are the same at all keys and in the middle between them.
#[test]
fn splines_are_within_the_bound() {
    for hz in [30u32, 60] {
        let key = [10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0];
        let rig = rig(vec![RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::CubicSpline,
            times: (0..=hz).map(|k| k as f32 / hz as f32).collect(),
            values: (0..=hz).flat_map(|_| key).collect(),
        }]);
        for error in [0.003, 0.01] {
            let (shares, worst) = shared_within(&rig, error);
            assert!(shares && worst > 0.2 * error && worst <= error, "{hz} Hz, {error} m: {worst}");
        }
    }
}

/// What turns far between two keys moves along an arc.
#[test]
fn arcs_are_within_the_bound() {
    for degrees in [20.0f32, 60.0, 100.0] {
        let turn = |k: i32| glam::Quat::from_rotation_x((k as f32 * degrees).to_radians());
        let rig = rig(vec![RawTrack {
            node: 0,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..61).map(|k| k as f32 / 60.0).collect(),
            values: (0..61).flat_map(|k| turn(k).to_array()).collect(),
        }]);
        // A bound is near where a number of phases is just enough.
        for step in 0..24 {
            let error = 0.08 * 1.03f32.powi(step);
            let (_, worst) = shared_within(&rig, error);
            assert!(worst <= error, "{degrees} degrees, {error} m: {worst}");
        }
    }
}

/// Step keys of several tracks that are meant to be at one time are one jump.
#[test]
fn step_keys_that_are_close_are_one_jump() {
    let track = |node: usize, at: f32| RawTrack {
        node,
        channel: RawChannel::Translation,
        interpolation: Interpolation::Step,
        times: vec![0.0, at, 1.0],
        values: vec![0.0, 0.1, 0.0, 0.01, 0.1, 0.0, 0.0, 0.1, 0.0],
    };
    for second in [0.5, 0.5f32.next_up(), 0.5001, 0.51] {
        let rig = rig(vec![track(0, 0.5), track(5, second)]);
        let (shares, worst) = shared_within(&rig, 0.05);
        assert!(shares && worst <= 0.05, "{second}: {worst}");
    }
}
