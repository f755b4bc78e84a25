//! Chains at their limits: too far, too near, straight, without length; and hostile numbers.

use super::{Body, Cast, by, line, place, posed};
use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, ModifierId, Pole, Target, TwoBoneIk};
use phalanx::skeleton::{MAX_WORLD, Trs};
use phalanx_testkit::rigs::finite;
use std::cell::RefCell;

/// A bent line of four joints below a root: bones of 0.5 and 0.3 in the x-y plane, and a tip.
fn bent() -> Body {
    Body::of(line(&[
        by([0.0, 1.0, 0.0]),
        by([0.1, 0.0, 0.0]),
        by([0.5, 0.0, 0.0]),
        by([0.0, 0.3, 0.0]),
        by([0.0, 0.1, 0.0]),
    ]))
}

/// A straight line along x.
fn straight() -> Body {
    Body::of(line(&[by([0.0; 3]), by([0.1, 0.0, 0.0]), by([0.5, 0.0, 0.0]), by([0.5, 0.0, 0.0])]))
}

const UPPER: usize = 1;
const MIDDLE: usize = 2;
const END: usize = 3;

fn cast(body: &Body, ik: TwoBoneIk) -> (Cast, ModifierId) {
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, ik).unwrap();
    (cast, by)
}

/// Lengths of both bones.
fn lengths(models: &[Affine3x4]) -> [f32; 2] {
    let at = |joint| place(models, joint);
    [at(UPPER).distance(at(MIDDLE)), at(MIDDLE).distance(at(END))]
}

#[test]
fn ends_of_reach() {
    let body = bent();
    let rest = body.rest.clone();
    let root = Vec3::new(0.1, 1.0, 0.0);
    let to_end = Vec3::new(0.5, 0.3, 0.0).normalize();
    let off = Vec3::new(0.2, -0.5, 0.7).normalize();
    let ik = TwoBoneIk::new(END);
    // The target, and where the end is then.
    let cases = [
        (root + off * 0.9, root + off * 0.8, "out of reach"),
        (root + off * 1e6, root + off * 0.8, "far out of reach"),
        (root + off * 0.8, root + off * 0.8, "at the end of reach"),
        (root + off * 0.5, root + off * 0.5, "within reach"),
        (root + off * 0.2, root + off * 0.2, "at the difference of the lengths"),
        (root + off * 0.1, root + off * 0.2, "nearer than the difference"),
        (root, root + to_end * 0.2, "in the root"),
    ];
    for pole in [Pole::Animated, Pole::Direction(Vec3::Y), Pole::Joint(0)] {
        for (at, reached, what) in cases {
            let (mut cast, by) = cast(&body, TwoBoneIk { pole, ..ik.clone() });
            cast.aim(0, by, Target::model(at), 1.0);
            let models = cast.models(0);
            let what = format!("{what}, {pole:?}");
            let off = place(&models, END).distance(reached);
            assert!(off < 1e-4, "{what}: {off}");
            let [a, b] = lengths(&models);
            assert!((a - 0.5).abs() < 1e-5 && (b - 0.3).abs() < 1e-5, "{what}: {a} {b}");
            finite(&cast.frame()[0], &what);
            if at != root {
                let ik = TwoBoneIk { pole, ..ik.clone() };
                let at = Target::model(at);
                let want = body.bent(&rest, &ik, (&at, &Affine3x4::IDENTITY), 1.0);
                // At an end of reach an angle goes with the root of an error.
                body.close(&models, &want, (0.8, 2e-3), &what);
            }
        }
    }
    // Of bones of equal length, in the root.
    let body = Body::of(line(&[
        by([0.0; 3]),
        by([0.1, 0.0, 0.0]),
        by([0.4, 0.0, 0.0]),
        by([0.0, 0.4, 0.0]),
    ]));
    let (mut cast, by) = cast(&body, TwoBoneIk::new(END));
    cast.aim(0, by, Target::model(Vec3::new(0.1, 0.0, 0.0)), 1.0);
    let models = cast.models(0);
    assert!(place(&models, END).distance(place(&models, UPPER)) < 1e-4);
    assert!((lengths(&models)[0] - 0.4).abs() < 1e-5);
    finite(&cast.frame()[0], "in the root");
}

#[test]
fn straight_chains_bend_about_their_axis() {
    let body = straight();
    for axis in [Vec3::Z, Vec3::Y, Vec3::new(0.0, -1.0, 1.0)] {
        let ik = TwoBoneIk { axis: Some(axis), ..TwoBoneIk::new(END) };
        let (mut cast, by) = cast(&body, ik.clone());
        let target = Target::model(Vec3::new(0.7, 0.05, 0.1));
        cast.aim(0, by, target, 1.0);
        let models = cast.models(0);
        let want = body.bent(&body.rest, &ik, (&target, &Affine3x4::IDENTITY), 1.0);
        body.close(&models, &want, (1.0, 1e-4), &format!("{axis}"));
        // The middle joint moves across the axis, by the right hand.
        let normal = (place(&models, MIDDLE) - place(&models, UPPER))
            .cross(place(&models, END) - place(&models, MIDDLE));
        assert!(normal.normalize().dot(axis.normalize()) > 0.9, "{axis}: {normal}");
    }
    // With a pole no axis is needed.
    for direction in [Vec3::Y, Vec3::new(0.1, 0.0, -1.0)] {
        let ik = TwoBoneIk { pole: Pole::Direction(direction), ..TwoBoneIk::new(END) };
        let (mut cast, by) = cast(&body, ik);
        cast.aim(0, by, Target::model(Vec3::new(0.7, 0.0, 0.0)), 1.0);
        let models = cast.models(0);
        assert!(place(&models, END).distance(Vec3::new(0.7, 0.0, 0.0)) < 1e-5);
        let aside = (place(&models, MIDDLE) - Vec3::new(0.4, 0.0, 0.0)) * Vec3::new(0.0, 1.0, 1.0);
        let wanted = direction * Vec3::new(0.0, 1.0, 1.0);
        assert!(aside.normalize().dot(wanted.normalize()) > 0.9999, "{direction}: {aside}");
    }
    // A chain that is bent at rest and animated straight bends as at rest.
    let body = bent();
    let ik = TwoBoneIk::new(END);
    let (mut cast, by) = cast(&body, ik.clone());
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    player.set_override(END, super::by([0.3, 0.0, 0.0])).unwrap();
    let mut worlds = body.rest.clone();
    for (joint, x) in [(END, 0.9), (END + 1, 0.9)] {
        worlds[joint][12] = x;
        worlds[joint][13] = if joint == END { 1.0 } else { 1.1 };
    }
    let target = Target::model(Vec3::new(0.6, 1.1, 0.2));
    cast.aim(0, by, target, 1.0);
    let want = body.bent(&worlds, &ik, (&target, &Affine3x4::IDENTITY), 1.0);
    body.close(&cast.models(0), &want, (0.8, 1e-4), "animated straight");
}

#[test]
fn a_soft_chain_slows_down_and_a_stretched_one_grows() {
    let body = bent();
    let root = Vec3::new(0.1, 1.0, 0.0);
    let off = Vec3::new(0.3, 1.0, -0.4).normalize();
    let reach = |ik: &TwoBoneIk, far: f32| {
        let (mut cast, by) = cast(&body, ik.clone());
        cast.aim(0, by, Target::model(root + off * far), 1.0);
        let models = cast.models(0);
        let [a, b] = lengths(&models);
        (place(&models, END).distance(root), a / 0.5, b / 0.3)
    };
    let soft = TwoBoneIk { soft: 0.25, ..TwoBoneIk::new(END) };
    let mut last = 0.0;
    for k in 0..40 {
        let far = 0.4 + 0.02 * k as f32;
        let (reached, a, b) = reach(&soft, far);
        assert!((a - 1.0).abs() < 1e-5 && (b - 1.0).abs() < 1e-5, "{far}");
        // Up to three quarters of the whole it is exact; beyond, it goes on ever slower and is never straight.
        let exact = 0.8f32 * 0.75;
        assert!(reached > last && reached < 0.8, "{far}: {reached} after {last}");
        assert!(if far <= exact { (reached - far).abs() < 1e-5 } else { reached < far }, "{far}");
        last = reached;
    }
    let stretch = TwoBoneIk { stretch: 1.5, ..TwoBoneIk::new(END) };
    for (ik, far, reached, factor) in [
        (&stretch, 0.6, 0.6, 1.0),
        (&stretch, 0.8, 0.8, 1.0),
        (&stretch, 1.0, 1.0, 1.25),
        (&stretch, 1.2, 1.2, 1.5),
        (&stretch, 5.0, 1.2, 1.5),
    ] {
        let (have, a, b) = reach(ik, far);
        assert!((have - reached).abs() < 1e-5, "{far}: {have}");
        assert!((a - factor).abs() < 1e-5 && (b - factor).abs() < 1e-5, "{far}: {a} {b}");
    }
    // Both: what softness leaves out is stretched.
    let both = TwoBoneIk { soft: 0.25, ..stretch };
    for far in [0.5, 0.7, 0.79, 0.9] {
        assert!((reach(&both, far).0 - far).abs() < 1e-5, "{far}");
    }
}

#[test]
fn with_part_of_the_weight_the_end_goes_part_of_the_way() {
    let body = Body::character();
    let ik = TwoBoneIk::new(body.joint("LeftFoot"));
    let pose = posed(body, 1, 0.3);
    let from = body.at(&pose, ik.end).as_vec3();
    let to = from + Vec3::new(0.1, 0.15, 0.12);
    for weight in [0.1, 0.5, 0.9, 1.0] {
        let (mut cast, by) = cast(body, ik.clone());
        cast.hold(0, 1, 0.3);
        cast.aim(0, by, Target::model(to), weight);
        let at = place(&cast.models(0), ik.end);
        assert!(at.distance(from.lerp(to, weight)) < 1e-4, "{weight}");
    }
}

/// A bone without a length, and a scale of 0 above the chain: it stays as it is.
#[test]
fn chains_that_cannot_bend_stay() {
    let body = bent();
    let flat = |scale: [f32; 3]| Trs { scale: scale.into(), ..by([0.0, 1.0, 0.0]) };
    let overrides = [
        (MIDDLE, by([0.0; 3])),
        (END, by([0.0; 3])),
        (END, by([0.0, 1e-8, 0.0])),
        (0, flat([0.0; 3])),
        (0, flat([1.0, 0.0, 1.0])),
        (UPPER, Trs { translation: Vec3::X, ..flat([0.0, 1.0, 1.0]) }),
        (END, Trs { scale: Vec3::ZERO, ..by([0.0, 0.3, 0.0]) }),
        (UPPER, Trs { translation: Vec3::X, ..flat([1.0, 1.0, 0.0]) }),
        (MIDDLE, Trs { translation: Vec3::X, ..flat([0.0, 1.0, 1.0]) }),
    ];
    for (n, (joint, local)) in overrides.into_iter().enumerate() {
        let mut wanted = None;
        for weight in [0.0, 1.0] {
            let (mut cast, by) = cast(&body, TwoBoneIk { stretch: 2.0, ..TwoBoneIk::new(END) });
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_override(joint, local).unwrap();
            let target = Target {
                rotation: Some(Quat::from_rotation_x(1.0)),
                ..Target::model(Vec3::new(0.3, 1.2, 0.9))
            };
            cast.aim(0, by, target, weight);
            let models = cast.models(0);
            finite(&models, "models");
            finite(&cast.frame()[0], "palette");
            match &wanted {
                None => wanted = Some(models),
                // The end alone may be squashed; the chain reaches its target all the same.
                Some(_) if n == 6 => assert!(place(&models, END).distance(target.position) < 1e-4),
                Some(plain) => {
                    let off = models.iter().zip(plain).flat_map(|(a, b)| {
                        (0..3).flat_map(move |r| {
                            (0..4).map(move |c| (a.rows[r][c] - b.rows[r][c]).abs())
                        })
                    });
                    let off = off.fold(0.0, f32::max);
                    assert!(off < 1e-6, "override {n}: {off}");
                }
            }
        }
    }
}

/// Numbers within their limits, however large or small, give finite palettes.
#[test]
fn hostile_numbers_give_finite_palettes() {
    let numbers =
        [0.0, -0.0, 1e-38, 1e-45, -1e-20, 1e-6, 1.0, -3.5, 1e6, 1e12, MAX_WORLD, -MAX_WORLD];
    let dice = RefCell::new(phalanx_testkit::lively::Dice(11));
    let bodies = [bent(), straight()];
    for round in 0..3000 {
        let body = &bodies[round % 2];
        let any = |from: &[f32]| dice.borrow_mut().among(from);
        let three = |from: &[f32]| Vec3::new(any(from), any(from), any(from));
        let fair = |v: Vec3| if v.length() > 1e-30 { v } else { Vec3::Z };
        let (axis, pole, normal_axis) = (three(&numbers), three(&numbers), three(&numbers));
        let (position, normal, scale) = (three(&numbers), three(&numbers), three(&numbers));
        let (turn, w) = (three(&numbers), any(&numbers));
        let ik = TwoBoneIk {
            axis: Some(fair(axis)),
            pole: [
                Pole::Animated,
                Pole::Direction(fair(pole)),
                Pole::Joint(END),
                Pole::Joint(UPPER),
            ][round / 2 % 4],
            soft: any(&[0.0, 1e-7, 0.5, 0.999]),
            stretch: any(&[1.0, 1.0000001, 2.0, 10.0]),
            twist: any(&[0.0, 6.2, -1.0]),
            end_rotation: [EndRotation::Keep, EndRotation::Follow][round / 8 % 2],
            normal_axis: Some(fair(normal_axis)),
            ..TwoBoneIk::new(END)
        };
        let mut cast = Cast::new(&body.rig, 1);
        // What has no direction in f32 is refused.
        let Ok(by) = cast.crowd.add_modifier(cast.rig, ik) else {
            continue;
        };
        let world = Affine3x4::from_scale_rotation_translation(scale, Quat::IDENTITY, position);
        let _refused = cast.crowd.set_world(cast.all[0], world);
        let target = Target {
            space: [
                Target::world(position),
                Target::model(position),
                Target::joint(4 - round % 2, position),
            ][round / 16 % 3]
                .space,
            position,
            rotation: (round % 3 == 0).then(|| Quat::from_xyzw(turn.x, turn.y, turn.z, w)),
            normal: (round % 5 < 2).then_some(normal),
        };
        let weight = any(&[1.0, 1e-30, 0.5]);
        let local = Trs {
            scale: three(&[0.0, 1e-20, 1e-6, 1.0, -1.0, 90.0]),
            ..super::by([0.0, 1.0, 0.0])
        };
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_override(round % 4, local).unwrap();
        if player.set_target(by, target).is_ok() {
            player.fade_modifier(by, weight, 0.0).unwrap();
            let what = format!("{target:?} {weight}");
            finite(&cast.frame()[0], &what);
        }
    }
}

#[test]
fn what_is_no_number_is_refused_and_changes_nothing() {
    let body = bent();
    let (mut cast, by) = cast(&body, TwoBoneIk::new(END));
    cast.aim(0, by, Target::model(Vec3::new(0.4, 1.2, 0.1)), 1.0);
    let before = cast.frame();
    let good = Target::model(Vec3::ONE);
    let nan = Vec3::new(0.0, f32::NAN, 0.0);
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    for bad in [
        Target::model(nan),
        Target::world(Vec3::splat(f32::INFINITY)),
        Target::model(Vec3::splat(2.0 * MAX_WORLD)),
        Target { rotation: Some(Quat::from_xyzw(0.0, 0.0, f32::NAN, 1.0)), ..good },
        Target { rotation: Some(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), ..good },
        Target { normal: Some(nan), ..good },
        Target { normal: Some(Vec3::ZERO), ..good },
        Target::joint(5, Vec3::ZERO),
    ] {
        assert!(player.set_target(by, bad).is_err(), "{bad:?}");
    }
    for weight in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
        assert!(player.fade_modifier(by, weight, 0.0).is_err(), "{weight}");
    }
    for seconds in [-0.1, f32::NAN, f32::INFINITY] {
        assert!(player.fade_modifier(by, 0.0, seconds).is_err(), "{seconds}");
    }
    assert!(cast.frame() == before);
}
