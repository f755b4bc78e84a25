//! Mirrors of instances in scenes: which node is whose.

use phalanx::crowd::{Crowd, InstanceId, RigId};
use phalanx::scene::SceneGraph;
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
    let first = crowd.mirror(a, &mut scene).unwrap();
    let nodes = scene.len();
    assert_eq!(crowd.mirror(a, &mut scene), Ok(first));
    assert_eq!(scene.len(), nodes);
    assert_ne!(crowd.mirror(b, &mut scene), Ok(first));
    assert_eq!(crowd.update_scene(&mut scene), 2);
}

#[test]
fn a_mirror_stands_where_its_instance_does_before_the_first_update() {
    let (mut crowd, _, [a, _]) = crowd();
    crowd.set_world(a, shift(5.0)).unwrap();
    let mut scene = SceneGraph::new();
    let mirror = crowd.mirror(a, &mut scene).unwrap();
    scene.update();
    let root = scene.root(mirror).unwrap();
    assert_eq!(scene.world(root).unwrap().translation.x, 5.0);
}

/// A scene that goes back to an earlier clone gives its handles again.
#[test]
fn a_handle_that_comes_again_is_the_new_mirrors() {
    let (mut crowd, _, [a, b]) = crowd();
    let mut scene = SceneGraph::new();
    let earlier = scene.clone();
    let first = crowd.mirror(a, &mut scene).unwrap();
    scene = earlier;
    let second = crowd.mirror(b, &mut scene).unwrap();
    assert_eq!(first, second);
    let tip = scene.joint(second, "tip").unwrap();
    assert_eq!(crowd.mirrored_joint(&scene, tip), Ok((b, 1)));
    assert_eq!(crowd.mirror_of(a, &scene), None);
    assert_eq!(crowd.update_scene(&mut scene), 1);
}

#[test]
fn every_scene_has_its_own_instances() {
    let (mut crowd, id, all) = crowd();
    let x = crowd.find_clip(id, "x").unwrap();
    let mut scenes = [SceneGraph::new(), SceneGraph::new()];
    for (n, (&i, scene)) in all.iter().zip(&mut scenes).enumerate() {
        crowd.play(i, x, &held(0.25 + 0.5 * n as f64, 1.0)).unwrap();
        crowd.mirror(i, scene).unwrap();
    }
    for (n, (&i, scene)) in all.iter().zip(&mut scenes).enumerate() {
        assert_eq!(crowd.update_scene(scene), 1);
        let mirror = crowd.mirror_of(i, scene).unwrap();
        assert_eq!(crowd.mirror_of(all[1 - n], scene), None);
        let base = scene.joint(mirror, "base").unwrap();
        let along = scene.world(base).unwrap().translation.x;
        assert!((along - (0.25 + 0.5 * n as f64)).abs() < 1e-6, "{along}");
    }
}
