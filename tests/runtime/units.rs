//! Lengths of joints are compared as what they are in model space: below an armature of another scale, of a scale that a
//! clip moves, in small models.

use glam::{Quat, Vec3};
use phalanx::build::{BuildError, BuildOptions, add_lod, build_rig};
use phalanx::clip::Channel;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, Tier, Tiers};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::retarget::{BindOptions, Binding, TranslationMode};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::chain;
use phalanx_testkit::sample::sample;
use phalanx_testkit::scaled::{below_armature, in_unit};
use std::sync::Arc;

fn node(name: &str, parent: Option<usize>, place: [f32; 3], scale: f32) -> RawNode {
    RawNode {
        name: Some(name.into()),
        parent,
        local: Trs { translation: place.into(), scale: Vec3::splat(scale), ..Trs::IDENTITY },
        ..RawNode::default()
    }
}

fn track(node: usize, channel: RawChannel, keys: &[(f32, [f32; 3])]) -> RawTrack {
    RawTrack {
        node,
        channel,
        interpolation: Interpolation::Linear,
        times: keys.iter().map(|k| k.0).collect(),
        values: keys.iter().flat_map(|k| k.1).collect(),
    }
}

fn scene(nodes: Vec<RawNode>, tracks: Vec<RawTrack>) -> RawScene {
    RawScene {
        nodes,
        clips: vec![RawClip {
            name: Some("clip".into()),
            duration: 1.0,
            tracks,
            ..RawClip::default()
        }],
        ..RawScene::default()
    }
}

fn built(raw: RawScene) -> Rig {
    build_rig(raw, &BuildOptions::default()).unwrap()
}

/// A joint's local transform at a time of the first clip.
fn at(rig: &Rig, joint: &str, time: f32) -> Trs {
    let skeleton = rig.skeleton();
    let pose = sample(&rig.clips()[0], skeleton, time).unwrap();
    let joint = skeleton.joint(joint).unwrap();
    pose.lane(skeleton.lane_of()[joint].into())
}

/// Below a scale, hips at 1 m that rise by a length in the middle of a second, and a head 1 m above them.
fn bob(scale: f32, rise: f32) -> RawScene {
    let place = |y: f32| [0.0, y / scale, 0.0];
    let keys = [(0.0, place(1.0)), (0.5, place(1.0 + rise)), (1.0, place(1.0))];
    let mut still = track(2, RawChannel::Rotation, &[(0.0, [0.0; 3])]);
    still.values.push(1.0);
    scene(
        vec![
            node("armature", None, [0.0; 3], scale),
            node("hips", Some(0), place(1.0), 1.0),
            node("head", Some(1), place(1.0), 1.0),
        ],
        // Of what is neither skinned nor animated there is no joint, and it is no part of the model's size.
        vec![track(1, RawChannel::Translation, &keys), still],
    )
}

#[test]
fn motions_of_millimetres_below_any_scale_are_kept() {
    for scale in [1.0f32, 1e-3, 1e-2, 1e2, 1e3, 1e4, 1e6] {
        let hips = at(&built(bob(scale, 0.002)), "hips", 0.5).translation.y;
        let height = f64::from(hips) * f64::from(scale);
        assert!((height - 1.002).abs() < 1e-6, "below {scale}: {height}");
    }
}

/// A lamp a kilometre away makes no noise of what the hips do; its own is that of a kilometre.
#[test]
fn joints_far_away_hide_nothing_of_the_others() {
    for (mover, moves) in [(1, 1), (3, 0)] {
        let mut raw = bob(1.0, 0.0019);
        raw.nodes.push(node("lamp", None, [0.0, 0.0, 1000.0], 1.0));
        raw.scenes = vec![vec![0, 3]];
        let still = raw.clips[0].tracks[1].clone();
        raw.clips[0].tracks.push(RawTrack { node: 3, ..still });
        raw.clips[0].tracks[0].node = mover;
        let rig = built(raw);
        let tracks = rig.clips()[0].tracks(Channel::Translation);
        assert_eq!(tracks[0], moves, "joint {mover}");
    }
}

/// Beside such a lamp a joint at the origin still has the noise of a model of its other joints' size.
#[test]
fn joints_at_the_origin_have_the_noise_of_the_model() {
    for (rise, moves) in [(2e-6, 0), (1e-4, 1)] {
        let mut raw = bob(1.0, 0.0);
        raw.nodes.push(node("lamp", None, [0.0, 0.0, 1000.0], 1.0));
        raw.scenes = vec![vec![0, 3]];
        for moved in [0, 3] {
            let mut still = raw.clips[0].tracks[1].clone();
            still.node = moved;
            raw.clips[0].tracks.push(still);
        }
        let keys = [(0.0, [0.0; 3]), (0.5, [0.0, rise, 0.0]), (1.0, [0.0; 3])];
        raw.clips[0].tracks[0] = track(0, RawChannel::Translation, &keys);
        let tracks = built(raw).clips()[0].tracks(Channel::Translation);
        assert_eq!(tracks[0], moves, "{rise} m");
    }
}

/// Two millionths of two metres are 4 µm.
#[test]
fn noise_of_micrometres_below_any_scale_is_constant() {
    for scale in [1.0f32, 1e-3, 1e-2, 1e2, 1e3, 1e4] {
        for (rise, moves) in [(2e-6, 0), (8e-6, 1)] {
            let rig = built(bob(scale, rise));
            let tracks = rig.clips()[0].tracks(Channel::Translation);
            assert_eq!(tracks[0], moves, "{rise} m below {scale}");
        }
    }
}

/// A constant that lies off the rest pose by less than the tolerance is the rest pose, by more it is not.
#[test]
fn offsets_of_constants_are_lengths_of_model_space() {
    for scale in [1.0f32, 1e-2, 1e2, 1e4] {
        for (off, constants) in [(1e-6, 0), (1e-5, 1), (1e-3, 1)] {
            let mut raw = bob(scale, 0.0);
            let track = &mut raw.clips[0].tracks[0];
            track.values.iter_mut().for_each(|y| {
                if *y > 0.0 {
                    *y = (1.0 + off) / scale;
                }
            });
            let tracks = built(raw).clips()[0].tracks(Channel::Translation);
            assert_eq!(tracks[1], constants, "{off} m below {scale}");
        }
    }
}

/// A clip that scales the armature to a thousand, and one that does not move it: both are blended.
#[test]
fn frames_are_as_large_as_clips_scale_them() {
    let mut raw = bob(1.0, 0.002);
    let small = |v: f32| [0.0, v / 1000.0, 0.0];
    let keys = [(0.0, small(1.0)), (0.5, small(1.002)), (1.0, small(1.0))];
    raw.clips[0].tracks[0] = track(1, RawChannel::Translation, &keys);
    raw.clips.push(RawClip {
        name: Some("grow".into()),
        duration: 1.0,
        tracks: vec![track(0, RawChannel::Scale, &[(0.0, [1.0; 3]), (1.0, [1000.0; 3])])],
        ..RawClip::default()
    });
    let hips = at(&built(raw), "hips", 0.5).translation.y;
    assert!((hips - 1.002e-3).abs() < 1e-9, "{hips}");
}

/// What is scaled to nothing may be shown by another clip, so nothing below it is dropped for that.
#[test]
fn motions_of_hidden_joints_are_kept() {
    let mut raw = bob(1.0, 0.002);
    raw.nodes.push(node("hand", Some(1), [0.5, 0.0, 0.0], 0.0));
    raw.nodes.push(node("sword", Some(3), [0.0, 1.0, 0.0], 1.0));
    raw.clips[0].tracks[0].node = 4;
    let sword = at(&built(raw), "sword", 0.5).translation.y;
    assert!((sword - 1.002).abs() < 1e-6, "{sword}");
}

/// A growth by a thousandth is 2 mm of 2 m, whatever the scale is that grows; rounding of exporters is none.
#[test]
fn scales_vary_by_shares() {
    for scale in [1.0f32, 1e-3, 1e-2, 1e2, 1e4] {
        for (growth, moves) in [(1e-3, 1), (4e-7, 0)] {
            let mut raw = bob(scale, 0.0);
            let end = [scale * (1.0 + growth); 3];
            let keys = [(0.0, [scale; 3]), (1.0, end)];
            raw.clips[0].tracks = vec![track(0, RawChannel::Scale, &keys)];
            let rig = built(raw);
            let tracks = rig.clips()[0].tracks(Channel::Scale);
            assert_eq!(tracks[0], moves, "{growth} of {scale}");
            let found = at(&rig, "armature", 1.0).scale.x / scale;
            let wanted = if moves == 1 { 1.0 + growth } else { 1.0 };
            assert!((found - wanted).abs() < 1e-6, "{found} of {scale}");
        }
    }
}

/// The anchor is a joint that no clip scales, and what a small armature does is as much as what a large one does.
#[test]
fn anchors_are_the_same_at_any_scale_of_the_armature() {
    let anchor = |scale: f32, growth: f32| {
        let mut raw = below_armature(&chain::raw(), scale.into());
        let armature = raw.nodes.len() - 1;
        let keys = [(0.0, [scale; 3]), (1.0, [scale * growth; 3])];
        raw.clips[0].tracks = vec![track(armature, RawChannel::Scale, &keys)];
        built(raw).anchor()
    };
    for growth in [1.005, 1.00001] {
        let plain = anchor(1.0, growth);
        for scale in [1e-3, 1e-2, 1e2, 1e4] {
            assert_eq!(anchor(scale, growth), plain, "{growth} at {scale}");
        }
    }
    assert_ne!(anchor(1.0, 1.005), anchor(1.0, 1.00001));
}

/// A joint that the target lacks is folded into the one below; both move, so that the way is sampled.
#[test]
fn folded_translations_have_as_many_keys_in_every_unit() {
    let body = |middle: bool| {
        let mut nodes = vec![node("armature", None, [0.0; 3], 1.0)];
        nodes.push(node("hips", Some(0), [0.0, 1.0, 0.0], 1.0));
        let mut parent = 1;
        if middle {
            nodes.push(node("middle", Some(1), [0.0, 0.5, 0.0], 1.0));
            parent = 2;
        }
        let hand = if middle { 0.2 } else { 0.7 };
        nodes.push(node("hand", Some(parent), [0.0, hand, 0.0], 1.0));
        let mut turn = track(2, RawChannel::Rotation, &[]);
        turn.times = vec![0.0, 0.5, 1.0];
        let turns = [0.0, 1.5, 0.0f32].map(|a| Quat::from_rotation_x(a).to_array());
        turn.values = turns.as_flattened().to_vec();
        let keys = [(0.0, [0.0, 0.2, 0.0]), (1.0, [0.0, 0.3, 0.1])];
        let moved = track(nodes.len() - 1, RawChannel::Translation, &keys);
        let tracks = if middle { vec![turn, moved] } else { vec![moved] };
        scene(nodes, tracks)
    };
    let keys = |change: &dyn Fn(&RawScene) -> RawScene| {
        let (source, target) = (built(change(&body(true))), built(change(&body(false))));
        let options =
            BindOptions { translations: TranslationMode::Animation, ..BindOptions::default() };
        let binding = Binding::new(source.skeleton(), target.skeleton(), &options).unwrap();
        let bound = binding.clip(&source.clips()[0]).unwrap();
        assert_eq!(bound.sampled, 1);
        bound.clip.key_count()
    };
    let plain = keys(&RawScene::clone);
    assert!(plain > 20, "{plain}");
    for unit in [1024.0, 1.0 / 1024.0] {
        assert_eq!(keys(&|raw| below_armature(raw, unit)), plain, "below {unit}");
        assert_eq!(keys(&|raw| in_unit(raw, unit)), plain, "in units of {unit}");
    }
}

/// A level whose bind pose differs by a tenth is another character's, one that is rounded is not.
#[test]
fn bind_poses_of_levels_are_compared_in_every_unit() {
    for scale in [1e-3, 1.0, 1e2, 1e4] {
        let raw = below_armature(&chain::raw(), scale);
        for (factor, same) in [(1.1f32, false), (1.01, false), (1.00001, true)] {
            for columns in [0..12, 12..15] {
                let mut rig = built(raw.clone());
                let mut level = raw.clone();
                for bind in &mut level.skins[0].inverse_bind {
                    bind[columns.clone()].iter_mut().for_each(|v| *v *= factor);
                }
                let done = add_lod(&mut rig, &level);
                let what = format!("{factor} of {columns:?} below {scale}: {done:?}");
                match same {
                    true => assert!(done.is_ok(), "{what}"),
                    false => assert!(
                        matches!(done, Err(BuildError::In { ref source, .. }) if source.to_string().contains("different bind pose")),
                        "{what}"
                    ),
                }
            }
        }
    }
}

/// A joint that goes to and fro by a hundredth of the chain within a millisecond: the error of sharing is measured for a
/// chain of a tenth of a millimetre as for one of metres.
#[test]
fn speeds_of_small_models_are_no_noise() {
    let shares = |unit: f64| {
        let mut raw = chain::raw();
        raw.clips.truncate(1);
        raw.clips[0].duration = 0.1;
        let jitter: Vec<(f32, [f32; 3])> =
            (0..=200).map(|k| (k as f32 / 2000.0, [0.02 * (k % 2) as f32, 0.0, 0.0])).collect();
        raw.clips[0].tracks = vec![track(0, RawChannel::Translation, &jitter)];
        let rig = Arc::new(built(in_unit(&raw, unit)));
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig).unwrap();
        let clip = crowd.clip_by_index(id, 0).unwrap();
        let instance = crowd.spawn(id).unwrap();
        crowd.play(instance, clip, &PlayOptions::default()).unwrap();
        let tier = Tier {
            // More phases than there are, at the speed that it has.
            shared_error: Some((1e-4 * unit) as f32),
            ..Tier::default()
        };
        let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
        crowd.set_tiers(Some(tiers)).unwrap();
        crowd.evaluate(&mut BoneBuffer::new());
        crowd.shown(instance).is_some_and(|s| s.shared)
    };
    assert!(!shares(1.0));
    for unit in [1e-2, 1e-3, 1e-4, 1e2] {
        assert!(!shares(unit), "{unit}");
    }
}
