//! `Budget`: the number of palettes that a frame evaluates, as set by `--budget`. A budget in time is kept by a
//! controller that reads measured times.

use crate::crowd::tiers_file::BudgetArg;
use phalanx::crowd::{MAX_TIERS, TierFrame};

/// `--budget` from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    asked: Option<BudgetArg>,
    /// The controller of a budget in time; `None` for a number of palettes.
    controller: Option<BudgetController>,
}

impl Budget {
    pub fn new(asked: Option<BudgetArg>) -> Self {
        let controller = match asked {
            Some(BudgetArg::Microseconds(time)) => Some(BudgetController::new(time)),
            _ => None,
        };
        Self { asked, controller }
    }

    /// The budget as it was set.
    #[cfg(feature = "view")]
    pub fn asked(&self) -> Option<BudgetArg> {
        self.asked
    }

    /// The palettes of the next frame.
    pub fn palettes(&self) -> Option<usize> {
        match self.asked? {
            BudgetArg::Palettes(n) => Some(n),
            BudgetArg::Microseconds(_) => self.controller.as_ref().map(BudgetController::budget),
        }
    }

    /// Takes what a frame did, and the microseconds of its schedule and evaluation. An interpolated instance counts as one
    /// palette.
    pub fn observe(&mut self, frame: &TierFrame, microseconds: f64) {
        let Some(controller) = &mut self.controller else {
            return;
        };
        let mut counts = [0; MAX_TIERS + 1];
        for (count, tier) in counts.iter_mut().zip(&frame.tiers) {
            *count = tier.evaluated;
        }
        counts[MAX_TIERS] = frame.shared_evaluated;
        controller.observe(&counts, microseconds);
    }
}

/// Finds the budget that keeps a frame within a time. It only proposes numbers: a recorded sequence of budgets
/// reproduces the same bits, whatever the measured times. Its state depends on the samples alone.
///
/// The time of a frame is modelled as `constant + Σ cost · count`. The constant is the time of a frame without palettes,
/// above all the ranking. The counts are palettes by program (here: the tiers, whose palettes differ in cost, and the
/// shared palettes). Both are estimated by recursive least squares with forgetting, in units of the time and of 0.5 µs per
/// palette:
///
/// ```text
/// x      = (n, counts) / max(n, |(n, counts)|)         n: the palettes that fill the time at 0.5 µs
/// R      ← (1 - gain) · R + x · xᵀ                     information of the samples
/// costs  ← costs + (R + 0.1 · I)⁻¹ · x · error         error: measured less estimated time
/// budget = (time - constant) / mean cost of a palette in the last frame
/// ```
///
/// While the counts are about the same in all frames, the samples do not separate the constant from the costs. The
/// regularisation `0.1 · I` then divides an error by the squares in `x`: in quiet frames nearly all of it goes to the
/// constant, in frames of many palettes most of it goes to the costs, and earlier estimates stay. Frames with other
/// counts separate them.
///
/// - The constant stays at or above 0, a cost at or above 1 ns.
/// - An error is limited to twice the estimated time or the budget's, so that one stall of the machine has a short effect.
///   After two errors in a row above a fifth, in one direction, earlier samples are forgotten faster: costs have
///   changed.
/// - The budget at most doubles from frame to frame, and does not rise after a frame that took longer than its time.
///
/// Sources: L. Ljung and T. Söderström, "Theory and Practice of Recursive Identification", 1983 (forgetting);
/// S. Gunnarsson, "Combining tracking and regularization in recursive least squares identification", 1996.
#[derive(Clone, Debug, PartialEq)]
struct BudgetController {
    /// Limit on the time of a frame, microseconds.
    time: f64,
    /// Microseconds of a frame without palettes, then of a palette by program.
    costs: Vec<f64>,
    /// Mean microseconds of a palette in the last frame that had any.
    mean: f64,
    /// `R`, by rows, in the order of `costs`.
    information: Vec<f64>,
    work: Work,
    /// The last error, relative to the estimated time or the budget's.
    error: f64,
    budget: usize,
}

/// Memory that all samples reuse, in the order of the costs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Work {
    /// The constant's regressor, and the counts.
    x: Vec<f64>,
    /// Change of each cost per unit of error.
    steps: Vec<f64>,
    /// True for costs at their lower bound.
    held: Vec<bool>,
    factors: Vec<f64>,
}

/// The least budget and the greatest.
const BUDGETS: (usize, usize) = (64, 1_000_000);
/// Weight of a new measurement in the estimated costs of a frame. The weight of earlier ones falls by this share in each
/// frame.
const GAIN: f64 = 0.1;
/// Microseconds of a palette before the first measurement.
const FIRST_COST: f64 = 0.5;
/// A palette costs at least this many microseconds.
const LEAST_COST: f64 = 1e-3;
/// Addend to the diagonal of the information. With 0.01, noise of a tenth in full frames moved half of the constant to
/// the costs, and changed costs took up to 20 frames to learn; with 1, a changed constant took 12.
const PRIOR: f64 = 0.1;
/// Limit on an error, relative to the estimated time or the time of the budget, whichever is larger.
const LARGEST_ERROR: f64 = 2.0;
/// Two errors in a row above this, relative to the same time, show that costs have changed. Most variations of times are
/// smaller.
const CHANGE: f64 = 0.2;
/// The longest frame in microseconds; longer ones count as this.
const LONGEST: f64 = 1e12;
/// Information below this is 0, before it becomes so small that processors are slow with it.
const NOTHING: f64 = 1e-60;

impl BudgetController {
    /// Creates a controller without measurements, for frames of `time` microseconds; `time` is above 0.
    fn new(time: f64) -> Self {
        // The cast saturates.
        let first = (time / FIRST_COST) as usize;
        Self {
            time,
            costs: vec![0.0],
            mean: FIRST_COST,
            information: vec![0.0],
            work: Work::default(),
            error: 0.0,
            budget: first.clamp(BUDGETS.0, BUDGETS.1),
        }
    }

    /// Takes the palettes that a frame evaluated, by program, and the microseconds that it took. A time that is not
    /// finite or negative is ignored. A frame without palettes measures the constant.
    fn observe(&mut self, palettes: &[usize], microseconds: f64) {
        if !(microseconds >= 0.0 && microseconds.is_finite()) {
            return;
        }
        self.fit(palettes.len());
        // In palettes of `FIRST_COST`, so that all costs are about 1. The constant's regressor is the count that fills the
        // time.
        let full = self.time / FIRST_COST;
        let x = &mut self.work.x;
        x.clear();
        x.push(full);
        x.extend(palettes.iter().map(|&n| n as f64));
        x.resize(self.costs.len(), 0.0);
        let size = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(full);
        x.iter_mut().for_each(|x| *x /= size);

        let parts = x.iter().zip(&self.costs).enumerate();
        let time = self.time;
        let expected: f64 = parts.map(|(of, (x, c))| x * c / unit(time, of)).sum();
        let measured = microseconds.min(LONGEST) / FIRST_COST / size;
        let scale = expected.max(x[0]);
        let error = ((measured - expected) / scale).clamp(-LARGEST_ERROR, LARGEST_ERROR);

        let last = std::mem::replace(&mut self.error, error);
        let both = if last * error > 0.0 { last.abs().min(error.abs()) } else { 0.0 };
        let kept = (1.0 - GAIN) * (CHANGE / both).min(1.0);
        let rows = self.information.chunks_exact_mut(x.len());
        for (row, &a) in rows.zip(&*x) {
            for (r, &b) in row.iter_mut().zip(&*x) {
                let next = kept * *r + a * b;
                *r = if next < NOTHING { 0.0 } else { next };
            }
        }
        self.learn(error * scale);
        let most = match microseconds > self.time {
            true => self.budget,
            false => self.budget.saturating_mul(2).max(1),
        };
        self.propose(palettes, most);
    }

    /// Makes room for programs.
    fn fit(&mut self, programs: usize) {
        let (old, new) = (self.costs.len(), programs + 1);
        if new <= old {
            return;
        }
        self.costs.resize(new, FIRST_COST);
        let mut information = vec![0.0; new * new];
        let rows = self.information.chunks_exact(old);
        for (to, from) in information.chunks_exact_mut(new).zip(rows) {
            to[..old].copy_from_slice(from);
        }
        self.information = information;
    }

    /// Distributes the error of the last sample over the costs. One that would pass its least value gets that value,
    /// and the others the rest of the error: a constant that is 0 would otherwise keep the costs from falling.
    fn learn(&mut self, mut error: f64) {
        let Work { x, steps, held, factors } = &mut self.work;
        let count = x.len();
        held.clear();
        held.resize(count, false);
        loop {
            factors.clone_from(&self.information);
            steps.clone_from(x);
            for of in (0..count).filter(|&of| held[of]) {
                steps[of] = 0.0;
                factors[of * count..][..count].fill(0.0);
                factors[of..].iter_mut().step_by(count).for_each(|f| *f = 0.0);
            }
            solve(factors, steps);
            // Every turn but the last holds another cost.
            let (before, mut again) = (error, false);
            for of in 0..count {
                let least = if of == 0 { 0.0 } else { LEAST_COST };
                let unit = unit(self.time, of);
                let cost = &mut self.costs[of];
                if !held[of] && *cost + steps[of] * before * unit < least {
                    error -= x[of] * (least - *cost) / unit;
                    *cost = least;
                    held[of] = true;
                    again = true;
                }
            }
            if !again {
                break;
            }
        }
        for (of, step) in self.work.steps.iter().enumerate() {
            self.costs[of] += step * error * unit(self.time, of);
        }
    }

    /// Sets the budget, at most `most`, for palettes of the mix of these.
    fn propose(&mut self, palettes: &[usize], most: usize) {
        let mut total = 0.0;
        let mut time = 0.0;
        for (&n, cost) in palettes.iter().zip(&self.costs[1..]) {
            total += n as f64;
            time += n as f64 * cost;
        }
        if total > 0.0 {
            self.mean = time / total;
        }
        // The cast saturates; what is below 0 becomes 0.
        let fits = ((self.time - self.costs[0]) / self.mean) as usize;
        self.budget = fits.min(most).clamp(BUDGETS.0, BUDGETS.1);
    }

    /// The budget of the next frame.
    fn budget(&self) -> usize {
        self.budget
    }
}

/// Microseconds of a cost that count as 1.
fn unit(time: f64, of: usize) -> f64 {
    if of == 0 { time } else { FIRST_COST }
}

/// Solves `(matrix + PRIOR) · x = right` for a matrix that is symmetric and has no negative eigenvalue, by Cholesky's
/// factors. The solution replaces `right`, the factors the matrix.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for j in 0..n {
        for i in j..n {
            let product: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - product;
            matrix[i * n + j] = if i == j {
                // The prior bounds it from below, but for rounding.
                (rest.max(0.0) + PRIOR).sqrt()
            } else {
                rest / matrix[j * n + j]
            };
        }
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use BudgetController as Controller;

    impl BudgetController {
        /// The estimated microseconds of a palette, by program.
        fn costs(&self) -> &[f64] {
            &self.costs[1..]
        }

        /// The estimated microseconds of a frame that evaluates nothing.
        fn constant(&self) -> f64 {
            self.costs[0]
        }
    }

    /// A machine of made-up costs, whose times vary by a share.
    struct Machine {
        constant: f64,
        costs: [f64; 2],
        noise: f64,
        state: u64,
    }

    impl Machine {
        fn new(constant: f64, costs: [f64; 2], noise: f64) -> Self {
            let state = 1;
            Self { constant, costs, noise, state }
        }

        fn random(&mut self) -> f64 {
            self.state =
                self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.state >> 40) as f64 / (1u64 << 24) as f64
        }

        /// The time of a frame without noise.
        fn exact(&self, counts: [usize; 2]) -> f64 {
            self.constant + counts[0] as f64 * self.costs[0] + counts[1] as f64 * self.costs[1]
        }

        /// Runs a frame: it evaluates the palettes that are due, up to the budget. Returns its time without noise.
        fn frame(&mut self, controller: &mut BudgetController, due: usize, share: f64) -> f64 {
            let n = due.min(controller.budget());
            let second = (n as f64 * share) as usize;
            let counts = [n - second, second];
            let time = self.exact(counts);
            let noise = 1.0 + self.noise * (2.0 * self.random() - 1.0);
            controller.observe(&counts, time * noise);
            time
        }

        /// Frames of about `due` palettes, with a variation of a share of them.
        fn quiet(&mut self, controller: &mut BudgetController, due: f64, varies: f64) {
            for _ in 0..600 {
                let due = due * (1.0 + varies * (2.0 * self.random() - 1.0));
                self.frame(controller, due as usize, 0.0);
            }
        }

        /// Runs frames in which all palettes are due; returns how many take longer than 1.1 of the time.
        fn full(&mut self, controller: &mut BudgetController, frames: usize, share: f64) -> usize {
            let most = 1.1 * controller.time;
            let times = (0..frames).map(|_| self.frame(controller, usize::MAX, share));
            times.filter(|&time| time > most).count()
        }
    }

    const ALL: usize = usize::MAX;

    /// Frames as the budget allows, of two programs that cost 0.3 and 1.2 µs, with noise of a tenth.
    #[test]
    fn it_settles_within_a_tenth_of_the_time_and_stays_there() {
        let mut controller = Controller::new(1500.0);
        for constant in [0.0, 400.0] {
            let mut machine = Machine::new(constant, [0.3, 1.2], 0.1);
            for share in [0.2, 0.6] {
                let times: Vec<f64> =
                    (0..300).map(|_| machine.frame(&mut controller, ALL, share)).collect();
                let within = |t: &f64| (*t - 1500.0).abs() < 150.0;
                assert!(times[150..].iter().all(within), "{times:?}");
            }
        }
    }

    /// In quiet frames nearly all of the time is the constant: palettes must not seem dear afterwards.
    #[test]
    fn what_fits_is_known_after_quiet_frames() {
        for (constant, time) in [(5000.0, 10_000.0), (500.0, 2000.0), (1000.0, 2000.0)] {
            for (noise, varies) in [(0.0, 0.0), (0.0, 0.3), (0.1, 0.0), (0.1, 0.3), (0.3, 0.5)] {
                let mut controller = Controller::new(time);
                let mut machine = Machine::new(constant, [0.5, 0.5], noise);
                machine.quiet(&mut controller, 100.0, varies);
                let fits = (time - constant) / 0.5;
                let what = format!("{constant} of {time}, noise {noise}, varies {varies}");
                let first = controller.budget() as f64;
                assert!(first > 0.8 * fits && first < 1.1 * fits, "{what}: {first}");
                assert_eq!(machine.full(&mut controller, 5, 0.0), 0, "{what}");
                let over = machine.full(&mut controller, 15, 0.0);
                let then = controller.budget() as f64;
                assert!(over <= 2 && then > 0.8 * fits, "{what}: {over} {then}");
                if noise < 0.3 {
                    assert!(over == 0 && then > 0.9 * fits, "{what}: {over} {then}");
                }
                // And again, once frames of two kinds were seen.
                machine.full(&mut controller, 300, 0.0);
                machine.quiet(&mut controller, 100.0, varies);
                let again = controller.budget() as f64;
                let fair = again > 0.5 * fits && again < 1.15 * fits;
                assert!(fair, "{what}: {again} of {fits}");
            }
        }
    }

    /// The first guess of a palette's cost is wrong, and quiet frames cannot tell.
    #[test]
    fn dear_and_cheap_palettes_are_found_when_they_are_due() {
        for noise in [0.0, 0.1] {
            for cost in [0.1, 0.2, 1.0, 2.0, 4.0] {
                let mut controller = Controller::new(2000.0);
                let mut machine = Machine::new(500.0, [cost; 2], noise);
                machine.quiet(&mut controller, 100.0, 0.1);
                let over = machine.full(&mut controller, 20, 0.0);
                let share = controller.budget() as f64 / (1500.0 / cost);
                let what = format!("noise {noise}, cost {cost}: {over} {share}");
                assert!(over <= 4 && (0.9..1.1).contains(&share), "{what}");
                // It is not forgotten in quiet frames.
                machine.full(&mut controller, 100, 0.0);
                machine.quiet(&mut controller, 100.0, 0.1);
                let share = controller.budget() as f64 / (1500.0 / cost);
                assert!((0.5..1.6).contains(&share), "{what} {share}");
            }
        }
    }

    #[test]
    fn changed_costs_are_followed() {
        for noise in [0.0, 0.1] {
            let machine = |constant, cost| Machine::new(constant, [cost; 2], noise);
            let changes = [
                (machine(500.0, 0.5), machine(500.0, 1.5)),
                (machine(500.0, 1.5), machine(500.0, 0.5)),
                (machine(200.0, 0.5), machine(1200.0, 0.5)),
                (machine(1200.0, 0.5), machine(200.0, 0.5)),
                (machine(500.0, 0.5), machine(500.0, 5.0)),
                (machine(500.0, 5.0), machine(500.0, 0.5)),
            ];
            for (mut before, mut after) in changes {
                let mut controller = Controller::new(2000.0);
                before.full(&mut controller, 200, 0.0);
                let over = after.full(&mut controller, 20, 0.0);
                let (constant, cost) = (after.constant, after.costs[0]);
                let share = controller.budget() as f64 / ((2000.0 - constant) / cost);
                let what = format!("noise {noise}, {constant} + {cost}: {over} {share}");
                assert!(over <= 6 && (0.9..1.1).contains(&share), "{what}");
            }
        }
    }

    /// Quiet frames have cheap palettes, full ones dear ones.
    #[test]
    fn programs_of_different_cost_are_told_apart() {
        for noise in [0.0, 0.1] {
            let mut controller = Controller::new(2000.0);
            let mut machine = Machine::new(500.0, [0.3, 1.2], noise);
            let shares = [0.1, 0.7, 0.3, 0.9, 0.0, 0.5];
            for share in shares.iter().cycle().take(60) {
                machine.full(&mut controller, 2, *share);
            }
            let costs = [controller.costs()[0], controller.costs()[1]];
            let near = |found: f64, cost: f64| (found / cost - 1.0).abs() < 0.25;
            assert!(near(costs[0], 0.3) && near(costs[1], 1.2), "{costs:?}");
            // A mix that was not seen for long.
            machine.full(&mut controller, 100, 0.1);
            let over = machine.full(&mut controller, 20, 0.8);
            let time = machine.frame(&mut controller, ALL, 0.8);
            assert!(over <= 4 && time > 1700.0, "{noise}: {over} {time}");
        }
    }

    /// The constant alone exceeds the time: no palette fits, and the budget is the lower bound.
    #[test]
    fn a_constant_beyond_the_time_leaves_the_least_budget() {
        let mut controller = Controller::new(1000.0);
        let mut machine = Machine::new(1500.0, [0.5; 2], 0.1);
        machine.full(&mut controller, 200, 0.0);
        assert_eq!(controller.budget(), 64);
        machine.constant = 500.0;
        machine.full(&mut controller, 20, 0.0);
        assert!(controller.budget() > 900, "{}", controller.budget());
    }

    #[test]
    fn frames_without_palettes_show_the_constant() {
        let mut controller = Controller::new(1000.0);
        (0..100).for_each(|_| controller.observe(&[0], 400.0));
        assert!((controller.constant() - 400.0).abs() < 1.0);
        assert!(controller.budget().abs_diff(1200) < 5);
        (0..100).for_each(|_| controller.observe(&[], 800.0));
        assert!((controller.constant() - 800.0).abs() < 1.0);
    }

    #[test]
    fn a_stall_is_forgotten_and_nonsense_is_ignored() {
        let mut controller = Controller::new(1000.0);
        let mut machine = Machine::new(200.0, [0.5; 2], 0.0);
        machine.full(&mut controller, 100, 0.0);
        let settled = controller.clone();
        assert!(settled.budget().abs_diff(1600) < 20, "{settled:?}");
        controller.observe(&[1600], f64::NAN);
        controller.observe(&[1600], f64::INFINITY);
        controller.observe(&[1600], -1.0);
        assert_eq!(controller, settled);
        controller.observe(&[1600], 50_000.0);
        let stalled = controller.budget();
        assert!(stalled < 1500 && stalled > 1000, "{stalled}");
        machine.full(&mut controller, 20, 0.0);
        assert!(controller.budget().abs_diff(1600) < 100, "{controller:?}");
    }

    /// Counts and times of any size, and numbers of programs that change.
    #[test]
    fn numbers_stay_finite_and_follow_from_the_samples() {
        let mut machine = Machine::new(0.0, [0.0; 2], 0.0);
        for time in [1e-3, 1.0, 2000.0, 1e9] {
            let mut controller = Controller::new(time);
            let mut other = controller.clone();
            for _ in 0..3000 {
                let mut any = |most: f64| machine.random().powi(8) * most;
                let programs = (any(6.0) * 3.0) as usize;
                let counts: Vec<usize> = (0..programs).map(|_| any(1e20) as usize).collect();
                let time = any(f64::MAX);
                controller.observe(&counts, time);
                other.observe(&counts, time);
                let costs = controller.costs().iter();
                assert!(costs.clone().all(|c| c.is_finite() && *c >= LEAST_COST));
                assert!(controller.constant().is_finite() && controller.constant() >= 0.0);
                assert!((64..=1_000_000).contains(&controller.budget()));
            }
            assert_eq!(controller, other);
        }
    }

    /// A budget that was too large is not raised, whatever the estimates say; one that was not is doubled at most.
    #[test]
    fn a_frame_over_its_time_does_not_raise_the_budget() {
        // Palettes of 10 µs, and then those of 1 µs alone.
        let learned = || {
            let mut controller = Controller::new(1000.0);
            for _ in 0..200 {
                controller.observe(&[50, 500], 50.0 * 10.0 + 500.0);
            }
            for _ in 0..200 {
                controller.observe(&[100, 0], 1000.0);
            }
            controller
        };
        let before = learned().budget();
        assert!((90..=110).contains(&before), "{before}");
        let after = |microseconds: f64| {
            let mut controller = learned();
            controller.observe(&[0, 1000], microseconds);
            controller.budget()
        };
        assert!(after(1000.5) <= before);
        assert!(after(2000.0) <= before);
        for within in [1000.0, 999.5] {
            assert_eq!(after(within), 2 * before, "{within}");
        }
    }

    /// Times that vary around the same are averaged; times that have changed are followed in a few frames.
    #[test]
    fn two_errors_of_one_sign_are_a_change_and_others_are_noise() {
        let settled = || {
            let mut controller = Controller::new(1000.0);
            for _ in 0..200 {
                let n = controller.budget();
                controller.observe(&[n], n as f64);
            }
            controller
        };
        // Estimated time of a palette in a frame of 1,000.
        let expected = |c: &Controller| c.costs()[0] + c.constant() / 1000.0;
        assert!((expected(&settled()) - 1.0).abs() < 0.01);
        // With the gain of 0.1 one time counts as a tenth, so noise of 0.4 moves what is expected by 0.04. Taken for changes,
        // times would count as more than a half.
        let mut noisy = settled();
        let mut spread = 0.0f64;
        for frame in 0..200 {
            let factor = if frame % 2 == 0 { 1.4 } else { 0.6 };
            noisy.observe(&[1000], 1000.0 * factor);
            spread = spread.max((expected(&noisy) - 1.0).abs());
        }
        assert!(spread < 0.1, "{spread}");
        // Of a difference of 2 less than 0.3 is left after 18 frames by the gain alone: 2 × 0.9^18.
        let mut changed = settled();
        let mut frames = 0;
        while (expected(&changed) - 3.0).abs() >= 0.3 {
            changed.observe(&[1000], 3000.0);
            frames += 1;
            assert!(frames <= 6, "{}", expected(&changed));
        }
        // A long frame before one that is hardly longer than expected is not a change: each still counts as a tenth, so that
        // 1 becomes 1.2, then 1.2, then 1.28.
        let mut stalled = settled();
        for microseconds in [3000.0, 1250.0, 2000.0] {
            stalled.observe(&[1000], microseconds);
        }
        assert!(expected(&stalled) < 1.4, "{}", expected(&stalled));
    }
}
