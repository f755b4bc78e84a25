//! Frames have about as much work, whoever leaves; and crowds of many small rigs need few cells.

use super::{DT, at, camera, chains, every, one};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, Tier, View};
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

/// The peak is at most a tenth above the mean, in the frames after the first round.
fn assert_even(what: &str, rate: u8, frames: &[usize]) {
    let frames = &frames[usize::from(rate)..];
    let mean = frames.iter().sum::<usize>() as f64 / frames.len() as f64;
    let peak = *frames.iter().max().unwrap() as f64;
    assert!(peak <= 1.1 * mean, "{what}, rate {rate}: {peak} of {mean}");
}

/// A thousand stay, and the others are despawned, hidden or out of the picture: those of some phases alone, and any.
#[test]
fn updates_are_even_after_many_have_left() {
    for rate in [2u8, 4, 8, 16] {
        for interpolate in [false, true] {
            let step = usize::from(rate);
            let stay: [(&str, &dyn Fn(usize) -> bool); 2] = [
                ("every one of a phase", &|n| n % step == 0),
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
                    let what = format!("{who} stays, the others are {how}, {interpolate}");
                    assert_even(&what, rate, &after);
                    let left = all.len() - leaving.len();
                    // Nobody waits longer for it: the first round has everybody.
                    let first: usize = after[..step].iter().sum();
                    assert!(first >= left, "{what}: {first} of {left}");
                    assert_eq!(
                        after[after.len() - 2 * step..].iter().sum::<usize>(),
                        2 * left
                    );
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
        let view = View {
            clip_from_world: projection.to_cols_array_2d(),
            height: 1000.0,
            shadows: false,
        };
        crowd.set_views(&[view]).unwrap();
        let after = frames(&mut crowd, &mut bones, 80);
        let seen = crowd.tier_stats().unwrap().tiers[0].instances;
        assert!(seen >= 1000, "{seen}");
        assert_even(&format!("{seen} seen"), 16, &after);
    }
}

/// What frames evaluate to be even is within the budget.
#[test]
fn a_budget_has_room_for_what_evens_frames() {
    let (mut crowd, all, ..) = chains(4000);
    crowd.set_tiers(Some(every(4, false))).unwrap();
    crowd.set_budget(Some(300)).unwrap();
    let mut bones = BoneBuffer::new();
    frames(&mut crowd, &mut bones, 40);
    let leaving: Vec<InstanceId> = (0..)
        .zip(&all)
        .filter_map(|(n, &i)| (n % 4 != 0).then_some(i))
        .collect();
    crowd.despawn_many(&leaving).unwrap();
    let after = frames(&mut crowd, &mut bones, 64);
    assert!(after.iter().all(|&n| n <= 300), "{after:?}");
    assert_even("a budget", 4, &after[8..]);
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
    crowd
        .set_tiers(Some(one(Tier {
            rate: 16,
            ..Tier::default()
        })))
        .unwrap();
    let mut bones = BoneBuffer::new();
    let after = frames(&mut crowd, &mut bones, 64);
    assert_even("small rigs", 16, &after);
    let plain = all.len() * source.palette_len();
    let rows = bones.rows().len();
    assert!(rows < 5 * plain, "{rows} rows, {plain} without tiers");
}
