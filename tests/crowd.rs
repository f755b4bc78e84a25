//! The crowd's behaviour, on a rig made in code.

use glam::{Quat, Vec3};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdError, LayerOptions, PlayOptions, hash01, standard_crowd,
};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Mesh, Primitive};
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::offline::{build_additive, build_rig};
use phalanx::playback::{LoopMode, PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, Trs};
use std::sync::Arc;

const JOINTS: usize = 20;

/// A chain of joints, three clips of different lengths (one with uneven keys), one mesh.
fn raw() -> RawScene {
    let nodes = (0..JOINTS).map(|i| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1),
        local: Trs {
            translation: Vec3::new(0.0, 0.1, 0.0),
            ..Trs::IDENTITY
        },
        mesh: (i == 0).then_some(0),
        skin: (i == 0).then_some(0),
        ..RawNode::default()
    });
    let clip = |name: &str, duration: f32, uneven: bool, seed: u64| RawClip {
        name: Some(name.into()),
        duration,
        tracks: (0..JOINTS)
            .map(|node| {
                let keys = 6;
                let times = (0..keys).map(|k| {
                    let u = k as f32 / (keys - 1) as f32;
                    duration * if uneven { u * u } else { u }
                });
                let values = (0..keys).flat_map(|k| {
                    let a = hash01(seed * 1000 + node as u64 * 10 + (k % 5) as u64) as f32 - 0.5;
                    Quat::from_rotation_x(a).to_array()
                });
                RawTrack {
                    node,
                    channel: RawChannel::Rotation,
                    interpolation: Interpolation::Linear,
                    times: times.collect(),
                    values: values.collect(),
                }
            })
            .collect(),
        ..RawClip::default()
    };
    let primitive = Primitive {
        positions: (0..JOINTS).map(|j| [0.05, 0.1 * j as f32, 0.0]).collect(),
        influences: Influences {
            per_vertex: 4,
            joints: (0..JOINTS as u16).flat_map(|j| [j, 0, 0, 0]).collect(),
            weights: (0..JOINTS).flat_map(|_| [0.75, 0.25, 0.0, 0.0]).collect(),
        },
        ..Primitive::default()
    };
    RawScene {
        name: "chain".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: (0..JOINTS)
                .map(|j| {
                    let mut m = Affine3x4::IDENTITY;
                    m.rows[1][3] = -0.1 * (j + 1) as f32;
                    m.to_cols_array()
                })
                .collect(),
        }],
        clips: vec![
            clip("a", 1.0, false, 1),
            clip("b", 0.7, true, 2),
            clip("c", 2.0, false, 3),
        ],
        meshes: vec![Mesh {
            primitives: vec![primitive],
            ..Mesh::default()
        }],
        ..RawScene::default()
    }
}

fn rig() -> Arc<Rig> {
    Arc::new(build_rig(raw(), &Default::default()).unwrap())
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn palette(rig: &Rig, actions: &[(usize, f32, f32)]) -> Vec<Affine3x4> {
    let actions: Vec<PoseAction> = actions
        .iter()
        .map(|&(clip, time, weight)| PoseAction { clip, time, weight })
        .collect();
    evaluate_pose(rig, &actions).unwrap().palettes.concat()
}

fn close(a: &[Affine3x4], b: &[Affine3x4]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        for (x, y) in a.rows.iter().flatten().zip(b.rows.iter().flatten()) {
            assert!((x - y).abs() < 1e-5, "{a:?} {b:?}");
        }
    }
}

#[test]
fn plays_fades_and_stops() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let [a, b] = ["a", "b"].map(|n| crowd.find_clip(id, n).unwrap());
    let i = crowd.spawn(id).unwrap();
    let mut buffer = BoneBuffer::new();
    let stats = crowd.evaluate(&mut buffer);
    assert_eq!((stats.instances, stats.rows, stats.bytes), (1, 20, 960));
    close(buffer.rows(), &palette(&rig, &[]));

    crowd.play(i, a, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    crowd.evaluate(&mut buffer);
    close(
        &buffer.rows()[crowd.palette_range(i).unwrap()],
        &palette(&rig, &[(0, 0.25, 1.0)]),
    );

    crowd.fade_to(i, b, 0.4, &PlayOptions::default()).unwrap();
    crowd.advance(0.1).unwrap();
    crowd.evaluate(&mut buffer);
    close(
        buffer.rows(),
        &palette(&rig, &[(0, 0.35, 0.75), (1, 0.1, 0.25)]),
    );

    // An interrupted fade goes on from the weights it has reached.
    crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    let (time, weight) = crowd.action_state(i, 0, a).unwrap();
    assert!(
        (time - 0.6).abs() < 1e-9 && (weight - 0.875).abs() < 1e-6,
        "{time} {weight}"
    );
    let (_, weight) = crowd.action_state(i, 0, b).unwrap();
    assert!((weight - 0.125).abs() < 1e-6);
    crowd.advance(0.25).unwrap();
    assert!(matches!(
        crowd.action_state(i, 0, b),
        Err(CrowdError::NotPlaying { .. })
    ));
    assert_eq!(crowd.action_state(i, 0, a).unwrap().1, 1.0);

    crowd.stop(i, 0, 0.0).unwrap();
    crowd.evaluate(&mut buffer);
    close(buffer.rows(), &palette(&rig, &[]));
}

#[test]
fn fades_end_whatever_the_step() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let [a, b] = ["a", "b"].map(|n| crowd.find_clip(id, n).unwrap());
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, a, &PlayOptions::default()).unwrap();
    for seconds in [0.25, 1e-42] {
        crowd
            .fade_to(i, b, seconds, &PlayOptions::default())
            .unwrap();
        for dt in [0.0, -0.125, -0.125] {
            crowd.advance(dt).unwrap();
            let weight = crowd.action_state(i, 0, b).unwrap().1;
            assert!((0.0..=1.0).contains(&weight), "{seconds} {dt} {weight}");
        }
        assert_eq!(crowd.action_state(i, 0, b).unwrap().1, 1.0);
        assert!(
            crowd.action_state(i, 0, a).is_err(),
            "the other has stopped"
        );
        crowd.play(i, a, &PlayOptions::default()).unwrap();
    }
}

#[test]
fn fading_to_a_clip_of_no_weight_yet_keeps_it() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let a = crowd.find_clip(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut buffer = BoneBuffer::new();
    for silent in [false, true] {
        if silent {
            crowd.play(i, a, &PlayOptions::default()).unwrap();
            crowd.set_weight(i, 0, a, 0.0).unwrap();
        } else {
            crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
        }
        crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
        for _ in 0..40 {
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut buffer);
            assert!(buffer.rows().iter().all(|r| r.is_finite()));
        }
        assert_eq!(crowd.action_state(i, 0, a).unwrap().1, 1.0);
        crowd.stop(i, 0, 0.0).unwrap();
    }
}

#[test]
fn handles_know_their_rig() {
    let mut crowd = Crowd::new();
    let (one, two) = (crowd.add_rig(rig()).unwrap(), crowd.add_rig(rig()).unwrap());
    let a = crowd.find_clip(one, "a").unwrap();
    let i = crowd.spawn(two).unwrap();
    let options = PlayOptions::default();
    assert_eq!(
        crowd.play(i, a, &options),
        Err(CrowdError::UnknownClip { clip: a })
    );
    crowd.remove_rig(one).unwrap();
    let again = crowd.add_rig(rig()).unwrap();
    let j = crowd.spawn(again).unwrap();
    assert_eq!(
        crowd.play(j, a, &options),
        Err(CrowdError::UnknownClip { clip: a })
    );
}

/// Thousands of sets of clips, so that plans are forgotten and made again, change no bits.
#[test]
fn what_was_played_before_changes_no_bits() {
    let mut scene = raw();
    for n in 0..12 {
        let mut more = scene.clips[n % 3].clone();
        more.name = Some(format!("more{n}"));
        more.tracks.truncate(5 + n);
        scene.clips.push(more);
    }
    let rig = Arc::new(build_rig(scene, &Default::default()).unwrap());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let clips: Vec<_> = (0..15)
        .map(|c| crowd.clip_by_index(id, c).unwrap())
        .collect();
    let i = crowd.spawn(id).unwrap();
    let before = crowd.snapshot();
    let mut buffer = BoneBuffer::new();
    let mut play = |crowd: &mut Crowd, set: &[usize]| {
        crowd.stop(i, 0, 0.0).unwrap();
        for &c in set {
            let options = PlayOptions {
                time: 0.3,
                weight: 0.31,
                ..PlayOptions::default()
            };
            crowd.add_action(i, 0, clips[c], &options).unwrap();
        }
        crowd.evaluate(&mut buffer);
        buffer.hash()
    };
    let fresh = play(&mut crowd, &[0, 4, 9]);
    for a in 0..15 {
        for b in 0..a {
            for c in 0..b {
                for d in 0..c {
                    play(&mut crowd, &[a, b, c, d]);
                }
            }
        }
    }
    crowd.restore(&before).unwrap();
    assert_eq!(play(&mut crowd, &[0, 4, 9]), fresh);
}

#[test]
fn loop_modes_speeds_and_phases() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let a = crowd.find_clip(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut run = |loop_mode, speed, time, dt: &[f64]| {
        let options = PlayOptions {
            loop_mode,
            speed,
            time,
            ..PlayOptions::default()
        };
        crowd.play(i, a, &options).unwrap();
        dt.iter().for_each(|&dt| crowd.advance(dt).unwrap());
        crowd.action_state(i, 0, a).unwrap().0
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(run(LoopMode::Repeat, 1.0, 0.0, &[7.25]), 0.25);
    near(run(LoopMode::Repeat, 1.0, 0.0, &[1.0]), 0.0);
    near(run(LoopMode::Repeat, -2.0, 0.25, &[0.25]), 0.75);
    near(run(LoopMode::Once, 1.0, 0.0, &[0.5, 9.0]), 1.0);
    near(run(LoopMode::Once, -1.0, 0.5, &[9.0]), 0.0);
    near(run(LoopMode::PingPong, 1.0, 0.0, &[0.75, 0.5]), 0.75);
    near(run(LoopMode::PingPong, 1.0, 0.0, &[5.25]), 0.75);
    near(run(LoopMode::PingPong, -1.0, 0.25, &[0.5]), 0.25);
    near(run(LoopMode::Repeat, 0.0, 0.25, &[3.0]), 0.25);
    crowd.set_speed(i, 0.5).unwrap();
    crowd.play(i, a, &PlayOptions::default()).unwrap();
    crowd.advance(1.0).unwrap();
    near(crowd.action_state(i, 0, a).unwrap().0, 0.5);
    crowd.set_phase(i, 0, a, 2.75).unwrap();
    near(crowd.action_state(i, 0, a).unwrap().0, 0.75);
}

#[test]
fn ten_days_of_frames_keep_the_phase() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let b = crowd.find_clip(id, "b").unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, b, &PlayOptions::default()).unwrap();
    // A hundredth of ten days at 60 Hz, with the error allowed for all of it scaled down.
    let frames = 10 * 86_400 * 60 / 100;
    for _ in 0..frames {
        crowd.advance(1.0 / 60.0).unwrap();
    }
    let duration = f64::from(0.7f32);
    let want = (frames as f64 / 60.0).rem_euclid(duration);
    let have = crowd.action_state(i, 0, b).unwrap().0;
    let error = (have - want).abs().min(duration - (have - want).abs());
    assert!(error < 1e-6, "{have} {want}");
}

#[test]
fn layers_masks_and_additive_clips() {
    let raw = raw();
    let rig = Arc::new(build_rig(raw.clone(), &Default::default()).unwrap());
    let reference = evaluate_pose(
        &rig,
        &[PoseAction {
            clip: 1,
            time: 0.0,
            weight: 1.0,
        }],
    )
    .unwrap();
    let additive = Arc::new(build_additive(&raw, 1, &rig, &reference.pose).unwrap());
    let mask = JointMask::subtree(rig.skeleton(), 10).unwrap();
    let layers = vec![
        LayerOptions::default(),
        LayerOptions {
            additive: false,
            mask: Some(mask.clone()),
            ..LayerOptions::default()
        },
        LayerOptions {
            additive: true,
            mask: None,
            ..LayerOptions::default()
        },
    ];
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|n| crowd.find_clip(id, n).unwrap());
    let d = crowd.add_clip(id, additive).unwrap();
    let i = crowd.spawn(id).unwrap();
    let at = |time| PlayOptions {
        time,
        ..PlayOptions::default()
    };
    crowd.fade_on(i, 0, a, 0.0, &at(0.3)).unwrap();
    crowd.fade_on(i, 1, c, 0.0, &at(0.9)).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    // Masked fully above joint 10: the lower joints follow `a`, the upper ones turn as in `c`.
    let lower = palette(&rig, &[(0, 0.3, 1.0)]);
    close(&buffer.rows()[..10], &lower[..10]);
    let far = (buffer.rows()[19].translation() - lower[19].translation()).length();
    assert!(far > 1e-3);
    // The additive clip on top of the clip it came from, from its own reference on.
    crowd.stop(i, 1, 0.0).unwrap();
    crowd.fade_on(i, 0, b, 0.0, &at(0.0)).unwrap();
    crowd.fade_on(i, 2, d, 0.0, &at(0.45)).unwrap();
    crowd.evaluate(&mut buffer);
    close(buffer.rows(), &palette(&rig, &[(1, 0.45, 1.0)]));
    // Kinds are told apart.
    assert!(matches!(
        crowd.fade_on(i, 2, a, 0.0, &at(0.0)),
        Err(CrowdError::ClipKind {
            have: "full",
            needed: "additive",
            ..
        })
    ));
    assert!(matches!(
        crowd.fade_on(i, 0, d, 0.0, &at(0.0)),
        Err(CrowdError::ClipKind {
            have: "additive",
            ..
        })
    ));
    assert!(matches!(
        crowd.fade_on(i, 3, a, 0.0, &at(0.0)),
        Err(CrowdError::UnknownLayer {
            layer: 3,
            layers: 3
        })
    ));
}

#[test]
fn refused_calls_change_nothing() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let a = crowd.find_clip(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, a, &PlayOptions::default()).unwrap();
    let before = crowd.snapshot();
    for bad in [f32::NAN, f32::INFINITY, -1e30] {
        assert!(crowd.set_speed(i, bad).is_err());
        assert!(crowd.advance(f64::from(bad)).is_err());
        assert!(crowd.fade_to(i, a, bad, &PlayOptions::default()).is_err());
        assert!(crowd.set_time(i, 0, a, f64::from(bad)).is_err());
        assert!(crowd.set_weight(i, 0, a, bad).is_err());
        assert!(crowd.set_layer_weight(i, 0, bad).is_err());
        let options = PlayOptions {
            speed: bad,
            ..PlayOptions::default()
        };
        assert!(crowd.play(i, a, &options).is_err());
    }
    let mut world = Affine3x4::IDENTITY;
    world.rows[0][3] = f32::NAN;
    assert_eq!(crowd.set_world(i, world), Err(CrowdError::Transform));
    assert!(matches!(
        crowd.model_matrix(i, 20),
        Err(CrowdError::UnknownJoint {
            joint: 20,
            joints: 20
        })
    ));
    assert!(matches!(
        crowd.remove_rig(id),
        Err(CrowdError::RigInUse { instances: 1, .. })
    ));
    assert!(matches!(
        crowd.unload_clip(id, a),
        Err(CrowdError::ClipInUse { actions: 1, .. })
    ));
    assert_eq!(crowd.snapshot(), before);
    let other = Crowd::new();
    assert!(matches!(other.rig(id), Err(CrowdError::UnknownRig { .. })));

    // Stale handles are known as such.
    crowd.despawn(i).unwrap();
    assert!(matches!(
        crowd.despawn(i),
        Err(CrowdError::UnknownInstance { .. })
    ));
    let again = crowd.spawn(id).unwrap();
    assert_ne!(again, i);
    assert!(crowd.play(i, a, &PlayOptions::default()).is_err());
    assert_eq!(crowd.palette_range(again), None);
    let unloaded = crowd.unload_clip(id, a).unwrap();
    assert_eq!(unloaded.name(), "a");
    assert!(matches!(
        crowd.play(again, a, &PlayOptions::default()),
        Err(CrowdError::UnknownClip { .. })
    ));
    crowd.despawn(again).unwrap();
    let held = crowd.remove_rig(id).unwrap();
    drop((unloaded, crowd));
    drop(rig);
    assert_eq!(Arc::strong_count(&held), 1, "nothing else holds the rig");
}

#[test]
fn ranges_follow_visibility_and_several_rigs() {
    let (one, two) = (rig(), rig());
    let mut crowd = Crowd::new();
    let (r1, r2) = (crowd.add_rig(one).unwrap(), crowd.add_rig(two).unwrap());
    let first: Vec<_> = (0..70).map(|_| crowd.spawn(r1).unwrap()).collect();
    let second: Vec<_> = (0..50).map(|_| crowd.spawn(r2).unwrap()).collect();
    let c = crowd.find_clip(r2, "c").unwrap();
    for (n, &i) in second.iter().enumerate() {
        let options = PlayOptions {
            time: 0.03 * n as f64,
            ..PlayOptions::default()
        };
        crowd.play(i, c, &options).unwrap();
    }
    crowd.set_visible(first[3], false).unwrap();
    crowd.despawn(first[10]).unwrap();
    let mut buffer = BoneBuffer::new();
    let stats = crowd.evaluate(&mut buffer);
    assert_eq!((stats.instances, stats.rows), (118, 118 * 20));
    assert_eq!(crowd.palette_range(first[3]), None);
    assert_eq!(crowd.palette_range(first[4]), Some(60..80));
    assert_eq!(crowd.palette_range(first[11]), Some(180..200));
    assert_eq!(crowd.palette_range(second[0]), Some(68 * 20..69 * 20));
    let rig = crowd.rig(r2).unwrap().clone();
    for (n, &i) in second.iter().enumerate() {
        let rows = &buffer.rows()[crowd.palette_range(i).unwrap()];
        close(rows, &palette(&rig, &[(2, (0.03 * n as f64) as f32, 1.0)]));
    }
    assert_eq!(crowd.instances().count(), 119);
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    let hash = |threads: usize| {
        pool(threads).install(|| {
            let (mut crowd, instances) = standard_crowd(rig(), &[], 500).unwrap();
            crowd.set_visible(instances[7], false).unwrap();
            let mut buffer = BoneBuffer::new();
            for _ in 0..5 {
                crowd.advance(1.0 / 60.0).unwrap();
                crowd.evaluate(&mut buffer);
            }
            buffer.hash()
        })
    };
    let one = hash(1);
    for threads in [2, 7, 32] {
        assert_eq!(hash(threads), one, "{threads} workers");
    }
}

#[test]
fn snapshots_restore_to_the_same_bits() {
    let (mut crowd, instances) = standard_crowd(rig(), &[], 100).unwrap();
    let snapshot = crowd.snapshot();
    let id = instances[0].rig();
    let c = crowd.find_clip(id, "c").unwrap();
    let mut buffer = BoneBuffer::new();
    let run = |crowd: &mut Crowd, buffer: &mut BoneBuffer| {
        let mut hashes = Vec::new();
        for frame in 0..40 {
            if frame == 5 {
                crowd
                    .fade_to(instances[2], c, 0.3, &PlayOptions::default())
                    .unwrap();
                crowd.despawn(instances[9]).unwrap();
                crowd.spawn(id).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(buffer);
            hashes.push(buffer.hash());
        }
        hashes
    };
    let first = run(&mut crowd, &mut buffer);
    crowd.restore(&snapshot).unwrap();
    assert_eq!(crowd.snapshot(), snapshot);
    assert_eq!(run(&mut crowd, &mut buffer), first);

    let mut other = Crowd::new();
    assert!(matches!(
        other.restore(&snapshot),
        Err(CrowdError::Snapshot { what: "rigs" })
    ));
}

#[test]
fn bounds_hold_every_vertex_and_model_matrices_agree_with_palettes() {
    let (mut crowd, instances) = standard_crowd(rig(), &[], 12).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let rig = crowd.rig(instances[0].rig()).unwrap().clone();
    let p = &rig.meshes()[0].mesh.primitives[0];
    for &i in &instances {
        let rows = &buffer.rows()[crowd.palette_range(i).unwrap()];
        let bounds = crowd.bounds(i).unwrap();
        let mut positions = vec![[0.0; 3]; p.positions.len()];
        phalanx::runtime::SkinningJob {
            primitive: p,
            palette: rows,
            rigid: Affine3x4::IDENTITY,
            morph_weights: &[],
            positions: &mut positions,
            normals: &mut [],
            tangents: &mut [],
        }
        .run()
        .unwrap();
        for v in positions.into_iter().map(Vec3::from) {
            let slack = Vec3::splat(1e-5);
            assert!(v.cmpge(bounds.min - slack).all() && v.cmple(bounds.max + slack).all());
        }
        assert!(bounds.half_size().max_element() < 3.0, "not boundless");
        let bind = rig.skins()[0].inverse_bind()[19];
        let joint = usize::from(rig.skins()[0].joints()[19]);
        close(
            &[crowd.model_matrix(i, joint).unwrap().mul(&bind)],
            &rows[19..],
        );
    }
}

#[test]
fn a_full_layer_gives_way_to_the_new_and_counts() {
    let mut scene = raw();
    for n in 0..4 {
        let mut more = scene.clips[0].clone();
        more.name = Some(format!("more{n}"));
        scene.clips.push(more);
    }
    let rig = Arc::new(build_rig(scene, &Default::default()).unwrap());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let i = crowd.spawn(id).unwrap();
    for n in 0..6 {
        let clip = crowd.clip_by_index(id, n).unwrap();
        crowd
            .fade_to(i, clip, 1.0, &PlayOptions::default())
            .unwrap();
        crowd.advance(0.05).unwrap();
    }
    assert_eq!(crowd.displaced(), 2);
    let newest = crowd.clip_by_index(id, 5).unwrap();
    assert!(crowd.action_state(i, 0, newest).is_ok());
}
