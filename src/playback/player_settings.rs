//! The settings of single actions, of layers and of the character: calls of a `Player`.

use super::blend_space::Parameter;
use super::error::PlaybackError;
use super::ids::{BlendSpaceId, Playable};
use super::interval::Loop;
use super::linear_fade::LinearFade;
use super::loop_mode::LoopMode;
use super::options::{
    AtEnd, check_parameter, check_repetitions, check_seconds, check_speed, check_time,
};
use super::player::Player;

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
        self.change(layer, motion, |_, state, a| {
            state.action_mut(a).set_paused(paused);
            Ok(())
        })
    }

    /// Sets the weight of an action, in [0, 1] (additive layers: [−1, 1]), and ends its fade.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the weight is outside [0, 1] (additive layers: [−1, 1]).
    pub fn set_weight(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        self.fade(layer, motion, weight, 0.0)
    }

    /// Sets the speed of an action, a factor on its time within ±[`MAX_SPEED`](super::MAX_SPEED), and ends its warp.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_speed(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        speed: f32,
    ) -> Result<(), PlaybackError> {
        self.change(layer, motion, |_, state, a| {
            check_speed(speed)?;
            state.action_mut(a).set_speed(speed);
            state.set_warp(a, LinearFade::still(speed));
            Ok(())
        })
    }

    /// Sets the loop mode of an action and the number of its passes, at least 1 (`None`: without end).
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
        self.change(layer, motion, |_, state, a| {
            check_repetitions(repetitions)?;
            let action = state.action_mut(a);
            let length = action.course().length;
            action.set_course(&Loop::new(mode, repetitions, length));
            Ok(())
        })
    }

    /// Sets what an action does after its last pass.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or seconds are out of range.
    pub fn set_at_end(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        at_end: AtEnd,
    ) -> Result<(), PlaybackError> {
        self.change(layer, motion, |_, state, a| {
            at_end.check()?;
            state.set_at_end(a, at_end);
            Ok(())
        })
    }

    /// Sets the time of an action, within ±[`MAX_TIME`](super::MAX_TIME): seconds for a clip, phases for a blend space (1
    /// is one pass). Events in between do not fire.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or the time is not within ±[`MAX_TIME`](super::MAX_TIME).
    pub fn set_time(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        time: f64,
    ) -> Result<(), PlaybackError> {
        self.change(layer, motion, |_, state, a| {
            check_time(time)?;
            state.action_mut(a).seek(time);
            Ok(())
        })
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
        self.change(layer, motion, |_, state, a| {
            let action = state.action_mut(a);
            let time = phase * action.course().length;
            check_time(time)?;
            action.seek(time);
            Ok(())
        })
    }

    /// Sets the parameter of a playing blend space, within ±1e9. It takes the value at once, or
    /// [follows](super::BlendSpace::following) it, also if it is paused or its speed is 0. Beyond the ends of a space its nearest value counts.
    ///
    /// # Errors
    /// If the blend space does not play on the layer, or the value is not within ±1e9.
    pub fn set_parameter(
        &mut self,
        layer: usize,
        space: BlendSpaceId,
        value: impl Into<Parameter>,
    ) -> Result<(), PlaybackError> {
        let value = value.into();
        self.change(layer, space, |library, state, a| {
            check_parameter(value)?;
            state.steer(a, library, value);
            Ok(())
        })
    }
}

impl Player<'_> {
    /// Sets the speed of the character, a factor on the speed of its layers within ±[`MAX_SPEED`](super::MAX_SPEED).
    ///
    /// At speed 0 the character stands still: times, fades of actions and layers, and warps of speeds all stop, and
    /// continue when the speed is no longer 0. Calls work as usual; a fade that they start waits, too. At any other
    /// speed, fades take their seconds.
    ///
    /// # Errors
    /// If the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_character_speed(&mut self, speed: f32) -> Result<(), PlaybackError> {
        check_speed(speed)?;
        self.pool.set_speed(self.index, speed);
        Ok(())
    }

    /// Sets the speed of a layer, a factor on the speed of its actions within ±[`MAX_SPEED`](super::MAX_SPEED).
    ///
    /// # Errors
    /// If the layer is unknown, or the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_layer_speed(&mut self, layer: usize, speed: f32) -> Result<(), PlaybackError> {
        self.pool.library().check_layer(layer)?;
        check_speed(speed)?;
        self.change_layer(layer, |state| state.speed = speed);
        Ok(())
    }

    /// Sets the weight of a layer, in [0, 1] (additive layers: [−1, 1]), and ends its fade.
    ///
    /// # Errors
    /// If the layer is unknown, or the weight is outside [0, 1] (additive layers: [−1, 1]).
    pub fn set_layer_weight(&mut self, layer: usize, weight: f32) -> Result<(), PlaybackError> {
        self.fade_layer(layer, weight, 0.0)
    }

    /// Fades the weight of a layer to a target, in [0, 1] (additive layers: [−1, 1]), over `seconds`.
    ///
    /// Use this to fade a whole layer in and out over those below. Fading out its last action blends to the rest pose
    /// instead, unless the layer has [`Fill::Below`](super::Fill::Below). A running fade to the same weight that ends
    /// sooner continues.
    ///
    /// # Errors
    /// If the layer is unknown, the weight is outside [0, 1] (additive layers: [−1, 1]), or `seconds` is not within 0
    /// to [`MAX_TIME`](super::MAX_TIME).
    pub fn fade_layer(
        &mut self,
        layer: usize,
        weight: f32,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let library = self.pool.library();
        library.check_layer(layer)?;
        library.check_weight("layer weight", layer, weight)?;
        check_seconds("seconds", seconds)?;
        self.change_layer(layer, |state| {
            let (fade, over) = (state.weight, f64::from(seconds));
            let rests = !fade.running() && fade.value() == weight;
            if !(rests || fade.gets_to(weight, over)) {
                state.weight = LinearFade::new(fade.value(), weight, over);
            }
        });
        Ok(())
    }
}
