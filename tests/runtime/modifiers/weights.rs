//! Weights of modifiers: none, some, and fades over time.

use super::{Body, Cast};
use glam::Vec3;
use phalanx::crowd::PlayOptions;
use phalanx::math::Affine3x4;
use phalanx::playback::{Feet, Ground, Mixer, ModifierId, PlaybackError, Target, TwoBoneIk};
use phalanx_testkit::ruler::held;

const DT: f64 = 1.0 / 32.0;
const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

fn reach(count: usize) -> (Cast, ModifierId) {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    (cast, by)
}

/// Palettes of instances that play, some of them alone, some two clips at once.
fn played(cast: &mut Cast) {
    for n in 0..cast.all.len() {
        let clip = cast.crowd.clip_by_index(cast.rig, n % 10).unwrap();
        let options = PlayOptions { time: 0.11 * n as f64, ..PlayOptions::default() };
        cast.crowd.play(cast.all[n], clip, &options).unwrap();
        if n % 3 == 0 {
            let other = cast.crowd.clip_by_index(cast.rig, (n + 3) % 10).unwrap();
            cast.crowd.fade_to(cast.all[n], other, 0.5, &PlayOptions::default()).unwrap();
        }
    }
    cast.crowd.advance(DT).unwrap();
}

#[test]
fn a_weight_of_nothing_leaves_every_bit() {
    let body = Body::character();
    let mut plain = Cast::new(&body.rig, 30);
    played(&mut plain);
    let rows = plain.frame();
    let (mut cast, by) = reach(30);
    played(&mut cast);
    let rest = TwoBoneIk::new(body.joint("LeftFoot"));
    cast.crowd.add_modifier(cast.rig, rest).unwrap();
    assert!(cast.frame() == rows, "without targets");
    let all = cast.all.clone();
    let target = [Target::world(NEAR)];
    cast.crowd.set_targets(by, &all, &target, &[0.0]).unwrap();
    assert!(cast.frame() == rows, "with a weight of 0");
    // Those that have a weight change; nobody else does.
    cast.crowd.set_targets(by, &all[10..20], &target, &[1.0]).unwrap();
    for (n, (have, plain)) in cast.frame().iter().zip(&rows).enumerate() {
        assert_eq!(have != plain, (10..20).contains(&n), "instance {n}");
    }
    cast.crowd.set_targets(by, &all[..15], &target, &[0.0]).unwrap();
    for (n, (have, plain)) in cast.frame().iter().zip(&rows).enumerate() {
        assert_eq!(have != plain, (15..20).contains(&n), "instance {n}");
    }
    cast.crowd.remove_modifier(by).unwrap();
    assert!(cast.frame() == rows, "after the modifier was removed");
    let gone = cast.crowd.set_targets(by, &all[..1], &target, &[0.0]).unwrap_err();
    let PlaybackError::Element { element: 0, source } = &gone else { panic!("{gone}") };
    assert!(matches!(**source, PlaybackError::UnknownModifier { .. }), "{gone}");
}

/// A fade that has not begun to count, and one that has just ended.
#[test]
fn fades_begin_and_end_with_every_bit() {
    let body = Body::character();
    let mut plain = Cast::new(&body.rig, 30);
    played(&mut plain);
    let (mut cast, by) = reach(30);
    played(&mut cast);
    for &i in &cast.all {
        let mut player = cast.crowd.player(i).unwrap();
        player.set_target(by, Target::model(NEAR)).unwrap();
        player.fade_modifier(by, 1.0, 0.25).unwrap();
    }
    assert!(cast.frame() == plain.frame(), "before the first step");
    for &i in &cast.all {
        cast.crowd.player(i).unwrap().fade_modifier(by, 0.0, DT as f32).unwrap();
    }
    for cast in [&mut cast, &mut plain] {
        cast.crowd.advance(DT).unwrap();
    }
    assert!(cast.frame() == plain.frame(), "after the last one");
}

/// The palette of a weight that is set at once.
fn with(weight: f32) -> Vec<Affine3x4> {
    let (mut cast, by) = reach(1);
    cast.hold(0, 0, 0.3);
    cast.aim(0, by, Target::model(NEAR), weight);
    cast.frame().remove(0)
}

#[test]
fn weights_fade_over_time() {
    let (mut cast, by) = reach(1);
    let body = Body::character();
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    let of_mixer = mixer.add_modifier(TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    cast.hold(0, 0, 0.3);
    let clip = mixer.clip_by_index(0).unwrap();
    // Seconds of 16 steps up to 0.75; from there down to 0.25 in 8; and to 0 in 4, on which it stays.
    let path = [(0.75, 16), (0.25, 8), (0.0, 4)];
    let mut player = mixer.player();
    player.play(0, clip, &held(f64::from(0.3f32), 1.0)).unwrap();
    player.set_target(of_mixer, Target::model(NEAR)).unwrap();
    cast.crowd.player(cast.all[0]).unwrap().set_target(by, Target::model(NEAR)).unwrap();
    let mut from = 0.0;
    for (to, steps) in path {
        let seconds = (DT * f64::from(steps)) as f32;
        cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, to, seconds).unwrap();
        mixer.player().fade_modifier(of_mixer, to, seconds).unwrap();
        for step in 1..=steps {
            // A slower fade to the same weight does not hold the running one up.
            cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, to, 100.0).unwrap();
            // Backwards counts as forwards, as for the fades of layers.
            let dt = if step % 3 == 0 { -DT } else { DT };
            cast.crowd.advance(dt).unwrap();
            mixer.advance(dt).unwrap();
            let weight = from + (to - from) * step as f32 / steps as f32;
            let rows = cast.frame().remove(0);
            assert!(rows == with(weight), "{step} of {steps} to {to}");
            assert!(mixer.evaluate() == rows, "{step} of {steps} to {to}");
        }
        from = to;
    }
    cast.crowd.advance(DT).unwrap();
    assert!(cast.frame()[0] == with(0.0));
}

/// Weights at rest and in the midst of fades stay if targets or grounds come without weights.
#[test]
fn targets_without_weights_leave_weights_and_fades() {
    let body = Body::character();
    let (mut cast, by) = reach(3);
    let ankles = [body.joint("LeftFoot"), body.joint("RightFoot")];
    let feet = cast.crowd.add_modifier(cast.rig, Feet::new(body.joint("Hips"), &ankles)).unwrap();
    let all = cast.all.clone();
    // The second has a weight of 0.5; the third fades to 0.8 in 8 steps.
    for m in [by, feet] {
        cast.crowd.player(all[1]).unwrap().fade_modifier(m, 0.5, 0.0).unwrap();
        cast.crowd.player(all[2]).unwrap().fade_modifier(m, 0.8, (8.0 * DT) as f32).unwrap();
    }
    for step in 0..10 {
        let x = step as f32 * 0.01;
        let targets = [0.0, 0.1, 0.2].map(|y| Target::model(NEAR + Vec3::new(x, y, 0.0)));
        let grounds = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5].map(|y| Ground::level(x + y));
        cast.crowd.set_targets(by, &all, &targets, &[]).unwrap();
        cast.crowd.set_grounds(feet, &all, &grounds, &[]).unwrap();
        for (n, weight) in [0.0, 0.5, (step as f32 * 0.1).min(0.8)].into_iter().enumerate() {
            let playing = cast.crowd.playing(all[n]).unwrap();
            assert_eq!(playing.target(by).unwrap(), (targets[n], weight), "{n} in step {step}");
            assert_eq!(playing.target(feet).unwrap().1, weight, "feet of {n} in step {step}");
        }
        cast.crowd.advance(DT).unwrap();
    }
    // One target for all, and a wrong one changes nothing.
    let before = cast.crowd.snapshot();
    let nan = [Target::model(NEAR), Target::model(NEAR), Target::model(Vec3::NAN)];
    let refused = cast.crowd.set_targets(by, &all, &nan, &[]).unwrap_err();
    assert!(matches!(refused, PlaybackError::Element { element: 2, .. }), "{refused}");
    assert!(cast.crowd.snapshot() == before);
    cast.crowd.set_targets(by, &all, &[Target::model(NEAR)], &[]).unwrap();
    for (&i, weight) in all.iter().zip([0.0, 0.5, 0.8]) {
        let playing = cast.crowd.playing(i).unwrap();
        assert_eq!(playing.target(by).unwrap(), (Target::model(NEAR), weight));
    }
}

#[test]
fn targets_and_present_weights_are_read() {
    let (mut cast, by) = reach(1);
    let i = cast.all[0];
    assert_eq!(cast.crowd.playing(i).unwrap().target(by).unwrap(), (Target::default(), 0.0));
    let target = Target::joint(3, NEAR);
    let mut player = cast.crowd.player(i).unwrap();
    player.set_target(by, target).unwrap();
    player.fade_modifier(by, 0.5, 8.0 * DT as f32).unwrap();
    for step in 1..=9 {
        cast.crowd.advance(DT).unwrap();
        let weight = (f64::from(step) / 8.0).min(1.0) as f32 * 0.5;
        assert_eq!(cast.crowd.playing(i).unwrap().target(by).unwrap(), (target, weight));
    }
    cast.crowd.remove_modifier(by).unwrap();
    assert!(cast.crowd.playing(i).unwrap().target(by).is_err());
}

#[test]
fn a_character_that_stands_still_does_not_fade() {
    let (mut cast, by) = reach(2);
    for n in 0..2 {
        cast.hold(n, 0, 0.3);
        let mut player = cast.crowd.player(cast.all[n]).unwrap();
        player.set_target(by, Target::model(NEAR)).unwrap();
        player.fade_modifier(by, 1.0, (8.0 * DT) as f32).unwrap();
    }
    cast.crowd.advance(2.0 * DT).unwrap();
    let mut player = cast.crowd.player(cast.all[0]).unwrap();
    player.set_character_speed(0.0).unwrap();
    for _ in 0..20 {
        cast.crowd.advance(DT).unwrap();
        let rows = cast.frame();
        assert!(rows[0] == with(0.25) && rows[1] != rows[0]);
    }
    assert!(cast.frame()[1] == with(1.0));
    cast.crowd.player(cast.all[0]).unwrap().set_character_speed(3.0).unwrap();
    cast.crowd.advance(2.0 * DT).unwrap();
    // Fades of weights run in the crowd's time, as those of layers do.
    assert!(cast.frame()[0] == with(0.5));
}

/// The next instance at an index has none of the targets and weights of the one before.
#[test]
fn inputs_end_with_their_instance() {
    let (mut cast, by) = reach(2);
    cast.aim(1, by, Target::model(NEAR), 1.0);
    cast.crowd.player(cast.all[1]).unwrap().fade_modifier(by, 0.5, 1.0).unwrap();
    let rest = cast.frame().remove(0);
    assert!(cast.rows(1) != rest);
    cast.crowd.despawn(cast.all[1]).unwrap();
    let again = cast.crowd.spawn(cast.rig).unwrap();
    assert_eq!(again.index(), cast.all[1].index());
    cast.all[1] = again;
    for _ in 0..3 {
        assert!(cast.frame()[1] == rest);
        cast.crowd.advance(0.4).unwrap();
    }
    // A modifier at a removed one's index has no inputs either.
    cast.aim(1, by, Target::model(NEAR), 1.0);
    cast.crowd.remove_modifier(by).unwrap();
    let next = TwoBoneIk::new(Body::character().joint("LeftHand"));
    let next = cast.crowd.add_modifier(cast.rig, next).unwrap();
    assert_ne!(next, by);
    assert!(cast.frame()[1] == rest);
    let stale = cast.crowd.player(again).unwrap().fade_modifier(by, 1.0, 0.0);
    assert!(matches!(stale, Err(PlaybackError::UnknownModifier { .. })));
    cast.aim(1, next, Target::model(NEAR), 1.0);
    assert!(cast.frame()[1] != rest);
}

/// Modifiers that meet in a joint run in the order of their indices, whatever order their inputs came in.
#[test]
fn modifiers_run_in_the_order_of_their_indices() {
    let body = Body::character();
    let (spine, arm) = (
        TwoBoneIk {
            middle: Some(body.joint("Spine1")),
            upper: Some(body.joint("Hips")),
            ..TwoBoneIk::new(body.joint("Chest"))
        },
        TwoBoneIk::new(body.joint("RightHand")),
    );
    let pose = super::posed(body, 0, 0.3);
    let lean = Target::model(body.at(&pose, spine.end).as_vec3() + Vec3::new(0.05, -0.06, 0.1));
    let (reach, one) = (Target::model(NEAR), Affine3x4::IDENTITY);
    for first in [true, false] {
        let mut cast = Cast::new(&body.rig, 1);
        cast.hold(0, 0, 0.3);
        let order = if first { [&spine, &arm] } else { [&arm, &spine] };
        let [a, b] = order.map(|ik| cast.crowd.add_modifier(cast.rig, ik.clone()).unwrap());
        let targets = if first { [lean, reach] } else { [reach, lean] };
        cast.aim(0, b, targets[1], 1.0);
        cast.aim(0, a, targets[0], 1.0);
        let want = body.bent(&pose, order[0], (&targets[0], &one), 1.0);
        let want = body.bent(&want, order[1], (&targets[1], &one), 1.0);
        body.close(&cast.models(0), &want, (0.5, 1e-4), "two modifiers");
    }
}
