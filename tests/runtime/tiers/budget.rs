//! Budgets: who waits, and for how long.

use super::{DT, camera, chains, every, palettes, shared};
use phalanx::crowd::{
    BoneBuffer, BudgetController, ControllerOptions, Crowd, PlayOptions, Tiers, View,
};

#[test]
fn a_budget_is_kept_and_nobody_waits_longer_than_the_greatest_age() {
    let (mut crowd, all, id, _) = chains(600);
    crowd
        .set_tiers(Some(Tiers {
            max_age: 12,
            ..every(2, false)
        }))
        .unwrap();
    // Some are important, most are not.
    let importance: Vec<f32> = (0..600)
        .map(|n| 1.0 + 1000.0 * f32::from(n % 10 == 0))
        .collect();
    crowd.set_importances(id, &importance).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    crowd.set_budget(Some(80)).unwrap();
    let mut important = 0;
    for frame in 0..100 {
        crowd.advance(DT).unwrap();
        let before = palettes(&crowd, &bones, &all);
        let stats = crowd.evaluate(&mut bones);
        let after = palettes(&crowd, &bones, &all);
        let tiers = crowd.tier_stats().unwrap();
        assert_eq!(stats.instances, 80 + tiers.beyond_budget, "frame {frame}");
        assert!(tiers.tiers[0].oldest <= 12, "{tiers:?}");
        important += (0..600)
            .step_by(10)
            .filter(|&n| before[n] != after[n])
            .count();
    }
    // Of 60 important ones half are due in every frame.
    assert!(important >= 2900, "{important}");
    let tiers = crowd.tier_stats().unwrap().tiers[0];
    assert_eq!(tiers.instances, 600);
    assert!(tiers.waiting > 0 && tiers.held == 600 - tiers.evaluated);
}

#[test]
fn who_comes_or_is_changed_by_a_call_does_not_wait() {
    let (mut crowd, all, id, clip) = chains(100);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    crowd.set_budget(Some(0)).unwrap();
    // What they are evaluated from is stored from now on.
    for evaluated in [100, 0] {
        crowd.advance(DT).unwrap();
        assert_eq!(crowd.evaluate(&mut bones).instances, evaluated);
    }
    let new = crowd.spawn(id).unwrap();
    crowd.play(new, clip, &PlayOptions::default()).unwrap();
    crowd
        .player(all[5])
        .unwrap()
        .set_time(0, clip, 0.3)
        .unwrap();
    crowd.advance(DT).unwrap();
    assert_eq!(crowd.evaluate(&mut bones).instances, 2);
    assert_eq!(crowd.tier_stats().unwrap().beyond_budget, 2);
    assert!(crowd.palette_range(new).is_some());
}

/// The same budgets give the same bits, for any number of workers, and though memory is lost in the middle.
#[test]
fn a_recorded_sequence_of_budgets_can_be_replayed() {
    let budgets: Vec<usize> = (0..60).map(|n| n * 37 % 90).collect();
    let run = |threads: usize, loses: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut crowd, ..) = chains(300);
            crowd.set_tiers(Some(every(4, true))).unwrap();
            let mut bones = BoneBuffer::new();
            let mut hashes = Vec::new();
            for (frame, &budget) in budgets.iter().enumerate() {
                if loses && frame == 33 {
                    // Rows follow from the state.
                    bones = BoneBuffer::new();
                }
                crowd.set_budget(Some(budget)).unwrap();
                crowd.advance(DT).unwrap();
                let done = crowd.evaluate(&mut bones).instances;
                let waiting = crowd.tier_stats().unwrap().tiers[0].waiting;
                hashes.push((bones.hash(), done, waiting));
            }
            hashes
        })
    };
    let wanted = run(1, false);
    assert!(wanted.iter().any(|&(_, _, waiting)| waiting > 50));
    for threads in [1, 2, 7, 32] {
        for loses in [false, true] {
            assert!(run(threads, loses) == wanted, "{threads} threads, {loses}");
        }
    }
}

/// However large its shadow is, who is in the picture waits by its height there.
#[test]
fn shadows_do_not_change_the_order_of_those_in_the_picture() {
    let (mut crowd, all, id, _) = chains(40);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    for (n, &i) in all.iter().enumerate() {
        let z = if n % 2 == 0 { -3.0 } else { 1e4 };
        crowd.set_world(i, super::at([0.0, 0.0, z])).unwrap();
    }
    let shadow = View {
        shadows: true,
        ..camera(0.0)
    };
    crowd.set_views(&[shadow]).unwrap();
    crowd.set_importances(id, &[10.0; 40]).unwrap();
    crowd.set_budget(Some(10)).unwrap();
    let mut bones = BoneBuffer::new();
    let mut updates = [0; 2];
    for frame in 0..62 {
        crowd.advance(DT).unwrap();
        let before = palettes(&crowd, &bones, &all);
        crowd.evaluate(&mut bones);
        // The first two frames evaluate everybody.
        if frame > 1 {
            let after = palettes(&crowd, &bones, &all);
            for (n, (a, b)) in before.iter().zip(&after).enumerate() {
                updates[n % 2] += usize::from(a != b);
            }
        }
    }
    assert_eq!(updates, [300; 2]);
}

#[test]
fn shared_palettes_count_only_when_they_are_evaluated() {
    let (mut crowd, ..) = chains(500);
    crowd.set_tiers(Some(shared(32))).unwrap();
    crowd.set_budget(Some(0)).unwrap();
    let mut bones = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut bones).instances, 33);
    crowd.advance(DT).unwrap();
    assert_eq!(crowd.evaluate(&mut bones).instances, 0);
}

#[test]
fn without_tiers_budgets_and_views_are_refused() {
    let mut crowd = Crowd::new();
    let refused = crowd.set_budget(Some(1)).unwrap_err();
    assert!(refused.to_string().contains("no tiers"), "{refused}");
    assert!(crowd.set_views(&[]).is_err());
    assert!(crowd.tier_stats().is_none());
}

fn controller() -> BudgetController {
    BudgetController::new(&ControllerOptions {
        microseconds: 1000.0,
        ..ControllerOptions::default()
    })
    .unwrap()
}

/// A budget that was too large is not raised, whatever the estimates say; one that was not is doubled at most.
#[test]
fn a_frame_over_its_time_does_not_raise_the_budget() {
    // Palettes of 10 µs, and then those of 1 µs alone.
    let learned = || {
        let mut controller = controller();
        for _ in 0..200 {
            controller.observe(&[50, 500], 50.0 * 10.0 + 500.0);
        }
        for _ in 0..200 {
            controller.observe(&[100, 0], 1000.0);
        }
        controller
    };
    let before = learned().budget();
    assert!((90..=110).contains(&before), "{before}");
    let after = |microseconds: f64| {
        let mut controller = learned();
        controller.observe(&[0, 1000], microseconds);
        controller.budget()
    };
    assert!(after(1000.5) <= before);
    assert!(after(2000.0) <= before);
    for within in [1000.0, 999.5] {
        assert_eq!(after(within), 2 * before, "{within}");
    }
}

/// Times that vary around the same are averaged; times that have changed are followed in a few frames.
#[test]
fn two_errors_of_one_sign_are_a_change_and_others_are_noise() {
    let settled = || {
        let mut controller = controller();
        for _ in 0..200 {
            let n = controller.budget();
            controller.observe(&[n], n as f64);
        }
        controller
    };
    // What a palette of a frame of 1,000 is expected to take.
    let expected = |c: &BudgetController| c.costs()[0] + c.constant() / 1000.0;
    assert!((expected(&settled()) - 1.0).abs() < 0.01);
    // With the gain of 0.1 one time counts as a tenth, so noise of 0.4 moves what is expected by 0.04. Taken for changes,
    // times would count as more than a half.
    let mut noisy = settled();
    let mut spread = 0.0f64;
    for frame in 0..200 {
        let factor = if frame % 2 == 0 { 1.4 } else { 0.6 };
        noisy.observe(&[1000], 1000.0 * factor);
        spread = spread.max((expected(&noisy) - 1.0).abs());
    }
    assert!(spread < 0.1, "{spread}");
    // Of a difference of 2 less than 0.3 is left after 18 frames by the gain alone: 2 × 0.9^18.
    let mut changed = settled();
    let mut frames = 0;
    while (expected(&changed) - 3.0).abs() >= 0.3 {
        changed.observe(&[1000], 3000.0);
        frames += 1;
        assert!(frames <= 6, "{}", expected(&changed));
    }
    // A long frame before one that is hardly longer than expected is no change: each still counts as a tenth, so that
    // 1 becomes 1.2, then 1.2, then 1.28.
    let mut stalled = settled();
    for microseconds in [3000.0, 1250.0, 2000.0] {
        stalled.observe(&[1000], microseconds);
    }
    assert!(expected(&stalled) < 1.4, "{}", expected(&stalled));
}
