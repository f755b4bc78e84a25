//! `PlayOptions`: how an action plays.

use super::loop_mode::LoopMode;

/// The behaviour of an action after its last pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AtEnd {
    /// Stays on its last pose.
    #[default]
    Hold,
    /// Stops. The other actions take over its share of the layer; if there are none, the layer's fill says what does.
    Stop,
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
    pub parameter: f32,
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
            parameter: 0.0,
        }
    }
}
