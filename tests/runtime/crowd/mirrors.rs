//! Mirrors of instances in scenes: which node is whose.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, PoseSpace, RigId};
use phalanx::math::Affine3x4;
use phalanx::scene::{OnRemove, SceneError, SceneGraph};
use phalanx_testkit::ruler::{held, ruler, shift};

fn crowd() -> (Crowd, RigId, [InstanceId; 2]) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(ruler()).unwrap();
    let all = [0; 2].map(|_| crowd.spawn(id).unwrap());
    (crowd, id, all)
}

#[test]
fn an_instance_has_one_mirror_in_a_scene() {
    let (mut crowd, _, [a, b]) = crowd();
    let mut scene = SceneGraph::new();
    let first = crowd.mirror(a, &mut scene, None).unwrap();
    let nodes = scene.node_count();
    assert_eq!(crowd.mirror(a, &mut scene, None), Ok(first));
    assert_eq!(scene.node_count(), nodes);
    assert_ne!(crowd.mirror(b, &mut scene, None), Ok(first));
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 2);
}

#[test]
fn a_mirror_stands_where_its_instance_does_before_the_first_update() {
    let (mut crowd, _, [a, _]) = crowd();
    crowd.set_world(a, shift(5.0)).unwrap();
    let mut scene = SceneGraph::new();
    let mirror = crowd.mirror(a, &mut scene, None).unwrap();
    scene.update();
    assert_eq!(scene.world(mirror).unwrap().translation.x, 5.0);
}

/// A scene that goes back to an earlier clone gives its handles again.
#[test]
fn a_handle_that_comes_again_is_the_new_mirrors() {
    let (mut crowd, _, [a, b]) = crowd();
    let mut scene = SceneGraph::new();
    let earlier = scene.clone();
    let first = crowd.mirror(a, &mut scene, None).unwrap();
    scene = earlier;
    let second = crowd.mirror(b, &mut scene, None).unwrap();
    assert_eq!(first, second);
    let tip = scene.joint(second, "tip").unwrap();
    assert_eq!(crowd.mirrored_joint(&scene, tip), Ok((b, 1)));
    assert_eq!(crowd.mirror_of(a, &scene), None);
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 1);
}

#[test]
fn every_scene_has_its_own_instances() {
    let (mut crowd, id, all) = crowd();
    let x = crowd.clip_named(id, "x").unwrap();
    let mut scenes = [SceneGraph::new(), SceneGraph::new()];
    for (n, (&i, scene)) in all.iter().zip(&mut scenes).enumerate() {
        crowd.play(i, x, &held(0.25 + 0.5 * n as f64, 1.0)).unwrap();
        crowd.mirror(i, scene, None).unwrap();
    }
    for (n, (&i, scene)) in all.iter().zip(&mut scenes).enumerate() {
        assert_eq!(crowd.update_scene(scene).mirrored, 1);
        let mirror = crowd.mirror_of(i, scene).unwrap();
        assert_eq!(crowd.mirror_of(all[1 - n], scene), None);
        let base = scene.joint(mirror, "base").unwrap();
        let along = scene.world(base).unwrap().translation.x;
        assert!((along - (0.25 + 0.5 * n as f64)).abs() < 1e-6, "{along}");
    }
}

/// Nodes for the chosen joints alone stand where those of a full mirror do, to the bit.
#[test]
fn a_mirror_of_chosen_joints_is_part_of_the_full_one() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(phalanx_testkit::chain::rig()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let clip = crowd.clip_named(id, "b").unwrap();
    crowd.play(i, clip, &held(0.3, 1.0)).unwrap();
    crowd.set_world(i, shift(3.0)).unwrap();
    let (mut lean, mut full) = (SceneGraph::new(), SceneGraph::new());
    let some = crowd.mirror(i, &mut lean, Some(&[12, 5, 12])).unwrap();
    let all = crowd.mirror(i, &mut full, None).unwrap();
    assert_eq!(lean.node_count(), 3);
    let place = |scene: &SceneGraph, mirror, joint: usize| {
        scene.joint(mirror, joint).unwrap().index() - mirror.index()
    };
    assert_eq!([5, 12].map(|joint| place(&lean, some, joint)), [1, 2]);
    assert!((0..20).all(|joint| place(&full, all, joint) == 1 + joint));
    let missing = SceneError::NoNode { mirror: some, joint: 6 };
    assert_eq!(lean.joint(some, 6), Err(missing.clone()));
    for joint in [5, 12] {
        let node = lean.joint(some, joint).unwrap();
        assert_eq!(crowd.mirrored_joint(&lean, node), Ok((i, joint)));
        assert_eq!(lean.parent(node), Ok(Some(some)));
    }
    // The same mirror, if it has the joints.
    assert_eq!(crowd.mirror(i, &mut lean, Some(&[5])), Ok(some));
    assert_eq!(crowd.mirror(i, &mut full, Some(&[5])), Ok(all));
    let refused = crowd.mirror(i, &mut lean, Some(&[5, 6]));
    assert_eq!(refused, Err(CrowdError::Scene(missing)));
    assert!(crowd.mirror(i, &mut lean, None).is_err());
    let out = crowd.mirror(i, &mut lean, Some(&[20]));
    assert!(matches!(out, Err(CrowdError::Lookup(_))));
    let mut buffer = BoneBuffer::new();
    for frame in 0..4 {
        crowd.advance(0.01).unwrap();
        if frame % 2 == 0 {
            crowd.evaluate(&mut buffer);
        }
        let stats = crowd.update_scene(&mut lean);
        assert_eq!((stats.mirrored, stats.evaluated), (1, frame % 2));
        // The first update has evaluated it for both.
        assert_eq!(crowd.update_scene(&mut full).evaluated, 0);
        for joint in [5, 12] {
            let a = lean.joint(some, joint).unwrap();
            let b = full.joint(all, joint).unwrap();
            assert_eq!(lean.world(a), full.world(b));
            let model = crowd.model_matrix(i, joint).unwrap();
            assert_eq!(*lean.local(a).unwrap(), model);
        }
    }
    crowd.unmirror(i, &mut lean, OnRemove::Remove).unwrap();
    assert_eq!(lean.node_count(), 0);
    assert!(crowd.mirror(i, &mut lean, None).is_ok());
    assert_eq!(lean.node_count(), 21);
}

/// What changes an instance after its evaluation reaches the scene in the same update.
#[test]
fn an_update_evaluates_what_has_changed_since() {
    let (mut crowd, id, [a, b]) = crowd();
    let mut scene = SceneGraph::new();
    let mirrors = [a, b].map(|i| crowd.mirror(i, &mut scene, Some(&[1])).unwrap());
    let mut buffer = BoneBuffer::new();
    let at = |scene: &SceneGraph, n: usize| {
        let node = scene.joint(mirrors[n], 1).unwrap();
        scene.world(node).unwrap().translation.x
    };
    // Mirrored after the frame, or never evaluated.
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 2);
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 0);
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 0);
    let x = crowd.clip_named(id, "x").unwrap();
    crowd.play(b, x, &held(0.5, 1.0)).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 1);
    assert_eq!((at(&scene, 0), at(&scene, 1)), (0.0, 0.5));
    crowd.player(a).unwrap().set_override(0, shift(2.0)).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 1);
    assert_eq!((at(&scene, 0), at(&scene, 1)), (2.0, 0.5));
    crowd.set_overrides(id, &[0], &[b], &[shift(3.0)], PoseSpace::Local, &[1.0]).unwrap();
    crowd.player(a).unwrap().clear_overrides();
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 2);
    assert_eq!((at(&scene, 0), at(&scene, 1)), (0.0, 3.0));
    // A world transform is no change of the pose.
    crowd.set_world(a, shift(7.0)).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 0);
    assert_eq!(at(&scene, 0), 7.0);
    // Those that are not evaluated in a frame are in the update.
    crowd.set_visible(a, false).unwrap();
    crowd.set_scheduled(b, false).unwrap();
    crowd.advance(0.1).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 2);
    let saved = crowd.snapshot();
    crowd.restore(&saved).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).evaluated, 2);
}

/// Many come and go, in any order: every mirror stays with its instance.
#[test]
fn every_mirror_stays_with_its_instance() {
    let (mut crowd, id, _) = crowd();
    let mut scene = SceneGraph::new();
    let mut all = Vec::new();
    for round in 0..300 {
        let i = crowd.spawn(id).unwrap();
        crowd.set_world(i, shift(round as f32)).unwrap();
        let mirror = match round % 2 {
            0 => crowd.mirror(i, &mut scene, None).unwrap(),
            _ => crowd.mirror(i, &mut scene, Some(&[1])).unwrap(),
        };
        all.push((i, mirror, round));
        if round % 3 == 2 {
            let (gone, _, _) = all.remove(round * 7 % all.len());
            match round % 4 {
                0 => crowd
                    .unmirror(gone, &mut scene, OnRemove::Remove)
                    .and_then(|()| crowd.despawn(gone)),
                1 => crowd.unmirror(gone, &mut scene, OnRemove::Remove),
                _ => crowd.despawn(gone),
            }
            .unwrap();
        }
        if round % 11 == 0 {
            assert_eq!(crowd.update_scene(&mut scene).mirrored, all.len());
        }
    }
    assert_eq!(crowd.update_scene(&mut scene).mirrored, all.len());
    for (i, mirror, round) in all {
        assert_eq!(crowd.mirror_of(i, &scene), Some(mirror));
        let tip = scene.joint(mirror, 1).unwrap();
        assert_eq!(crowd.mirrored_joint(&scene, tip), Ok((i, 1)));
        assert_eq!(scene.world(tip).unwrap().translation.x, round as f64);
    }
}

/// Model matrices that a caller sets, one per joint, go to the joints that have nodes.
#[test]
fn models_are_set_on_a_mirror_of_chosen_joints() {
    let (mut crowd, _, [a, _]) = crowd();
    let mut scene = SceneGraph::new();
    let mirror = crowd.mirror(a, &mut scene, Some(&[1])).unwrap();
    let models: [Affine3x4; 2] = [shift(1.0), shift(2.0)];
    scene.set_models(mirror, &models).unwrap();
    scene.update();
    let tip = scene.joint(mirror, 1).unwrap();
    assert_eq!(scene.world(tip).unwrap().translation.x, 2.0);
}
