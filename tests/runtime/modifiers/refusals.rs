//! What is refused: modifiers that do not fit their skeleton, unknown ones, and arrays of which one element is wrong.

use super::{Body, Cast, by, line};
use glam::Vec3;
use phalanx::crowd::{Crowd, CrowdError};
use phalanx::playback::{
    MAX_MODIFIERS, Mixer, ModifierId, PlaybackError, Pole, Target, TwoBoneIk, Unknown,
};
use phalanx_testkit::rigs::built;

const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

/// The message of a modifier that is refused by a crowd, and with the same words by a mixer.
#[track_caller]
fn refused(body: &Body, ik: TwoBoneIk) -> String {
    let mut cast = Cast::new(&body.rig, 1);
    let of_crowd = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap_err().to_string();
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    assert_eq!(mixer.add_modifier(ik).unwrap_err().to_string(), of_crowd);
    // It has no index.
    let fair = TwoBoneIk { pole: Pole::Direction(Vec3::Z), ..TwoBoneIk::new(2) };
    let fair = cast.crowd.add_modifier(cast.rig, fair).unwrap();
    assert_eq!(fair.to_string(), "modifier 0 of rig 0");
    of_crowd
}

#[test]
fn modifiers_that_do_not_fit_name_the_joints() {
    let body = Body::character();
    let joint = |name: &str| body.joint(name);
    let hand = TwoBoneIk::new(joint("RightHand"));
    let cases = [
        (TwoBoneIk::new(0), "joint 0 (\"Root\") has no parent that could be its middle joint"),
        (TwoBoneIk::new(1), "joint 0 (\"Root\") has no parent that could be its upper joint"),
        (
            TwoBoneIk { middle: Some(joint("LeftArm")), ..hand.clone() },
            "joint 26 (\"RightHand\") is not below joint 8 (\"LeftArm\")",
        ),
        (
            TwoBoneIk { upper: Some(joint("RightHand")), ..hand.clone() },
            "joint 25 (\"RightForeArm\") is not below joint 26 (\"RightHand\")",
        ),
        (
            TwoBoneIk { middle: Some(joint("RightHand")), ..hand.clone() },
            "joint 26 (\"RightHand\") is not below joint 26 (\"RightHand\")",
        ),
        (
            TwoBoneIk { axis: Some(Vec3::ZERO), ..hand.clone() },
            "axis is [0, 0, 0], which has no direction",
        ),
        (
            TwoBoneIk { pole: Pole::Direction(Vec3::new(0.0, f32::NAN, 0.0)), ..hand.clone() },
            "direction of the pole is [0, NaN, 0], which has no direction",
        ),
        (
            TwoBoneIk { normal_axis: Some(Vec3::splat(f32::INFINITY)), ..hand.clone() },
            "normal_axis is [inf, inf, inf], which has no direction",
        ),
    ];
    for (ik, what) in cases {
        assert_eq!(refused(body, ik), format!("invalid modifier: {what}"));
    }
    for (ik, what) in [
        (TwoBoneIk { soft: 1.0, ..hand.clone() }, "soft"),
        (TwoBoneIk { soft: f32::NAN, ..hand.clone() }, "soft"),
        (TwoBoneIk { stretch: 0.9, ..hand.clone() }, "stretch"),
        (TwoBoneIk { stretch: 11.0, ..hand.clone() }, "stretch"),
        (TwoBoneIk { twist: 7.0, ..hand.clone() }, "twist"),
        (TwoBoneIk { twist: f32::NEG_INFINITY, ..hand.clone() }, "twist"),
        (TwoBoneIk::new(47), "47"),
        (TwoBoneIk { middle: Some(99), ..hand.clone() }, "99"),
        (TwoBoneIk { upper: Some(98), ..hand.clone() }, "98"),
        (TwoBoneIk { pole: Pole::Joint(97), ..hand }, "97"),
    ] {
        let text = refused(body, ik);
        assert!(text.contains(what), "{what}: {text}");
    }
    let straight = Body::of(line(&[by([0.0; 3]), by([0.0, 1.0, 0.0]), by([0.0, 1.0, 0.0])]));
    assert_eq!(
        refused(&straight, TwoBoneIk::new(2)),
        "invalid modifier: the chain from joint 0 (\"joint0\") to joint 2 (\"joint2\") is straight in the rest pose: \
         it needs an axis or a pole"
    );
    let one_place =
        Body::of(line(&[by([0.0; 3]), by([0.0, 1.0, 0.0]), by([0.0, 1.0, 0.0]), by([0.0; 3])]));
    assert_eq!(
        refused(&one_place, TwoBoneIk::new(3)),
        "invalid modifier: joint 2 (\"joint2\") and joint 3 (\"joint3\") are in one place in the rest pose"
    );
}

#[test]
fn a_rig_has_so_many_modifiers() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let ik = TwoBoneIk::new(body.joint("RightHand"));
    let plain = cast.frame();
    let mut all: Vec<ModifierId> = Vec::new();
    for _ in 0..MAX_MODIFIERS {
        all.push(cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap());
    }
    let full = cast.crowd.add_modifier(cast.rig, ik.clone());
    assert!(matches!(full, Err(CrowdError::Limit { limit: MAX_MODIFIERS, .. })), "{full:?}");
    // The last one has an effect, and its index serves again.
    let last = all[MAX_MODIFIERS - 1];
    cast.aim(0, last, Target::model(NEAR), 1.0);
    assert!(cast.frame() != plain);
    cast.crowd.remove_modifier(last).unwrap();
    assert!(cast.frame() == plain);
    let again = cast.crowd.add_modifier(cast.rig, ik).unwrap();
    assert!(again != last && again.to_string() == last.to_string());
    assert!(cast.frame() == plain);
}

#[test]
fn unknown_modifiers_say_why() {
    let body = Body::character();
    let ik = TwoBoneIk::new(body.joint("RightHand"));
    let mut cast = Cast::new(&body.rig, 1);
    let own = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
    let second = cast.crowd.add_rig(body.rig.clone()).unwrap();
    let of_second = cast.crowd.add_modifier(second, ik.clone()).unwrap();
    let mut elsewhere = Crowd::with_tag(6).unwrap();
    let rig = elsewhere.add_rig(body.rig.clone()).unwrap();
    let foreign = elsewhere.add_modifier(rig, ik.clone()).unwrap();
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    let of_mixer = mixer.add_modifier(ik.clone()).unwrap();
    let gone = cast.crowd.add_modifier(cast.rig, ik).unwrap();
    cast.crowd.remove_modifier(gone).unwrap();
    let before = cast.frame();
    let name = format!("(\"{}\")", body.rig.name());
    for (by, what) in [
        (of_second, format!("modifier 0 belongs to rig 1, this instance is of rig 0 {name}")),
        (foreign, "modifier 0 of rig 0 belongs to another crowd".into()),
        (of_mixer, "modifier 0 belongs to a mixer, not to this crowd".into()),
        (gone, format!("modifier 1 of rig 0 {name} was removed")),
    ] {
        let i = cast.all[0];
        let mut player = cast.crowd.player(i).unwrap();
        let errors = [
            player.set_target(by, Target::model(NEAR)).unwrap_err(),
            player.fade_modifier(by, 1.0, 0.0).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), what);
            assert!(
                matches!(error, PlaybackError::UnknownModifier { modifier, .. } if modifier == by)
            );
        }
        let error = cast.crowd.set_targets(by, &[i], &[Target::model(NEAR)], &[1.0]).unwrap_err();
        assert!(error.to_string().contains(&what), "{error}");
    }
    assert!(cast.frame() == before);
    for by in [foreign, of_mixer, gone] {
        let none = cast.crowd.set_targets(by, &[], &[], &[]).unwrap_err();
        for error in [none, cast.crowd.remove_modifier(by).unwrap_err()] {
            assert!(
                matches!(error, CrowdError::UnknownModifier { modifier, .. } if modifier == by)
            );
        }
    }
    assert!(mixer.remove_modifier(own).is_err());
    cast.crowd.remove_modifier(of_second).unwrap();
    cast.crowd.remove_rig(second).unwrap();
    let error = cast.crowd.add_modifier(second, TwoBoneIk::new(26)).unwrap_err();
    assert!(matches!(error, CrowdError::UnknownRig { why: Unknown::Gone, .. }), "{error}");
}

#[test]
fn arrays_of_which_an_element_is_wrong_change_nothing() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 5);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    let other = cast.crowd.add_rig(built(super::line(&[super::by([0.0; 3]); 3]))).unwrap();
    let stranger = cast.crowd.spawn(other).unwrap();
    let dead = cast.crowd.spawn(cast.rig).unwrap();
    cast.crowd.despawn(dead).unwrap();
    let all = cast.all.clone();
    cast.crowd.set_targets(by, &all, &[Target::model(NEAR)], &[0.3, 0.4, 0.5, 0.6, 0.0]).unwrap();
    let before = cast.crowd.snapshot();
    let rows = cast.frame();
    let far = Target::model(Vec3::ONE);
    let targets = [far; 5];
    let with = |n: usize, target: Target| {
        let mut targets = targets;
        targets[n] = target;
        targets
    };
    let of = |n: usize, i| {
        let mut all = all.clone();
        all[n] = i;
        all
    };
    let nan = Target::model(Vec3::splat(f32::NAN));
    type Case<'a> = (usize, Vec<phalanx::crowd::InstanceId>, [Target; 5], [f32; 5]);
    let cases: [Case<'_>; 7] = [
        (3, all.clone(), with(3, nan), [1.0; 5]),
        (4, all.clone(), with(4, Target::joint(47, Vec3::ZERO)), [1.0; 5]),
        (1, all.clone(), targets, [1.0, 1.5, 1.0, 1.0, 1.0]),
        (2, all.clone(), targets, [1.0, 1.0, f32::NAN, 1.0, -1.0]),
        (4, of(4, stranger), targets, [1.0; 5]),
        (3, of(3, dead), targets, [1.0; 5]),
        (0, of(0, stranger), targets, [1.0; 5]),
    ];
    for (wrong, instances, targets, weights) in cases {
        let error = cast.crowd.set_targets(by, &instances, &targets, &weights).unwrap_err();
        assert!(
            matches!(error, CrowdError::Element { element, .. } if element == wrong),
            "{error}"
        );
    }
    for (targets, weights) in [(&targets[..4], &[1.0; 5][..]), (&[], &[1.0]), (&targets, &[1.0; 2])]
    {
        let error = cast.crowd.set_targets(by, &all, targets, weights).unwrap_err();
        assert!(matches!(error, CrowdError::Lengths { .. }), "{error}");
    }
    assert!(cast.crowd.snapshot() == before);
    assert!(cast.frame() == rows);
    cast.crowd.set_targets(by, &[], &[], &[]).unwrap();
    assert!(cast.crowd.snapshot() == before);
}

/// Targets by arrays are those that are set one by one, also where an instance is listed twice.
#[test]
fn arrays_have_the_bits_of_single_calls() {
    let body = Body::character();
    let mut casts = [0; 2].map(|_| Cast::new(&body.rig, 6));
    let mut rows = Vec::new();
    for (n, cast) in casts.iter_mut().enumerate() {
        let by =
            cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
        let order = [5, 2, 0, 2, 1];
        let targets = [0.0, 0.1, 0.2, 0.3, 0.4].map(|x| Target::model(NEAR + Vec3::X * x));
        let weights = [0.2, 0.9, 0.0, 0.7, 1.0];
        let instances = order.map(|k| cast.all[k]);
        if n == 0 {
            cast.crowd.set_targets(by, &instances, &targets, &weights).unwrap();
        } else {
            for (k, &i) in instances.iter().enumerate() {
                let mut player = cast.crowd.player(i).unwrap();
                player.set_target(by, targets[k]).unwrap();
                player.fade_modifier(by, weights[k], 0.0).unwrap();
            }
        }
        rows.push((cast.frame(), cast.crowd.snapshot().to_bytes()));
    }
    assert!(rows[0] == rows[1]);
}
