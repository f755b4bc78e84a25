//! An action a moment earlier or later: for inertial fades.

use super::{Action, Playhead};
use crate::playback::linear_fade::LinearFade;

impl Action {
    /// Moves the action to where it is `seconds` later at a rate, or was before: in its first pass not past its start.
    pub fn shift(&mut self, seconds: f64, rate: f64) {
        let way = seconds * rate;
        let mut playhead = self.course().advance(self.playhead(), way).0;
        if seconds < 0.0 && self.pass == 0.0 {
            let time = (self.time + way).clamp(0.0, self.length.into());
            playhead = Playhead { pass: 0.0, time };
        }
        self.move_to(playhead);
        self.weight = LinearFade::still(match seconds < 0.0 {
            true => self.weight.before(-seconds),
            false => self.weight.after(seconds),
        });
    }
}
