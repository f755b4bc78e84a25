//! Fades against a model in f64: linear in time, whatever the steps and whatever interrupts them.

use super::stage::{marked, rig};
use phalanx::clip::Marker;
use phalanx::playback::{ClipId, CrossFade, Mixer, PlayOptions, PlaybackError, Sync};
use proptest::prelude::*;
use std::sync::Arc;

/// A weight on its way, from one time to another.
#[derive(Clone, Copy, Debug)]
struct Line {
    clip: usize,
    /// Whether the clip stops at the end.
    out: bool,
    from: f64,
    to: f64,
    begin: f64,
    end: f64,
}

impl Line {
    fn at(&self, now: f64) -> f64 {
        if now >= self.end {
            return self.to;
        }
        let way = (now - self.begin) / (self.end - self.begin);
        self.from * (1.0 - way) + self.to * way
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any sequence of fades among three clips, at any frame rate.
    #[test]
    fn weights_follow_lines(
        calls in proptest::collection::vec(
            (0usize..3, 0.05f32..1.0, 0.25f32..=1.0, proptest::collection::vec(0.001f64..0.2, 0..8)),
            1..12,
        )
    ) {
        let mut mixer = Mixer::new(rig()).unwrap();
        let clips = ["a", "b", "c"].map(|n| mixer.clip_named(n).unwrap());
        let mut lines: Vec<Line> = Vec::new();
        let mut now = 0.0;
        for (clip, seconds, weight, steps) in calls {
            let options = PlayOptions { weight, ..PlayOptions::default() };
            mixer.player().fade_to(0, clips[clip], seconds, &options).unwrap();
            let end = now + f64::from(seconds);
            let to = f64::from(weight);
            let target = lines.iter().any(|l| l.clip == clip && !l.out);
            for line in &mut lines {
                let from = line.at(now);
                let turned = Line { from, begin: now, end, ..*line };
                *line = if line.clip == clip && line.out {
                    Line { to, out: false, ..turned }
                } else if line.clip == clip && line.to != to {
                    // What is left of its fade, or a fade of its own.
                    Line { to, end: if now < line.end { line.end } else { end }, ..turned }
                } else if line.clip == clip || line.out && (target || line.end <= end) {
                    *line
                } else {
                    Line { to: 0.0, out: true, ..turned }
                };
            }
            // What had no weight yet is gone at once.
            lines.retain(|l| !l.out || l.from > 0.0);
            if !lines.iter().any(|l| l.clip == clip) {
                lines.push(Line { clip, out: false, from: 0.0, to, begin: now, end });
            }
            for dt in steps {
                mixer.advance(dt).unwrap();
                now += dt;
                lines.retain(|l| !l.out || now < l.end - 1e-9);
                for (i, &id) in clips.iter().enumerate() {
                    let line = lines.iter().find(|l| l.clip == i);
                    let have = mixer.playing().action(0, id);
                    match (line, have) {
                        (Some(line), Ok(have)) => {
                            let want = line.at(now);
                            prop_assert!((f64::from(have.weight) - want).abs() < 1e-6);
                        }
                        (None, Err(PlaybackError::NotPlaying { .. })) => {}
                        // Rounding may leave a source for one step more, with no weight to speak of.
                        (None, Ok(have)) => prop_assert!(have.weight < 1e-6),
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn a_long_fade_is_linear_at_a_high_rate() {
    let (mut mixer, clip) = marked("a", &[]);
    mixer.player().fade_to(0, clip, 100.0, &PlayOptions::default()).unwrap();
    for _ in 0..50_000 {
        mixer.advance(0.001).unwrap();
    }
    let weight = mixer.playing().action(0, clip).unwrap().weight;
    assert!((weight - 0.5).abs() < 1e-6, "{weight}");
}

#[test]
fn a_full_layer_loses_its_faintest() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let clip = mixer.clip_named("a").unwrap();
    let data = mixer.clip(clip).unwrap().clone();
    let clips: Vec<ClipId> = (0..5).map(|_| mixer.add_clip(data.clone()).unwrap()).collect();
    for (clip, weight) in clips.iter().zip([0.5, 0.1, 0.3, 0.4]) {
        let options = PlayOptions { weight, ..PlayOptions::default() };
        mixer.player().add(0, *clip, &options).unwrap();
    }
    // A paused action of little weight keeps its slot until another needs one.
    mixer.player().set_weight(0, clips[1], 0.05).unwrap();
    mixer.player().set_paused(0, clips[1], true).unwrap();
    mixer.advance(0.1).unwrap();
    assert!(mixer.playing().action(0, clips[1]).is_ok());
    mixer.player().fade_to(0, clips[4], 0.5, &PlayOptions::default()).unwrap();
    assert_eq!(mixer.evicted(), 1);
    assert!(mixer.playing().action(0, clips[1]).is_err());
    let full = mixer.player().add(0, clips[1], &PlayOptions::default());
    assert!(matches!(full, Err(PlaybackError::Limit { .. })));
}

/// Two clips of 1 s and 0.7 s with markers, one at a time of its own.
fn pair() -> (Mixer, ClipId, ClipId) {
    let (mut mixer, a) = marked("a", &[]);
    let mut with = |name: &str, left: f32, right: f32| {
        let clip = mixer.clip_named(name).unwrap();
        let clip = mixer.clip(clip).unwrap().as_ref().clone();
        let markers = vec![Marker::new("left", left), Marker::new("right", right)];
        let clip = clip.with_markers(markers).unwrap();
        mixer.add_clip(Arc::new(clip)).unwrap()
    };
    let (one, two) = (with("a", 0.0, 0.5), with("b", 0.1, 0.4));
    let time = PlayOptions { time: 0.25, ..PlayOptions::default() };
    mixer.player().play(0, one, &time).unwrap();
    assert!(mixer.unload_clip(a).is_ok());
    (mixer, one, two)
}

#[test]
fn warped_speeds_keep_phases_together() {
    let (mut mixer, one, two) = pair();
    let fade = CrossFade { seconds: 0.6, warp: true, sync: Sync::Phase, ..CrossFade::default() };
    let options = PlayOptions::default();
    let mut player = mixer.player();
    player.cross_fade(0, one, two, fade, &options).unwrap();
    let (start, ratio) = (0.25, f64::from(0.7f32));
    let mut now = 0.0;
    for dt in [0.05, 0.1, 0.2, 0.01, 0.03, 0.15] {
        mixer.advance(dt).unwrap();
        now += dt;
        let (a, b) =
            (mixer.playing().action(0, one).unwrap(), mixer.playing().action(0, two).unwrap());
        // Passes per second run from 1 to 1 / 0.7 over 0.6 s.
        let way = now / 0.6;
        let phase = start + now * (1.0 + 0.5 * way * (1.0 / ratio - 1.0));
        let near = |have: f64| {
            let e = (have - phase).rem_euclid(1.0);
            assert!(e.min(1.0 - e) < 1e-6, "{have} {phase}");
        };
        near(a.time);
        near(b.time / ratio);
        assert!((f64::from(b.speed) - (ratio + way * (1.0 - ratio))).abs() < 1e-6);
    }
    mixer.advance(0.5).unwrap();
    assert_eq!(mixer.playing().action(0, two).unwrap().speed, 1.0);
}

#[test]
fn crossfades_start_in_step_and_leave_the_others_alone() {
    let (mut mixer, one, two) = pair();
    let c = mixer.clip_named("c").unwrap();
    let options = PlayOptions::default();
    let faint = PlayOptions { weight: 0.2, ..options };
    mixer.player().add(0, c, &faint).unwrap();
    let fade = CrossFade {
        seconds: 0.5,
        warp: false,
        sync: Sync::Markers(&["left", "right"]),
        ..CrossFade::default()
    };
    let mut player = mixer.player();
    player.cross_fade(0, one, two, fade, &options).unwrap();
    // Half-way from left to right in both.
    assert!((player.playing().action(0, two).unwrap().time - 0.25).abs() < 1e-7);
    mixer.advance(1.0).unwrap();
    assert!(mixer.playing().action(0, one).is_err());
    assert_eq!(mixer.playing().action(0, c).unwrap().weight, 0.2);
    let no_markers = mixer.player().cross_fade(0, two, c, fade, &options);
    let refused = no_markers.unwrap_err();
    assert!(matches!(refused, PlaybackError::NoSyncMarkers { .. }));
    let said = refused.to_string();
    assert!(said.ends_with("\"c\" lacks \"left\", \"right\""), "{said}");
    let not_playing = mixer.player().cross_fade(0, one, c, 0.5, &options);
    assert!(matches!(not_playing, Err(PlaybackError::NotPlaying { .. })));
}

/// Time may run backwards, fades never do: a step of −0.25 s is 0.25 s of a fade.
#[test]
fn fades_go_on_while_time_runs_backwards() {
    let (mut mixer, clip) = marked("a", &[]);
    let other = mixer.clip_named("c").unwrap();
    let options = PlayOptions::default();
    mixer.player().play(0, clip, &options).unwrap();
    mixer.player().fade_to(0, other, 1.0, &options).unwrap();
    mixer.player().fade_layer(0, 0.0, 1.0).unwrap();
    mixer.player().set_character_speed(-2.0).unwrap();
    for (step, left) in [(-0.25, 0.75), (0.125, 0.625), (-0.125, 0.5), (0.0, 0.5)] {
        mixer.advance(step).unwrap();
        let player = mixer.player();
        assert_eq!(player.playing().layer_weight(0).unwrap(), left);
        assert_eq!(player.playing().layer_fade(0), Ok((0.0, f64::from(left))));
        assert_eq!(player.playing().action(0, clip).unwrap().weight, left);
        assert_eq!(player.playing().action(0, other).unwrap().weight, 1.0 - left);
    }
    mixer.advance(-0.75).unwrap();
    let player = mixer.player();
    assert_eq!(player.playing().layer_weight(0).unwrap(), 0.0);
    assert!(player.playing().action(0, clip).is_err());
    let state = player.playing().action(0, other).unwrap();
    assert_eq!((state.weight, state.target), (1.0, 1.0));
    // In all −1 s at speed −2, from 0: a whole pass of its 2 s. What faded out went as far.
    assert_eq!(state.time, 0.0);
    // It has ended, and a layer's next fade starts from where this one has led.
    mixer.advance(-5.0).unwrap();
    assert_eq!(mixer.playing().layer_weight(0).unwrap(), 0.0);
    mixer.player().fade_layer(0, 0.5, 0.5).unwrap();
    mixer.advance(-0.25).unwrap();
    assert_eq!(mixer.playing().layer_weight(0).unwrap(), 0.25);
    mixer.player().set_layer_weight(0, 0.125).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(mixer.playing().layer_weight(0).unwrap(), 0.125);
    assert_eq!(mixer.playing().layer_fade(0), Ok((0.125, 0.0)));
}

/// A clip of the rig with markers of these names and times.
fn with_markers(mixer: &mut Mixer, clip: &str, markers: &[(&str, f32)]) -> ClipId {
    let clip = mixer.clip_named(clip).unwrap();
    let clip = mixer.clip(clip).unwrap().as_ref().clone();
    let markers = markers.iter().map(|&(name, time)| Marker::new(name, time));
    let clip = clip.with_markers(markers.collect()).unwrap();
    mixer.add_clip(Arc::new(clip)).unwrap()
}

/// Of the places where the one marker is followed by the other, the first; where it never is, the one marker.
#[test]
fn strides_that_repeat_or_come_in_another_order() {
    // From half-way between the first two of its markers, in a clip of 1 s, to one of 2 s.
    let starts = |from: &[(&str, f32)], to: &[(&str, f32)]| {
        let mut mixer = Mixer::new(rig()).unwrap();
        let one = with_markers(&mut mixer, "a", from);
        let two = with_markers(&mut mixer, "c", to);
        let mut options = PlayOptions { time: 0.25, ..PlayOptions::default() };
        mixer.player().play(0, one, &options).unwrap();
        options.time = 0.0;
        let fade = CrossFade {
            seconds: 0.5,
            warp: false,
            sync: Sync::Markers(&[]),
            ..CrossFade::default()
        };
        let mut player = mixer.player();
        player.cross_fade(0, one, two, fade, &options).unwrap();
        player.playing().action(0, two).unwrap().time
    };
    let walk = [("left", 0.0), ("right", 0.5)];
    let twice = [("left", 0.2), ("left", 0.4), ("right", 0.8)];
    assert!((starts(&walk, &twice) - 0.6).abs() < 1e-6);
    let walk = [("left", 0.0), ("right", 0.5), ("lift", 0.75)];
    let other = [("left", 0.2), ("lift", 0.6), ("right", 1.0)];
    assert!((starts(&walk, &other) - 0.4).abs() < 1e-6);
}

/// A blend space that plays goes on at its own parameter, whatever the options say.
#[test]
fn a_crossfade_takes_a_space_that_plays_as_it_is() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let a = mixer.clip_named("a").unwrap();
    let b = with_markers(&mut mixer, "b", &[("left", 0.0)]);
    let c = with_markers(&mut mixer, "c", &[("left", 0.5)]);
    let space = mixer.add_blend_space(&[(0.0, a), (1.0, c)]).unwrap();
    let options = PlayOptions::default();
    let at_c = PlayOptions { parameter: 1.0.into(), ..options };
    let mut player = mixer.player();
    player.play(0, b, &options).unwrap();
    player.add(0, space, &at_c).unwrap();
    let fade = CrossFade {
        seconds: 1.0,
        warp: true,
        sync: Sync::Markers(&["left"]),
        ..CrossFade::default()
    };
    player.cross_fade(0, b, space, fade, &options).unwrap();
    let action = player.playing().action(0, space).unwrap();
    // The marker of "c" lies at a quarter of its 2 s, and "b" takes 0.7 s for what that takes 2 s for.
    assert!((action.time - 0.25).abs() < 1e-6, "{action:?}");
    let ratio = 2.0 / f64::from(0.7f32);
    assert!((f64::from(action.speed) - ratio).abs() < 1e-6, "{action:?}");
    mixer.advance(0.5).unwrap();
    let speed = f64::from(mixer.playing().action(0, b).unwrap().speed);
    assert!((speed - 0.5 * (1.0 + 1.0 / ratio)).abs() < 1e-6, "{speed}");
}
