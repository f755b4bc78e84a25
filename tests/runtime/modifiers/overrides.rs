//! Overrides with a weight, overrides of rotations in model space, and modifiers after them.

use super::{Body, Cast, posed};
use glam::{DMat3, DQuat, EulerRot, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Mixer, PlaybackError, PoseSpace, Target, TwoBoneIk};
use phalanx::skeleton::Trs;
use phalanx_testkit::oracle::Pose;
use phalanx_testkit::oracle::ik::rotation_of;
use phalanx_testkit::oracle::math::{Mat4, lerp, nlerp};
use phalanx_testkit::ruler::held;

fn local() -> Trs {
    Trs {
        translation: Vec3::new(0.05, 0.2, -0.1),
        rotation: Quat::from_euler(EulerRot::XYZ, 1.2, -0.5, 0.3),
        scale: Vec3::new(1.5, 0.75, 1.25),
    }
}

/// A pose of the oracle with a node blended to a local transform.
fn blended(pose: &Pose, node: usize, to: &Trs, weight: f64) -> Pose {
    let mut pose = pose.clone();
    let at = &mut pose[node];
    let three = |a: [f64; 3], b: Vec3| {
        let b = b.as_dvec3().to_array();
        std::array::from_fn(|k| lerp(a[k], b[k], weight))
    };
    at.t = three(at.t, to.translation);
    at.s = three(at.s, to.scale);
    at.r = nlerp(at.r, to.rotation.as_dquat().to_array(), weight);
    pose
}

#[test]
fn an_override_with_a_weight_is_blended() {
    let body = Body::character();
    for name in ["Spine1", "LeftForeArm", "RightHandRing3", "Root"] {
        let joint = body.joint(name);
        // Also the longer way round, by the sign of the quaternion.
        for to in [local(), Trs { rotation: -local().rotation, ..local() }] {
            for weight in [0.5, 0.1, 0.9, 0.0, 1.0] {
                let (clip, time) = (2, 0.35);
                let mut cast = Cast::new(&body.rig, 2);
                let mut mixer = Mixer::new(body.rig.clone()).unwrap();
                cast.hold(0, clip, time);
                cast.hold(1, clip, time);
                let mut player = cast.crowd.player(cast.all[0]).unwrap();
                player.set_override_weighted(joint, to, PoseSpace::Local, weight).unwrap();
                let held_clip = mixer.clip_by_index(clip).unwrap();
                mixer.player().play(0, held_clip, &held(time.into(), 1.0)).unwrap();
                mixer.player().set_override_weighted(joint, to, PoseSpace::Local, weight).unwrap();
                let pose = body.scene.pose(clip, time.into());
                let want = blended(&pose, body.nodes[joint], &to, weight.into());
                let want = body.worlds(&want);
                let models = cast.models(0);
                let what = format!("{name} with {weight}");
                body.close(&models, &want, (1.0, 1e-5), &what);
                assert_eq!(mixer.model_matrices(), models, "{what}");
                let rows = cast.frame();
                body.palette(&rows[0], &want, 1e-5, &what);
                assert!(weight == 0.0 || rows[0] != rows[1], "{what}");
                assert!(mixer.evaluate() == rows[0], "{what}");
            }
        }
    }
}

/// Rotations are blended along the shorter arc, whatever signs their quaternions have.
#[test]
fn overrides_are_blended_along_the_shorter_arc() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let pose = body.scene.pose(2, f64::from(0.35f32));
    let mut longer = 0;
    for number in 0..300u64 {
        let r = |k: u64| 6.0 * phalanx_workload::hash01(number * 4 + k) as f32 - 3.0;
        let joint = number as usize % body.nodes.len();
        let turn = Quat::from_euler(EulerRot::XYZ, r(0), r(1), r(2));
        let to = Trs { rotation: turn, ..local() };
        let node = body.nodes[joint];
        let dot = DQuat::from_array(pose[node].r).dot(turn.as_dquat());
        // Half a turn apart, both arcs are as short.
        if dot.abs() < 0.05 {
            continue;
        }
        longer += usize::from(dot < 0.0);
        cast.hold(0, 2, 0.35);
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.clear_overrides();
        player.set_override_weighted(joint, to, PoseSpace::Local, 0.4).unwrap();
        let want = body.worlds(&blended(&pose, node, &to, f64::from(0.4f32)));
        body.close(&cast.models(0), &want, (1.0, 2e-5), &format!("{number}"));
    }
    assert!(longer > 50, "{longer}");
}

/// The rotation of a joint in model space.
fn rotation(models: &[Affine3x4], joint: usize) -> DQuat {
    DQuat::from_mat3(&rotation_of(&super::wide(&models[joint])))
}

fn of(world: &Mat4) -> DQuat {
    DQuat::from_mat3(&rotation_of(world))
}

#[test]
fn a_rotation_in_model_space_is_kept_while_the_joints_above_move() {
    let body = Body::character();
    let head = body.joint("Head");
    let turn = Quat::from_euler(EulerRot::YXZ, 0.6, -0.3, 0.1);
    for clip in 0..body.scene.clips.len() {
        for (step, weight) in [1.0, 1.0, 0.4, 0.0].into_iter().enumerate() {
            let time = 0.2 * step as f32 + 0.05;
            let mut cast = Cast::new(&body.rig, 1);
            cast.hold(0, clip, time);
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            // Of any length.
            player.set_model_rotation(head, turn * (0.5 + clip as f32), weight).unwrap();
            let models = cast.models(0);
            let mut worlds = posed(body, clip, time);
            let node = body.nodes[head];
            let was = of(&worlds[node]);
            let want = was.slerp(turn.as_dquat(), weight.into());
            let off = rotation(&models, head).dot(want).abs();
            assert!(off > 1.0 - 1e-6, "clip {clip}, weight {weight}: {off}");
            // Its place and scale are the animated ones; nothing is below it.
            let turned = DMat3::from_quat(want * was.inverse());
            let old = worlds[node];
            for c in 0..3 {
                let column = glam::DVec3::new(old[c * 4], old[c * 4 + 1], old[c * 4 + 2]);
                let column = turned * column;
                worlds[node][c * 4..c * 4 + 3].copy_from_slice(&column.to_array());
            }
            body.close(&models, &worlds, (1.0, 1e-5), &format!("clip {clip}, weight {weight}"));
            body.palette(&cast.frame()[0], &worlds, 1e-5, "the palette");
        }
    }
}

/// Of an override of a joint above and one in model space below it, the rotation in model space is what counts.
#[test]
fn a_rotation_in_model_space_holds_below_other_overrides_and_mirrors() {
    let turn = Quat::from_euler(EulerRot::YXZ, 0.6, -0.3, 0.1);
    for scale in [[1.0; 3], [-1.0, 1.0, 1.0], [0.5, 2.0, 1.5], [-2.0, -1.0, -1.5]] {
        let above = Trs { scale: scale.into(), ..super::by([0.0, 1.0, 0.0]) };
        let line = super::line(&[above, super::by([0.1, 0.2, 0.0]), super::by([0.0, 0.3, 0.1])]);
        let body = Body::of(line);
        let mut cast = Cast::new(&body.rig, 1);
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_model_rotation(2, turn, 1.0).unwrap();
        player.set_override_weighted(1, local(), PoseSpace::Local, 0.7).unwrap();
        player.set_override(0, Trs { rotation: turn, ..above }).unwrap();
        let models = cast.models(0);
        let off = rotation(&models, 2).dot(turn.as_dquat()).abs();
        assert!(off > 1.0 - 1e-6, "{scale:?}: {off}");
        // Its place is that of the joints above, without it.
        cast.crowd.player(cast.all[0]).unwrap().clear_override(2).unwrap();
        let without = cast.models(0);
        assert!(super::place(&without, 2).distance(super::place(&models, 2)) < 1e-5);
    }
}

/// Overrides come first: IK reaches its target from the overridden pose.
#[test]
fn modifiers_run_after_overrides() {
    let body = Body::character();
    let ik = TwoBoneIk::new(body.joint("RightHand"));
    let (clip, time) = (1, 0.4);
    let target = Target::model(Vec3::new(-0.2, 1.2, 0.3));
    for (name, weight) in [("RightArm", 1.0), ("Spine", 0.5), ("RightForeArm", 0.5)] {
        let joint = body.joint(name);
        let pose = body.scene.pose(clip, time.into());
        let node = body.nodes[joint];
        let rest = &body.scene.nodes[node].rest;
        let narrow = |v: [f64; 3]| Vec3::from(v.map(|v| v as f32));
        let to = Trs {
            translation: narrow(rest.t),
            rotation: Quat::from_array(rest.r.map(|v| v as f32)) * Quat::from_rotation_x(0.5),
            scale: narrow(rest.s),
        };
        let worlds = body.worlds(&blended(&pose, node, &to, weight.into()));
        let want = body.bent(&worlds, &ik, (&target, &Affine3x4::IDENTITY), 1.0);
        let length = body.length(&worlds, &ik);
        for override_first in [true, false] {
            let mut cast = Cast::new(&body.rig, 1);
            let by = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
            cast.hold(0, clip, time);
            if !override_first {
                cast.aim(0, by, target, 1.0);
            }
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_override_weighted(joint, to, PoseSpace::Local, weight).unwrap();
            cast.aim(0, by, target, 1.0);
            body.close(&cast.models(0), &want, (length, 1e-4), name);
        }
    }
}

#[test]
fn weights_beyond_one_are_refused_and_hostile_rotations_are_finite() {
    let body = Body::character();
    let head = body.joint("Head");
    let mut cast = Cast::new(&body.rig, 1);
    let before = cast.frame();
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    for weight in [-0.1, 1.5, f32::NAN] {
        assert!(player.set_override_weighted(head, local(), PoseSpace::Local, weight).is_err());
        assert!(player.set_model_rotation(head, Quat::IDENTITY, weight).is_err());
    }
    let nan = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
    let refused = player.set_model_rotation(head, nan, 1.0);
    assert!(matches!(refused, Err(PlaybackError::Override { .. })), "{refused:?}");
    assert!(player.set_model_rotation(99, Quat::IDENTITY, 1.0).is_err());
    assert!(cast.frame() == before);
    for numbers in
        [[0.0; 4], [1e-30, 0.0, 0.0, 0.0], [1e10, 0.0, 0.0, 1.0], [1e30; 4], [0.0, 0.0, 0.0, -1.0]]
    {
        for weight in [1.0, 0.5] {
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            let _refused = player.set_model_rotation(head, Quat::from_array(numbers), weight);
            phalanx_testkit::rigs::finite(&cast.frame()[0], "a rotation without a length");
        }
    }
    // Whole again without it.
    cast.crowd.player(cast.all[0]).unwrap().clear_overrides();
    assert!(cast.frame() == before);
}
