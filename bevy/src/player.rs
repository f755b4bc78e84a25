//! `PhalanxPlayer`: what a character plays, as a component.

use bevy::ecs::prelude::*;
use bevy::prelude::{ReflectComponent, ReflectDefault};
use bevy::reflect::Reflect;
use phalanx::crowd::{AtEnd, LoopMode, PlayOptions};
use std::mem::{Discriminant, discriminant};

/// Plays clips and blend spaces by their names. Calls are kept until the rig has loaded, and are applied in the next
/// [`PhalanxSystems::Bind`](crate::PhalanxSystems::Bind), in order. A call that the
/// crowd refuses changes nothing; it is logged with its reason and sent as a [`PhalanxError`]. At most 1,024 calls wait;
/// beyond, the oldest go. [`PhalanxCrowd::state`](crate::PhalanxCrowd::state) reads what plays, which is in the crowd and
/// not in this component: for a scene that is saved, put [`PhalanxCrowd::player_of`](crate::PhalanxCrowd::player_of) here.
///
/// ```
/// use bevy_phalanx::PhalanxPlayer;
///
/// let mut player = PhalanxPlayer::default();
/// player.play("Walk").repeat().with_speed(1.2);
/// player.transition("Run", 0.3).repeat();
/// player.set_layer_weight(0, 1.0);
/// ```
#[derive(Component, Reflect, Clone, Debug, Default)]
#[reflect(Component, Default, Debug, Clone)]
pub struct PhalanxPlayer {
    pub(crate) calls: Vec<Call>,
}

/// How something is played: once at its own speed, unless said otherwise.
#[derive(Reflect, Clone, Debug, PartialEq)]
pub struct PlayCall {
    pub(crate) layer: usize,
    pub(crate) fade: f32,
    pub(crate) inertial: bool,
    /// Beside what plays, not instead of it.
    pub(crate) beside: bool,
    pub(crate) repetitions: Option<u32>,
    pub(crate) ping_pong: bool,
    speed: f32,
    pub(crate) time: f64,
    weight: f32,
    pub(crate) stop_at_end: bool,
    pub(crate) parameter: [f32; 2],
}

impl PlayCall {
    /// Plays without end.
    pub fn repeat(&mut self) -> &mut Self {
        self.repetitions = None;
        self
    }

    /// Plays so many times.
    pub fn times(&mut self, times: u32) -> &mut Self {
        self.repetitions = Some(times);
        self
    }

    /// Plays forwards and backwards in turns.
    pub fn ping_pong(&mut self) -> &mut Self {
        self.ping_pong = true;
        self
    }

    /// Factor on time; negative plays backwards.
    pub fn with_speed(&mut self, speed: f32) -> &mut Self {
        self.speed = speed;
        self
    }

    /// Begins at a time of the clip, seconds.
    pub fn seek_to(&mut self, time: f32) -> &mut Self {
        self.time = f64::from(time);
        self
    }

    /// Its weight among what plays in its layer, in [0, 1].
    pub fn with_weight(&mut self, weight: f32) -> &mut Self {
        self.weight = weight;
        self
    }

    /// The layer; 0 is the lowest.
    pub fn on_layer(&mut self, layer: usize) -> &mut Self {
        self.layer = layer;
        self
    }

    /// The point of a blend space; one axis uses the first number.
    pub fn at(&mut self, parameter: [f32; 2]) -> &mut Self {
        self.parameter = parameter;
        self
    }

    /// Fades by the decay of the difference of the two poses, which keeps momentum.
    pub fn inertial(&mut self) -> &mut Self {
        self.inertial = true;
        self
    }

    /// Stops at the end; the last pose is held without it.
    pub fn stop_at_end(&mut self) -> &mut Self {
        self.stop_at_end = true;
        self
    }

    pub(crate) fn options(&self) -> PlayOptions {
        PlayOptions {
            speed: self.speed,
            loop_mode: match (self.ping_pong, self.repetitions) {
                (true, _) => LoopMode::PingPong,
                (false, Some(1)) => LoopMode::Once,
                (false, _) => LoopMode::Repeat,
            },
            repetitions: self.repetitions,
            at_end: if self.stop_at_end { AtEnd::Stop } else { AtEnd::Hold },
            time: self.time,
            weight: self.weight,
            parameter: self.parameter.into(),
            ..PlayOptions::default()
        }
    }
}

/// What a call sets: its kind, a name, a layer, the kind of change.
type Set<'a> = (Discriminant<Call>, Option<&'a str>, Option<usize>, Option<Discriminant<Change>>);

/// One call.
#[derive(Reflect, Clone, Debug)]
pub(crate) enum Call {
    /// About a clip or blend space; without a layer, in the lowest that plays it.
    Named {
        name: String,
        layer: Option<usize>,
        change: Change,
    },
    StopAll {
        fade: f32,
    },
    LayerWeight {
        layer: usize,
        weight: f32,
        fade: f32,
    },
    CharacterSpeed {
        speed: f32,
    },
}

/// What becomes of a clip or blend space.
#[derive(Reflect, Clone, Debug)]
pub(crate) enum Change {
    Play(PlayCall),
    Stop { fade: f32 },
    Weight { weight: f32, fade: f32 },
    Speed { speed: f32 },
    Seek { time: f64 },
    Pause { paused: bool },
    Parameter { parameter: [f32; 2] },
}

impl Call {
    /// What it sets, whatever that was before; `None` for a call that does more.
    fn sets(&self) -> Option<Set<'_>> {
        let (name, layer, change) = match self {
            Self::Named { name, layer, change } => match change {
                Change::Play(_) | Change::Stop { .. } => return None,
                Change::Weight { fade, .. } if *fade != 0.0 => return None,
                _ => (Some(name.as_str()), *layer, Some(discriminant(change))),
            },
            Self::LayerWeight { layer, fade: 0.0, .. } => (None, Some(*layer), None),
            Self::CharacterSpeed { .. } => (None, None, None),
            Self::StopAll { .. } | Self::LayerWeight { .. } => return None,
        };
        Some((discriminant(self), name, layer, change))
    }

    /// The clip or blend space that it is about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Calls that wait at most; a character whose file does not load would gather them for ever.
const MAX_CALLS: usize = 1024;

impl PhalanxPlayer {
    pub(crate) fn push(&mut self, call: Call) {
        // What a game sets in each frame while a file loads takes the place of what it has set before.
        if let Some(set) = call.sets() {
            self.calls.retain(|other| other.sets() != Some(set));
        }
        if self.calls.len() == MAX_CALLS {
            self.calls.drain(..MAX_CALLS / 2);
        }
        self.calls.push(call);
    }

    pub(crate) fn change(&mut self, name: &str, change: Change) {
        self.push(Call::Named { name: name.to_owned(), layer: None, change });
    }

    fn start(&mut self, name: &str, fade: f32, beside: bool) -> &mut PlayCall {
        let call = PlayCall {
            layer: 0,
            fade,
            inertial: false,
            beside,
            repetitions: Some(1),
            ping_pong: false,
            speed: 1.0,
            time: 0.0,
            weight: 1.0,
            stop_at_end: false,
            parameter: [0.0; 2],
        };
        self.change(name, Change::Play(call));
        match self.calls.last_mut() {
            Some(Call::Named { change: Change::Play(call), .. }) => call,
            _ => unreachable!("pushed above"),
        }
    }

    /// Plays a clip or blend space instead of what its layer plays.
    pub fn play(&mut self, name: &str) -> &mut PlayCall {
        self.start(name, 0.0, false)
    }

    /// Plays it beside what its layer plays; weights decide.
    pub fn add(&mut self, name: &str) -> &mut PlayCall {
        self.start(name, 0.0, true)
    }

    /// Plays it instead of what its layer plays, within some seconds.
    pub fn transition(&mut self, name: &str, seconds: f32) -> &mut PlayCall {
        self.start(name, seconds, false)
    }

    /// Stops it within some seconds, in whatever layer it plays.
    pub fn stop(&mut self, name: &str, seconds: f32) {
        self.change(name, Change::Stop { fade: seconds });
    }

    /// Stops everything within some seconds.
    pub fn stop_all(&mut self, seconds: f32) {
        self.push(Call::StopAll { fade: seconds });
    }

    /// Changes the weight of what plays, within some seconds.
    pub fn set_weight(&mut self, name: &str, weight: f32, seconds: f32) {
        self.change(name, Change::Weight { weight, fade: seconds });
    }

    /// Changes its speed.
    pub fn set_speed(&mut self, name: &str, speed: f32) {
        self.change(name, Change::Speed { speed });
    }

    /// Moves it to a time, seconds.
    pub fn seek_to(&mut self, name: &str, time: f32) {
        self.change(name, Change::Seek { time: f64::from(time) });
    }

    /// Holds it.
    pub fn pause(&mut self, name: &str) {
        self.change(name, Change::Pause { paused: true });
    }

    /// Lets it go on after [`pause`](Self::pause).
    pub fn resume(&mut self, name: &str) {
        self.change(name, Change::Pause { paused: false });
    }

    /// Moves a blend space to a point; one axis uses the first number.
    pub fn set_parameter(&mut self, name: &str, parameter: [f32; 2]) {
        self.change(name, Change::Parameter { parameter });
    }

    /// Changes the weight of a layer.
    pub fn set_layer_weight(&mut self, layer: usize, weight: f32) {
        self.fade_layer(layer, weight, 0.0);
    }

    /// Changes the weight of a layer within some seconds.
    pub fn fade_layer(&mut self, layer: usize, weight: f32, seconds: f32) {
        self.push(Call::LayerWeight { layer, weight, fade: seconds });
    }

    /// Factor on the time of all that the character plays; 0 holds it.
    pub fn set_character_speed(&mut self, speed: f32) {
        self.push(Call::CharacterSpeed { speed });
    }
}
