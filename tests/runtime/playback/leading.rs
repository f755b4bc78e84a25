//! Of the footsteps of clips that play in step, one leads: each is heard once, in any blend and crossfade.

use super::stage::{marked, rig};
use phalanx::clip::Marker;
use phalanx::crowd::Crowd;
use phalanx::playback::{
    AtEnd, ClipId, CrossFade, Event, EventKind, EventKinds, LoopMode, Mixer, PlayOptions, Sync,
};
use std::sync::Arc;

/// Phases of the two steps of a pass.
const STEPS: [f32; 2] = [0.125, 0.625];

/// A mixer, a walk of 2 s and a run of 1 s with both steps, and an idle clip without markers.
fn gaits() -> (Mixer, ClipId, ClipId, ClipId) {
    let (mut mixer, run) = marked("a", &STEPS);
    let idle = mixer.clip_named("b").unwrap();
    let walk = mixer.clip_named("c").unwrap();
    let walk = mixer.clip(walk).unwrap().as_ref().clone();
    let steps = [0, 1].map(|i| Marker::new(format!("{i}"), 2.0 * STEPS[i]));
    let walk = walk.with_markers(steps.to_vec()).unwrap();
    let walk = mixer.add_clip(Arc::new(walk)).unwrap();
    (mixer, walk, run, idle)
}

/// The markers of the last step that lead.
fn heard(mixer: &Mixer) -> Vec<(ClipId, usize)> {
    let steps = |e: &&Event| e.kind == EventKind::Marker && e.leading;
    let events = mixer.events().iter().filter(steps);
    events.map(|e| (e.clip, usize::from(e.marker))).collect()
}

fn run_for(mixer: &mut Mixer, seconds: f64, dt: f64) -> Vec<(ClipId, usize)> {
    let mut all = Vec::new();
    for _ in 0..(seconds / dt).round() as usize {
        mixer.advance(dt).unwrap();
        all.extend(heard(mixer));
    }
    all
}

/// The steps take turns: none is silent, none is heard twice.
fn assert_each_once(steps: &[(ClipId, usize)], what: &str) {
    assert!(steps.len() > 3, "{what}: {}", steps.len());
    let turns = steps.windows(2).all(|w| w[0].1 != w[1].1);
    assert!(turns, "{what}: {:?}", steps.iter().map(|s| s.1).collect::<Vec<_>>());
}

#[test]
fn crossfades_in_step_sound_each_step_once() {
    let mut crossed = 0;
    for dt in [1.0 / 64.0, 1.0 / 30.0, 0.3, 2.0, 8.0] {
        for seconds in [0.0, 0.02, 0.1, 0.25, 0.5, 1.0, 1.3, 2.0] {
            for start in 0..16 {
                for (sync, speed) in
                    [(Sync::Phase, 1.0), (Sync::Phase, -1.0), (Sync::Markers(&[]), 1.0)]
                {
                    let (mut mixer, walk, run, _) = gaits();
                    let options = PlayOptions {
                        time: f64::from(start) / 8.0,
                        speed,
                        ..PlayOptions::default()
                    };
                    mixer.player().play(0, walk, &options).unwrap();
                    let mut steps = Vec::new();
                    if start % 2 == 0 {
                        mixer.advance(0.75).unwrap();
                        steps.extend(heard(&mixer));
                    }
                    let fade = CrossFade { seconds, warp: true, sync, ..CrossFade::default() };
                    mixer.player().cross_fade(0, walk, run, fade, &options).unwrap();
                    steps.extend(run_for(&mut mixer, 8.0, dt));
                    assert_each_once(&steps, &format!("{dt} {seconds} {start} {sync:?} {speed}"));
                    crossed += usize::from(steps.iter().any(|s| s.0 == walk));
                }
            }
        }
    }
    assert!(crossed > 500, "{crossed}");
}

#[test]
fn of_equal_weights_the_later_action_leads() {
    let (mut mixer, walk, run, idle) = gaits();
    let half = |speed| PlayOptions { weight: 0.5, speed, ..PlayOptions::default() };
    mixer.player().add(0, walk, &half(1.0)).unwrap();
    mixer.player().add(0, run, &half(0.5)).unwrap();
    mixer.player().add(0, idle, &PlayOptions::default()).unwrap();
    let steps = run_for(&mut mixer, 20.0, 1.0 / 60.0);
    assert_each_once(&steps, "half each");
    assert!(steps.iter().all(|s| s.0 == run));
    // Started again, the walk is the younger one.
    let phase = mixer.playing().action(0, walk).unwrap().time / 2.0;
    let again = PlayOptions { time: 2.0 * phase, ..half(1.0) };
    mixer.player().stop(0, walk, 0.0).unwrap();
    mixer.player().add(0, walk, &again).unwrap();
    let steps = run_for(&mut mixer, 20.0, 1.0 / 60.0);
    assert!(steps.len() > 15 && steps.iter().all(|s| s.0 == walk));
}

#[test]
fn a_blend_space_sounds_each_step_once() {
    for dt in [1.0 / 60.0, 1.0 / 7.0] {
        let (mut mixer, walk, run, idle) = gaits();
        let space = [(0.0, idle), (1.0, walk), (3.0, run)];
        let space = mixer.add_blend_space(&space).unwrap();
        mixer.player().play(0, space, &PlayOptions::default()).unwrap();
        let (mut steps, mut clips) = (Vec::new(), [0; 2]);
        for frame in 0..6000 {
            let parameter = 2.0 + 1.5 * (f64::from(frame) * dt * 0.7).sin();
            mixer.player().set_parameter(0, space, parameter as f32).unwrap();
            mixer.advance(dt).unwrap();
            for (clip, step) in heard(&mixer) {
                steps.push((clip, step));
                clips[usize::from(clip == run)] += 1;
            }
        }
        assert_each_once(&steps, "swept");
        assert!(clips.iter().all(|&n| n > 20), "{clips:?}");
        // In the middle, the first of both.
        mixer.player().set_parameter(0, space, 2.0).unwrap();
        let steps = run_for(&mut mixer, 10.0, dt);
        assert_each_once(&steps, "in the middle");
        assert!(steps.iter().all(|s| s.0 == walk));
        // The idle clip has no markers: the walk leads it at any weight.
        mixer.player().set_parameter(0, space, 0.125).unwrap();
        assert_each_once(&run_for(&mut mixer, 20.0, dt), "from idle");
    }
}

/// Of clips in step each marker fires twice at once, in whatever direction they run, and is heard once.
#[test]
fn turning_and_backwards_a_blend_space_sounds_each_step_once() {
    for (loop_mode, speed) in [
        (LoopMode::PingPong, 1.0),
        (LoopMode::PingPong, -0.75),
        (LoopMode::Repeat, -1.0),
        (LoopMode::Repeat, 1.5),
    ] {
        for dt in [1.0 / 60.0, 0.11, 0.7, 3.0] {
            let (mut mixer, walk, run, _) = gaits();
            let space = mixer.add_blend_space(&[(1.0, walk), (3.0, run)]).unwrap();
            let options = PlayOptions { loop_mode, speed, ..PlayOptions::default() };
            mixer.player().play(0, space, &options).unwrap();
            let mut all = [0; 2];
            for frame in 0..800 {
                let parameter = 2.0 + 0.9 * (f64::from(frame) * dt * 0.7).sin();
                mixer.player().set_parameter(0, space, parameter as f32).unwrap();
                mixer.advance(dt).unwrap();
                for step in [0, 1] {
                    let fired = |e: &&Event| e.kind == EventKind::Marker && e.marker == step;
                    let fired: Vec<&Event> = mixer.events().iter().filter(fired).collect();
                    let heard = fired.iter().filter(|e| e.leading).count();
                    assert_eq!(fired.len(), 2 * heard, "{loop_mode:?} {speed} {dt}");
                    all[usize::from(step)] += heard;
                }
            }
            assert!(all.iter().all(|&n| n > 5), "{all:?}");
        }
    }
}

/// Out of step, the steps of the clip that leads alone are heard: by weights computed here, for steps of any length.
#[test]
fn the_length_of_steps_does_not_change_the_leading_clip() {
    let mut state = 7u32;
    let mut random = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    let mut changes = 0;
    for round in 0..300 {
        let (starts, fade) = ([2.0 * random(), random()], 0.2 + 3.0 * random());
        let speeds = [0.5 + random(), if round % 3 == 0 { -1.5 } else { 0.5 + random() }];
        let mode = [LoopMode::Repeat, LoopMode::PingPong][round % 2];
        let play = |dt: f64| {
            let (mut mixer, walk, run, _) = gaits();
            let options = |i: usize| PlayOptions {
                time: starts[i],
                speed: speeds[i] as f32,
                loop_mode: mode,
                ..PlayOptions::default()
            };
            mixer.player().play(0, walk, &options(0)).unwrap();
            mixer.player().fade_to(0, run, fade as f32, &options(1)).unwrap();
            let mut all = run_for(&mut mixer, 4.0, dt);
            all.sort();
            (all, walk, run)
        };
        let (short, walk, run) = play(1.0 / 128.0);
        for dt in [0.25, 1.0, 4.0] {
            assert_eq!(play(dt).0, short, "{round} {dt}");
        }
        // The walk leads for half of the fade, the run from there on.
        let count = |i: usize, length: f64, from: f64, to: f64| {
            let speed = f64::from(speeds[i] as f32);
            let (a, b) = (starts[i] + speed * from, starts[i] + speed * to);
            let (a, b) = (a.min(b), a.max(b));
            let mut all = 0;
            for pass in -20..20 {
                for phase in STEPS {
                    let mirrored = mode == LoopMode::PingPong && pass % 2 != 0;
                    let phase = if mirrored { 1.0 - f64::from(phase) } else { phase.into() };
                    let at = (f64::from(pass) + phase) * length;
                    all += usize::from(a < at && at <= b);
                }
            }
            all
        };
        let half = (0.5 * f64::from(fade as f32)).min(4.0);
        let want = [count(0, 2.0, 0.0, half), count(1, 1.0, half, 4.0)];
        let have = [walk, run].map(|clip| short.iter().filter(|s| s.0 == clip).count());
        assert_eq!(have, want, "{round}");
        changes += usize::from(want[0] > 0);
    }
    assert!(changes > 100, "{changes}");
}

#[test]
fn what_has_stopped_or_no_weight_leads_nothing() {
    let (mut mixer, walk, run, idle) = gaits();
    // The walk ends after 2 s: until then it leads, whatever the step.
    let once =
        PlayOptions { loop_mode: LoopMode::Once, at_end: AtEnd::Stop, ..PlayOptions::default() };
    let light = PlayOptions { weight: 0.25, speed: 0.5, ..PlayOptions::default() };
    mixer.player().add(0, run, &light).unwrap();
    mixer.player().add(0, walk, &once).unwrap();
    mixer.advance(4.0).unwrap();
    assert_eq!(heard(&mixer), [(run, 0), (run, 1), (walk, 0), (walk, 1)]);
    // An idle clip without markers, and a run of weight 0.
    mixer.player().set_weight(0, run, 0.0).unwrap();
    mixer.player().add(0, idle, &PlayOptions::default()).unwrap();
    mixer.advance(4.0).unwrap();
    assert!(mixer.events().iter().any(|e| e.kind == EventKind::Marker));
    assert_eq!(heard(&mixer), []);
    // From nothing, it is heard from the beginning of its fade.
    let (mut mixer, _, run, _) = gaits();
    let start = PlayOptions { time: f64::from(STEPS[0]), fade_in: 1.0, ..PlayOptions::default() };
    mixer.player().play(0, run, &start).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(heard(&mixer), [(run, 0)]);
}

/// An attack that has finished and is held, or a run that is paused, is seen more than the walk, which goes on.
#[test]
fn what_stands_still_leads_nothing() {
    for dt in [1.0 / 64.0, 0.5, 8.0] {
        for paused in [false, true] {
            let (mut mixer, walk, run, _) = gaits();
            let held = PlayOptions {
                weight: 0.6,
                loop_mode: LoopMode::Once,
                at_end: AtEnd::Hold,
                ..PlayOptions::default()
            };
            let walking = PlayOptions { weight: 0.4, ..PlayOptions::default() };
            mixer.player().add(0, walk, &walking).unwrap();
            mixer.player().add(0, run, &held).unwrap();
            if paused {
                mixer.player().set_paused(0, run, true).unwrap();
            }
            let steps = run_for(&mut mixer, 8.0, dt);
            let walked = steps.iter().filter(|s| s.0 == walk).count();
            // Two steps of each pass of 2 s, but for the second that the run takes.
            let expected = if paused { 8 } else { 7 };
            assert_eq!(walked, expected, "{dt} {paused}: {steps:?}");
        }
    }
}

#[test]
fn crowds_and_mixers_lead_alike_under_any_event_filter() {
    let (mut mixer, walk, run, _) = gaits();
    let clips = [walk, run].map(|clip| mixer.clip(clip).unwrap().clone());
    let mut crowds =
        [EventKinds::ALL, EventKinds { markers: true, ..EventKinds::NONE }].map(|kinds| {
            let mut crowd = Crowd::new();
            let rig = crowd.add_rig(rig()).unwrap();
            crowd.set_event_filter(rig, kinds).unwrap();
            let own = [0, 1].map(|i| crowd.add_clip(rig, clips[i].clone()).unwrap());
            let instance = crowd.spawn(rig).unwrap();
            (crowd, instance, own)
        });
    let options = PlayOptions::default();
    mixer.player().play(0, walk, &options).unwrap();
    for (crowd, instance, own) in &mut crowds {
        crowd.play(*instance, own[0], &options).unwrap();
    }
    let (mut all, mut turn) = (0, 0);
    for frame in 0..600 {
        if frame % 50 == 20 {
            turn = 1 - turn;
            mixer.player().fade_to(0, [walk, run][turn], 0.4, &options).unwrap();
            for (crowd, instance, own) in &mut crowds {
                crowd.fade_to(*instance, own[turn], 0.4, &options).unwrap();
            }
        }
        mixer.advance(1.0 / 30.0).unwrap();
        let want = heard(&mixer);
        all += want.len();
        for (crowd, _, own) in &mut crowds {
            crowd.advance(1.0 / 30.0).unwrap();
            let steps = |e: &&Event| e.kind == EventKind::Marker && e.leading;
            let have = crowd.events().iter().filter(steps);
            let have: Vec<_> = have
                .map(|e| ([walk, run][usize::from(e.clip == own[1])], e.marker.into()))
                .collect();
            assert_eq!(have, want, "{frame}");
        }
    }
    assert!(all > 20, "{all}");
}
