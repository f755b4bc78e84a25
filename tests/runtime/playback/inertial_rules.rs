//! What inertial fades do to what plays, when they are ordinary ones, and how long their offsets are held.

use super::inertial::{CLIPS, inertial, raw};
use phalanx::build::{build_additive_raw, build_rig};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdSnapshot, InstanceId, LayerOptions, RigId, Tier, Tiers,
};
use phalanx::playback::{BlendSpace, ClipId, CrossFade, Fill, Mixer, MixerSnapshot, PlayOptions};
use phalanx::rig::Rig;
use phalanx_testkit::lively::seal_snapshot;
use std::sync::{Arc, OnceLock};

const STEP: f64 = 1.0 / 60.0;

fn rig() -> Arc<Rig> {
    static RIG: OnceLock<Arc<Rig>> = OnceLock::new();
    RIG.get_or_init(|| Arc::new(build_rig(raw(false), &Default::default()).unwrap())).clone()
}

/// A crowd of `count` instances that have played the first clip for some frames.
fn crowd(count: usize, layers: Vec<LayerOptions>) -> (Crowd, RigId, Vec<InstanceId>, Vec<ClipId>) {
    let mut crowd = Crowd::with_tag(9).unwrap();
    let id = crowd.add_rig_with_layers(rig(), layers).unwrap();
    let clips: Vec<ClipId> = (0..CLIPS).map(|c| crowd.clip_by_index(id, c).unwrap()).collect();
    let mut all = Vec::new();
    crowd.spawn_many(id, count, &mut all).unwrap();
    for (n, &i) in all.iter().enumerate() {
        let options = PlayOptions { time: 0.1 * n as f64, ..PlayOptions::default() };
        crowd.play(i, clips[0], &options).unwrap();
    }
    (0..5).for_each(|_| crowd.advance(STEP).unwrap());
    (crowd, id, all, clips)
}

fn fade(crowd: &mut Crowd, i: InstanceId, from: ClipId, to: ClipId, seconds: f32) {
    let options = PlayOptions::default();
    crowd.player(i).unwrap().cross_fade(0, from, to, inertial(seconds), &options).unwrap();
}

#[test]
fn offsets_are_held_while_they_decay() {
    let (mut crowd, _, all, clips) = crowd(3, vec![LayerOptions::default()]);
    assert_eq!(crowd.inertial_bytes(), 0);
    fade(&mut crowd, all[0], clips[0], clips[1], 0.25);
    // Rotations and translations of 32 lanes, and scales.
    let one = crowd.inertial_bytes();
    assert!(one > 0 && one <= 6 * 256, "{one}");
    fade(&mut crowd, all[1], clips[0], clips[1], 0.5);
    assert_eq!(crowd.inertial_bytes(), 2 * one);
    // An interruption takes the place of what it interrupts.
    fade(&mut crowd, all[0], clips[1], clips[2], 0.25);
    assert_eq!(crowd.inertial_bytes(), 2 * one);
    (0..14).for_each(|_| crowd.advance(STEP).unwrap());
    assert_eq!(crowd.inertial_bytes(), 2 * one);
    (0..2).for_each(|_| crowd.advance(STEP).unwrap());
    assert_eq!(crowd.inertial_bytes(), one);
    crowd.despawn(all[1]).unwrap();
    assert_eq!(crowd.inertial_bytes(), 0);
    // Calls that end what an offset is of, or replace it at once, end it.
    let options = PlayOptions::default();
    for call in 0..4 {
        let clip = crowd.playing(all[2]).unwrap().clips().next().unwrap();
        let (a, b) = if clip == clips[0] { (0, 1) } else { (1, 0) };
        fade(&mut crowd, all[2], clips[a], clips[b], 0.5);
        assert_eq!(crowd.inertial_bytes(), one);
        let mut player = crowd.player(all[2]).unwrap();
        match call {
            0 => player.play(0, clips[3], &options).unwrap(),
            1 => player.cross_fade(0, clips[b], clips[3], 0.0, &options).unwrap(),
            2 => player.stop(0, clips[b], 0.0).unwrap(),
            _ => player.stop_all(0.0).unwrap(),
        }
        assert_eq!(crowd.inertial_bytes(), 0, "{call}");
        crowd.play(all[2], clips[0], &options).unwrap();
    }
    // One that goes on does not.
    fade(&mut crowd, all[2], clips[0], clips[1], 0.5);
    crowd.play(all[2], clips[1], &options).unwrap();
    crowd.fade_to(all[2], clips[2], 0.3, &options).unwrap();
    assert_eq!(crowd.inertial_bytes(), one);
    assert_eq!(crowd.inertial_refused(), 0);
}

#[test]
fn some_fades_are_ordinary() {
    let base = build_rig(raw(false), &Default::default()).unwrap();
    let added = build_additive_raw(&base, (&raw(false), 3), base.skeleton().rest_pose()).unwrap();
    let added = Arc::new(added);
    let below = LayerOptions { fill: Fill::Below, ..LayerOptions::default() };
    let above = LayerOptions { additive: true, ..LayerOptions::default() };
    let layers = vec![LayerOptions::default(), below, above];
    let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
    let [a, b] = [0, 1].map(|c| mixer.clip_by_index(c).unwrap());
    let [x, y] = [0; 2].map(|_| mixer.add_clip(added.clone()).unwrap());
    let weights = |mixer: &Mixer, layer: usize, [from, to]: [ClipId; 2]| {
        let weight = |clip| mixer.playing().action(layer, clip).ok().map(|state| state.weight);
        [weight(from), weight(to)]
    };
    let begin = |mixer: &mut Mixer, layer: usize, [from, to]: [ClipId; 2], weights: [f32; 2]| {
        let mut player = mixer.player();
        let of = |weight| PlayOptions { weight, ..PlayOptions::default() };
        player.stop_layer(layer, 0.0).unwrap();
        player.play(layer, from, &of(weights[0])).unwrap();
        player.cross_fade(layer, from, to, inertial(0.5), &of(weights[1])).unwrap();
    };
    // Below 1, the rest pose takes the rest.
    for w in [[1.0, 1.0], [0.5, 1.0], [1.0, 0.5]] {
        begin(&mut mixer, 0, [a, b], w);
        assert_eq!(weights(&mixer, 0, [a, b]), [None, Some(w[1])]);
    }
    begin(&mut mixer, 1, [a, b], [0.5, 0.5]);
    assert_eq!(weights(&mixer, 1, [a, b]), [None, Some(0.5)]);
    // The layer's share would jump.
    begin(&mut mixer, 1, [a, b], [0.5, 1.0]);
    assert_eq!(weights(&mixer, 1, [a, b]), [Some(0.5), Some(0.0)]);
    begin(&mut mixer, 2, [x, y], [1.0, 1.0]);
    assert_eq!(weights(&mixer, 2, [x, y]), [Some(1.0), Some(0.0)]);
    // Nothing is shown.
    let mut player = mixer.player();
    player.stop_layer(0, 0.0).unwrap();
    player.play(0, a, &PlayOptions { weight: 0.0, ..PlayOptions::default() }).unwrap();
    player.cross_fade(0, a, b, inertial(0.5), &PlayOptions::default()).unwrap();
    assert_eq!(weights(&mixer, 0, [a, b])[1], Some(0.0));
    // All others stop, in the middle of their own fades.
    let mut player = mixer.player();
    player.stop_layer(0, 0.0).unwrap();
    player.play(0, a, &PlayOptions::default()).unwrap();
    player.fade_to(0, b, 0.5, &PlayOptions::default()).unwrap();
    mixer.advance(0.25).unwrap();
    let c = mixer.clip_by_index(2).unwrap();
    mixer.player().cross_fade(0, a, c, inertial(0.5), &PlayOptions::default()).unwrap();
    assert!(mixer.playing().actions(0).unwrap().map(|(m, _)| m).eq([c.into()]));
    // To what plays already: it goes on, alone.
    mixer.advance(0.1).unwrap();
    let mut player = mixer.player();
    player.fade_to(0, a, 0.5, &PlayOptions::default()).unwrap();
    let time = player.playing().action(0, c).unwrap().time;
    player.cross_fade(0, a, c, inertial(0.5), &PlayOptions::default()).unwrap();
    let state = player.playing().action(0, c).unwrap();
    assert_eq!((state.time, state.weight, state.fading_out), (time, 1.0, false));
}

/// A character that stands still keeps its offset, and goes on from there.
/// The layers below show as much as before when a full layer evicts an action.
#[test]
fn an_eviction_keeps_the_share_of_a_layer() {
    let below = LayerOptions { fill: Fill::Below, ..LayerOptions::default() };
    let mut mixer = Mixer::with_layers(rig(), vec![LayerOptions::default(), below]).unwrap();
    let clips: Vec<ClipId> = (0..CLIPS).map(|c| mixer.clip_by_index(c).unwrap()).collect();
    mixer.player().play(0, clips[0], &PlayOptions::default()).unwrap();
    for &clip in &clips[1..] {
        let before = mixer.model_matrices();
        mixer.player().fade_to(1, clip, 1.0, &PlayOptions::default()).unwrap();
        let places = mixer.model_matrices().into_iter().map(|m| m.translation());
        for (place, before) in places.zip(before) {
            let off = place.distance(before.translation());
            assert!(off < 1e-4, "{off} after {} evictions", mixer.evicted());
        }
        (0..6).for_each(|_| mixer.advance(STEP).unwrap());
    }
    assert_eq!(mixer.evicted(), 1);
    mixer.advance(1.0).unwrap();
    let all: Vec<_> = mixer.playing().actions(1).unwrap().map(|a| a.1.weight).collect();
    assert_eq!(all, [1.0]);
}

#[test]
fn offsets_stand_still() {
    let (mut crowd, _, all, clips) = crowd(2, vec![LayerOptions::default()]);
    let mut bones = BoneBuffer::new();
    let mut show = |crowd: &mut Crowd, i: InstanceId| {
        crowd.evaluate(&mut bones);
        let range = crowd.palette_range(i).unwrap();
        bones.rows()[range].to_vec()
    };
    // Both play alike.
    let time = crowd.playing(all[0]).unwrap().action(0, clips[0]).unwrap().time;
    crowd.player(all[1]).unwrap().set_time(0, clips[0], time).unwrap();
    for &i in &all {
        fade(&mut crowd, i, clips[0], clips[1], 0.5);
    }
    (0..9).for_each(|_| crowd.advance(STEP).unwrap());
    crowd.player(all[0]).unwrap().set_character_speed(0.0).unwrap();
    let held = show(&mut crowd, all[0]);
    (0..40).for_each(|_| crowd.advance(STEP).unwrap());
    assert_eq!(show(&mut crowd, all[0]), held);
    let bytes = crowd.snapshot().to_bytes();
    let snapshot = CrowdSnapshot::from_bytes(&bytes).unwrap();
    crowd.restore(&snapshot).unwrap();
    assert_eq!(show(&mut crowd, all[0]), held);
    assert!(crowd.inertial_bytes() > 0);
    crowd.player(all[0]).unwrap().set_character_speed(1.0).unwrap();
    (0..22).for_each(|_| crowd.advance(STEP).unwrap());
    assert_eq!(crowd.inertial_bytes(), 0);
}

/// With tiers that share palettes, a character has its own while its offset decays.
#[test]
fn palettes_are_shared_again_when_an_offset_has_decayed() {
    let (mut crowd, _, all, clips) = crowd(4, vec![LayerOptions::default()]);
    let tier = Tier { shared_error: Some(0.5), ..Tier::default() };
    crowd.set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() })).unwrap();
    let mut bones = BoneBuffer::new();
    let mut frame = |crowd: &mut Crowd| {
        crowd.advance(STEP).unwrap();
        crowd.evaluate(&mut bones);
        all.iter().map(|&i| crowd.shown(i).is_some_and(|s| s.shared)).collect::<Vec<_>>()
    };
    assert_eq!(frame(&mut crowd), [true; 4]);
    fade(&mut crowd, all[1], clips[0], clips[1], 0.25);
    for n in 0..14 {
        assert_eq!(frame(&mut crowd), [true, false, true, true], "{n}");
    }
    frame(&mut crowd);
    assert_eq!(frame(&mut crowd), [true; 4]);
}

/// Twins: one is stored and restored in every frame.
#[test]
fn a_snapshot_holds_offsets() {
    let mut mixers = [0; 2].map(|_| Mixer::new(rig()).unwrap());
    for frame in 0..60 {
        let shown = mixers.each_mut().map(|mixer| {
            let clips: Vec<ClipId> = (0..CLIPS).map(|c| mixer.clip_by_index(c).unwrap()).collect();
            let options = PlayOptions::default();
            if frame == 0 {
                mixer.player().play(0, clips[0], &options).unwrap();
            } else if frame % 11 == 5 {
                let (from, to) = (frame / 11 % CLIPS, (frame / 11 + 1) % CLIPS);
                let mut player = mixer.player();
                player.cross_fade(0, clips[from], clips[to], inertial(0.4), &options).unwrap();
            }
            mixer.advance(0.021).unwrap();
            mixer.evaluate().to_vec()
        });
        assert_eq!(shown[0], shown[1], "{frame}");
        let bytes = mixers[1].snapshot().to_bytes();
        let other = MixerSnapshot::from_bytes(&bytes).unwrap();
        assert!(other.to_bytes() == bytes && mixers[0].snapshot() == other);
        // Something else plays meanwhile.
        let clip = mixers[1].clip_by_index(5).unwrap();
        mixers[1].player().play(0, clip, &PlayOptions::default()).unwrap();
        mixers[1].restore(&other).unwrap();
    }
}

/// A restored crowd shows what it showed, though the offset of an instance is another one by then.
#[test]
fn a_close_snapshot_brings_an_offset_back() {
    let (mut crowd, _, all, clips) = crowd(2, vec![LayerOptions::default()]);
    let mut bones = BoneBuffer::new();
    let rows = |crowd: &mut Crowd, bones: &mut BoneBuffer| {
        crowd.evaluate(bones);
        bones.rows().to_vec()
    };
    fade(&mut crowd, all[0], clips[0], clips[1], 0.4);
    let snapshot = crowd.snapshot();
    (0..3).for_each(|_| crowd.advance(STEP).unwrap());
    let then = rows(&mut crowd, &mut bones);
    crowd.restore(&snapshot).unwrap();
    // The same clips at the same clock, from another pose.
    let time = crowd.playing(all[0]).unwrap().action(0, clips[1]).unwrap().time;
    let options = PlayOptions { time, ..PlayOptions::default() };
    crowd.play(all[0], clips[3], &options).unwrap();
    let mut player = crowd.player(all[0]).unwrap();
    player.cross_fade(0, clips[3], clips[1], inertial(0.4), &options).unwrap();
    (0..3).for_each(|_| crowd.advance(STEP).unwrap());
    assert!(rows(&mut crowd, &mut bones) != then);
    crowd.restore(&snapshot).unwrap();
    (0..3).for_each(|_| crowd.advance(STEP).unwrap());
    assert!(rows(&mut crowd, &mut bones) == then);
}

/// Every changed byte of a stored offset is refused, or gives finite palettes.
#[test]
fn stored_offsets_are_checked() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let [a, b] = [0, 1].map(|c| mixer.clip_by_index(c).unwrap());
    mixer.player().play(0, a, &PlayOptions::default()).unwrap();
    mixer.advance(0.3).unwrap();
    let plain = mixer.snapshot().to_bytes().len();
    let fade: CrossFade<'_> = inertial(0.4);
    mixer.player().cross_fade(0, a, b, fade, &PlayOptions::default()).unwrap();
    mixer.advance(0.1).unwrap();
    let bytes = mixer.snapshot().to_bytes();
    assert!(bytes.len() > plain + 1000);
    let last = bytes.len() - 4 - (bytes.len() - plain);
    let (mut refused, mut misfits) = (0, 0);
    for at in last..bytes.len() - 4 {
        for value in [0x00, 0x7f, 0xff] {
            let mut bad = bytes.clone();
            if bad[at] == value {
                continue;
            }
            bad[at] = value;
            seal_snapshot(&mut bad);
            match MixerSnapshot::from_bytes(&bad) {
                Err(_) => refused += 1,
                Ok(read) => match mixer.restore(&read) {
                    Err(_) => misfits += 1,
                    Ok(()) => {
                        mixer.advance(0.05).unwrap();
                        assert!(mixer.evaluate().iter().all(|m| m.is_finite()), "{at} {value}");
                    }
                },
            }
        }
    }
    assert!(refused > 100 && misfits > 200, "{refused} {misfits}");
}

#[test]
fn a_parameter_on_its_way_gives_the_offset_its_velocity() {
    let (mut crowd, id, all, clips) = crowd(1, vec![LayerOptions::default()]);
    let line = BlendSpace::line(&[(0.0, clips[0]), (1.0, clips[1])]).following(1.0);
    let space = crowd.add_blend_space(id, line).unwrap();
    // Time stands still: only the parameter moves joints.
    let still = PlayOptions { speed: 0.0, ..PlayOptions::default() };
    crowd.play(all[0], space, &PlayOptions::default()).unwrap();
    crowd.advance(STEP).unwrap();
    let mut player = crowd.player(all[0]).unwrap();
    player.set_paused(0, space, true).unwrap();
    player.set_parameter(0, space, 1.0).unwrap();
    crowd.advance(0.4).unwrap();
    let place = |crowd: &Crowd| crowd.model_matrix(all[0], "joint20").unwrap().translation();
    let mut step = |seconds: f64| {
        let before = place(&crowd);
        crowd.advance(seconds).unwrap();
        (place(&crowd) - before) / seconds as f32
    };
    let before = step(STEP);
    assert!(before.length() > 0.05, "{before}");
    let mut player = crowd.player(all[0]).unwrap();
    player.cross_fade(0, space, clips[1], inertial(0.8), &still).unwrap();
    let now = place(&crowd);
    crowd.advance(STEP).unwrap();
    let after = (place(&crowd) - now) / STEP as f32;
    assert!(before.distance(after) < 0.2 * before.length(), "{before} {after}");
}
