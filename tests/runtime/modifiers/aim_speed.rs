//! Looks of limited speed: how far they go in a step, that they arrive, and that snapshots, workers and tiers agree.

use super::{Body, Cast, by, line, posed};
use crate::tiers::{one, palettes};
use glam::{Affine3A, DVec2, DVec3, Quat, Vec3};
use phalanx::build::RootMotionOptions;
use phalanx::crowd::{CrowdSnapshot, PlayOptions, Tier};
use phalanx::import::{ImportOptions, mannequin_with};
use phalanx::math::Affine3x4;
use phalanx::playback::{Aim, Mixer, ModifierId, Target};
use phalanx::skeleton::Trs;
use phalanx_testkit::alloc::pool;
use phalanx_testkit::oracle::aim::Gaze;
use phalanx_workload::hash01;
use std::f32::consts::PI;
use std::sync::Arc;

const DT: f64 = 1.0 / 30.0;

/// A joint on a joint, at rest.
fn head() -> Body {
    Body::of(line(&[by([0.0, 1.0, 0.0]), by([0.0, 0.5, 0.0])]))
}

fn cast(body: &Body, aim: &Aim, count: usize) -> (Cast, ModifierId) {
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, aim.clone()).unwrap();
    (cast, by)
}

fn point(number: u64) -> Vec3 {
    let r = |k: u64| 2.0 * hash01(number * 4 + k) as f32 - 1.0;
    Vec3::new(0.0, 1.5, 0.0) + 3.0 * Vec3::new(r(0), r(1), r(2)).normalize()
}

/// In the rest pose no step turns by more than speed × dt, whatever targets do; a target that stays is looked at.
#[test]
fn no_step_is_faster_than_the_speed() {
    let body = head();
    for (limit, soft, speed) in [(PI, 0.0, 2.0), (1.2, 0.0, 4.0), (1.2, 0.5, 9.0), (2.5, 1.0, 0.5)]
    {
        let aim = Aim { limit, soft, speed, ..Aim::new(1) };
        let (mut cast, by) = cast(&body, &aim, 1);
        let (mut last, mut fast) = (DVec3::Z, 0);
        cast.aim(0, by, Target::model(point(0)), 1.0);
        // It starts forward.
        assert!(body.looks(&cast.models(0), &aim).angle_between(last) < 1e-6);
        for n in 0..400 {
            let world = Affine3x4::from_scale_rotation_translation(
                Vec3::ONE,
                Quat::from_rotation_y(0.1 * n as f32),
                Vec3::new(0.01 * n as f32, 0.0, 0.0),
            );
            cast.crowd.set_world(cast.all[0], world).unwrap();
            let at = point(1 + n / 20);
            let target = if n % 3 == 0 { Target::model(at) } else { Target::world(at) };
            cast.crowd.player(cast.all[0]).unwrap().set_target(by, target).unwrap();
            cast.crowd.advance(DT).unwrap();
            let now = body.looks(&cast.models(0), &aim);
            let turned = now.angle_between(last);
            let most = f64::from(speed) * DT;
            assert!(turned <= most + 1e-6, "step {n} of {aim:?}: {turned} of {most}");
            assert!(now.angle_between(DVec3::Z) <= f64::from(limit) + 1e-6);
            fast += usize::from(turned > 0.9 * most);
            last = now;
        }
        assert!(fast > 50, "{fast}");
        let target = Target::model(Vec3::new(1.0, 1.4, 2.5));
        cast.crowd.player(cast.all[0]).unwrap().set_target(by, target).unwrap();
        (0..300).for_each(|_| cast.crowd.advance(DT).unwrap());
        let plain = Aim { speed: f32::INFINITY, ..aim };
        let (mut at_once, id) = super::aim_speed::cast(&body, &plain, 1);
        at_once.aim(0, id, target, 1.0);
        assert_eq!(cast.models(0), at_once.models(0));
    }
}

/// A following look of a posed character is where the oracle has it, and once it has arrived the target is looked at
/// exactly, while the clip plays.
#[test]
fn looks_that_follow_are_where_the_oracle_has_them() {
    let body = Body::character();
    let [neck, joint] = ["Neck", "Head"].map(|name| body.joint(name));
    let chain = Aim::chain([(neck, 1.0), (joint, 1.5)]);
    let aim = Aim { limit: 1.4, soft: 0.3, speed: 1.5, ..chain };
    let oracle = body.aim(&aim);
    let (clip, time, weight) = (1, 0.3, 0.8);
    let worlds = posed(body, clip, time);
    for number in 0..30 {
        let target = Target::model(point(number));
        let (mut cast, by) = cast(body, &aim, 1);
        cast.hold(0, clip, time);
        cast.aim(0, by, target, weight);
        let wanted =
            DVec2::from(oracle.wanted_at_rest(&body.rest, target.position.as_dvec3().to_array()));
        for step in 0..40 {
            // Straight to what is wanted.
            let angle = 1.5 * DT * f64::from(step);
            let at = wanted.clamp_length_max(angle);
            let gaze = Gaze { at: at.to_array(), wanted: wanted.to_array(), share: angle.min(1.0) };
            let world = Affine3x4::IDENTITY;
            let want = body.aimed(&worlds, &aim, (&target, &world), Some(gaze), weight);
            body.close(&cast.models(0), &want, (1.0, 1e-4), &format!("{number}, step {step}"));
            cast.crowd.advance(DT).unwrap();
        }
    }
    // In motion.
    let aim = Aim { limit: PI, soft: 0.0, ..aim };
    let (mut cast, by) = super::aim_speed::cast(body, &aim, 1);
    let walk = cast.crowd.clip_by_index(cast.rig, clip).unwrap();
    cast.crowd.play(cast.all[0], walk, &PlayOptions::default()).unwrap();
    let at = Vec3::new(1.5, 1.2, 2.0);
    cast.aim(0, by, Target::model(at), 1.0);
    let mut before = body.off(&cast.models(0), &aim, at);
    assert!(before > 0.5);
    for n in 0..90 {
        cast.crowd.advance(DT).unwrap();
        let off = body.off(&cast.models(0), &aim, at);
        assert!(off < before.max(1e-5), "{n}: {off} after {before}");
        before = if n < 20 { before } else { off };
    }
    assert!(before < 1e-5, "{before}");
}

/// It begins forward each time that it becomes active; a character that stands still keeps its look.
#[test]
fn looks_begin_forward_and_stand_still() {
    let body = head();
    let aim = Aim { speed: 1.0, ..Aim::new(1) };
    let (mut cast, by) = cast(&body, &aim, 1);
    let target = Target::model(Vec3::new(3.0, 1.5, 0.0));
    let angle = |cast: &Cast| body.looks(&cast.models(0), &aim).angle_between(DVec3::Z);
    let close = |have: f64, want: f64| assert!((have - want).abs() < 1e-5, "{have} {want}");
    cast.aim(0, by, target, 1.0);
    // The bytes of a look that has not begun.
    let bytes = |cast: &Cast| cast.crowd.snapshot().to_bytes().len();
    let fresh = bytes(&cast);
    (0..6).for_each(|_| cast.crowd.advance(DT).unwrap());
    close(angle(&cast), 0.2);
    cast.crowd.advance(-3.0 * DT).unwrap();
    close(angle(&cast), 0.3);
    cast.crowd.player(cast.all[0]).unwrap().set_character_speed(0.0).unwrap();
    cast.crowd.advance(1.0).unwrap();
    close(angle(&cast), 0.3);
    cast.crowd.player(cast.all[0]).unwrap().set_character_speed(0.5).unwrap();
    cast.crowd.advance(0.1).unwrap();
    close(angle(&cast), 0.4);
    // Faded out by time, then in again.
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    player.fade_modifier(by, 0.0, 0.1).unwrap();
    cast.crowd.advance(0.2).unwrap();
    close(angle(&cast), 0.0);
    assert_eq!(bytes(&cast), fresh);
    cast.aim(0, by, target, 1.0);
    close(angle(&cast), 0.0);
    cast.crowd.advance(0.1).unwrap();
    close(angle(&cast), 0.1);
    // By a call, then by a fade: where the look is does not depend on the weight.
    assert!(bytes(&cast) > fresh);
    cast.aim(0, by, target, 0.0);
    assert_eq!(bytes(&cast), fresh);
    cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, 1.0, 0.4).unwrap();
    cast.crowd.advance(0.2).unwrap();
    close(angle(&cast), 0.1);
    cast.crowd.advance(0.2).unwrap();
    close(angle(&cast), 0.4);
}

fn neck_and_head(body: &Body) -> Aim {
    let [neck, head] = ["Neck", "Head"].map(|name| body.joint(name));
    let joints = [(neck, 1.0), (head, 2.0)];
    Aim { limit: 1.3, soft: 0.2, speed: 2.0, up: Some(Vec3::Y), ..Aim::chain(joints) }
}

/// Instances that play and look at moving targets.
fn crowd() -> (Cast, ModifierId) {
    let body = Body::character();
    let (mut cast, by) = cast(body, &neck_and_head(body), 40);
    for n in 0..40 {
        let clip = cast.crowd.clip_by_index(cast.rig, n % 10).unwrap();
        cast.crowd.play(cast.all[n], clip, &PlayOptions::default()).unwrap();
        cast.crowd.set_world(cast.all[n], Affine3A::from_translation(Vec3::X * n as f32)).unwrap();
    }
    (cast, by)
}

fn frame(cast: &mut Cast, by: ModifierId, n: usize) -> Vec<Vec<Affine3x4>> {
    for k in 0..cast.all.len() {
        let at = point((n / 7 + k) as u64);
        let target = [Target::model(at), Target::world(10.0 * at), Target::joint(6, at)][k % 3];
        let mut player = cast.crowd.player(cast.all[k]).unwrap();
        player.set_target(by, target).unwrap();
        if (n + k).is_multiple_of(9) {
            player.fade_modifier(by, [1.0, 0.0, 0.6][(n + k) / 9 % 3], 0.1).unwrap();
        }
    }
    cast.crowd.advance(DT).unwrap();
    cast.frame()
}

#[test]
fn restored_looks_go_on_with_the_same_bits() {
    let (mut cast, by) = crowd();
    (0..20).for_each(|n| drop(frame(&mut cast, by, n)));
    let saved = cast.crowd.snapshot();
    let read = CrowdSnapshot::from_bytes(&saved.to_bytes()).unwrap();
    assert!(read == saved && read.to_bytes() == saved.to_bytes());
    let run = |cast: &mut Cast| (20..60).map(|n| frame(cast, by, n)).collect::<Vec<_>>();
    let wanted = run(&mut cast);
    for from in [&saved, &read] {
        cast.crowd.restore(from).unwrap();
        assert!(cast.crowd.snapshot() == saved);
        assert!(run(&mut cast) == wanted);
    }
    let (mut other, _) = crowd();
    other.crowd.restore(&read).unwrap();
    assert!(run(&mut other) == wanted);
    // Any number of workers, and any number of evaluations in between.
    for threads in [1, 3] {
        let again = pool(threads).install(|| {
            let (mut cast, by) = crowd();
            (0..20).for_each(|n| {
                frame(&mut cast, by, n);
                cast.frame();
            });
            (20..60).map(|n| frame(&mut cast, by, n)).collect::<Vec<_>>()
        });
        assert!(again == wanted, "{threads} workers");
    }
}

#[test]
fn mixers_look_as_crowds_do() {
    let (mut cast, by) = crowd();
    let body = Body::character();
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    let of_mixer = mixer.add_modifier(neck_and_head(body)).unwrap();
    let clip = mixer.clip_by_index(0).unwrap();
    let mut player = mixer.player();
    player.play(0, clip, &PlayOptions::default()).unwrap();
    player.set_target(of_mixer, Target::model(point(3))).unwrap();
    player.fade_modifier(of_mixer, 1.0, 0.0).unwrap();
    cast.aim(0, by, Target::model(point(3)), 1.0);
    let mut saved = None;
    for n in 0..40 {
        if n == 10 {
            saved = Some(mixer.snapshot());
        }
        mixer.advance(DT).unwrap();
        cast.crowd.advance(DT).unwrap();
        assert!(mixer.evaluate() == cast.frame()[0], "{n}");
    }
    let end = mixer.evaluate().to_vec();
    mixer.restore(&saved.unwrap()).unwrap();
    (10..40).for_each(|_| mixer.advance(DT).unwrap());
    assert!(mixer.evaluate() == end);
}

/// In tiers a look goes on by the tier's rate, of characters too that hold one pose.
#[test]
fn looks_in_tiers_are_updated() {
    for (rate, interpolate) in [(1, false), (4, false), (8, true)] {
        let (mut cast, by) = crowd();
        let (mut plain, _) = crowd();
        for n in 0..40 {
            for cast in [&mut cast, &mut plain] {
                cast.hold(n, 1, 0.3);
                cast.aim(n, by, Target::model(point(n as u64)), 1.0);
            }
        }
        cast.crowd.set_tiers(Some(one(Tier { rate, interpolate, ..Tier::default() }))).unwrap();
        for _ in 0..60 {
            for cast in [&mut cast, &mut plain] {
                cast.crowd.advance(DT).unwrap();
                cast.crowd.evaluate(&mut cast.bones);
            }
        }
        let shown = palettes(&cast.crowd, &cast.bones, &cast.all);
        assert!(shown == plain.frame(), "{rate} {interpolate}");
    }
}

/// A character that walks by root motion keeps looking at what it passes.
#[test]
fn root_motion_is_followed_at_once() {
    let options = ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    };
    let rig = Arc::new(mannequin_with(&options).unwrap());
    let body = Body::character();
    let aim = Aim { speed: 2.0, ..Aim::new(body.joint("Head")) };
    let mut cast = Cast::new(&rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, aim.clone()).unwrap();
    cast.crowd.apply_root_motion(cast.rig, true).unwrap();
    let walk = cast.crowd.clip_named(cast.rig, "Walk_RootMotion").unwrap();
    cast.crowd.play(cast.all[0], walk, &PlayOptions::default()).unwrap();
    let at = Vec3::new(2.0, 1.5, 3.0);
    cast.aim(0, by, Target::world(at), 1.0);
    for n in 0..90 {
        cast.crowd.advance(DT).unwrap();
        let world = Affine3A::from(*cast.crowd.world(cast.all[0]).unwrap());
        let off = body.off(&cast.models(0), &aim, world.inverse().transform_point3(at));
        assert!(n < 30 || off < 2e-5, "{n}: {off}");
    }
    assert!(cast.crowd.world(cast.all[0]).unwrap().translation().z > 2.0);
}

/// In a pose far from rest too a look stays within its limit, wherever it comes from.
#[test]
fn looks_that_follow_stay_within_the_limit() {
    let body = head();
    let aim = Aim { limit: 0.8, speed: 3.0, ..Aim::new(1) };
    let (mut cast, by) = cast(&body, &aim, 1);
    let turned = Quat::from_rotation_y(1.0);
    let local = Trs { rotation: turned, ..super::by([0.0, 0.5, 0.0]) };
    cast.crowd.player(cast.all[0]).unwrap().set_override(1, local).unwrap();
    let forward = (turned * Vec3::Z).as_dvec3();
    let mut most = 0.0f64;
    for (n, x) in [-9.0, 0.0, 9.0, -3.0, 0.3].into_iter().enumerate() {
        cast.aim(0, by, Target::model(Vec3::new(x, 1.5, 3.0)), 1.0);
        for _ in 0..40 {
            let off = body.looks(&cast.models(0), &aim).angle_between(forward);
            assert!(off < 0.8 + 1e-5, "target {n}: {off}");
            most = most.max(off);
            cast.crowd.advance(DT).unwrap();
        }
    }
    assert!(most > 0.79, "{most}");
}
