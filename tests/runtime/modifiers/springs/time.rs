//! Steps lie on a grid of the crowd's time: any frame rate gives the same springs.

use super::oracle::{close, of_code};
use super::{STEP, body, chain, play, swinging, walk, wide};
use crate::modifiers::Cast;
use glam::{Affine3A, DMat4, Vec3};
use phalanx::crowd::BoneBuffer;
use phalanx::math::Affine3x4;
use phalanx_testkit::vrm::Version;

/// The world matrix at a share between two.
fn between(a: &DMat4, b: &DMat4, share: f64) -> DMat4 {
    let mixed = a.to_cols_array().into_iter().zip(b.to_cols_array());
    let mixed: Vec<f64> = mixed.map(|(a, b)| a + (b - a) * share).collect();
    DMat4::from_cols_slice(&mixed)
}

/// A way without turns, so that what lies between two frames is known.
fn slide(time: f64) -> Affine3x4 {
    let at = Vec3::new((2.0 * time).sin() as f32, 0.3 * (5.0 * time).sin() as f32, time as f32);
    Affine3A::from_translation(at).into()
}

/// At rates above and below that of the steps, a frame steps on the grid, between the last frame and its own, and shows
/// the share of a step that has passed.
#[test]
fn any_frame_rate_is_where_the_oracle_has_it() {
    let (body, springs) = chain(4);
    let rest = body.scene.rest();
    for rate in [144.0, 97.0, 60.0, 45.0, 20.0] {
        let (mut cast, _) = swinging(&body, &springs, 1, 1.0);
        let mut oracle = of_code(&body, &springs);
        let (mut last, mut steps) = ((0.0, wide(&slide(0.0))), 0u32);
        let mut shares = 0;
        for frame in 0..(3.0 * rate) as usize {
            let time = frame as f64 / rate;
            if frame > 0 {
                cast.crowd.advance(1.0 / rate).unwrap();
            }
            let world = slide(time);
            cast.crowd.set_world(cast.all[0], world).unwrap();
            cast.frame();
            let now = wide(&world);
            if frame == 0 {
                oracle.rest(&body.scene, &rest, &now);
            }
            while f64::from(steps + 1) * STEP <= time + 1e-9 {
                steps += 1;
                let share = (f64::from(steps) * STEP - last.0) / (time - last.0);
                let then = between(&last.1, &now, share);
                oracle = oracle.step(&body.scene, (&rest, &then), (STEP, 1.0, 1.0)).1;
            }
            let share = ((time - f64::from(steps) * STEP) / STEP).max(0.0);
            shares += usize::from(share > 1e-6);
            let want = oracle.step(&body.scene, (&rest, &now), (STEP, share, 1.0)).0;
            close(&body, &cast, 0, &want, &world, &format!("{rate} Hz, frame {frame}"));
            last = (time, now);
        }
        assert_eq!(shares > 0, rate > 60.0 || rate == 45.0, "{rate} Hz");
    }
}

/// How far the last joint swings after a push does not depend on the frame rate.
#[test]
fn a_fast_frame_rate_is_not_softer() {
    let (body, springs) = chain(4);
    let swing = |rate: f64| {
        let (mut cast, _) = swinging(&body, &springs, 1, 1.0);
        cast.frame();
        let mut most = 0.0f32;
        for frame in 1..(2.0 * rate) as usize {
            cast.crowd.advance(1.0 / rate).unwrap();
            let at = (frame as f64 / rate).min(0.1) as f32;
            let world = Affine3A::from_translation(Vec3::X * 4.0 * at);
            cast.crowd.set_world(cast.all[0], world).unwrap();
            cast.frame();
            most = most.max(cast.models(0).last().unwrap().translation().x.abs());
        }
        most
    };
    let wanted = swing(60.0);
    assert!(wanted > 0.1, "{wanted}");
    for rate in [30.0, 72.0, 144.0, 240.0] {
        let have = swing(rate);
        assert!((have / wanted - 1.0).abs() < 0.05, "{rate} Hz: {have} of {wanted}");
    }
}

/// Four frames at slightly less than 60 Hz cross five moments of the grid now and then; that is no reason to begin at
/// rest. A pause of five steps is.
#[test]
fn four_late_frames_do_not_begin_at_rest() {
    let (body, springs) = chain(4);
    let (mut cast, _) = swinging(&body, &springs, 1, 1.0);
    cast.frame();
    let rest = cast.models(0).last().unwrap().translation();
    for _ in 0..120 {
        cast.crowd.advance(1.0 / 60.0).unwrap();
        cast.frame();
    }
    let hanging = cast.models(0).last().unwrap().translation();
    assert!(hanging.distance(rest) > 0.01, "{hanging} is at rest");
    // Some 0.004 steps more than four: five moments in every 250th of them.
    for update in 0..600 {
        cast.crowd.advance(4.0 / 59.94).unwrap();
        cast.frame();
        let now = cast.models(0).last().unwrap().translation();
        assert!(now.distance(hanging) < 1e-3, "update {update}: {now}, hanging {hanging}");
    }
    cast.crowd.advance(5.1 / 60.0).unwrap();
    cast.frame();
    let now = cast.models(0).last().unwrap().translation();
    assert!(now.distance(hanging) > 0.01, "{now} after a pause");
}

/// A crowd and all it shows: palettes, and a snapshot.
fn state(cast: &Cast) -> (Vec<Affine3x4>, Vec<u8>) {
    let rows = (0..cast.all.len()).flat_map(|n| cast.rows(n));
    (rows.collect(), cast.crowd.snapshot().to_bytes())
}

#[test]
fn a_second_evaluation_steps_nothing() {
    let (body, _) = body(Version::Newest);
    for rate in [60.0, 100.0] {
        let mut all = [(); 2].map(|()| swinging(&body, body.rig.springs(), 3, 1.0).0);
        for frame in 0..40 {
            for (twice, cast) in all.iter_mut().enumerate() {
                for n in 0..3 {
                    cast.crowd
                        .set_world(cast.all[n], walk(n, Vec3::ZERO, frame as f64 / rate))
                        .unwrap();
                    if frame == 0 {
                        play(&mut cast.crowd, (cast.all[n], cast.rig), 0.2 * n as f64);
                    }
                }
                cast.crowd.advance(1.0 / rate).unwrap();
                cast.frame();
                if twice == 1 {
                    let before = state(cast);
                    // Other memory, so all is written again; then what reads poses.
                    cast.bones = BoneBuffer::new();
                    cast.frame();
                    assert!(state(cast) == before, "{rate} Hz, frame {frame}");
                    let models = cast.models(1);
                    assert!(cast.models(1) == models && state(cast) == before);
                }
            }
            assert!(state(&all[0]) == state(&all[1]), "{rate} Hz, frame {frame}");
        }
    }
}

/// Calls that read a pose between an advance and its frame show what the frame will show, and step nothing.
#[test]
fn reading_poses_changes_nothing() {
    let (body, _) = body(Version::Oldest);
    let mut all = [(); 2].map(|()| swinging(&body, body.rig.springs(), 1, 1.0).0);
    let mut moved = 0;
    for frame in 0..30 {
        for (reads, cast) in all.iter_mut().enumerate() {
            cast.crowd.advance(STEP).unwrap();
            cast.crowd.set_world(cast.all[0], walk(0, Vec3::ZERO, frame as f64 * STEP)).unwrap();
            let read = (reads == 1).then(|| [cast.models(0), cast.models(0)]);
            cast.frame();
            if let Some([a, b]) = read {
                assert!(a == b && a == cast.models(0), "frame {frame}");
                moved += usize::from(a[5] != body.rig.skeleton().rest_models()[5].into());
            }
        }
        assert!(state(&all[0]) == state(&all[1]), "frame {frame}");
    }
    assert!(moved > 20);
}

/// Four steps are caught up; of more, and of a jump, an instance is at rest. Small ways are followed.
#[test]
fn long_waits_and_jumps_begin_at_rest() {
    let (body, springs) = chain(3);
    let away = |cast: &Cast| {
        let (have, rest) = (cast.models(0), body.rig.skeleton().rest_models());
        let last = have.len() - 1;
        have[last].translation().distance(rest[last].translation.into())
    };
    let begin = || {
        let mut cast = swinging(&body, &springs, 1, 1.0).0;
        for frame in 0..30 {
            cast.crowd.advance(STEP).unwrap();
            cast.crowd.set_world(cast.all[0], walk(0, Vec3::ZERO, frame as f64 * STEP)).unwrap();
            cast.frame();
        }
        cast
    };
    let at = walk(0, Vec3::ZERO, 29.0 * STEP);
    let to = |by: f32| {
        let mut at = at;
        at.rows[0][3] += by;
        at
    };
    let cases: [(&str, f64, f32, bool); 8] = [
        ("one step", STEP, 0.0, false),
        ("four steps", 4.0 * STEP, 0.0, false),
        ("five steps", 5.0 * STEP, 0.0, true),
        ("an hour", 3600.0, 0.0, true),
        ("a leap", 1e5, 0.0, true),
        ("a way of 1.9 m", STEP, 1.9, false),
        ("a way of 2.1 m", STEP, 2.1, true),
        ("a way of 7.9 m in four steps", 4.0 * STEP, 7.9, false),
    ];
    for (what, dt, way, rests) in cases {
        let mut cast = begin();
        assert!(away(&cast) > 0.05);
        cast.crowd.advance(dt).unwrap();
        cast.crowd.set_world(cast.all[0], to(way)).unwrap();
        cast.frame();
        assert_eq!(away(&cast) < 1e-5, rests, "{what}: {}", away(&cast));
    }
    let mut cast = begin();
    cast.crowd.advance(STEP).unwrap();
    cast.crowd.teleport(cast.all[0], to(0.5)).unwrap();
    cast.frame();
    assert!(away(&cast) < 1e-5);
    let (mut single, mut many) = (begin(), begin());
    single.crowd.teleport(single.all[0], to(0.5)).unwrap();
    let unknown = many.crowd.spawn(many.rig).unwrap();
    many.crowd.despawn(unknown).unwrap();
    let before = many.crowd.snapshot().to_bytes();
    assert!(many.crowd.teleport_many(&[many.all[0], unknown], &[to(0.5)]).is_err());
    assert!(many.crowd.teleport_many(&many.all, &[to(f32::NAN)]).is_err());
    assert!(many.crowd.snapshot().to_bytes() == before);
    many.crowd.teleport_many(&many.all, &[to(0.5)]).unwrap();
    assert!(single.frame() == many.frame() && away(&many) < 1e-5);
    // An instance that was not scheduled, and one whose weight was 0.
    let mut cast = begin();
    cast.crowd.set_scheduled(cast.all[0], false).unwrap();
    for _ in 0..5 {
        cast.crowd.advance(STEP).unwrap();
        cast.frame();
    }
    cast.crowd.set_scheduled(cast.all[0], true).unwrap();
    cast.frame();
    assert!(away(&cast) < 1e-5);
}

/// Springs step in everything that makes frames: at once, in parts, in any memory, and in a mixer.
#[test]
fn all_kinds_of_frames_step_alike() {
    let (body, _) = body(Version::Newest);
    let mut all = [(); 3].map(|()| swinging(&body, body.rig.springs(), 5, 1.0).0);
    let mut mixer = phalanx::playback::Mixer::new(body.rig.clone()).unwrap();
    let by = mixer.add_modifier(body.rig.springs().clone()).unwrap();
    mixer.player().fade_modifier(by, 1.0, 0.0).unwrap();
    let clip = mixer.clip_by_index(0).unwrap();
    mixer.player().play(0, clip, &Default::default()).unwrap();
    for cast in &mut all {
        (0..5).for_each(|n| {
            play(&mut cast.crowd, (cast.all[n], cast.rig), 0.0);
        });
    }
    for frame in 0..40 {
        for cast in &mut all {
            cast.crowd.advance(STEP).unwrap();
        }
        mixer.advance(STEP).unwrap();
        all[0].frame();
        let cast = &mut all[1];
        let (mut schedule, rows) = cast.crowd.schedule_into(&mut cast.bones);
        schedule.parts(3, rows).for_each(|part| part());
        let cast = &mut all[2];
        cast.crowd.evaluate_with(&mut cast.bones, &|_, _, _| {});
        let of_mixer = mixer.evaluate().to_vec();
        let snapshots = all.each_ref().map(|cast| cast.crowd.snapshot().to_bytes());
        assert!(snapshots[0] == snapshots[1] && snapshots[0] == snapshots[2], "frame {frame}");
        assert!(all[0].rows(2) == of_mixer, "frame {frame}: the mixer");
        assert!(all[1].rows(3) == of_mixer && all[2].rows(3) == of_mixer);
    }
}
