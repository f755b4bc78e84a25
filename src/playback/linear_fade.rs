//! `LinearFade`: a number that changes linearly over time. Used for fades of weights and warps of speeds.

/// A linear change from one value to another. Exact at both ends, whatever the steps between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LinearFade {
    from: f64,
    to: f64,
    total: f64,
    left: f64,
}

impl LinearFade {
    /// A fade over `seconds` > 0.
    pub fn new(from: f64, to: f64, seconds: f64) -> Self {
        Self {
            from,
            to,
            total: seconds,
            left: seconds,
        }
    }

    /// True until the fade reaches its target.
    pub fn running(&self) -> bool {
        self.left > 0.0
    }

    /// Seconds left.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// The target value.
    pub fn end(&self) -> f64 {
        self.to
    }

    /// True if the fade runs and reaches this value within `seconds`.
    pub fn gets_to(&self, value: f64, seconds: f64) -> bool {
        self.running() && self.to == value && self.left <= seconds
    }

    fn at(&self, left: f64) -> f64 {
        if left > 0.0 {
            self.to + (self.from - self.to) * (left / self.total)
        } else {
            self.to
        }
    }

    /// Advances by `seconds` ≥ 0 and returns the value there.
    pub fn advance(&mut self, seconds: f64) -> f64 {
        self.left = (self.left - seconds).max(0.0);
        self.at(self.left)
    }

    /// The integral of the value over the next `seconds`, which may go past the end.
    pub fn integral(&self, seconds: f64) -> f64 {
        let within = seconds.min(self.left);
        let mean = 0.5 * (self.at(self.left) + self.at(self.left - within));
        mean * within + self.to * (seconds - within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_integrals_do_not_depend_on_steps() {
        let mut fade = LinearFade::new(0.25, 1.5, 0.7);
        assert_eq!(fade.at(0.7), 0.25);
        let whole = fade.integral(1.0);
        let mut sum = 0.0;
        for _ in 0..1000 {
            sum += fade.integral(1e-3);
            fade.advance(1e-3);
        }
        assert!((sum - whole).abs() < 1e-12, "{sum} {whole}");
        assert!((whole - (0.875 * 0.7 + 1.5 * 0.3)).abs() < 1e-12);
        assert_eq!((fade.running(), fade.advance(5.0)), (false, 1.5));
    }
}
