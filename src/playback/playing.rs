//! `Playing`: the playback of one character, read without changing it.

use super::blend_space::Parameter;
use super::error::PlaybackError;
use super::ids::{ClipId, ModifierId, Playable, Source};
use super::inputs::{Input, POSE};
use super::layer_state::LayerState;
use super::library::Library;
use super::loop_mode::LoopMode;
use super::modifiers::Target;
use super::options::AtEnd;
use super::pool::Pool;
use crate::math::Affine3x4;

/// The playback of one character: its layers and actions in their present state.
///
/// From [`Crowd::playing`](crate::crowd::Crowd::playing), [`Mixer::playing`](super::Mixer::playing) or
/// [`Player::playing`](super::Player::playing). Nothing is evaluated. Calls fail for a layer or motion that is unknown, and
/// [`action`](Self::action) for a motion that does not play on the layer.
#[derive(Clone, Copy, Debug)]
pub struct Playing<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) index: usize,
}

/// The present state of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionState {
    /// Clip time in seconds, in [0, duration]; for a blend space, the phase in [0, 1].
    pub time: f64,
    /// Number of completed passes over the clip: whole, negative if it has played backwards past its start.
    pub loops: f64,
    /// Present weight.
    pub weight: f32,
    /// Weight at the end of the running fade; without a fade, the present weight.
    pub target: f32,
    /// Seconds until the running fade ends; 0 without a fade.
    pub fade_left: f64,
    /// The action's factor on time.
    pub speed: f32,
    /// Behaviour at the ends of the clip. A single pass reads as [`LoopMode::Once`], unless the mode is ping-pong.
    pub loop_mode: LoopMode,
    /// Number of passes over the clip, as [`PlayOptions::repetitions`](super::PlayOptions::repetitions); `None` without
    /// end and with [`LoopMode::Once`].
    pub repetitions: Option<u32>,
    /// Behaviour after the last pass.
    pub at_end: AtEnd,
    /// Present parameter of a blend space, within its ends, up to rounding; `None` for a clip.
    pub parameter: Option<Parameter>,
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
        self.pool.library().layers().len()
    }

    /// The state of an action.
    ///
    /// # Errors
    /// If the layer or motion is unknown, or the motion does not play on the layer.
    pub fn action(
        self,
        layer: usize,
        motion: impl Into<Playable>,
    ) -> Result<ActionState, PlaybackError> {
        let (state, a) = self.pool.find_action(self.index, layer, motion.into())?;
        Ok(ActionState::of(&state, a, self.pool.library()))
    }

    /// The actions of a layer with their states, oldest first: the order of blending.
    pub fn actions(
        self,
        layer: usize,
    ) -> Result<impl Iterator<Item = (Playable, ActionState)> + use<'a>, PlaybackError> {
        self.pool.library().check_layer(layer)?;
        let (library, state) = (self.pool.library(), self.pool.layer(self.index, layer));
        Ok((0..state.len()).map(move |a| {
            let motion = match state.action(a).source() {
                Source::Clip(clip) => Playable::Clip(library.clip_id(clip)),
                Source::Space(space) => Playable::Space(library.space_id(space)),
            };
            (motion, ActionState::of(&state, a, library))
        }))
    }

    /// The clips of all actions, layer by layer, within a layer oldest first; of a blend space, those that have a weight.
    pub fn clips(self) -> impl Iterator<Item = ClipId> + use<'a> {
        let library = self.pool.library();
        let actions = self.pool.actions_of(self.index);
        let clips = actions.flat_map(|action| library.motions().clips_of(action));
        clips.map(|clip| library.clip_id(clip))
    }

    /// The joints that have overrides, with the matrices that were set, in ascending order of joints: local ones, or in
    /// model space. Of a rotation in model space it is the rotation.
    pub fn overrides(self) -> impl Iterator<Item = (usize, &'a Affine3x4)> + use<'a> {
        let overrides = self.pool.state().overrides().of(self.index).iter();
        overrides.map(|o| (usize::from(o.joint), &o.matrix))
    }

    /// The target of a modifier and its present weight; weight 0 and the origin of model space if neither was set.
    ///
    /// # Errors
    /// If the modifier is unknown.
    pub fn target(self, modifier: ModifierId) -> Result<(Target, f32), PlaybackError> {
        let index = self.pool.library().modifier(modifier)?;
        let input = self.pool.state().inputs().get(self.index, index);
        let read = |input: &Input| (input.target, input.weight.value());
        Ok(input.map_or((Target::default(), 0.0), read))
    }

    /// The present weight of the character's pose; `None` if it has none.
    pub fn pose_weight(self) -> Option<f32> {
        let inputs = self.pool.state().inputs();
        let has = !inputs.pose(self.index).is_empty();
        has.then(|| inputs.weight(self.index, POSE).value())
    }

    /// The present weight of a layer.
    pub fn layer_weight(self, layer: usize) -> Result<f32, PlaybackError> {
        self.pool.library().check_layer(layer)?;
        Ok(self.pool.layer(self.index, layer).weight.value())
    }

    /// The weight at the end of a layer's running fade, and the seconds until then; without a fade, the present weight and
    /// 0.
    pub fn layer_fade(self, layer: usize) -> Result<(f32, f64), PlaybackError> {
        self.pool.library().check_layer(layer)?;
        let weight = self.pool.layer(self.index, layer).weight;
        Ok((weight.end(), weight.left()))
    }

    /// The speed of a layer: a factor on the speed of its actions.
    pub fn layer_speed(self, layer: usize) -> Result<f32, PlaybackError> {
        self.pool.library().check_layer(layer)?;
        Ok(self.pool.layer(self.index, layer).speed)
    }

    /// The speed of the character: a factor on the speed of its layers.
    pub fn character_speed(self) -> f32 {
        self.pool.state().speed(self.index)
    }
}

impl ActionState {
    fn of(layer: &LayerState, a: usize, library: &Library) -> Self {
        let (action, extra) = (layer.action(a), layer.extra(a));
        let course = action.course();
        let loop_mode = match (course.ping_pong, course.passes == 1.0) {
            (true, _) => LoopMode::PingPong,
            (false, true) => LoopMode::Once,
            (false, false) => LoopMode::Repeat,
        };
        // A finite number of passes has 32 bits.
        let repetitions = course.bounded().then_some(course.passes as u32);
        let space = match action.source() {
            Source::Space(space) => library.spaces().get(space),
            Source::Clip(_) => None,
        };
        Self {
            time: action.clip_time(),
            loops: action.playhead().pass,
            weight: action.weight.value(),
            target: action.weight.end(),
            fade_left: action.weight.left(),
            speed: action.speed(),
            loop_mode,
            repetitions: repetitions.filter(|_| loop_mode != LoopMode::Once),
            at_end: layer.at_end(a),
            parameter: space.map(|space| extra.parameter(space, action)),
            paused: action.paused(),
            fading_out: action.ending(),
            finished: action.finished(),
        }
    }
}
