//! How clips are played: options of actions and fades.

use super::loop_mode::LoopMode;

/// What an action does when its last repetition is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AtEnd {
    /// Stays on the pose it ended at.
    #[default]
    Hold,
    /// Stops: its share of the layer goes to the other actions, or to the rest pose.
    Stop,
}

/// How a clip is to be played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayOptions {
    /// Factor on time; negative plays backwards.
    pub speed: f32,
    /// What happens at the ends.
    pub loop_mode: LoopMode,
    /// Passes over the clip, at least 1 (ping-pong: there is one, back another); `None`: for ever.
    /// [`LoopMode::Once`] is one pass whatever stands here.
    pub repetitions: Option<u32>,
    /// What happens after the last pass.
    pub at_end: AtEnd,
    /// Where to start, in seconds of unbounded time (mapped by the loop mode); what is to end
    /// backwards starts at the end of its last pass, or anywhere beyond.
    pub time: f64,
    /// The weight to play at (or to fade to).
    pub weight: f32,
    /// Seconds from weight 0 to `weight`.
    pub fade_in: f32,
    /// Where a blend space starts on its parameter; nothing to clips.
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
