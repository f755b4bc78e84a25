//! Looks at their limits: behind, in the joint, below scales of 0; and what is refused.

use super::{Body, Cast, by, line, wide};
use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Aim, Mixer, ModifierId, Target, TwoBoneIk};
use phalanx::skeleton::{MAX_WORLD, Trs};
use phalanx_testkit::rigs::finite;
use std::cell::RefCell;
use std::f32::consts::PI;

/// A line of four joints, along y.
fn body() -> Body {
    let up = by([0.0, 0.4, 0.0]);
    Body::of(line(&[up; 4]))
}

const AIM: [(usize, f32); 3] = [(1, 1.0), (2, 1.0), (3, 2.0)];
const EYE: Vec3 = Vec3::new(0.0, 1.6, 0.0);

fn cast(body: &Body, aim: Aim) -> (Cast, ModifierId) {
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, aim).unwrap();
    (cast, by)
}

fn shown(body: &Body, aim: &Aim, target: Target, weight: f32) -> Vec<Affine3x4> {
    let (mut cast, by) = cast(body, aim.clone());
    cast.aim(0, by, target, weight);
    finite(&cast.frame()[0], "palette");
    cast.models(0)
}

/// The angles of looks at targets farther and farther aside.
#[test]
fn limits_are_kept_and_soft_ones_have_no_corner() {
    let body = body();
    for (limit, soft) in [(0.0, 0.0), (0.7, 0.0), (0.7, 0.4), (1.5, 1.0), (PI, 0.0), (PI, 0.5)] {
        let aim = Aim { limit, soft, ..Aim::new(3) };
        let mut last = [0.0f64; 2];
        for n in 0..=200 {
            let angle = n as f32 / 200.0 * PI * 0.999;
            let target = EYE + 2.0 * Vec3::new(angle.sin(), 0.0, angle.cos());
            let have = shown(&body, &aim, Target::model(target), 1.0);
            let turned = body.looks(&have, &aim).angle_between(glam::DVec3::Z);
            let what = format!("limit {limit}, soft {soft}, {angle}: {turned}");
            assert!(turned <= f64::from(limit) + 2e-7, "{what}");
            if angle < limit * (1.0 - soft) {
                assert!((turned - f64::from(angle)).abs() < 2e-6, "{what}");
            } else {
                assert!(turned > last[0] - 1e-6 && turned < f64::from(angle) + 1e-6, "{what}");
            }
            let step = turned - last[0];
            if n > 0 && soft > 0.0 {
                // Slopes change by little.
                assert!(n == 1 || (step - last[1]).abs() < 2.5e-3, "{what} after {last:?}");
            }
            last = [turned, step];
        }
    }
}

/// Exactly behind, it turns about the up axis; a hair beside, to that side.
#[test]
fn targets_behind() {
    let body = body();
    for joints in [vec![(3, 1.0)], AIM.to_vec()] {
        for (limit, weight) in [(PI, 1.0), (1.0, 1.0), (PI, 0.25)] {
            let aim = Aim { limit, ..Aim::chain(joints.clone()) };
            for aside in [0.0, 1e-7, -1e-7, 1e-4, -1e-4, 1e-2, -1e-2] {
                let target = EYE + Vec3::new(aside, 0.0, -3.0);
                let have = shown(&body, &aim, Target::model(target), weight);
                let looks = body.looks(&have, &aim);
                let what = format!("{joints:?} {limit} {weight} {aside}: {looks}");
                assert!(looks.y.abs() < 1e-5, "{what}");
                let wanted = f64::from(limit.min(PI - (aside.abs() / 3.0)) * weight);
                let turned = looks.angle_between(glam::DVec3::Z);
                assert!((turned - wanted).abs() < 2e-3, "{what}: {turned} {wanted}");
                if weight * limit < 3.0 && aside.abs() > 1e-5 {
                    assert!(looks.x * f64::from(aside) > 0.0, "{what}");
                }
            }
        }
    }
}

/// In the joint, below scales of 0, or without an axis: as animated, and finite.
#[test]
fn looks_that_cannot_be() {
    let body = body();
    let aim = Aim { limit: 1.0, ..Aim::chain(AIM) };
    let plain = shown(&body, &aim, Target::model(EYE), 0.0);
    for target in [Target::model(EYE), Target::joint(3, Vec3::ZERO)] {
        let have = shown(&body, &aim, target, 1.0);
        let off = have
            .iter()
            .zip(&plain)
            .map(|(a, b)| phalanx_testkit::reference::apart(&wide(a), &wide(b)));
        assert!(off.fold(0.0, f64::max) < 1e-6, "{target:?}");
    }
    let flat = |scale: [f32; 3]| Trs { scale: scale.into(), ..by([0.0, 0.4, 0.0]) };
    let point = Vec3::new(0.7, 1.5, 0.9);
    for (joint, local, looks) in [
        // Only what hangs on the joint with the scale stays; those above make up for it.
        (3, flat([0.0; 3]), false),
        (3, flat([0.0, 0.0, 1.0]), true),
        (2, flat([0.0; 3]), false),
        (2, flat([0.0, 1.0, 1.0]), false),
        (0, flat([0.0; 3]), false),
        (1, flat([1.0, 0.0, 1.0]), false),
    ] {
        let (mut cast, id) = cast(&body, aim.clone());
        cast.crowd.player(cast.all[0]).unwrap().set_override(joint, local).unwrap();
        cast.aim(0, id, Target::model(point), 1.0);
        let have = cast.models(0);
        finite(&have, "models");
        finite(&cast.frame()[0], "palette");
        if looks {
            assert!(body.off(&have, &aim, point) < 1e-5, "{joint}");
        }
    }
    // An up direction along the look says nothing.
    let aim = Aim { up: Some(Vec3::X), ..Aim::new(3) };
    let have = shown(&body, &aim, Target::model(EYE + 2.0 * Vec3::X), 1.0);
    let want = body.aimed(
        &body.rest,
        &Aim { up: None, ..aim },
        (&Target::model(EYE + 2.0 * Vec3::X), &Affine3x4::IDENTITY),
        None,
        1.0,
    );
    body.close(&have, &want, (1.0, 1e-5), "up along the look");
}

/// The up axis is turned upright while the joint looks.
#[test]
fn up_axes_stand_upright() {
    let body = body();
    for up in [Vec3::Y, Vec3::new(0.3, 1.0, -0.1)] {
        let aim = Aim { up: Some(up), ..Aim::chain(AIM) };
        for point in
            [Vec3::new(1.0, 3.0, 1.0), Vec3::new(-2.0, 0.5, 0.3), Vec3::new(0.3, 2.0, -1.0)]
        {
            let have = shown(&body, &aim, Target::model(point), 1.0);
            assert!(body.off(&have, &aim, point) < 1e-5);
            let (looks, have) = (body.looks(&have, &aim), have[3].transform_vector3(Vec3::Y));
            let wanted = up.as_dvec3().reject_from(looks);
            assert!(have.as_dvec3().angle_between(wanted) < 1e-5, "{up} {point}: {have}");
        }
    }
}

#[test]
fn hostile_numbers_give_finite_palettes() {
    let numbers =
        [0.0, -0.0, 1e-38, 1e-45, -1e-20, 1e-6, 1.0, -3.5, 1e6, 1e12, MAX_WORLD, -MAX_WORLD];
    let dice = RefCell::new(phalanx_testkit::lively::Dice(5));
    let body = body();
    let mut evaluated = 0;
    for round in 0..3000 {
        let any = |from: &[f32]| dice.borrow_mut().among(from);
        let three = |from: &[f32]| Vec3::new(any(from), any(from), any(from));
        let some = |v: Vec3| (v.length() > 1e-30).then_some(v);
        let (forward, up, up_axis) = (three(&numbers), three(&numbers), three(&numbers));
        let (position, normal, scale) = (three(&numbers), three(&numbers), three(&numbers));
        let shares = [any(&[0.0, 1e-30, 1.0]), any(&[0.0, 1000.0]), any(&[1e-40, 2.0])];
        let aim = Aim {
            forward: some(forward),
            up: some(up),
            up_axis: some(up_axis).filter(|_| round % 2 == 0),
            limit: any(&[0.0, 1e-30, 1.0, PI]),
            soft: any(&[0.0, 1e-7, 0.5, 1.0]),
            speed: any(&[0.0, 1e-30, 1.0, 1e30, f32::INFINITY]),
            ..Aim::chain([(round % 2, shares[0]), (2, shares[1]), (3, shares[2])])
        };
        let mut cast = Cast::new(&body.rig, 1);
        // What has no direction in f32 is refused.
        let Ok(by) = cast.crowd.add_modifier(cast.rig, aim) else {
            continue;
        };
        let world = Affine3x4::from_scale_rotation_translation(scale, Quat::IDENTITY, position);
        let _refused = cast.crowd.set_world(cast.all[0], world);
        let target = [Target::world(position), Target::model(position), Target::joint(3, position)];
        let target = Target { normal: (round % 5 < 2).then_some(normal), ..target[round / 16 % 3] };
        let local = Trs {
            scale: three(&[0.0, 1e-20, 1e-6, 1.0, -1.0, 90.0]),
            ..super::by([0.0, 1.0, 0.0])
        };
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_override(round % 4, local).unwrap();
        if player.set_target(by, target).is_ok() {
            player.fade_modifier(by, any(&[1.0, 1e-30, 0.5]), 0.0).unwrap();
            let what = format!("{target:?}");
            for dt in [0.0, 1e-9, 0.3, 1e6] {
                cast.crowd.advance(dt).unwrap();
                finite(&cast.frame()[0], &what);
            }
            let saved = cast.crowd.snapshot();
            let read = phalanx::crowd::CrowdSnapshot::from_bytes(&saved.to_bytes()).unwrap();
            assert!(read == saved, "{what}");
            evaluated += 1;
        }
    }
    assert!(evaluated > 1000, "{evaluated}");
}

#[test]
fn aims_that_do_not_fit_name_the_joints() {
    let body = Body::character();
    let [neck, head, hand] = ["Neck", "Head", "LeftHand"].map(|name| body.joint(name));
    let good = Aim::chain([(neck, 1.0), (head, 1.0)]);
    let cases = [
        (Aim::chain([]), "an aim has no joints"),
        (Aim::chain(vec![(head, 1.0); 17]), "an aim has 17 joints; the limit is 16"),
        (
            Aim::chain([(head, 1.0), (neck, 1.0)]),
            "joint 5 (\"Neck\") is not below joint 6 (\"Head\")",
        ),
        (
            Aim::chain([(head, 1.0), (head, 1.0)]),
            "joint 6 (\"Head\") is not below joint 6 (\"Head\")",
        ),
        (Aim::chain([(neck, 1.0), (hand, 1.0)]), "(\"LeftHand\") is not below joint 5 (\"Neck\")"),
        (Aim::chain([(neck, 1.0), (head, 0.0)]), "joint 6 (\"Head\") looks and has a share of 0"),
        (Aim::chain([(neck, -1.0), (head, 1.0)]), "share is -1"),
        (Aim::chain([(neck, f32::NAN), (head, 1.0)]), "share is NaN"),
        (Aim::chain([(neck, 1.0), (47, 1.0)]), "47"),
        (Aim { limit: 3.2, ..good.clone() }, "limit is 3.2"),
        (Aim { limit: -0.1, ..good.clone() }, "limit is -0.1"),
        (Aim { soft: 1.1, ..good.clone() }, "soft is 1.1"),
        (Aim { soft: f32::NAN, ..good.clone() }, "soft is NaN"),
        (Aim { speed: -1.0, ..good.clone() }, "speed is -1"),
        (Aim { speed: f32::NAN, ..good.clone() }, "speed is NaN"),
        (
            Aim { forward: Some(Vec3::ZERO), ..good.clone() },
            "forward is [0, 0, 0], which has no direction",
        ),
        (
            Aim { up: Some(Vec3::splat(f32::NAN)), ..good.clone() },
            "up is [NaN, NaN, NaN], which has no direction",
        ),
        (
            Aim { forward: Some(Vec3::Y), up_axis: Some(-2.0 * Vec3::Y), ..good.clone() },
            "the up axis of joint 6 (\"Head\") is along its forward axis",
        ),
    ];
    for (aim, what) in cases {
        let mut cast = Cast::new(&body.rig, 1);
        let before = cast.crowd.snapshot();
        let error = cast.crowd.add_modifier(cast.rig, aim.clone()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
        let mut mixer = Mixer::new(body.rig.clone()).unwrap();
        assert_eq!(mixer.add_modifier(aim).unwrap_err().to_string(), error);
        assert!(cast.crowd.snapshot() == before);
    }
    // A forward axis along model y has an up axis all the same.
    let mut cast = Cast::new(&body.rig, 1);
    cast.crowd.add_modifier(cast.rig, Aim { forward: Some(Vec3::Y), ..good }).unwrap();
    // A joint without a size at rest has no axis along z.
    let flat = Trs { scale: Vec3::ZERO, ..by([0.0, 0.4, 0.0]) };
    let body = Body::of(line(&[by([0.0; 3]), flat]));
    let mut cast = Cast::new(&body.rig, 1);
    let error = cast.crowd.add_modifier(cast.rig, Aim::new(1)).unwrap_err().to_string();
    assert!(error.contains("joint 1 (\"joint1\") has a scale of 0 in the rest pose"), "{error}");
}

/// A snapshot knows an aim by what defines it.
#[test]
fn other_aims_are_other_modifiers() {
    let body = Body::character();
    let head = body.joint("Head");
    let aim = Aim::chain([(5, 1.0), (head, 1.0)]);
    let with = |modifier: phalanx::playback::Modifier| {
        let mut cast = Cast::new(&body.rig, 1);
        cast.crowd.add_modifier(cast.rig, modifier).unwrap();
        cast.crowd
    };
    let saved = with(aim.clone().into()).snapshot();
    with(aim.clone().into()).restore(&saved).unwrap();
    let others = [
        Aim::new(head),
        Aim::chain([(5, 1.5), (head, 1.0)]),
        Aim::chain([(4, 1.0), (head, 1.0)]),
        Aim { forward: Some(Vec3::Z), ..aim.clone() },
        Aim { up: Some(Vec3::Y), ..aim.clone() },
        Aim { up_axis: Some(Vec3::Y), ..aim.clone() },
        Aim { limit: 1.0, ..aim.clone() },
        Aim { soft: 0.1, ..aim.clone() },
        Aim { speed: 3.0, ..aim },
    ];
    for other in others {
        let error = with(other.clone().into()).restore(&saved).unwrap_err().to_string();
        assert!(error.contains("modifier 0 of rig 0"), "{other:?}: {error}");
    }
    assert!(with(TwoBoneIk::new(26).into()).restore(&saved).is_err());
}
