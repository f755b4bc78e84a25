//! Modifiers, their inputs and overrides with weights in snapshots.

use super::{Body, Cast};
use glam::{Quat, Vec3};
use phalanx::crowd::{CrowdSnapshot, PlayOptions, PoseStage};
use phalanx::math::Affine3x4;
use phalanx::playback::{
    Mixer, MixerSnapshot, ModifierId, PlaybackError, PoseSpace, Target, TwoBoneIk,
};
use phalanx_testkit::lively::seal_snapshot;
use phalanx_testkit::rigs::finite;

const DT: f64 = 1.0 / 30.0;
const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

fn limbs(body: &Body) -> [TwoBoneIk; 2] {
    ["RightHand", "LeftFoot"]
        .map(|name| TwoBoneIk { soft: 0.1, ..TwoBoneIk::new(body.joint(name)) })
}

fn stage() -> (Cast, [ModifierId; 2]) {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 4);
    let by = limbs(body).map(|ik| cast.crowd.add_modifier(cast.rig, ik).unwrap());
    (cast, by)
}

/// Instances with fades that run, targets of all kinds, and overrides.
fn played() -> (Cast, [ModifierId; 2]) {
    let body = Body::character();
    let (mut cast, [hand, foot]) = stage();
    let clip = cast.crowd.clip_by_index(cast.rig, 1).unwrap();
    let targets = [
        Target::model(NEAR),
        Target { rotation: Some(Quat::from_rotation_x(0.4)), ..Target::world(NEAR) },
        Target {
            normal: Some(Vec3::new(0.1, 1.0, 0.0)),
            ..Target::joint(body.joint("Head"), Vec3::new(0.1, -0.3, 0.3))
        },
        Target {
            rotation: Some(Quat::IDENTITY),
            normal: Some(Vec3::X),
            ..Target::model(0.5 * NEAR)
        },
    ];
    for (n, target) in targets.into_iter().enumerate() {
        let i = cast.all[n];
        cast.crowd.play(i, clip, &PlayOptions::default()).unwrap();
        let mut player = cast.crowd.player(i).unwrap();
        player.set_target(hand, target).unwrap();
        player.fade_modifier(hand, 0.9, 0.2 * n as f32).unwrap();
        player.set_target(foot, Target::model(Vec3::new(0.1, 0.3, 0.2))).unwrap();
        player.fade_modifier(foot, 0.3, 0.0).unwrap();
        player
            .set_override_weighted("Spine", super::by([0.0, 0.1, 0.05]), PoseSpace::Local, 0.3)
            .unwrap();
        player.set_model_rotation("Head", Quat::from_rotation_y(0.3 * n as f32), 0.6).unwrap();
        let at = super::by([0.2, 1.4 + 0.1 * n as f32, 0.1]);
        player.set_override_weighted("LeftArm", at, PoseSpace::Model, 0.8).unwrap();
    }
    cast.crowd.advance(DT).unwrap();
    (cast, [hand, foot])
}

/// The palettes of some frames.
fn frames(cast: &mut Cast) -> Vec<Vec<Vec<Affine3x4>>> {
    let frame = |_| {
        let rows = cast.frame();
        cast.crowd.advance(DT).unwrap();
        rows
    };
    (0..25).map(frame).collect()
}

#[test]
fn a_restored_crowd_goes_on_with_the_same_bits() {
    let (mut cast, [hand, foot]) = played();
    let saved = cast.crowd.snapshot();
    let bytes = saved.to_bytes();
    let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
    assert!(read == saved && read.to_bytes() == bytes);
    let wanted = frames(&mut cast);
    assert!(wanted.windows(2).all(|pair| pair[0] != pair[1]));
    // In the same crowd, after everything was changed.
    for from in [&saved, &read] {
        for &i in &cast.all {
            let mut player = cast.crowd.player(i).unwrap();
            player.set_target(hand, Target::model(Vec3::ONE)).unwrap();
            player.fade_modifier(foot, 0.0, 0.0).unwrap();
            player.clear_overrides();
        }
        cast.frame();
        cast.crowd.restore(from).unwrap();
        assert!(cast.crowd.snapshot() == saved);
        assert!(frames(&mut cast) == wanted);
    }
    // In another one with the same modifiers.
    let (mut other, ids) = stage();
    assert_eq!(ids, [hand, foot]);
    other.crowd.restore(&read).unwrap();
    assert!(frames(&mut other) == wanted);
    // A modifier that was added since has no inputs, and stays.
    let added = TwoBoneIk::new(Body::character().joint("LeftHand"));
    let added = other.crowd.add_modifier(other.rig, added).unwrap();
    other.aim(0, added, Target::model(NEAR), 1.0);
    other.crowd.restore(&read).unwrap();
    assert!(frames(&mut other) == wanted);
    other.aim(0, added, Target::model(NEAR), 1.0);
}

/// Each of the numbers of an input is in the snapshot.
#[test]
fn snapshots_differ_where_inputs_do() {
    let (mut cast, [hand, _]) = played();
    let saved = cast.crowd.snapshot();
    let target =
        Target { rotation: Some(Quat::IDENTITY), normal: Some(Vec3::Y), ..Target::model(NEAR) };
    let others = [
        Target::world(NEAR),
        Target::joint(0, NEAR),
        Target::joint(1, NEAR),
        Target::model(NEAR + Vec3::Z),
        Target { rotation: Some(Quat::from_rotation_x(1.0)), ..target },
        Target { rotation: None, ..target },
        Target { normal: Some(Vec3::Z), ..target },
        Target { normal: None, ..target },
        target,
    ];
    let mut seen = vec![saved.to_bytes()];
    for target in others {
        cast.crowd.player(cast.all[2]).unwrap().set_target(hand, target).unwrap();
        let now = cast.crowd.snapshot();
        let bytes = now.to_bytes();
        assert!(!seen.contains(&bytes) && now != saved, "{target:?}");
        assert!(CrowdSnapshot::from_bytes(&bytes).unwrap() == now);
        seen.push(bytes);
    }
    for (weight, seconds) in [(0.5, 0.0), (0.5, 1.0), (0.6, 1.0), (0.6, 0.5), (0.0, 0.0)] {
        cast.crowd.restore(&saved).unwrap();
        cast.crowd.player(cast.all[2]).unwrap().fade_modifier(hand, weight, seconds).unwrap();
        let now = cast.crowd.snapshot();
        let bytes = now.to_bytes();
        assert!(!seen.contains(&bytes) && now != saved, "{weight} {seconds}");
        assert!(CrowdSnapshot::from_bytes(&bytes).unwrap() == now);
        seen.push(bytes);
    }
}

#[test]
fn restoring_makes_what_was_watched_old() {
    let (mut cast, [hand, _]) = played();
    cast.crowd.watch(cast.rig, &[26], PoseStage::After).unwrap();
    let saved = cast.crowd.snapshot();
    cast.crowd.player(cast.all[0]).unwrap().set_target(hand, Target::model(Vec3::Y)).unwrap();
    cast.frame();
    cast.crowd.restore(&saved).unwrap();
    assert!(!cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().current);
    let models = cast.models(0);
    cast.frame();
    assert_eq!(cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().models, [models[26]]);
}

#[test]
fn a_snapshot_whose_modifier_is_gone_is_refused() {
    let (mut cast, [hand, foot]) = played();
    let saved = cast.crowd.snapshot();
    let read = CrowdSnapshot::from_bytes(&saved.to_bytes()).unwrap();
    let [arm, leg] = limbs(Body::character());
    let refused = |cast: &mut Cast, what: &str| {
        let before = cast.crowd.snapshot();
        for from in [&saved, &read] {
            let error = cast.crowd.restore(from).unwrap_err();
            let PlaybackError::Snapshot { part, difference } = &error else { panic!("{error}") };
            assert_eq!(*part, "modifiers", "{what}");
            assert!(difference.contains("modifier 0 of rig 0"), "{what}: {difference}");
        }
        assert!(cast.crowd.snapshot() == before, "{what}");
    };
    cast.crowd.remove_modifier(hand).unwrap();
    refused(&mut cast, "removed");
    // The next one at its index has another generation.
    cast.crowd.add_modifier(cast.rig, arm.clone()).unwrap();
    refused(&mut cast, "added again");
    // Other settings, or another order, are other modifiers.
    let others = [
        TwoBoneIk { soft: 0.2, ..arm.clone() },
        TwoBoneIk { twist: 0.1, ..arm.clone() },
        TwoBoneIk { stretch: 1.1, ..arm.clone() },
        TwoBoneIk { upper: Some(4), ..arm.clone() },
        TwoBoneIk { pole: phalanx::playback::Pole::Joint(4), ..arm.clone() },
        TwoBoneIk { end_rotation: phalanx::playback::EndRotation::Follow, ..arm.clone() },
        TwoBoneIk { normal_axis: Some(Vec3::X), ..arm.clone() },
        leg.clone(),
    ];
    for (n, ik) in others.into_iter().enumerate() {
        let mut other = Cast::new(&Body::character().rig, 0);
        other.crowd.add_modifier(other.rig, ik).unwrap();
        other.crowd.add_modifier(other.rig, leg.clone()).unwrap();
        refused(&mut other, &format!("other settings {n}"));
    }
    let mut none = Cast::new(&Body::character().rig, 0);
    refused(&mut none, "none");
    let _ = foot;
}

#[test]
fn mixers_restore_modifiers_too() {
    let body = Body::character();
    let make = || {
        let mut mixer = Mixer::new(body.rig.clone()).unwrap();
        let by = limbs(body).map(|ik| mixer.add_modifier(ik).unwrap());
        (mixer, by)
    };
    let run = |mixer: &mut Mixer| {
        let frame = |_| {
            mixer.advance(DT).unwrap();
            mixer.evaluate().to_vec()
        };
        (0..20).map(frame).collect::<Vec<_>>()
    };
    let (mut mixer, [hand, foot]) = make();
    let clip = mixer.clip_by_index(2).unwrap();
    let mut player = mixer.player();
    player.play(0, clip, &PlayOptions::default()).unwrap();
    player.set_target(hand, Target::model(NEAR)).unwrap();
    player.fade_modifier(hand, 1.0, 0.4).unwrap();
    player.set_model_rotation("Head", Quat::from_rotation_y(0.5), 0.5).unwrap();
    let saved = mixer.snapshot();
    let read = MixerSnapshot::from_bytes(&saved.to_bytes()).unwrap();
    assert!(read == saved);
    let wanted = run(&mut mixer);
    assert!(wanted.windows(2).all(|pair| pair[0] != pair[1]));
    mixer.restore(&saved).unwrap();
    assert!(run(&mut mixer) == wanted);
    let (mut other, _) = make();
    other.restore(&read).unwrap();
    assert!(run(&mut other) == wanted);
    mixer.remove_modifier(foot).unwrap();
    let refused = mixer.restore(&saved);
    assert!(
        matches!(refused, Err(PlaybackError::Snapshot { part: "modifiers", .. })),
        "{refused:?}"
    );
}

/// A snapshot with any byte changed is refused, or gives finite palettes.
#[test]
fn hostile_bytes_are_refused_or_finite() {
    let (mut cast, _) = played();
    changed_bytes_are_refused_or_finite(&mut cast, &[0x40]);
}

/// Changes every byte of a crowd's snapshot in turn: to 0 and 255, and by these bits.
pub fn changed_bytes_are_refused_or_finite(cast: &mut Cast, bits: &[u8]) {
    let good = cast.crowd.snapshot().to_bytes();
    let (mut read, mut restored) = (0, 0);
    for at in 0..good.len() {
        for value in [0, 0xff].into_iter().chain(bits.iter().map(|bits| good[at] ^ bits)) {
            let mut bytes = good.clone();
            bytes[at] = value;
            seal_snapshot(&mut bytes);
            let Ok(snapshot) = CrowdSnapshot::from_bytes(&bytes) else {
                continue;
            };
            assert!(snapshot.to_bytes() == bytes, "byte {at}");
            read += 1;
            if cast.crowd.restore(&snapshot).is_ok() {
                restored += 1;
                if restored % 8 == 0 {
                    cast.crowd.evaluate(&mut cast.bones);
                    finite(cast.bones.rows(), &format!("byte {at}"));
                }
            }
        }
    }
    assert!(read > restored && restored > 50, "{read} {restored}");
}
