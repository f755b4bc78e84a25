//! Crowds with tiers that are restored: they go on as they did, and what is shown follows.

use super::{DT, apart, at, chains, exact, one, palettes};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdSnapshot, InstanceId, PlayOptions, RigId, Tier, TierDetail, Tiers, View,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{AtEnd, LoopMode};
use phalanx_testkit::chain::{rig, sharing_error};
use phalanx_testkit::lively::Dice;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Updated in every frame, interpolated, held, and shared in two ways; some by details.
fn tiers() -> Tiers {
    let detail = |level, joint: &str| Some(TierDetail { level, leave_out: vec![joint.into()] });
    let tier = |height, rate, interpolate, shared_error, detail| Tier {
        height,
        rate,
        interpolate,
        shared_error,
        detail,
        springs: true,
    };
    Tiers {
        tiers: vec![
            tier(600.0, 1, false, None, None),
            tier(300.0, 4, true, None, None),
            tier(150.0, 8, true, None, detail(1, "joint15")),
            tier(80.0, 4, false, None, detail(2, "LeftHand")),
            tier(40.0, 1, false, Some(0.05), None),
            tier(20.0, 4, true, Some(0.02), detail(2, "joint15")),
            tier(2.0, 16, false, Some(0.3), None),
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

/// What a frame shows: the palettes of instances in the first tier, which have one of their own that is updated in every
/// frame, by handle; what plays, and what was passed.
#[derive(PartialEq)]
struct Shown {
    own: BTreeMap<u64, Vec<Affine3x4>>,
    playback: String,
}

impl Shown {
    fn of(crowd: &Crowd, bones: &BoneBuffer) -> Self {
        let first = |&i: &InstanceId| crowd.tier(i) == Some(0);
        let rows = |i| bones.rows()[crowd.palette_range(i).unwrap()].to_vec();
        let own = crowd.instances().filter(first);
        let mut playback = format!("{:?}", crowd.events());
        for instance in crowd.instances() {
            let playing = crowd.playing(instance).unwrap();
            let state = playing.actions(0).unwrap().map(|(_, state)| state);
            playback += &format!("{instance:?} {:?}", state.collect::<Vec<_>>());
        }
        Self { own: own.map(|i| (i.to_bits(), rows(i))).collect(), playback }
    }

    /// Whether the same plays, and palettes that are an instance's own here and there are the same. Returns their number.
    fn agrees(&self, other: &Self) -> Option<usize> {
        let mut both = 0;
        for (instance, rows) in &self.own {
            if let Some(there) = other.own.get(instance) {
                both += 1;
                if rows != there {
                    return None;
                }
            }
        }
        (self.playback == other.playback).then_some(both)
    }
}

fn camera(frame: usize) -> View {
    let angle = frame as f32 * 0.03;
    let projection = glam::camera::rh::proj::directx::perspective_infinite_reverse(1.2, 1.5, 0.1);
    let eye = glam::Vec3::new(4.0 * angle.sin(), 1.0, 3.0);
    let to = glam::Vec3::new(angle.sin() * 0.3, 0.0, -1.0);
    let view = glam::camera::rh::view::look_to_mat4(eye, to, glam::Vec3::Y);
    View { clip_from_world: (projection * view).to_cols_array_2d(), height: 1080.0, shadows: false }
}

/// Whether a clip is unloaded and comes back before a frame.
fn unloads(frame: usize) -> bool {
    frame % 97 == 50
}

/// What a host does in a frame: the same for the same frame and crowd.
fn calls(crowd: &mut Crowd, rigs: [RigId; 2], frame: usize) {
    let mut dice = Dice(frame as u32 * 7919 + 3);
    let shadows = View { shadows: true, ..camera(frame + 40) };
    match frame / 30 % 3 {
        0 => crowd.set_views(&[camera(frame)]).unwrap(),
        1 => crowd.set_views(&[camera(frame), shadows]).unwrap(),
        _ => crowd.clear_views().unwrap(),
    }
    for id in rigs {
        let places = crowd.view(id).unwrap().alive.len();
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
            (2, _) => crowd.player(i).unwrap().set_override(1, at([0.0, 0.1, 0.0])).unwrap(),
            (3, _) => crowd.player(i).unwrap().clear_overrides(),
            (4, _) => crowd.set_world(i, at([dice.below(20) as f32 - 9.0, 0.0, -5.0])).unwrap(),
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
) -> Vec<Shown> {
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
        Shown::of(crowd, bones)
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
fn restored_crowds_play_on_and_full_rate_palettes_are_equal() {
    let (mut crowd, rigs) = empty(9);
    crowd.set_tiers(Some(tiers())).unwrap();
    let mut bones = BoneBuffer::new();
    let (mut frames, mut seen, mut compared) = (0, 0, 0);
    for first in [1, 2, 9, 30, 47, 64, 90, 111, 150, 203] {
        run(&mut crowd, rigs, &mut bones, frames..first);
        frames = first;
        // In the middle of a frame's calls, too.
        if first % 2 == 1 {
            calls(&mut crowd, rigs, 1000 + first);
        }
        let snapshot = crowd.snapshot();
        let bytes = stored(&crowd);
        let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
        let [(mut other, its), (mut third, _), (mut again, _)] = [5, 6, 9].map(|n| like(&crowd, n));
        for crowd in [&mut other, &mut third, &mut again] {
            crowd.set_tiers(Some(tiers())).unwrap();
        }
        // One with a past.
        let mut memory = BoneBuffer::new();
        run(&mut other, its, &mut memory, 0..9);
        let next = first..first + 40;
        let wanted = run(&mut crowd, rigs, &mut bones, next.clone());
        let end = stored(&crowd);
        let mut check = |crowd: &mut Crowd, snapshot, memory: &mut BoneBuffer| {
            crowd.restore(snapshot).unwrap();
            assert!(stored(crowd) == bytes, "{first}");
            let shown = run(crowd, rigs, memory, next.clone());
            for (frame, (a, b)) in shown.iter().zip(&wanted).enumerate() {
                let agrees = a.agrees(b);
                assert!(agrees.is_some(), "{first} + {frame}");
                compared += agrees.unwrap_or(0);
            }
            assert!(stored(crowd) == end, "{first}");
            let tiers = crowd.tier_stats().unwrap().tiers.iter().enumerate();
            let full = tiers.map(|(n, t)| usize::from(t.instances > 0) << n);
            seen |= full.sum::<usize>();
        };
        check(&mut other, &read, &mut memory);
        check(&mut third, &snapshot, &mut BoneBuffer::new());
        // A clip that was unloaded since is another one.
        if !next.clone().any(unloads) {
            check(&mut crowd, &read, &mut bones);
        }
        again.restore(&read).unwrap();
        (crowd, bones) = (again, BoneBuffer::new());
    }
    assert_eq!(seen, 0b111_1111, "{seen:b}");
    assert!(compared > 1000, "{compared}");
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
            crowd.restore(&CrowdSnapshot::from_bytes(&bytes).unwrap()).unwrap();
            run(&mut crowd, rigs, &mut bones, 70..120);
            (bytes, bones.hash())
        });
        results.push(result);
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

/// A crowd of chains in a tier of a low rate, after some frames, with a snapshot and some calls behind it.
fn rolled_back(tier: Tier) -> (Crowd, Vec<InstanceId>, BoneBuffer, CrowdSnapshot) {
    let (mut crowd, all, id, _) = chains(1600);
    crowd.set_tiers(Some(one(tier))).unwrap();
    let mut bones = BoneBuffer::new();
    let frame = |crowd: &mut Crowd, bones: &mut BoneBuffer| {
        crowd.advance(DT).unwrap();
        crowd.evaluate(bones);
    };
    (0..40).for_each(|_| frame(&mut crowd, &mut bones));
    let snapshot = crowd.snapshot();
    let clip = crowd.clip_by_index(id, 1).unwrap();
    for n in 0..8 {
        let i = all[n * 7];
        crowd.play(i, clip, &PlayOptions::default()).unwrap();
        frame(&mut crowd, &mut bones);
    }
    (crowd, all, bones, snapshot)
}

#[test]
fn rollback_by_a_few_frames_evaluates_few() {
    for interpolate in [false, true] {
        let (mut crowd, all, mut bones, snapshot) =
            rolled_back(Tier { rate: 16, interpolate, ..Tier::default() });
        crowd.restore(&snapshot).unwrap();
        crowd.advance(DT).unwrap();
        let evaluated = crowd.evaluate(&mut bones).instances;
        // Those of the frame's turn, and the eight that were called.
        assert!((108..=120).contains(&evaluated), "{evaluated}");
        let changed: Vec<InstanceId> = (0..8).map(|n| all[n * 7]).collect();
        let rig = rig();
        let wanted = exact(&crowd, &rig, &changed);
        assert!(palettes(&crowd, &bones, &changed) == wanted);
        // What was evaluated before the snapshot is shown as if there had been no rollback.
        let (mut twin, its, ..) = chains(1600);
        twin.set_tiers(crowd.tiers().cloned()).unwrap();
        let mut memory = BoneBuffer::new();
        let mut frames = |twin: &mut Crowd, count: usize| {
            for _ in 0..count {
                twin.advance(DT).unwrap();
                twin.evaluate(&mut memory);
            }
            palettes(twin, &memory, &its)
        };
        let kept = frames(&mut twin, 41);
        let shown = palettes(&crowd, &bones, &all);
        let pairs = kept.iter().zip(&shown);
        let same = pairs.filter(|(a, b)| apart(a, b) < 1e-5).count();
        assert!(same >= 700, "{same}");
        // After a round every instance is where it belongs: at one of the moments since then, or between two of them.
        let mut moments = Vec::new();
        for _ in 0..16 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            moments.push(exact(&crowd, &rig, &all));
        }
        let shown = palettes(&crowd, &bones, &all);
        if !interpolate {
            for (n, shown) in shown.iter().enumerate() {
                assert!(moments.iter().any(|moment| moment[n] == *shown), "{n}");
            }
            continue;
        }
        // One that was not rolled back is as far from the exact palettes.
        let farthest = |shown: &[Vec<Affine3x4>]| {
            let pairs = shown.iter().zip(&moments[15]);
            pairs.map(|(a, b)| apart(a, b)).fold(0.0, f32::max)
        };
        let usual = farthest(&frames(&mut twin, 16));
        let error = farthest(&shown);
        assert!(error < 1.1 * usual, "{error}, without rollback {usual}");
    }
}

/// A saved game, from farther away than a rollback, shows nothing of what was there.
#[test]
fn snapshots_from_farther_away_change_everything() {
    let (mut crowd, all, mut bones, snapshot) = rolled_back(Tier { rate: 16, ..Tier::default() });
    for _ in 0..100 {
        crowd.advance(DT).unwrap();
    }
    crowd.restore(&snapshot).unwrap();
    assert_eq!(crowd.evaluate(&mut bones).instances, 1600);
    assert!(palettes(&crowd, &bones, &all) == exact(&crowd, &rig(), &all));
}

/// Instances that were spawned after the snapshot leave their palettes, and those that are back have theirs.
#[test]
fn rollback_over_spawns_and_despawns() {
    for shared_error in [None, Some(sharing_error(1024))] {
        let (mut crowd, all, id, clip) = chains(100);
        let tier = Tier {
            rate: if shared_error.is_none() { 4 } else { 1 },
            shared_error,
            ..Tier::default()
        };
        crowd.set_tiers(Some(one(tier))).unwrap();
        let mut bones = BoneBuffer::new();
        let frame = |crowd: &mut Crowd, bones: &mut BoneBuffer| {
            crowd.advance(DT).unwrap();
            crowd.evaluate(bones);
        };
        frame(&mut crowd, &mut bones);
        let shares = |&i: &InstanceId| crowd.shown(i).is_some_and(|shown| shown.shared);
        assert_eq!(all.iter().any(shares), shared_error.is_some());
        let snapshot = crowd.snapshot();
        let rows = bones.rows().len();
        for _ in 0..20 {
            crowd.despawn_many(&all[90..]).unwrap();
            let mut new = Vec::new();
            crowd.spawn_many(id, 50, &mut new).unwrap();
            for &i in &new {
                crowd.play(i, clip, &PlayOptions::default()).unwrap();
            }
            (0..3).for_each(|_| frame(&mut crowd, &mut bones));
            assert_eq!(crowd.tier_stats().unwrap().tiers[0].instances, 140);
            crowd.restore(&snapshot).unwrap();
            assert!(new.iter().all(|&i| crowd.palette_range(i).is_none()));
            assert_eq!(crowd.palette_range(all[95]), None);
            frame(&mut crowd, &mut bones);
            assert_eq!(crowd.tier_stats().unwrap().tiers[0].instances, 100);
            assert_eq!(crowd.tier_stats().unwrap().out, 0);
            let back = palettes(&crowd, &bones, &all[90..]);
            let wanted = exact(&crowd, &rig(), &all[90..]);
            let error = back.iter().zip(&wanted).map(|(a, b)| apart(a, b));
            let error = error.fold(0.0, f32::max);
            let most = if shared_error.is_none() { 0.0 } else { 0.05 };
            assert!(error <= most, "{shared_error:?}: {error}");
        }
        // Nothing is left behind by those that are gone. Of shared palettes there are four for each that shows one.
        let most = if shared_error.is_none() { 3 } else { 9 };
        assert!(bones.rows().len() < most * rows);
    }
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
    for shared_error in [None, Some(sharing_error(16))] {
        let (mut crowd, all, id, clip) = chains(40);
        let tier = Tier { rate: 16, shared_error, ..Tier::default() };
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
        // Another clip, which may have its index.
        crowd.add_clip(id, taken).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let rest = rest_pose();
        for shown in palettes(&crowd, &bones, &all) {
            assert!(shown == rest, "{shared_error:?}");
        }
    }
}
