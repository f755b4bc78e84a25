//! What the host reads and sets: positions of feet, grounds, refusals; workers and tiers.

use super::super::posed;
use super::{Body, Cast, both, cast};
use crate::tiers::{DT, one};
use glam::{Quat, Vec3};
use phalanx::crowd::{PlayOptions, PoseStage, Tier};
use phalanx::math::Affine3x4;
use phalanx::playback::{Feet, Foot, Ground, Mixer, ModifierId, PlaybackError, Target, TwoBoneIk};
use phalanx_testkit::ruler::held;
use phalanx_workload::hash01;

fn walk(cast: &mut Cast) {
    for (n, &i) in cast.all.iter().enumerate() {
        let clip = cast.crowd.clip_by_index(cast.rig, 1 + n % 3).unwrap();
        let options = PlayOptions { time: 0.07 * n as f64, ..PlayOptions::default() };
        cast.crowd.play(i, clip, &options).unwrap();
    }
}

/// The first instance, which plays clip 1, goes to a time.
fn seek(cast: &mut Cast, time: f32) {
    let clip = cast.crowd.clip_by_index(cast.rig, 1).unwrap();
    cast.crowd.player(cast.all[0]).unwrap().set_time(0, clip, time.into()).unwrap();
}

/// Positions are of the last frame, and of the present world transform.
#[test]
fn positions_are_one_frame_old_and_follow_the_world() {
    let body = Body::character();
    let feet = both(body);
    let ankles: Vec<usize> = feet.feet.iter().map(|foot| foot.leg.end).collect();
    let (mut cast, by) = cast(body, &feet, 2);
    cast.hold(0, 1, 0.2);
    let of = |worlds: &[_], at: Vec3| {
        ankles.iter().map(|&j| body.at(worlds, j).as_vec3() + at).collect::<Vec<_>>()
    };
    let close = |have: [Vec3; 2], want: Vec<Vec3>, what: &str| {
        let off = have.iter().zip(&want).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(off < 1e-5, "{what}: {have:?}, not {want:?}");
    };
    // Before any frame they are of the present pose.
    close(cast.feet(0, by), of(&posed(body, 1, 0.2), Vec3::ZERO), "spawned");
    close(cast.feet(1, by), of(&body.rest, Vec3::ZERO), "at rest");
    cast.stand(0, by, &[Ground::level(0.2), Ground::level(-0.1)], 1.0);
    cast.frame();
    close(cast.feet(0, by), of(&posed(body, 1, 0.2), Vec3::ZERO), "without the modifier");
    seek(&mut cast, 0.5);
    close(cast.feet(0, by), of(&posed(body, 1, 0.2), Vec3::ZERO), "a frame later");
    let at = Vec3::new(3.0, -1.0, 8.0);
    cast.crowd.set_world(cast.all[0], glam::Affine3A::from_translation(at)).unwrap();
    close(cast.feet(0, by), of(&posed(body, 1, 0.2), at), "moved");
    cast.frame();
    close(cast.feet(0, by), of(&posed(body, 1, 0.5), at), "evaluated");
    cast.crowd.set_scheduled(cast.all[0], false).unwrap();
    seek(&mut cast, 0.1);
    cast.frame();
    close(cast.feet(0, by), of(&posed(body, 1, 0.5), at), "not scheduled");
    // A mixer evaluates on the call.
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    let by = mixer.add_modifier(feet.clone()).unwrap();
    let clip = mixer.clip_by_index(1).unwrap();
    for time in [0.2, 0.4] {
        let mut player = mixer.player();
        player.play(0, clip, &held(time, 1.0)).unwrap();
        player.set_time(0, clip, time).unwrap();
        player.set_grounds(by, &[Ground::level(0.3); 2]).unwrap();
        player.fade_modifier(by, 1.0, 0.0).unwrap();
        let mut have = [Vec3::ZERO; 2];
        mixer.foot_positions(by, &mut have).unwrap();
        close(have, of(&posed(body, 1, time as f32), Vec3::ZERO), "mixer");
    }
    assert!(mixer.foot_positions(by, &mut [Vec3::ZERO]).is_err());
}

/// Frames that watched other joints, or feet no longer, say nothing of feet.
#[test]
fn positions_are_right_whatever_else_is_watched() {
    let body = Body::character();
    let feet = both(body);
    let ankles: Vec<usize> = feet.feet.iter().map(|foot| foot.leg.end).collect();
    let mut cast = Cast::new(&body.rig, 1);
    cast.hold(0, 1, 0.2);
    let close = |have: [Vec3; 2], what: &str| {
        let want = posed(body, 1, 0.2);
        for (have, &ankle) in have.iter().zip(&ankles) {
            let off = have.distance(body.at(&want, ankle).as_vec3());
            assert!(off < 1e-5, "{what}: {off}");
        }
    };
    cast.crowd.watch(cast.rig, &[body.joint("Head")], PoseStage::After).unwrap();
    cast.frame();
    let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
    cast.stand(0, by, &[Ground::level(0.2), Ground::level(-0.1)], 1.0);
    close(cast.feet(0, by), "watched since the last frame");
    cast.frame();
    close(cast.feet(0, by), "watched");
    cast.crowd.unwatch(cast.rig, &ankles, PoseStage::Before).unwrap();
    cast.frame();
    close(cast.feet(0, by), "no longer watched");
}

/// A hilly ground.
fn ground(at: Vec3) -> Ground {
    let (x, z) = (at.x, at.z);
    let height = 0.2 * (0.9 * x).sin() + 0.15 * (1.3 * z).cos();
    let slope = Vec3::new(-0.18 * (0.9 * x).cos(), 1.0, 0.195 * (1.3 * z).sin());
    Ground { height, normal: slope }
}

fn step(cast: &mut Cast, by: ModifierId) {
    let mut at = vec![Vec3::ZERO; 2 * cast.all.len()];
    cast.crowd.foot_positions(by, &cast.all, &mut at).unwrap();
    let grounds: Vec<_> = at.into_iter().map(ground).collect();
    cast.crowd.set_grounds(by, &cast.all, &grounds, &[1.0]).unwrap();
    cast.crowd.advance(DT).unwrap();
    cast.crowd.evaluate(&mut cast.bones);
}

fn spread(cast: &mut Cast) {
    for (n, &i) in cast.all.iter().enumerate() {
        let r = |k: u64| 10.0 * hash01(n as u64 * 4 + k) as f32;
        let at = Vec3::new(r(0), ground(Vec3::new(r(0), 0.0, r(1))).height, r(1));
        let turn = Quat::from_rotation_y(r(2));
        let world = glam::Affine3A::from_rotation_translation(turn, at);
        cast.crowd.set_world(i, world).unwrap();
    }
}

#[test]
fn workers_change_no_bit_of_feet() {
    let body = Body::character();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut cast, by) = cast(body, &both(body), 200);
            walk(&mut cast);
            spread(&mut cast);
            let mut hashes = Vec::new();
            for _ in 0..6 {
                step(&mut cast, by);
                hashes.push(cast.bones.hash());
            }
            hashes
        })
    };
    let wanted = run(1);
    assert!(wanted.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(run(2) == wanted && run(7) == wanted);
}

/// In tiers, feet are as old as the rate allows, and positions are of every frame.
#[test]
fn feet_in_tiers_go_on_by_their_rates() {
    let body = Body::character();
    for (rate, interpolate) in [(1, false), (4, false), (4, true)] {
        let (mut cast, by) = cast(body, &both(body), 24);
        let (mut plain, same) = super::cast(body, &both(body), 24);
        for cast in [&mut cast, &mut plain] {
            walk(cast);
            spread(cast);
            for n in 0..24 {
                let still = cast.crowd.clip_by_index(cast.rig, 0).unwrap();
                if n % 2 == 0 {
                    cast.crowd.play(cast.all[n], still, &held(0.2, 1.0)).unwrap();
                }
            }
        }
        cast.crowd.set_tiers(Some(one(Tier { rate, interpolate, ..Tier::default() }))).unwrap();
        let mut seen: Vec<Vec<Vec<Affine3x4>>> = Vec::new();
        for frame in 0..12 {
            if frame < 8 {
                step(&mut cast, by);
                step(&mut plain, same);
            } else {
                // The ground rises.
                for cast in [&mut cast, &mut plain] {
                    let all: Vec<_> =
                        (0..48).map(|n| Ground::level(0.02 * (frame + n) as f32)).collect();
                    cast.crowd.set_grounds(by, &cast.all.clone(), &all, &[1.0]).unwrap();
                    cast.crowd.evaluate(&mut cast.bones);
                }
            }
            for n in 0..24 {
                let [a, b] = [cast.feet(n, by), plain.feet(n, same)];
                assert!(a[0].distance(b[0]) < 1e-5 && a[1].distance(b[1]) < 1e-5);
            }
            seen.push((0..24).map(|n| plain.rows(n)).collect());
            if !interpolate {
                for n in 0..24 {
                    let rows = cast.rows(n);
                    let age = seen.iter().rev().take(rate.into()).position(|all| all[n] == rows);
                    assert!(age.is_some(), "rate {rate}, frame {frame}, {n}");
                }
            }
        }
        // Those that hold their pose come to rest on their grounds.
        for _ in 0..3 * usize::from(rate) {
            cast.crowd.evaluate(&mut cast.bones);
        }
        for n in (0..24).step_by(2) {
            let off = crate::tiers::apart(&cast.rows(n), &plain.rows(n));
            assert!(off < 1e-5, "rate {rate} {interpolate}: {n} is off by {off}");
        }
    }
}

/// The sphere around an instance holds its joints, wherever the ground is.
#[test]
fn the_bounding_sphere_holds_feet() {
    let body = Body::character();
    let (mut cast, by) = cast(body, &Feet { reach: 1.0, ..both(body) }, 1);
    for number in 0..40 {
        let r = |k: u64| 2.0 * hash01(number * 8 + k) as f32 - 1.0;
        cast.hold(0, number as usize % 10, 0.3);
        let ground = |k| Ground { height: 3.0 * r(k), normal: Vec3::new(r(k + 1), 0.5, r(k + 2)) };
        cast.stand(0, by, &[ground(0), ground(3)], 1.0);
        let sphere = cast.crowd.bounding_sphere(cast.all[0]).unwrap().unwrap();
        for (joint, model) in cast.models(0).iter().enumerate() {
            let far = model.translation().distance(Vec3::from(sphere.center));
            assert!(far <= sphere.radius, "{number}: joint {joint} {far} of {sphere:?}");
        }
    }
}

#[test]
fn feet_that_do_not_fit_are_refused() {
    let body = Body::character();
    let good = both(body);
    let mut cast = Cast::new(&body.rig, 1);
    let hand = body.joint("RightHand");
    let twice = || vec![good.feet[0].clone(), good.feet[0].clone()];
    let marked = Foot { markers: Some(["step".into(), "step".into()]), ..good.feet[0].clone() };
    let cases = [
        (Feet { feet: vec![], ..good.clone() }, "there are 0 feet, not 1 to 8"),
        (Feet { feet: vec![good.feet[0].clone(); 9], ..good.clone() }, "there are 9 feet"),
        (Feet { feet: twice(), ..good.clone() }, "two legs have joint"),
        (Feet::new(hand, &[good.feet[0].leg.end]), "is not below the pelvis, joint"),
        (Feet::new(1000, &[hand]), "joint"),
        (Feet::new(good.pelvis, &[1000]), "joint"),
        (Feet { reach: f32::NAN, ..good.clone() }, "reach"),
        (Feet { reach: 1.5, ..good.clone() }, "reach"),
        (Feet { tilt: -0.1, ..good.clone() }, "tilt"),
        (Feet { tilt: 2.0, ..good.clone() }, "tilt"),
        (
            Feet { feet: vec![marked], ..good.clone() },
            "\"step\" both puts a foot down and lifts it",
        ),
    ];
    for (feet, why) in cases {
        let error = cast.crowd.add_modifier(cast.rig, feet).unwrap_err().to_string();
        assert!(error.contains(why), "{error}: not {why}");
    }
    // Nothing is watched for those that were refused.
    cast.frame();
    assert!(cast.crowd.watched(cast.all[0], PoseStage::Before).unwrap().joints.is_empty());
    let by = cast.crowd.add_modifier(cast.rig, good).unwrap();
    cast.frame();
    assert_eq!(cast.crowd.watched(cast.all[0], PoseStage::Before).unwrap().joints.len(), 2);
    cast.crowd.remove_modifier(by).unwrap();
    cast.frame();
    assert!(cast.crowd.watched(cast.all[0], PoseStage::Before).unwrap().joints.is_empty());
}

#[test]
fn grounds_that_do_not_fit_are_refused_and_change_nothing() {
    let body = Body::character();
    let (mut cast, by) = cast(body, &both(body), 3);
    let arm = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    let other = cast.crowd.add_rig(body.rig.clone()).unwrap();
    let stranger = cast.crowd.spawn(other).unwrap();
    cast.stand(0, by, &[Ground::level(0.1); 2], 0.7);
    let before = cast.crowd.snapshot();
    let level = [Ground::level(0.2); 6];
    let all = cast.all.clone();
    let bad = |height, normal| {
        let mut grounds = level;
        grounds[5] = Ground { height, normal };
        grounds
    };
    let crowd = &mut cast.crowd;
    for (grounds, weights) in [
        (bad(f32::NAN, Vec3::Y), 1.0),
        (bad(f32::INFINITY, Vec3::Y), 1.0),
        (bad(2e15, Vec3::Y), 1.0),
        (bad(0.0, Vec3::ZERO), 1.0),
        (bad(0.0, Vec3::new(0.0, f32::NAN, 0.0)), 1.0),
        (level, f32::NAN),
        (level, 1.1),
        (level, -0.1),
    ] {
        let refused = crowd.set_grounds(by, &all, &grounds, &[1.0, 1.0, weights]);
        let error = refused.expect_err(&format!("{grounds:?} {weights}"));
        assert!(matches!(&error, PlaybackError::Element { element: 2, .. }), "{error}");
        assert!(crowd.snapshot() == before, "{error}");
    }
    let mut out = [Vec3::ONE; 6];
    let refused = |result: Result<(), PlaybackError>, why: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(why), "{error}: not {why}");
    };
    refused(
        crowd.set_grounds(by, &all, &level[..5], &[1.0]),
        "5 values given for 2 joints of 3 instances",
    );
    refused(crowd.set_grounds(by, &all, &level, &[1.0; 2]), "weights");
    refused(crowd.set_grounds(by, &[], &level, &[1.0]), "6 values");
    refused(crowd.set_grounds(arm, &all, &level, &[1.0]), "modifier 1 has no feet");
    refused(crowd.set_grounds(by, &[all[0], stranger], &level[..4], &[1.0]), "instance");
    refused(crowd.set_targets(by, &all, &[Target::default()], &[1.0]), "it takes no targets");
    refused(crowd.set_targets(by, &[], &[], &[]), "it takes no targets");
    refused(crowd.player(all[0]).unwrap().set_target(by, Target::default()), "it takes no targets");
    refused(crowd.player(all[0]).unwrap().set_grounds(by, &level[..1]), "1 value");
    refused(crowd.player(all[0]).unwrap().set_grounds(arm, &level[..2]), "has no feet");
    refused(crowd.foot_positions(by, &all, &mut out[..5]), "5 values");
    refused(crowd.foot_positions(arm, &all, &mut out), "has no feet");
    refused(crowd.foot_positions(by, &[all[0], all[1], stranger], &mut out), "instance");
    assert!(out == [Vec3::ONE; 6] && crowd.snapshot() == before);
    assert!(crowd.set_grounds(by, &[], &[], &[]).is_ok());
    crowd.remove_modifier(by).unwrap();
    refused(crowd.set_grounds(by, &all, &level, &[1.0]), "was removed");
    refused(crowd.foot_positions(by, &all, &mut out), "was removed");
}
