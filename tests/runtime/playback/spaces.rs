//! Blend spaces: two neighbours by linear weights, all in one phase.

use super::stage::{fired, marked, rig};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::playback::{EventKind, LoopMode, Mixer, PlayOptions, PlaybackError, Unknown};

fn options(parameter: f32) -> PlayOptions {
    PlayOptions { parameter: parameter.into(), ..PlayOptions::default() }
}

/// Against two actions at the weights and times that the rule gives, in f64.
#[test]
fn neighbours_share_a_phase_that_moves_at_the_blend_of_their_rates() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let mut plain = Mixer::new(rig()).unwrap();
    let clips = ["a", "b", "c"].map(|n| mixer.clip_named(n).unwrap());
    let durations = [1.0, f64::from(0.7f32), 2.0];
    let points = [(1.0f32, clips[0]), (3.0, clips[1]), (4.0, clips[2])];
    let space = mixer.add_blend_space(&points).unwrap();
    mixer.player().play(0, space, &options(0.0)).unwrap();
    let mut phase = 0.0f64;
    for frame in 0..300 {
        let value = 2.5 + 2.5 * (frame as f32 * 0.05).sin();
        mixer.player().set_parameter(0, space, value).unwrap();
        let x = f64::from(value);
        let shares = if x <= 1.0 {
            [1.0, 0.0, 0.0]
        } else if x <= 3.0 {
            let t = (x - 1.0) / 2.0;
            [1.0 - t, t, 0.0]
        } else {
            let t = (x - 3.0).min(1.0);
            [0.0, 1.0 - t, t]
        };
        let rate: f64 = shares.iter().zip(durations).map(|(s, d)| s / d).sum();
        mixer.advance(1.0 / 60.0).unwrap();
        phase = (phase + rate / 60.0).fract();
        let have = mixer.playing().action(0, space).unwrap();
        let e = (have.time - phase).rem_euclid(1.0);
        assert!(e.min(1.0 - e) < 1e-6, "{have:?} {phase}");
        plain.player().stop_all(0.0).unwrap();
        for ((&clip, share), d) in clips.iter().zip(shares).zip(durations) {
            if share > 0.0 {
                let held = PlayOptions {
                    speed: 0.0,
                    time: have.time * d,
                    weight: share as f32,
                    ..PlayOptions::default()
                };
                plain.player().add(0, clip, &held).unwrap();
            }
        }
        let pairs = mixer.evaluate().iter().zip(plain.evaluate());
        for (x, y) in pairs.flat_map(|(a, b)| {
            let (a, b) = (a.rows, b.rows);
            (0..12).map(move |i| (a[i / 4][i % 4], b[i / 4][i % 4]))
        }) {
            assert!((x - y).abs() < 1e-5, "frame {frame}: {x} {y}");
        }
        let (models, others) = (mixer.model_matrices(), plain.model_matrices());
        assert!((models[11].translation() - others[11].translation()).length() < 1e-5);
    }
}

#[test]
fn a_space_fades_loops_and_fires_as_a_clip_does() {
    let (mut mixer, marked) = marked("a", &[0.5]);
    let [b, c] = ["b", "c"].map(|n| mixer.clip_named(n).unwrap());
    let space = mixer.add_blend_space(&[(0.0, marked), (1.0, b)]).unwrap();
    mixer.player().play(0, c, &options(0.0)).unwrap();
    mixer.player().fade_to(0, space, 0.5, &options(0.25)).unwrap();
    mixer.advance(0.25).unwrap();
    assert!((mixer.playing().action(0, space).unwrap().weight - 0.5).abs() < 1e-6);
    let (mut all, mut stopped) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        mixer.advance(0.1).unwrap();
        let each = mixer.events().iter().map(|e| (e.kind, e.clip, e.weight));
        let (stops, others): (Vec<_>, Vec<_>) = each.partition(|e| e.0 == EventKind::Stopped);
        all.extend(others);
        stopped.extend(stops.iter().map(|e| e.1));
    }
    assert_eq!(stopped, [c]);
    let (kinds, weights): (Vec<_>, Vec<_>) = all.iter().map(|e| ((e.0, e.1), e.2)).unzip();
    assert_eq!(kinds, [(EventKind::Marker, marked), (EventKind::Looped, marked)]);
    assert!((weights[0] - 0.75 * 0.9).abs() < 0.11, "{weights:?}");
    assert!(mixer.unload_clip(b).is_err(), "a blend space holds it");
    assert!(matches!(
        mixer.remove_blend_space(space),
        Err(PlaybackError::InUse { users, .. }) if users == "1 action"
    ));
    mixer.player().stop_all(0.0).unwrap();
    mixer.remove_blend_space(space).unwrap();
    let stale = mixer.player().play(0, space, &options(0.0));
    let why = Unknown::Gone;
    let rig = mixer.rig().name().into();
    assert_eq!(stale, Err(PlaybackError::UnknownSpace { space, why, rig }));
    assert!(mixer.unload_clip(b).is_ok());
}

#[test]
fn crowds_play_spaces_with_the_same_bits_and_snapshots_keep_them() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let instances = [0; 5].map(|_| crowd.spawn(id).unwrap());
    let mut buffer = BoneBuffer::new();
    let mut points =
        [(0.0, "a"), (1.0, "b"), (2.0, "c")].map(|(p, n)| (p, mixer.clip_named(n).unwrap()));
    let mixed = mixer.add_blend_space(&points).unwrap();
    for (point, name) in points.iter_mut().zip(["a", "b", "c"]) {
        point.1 = crowd.clip_named(id, name).unwrap();
    }
    let space = crowd.add_blend_space(id, &points).unwrap();
    assert_eq!(crowd.blend_space(space).unwrap().count(), 3);
    let slow = PlayOptions { loop_mode: LoopMode::PingPong, speed: 0.5, ..options(0.5) };
    mixer.player().play(0, mixed, &slow).unwrap();
    for &i in &instances {
        crowd.play(i, space, &slow).unwrap();
    }
    let mut saved = None;
    let mut hashes = Vec::new();
    for frame in 0..60 {
        let value = frame as f32 * 0.04;
        mixer.player().set_parameter(0, mixed, value).unwrap();
        for &i in &instances {
            crowd.player(i).unwrap().set_parameter(0, space, value).unwrap();
        }
        mixer.advance(0.02).unwrap();
        crowd.advance(0.02).unwrap();
        crowd.evaluate(&mut buffer);
        let rows = &buffer.rows()[crowd.palette_range(instances[3]).unwrap()];
        assert!(mixer.evaluate() == rows, "frame {frame}");
        hashes.push(buffer.hash());
        if frame == 20 {
            saved = Some(crowd.snapshot());
        }
    }
    crowd.restore(&saved.unwrap()).unwrap();
    for (frame, hash) in hashes.into_iter().enumerate().skip(21) {
        for &i in &instances {
            let value = frame as f32 * 0.04;
            crowd.player(i).unwrap().set_parameter(0, space, value).unwrap();
        }
        crowd.advance(0.02).unwrap();
        crowd.evaluate(&mut buffer);
        assert_eq!(buffer.hash(), hash);
    }
}

/// A parameter that brings in another clip brings in its markers too.
#[test]
fn markers_of_a_clip_that_comes_in_are_heard() {
    let (mut mixer, marked) = marked("b", &[0.35]);
    let a = mixer.clip_named("a").unwrap();
    let space = mixer.add_blend_space(&[(0.0, a), (1.0, marked)]).unwrap();
    mixer.player().play(0, space, &options(0.0)).unwrap();
    for _ in 0..3 {
        mixer.advance(0.05).unwrap();
        assert!(mixer.events().is_empty());
    }
    mixer.player().set_parameter(0, space, 1.0).unwrap();
    // From a phase of 0.15 by 0.4 / 0.7 of a pass, over the marker at a half.
    mixer.advance(0.4).unwrap();
    assert_eq!(fired(mixer.events()), [(EventKind::Marker, 0)]);
}
