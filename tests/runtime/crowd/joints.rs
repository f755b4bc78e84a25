//! Model matrices of joints: from the bone buffer, watched, and asked for, against the f64 oracle and one another.

use super::rows::Rows;
use glam::DVec3;
use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, PoseStage, RigId, RowLayout};
use phalanx::import::raw::{RawScene, RawSkin};
use phalanx::math::Affine3x4;
use phalanx::scene::SceneGraph;
use phalanx_testkit::reference;
use phalanx_testkit::ruler::{held, ruler, shift};
use phalanx_workload::{hash01, standard_crowd};
use std::sync::Arc;

/// The joint whose inverse bind matrices have no inverse, and the one that no skin has.
const SINGULAR: usize = 3;
const WITHOUT: usize = 19;

/// The chain of twenty joints with two skins: joints 0 to 14 and 3 to 18.
fn two_skins() -> RawScene {
    let mut raw = phalanx_testkit::chain::raw();
    let binds = raw.skins[0].inverse_bind.clone();
    let skin = |joints: std::ops::Range<usize>, by: f32| {
        let bind = |j: usize| {
            let mut m = binds[j];
            m[13] *= by;
            // Squashed to a plane.
            if j == SINGULAR {
                m[0] = 0.0;
            }
            m
        };
        RawSkin {
            inverse_bind: joints.clone().map(bind).collect(),
            joints: joints.collect(),
            ..RawSkin::default()
        }
    };
    raw.skins = vec![skin(0..15, 1.0), skin(3..19, 0.5)];
    raw.meshes.clear();
    raw.nodes[0].mesh = None;
    raw.nodes[0].skin = None;
    raw
}

fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
}

struct Cast {
    crowd: Crowd,
    rig: RigId,
    all: Vec<InstanceId>,
    joints: usize,
}

/// Instances that hold a clip at a time each.
fn cast(raw: &RawScene, count: usize) -> Cast {
    let built = Arc::new(build_rig(raw.clone(), &Default::default()).unwrap());
    let joints = built.skeleton().len();
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(built).unwrap();
    let all: Vec<_> = (0..count).map(|_| crowd.spawn(rig).unwrap()).collect();
    for (n, &i) in all.iter().enumerate() {
        let (clip, time) = of(n);
        let clip = crowd.clip_by_index(rig, clip).unwrap();
        crowd.play(i, clip, &held(time, 1.0)).unwrap();
    }
    Cast { crowd, rig, all, joints }
}

/// The clip and time of an instance.
fn of(n: usize) -> (usize, f64) {
    (n % 3, f64::from((hash01(n as u64) * 0.7) as f32))
}

#[test]
fn joints_are_where_the_oracle_has_them() {
    let raw = two_skins();
    let oracle = reference::scene(&raw);
    let Cast { mut crowd, rig, all, joints } = cast(&raw, 24);
    crowd.watch(rig, &[WITHOUT, SINGULAR, 7], PoseStage::After).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    for (n, &i) in all.iter().enumerate() {
        let (clip, time) = of(n);
        let worlds = oracle.evaluate(&oracle.pose(clip, time)).world;
        let watched = crowd.watched(i, PoseStage::After).unwrap();
        assert_eq!(watched.joints, [3, 7, 19]);
        assert_eq!((watched.age, watched.current), (Some(0), true));
        for (joint, want) in worlds.iter().enumerate().take(joints) {
            let have = crowd.model_matrix(i, joint).unwrap();
            let error = reference::apart(
                &have.to_cols_array().map(f64::from),
                &want.expect("a world matrix"),
            );
            assert!(error < 1e-5, "instance {n}, joint {joint}: {error:e}");
            // Both ways give the same bits.
            if let Some(model) = watched.model(joint) {
                assert_eq!(*model, have);
            }
        }
    }
}

/// Watching changes no palette, and what is watched is what is asked for: for any number of workers, in memory of both
/// kinds, and where rows are stored past the caches.
#[test]
fn watched_joints_are_those_asked_for() {
    let rig = Arc::new(build_rig(two_skins(), &Default::default()).unwrap());
    let joints: Vec<usize> = (0..20).collect();
    let watched = [WITHOUT, SINGULAR, 8, 0];
    for (count, threads) in [(700, 1), (700, 2), (700, 7), (700, 32), (18_000, 2)] {
        pool(threads).install(|| {
            let (mut crowd, all) = standard_crowd(rig.clone(), &[], count).unwrap();
            crowd.player(all[3]).unwrap().set_override(5, shift(0.25)).unwrap();
            crowd.set_visible(all[4], false).unwrap();
            crowd.advance(0.1).unwrap();
            let mut plain = BoneBuffer::new();
            crowd.evaluate(&mut plain);
            crowd.watch(all[0].rig(), &watched, PoseStage::After).unwrap();
            let mut buffer = BoneBuffer::new();
            crowd.evaluate(&mut buffer);
            assert_eq!(buffer.hash(), plain.hash(), "{threads} workers");
            let models = |crowd: &Crowd| {
                let models = all.iter().map(|&i| crowd.watched(i, PoseStage::After).unwrap());
                models.flat_map(|w| w.models.to_vec()).collect::<Vec<_>>()
            };
            let heap = models(&crowd);
            for (n, &i) in all.iter().enumerate().filter(|(n, _)| n % 97 < 6) {
                let row = crowd.watched(i, PoseStage::After).unwrap();
                assert_eq!(row.joints, [0, 3, 8, 19]);
                assert_eq!(row.age, (n != 4).then_some(0));
                for &joint in &joints {
                    let asked = crowd.model_matrix(i, joint).unwrap();
                    if n != 4 {
                        assert!(row.model(joint).is_none_or(|m| *m == asked), "{n}, {joint}");
                    }
                }
            }
            let mut schedule = crowd.schedule(&RowLayout::default());
            let mut rows = vec![Affine3x4::IDENTITY; schedule.rows()];
            schedule.write(Rows(&mut rows));
            assert_eq!(rows, buffer.rows(), "{threads} workers");
            assert_eq!(models(&crowd), heap, "{threads} workers");
        });
    }
}

#[test]
fn instances_that_are_not_evaluated_keep_their_watched_joints() {
    let Cast { mut crowd, rig, all, .. } = cast(&two_skins(), 3);
    let mut buffer = BoneBuffer::new();
    // Watched after a frame: nothing is known yet.
    crowd.evaluate(&mut buffer);
    crowd.watch(rig, &[6], PoseStage::After).unwrap();
    assert_eq!(crowd.watched(all[0], PoseStage::After).unwrap().joints, [0u16; 0]);
    crowd.evaluate(&mut buffer);
    let first = *crowd.watched(all[1], PoseStage::After).unwrap().model(6).unwrap();
    crowd.set_scheduled(all[1], false).unwrap();
    crowd.player(all[1]).unwrap().stop_layer(0, 0.0).unwrap();
    assert!(!crowd.watched(all[1], PoseStage::After).unwrap().current);
    for frames in 1..4 {
        crowd.advance(0.1).unwrap();
        crowd.evaluate(&mut buffer);
        let row = crowd.watched(all[1], PoseStage::After).unwrap();
        assert_eq!((row.age, row.current), (Some(frames), false));
        assert_eq!(row.models, [first]);
        let row = crowd.watched(all[0], PoseStage::After).unwrap();
        assert_eq!((row.age, row.current), (Some(0), true));
    }
    // Another joint, and another instance: what is known stays.
    let late = crowd.spawn(rig).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.watched(all[1], PoseStage::After).unwrap().models, [first]);
    assert_eq!(crowd.watched(late, PoseStage::After).unwrap().age, Some(0));
    crowd.watch(rig, &[6, 2], PoseStage::After).unwrap();
    crowd.unwatch(rig, &[6, 2], PoseStage::After).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.watched(all[1], PoseStage::After).unwrap().models, [first]);
    crowd.unwatch(rig, &[6, 11], PoseStage::After).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.watched(all[1], PoseStage::After).unwrap().joints, [0u16; 0]);
    assert_eq!(crowd.watched(all[1], PoseStage::After).unwrap().age, None);
}

#[test]
fn joints_laid_out_between_alike_frames_are_watched() {
    let Cast { mut crowd, rig, all, .. } = cast(&two_skins(), 2);
    let mut buffer = BoneBuffer::new();
    for _ in 0..3 {
        crowd.evaluate(&mut buffer);
    }
    crowd.watch(rig, &[6], PoseStage::After).unwrap();
    crowd.update_scene(&mut SceneGraph::new());
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.watched(all[1], PoseStage::After).unwrap().age, Some(0));
}

#[test]
fn worlds_follow_the_instance() {
    let Cast { mut crowd, rig, all, .. } = cast(&two_skins(), 1);
    crowd.watch(rig, &[0, 12], PoseStage::After).unwrap();
    crowd.evaluate(&mut BoneBuffer::new());
    let models = crowd.watched(all[0], PoseStage::After).unwrap().models.to_vec();
    crowd.set_world(all[0], shift(1e6)).unwrap();
    let row = crowd.watched(all[0], PoseStage::After).unwrap();
    assert_eq!(row.worlds().len(), 2);
    for (world, model) in row.worlds().zip(&models) {
        let at = model.translation().as_dvec3();
        assert_eq!(world.translation, at + DVec3::X * 1e6);
    }
}

#[test]
fn unknown_joints_and_rigs_are_refused() {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(ruler()).unwrap();
    let i = crowd.spawn(rig).unwrap();
    assert!(matches!(crowd.watch(rig, &[0, 2], PoseStage::After), Err(CrowdError::Lookup(_))));
    assert!(matches!(crowd.unwatch(rig, &[2], PoseStage::After), Err(CrowdError::Lookup(_))));
    crowd.evaluate(&mut BoneBuffer::new());
    assert_eq!(crowd.watched(i, PoseStage::After).unwrap().joints, [0u16; 0]);
    crowd.despawn(i).unwrap();
    assert!(matches!(crowd.watched(i, PoseStage::After), Err(CrowdError::UnknownInstance { .. })));
    crowd.remove_rig(rig).unwrap();
    let unknown = crowd.watch(rig, &[0], PoseStage::After);
    assert!(matches!(unknown, Err(CrowdError::UnknownRig { .. })));
}
