//! Overrides of whole matrices in model space: kept while the joints above move.

use super::random::{local, rotation, turned_line};
use super::{Body, Cast, line, wide};
use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Mixer, PlaybackError, PoseSpace};
use phalanx::skeleton::Trs;
use phalanx_testkit::oracle::pose::moved;
use phalanx_testkit::rigs::finite;
use phalanx_testkit::ruler::{held, shift};
use proptest::prelude::*;

/// A matrix with shear.
fn sheared(a: &Trs, b: &Trs) -> Affine3x4 {
    Affine3x4::from(*a) * Affine3x4::from(*b)
}

#[test]
fn a_matrix_in_model_space_is_kept_while_the_joints_above_move() {
    let body = Body::character();
    let turn = Quat::from_euler(glam::EulerRot::YXZ, 0.6, -0.3, 0.1);
    let skew =
        Trs { scale: Vec3::new(1.5, -0.7, 1.1), rotation: turn, ..super::by([0.1, 1.2, 0.2]) };
    let to = sheared(&skew, &Trs { rotation: turn, ..Trs::IDENTITY });
    for (number, name) in ["LeftArm", "Head", "Hips", "RightHandRing3"].into_iter().enumerate() {
        let joint = body.joint(name);
        for (clip, weight) in [(1, 1.0), (2, 1.0), (3, 0.4), (4, 0.0)] {
            let time = 0.2 * number as f32 + 0.05;
            let mut cast = Cast::new(&body.rig, 1);
            cast.hold(0, clip, time);
            let mut mixer = Mixer::new(body.rig.clone()).unwrap();
            let held_clip = mixer.clip_by_index(clip).unwrap();
            mixer.player().play(0, held_clip, &held(time.into(), 1.0)).unwrap();
            for mut player in [cast.crowd.player(cast.all[0]).unwrap(), mixer.player()] {
                player.set_override_weighted(joint, to, PoseSpace::Model, weight).unwrap();
            }
            let worlds = super::posed(body, clip, time);
            let want = moved(&body.scene, &worlds, body.nodes[joint], &wide(&to), weight.into());
            let models = cast.models(0);
            let what = format!("{name}, clip {clip}, weight {weight}");
            body.close(&models, &want, (1.0, 2e-5), &what);
            body.palette(&cast.frame()[0], &want, 2e-5, &what);
            assert_eq!(mixer.model_matrices(), models, "{what}");
            assert!(mixer.evaluate() == cast.rows(0), "{what}");
            let set = cast.crowd.playing(cast.all[0]).unwrap().overrides().next();
            assert_eq!(set, Some((joint, &to)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Below and above joints that mirror, scale unevenly, and are overridden themselves.
    #[test]
    fn random_joints_are_kept_as_the_oracle_has_it(
        locals in prop::collection::vec(local(), 2..7),
        (joint, turned, turn) in (0usize..100, 0usize..20, rotation()),
        matrices in [local(), local(), local(), local()],
        weight in prop_oneof![Just(1.0f32), Just(0.0), 0.0f32..1.0],
    ) {
        let (body, mut cast, worlds) = turned_line(&locals, turned, turn);
        let joint = joint % locals.len();
        let to = sheared(&matrices[0], &matrices[1]);
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_override_weighted(joint, to, PoseSpace::Model, weight).unwrap();
        let node = |joint: usize| body.nodes[joint];
        let mut want = moved(&body.scene, &worlds, node(joint), &wide(&to), weight.into());
        // In between, f32 and f64 may take different sides of arcs that are as long, and mirrored matrices become flat.
        let of = |worlds: &[_]| glam::DMat4::from_cols_array(&worlds[node(joint)]).determinant();
        let turns = [worlds[node(joint)], wide(&to)]
            .map(|m| glam::DQuat::from_mat3(&phalanx_testkit::oracle::ik::rotation_of(&m)));
        let clear = turns[0].dot(turns[1]).abs() > 0.05 && of(&want).abs() > 1e-3;
        prop_assume!(weight == 1.0 || weight == 0.0 || clear);
        let second = (joint + 1) % locals.len();
        if second > joint {
            // A joint below, in model space as well, does not move with it.
            let below = sheared(&matrices[2], &matrices[3]);
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_override_weighted(second, below, PoseSpace::Model, 1.0).unwrap();
            want = moved(&body.scene, &want, node(second), &wide(&below), 1.0);
        }
        let most = want.iter().flatten().fold(1.0f64, |most, v| most.max(v.abs()));
        body.close(&cast.models(0), &want, (most, 1e-3), "a random joint");
        body.palette(&cast.frame()[0], &want, 1e-3 * most, "a random palette");
    }
}

/// Where a joint above has a scale of 0, the joint is as it is animated.
#[test]
fn below_a_joint_without_an_inverse_the_animation_stays() {
    let to =
        sheared(&super::by([1.0, 2.0, 3.0]), &Trs { scale: Vec3::splat(2.0), ..Trs::IDENTITY });
    let turned = Quat::from_euler(glam::EulerRot::XYZ, 0.7, 0.4, -1.1);
    for scale in [[0.0; 3], [1.0, 0.0, 1.0], [0.0, -1.0, 2.0], [1e-30, 1.0, 1.0], [1e-8; 3]] {
        let above = Trs { scale: scale.into(), rotation: turned, ..super::by([0.0, 1.0, 0.0]) };
        let below = Trs { rotation: turned.inverse(), ..super::by([0.1, 0.2, 0.0]) };
        let body = Body::of(line(&[Trs::IDENTITY, above, below, super::by([0.0, 0.3, 0.1])]));
        let mut cast = Cast::new(&body.rig, 1);
        // Of the same topology.
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_override(2, below).unwrap();
        let animated = (cast.models(0), cast.frame());
        for weight in [1.0, 0.5, 0.0] {
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_override_weighted(2, to, PoseSpace::Model, weight).unwrap();
            assert_eq!(cast.models(0), animated.0, "{scale:?} {weight}");
            assert!(cast.frame() == animated.1, "{scale:?} {weight}");
        }
        // A matrix without an inverse itself is kept.
        let flat = Trs { scale: Vec3::new(1.0, 0.0, 0.0), ..super::by([0.1, 0.0, 0.2]) };
        for weight in [1.0, 0.5] {
            let mut player = cast.crowd.player(cast.all[0]).unwrap();
            player.set_override_weighted(1, flat, PoseSpace::Model, weight).unwrap();
            finite(&cast.models(0), "models");
            assert!(weight < 1.0 || cast.models(0)[1] == flat.into());
        }
    }
}

#[test]
fn a_matrix_in_world_space_goes_with_the_character() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let i = cast.all[0];
    let world = Trs { rotation: Quat::from_rotation_y(0.8), ..super::by([5.0, 0.0, -3.0]) };
    let (head, local) = (body.joint("Head"), super::by([0.1, 1.7, 0.2]));
    let placed = Affine3x4::from(world) * Affine3x4::from(local);
    cast.crowd.set_world(i, world).unwrap();
    let mut player = cast.crowd.player(i).unwrap();
    player.set_override_weighted(head, placed, PoseSpace::World, 1.0).unwrap();
    for (clip, at) in [(1, world), (3, super::by([9.0, 0.0, 0.0]))] {
        cast.hold(0, clip, 0.3);
        cast.crowd.set_world(i, at).unwrap();
        let [have, want] = [cast.models(0)[head], local.into()].map(|m| wide(&m));
        assert!(have.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5), "{have:?}");
    }
    // A world transform without an inverse, and numbers beyond the limits.
    cast.crowd.set_world(i, Trs { scale: Vec3::ZERO, ..Trs::IDENTITY }).unwrap();
    let before = cast.crowd.snapshot();
    for (matrix, space) in [
        (placed, PoseSpace::World),
        (shift(2e9), PoseSpace::Model),
        (shift(f32::NAN), PoseSpace::Model),
    ] {
        let mut player = cast.crowd.player(i).unwrap();
        let refused = player.set_override_weighted(head, matrix, space, 1.0);
        assert!(matches!(refused, Err(PlaybackError::Override { .. })), "{refused:?}");
        let refused = cast.crowd.set_overrides(cast.rig, &[head], &[i], &[matrix], space, &[1.0]);
        assert!(matches!(refused, Err(PlaybackError::Override { .. })), "{refused:?}");
    }
    assert!(cast.crowd.snapshot() == before);
}
