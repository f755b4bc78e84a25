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
