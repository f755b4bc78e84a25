//! Mirrors over a restore: handles that are given again name no mirror of the undone time.

use super::models::chain;
use phalanx::crowd::{Crowd, RigId};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::scene::{OnRemove, SceneGraph};
use std::sync::Arc;

/// Mirrors an instance of a rig, removes both without an update, goes back and does it with another rig.
fn another_rig_in_its_place(first: &Arc<Rig>, second: &Arc<Rig>) {
    let mut crowd = Crowd::with_tag(5).unwrap();
    let mut scene = SceneGraph::new();
    let saved = crowd.snapshot();
    let rig = crowd.add_rig(first.clone()).unwrap();
    let instance = crowd.spawn(rig).unwrap();
    let old = crowd.mirror(instance, &mut scene, None).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 1);
    crowd.despawn(instance).unwrap();
    crowd.remove_rig(rig).unwrap();
    crowd.restore(&saved).unwrap();

    let again: RigId = crowd.add_rig(second.clone()).unwrap();
    let other = crowd.spawn(again).unwrap();
    assert_eq!((again, other), (rig, instance));
    assert_eq!(crowd.mirror_of(other, &scene), None);
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 0);
    assert!(scene.joint(old, 0).is_err(), "removed by the update");
    let new = crowd.mirror(other, &mut scene, None).unwrap();
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 1);
    let joints = second.skeleton().len();
    assert!(scene.joint(new, joints - 1).is_ok());
    assert!(scene.joint(new, joints).is_err());
}

#[test]
fn a_rig_that_comes_again_has_no_mirrors_of_the_one_before() {
    let (short, long) = (chain(3), chain(40));
    another_rig_in_its_place(&long, &short);
    another_rig_in_its_place(&short, &long);
}

#[test]
fn an_instance_that_a_replay_spawns_is_not_mirrored() {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(chain(3)).unwrap();
    let mut scene = SceneGraph::new();
    let kept = crowd.spawn(rig).unwrap();
    let mirror = crowd.mirror(kept, &mut scene, None).unwrap();
    let saved = crowd.snapshot();
    let first = crowd.spawn(rig).unwrap();
    let undone = crowd.mirror(first, &mut scene, None).unwrap();
    crowd.update_scene(&mut scene);
    crowd.restore(&saved).unwrap();
    assert_eq!(crowd.spawn(rig).unwrap(), first);
    assert_eq!(crowd.mirror_of(first, &scene), None);
    // Mirrors of undone instances stay until they are removed, and are not updated.
    assert_eq!(crowd.update_scene_with(&mut scene, None).mirrored, 1);
    assert!(scene.joint(undone, 0).is_ok());
    let node = scene.joint(undone, 1).unwrap();
    assert!(crowd.mirrored_joint(&scene, node).is_err());
    let remove = Some(OnRemove::Remove);
    assert_eq!(crowd.update_scene_with(&mut scene, remove).mirrored, 1);
    assert!(scene.joint(undone, 0).is_err());
    assert_eq!(crowd.mirror_of(kept, &scene), Some(mirror));
}

#[test]
fn one_that_a_restore_brings_back_keeps_its_mirror() {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(chain(3)).unwrap();
    let mut scene = SceneGraph::new();
    let instance = crowd.spawn(rig).unwrap();
    let mirror = crowd.mirror(instance, &mut scene, None).unwrap();
    let saved = crowd.snapshot();
    crowd.despawn(instance).unwrap();
    assert_eq!(crowd.update_scene_with(&mut scene, None).mirrored, 0);
    crowd.restore(&saved).unwrap();
    assert_eq!(crowd.mirror_of(instance, &scene), Some(mirror));
    assert_eq!(crowd.update_scene(&mut scene).mirrored, 1);
}

/// The parent of an undone instance's mirror does not affect the instance that has the handle now.
#[test]
fn an_instance_that_a_replay_spawns_stands_where_it_is_put() {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(chain(3)).unwrap();
    let mut scene = SceneGraph::new();
    let saved = crowd.snapshot();
    let first = crowd.spawn(rig).unwrap();
    let mirror = crowd.mirror(first, &mut scene, None).unwrap();
    let mut away = Affine3x4::IDENTITY;
    away.rows[0][3] = 9.0;
    let node = scene.add(None, away).unwrap();
    scene.set_parent(mirror, node).unwrap();
    crowd.update_scene(&mut scene);
    assert_eq!(*crowd.world(first).unwrap(), away);
    crowd.restore(&saved).unwrap();
    assert_eq!(crowd.spawn(rig), Ok(first));
    assert_eq!(crowd.update_scene_with(&mut scene, None).mirrored, 0);
    assert_eq!(*crowd.world(first).unwrap(), Affine3x4::IDENTITY);
}
