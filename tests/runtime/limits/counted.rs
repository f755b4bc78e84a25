//! Limits that count: layers, overrides of an instance, steps of deforming, markers of equal clips.

use super::refused::{additive_scale, small};
use phalanx::build::{BuildError, BuildOptions, add_lod, build_rig};
use phalanx::clip::{Clip, Marker};
use phalanx::crowd::{BlendSpace, Crowd, CrowdError, LayerOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::import::{ImportError, ImportFault, add_markers};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, MorphTarget};
use phalanx::playback::{MAX_POSED_STEPS, PlaybackError, evaluate_pose};
use phalanx::scene::SceneGraph;
use phalanx::skeleton::MAX_WORLD;
use phalanx_testkit::rigs::built;
use std::sync::Arc;

const MAX_OVERRIDE_SCALE: f64 = 1.0e6;
const MAX_GIVEN_MARKERS: usize = 1 << 22;

/// Adds a clip of differences that scales a joint to a crowd with additive layers.
fn add(scale: f32, additive: usize) -> Result<(), CrowdError> {
    let (rig, clip) = additive_scale(scale);
    let layer = |additive| LayerOptions { additive, ..LayerOptions::default() };
    let mut layers = vec![layer(false)];
    layers.extend((0..additive).map(|_| layer(true)));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(Arc::new(rig), layers).unwrap();
    crowd.add_clip(id, Arc::new(clip)).map(|_| ())
}

/// Three joints: 1e20 / (4 × 4 × 9) is the eighth power of 169.9 for the four actions of a layer, two clips
/// each; 1e20 / (4 × 4 × 17) the sixteenth of 12.52 for those of two layers.
#[test]
fn every_action_of_every_additive_layer_counts() {
    for (layers, within, beyond) in [(1, 169.0, 171.0), (2, 12.4, 12.6)] {
        assert_eq!(add(within, layers), Ok(()));
        let refused = add(beyond, layers);
        let named = matches!(refused, Err(CrowdError::Scales { .. }));
        assert!(named, "{layers}: {refused:?}");
    }
    // At weight −1 a difference of s scales by 2 − s.
    assert_eq!(add(-167.0, 1), Ok(()));
    assert!(matches!(add(-168.5, 1), Err(CrowdError::Scales { .. })));
}

/// Of a blend space in a plane three clips may play: 1e20 / (4 × 4 × 13) is the twelfth power of 29.74.
#[test]
fn every_clip_of_a_plane_counts() {
    for (scale, fits) in [(29.0f32, true), (30.5, false)] {
        let (rig, clip) = additive_scale(scale);
        let layer = |additive| LayerOptions { additive, ..LayerOptions::default() };
        let mut crowd = Crowd::new();
        let layers = vec![layer(false), layer(true)];
        let id = crowd.add_rig_with_layers(Arc::new(rig), layers).unwrap();
        let clip = crowd.add_clip(id, Arc::new(clip)).unwrap();
        let points = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|at| (at, clip));
        let plane = crowd.add_blend_space(id, BlendSpace::plane(&points));
        assert_eq!(plane.is_ok(), fits, "{plane:?}");
        assert!(fits || matches!(plane, Err(CrowdError::Scales { .. })));
    }
}

fn stretched(by: f64) -> Affine3x4 {
    let mut m = Affine3x4::IDENTITY;
    m.rows[0][0] = by as f32;
    m
}

/// What was replaced or cleared counts no more, what was not still does, whatever stands beside it.
#[test]
fn overrides_are_counted_as_they_come_and_go() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(built(small())).unwrap();
    let [a, b] = [0, 1].map(|_| crowd.spawn(id).unwrap());
    let (most, little) = (stretched(MAX_OVERRIDE_SCALE * 0.999), stretched(1.5));
    let refused = |crowd: &mut Crowd, instance, joint: usize| {
        let result = crowd.player(instance).unwrap().set_override(joint, little);
        assert!(matches!(result, Err(CrowdError::Override { joint: 2, .. })), "{result:?}");
    };
    crowd.player(a).unwrap().set_override(1, most).unwrap();
    refused(&mut crowd, a, 2);
    // Replaced by little, and by most again.
    crowd.player(a).unwrap().set_override(1, little).unwrap();
    crowd.player(a).unwrap().set_override(2, little).unwrap();
    crowd.player(a).unwrap().clear_override(2).unwrap();
    crowd.player(a).unwrap().set_override(1, most).unwrap();
    refused(&mut crowd, a, 2);
    // One that lies before it goes.
    crowd.player(a).unwrap().set_override(0, Affine3x4::IDENTITY).unwrap();
    crowd.player(a).unwrap().clear_override(0).unwrap();
    refused(&mut crowd, a, 2);
    // Another instance's count for themselves, and all of an instance go before those of another.
    crowd.player(b).unwrap().set_override(1, most).unwrap();
    refused(&mut crowd, b, 2);
    crowd.player(a).unwrap().clear_overrides();
    crowd.player(a).unwrap().set_override(1, little).unwrap();
    crowd.player(a).unwrap().clear_overrides();
    refused(&mut crowd, b, 2);
}

/// Each node is within its limit, the place of the last in the world is not. Powers of two, so that sums are
/// exact: 2⁴⁹ is 0.56 of the limit.
#[test]
fn an_instance_that_hangs_beyond_the_world_stays_where_it_was() {
    let moved = |x: f32| {
        let mut m = Affine3x4::IDENTITY;
        m.rows[0][3] = x;
        m
    };
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(built(small())).unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut scene = SceneGraph::new();
    let step = (1u64 << 49) as f32;
    assert!(step < MAX_WORLD && 2.0 * step > MAX_WORLD);
    let far = scene.add(None, moved(step)).unwrap();
    let farther = scene.add(far, moved(0.0)).unwrap();
    let mirror = crowd.mirror(i, &mut scene, None).unwrap();
    scene.set_parent(mirror, farther).unwrap();
    crowd.update_scene(&mut scene);
    let within = moved(step);
    assert_eq!(*crowd.world(i).unwrap(), within);
    scene.set_local(farther, moved(step)).unwrap();
    crowd.update_scene(&mut scene);
    assert_eq!(*crowd.world(i).unwrap(), within);
    scene.set_local(farther, moved(-0.5 * step)).unwrap();
    crowd.update_scene(&mut scene);
    assert_eq!(*crowd.world(i).unwrap(), moved(0.5 * step));
}

#[test]
fn deforming_is_bounded_before_it_begins() {
    let vertices = 100_000;
    let with = |targets: usize| {
        let mut raw = small();
        let p = &mut raw.meshes[0].primitives[0];
        p.positions = vec![[0.0; 3]; vertices];
        p.targets = vec![MorphTarget::default(); targets];
        let rig = built(raw);
        let pose = evaluate_pose(&rig, &[]).unwrap();
        pose.vertices(&rig).map(|p| p.len())
    };
    assert_eq!(with(50), Ok(1));
    // A step for a vertex, and one for each target.
    let needed = vertices as u64 * 20_001;
    assert!(needed > MAX_POSED_STEPS);
    // Positions take 12 bytes each, and a step at least.
    const { assert!(MAX_POSED_STEPS * 12 <= 3 << 29) };
    assert_eq!(with(20_000), Err(PlaybackError::TooManyVertices { needed }));
}

#[test]
fn markers_are_counted_for_every_clip_that_takes_them() {
    let mut raw = small();
    raw.clips = vec![raw.clips[0].clone(); 65];
    let mut rigs = [build_rig(raw, &BuildOptions::default()).unwrap()];
    let markers = vec![Marker::new("step", 0.5); 65_536];
    let needed = 65 * markers.len();
    assert!(needed > MAX_GIVEN_MARKERS);
    let given = vec![("walk".to_owned(), markers)];
    let refused = add_markers(&mut rigs, &[], &given, "walk.events.json");
    let Err(ImportError::Fault { file, fault, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(file, "walk.events.json");
    assert!(matches!(fault, ImportFault::Limit { needed: n, .. } if n == needed as u64));
    assert!(rigs[0].clips().iter().all(|c| c.markers().is_empty()));
}

/// Clips take tables as long as what they move of the skeleton, and these count as their keys do.
#[test]
fn tables_of_clips_count_with_their_keys() {
    const JOINTS: usize = 1600;
    const CLIPS: usize = 100;
    let raw = |moved: Option<usize>| {
        let node = |n: usize| RawNode { name: Some(format!("joint{n}")), ..RawNode::default() };
        let track = |node| RawTrack {
            node,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        };
        let clip = RawClip {
            duration: 1.0,
            tracks: moved.map(track).into_iter().collect(),
            ..RawClip::default()
        };
        RawScene {
            nodes: (0..JOINTS).map(node).collect(),
            skins: vec![RawSkin {
                joints: (0..JOINTS).collect(),
                inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); JOINTS],
                ..RawSkin::default()
            }],
            clips: vec![clip; CLIPS],
            ..RawScene::default()
        }
    };
    // The joint that moves stands last.
    let mut options =
        BuildOptions { lane_order: Some((0..JOINTS as u16).collect()), ..BuildOptions::default() };
    let all = |raw, options: &BuildOptions| build_rig(raw, options).map(|rig| rig.clips().to_vec());
    let keys = |clips: Vec<Arc<Clip>>| clips.iter().map(|c| c.bytes()).sum();
    for (moved, table) in [(None, 0), (Some(JOINTS - 1), JOINTS / 16 * 2)] {
        options.max_clip_bytes = usize::MAX;
        let keys: usize = keys(all(raw(moved), &options).unwrap());
        options.max_clip_bytes = keys + CLIPS * table;
        assert!(all(raw(moved), &options).is_ok(), "{moved:?}");
        if table == 0 {
            // There is nothing to take away.
            continue;
        }
        options.max_clip_bytes -= 1;
        let refused = all(raw(moved), &options).map(|_| ());
        assert!(
            matches!(refused, Err(BuildError::Animation { clip, .. }) if clip == CLIPS - 1),
            "{refused:?}"
        );
    }
}

/// A level of detail that many nodes draw is one mesh, as it is in the rig.
#[test]
fn nodes_share_the_mesh_of_a_level() {
    let mut raw = small();
    raw.nodes[3].skin = Some(0);
    raw.meshes[0].primitives[0].influences =
        Influences { per_vertex: 1, joints: vec![0, 1, 2], weights: vec![1.0; 3] };
    let again = raw.nodes[3].clone();
    raw.nodes.push(RawNode { source: 5, ..again });
    let mut rig = build_rig(raw.clone(), &BuildOptions::default()).unwrap();
    for lod in [0, 1] {
        let meshes: Vec<_> = rig.meshes().iter().filter(|m| m.lod == lod).collect();
        assert_eq!(meshes.len(), 2);
        assert!(Arc::ptr_eq(&meshes[0].mesh, &meshes[1].mesh), "level {lod}");
        add_lod(&mut rig, &raw).unwrap();
    }
}
