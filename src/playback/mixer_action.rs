//! The actions of a mixer: a clip on a layer with settings of its own, whether it plays or not.

use super::error::PlaybackError;
use super::ids::{ActionId, Motion};
use super::loop_mode::LoopMode;
use super::mixer::Mixer;
use super::options::{AtEnd, PlayOptions};
use super::player::ActionState;

/// What a mixer remembers of an action that does not play.
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

/// An action of a mixer, to be played and set. Settings hold from the next [`play`](Self::play) on,
/// and at once if it plays. Every call checks first; what it refuses changes nothing.
#[derive(Debug)]
pub struct ActionMut<'a> {
    pub(super) mixer: &'a mut Mixer,
    pub(super) id: ActionId,
}

impl ActionMut<'_> {
    /// Its handle.
    pub fn id(&self) -> ActionId {
        self.id
    }

    /// Starts it beside what plays on its layer. One that plays goes on, one that is paused goes on, one
    /// that has finished starts again; one that fades out still stops then ([`fade_in`](Self::fade_in)
    /// brings it back). If the layer is full, the action with the lowest weight is evicted.
    ///
    /// # Errors
    /// None but that the clip is unknown, which a handle that is not stale rules out.
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

    /// Stops it at once. Its settings stay.
    ///
    /// # Errors
    /// None beside a stale handle.
    pub fn stop(self) -> Result<Self, PlaybackError> {
        self.fade_out(0.0)
    }

    /// Has its time stand still; it keeps its weight and its place on the layer.
    ///
    /// # Errors
    /// If it does not play.
    pub fn pause(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer
            .player()
            .set_paused(own.layer, own.motion, true)?;
        Ok(self)
    }

    /// Puts it back to its start as if it had just been played.
    ///
    /// # Errors
    /// None beside a stale handle.
    pub fn reset(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        if self.playing() {
            self.mixer.player().reset(own.layer, own.motion)?;
        }
        self.change(|o| o.time = 0.0)
    }

    /// Starts it with settings of its own from then on; anew, if it plays already.
    ///
    /// # Errors
    /// If an option is out of range.
    pub fn play_with(self, options: &PlayOptions) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer.player().start(own.layer, own.motion, options)?;
        self.change(|o| *o = *options)
    }

    /// Plays it from weight 0 (from the weight it has reached, if it plays) up to its weight over
    /// `seconds`; what else plays goes on.
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

    /// Fades it out over `seconds` and stops it then.
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

    /// Sets its weight; a fade of it ends.
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

    /// Sets its speed: a factor on its time; negative plays backwards.
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

    /// Sets what it does at its ends, and how many passes it makes (`None`: for ever).
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

    /// Sets what it does after its last pass.
    ///
    /// # Errors
    /// None beside a stale handle.
    pub fn set_at_end(self, at_end: AtEnd) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        if self.playing() {
            self.mixer
                .player()
                .set_at_end(own.layer, own.motion, at_end)?;
        }
        self.change(|o| o.at_end = at_end)
    }

    /// Puts it at a time, in seconds of unbounded time: now if it plays, else when it starts.
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

    /// Sets the parameter of a blend space; nothing to clips.
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

    /// How it stands; `None` if it does not play.
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
