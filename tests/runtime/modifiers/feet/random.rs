//! Feet on random legs and worlds: mirrored, unevenly scaled, hostile.

use super::super::{by, place};
use super::{Body, Cast, both, length};
use glam::{Quat, Vec3};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::math::Affine3x4;
use phalanx::playback::{Feet, Foot, Ground, TwoBoneIk};
use phalanx::skeleton::Trs;
use phalanx_testkit::rigs::finite;
use proptest::prelude::*;

fn number(size: f32) -> impl Strategy<Value = f32> {
    -size..size
}

fn world() -> impl Strategy<Value = Affine3x4> {
    let factor = || prop_oneof![0.5f32..2.0, -2.0f32..-0.5];
    let turn = (number(1.0), number(1.0), number(1.0), 0.1f32..1.0)
        .prop_map(|(x, y, z, w)| Quat::from_xyzw(x, y, z, w).normalize());
    let at = [number(50.0), number(50.0), number(50.0)];
    ([factor(), factor(), factor()], turn, at).prop_map(|(scale, turn, at)| {
        Affine3x4::from_scale_rotation_translation(scale.into(), turn, at.into())
    })
}

/// A pelvis with legs of three joints each, every joint with a turn and a scale.
fn legs(joints: &[(Vec3, Quat, f32)]) -> RawScene {
    let mut nodes = vec![RawNode {
        name: Some("pelvis".into()),
        local: by([0.0, 3.0, 0.0]),
        ..RawNode::default()
    }];
    for (n, &(at, rotation, scale)) in joints.iter().enumerate() {
        let local = Trs { translation: at, rotation, scale: Vec3::splat(scale) };
        nodes.push(RawNode {
            source: n + 1,
            name: Some(format!("leg{n}")),
            parent: Some(if n % 3 == 0 { 0 } else { n }),
            local,
            ..RawNode::default()
        });
    }
    let count = nodes.len();
    RawScene {
        name: "legs".into(),
        nodes,
        skins: vec![RawSkin {
            joints: (0..count).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); count],
            ..RawSkin::default()
        }],
        ..RawScene::default()
    }
}

fn joint() -> impl Strategy<Value = (Vec3, Quat, f32)> {
    let at = (number(0.4), -1.0f32..-0.5, number(0.4)).prop_map(|(x, y, z)| Vec3::new(x, y, z));
    let turn = (number(0.5), number(0.5), number(0.5))
        .prop_map(|(x, y, z)| Quat::from_xyzw(x, y, z, 1.0).normalize());
    (at, turn, prop_oneof![0.8f32..1.2, -1.2f32..-0.8])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// Ankles get to their grounds wherever legs reach, in any world.
    #[test]
    fn feet_reach_their_grounds(
        joints in prop::collection::vec(joint(), 6..=9),
        world in world(),
        offsets in [number(0.2), number(0.2), number(0.2)],
        normals in [number(1.0), number(1.0)],
    ) {
        let joints = &joints[..joints.len() / 3 * 3];
        let body = Body::of(legs(joints));
        let foot = |n: usize| {
            let mut leg = TwoBoneIk::new(body.joint(&format!("leg{}", 3 * n + 2)));
            leg.axis = Some(Vec3::X);
            Foot { leg, markers: None }
        };
        let count = joints.len() / 3;
        let pelvis = body.joint("pelvis");
        let feet = Feet { reach: 1.0, feet: (0..count).map(foot).collect(), ..Feet::new(pelvis, &[]) };
        let mut cast = Cast::new(&body.rig, 1);
        let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
        let plain = cast.models(0);
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let own = world.translation().y;
        let normal = Vec3::new(normals[0], 1.0, normals[1]);
        let grounds: Vec<_> =
            offsets[..count].iter().map(|o| Ground { height: own + o, normal }).collect();
        cast.crowd.set_grounds(by, &cast.all, &grounds, &[1.0]).unwrap();
        let models = cast.models(0);
        finite(&models, "models");
        finite(&cast.frame()[0], "palette");
        let to_world = |models: &[Affine3x4], joint: usize| {
            glam::Affine3A::from(world).transform_point3(place(models, joint))
        };
        let lowest = offsets[..count].iter().copied().fold(f32::INFINITY, f32::min);
        for (foot, offset) in feet.feet.iter().zip(offsets) {
            let far = (foot.leg.end, foot.leg.end - 2);
            // Within reach after the pelvis has moved.
            let hip = to_world(&plain, far.1) + Vec3::Y * lowest;
            let wanted = to_world(&plain, far.0) + Vec3::Y * offset;
            let to_model = glam::Affine3A::from(world).inverse();
            let distance = to_model.transform_vector3(wanted - hip).length();
            let [a, b, c] = [far.1, far.1 + 1, far.0].map(|joint| place(&plain, joint));
            let (thigh, shin) = (a.distance(b), b.distance(c));
            prop_assume!(distance < 0.999 * (thigh + shin) && distance > 1.001 * (thigh - shin).abs());
            let off = to_world(&models, far.0).distance(wanted);
            prop_assert!(off < 2e-3, "off by {off}: {wanted}");
        }
    }

    /// Whatever grounds are accepted, poses are finite, and bones keep their lengths.
    #[test]
    fn no_ground_gives_a_pose_that_is_not_finite(
        heights in prop::collection::vec(prop_oneof![number(1e9), number(1.0), Just(f32::NAN), Just(f32::INFINITY), Just(1e-40)], 2),
        normal in (prop_oneof![number(1e9), number(1.0), number(1e-5), Just(0.0)], number(1.0), number(1.0)),
        size in prop_oneof![Just(1.0f32), Just(1e-20), Just(1e6), Just(0.0)],
        weight in 0.0f32..1.0,
    ) {
        let body = Body::character();
        let feet = both(body);
        let mut cast = Cast::new(&body.rig, 1);
        let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
        cast.hold(0, 1, 0.3);
        let world = Affine3x4::from_scale_rotation_translation(
            Vec3::new(size, size, 1.0), Quat::from_rotation_x(0.4), Vec3::Y);
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let grounds: Vec<_> = heights.iter().map(|&height| Ground { height, normal: Vec3::new(normal.0, normal.1, normal.2) }).collect();
        let plain = cast.models(0);
        let before = cast.crowd.snapshot();
        if cast.crowd.set_grounds(by, &cast.all, &grounds, &[weight]).is_err() {
            prop_assert!(cast.crowd.snapshot() == before);
            return Ok(());
        }
        let models = cast.models(0);
        finite(&models, "models");
        finite(&cast.frame()[0], "palette");
        for foot in &feet.feet {
            let [u, m, e] = body.joints(&foot.leg);
            for (a, b) in [(u, m), (m, e)] {
                let bone = |models: &[Affine3x4]| place(models, a).distance(place(models, b));
                prop_assert!((bone(&models) - bone(&plain)).abs() < 1e-3);
            }
        }
        let hips = place(&models, feet.pelvis).distance(place(&plain, feet.pelvis));
        prop_assert!(f64::from(hips) <= 0.5 * length(body, &feet) * 1.001);
    }
}
