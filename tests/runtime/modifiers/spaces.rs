//! Targets in world space, in model space, and in the space of a joint.

use super::{Body, Cast, place, posed, wide};
use glam::{DMat4, EulerRot, Quat, Vec3};
use phalanx::crowd::PoseStage;
use phalanx::math::Affine3x4;
use phalanx::playback::{Space, Target, TwoBoneIk};
use phalanx_testkit::oracle::ik::rotation_of;
use phalanx_testkit::oracle::math::mul;

/// World transforms: rotated and far, scaled, unevenly scaled, mirrored.
fn worlds() -> Vec<Affine3x4> {
    let turn = Quat::from_euler(EulerRot::XYZ, 0.5, 2.0, -1.0);
    let of = |scale: [f32; 3], turn: Quat, at: [f32; 3]| {
        Affine3x4::from_scale_rotation_translation(scale.into(), turn, at.into())
    };
    vec![
        Affine3x4::IDENTITY,
        of([1.0; 3], turn, [30.0, -4.0, 12.0]),
        of([2.5; 3], turn, [1.0, 2.0, 3.0]),
        of([0.5, 2.0, 1.25], turn, [-3.0, 0.0, 5.0]),
        of([-1.0, 1.0, 1.0], turn, [2.0, 0.0, 0.0]),
        of([1.0, -1.5, 1.0], turn.inverse(), [0.0, 7.0, 0.0]),
        of([-2.0; 3], turn, [0.0; 3]),
    ]
}

/// A place near the animated hand in model space.
const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

#[test]
fn targets_in_the_world_are_reached_wherever_the_instance_stands() {
    let body = Body::character();
    let ik = TwoBoneIk::new(body.joint("RightHand"));
    let pose = posed(body, 1, 0.4);
    let length = body.length(&pose, &ik);
    let turn = Quat::from_euler(EulerRot::YXZ, 0.4, 0.3, -0.2);
    let normal = Vec3::new(0.2, 1.0, 0.4);
    for (n, world) in worlds().iter().enumerate() {
        for (rotation, normal) in [(None, None), (Some(turn), None), (None, Some(normal))] {
            let mut cast = Cast::new(&body.rig, 1);
            let by = cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap();
            cast.hold(0, 1, 0.4);
            cast.crowd.set_world(cast.all[0], *world).unwrap();
            let position = glam::Affine3A::from(*world).transform_point3(NEAR);
            let target = Target { rotation, normal, ..Target::world(position) };
            cast.aim(0, by, target, 1.0);
            let models = cast.models(0);
            let want = body.bent(&pose, &ik, (&target, world), 1.0);
            let what = format!("world {n}, {rotation:?}, {normal:?}");
            body.close(&models, &want, (length, 1e-4), &what);
            assert!(place(&models, ik.end).distance(NEAR) < 1e-4, "{what}");
            if let Some(turn) = rotation {
                // The rotation of the end in the world, mirrored or not.
                let matrix = mul(&wide(world), &wide(&models[ik.end]));
                let even = (0..3).all(|c| {
                    let scale = glam::Affine3A::from(*world).to_scale_rotation_translation().0;
                    (scale[c].abs() - scale.x.abs()).abs() < 1e-4
                });
                let have = glam::DQuat::from_mat3(&rotation_of(&matrix));
                let off = have.dot(turn.as_dquat()).abs();
                assert!(!even || off > 1.0 - 1e-6, "{what}: {off}");
            }
            if let Some(normal) = normal {
                // What lies in the plane of the normal in the world is across the axis of the end there.
                let model = DMat4::from_cols_array(&wide(&models[ik.end]));
                let rest = DMat4::from_cols_array(&body.rest[body.nodes[ik.end]]);
                let axis =
                    model.transform_vector3(rest.inverse().transform_vector3(glam::DVec3::Y));
                let to_model = DMat4::from_cols_array(&wide(world)).inverse();
                let across = normal.normalize().any_orthonormal_pair();
                for v in [across.0, across.1] {
                    let in_model = to_model.transform_vector3(v.as_dvec3()).normalize();
                    assert!(in_model.dot(axis.normalize()).abs() < 1e-4, "{what}");
                }
            }
        }
    }
}

#[test]
fn targets_in_a_joint_follow_what_modifiers_before_have_done_to_it() {
    let body = Body::character();
    let (left, right) = (body.joint("LeftHand"), body.joint("RightHand"));
    let [lead, follow] = [right, left].map(TwoBoneIk::new);
    for (clip, time) in [(0, 0.5), (2, 0.2), (8, 0.3)] {
        let mut cast = Cast::new(&body.rig, 1);
        let [first, second] =
            [&lead, &follow].map(|ik| cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap());
        cast.hold(0, clip, time);
        let world = worlds()[3];
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let front = Target::model(Vec3::new(-0.1, 1.2, 0.35));
        let grip = Target {
            rotation: Some(Quat::from_rotation_y(0.8)),
            ..Target::joint(right, Vec3::new(0.06, 0.02, -0.04))
        };
        cast.aim(0, second, grip, 1.0);
        cast.aim(0, first, front, 0.8);
        let pose = posed(body, clip, time);
        let length = body.length(&pose, &lead);
        let led = body.bent(&pose, &lead, (&front, &world), 0.8);
        let both = body.bent(&led, &follow, (&grip, &world), 1.0);
        let models = cast.models(0);
        body.close(&models, &both, (length, 1e-4), &format!("clip {clip}"));
        let held = glam::Affine3A::from(models[right]).transform_point3(grip.position);
        assert!(held.distance(place(&models, left)) < 1e-4, "{clip}");
        // A joint that nothing moves, and one below the chain itself: as it was before the chain is bent.
        for joint in [body.joint("Root"), body.joint("LeftHandIndex3")] {
            let near = Target { space: Space::Joint(joint), ..grip };
            cast.aim(0, second, near, 1.0);
            let both = body.bent(&led, &follow, (&near, &world), 1.0);
            body.close(&cast.models(0), &both, (length, 1e-4), &format!("joint {joint}"));
        }
    }
}

/// A target that stands in the world while the instance is moved: what was watched is not current, and the hand stays.
#[test]
fn an_instance_that_is_moved_reaches_for_the_same_place() {
    let body = Body::character();
    let hand = body.joint("RightHand");
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(hand)).unwrap();
    cast.hold(0, 0, 0.0);
    cast.aim(0, by, Target::world(NEAR), 1.0);
    cast.crowd.watch(cast.rig, &[hand], PoseStage::After).unwrap();
    let mut scene = phalanx::scene::SceneGraph::new();
    let mirror = cast.crowd.mirror(cast.all[0], &mut scene, None).unwrap();
    let node = scene.joint(mirror, "RightHand").unwrap();
    cast.frame();
    assert!(cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().current);
    cast.crowd.update_scene(&mut scene);
    let world = Affine3x4::from_scale_rotation_translation(
        Vec3::ONE,
        Quat::from_rotation_y(0.2),
        Vec3::new(0.05, -0.03, 0.04),
    );
    cast.crowd.set_world(cast.all[0], world).unwrap();
    assert!(!cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().current);
    cast.crowd.update_scene(&mut scene);
    let at = scene.world(node).unwrap().translation.as_vec3();
    assert!(at.distance(NEAR) < 1e-4, "{at}");
    let asked = cast.crowd.model_matrix(cast.all[0], hand).unwrap();
    let at = glam::Affine3A::from(world).transform_point3(asked.translation());
    assert!(at.distance(NEAR) < 1e-4, "{at}");
    cast.frame();
    let row = cast.crowd.watched(cast.all[0], PoseStage::After).unwrap();
    assert!(row.current);
    let at = row.worlds().next().unwrap().translation.as_vec3();
    assert!(at.distance(NEAR) < 1e-4, "{at}");
    // Without an active modifier it stays current.
    cast.aim(0, by, Target::world(NEAR), 0.0);
    cast.frame();
    cast.crowd.set_world(cast.all[0], Affine3x4::IDENTITY).unwrap();
    assert!(cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().current);
}
