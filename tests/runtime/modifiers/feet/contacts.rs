//! When soles follow the ground: by markers of clips, by weights of several clips, by height.

use super::super::place;
use super::{Body, Cast, both};
use glam::{Quat, Vec3};
use phalanx::clip::Marker;
use phalanx::crowd::{LayerOptions, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx::playback::{ClipId, Feet, Ground, ModifierId, PoseSpace};
use phalanx::skeleton::JointMask;
use phalanx_testkit::oracle::feet::contact;
use phalanx_testkit::ruler::held;
use std::sync::Arc;

const SLOPE: f32 = 0.4;

/// Feet with markers, level soles at full contact, on a slope.
fn marked(body: &Body) -> Feet {
    let mut feet = Feet { tilt: 1.0, ..both(body) };
    for (foot, side) in feet.feet.iter_mut().zip(["left", "right"]) {
        foot.markers = Some([format!("{side} down"), format!("{side} up")]);
    }
    feet
}

/// A clip of the built-in character with markers.
fn clip(cast: &mut Cast, body: &Body, clip: usize, markers: &[(&str, f32)]) -> ClipId {
    let clip = body.rig.clips()[clip].as_ref().clone();
    let markers = markers.iter().map(|&(name, time)| Marker::new(name, time)).collect();
    cast.crowd.add_clip(cast.rig, Arc::new(clip.with_markers(markers).unwrap())).unwrap()
}

fn slope() -> Ground {
    Ground { height: 0.0, normal: Quat::from_rotation_x(SLOPE) * Vec3::Y }
}

/// By how much of the slope the sole of a foot is turned: the tangents of half the angles.
fn share(cast: &mut Cast, by: ModifierId, feet: &Feet, foot: usize) -> f64 {
    cast.stand(0, by, &[slope(); 2], 0.0);
    let plain = cast.models(0);
    cast.stand(0, by, &[slope(); 2], 1.0);
    let models = cast.models(0);
    let ankle = feet.feet[foot].leg.end;
    assert!(place(&models, ankle).distance(place(&plain, ankle)) < 1e-5);
    let linear = |m: &Affine3x4| glam::Affine3A::from(*m).matrix3;
    let up = linear(&models[ankle]) * linear(&plain[ankle]).inverse() * glam::Vec3A::Y;
    let angle = f64::from(up.z.atan2(up.y));
    (angle / 2.0).tan() / f64::from(SLOPE / 2.0).tan()
}

#[test]
fn soles_follow_the_ground_between_the_markers() {
    let body = Body::character();
    let feet = marked(body);
    let duration = body.scene.clips[1].duration;
    let d = duration as f32;
    // Put down and lifted; across the end; twice; with a gap shorter than two fades; never lifted; never put down.
    let cases: [&[(&str, f32)]; 6] = [
        &[("left down", 0.3 * d), ("left up", 0.6 * d)],
        &[("left up", 0.2 * d), ("left down", 0.8 * d), ("other", 0.5 * d)],
        &[
            ("left down", 0.1 * d),
            ("left up", 0.2 * d),
            ("left down", 0.6 * d),
            ("left up", 0.9 * d),
        ],
        &[
            ("left down", 0.2 * d),
            ("left up", 0.5 * d),
            ("left down", 0.5 * d + 0.05),
            ("left up", 0.9 * d),
        ],
        &[("left down", 0.4 * d), ("left down", 0.5 * d)],
        &[("left up", 0.4 * d), ("left up", 0.41 * d)],
    ];
    for markers in cases {
        let mut cast = Cast::new(&body.rig, 1);
        let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
        let clip = clip(&mut cast, body, 1, markers);
        let events: Vec<_> = markers
            .iter()
            .filter(|m| m.0 != "other")
            .map(|&(name, time)| (f64::from(time), name.ends_with("down")))
            .collect();
        cast.crowd.play(cast.all[0], clip, &held(0.0, 1.0)).unwrap();
        let (mut seen, steps) = ([0; 3], 57);
        for step in 0..steps {
            let time = duration * f64::from(step) / f64::from(steps);
            cast.crowd.player(cast.all[0]).unwrap().set_time(0, clip, time).unwrap();
            let have = share(&mut cast, by, &feet, 0);
            let want = contact(&events, duration, time).unwrap();
            assert!((have - want).abs() < 2e-3, "{markers:?} at {time}: {have}, not {want}");
            seen[if want == 0.0 {
                0
            } else if want == 1.0 {
                2
            } else {
                1
            }] += 1;
        }
        assert!(
            seen.iter().filter(|&&n| n > 0).count()
                >= if events.len() > 2 || events[0].1 != events[1].1 { 2 } else { 1 }
        );
    }
}

/// A pose that the host gives covers the clips, and what their markers say.
#[test]
fn in_poses_of_the_host_feet_are_on_the_ground_by_their_height() {
    let body = Body::character();
    let feet = marked(body);
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
    let lifted = clip(&mut cast, body, 1, &[("left up", 0.0), ("right up", 0.0)]);
    cast.crowd.play(cast.all[0], lifted, &held(0.2, 1.0)).unwrap();
    let skeleton = body.rig.skeleton();
    let rest: Vec<_> = (0..skeleton.len()).map(|joint| skeleton.rest(joint)).collect();
    // All of the rest pose, in which feet are on the ground; with a part of the weight that part counts at least.
    for (weight, least) in [(0.0, 0.0), (1.0, 1.0), (0.4, 0.0)] {
        let space = PoseSpace::Local;
        cast.crowd.set_poses(cast.rig, &cast.all, &rest, space, &[weight]).unwrap();
        let have = share(&mut cast, by, &feet, 0);
        let most = f64::from(weight) + 2e-3;
        assert!(have > least - 2e-3 && have < most, "weight {weight}: {have}");
    }
}

/// Two clips by their weights, one without markers, and the rest pose.
#[test]
fn clips_count_by_their_weights() {
    let body = Body::character();
    let feet = marked(body);
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
    let down = clip(&mut cast, body, 1, &[("left down", 0.0), ("right up", 0.0)]);
    let up = clip(&mut cast, body, 2, &[("left up", 0.0), ("right down", 0.0)]);
    let i = cast.all[0];
    let weighted = |weight: f32| PlayOptions { speed: 0.0, weight, ..PlayOptions::default() };
    cast.crowd.player(i).unwrap().add(0, down, &weighted(0.3)).unwrap();
    cast.crowd.player(i).unwrap().add(0, up, &weighted(0.7)).unwrap();
    for (foot, want) in [(0, 0.3), (1, 0.7)] {
        let have = share(&mut cast, by, &feet, foot);
        assert!((have - want).abs() < 2e-3, "{foot}: {have}");
    }
    // The rest pose stands on the ground.
    cast.crowd.player(i).unwrap().stop_layer(0, 0.0).unwrap();
    assert!((share(&mut cast, by, &feet, 0) - 1.0).abs() < 1e-3);
    cast.crowd.player(i).unwrap().add(0, up, &weighted(0.6)).unwrap();
    let mixed = share(&mut cast, by, &feet, 0);
    let height = {
        cast.stand(0, by, &[slope(); 2], 0.0);
        let leg = &feet.feet[0].leg;
        let raised = f64::from(place(&cast.models(0), leg.end).y) - body.at(&body.rest, leg.end).y;
        (1.0 - raised / (0.1 * body.length(&body.rest, leg))).clamp(0.0, 1.0)
    };
    assert!((mixed - 0.4 * height).abs() < 3e-3, "{mixed}, not 0.4 of {height}");
}

/// A masked layer counts where its mask has the ankle; additive layers do not count.
#[test]
fn layers_count_by_their_masks() {
    let body = Body::character();
    let feet = marked(body);
    let legs = JointMask::subtree(body.rig.skeleton(), "LeftUpLeg");
    let mask = legs.or_else(|_| JointMask::subtree(body.rig.skeleton(), "LeftFoot")).unwrap();
    let layers =
        vec![LayerOptions::default(), LayerOptions { mask: Some(mask), ..LayerOptions::default() }];
    let mut crowd = phalanx::crowd::Crowd::new();
    let rig = crowd.add_rig_with_layers(body.rig.clone(), layers).unwrap();
    let all = vec![crowd.spawn(rig).unwrap()];
    let mut cast = Cast { crowd, rig, all, bones: phalanx::crowd::BoneBuffer::new() };
    let by = cast.crowd.add_modifier(rig, feet.clone()).unwrap();
    let down = clip(&mut cast, body, 1, &[("left down", 0.0), ("right down", 0.0)]);
    let up = clip(&mut cast, body, 2, &[("left up", 0.0), ("right up", 0.0)]);
    cast.crowd.play_many(&cast.all, 0, &[down], &[held(0.0, 1.0)]).unwrap();
    cast.crowd.play_many(&cast.all, 1, &[up], &[held(0.0, 1.0)]).unwrap();
    for (weight, left) in [(1.0, 0.0), (0.25, 0.75), (0.0, 1.0)] {
        cast.crowd.player(cast.all[0]).unwrap().set_layer_weight(1, weight).unwrap();
        for (foot, want) in [(0, left), (1, 1.0)] {
            let have = share(&mut cast, by, &feet, foot);
            assert!((have - want).abs() < 2e-3, "{weight}, {foot}: {have}");
        }
    }
    // A clip without markers over one that has them: the foot is in the air.
    let raised = cast.crowd.clip_by_index(rig, 2).unwrap();
    cast.crowd.player(cast.all[0]).unwrap().stop_layer(1, 0.0).unwrap();
    for time in [0.1, 0.3] {
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.set_layer_weight(1, 0.4).unwrap();
        player.play(1, raised, &held(time, 1.0)).unwrap();
        player.set_time(1, raised, time).unwrap();
        cast.stand(0, by, &[slope(); 2], 0.0);
        let leg = &feet.feet[0].leg;
        let lift = f64::from(place(&cast.models(0), leg.end).y) - body.at(&body.rest, leg.end).y;
        let height = (1.0 - lift / (0.1 * body.length(&body.rest, leg))).clamp(0.0, 1.0);
        let have = share(&mut cast, by, &feet, 0);
        assert!((have - 0.6 - 0.4 * height).abs() < 3e-3, "{time}: {have}, {height}");
    }
}

/// Clips that come and go at one index.
#[test]
fn contacts_follow_the_clips() {
    let body = Body::character();
    let feet = marked(body);
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
    for (name, want) in [("left down", 1.0), ("left up", 0.0), ("left down", 1.0)] {
        let clip = clip(&mut cast, body, 1, &[(name, 0.1)]);
        cast.crowd.play(cast.all[0], clip, &held(0.0, 1.0)).unwrap();
        assert!((share(&mut cast, by, &feet, 0) - want).abs() < 2e-3);
        cast.crowd.player(cast.all[0]).unwrap().stop_all(0.0).unwrap();
        cast.crowd.unload_clip(clip).unwrap();
    }
}
