//! Layers: masks, additive clips, and what a full one does.

use phalanx::build::{build_additive_raw, build_rig};
use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, LayerOptions, PlayOptions, RigId};
use phalanx::playback::{Fill, PoseAction, evaluate_pose};
use phalanx::skeleton::JointMask;
use phalanx_testkit::chain::{close, palette, raw};
use phalanx_testkit::ruler::{held, line, scene, stands, with_clips};
use std::sync::Arc;

#[test]
fn layers_masks_and_additive_clips() {
    let raw = raw();
    let rig = Arc::new(build_rig(raw.clone(), &Default::default()).unwrap());
    let reference = evaluate_pose(&rig, &[PoseAction { clip: 1, time: 0.0, weight: 1.0 }]).unwrap();
    let additive = Arc::new(build_additive_raw(&rig, (&raw, 1), &reference.pose).unwrap());
    let mask = JointMask::subtree(rig.skeleton(), 10).unwrap();
    let layers = vec![
        LayerOptions::default(),
        LayerOptions { additive: false, mask: Some(mask.clone()), ..LayerOptions::default() },
        LayerOptions { additive: true, mask: None, ..LayerOptions::default() },
    ];
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|n| crowd.clip_named(id, n).unwrap());
    let d = crowd.add_clip(id, additive).unwrap();
    let i = crowd.spawn(id).unwrap();
    let at = |time| PlayOptions { time, ..PlayOptions::default() };
    crowd.player(i).unwrap().fade_to(0, a, 0.0, &at(0.3)).unwrap();
    crowd.player(i).unwrap().fade_to(1, c, 0.0, &at(0.9)).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    // Masked fully above joint 10: the lower joints follow `a`, the upper ones turn as in `c`.
    let lower = palette(&[(0, 0.3, 1.0)]);
    close(&buffer.rows()[..10], &lower[..10]);
    let far = (buffer.rows()[19].translation() - lower[19].translation()).length();
    assert!(far > 1e-3);
    // The additive clip on top of the clip it came from, from its own reference on.
    crowd.player(i).unwrap().stop_layer(1, 0.0).unwrap();
    crowd.player(i).unwrap().fade_to(0, b, 0.0, &at(0.0)).unwrap();
    crowd.player(i).unwrap().fade_to(2, d, 0.0, &at(0.45)).unwrap();
    crowd.evaluate(&mut buffer);
    close(buffer.rows(), &palette(&[(1, 0.45, 1.0)]));
    // A clip of the wrong kind is refused.
    assert!(matches!(
        crowd.player(i).unwrap().fade_to(2, a, 0.0, &at(0.0)),
        Err(CrowdError::ClipKind { have: "full", needed: "additive", .. })
    ));
    assert!(matches!(
        crowd.player(i).unwrap().fade_to(0, d, 0.0, &at(0.0)),
        Err(CrowdError::ClipKind { have: "additive", .. })
    ));
    assert!(matches!(
        crowd.player(i).unwrap().fade_to(3, a, 0.0, &at(0.0)),
        Err(CrowdError::UnknownLayer { layer: 3, layers: 3, .. })
    ));
}

#[test]
fn a_full_layer_gives_way_to_the_new_and_counts() {
    let mut scene = raw();
    for n in 0..4 {
        let mut more = scene.clips[0].clone();
        more.name = Some(format!("more{n}"));
        scene.clips.push(more);
    }
    let rig = Arc::new(build_rig(scene, &Default::default()).unwrap());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let i = crowd.spawn(id).unwrap();
    for n in 0..6 {
        let clip = crowd.clip_by_index(id, n).unwrap();
        crowd.fade_to(i, clip, 1.0, &PlayOptions::default()).unwrap();
        crowd.advance(0.05).unwrap();
    }
    assert_eq!(crowd.evicted(), 2);
    let newest = crowd.clip_by_index(id, 5).unwrap();
    assert!(crowd.playing(i).unwrap().action(0, newest).is_ok());
}

/// An instance of the ruler with an additive layer, and clips that add 1 m along x and 2 m along y in 1 s.
fn added(fill: Fill) -> (Crowd, RigId, InstanceId, [Arc<Clip>; 2]) {
    let clips = vec![line("x", 1.0, [1.0, 0.0, 0.0]), line("y", 1.0, [0.0, 2.0, 0.0])];
    let rig = with_clips(clips.clone());
    let raw = scene(clips);
    let rest = rig.skeleton().rest_pose();
    let clips = [0, 1].map(|c| Arc::new(build_additive_raw(&rig, (&raw, c), rest).unwrap()));
    let layers =
        [false, true].map(|additive| LayerOptions { additive, fill, ..LayerOptions::default() });
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers.into()).unwrap();
    let i = crowd.spawn(id).unwrap();
    (crowd, id, i, clips)
}

/// An additive layer has nothing to fill: weights of any sign and sum count, whatever `fill` says.
#[test]
fn additive_weights_that_sum_to_nothing_count() {
    for fill in [Fill::Rest, Fill::Below] {
        let (mut crowd, id, i, clips) = added(fill);
        let [x, y] = clips.map(|clip| crowd.add_clip(id, clip).unwrap());
        let mut buffer = BoneBuffer::new();
        let mut player = crowd.player(i).unwrap();
        player.add(1, x, &held(0.5, -1.0)).unwrap();
        crowd.evaluate(&mut buffer);
        stands(buffer.rows(), [-0.5, 0.0, 0.0]);
        let mut player = crowd.player(i).unwrap();
        player.add(1, y, &held(0.5, 1.0)).unwrap();
        crowd.evaluate(&mut buffer);
        stands(buffer.rows(), [-0.5, 1.0, 0.0]);
    }
}

#[test]
fn a_full_layer_evicts_the_action_whose_weight_is_nearest_to_zero() {
    let (mut crowd, id, i, [clip, _]) = added(Fill::Rest);
    let clips = [0; 5].map(|_| crowd.add_clip(id, clip.clone()).unwrap());
    let mut player = crowd.player(i).unwrap();
    for (clip, weight) in clips.into_iter().zip([-0.9, 0.5, -0.3, 0.4]) {
        player.add(1, clip, &held(0.5, weight)).unwrap();
    }
    player.fade_to(1, clips[4], 0.5, &held(0.5, 0.2)).unwrap();
    let plays = clips.map(|clip| player.playing().action(1, clip).is_ok());
    assert_eq!(plays, [true, true, false, true, true]);
    assert_eq!(crowd.evicted(), 1);
}
