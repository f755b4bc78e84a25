//! The table of `Player`, row by row: what a call does to what plays, for crowds, players, mixers and actions.

use phalanx::clip::Marker;
use phalanx::crowd::{Crowd, CrowdSnapshot, InstanceId};
use phalanx::playback::{
    ActionState, CrossFade, EventKind, LoopMode, Mixer, MixerSnapshot, PlayOptions, PlaybackError,
    Player, Playing,
};
use phalanx::rig::Rig;
use phalanx_testkit::ruler::ruler;
use std::sync::Arc;

/// Seconds of the calls, and of the step after them.
const S: f32 = 0.5;
const STEP: f64 = 0.125;

/// Where a verb stands.
#[derive(Clone, Copy, Debug)]
enum On {
    Crowd,
    Player,
    Mixer,
}

const EVERYWHERE: [On; 3] = [On::Crowd, On::Player, On::Mixer];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verb {
    Play,
    FadeTo,
    Add,
    Restart,
    Stop,
}

const VERBS: [Verb; 5] = [Verb::Play, Verb::FadeTo, Verb::Add, Verb::Restart, Verb::Stop];

/// What "x" does when it is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Absent,
    Plays,
    Paused,
    FadesOut,
    Finished,
}

const ALL_BEFORE: [Before; 5] =
    [Before::Absent, Before::Plays, Before::Paused, Before::FadesOut, Before::Finished];

/// A crowd and a mixer; one of them plays.
struct Stage {
    on: On,
    crowd: Crowd,
    instance: InstanceId,
    mixer: Mixer,
}

fn rig() -> Arc<Rig> {
    let mut rig = Arc::into_inner(ruler()).unwrap();
    let markers = [0.25, 0.625].map(|time| Marker::new("marker", time));
    rig.set_markers(0, markers.to_vec()).unwrap();
    Arc::new(rig)
}

impl Stage {
    fn new(on: On) -> Self {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig()).unwrap();
        crowd.spawn(id).unwrap();
        let instance = crowd.spawn(id).unwrap();
        let mixer = Mixer::new(rig()).unwrap();
        Self { on, crowd, instance, mixer }
    }

    fn player(&mut self) -> Player<'_> {
        match self.on {
            On::Crowd => self.crowd.player(self.instance).unwrap(),
            _ => self.mixer.player(),
        }
    }

    fn playing(&self) -> Playing<'_> {
        match self.on {
            On::Crowd => self.crowd.playing(self.instance).unwrap(),
            _ => self.mixer.playing(),
        }
    }

    fn clip(&self, name: &str) -> phalanx::playback::ClipId {
        match self.on {
            On::Crowd => self.crowd.clip_named(self.instance.rig(), name).unwrap(),
            _ => self.mixer.clip_named(name).unwrap(),
        }
    }

    fn call(
        &mut self,
        verb: Verb,
        name: &str,
        s: f32,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let clip = self.clip(name);
        let options =
            PlayOptions { fade_in: if verb == Verb::FadeTo { 9.0 } else { s }, ..*options };
        match (self.on, verb) {
            (On::Crowd, Verb::Play) => self.crowd.play(self.instance, clip, &options),
            (On::Crowd, Verb::FadeTo) => self.crowd.fade_to(self.instance, clip, s, &options),
            (On::Mixer, Verb::Play) => self.mixer.player().play(0, clip, &options),
            (On::Mixer, Verb::FadeTo) => self.mixer.player().fade_to(0, clip, s, &options),
            (_, Verb::Play) => self.player().play(0, clip, &options),
            (_, Verb::FadeTo) => self.player().fade_to(0, clip, s, &options),
            (_, Verb::Add) => self.player().add(0, clip, &options),
            (_, Verb::Restart) => self.player().restart(0, clip, &options),
            (_, Verb::Stop) => self.player().stop(0, clip, s),
        }
    }

    /// The clips "y" and "z" have played for 0.25 s beside what "x" did; "z" stops 0.25 s later.
    fn before(on: On, before: Before) -> Self {
        let mut stage = Self::new(on);
        let [x, y, z] = ["x", "y", "z"].map(|name| stage.clip(name));
        let plain = PlayOptions::default();
        let own = match before {
            Before::Absent => None,
            Before::FadesOut => Some(plain),
            Before::Plays | Before::Paused => Some(PlayOptions { fade_in: 1.0, ..plain }),
            Before::Finished => Some(PlayOptions { loop_mode: LoopMode::Once, ..plain }),
        };
        if before == Before::Finished {
            stage.player().add(0, x, &own.unwrap()).unwrap();
            stage.advance(1.0);
        } else if let Some(own) = own {
            stage.player().add(0, x, &own).unwrap();
        }
        let mut player = stage.player();
        player.add(0, y, &plain).unwrap();
        player.add(0, z, &plain).unwrap();
        player.stop(0, z, 0.5).unwrap();
        if before == Before::FadesOut {
            player.stop(0, x, 1.0).unwrap();
        }
        stage.advance(0.25);
        if before == Before::Paused {
            stage.player().set_paused(0, x, true).unwrap();
        }
        stage
    }

    /// Advances, and returns how many markers of "x" were passed.
    fn advance(&mut self, dt: f64) -> usize {
        let events = match self.on {
            On::Crowd => {
                self.crowd.advance(dt).unwrap();
                self.crowd.events()
            }
            _ => {
                self.mixer.advance(dt).unwrap();
                self.mixer.events()
            }
        };
        events.iter().filter(|e| e.kind == EventKind::Marker).count()
    }

    fn state(&self, name: &str) -> Option<ActionState> {
        self.playing().action(0, self.clip(name)).ok()
    }

    fn saved(&self) -> (CrowdSnapshot, MixerSnapshot) {
        (self.crowd.snapshot(), self.mixer.snapshot())
    }
}

/// The options of the calls: each differs from what "x" has.
fn options() -> PlayOptions {
    PlayOptions {
        time: 0.625,
        speed: 2.0,
        weight: 0.5,
        loop_mode: LoopMode::PingPong,
        ..PlayOptions::default()
    }
}

#[track_caller]
fn near(have: Option<f32>, want: Option<f32>, place: &str) {
    let same = match (have, want) {
        (Some(have), Some(want)) => (have - want).abs() < 1e-6,
        (have, want) => have == want,
    };
    assert!(same, "{place}: {have:?} is not {want:?}");
}

/// One row: the time and weight of "x" at the call and after a step, and the markers passed in the step.
struct Row {
    time: f64,
    weight: [f32; 2],
    markers: usize,
}

/// The row of the table; `None` where the call is refused. A weight on the way is a line over what is left of it.
fn row(before: Before, verb: Verb) -> Option<Row> {
    let line = |from: f32, to: f32, seconds: f32| [from, from + (to - from) * 0.125 / seconds];
    if verb == Verb::Stop {
        let (time, weight) = match before {
            Before::Absent => return None,
            Before::Plays | Before::Paused => (0.25, line(0.25, 0.0, S)),
            // 0.75 s were left.
            Before::FadesOut => (0.25, line(0.75, 0.0, S)),
            Before::Finished => (1.0, line(1.0, 0.0, S)),
        };
        return Some(Row { time, weight, markers: 0 });
    }
    let weight = match before {
        Before::Absent => line(0.0, 0.5, S),
        // A quarter of the way in, with 0.75 s left.
        Before::Plays | Before::Paused => line(0.25, 0.5, 0.75),
        Before::FadesOut => line(0.75, 0.5, S),
        Before::Finished => line(1.0, 0.5, S),
    };
    let starts = verb == Verb::Restart || matches!(before, Before::Absent | Before::Finished);
    Some(Row {
        time: if starts { 0.625 } else { 0.25 },
        weight,
        // What starts passes the marker at which it starts; what goes on has passed the other already.
        markers: usize::from(starts),
    })
}

#[test]
fn every_row_of_the_table() {
    for on in EVERYWHERE {
        for before in ALL_BEFORE {
            for verb in VERBS {
                let place = format!("{verb:?} of what {before:?} on {on:?}");
                let mut stage = Stage::before(on, before);
                let called = stage.call(verb, "x", S, &options());
                let Some(row) = row(before, verb) else {
                    let x = phalanx::playback::Playable::from(stage.clip("x"));
                    let refused = matches!(
                        called,
                        Err(PlaybackError::NotPlaying { motion, layer: 0, .. }) if motion == x
                    );
                    assert!(refused, "{place}");
                    continue;
                };
                called.unwrap();
                let x = stage.state("x").unwrap();
                assert_eq!(x.time, row.time, "{place}");
                near(Some(x.weight), Some(row.weight[0]), &place);
                let stops = verb == Verb::Stop;
                assert_eq!(x.fading_out, stops, "{place}");
                if !stops {
                    let set = (x.speed, x.target, x.paused, x.finished);
                    assert_eq!(set, (2.0, 0.5, false, false), "{place}");
                }
                assert_eq!(stage.advance(STEP), row.markers, "{place}");
                let moves = match (stops, before) {
                    (false, _) => 2.0,
                    (true, Before::Paused | Before::Finished) => 0.0,
                    (true, _) => 1.0,
                };
                let x = stage.state("x").unwrap();
                assert!((x.time - row.time - moves * STEP).abs() < 1e-9, "{place}: {x:?}");
                near(Some(x.weight), Some(row.weight[1]), &place);
                // The others.
                let alone = !matches!(verb, Verb::Add | Verb::Stop);
                let weight = |name| stage.state(name).map(|state| state.weight);
                near(weight("y"), Some(if alone { 0.75 } else { 1.0 }), &place);
                near(weight("z"), Some(0.25), &place);
                stage.advance(STEP);
                near(stage.state("z").map(|s| s.weight), None, &place);
            }
        }
    }
}

/// What fades out keeps its fade if the motion plays already, and else stops as soon as the call says.
#[test]
fn fades_of_others_with_fewer_seconds() {
    for on in EVERYWHERE {
        for before in ALL_BEFORE {
            for verb in [Verb::Play, Verb::FadeTo, Verb::Restart] {
                let place = format!("{verb:?} of what {before:?} on {on:?}");
                let mut stage = Stage::before(on, before);
                stage.call(verb, "x", 0.125, &options()).unwrap();
                stage.advance(0.0625);
                let goes_on =
                    verb != Verb::Restart && matches!(before, Before::Plays | Before::Paused);
                let weight = |name| stage.state(name).map(|state| state.weight);
                near(weight("z"), Some(if goes_on { 0.375 } else { 0.25 }), &place);
                near(weight("y"), Some(0.5), &place);
                stage.advance(0.0625);
                let left = stage.state("z").map(|state| state.weight);
                near(left, goes_on.then_some(0.25), &place);
                assert_eq!(stage.state("y"), None, "{place}");
                // With 0 seconds all is there at once.
                let mut stage = Stage::before(on, before);
                stage.call(verb, "x", 0.0, &options()).unwrap();
                assert_eq!(stage.state("y"), None, "{place}");
                assert_eq!(stage.state("z").is_some(), goes_on, "{place}");
                let fades = matches!(before, Before::Plays | Before::Paused);
                let now = if fades { 0.25 } else { 0.5 };
                near(stage.state("x").map(|x| x.weight), Some(now), &place);
            }
            let mut stage = Stage::before(on, Before::FadesOut);
            stage.call(Verb::Stop, "x", 1.0, &options()).unwrap();
            stage.advance(STEP);
            near(stage.state("x").map(|x| x.weight), Some(0.625), "stop");
        }
    }
}

/// A call in every frame is the call in the first: no bit differs.
#[test]
fn repeated_calls_change_nothing() {
    for on in EVERYWHERE {
        for before in ALL_BEFORE {
            for verb in [Verb::Play, Verb::FadeTo, Verb::Add, Verb::Stop] {
                let place = format!("{verb:?} of what {before:?} on {on:?}");
                let [mut once, mut again] = [(); 2].map(|()| Stage::before(on, before));
                if once.call(verb, "x", S, &options()).is_err() {
                    continue;
                }
                for frame in 0..40 {
                    let own = again.saved();
                    let called = again.call(verb, "x", S, &options());
                    if frame > 0 {
                        let stopped = verb == Verb::Stop && again.state("x").is_none();
                        assert_eq!(called.is_err(), stopped, "{place}, frame {frame}");
                        assert!(again.saved() == own, "{place}, frame {frame}");
                    }
                    let passed = [&mut once, &mut again].map(|stage| stage.advance(1.0 / 32.0));
                    assert_eq!(passed[0], passed[1], "{place}, frame {frame}");
                    for name in ["x", "y", "z"] {
                        assert_eq!(once.state(name), again.state(name), "{place} {name} {frame}");
                    }
                    if frame == 15 && verb == Verb::FadeTo {
                        // Half a second: the fade has ended.
                        assert_eq!(again.state("y"), None, "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_full_layer_refuses_add_and_evicts_for_play() {
    for on in EVERYWHERE {
        let mut stage = Stage::new(on);
        let clip = match on {
            On::Crowd => stage.crowd.clip(stage.clip("y")),
            _ => stage.mixer.clip(stage.clip("y")),
        };
        let clip = clip.unwrap().clone();
        for weight in [0.5, 0.25, 0.75, 1.0] {
            let added = match on {
                On::Crowd => stage.crowd.add_clip(stage.instance.rig(), clip.clone()),
                _ => stage.mixer.add_clip(clip.clone()),
            };
            let (added, plain) = (added.unwrap(), PlayOptions::default());
            let options = PlayOptions { weight, ..plain };
            stage.player().add(0, added, &options).unwrap();
            // Added again, it is the same action.
            stage.player().add(0, added, &options).unwrap();
        }
        let before = stage.playing().clips().collect::<Vec<_>>();
        assert_eq!(before.len(), 4);
        let full = PlaybackError::Limit { what: "actions of one layer", count: 5, limit: 4 };
        assert_eq!(stage.call(Verb::Add, "x", S, &options()), Err(full));
        assert!(stage.playing().clips().eq(before.iter().copied()));
        stage.call(Verb::Play, "x", S, &options()).unwrap();
        // Oldest first.
        let left = [before[0], before[2], before[3], stage.clip("x")];
        assert!(stage.playing().clips().eq(left), "{on:?}");
    }
}

/// The loop mode and the number of passes apply from the clip time reached; the same ones change nothing.
#[test]
fn loops_and_warps_of_actions_that_go_on() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let [x, z] = ["x", "z"].map(|name| mixer.clip_named(name).unwrap());
    let mut options = PlayOptions { loop_mode: LoopMode::PingPong, ..PlayOptions::default() };
    mixer.player().play(0, x, &options).unwrap();
    mixer.advance(1.25).unwrap();
    let at = |mixer: &Mixer| {
        let state = mixer.playing().action(0, x).unwrap();
        (state.time, state.loops)
    };
    mixer.player().play(0, x, &options).unwrap();
    assert_eq!(at(&mixer), (0.75, 1.0));
    options.repetitions = Some(3);
    mixer.player().play(0, x, &options).unwrap();
    assert_eq!(at(&mixer), (0.75, 0.0));
    options.loop_mode = LoopMode::Once;
    mixer.player().play(0, x, &options).unwrap();
    mixer.advance(0.5).unwrap();
    assert!(mixer.events().iter().map(|e| e.kind).eq([EventKind::Finished]));
    // A crossfade of 1 s with a warp, whose target is played in every frame.
    let plain = PlayOptions::default();
    let mut mixer = Mixer::new(rig()).unwrap();
    mixer.player().play(0, x, &plain).unwrap();
    let fade = CrossFade { warp: true, ..1.0.into() };
    for frame in 0..4 {
        let called = mixer.player().cross_fade(0, x, z, fade, &plain);
        assert_eq!(called, Ok(()), "frame {frame}");
        mixer.player().play(0, z, &plain).unwrap();
        mixer.advance(0.25).unwrap();
        let state = mixer.playing().action(0, z).unwrap();
        let done = 0.25 * (frame + 1) as f32;
        assert_eq!((state.weight, state.speed), (done, 2.0 - done));
    }
    assert!(mixer.playing().action(0, x).is_err());
}

/// Fades of weights to where they go already end when they were said to end.
#[test]
fn fades_to_the_same_weight_go_on() {
    let mut mixer = Mixer::new(rig()).unwrap();
    let x = mixer.clip_named("x").unwrap();
    mixer.player().play(0, x, &PlayOptions::default()).unwrap();
    for _ in 0..4 {
        mixer.player().fade(0, x, 0.5, 1.0).unwrap();
        mixer.player().fade_layer(0, 0.5, 1.0).unwrap();
        mixer.advance(0.25).unwrap();
    }
    let playing = mixer.playing();
    assert_eq!(playing.action(0, x).unwrap().weight, 0.5);
    assert_eq!(playing.layer_weight(0), Ok(0.5));
    mixer.player().fade(0, x, 1.0, 1.0).unwrap();
    // A shorter one takes its place.
    mixer.player().fade(0, x, 1.0, 0.25).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(mixer.playing().action(0, x).unwrap().weight, 1.0);
}

#[test]
fn playing_reads_everything_without_a_change() {
    let mut stage = Stage::before(On::Crowd, Before::Plays);
    stage.player().set_layer_speed(0, -2.0).unwrap();
    stage.player().set_layer_weight(0, 0.25).unwrap();
    stage.player().set_character_speed(1.5).unwrap();
    let [x, y, z] = ["x", "y", "z"].map(|name| stage.clip(name));
    let playing = stage.playing();
    assert_eq!(playing.layers(), 1);
    assert_eq!(playing.layer_speed(0), Ok(-2.0));
    assert_eq!(playing.layer_weight(0), Ok(0.25));
    assert_eq!(playing.character_speed(), 1.5);
    assert!(playing.clips().eq([x, y, z]));
    let actions: Vec<_> = playing.actions(0).unwrap().collect();
    for ((motion, state), clip) in actions.iter().zip([x, y, z]) {
        assert_eq!(*motion, clip.into());
        assert_eq!(playing.action(0, clip), Ok(*state));
    }
    assert_eq!(actions.len(), 3);
    let unknown = [
        playing.layer_speed(1).unwrap_err(),
        playing.layer_weight(1).unwrap_err(),
        playing.layer_fade(1).unwrap_err(),
        playing.actions(1).map(|_| ()).unwrap_err(),
    ];
    for error in unknown {
        let one = matches!(error, PlaybackError::UnknownLayer { layer: 1, layers: 1, .. });
        assert!(one, "{error}");
    }
}
