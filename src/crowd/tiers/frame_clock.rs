//! `FrameClock`: counts the frames and the seconds of a crowd, and estimates the length of a frame.

use crate::playback::clock::LEAP;

/// Seconds without a frame after which phase clocks are dropped: the clock of a pool counts 9 hours.
const LONGEST: f64 = 7200.0;

/// The frames and the time of a crowd.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameClock {
    frame: u32,
    time: f64,
    step: f64,
    /// Time of the last frame.
    last: f64,
    /// True if the last step that was not 0 ran backwards.
    backwards: bool,
}

/// Effect of a step of time on data derived from earlier steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    /// True if time runs in the other direction than before.
    pub reversed: bool,
    /// True if phase clocks are no longer valid: they hold while time runs in one direction, without a leap, and for
    /// some hours at most.
    pub broken: bool,
}

impl FrameClock {
    /// Number of the frame. It wraps around.
    #[inline(always)]
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Seconds that have passed, in either direction.
    #[inline(always)]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Estimated seconds of a frame, negative while time runs backwards. Predictions are made by it.
    #[inline(always)]
    pub fn step(&self) -> f64 {
        self.step
    }

    #[inline]
    pub fn begin_frame(&mut self) {
        self.frame = self.frame.wrapping_add(1);
    }

    /// Ends the time that belongs to the frame, without an estimate of its length.
    #[inline]
    pub fn reach_frame(&mut self) {
        self.last = self.time;
    }

    /// Estimates the length of a frame from the time since the last one. A frame may have several steps; one without
    /// any says nothing. One long frame among short ones hardly counts.
    pub fn measure_frame(&mut self) {
        let length = (self.time - self.last).min(LEAP);
        self.last = self.time;
        let last = self.step.abs();
        // What the sum of time has lost by rounding is no change.
        let rounding = 4.0 * f64::EPSILON * self.time;
        if length <= 0.0 || (length - last).abs() <= rounding {
            return;
        }
        let step = if last == 0.0 || (length - last).abs() < length / 32.0 {
            length
        } else {
            let last = last.min(8.0 * length);
            last + (length.min(2.0 * last) - last) / 8.0
        };
        self.step = if self.backwards { -step } else { step };
    }

    /// Adds a step of time. `None` if it changes nothing of what was derived from earlier steps.
    #[inline]
    pub fn advance(&mut self, dt: f64) -> Option<Stepped> {
        self.time += dt.abs();
        let since = self.time - self.last;
        // Steps are at least as short as the time since the last frame.
        let most = (dt < 0.0) == self.backwards && since <= LEAP;
        if most { None } else { Some(self.interrupt(dt, since)) }
    }

    #[cold]
    fn interrupt(&mut self, dt: f64, since: f64) -> Stepped {
        let reversed = dt != 0.0 && (dt < 0.0) != self.backwards;
        if reversed {
            self.backwards = dt < 0.0;
            self.step = -self.step;
        }
        Stepped { reversed, broken: reversed || dt.abs() > LEAP || since > LONGEST }
    }

    /// Returns to the moment `seconds` before.
    pub fn rewind(&mut self, seconds: f64) {
        self.time -= seconds;
    }

    /// The same frame, time and length of a frame, as after a frame.
    pub fn restarted(&self) -> Self {
        Self { last: self.time, ..self.clone() }
    }
}
