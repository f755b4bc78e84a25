//! Rates: staggered updates, held and interpolated palettes.

use super::{
    DT, actions, apart, chains, every, exact, lost_memory_changes_no_bit, palettes, plain,
};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, RATES, RowLayout, Tiers};
use phalanx::math::Affine3x4;
use phalanx::playback::{CrossFade, FadeKind};
use std::collections::{HashMap, VecDeque};

#[test]
fn full_rate_has_the_bits_of_a_crowd_without_tiers() {
    let (mut crowd, all, id, clip) = chains(150);
    let rig = crowd.rig(id).unwrap().clone();
    let other = crowd.clip_by_index(id, 1).unwrap();
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
    for frame in 0..30 {
        if frame == 10 {
            crowd.fade_to(all[7], other, 0.2, &PlayOptions::default()).unwrap();
            crowd.despawn(all[3]).unwrap();
            crowd.set_visible(all[4], false).unwrap();
        }
        crowd.advance(DT).unwrap();
        let stats = crowd.evaluate(&mut bones[0]);
        let mut copy = plain(&crowd, &rig);
        copy.evaluate(&mut bones[1]);
        let shown = all.iter().filter(|&&i| copy.palette_range(i).is_some());
        for &i in shown {
            let [a, b] = [(&crowd, &bones[0]), (&copy, &bones[1])]
                .map(|(crowd, bones)| &bones.rows()[crowd.palette_range(i).unwrap()]);
            assert_eq!(a, b, "frame {frame}");
        }
        let count = if frame < 10 { 150 } else { 148 };
        assert_eq!(stats.instances, count);
    }
    assert_eq!(crowd.palette_range(all[4]), None);
    assert_eq!(crowd.tier(all[5]), Some(0));
    let _ = clip;
}

/// Frames of one tier of rate 1 between which something changes: an instance that is held or waits for a budget keeps its
/// rows, all others have those of a crowd without tiers.
#[test]
fn full_rate_gives_the_rows_of_a_crowd_without_tiers_through_any_change() {
    let (mut crowd, mut all, id, clip) = chains(70);
    let rig = crowd.rig(id).unwrap().clone();
    let other = crowd.clip_by_index(id, 1).unwrap();
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut memory: Vec<Affine3x4> = Vec::new();
    let mut holds = None;
    // The rows of every instance, and the frame in which they were made.
    let mut last: HashMap<InstanceId, (Vec<Affine3x4>, u32)> = HashMap::new();
    let mut held: Vec<InstanceId> = Vec::new();
    for frame in 0..90_u32 {
        let mut budget = false;
        match frame {
            8 | 50 => held.extend([3, 17, 18, 40].map(|n| all[n])),
            9 | 52 => held.clear(),
            12 => held.extend(&all[16..32]),
            // It is held whatever calls change.
            15 => crowd.fade_to(all[20], other, 0.1, &PlayOptions::default()).unwrap(),
            20 => held.clear(),
            24 | 36 => crowd.despawn(all.swap_remove(5)).unwrap(),
            27 => {
                for n in 0..40 {
                    let i = crowd.spawn(id).unwrap();
                    let options =
                        PlayOptions { time: 0.021 * f64::from(n), ..PlayOptions::default() };
                    crowd.play(i, clip, &options).unwrap();
                    all.push(i);
                }
            }
            30 | 31 => crowd.set_visible(all[9], frame == 31).unwrap(),
            34 => holds = None,
            60 => crowd.set_budget(Some(10)).unwrap(),
            70 => crowd.set_budget(None).unwrap(),
            _ => {}
        }
        budget |= (60..70).contains(&frame);
        for &i in &all {
            crowd.set_scheduled(i, !held.contains(&i)).unwrap();
        }
        crowd.advance(DT).unwrap();
        let layout = RowLayout {
            align: 1,
            // Frames 40 to 79 are written one after another.
            compact: frame / 40 == 1,
            holds,
        };
        let mut schedule = crowd.schedule(&layout);
        let mut written = vec![Affine3x4::IDENTITY; schedule.written_rows()];
        if layout.compact {
            schedule.write(&mut written[..]);
        } else {
            written.resize(schedule.rows(), Affine3x4::IDENTITY);
            written[..memory.len().min(schedule.rows())]
                .copy_from_slice(&memory[..memory.len().min(schedule.rows())]);
            schedule.write(&mut written[..]);
        }
        memory.resize(schedule.rows(), Affine3x4::IDENTITY);
        schedule.scatter(|from, to| {
            memory[to..to + from.len()].copy_from_slice(&written[from]);
        });
        holds = Some(schedule.id());
        let exact = exact(&crowd, &rig, &all);
        let shown: Vec<InstanceId> =
            all.iter().copied().filter(|&i| crowd.palette_range(i).is_some()).collect();
        assert_eq!(exact.len(), shown.len());
        let (mut evaluated, mut oldest) = (0, 0);
        for (&i, exact) in shown.iter().zip(&exact) {
            let rows = &memory[crowd.palette_range(i).unwrap()];
            let waits = held.contains(&i);
            match last.get(&i) {
                Some((before, made)) if waits || budget && rows != exact => {
                    assert_eq!(rows, before, "frame {frame}, of frame {made}");
                    oldest = oldest.max(frame - made);
                }
                _ => {
                    assert_eq!(rows, exact, "frame {frame}");
                    last.insert(i, (exact.clone(), frame));
                    evaluated += 1;
                }
            }
        }
        let tier = crowd.tier_stats().unwrap().tiers[0];
        assert_eq!(tier.evaluated, evaluated, "frame {frame}");
        assert_eq!(tier.held, shown.len() - evaluated, "frame {frame}");
        assert_eq!(tier.oldest, oldest, "frame {frame}");
    }
}

/// A held palette is the one of the last update, to the bit, and no older than the rate.
#[test]
fn held_palettes_are_those_of_the_last_update() {
    let (mut crowd, all, id, _) = chains(100);
    let rig = crowd.rig(id).unwrap().clone();
    crowd.set_tiers(Some(every(4, false))).unwrap();
    let mut bones = BoneBuffer::new();
    let mut history: VecDeque<Vec<_>> = VecDeque::new();
    for frame in 0..40 {
        crowd.advance(DT).unwrap();
        let stats = crowd.evaluate(&mut bones);
        history.push_front(exact(&crowd, &rig, &all));
        history.truncate(4);
        let mut now = 0;
        for (n, shown) in palettes(&crowd, &bones, &all).into_iter().enumerate() {
            let age = history.iter().position(|then| then[n] == shown);
            let age = age.unwrap_or_else(|| panic!("frame {frame}, instance {n}"));
            now += usize::from(age == 0);
        }
        assert!(now >= stats.instances);
        if frame > 0 {
            assert_eq!(stats.instances, 25);
        }
    }
}

#[test]
fn interpolated_palettes_follow_the_motion_without_latency() {
    for rate in [2, 4, 8] {
        let (mut crowd, all, id, _) = chains(60);
        let rig = crowd.rig(id).unwrap().clone();
        // The mean, as the clip's end and start differ.
        let mut errors = [0.0f32; 2];
        for (error, interpolate) in errors.iter_mut().zip([false, true]) {
            crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
            let mut bones = BoneBuffer::new();
            for _ in 0..40 {
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
                let shown = palettes(&crowd, &bones, &all);
                for (shown, exact) in shown.iter().zip(exact(&crowd, &rig, &all)) {
                    *error += apart(shown, &exact);
                }
            }
        }
        assert!(errors[1] < 0.5 * errors[0], "rate {rate}: {errors:?}");
    }
}

/// After a long step, poses that were predicted from it are not shown as those of now.
#[test]
fn a_long_step_is_forgotten_after_one_round() {
    for rate in [2, 4, 8] {
        let (mut crowd, all, id, _) = chains(60);
        let rig = crowd.rig(id).unwrap().clone();
        crowd.set_tiers(Some(every(rate, true))).unwrap();
        let mut bones = BoneBuffer::new();
        // The mean error of some frames.
        let mut mean = |frames: usize, dt: f64| {
            let mut sum = 0.0;
            for _ in 0..frames {
                crowd.advance(dt).unwrap();
                crowd.evaluate(&mut bones);
                let shown = palettes(&crowd, &bones, &all);
                let exact = exact(&crowd, &rig, &all);
                sum += shown.iter().zip(&exact).map(|(a, b)| apart(a, b)).sum::<f32>();
            }
            sum / frames as f32
        };
        mean(20, DT);
        let before = mean(40, DT);
        mean(1, 0.4);
        mean(rate.into(), DT);
        let after = mean(rate.into(), DT);
        assert!(after < 2.0 * before, "rate {rate}: {before}, then {after}");
    }
}

/// The factor of a pair is within 0 and 1 for steps of any length, and with a budget.
#[test]
fn factors_stay_within_bounds() {
    let (mut crowd, all, ..) = chains(50);
    crowd.set_tiers(Some(every(8, true))).unwrap();
    let mut bones = BoneBuffer::new();
    let mut between = 0;
    for frame in 0..200u32 {
        crowd.set_budget((frame % 3 > 0).then_some(4)).unwrap();
        let dt = [0.5, 0.01, 0.0, -0.2, 0.03][(frame / 7 % 5) as usize];
        crowd.advance(dt).unwrap();
        crowd.evaluate(&mut bones);
        for &i in &all {
            let factor = crowd.shown(i).unwrap().factor;
            assert!((0.0..=1.0).contains(&factor), "frame {frame}: {factor}");
            between += usize::from(factor > 0.0 && factor < 1.0);
        }
    }
    assert!(between > 100, "{between}");
}

/// A call is seen in the frame behind it, whatever the rate.
#[test]
fn calls_are_seen_at_once() {
    for interpolate in [false, true] {
        let (mut crowd, all, id, _) = chains(40);
        let rig = crowd.rig(id).unwrap().clone();
        let other = crowd.clip_by_index(id, 1).unwrap();
        crowd.set_tiers(Some(every(16, interpolate))).unwrap();
        let mut bones = BoneBuffer::new();
        for frame in 0..40 {
            crowd.advance(DT).unwrap();
            let changed = all[frame % 40];
            crowd.play(changed, other, &PlayOptions::default()).unwrap();
            crowd.evaluate(&mut bones);
            let shown = palettes(&crowd, &bones, &[changed]);
            assert_eq!(shown, exact(&crowd, &rig, &[changed]), "frame {frame}");
        }
    }
}

#[test]
fn lost_memory_has_the_same_bits() {
    for (rate, interpolate) in [(1, false), (4, false), (8, true)] {
        let make = || {
            let mut crowd = chains(70).0;
            crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
            crowd
        };
        let run = |crowd: &mut Crowd, bones: &mut BoneBuffer, frames: std::ops::Range<usize>| {
            let all: Vec<InstanceId> = crowd.instances().collect();
            let other = crowd.clip_by_index(all[0].rig(), 2).unwrap();
            let mut hashes = Vec::new();
            for frame in frames {
                let i = all[frame * 13 % 70];
                crowd.fade_to(i, other, 0.15, &PlayOptions::default()).unwrap();
                crowd.advance(DT).unwrap();
                crowd.evaluate(bones);
                hashes.push(palettes(crowd, bones, &all));
            }
            hashes
        };
        lost_memory_changes_no_bit(make, run);
    }
}

#[test]
fn the_number_of_workers_does_not_change_a_bit() {
    let hashes = [1, 2, 7, 32].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut crowd, ..) = chains(500);
            crowd.set_tiers(Some(every(4, true))).unwrap();
            let mut bones = BoneBuffer::new();
            for _ in 0..10 {
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
            }
            bones.hash()
        })
    });
    assert!(hashes.iter().all(|&h| h == hashes[0]), "{hashes:?}");
}

/// More instances than one worker ranks at a time, shared palettes and a budget.
#[test]
fn the_number_of_workers_does_not_change_a_bit_of_many() {
    let runs = [1, 2, 7, 32].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut crowd, all, id, _) = chains(9000);
            let mut tiers = super::shared(64);
            tiers.tiers[0].rate = 2;
            crowd.set_tiers(Some(tiers)).unwrap();
            crowd.set_budget(Some(20)).unwrap();
            let mut bones = BoneBuffer::new();
            for frame in 0..12 {
                for n in 0..30 {
                    let clip = crowd.clip_by_index(id, (frame + n) % 3).unwrap();
                    let options = PlayOptions::default();
                    crowd
                        .fade_to(all[(frame * 751 + n * 293) % 9000], clip, 0.05, &options)
                        .unwrap();
                }
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
            }
            let ranges: Vec<_> = all.iter().map(|&i| crowd.palette_range(i)).collect();
            (bones.hash(), ranges)
        })
    });
    assert!(runs.iter().all(|r| *r == runs[0]));
}

#[test]
fn parts_for_threads_of_a_host_have_the_same_bits() {
    let crowd = || {
        let (mut crowd, all, ..) = chains(200);
        crowd.set_tiers(Some(every(2, true))).unwrap();
        (crowd, all)
    };
    let [(mut crowd, all), (mut other, others)] = [crowd(), crowd()];
    let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
    for _ in 0..9 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones[0]);
    }
    let wanted = palettes(&crowd, &bones[0], &all);
    for frame in 0..9 {
        other.advance(DT).unwrap();
        let (mut schedule, rows) = other.schedule_into(&mut bones[1]);
        std::thread::scope(|threads| {
            for part in schedule.parts(1 + frame % 4, rows) {
                threads.spawn(part);
            }
        });
    }
    assert!(palettes(&other, &bones[1], &others) == wanted);
    assert_eq!(bones[0].hash(), bones[1].hash());
}

/// Tiers come and go; what plays does not notice.
#[test]
fn times_do_not_depend_on_tiers() {
    let (mut crowd, all, id, _) = chains(30);
    let rig = crowd.rig(id).unwrap().clone();
    let mut other = Crowd::new();
    other.add_rig(rig).unwrap();
    other.restore(&crowd.snapshot()).unwrap();
    let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
    for frame in 0..120 {
        let tiers = match frame % 5 {
            0 => Some(every(RATES[frame % 4], frame % 2 == 0)),
            1 => Some(Tiers::default()),
            2 => None,
            _ => crowd.tiers().cloned(),
        };
        crowd.set_tiers(tiers).unwrap();
        let clip = crowd.clip_by_index(id, frame % 3).unwrap();
        for crowd in [&mut crowd, &mut other] {
            let i = all[frame % 30];
            crowd.fade_to(i, clip, 0.1, &PlayOptions::default()).unwrap();
            crowd.advance(DT * (1.0 + (frame % 7) as f64)).unwrap();
        }
        crowd.evaluate(&mut bones[0]);
        other.evaluate(&mut bones[1]);
        assert_eq!(crowd.events(), other.events());
        assert_eq!(actions(&crowd, id), actions(&other, id));
    }
}

/// The palette of a cell that is not due, and whose offset has ended since, is evaluated without it after memory was lost.
#[test]
fn an_offset_that_has_ended_is_not_in_lost_memory() {
    let (mut crowd, all, id, clip) = chains(3);
    crowd.set_tiers(Some(every(16, false))).unwrap();
    let mut bones = BoneBuffer::new();
    for _ in 0..20 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    let other = crowd.clip_by_index(id, 1).unwrap();
    let fade = CrossFade { seconds: 0.04, kind: FadeKind::Inertial, ..CrossFade::default() };
    let options = PlayOptions::default();
    crowd.player(all[0]).unwrap().cross_fade(0, clip, other, fade, &options).unwrap();
    crowd.evaluate(&mut bones);
    let began = palettes(&crowd, &bones, &all);
    assert!(crowd.inertial_bytes() > 0);
    for _ in 0..4 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    assert!(palettes(&crowd, &bones, &all)[0] == began[0] && crowd.inertial_bytes() == 0);
    let mut lost = BoneBuffer::new();
    crowd.evaluate(&mut lost);
    let again = palettes(&crowd, &lost, &all);
    assert!(again[0] != began[0] && again[1..] == began[1..]);
    let rows = again[0].iter().flat_map(|row| row.rows).flatten();
    assert!(rows.into_iter().all(f32::is_finite));
}
