//! Rounds of adding and removing the same things leave nothing behind.

use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::math::Affine3x4;
use phalanx::playback::Mixer;
use phalanx::scene::{OnRemove, SceneGraph};
use phalanx_testkit::alloc;
use phalanx_testkit::chain::rig;

const ROUNDS: usize = 400;

/// What the live bytes may differ by after so many rounds: tables may have doubled once, and a busy
/// machine was seen to leave 10 kB. What leaked before left 20 kB and more.
const SLACK: i64 = 16 << 10;

/// Runs some rounds, then many; the bytes that the second part left behind.
fn left(mut round: impl FnMut()) -> i64 {
    (0..50).for_each(|_| round());
    let before = alloc::live();
    (0..ROUNDS).for_each(|_| round());
    alloc::live() - before
}

/// What leaks does so every time; a thread of an earlier test that ends late frees its memory once.
#[track_caller]
fn flat(mut round: impl FnMut()) {
    let tries = [(); 3].map(|()| left(&mut round));
    let flat = tries.iter().any(|left| left.abs() < SLACK);
    assert!(flat, "{tries:?} bytes after {ROUNDS} rounds each");
}

#[test]
fn live_bytes_rise_with_a_leak() {
    let _alone = alloc::alone();
    let mut kept = Vec::new();
    assert!(left(|| kept.push(Box::new([0u64; 16]))) > SLACK);
}

/// A rig with overrides, mirrors and blend spaces of its own comes and goes.
#[test]
fn rigs_come_and_go() {
    let _alone = alloc::alone();
    let rig = rig();
    let mut crowd = Crowd::new();
    let mut scene = SceneGraph::new();
    let mut buffer = BoneBuffer::new();
    flat(|| {
        let id = crowd.add_rig(rig.clone()).unwrap();
        let clip = crowd.add_clip(id, rig.clips()[1].clone()).unwrap();
        let first = crowd.clip_by_index(id, 0).unwrap();
        let points = [(0.0, first), (1.0, clip)];
        let space = crowd.add_blend_space(id, &points).unwrap();
        let instances = [0; 3].map(|_| crowd.spawn(id).unwrap());
        for i in instances {
            crowd.play(i, space, &Default::default()).unwrap();
            crowd.player(i).unwrap().set_override(2, Affine3x4::IDENTITY).unwrap();
            crowd.mirror(i, &mut scene, None).unwrap();
        }
        crowd.advance(0.1).unwrap();
        crowd.evaluate(&mut buffer);
        assert_eq!(crowd.update_scene(&mut scene).mirrored, 3);
        for i in instances {
            crowd.despawn(i).unwrap();
        }
        crowd.remove_rig(id).unwrap();
        assert_eq!(crowd.update_scene(&mut scene).mirrored, 0);
        assert_eq!(scene.node_count(), 0);
    });
}

/// Objects attached to despawned instances stay, are removed, or get another parent.
#[test]
fn mirrored_instances_come_and_go() {
    let _alone = alloc::alone();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let mut scene = SceneGraph::new();
    let ground = scene.add(None, Affine3x4::IDENTITY).unwrap();
    let mut round = 0;
    flat(|| {
        let [i, rider] = [0; 2].map(|_| crowd.spawn(id).unwrap());
        let mirror = crowd.mirror(i, &mut scene, None).unwrap();
        let on = crowd.mirror(rider, &mut scene, None).unwrap();
        let prop = scene.add(None, Affine3x4::IDENTITY).unwrap();
        scene.attach(prop, on, 4, Affine3x4::IDENTITY).unwrap();
        scene.attach(on, mirror, 9, Affine3x4::IDENTITY).unwrap();
        assert_eq!(crowd.update_scene(&mut scene).mirrored, 2);
        crowd.despawn(i).unwrap();
        let hanging = match round % 3 {
            0 => OnRemove::Remove,
            1 => OnRemove::Reparent(None),
            _ => OnRemove::Reparent(Some(ground)),
        };
        round += 1;
        let left = crowd.update_scene_with(&mut scene, Some(hanging)).mirrored;
        assert_eq!(left, usize::from(hanging != OnRemove::Remove));
        crowd.despawn(rider).unwrap();
        crowd.update_scene_with(&mut scene, Some(OnRemove::Remove));
        assert!(scene.world(prop).is_err());
        assert_eq!(scene.node_count(), 1);
    });
}

/// Scenes are dropped with mirrors in them; the instance goes on.
#[test]
fn scenes_come_and_go() {
    let _alone = alloc::alone();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let i = crowd.spawn(id).unwrap();
    flat(|| {
        let mut scene = SceneGraph::new();
        crowd.mirror(i, &mut scene, None).unwrap();
        let mut later = scene.clone();
        assert_eq!(crowd.update_scene(&mut scene).mirrored, 1);
        drop(scene);
        assert_eq!(crowd.update_scene(&mut later).mirrored, 1);
    });
}

/// Clips come and go while others play, on a crowd and on a mixer.
#[test]
fn clips_come_and_go() {
    let _alone = alloc::alone();
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.player(i).unwrap().set_override(2, Affine3x4::IDENTITY).unwrap();
    let first = crowd.clip_by_index(id, 0).unwrap();
    crowd.play(i, first, &Default::default()).unwrap();
    let mut mixer = Mixer::new(rig.clone()).unwrap();
    let mut buffer = BoneBuffer::new();
    flat(|| {
        let clip = crowd.add_clip(id, rig.clips()[1].clone()).unwrap();
        crowd.fade_to(i, clip, 0.1, &Default::default()).unwrap();
        crowd.advance(0.05).unwrap();
        crowd.evaluate(&mut buffer);
        crowd.fade_to(i, first, 0.0, &Default::default()).unwrap();
        crowd.advance(0.1).unwrap();
        crowd.evaluate(&mut buffer);
        crowd.unload_clip(clip).unwrap();
        let clip = mixer.add_clip(rig.clips()[1].clone()).unwrap();
        let space = mixer.add_blend_space(&[(0.0, clip)]).unwrap();
        mixer.player().fade_to(0, space, 0.0, &Default::default()).unwrap();
        mixer.advance(0.1).unwrap();
        mixer.evaluate();
        mixer.player().stop_all(0.0).unwrap();
        mixer.remove_blend_space(space).unwrap();
        mixer.unload_clip(clip).unwrap();
    });
}
