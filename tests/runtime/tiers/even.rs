//! Frames have about as much work when instances leave; and crowds of many small rigs need few cells.

use super::{DT, at, camera, chains, every, one, palettes};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, RATES, Tier, Tiers, View};
use phalanx_testkit::chain::rig;
use phalanx_workload::hash01;

/// The instances that were evaluated in each of some frames.
fn frames(crowd: &mut Crowd, bones: &mut BoneBuffer, count: usize) -> Vec<usize> {
    let mut all = Vec::new();
    for _ in 0..count {
        crowd.advance(DT).unwrap();
        crowd.evaluate(bones);
        let tiers = &crowd.tier_stats().unwrap().tiers;
        all.push(tiers.iter().map(|t| t.evaluated).sum());
    }
    all
}

/// Which of the instances of a crowd of so many are updated in the same frame as the first.
fn first_phase(count: usize, rate: u8) -> Vec<bool> {
    let (mut crowd, all, ..) = chains(count);
    crowd.set_tiers(Some(every(rate, false))).unwrap();
    let mut bones = BoneBuffer::new();
    frames(&mut crowd, &mut bones, 1);
    loop {
        let before = palettes(&crowd, &bones, &all);
        frames(&mut crowd, &mut bones, 1);
        let after = palettes(&crowd, &bones, &all);
        let updated: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
        if updated[0] {
            return updated;
        }
    }
}

/// The peak is at most a tenth above the mean, which is returned.
fn assert_even(what: &str, frames: &[usize]) -> f64 {
    let mean = frames.iter().sum::<usize>() as f64 / frames.len() as f64;
    let peak = *frames.iter().max().unwrap() as f64;
    assert!(peak <= 1.1 * mean, "{what}: {peak} of {mean}");
    mean
}

#[test]
fn updates_are_even_over_the_frames() {
    for rate in RATES {
        let (mut crowd, all, ..) = chains(1000);
        crowd.set_tiers(Some(every(rate, false))).unwrap();
        let mut bones = BoneBuffer::new();
        crowd.evaluate(&mut bones);
        let mut counts = Vec::new();
        for _ in 0..48 {
            crowd.advance(DT).unwrap();
            counts.push(crowd.evaluate(&mut bones).instances);
        }
        let mean = assert_even(&format!("rate {rate}"), &counts);
        assert!((mean - all.len() as f64 / f64::from(rate)).abs() < 1.0);
    }
}

/// Instances of tiers of all rates: the palettes of a frame are at most a tenth more than those of the mean frame, in
/// whatever order their tiers come.
#[test]
fn updates_of_mixed_rates_are_even_over_the_frames() {
    const FRAMES: usize = 64;
    let tiers = RATES.iter().enumerate().map(|(n, &rate)| Tier {
        height: 100.0 * (RATES.len() - 1 - n) as f32,
        rate,
        ..Tier::default()
    });
    let tiers = Tiers { tiers: tiers.collect(), ..Tiers::default() };
    for count in [1000, 5000] {
        let by_turns = |n: usize| n % RATES.len();
        let by_blocks = |n: usize| n * RATES.len() / count;
        let backwards = |n: usize| RATES.len() - 1 - n * RATES.len() / count;
        // Some tiers have many more than others.
        let unlike = |n: usize| (hash01(n as u64).powi(2) * RATES.len() as f64) as usize;
        let orders: [&dyn Fn(usize) -> usize; 4] = [&by_turns, &by_blocks, &backwards, &unlike];
        for (order, tier_of) in orders.into_iter().enumerate() {
            let (mut crowd, all, id, _) = chains(count);
            crowd.set_tiers(Some(tiers.clone())).unwrap();
            let height = |n: usize| tiers.tiers[tier_of(n)].height + 50.0;
            let heights: Vec<f32> = (0..count).map(height).collect();
            crowd.set_importances(id, &heights).unwrap();
            let mut bones = BoneBuffer::new();
            crowd.evaluate(&mut bones);
            let (mut frames, mut by_tier) = (Vec::new(), [0; RATES.len()]);
            for _ in 0..FRAMES {
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
                let stats = &crowd.tier_stats().unwrap().tiers;
                frames.push(stats.iter().map(|tier| tier.evaluated).sum::<usize>());
                for (sum, tier) in by_tier.iter_mut().zip(stats) {
                    *sum += tier.evaluated;
                }
            }
            for (tier, (&sum, rate)) in by_tier.iter().zip(RATES).enumerate() {
                let members = all.iter().filter(|&&i| crowd.tier(i) == Some(tier));
                assert_eq!(sum, members.count() * FRAMES / usize::from(rate));
            }
            let what = format!("{count} instances, order {order}");
            assert_even(&what, &frames);
        }
    }
}

/// A thousand stay, and the others are despawned, hidden or out of the picture: those of some phases alone, and any.
#[test]
fn updates_are_even_after_many_have_left() {
    for rate in [2u8, 4, 8, 16] {
        for interpolate in [false, true] {
            let step = usize::from(rate);
            let phase = first_phase(1100 * step, rate);
            let stay: [(&str, &dyn Fn(usize) -> bool); 2] = [
                ("every one of a phase", &|n| phase[n]),
                ("any", &|n| (hash01(n as u64) * step as f64) < 1.0),
            ];
            for (who, stays) in stay {
                for how in ["despawned", "hidden", "aside"] {
                    let (mut crowd, all, ..) = chains(1100 * step);
                    crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
                    if how == "aside" {
                        let ahead = at([0.0, 0.0, -20.0]);
                        all.iter().for_each(|&i| crowd.set_world(i, ahead).unwrap());
                        crowd.set_views(&[camera(0.0)]).unwrap();
                    }
                    let mut bones = BoneBuffer::new();
                    frames(&mut crowd, &mut bones, 20);
                    let leave = |(n, &i): (usize, &InstanceId)| (!stays(n)).then_some(i);
                    let leaving: Vec<InstanceId> =
                        all.iter().enumerate().filter_map(leave).collect();
                    for &i in &leaving {
                        match how {
                            "despawned" => crowd.despawn(i).unwrap(),
                            "hidden" => crowd.set_visible(i, false).unwrap(),
                            _ => crowd.set_world(i, at([0.0, 0.0, 20.0])).unwrap(),
                        }
                    }
                    let after = frames(&mut crowd, &mut bones, 4 * step + 48);
                    let what = format!("{who} stays, the others are {how}, {rate}, {interpolate}");
                    // After the first round.
                    assert_even(&what, &after[step..]);
                    let left = all.len() - leaving.len();
                    // No instance waits longer for it: the first round has all.
                    let first: usize = after[..step].iter().sum();
                    assert!(first >= left, "{what}: {first} of {left}");
                    assert_eq!(after[after.len() - 2 * step..].iter().sum::<usize>(), 2 * left);
                }
            }
        }
    }
}

/// A parade of 16 columns, of which the picture has fewer and fewer.
#[test]
fn updates_are_even_while_a_camera_zooms_in() {
    let (mut crowd, all, ..) = chains(16 * 400);
    for (n, &i) in all.iter().enumerate() {
        let (column, row) = ((n % 16) as f32, (n / 16) as f32);
        let place = [10.0 * column - 75.0, 0.0, -100.0 - 0.1 * row];
        crowd.set_world(i, at(place)).unwrap();
    }
    crowd.set_tiers(Some(every(16, false))).unwrap();
    let mut bones = BoneBuffer::new();
    for half in [100.0f32, 60.0, 40.0, 25.0] {
        let projection =
            glam::camera::rh::proj::directx::orthographic(-half, half, -20.0, 20.0, 0.0, 1000.0);
        let view =
            View { clip_from_world: projection.to_cols_array_2d(), height: 1000.0, shadows: false };
        crowd.set_views(&[view]).unwrap();
        let after = frames(&mut crowd, &mut bones, 80);
        let seen = crowd.tier_stats().unwrap().tiers[0].instances;
        assert!(seen >= 1000, "{seen}");
        assert_even(&format!("{seen} seen"), &after[16..]);
    }
}

/// What frames evaluate to be even is within the budget, also if that is below the mean of 250.
#[test]
fn work_that_evens_frames_stays_within_the_budget() {
    for budget in [200, 300] {
        let (mut crowd, all, ..) = chains(4000);
        crowd.set_tiers(Some(every(4, false))).unwrap();
        crowd.set_budget(Some(budget)).unwrap();
        let mut bones = BoneBuffer::new();
        frames(&mut crowd, &mut bones, 40);
        leave_one_phase(&mut crowd, &all);
        let after = frames(&mut crowd, &mut bones, 64);
        assert!(after.iter().all(|&n| n <= budget), "{after:?}");
        assert_even("a budget", &after[12..]);
    }
}

/// Instances that are not scheduled keep their palettes, and do not move to another phase.
#[test]
fn held_palettes_do_not_even_frames() {
    let (mut crowd, all, ..) = chains(4000);
    crowd.set_tiers(Some(every(4, false))).unwrap();
    let mut bones = BoneBuffer::new();
    frames(&mut crowd, &mut bones, 20);
    let mut held = leave_one_phase(&mut crowd, &all);
    held.truncate(500);
    for &i in &held {
        crowd.set_scheduled(i, false).unwrap();
    }
    let before = palettes(&crowd, &bones, &held);
    for _ in 0..20 {
        frames(&mut crowd, &mut bones, 1);
        assert!(palettes(&crowd, &bones, &held) == before);
    }
}

/// Of 4,000 instances with a rate of 4, those of one phase stay. Returns them.
fn leave_one_phase(crowd: &mut Crowd, all: &[InstanceId]) -> Vec<InstanceId> {
    let phase = first_phase(4000, 4);
    let all = all.iter().copied().zip(phase);
    let (stay, leave): (Vec<_>, Vec<_>) = all.partition(|(_, stays)| *stays);
    let leave: Vec<InstanceId> = leave.into_iter().map(|(i, _)| i).collect();
    crowd.despawn_many(&leave).unwrap();
    stay.into_iter().map(|(i, _)| i).collect()
}

/// Rows of rigs with few instances: of all phases of a rate some instances have one.
#[test]
fn small_rigs_share_their_banks() {
    const RIGS: usize = 300;
    let source = rig();
    let mut crowd = Crowd::new();
    let mut all = Vec::new();
    for _ in 0..RIGS {
        let id = crowd.add_rig(source.clone()).unwrap();
        let clip = crowd.clip_by_index(id, 0).unwrap();
        for _ in 0..16 {
            let i = crowd.spawn(id).unwrap();
            crowd.play(i, clip, &PlayOptions::default()).unwrap();
            all.push(i);
        }
    }
    crowd.set_tiers(Some(one(Tier { rate: 16, ..Tier::default() }))).unwrap();
    let mut bones = BoneBuffer::new();
    let after = frames(&mut crowd, &mut bones, 64);
    assert_even("small rigs", &after[16..]);
    let plain = all.len() * source.palette_len();
    let rows = bones.rows().len();
    assert!(rows < 5 * plain, "{rows} rows, {plain} without tiers");
}
