//! `BudgetController`: from measured times to the number of palettes of the next frame.

use super::stats::TierFrame;
use super::tier::{TierError, setting};

/// Options of a [`BudgetController`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerOptions {
    /// The time that the evaluation of a frame may take, in microseconds. Above 0. Default 2,000.
    pub microseconds: f64,
    /// The least budget, in palettes. Default 64.
    pub least: usize,
    /// The greatest budget, in palettes. Default 1,000,000.
    pub most: usize,
    /// The share of a new measurement in the estimate of what a palette costs. Above 0, at most 1. Default 0.1.
    pub gain: f64,
}

impl Default for ControllerOptions {
    fn default() -> Self {
        Self {
            microseconds: 2000.0,
            least: 64,
            most: 1_000_000,
            gain: 0.1,
        }
    }
}

/// Finds the budget that keeps a frame within a time. It only proposes numbers: a sequence of budgets that was recorded
/// gives the same bits again, whatever the times were.
///
/// The cost of a palette is estimated per program (here: the tiers, which differ in what their palettes take, and the
/// shared palettes), from the number of palettes and the time of every frame, by normalised least mean squares:
/// `cost += gain · error · count / (1 + counts · counts)`, where the error is the measured time less the estimated one.
/// Costs stay at or above 1 ns. The budget is what fits into the time at the mean cost of the last frame's palettes, and
/// at most doubles from frame to frame. What a frame costs whatever it evaluates counts as part of its palettes.
///
/// Source: B. Widrow and M. E. Hoff, "Adaptive switching circuits", 1960, with the step normalised.
///
/// ```
/// use phalanx::crowd::{BudgetController, ControllerOptions};
///
/// let options = ControllerOptions { microseconds: 1000.0, ..ControllerOptions::default() };
/// let mut controller = BudgetController::new(&options)?;
/// // Frames of 4,000 palettes took 2 ms: half a microsecond each.
/// for _ in 0..200 {
///     controller.observe(&[4000], 2000.0);
/// }
/// assert!((controller.budget() as f64 - 2000.0).abs() < 20.0);
/// # Ok::<(), phalanx::crowd::TierError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetController {
    options: ControllerOptions,
    /// Microseconds of a palette, by program.
    costs: Vec<f64>,
    budget: usize,
}

/// Microseconds of a palette before anything was measured.
const FIRST_COST: f64 = 0.5;
/// A palette costs at least this many microseconds.
const LEAST_COST: f64 = 1e-3;

impl BudgetController {
    /// A controller that has measured nothing yet.
    ///
    /// # Errors
    /// If an option is outside its range.
    pub fn new(options: &ControllerOptions) -> Result<Self, TierError> {
        setting(
            "the time of a frame",
            options.microseconds,
            f64::MIN_POSITIVE,
            1e9,
        )?;
        setting("the gain", options.gain, f64::MIN_POSITIVE, 1.0)?;
        let most = options.most as f64;
        setting("the least budget", options.least as f64, 0.0, most)?;
        let first = (options.microseconds / FIRST_COST) as usize;
        Ok(Self {
            options: *options,
            costs: Vec::new(),
            budget: first.clamp(options.least, options.most),
        })
    }

    /// Takes the palettes that a frame evaluated, by program, and the microseconds that it took. A time that is not
    /// finite or negative is ignored.
    pub fn observe(&mut self, palettes: &[usize], microseconds: f64) {
        let total: usize = palettes.iter().sum();
        if !(microseconds >= 0.0 && microseconds.is_finite()) || total == 0 {
            return;
        }
        if self.costs.len() < palettes.len() {
            self.costs.resize(palettes.len(), FIRST_COST);
        }
        let counts = palettes.iter().map(|&n| n as f64);
        let pairs = || self.costs.iter().zip(counts.clone());
        let expected: f64 = pairs().map(|(cost, n)| cost * n).sum();
        let square: f64 = counts.clone().map(|n| n * n).sum();
        let step = self.options.gain * (microseconds - expected) / (1.0 + square);
        for (cost, n) in self.costs.iter_mut().zip(counts.clone()) {
            *cost = (*cost + step * n).max(LEAST_COST);
        }
        let expected: f64 = self.costs.iter().zip(counts).map(|(c, n)| c * n).sum();
        let mean = expected / total as f64;
        // The cast saturates.
        let fits = (self.options.microseconds / mean) as usize;
        let most = self.budget.saturating_mul(2).max(1);
        self.budget = fits.min(most).clamp(self.options.least, self.options.most);
    }

    /// [`observe`](Self::observe) of a crowd's last frame: a program per tier, and one for shared palettes.
    pub fn observe_frame(&mut self, frame: &TierFrame, microseconds: f64) {
        let mut counts = [0; super::MAX_TIERS + 1];
        for (count, tier) in counts.iter_mut().zip(&frame.tiers) {
            *count = tier.evaluated;
        }
        counts[super::MAX_TIERS] = frame.shared_evaluated;
        self.observe(&counts, microseconds);
    }

    /// The budget of the next frame, for [`Crowd::set_budget`](crate::crowd::Crowd::set_budget).
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// The estimated microseconds of a palette, by program.
    pub fn costs(&self) -> &[f64] {
        &self.costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(microseconds: f64) -> BudgetController {
        BudgetController::new(&ControllerOptions {
            microseconds,
            ..ControllerOptions::default()
        })
        .unwrap()
    }

    #[test]
    fn options_are_checked() {
        let bad = |change: &dyn Fn(&mut ControllerOptions)| {
            let mut options = ControllerOptions::default();
            change(&mut options);
            BudgetController::new(&options).unwrap_err().to_string()
        };
        assert!(bad(&|o| o.microseconds = f64::NAN).contains("the time of a frame is NaN"));
        assert!(bad(&|o| o.microseconds = 0.0).contains("the time of a frame is 0"));
        assert!(bad(&|o| o.gain = 2.0).contains("the gain is 2"));
        assert!(bad(&|o| o.least = 2_000_000).contains("the least budget is 2000000"));
    }

    /// Frames as the budget allows, of two programs that cost 0.3 and 1.2 µs, with noise of a tenth.
    #[test]
    fn it_settles_within_a_tenth_of_the_time_and_stays_there() {
        let mut controller = controller(1500.0);
        let mut state = 1u64;
        let mut noise = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            0.9 + 0.2 * ((state >> 40) as f64 / (1u64 << 24) as f64)
        };
        let mut late = Vec::new();
        for frame in 0..600 {
            let share = if frame < 300 { 0.2 } else { 0.6 };
            let budget = controller.budget() as f64;
            let counts = [(budget * (1.0 - share)) as usize, (budget * share) as usize];
            let exact = counts[0] as f64 * 0.3 + counts[1] as f64 * 1.2;
            controller.observe(&counts, exact * noise());
            if frame % 300 > 150 {
                late.push(exact);
            }
        }
        let within = |t: &f64| (*t - 1500.0).abs() < 200.0;
        assert!(late.iter().all(within), "{late:?}");
    }

    #[test]
    fn a_stall_is_forgotten_and_nonsense_is_ignored() {
        let mut controller = controller(1000.0);
        for _ in 0..100 {
            controller.observe(&[2000], 1000.0);
        }
        let settled = controller.clone();
        controller.observe(&[2000], f64::NAN);
        controller.observe(&[2000], -1.0);
        controller.observe(&[0], 500.0);
        assert_eq!(controller, settled);
        controller.observe(&[2000], 50_000.0);
        assert!(controller.budget() < settled.budget());
        for _ in 0..100 {
            let n = controller.budget();
            controller.observe(&[n], n as f64 * 0.5);
        }
        assert!(
            controller.budget().abs_diff(2000) < 60,
            "{}",
            controller.budget()
        );
        assert!(controller.budget() >= 64);
    }
}
