//! Tiers in the bytes of snapshots: a crowd that is restored from them goes on with the same bits and the same rows.

use super::{DT, at, chains, one, palettes};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdSnapshot, InstanceId, PlayOptions, RigId, Sharing, Tier, TierDetail,
    Tiers, View,
};
use phalanx::import::mannequin;
use phalanx::math::{Affine3x4, Fnv1a};
use phalanx::playback::{AtEnd, LoopMode};
use phalanx_testkit::chain::rig;
use phalanx_testkit::lively::{Dice, seal_snapshot};
use std::ops::Range;
use std::sync::Arc;

/// Updated in every frame, interpolated, held, and shared in two ways; some by details.
fn tiers() -> Tiers {
    let detail = |level, joint: &str| {
        Some(TierDetail {
            level,
            leave_out: vec![joint.into()],
        })
    };
    let tier = |height, rate, interpolate, sharing, detail| Tier {
        height,
        rate,
        interpolate,
        sharing,
        detail,
    };
    Tiers {
        tiers: vec![
            tier(600.0, 1, false, Sharing::None, None),
            tier(300.0, 4, true, Sharing::None, None),
            tier(150.0, 8, true, Sharing::None, detail(1, "joint15")),
            tier(80.0, 4, false, Sharing::None, detail(2, "LeftHand")),
            tier(40.0, 1, false, Sharing::Phases(48), None),
            tier(20.0, 4, true, Sharing::Error(0.02), detail(2, "joint15")),
            tier(2.0, 16, false, Sharing::Phases(8), None),
        ],
        max_age: 12,
        shadows: Some(3),
        ..Tiers::default()
    }
}

/// A crowd of two rigs with tiers, without instances; between the rigs the place of one that was removed.
fn empty(tag: u16) -> (Crowd, [RigId; 2]) {
    let mut crowd = Crowd::with_tag(tag).unwrap();
    let people = crowd.add_rig(Arc::new(mannequin().unwrap())).unwrap();
    let gone = crowd.add_rig(rig()).unwrap();
    let chains = crowd.add_rig(rig()).unwrap();
    crowd.remove_rig(gone).unwrap();
    (crowd, [people, chains])
}

/// An empty crowd whose clips have the handles of another one's.
fn like(crowd: &Crowd, tag: u16) -> (Crowd, [RigId; 2]) {
    let (mut other, rigs) = empty(tag);
    let own = crowd.instances().map(InstanceId::rig).max().unwrap();
    let generation = |crowd: &Crowd, rig| crowd.clip_by_index(rig, 2).unwrap().to_bits() as u16;
    while generation(&other, rigs[1]) != generation(crowd, own) {
        let clip = other.clip_by_index(rigs[1], 2).unwrap();
        let clip = other.unload_clip(clip).unwrap();
        other.add_clip(rigs[1], clip).unwrap();
    }
    (other, rigs)
}

/// What a frame shows: of every instance the tier, the ranges and the rows.
fn shown(crowd: &Crowd, bones: &BoneBuffer) -> u64 {
    let mut hash = Fnv1a::default();
    for instance in crowd.instances() {
        hash.write_u64(instance.to_bits());
        let Some(pair) = crowd.palette_pair(instance) else {
            assert_eq!(crowd.palette_range(instance), None);
            continue;
        };
        hash.write(format!("{:?}", crowd.tier(instance)).as_bytes());
        hash.write(format!("{pair:?} {:?}", crowd.palette_range(instance)).as_bytes());
        for row in bones.rows()[pair.from].iter().chain(&bones.rows()[pair.to]) {
            let numbers = row.rows.as_flattened().iter();
            numbers.for_each(|v| hash.write(&v.to_le_bytes()));
        }
    }
    hash.finish()
}

fn camera(frame: usize) -> View {
    let angle = frame as f32 * 0.03;
    let projection = glam::camera::rh::proj::directx::perspective_infinite_reverse(1.2, 1.5, 0.1);
    let eye = glam::Vec3::new(4.0 * angle.sin(), 1.0, 3.0);
    let to = glam::Vec3::new(angle.sin() * 0.3, 0.0, -1.0);
    let view = glam::camera::rh::view::look_to_mat4(eye, to, glam::Vec3::Y);
    View {
        clip_from_world: (projection * view).to_cols_array_2d(),
        height: 1080.0,
        shadows: false,
    }
}

/// Whether a clip is unloaded and comes back before a frame.
fn unloads(frame: usize) -> bool {
    frame % 97 == 50
}

/// What a host does in a frame: the same for the same frame and crowd.
fn calls(crowd: &mut Crowd, rigs: [RigId; 2], frame: usize) {
    let mut dice = Dice(frame as u32 * 7919 + 3);
    let shadows = View {
        shadows: true,
        ..camera(frame + 40)
    };
    match frame / 30 % 3 {
        0 => crowd.set_views(&[camera(frame)]).unwrap(),
        1 => crowd.set_views(&[camera(frame), shadows]).unwrap(),
        _ => crowd.set_views(&[]).unwrap(),
    }
    // Rows of the first tier are updated in every frame, and are not held before they were stored for the budget.
    crowd
        .set_budget(Some([20, 4, 60, 0, 1000][frame / 7 % 5]))
        .unwrap();
    for id in rigs {
        let places = crowd.view(id).unwrap().len();
        let height = |n: usize| match (frame / 30 % 3, n % 5) {
            (2, _) => 3.0 + ((n * 53 + frame * (1 + n % 3)) % 700) as f32,
            (_, 0) if frame % 40 < 20 => 100.0,
            _ => 0.0,
        };
        let heights: Vec<f32> = (0..places).map(height).collect();
        crowd.set_importances(id, &heights).unwrap();
    }
    for _ in 0..dice.below(8) {
        let id = dice.among(&rigs);
        let all: Vec<InstanceId> = crowd.view(id).unwrap().instances().collect();
        if all.len() < 30 || all.len() < 90 && dice.below(6) == 0 {
            let new = crowd.spawn(id).unwrap();
            let place = [dice.below(30) as f32 - 15.0, 0.0, -(dice.below(60) as f32)];
            crowd.set_world(new, at(place)).unwrap();
            continue;
        }
        let i = dice.among(&all);
        let clips = crowd.rig(id).unwrap().clips().len();
        let clip = crowd.clip_by_index(id, dice.below(clips));
        let options = PlayOptions {
            speed: dice.among(&[1.0, 1.0, 0.7, -1.0, 0.0]),
            time: dice.among(&[0.0, 0.2, 0.9]),
            loop_mode: dice.among(&[
                LoopMode::Repeat,
                LoopMode::Repeat,
                LoopMode::PingPong,
                LoopMode::Once,
            ]),
            at_end: dice.among(&[AtEnd::Hold, AtEnd::Stop]),
            ..PlayOptions::default()
        };
        match (dice.below(12), clip) {
            (0, _) => crowd.despawn(i).unwrap(),
            (1, _) => crowd.set_visible(i, dice.below(2) == 0).unwrap(),
            (2, _) => crowd.set_override(i, 1, at([0.0, 0.1, 0.0])).unwrap(),
            (3, _) => crowd.clear_overrides(i).unwrap(),
            (4, _) => crowd
                .set_world(i, at([dice.below(20) as f32 - 9.0, 0.0, -5.0]))
                .unwrap(),
            (5, _) => crowd.set_scheduled(i, dice.below(3) > 0).unwrap(),
            (6, _) => crowd.player(i).unwrap().stop_all(0.1).unwrap(),
            (7, Some(clip)) => crowd.play(i, clip, &options).unwrap(),
            (_, Some(clip)) => crowd.fade_to(i, clip, 0.15, &options).unwrap(),
            _ => {}
        }
    }
    if unloads(frame) {
        // The clip goes and comes back, under another handle.
        let clip = crowd.clip_by_index(rigs[1], 2).unwrap();
        for i in crowd.view(rigs[1]).unwrap().instances().collect::<Vec<_>>() {
            if crowd.playing(i).unwrap().clips().any(|c| c == clip) {
                crowd.player(i).unwrap().stop_all(0.0).unwrap();
            }
        }
        if let Ok(clip) = crowd.unload_clip(clip) {
            crowd.add_clip(rigs[1], clip).unwrap();
        }
    }
}

/// Runs frames. Between two of them steps may be long, or go back.
fn run(
    crowd: &mut Crowd,
    rigs: [RigId; 2],
    bones: &mut BoneBuffer,
    frames: Range<usize>,
) -> Vec<u64> {
    let frame = |frame: usize| {
        calls(crowd, rigs, frame);
        let dt = match frame % 61 {
            13 => 90.0,
            29 => 0.0,
            41..48 => -DT,
            _ => DT * (1.0 + (frame % 3) as f64),
        };
        crowd.advance(dt).unwrap();
        crowd.evaluate(bones);
        shown(crowd, bones)
    };
    frames.map(frame).collect()
}

/// The bytes of a crowd, which are those of what they are read as.
fn stored(crowd: &Crowd) -> Vec<u8> {
    let snapshot = crowd.snapshot();
    let bytes = snapshot.to_bytes();
    let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
    assert!(read.to_bytes() == bytes);
    bytes
}

/// From any frame on, in the same crowd, from memory and from bytes, and in another crowd.
#[test]
fn crowds_go_on_from_bytes() {
    let (mut crowd, rigs) = empty(9);
    crowd.set_tiers(Some(tiers())).unwrap();
    let mut bones = BoneBuffer::new();
    let mut all = Vec::new();
    let mut seen = 0;
    for first in [1, 2, 9, 30, 47, 64, 90, 111, 150, 203] {
        all.extend(run(&mut crowd, rigs, &mut bones, all.len()..first));
        // In the middle of a frame's calls, too.
        let half = first % 2 == 1;
        if half {
            calls(&mut crowd, rigs, 1000 + first);
        }
        let snapshot = crowd.snapshot();
        let bytes = stored(&crowd);
        let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
        let [(mut other, its), (mut third, _), (mut again, _)] = [5, 6, 9].map(|n| like(&crowd, n));
        if first % 3 == 0 {
            // One with a past, and other tiers.
            other.set_tiers(Some(super::shared(16))).unwrap();
            run(&mut other, its, &mut BoneBuffer::new(), 0..9);
        }
        let next = first..first + 40;
        let wanted = run(&mut crowd, rigs, &mut bones, next.clone());
        let end = stored(&crowd);
        let mut check = |crowd: &mut Crowd, snapshot| {
            crowd.restore(snapshot).unwrap();
            assert!(stored(crowd) == bytes, "{first}");
            let mut memory = BoneBuffer::new();
            let shown = run(crowd, rigs, &mut memory, next.clone());
            let differs = shown.iter().zip(&wanted).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{first}");
            assert!(stored(crowd) == end, "{first}");
            let tiers = crowd.tier_stats().unwrap().tiers.iter().enumerate();
            let full = tiers.map(|(n, t)| usize::from(t.instances > 0) << n);
            seen |= full.sum::<usize>();
        };
        check(&mut other, &read);
        check(&mut third, &snapshot);
        // A clip that was unloaded since is another one.
        if !next.clone().any(unloads) {
            check(&mut crowd, &read);
        }
        again.restore(&read).unwrap();
        (crowd, bones) = (again, BoneBuffer::new());
    }
    assert_eq!(seen, 0b111_1111, "{seen:b}");
}

/// Whatever the number of workers is, before and after.
#[test]
fn the_number_of_workers_does_not_change_a_bit() {
    let mut results = Vec::new();
    for threads in [1, 2, 7, 32] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let result = pool.build().unwrap().install(|| {
            let (mut crowd, rigs) = empty(9);
            crowd.set_tiers(Some(tiers())).unwrap();
            let mut bones = BoneBuffer::new();
            run(&mut crowd, rigs, &mut bones, 0..70);
            let bytes = stored(&crowd);
            let (mut other, _) = like(&crowd, 5);
            other
                .restore(&CrowdSnapshot::from_bytes(&bytes).unwrap())
                .unwrap();
            let after = run(&mut other, rigs, &mut BoneBuffer::new(), 70..120);
            assert!(run(&mut crowd, rigs, &mut bones, 70..120) == after);
            (bytes, after)
        });
        results.push(result);
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

/// Every byte in turn: it is refused, or read as something that is written so, and plays on.
#[test]
fn changed_bytes_are_refused_or_play_on() {
    let (mut crowd, rigs) = empty(9);
    crowd.set_tiers(Some(tiers())).unwrap();
    run(&mut crowd, rigs, &mut BoneBuffer::new(), 0..33);
    calls(&mut crowd, rigs, 500);
    let bytes = stored(&crowd);
    let before = crowd.snapshot();
    let mut bare = crowd;
    bare.set_tiers(None).unwrap();
    // All but whether there are tiers is the same.
    let first = stored(&bare).len() - 1;
    let (mut crowd, _) = like(&bare, 9);
    crowd.restore(&before).unwrap();
    let mut dice = Dice(11);
    let (mut accepted, mut restored) = (0, 0);
    for at in first..bytes.len() {
        // Zeros that stand for rows are many.
        let mut changed = bytes.clone();
        if bytes[at.saturating_sub(8)..at].iter().all(|&b| b == 0) && dice.below(10) > 0 {
            continue;
        }
        changed[at] = match dice.below(4) {
            0 => !changed[at],
            1 => changed[at].wrapping_add(1),
            2 => changed[at] ^ (1 << dice.below(8)),
            _ => dice.below(256) as u8,
        };
        seal_snapshot(&mut changed);
        let Ok(read) = CrowdSnapshot::from_bytes(&changed) else {
            continue;
        };
        assert!(read.to_bytes() == changed, "two forms of one snapshot");
        accepted += 1;
        if accepted % 7 != 0 {
            continue;
        }
        if crowd.restore(&read).is_ok() {
            restored += 1;
            assert!(crowd.snapshot().to_bytes() == changed);
            let mut bones = BoneBuffer::new();
            run(&mut crowd, rigs, &mut bones, 33..36);
            assert!(bones.rows().iter().all(|row| row.is_finite()));
            crowd.restore(&before).unwrap();
        } else {
            assert!(
                crowd.snapshot() == before,
                "a restore that fails changes nothing"
            );
        }
    }
    assert!(accepted > 500 && restored > 50, "{accepted} {restored}");
}

/// Versions without tiers are read; they restart the tiers of the crowd.
#[test]
fn snapshots_without_tiers_start_them_anew() {
    let (mut crowd, all, ..) = chains(20);
    let plain = CrowdSnapshot::from_bytes(&crowd.snapshot().to_bytes()).unwrap();
    crowd.set_tiers(Some(super::every(4, false))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    crowd.restore(&plain).unwrap();
    assert!(crowd.tiers().is_some());
    assert_eq!(crowd.tier(all[3]), None);
    assert_eq!(crowd.evaluate(&mut bones).instances, 20);
}

/// The palette of a chain that plays nothing.
fn rest_pose() -> Vec<Affine3x4> {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    crowd.spawn(id).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    bones.rows().to_vec()
}

/// What a clip that is unloaded was shown by is not shown any more: neither its phases, nor palettes that wait.
#[test]
fn unloaded_clips_leave_no_palettes() {
    for sharing in [Sharing::None, Sharing::Phases(16)] {
        let (mut crowd, all, id, clip) = chains(40);
        let tier = Tier {
            rate: 16,
            sharing,
            ..Tier::default()
        };
        crowd.set_tiers(Some(one(tier))).unwrap();
        let once = PlayOptions {
            loop_mode: LoopMode::Once,
            at_end: AtEnd::Stop,
            ..PlayOptions::default()
        };
        for &i in &all {
            crowd.player(i).unwrap().restart(0, clip, &once).unwrap();
        }
        let mut bones = BoneBuffer::new();
        crowd.evaluate(&mut bones);
        // It ends, and those that are not due have not noticed.
        let taken = loop {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            if let Ok(taken) = crowd.unload_clip(clip) {
                break taken;
            }
        };
        let saved = CrowdSnapshot::from_bytes(&crowd.snapshot().to_bytes()).unwrap();
        let mut other = Crowd::new();
        let own = other.add_rig(rig()).unwrap();
        let mine = other.clip_by_index(own, 0).unwrap();
        other.unload_clip(mine).unwrap();
        other.restore(&saved).unwrap();
        let mut memory = BoneBuffer::new();
        for crowd in [(&mut crowd, &mut bones), (&mut other, &mut memory)] {
            let (crowd, bones) = crowd;
            // Another clip, which may have its index.
            crowd.add_clip(id, taken.clone()).unwrap();
            crowd.advance(DT).unwrap();
            crowd.evaluate(bones);
            let rest = rest_pose();
            for shown in palettes(crowd, bones, &all) {
                assert!(shown == rest, "{sharing:?}");
            }
        }
    }
}
