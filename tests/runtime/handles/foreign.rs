//! Handles of other crowds, of other rigs and of what has gone: every call refuses them.

use super::models::{Handles, one_joint};
use phalanx::crowd::{Crowd, CrowdError, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx::playback::{AtEnd, LoopMode, Playable, Player};
use phalanx::scene::{OnRemove, SceneGraph};
use phalanx::skeleton::{ChannelValue, UserChannel};

type Refused = Result<(), CrowdError>;

/// Every call of a player with a motion that it does not know.
fn assert_motion_unknown(
    mut player: impl FnMut(&mut dyn FnMut(&mut Player<'_>)),
    known: Playable,
    motion: Playable,
) {
    let o = PlayOptions::default();
    type Call<'a> = Box<dyn Fn(&mut Player<'_>) -> Refused + 'a>;
    let mut calls: Vec<Call<'_>> = vec![
        Box::new(|p| p.play(0, motion, &o)),
        Box::new(|p| p.fade_to(0, motion, 0.5, &o)),
        Box::new(|p| p.restart(0, motion, &o)),
        Box::new(|p| p.add(0, motion, &o)),
        Box::new(|p| p.cross_fade(0, known, motion, 0.5, &o)),
        Box::new(|p| p.cross_fade(0, motion, known, 0.5, &o)),
        Box::new(|p| p.fade(0, motion, 0.5, 0.5)),
        Box::new(|p| p.stop(0, motion, 0.0)),
        Box::new(|p| p.set_paused(0, motion, true)),
        Box::new(|p| p.set_weight(0, motion, 0.5)),
        Box::new(|p| p.set_speed(0, motion, 0.5)),
        Box::new(|p| p.set_loop(0, motion, LoopMode::Once, None)),
        Box::new(|p| p.set_at_end(0, motion, AtEnd::Stop)),
        Box::new(|p| p.set_time(0, motion, 0.5)),
        Box::new(|p| p.set_phase(0, motion, 0.5)),
        Box::new(|p| p.playing().action(0, motion).map(|_| ())),
    ];
    if let Playable::Space(space) = motion {
        calls.push(Box::new(move |p| p.set_parameter(0, space, 0.5)));
    }
    for (n, call) in calls.iter().enumerate() {
        let mut refused = Ok(());
        player(&mut |p| refused = call(p));
        assert_eq!(unknown_motion(refused), Some(motion), "call {n}");
    }
}

/// The clip or blend space that a call did not know.
fn unknown_motion(refused: Refused) -> Option<Playable> {
    match refused {
        Err(CrowdError::UnknownClip { clip, .. }) => Some(clip.into()),
        Err(CrowdError::UnknownSpace { space, .. }) => Some(space.into()),
        _ => None,
    }
}

/// Every call of a crowd with the handles of `other`, none of which it knows; `own` are its own.
pub fn assert_refused(crowd: &mut Crowd, own: Handles, other: Handles) {
    let o = PlayOptions::default();
    crowd.play(own.instance, own.clip, &o).unwrap();
    crowd.advance(0.1).unwrap();
    let mut scene = SceneGraph::new();
    crowd.mirror(own.instance, &mut scene, None).unwrap();
    let (before, nodes) = (crowd.snapshot(), format!("{scene:?}"));

    let known = Playable::Clip(own.clip);
    for motion in [Playable::Clip(other.clip), Playable::Space(other.space)] {
        let player = |call: &mut dyn FnMut(&mut Player<'_>)| {
            call(&mut crowd.player(own.instance).unwrap());
        };
        assert_motion_unknown(player, known, motion);
    }
    let unknown_clip: [Refused; 6] = [
        crowd.play(own.instance, other.clip, &o),
        crowd.fade_to(own.instance, other.clip, 0.5, &o),
        crowd.playing(own.instance).unwrap().action(0, other.clip).map(|_| ()),
        crowd.clip(other.clip).map(|_| ()),
        crowd.unload_clip(other.clip).map(|_| ()),
        crowd.add_blend_space(own.rig, &[(0.0, own.clip), (1.0, other.clip)]).map(|_| ()),
    ];
    for (n, refused) in unknown_clip.into_iter().enumerate() {
        let clip = Some(other.clip.into());
        assert_eq!(unknown_motion(refused), clip, "call {n}");
    }
    let space = other.space;
    let unknown_space: [Refused; 3] = [
        crowd.play(own.instance, space, &o),
        crowd.remove_blend_space(space),
        crowd.blend_space(space).map(|_| ()),
    ];
    for (n, refused) in unknown_space.into_iter().enumerate() {
        assert_eq!(unknown_motion(refused), Some(space.into()), "call {n}");
    }

    let (rig, data) = (other.rig, one_joint("joint"));
    let unknown_rig: [Refused; 7] = [
        crowd.rig(rig).map(|_| ()),
        crowd.spawn(rig).map(|_| ()),
        crowd.add_clip(rig, data.clips()[0].clone()).map(|_| ()),
        crowd.add_blend_space(rig, &[(0.0, own.clip)]).map(|_| ()),
        crowd.apply_root_motion(rig, true),
        crowd.root_motion(rig).map(|_| ()),
        crowd.remove_rig(rig).map(|_| ()),
    ];
    for (n, refused) in unknown_rig.into_iter().enumerate() {
        let unknown = matches!(refused, Err(CrowdError::UnknownRig { rig: r, .. }) if r == rig);
        assert!(unknown, "call {n}");
    }
    assert_eq!(crowd.clip_by_index(rig, 0), None);
    assert!(crowd.clip_named(rig, "a").is_err());

    let i = other.instance;
    let channels = vec![UserChannel { name: "channel".into(), rest: ChannelValue::Float(0.0) }];
    let skeleton = data.skeleton().as_ref().clone().with_channels(channels).unwrap();
    let channel = skeleton.channel("channel").unwrap();
    let unknown: [Refused; 16] = [
        crowd.player(i).map(|_| ()),
        crowd.play(i, own.clip, &o),
        crowd.fade_to(i, own.clip, 0.5, &o),
        crowd.set_world(i, Affine3x4::IDENTITY),
        crowd.set_scheduled(i, false),
        crowd.set_visible(i, false),
        crowd.playing(i).map(|_| ()),
        crowd.world(i).map(|_| ()),
        crowd.model_matrix(i, 0).map(|_| ()),
        crowd.model_matrices(i).map(|_| ()),
        crowd.bounds(i).map(|_| ()),
        crowd.scalars(i, &mut Vec::new()),
        crowd.channel(i, channel).map(|_| ()),
        crowd.mirror(i, &mut scene, None).map(|_| ()),
        crowd.unmirror(i, &mut scene, OnRemove::Remove),
        crowd.despawn(i),
    ];
    for (n, refused) in unknown.into_iter().enumerate() {
        let unknown =
            matches!(refused, Err(CrowdError::UnknownInstance { instance, .. }) if instance == i);
        assert!(unknown, "call {n}");
    }
    assert_eq!(crowd.palette_range(i), None);
    assert_eq!(crowd.shown(i).filter(|s| s.stayed).map(|s| s.from), None);
    assert_eq!(crowd.mirror_of(i, &scene), None);

    assert!(crowd.snapshot() == before, "a refused call changes nothing");
    assert_eq!(format!("{scene:?}"), nodes);
    crowd.player(own.instance).unwrap().stop_layer(0, 0.0).unwrap();
}

#[test]
fn handles_of_another_crowd_are_unknown() {
    let rig = one_joint("joint");
    let [mut one, mut other] = [Crowd::new(), Crowd::new()];
    let (of_one, of_other) = (Handles::add(&mut one, &rig), Handles::add(&mut other, &rig));
    assert_ne!(of_one, of_other);
    assert_refused(&mut one, of_one, of_other);
    assert_refused(&mut other, of_other, of_one);
}

#[test]
fn handles_of_another_rig_are_unknown_to_its_instances() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    let (one, two) = (Handles::add(&mut crowd, &rig), Handles::add(&mut crowd, &rig));
    for (own, other) in [(one, two), (two, one)] {
        crowd.play(own.instance, own.clip, &PlayOptions::default()).unwrap();
        let before = crowd.snapshot();
        for motion in [Playable::Clip(other.clip), Playable::Space(other.space)] {
            let player = |call: &mut dyn FnMut(&mut Player<'_>)| {
                call(&mut crowd.player(own.instance).unwrap());
            };
            assert_motion_unknown(player, Playable::Clip(own.clip), motion);
        }
        let points = [(0.0, own.clip), (1.0, other.clip)];
        let refused = crowd.add_blend_space(own.rig, &points).map(|_| ());
        assert_eq!(unknown_motion(refused), Some(other.clip.into()));
        assert!(crowd.snapshot() == before);
    }
}

/// Everything is removed, and something else put into the same places.
#[test]
fn stale_handles_are_unknown() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    let mut own = Handles::add(&mut crowd, &rig);
    let gone = Handles::add(&mut crowd, &rig);
    crowd.despawn(gone.instance).unwrap();
    crowd.remove_rig(gone.rig).unwrap();
    let again = Handles::add(&mut crowd, &rig);
    assert_ne!(gone, again);
    let mut stale = Handles { rig: gone.rig, ..own };
    crowd.despawn(own.instance).unwrap();
    crowd.remove_blend_space(own.space).unwrap();
    crowd.unload_clip(own.clip).unwrap();
    own.instance = crowd.spawn(own.rig).unwrap();
    own.clip = crowd.add_clip(own.rig, rig.clips()[0].clone()).unwrap();
    let b = crowd.clip_named(own.rig, "b").unwrap();
    own.space = crowd.add_blend_space(own.rig, &[(0.0, b)]).unwrap();
    // They are where the others were.
    assert_eq!(crowd.clip_by_index(own.rig, 0), Some(own.clip));
    assert_eq!(own.instance.index(), stale.instance.index());
    assert_eq!(own.space.to_bits() >> 16, stale.space.to_bits() >> 16);
    assert_refused(&mut crowd, own, stale);
    // So are those of the rig that went.
    (stale.instance, stale.clip, stale.space) = (gone.instance, gone.clip, gone.space);
    assert_refused(&mut crowd, own, stale);
    assert_refused(&mut crowd, again, stale);
}

#[test]
fn tags_differ_or_are_the_hosts() {
    let rig = one_joint("joint");
    let first = |mut crowd: Crowd| crowd.add_rig(rig.clone()).unwrap();
    let mut rigs: Vec<u64> = (0..8).map(|_| first(Crowd::new()).to_bits()).collect();
    rigs.sort_unstable();
    rigs.dedup();
    assert_eq!(rigs.len(), 8);
    let mut crowd = Crowd::new();
    let named = crowd.add_rig(rig.clone()).unwrap();
    let instance = format!("{:?}", crowd.spawn(named).unwrap());
    let tag = instance.split_once("crowd ").and_then(|(_, rest)| rest.split(' ').next());
    let tag: u16 = tag.unwrap().parse().unwrap();
    assert!((1..=phalanx::crowd::MAX_TAG).contains(&tag), "{instance}");
    for tag in [1, 512, phalanx::crowd::MAX_TAG] {
        let mut crowd = Crowd::with_tag(tag).unwrap();
        let named = crowd.add_rig(rig.clone()).unwrap();
        assert_eq!(named, first(Crowd::with_tag(tag).unwrap()));
        let instance = format!("{:?}", crowd.spawn(named).unwrap());
        assert!(instance.contains(&format!("crowd {tag} ")), "{instance}");
    }
    for tag in [0, 1024, u16::MAX] {
        assert_eq!(
            Crowd::with_tag(tag).unwrap_err(),
            CrowdError::Value { what: "tag", value: tag.into(), low: 1.0, high: 1023.0 }
        );
    }
}
