//! `LinearFade`: a number that changes linearly over time. Used for fades of weights and warps of speeds.

/// A linear change from one value to another. Exact at both ends, whatever steps lie between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LinearFade {
    from: f32,
    to: f32,
    /// Length of the whole fade, seconds; 0 if none runs.
    total: f64,
    /// Rest of the fade, seconds.
    left: f64,
}

impl LinearFade {
    /// A value that does not change.
    pub const fn still(value: f32) -> Self {
        Self { from: value, to: value, total: 0.0, left: 0.0 }
    }

    /// A fade over `seconds`; with 0 seconds, the target at once.
    pub fn new(from: f32, to: f32, seconds: f64) -> Self {
        if seconds > 0.0 {
            let (total, left) = (seconds, seconds);
            Self { from, to, total, left }
        } else {
            Self::still(to)
        }
    }

    /// Start, target, total seconds and seconds left, if the fade runs.
    pub fn parts(&self) -> Option<(f32, f32, f64, f64)> {
        let Self { from, to, total, left } = *self;
        self.running().then_some((from, to, total, left))
    }

    /// The fade of these [`parts`](Self::parts).
    pub fn of_parts((from, to, total, left): (f32, f32, f64, f64)) -> Self {
        Self { from, to, total, left }
    }

    /// True until the fade reaches its target.
    #[inline(always)]
    pub fn running(&self) -> bool {
        self.left > 0.0
    }

    /// True if the value is 0 and stays 0 until a call changes it.
    #[inline(always)]
    pub fn is_silent(&self) -> bool {
        !self.running() && self.to == 0.0
    }

    /// True if the value is 1 or more and stays so until a call changes it.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        !self.running() && self.to >= 1.0
    }

    /// Seconds left.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// Seconds until the fade ends; infinite if none runs.
    pub fn wait(&self) -> f64 {
        if self.running() { self.left } else { f64::INFINITY }
    }

    pub fn end(&self) -> f32 {
        self.to
    }

    /// True if the fade runs and reaches this value within `seconds`.
    pub fn gets_to(&self, value: f32, seconds: f64) -> bool {
        self.running() && self.to == value && self.left <= seconds
    }

    pub fn value(&self) -> f32 {
        self.at(self.left) as f32
    }

    /// The value after `seconds` ≥ 0.
    #[inline(always)]
    pub fn after(&self, seconds: f64) -> f32 {
        if self.running() { self.at(self.left - seconds) as f32 } else { self.to }
    }

    /// The value `seconds` ago; before the fade began its first one.
    pub fn before(&self, seconds: f64) -> f32 {
        let left = (self.left + seconds).min(self.total);
        if self.running() { self.at(left) as f32 } else { self.to }
    }

    /// [`after`](Self::after) in f64.
    pub fn exact(&self, seconds: f64) -> f64 {
        self.at(self.left - seconds)
    }

    fn at(&self, left: f64) -> f64 {
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        if left > 0.0 { to + (from - to) * (left / self.total) } else { to }
    }

    /// Advances the fade by `seconds` ≥ 0.
    pub fn advance(&mut self, seconds: f64) {
        if self.left > seconds {
            self.left -= seconds;
        } else {
            *self = Self::still(self.to);
        }
    }

    /// The seconds after which the [integral](Self::integral) reaches `sum`, which has the sign of the present value; 0
    /// if it never does.
    pub fn after_integral(&self, sum: f64) -> f64 {
        let (now, end) = (self.at(self.left), f64::from(self.to));
        let within = 0.5 * (now + end) * self.left;
        let seconds = if !self.running() || sum.abs() > within.abs() {
            self.left + (sum - within) / end
        } else {
            // now·s + slope/2·s² = sum, in the form that does not cancel.
            let slope = (end - now) / self.left;
            let root = (now * now + 2.0 * slope * sum).max(0.0).sqrt();
            2.0 * sum / (now + root.copysign(sum))
        };
        if seconds > 0.0 && seconds.is_finite() { seconds } else { 0.0 }
    }

    /// The integral of the value over the next `seconds`, which may exceed the rest of the fade.
    pub fn integral(&self, seconds: f64) -> f64 {
        let within = seconds.min(self.left);
        let mean = 0.5 * (self.at(self.left) + self.at(self.left - within));
        mean * within + f64::from(self.to) * (seconds - within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_integrals_do_not_depend_on_steps() {
        let mut fade = LinearFade::new(0.25, 1.5, 0.7);
        assert_eq!((fade.value(), fade.after(0.7)), (0.25, 1.5));
        let whole = fade.integral(1.0);
        let mut sum = 0.0;
        for _ in 0..1000 {
            sum += fade.integral(1e-3);
            fade.advance(1e-3);
        }
        assert!((sum - whole).abs() < 1e-12, "{sum} {whole}");
        assert!((whole - (0.875 * 0.7 + 1.5 * 0.3)).abs() < 1e-12);
        assert_eq!(fade, LinearFade::still(1.5));
        assert!(!LinearFade::new(1.0, 0.5, 0.0).running());
    }
}
