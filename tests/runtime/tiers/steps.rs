//! Interpolated and shared palettes in frames of several steps, of none, of unlike lengths, and after pauses.

use super::{DT, apart, chains, every, exact, one, palettes};
use phalanx::crowd::{BoneBuffer, Tier};
use phalanx_testkit::chain::sharing_error;
use phalanx_workload::hash01;

/// The mean error of each frame, whose steps are given.
fn errors(tier: Tier, frames: usize, steps: &dyn Fn(usize) -> Vec<f64>) -> Vec<f32> {
    let (mut crowd, all, id, _) = chains(64);
    let rig = crowd.rig(id).unwrap().clone();
    crowd.set_tiers(Some(one(tier))).unwrap();
    let mut bones = BoneBuffer::new();
    let frame = |frame| {
        for dt in steps(frame) {
            crowd.advance(dt).unwrap();
        }
        crowd.evaluate(&mut bones);
        let shown = palettes(&crowd, &bones, &all);
        let exact = exact(&crowd, &rig, &all);
        shown.iter().zip(&exact).map(|(a, b)| apart(a, b)).sum::<f32>() / 64.0
    };
    (0..frames).map(frame).collect()
}

fn mean(errors: &[f32]) -> f32 {
    errors.iter().sum::<f32>() / errors.len() as f32
}

fn interpolated(rate: u8) -> Tier {
    every(rate, true).tiers.remove(0)
}

/// A frame is what lies between two schedules, not a step.
#[test]
fn frames_of_several_steps_are_predicted_as_one() {
    for rate in [2, 4, 8] {
        let run =
            |steps: &dyn Fn(usize) -> Vec<f64>| mean(&errors(interpolated(rate), 120, steps)[32..]);
        let plain = run(&|_| vec![DT]);
        for (what, steps) in [
            ("two", &(|_| vec![DT / 2.0; 2]) as &dyn Fn(usize) -> Vec<f64>),
            ("four", &|_| vec![DT / 4.0; 4]),
            ("one of no length", &|_| vec![DT, 0.0]),
            ("one of no length first", &|_| vec![0.0, DT]),
        ] {
            let error = run(steps);
            assert!(error < 1.1 * plain, "rate {rate}, {what}: {error}, {plain}");
        }
    }
}

/// Frames of unlike lengths have a mean length.
#[test]
fn uneven_frames_are_predicted_by_their_mean() {
    for rate in [2u8, 4, 8] {
        let held = |steps: &dyn Fn(usize) -> Vec<f64>| {
            mean(&errors(every(rate, false).tiers.remove(0), 160, steps)[32..])
        };
        let run =
            |steps: &dyn Fn(usize) -> Vec<f64>| mean(&errors(interpolated(rate), 160, steps)[32..]);
        for (what, steps) in [
            (
                "by turns",
                &(|f: usize| vec![if f.is_multiple_of(2) { 0.01 } else { 0.0233 }])
                    as &dyn Fn(usize) -> Vec<f64>,
            ),
            ("any", &|f| vec![0.008 + 0.017 * hash01(f as u64)]),
        ] {
            let (error, held) = (run(steps), held(steps));
            assert!(error < 0.6 * held, "rate {rate}, {what}: {error}, held {held}");
        }
    }
}

/// After a pause instances move at once.
#[test]
fn interpolation_goes_on_after_a_pause() {
    for rate in [4u8, 16] {
        let all = errors(interpolated(rate), 120, &|f| {
            vec![if (48..68).contains(&f) { 0.0 } else { DT }]
        });
        let (before, after) = (mean(&all[16..48]), mean(&all[68..68 + usize::from(rate)]));
        assert!(after < 1.3 * before, "rate {rate}: {before}, then {after}");
    }
}

/// One long frame does not mislead the next ones: those that were due in it, and those that look for their phase.
#[test]
fn a_long_frame_does_not_worsen_the_frames_after_it() {
    let shared = |rate| Tier { rate, shared_error: Some(sharing_error(1024)), ..Tier::default() };
    for rate in [4u8, 8] {
        for tier in [interpolated(rate), shared(rate)] {
            let held = every(rate, false).tiers.remove(0);
            let long = |f| vec![if f == 48 { 0.27 } else { DT }];
            let round = 48..48 + usize::from(rate);
            let error = mean(&errors(tier.clone(), 80, &long)[round.clone()]);
            let held = mean(&errors(held, 80, &long)[round]);
            assert!(error < 1.1 * held, "{tier:?}: {error}, held {held}");
        }
    }
}
