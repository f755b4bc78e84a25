//! Settings, scales and times at which springs break elsewhere.

use super::{STEP, chain, swinging, walk};
use crate::modifiers::{Body, Cast, line};
use glam::{Quat, Vec3};
use phalanx::skeleton::{
    ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint, Trs,
};
use phalanx_testkit::lively::Dice;
use phalanx_testkit::rigs::finite;

/// Runs a crowd over frames of all lengths, and through the world. Returns the last models.
fn run(body: &Body, springs: &SpringBones, what: &str) -> Cast {
    let (mut cast, _) = swinging(body, springs, 2, 1.0);
    let steps = [STEP, 0.0, 0.004, 3.5 * STEP, 3600.0, STEP, STEP, 5000.0, -STEP, 0.05, STEP];
    for (frame, &dt) in steps.iter().cycle().take(60).enumerate() {
        cast.crowd.advance(dt).unwrap();
        let world = walk(0, Vec3::splat(1e3), frame as f64 * 0.3);
        cast.crowd.set_world(cast.all[0], world).unwrap();
        cast.frame();
        finite(cast.bones.rows(), &format!("{what}, frame {frame}"));
    }
    cast
}

/// Bones keep their lengths, and no number is lost.
#[test]
fn settings_that_explode_stay_finite() {
    let (body, springs) = chain(5);
    let mut count = 0;
    for drag in [0.0, 0.5, 1.0] {
        for stiffness in [0.0, 1.0, 4.0, 1e6] {
            for gravity in [0.0, 2.0, 1e6] {
                for radius in [0.0, 0.05, 1e6] {
                    let mut springs = springs.clone();
                    for joint in &mut springs.chains[0].joints {
                        *joint = SpringJoint {
                            drag,
                            stiffness,
                            gravity: Vec3::NEG_Y * gravity,
                            radius,
                            ..*joint
                        };
                    }
                    // Inside each other, and around the first joint.
                    let shape = |radius| ColliderShape::sphere(Vec3::new(0.0, -0.1, 0.0), radius);
                    let inside = ColliderShape::Capsule {
                        ends: [Vec3::ZERO, Vec3::Y * 0.01],
                        radius: 0.05,
                        inside: true,
                    };
                    let shapes = [shape(0.3), shape(0.2), inside, shape(0.0)];
                    springs.colliders =
                        shapes.map(|shape| SpringCollider { joint: 0, shape }).into();
                    springs.chains[0].colliders = vec![0, 1, 2, 3];
                    let what = format!("drag {drag}, stiffness {stiffness}, gravity {gravity}");
                    let cast = run(&body, &springs, &what);
                    let models = cast.models(0);
                    for pair in models.windows(2) {
                        let length = pair[0].translation().distance(pair[1].translation());
                        let wanted = Vec3::new(0.0, -0.1, 0.02).length();
                        let most = if models[1] == pair[0] { 1e-5 } else { 1e-4 };
                        assert!((length - wanted).abs() < most, "{what}: {length}");
                    }
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 108);
}

/// Uniform, mirrored and uneven scales, scales of 0, bones without length: nothing is lost, and bones keep the lengths
/// that they have at rest.
#[test]
fn scales_and_bones_of_any_kind_stay_finite() {
    let mut dice = Dice(5);
    let mut kept = 0;
    for number in 0..150 {
        let mut locals = vec![Trs::IDENTITY];
        for n in 1..8 {
            let r = |dice: &mut Dice| dice.below(2001) as f32 / 1000.0 - 1.0;
            let kind = if n > 5 { 0 } else { number % 5 };
            let scale = match kind {
                1 => Vec3::splat(0.5 + n as f32 * 0.2),
                2 => Vec3::new(-1.0, 1.0, 1.0),
                3 => Vec3::new(1.0 + 0.5 * r(&mut dice), 1.0 + 0.5 * r(&mut dice), -2.0),
                4 if n == 3 => Vec3::new(0.0, dice.below(2) as f32, 1.0),
                _ => Vec3::ONE,
            };
            let bone = if number % 7 == 6 && n == 4 { 0.0 } else { 0.1 };
            let translation = Vec3::new(r(&mut dice), r(&mut dice), r(&mut dice)) * bone;
            let turn = Vec3::new(r(&mut dice), r(&mut dice), r(&mut dice));
            let rotation = Quat::from_scaled_axis(turn);
            locals.push(Trs { translation, rotation, scale });
        }
        let body = Body::of(line(&locals));
        let joints = (1..8).map(|joint| SpringJoint {
            gravity: Vec3::NEG_Y * 0.5,
            stiffness: 0.3,
            drag: 0.1,
            radius: 0.01,
            ..SpringJoint::new(joint)
        });
        let chain = SpringChain { joints: joints.collect(), colliders: vec![0], center: Some(0) };
        let shape = ColliderShape::Plane { point: Vec3::NEG_Y * 0.2, normal: Vec3::Y };
        let colliders = vec![SpringCollider { joint: 2, shape }];
        let springs = SpringBones { chains: vec![chain], colliders, ..SpringBones::default() };
        let cast = run(&body, &springs, &format!("scene {number}"));
        let (models, rest) = (cast.models(0), body.rig.skeleton().rest_models());
        if number % 5 == 4 {
            continue;
        }
        for n in 2..8 {
            let length = models[n].translation().distance(models[n - 1].translation());
            let wanted = rest[n].translation.distance(rest[n - 1].translation);
            let off = (length - wanted).abs();
            // Turns below uneven scales shear, which changes lengths of the bones below.
            if number % 5 != 3 || n == 2 {
                assert!(off <= 1e-4 * (1.0 + wanted), "scene {number}: {length}, not {wanted}");
                kept += 1;
            }
        }
    }
    assert!(kept > 400, "{kept}");
}

/// A joint whose tail is exactly behind turns about some axis across.
#[test]
fn half_turns_are_made() {
    let (body, mut springs) = chain(1);
    let joint = &mut springs.chains[0].joints[0];
    (joint.stiffness, joint.drag, joint.gravity) = (0.0, 1.0, Vec3::ZERO);
    let (mut cast, by) = swinging(&body, &springs, 1, 1.0);
    cast.frame();
    let at = cast.models(0)[1].translation();
    let tail = cast.models(0)[2].translation() - at;
    // The pose turns by half a turn about an axis across, the tail stays.
    let across = tail.normalize().any_orthonormal_vector();
    let turn = Trs {
        rotation: Quat::from_axis_angle(across, std::f32::consts::PI),
        ..body.rig.skeleton().rest(1)
    };
    cast.crowd.player(cast.all[0]).unwrap().set_override(1, turn).unwrap();
    cast.crowd.advance(STEP).unwrap();
    cast.frame();
    let models = cast.models(0);
    let off = (models[2].translation() - at).distance(tail);
    assert!(off < 1e-6, "{off}: {:?}, not {tail}", models[2].translation() - at);
    finite(&models, "a half turn");
    let _ = by;
}
