//! Mixers of one skeleton share the handles of clips.

use super::models::one_joint;
use phalanx::crowd::{Crowd, InstanceId};
use phalanx::playback::{BlendSpaceId, ClipId, Mixer, PlayOptions, PlaybackError, Unknown};

/// The structure hashes of the first two end in ffff, which once meant "no clip": the second member of a
/// blend space was dropped, and the first one's phase taken for seconds.
#[test]
fn a_blend_space_has_two_members_for_any_name_of_the_skeleton() {
    for (name, ends) in [("Bone36229", true), ("Bone95828", true), ("Bone", false)] {
        let rig = one_joint(name);
        let hash = rig.skeleton().structure_hash();
        assert_eq!(hash & 0xffff == 0xffff, ends, "{name}: {hash:016x}");
        let mut mixer = Mixer::new(rig).unwrap();
        let [b, c] = ["b", "c"].map(|name| mixer.clip_named(name).unwrap());
        let space = mixer.add_blend_space(&[(0.0, b), (1.0, c)]).unwrap();
        let options = PlayOptions { parameter: 0.25.into(), ..PlayOptions::default() };
        mixer.player().play(0, space, &options).unwrap();
        // 3/4 of a half and 1/4 of one pass a second.
        mixer.advance(0.4).unwrap();
        let phase = 0.4 * (0.75 * 0.5 + 0.25);
        assert!((mixer.playing().action(0, space).unwrap().time - phase).abs() < 1e-9);
        // At a phase of one third, 3/4 of "b" at 2/3 and 1/4 of "c" at 1: x is 0.75.
        mixer.player().set_phase(0, space, 1.0 / 3.0).unwrap();
        let x = mixer.evaluate()[0].rows[0][3];
        assert!((x - 0.75).abs() < 1e-6, "{name}: {x}");
        let x = mixer.model_matrices()[0].rows[0][3];
        assert!((x - 0.75).abs() < 1e-6, "{name}: {x}");
    }
}

#[test]
fn clips_of_mixers_of_one_skeleton_are_interchangeable() {
    let options = PlayOptions::default();
    let (rig, same) = (one_joint("joint"), one_joint("joint"));
    let [mut one, mut other] = [rig.clone(), same].map(|rig| Mixer::new(rig).unwrap());
    for index in 0..3 {
        let clip = one.clip_by_index(index).unwrap();
        assert_eq!(other.clip_by_index(index), Some(clip));
        other.player().play(0, clip, &options).unwrap();
    }
    let added = [&mut one, &mut other].map(|m| m.add_clip(rig.clips()[1].clone()).unwrap());
    assert_eq!(added[0], added[1]);
    let a = one.clip_by_index(0).unwrap();
    let spaces = [&mut one, &mut other].map(|m| m.add_blend_space(&[(0.0, a)]).unwrap());
    assert_eq!(spaces[0], spaces[1]);
    one.player().play(0, spaces[1], &options).unwrap();

    // Those of another skeleton and of crowds are not among them.
    let mut stranger = Mixer::new(one_joint("other joint")).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let i = crowd.spawn(id).unwrap();
    let theirs = crowd.clip_by_index(id, 0).unwrap();
    for (clip, why) in [(a, Unknown::OtherSkeleton), (theirs, Unknown::OfCrowd)] {
        let rig = "one".into();
        let unknown = Err(PlaybackError::UnknownClip { clip, why, rig });
        assert_eq!(stranger.player().play(0, clip, &options), unknown);
        assert_eq!(stranger.clip(clip).map(|_| ()), unknown);
    }
    let unknown =
        Err(PlaybackError::UnknownClip { clip: theirs, why: Unknown::OfCrowd, rig: "one".into() });
    assert_eq!(one.player().play(0, theirs, &options), unknown);
    let why = Unknown::OfMixer;
    let rig = "one".to_owned();
    let unknown = Err(PlaybackError::UnknownClip { clip: a, why, rig: rig.clone() });
    assert_eq!(crowd.play(i, a, &options), unknown);
    let space = spaces[0];
    let unknown = |why| {
        let rig = rig.clone();
        Err(PlaybackError::UnknownSpace { space, why, rig })
    };
    assert_eq!(crowd.play(i, space, &options), unknown(why));
    let unknown = unknown(Unknown::OtherSkeleton);
    assert_eq!(stranger.player().play(0, space, &options), unknown);
}

/// Whatever a skeleton's hash is, no handle looks like a crowd's, and all come back from their numbers.
#[test]
fn handles_of_mixers_are_known_as_such_for_any_name_of_the_skeleton() {
    let instances: Vec<InstanceId> = (0..32)
        .map(|n| {
            let mut mixer = Mixer::new(one_joint(&format!("joint{n}"))).unwrap();
            let clip = mixer.clip_named("a").unwrap();
            let space = mixer.add_blend_space(&[(0.0, clip)]).unwrap();
            assert_eq!(ClipId::from_bits(clip.to_bits()), Some(clip));
            assert_eq!(BlendSpaceId::from_bits(space.to_bits()), Some(space));
            assert_eq!((clip.to_bits() >> 63, space.to_bits() >> 63), (1, 1));
            let mut player = mixer.player();
            player.play(0, clip, &PlayOptions::default()).unwrap();
            mixer.advance(1.5).unwrap();
            mixer.events().iter().next().unwrap().instance
        })
        .collect();
    assert!(instances.iter().all(|i| *i == instances[0]));
}
