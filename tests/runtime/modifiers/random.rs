//! Two-bone IK on random skeletons: mirrored, unevenly scaled, with joints between those of the chain.

use super::{Body, Cast, line, place};
use glam::{Quat, Vec3};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawTrack};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, Pole, Target, TwoBoneIk};
use phalanx::skeleton::Trs;
use phalanx_testkit::oracle::math::Mat4;
use phalanx_testkit::rigs::finite;
use proptest::prelude::*;

/// The most by which one joint scales one axis more than another. Errors of f32 grow by it joint by joint.
const UNEVEN: f32 = 1.8;

pub fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    [-size..size, -size..size, -size..size].prop_map(Vec3::from)
}

pub fn direction() -> impl Strategy<Value = Vec3> {
    vector(1.0).prop_filter_map("it has no length", |v| (v.length() > 0.1).then(|| v.normalize()))
}

pub fn rotation() -> impl Strategy<Value = Quat> {
    (direction(), -3.1f32..3.1).prop_map(|(axis, angle)| Quat::from_axis_angle(axis, angle))
}

/// Joints with any rotation, and with scales that may mirror.
pub fn local() -> impl Strategy<Value = Trs> {
    let factor = || UNEVEN.powf(-0.5)..UNEVEN.powf(0.5);
    let signs = [any::<bool>(), any::<bool>(), any::<bool>()];
    let scale = ([factor(), factor(), factor()], signs, any::<bool>());
    let scale = scale.prop_map(|(factors, signs, even)| {
        let one = |c: usize| if even { factors[0] } else { factors[c] };
        Vec3::from([0, 1, 2].map(|c| if signs[c] { -one(c) } else { one(c) }))
    });
    (direction(), 0.1f32..1.0, rotation(), scale).prop_map(|(to, length, rotation, scale)| Trs {
        translation: to * length,
        rotation,
        scale,
    })
}

/// A body whose joints are in line, an instance of it, and the world matrices of its pose: a clip turns one of the joints,
/// or none. Matrices of the others may be folded ahead.
pub fn turned_line(locals: &[Trs], turned: usize, turn: Quat) -> (Body, Cast, Vec<Mat4>) {
    let mut raw = line(locals);
    let turns = turned < locals.len();
    if turns {
        let values = (locals[turned].rotation * turn).to_array().to_vec();
        let track = RawTrack {
            node: turned,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: vec![0.0],
            values,
        };
        raw.clips.push(RawClip { tracks: vec![track], ..RawClip::default() });
    }
    let body = Body::of(raw);
    let mut cast = Cast::new(&body.rig, 1);
    if !turns {
        let worlds = body.rest.clone();
        return (body, cast, worlds);
    }
    cast.hold(0, 0, 0.0);
    let worlds = super::posed(&body, 0, 0.0);
    (body, cast, worlds)
}

#[derive(Debug)]
struct Case {
    locals: Vec<Trs>,
    ik: TwoBoneIk,
    /// Direction and share of the reach of the target.
    to: Vec3,
    share: f32,
    rotation: Option<Quat>,
    world: Trs,
    space: usize,
}

fn case() -> impl Strategy<Value = Case> {
    let locals = prop::collection::vec(local(), 3..8);
    let picks = [0usize..100, 0usize..100, 0usize..100];
    let pole = prop_oneof![
        Just(Pole::Animated),
        direction().prop_map(Pole::Direction),
        Just(Pole::Joint(0)),
    ];
    let ends = prop_oneof![Just(EndRotation::Keep), Just(EndRotation::Follow)];
    let settings = (pole, ends, -3.0f32..3.0, prop::option::of(rotation()));
    let target = (direction(), 0.02f32..0.98, local(), 0usize..3);
    (locals, picks, settings, target).prop_map(|(locals, [p, q, r], settings, target)| {
        let (pole, end_rotation, twist, rotation) = settings;
        let (to, share, world, space) = target;
        let end = 2 + p % (locals.len() - 2);
        let middle = 1 + q % (end - 1);
        let upper = r % middle;
        let ik = TwoBoneIk {
            middle: Some(middle),
            upper: Some(upper),
            pole,
            end_rotation,
            twist,
            ..TwoBoneIk::new(end)
        };
        Case { locals, ik, to, share, rotation, world, space }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// The end reaches every target within reach, bones keep their lengths, and all numbers are finite. All that is
    /// refused: chains that are straight at rest without a pole, and joints in one place.
    #[test]
    fn reachable_targets_are_reached(case in case()) {
        let Case { locals, ik, to, share, rotation, world, space } = case;
        let body = Body::of(line(&locals));
        let mut cast = Cast::new(&body.rig, 1);
        let [upper, middle, end] = body.joints(&ik);
        let [u, m, e] = [upper, middle, end].map(|joint| body.at(&body.rest, joint));
        let (a, b) = (u.distance(m), m.distance(e));
        let by = match cast.crowd.add_modifier(cast.rig, ik.clone()) {
            Ok(by) => by,
            Err(error) => {
                let text = error.to_string();
                let bend = (m - u).cross(e - m).length();
                let reasons = [
                    (bend < 2e-3 * a * b, "is straight in the rest pose: it needs an axis or a pole"),
                    (a.min(b) < 2e-5 * (a + b), "are in one place in the rest pose"),
                ];
                prop_assert!(reasons.iter().any(|(is, why)| *is && text.contains(why)), "{}", text);
                return Ok(());
            }
        };
        let (near, far) = ((a - b).abs(), a + b);
        let distance = near + (far - near) * f64::from(share);
        let wanted = u + to.as_dvec3() * distance;
        let world: Affine3x4 = world.into();
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let wide = |m: &Affine3x4| glam::DMat4::from_cols_array(&super::wide(m));
        // A joint above the chain, if there is one.
        let joint = if upper > 0 { upper - 1 } else { upper };
        let target = match space {
            0 => Target::model(wanted.as_vec3()),
            1 => Target::world(wide(&world).transform_point3(wanted).as_vec3()),
            _ => {
                let at = glam::DMat4::from_cols_array(&body.rest[body.nodes[joint]]);
                Target::joint(joint, at.inverse().transform_point3(wanted).as_vec3())
            }
        };
        let target = Target { rotation, ..target };
        cast.aim(0, by, target, 1.0);
        let models = cast.models(0);
        finite(&models, "models");
        finite(&cast.frame()[0], "palette");
        let at = |joint| place(&models, joint).as_dvec3();
        // A chain is as exact as the place of its root.
        let size = far + u.length();
        let off = at(end).distance(wanted) / size;
        prop_assert!(off < 1e-3, "off by {off:e} of {size}: {:?}", at(end));
        let kept = [at(upper).distance(at(middle)) - a, at(middle).distance(at(end)) - b];
        prop_assert!(kept.iter().all(|d| d.abs() < 1e-3 * size), "lengths are off by {kept:?}");
        let rows = cast.rows(0);
        let row = rows[body.scene.skins[0].joints.iter().position(|&n| n == body.nodes[end]).unwrap()];
        prop_assert!(row.translation().as_dvec3().distance(at(end)) < 1e-4 * size);
        }

    /// All of it, turns included, is as the oracle has it, where the oracle has one answer.
    #[test]
    fn random_chains_are_those_of_the_oracle(
        case in case(),
        (turned, turn) in (0usize..20, rotation()),
    ) {
        let Case { locals, ik, to, share, rotation, world, .. } = case;
        let (body, mut cast, worlds) = turned_line(&locals, turned, turn);
        let Ok(by) = cast.crowd.add_modifier(cast.rig, ik.clone()) else {
            return Ok(());
        };
        let [u, m, e] = body.joints(&ik).map(|joint| body.at(&worlds, joint));
        let (a, b) = (u.distance(m), m.distance(e));
        let share = f64::from(0.1 + 0.8 * share);
        let wanted = u + to.as_dvec3() * ((a - b).abs() * (1.0 - share) + (a + b) * share);
        let pole = match ik.pole {
            Pole::Animated => None,
            Pole::Direction(direction) => Some(direction.as_dvec3()),
            Pole::Joint(joint) => Some(body.at(&worlds, joint) - u),
        };
        let sine = |a: glam::DVec3, b: glam::DVec3| a.cross(b).length() / (a.length() * b.length());
        // Where a direction hangs on a small difference of large numbers, f32 has another one.
        let clear = sine(m - u, e - m) > 0.1
            && (e - u).normalize().dot(to.as_dvec3()) > -0.9
            && (e - u).length() > 0.1 * (a + b)
            && pole.is_none_or(|pole| pole.length() > 0.05 && sine(pole, to.as_dvec3()) > 0.1);
        prop_assume!(clear);
        let target = Target { rotation, ..Target::model(wanted.as_vec3()) };
        cast.crowd.set_world(cast.all[0], world).unwrap();
        cast.aim(0, by, target, 1.0);
        let want = body.bent(&worlds, &ik, (&target, &world.into()), 1.0);
        let size = a + b + u.length();
        body.close(&cast.models(0), &want, (size, 1e-3), "a random chain");
        let most = want.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
        body.palette(&cast.frame()[0], &want, 1e-3 * most, "a random palette");
    }
}
