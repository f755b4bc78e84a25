//! The built-in character's arms and legs against the oracle, in crowds and mixers.

use super::{Body, Cast, posed};
use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, Mixer, Pole, Target, TwoBoneIk};
use phalanx_testkit::ruler::held;
use phalanx_workload::hash01;

/// Arms, legs, and chains with joints between: the whole side from the chest to the hand, and the trunk.
fn chains(body: &Body) -> Vec<TwoBoneIk> {
    let end = |name: &str| TwoBoneIk::new(body.joint(name));
    let between = |upper: &str, middle: &str, name: &str| TwoBoneIk {
        upper: Some(body.joint(upper)),
        middle: Some(body.joint(middle)),
        ..end(name)
    };
    vec![
        end("LeftHand"),
        end("RightHand"),
        end("LeftFoot"),
        end("RightFoot"),
        between("Chest", "LeftArm", "LeftHand"),
        between("Hips", "Chest", "Head"),
        between("LeftArm", "LeftForeArm", "LeftHandIndex3"),
    ]
}

/// Settings of a chain, with what the target says of the end's rotation.
fn settings(ik: &TwoBoneIk, head: usize) -> Vec<(TwoBoneIk, Option<Quat>, Option<Vec3>)> {
    let plain = ik.clone();
    let (turn, normal) =
        (Quat::from_euler(glam::EulerRot::XYZ, 0.7, -0.4, 1.1), Vec3::new(0.3, 1.0, -0.2));
    let follow = EndRotation::Follow;
    let pole = Pole::Direction(Vec3::new(0.4, -0.2, 1.5));
    vec![
        (plain.clone(), None, None),
        (TwoBoneIk { end_rotation: follow, ..plain.clone() }, None, None),
        (TwoBoneIk { pole, ..plain.clone() }, None, None),
        (TwoBoneIk { pole: Pole::Joint(head), ..plain.clone() }, None, None),
        (TwoBoneIk { soft: 0.2, ..plain.clone() }, None, None),
        (TwoBoneIk { stretch: 1.3, ..plain.clone() }, None, None),
        (TwoBoneIk { stretch: 1.1, soft: 0.15, twist: 0.8, ..plain.clone() }, None, None),
        (TwoBoneIk { twist: -2.5, pole, end_rotation: follow, ..plain.clone() }, None, None),
        (plain.clone(), Some(turn * 1.7), None),
        (TwoBoneIk { end_rotation: follow, ..plain.clone() }, Some(-turn), Some(normal)),
        (plain.clone(), None, Some(normal)),
        (
            TwoBoneIk { normal_axis: Some(Vec3::new(1.0, 0.5, 0.0).normalize()), ..plain },
            None,
            Some(normal),
        ),
    ]
}

/// A target around the animated end, by a number: some within reach, some not.
fn target(end: Vec3, length: f32, number: u64) -> Vec3 {
    let r = |k: u64| 2.0 * hash01(number * 4 + k) as f32 - 1.0;
    end + Vec3::new(r(0), r(1), r(2)) * 0.6 * length
}

#[test]
fn limbs_are_where_the_oracle_has_them() {
    let body = Body::character();
    let head = body.joint("Head");
    let (mut number, mut out, mut within) = (0, 0, 0);
    for chain in chains(body) {
        for (kind, (ik, rotation, normal)) in settings(&chain, head).into_iter().enumerate() {
            let mut cast = Cast::new(&body.rig, body.scene.clips.len());
            let mut mixer = Mixer::new(body.rig.clone()).unwrap();
            let by = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
            let by_mixer = mixer.add_modifier(ik.clone()).unwrap();
            let mut wanted = Vec::new();
            for clip in 0..cast.all.len() {
                number += 1;
                let duration = body.scene.clips[clip].duration;
                let time = (duration * hash01(number + 99)) as f32;
                let worlds = posed(body, clip, time);
                let length = body.length(&worlds, &ik);
                let [upper, _, end] = body.joints(&ik).map(|j| body.at(&worlds, j));
                let position = target(end.as_vec3(), length as f32, number);
                match position.as_dvec3().distance(upper) > length {
                    true => out += 1,
                    false => within += 1,
                }
                let target = Target { rotation, normal, ..Target::model(position) };
                let weight = [1.0, 0.37][number as usize % 2];
                cast.hold(clip, clip, time);
                cast.aim(clip, by, target, weight);
                let clip_of_mixer = mixer.clip_by_index(clip).unwrap();
                let mut player = mixer.player();
                player.play(0, clip_of_mixer, &held(time.into(), 1.0)).unwrap();
                player.set_target(by_mixer, target).unwrap();
                player.fade_modifier(by_mixer, weight, 0.0).unwrap();
                let world = Affine3x4::IDENTITY;
                let want = body.bent(&worlds, &ik, (&target, &world), weight);
                let what =
                    format!("{:?}, kind {kind}, clip {clip}, weight {weight}", body.joints(&ik));
                body.close(&cast.models(clip), &want, (length, 1e-4), &what);
                let of_mixer = mixer.evaluate().to_vec();
                assert_eq!(mixer.model_matrices(), cast.models(clip), "{what}");
                body.palette(&of_mixer, &want, 1e-4, &what);
                wanted.push((what, of_mixer));
            }
            for (rows, (what, of_mixer)) in cast.frame().into_iter().zip(wanted) {
                assert!(rows == of_mixer, "{what}: the crowd's palette");
            }
        }
    }
    assert!(out > 100 && within > 400, "{out} {within}");
}

/// Chains of one instance are bent at once where they can be, with the result of one after another: any of them, in any
/// order, with poles and targets in what others move.
#[test]
fn many_chains_are_where_the_oracle_has_them_one_after_another() {
    let body = Body::character();
    let (head, chains) = (body.joint("Head"), chains(body));
    for number in 0..150u64 {
        let mut next = number * 1000;
        let mut r = || {
            next += 1;
            hash01(next)
        };
        let mut pick = |count: usize| (r() * count as f64) as usize % count;
        let mut cast = Cast::new(&body.rig, 1);
        let (clip, time) = (pick(10), 0.3);
        cast.hold(0, clip, time);
        let mut want = posed(body, clip, time);
        for _ in 0..2 + pick(6) {
            let of = settings(&chains[pick(chains.len())], head);
            let (ik, rotation, normal) = of[pick(of.len())].clone();
            let ik = TwoBoneIk {
                pole: match (ik.pole, pick(2)) {
                    (Pole::Joint(_), 0) => Pole::Joint(chains[pick(chains.len())].end),
                    (pole, _) => pole,
                },
                ..ik
            };
            let weight = [1.0, 1.0, 0.5, 0.2, 0.0][pick(5)];
            let end = body.at(&want, ik.end).as_vec3();
            let position =
                target(end, body.length(&want, &ik) as f32, number * 10 + pick(10) as u64);
            let space = match pick(4) {
                0 => Target::joint(chains[pick(chains.len())].end, Vec3::new(0.1, 0.2, -0.1)),
                1 => Target::world(position),
                _ => Target::model(position),
            };
            let aimed = Target { rotation, normal, ..space };
            let by = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
            cast.aim(0, by, aimed, weight);
            if weight > 0.0 {
                want = body.bent(&want, &ik, (&aimed, &Affine3x4::IDENTITY), weight);
            }
        }
        body.close(&cast.models(0), &want, (2.0, 3e-4), &format!("{number}"));
    }
}

/// What else is bent at the same time changes no bit of a chain.
#[test]
fn chains_that_are_bent_at_once_have_the_bits_of_one_alone() {
    let body = Body::character();
    let chains = &chains(body)[..4];
    let head = body.joint("Head");
    for (hand, weight) in [(0, 1.0), (1, 1.0), (0, 0.5)] {
        for (k, (ik, rotation, normal)) in settings(&chains[hand], head).into_iter().enumerate() {
            let mut cast = Cast::new(&body.rig, 2);
            (0..2).for_each(|n| cast.hold(n, 1, 0.3));
            let worlds = posed(body, 1, 0.3);
            for (c, chain) in chains.iter().enumerate() {
                let pole = Pole::Direction(Vec3::new(0.1, 0.2, 1.0));
                let other =
                    TwoBoneIk { pole, soft: 0.2, stretch: 1.2, twist: 0.1, ..chain.clone() };
                let ik = if c == hand { ik.clone() } else { other };
                let end = body.at(&worlds, ik.end).as_vec3();
                let at = target(end, body.length(&worlds, &ik) as f32, c as u64);
                let by = cast.crowd.add_modifier(cast.rig, ik).unwrap();
                let own = Target { rotation, normal, ..Target::model(at) };
                match c == hand {
                    true => (0..2).for_each(|n| cast.aim(n, by, own, 1.0)),
                    false => cast.aim(0, by, Target::model(at), weight),
                }
            }
            let (with, alone) = (cast.models(0), cast.models(1));
            let own = body.rig.skeleton().joint(if hand == 0 { "LeftHand" } else { "RightHand" });
            let own = own.unwrap();
            let bits = |m: &Affine3x4| m.to_cols_array().map(f32::to_bits);
            assert_eq!(bits(&with[own]), bits(&alone[own]), "{hand}, {weight}, settings {k}");
        }
    }
}
