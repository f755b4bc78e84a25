//! Joints that are watched before overrides and modifiers: against the oracle's animation, in tiers, by any number of
//! workers, laid out with those that are watched after them.

use super::{Body, Cast, posed, wide};
use crate::tiers::{DT, one};
use glam::{Quat, Vec3};
use phalanx::crowd::{PlayOptions, PoseStage, Tier, TierDetail};
use phalanx::math::Affine3x4;
use phalanx::playback::{ModifierId, PlaybackError, Target, TwoBoneIk};
use phalanx::scene::SceneGraph;
use phalanx_testkit::reference::apart;
use phalanx_testkit::ruler::shift;
use phalanx_workload::hash01;

const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

/// The hand, the finger below it, the head and the root.
fn joints(body: &Body) -> [usize; 4] {
    ["RightHand", "RightHandMiddle2", "Head", "Hips"].map(|name| body.joint(name))
}

/// Instances of which some have overrides, some a hand on a target, some both, some neither.
fn cast(count: usize) -> (Cast, ModifierId) {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(joints(body)[0])).unwrap();
    for n in 0..count {
        if n % 2 == 0 {
            cast.aim(n, by, Target::model(NEAR), 0.2 + 0.1 * (n % 7) as f32);
        }
        if n % 3 == 0 {
            let mut player = cast.crowd.player(cast.all[n]).unwrap();
            player.set_override("RightArm", shift(0.3)).unwrap();
            player.set_model_rotation("Head", Quat::from_rotation_x(0.7), 0.6).unwrap();
        }
    }
    (cast, by)
}

fn before(cast: &Cast, n: usize) -> Vec<Affine3x4> {
    cast.crowd.watched(cast.all[n], PoseStage::Before).unwrap().models.to_vec()
}

#[test]
fn watched_before_is_as_animated() {
    let body = Body::character();
    let all = joints(body);
    let (mut cast, _) = cast(body.scene.clips.len());
    let times: Vec<f32> = (0..cast.all.len()).map(|n| 0.4 * hash01(n as u64) as f32).collect();
    for (n, &time) in times.iter().enumerate() {
        cast.hold(n, n, time);
    }
    let plain = cast.frame();
    cast.crowd.watch(cast.rig, &all, PoseStage::Before).unwrap();
    cast.crowd.watch(cast.rig, &all[..1], PoseStage::After).unwrap();
    assert!(cast.frame() == plain);
    for (n, &time) in times.iter().enumerate() {
        let worlds = posed(body, n, time);
        let row = cast.crowd.watched(cast.all[n], PoseStage::Before).unwrap();
        assert!(row.joints.is_sorted() && row.joints.len() == 4 && row.age == Some(0));
        let models = cast.models(n);
        for &joint in &all {
            let have = row.model(joint).unwrap();
            let error = apart(&wide(have), &worlds[body.nodes[joint]]);
            assert!(error < 1e-5, "instance {n}, joint {joint}: {error:e}");
            // One without a stage has the same matrices in both stages.
            let same = n % 2 != 0 && n % 3 != 0;
            assert!(!same || *have == models[joint]);
        }
        assert!(row.model(0) == row.model(all[3]).filter(|_| all[3] == 0));
        let after = cast.crowd.watched(cast.all[n], PoseStage::After).unwrap();
        assert_eq!((after.joints.len(), after.model(all[0])), (1, Some(&models[all[0]])));
        let moved = apart(&wide(row.model(all[0]).unwrap()), &wide(&models[all[0]]));
        assert!((moved > 1e-3) == (n % 2 == 0 || n % 3 == 0), "instance {n}: {moved}");
    }
}

#[test]
fn worlds_before_follow_the_instance() {
    let body = Body::character();
    let (mut cast, _) = cast(1);
    let hand = joints(body)[0];
    cast.crowd.watch(cast.rig, &[hand], PoseStage::Before).unwrap();
    cast.frame();
    cast.crowd.set_world(cast.all[0], shift(5.0)).unwrap();
    let row = cast.crowd.watched(cast.all[0], PoseStage::Before).unwrap();
    let want = row.models[0].translation() + shift(5.0).translation();
    let have = row.worlds().next().unwrap().translation;
    assert!(have.distance(want.as_dvec3()) < 1e-6);
}

/// Workers, and mirrors whose joints lie between both lists.
#[test]
fn workers_and_mirrors_change_no_bit_before() {
    let body = Body::character();
    let all = joints(body);
    let run = |threads: usize, mirrors: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut cast, _) = cast(150);
            let mut scene = SceneGraph::new();
            for n in 0..150 {
                cast.hold(n, n % 8, 0.01 * n as f32);
                if mirrors && n % 4 < 2 {
                    cast.crowd.mirror(cast.all[n], &mut scene, None).unwrap();
                }
            }
            cast.crowd.watch(cast.rig, &all[..2], PoseStage::Before).unwrap();
            cast.crowd.watch(cast.rig, &all[1..3], PoseStage::After).unwrap();
            cast.frame();
            let of = |cast: &Cast, stage| -> Vec<_> {
                let rows = cast.all.iter().map(|&i| cast.crowd.watched(i, stage).unwrap());
                rows.map(|row| (row.joints.to_vec(), row.models.to_vec(), row.age)).collect()
            };
            let both = [PoseStage::Before, PoseStage::After].map(|stage| of(&cast, stage));
            // What is known stays when more is watched, and when the scene evaluates.
            cast.crowd.watch(cast.rig, &all[3..], PoseStage::Before).unwrap();
            cast.crowd.unwatch(cast.rig, &all[3..], PoseStage::Before).unwrap();
            cast.crowd.update_scene(&mut scene);
            assert!(of(&cast, PoseStage::Before) == both[0]);
            both
        })
    };
    let wanted = run(1, false);
    for (threads, mirrors) in [(7, false), (1, true), (3, true)] {
        assert!(run(threads, mirrors) == wanted, "{threads} {mirrors}");
    }
}

/// With tiers, joints before the stage are those of the present time, whatever the palettes show.
#[test]
fn tiers_give_what_was_before() {
    let body = Body::character();
    let all = joints(body);
    for (rate, interpolate, level) in [(1, false, None), (4, false, Some(2)), (8, true, Some(1))] {
        let (mut cast, by) = cast(24);
        for n in 0..24 {
            let clip = cast.crowd.clip_by_index(cast.rig, n % 8).unwrap();
            let options = PlayOptions { time: 0.05 * n as f64, ..PlayOptions::default() };
            cast.crowd.play(cast.all[n], clip, &options).unwrap();
        }
        let detail = level.map(|level| TierDetail { level, ..TierDetail::default() });
        let tier = Tier { rate, interpolate, detail, shared_error: Some(0.02), ..Tier::default() };
        cast.crowd.set_tiers(Some(one(tier))).unwrap();
        cast.crowd.watch(cast.rig, &all, PoseStage::Before).unwrap();
        for frame in 0..9 {
            cast.aim(frame, by, Target::model(NEAR), 0.1 * frame as f32);
            cast.crowd.advance(DT).unwrap();
            cast.crowd.evaluate(&mut cast.bones);
            let mut sorted = all;
            sorted.sort_unstable();
            let mut models = vec![Affine3x4::IDENTITY; 24 * 4];
            let (crowd, stage) = (&cast.crowd, PoseStage::Before);
            crowd.model_poses(cast.rig, &sorted, &cast.all, stage, &mut models).unwrap();
            for n in 0..24 {
                assert_eq!(crowd.watched(cast.all[n], stage).unwrap().age, Some(0));
                for (have, want) in before(&cast, n).iter().zip(&models[n * 4..]) {
                    let error = apart(&wide(have), &wide(want));
                    assert!(error < 1e-5, "rate {rate}, frame {frame}, {n}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn watches_are_counted_by_stage() {
    let (mut cast, _) = cast(2);
    let count = |cast: &mut Cast| {
        cast.frame();
        [PoseStage::Before, PoseStage::After]
            .map(|stage| cast.crowd.watched(cast.all[1], stage).unwrap().joints.len())
    };
    cast.crowd.watch(cast.rig, &[3, 2, 2], PoseStage::Before).unwrap();
    assert_eq!(count(&mut cast), [2, 0]);
    cast.crowd.unwatch(cast.rig, &[3, 2], PoseStage::After).unwrap();
    cast.crowd.unwatch(cast.rig, &[3, 2], PoseStage::Before).unwrap();
    assert_eq!(count(&mut cast), [1, 0]);
    cast.crowd.watch(cast.rig, &[5], PoseStage::After).unwrap();
    assert_eq!(count(&mut cast), [1, 1]);
    cast.crowd.unwatch(cast.rig, &[2], PoseStage::Before).unwrap();
    assert_eq!(count(&mut cast), [0, 1]);
    let unknown = cast.crowd.watch(cast.rig, &[1000], PoseStage::Before);
    assert!(matches!(unknown, Err(PlaybackError::Lookup(_))));
}
