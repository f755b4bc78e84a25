//! Places that are filled and freed more often than a generation has values.

use super::models::one_joint;
use phalanx::crowd::{Crowd, CrowdError, PlayOptions, Unknown};
use phalanx::playback::{Mixer, PlaybackError};
use std::collections::HashSet;

const ROUNDS: usize = 70_000;

#[test]
fn an_instance_never_comes_back() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(one_joint("joint")).unwrap();
    let first = crowd.spawn(id).unwrap();
    crowd.despawn(first).unwrap();
    let mut seen = HashSet::from([first]);
    for round in 0..ROUNDS {
        let i = crowd.spawn(id).unwrap();
        assert!(seen.insert(i), "round {round}: {i:?} was given before");
        assert!(crowd.world(first).is_err(), "round {round}");
        assert_eq!(crowd.instance_count(), 1);
        crowd.despawn(i).unwrap();
        assert_eq!(crowd.instance_count(), 0);
    }
    // One place is used up and stays empty; a rig with such places can be removed.
    let i = crowd.spawn(id).unwrap();
    assert_eq!(i.index(), 1);
    assert_eq!(crowd.instances().collect::<Vec<_>>(), [i]);
    crowd.despawn(i).unwrap();
    crowd.remove_rig(id).unwrap();
}

#[test]
fn a_clip_never_comes_back() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let options = PlayOptions::default();
    let first = crowd.add_clip(id, rig.clips()[0].clone()).unwrap();
    crowd.unload_clip(first).unwrap();
    let mut seen = HashSet::from([first]);
    for round in 0..ROUNDS {
        let clip = crowd.add_clip(id, rig.clips()[0].clone()).unwrap();
        assert!(seen.insert(clip), "round {round}: {clip:?} was given before");
        assert_eq!(
            crowd.play(i, first, &options),
            Err(CrowdError::UnknownClip { clip: first, why: Unknown::Gone, rig: "one".into() })
        );
        crowd.unload_clip(clip).unwrap();
    }
    let clip = crowd.add_clip(id, rig.clips()[0].clone()).unwrap();
    crowd.play(i, clip, &options).unwrap();
}

#[test]
fn a_blend_space_never_comes_back() {
    let mut mixer = Mixer::new(one_joint("joint")).unwrap();
    let a = mixer.clip_named("a").unwrap();
    let mut seen = HashSet::new();
    let mut first = None;
    let options = PlayOptions::default();
    for round in 0..ROUNDS {
        let space = mixer.add_blend_space(&[(0.0, a)]).unwrap();
        assert!(seen.insert(space), "round {round}: {space:?}");
        let old = *first.get_or_insert(space);
        let known = mixer.player().play(0, old, &options).is_ok();
        assert_eq!(known, round == 0);
        mixer.player().stop_all(0.0).unwrap();
        mixer.remove_blend_space(space).unwrap();
    }
    let (space, why) = (first.unwrap(), Unknown::Gone);
    assert_eq!(
        mixer.remove_blend_space(space),
        Err(PlaybackError::UnknownSpace { space, why, rig: "one".into() })
    );
}

#[test]
fn a_rig_never_comes_back() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    let first = crowd.add_rig(rig.clone()).unwrap();
    let clip = crowd.clip_by_index(first, 0).unwrap();
    let instance = crowd.spawn(first).unwrap();
    crowd.despawn(instance).unwrap();
    crowd.remove_rig(first).unwrap();
    let mut seen = HashSet::from([first]);
    for round in 0..ROUNDS {
        let id = crowd.add_rig(rig.clone()).unwrap();
        assert!(seen.insert(id), "round {round}: {id:?} was given before");
        assert!(crowd.rig(first).is_err());
        assert_eq!(
            crowd.clip(clip).map(|_| ()),
            Err(CrowdError::UnknownClip { clip, why: Unknown::Gone, rig: String::new() })
        );
        crowd.remove_rig(id).unwrap();
    }
    let id = crowd.add_rig(rig).unwrap();
    let i = crowd.spawn(id).unwrap();
    assert!(crowd.despawn(instance).is_err());
    assert_eq!(crowd.instances().collect::<Vec<_>>(), [i]);
}
