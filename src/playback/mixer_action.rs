//! The actions of a mixer: a clip on a layer with its settings, playing or not.

use super::error::PlaybackError;
use super::ids::{ActionId, Motion};
use super::loop_mode::LoopMode;
use super::mixer::Mixer;
use super::options::{AtEnd, PlayOptions};
use super::player::ActionState;

/// What a mixer stores of an action, playing or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Remembered {
    pub layer: usize,
    pub motion: Motion,
    pub options: PlayOptions,
}

impl Mixer {
    pub(super) fn remembered(&self, id: ActionId) -> Result<Remembered, PlaybackError> {
        let found = self.actions.find(id.index, id.generation).copied();
        found
            .filter(|_| id.mixer == self.id)
            .ok_or(PlaybackError::UnknownAction { action: id })
    }
}

/// Access to an action of a mixer, to play and set it.
///
/// A setting applies at once if the action is playing, and from its next [`play`](Self::play) on. A call
/// that fails changes nothing.
#[derive(Debug)]
pub struct ActionMut<'a> {
    pub(super) mixer: &'a mut Mixer,
    pub(super) id: ActionId,
}

impl ActionMut<'_> {
    /// The handle of the action.
    pub fn id(&self) -> ActionId {
        self.id
    }

    /// Starts the action beside the other actions of its layer.
    ///
    /// If it is playing or paused, it continues. If it has finished, it starts again. If it is fading out,
    /// it still stops at the end of the fade; [`fade_in`](Self::fade_in) brings it back. If the layer is
    /// full, the action with the lowest weight is evicted.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn play(self) -> Result<Self, PlaybackError> {
        let Remembered {
            layer,
            motion,
            options,
        } = self.own()?;
        let mut player = self.mixer.player();
        match player.action(layer, motion) {
            Ok(state) if !state.finished => player.set_paused(layer, motion, false)?,
            _ => player.start(layer, motion, &options)?,
        }
        Ok(self)
    }

    /// Stops the action at once. It keeps its settings.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn stop(self) -> Result<Self, PlaybackError> {
        self.fade_out(0.0)
    }

    /// Pauses the action. It keeps its weight and stays on the layer.
    ///
    /// # Errors
    /// If the action is not playing.
    pub fn pause(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer
            .player()
            .set_paused(own.layer, own.motion, true)?;
        Ok(self)
    }

    /// Sets the action back to time 0, as if it had just been started.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn reset(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        if self.playing() {
            self.mixer.player().reset(own.layer, own.motion)?;
        }
        self.change(|o| o.time = 0.0)
    }

    /// Starts the action with new settings, or restarts it if it is playing. The action keeps the settings.
    ///
    /// # Errors
    /// If an option is out of range.
    pub fn play_with(self, options: &PlayOptions) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer.player().start(own.layer, own.motion, options)?;
        self.change(|o| *o = *options)
    }

    /// Fades the action in to its weight over `seconds`; the other actions of the layer keep theirs.
    ///
    /// It starts at weight 0, or continues from its present weight if it is playing.
    ///
    /// # Errors
    /// If `seconds` is negative or not finite.
    pub fn fade_in(self, seconds: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        let mut player = self.mixer.player();
        if player.action(own.layer, own.motion).is_ok() {
            player.fade(own.layer, own.motion, own.options.weight, seconds)?;
        } else {
            let options = PlayOptions {
                fade_in: seconds,
                ..own.options
            };
            player.start(own.layer, own.motion, &options)?;
        }
        Ok(self)
    }

    /// Fades the action out over `seconds`, then stops it.
    ///
    /// # Errors
    /// If `seconds` is negative or not finite.
    pub fn fade_out(self, seconds: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        super::player::check_seconds("seconds", seconds)?;
        if self.playing() {
            self.mixer.player().stop(own.layer, own.motion, seconds)?;
        }
        Ok(self)
    }

    /// Sets the weight of the action and ends its fade.
    ///
    /// # Errors
    /// If the weight is outside [0, 1] (additive layers: [−1, 1]).
    pub fn set_weight(self, weight: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer.pool.check_weight("weight", own.layer, weight)?;
        if self.playing() {
            self.mixer
                .player()
                .set_weight(own.layer, own.motion, weight)?;
        }
        self.change(|o| o.weight = weight)
    }

    /// Sets the speed of the action: a factor on its time. A negative speed plays backwards.
    ///
    /// # Errors
    /// If the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_speed(self, speed: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        super::player::check_speed(speed)?;
        if self.playing() {
            self.mixer
                .player()
                .set_speed(own.layer, own.motion, speed)?;
        }
        self.change(|o| o.speed = speed)
    }

    /// Sets the loop mode of the action and the number of its passes (`None`: without end).
    ///
    /// # Errors
    /// If `repetitions` is 0.
    pub fn set_loop(self, mode: LoopMode, repetitions: Option<u32>) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        super::player::check_repetitions(repetitions)?;
        if self.playing() {
            self.mixer
                .player()
                .set_loop(own.layer, own.motion, mode, repetitions)?;
        }
        self.change(|o| (o.loop_mode, o.repetitions) = (mode, repetitions))
    }

    /// Sets what the action does after its last pass.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn set_at_end(self, at_end: AtEnd) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        if self.playing() {
            self.mixer
                .player()
                .set_at_end(own.layer, own.motion, at_end)?;
        }
        self.change(|o| o.at_end = at_end)
    }

    /// Sets the time of the action in seconds of unbounded time: at once if it plays, else when it starts.
    ///
    /// # Errors
    /// If the time is not within ±[`MAX_TIME`](super::MAX_TIME).
    pub fn set_time(self, time: f64) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        super::pool::check("time", time, -super::MAX_TIME, super::MAX_TIME)?;
        if self.playing() {
            self.mixer.player().set_time(own.layer, own.motion, time)?;
            return Ok(self);
        }
        self.change(|o| o.time = time)
    }

    /// Sets the parameter of a blend space. It has no effect on a clip.
    ///
    /// # Errors
    /// If the value is not within ±1e9.
    pub fn set_parameter(self, value: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        super::blend_space::check_parameter(value)?;
        if let Motion::Space(space) = own.motion
            && self.playing()
        {
            self.mixer.player().set_parameter(own.layer, space, value)?;
        }
        self.change(|o| o.parameter = value)
    }

    /// The state of the action; `None` if it is not playing.
    pub fn state(&self) -> Option<ActionState> {
        let own = self.own().ok()?;
        let pool = &self.mixer.pool;
        let (entry, a) = pool.slot(0, own.layer, own.motion).ok()?;
        Some(pool.action_state(entry, a))
    }

    fn playing(&self) -> bool {
        self.state().is_some()
    }

    fn own(&self) -> Result<Remembered, PlaybackError> {
        self.mixer.remembered(self.id)
    }

    fn change(self, set: impl FnOnce(&mut PlayOptions)) -> Result<Self, PlaybackError> {
        let ActionId {
            index, generation, ..
        } = self.id;
        if let Some(remembered) = self.mixer.actions.find_mut(index, generation) {
            set(&mut remembered.options);
        }
        Ok(self)
    }
}
