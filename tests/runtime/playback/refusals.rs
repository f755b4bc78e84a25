//! What is refused is a typed error and leaves everything as it was.

use super::stage::{marked, raw, rig};
use phalanx::build::{AdditiveReference, BuildError, build_additive_raw, build_rig};
use phalanx::crowd::Crowd;
use phalanx::playback::{
    ClipId, CrossFade, LayerOptions, LoopMode, Mixer, PlayOptions, PlaybackError, Player, Unknown,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, LookupError};
use std::sync::Arc;

type Refused = Result<(), PlaybackError>;
type Call = Box<dyn Fn(&mut Player<'_>) -> Refused>;

/// Every call with every number that is out of range, on a crowd whose snapshot must not change.
#[test]
fn numbers_out_of_range() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let [a, b] = ["a", "b"].map(|n| crowd.clip_named(id, n).unwrap());
    let space = crowd.add_blend_space(id, &[(0.0, a), (1.0, b)]).unwrap();
    let options = PlayOptions::default();
    let mut player = crowd.player(i).unwrap();
    player.play(0, a, &options).unwrap();
    player.add(0, b, &PlayOptions { fade_in: 0.5, ..options }).unwrap();
    player.add(0, space, &options).unwrap();
    crowd.advance(0.2).unwrap();
    let before = crowd.snapshot();
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e30, 1e30];
    let mut calls: Vec<Call> = Vec::new();
    for x in bad {
        let with = [
            PlayOptions { speed: x, ..options },
            PlayOptions { time: f64::from(x), ..options },
            PlayOptions { weight: x, ..options },
            PlayOptions { fade_in: x, ..options },
            PlayOptions { parameter: x.into(), ..options },
            PlayOptions { weight: -0.5, ..options },
            PlayOptions { weight: 1.001, ..options },
            PlayOptions { repetitions: Some(0), ..options },
        ];
        for o in with {
            calls.push(Box::new(move |p| p.play(0, a, &o)));
            calls.push(Box::new(move |p| p.restart(0, b, &o)));
            calls.push(Box::new(move |p| p.add(0, b, &o)));
            calls.push(Box::new(move |p| p.fade_to(0, b, 0.5, &o)));
            calls.push(Box::new(move |p| p.cross_fade(0, a, b, 0.5, &o)));
        }
        calls.push(Box::new(move |p| p.fade_to(0, b, x, &options)));
        calls.push(Box::new(move |p| p.cross_fade(0, a, b, x, &options)));
        calls.push(Box::new(move |p| p.fade(0, a, x, 0.5)));
        calls.push(Box::new(move |p| p.fade(0, a, 0.5, x)));
        calls.push(Box::new(move |p| p.stop(0, a, x)));
        calls.push(Box::new(move |p| p.stop_layer(0, x)));
        calls.push(Box::new(move |p| p.stop_all(x)));
        calls.push(Box::new(move |p| p.set_weight(0, a, x)));
        calls.push(Box::new(move |p| p.set_speed(0, a, x)));
        calls.push(Box::new(move |p| p.set_time(0, a, x.into())));
        calls.push(Box::new(move |p| p.set_phase(0, a, x.into())));
        calls.push(Box::new(move |p| p.set_parameter(0, space, x)));
        calls.push(Box::new(move |p| p.set_layer_weight(0, x)));
        calls.push(Box::new(move |p| p.fade_layer(0, x, 0.5)));
        calls.push(Box::new(move |p| p.fade_layer(0, 0.5, x)));
        calls.push(Box::new(move |p| p.set_layer_speed(0, x)));
        calls.push(Box::new(move |p| p.set_character_speed(x)));
    }
    calls.push(Box::new(move |p| p.set_loop(0, a, LoopMode::Repeat, Some(0))));
    for (n, call) in calls.iter().enumerate() {
        let refused = call(&mut crowd.player(i).unwrap());
        assert!(matches!(refused, Err(PlaybackError::Value { .. })), "{n}: {refused:?}");
        assert!(crowd.snapshot() == before, "{n} changed something");
    }
    for x in bad {
        assert!(crowd.advance(x.into()).is_err());
    }
    assert!(crowd.snapshot() == before);
}

/// The mannequin's clips and masks are of another skeleton than the chain's.
fn stranger() -> Rig {
    let mut scene = raw();
    scene.nodes[3].name = Some("renamed".into());
    build_rig(scene, &Default::default()).unwrap()
}

#[test]
fn strangers_and_stale_handles() {
    let (mut mixer, clip) = marked("a", &[0.5]);
    let options = PlayOptions::default();
    let other = Arc::new(stranger());
    let foreign = other.clips()[0].clone();
    let refused = mixer.add_clip(foreign.clone());
    let said = refused.as_ref().map_err(ToString::to_string);
    let said = said.expect_err("another skeleton");
    assert!(
        said.contains("joint 3 \"renamed\": the name is \"renamed\", in the other skeleton"),
        "{said}"
    );
    assert!(matches!(refused, Err(PlaybackError::ClipLayout { .. })));
    // A handle of a mixer of another skeleton.
    let theirs = Mixer::new(other.clone()).unwrap().clip_named("a").unwrap();
    let own = mixer.rig().name().to_owned();
    let unknown = |clip, why| {
        let rig = own.clone();
        Err(PlaybackError::UnknownClip { clip, why, rig })
    };
    assert_eq!(mixer.player().play(0, theirs, &options), unknown(theirs, Unknown::OtherSkeleton));
    let mask = JointMask::subtree(other.skeleton(), 1).unwrap();
    let masked = LayerOptions { mask: Some(mask), ..LayerOptions::default() };
    // The same lane order, but a joint of another name.
    assert!(matches!(
        Mixer::with_layers(rig(), vec![masked.clone()]),
        Err(PlaybackError::Mask { layer: 0, .. })
    ));
    assert!(Mixer::with_layers(other.clone(), vec![masked.clone()]).is_ok());
    let mut narrow = raw();
    narrow.nodes.truncate(5);
    narrow.skins[0].joints.truncate(5);
    narrow.skins[0].inverse_bind.truncate(5);
    narrow.clips.clear();
    let narrow = build_rig(narrow, &Default::default()).unwrap();
    assert!(matches!(
        Mixer::with_layers(Arc::new(narrow), vec![masked]),
        Err(PlaybackError::Mask { layer: 0, .. })
    ));
    // Layers, clips and actions that are not there, or not any more.
    let layer = PlaybackError::UnknownLayer { layer: 1, layers: 1, rig: own.clone() };
    assert_eq!(mixer.player().play(1, clip, &options), Err(layer.clone()));
    assert_eq!(mixer.player().set_layer_speed(1, 1.0), Err(layer.clone()));
    assert_eq!(mixer.player().fade_layer(1, 1.0, 0.0), Err(layer));
    mixer.player().play(0, clip, &options).unwrap();
    let used = mixer.unload_clip(clip).unwrap_err().to_string();
    assert!(used.ends_with("is still used by 1 action or blend space"), "{used}");
    mixer.player().stop_all(0.0).unwrap();
    mixer.unload_clip(clip).unwrap();
    let why = Unknown::Gone;
    assert_eq!(mixer.player().play(0, clip, &options), unknown(clip, why));
    let skeleton = rig();
    let skeleton = skeleton.skeleton();
    assert!(matches!(
        JointMask::subtree(skeleton, "nobody"),
        Err(BuildError::Joint(LookupError::NoJoint { .. }))
    ));
    assert!(matches!(
        JointMask::from_joints(skeleton, &[(99, 1.0)]),
        Err(BuildError::Joint(LookupError::JointIndex { joint: 99, .. }))
    ));
}

#[test]
fn kinds_are_told_apart_in_clips_and_blend_spaces() {
    let additive = build_additive_raw(&rig(), (&raw(), 1), AdditiveReference::Rest).unwrap();
    let layer = LayerOptions { additive: true, ..LayerOptions::default() };
    let layers = vec![LayerOptions::default(), layer];
    let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
    let a = mixer.clip_named("a").unwrap();
    let d = mixer.add_clip(Arc::new(additive)).unwrap();
    let options = PlayOptions::default();
    let kind = |r: Refused| matches!(r, Err(PlaybackError::ClipKind { .. }));
    assert!(kind(mixer.player().play(0, d, &options)));
    assert!(kind(mixer.player().play(1, a, &options)));
    assert!(mixer.player().play(1, d, &options).is_ok());
    mixer.player().stop_all(0.0).unwrap();
    let space = |mixer: &mut Mixer, points: &[(f32, ClipId)]| mixer.add_blend_space(points);
    for points in
        [vec![], vec![(0.0, a), (1.0, d)], vec![(0.0, a), (0.0, a)], vec![(1.0, a), (0.0, a)]]
    {
        let refused = space(&mut mixer, &points);
        assert!(matches!(refused, Err(PlaybackError::BlendSpace { .. })), "{points:?}");
    }
    assert!(space(&mut mixer, &[(f32::NAN, a)]).is_err());
    let sums = space(&mut mixer, &[(0.0, d), (1.0, d)]).unwrap();
    assert!(kind(mixer.player().play(0, sums, &options)));
    mixer.player().play(1, sums, &options).unwrap();
    let negative = PlayOptions { weight: -1.0, ..options };
    mixer.player().play(1, sums, &negative).unwrap();
    mixer.player().set_layer_weight(1, -0.5).unwrap();
    // Against an additive clip, or one that is not there, nothing can be measured.
    let (raw, rig) = (raw(), rig());
    let frame = build_additive_raw(&rig, (&raw, 1), AdditiveReference::Frame(9, 0.0));
    assert!(frame.is_err());
    let frame = build_additive_raw(&rig, (&raw, 1), AdditiveReference::Frame(0, f32::NAN));
    assert!(frame.is_err());
}

#[test]
fn a_warp_out_of_range() {
    let (mut mixer, a) = marked("a", &[]);
    let c = mixer.clip_named("c").unwrap();
    let fast = PlayOptions { speed: 0.9e6, ..PlayOptions::default() };
    mixer.player().play(0, a, &fast).unwrap();
    let warp = CrossFade { seconds: 1.0, warp: true, ..CrossFade::default() };
    let refused = mixer.player().cross_fade(0, a, c, warp, &fast);
    assert!(matches!(refused, Err(PlaybackError::Value { .. })));
    assert!(mixer.playing().action(0, c).is_err());
    assert_eq!(mixer.playing().action(0, a).unwrap().weight, 1.0);
}
