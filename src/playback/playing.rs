//! `Playing`: what one character plays, read without changing it.

use super::error::PlaybackError;
use super::ids::{BlendSpaceId, ClipId, Motion, NO_CLIP, Source};
use super::pool::Pool;

/// What one character plays: its layers and actions as they are now.
///
/// From [`Crowd::playing`](crate::crowd::Crowd::playing), [`Mixer::playing`](super::Mixer::playing) or
/// [`Player::playing`](super::Player::playing). Nothing is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Playing<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) index: usize,
}

/// The state of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionState {
    /// Clip time in seconds, in [0, duration]; of a blend space the phase, in [0, 1].
    pub time: f64,
    /// Completed passes over the clip: a whole number, negative if it has played backwards past its start.
    pub loops: f64,
    /// Current weight.
    pub weight: f32,
    /// Weight at the end of the running fade; without a fade, the current weight.
    pub target: f32,
    /// The action's factor on time.
    pub speed: f32,
    /// True if the action is paused.
    pub paused: bool,
    /// True if the action stops at the end of its fade.
    pub fading_out: bool,
    /// True if the action holds the end of its last pass (backwards: the start of the first).
    pub finished: bool,
}

impl<'a> Playing<'a> {
    /// The number of layers.
    pub fn layers(self) -> usize {
        self.pool.layers.len()
    }

    /// The state of an action.
    ///
    /// # Errors
    /// If the layer or motion is unknown, or the motion does not play on the layer.
    pub fn action(
        self,
        layer: usize,
        motion: impl Into<Motion>,
    ) -> Result<ActionState, PlaybackError> {
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
        Ok(self.pool.action_state(entry, a))
    }

    /// The actions of a layer, with their states.
    ///
    /// # Errors
    /// If the layer is unknown.
    pub fn actions(
        self,
        layer: usize,
    ) -> Result<impl Iterator<Item = (Motion, ActionState)> + use<'a>, PlaybackError> {
        self.pool.check_layer(layer)?;
        let (pool, entry) = (self.pool, self.pool.entry(self.index, layer));
        let slots = pool.state.actions.playing(entry);
        Ok(slots.map(move |a| (pool.motion(entry, a), pool.action_state(entry, a))))
    }

    /// The clips of all actions on all layers; both neighbours of a blend space.
    pub fn clips(self) -> impl Iterator<Item = ClipId> + use<'a> {
        let Self { pool, index } = self;
        let actions = &pool.state.actions;
        let entries = (0..pool.layers.len()).map(move |layer| pool.entry(index, layer));
        let slots = entries.flat_map(move |e| actions.playing(e).map(move |a| (e, a)));
        slots.flat_map(move |(e, a)| {
            let (clip, other) = (actions.clip[e][a], actions.other[e][a]);
            let other = (other != clip && other != NO_CLIP).then_some(other);
            let clips = std::iter::once(clip).chain(other);
            clips.map(|clip| pool.clip_id(clip))
        })
    }

    /// The current weight of a layer.
    ///
    /// # Errors
    /// If the layer is unknown.
    pub fn layer_weight(self, layer: usize) -> Result<f32, PlaybackError> {
        self.pool.check_layer(layer)?;
        Ok(self.pool.state.layer_weight[self.pool.entry(self.index, layer)])
    }

    /// The speed of a layer: a factor on the speed of its actions.
    ///
    /// # Errors
    /// If the layer is unknown.
    pub fn layer_speed(self, layer: usize) -> Result<f32, PlaybackError> {
        self.pool.check_layer(layer)?;
        Ok(self.pool.state.layer_speed[self.pool.entry(self.index, layer)])
    }

    /// The speed of the character: a factor on the speed of its layers.
    pub fn character_speed(self) -> f32 {
        self.pool.state.speed[self.index]
    }
}

impl Pool {
    /// What an action plays, as a handle.
    fn motion(&self, entry: usize, a: usize) -> Motion {
        match self.state.actions.source(entry, a) {
            Source::Clip(clip) => Motion::Clip(self.clip_id(clip)),
            Source::Space(space) => {
                let generation = self.spaces.generation(space);
                Motion::Space(BlendSpaceId::new(self.owner, space, generation))
            }
        }
    }

    fn action_state(&self, entry: usize, a: usize) -> ActionState {
        let actions = &self.state.actions;
        let slow = &actions.slow[entry][a];
        let weight = actions.weight[entry][a];
        ActionState {
            time: actions.clip_time(entry, a),
            loops: slow.pass,
            weight,
            target: if slow.fade.running() {
                slow.fade.end() as f32
            } else {
                weight
            },
            speed: slow.speed as f32,
            paused: slow.paused,
            fading_out: slow.ending,
            finished: actions.finished(entry, a),
        }
    }
}
