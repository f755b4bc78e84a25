//! Tiers with details: fewer rows, the same poses.

use super::{DT, apart, at, chains, lost_memory_changes_no_bit, one, palettes, plain};
use phalanx::crowd::{
    BoneBuffer, Crowd, InstanceId, PlayOptions, PoseStage, RigId, Tier, TierDetail, Tiers,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::scene::{OnRemove, SceneGraph};
use std::sync::Arc;

/// Characters that play different clips from different times on.
fn people(count: usize) -> (Crowd, Vec<InstanceId>, RigId) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(Arc::new(mannequin().unwrap())).unwrap();
    let mut all = Vec::new();
    crowd.spawn_many(id, count, &mut all).unwrap();
    let clips = crowd.rig(id).unwrap().clips().len();
    for (n, &i) in all.iter().enumerate() {
        let clip = crowd.clip_by_index(id, n % clips).unwrap();
        let options = PlayOptions { time: 0.037 * n as f64, ..PlayOptions::default() };
        crowd.play(i, clip, &options).unwrap();
    }
    (crowd, all, id)
}

fn detail(level: usize, leave_out: &[&str]) -> Option<TierDetail> {
    Some(TierDetail { level, leave_out: leave_out.iter().map(|&name| name.to_owned()).collect() })
}

/// A crowd of a rig in the state of another, under the same handles.
fn twin(crowd: &Crowd, rig: &Arc<Rig>, tiers: Option<Tiers>) -> Crowd {
    let mut twin = Crowd::new();
    twin.add_rig(rig.clone()).unwrap();
    let full = crowd.rig(crowd.instances().next().unwrap().rig()).unwrap();
    twin.restore(&plain(crowd, full).snapshot()).unwrap();
    twin.set_tiers(tiers).unwrap();
    twin
}

/// The details of a crowd's only rig.
fn details(crowd: &Crowd, id: RigId) -> Vec<Arc<Rig>> {
    crowd.tier_details(id).unwrap().cloned().collect()
}

/// A call of a game: a fade of one character after another.
fn call(crowd: &mut Crowd, all: &[InstanceId], frame: usize) {
    let id = all[0].rig();
    let clips = crowd.rig(id).unwrap().clips().len();
    let clip = crowd.clip_by_index(id, frame * 5 % clips).unwrap();
    let who = all[frame * 13 % all.len()];
    crowd.fade_to(who, clip, 0.15, &PlayOptions::default()).unwrap();
}

/// Updated in every frame, held, interpolated, and shared.
fn kinds(detail: &Option<TierDetail>) -> Vec<Tier> {
    let tier = |rate, interpolate, shared_error| Tier {
        rate,
        interpolate,
        shared_error,
        detail: detail.clone(),
        ..Tier::default()
    };
    vec![
        tier(1, false, None),
        tier(4, false, None),
        tier(8, true, None),
        // Speeds are those of each crowd's rig: within this error a clip has one phase by any of them.
        tier(1, false, Some(100.0)),
    ]
}

/// A tier with a detail writes the rows that a crowd of the detail's rig has in that tier.
#[test]
fn rows_are_those_of_a_crowd_of_the_detail() {
    for detail in [detail(2, &[]), detail(1, &["LeftHand", "RightUpLeg", "Head"])] {
        let plain = kinds(&None);
        for (tier, plain) in kinds(&detail).into_iter().zip(plain) {
            let (mut crowd, all, id) = people(90);
            crowd.set_tiers(Some(one(tier))).unwrap();
            let rig = details(&crowd, id).remove(0);
            let mut twin = twin(&crowd, &rig, Some(one(plain)));
            let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
            for frame in 0..40 {
                for crowd in [&mut crowd, &mut twin] {
                    call(crowd, &all, frame);
                    crowd.advance(DT).unwrap();
                }
                crowd.evaluate(&mut bones[0]);
                twin.evaluate(&mut bones[1]);
                let [a, b] = [(&crowd, &bones[0]), (&twin, &bones[1])]
                    .map(|(crowd, bones)| palettes(crowd, bones, &all));
                assert!(a == b, "frame {frame}");
                assert_eq!(a.len(), 90);
                assert!(a.iter().all(|rows| rows.len() == rig.palette_len()));
                assert!(all.iter().all(|&i| crowd.shown(i).and_then(|s| s.detail) == Some(0)));
            }
        }
    }
}

/// What stays has the pose of the full rig, to the last bits of the products of constant joints.
#[test]
fn slots_that_stay_have_the_pose_of_the_full_rig() {
    let (mut crowd, all, id) = people(60);
    let full = crowd.rig(id).unwrap().clone();
    let tier = kinds(&detail(2, &[])).remove(0);
    crowd.set_tiers(Some(one(tier))).unwrap();
    let rig = details(&crowd, id).remove(0);
    let rows = rig.full_rows().unwrap();
    let (mut equal, mut count) = (0, 0);
    let mut bones = BoneBuffer::new();
    for _ in 0..20 {
        crowd.advance(DT).unwrap();
        let stats = crowd.evaluate(&mut bones);
        assert_eq!(stats.rows, 60 * rig.palette_len());
        let mut exact = twin(&crowd, &full, None);
        let mut of_full = BoneBuffer::new();
        exact.evaluate(&mut of_full);
        let shown = palettes(&crowd, &bones, &all);
        for (shown, exact) in shown.iter().zip(palettes(&exact, &of_full, &all)) {
            let kept: Vec<Affine3x4> = rows.iter().map(|&row| exact[row as usize]).collect();
            assert!(apart(shown, &kept) < 1e-6);
            equal += shown.iter().zip(&kept).filter(|(a, b)| a == b).count();
            count += kept.len();
        }
    }
    println!("{equal} of {count} rows have the bits of the full rig");
    assert!(equal * 100 > count * 95, "{equal} of {count}");
}

/// An override, or a mirror, brings the palette of the full rig in that frame, and takes it back when it is gone.
#[test]
fn instances_that_need_all_joints_have_the_full_palette() {
    for tier in kinds(&detail(2, &["LeftForeArm"])) {
        let (mut crowd, all, id) = people(50);
        let full = crowd.rig(id).unwrap().clone();
        let hand = full.skeleton().joint("LeftHand").unwrap();
        crowd.set_tiers(Some(one(tier.clone()))).unwrap();
        let mut scene = SceneGraph::new();
        let mut bones = BoneBuffer::new();
        for frame in 0..40 {
            match frame {
                5 => crowd.player(all[3]).unwrap().set_override(hand, at([0.0, 0.2, 0.0])).unwrap(),
                7 => {
                    crowd.mirror(all[4], &mut scene, Some(&[hand])).unwrap();
                }
                15 => crowd.player(all[3]).unwrap().clear_overrides(),
                20 => {
                    crowd.unmirror(all[4], &mut scene, OnRemove::Remove).unwrap();
                }
                _ => {}
            }
            call(&mut crowd, &all, frame);
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            let has_full = |n: &usize| crowd.shown(all[*n]).and_then(|s| s.detail).is_none();
            let full_ones: Vec<usize> = (0..50).filter(has_full).collect();
            let mut wanted = Vec::new();
            wanted.extend((5..15).contains(&frame).then_some(3));
            wanted.extend((7..20).contains(&frame).then_some(4));
            assert_eq!(full_ones, wanted, "frame {frame}");
            for &i in &all {
                let rows = crowd.palette_range(i).unwrap().len();
                assert_eq!(
                    rows == full.palette_len(),
                    crowd.shown(i).and_then(|s| s.detail).is_none()
                );
            }
            if tier.rate == 1 && tier.shared_error.is_none() && !wanted.is_empty() {
                let mut exact = twin(&crowd, &full, None);
                let mut of_full = BoneBuffer::new();
                exact.evaluate(&mut of_full);
                for n in wanted {
                    let shown = palettes(&crowd, &bones, &[all[n]]);
                    assert_eq!(shown, palettes(&exact, &of_full, &[all[n]]));
                }
            }
        }
    }
}

/// Joints that all watch are evaluated with those above them, whatever is left out, from the next frame on.
#[test]
fn watched_joints_are_not_left_out() {
    for tier in kinds(&detail(2, &["LeftArm", "LeftHand", "RightForeArm"])) {
        let (mut crowd, all, id) = people(40);
        let joint = |name| crowd.rig(id).unwrap().skeleton().joint(name).unwrap();
        let [arm, hand, other] = ["LeftArm", "LeftHand", "RightForeArm"].map(joint);
        crowd.set_tiers(Some(one(tier.clone()))).unwrap();
        let mut bones = BoneBuffer::new();
        let plain = Tier { detail: None, ..tier.clone() };
        for frame in 0..24 {
            match frame {
                6 => crowd.watch(id, &[hand], PoseStage::After).unwrap(),
                16 => crowd.unwatch(id, &[hand], PoseStage::After).unwrap(),
                _ => {}
            }
            call(&mut crowd, &all, frame);
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            let rig = details(&crowd, id).remove(0);
            let watched = (6..16).contains(&frame);
            assert_eq!([arm, hand, other].map(|j| rig.is_evaluated(j)), [watched, watched, false]);
            if [6, 16].contains(&frame) {
                // All palettes are of the new detail.
                let mut twin = twin(&crowd, &rig, Some(one(plain.clone())));
                let mut of_twin = BoneBuffer::new();
                twin.evaluate(&mut of_twin);
                let [a, b] = [(&crowd, &bones), (&twin, &of_twin)]
                    .map(|(crowd, bones)| bones_at_updates(crowd, bones, &all));
                assert!(a == b, "frame {frame}, {tier:?}");
            }
        }
    }
}

/// So are those that no mesh of the level uses; the rows stay the same.
#[test]
fn watched_joints_that_a_level_lacks_are_evaluated() {
    let (mut crowd, all, id) = people(10);
    let tier = kinds(&detail(2, &[])).remove(0);
    crowd.set_tiers(Some(one(tier.clone()))).unwrap();
    let plain = details(&crowd, id).remove(0);
    let joints = plain.skeleton().len();
    let lacks = |rig: &Rig| -> Vec<usize> {
        let joints = 0..joints;
        joints.filter(|&joint| !rig.is_evaluated(joint)).collect()
    };
    let lacking = lacks(&plain);
    let (first, last) = (lacking[0], lacking[lacking.len() - 1]);
    let mut bones = BoneBuffer::new();
    for (watched, wanted) in [(vec![first, last], 2), (vec![last], 1), (vec![], 0)] {
        crowd.watch(id, &watched, PoseStage::After).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let rig = details(&crowd, id).remove(0);
        assert!(watched.iter().all(|&joint| rig.is_evaluated(joint)));
        assert!(lacks(&rig).len() + wanted <= lacking.len());
        assert_eq!(lacks(&rig) == lacking, wanted == 0);
        assert_eq!(rig.palette_len(), plain.palette_len());
        let full = crowd.rig(id).unwrap().clone();
        for &i in &all {
            let found = crowd.watched(i, PoseStage::After).unwrap();
            let exact = crowd.model_matrices(i).unwrap();
            assert_eq!(found.joints.len(), wanted);
            for &joint in &watched {
                assert_eq!(found.model(joint), Some(&exact[joint]));
            }
        }
        let mut twin = twin(&crowd, &rig, None);
        let mut of_twin = BoneBuffer::new();
        twin.evaluate(&mut of_twin);
        assert!(palettes(&crowd, &bones, &all) == palettes(&twin, &of_twin, &all));
        assert_eq!(full.skeleton().len(), joints);
        crowd.unwatch(id, &watched, PoseStage::After).unwrap();
    }
}

/// The earlier palettes of all instances, which are of this frame if all were updated in it.
fn bones_at_updates(crowd: &Crowd, bones: &BoneBuffer, all: &[InstanceId]) -> Vec<Vec<Affine3x4>> {
    let rows = |&i: &InstanceId| bones.rows()[crowd.shown(i).unwrap().from].to_vec();
    all.iter().map(rows).collect()
}

/// Instances come to another tier in every frame: with details, without, with another detail.
#[test]
fn tiers_may_change_in_every_frame() {
    let details_of = [None, detail(1, &[]), detail(2, &[]), detail(2, &["Head"])];
    for shared_error in [None, Some(0.002)] {
        let (mut crowd, all, id) = people(64);
        let full = crowd.rig(id).unwrap().clone();
        let tiers = details_of.iter().enumerate().map(|(n, detail)| Tier {
            height: 1000.0 - 100.0 * n as f32,
            shared_error,
            detail: detail.clone(),
            ..Tier::default()
        });
        let tiers = Tiers { tiers: tiers.collect(), hysteresis: 0.0, ..Tiers::default() };
        crowd.set_tiers(Some(tiers)).unwrap();
        let rigs = details(&crowd, id);
        assert_eq!(rigs.len(), 3);
        let mut bones = BoneBuffer::new();
        for frame in 0..30 {
            let height = |n: usize| 1050.0 - 100.0 * ((n * 7 + frame * (1 + n % 3)) % 4) as f32;
            let heights: Vec<f32> = (0..64).map(height).collect();
            crowd.set_importances(id, &heights).unwrap();
            call(&mut crowd, &all, frame);
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            for (n, &i) in all.iter().enumerate() {
                let tier = (1050.0 - heights[n]) as usize / 100;
                assert_eq!(crowd.tier(i), Some(tier));
                assert_eq!(crowd.shown(i).and_then(|s| s.detail), tier.checked_sub(1));
                let rig = tier.checked_sub(1).map_or(&full, |d| &rigs[d]);
                assert_eq!(crowd.palette_range(i).unwrap().len(), rig.palette_len());
            }
            for (rig, number) in rigs.iter().zip(0..) {
                let mut exact = twin(&crowd, rig, None);
                let mut of_exact = BoneBuffer::new();
                exact.evaluate(&mut of_exact);
                let here: Vec<InstanceId> = (all.iter().copied())
                    .filter(|&i| crowd.shown(i).and_then(|s| s.detail) == Some(number))
                    .collect();
                let shown = palettes(&crowd, &bones, &here);
                for (a, b) in shown.iter().zip(palettes(&exact, &of_exact, &here)) {
                    match shared_error {
                        None => assert!(*a == b),
                        _ => assert!(apart(a, &b) < 0.02),
                    }
                }
            }
        }
    }
}

#[test]
fn lost_memory_has_the_same_bits() {
    for tier in kinds(&detail(2, &["LeftHand"])) {
        let make = || {
            let (mut crowd, all, id) = people(70);
            let hand = crowd.rig(id).unwrap().skeleton().joint("RightHand");
            crowd.set_tiers(Some(one(tier.clone()))).unwrap();
            crowd.player(all[9]).unwrap().set_override(hand.unwrap(), at([0.0, 0.1, 0.0])).unwrap();
            crowd
        };
        let run = |crowd: &mut Crowd, bones: &mut BoneBuffer, frames: std::ops::Range<usize>| {
            let all: Vec<InstanceId> = crowd.instances().collect();
            let mut shown = Vec::new();
            for frame in frames {
                call(crowd, &all, frame);
                crowd.advance(DT).unwrap();
                crowd.evaluate(bones);
                shown.push(palettes(crowd, bones, &all));
            }
            shown
        };
        let (crowd, _) = lost_memory_changes_no_bit(make, run);
        let all: Vec<InstanceId> = crowd.instances().collect();
        assert_eq!(details(&crowd, all[0].rig()).len(), 1);
        assert_eq!(crowd.shown(all[0]).and_then(|s| s.detail), Some(0));
        assert_eq!(crowd.shown(all[9]).and_then(|s| s.detail), None);
    }
}

/// A shared palette may be of a clip that nothing plays any more when memory is lost.
#[test]
fn shared_palettes_of_clips_that_nothing_plays_are_written_again() {
    for detail in [None, detail(2, &[])] {
        let (mut crowd, all, id) = people(1);
        let [walk, other] = ["Walk", "Wave"].map(|name| crowd.clip_named(id, name).unwrap());
        let tier = kinds(&detail).remove(3);
        crowd.set_tiers(Some(one(tier))).unwrap();
        let held = PlayOptions { speed: 0.0, time: 0.5, ..PlayOptions::default() };
        let mut bones = BoneBuffer::new();
        let show = |crowd: &mut Crowd, bones: &mut BoneBuffer, clip| {
            crowd.play(all[0], clip, &held).unwrap();
            crowd.evaluate(bones);
            assert!(crowd.shown(all[0]).is_some_and(|s| s.shared));
            palettes(crowd, bones, &all)
        };
        let wanted = show(&mut crowd, &mut bones, walk);
        show(&mut crowd, &mut bones, other);
        let mut memory = BoneBuffer::new();
        crowd.evaluate(&mut memory);
        assert!(show(&mut crowd, &mut memory, walk) == wanted);
    }
}

#[test]
fn workers_and_parts_do_not_change_a_bit() {
    let tiers = Tiers {
        tiers: kinds(&detail(2, &[]))
            .into_iter()
            .zip([3.0, 2.0, 1.0, 0.0])
            .map(|(tier, height)| Tier { height, ..tier })
            .collect(),
        ..Tiers::default()
    };
    let run = |threads: usize, parts: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut crowd, all, id) = people(400);
            crowd.set_tiers(Some(tiers.clone())).unwrap();
            let heights: Vec<f32> = (0..400).map(|n| 0.5 + (n % 4) as f32).collect();
            crowd.set_importances(id, &heights).unwrap();
            let mut bones = BoneBuffer::new();
            for frame in 0..12 {
                call(&mut crowd, &all, frame);
                crowd.advance(DT).unwrap();
                match parts {
                    None => {
                        crowd.evaluate(&mut bones);
                    }
                    Some(parts) => {
                        let (mut schedule, rows) = crowd.schedule_into(&mut bones);
                        schedule.parts(parts, rows).for_each(|part| part());
                    }
                }
            }
            bones.hash()
        })
    };
    let wanted = run(1, None);
    for (threads, parts) in [(2, None), (7, None), (32, None), (1, Some(1)), (2, Some(5))] {
        assert_eq!(run(threads, parts), wanted, "{threads} {parts:?}");
    }
}

/// Clips and rigs that come later, levels and names that a rig lacks, and rigs of which nothing can be left out.
#[test]
fn details_are_made_for_later_clips_and_rigs() {
    let tiers = Tiers {
        tiers: vec![
            Tier { height: 10.0, detail: detail(99, &["Tail", "", "LeftHand"]), ..Tier::default() },
            Tier { detail: detail(2, &["LeftHand"]), ..Tier::default() },
        ],
        ..Tiers::default()
    };
    let mut crowd = Crowd::new();
    crowd.set_tiers(Some(tiers)).unwrap();
    let full = Arc::new(mannequin().unwrap());
    let id = crowd.add_rig(full.clone()).unwrap();
    // Both tiers ask for the same.
    let rig = details(&crowd, id);
    assert_eq!(rig.len(), 1);
    assert_eq!(rig[0].detail_level(), 2);
    assert!(!rig[0].is_evaluated(full.skeleton().joint("LeftHand").unwrap()));
    let i = crowd.spawn(id).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    let clip = crowd.add_clip(id, full.clips()[3].clone()).unwrap();
    crowd.play(i, clip, &PlayOptions::default()).unwrap();
    crowd.advance(0.4).unwrap();
    crowd.evaluate(&mut bones);
    let mut exact = Crowd::new();
    let of_exact = exact.add_rig(rig[0].clone()).unwrap();
    let other = exact.spawn(of_exact).unwrap();
    let clip = exact.clip_by_index(of_exact, 3).unwrap();
    exact.play(other, clip, &PlayOptions::default()).unwrap();
    exact.advance(0.4).unwrap();
    let mut rows = BoneBuffer::new();
    exact.evaluate(&mut rows);
    assert_eq!(palettes(&crowd, &bones, &[i]), palettes(&exact, &rows, &[other]));
    // A chain has one level, and all its slots are used.
    let (mut chain, all, of_chain, _) = chains(3);
    chain.set_tiers(Some(one(Tier { detail: detail(1, &[]), ..Tier::default() }))).unwrap();
    chain.evaluate(&mut bones);
    assert_eq!(details(&chain, of_chain).len(), 0);
    assert_eq!(chain.shown(all[0]).and_then(|s| s.detail), None);
    // Without tiers, and of another crowd.
    crowd.set_tiers(None).unwrap();
    assert_eq!(details(&crowd, id).len(), 0);
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.palette_range(i).unwrap().len(), full.palette_len());
    assert!(crowd.tier_details(of_chain).is_err());
    assert_eq!(crowd.shown(all[0]).and_then(|s| s.detail), None);
}
