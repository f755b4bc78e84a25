//! Clips of other lane orders: laid out by the crowd or the mixer that is given them, against the oracle.

use phalanx::build::{BuildError, BuildOptions, build_rig};
use phalanx::clip::{Clip, reorder_lanes};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{Mixer, PlaybackError};
use phalanx::rig::Rig;
use phalanx_testkit::oracle::{Action, Layer};
use phalanx_testkit::reference;
use phalanx_testkit::sample::sample;
use std::sync::Arc;

const JOINTS: usize = 48;
const CLIPS: usize = 4;

/// Key times that differ from joint to joint in clips 1 to 3: even, uneven, late, few.
fn times(clip: usize, joint: usize) -> Vec<f32> {
    match (clip, joint % 4) {
        (0, _) | (_, 0) => (0..=20).map(|k| k as f32 * 0.1).collect(),
        (_, 1) => (0..=12).map(|k| 2.0 * (k as f32 / 12.0).powi(2)).collect(),
        (_, 2) => (0..=5).map(|k| 0.5 + k as f32 * 0.2).collect(),
        _ => vec![0.0, 0.73, 2.0],
    }
}

/// Clip 0 has one timeline, clip 1 several, clip 2 steps among lines, clip 3 splines among lines and steps.
fn interpolation(clip: usize, joint: usize) -> Interpolation {
    match (clip, joint % 3) {
        (2 | 3, 1) => Interpolation::Step,
        (3, 2) => Interpolation::CubicSpline,
        _ => Interpolation::Linear,
    }
}

fn track(clip: usize, joint: usize, channel: RawChannel) -> RawTrack {
    let times = times(clip, joint);
    let interpolation = interpolation(clip, joint);
    let mut values = Vec::new();
    for (k, _) in times.iter().enumerate() {
        let wave = |c: usize| ((k * 5 + joint * 3 + c * 7 + clip) as f32 * 0.9).sin();
        let value = match channel {
            RawChannel::Rotation => {
                let q = [0.4 * wave(0), 0.4 * wave(1), 0.4 * wave(2), 1.5];
                let length = q.iter().map(|v| v * v).sum::<f32>().sqrt();
                q.map(|v| v / length).to_vec()
            }
            RawChannel::Translation => vec![wave(3), wave(4), wave(5)],
            _ => vec![1.0 + 0.05 * wave(6), 1.0 + 0.05 * wave(7), 1.0],
        };
        let tangent = |scale: f32| value.iter().map(move |v| v * scale).collect::<Vec<_>>();
        if interpolation == Interpolation::CubicSpline {
            values.extend(tangent(0.3));
            values.extend(value.clone());
            values.extend(tangent(-0.2));
        } else {
            values.extend(value);
        }
    }
    RawTrack { node: joint, channel, interpolation, times, values }
}

fn raw() -> RawScene {
    let clip = |clip: usize| RawClip {
        name: Some(format!("clip {clip}")),
        duration: 2.0,
        tracks: (0..JOINTS)
            .filter(|joint| joint % 5 != 4)
            .flat_map(|joint| {
                let scales = (joint % 7 == 0).then_some(RawChannel::Scale);
                [RawChannel::Rotation, RawChannel::Translation]
                    .into_iter()
                    .chain(scales)
                    .map(move |channel| track(clip, joint, channel))
            })
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        nodes: (0..JOINTS)
            .map(|i| RawNode {
                name: Some(format!("joint {i}")),
                parent: i.checked_sub(1).map(|i| i / 4),
                ..RawNode::default()
            })
            .collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); JOINTS],
        }],
        clips: (0..CLIPS).map(clip).collect(),
        ..RawScene::default()
    }
}

/// The rig in an order in which no two neighbours stay together.
fn in_order(step: usize) -> Arc<Rig> {
    let options = BuildOptions {
        lane_order: Some((0..JOINTS).map(|l| (l * step % JOINTS) as u16).collect()),
        ..BuildOptions::default()
    };
    Arc::new(build_rig(raw(), &options).unwrap())
}

/// The largest difference of a clip's palettes to the oracle's, over its duration.
fn off(rig: &Arc<Rig>, clip: Arc<Clip>, number: usize) -> f64 {
    let scene = reference::scene(&raw());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let clip = crowd.add_clip(id, clip).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let mut rows = BoneBuffer::new();
    let mut worst = 0.0f64;
    for step in 0..=97 {
        let time = f64::from(step) * 2.0 / 97.0;
        let options = PlayOptions {
            time,
            loop_mode: phalanx::playback::LoopMode::Once,
            ..PlayOptions::default()
        };
        crowd.player(instance).unwrap().restart(0, clip, &options).unwrap();
        crowd.evaluate(&mut rows);
        let range = crowd.palette_range(instance).unwrap();
        let layer = Layer::of(vec![Action::new(number, time, 1.0)]);
        let expected = reference::palette(&scene, &[layer]);
        let pairs = reference::wide(&rows.rows()[range]);
        assert_eq!(pairs.len(), expected.len());
        for (a, b) in pairs.iter().zip(&expected) {
            worst = worst.max(reference::apart(a, b));
        }
    }
    worst
}

#[test]
fn a_clip_of_another_lane_order_plays_as_the_file_says() {
    let (here, there) = (in_order(1), in_order(29));
    assert!(!there.clips()[0].fits(here.skeleton()));
    for number in 0..CLIPS {
        let own = off(&here, here.clips()[number].clone(), number);
        let laid = off(&here, there.clips()[number].clone(), number);
        // Within what a clip of the rig's own has by itself: chains of metres in f32.
        assert!(own < 3e-5 && laid < 3e-5, "{number}: {own:e}, {laid:e}");
    }
}

#[test]
fn clips_that_are_laid_out_stay_where_they_were() {
    let (here, there) = (in_order(1), in_order(29));
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(here.clone()).unwrap();
    for (number, clip) in there.clips().iter().enumerate() {
        let id = crowd.add_clip(rig, clip.clone()).unwrap();
        let laid = crowd.clip(id).unwrap();
        assert_eq!(**laid, reorder_lanes(clip, here.skeleton(), usize::MAX).unwrap());
        for step in 0..=400 {
            let time = clip.duration() * step as f32 / 400.0;
            let was = sample(clip, there.skeleton(), time).unwrap();
            let is = sample(laid, here.skeleton(), time).unwrap();
            for joint in 0..here.skeleton().len() {
                let lane = |rig: &Rig| usize::from(rig.skeleton().lane_of()[joint]);
                let (was, is) = (was.lane(lane(&there)), is.lane(lane(&here)));
                // One timeline and one kind: every key is kept.
                assert!(number != 0 || was == is, "{joint} at {time}: {was:?}, {is:?}");
                let moved = (is.translation - was.translation).length();
                let scaled = (is.scale - was.scale).length();
                assert!(moved < 1e-6 && scaled < 1e-6, "{number}: {moved:e}, {scaled:e}");
                let turned = was.rotation.as_dquat().conjugate() * is.rotation.as_dquat();
                let turned = 2.0 * turned.xyz().length();
                assert!(turned < 2e-5, "{number}: {turned:e}");
            }
        }
    }
}

#[test]
fn one_layout_serves_all_crowds_and_mixers_of_a_rig() {
    let (here, there) = (in_order(1), in_order(29));
    let clip = &there.clips()[1];
    let mut crowds = [Crowd::new(), Crowd::new()];
    let ids = crowds.each_mut().map(|crowd| {
        let rig = crowd.add_rig(here.clone()).unwrap();
        // Equal contents, another allocation.
        let first = crowd.add_clip(rig, clip.clone()).unwrap();
        let again = crowd.add_clip(rig, Arc::new((**clip).clone())).unwrap();
        let [a, b] = [first, again].map(|id| crowd.clip(id).unwrap().clone());
        assert!(Arc::ptr_eq(&a, &b));
        crowd.unload_clip(again).unwrap();
        first
    });
    let mut mixer = Mixer::new(here.clone()).unwrap();
    let id = mixer.add_clip(clip.clone()).unwrap();
    let first = crowds[0].clip(ids[0]).unwrap().clone();
    assert!(Arc::ptr_eq(&first, crowds[1].clip(ids[1]).unwrap()));
    assert!(Arc::ptr_eq(&first, mixer.clip(id).unwrap()));
    // When nothing holds it any longer, it is gone.
    let held = Arc::downgrade(&first);
    for (crowd, id) in crowds.iter_mut().zip(ids) {
        crowd.unload_clip(id).unwrap();
    }
    mixer.unload_clip(id).unwrap();
    drop(first);
    assert!(held.upgrade().is_none());
}

#[test]
fn there_and_back_keeps_every_key_of_one_timeline() {
    let (here, there) = (in_order(1), in_order(29));
    let clip = &here.clips()[0];
    let over = reorder_lanes(clip, there.skeleton(), usize::MAX).unwrap();
    let back = reorder_lanes(&over, here.skeleton(), usize::MAX).unwrap();
    assert!(back == **clip);
}

#[test]
fn what_does_not_fit_names_the_joint_and_changes_nothing() {
    let here = in_order(1);
    let mut other = raw();
    other.nodes[7].local.translation.x = 1e-4;
    let other = build_rig(other, &Default::default()).unwrap();
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(here.clone()).unwrap();
    let refused = crowd.add_clip(rig, other.clips()[0].clone());
    let text = refused.as_ref().map_err(ToString::to_string).unwrap_err();
    assert_eq!(
        text,
        "rig \"\": clip \"clip 0\" was built for another skeleton: joint 7 \"joint 7\": the rest translation is \
         [0.0001, 0.0, 0.0], in the other skeleton [0.0, 0.0, 0.0]"
    );
    let loaded = (0..).map_while(|n| crowd.clip_by_index(rig, n)).count();
    assert_eq!(loaded, CLIPS);
    // A clip of the right skeleton that is larger than allowed.
    let clip = in_order(29).clips()[3].clone();
    let refused = reorder_lanes(&clip, here.skeleton(), 100);
    assert!(matches!(refused, Err(BuildError::Limit { limit: 100, needed, .. }) if needed > 100));
    assert!(matches!(
        crowd.add_clip(rig, other.clips()[1].clone()),
        Err(PlaybackError::ClipLayout { .. })
    ));
}
