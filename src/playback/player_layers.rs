//! The settings of whole layers and of the whole character: calls of a `Player`.

use super::changes::What;
use super::error::PlaybackError;
use super::linear_fade::LinearFade;
use super::player::{Player, check_seconds, check_speed};

impl Player<'_> {
    /// Sets the speed of the character: a factor on the speed of its layers.
    ///
    /// At speed 0 the character stands still: times, fades of actions and layers, and warps of speeds all stop, and
    /// continue when the speed is no longer 0. Calls work as usual; a fade that they start waits, too. At any other
    /// speed, fades take their seconds.
    ///
    /// # Errors
    /// If the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_character_speed(&mut self, speed: f32) -> Result<(), PlaybackError> {
        check_speed(speed)?;
        let layers = self.pool.layers.len();
        if self.pool.state.set_speed(self.index, layers, speed) {
            self.pool.touch(self.index, What::POSE);
        }
        Ok(())
    }

    /// Sets the speed of a layer: a factor on the speed of its actions.
    ///
    /// # Errors
    /// If the layer is unknown, or the speed is not within ±[`MAX_SPEED`](super::MAX_SPEED).
    pub fn set_layer_speed(&mut self, layer: usize, speed: f32) -> Result<(), PlaybackError> {
        self.pool.check_layer(layer)?;
        check_speed(speed)?;
        let mut state = self.pool.layer(self.index, layer);
        state.speed = speed;
        self.store(layer, &state);
        Ok(())
    }

    /// Sets the weight of a layer and ends its fade.
    ///
    /// # Errors
    /// If the layer is unknown, or the weight is outside [0, 1] (additive layers: [−1, 1]).
    pub fn set_layer_weight(&mut self, layer: usize, weight: f32) -> Result<(), PlaybackError> {
        self.fade_layer(layer, weight, 0.0)
    }

    /// Fades the weight of a layer to a target over `seconds`.
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
        self.pool.check_layer(layer)?;
        self.pool.check_weight("layer weight", layer, weight)?;
        check_seconds("seconds", seconds)?;
        let mut state = self.pool.layer(self.index, layer);
        let (fade, over) = (state.weight, f64::from(seconds));
        let rests = !fade.running() && fade.value() == weight;
        if rests || fade.gets_to(weight, over) {
            return Ok(());
        }
        state.weight = LinearFade::new(fade.value(), weight, over);
        self.store(layer, &state);
        Ok(())
    }
}
