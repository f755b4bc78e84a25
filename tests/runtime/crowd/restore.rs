//! A snapshot goes into any crowd of the same rigs, layers, clips and blend spaces, and into no other.

use phalanx::build::{AdditiveReference, build_additive_raw};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdError, CrowdSnapshot, InstanceId, LayerOptions, PlayOptions, RigId,
};
use phalanx::playback::Fill;
use phalanx::rig::Rig;
use phalanx::skeleton::JointMask;
use phalanx_testkit::ruler::{ROWS, held, line, ruler, shift, stands, turn, with_clips};
use std::sync::Arc;

fn one_layer() -> Vec<LayerOptions> {
    vec![LayerOptions::default()]
}

/// A crowd of one rig.
fn crowd_of(rig: Arc<Rig>, layers: Vec<LayerOptions>) -> (Crowd, RigId) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers).unwrap();
    (crowd, id)
}

/// The same with two instances, at 0.25 m along x and at 0.5 m along y, on the uppermost layer.
fn playing(rig: Arc<Rig>, layers: Vec<LayerOptions>) -> (Crowd, RigId) {
    let top = layers.len() - 1;
    let (mut crowd, id) = crowd_of(rig, layers);
    for (name, time) in [("x", 0.25), ("y", 0.25)] {
        let i = crowd.spawn(id).unwrap();
        let clip = crowd.clip_named(id, name).unwrap();
        crowd.player(i).unwrap().fade_to(top, clip, 0.0, &held(time, 1.0)).unwrap();
    }
    (crowd, id)
}

/// Asserts that a crowd does not take a snapshot, and that nothing changes by it.
#[track_caller]
fn refused(crowd: &mut Crowd, snapshot: &CrowdSnapshot, what: &'static str) {
    let before = crowd.snapshot();
    let refused = crowd.restore(snapshot);
    let Err(CrowdError::Snapshot { part, .. }) = refused else {
        panic!("{what}: {refused:?}");
    };
    assert_eq!(part, what);
    assert!(crowd.snapshot() == before, "{what}: something changed");
    let mut buffer = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut buffer).instances, crowd.instance_count());
}

#[test]
fn another_crowd_of_the_same_rig_takes_it() {
    let (crowd, id) = playing(ruler(), one_layer());
    let snapshot = crowd.snapshot();
    // One with more instances, in frames of their own, and one with none.
    let (mut more, its) = playing(ruler(), one_layer());
    let mut buffer = BoneBuffer::new();
    let third = more.spawn(its).unwrap();
    more.set_visible(third, false).unwrap();
    for _ in 0..4 {
        more.evaluate(&mut buffer);
    }
    let (none, _) = crowd_of(ruler(), one_layer());
    for mut other in [more, none] {
        other.restore(&snapshot).unwrap();
        assert_eq!(other.instance_count(), 2);
        assert!(other.palette_range(third).is_none());
        let all: Vec<InstanceId> = other.instances().collect();
        for _ in 0..3 {
            let stats = other.evaluate(&mut buffer);
            assert_eq!((stats.instances, buffer.rows().len()), (2, 2 * ROWS));
            let palette = |n: usize| &buffer.rows()[other.palette_range(all[n]).unwrap()];
            stands(palette(0), [0.25, 0.0, 0.0]);
            stands(palette(1), [0.0, 0.5, 0.0]);
        }
        // It goes on as the one that the snapshot is of, by that one's handles.
        let new = other.spawn(id).unwrap();
        assert_eq!(other.instances().nth(2), Some(new));
        assert_eq!(other.evaluate(&mut buffer).instances, 3);
    }
}

#[test]
fn clips_of_other_content_are_refused() {
    let (crowd, _) = playing(ruler(), one_layer());
    let snapshot = crowd.snapshot();
    let x = line("x", 1.0, [1.0, 0.0, 0.0]);
    let y = line("y", 1.0, [0.0, 2.0, 0.0]);
    let z = line("z", 2.0, [0.0, 0.0, 3.0]);
    let farther = line("y", 1.0, [0.0, 2.5, 0.0]);
    let longer = line("y", 1.5, [0.0, 2.0, 0.0]);
    let renamed = line("why", 1.0, [0.0, 2.0, 0.0]);
    for clips in [
        vec![x.clone(), farther, z.clone()],
        vec![x.clone(), longer, z.clone()],
        vec![y.clone(), x.clone(), z.clone()],
        vec![x.clone(), y.clone()],
        Vec::new(),
    ] {
        let (mut other, _) = crowd_of(with_clips(clips), one_layer());
        refused(&mut other, &snapshot, "clips");
    }
    // Those that came later are no hindrance, nor is another name.
    let more = vec![x.clone(), y, z.clone(), turn("turn", 0.0, 90.0)];
    for clips in [more, vec![x, renamed, z]] {
        let (mut other, _) = crowd_of(with_clips(clips), one_layer());
        other.restore(&snapshot).unwrap();
    }

    // The same clip, but under another handle: those of the snapshot would name it no more.
    let (mut again, its) = crowd_of(ruler(), one_layer());
    let clip = again.clip_named(its, "y").unwrap();
    let clip = again.unload_clip(clip).unwrap();
    refused(&mut again, &snapshot, "clips");
    again.add_clip(its, clip).unwrap();
    refused(&mut again, &snapshot, "clips");
}

/// Where the rest pose does not turn, the differences of a turn are its own rows: all but the kind is alike.
/// Lanes without keys, such as the tip's translation, are the rest pose in one and nothing in the other.
#[test]
fn an_additive_clip_is_no_full_one() {
    let scene = phalanx_testkit::ruler::scene(vec![turn("turn", 0.0, 90.0)]);
    let rig = with_clips(scene.clips.clone());
    let full = rig.clips()[0].clone();
    let added = build_additive_raw(&rig, (&scene, 0), AdditiveReference::Rest).unwrap();
    let added = Arc::new(added);
    assert_eq!(full.content_hash(), added.content_hash());
    let with = |clip| {
        let (mut crowd, id) = crowd_of(rig.clone(), one_layer());
        crowd.add_clip(id, clip).unwrap();
        crowd
    };
    let mut crowds = [with(full), with(added)];
    let snapshots = crowds.each_ref().map(Crowd::snapshot);
    for (n, crowd) in crowds.iter_mut().enumerate() {
        crowd.restore(&snapshots[n]).unwrap();
        refused(crowd, &snapshots[1 - n], "clips");
    }
}

#[test]
fn other_layers_are_refused() {
    let masked = |joint| LayerOptions {
        mask: Some(JointMask::subtree(ruler().skeleton(), joint).unwrap()),
        ..LayerOptions::default()
    };
    let below = LayerOptions { fill: Fill::Below, ..LayerOptions::default() };
    let additive = LayerOptions { additive: true, ..LayerOptions::default() };
    let full = LayerOptions::default();
    let all = [
        vec![full.clone()],
        vec![full.clone(), full.clone()],
        vec![full.clone(), below],
        vec![full.clone(), additive],
        vec![full.clone(), masked(0)],
        vec![full.clone(), masked(1)],
        vec![full.clone(), full.clone(), full],
    ];
    for (n, layers) in all.iter().enumerate() {
        let (mut crowd, id) = crowd_of(ruler(), layers.clone());
        let i = crowd.spawn(id).unwrap();
        let x = crowd.clip_named(id, "x").unwrap();
        crowd.play(i, x, &held(0.25, 1.0)).unwrap();
        let snapshot = crowd.snapshot();
        for (m, layers) in all.iter().enumerate() {
            let (mut other, _) = crowd_of(ruler(), layers.clone());
            if n == m {
                other.restore(&snapshot).unwrap();
            } else {
                refused(&mut other, &snapshot, "layers");
            }
        }
    }
}

#[test]
fn blend_spaces_that_it_lacks_are_refused() {
    let space = |at: f32| {
        let (mut crowd, id) = crowd_of(ruler(), one_layer());
        let [x, y] = ["x", "y"].map(|name| crowd.clip_named(id, name).unwrap());
        crowd.add_blend_space(id, &[(0.0, x), (at, y)]).unwrap();
        crowd
    };
    let snapshot = space(1.0).snapshot();
    refused(&mut space(2.0), &snapshot, "blend spaces");
    let (mut none, _) = crowd_of(ruler(), one_layer());
    let empty = none.snapshot();
    refused(&mut none, &snapshot, "blend spaces");
    space(1.0).restore(&snapshot).unwrap();
    // One made since is no hindrance.
    space(1.0).restore(&empty).unwrap();
}

#[test]
fn other_rigs_are_refused() {
    let (crowd, _) = playing(ruler(), one_layer());
    let snapshot = crowd.snapshot();
    refused(&mut Crowd::new(), &snapshot, "rigs");
    // One more, also behind one that fits.
    let (mut more, _) = crowd_of(ruler(), one_layer());
    more.add_rig(ruler()).unwrap();
    refused(&mut more, &snapshot, "rigs");
    let two = more.snapshot();
    let (mut one, first) = crowd_of(ruler(), one_layer());
    refused(&mut one, &two, "rigs");
    // Another skeleton.
    let mut raw = phalanx_testkit::chain::raw();
    let (mut other, _) = crowd_of(phalanx_testkit::chain::rig(), one_layer());
    refused(&mut other, &snapshot, "rigs");
    let chain = other.snapshot();
    raw.nodes[3].name = Some("renamed".into());
    let renamed = phalanx::build::build_rig(raw, &Default::default()).unwrap();
    let (mut renamed, _) = crowd_of(Arc::new(renamed), one_layer());
    refused(&mut renamed, &chain, "rigs");
    // The same rig, but under another handle, or gone.
    one.remove_rig(first).unwrap();
    refused(&mut one, &snapshot, "rigs");
    let empty = one.snapshot();
    one.add_rig(ruler()).unwrap();
    refused(&mut one, &snapshot, "rigs");
    refused(&mut one, &empty, "rigs");
}

/// What happened in the last step belongs to the state that is left.
#[test]
fn events_and_motions_of_the_last_step_are_gone() {
    let (mut crowd, id) = crowd_of(super::walker::rig(), one_layer());
    crowd.apply_root_motion(id, true).unwrap();
    let i = crowd.spawn(id).unwrap();
    let x = crowd.clip_named(id, "x").unwrap();
    crowd.play(i, x, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    let snapshot = crowd.snapshot();
    crowd.advance(1.0).unwrap();
    assert_eq!(crowd.events().len(), 1);
    let motions = crowd.root_motion(id).unwrap();
    assert_eq!(motions.instances, [i]);
    assert_eq!(motions.translations, [glam::Vec3::X]);
    assert_eq!(motions.rotations, [glam::Quat::IDENTITY]);
    assert_eq!(crowd.world(i).unwrap().rows[0][3], 1.25);
    crowd.restore(&snapshot).unwrap();
    assert!(crowd.events().is_empty());
    assert!(crowd.root_motion(id).unwrap().instances.is_empty());
    assert_eq!(crowd.world(i).unwrap().rows[0][3], 0.25);
    // From there on by the same way.
    crowd.advance(0.5).unwrap();
    assert!(crowd.events().is_empty());
    assert_eq!(crowd.world(i).unwrap().rows[0][3], 0.75);
    crowd.advance(0.5).unwrap();
    assert_eq!(crowd.events().len(), 1);
    assert_eq!(crowd.world(i).unwrap().rows[0][3], 1.25);
}

/// What plays after a restore is what played then, whatever was evaluated in between.
#[test]
fn what_was_evaluated_since_is_forgotten() {
    let (mut crowd, id) = playing(ruler(), one_layer());
    let all: Vec<InstanceId> = crowd.instances().collect();
    let z = crowd.clip_named(id, "z").unwrap();
    crowd.player(all[1]).unwrap().set_override("base", shift(5.0)).unwrap();
    crowd.set_scheduled(all[1], false).unwrap();
    let snapshot = crowd.snapshot();
    let mut buffer = BoneBuffer::new();
    let mut shows = |crowd: &mut Crowd, carried, places: &[[f32; 3]]| {
        let stats = crowd.evaluate(&mut buffer);
        assert_eq!((stats.instances, stats.carried), (places.len() - carried, carried));
        for (palette, &at) in buffer.rows().chunks_exact(ROWS).zip(places) {
            stands(palette, at);
        }
    };
    shows(&mut crowd, 0, &[[0.25, 0.0, 0.0], [5.0, 0.0, 0.0]]);
    shows(&mut crowd, 1, &[[0.25, 0.0, 0.0], [5.0, 0.0, 0.0]]);
    crowd.player(all[1]).unwrap().clear_overrides();
    crowd.set_scheduled(all[1], true).unwrap();
    crowd.play(all[0], z, &held(1.0, 1.0)).unwrap();
    crowd.play(all[1], z, &held(2.0, 0.5)).unwrap();
    crowd.spawn(id).unwrap();
    let then = [[0.0, 0.0, 1.5], [0.0; 3], [0.0; 3]];
    shows(&mut crowd, 0, &then);
    crowd.restore(&snapshot).unwrap();
    // After a restore, instances that are not scheduled are evaluated once.
    shows(&mut crowd, 0, &[[0.25, 0.0, 0.0], [5.0, 0.0, 0.0]]);
    shows(&mut crowd, 1, &[[0.25, 0.0, 0.0], [5.0, 0.0, 0.0]]);
}
