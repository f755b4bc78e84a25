//! Fades of an action's weight by calls.

use super::Action;
use crate::playback::linear_fade::LinearFade;

impl Action {
    /// Fades the weight from its present value to a target over `seconds`. A running fade that reaches the target
    /// sooner continues.
    pub fn fade(&mut self, target: f32, seconds: f32) {
        let over = f64::from(seconds);
        let rests = !self.weight.running() && self.weight.value() == target;
        if !self.ending() && (rests || self.weight.gets_to(target, over)) {
            return;
        }
        self.set_ending(false);
        self.weight = LinearFade::new(self.weight.value(), target, over);
    }

    /// Fades the weight to a target: over the rest of the running fade, or over `seconds` if none runs or the action
    /// fades out.
    pub fn aim(&mut self, target: f32, seconds: f32) {
        let weight = self.weight.value();
        if !self.ending() && self.weight.running() {
            if self.weight.end() != target {
                self.weight = LinearFade::new(weight, target, self.weight.left());
            }
        } else if self.ending() || weight != target {
            self.fade(target, seconds);
        }
    }

    /// Gives the action a weight at once, and lets it go on.
    pub fn settle(&mut self, weight: f32) {
        self.set_ending(false);
        self.weight = LinearFade::still(weight);
    }
}
