//! `Player`: the layers and actions of one character, of a mixer or of a crowd's instance. Every call
//! validates before it changes anything.

use super::actions::{ACTIONS_PER_LAYER, Actions};
use super::blend_space::check_parameter;
use super::error::PlaybackError;
use super::ids::{Motion, Source};
use super::interval::Loop;
use super::linear_fade::LinearFade;
use super::loop_mode::LoopMode;
use super::options::{AtEnd, PlayOptions};
use super::pool::{MAX_TIME, Pool, check};

/// The largest speed factor, either sign.
pub const MAX_SPEED: f64 = 1.0e6;

/// The layers and actions of one character: of a [`Mixer`](super::Mixer), or of an instance of a crowd.
///
/// An action is identified by its layer and the clip or blend space that it plays. A call that fails changes
/// nothing. Calls fail for a clip or blend space that is [unknown](PlaybackError::UnknownClip), and calls
/// on an action for one that [does not play](PlaybackError::NotPlaying).
#[derive(Debug)]
pub struct Player<'a> {
    pub(crate) pool: &'a mut Pool,
    pub(crate) index: usize,
}

/// The state of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionState {
    /// Clip time in seconds, in [0, duration].
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
    /// True if the action holds the end of its last pass (backwards: the start of the first).
    pub finished: bool,
}

impl Pool {
    /// The entry and slot of the action that plays a motion on a layer.
    pub(crate) fn slot(
        &self,
        index: usize,
        layer: usize,
        motion: Motion,
    ) -> Result<(usize, usize), PlaybackError> {
        self.check_layer(layer)?;
        let entry = self.entry(index, layer);
        let found = self.state.actions.find(entry, self.source(motion)?);
        let none = PlaybackError::NotPlaying { motion, layer };
        found.map(|a| (entry, a)).ok_or(none)
    }

    pub(crate) fn action_state(&self, entry: usize, a: usize) -> ActionState {
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
            finished: actions.finished(entry, a),
        }
    }

    pub(super) fn check_options(
        &self,
        layer: usize,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        check_speed(options.speed)?;
        check("time", options.time, -MAX_TIME, MAX_TIME)?;
        check_seconds("fade_in", options.fade_in)?;
        check_repetitions(options.repetitions)?;
        check_parameter(options.parameter)?;
        self.check_weight("weight", layer, options.weight)
    }

    pub(super) fn check_weight(
        &self,
        what: &'static str,
        layer: usize,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        let low = if self.layers[layer].additive {
            -1.0
        } else {
            0.0
        };
        check(what, f64::from(weight), low, 1.0)
    }
}

pub(super) fn check_speed(speed: f32) -> Result<(), PlaybackError> {
    check("speed", f64::from(speed), -MAX_SPEED, MAX_SPEED)
}

pub(super) fn check_seconds(what: &'static str, seconds: f32) -> Result<(), PlaybackError> {
    check(what, f64::from(seconds), 0.0, MAX_TIME)
}

pub(super) fn check_repetitions(repetitions: Option<u32>) -> Result<(), PlaybackError> {
    let n = repetitions.map_or(1.0, f64::from);
    check("repetitions", n, 1.0, f64::from(u32::MAX))
}

impl Player<'_> {
    /// Checks a motion and its options, and finds the entry of the layer.
    pub(super) fn admit(
        &self,
        layer: usize,
        motion: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(usize, Source), PlaybackError> {
        let source = self.pool.check_motion(layer, motion.into())?;
        self.pool.check_options(layer, options)?;
        Ok((self.pool.entry(self.index, layer), source))
    }

    /// Plays a motion alone on a layer: [`fade_to`](Self::fade_to) over the seconds of `options.fade_in`.
    ///
    /// # Errors
    /// Those of [`fade_to`](Self::fade_to).
    pub fn play(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        self.fade_to(layer, motion, options.fade_in, options)
    }

    /// Fades to a motion over `seconds`; the other actions of the layer fade out from their present weights.
    ///
    /// If the motion already plays there, it continues from its time and weight, or restarts at
    /// `options.time` if it had finished. With 0 seconds all actions stop at once and the motion starts at
    /// `options.time`. If the layer is full, the action with the lowest weight is evicted.
    ///
    /// # Errors
    /// If the layer or clip is unknown, the clip's kind is not the layer's, or a number is out of range.
    pub fn fade_to(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let (entry, source) = self.admit(layer, motion, options)?;
        check_seconds("seconds", seconds)?;
        let known = self.actions().find(entry, source).filter(|_| seconds > 0.0);
        self.actions().end_all(entry, seconds, known);
        self.fade_in(entry, source, seconds, options, known);
        Ok(())
    }

    /// Starts a motion beside the other actions of a layer, or restarts it if it plays there already.
    ///
    /// If the layer is full, the action with the lowest weight is evicted.
    ///
    /// # Errors
    /// Those of [`fade_to`](Self::fade_to).
    pub fn start(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let (entry, source) = self.admit(layer, motion, options)?;
        if let Some(a) = self.actions().find(entry, source) {
            self.actions().free(entry, a);
        }
        self.begin(entry, source, options);
        Ok(())
    }

    /// Adds a motion beside the other actions of a layer, without eviction: for weighted sets of actions.
    ///
    /// # Errors
    /// Those of [`fade_to`](Self::fade_to), or if the layer already plays [`ACTIONS_PER_LAYER`] actions.
    pub fn add(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let (entry, source) = self.admit(layer, motion, options)?;
        if self.actions().playing(entry).count() == ACTIONS_PER_LAYER {
            return Err(PlaybackError::Limit {
                what: "actions of one layer",
                count: ACTIONS_PER_LAYER + 1,
                limit: ACTIONS_PER_LAYER,
            });
        }
        self.begin(entry, source, options);
        Ok(())
    }

    /// Fades the weight of an action to a target over `seconds`; an action of weight 0 keeps playing.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or a number is out of range.
    pub fn fade(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        weight: f32,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        self.pool.check_weight("weight", layer, weight)?;
        check_seconds("seconds", seconds)?;
        self.actions().fade(entry, a, weight, seconds);
        self.pool.mark_dirty(self.index);
        Ok(())
    }

    /// Fades an action out over `seconds`, then stops it; 0 seconds stop it at once.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or `seconds` is negative or not finite.
    pub fn stop(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        check_seconds("seconds", seconds)?;
        self.actions().end(entry, a, seconds);
        self.pool.mark_dirty(self.index);
        Ok(())
    }

    /// Fades out and stops all actions of a layer; 0 seconds stop them at once.
    ///
    /// # Errors
    /// If the layer is unknown, or `seconds` is negative or not finite.
    pub fn stop_layer(&mut self, layer: usize, seconds: f32) -> Result<(), PlaybackError> {
        self.pool.check_layer(layer)?;
        check_seconds("seconds", seconds)?;
        let entry = self.pool.entry(self.index, layer);
        self.actions().end_all(entry, seconds, None);
        self.pool.mark_dirty(self.index);
        Ok(())
    }

    /// Fades out and stops all actions of all layers; 0 seconds stop them at once.
    ///
    /// # Errors
    /// If `seconds` is negative or not finite.
    pub fn stop_all(&mut self, seconds: f32) -> Result<(), PlaybackError> {
        check_seconds("seconds", seconds)?;
        (0..self.pool.layers.len()).try_for_each(|layer| self.stop_layer(layer, seconds))
    }

    /// Pauses or resumes an action. A paused action keeps its weight, and its fades continue.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn set_paused(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        paused: bool,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        let actions = self.actions();
        actions.slow[entry][a].paused = paused;
        actions.set_rate(entry, a);
        Ok(())
    }

    /// Sets an action back to time 0 as if it had just been started: not paused, no warp.
    ///
    /// It keeps its weight and a running fade.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn reset(&mut self, layer: usize, motion: impl Into<Motion>) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        self.actions().restart(entry, a, 0.0);
        Ok(())
    }

    /// Sets the weight of an action and ends its fade.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the weight is outside [0, 1] (additive layers:
    /// [−1, 1]).
    pub fn set_weight(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        self.fade(layer, motion, weight, 0.0)
    }

    /// Sets the speed of an action, a factor on its time, and ends its warp.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the speed is not within ±[`MAX_SPEED`].
    pub fn set_speed(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        speed: f32,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        check_speed(speed)?;
        let actions = self.actions();
        actions.slow[entry][a].speed = f64::from(speed);
        actions.slow[entry][a].warp = LinearFade::default();
        actions.set_rate(entry, a);
        Ok(())
    }

    /// Sets the loop mode of an action and the number of its passes (`None`: without end).
    ///
    /// The action continues from its current clip time, in its first pass.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or `repetitions` is 0.
    pub fn set_loop(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        mode: LoopMode,
        repetitions: Option<u32>,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        check_repetitions(repetitions)?;
        let actions = self.actions();
        let time = actions.clip_time(entry, a);
        let length = actions.slow[entry][a].course.length;
        actions.slow[entry][a].course = Loop::new(mode, repetitions, length);
        actions.seek(entry, a, time);
        Ok(())
    }

    /// Sets what an action does after its last pass.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn set_at_end(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        at_end: AtEnd,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        self.actions().slow[entry][a].at_end = at_end;
        Ok(())
    }

    /// Sets the time of an action in seconds of unbounded time. Events in between do not fire.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the time is not within ±[`MAX_TIME`].
    pub fn set_time(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        time: f64,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        check("time", time, -MAX_TIME, MAX_TIME)?;
        self.actions().seek(entry, a, time);
        Ok(())
    }

    /// Sets the phase of an action: 0 is the start of the clip, 1 its end. Events in between do not fire.
    ///
    /// # Errors
    /// Those of [`set_time`](Self::set_time).
    pub fn set_phase(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        phase: f64,
    ) -> Result<(), PlaybackError> {
        let motion = motion.into();
        let (entry, a) = self.pool.slot(self.index, layer, motion)?;
        let time = phase * self.actions().slow[entry][a].course.length;
        self.set_time(layer, motion, time)
    }

    /// The state of an action.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn action(
        &self,
        layer: usize,
        motion: impl Into<Motion>,
    ) -> Result<ActionState, PlaybackError> {
        let (entry, a) = self.pool.slot(self.index, layer, motion.into())?;
        Ok(self.pool.action_state(entry, a))
    }

    pub(super) fn actions(&mut self) -> &mut Actions {
        &mut self.pool.state.actions
    }

    /// Fades a motion in to its weight, starting it unless it is `known`. The arguments have been checked.
    pub(super) fn fade_in(
        &mut self,
        entry: usize,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        known: Option<usize>,
    ) {
        let Some(a) = known else {
            let options = PlayOptions {
                fade_in: seconds,
                ..*options
            };
            return self.begin(entry, source, &options);
        };
        let actions = self.actions();
        if actions.finished(entry, a) {
            actions.restart(entry, a, options.time);
        }
        actions.fade(entry, a, options.weight, seconds);
        actions.slow[entry][a].speed = f64::from(options.speed);
        actions.slow[entry][a].warp = LinearFade::default();
        actions.slow[entry][a].paused = false;
        actions.set_rate(entry, a);
        self.pool.mark_dirty(self.index);
    }

    fn begin(&mut self, entry: usize, source: Source, options: &PlayOptions) {
        let (members, length) = self.pool.members_of(source, options.parameter);
        let actions = self.actions();
        let evicted = actions.start(entry, source, members, length, options);
        self.pool.state.evicted += u64::from(evicted);
        self.pool.mark_dirty(self.index);
    }
}
