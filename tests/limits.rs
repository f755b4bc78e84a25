//! Limits on the numbers of rigs and clips: within them every palette is finite, at every level of SIMD;
//! beyond them nothing is taken.

use glam::{Quat, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, LayerOptions, PlayOptions, hash01};
use phalanx::math::{Affine3x4, SimdLevel};
use phalanx::mesh::{Mesh, Primitive};
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::offline::{BuildOptions, build_additive, build_rig};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{
    MAX_CHAIN_SCALE, MAX_LENGTH, MAX_OVERRIDE_LENGTH, MAX_OVERRIDE_SCALE, MAX_SCALAR, MAX_SECONDS,
    MAX_WORLD, Trs,
};
use std::sync::Arc;

/// Numbers from a seed, the same on every machine.
struct Random(u64);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 += 1;
        hash01(self.0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Mostly at the ends of ±`limit`.
    fn extreme(&mut self, limit: f64) -> f32 {
        let size = match self.below(4) {
            0 => self.unit() * limit,
            1 => self.unit(),
            _ => limit,
        };
        (if self.unit() < 0.5 { -size } else { size }) as f32
    }

    fn turn(&mut self) -> Quat {
        let q = [0; 4].map(|_| self.unit() as f32 - 0.5);
        Quat::from_array(q).normalize()
    }
}

/// A rig at the ends of what is allowed: long chains, scales that multiply to the limit, lengths at it.
fn extreme(seed: u64) -> RawScene {
    let mut r = Random(seed * 1_000_003);
    let joints = 3 + r.below(40);
    let chain = r.unit() < 0.7;
    let parents: Vec<Option<usize>> = (0..joints)
        .map(|j| match j {
            0 => None,
            j if chain => Some(j - 1),
            j => Some(r.below(j)),
        })
        .collect();
    // What each joint may scale by: the logarithms sum to just below the limit's down the longest chain.
    let shares: Vec<f64> = (0..joints).map(|_| r.unit()).collect();
    let total: f64 = shares.iter().sum();
    let most = MAX_CHAIN_SCALE.ln() * 0.999_999;
    let factors: Vec<f64> = shares.iter().map(|s| (most * s / total).exp()).collect();
    let scale = |r: &mut Random, j: usize| [0; 3].map(|_| r.extreme(factors[j] * 0.999_999));
    let lengths = |r: &mut Random| [0; 3].map(|_| r.extreme(f64::from(MAX_LENGTH)));
    let mut nodes = Vec::new();
    for (j, &parent) in parents.iter().enumerate() {
        nodes.push(RawNode {
            name: Some(format!("joint{j}")),
            parent,
            local: Trs {
                translation: lengths(&mut r).into(),
                rotation: r.turn(),
                scale: scale(&mut r, j).into(),
            },
            ..RawNode::default()
        });
    }
    let mut clips = Vec::new();
    for clip in 0..4 {
        let mut tracks = Vec::new();
        for j in 0..joints {
            // Splines share their times: knots between keys would have tangents of their own.
            let keys = if clip == 3 { 3 } else { 2 + r.below(4) };
            let times: Vec<f32> = (0..keys).map(|k| k as f32 / (keys - 1) as f32).collect();
            let step = r.unit() < 0.3;
            let mode = if step {
                Interpolation::Step
            } else {
                Interpolation::Linear
            };
            for channel in [
                RawChannel::Translation,
                RawChannel::Rotation,
                RawChannel::Scale,
            ] {
                if r.unit() < 0.3 {
                    continue;
                }
                // Every value between tangents of zero stays between its keys.
                let cubic = clip == 3 && !step;
                let mut values = Vec::new();
                for _ in 0..keys {
                    let value: Vec<f32> = match channel {
                        RawChannel::Translation => lengths(&mut r).to_vec(),
                        RawChannel::Rotation => r.turn().to_array().to_vec(),
                        _ => scale(&mut r, j).to_vec(),
                    };
                    let zeros = vec![0.0; if cubic { value.len() } else { 0 }];
                    values.extend([&zeros[..], &value, &zeros].concat());
                }
                tracks.push(RawTrack {
                    node: j,
                    channel,
                    interpolation: if cubic {
                        Interpolation::CubicSpline
                    } else {
                        mode
                    },
                    times: times.clone(),
                    values,
                });
            }
        }
        clips.push(RawClip {
            name: Some(format!("clip{clip}")),
            duration: 1.0,
            tracks,
            ..RawClip::default()
        });
    }
    let inverse_bind = (0..joints).map(|_| {
        let mut m = [0.0; 16].map(|_: f32| r.extreme(f64::from(MAX_LENGTH)));
        (m[3], m[7], m[11], m[15]) = (0.0, 0.0, 0.0, 1.0);
        m
    });
    RawScene {
        name: format!("extreme {seed}"),
        skins: vec![RawSkin {
            inverse_bind: inverse_bind.collect(),
            joints: (0..joints).collect(),
            name: None,
        }],
        nodes,
        clips,
        ..RawScene::default()
    }
}

fn built(raw: RawScene) -> Arc<Rig> {
    Arc::new(build_rig(raw, &BuildOptions::default()).expect("a rig within the limits"))
}

fn finite(rows: &[Affine3x4], what: &str) {
    if let Some(row) = rows.iter().position(|m| !m.is_finite()) {
        panic!("{what}: row {row} is {:?}", rows[row]);
    }
}

/// Poses of single clips and of convex blends, by the jobs and by a crowd.
fn play(rig: &Arc<Rig>, seed: u64, level: SimdLevel) {
    let mut r = Random(seed * 77_003 + 5);
    let what = |how: &str| format!("{} at {level}, {how}", rig.name());
    for _ in 0..12 {
        let count = r.below(4);
        let weights: Vec<f64> = (0..count).map(|_| r.unit() + 1e-3).collect();
        // Whatever is left to 1 is the rest pose's.
        let sum = weights.iter().sum::<f64>() + if r.unit() < 0.5 { r.unit() } else { 0.0 };
        let actions = weights.iter().map(|w| PoseAction {
            clip: r.below(4),
            time: r.unit() as f32,
            weight: (w / sum) as f32,
        });
        let actions: Vec<PoseAction> = actions.collect();
        let pose = evaluate_pose(rig, &actions).expect("clips of the rig");
        finite(&pose.palettes.concat(), &what("by jobs"));
        finite(&pose.worlds, &what("worlds"));
        pose.check_finite(rig).expect("all of it");
    }
    let mut crowd = Crowd::new();
    let layers = vec![LayerOptions::default(), LayerOptions::default()];
    let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
    let clips = [0, 1, 2, 3].map(|c| crowd.clip_by_index(id, c).unwrap());
    for n in 0..24 {
        let i = crowd.spawn(id).unwrap();
        let options = PlayOptions {
            time: r.unit(),
            ..PlayOptions::default()
        };
        crowd.play(i, clips[n % 4], &options).unwrap();
        if n >= 4 {
            crowd.fade_to(i, clips[r.below(4)], 0.8, &options).unwrap();
            let mut player = crowd.player(i).unwrap();
            player.play(1, clips[r.below(4)], &options).unwrap();
            player.set_layer_weight(1, r.unit() as f32).unwrap();
        }
    }
    let mut buffer = BoneBuffer::new();
    for _ in 0..6 {
        crowd.evaluate(&mut buffer);
        finite(buffer.rows(), &what("in a crowd"));
        crowd.advance(0.13).unwrap();
    }
}

#[test]
fn palettes_within_the_limits_are_finite_at_every_level() {
    let current = SimdLevel::current();
    for level in SimdLevel::supported() {
        level.set().unwrap();
        for seed in 0..40 {
            play(&built(extreme(seed)), seed, level);
        }
    }
    current.set().unwrap();
}

/// Three joints in a chain, a clip with every channel, a mesh with a target.
fn small() -> RawScene {
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
                track(
                    RawChannel::Rotation,
                    &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
                ),
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
            "joint 2 \"joint2\": the scales down to it",
            |s, v| {
                s.clips.clear();
                s.nodes[0].local.scale = Vec3::splat(1e6);
                s.nodes[2].local.scale.z = v * 1e-6;
            },
            MAX_CHAIN_SCALE as f32,
        ),
        (
            "slot 2 holds",
            |s, v| s.skins[0].inverse_bind[2][5] = v,
            MAX_LENGTH,
        ),
        (
            "translation of joint 1 \"joint1\", key 1",
            |s, v| s.clips[0].tracks[0].values[4] = v,
            MAX_LENGTH,
        ),
        (
            "down to joint 1 \"joint1\"",
            |s, v| s.clips[0].tracks[2].values[3] = v,
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
        (
            "key 1: times",
            |s, v| s.clips[0].tracks[0].times[1] = v,
            MAX_SECONDS,
        ),
        (
            "positions, vertex 2",
            |s, v| s.meshes[0].primitives[0].positions[2][0] = v,
            MAX_LENGTH,
        ),
        (
            "target.positions, vertex 1",
            |s, v| {
                s.meshes[0].primitives[0].targets[0].positions[1][2] = v;
            },
            MAX_LENGTH,
        ),
        (
            "node 3 \"hat\": a number of the translation",
            |s, v| s.nodes[3].local.translation.x = v,
            MAX_LENGTH,
        ),
        (
            "node 3 \"hat\": a number of the scale",
            |s, v| s.nodes[3].local.scale.x = v,
            MAX_LENGTH,
        ),
        (
            "node 3 \"hat\": a number of the matrix",
            |s, v| {
                let mut m = Affine3x4::IDENTITY.to_cols_array();
                m[12] = v;
                s.nodes[3].matrix = Some(m);
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
        raw.clips[0]
            .tracks
            .retain(|t| t.channel == RawChannel::Scale);
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
        let mut options = BuildOptions::default();
        options.lane_order = order.clone();
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
    assert!(
        matches!(refused, Err(CrowdError::Scales { .. })),
        "{refused:?}"
    );
    assert_eq!(crowd.snapshot(), before);
    assert!(crowd.clip_by_index(id, 1).is_none());
    // Once the first is gone, the second fits.
    crowd.player(i).unwrap().stop_all(0.0).unwrap();
    crowd.unload_clip(id, clip).unwrap();
    crowd.add_clip(id, two.clips()[0].clone()).unwrap();
}

#[test]
fn additive_layers_have_a_limit_of_their_own() {
    let with = |scale: f32| {
        let mut raw = small();
        raw.clips[0]
            .tracks
            .retain(|t| t.channel == RawChannel::Scale);
        raw.clips[0].tracks[0].values = vec![1.0, 1.0, 1.0, scale, 1.0, 1.0];
        let mut rest = raw.clone();
        rest.clips[0].tracks[0].values = vec![1.0; 6];
        let rig = build_rig(rest, &BuildOptions::default()).expect("a rig at rest");
        let clip = build_additive(&raw, 0, &rig, rig.skeleton().rest_pose()).expect("differences");
        (Arc::new(rig), Arc::new(clip))
    };
    let add = |scale: f32, additive: usize| {
        let (rig, clip) = with(scale);
        let mut layers = vec![LayerOptions::default()];
        for _ in 0..additive {
            layers.push(LayerOptions {
                additive: true,
                ..LayerOptions::default()
            });
        }
        let mut crowd = Crowd::new();
        let id = crowd.add_rig_with_layers(rig, layers).unwrap();
        crowd.add_clip(id, clip).map(|_| ())
    };
    assert_eq!(add(10.0, 1), Ok(()));
    assert_eq!(add(1e6, 0), Ok(()), "no layer plays it");
    let refused = add(1e6, 1);
    assert!(
        matches!(refused, Err(CrowdError::Scales { .. })),
        "{refused:?}"
    );
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
    crowd.set_override(i, 1, scaled(half * 0.999)).unwrap();
    crowd.set_override(i, 2, scaled(half * 0.999)).unwrap();
    crowd
        .set_override(i, 0, moved(-MAX_OVERRIDE_LENGTH))
        .unwrap();
    crowd.set_world(i, moved(MAX_WORLD)).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    finite(buffer.rows(), "overrides at their limit");
    let before = crowd.snapshot();
    let stretched = crowd.set_override(i, 2, scaled(half * 1.01));
    assert!(matches!(stretched, Err(CrowdError::Value { high, .. }) if high == MAX_OVERRIDE_SCALE));
    for bad in [MAX_OVERRIDE_LENGTH.next_up(), -f32::MAX] {
        let refused = crowd.set_override(i, 0, moved(bad));
        let named = matches!(refused, Err(CrowdError::Beyond { value, limit, .. })
            if value == bad && limit == MAX_OVERRIDE_LENGTH);
        assert!(named, "{refused:?}");
    }
    let refused = crowd.set_world(i, moved(-MAX_WORLD.next_up()));
    assert!(matches!(refused, Err(CrowdError::Beyond { limit, .. }) if limit == MAX_WORLD));
    assert_eq!(
        crowd.set_override(i, 0, moved(f32::NAN)),
        Err(CrowdError::Transform)
    );
    assert_eq!(crowd.snapshot(), before);
    // What was cleared counts no more.
    crowd.clear_override(i, 1).unwrap();
    crowd
        .set_override(i, 2, scaled(half * half * 0.999))
        .unwrap();
}
