//! Springs where the oracle has them, over hundreds of steps.

use super::{STEP, body, chain, play, swinging, walk, wide};
use crate::modifiers::{Body, Cast};
use glam::{DMat4, DVec3, Vec3};
use phalanx::math::Affine3x4;
use phalanx::skeleton::SpringBones;
use phalanx_testkit::oracle::springs::{Joint, Springs};
use phalanx_testkit::vrm::Version;

/// The oracle's springs of those in code, whose tails are the next joints.
pub fn of_code(body: &Body, springs: &SpringBones) -> Springs {
    let mut out = Springs::default();
    for chain in &springs.chains {
        for pair in chain.joints.windows(2) {
            let [node, next] = [&pair[0], &pair[1]].map(|joint| body.nodes[joint.joint]);
            out.joints.push(Joint {
                node,
                tail: DVec3::from(body.scene.nodes[next].rest.t),
                radius: pair[0].radius.into(),
                stiffness: pair[0].stiffness.into(),
                gravity: pair[0].gravity.as_dvec3(),
                drag: pair[0].drag.into(),
                center: None,
                colliders: Vec::new(),
            });
        }
    }
    out.now = vec![DVec3::ZERO; out.joints.len()];
    out.before = out.now.clone();
    out
}

/// Asserts that an instance has the oracle's world matrices.
#[track_caller]
pub fn close(body: &Body, cast: &Cast, n: usize, want: &[DMat4], world: &Affine3x4, what: &str) {
    let to_model = wide(world).inverse();
    let want: Vec<_> = want.iter().map(|m| (to_model * *m).to_cols_array()).collect();
    body.close(&cast.models(n), &want, (0.2, 1e-3), what);
}

/// Three instances with different worlds and weights over 300 steps. Returns how far the springs turned the joints, the
/// largest distance of all frames.
fn steps(body: &Body, springs: &SpringBones, oracle: &Springs, around: Vec3) -> f64 {
    let weights = [1.0, 1.0, 0.6];
    let (mut cast, by) = swinging(body, springs, 3, 1.0);
    let mut all = vec![oracle.clone(); 3];
    for (n, &weight) in weights.iter().enumerate() {
        cast.crowd.player(cast.all[n]).unwrap().fade_modifier(by, weight, 0.0).unwrap();
        if n > 0 && !body.scene.clips.is_empty() {
            let (one, rig) = (cast.all[n], cast.rig);
            play(&mut cast.crowd, (one, rig), 0.3 * n as f64);
        }
    }
    let mut most = 0.0f64;
    for frame in 0..=300 {
        if frame > 0 {
            cast.crowd.advance(STEP).unwrap();
        }
        let time = frame as f64 * STEP;
        for n in 0..3 {
            cast.crowd.set_world(cast.all[n], walk(n, around, time)).unwrap();
        }
        cast.frame();
        for (n, oracle) in all.iter_mut().enumerate() {
            let pose = match n > 0 && !body.scene.clips.is_empty() {
                true => body.scene.pose(0, (0.3 * n as f64 + time) % body.scene.clips[0].duration),
                false => body.scene.rest(),
            };
            let world = walk(n, around, time);
            if frame == 0 {
                oracle.rest(&body.scene, &pose, &wide(&world));
            }
            let share = if frame == 0 { 0.0 } else { 1.0 };
            let posed = (&pose, &wide(&world));
            let (want, after) = oracle.step(&body.scene, posed, (STEP, share, weights[n].into()));
            if frame > 0 {
                *oracle = after;
            }
            let what = format!("frame {frame}, instance {n}");
            close(body, &cast, n, &want, &world, &what);
            let still = phalanx_testkit::oracle::springs::worlds(&body.scene, &pose, &wide(&world));
            let away = want.iter().zip(&still).map(|(a, b)| a.w_axis.distance(b.w_axis));
            most = away.fold(most, f64::max);
        }
    }
    most
}

#[test]
fn springs_of_vrm_1_swing_as_the_oracle_has_them() {
    let (body, json) = body(Version::Newest);
    let oracle = Springs::newest(&body.scene, &json);
    assert_eq!(oracle.joints.len(), 6 * 4 - 1 + 4 + 2);
    let most = steps(&body, body.rig.springs(), &oracle, Vec3::ZERO);
    assert!(most > 0.1, "{most}");
}

#[test]
fn springs_of_vrm_0_swing_as_the_oracle_has_them() {
    let (body, json) = body(Version::Oldest);
    let oracle = Springs::oldest(&body.scene, &json);
    assert_eq!(oracle.joints.len(), 6 * 5 + 5 + 3);
    let most = steps(&body, body.rig.springs(), &oracle, Vec3::ZERO);
    assert!(most > 0.1, "{most}");
}

/// World transforms are f32, so places jump by millimetres there; the springs follow them to the micrometre.
#[test]
fn springs_swing_far_from_the_origin_as_near_it() {
    let (body, json) = body(Version::Newest);
    let oracle = Springs::newest(&body.scene, &json);
    steps(&body, body.rig.springs(), &oracle, Vec3::new(2e4, 30.0, -1e4));
}

#[test]
fn a_chain_in_code_swings_as_the_oracle_has_it() {
    let (body, springs) = chain(5);
    let most = steps(&body, &springs, &of_code(&body, &springs), Vec3::ZERO);
    assert!(most > 0.1, "{most}");
}
