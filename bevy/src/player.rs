//! `PhalanxPlayer`: what a character plays, as a component.

use crate::character::{PhalanxCharacter, PhalanxInstance};
use crate::crowd::{Names, PhalanxCrowd};
use crate::events::PhalanxError;
use bevy::ecs::message::MessageWriter;
use bevy::ecs::prelude::*;
use bevy::prelude::{ReflectComponent, ReflectDefault};
use bevy::reflect::Reflect;
use phalanx::crowd::{
    AtEnd, CrossFade, Crowd, CrowdError, FadeKind, InstanceId, LoopMode, PlayOptions, Playable,
};
use tracing::warn;

/// Plays clips and blend spaces by their names. Calls are kept until the rig has loaded, and are applied in the next
/// [`PhalanxSystems::Bind`](crate::PhalanxSystems::Bind), in order. A call that the
/// crowd refuses changes nothing; it is logged with its reason and sent as a [`PhalanxError`]. At most 1,024 calls wait;
/// beyond, the oldest go. [`PhalanxCrowd::state`] reads what plays.
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
    calls: Vec<Call>,
}

/// How something is played: once at its own speed, unless said otherwise.
#[derive(Reflect, Clone, Debug, PartialEq)]
pub struct PlayCall {
    name: String,
    layer: usize,
    fade: f32,
    inertial: bool,
    /// Beside what plays, not instead of it.
    beside: bool,
    repetitions: Option<u32>,
    ping_pong: bool,
    speed: f32,
    time: f64,
    weight: f32,
    stop_at_end: bool,
    parameter: [f32; 2],
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

    fn options(&self) -> PlayOptions {
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

#[derive(Reflect, Clone, Debug)]
pub(crate) enum Call {
    Play(PlayCall),
    Stop { name: String, fade: f32 },
    StopAll { fade: f32 },
    Weight { name: String, weight: f32, fade: f32 },
    Speed { name: String, speed: f32 },
    Seek { name: String, time: f64 },
    Pause { name: String, paused: bool },
    Parameter { name: String, parameter: [f32; 2] },
    LayerWeight { layer: usize, weight: f32, fade: f32 },
    CharacterSpeed { speed: f32 },
}

impl Call {
    /// The clip or blend space that it is about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Play(call) => Some(&call.name),
            Self::Stop { name, .. }
            | Self::Weight { name, .. }
            | Self::Speed { name, .. }
            | Self::Seek { name, .. }
            | Self::Pause { name, .. }
            | Self::Parameter { name, .. } => Some(name),
            Self::StopAll { .. } | Self::LayerWeight { .. } | Self::CharacterSpeed { .. } => None,
        }
    }
}

/// Calls that wait at most; a character whose file does not load would gather them for ever.
const MAX_CALLS: usize = 1024;

impl PhalanxPlayer {
    fn push(&mut self, call: Call) {
        if self.calls.len() == MAX_CALLS {
            self.calls.drain(..MAX_CALLS / 2);
        }
        self.calls.push(call);
    }

    fn start(&mut self, name: &str, fade: f32, beside: bool) -> &mut PlayCall {
        self.push(Call::Play(PlayCall {
            name: name.to_owned(),
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
        }));
        match self.calls.last_mut() {
            Some(Call::Play(call)) => call,
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
        self.push(Call::Stop { name: name.to_owned(), fade: seconds });
    }

    /// Stops everything within some seconds.
    pub fn stop_all(&mut self, seconds: f32) {
        self.push(Call::StopAll { fade: seconds });
    }

    /// Changes the weight of what plays, within some seconds.
    pub fn set_weight(&mut self, name: &str, weight: f32, seconds: f32) {
        self.push(Call::Weight { name: name.to_owned(), weight, fade: seconds });
    }

    /// Changes its speed.
    pub fn set_speed(&mut self, name: &str, speed: f32) {
        self.push(Call::Speed { name: name.to_owned(), speed });
    }

    /// Moves it to a time, seconds.
    pub fn seek_to(&mut self, name: &str, time: f32) {
        self.push(Call::Seek { name: name.to_owned(), time: f64::from(time) });
    }

    /// Holds it.
    pub fn pause(&mut self, name: &str) {
        self.push(Call::Pause { name: name.to_owned(), paused: true });
    }

    /// Lets it go on after [`pause`](Self::pause).
    pub fn resume(&mut self, name: &str) {
        self.push(Call::Pause { name: name.to_owned(), paused: false });
    }

    /// Moves a blend space to a point; one axis uses the first number.
    pub fn set_parameter(&mut self, name: &str, parameter: [f32; 2]) {
        self.push(Call::Parameter { name: name.to_owned(), parameter });
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

/// Calls that make another instance play what one plays, by its names.
pub(crate) fn resume(crowd: &Crowd, names: &Names, instance: InstanceId) -> Vec<Call> {
    let Ok(playing) = crowd.playing(instance) else { return Vec::new() };
    let mut player = PhalanxPlayer::default();
    for layer in 0..playing.layers() {
        for (what, state) in playing.actions(layer).into_iter().flatten() {
            let clip = match what {
                Playable::Clip(clip) => crowd.clip(clip).ok(),
                Playable::Space(_) => None,
            };
            let name = names.name_of(what).or_else(|| clip.map(|clip| clip.name()));
            let Some(name) = name.map(str::to_owned) else { continue };
            let pass = clip.map_or(1.0, |clip| f64::from(clip.duration()));
            let call = player.add(&name);
            call.on_layer(layer).with_weight(state.weight).with_speed(state.speed);
            call.ping_pong = state.loop_mode == LoopMode::PingPong;
            call.repetitions = match state.loop_mode {
                LoopMode::Once => Some(1),
                _ => state.repetitions,
            };
            call.stop_at_end = state.at_end == AtEnd::Stop;
            call.parameter = state.parameter.map_or([0.0; 2], |p| [p.x, p.y]);
            // Every second pass of a ping-pong runs backwards.
            let back = call.ping_pong && state.loops.rem_euclid(2.0) == 1.0;
            call.time = match (state.loop_mode, back) {
                (LoopMode::Once, _) => state.time,
                (_, false) => state.loops * pass + state.time,
                (_, true) => (state.loops + 1.0) * pass - state.time,
            };
            let (target, left) = (state.target, state.fade_left as f32);
            if state.paused {
                player.push(Call::Pause { name: name.clone(), paused: true });
            }
            if state.fading_out {
                player.push(Call::Stop { name, fade: left });
            } else if left > 0.0 {
                player.push(Call::Weight { name, weight: target, fade: left });
            }
        }
        let weight = playing.layer_weight(layer).unwrap_or(1.0);
        player.push(Call::LayerWeight { layer, weight, fade: 0.0 });
    }
    player.push(Call::CharacterSpeed { speed: playing.character_speed() });
    player.calls
}

type Waiting = Or<(Changed<PhalanxPlayer>, Added<PhalanxInstance>)>;

/// Applies the calls of players whose characters are instances.
pub fn apply(
    mut crowd: ResMut<PhalanxCrowd>,
    mut players: Query<(Entity, &PhalanxCharacter, &PhalanxInstance, &mut PhalanxPlayer), Waiting>,
    mut errors: MessageWriter<PhalanxError>,
) {
    for (entity, character, instance, mut player) in &mut players {
        // The calls are for the rig that it is to have.
        if !instance.is_of(character) {
            continue;
        }
        for call in player.bypass_change_detection().calls.drain(..) {
            apply_one(&mut crowd, entity, instance.id(), &call, &mut errors);
        }
    }
}

/// Applies one call; a refusal is logged and told.
pub(crate) fn apply_one(
    crowd: &mut PhalanxCrowd,
    entity: Entity,
    instance: InstanceId,
    call: &Call,
    errors: &mut MessageWriter<PhalanxError>,
) {
    if let Err(error) = call_one(crowd, instance, call) {
        let error = PhalanxError { entity, name: call.name().map(str::to_owned), error };
        warn!("{error}");
        errors.write(error);
    }
}

/// The layer in which something plays; 0 if in none, where the crowd says what is wrong.
fn layer_of(crowd: &Crowd, instance: InstanceId, what: Playable) -> usize {
    let Ok(playing) = crowd.playing(instance) else { return 0 };
    (0..playing.layers()).find(|&layer| playing.action(layer, what).is_ok()).unwrap_or(0)
}

fn call_one(crowd: &mut PhalanxCrowd, id: InstanceId, call: &Call) -> Result<(), CrowdError> {
    let named = |crowd: &PhalanxCrowd, name: &str| -> Result<(usize, Playable), CrowdError> {
        let what = crowd.playable(id.rig(), name)?;
        Ok((layer_of(&crowd.crowd, id, what), what))
    };
    match call {
        Call::Play(call) => {
            let what = crowd.playable(id.rig(), &call.name)?;
            let mut player = crowd.crowd.player(id)?;
            let options = call.options();
            if call.beside {
                return player.add(call.layer, what, &options);
            }
            if !call.inertial {
                return match call.fade {
                    0.0 => player.play(call.layer, what, &options),
                    fade => player.fade_to(call.layer, what, fade, &options),
                };
            }
            let from = player
                .playing()
                .actions(call.layer)?
                .map(|(from, _)| from)
                .find(|from| *from != what);
            let fade = CrossFade { kind: FadeKind::Inertial, ..CrossFade::from(call.fade) };
            match from {
                Some(from) => player.cross_fade(call.layer, from, what, fade, &options),
                None => player.play(call.layer, what, &options),
            }
        }
        Call::Stop { name, fade } => {
            let (layer, what) = named(crowd, name)?;
            crowd.crowd.player(id)?.stop(layer, what, *fade)
        }
        Call::StopAll { fade } => crowd.crowd.player(id)?.stop_all(*fade),
        Call::Weight { name, weight, fade } => {
            let (layer, what) = named(crowd, name)?;
            crowd.crowd.player(id)?.fade(layer, what, *weight, *fade)
        }
        Call::Speed { name, speed } => {
            let (layer, what) = named(crowd, name)?;
            crowd.crowd.player(id)?.set_speed(layer, what, *speed)
        }
        Call::Seek { name, time } => {
            let (layer, what) = named(crowd, name)?;
            crowd.crowd.player(id)?.set_time(layer, what, *time)
        }
        Call::Pause { name, paused } => {
            let (layer, what) = named(crowd, name)?;
            crowd.crowd.player(id)?.set_paused(layer, what, *paused)
        }
        Call::Parameter { name, parameter } => {
            let (layer, what) = named(crowd, name)?;
            let mut player = crowd.crowd.player(id)?;
            match what {
                Playable::Space(space) => player.set_parameter(layer, space, *parameter),
                Playable::Clip(_) => Ok(()),
            }
        }
        Call::LayerWeight { layer, weight, fade } => {
            crowd.crowd.player(id)?.fade_layer(*layer, *weight, *fade)
        }
        Call::CharacterSpeed { speed } => crowd.crowd.player(id)?.set_character_speed(*speed),
    }
}
