//! Looks on random skeletons: mirrored, unevenly scaled, with joints between those that turn.

use super::random::{direction, local, rotation, turned_line};
use glam::{DVec3, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Aim, Target};
use phalanx::skeleton::Trs;
use phalanx_testkit::rigs::finite;
use proptest::prelude::*;

#[derive(Debug)]
struct Case {
    locals: Vec<Trs>,
    aim: Aim,
    to: Vec3,
    weight: f32,
    turned: usize,
    turn: glam::Quat,
    world: Trs,
    in_world: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let locals = prop::collection::vec(local(), 2..8);
    let shares = prop::collection::vec(prop::option::of(0.1f32..4.0), 8);
    let limits = (0.3f32..std::f32::consts::PI, prop::option::of(0.05f32..1.0), any::<bool>());
    let axes = || prop::option::of(direction());
    let target = (direction(), 0.5f32..4.0, prop_oneof![Just(1.0f32), 0.1f32..1.0]);
    let rest = (0usize..20, rotation(), local(), any::<bool>());
    (locals, shares, limits, (axes(), axes(), axes()), target, rest).prop_map(
        |(locals, shares, limits, (forward, up, up_axis), target, rest)| {
            let last = locals.len() - 1;
            let mut joints: Vec<(usize, f32)> = Vec::new();
            joints.extend((0..last).filter_map(|joint| Some((joint, shares[joint]?))));
            joints.push((last, shares[last].unwrap_or(1.0)));
            let (limit, soft, whole) = limits;
            let limit = if whole { std::f32::consts::PI } else { limit };
            let soft = soft.unwrap_or(0.0);
            let aim = Aim { forward, up, up_axis, limit, soft, ..Aim::chain(joints) };
            let (to, far, weight) = target;
            let (turned, turn, world, in_world) = rest;
            Case { locals, aim, to: to * far, weight, turned, turn, world, in_world }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 600, ..ProptestConfig::default() })]

    /// All joints are where the oracle has them, where it has one answer; everywhere the look is within its limit, points
    /// at what it may, and all numbers are finite. Nothing is refused but an up axis along the forward axis.
    #[test]
    fn random_looks_are_those_of_the_oracle(case in case()) {
        let Case { locals, aim, to, weight, turned, turn, world, in_world } = case;
        let (body, mut cast, worlds) = turned_line(&locals, turned, turn);
        let by = match cast.crowd.add_modifier(cast.rig, aim.clone()) {
            Ok(by) => by,
            Err(error) => {
                let along = "is along its forward axis";
                prop_assert!(error.to_string().contains(along), "{}", error);
                return Ok(());
            }
        };
        let last = aim.joints.last().unwrap().0;
        let eye = body.at(&worlds, last);
        let point = (eye + to.as_dvec3()).as_vec3();
        let world: Affine3x4 = world.into();
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let target = match in_world {
            true => Target::world(world.transform_point3(point)),
            false => Target::model(point),
        };
        cast.aim(0, by, target, weight);
        let have = cast.models(0);
        finite(&have, "models");
        finite(&cast.frame()[0], "palette");
        let before = body.aim(&aim).forward(&worlds);
        let looks = body.looks(&have, &aim);
        let limit = f64::from(aim.limit);
        prop_assert!(looks.angle_between(before) < limit * f64::from(weight) + 1e-3);
        let line = point.as_dvec3() - have[last].translation().as_dvec3();
        // A target in the eye has no direction.
        let near = line.length() < 0.05;
        if weight == 1.0 && !near && line.angle_between(before) < limit * (1.0 - f64::from(aim.soft)) - 1e-3 {
            let off = looks.angle_between(line);
            prop_assert!(off < 1e-3, "off by {off:e}");
        }
        let oracle = body.aim(&aim);
        let sine = |a: DVec3, b: DVec3| a.normalize().cross(b.normalize()).length();
        // Where a direction hangs on a small difference of large numbers, f32 has another one.
        let want = body.aimed(&worlds, &aim, (&target, &world), None, weight);
        let clear = {
            let line = point.as_dvec3() - body.at(&want, last);
            let up = aim.up.map_or(1.0, |up| sine(up.as_dvec3(), oracle.forward(&want)));
            let axis = glam::DMat3::from_mat4(glam::DMat4::from_cols_array(&worlds[body.nodes[last]]))
                * DVec3::from(oracle.up_axis);
            line.length() > 0.3
                && before.dot(to.as_dvec3().normalize()) > -0.9
                && before.dot(line.normalize()) > -0.9
                && up > 0.2
                && sine(axis, before) > 0.1
        };
        prop_assume!(clear);
        let size = eye.length().max(1.0);
        body.close(&have, &want, (size, 2e-3), "a random look");
        let most = want.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
        body.palette(&cast.frame()[0], &want, 2e-3 * most, "a random palette");
    }
}
