//! The host's own code in the evaluation of poses.

use super::{Body, Cast};
use glam::{Quat, Vec3};
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdSnapshot, InstanceId, PlayOptions, PoseStage, RowLayout, Tier, Tiers,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{
    Hook, Mixer, ModifierId, PlaybackError, PoseError, PoseMut, Target, TwoBoneIk,
};
use phalanx::skeleton::Trs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

const DT: f64 = 1.0 / 32.0;

/// Instances that play, of which every third is flagged.
fn cast(count: usize) -> (Cast, ModifierId) {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, Hook::default()).unwrap();
    for n in 0..count {
        let clip = cast.crowd.clip_by_index(cast.rig, n % 10).unwrap();
        let options = PlayOptions { time: 0.11 * n as f64, ..PlayOptions::default() };
        cast.crowd.play(cast.all[n], clip, &options).unwrap();
        if n % 3 == 0 {
            cast.crowd.player(cast.all[n]).unwrap().fade_modifier(by, 1.0, 0.0).unwrap();
        }
    }
    (cast, by)
}

/// Turns five joints by what it is given.
fn turns(id: InstanceId, pose: &mut PoseMut<'_>, seconds: f64) {
    for joint in [3, 6, 9, 26, 40] {
        let local = pose.local(joint).unwrap();
        let angle = 0.1 * joint as f32 + 0.05 * id.index() as f32 + seconds as f32;
        let rotation = local.rotation * Quat::from_rotation_x(angle);
        pose.set_local(joint, Trs { rotation, ..local }).unwrap();
    }
}

fn rows(cast: &Cast, bones: &BoneBuffer) -> Vec<Vec<Affine3x4>> {
    let of = |&id| bones.rows()[cast.crowd.palette_range(id).unwrap()].to_vec();
    cast.all.iter().map(of).collect()
}

#[test]
fn a_hook_reads_and_sets_joints() {
    let body = Body::character();
    let (mut cast, _) = cast(4);
    let models = cast.models(0);
    let (arm, hand) = (body.joint("RightArm"), body.joint("RightHand"));
    let moved = Affine3x4::from_scale_rotation_translation(
        Vec3::new(1.1, 0.9, 1.0),
        Quat::from_rotation_y(0.4),
        Vec3::new(0.1, 1.3, 0.2),
    );
    let (mut plain, read) = (Cast::new(&body.rig, 4), Mutex::new(None));
    plain.hold(0, 0, 0.0);
    let local = Trs { translation: Vec3::new(0.0, 0.2, 0.0), ..Trs::IDENTITY };
    cast.crowd.evaluate_with(&mut cast.bones, &|id, pose, seconds| {
        if id != cast.all[0] {
            return;
        }
        assert_eq!((pose.joint_count(), pose.weight(), seconds), (47, 1.0, 0.0));
        for (joint, want) in models.iter().enumerate() {
            let model = pose.model(joint).unwrap();
            let off = model.rows.as_flattened().iter().zip(want.rows.as_flattened());
            assert!(off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-5, "{joint}");
            let of_parts: Affine3x4 = pose.local(joint).unwrap().into();
            let matrix = pose.local_matrix(joint).unwrap();
            let off = matrix.rows.as_flattened().iter().zip(of_parts.rows.as_flattened());
            assert!(off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-5, "{joint}");
        }
        let before = [arm, hand].map(|joint| pose.model(joint).unwrap());
        pose.set_model(arm, moved).unwrap();
        let near = |a: Affine3x4, b: Affine3x4| {
            let all = a.rows.as_flattened().iter().zip(b.rows.as_flattened());
            assert!(all.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-5, "{a:?} {b:?}");
        };
        near(pose.model(arm).unwrap(), moved);
        // Joints below it have moved with it.
        let wide = |m: Affine3x4| glam::Affine3A::from(m);
        let carried = wide(moved) * wide(before[0]).inverse() * wide(before[1]);
        near(pose.model(hand).unwrap(), carried.into());
        pose.set_local(arm, local).unwrap();
        let refused = [
            (pose.set_local(47, local), PoseError::UnknownJoint { joint: 47, joints: 47 }),
            (pose.set_model(9999, moved), PoseError::UnknownJoint { joint: 9999, joints: 47 }),
        ];
        refused.into_iter().for_each(|(have, want)| assert_eq!(have, Err(want)));
        assert_eq!(
            (pose.local(47), pose.model(usize::MAX), pose.local_matrix(70000)),
            (None, None, None)
        );
        for number in [f32::NAN, f32::INFINITY, -1e10] {
            for at in 0..12 {
                let mut bad = moved;
                bad.rows.as_flattened_mut()[at] = number;
                for set in [pose.set_local(hand, bad), pose.set_model(hand, bad)] {
                    assert!(
                        matches!(set, Err(PoseError::Beyond { joint, .. }) if joint == hand),
                        "{set:?}"
                    );
                }
            }
        }
        *read.lock().unwrap() = pose.model(hand);
    });
    // The same as an override.
    let with = rows(&cast, &cast.bones).swap_remove(0);
    cast.crowd.player(cast.all[0]).unwrap().set_override(arm, local).unwrap();
    assert!(cast.frame()[0] == with);
    assert!(read.into_inner().unwrap().is_some());
}

#[test]
fn only_listed_joints_are_set_and_a_rig_has_one_hook() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let head = body.joint("Head");
    let hook = Hook { joints: Some(vec![head, 3, head]), ..Hook::default() };
    let by = cast.crowd.add_modifier(cast.rig, hook.clone()).unwrap();
    cast.aim(0, by, Target::default(), 0.5);
    let called = Mutex::new(0);
    cast.crowd.evaluate_with(&mut cast.bones, &|_, pose, _| {
        *called.lock().unwrap() += 1;
        assert_eq!(pose.weight(), 0.5);
        assert_eq!(pose.set_local(4, Trs::IDENTITY), Err(PoseError::Unlisted { joint: 4 }));
        pose.set_local(head, Trs { scale: Vec3::ZERO, ..Trs::IDENTITY }).unwrap();
        pose.set_local(3, Trs { scale: Vec3::ZERO, ..Trs::IDENTITY }).unwrap();
        assert_eq!(pose.set_model(head, Trs::IDENTITY), Err(PoseError::NoInverse { joint: head }));
    });
    assert_eq!(called.into_inner().unwrap(), 1);
    let error = cast.crowd.add_modifier(cast.rig, hook.clone()).unwrap_err();
    assert!(error.to_string().contains("has a hook already"), "{error}");
    cast.crowd.remove_modifier(by).unwrap();
    cast.crowd.add_modifier(cast.rig, hook).unwrap();
    for (hook, what) in [
        (Hook { joints: Some(vec![47]), ..Hook::default() }, "47"),
        (Hook { reach: -1.0, ..Hook::default() }, "reach"),
        (Hook { reach: f32::NAN, ..Hook::default() }, "reach"),
    ] {
        let mut mixer = Mixer::new(body.rig.clone()).unwrap();
        let error = mixer.add_modifier(hook).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

/// Flagged instances are called once in a frame, with the seconds since the last one; nobody else is.
#[test]
fn flagged_instances_are_called_once_with_their_seconds() {
    let (mut cast, by) = cast(10);
    let calls = Mutex::new(Vec::new());
    let hook = |id: InstanceId, _: &mut PoseMut<'_>, seconds: f64| {
        calls.lock().unwrap().push((id.index(), seconds));
    };
    let frame = |cast: &mut Cast| {
        cast.crowd.evaluate_with(&mut cast.bones, &hook);
        let mut all = std::mem::take(&mut *calls.lock().unwrap());
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let each = |seconds: f64| [0, 3, 6, 9].map(|n| (n, seconds)).to_vec();
    assert_eq!(frame(&mut cast), each(0.0));
    assert_eq!(frame(&mut cast), each(0.0));
    cast.crowd.advance(DT).unwrap();
    assert_eq!(frame(&mut cast), each(DT));
    // A plain frame is no evaluation with the hook.
    cast.crowd.advance(DT).unwrap();
    cast.frame();
    cast.crowd.advance(-DT).unwrap();
    assert_eq!(frame(&mut cast), each(2.0 * DT));
    // One that is held, and one whose weight was 0 meanwhile.
    cast.crowd.set_scheduled(cast.all[3], false).unwrap();
    cast.crowd.player(cast.all[6]).unwrap().fade_modifier(by, 0.0, 0.0).unwrap();
    cast.crowd.advance(DT).unwrap();
    assert_eq!(frame(&mut cast), [(0, DT), (9, DT)]);
    cast.crowd.set_scheduled(cast.all[3], true).unwrap();
    cast.crowd.player(cast.all[6]).unwrap().fade_modifier(by, 0.5, 1.0).unwrap();
    cast.crowd.advance(DT).unwrap();
    assert_eq!(frame(&mut cast), [(0, DT), (3, 2.0 * DT), (6, 0.0), (9, DT)]);
    // After a snapshot was restored they begin again.
    let saved = cast.crowd.snapshot();
    cast.crowd.advance(DT).unwrap();
    cast.crowd.restore(&saved).unwrap();
    assert_eq!(frame(&mut cast).iter().map(|c| c.1).sum::<f64>(), 0.0);
    // The same frame to other memory: the same seconds.
    cast.crowd.advance(DT).unwrap();
    let (mut schedule, rows) = cast.crowd.schedule_into(&mut cast.bones);
    schedule.write_with(&mut *rows, &hook);
    schedule.write_with(rows, &hook);
    let all = std::mem::take(&mut *calls.lock().unwrap());
    assert!(all.len() == 8 && all.iter().all(|c| c.1 == DT), "{all:?}");
}

#[test]
fn a_hook_gives_the_same_bits_for_any_number_of_workers() {
    let run = |threads: usize, parts: Option<usize>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut cast, _) = cast(200);
            let mut all = Vec::new();
            for _ in 0..3 {
                cast.crowd.advance(DT).unwrap();
                match parts {
                    None => {
                        cast.crowd.evaluate_with(&mut cast.bones, &turns);
                    }
                    Some(parts) => {
                        let (mut schedule, rows) = cast.crowd.schedule_into(&mut cast.bones);
                        std::thread::scope(|scope| {
                            for part in schedule.parts_with(parts, rows, &turns) {
                                scope.spawn(part);
                            }
                        });
                    }
                }
                all.push(rows(&cast, &cast.bones));
            }
            all
        })
    };
    let one = run(1, None);
    assert!(one[0] != one[1]);
    for (threads, parts) in [(2, None), (5, None), (1, Some(1)), (2, Some(7))] {
        assert!(run(threads, parts) == one, "{threads} workers, {parts:?}");
    }
    // Others have every bit of a plain frame.
    let (mut plain, _) = cast(200);
    plain.crowd.advance(DT).unwrap();
    for (n, (have, plain)) in one[0].iter().zip(plain.frame()).enumerate() {
        assert_eq!(*have != plain, n % 3 == 0, "instance {n}");
    }
}

#[test]
fn a_mixer_calls_its_hook_and_the_hook_may_evaluate() {
    let body = Body::character();
    let (mut cast, _) = cast(1);
    let mut mixer = Mixer::new(body.rig.clone()).unwrap();
    let by = mixer.add_modifier(Hook::default()).unwrap();
    let clip = mixer.clip_by_index(0).unwrap();
    mixer.player().play(0, clip, &PlayOptions::default()).unwrap();
    let plain = mixer.evaluate().to_vec();
    let id = cast.all[0];
    assert!(mixer.evaluate_with(&|pose, s| turns(id, pose, s)) == plain, "without a weight");
    mixer.player().fade_modifier(by, 1.0, 0.0).unwrap();
    for _ in 0..3 {
        cast.crowd.evaluate_with(&mut cast.bones, &turns);
        let other = Mixer::new(body.rig.clone()).unwrap();
        let have = mixer.evaluate_with(&|pose, seconds| {
            turns(id, pose, seconds);
            other.model_matrix("Head").unwrap();
        });
        assert!(have == rows(&cast, &cast.bones)[0] && have != plain);
        cast.crowd.advance(DT).unwrap();
        mixer.advance(DT).unwrap();
    }
    let cut = catch_unwind(AssertUnwindSafe(|| {
        mixer.evaluate_with(&|_, _| resume_unwind(Box::new("as meant")));
    }));
    assert!(cut.is_err());
    cast.crowd.evaluate(&mut cast.bones);
    assert!(mixer.evaluate() == rows(&cast, &cast.bones)[0]);
}

/// A hook that unwinds cuts the frame short; the next one is whole.
#[test]
fn a_frame_after_a_panic_is_whole() {
    let fixed = |id, pose: &mut PoseMut<'_>, _| turns(id, pose, 0.25);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let tier = Tier { rate: 4, interpolate: true, ..Tier::default() };
            let tiered = Tiers { tiers: vec![tier], ..Tiers::default() };
            for (tiers, watch) in [(None, false), (None, true), (Some(tiered), true)] {
                let (mut cut, _) = cast(60);
                let (mut whole, _) = cast(60);
                for cast in [&mut cut, &mut whole] {
                    cast.crowd.set_tiers(tiers.clone()).unwrap();
                    if watch {
                        cast.crowd.watch(cast.rig, &[26], PoseStage::After).unwrap();
                    }
                    for _ in 0..3 {
                        cast.crowd.advance(DT).unwrap();
                        cast.crowd.evaluate_with(&mut cast.bones, &fixed);
                    }
                    cast.crowd.advance(DT).unwrap();
                }
                let saved = cut.crowd.snapshot();
                let at = cut.all[30];
                let unwound = catch_unwind(AssertUnwindSafe(|| {
                    cut.crowd.evaluate_with(&mut cut.bones, &|id, pose, seconds| {
                        fixed(id, pose, seconds);
                        if id == at || tiers.is_some() {
                            resume_unwind(Box::new("as meant"));
                        }
                    });
                }));
                assert!(unwound.is_err() || tiers.is_some());
                whole.crowd.evaluate_with(&mut whole.bones, &fixed);
                assert!(cut.crowd.snapshot() == saved);
                if tiers.is_some() {
                    // Cells begin anew after a frame that was cut short.
                    whole.crowd.set_tiers(tiers.clone()).unwrap();
                    cut.crowd.set_tiers(tiers.clone()).unwrap();
                }
                for _ in 0..6 {
                    for cast in [&mut cut, &mut whole] {
                        cast.crowd.evaluate_with(&mut cast.bones, &fixed);
                    }
                    assert!(rows(&cut, &cut.bones) == rows(&whole, &whole.bones));
                    if watch {
                        let models = [&cut, &whole].map(|cast| {
                            let of = |&id| {
                                cast.crowd.watched(id, PoseStage::After).unwrap().models.to_vec()
                            };
                            cast.all.iter().map(of).collect::<Vec<_>>()
                        });
                        assert!(models[0] == models[1]);
                    }
                    for cast in [&mut cut, &mut whole] {
                        cast.crowd.advance(DT).unwrap();
                    }
                }
            }
        });
    }
}

/// In tiers flagged instances have single palettes that are held: one call per update, for the present.
#[test]
fn a_hook_in_tiers_is_called_once_per_update() {
    for (rate, interpolate) in [(1, false), (4, false), (4, true), (8, true)] {
        let (mut cast, by) = cast(30);
        let tier = Tier { rate, interpolate, shared_error: Some(0.05), ..Tier::default() };
        cast.crowd.set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() })).unwrap();
        let calls = Mutex::new(Vec::new());
        let hook = |id: InstanceId, pose: &mut PoseMut<'_>, seconds: f64| {
            calls.lock().unwrap().push((id.index(), seconds));
            turns(id, pose, 0.0);
        };
        let step = f64::from(rate) * DT;
        for frame in 0..40 {
            cast.crowd.advance(DT).unwrap();
            cast.crowd.evaluate_with(&mut cast.bones, &hook);
            let mut all = std::mem::take(&mut *calls.lock().unwrap());
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            assert!(all.windows(2).all(|pair| pair[0].0 != pair[1].0), "twice: {all:?}");
            assert!(all.iter().all(|&(n, _)| n % 3 == 0));
            if frame > 16 {
                assert!(all.iter().all(|&(_, seconds)| seconds == step), "{rate}: {all:?}");
            }
            for n in (0..30).step_by(3) {
                let shown = cast.crowd.shown(cast.all[n]).unwrap();
                assert!(!shown.shared && shown.from == shown.to, "{n}");
            }
        }
        // One that a call changes in every frame is seen in every frame.
        for n in 1..4 {
            cast.aim(0, by, Target::model(Vec3::X * n as f32), 1.0);
            cast.crowd.advance(DT).unwrap();
            cast.crowd.evaluate_with(&mut cast.bones, &hook);
            let mut mixer = Mixer::new(Body::character().rig.clone()).unwrap();
            let of_mixer = mixer.add_modifier(Hook::default()).unwrap();
            let clip = mixer.clip_by_index(0).unwrap();
            let playing = cast.crowd.playing(cast.all[0]).unwrap();
            let time = playing.actions(0).unwrap().next().unwrap().1.time;
            mixer.player().play(0, clip, &phalanx_testkit::ruler::held(time, 1.0)).unwrap();
            mixer.player().fade_modifier(of_mixer, 1.0, 0.0).unwrap();
            let id = cast.all[0];
            let want = mixer.evaluate_with(&|pose, _| turns(id, pose, 0.0));
            assert!(rows(&cast, &cast.bones)[0] == want, "{rate} {n}");
        }
        // When its weight is 0 again, it is interpolated as before.
        cast.crowd.player(cast.all[3]).unwrap().fade_modifier(by, 0.0, 2.0 * DT as f32).unwrap();
        for _ in 0..4 {
            cast.crowd.advance(DT).unwrap();
            cast.crowd.evaluate_with(&mut cast.bones, &hook);
        }
        let shown = cast.crowd.shown(cast.all[3]).unwrap();
        assert!(shown.shared, "{rate}");
    }
}

/// Memory that was lost is written again with the hook.
#[test]
fn lost_memory_has_the_hook_again() {
    let (mut cast, _) = cast(20);
    let tier = Tier { rate: 8, ..Tier::default() };
    cast.crowd.set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() })).unwrap();
    let fixed = |id, pose: &mut PoseMut<'_>, _| turns(id, pose, 0.25);
    for _ in 0..5 {
        cast.crowd.advance(DT).unwrap();
        cast.crowd.evaluate_with(&mut cast.bones, &fixed);
    }
    let mut kept = rows(&cast, &cast.bones);
    // No time passes: only those whose turn it is may differ.
    let mut fresh = BoneBuffer::new();
    cast.crowd.evaluate_with(&mut fresh, &fixed);
    let again = rows(&cast, &fresh);
    kept.iter_mut().zip(&again).for_each(|(a, b)| assert!(a == b || *b != *a));
    let same = kept.iter().zip(&again).filter(|(a, b)| a == b).count();
    assert!(same >= 17, "{same}");
    let layout = RowLayout::default();
    assert!(!cast.crowd.schedule(&layout).follows());
}

#[test]
fn bounds_are_wider_by_the_reach() {
    let body = Body::character();
    let radius = |reach: Option<f32>| {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(body.rig.clone()).unwrap();
        let id = crowd.spawn(rig).unwrap();
        if let Some(reach) = reach {
            let hook = Hook { reach, joints: Some(vec![body.joint("RightHand")]) };
            let by = crowd.add_modifier(rig, hook).unwrap();
            crowd.player(id).unwrap().fade_modifier(by, 1.0, 0.0).unwrap();
        }
        crowd.bounding_sphere(id).unwrap().unwrap().radius
    };
    assert!(radius(Some(0.0)) >= radius(None));
    let wider = radius(Some(2.0)) - radius(Some(0.0));
    assert!((wider - 2.0).abs() < 1e-2, "{wider}");
}

/// A chain that stretches after the hook makes what the hook moved longer.
#[test]
fn bounds_hold_what_is_stretched_after_the_hook() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let (arm, hand) = (body.joint("RightForeArm"), body.joint("RightHand"));
    let hook = Hook { reach: 5.0, joints: Some(vec![arm]) };
    let hook = cast.crowd.add_modifier(cast.rig, hook).unwrap();
    let ik = TwoBoneIk { stretch: 10.0, ..TwoBoneIk::new(hand) };
    let ik = cast.crowd.add_modifier(cast.rig, ik).unwrap();
    cast.aim(0, hook, Target::default(), 1.0);
    cast.aim(0, ik, Target::model(Vec3::X * 1000.0), 1.0);
    cast.crowd.watch(cast.rig, &[hand], PoseStage::After).unwrap();
    cast.crowd.evaluate_with(&mut cast.bones, &|_, pose, _| {
        let local = pose.local(arm).unwrap();
        let translation = local.translation + local.translation.normalize() * 4.99;
        pose.set_local(arm, Trs { translation, ..local }).unwrap();
    });
    let at = cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().models[0].translation();
    let sphere = cast.crowd.bounding_sphere(cast.all[0]).unwrap().unwrap();
    let far = at.distance(Vec3::from(sphere.center));
    assert!(far > 30.0 && far <= sphere.radius, "{far} of {sphere:?}");
}

#[test]
fn snapshots_have_the_weight_and_refuse_another_hook() {
    let (mut cast, by) = cast(6);
    cast.crowd.player(cast.all[1]).unwrap().fade_modifier(by, 0.5, 0.5).unwrap();
    cast.crowd.advance(DT).unwrap();
    let bytes = cast.crowd.snapshot().to_bytes();
    let saved = CrowdSnapshot::from_bytes(&bytes).unwrap();
    let run = |cast: &mut Cast| {
        let mut all = Vec::new();
        for _ in 0..10 {
            cast.crowd.evaluate_with(&mut cast.bones, &turns);
            all.push(rows(cast, &cast.bones));
            cast.crowd.advance(DT).unwrap();
        }
        all
    };
    cast.crowd.restore(&saved).unwrap();
    let wanted = run(&mut cast);
    for _ in 0..2 {
        cast.crowd.restore(&saved).unwrap();
        assert!(run(&mut cast) == wanted);
    }
    let mut other = Cast::new(&Body::character().rig, 6);
    let hook = Hook { reach: 0.5, ..Hook::default() };
    other.crowd.add_modifier(other.rig, hook).unwrap();
    let refused = other.crowd.restore(&saved).unwrap_err();
    assert!(matches!(refused, PlaybackError::Snapshot { part: "modifiers", .. }), "{refused}");
}
