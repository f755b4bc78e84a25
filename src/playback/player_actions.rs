//! The settings of a player for single actions.

use super::error::PlaybackError;
use super::ids::Motion;
use super::interval::Loop;
use super::linear_fade::LinearFade;
use super::loop_mode::LoopMode;
use super::options::AtEnd;
use super::player::{Player, check_repetitions, check_speed};
use super::pool::{MAX_TIME, check};

impl Player<'_> {
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
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
        let actions = self.actions();
        actions.slow[entry][a].paused = paused;
        actions.set_rate(entry, a);
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
    /// If the motion does not play on the layer, or the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_speed(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        speed: f32,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
        check_speed(speed)?;
        let actions = self.actions();
        let slow = &mut actions.slow[entry][a];
        // Turned around, it leads away from the end that it holds.
        slow.ended &= (slow.speed < 0.0) == (speed < 0.0);
        slow.speed = f64::from(speed);
        slow.warp = LinearFade::default();
        actions.set_rate(entry, a);
        Ok(())
    }

    /// Sets the loop mode of an action and the number of its passes (`None`: without end).
    ///
    /// With another mode or number than before, the action goes on from its clip time, in its first pass.
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
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
        check_repetitions(repetitions)?;
        let actions = self.actions();
        let length = actions.slow[entry][a].course.length;
        actions.set_course(entry, a, Loop::new(mode, repetitions, length));
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
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
        self.actions().slow[entry][a].at_end = at_end;
        Ok(())
    }

    /// Sets the time of an action, unbounded: of a clip in seconds, of a blend space in phases (1 is one pass). Events
    /// in between do not fire.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the time is not within ±[`MAX_TIME`].
    pub fn set_time(
        &mut self,
        layer: usize,
        motion: impl Into<Motion>,
        time: f64,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self.pool.find_action(self.index, layer, motion.into())?;
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
        let (entry, a) = self.pool.find_action(self.index, layer, motion)?;
        let time = phase * self.actions().slow[entry][a].course.length;
        self.set_time(layer, motion, time)
    }
}
