//! Parameters that follow an asked value, fades before the end, and the event of an action that leaves its layer.

use super::stage::{marked, rig};
use phalanx::crowd::Crowd;
use phalanx::playback::{
    AtEnd, BlendSpace, BlendSpaceId, Event, EventKind, LoopMode, Mixer, MixerSnapshot, PlayOptions,
};
use phalanx_testkit::lively::seal_snapshot;
use phalanx_testkit::oracle::blend_space::follow;

/// Clips of 1 s, 0.7 s and 2 s at 0, 1 and 3, with a parameter that follows within 0.8 s.
fn following() -> (Mixer, BlendSpaceId) {
    let mut mixer = Mixer::new(rig()).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| mixer.clip_named(name).unwrap());
    let line = BlendSpace::line(&[(0.0, a), (1.0, b), (3.0, c)]).following(0.8);
    let space = mixer.add_blend_space(line).unwrap();
    mixer.player().play(0, space, &PlayOptions::default()).unwrap();
    (mixer, space)
}

fn state(mixer: &Mixer, space: BlendSpaceId) -> (f64, f64) {
    let state = mixer.playing().action(0, space).unwrap();
    (state.parameter.unwrap().x.into(), state.loops + state.time)
}

/// Asked values, and when they are asked for.
const ASKED: [(f64, f64); 5] = [(0.25, 2.0), (0.5, 2.5), (1.0, 0.5), (1.125, 0.5), (2.5, 1.0)];

/// Steps to the next moment in `all`, in parts of at most `most` seconds.
fn run(mixer: &mut Mixer, space: BlendSpaceId, most: f64, until: f64) {
    let mut now = 0.0f64;
    let moments = ASKED.iter().map(|asked| (asked.0, Some(asked.1))).chain([(until, None)]);
    for (moment, ask) in moments {
        let end = moment.min(until);
        while now < end {
            let dt = most.min(end - now);
            mixer.advance(dt).unwrap();
            now += dt;
        }
        if let Some(ask) = ask.filter(|_| moment <= until) {
            mixer.player().set_parameter(0, space, ask as f32).unwrap();
        }
    }
}

#[test]
fn a_parameter_follows_by_a_cubic_whatever_the_steps() {
    // The rate along the way, summed in small steps.
    let rates = [1.0, 1.0 / f64::from(0.7f32), 0.5];
    let rate = |p: f64| match p {
        p if p < 1.0 => rates[0] + (rates[1] - rates[0]) * p.max(0.0),
        p => rates[1] + (rates[2] - rates[1]) * ((p - 1.0) / 2.0).min(1.0),
    };
    let (mut now, mut start, mut from, mut to) = (0.0f64, 0.0, (0.0, 0.0), 0.0);
    let (mut phase, mut asked) = (0.0, ASKED.iter().peekable());
    let ends = [0.125, 0.3125, 0.75, 1.0625, 1.5, 2.25, 2.75, 4.0];
    let (mut next, dt, mut moved) = (0, 1.0 / 8192.0, false);
    while next < ends.len() {
        if let Some(&(_, value)) = asked.next_if(|a| a.0 <= now) {
            // The same value again changes nothing.
            if value != to {
                let here = follow(from, to, (now - start, 0.8));
                from = if moved { here } else { (0.0, 0.0) };
                (start, to, moved) = (now, value, true);
            }
        }
        let value = if moved { follow(from, to, (now - start, 0.8)).0 } else { 0.0 };
        if now >= ends[next] {
            for most in [1.0 / 64.0, 1.0 / 60.0, 0.3, 10.0] {
                let (mut mixer, space) = following();
                mixer.advance(0.0).unwrap();
                run(&mut mixer, space, most, ends[next]);
                let (have, time) = state(&mixer, space);
                let inside = value.clamp(0.0, 3.0);
                assert!((have - inside).abs() < 2e-6 || value > 3.0, "{now}: {have} {value}");
                assert!((time - phase).abs() < 3e-3, "{now} {most}: {time} {phase}");
            }
            next += 1;
        }
        let middle = follow(from, to, (now + 0.5 * dt - start, 0.8)).0;
        phase += dt * rate(if moved { middle } else { 0.0 });
        now += dt;
    }
    let reference = {
        let (mut mixer, space) = following();
        run(&mut mixer, space, 1.0 / 64.0, 4.0);
        state(&mixer, space)
    };
    for most in [1.0 / 512.0, 1.0 / 60.0, 0.1, 10.0] {
        let (mut mixer, space) = following();
        run(&mut mixer, space, most, 4.0);
        let (value, time) = state(&mixer, space);
        assert_eq!(value, reference.0);
        assert!((time - reference.1).abs() < 1e-9, "{most}: {time} {reference:?}");
    }
}

/// An action that has not been advanced takes a value at once, and so does one that starts.
#[test]
fn what_has_not_begun_follows_nothing() {
    let (mut mixer, space) = following();
    mixer.player().set_parameter(0, space, 2.0).unwrap();
    assert_eq!(state(&mixer, space).0, 2.0);
    mixer.advance(0.1).unwrap();
    mixer.player().set_parameter(0, space, 1.0).unwrap();
    assert_eq!(state(&mixer, space).0, 2.0);
    let options = PlayOptions { parameter: 0.5.into(), ..PlayOptions::default() };
    mixer.player().restart(0, space, &options).unwrap();
    assert_eq!(state(&mixer, space).0, 0.5);
    mixer.advance(1.0).unwrap();
    assert_eq!(state(&mixer, space).0, 0.5);
}

/// An action that was shown for a step and does not move follows as any other; if the character stands still, its way
/// waits.
#[test]
fn what_stands_follows() {
    let stand = [
        |mixer: &mut Mixer, space| mixer.player().set_speed(0, space, 0.0),
        |mixer: &mut Mixer, space| mixer.player().set_paused(0, space, true),
        |mixer: &mut Mixer, _| mixer.player().set_character_speed(0.0),
    ];
    for (way, stand) in stand.into_iter().enumerate() {
        let (mut mixer, space) = following();
        stand(&mut mixer, space).unwrap();
        mixer.advance(0.1).unwrap();
        mixer.player().set_parameter(0, space, 3.0).unwrap();
        assert_eq!(state(&mixer, space).0, 0.0, "{way}");
        mixer.advance(0.25).unwrap();
        let expected = if way == 2 { 0.0 } else { follow((0.0, 0.0), 3.0, (0.25, 0.8)).0 };
        let (value, time) = state(&mixer, space);
        assert!((value - expected).abs() < 1e-6 && time == 0.0, "{way}: {value} {expected}");
        let bytes = mixer.snapshot().to_bytes();
        assert!(MixerSnapshot::from_bytes(&bytes).unwrap().to_bytes() == bytes);
    }
    // The flag of an action that has stood is in snapshots.
    let (mut mixer, space) = following();
    mixer.player().set_paused(0, space, true).unwrap();
    mixer.advance(0.1).unwrap();
    let (mut twin, _) = following();
    twin.restore(&MixerSnapshot::from_bytes(&mixer.snapshot().to_bytes()).unwrap()).unwrap();
    twin.player().set_parameter(0, space, 3.0).unwrap();
    assert_eq!(state(&twin, space).0, 0.0);
}

/// While a parameter is on its way and while an action fades out before its end.
#[test]
fn snapshots_go_on_with_the_same_bits() {
    let (mut mixer, space) = following();
    let c = mixer.clip_named("c").unwrap();
    let once = PlayOptions {
        loop_mode: LoopMode::Once,
        at_end: AtEnd::FadeOut(0.5),
        ..PlayOptions::default()
    };
    mixer.player().add(0, c, &once).unwrap();
    mixer.advance(0.1).unwrap();
    mixer.player().set_parameter(0, space, 3.0).unwrap();
    for step in 0..140 {
        let bytes = mixer.snapshot().to_bytes();
        let read = MixerSnapshot::from_bytes(&bytes).unwrap();
        assert!(read.to_bytes() == bytes, "{step}");
        let (mut twin, _) = following();
        twin.restore(&read).unwrap();
        for _ in 0..3 {
            for mixer in [&mut mixer, &mut twin] {
                mixer.advance(1.0 / 180.0).unwrap();
            }
            assert_eq!(mixer.evaluate(), twin.evaluate(), "{step}");
            assert_eq!(mixer.events(), twin.events());
        }
    }
    assert!(mixer.playing().action(0, c).is_err());
}

/// Shares of points that a cell lacks, or beyond the whole.
#[test]
fn places_that_a_space_lacks_are_refused() {
    let (mut mixer, space) = following();
    mixer.player().set_parameter(0, space, 0.5).unwrap();
    let bytes = mixer.snapshot().to_bytes();
    // The cell, half of its second point, nothing of a third.
    let half = (1u32 << 22).to_le_bytes();
    let stored = [&[0, 0][..], &half, &[0; 4]].concat();
    let at = bytes.windows(10).position(|w| w == stored).unwrap();
    for (offset, value) in [(6, 1u32), (2, (1 << 23) + 1), (6, 1 << 22), (0, 2)] {
        let mut changed = bytes.clone();
        let value = value.to_le_bytes();
        let width = if offset == 0 { 2 } else { 4 };
        changed[at + offset..][..width].copy_from_slice(&value[..width]);
        seal_snapshot(&mut changed);
        assert!(MixerSnapshot::from_bytes(&changed).is_err(), "{offset}");
    }
    let mut whole = bytes.clone();
    whole[at + 2..at + 6].copy_from_slice(&(1u32 << 23).to_le_bytes());
    seal_snapshot(&mut whole);
    mixer.restore(&MixerSnapshot::from_bytes(&whole).unwrap()).unwrap();
    assert_eq!(state(&mixer, space).0, 1.0);
}

/// Where less than the seconds is left, the fade begins at once, and the last pose is held until it ends.
#[test]
fn an_action_fades_out_before_its_end() {
    for (seconds, speed, from, most) in [
        (0.25, 1.0, 0.0, 1.0 / 60.0),
        (0.25, 2.0, 0.0, 1.0 / 60.0),
        (0.25, 1.0, 0.0, 0.3),
        (0.25, 1.0, 0.0, 5.0),
        (4.0, 1.0, 0.0, 1.0 / 60.0),
        (0.25, 1.0, 0.9, 1.0 / 60.0),
        (0.25, 1.0, 1.0, 1.0 / 60.0),
        (0.25, -1.0, 0.0, 1.0 / 64.0),
    ] {
        let (mut mixer, clip) = marked("a", &[0.5, 0.875]);
        let options = PlayOptions {
            loop_mode: LoopMode::Once,
            at_end: AtEnd::FadeOut(seconds),
            speed,
            time: from,
            ..PlayOptions::default()
        };
        mixer.player().play(0, clip, &options).unwrap();
        let last = if speed > 0.0 { 1.0 } else { 0.0 };
        let seconds = f64::from(seconds);
        let starts = f64::max(0.0, (last - from) / f64::from(speed) - seconds);
        let end = starts + seconds;
        let (mut now, mut all) = (0.0, Vec::<Event>::new());
        while now < end + 0.1 {
            mixer.advance(most).unwrap();
            now += most;
            all.extend(mixer.events());
            match mixer.playing().action(0, clip) {
                Ok(state) => {
                    let left = (end - now) / seconds;
                    let expected = left.clamp(0.0, 1.0);
                    let have = f64::from(state.weight);
                    assert!((have - expected).abs() < 1e-5, "{now}: {have} {expected}");
                    assert_eq!(state.at_end, AtEnd::FadeOut(seconds as f32));
                    let begins = (now - starts).abs() < 1e-6;
                    assert!(begins || state.fading_out == (now > starts), "{now} {starts}");
                }
                Err(_) => assert!(now > end - 1e-6, "{now}"),
            }
        }
        assert!(mixer.playing().clips().next().is_none());
        let kinds: Vec<_> = all.iter().map(|e| e.kind).collect();
        use EventKind::{Finished, Marker, Stopped};
        let markers = if from == 0.0 && speed > 0.0 { 2 } else { 0 };
        let expected = [Marker, Marker, Finished, Stopped];
        assert_eq!(kinds, expected[2 - markers..], "{seconds} {speed} {from} {most}");
        let stopped = all.last().unwrap();
        assert_eq!((f64::from(stopped.time), stopped.clip), (last, clip));
    }
    let (mut mixer, clip) = marked("a", &[]);
    let bad = PlayOptions { at_end: AtEnd::FadeOut(-1.0), ..PlayOptions::default() };
    assert!(mixer.player().play(0, clip, &bad).is_err());
    mixer.player().play(0, clip, &PlayOptions::default()).unwrap();
    assert!(mixer.player().set_at_end(0, clip, AtEnd::FadeOut(f32::NAN)).is_err());
}

/// A clip is streamed out when the last action that plays it leaves its layer, without asking in every frame.
#[test]
fn who_plays_a_clip_is_known_and_leaving_is_heard() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| crowd.clip_named(id, name).unwrap());
    let space = crowd.add_blend_space(id, &[(0.0, a), (1.0, b)]).unwrap();
    let all = [(); 4].map(|()| crowd.spawn(id).unwrap());
    crowd.play(all[0], c, &PlayOptions::default()).unwrap();
    crowd.play(all[1], space, &PlayOptions::default()).unwrap();
    crowd.play(all[3], c, &PlayOptions::default()).unwrap();
    let playing = |crowd: &Crowd, clip| crowd.instances_playing(clip).unwrap().collect::<Vec<_>>();
    assert_eq!(playing(&crowd, c), [all[0], all[3]]);
    // The other clip of the space has no weight.
    assert_eq!(playing(&crowd, b), [all[1]]);
    assert_eq!(crowd.instances_playing(space).unwrap().count(), 1);
    crowd.advance(0.1).unwrap();
    crowd.fade_to(all[0], a, 0.2, &PlayOptions::default()).unwrap();
    crowd.fade_to(all[3], a, 0.4, &PlayOptions::default()).unwrap();
    let mut heard = Vec::new();
    for frame in 0..60 {
        crowd.advance(1.0 / 60.0).unwrap();
        for event in crowd.events().to_vec().iter().filter(|e| e.kind == EventKind::Stopped) {
            heard.push((frame, event.instance, event.clip));
            let left = playing(&crowd, event.clip);
            assert_eq!(left.len(), 2 - heard.len());
            if left.is_empty() {
                crowd.unload_clip(event.clip).unwrap();
                break;
            }
        }
    }
    assert_eq!(heard.iter().map(|h| (h.1, h.2)).collect::<Vec<_>>(), [(all[0], c), (all[3], c)]);
    assert!((11..=12).contains(&heard[0].0) && (23..=24).contains(&heard[1].0), "{heard:?}");
    assert!(crowd.instances_playing(c).is_err(), "the clip is unloaded");
    crowd.despawn(all[1]).unwrap();
    assert_eq!(playing(&crowd, b), []);
}

/// Many are set by one call, with the bits of single calls; a wrong element changes nothing.
#[test]
fn parameters_are_set_by_arrays() {
    let make = || {
        let mut crowd = Crowd::with_tag(3).unwrap();
        let id = crowd.add_rig(rig()).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| crowd.clip_named(id, name).unwrap());
        let plane = BlendSpace::plane(&[([0.0; 2], a), ([1.0, 0.0], b), ([0.0, 1.0], c)]);
        let space = crowd.add_blend_space(id, plane).unwrap();
        let all = [(); 5].map(|()| crowd.spawn(id).unwrap());
        crowd.play_many(&all[..4], 0, &[space], &[PlayOptions::default()]).unwrap();
        (crowd, space, all)
    };
    let ((mut many, space, all), (mut single, _, _)) = (make(), make());
    let values: Vec<_> = (0..4u8).map(|i| [0.25 * f32::from(i), 0.125]).collect();
    let before = many.snapshot();
    assert!(many.set_parameters(&all, 0, &[space], &[[0.5, 0.5]]).is_err(), "one plays nothing");
    assert!(many.set_parameters(&all[..4], 0, &[space], &values[..3]).is_err());
    assert!(many.set_parameters(&all[..4], 0, &[space], &[[0.0, f32::INFINITY]]).is_err());
    assert!(many.snapshot() == before);
    many.set_parameters(&all[..4], 0, &[space], &values).unwrap();
    for (&instance, &value) in all.iter().zip(&values) {
        single.player(instance).unwrap().set_parameter(0, space, value).unwrap();
    }
    assert!(many.snapshot() == single.snapshot() && many.snapshot() != before);
    many.set_parameters(&all[..2], 0, &[space], &[0.5]).unwrap();
    let state = many.playing(all[1]).unwrap().action(0, space).unwrap();
    assert_eq!(state.parameter, Some([0.5, 0.0].into()));
}
