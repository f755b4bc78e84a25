//! The settings of single actions: calls of a `Player`.

use super::error::PlaybackError;
use super::ids::Playable;
use super::interval::Loop;
use super::linear_fade::LinearFade;
use super::loop_mode::LoopMode;
use super::options::AtEnd;
use super::player::{Player, check_repetitions, check_speed};
use super::pool::Pool;

impl Player<'_> {
    /// Pauses or resumes an action. A paused action keeps its weight, and its fades continue.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn set_paused(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        paused: bool,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        state.action_mut(a).set_paused(paused);
        self.store(layer, &state);
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
        motion: impl Into<Playable>,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        self.fade(layer, motion, weight, 0.0)
    }

    /// Sets the speed of an action, a factor on its time, and ends its warp.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_speed(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        speed: f32,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        check_speed(speed)?;
        state.action_mut(a).set_speed(speed);
        state.set_warp(a, LinearFade::still(speed));
        self.store(layer, &state);
        Ok(())
    }

    /// Sets the loop mode of an action and the number of its passes (`None`: without end).
    ///
    /// If the mode or the number changes, the action continues from its clip time, in its first pass.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or `repetitions` is 0.
    pub fn set_loop(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        mode: LoopMode,
        repetitions: Option<u32>,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        check_repetitions(repetitions)?;
        let action = state.action_mut(a);
        let length = action.course().length;
        action.set_course(&Loop::new(mode, repetitions, length));
        self.store(layer, &state);
        Ok(())
    }

    /// Sets what an action does after its last pass.
    ///
    /// # Errors
    /// If the motion does not play on the layer.
    pub fn set_at_end(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        at_end: AtEnd,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        state.action_mut(a).set_at_end(at_end);
        self.store(layer, &state);
        Ok(())
    }

    /// Sets the time of an action, unbounded: seconds for a clip, phases for a blend space (1 is one pass). Events in
    /// between do not fire.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the time is not within ±[`MAX_TIME`](super::MAX_TIME).
    pub fn set_time(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        time: f64,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        Pool::check_time(time)?;
        state.action_mut(a).seek(time);
        self.store(layer, &state);
        Ok(())
    }

    /// Sets the phase of an action: 0 is the start of the clip, 1 its end. Events in between do not fire.
    ///
    /// # Errors
    /// As for [`set_time`](Self::set_time).
    pub fn set_phase(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        phase: f64,
    ) -> Result<(), PlaybackError> {
        let motion = motion.into();
        let (state, a) = self.find(layer, motion)?;
        let time = phase * state.action(a).course().length;
        self.set_time(layer, motion, time)
    }
}
