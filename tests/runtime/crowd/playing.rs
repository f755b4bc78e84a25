//! Clips that play, fade, stop and loop, over any time.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions};
use phalanx::playback::LoopMode;
use phalanx_testkit::chain::{close, palette, rig};

#[test]
fn plays_fades_and_stops() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let [a, b] = ["a", "b"].map(|n| crowd.clip_named(id, n).unwrap());
    let i = crowd.spawn(id).unwrap();
    let mut buffer = BoneBuffer::new();
    let stats = crowd.evaluate(&mut buffer);
    assert_eq!((stats.instances, stats.rows, stats.bytes), (1, 20, 960));
    close(buffer.rows(), &palette(&[]));

    crowd.play(i, a, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    crowd.evaluate(&mut buffer);
    close(&buffer.rows()[crowd.palette_range(i).unwrap()], &palette(&[(0, 0.25, 1.0)]));

    crowd.fade_to(i, b, 0.4, &PlayOptions::default()).unwrap();
    crowd.advance(0.1).unwrap();
    crowd.evaluate(&mut buffer);
    close(buffer.rows(), &palette(&[(0, 0.35, 0.75), (1, 0.1, 0.25)]));

    // An interrupted fade goes on from the weights it has reached.
    crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    let state = crowd.playing(i).unwrap().action(0, a).unwrap();
    let (time, weight) = (state.time, state.weight);
    assert!((time - 0.6).abs() < 1e-9 && (weight - 0.875).abs() < 1e-6, "{time} {weight}");
    let weight = crowd.playing(i).unwrap().action(0, b).unwrap().weight;
    assert!((weight - 0.125).abs() < 1e-6);
    crowd.advance(0.25).unwrap();
    assert!(matches!(crowd.playing(i).unwrap().action(0, b), Err(CrowdError::NotPlaying { .. })));
    assert_eq!(crowd.playing(i).unwrap().action(0, a).unwrap().weight, 1.0);

    crowd.player(i).unwrap().stop_layer(0, 0.0).unwrap();
    crowd.evaluate(&mut buffer);
    close(buffer.rows(), &palette(&[]));
}

#[test]
fn fades_end_in_steps_backwards() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let [a, b] = ["a", "b"].map(|n| crowd.clip_named(id, n).unwrap());
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, a, &PlayOptions::default()).unwrap();
    for seconds in [0.25, 1e-42] {
        crowd.fade_to(i, b, seconds, &PlayOptions::default()).unwrap();
        for dt in [0.0, -0.125, -0.125] {
            crowd.advance(dt).unwrap();
            let weight = crowd.playing(i).unwrap().action(0, b).unwrap().weight;
            assert!((0.0..=1.0).contains(&weight), "{seconds} {dt} {weight}");
        }
        assert_eq!(crowd.playing(i).unwrap().action(0, b).unwrap().weight, 1.0);
        assert!(crowd.playing(i).unwrap().action(0, a).is_err(), "the other has stopped");
        crowd.play(i, a, &PlayOptions::default()).unwrap();
    }
}

#[test]
fn fading_to_a_clip_of_no_weight_yet_keeps_it() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let a = crowd.clip_named(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut buffer = BoneBuffer::new();
    for silent in [false, true] {
        if silent {
            crowd.play(i, a, &PlayOptions::default()).unwrap();
            crowd.player(i).unwrap().set_weight(0, a, 0.0).unwrap();
        } else {
            crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
        }
        crowd.fade_to(i, a, 0.5, &PlayOptions::default()).unwrap();
        for _ in 0..40 {
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut buffer);
            assert!(buffer.rows().iter().all(|r| r.is_finite()));
        }
        assert_eq!(crowd.playing(i).unwrap().action(0, a).unwrap().weight, 1.0);
        crowd.player(i).unwrap().stop_layer(0, 0.0).unwrap();
    }
}

#[test]
fn loop_modes_speeds_and_phases() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let a = crowd.clip_named(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut run = |loop_mode, speed, time, dt: &[f64]| {
        let options = PlayOptions { loop_mode, speed, time, ..PlayOptions::default() };
        let mut player = crowd.player(i).unwrap();
        player.restart(0, a, &options).unwrap();
        dt.iter().for_each(|&dt| crowd.advance(dt).unwrap());
        crowd.playing(i).unwrap().action(0, a).unwrap().time
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
    crowd.player(i).unwrap().set_character_speed(0.5).unwrap();
    let mut player = crowd.player(i).unwrap();
    player.restart(0, a, &PlayOptions::default()).unwrap();
    crowd.advance(1.0).unwrap();
    near(crowd.playing(i).unwrap().action(0, a).unwrap().time, 0.5);
    crowd.player(i).unwrap().set_phase(0, a, 2.75).unwrap();
    near(crowd.playing(i).unwrap().action(0, a).unwrap().time, 0.75);
}

#[test]
fn ten_days_of_frames_keep_the_phase() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let b = crowd.clip_named(id, "b").unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, b, &PlayOptions::default()).unwrap();
    // A hundredth of ten days at 60 Hz, with the error allowed for all of it scaled down.
    let frames = 10 * 86_400 * 60 / 100;
    for _ in 0..frames {
        crowd.advance(1.0 / 60.0).unwrap();
    }
    let duration = f64::from(0.7f32);
    let want = (frames as f64 / 60.0).rem_euclid(duration);
    let have = crowd.playing(i).unwrap().action(0, b).unwrap().time;
    let error = (have - want).abs().min(duration - (have - want).abs());
    assert!(error < 1e-6, "{have} {want}");
}
