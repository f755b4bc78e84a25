//! What errors say about handles: which, whose, and why they are refused.

use super::models::{Handles, one_joint};
use phalanx::crowd::{Crowd, CrowdError, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx::playback::{Mixer, Playable, PlaybackError};
use phalanx::scene::{SceneError, SceneGraph};
use phalanx::skeleton::{ChannelValue, LookupError, UserChannel};
use std::sync::Arc;

/// The message of a refused call.
fn message<T, E: std::fmt::Display>(result: Result<T, E>) -> String {
    result.map_or_else(|e| e.to_string(), |_| "nothing is refused".into())
}

#[test]
fn handles_have_names() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    Handles::add(&mut crowd, &rig);
    let own = Handles::add(&mut crowd, &rig);
    let other = crowd.spawn(own.rig).unwrap();
    let index = own.clip.index();
    assert_eq!(own.rig.to_string(), "rig 1");
    assert_eq!(other.to_string(), "instance 1 of rig 1");
    assert_eq!(own.clip.to_string(), format!("clip {index} of rig 1"));
    assert_eq!(own.space.to_string(), "blend space 0 of rig 1");
    assert_eq!(Playable::from(own.clip).to_string(), own.clip.to_string());
    assert_eq!(Playable::from(own.space).to_string(), own.space.to_string());
    assert_eq!(own.clip.rig(), Some(own.rig));
    assert_eq!((other.rig(), other.index()), (own.rig, 1));

    let mut mixer = Mixer::new(rig).unwrap();
    let b = mixer.clip_named("b").unwrap();
    let space = mixer.add_blend_space(&[(0.0, b)]).unwrap();
    assert_eq!(b.to_string(), "clip 1 of a mixer");
    assert_eq!(space.to_string(), "blend space 0 of a mixer");
    assert_eq!(b.rig(), None);
    mixer.player().play(0, b, &PlayOptions::default()).unwrap();
    mixer.advance(3.0).unwrap();
    let instance = mixer.events().iter().next().unwrap().instance;
    assert_eq!(instance.to_string(), "instance 0 of a mixer");
}

#[test]
fn unknown_handles_say_why() {
    let rig = one_joint("joint");
    let options = PlayOptions::default();
    let mut crowd = Crowd::new();
    let one = Handles::add(&mut crowd, &rig);
    let two = Handles::add(&mut crowd, &rig);
    let clip = one.clip.index();
    let here = "belongs to rig 0, this instance is of rig 1 (\"one\")";
    let play =
        |crowd: &mut Crowd, motion: Playable| message(crowd.play(two.instance, motion, &options));
    assert_eq!(play(&mut crowd, one.clip.into()), format!("clip {clip} {here}"));
    assert_eq!(play(&mut crowd, one.space.into()), format!("blend space 0 {here}"));
    assert_eq!(
        message(crowd.add_blend_space(two.rig, &[(0.0, one.clip)])),
        format!("clip {clip} belongs to rig 0, the blend space is of rig 1 (\"one\")")
    );

    // Those of another crowd, and of mixers.
    let mut elsewhere = Crowd::new();
    let third = Handles::add(&mut elsewhere, &rig);
    let there = "belongs to another crowd";
    assert_eq!(play(&mut crowd, third.clip.into()), format!("clip {clip} of rig 0 {there}"));
    assert_eq!(message(crowd.clip(third.clip)), format!("clip {clip} of rig 0 {there}"));
    let space = format!("blend space 0 of rig 0 {there}");
    assert_eq!(message(crowd.blend_space(third.space)), space);
    assert_eq!(message(crowd.rig(third.rig)), format!("rig 0 {there}"));
    let instance = format!("instance 0 of rig 0 {there}");
    assert_eq!(message(crowd.world(third.instance)), instance);
    let mixer = Mixer::new(rig.clone()).unwrap();
    let a = mixer.clip_named("a").unwrap();
    let of_mixer = "clip 0 belongs to a mixer, not to this crowd";
    assert_eq!(play(&mut crowd, a.into()), of_mixer);
    assert_eq!(message(crowd.unload_clip(a)), of_mixer);
    let of_crowd = format!("clip {clip} of rig 0 belongs to a crowd, not to this mixer");
    assert_eq!(message(mixer.clip(one.clip)), of_crowd);
    let other = Mixer::new(one_joint("other joint")).unwrap();
    let of_other = "clip 0 belongs to the mixers of another skeleton";
    assert_eq!(message(other.clip(a)), of_other);

    // What is used, and what is gone.
    assert_eq!(message(crowd.remove_rig(two.rig)), "rig 1 (\"one\") is still used by 1 instance");
    crowd.play(two.instance, two.space, &options).unwrap();
    let used = "blend space 0 of rig 1 (\"one\") is still used by 1 action";
    assert_eq!(message(crowd.remove_blend_space(two.space)), used);
    let name = crowd.clip(two.clip).unwrap().name().to_owned();
    let name = format!("clip {clip} (\"{name}\") of rig 1 (\"one\")");
    let used = format!("{name} is still used by 2 actions or blend spaces");
    crowd.play(two.instance, two.clip, &options).unwrap();
    assert_eq!(message(crowd.unload_clip(two.clip)), used);
    let stopped = format!("{name} does not play on layer 0");
    let mut player = crowd.player(two.instance).unwrap();
    player.stop_layer(0, 0.0).unwrap();
    assert_eq!(message(player.set_time(0, two.clip, 0.5)), stopped);
    crowd.remove_blend_space(two.space).unwrap();
    crowd.unload_clip(two.clip).unwrap();
    crowd.despawn(two.instance).unwrap();
    let gone = "instance 0 of rig 1 (\"one\") was despawned";
    assert_eq!(message(crowd.despawn(two.instance)), gone);
    let gone = format!("clip {clip} of rig 1 (\"one\") was unloaded");
    assert_eq!(message(crowd.clip(two.clip)), gone);
    let gone = "blend space 0 of rig 1 (\"one\") was removed";
    assert_eq!(message(crowd.remove_blend_space(two.space)), gone);
    crowd.remove_rig(two.rig).unwrap();
    assert_eq!(message(crowd.spawn(two.rig)), "rig 1 was removed");
    let gone = "blend space 0 of rig 1 was removed";
    assert_eq!(message(crowd.blend_space(two.space)), gone);
}

#[test]
fn clips_joints_and_channels_say_why() {
    let rig = one_joint("joint");
    let mut one = Mixer::new(rig.clone()).unwrap();
    let a = one.clip_named("a").unwrap();
    one.unload_clip(a).unwrap();
    assert_eq!(message(one.clip(a)), "clip 0 of a mixer (\"one\") was unloaded");
    let layer = message(one.playing().layer_speed(2));
    assert_eq!(layer, "unknown layer 2: rig \"one\" has 1 layer");

    assert_eq!(message(one.model_matrix("hand")), "there is no joint \"hand\"");
    let out = "joint 1 is out of range, the skeleton has 1 joint";
    assert_eq!(message(one.model_matrix(1)), out);
    assert_eq!(one.model_matrix("joint"), Ok(one.model_matrices()[0]));
    let asked = "there is no joint \"jiont\"; did you mean \"joint\"?";
    assert_eq!(message(one.model_matrix("jiont")), asked);
    let mut crowd = Crowd::new();
    let own = Handles::add(&mut crowd, &rig);
    assert_eq!(message(crowd.model_matrix(own.instance, 1)), out);
    let nan = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
    assert_eq!(
        message(crowd.set_world(own.instance, nan)),
        "the world transform of instance 0 of rig 0 (\"one\"): NaN is beyond the limit of 1e15"
    );
    let far = Affine3x4 { rows: [[2e30; 4]; 3] };
    assert_eq!(
        message(crowd.set_world(own.instance, far)),
        "the world transform of instance 0 of rig 0 (\"one\"): 2e30 is beyond the limit of 1e15"
    );
    let matrix = crowd.model_matrices(own.instance).unwrap()[0];
    assert_eq!(crowd.model_matrix(own.instance, "joint"), Ok(matrix));
    let refused = crowd.player(own.instance).unwrap().set_override("hand", Affine3x4::IDENTITY);
    assert!(matches!(refused, Err(CrowdError::Lookup(_))), "{refused:?}");

    let rest = ChannelValue::Float(0.0);
    let name = "channel".into();
    let skeleton = rig.skeleton().as_ref().clone();
    let skeleton = skeleton.with_channels(vec![UserChannel { name, rest }]);
    let channel = skeleton.unwrap().channel("channel").unwrap();
    let refused: Result<_, PlaybackError> = one.channel(channel);
    assert_eq!(
        message(refused),
        "user channel 0 belongs to another skeleton than that of rig \"one\""
    );
}

#[test]
fn nodes_and_mirrors_say_why() {
    let rig = one_joint("joint");
    let mut crowd = Crowd::new();
    let own = Handles::add(&mut crowd, &rig);
    let [mut scene, mut other] = [SceneGraph::new(), SceneGraph::new()];
    let one = Affine3x4::IDENTITY;
    let theirs = other.add(None, one).unwrap();
    let there = "node 0 belongs to another scene";
    assert_eq!(message(scene.set_local(theirs, one)), there);
    let theirs = other.add_mirror(rig.skeleton()).unwrap();
    let there = "node 1 belongs to another scene";
    assert_eq!(message(scene.joint(theirs, "joint")), there);

    let node = scene.add(None, one).unwrap();
    let below = scene.add(node, one).unwrap();
    let cycle = "node 0 cannot become a child of node 1, its descendant or the node itself";
    assert_eq!(message(scene.set_parent(node, below)), cycle);
    assert_eq!(
        message(crowd.mirrored_joint(&scene, node)),
        "node 0 is not a joint of an instance of this crowd"
    );
    let gone = phalanx::scene::OnRemove::Remove;
    assert_eq!(
        message(crowd.unmirror(own.instance, &mut scene, gone)),
        "instance 0 of rig 0 (\"one\") is not mirrored in this scene"
    );
    let mirror = crowd.mirror(own.instance, &mut scene, None).unwrap();
    let joint = scene.joint(mirror, "joint").unwrap();
    assert_eq!(
        message(scene.set_local(joint, one)),
        "node 3 is joint 0 of a mirrored skeleton, which alone sets its transform"
    );
    assert_eq!(
        message(scene.set_local(mirror, one)),
        "node 2 follows its instance's world transform while it has no parent"
    );
    scene.set_local(node, Affine3x4 { rows: [[0.0; 4]; 3] }).unwrap();
    let apart = scene.add(None, one).unwrap();
    let refused = scene.set_parent_in_place(apart, node);
    assert!(matches!(refused, Err(SceneError::Singular { .. })));
    assert_eq!(message(refused), "the world transform of the parent, node 0, has no inverse");
    crowd.unmirror(own.instance, &mut scene, gone).unwrap();
    assert_eq!(message(scene.joint(mirror, "joint")), "node 2 was removed");
    let none = "node 1 is not the root of a mirror";
    assert_eq!(message(scene.joint(below, "joint")), none);
    assert_eq!(message(scene.local(joint)), "node 3 was removed");
}

/// A name that no clip has is answered with those that resemble it, long ones cut.
#[test]
fn names_that_no_clip_has_are_answered_with_others() {
    let mut mixer = Mixer::new(one_joint("joint")).unwrap();
    let a = mixer.clip_named("a").unwrap();
    assert_eq!(mixer.clip_named("a"), Ok(a));
    let clip = mixer.clip(a).unwrap().as_ref().clone();
    let walk = mixer.add_clip(Arc::new(clip.with_name("Walk"))).unwrap();
    assert_eq!(mixer.clip_named("Walk"), Ok(walk));
    let asked = "rig \"one\" has no clip \"Wlak\"; did you mean \"Walk\"?";
    let rig = mixer.rig();
    assert_eq!(rig.clip_named("b"), Ok(1));
    assert_eq!(message(rig.clip_named("swim")), "rig \"one\" has no clip \"swim\"");
    assert_eq!(message(mixer.clip_named("Wlak")), asked);
    let none = "rig \"one\" has no clip \"somersault\"";
    assert_eq!(message(mixer.clip_named("somersault")), none);
    let long = message(mixer.clip_named(&"x".repeat(1 << 20)));
    assert!(long.len() < 200, "{long}");

    let falls = message(mixer.add_blend_space(&[(0.5, a), (0.25, walk)]));
    assert_eq!(
        falls,
        format!(
            "invalid blend space: values must ascend, and that of clip {} (\"Walk\") of a mixer (\"one\") is 0.25 after 0.5",
            walk.index()
        )
    );

    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(one_joint("joint")).unwrap();
    let b = crowd.clip_named(rig, "b").unwrap();
    assert_eq!(crowd.clip_named(rig, "b"), Ok(b));
    assert!(matches!(
        crowd.clip_named(rig, "bb"),
        Err(CrowdError::Lookup(LookupError::NoClip { .. }))
    ));
    crowd.remove_rig(rig).unwrap();
    assert!(matches!(crowd.clip_named(rig, "b"), Err(CrowdError::UnknownRig { .. })));
}
