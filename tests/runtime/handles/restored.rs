//! Handles over a restored snapshot: the same calls give the same ones, in another crowd, too.

use super::foreign::assert_refused;
use super::models::{Handles, one_joint};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions, Unknown};
use phalanx::rig::Rig;
use phalanx::scene::SceneGraph;
use std::sync::Arc;

/// Calls that give handles out, and take some back; all that were given, as numbers.
fn calls(crowd: &mut Crowd, h: Handles, rig: &Arc<Rig>) -> Vec<u64> {
    let mut given = Vec::new();
    for round in 0..5 {
        let spawned = [0; 4].map(|_| crowd.spawn(h.rig).unwrap());
        given.extend(spawned.map(|i| i.to_bits()));
        for &i in &spawned[..=round % 3] {
            crowd.despawn(i).unwrap();
        }
        let clip = crowd.add_clip(h.rig, rig.clips()[1].clone()).unwrap();
        let second = crowd.add_clip(h.rig, rig.clips()[2].clone()).unwrap();
        let points = [(0.0, clip), (1.0, second)];
        let space = crowd.add_blend_space(h.rig, &points).unwrap();
        let points = crowd.blend_space(space).unwrap();
        assert_eq!(points.map(|p| p.1).collect::<Vec<_>>(), [clip, second]);
        given.extend([clip.to_bits(), second.to_bits(), space.to_bits()]);
        crowd.play(spawned[3], space, &PlayOptions::default()).unwrap();
        let playing: Vec<_> = crowd.playing(spawned[3]).unwrap().clips().collect();
        assert_eq!(playing, [clip]);
        crowd.advance(1.25).unwrap();
        let events = crowd.events().iter();
        given.extend(events.flat_map(|e| [e.instance.to_bits(), e.clip.to_bits()]));
        crowd.player(spawned[3]).unwrap().stop_layer(0, 0.0).unwrap();
        crowd.remove_blend_space(space).unwrap();
        crowd.unload_clip(clip).unwrap();
        crowd.unload_clip(second).unwrap();
        let more = Handles::add(crowd, rig);
        given.extend([more.rig.to_bits(), more.instance.to_bits()]);
        given.extend([more.clip.to_bits(), more.space.to_bits()]);
        let last = crowd.add_rig(rig.clone()).unwrap();
        given.push(last.to_bits());
        crowd.despawn(more.instance).unwrap();
        crowd.remove_rig(more.rig).unwrap();
        crowd.remove_rig(last).unwrap();
    }
    given.extend(crowd.instances().map(|i| i.to_bits()));
    given
}

/// A crowd whose places have been used before, and the handles of its first rig.
fn crowd(tag: u16, rig: &Arc<Rig>) -> (Crowd, Handles) {
    let mut crowd = Crowd::with_tag(tag).unwrap();
    let first = Handles::add(&mut crowd, rig);
    let own = Handles::add(&mut crowd, rig);
    crowd.despawn(first.instance).unwrap();
    crowd.remove_rig(first.rig).unwrap();
    let clip = crowd.add_clip(own.rig, rig.clips()[0].clone()).unwrap();
    crowd.unload_clip(clip).unwrap();
    crowd.play(own.instance, own.space, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    (crowd, own)
}

#[test]
fn a_replay_gives_the_same_handles() {
    let rig = one_joint("joint");
    let (mut crowd, own) = crowd(3, &rig);
    let saved = crowd.snapshot();
    let first = calls(&mut crowd, own, &rig);
    let after = crowd.snapshot();
    for _ in 0..2 {
        crowd.restore(&saved).unwrap();
        assert_eq!(crowd.snapshot(), saved);
        assert_eq!(calls(&mut crowd, own, &rig), first);
        assert_eq!(crowd.snapshot(), after);
    }
}

/// A handle given out after the snapshot is unknown at first, and then what the replay puts there.
#[test]
fn a_handle_of_the_undone_time_names_the_instance_that_the_replay_spawns() {
    let rig = one_joint("joint");
    let (mut crowd, own) = crowd(3, &rig);
    let saved = crowd.snapshot();
    let later = crowd.spawn(own.rig).unwrap();
    crowd.restore(&saved).unwrap();
    assert_eq!(
        crowd.world(later),
        Err(CrowdError::UnknownInstance { instance: later, why: Unknown::Gone, rig: "one".into() })
    );
    assert_eq!(crowd.spawn(own.rig).unwrap(), later);
}

/// What was added since the snapshot stays under its handle; rigs have to be removed.
#[test]
fn what_was_added_since_stays() {
    let rig = one_joint("joint");
    let (mut crowd, own) = crowd(3, &rig);
    let saved = crowd.snapshot();
    let clip = crowd.add_clip(own.rig, rig.clips()[2].clone()).unwrap();
    let space = crowd.add_blend_space(own.rig, &[(0.0, clip)]).unwrap();
    let rig_clip = rig.clips()[2].clone();
    let more = crowd.add_rig(rig).unwrap();
    let before = crowd.snapshot();
    assert!(matches!(crowd.restore(&saved), Err(CrowdError::Snapshot { part: "rigs", .. })));
    assert!(crowd.snapshot() == before);
    crowd.remove_rig(more).unwrap();
    crowd.restore(&saved).unwrap();
    // The same calls give the same handles again, and what has stayed is not there twice.
    let again = crowd.add_clip(own.rig, rig_clip).unwrap();
    assert_eq!(again, clip);
    let space_again = crowd.add_blend_space(own.rig, &[(0.0, clip)]).unwrap();
    assert_eq!(space_again, space);
    assert_ne!(crowd.add_blend_space(own.rig, &[(0.0, clip)]), Ok(space));
    crowd.play(own.instance, space, &PlayOptions::default()).unwrap();
    crowd.play(own.instance, clip, &PlayOptions::default()).unwrap();
}

#[test]
fn another_crowd_takes_over_the_tag() {
    let rig = one_joint("joint");
    let (mut one, of_one) = crowd(3, &rig);
    let (mut other, of_other) = crowd(4, &rig);
    one.advance(0.125).unwrap();
    // It has had more in its places than the first.
    calls(&mut other, of_other, &rig);
    other.player(of_other.instance).unwrap().set_override(0, glam::Affine3A::IDENTITY).unwrap();
    let mut scene = SceneGraph::new();
    other.mirror(of_other.instance, &mut scene, None).unwrap();
    let mut buffer = BoneBuffer::new();
    other.evaluate(&mut buffer);
    assert_eq!(other.update_scene(&mut scene).mirrored, 1);

    let saved = one.snapshot();
    other.restore(&saved).unwrap();
    assert_eq!(other.snapshot(), saved);
    assert_eq!(other.instances().collect::<Vec<_>>(), [of_one.instance]);
    assert_eq!(other.clip_named(of_one.rig, "a"), Ok(of_one.clip));
    assert_eq!(other.blend_space(of_one.space).unwrap().next(), Some((0.0.into(), of_one.clip)));
    assert_refused(&mut other, of_one, of_other);

    // The mirror was one of an instance that is no more.
    other.restore(&saved).unwrap();
    assert_eq!(other.mirror_of(of_one.instance, &scene), None);
    assert_eq!(other.update_scene(&mut scene).mirrored, 0);
    for crowd in [&mut one, &mut other] {
        crowd.player(of_one.instance).unwrap().set_override(0, glam::Affine3A::IDENTITY).unwrap();
    }
    let mut rows = |crowd: &mut Crowd| {
        crowd.evaluate(&mut buffer);
        let range = crowd.palette_range(of_one.instance).unwrap();
        buffer.rows()[range].to_vec()
    };
    assert_eq!(rows(&mut one), rows(&mut other));
    assert_eq!(calls(&mut other, of_one, &rig), calls(&mut one, of_one, &rig));
    assert_eq!(other.snapshot(), one.snapshot());

    // One that lacks the rigs, or whose rigs have other numbers, keeps its tag and its state.
    let mut empty = Crowd::with_tag(5).unwrap();
    let mut plain = Crowd::with_tag(6).unwrap();
    let own = Handles::add(&mut plain, &rig);
    // A rig in the same slot that was the third to be added, not the second.
    let mut third = Crowd::with_tag(3).unwrap();
    for _ in 0..2 {
        let first = third.add_rig(rig.clone()).unwrap();
        third.remove_rig(first).unwrap();
    }
    let before = third.add_rig(rig.clone()).unwrap();
    Handles::add(&mut third, &rig);
    third.remove_rig(before).unwrap();
    for crowd in [&mut empty, &mut plain, &mut third] {
        let before = crowd.snapshot();
        assert!(matches!(crowd.restore(&saved), Err(CrowdError::Snapshot { part: "rigs", .. })));
        assert!(crowd.snapshot() == before);
    }
    plain.play(own.instance, own.space, &PlayOptions::default()).unwrap();
}

#[test]
fn palettes_do_not_depend_on_the_tag() {
    let rig = one_joint("joint");
    let hashes = [1, 2, 1023].map(|tag| {
        let (mut crowd, own) = crowd(tag, &rig);
        let mut buffer = BoneBuffer::new();
        let mut hashes = Vec::new();
        for _ in 0..10 {
            let i = crowd.spawn(own.rig).unwrap();
            crowd.play(i, own.clip, &PlayOptions::default()).unwrap();
            crowd.advance(0.3).unwrap();
            crowd.evaluate(&mut buffer);
            hashes.push(buffer.hash());
        }
        hashes
    });
    assert!(hashes.iter().all(|h| *h == hashes[0]));
}
