//! `PlayOptions`, how an action plays, and `LayerOptions`; the limits of their numbers.

use super::blend_space::Parameter;
use super::error::PlaybackError;
use super::loop_mode::LoopMode;
use crate::skeleton::JointMask;

/// The largest magnitude of a time, a time step and a fade, seconds: thirty years, far beyond use, and small enough
/// that an f64 still resolves microseconds.
pub const MAX_TIME: f64 = 1.0e9;

/// The largest magnitude of a speed factor.
pub const MAX_SPEED: f64 = 1.0e6;

/// The largest magnitude of a parameter; differences of two parameters stay finite.
pub(super) const MAX_PARAMETER: f64 = 1.0e9;

/// The behaviour of an action after its last pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AtEnd {
    /// Stays on its last pose.
    #[default]
    Hold,
    /// Stops. The other actions take over its share of the layer; if there are none, the layer's fill says what does.
    Stop,
    /// Stops, and fades out over these seconds before that, ≥ 0, so that the fade ends with the last pass. If less is left
    /// of the passes, or the speed changes meanwhile, the fade takes its seconds all the same: at the end of the last pass
    /// the action holds its last pose until the fade ends.
    FadeOut(f32),
}

impl AtEnd {
    pub(super) fn check(self) -> Result<(), PlaybackError> {
        check_seconds("at_end", self.fade_out())
    }

    /// The seconds of the fade; 0 for no fade.
    pub(super) fn fade_out(self) -> f32 {
        if let Self::FadeOut(seconds) = self { seconds } else { 0.0 }
    }
}

/// The settings with which an action plays its clip or blend space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayOptions {
    /// Factor on time, within ±[`MAX_SPEED`](super::MAX_SPEED); negative plays backwards. Default 1.
    pub speed: f32,
    /// Behaviour at the ends of the clip. Default [`LoopMode::Repeat`].
    pub loop_mode: LoopMode,
    /// Number of passes over the clip, at least 1; `None` plays without end. Default `None`.
    ///
    /// In a ping-pong, forwards and backwards count as one pass each. [`LoopMode::Once`] is always one pass.
    pub repetitions: Option<u32>,
    /// Behaviour after the last pass. Default [`AtEnd::Hold`].
    pub at_end: AtEnd,
    /// Start time, unbounded and mapped by the loop mode: seconds for a clip, phases for a blend space (1 is one pass).
    /// Default 0.
    ///
    /// To play a bounded action backwards, start it at the end of its last pass or at any later time.
    pub time: f64,
    /// Weight to play at, or to fade to: [0, 1], on additive layers [−1, 1]. Default 1.
    pub weight: f32,
    /// Seconds until `weight` is reached, ≥ 0: from 0, or from the action's present weight. Default 0.
    pub fade_in: f32,
    /// Start value of a blend space's parameter; no effect on clips. Default 0.
    pub parameter: Parameter,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            speed: 1.0,
            loop_mode: LoopMode::Repeat,
            repetitions: None,
            at_end: AtEnd::Hold,
            time: 0.0,
            weight: 1.0,
            fade_in: 0.0,
            parameter: Parameter::default(),
        }
    }
}

/// The most layers of a rig.
pub const MAX_LAYERS: usize = 16;

/// Options of one layer, for all instances of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerOptions {
    /// True for a layer that adds differences (additive clips) instead of blending over the layers below. Default
    /// false.
    pub additive: bool,
    /// The joints that the layer animates, with weights in [0, 1]. Default `None`: all joints at weight 1.
    pub mask: Option<JointMask>,
    /// The pose that fills in if the weights of the layer's actions sum to less than 1. Default [`Fill::Rest`].
    pub fill: Fill,
}

/// The pose that takes the share of a blending layer that its actions' weights leave below 1. Additive layers ignore
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// The rest pose: a single action fades in from it.
    #[default]
    Rest,
    /// The layers below: the layer's weight is reduced by the same share, so that a single action fades in from the
    /// layers below and fades out to them.
    Below,
}

pub(crate) fn check(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), PlaybackError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(PlaybackError::Value { what, value, low, high })
    }
}

pub(crate) fn check_time(time: f64) -> Result<(), PlaybackError> {
    check("time", time, -MAX_TIME, MAX_TIME)
}

pub(super) fn check_speed(speed: f32) -> Result<(), PlaybackError> {
    check("speed", f64::from(speed), -MAX_SPEED, MAX_SPEED)
}

pub(crate) fn check_seconds(what: &'static str, seconds: f32) -> Result<(), PlaybackError> {
    check(what, f64::from(seconds), 0.0, MAX_TIME)
}

pub(super) fn check_repetitions(repetitions: Option<u32>) -> Result<(), PlaybackError> {
    let n = repetitions.map_or(1.0, f64::from);
    check("repetitions", n, 1.0, f64::from(u32::MAX))
}

pub(crate) fn check_parameter(value: Parameter) -> Result<(), PlaybackError> {
    let Parameter { x, y } = value;
    let within = |v: f32| check("parameter", f64::from(v), -MAX_PARAMETER, MAX_PARAMETER);
    within(x).and_then(|()| within(y))
}
