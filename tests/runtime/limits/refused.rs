//! What lies just beyond a limit is refused, by name, and nothing changes.

use glam::{Quat, Vec3};
use phalanx::build::{BuildOptions, build_additive_raw, build_rig};
use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, LayerOptions, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Mesh, Primitive};
use phalanx::playback::Mixer;
use phalanx::rig::{Rig, RigParts};
use phalanx::skeleton::{MAX_CHAIN_SCALE, MAX_LENGTH, MAX_SECONDS, MAX_WORLD};
use phalanx_testkit::rigs::{built, finite};
use std::sync::Arc;

const MAX_SCALAR: f32 = 1.0e12;
const MAX_OVERRIDE_LENGTH: f32 = 1.0e9;
const MAX_OVERRIDE_SCALE: f64 = 1.0e6;

/// Three joints in a chain, a clip with every channel, a mesh with a target.
pub fn small() -> RawScene {
    let node = |i: usize| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1),
        source: i,
        ..RawNode::default()
    };
    let track = |channel, values: &[f32]| RawTrack {
        node: 1,
        channel,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: values.to_vec(),
    };
    let mut nodes: Vec<RawNode> = (0..3).map(node).collect();
    nodes.push(RawNode {
        name: Some("hat".into()),
        parent: Some(2),
        source: 3,
        mesh: Some(0),
        weights: vec![0.0],
        ..RawNode::default()
    });
    nodes.push(RawNode {
        name: Some("tag".into()),
        parent: Some(2),
        source: 4,
        ..RawNode::default()
    });
    let mut morph = track(RawChannel::Weights, &[0.0, 1.0]);
    morph.node = 3;
    RawScene {
        name: "small".into(),
        nodes,
        skins: vec![RawSkin {
            name: None,
            joints: vec![0, 1, 2],
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 3],
        }],
        clips: vec![RawClip {
            name: Some("walk".into()),
            duration: 1.0,
            tracks: vec![
                track(RawChannel::Translation, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
                track(RawChannel::Rotation, &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
                track(RawChannel::Scale, &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
                morph,
            ],
            ..RawClip::default()
        }],
        meshes: vec![Mesh {
            primitives: vec![Primitive {
                positions: vec![[0.0; 3]; 3],
                targets: vec![phalanx::mesh::MorphTarget {
                    positions: vec![[1.0; 3]; 3],
                    ..Default::default()
                }],
                ..Primitive::default()
            }],
            weights: vec![0.0],
            ..Mesh::default()
        }],
        ..RawScene::default()
    }
}

/// A rig at rest, and a clip of differences that scales one of its joints along x.
pub fn additive_scale(scale: f32) -> (Rig, Clip) {
    let mut raw = small();
    raw.clips[0].tracks.retain(|t| t.channel == RawChannel::Scale);
    raw.clips[0].tracks[0].values = vec![1.0, 1.0, 1.0, scale, 1.0, 1.0];
    let mut rest = raw.clone();
    rest.clips[0].tracks[0].values = vec![1.0; 6];
    let rig = build_rig(rest, &BuildOptions::default()).expect("a rig at rest");
    let clip =
        build_additive_raw(&rig, (&raw, 0), rig.skeleton().rest_pose()).expect("differences");
    (rig, clip)
}

type Change = (&'static str, fn(&mut RawScene, f32), f32);

#[test]
fn values_just_beyond_are_refused_with_place_and_numbers() {
    let cases: Vec<Change> = vec![
        (
            "joint 1 \"joint1\": a translation",
            |s, v| s.nodes[1].local.translation.y = v,
            MAX_LENGTH,
        ),
        (
            "joint 2 \"joint2\": the product of the scales down to it",
            |s, v| {
                s.clips.clear();
                s.nodes[0].local.scale = Vec3::splat(1e6);
                s.nodes[2].local.scale.z = v * 1e-6;
            },
            MAX_CHAIN_SCALE as f32,
        ),
        ("inverse bind matrix of slot 2", |s, v| s.skins[0].inverse_bind[2][5] = v, MAX_LENGTH),
        (
            "translation of joint 1 \"joint1\", key 1",
            |s, v| s.clips[0].tracks[0].values[4] = v,
            MAX_LENGTH,
        ),
        (
            "scale of joint 1 \"joint1\", key 1",
            |s, v| s.clips[0].tracks[2].values[3] = v,
            MAX_LENGTH,
        ),
        (
            "down to joint 1 \"joint1\"",
            |s, v| {
                s.nodes[0].local.scale = Vec3::splat(1e6);
                s.clips[0].tracks[2].values[3] = v * 1e-6;
            },
            MAX_CHAIN_SCALE as f32,
        ),
        (
            "scalar 0 \"hat.weights[0]\", key 0",
            |s, v| s.clips[0].tracks[3].values[0] = v,
            MAX_SCALAR,
        ),
        (
            "scalar 0 \"hat.weights[0]\": the rest value",
            |s, v| s.nodes[3].weights[0] = v,
            MAX_SCALAR,
        ),
        ("the duration", |s, v| s.clips[0].duration = v, MAX_SECONDS),
        ("key 1: times", |s, v| s.clips[0].tracks[0].times[1] = v, MAX_SECONDS),
        ("positions, vertex 2", |s, v| s.meshes[0].primitives[0].positions[2][0] = v, MAX_LENGTH),
        (
            "target.positions, vertex 1",
            |s, v| {
                s.meshes[0].primitives[0].targets[0].positions[1][2] = v;
            },
            MAX_LENGTH,
        ),
        (
            "node 4 \"tag\": a number of the translation",
            |s, v| s.nodes[4].local.translation.x = v,
            MAX_LENGTH,
        ),
        ("node 4 \"tag\": a number of the scale", |s, v| s.nodes[4].local.scale.x = v, MAX_LENGTH),
        (
            "node 4 \"tag\": a number of the matrix",
            |s, v| {
                let mut m = Affine3x4::IDENTITY.to_cols_array();
                m[12] = v;
                s.nodes[4].matrix = Some(m);
            },
            MAX_LENGTH,
        ),
    ];
    for (words, change, limit) in cases {
        for sign in [1.0f32, -1.0] {
            // A duration and times are not negative, whatever the limit.
            let seconds =
                limit == MAX_SECONDS && (words.contains("times") || words.contains("duration"));
            if sign < 0.0 && seconds {
                continue;
            }
            let mut within = small();
            change(&mut within, limit * 0.999_999 * sign);
            let rig = build_rig(within, &BuildOptions::default());
            assert!(rig.is_ok(), "{words}: {:?}", rig.err());
            let mut beyond = small();
            let value = limit * 1.000_01 * sign;
            change(&mut beyond, value);
            let error = build_rig(beyond, &BuildOptions::default()).expect_err(words);
            let text = error.to_string();
            assert!(text.contains(words), "{text}");
            let limit = format!("{limit:e}");
            assert!(text.contains(&limit), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }
}

#[test]
fn rotations_without_a_direction_are_refused() {
    for q in [[0.0f32; 4], [1e-20; 4], [1e19; 4], [2.0, 0.0, 0.0, 0.0]] {
        let mut raw = small();
        raw.nodes[1].local.rotation = Quat::from_array(q);
        let error = build_rig(raw, &BuildOptions::default()).expect_err("no rotation");
        assert!(error.to_string().contains("joint 1 \"joint1\""), "{error}");
    }
}

#[test]
fn clips_that_multiply_too_much_together_are_refused_and_nothing_changes() {
    // Each alone scales one joint of the chain by 1e7, which is allowed; together they reach 1e14.
    let scaled = |node: usize| {
        let mut raw = small();
        raw.clips[0].tracks.retain(|t| t.channel == RawChannel::Scale);
        raw.clips[0].tracks[0].node = node;
        raw.clips[0].tracks[0].values = vec![1.0, 1.0, 1.0, 1e7, 1.0, 1.0];
        raw
    };
    let mut both = scaled(1);
    both.clips.extend(scaled(2).clips);
    let error = build_rig(both, &BuildOptions::default()).expect_err("1e14");
    let text = error.to_string();
    for part in ["joint 2 \"joint2\"", "1e14", "1e12"] {
        assert!(text.contains(part), "{text}");
    }
    // The same for a clip that is added when the crowd runs. Both are built in one lane order.
    let order = Some(vec![0, 1, 2]);
    let build = |raw| {
        let options = BuildOptions { lane_order: order.clone(), ..BuildOptions::default() };
        build_rig(raw, &options).expect("1e7 alone")
    };
    let (one, two) = (Arc::new(build(scaled(1))), build(scaled(2)));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(one.clone()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let clip = crowd.clip_by_index(id, 0).unwrap();
    crowd.play(i, clip, &PlayOptions::default()).unwrap();
    let before = crowd.snapshot();
    let refused = crowd.add_clip(id, two.clips()[0].clone());
    assert!(matches!(refused, Err(CrowdError::Scales { .. })), "{refused:?}");
    assert_eq!(crowd.snapshot(), before);
    assert!(crowd.clip_by_index(id, 1).is_none());
    // Once the first is gone, the second fits.
    crowd.player(i).unwrap().stop_all(0.0).unwrap();
    crowd.unload_clip(clip).unwrap();
    crowd.add_clip(id, two.clips()[0].clone()).unwrap();
}

#[test]
fn additive_layers_have_a_limit_of_their_own() {
    let with = |scale: f32| {
        let (rig, clip) = additive_scale(scale);
        (Arc::new(rig), Arc::new(clip))
    };
    let add = |scale: f32, additive: usize| {
        let (rig, clip) = with(scale);
        let mut layers = vec![LayerOptions::default()];
        for _ in 0..additive {
            layers.push(LayerOptions { additive: true, ..LayerOptions::default() });
        }
        let mut crowd = Crowd::new();
        let id = crowd.add_rig_with_layers(rig, layers).unwrap();
        crowd.add_clip(id, clip).map(|_| ())
    };
    assert_eq!(add(10.0, 1), Ok(()));
    assert_eq!(add(1e6, 0), Ok(()), "no layer plays it");
    let refused = add(1e6, 1);
    assert!(matches!(refused, Err(CrowdError::Scales { .. })), "{refused:?}");
}

#[test]
fn overrides_and_worlds_have_limits_of_their_own() {
    let rig = built(small());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let i = crowd.spawn(id).unwrap();
    let scaled = |s: f64| {
        let turn = Quat::from_rotation_y(0.7);
        Affine3x4::from_scale_rotation_translation(Vec3::new(s as f32, 1.0, 0.5), turn, Vec3::ONE)
    };
    let moved = |x: f32| {
        let mut m = Affine3x4::IDENTITY;
        m.rows[1][3] = x;
        m
    };
    let half = MAX_OVERRIDE_SCALE.sqrt();
    crowd.player(i).unwrap().set_override(1, scaled(half * 0.999)).unwrap();
    crowd.player(i).unwrap().set_override(2, scaled(half * 0.999)).unwrap();
    crowd.player(i).unwrap().set_override(0, moved(-MAX_OVERRIDE_LENGTH)).unwrap();
    crowd.set_world(i, moved(MAX_WORLD)).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    finite(buffer.rows(), "overrides at their limit");
    let before = crowd.snapshot();
    let stretched = crowd.player(i).unwrap().set_override(2, scaled(half * 1.01));
    let Err(CrowdError::Override { joint: 2, what, limit, .. }) = stretched else {
        panic!("{stretched:?}");
    };
    assert!(what.contains("stretches"), "{what}");
    assert_eq!(limit, MAX_OVERRIDE_SCALE);
    for bad in [MAX_OVERRIDE_LENGTH.next_up(), -f32::MAX] {
        let refused = crowd.player(i).unwrap().set_override(0, moved(bad));
        let named = matches!(
            refused,
            Err(CrowdError::Override { joint: 0, what, value, limit, .. })
                if what.contains("translation") && (value, limit) == (bad.into(), MAX_OVERRIDE_LENGTH.into())
        );
        assert!(named, "{refused:?}");
    }
    let refused = crowd.set_world(i, moved(-MAX_WORLD.next_up()));
    assert!(matches!(refused, Err(CrowdError::Beyond { limit, .. }) if limit == MAX_WORLD));
    assert!(matches!(
        crowd.player(i).unwrap().set_override(0, moved(f32::NAN)),
        Err(CrowdError::Override { value, .. }) if value.is_nan()
    ));
    assert_eq!(crowd.snapshot(), before);
    // What was cleared counts no more.
    crowd.player(i).unwrap().clear_override(1).unwrap();
    crowd.player(i).unwrap().set_override(2, scaled(half * half * 0.999)).unwrap();
}

/// A node above that makes small what is too large, or two that are too large only together.
#[test]
fn nodes_that_never_move_have_limits_alone_and_together() {
    let refused = |above: f32, own: fn(&mut RawNode)| {
        let mut raw = small();
        raw.nodes[4].local.scale = Vec3::splat(above);
        let mut node =
            RawNode { name: Some("leaf".into()), parent: Some(4), source: 5, ..RawNode::default() };
        own(&mut node);
        raw.nodes.push(node);
        let rig = build_rig(raw, &BuildOptions::default());
        rig.map_or_else(|error| error.to_string(), |_| "a rig".into())
    };
    type Case = (&'static str, f32, fn(&mut RawNode));
    let cases: [Case; 4] = [
        ("a number of the matrix is 1e13", 1e-6, |n| {
            let mut m = Affine3x4::IDENTITY.to_cols_array();
            m[0] = 1e13;
            n.matrix = Some(m);
        }),
        ("a number of the scale is 1e13", 1e-6, |n| {
            n.local.scale.x = 1e13;
        }),
        ("a number of the translation is 1e13", 1e-6, |n| {
            n.local.translation.x = 1e13;
        }),
        ("a number of the matrix relative to the joint above is", 1e7, |n| n.local.scale.x = 1e7),
    ];
    for (words, above, own) in cases {
        let text = refused(above, own);
        assert!(text.contains("node 5 \"leaf\"") && text.contains(words), "{text}");
    }
    assert_eq!(refused(1e7, |n| n.local.scale.x = 1e4), "a rig");
}

/// What a rig brings along is looked at as what is added later.
#[test]
fn additive_clips_of_a_rig_count_when_it_is_added() {
    let with = |scale: f32| {
        let (rig, clip) = additive_scale(scale);
        let parts = RigParts {
            name: rig.name().to_owned(),
            skeleton: rig.skeleton().clone(),
            skins: rig.skins().to_vec(),
            file_skins: rig.file_skins().len(),
            clips: vec![Arc::new(clip)],
            nodes: rig.nodes().to_vec(),
            roots: rig.roots().to_vec(),
            meshes: rig.meshes().to_vec(),
            materials: rig.materials().to_vec(),
            images: rig.images().to_vec(),
        };
        Arc::new(Rig::new(parts).expect("no layer plays it"))
    };
    let layers = [false, true].map(|additive| LayerOptions { additive, ..LayerOptions::default() });
    let mut crowd = Crowd::new();
    let mut add = |scale: f32, layers: &[LayerOptions]| {
        let added = crowd.add_rig_with_layers(with(scale), layers.to_vec());
        added.map(|_| ())
    };
    assert_eq!(add(10.0, &layers), Ok(()));
    assert_eq!(add(1e6, &layers[..1]), Ok(()));
    let refused = add(1e6, &layers);
    assert!(matches!(refused, Err(CrowdError::Scales { .. })), "{refused:?}");
    let refused = Mixer::with_layers(with(1e6), layers.to_vec()).map(|_| ());
    assert!(matches!(refused, Err(CrowdError::Scales { .. })), "{refused:?}");
}
