//! Budgets: which instances wait, and for how long.

use super::{DT, camera, chains, every, palettes, shared};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, Tiers, View};

#[test]
fn a_budget_is_kept_and_no_instance_waits_longer_than_the_greatest_age() {
    let (mut crowd, all, id, _) = chains(600);
    crowd.set_tiers(Some(Tiers { max_age: 12, ..every(2, false) })).unwrap();
    // Some are important, most are not.
    let importance: Vec<f32> = (0..600).map(|n| 1.0 + 1000.0 * f32::from(n % 10 == 0)).collect();
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
        important += (0..600).step_by(10).filter(|&n| before[n] != after[n]).count();
    }
    // Of 60 important ones half are due in every frame.
    assert!(important >= 2900, "{important}");
    let tiers = crowd.tier_stats().unwrap().tiers[0];
    assert_eq!(tiers.instances, 600);
    assert!(tiers.waiting > 0 && tiers.held == 600 - tiers.evaluated);
}

#[test]
fn new_and_changed_instances_do_not_wait() {
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
    crowd.player(all[5]).unwrap().set_time(0, clip, 0.3).unwrap();
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

/// An instance in the picture waits by its height there, however large its shadow is.
#[test]
fn shadows_do_not_change_the_order_of_those_in_the_picture() {
    let (mut crowd, all, id, _) = chains(40);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    for (n, &i) in all.iter().enumerate() {
        let z = if n % 2 == 0 { -3.0 } else { 1e4 };
        crowd.set_world(i, super::at([0.0, 0.0, z])).unwrap();
    }
    let shadow = View { shadows: true, ..camera(0.0) };
    crowd.set_views(&[shadow]).unwrap();
    crowd.set_importances(id, &[10.0; 40]).unwrap();
    crowd.set_budget(Some(10)).unwrap();
    let mut bones = BoneBuffer::new();
    let mut updates = [0; 2];
    for frame in 0..62 {
        crowd.advance(DT).unwrap();
        let before = palettes(&crowd, &bones, &all);
        crowd.evaluate(&mut bones);
        // The first two frames evaluate all instances.
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
    assert!(crowd.clear_views().is_err());
    assert!(crowd.tier_stats().is_none());
}
