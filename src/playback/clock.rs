//! `Clock`: the time of a pool in ticks. Actions and fades are functions of it.
//!
//! The clock counts how much time has passed, whatever the sign of the steps. An entry stores the clock of its last
//! change, its anchor; from there its actions move at a constant rate until a clock that is known, too. All anchors are
//! moved to the present when time reverses, so a difference of two clocks is a number of seconds of one sign.
//!
//! ```text
//! tick       2^-48 s: differences are exact, so nothing depends on when a clock was started
//! overflow   the count wraps after 18 hours; every entry has a new anchor after [`LONGEST_WAIT`]
//! ```

use crate::evaluate::Steps;

/// Ticks per second. A step is rounded to a tick: ten days at 60 Hz drift by less than a microsecond.
const TICKS: f64 = (1u64 << 48) as f64;

/// The ticks after which an entry is visited at the latest: 2.3 hours. Even with the longest step that the clock
/// counts, a difference of clocks stays far below the 9 hours at which it would change its sign.
pub(super) const LONGEST_WAIT: i64 = 1 << 61;

/// The ticks of a unit of [`Wait`], as a power of two: 4 µs.
const UNIT: u32 = 30;

/// A step of more seconds is a leap: the clock stands still, and all entries are visited.
pub(crate) const LEAP: f64 = 4096.0;

/// Steps of springs per second, and the tolerance of their moments: a millionth of a step, for steps of time that are
/// rounded to ticks.
const STEPS: i128 = 60;
const NEAR: i128 = 1 << 28;

/// The steps of springs until all ticks have been counted.
const ALL_STEPS: i128 = STEPS << 16;

/// The clock of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    ticks: i64,
    /// Whether the last step ran backwards.
    backwards: bool,
}

/// A moment of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment(i64);

/// The time for which an entry is not changed: a number of units of 2^30 ticks, at most [`LONGEST_WAIT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wait(u32);

/// A step of the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    before: Clock,
    after: Clock,
    /// Length of the step in seconds, at least 0.
    pub seconds: f64,
    /// True if the step visits all entries: it is a leap, or time reverses.
    all: bool,
}

impl Clock {
    pub fn now(self) -> Moment {
        Moment(self.ticks)
    }

    /// The count of ticks, and whether the last step ran backwards.
    pub fn parts(self) -> (i64, bool) {
        (self.ticks, self.backwards)
    }

    /// The clock of these [`parts`](Self::parts).
    pub fn of_parts((ticks, backwards): (i64, bool)) -> Self {
        Self { ticks, backwards }
    }

    /// The clock at another count of ticks.
    pub fn at(self, ticks: i64) -> Self {
        Self { ticks, ..self }
    }

    /// 1 or −1: the direction of the last step.
    pub fn sign(self) -> f64 {
        if self.backwards { -1.0 } else { 1.0 }
    }

    /// Seconds since a moment, at least 0.
    #[inline(always)]
    pub fn since(self, moment: Moment) -> f64 {
        self.ticks.wrapping_sub(moment.0) as f64 * (1.0 / TICKS)
    }

    /// The steps of springs since a count of ticks, at multiples of 1/60 s. `None`: more than any.
    pub fn steps_since(self, ticks: Option<i64>) -> Steps {
        let place = |ticks: i64| i128::from(ticks) * STEPS + NEAR;
        let (now, part) = (place(self.ticks) >> 48, place(self.ticks) & ((1 << 48) - 1));
        // Less than two steps fit into 50 bits.
        let share = |of: i128| (of as i64 as f64 / TICKS) as f32;
        let rest = if part <= 2 * NEAR { 0.0 } else { share(part - NEAR) };
        let Some(ticks) = ticks else {
            return Steps { count: u32::MAX, first: 0.0, each: 0.0, rest };
        };
        let last = place(ticks) >> 48;
        // Both are below ALL_STEPS in size, and a remainder of 128 bits takes long.
        let count = (now as i32 - last as i32).rem_euclid(ALL_STEPS as i32) as u32;
        // The time since then, in shares of a step.
        let passed = self.ticks.wrapping_sub(ticks) as f64 * (STEPS as f64 / TICKS);
        let (first, each) =
            (f64::from(share(((last + 1) << 48) - i128::from(ticks) * STEPS)), 1.0 / passed);
        Steps { count, first: (first * each) as f32, each: each as f32, rest }
    }

    /// Moves the clock by `dt` seconds.
    pub fn advance(&mut self, dt: f64) -> Step {
        let before = *self;
        let leap = dt.abs() > LEAP;
        let ticks = if leap { 0 } else { (dt.abs() * TICKS).round() as i64 };
        if leap || ticks > 0 {
            self.ticks = self.ticks.wrapping_add(ticks);
            self.backwards = dt < 0.0;
        }
        Step {
            before,
            after: *self,
            seconds: if leap { dt.abs() } else { ticks as f64 / TICKS },
            all: leap || self.backwards != before.backwards,
        }
    }
}

impl Moment {
    /// The start of every clock.
    pub const ZERO: Self = Self(0);

    pub fn ticks_to(self, later: Self) -> u64 {
        later.0.wrapping_sub(self.0) as u64
    }

    /// Whether another moment is later.
    #[inline(always)]
    pub fn is_before(self, other: Self) -> bool {
        // Moments are less than half of the clock's range apart.
        other.0.wrapping_sub(self.0) > 0
    }

    /// The moment `ticks` ticks later; earlier if the number is negative.
    pub fn later(self, ticks: i64) -> Self {
        Self(self.0.wrapping_add(ticks))
    }

    /// The moment at which a wait from this moment ends.
    #[inline(always)]
    pub fn after(self, wait: Wait) -> Self {
        self.later(wait.ticks())
    }

    /// The earlier of two moments that are not before this one.
    #[inline(always)]
    pub fn first(self, a: Self, b: Self) -> Self {
        if self.ticks_to(a) <= self.ticks_to(b) { a } else { b }
    }

    /// The moment `seconds` later, rounded down to a tick and to at most [`LONGEST_WAIT`].
    pub fn wait(self, seconds: f64) -> Self {
        // The cast saturates.
        let ticks = (seconds * TICKS) as i64;
        Self(self.0.wrapping_add(ticks.clamp(0, LONGEST_WAIT)))
    }
}

impl Wait {
    /// No wait: the next step visits the entry.
    pub const NONE: Self = Self(0);

    /// A wait of `seconds`, rounded down to a unit.
    pub fn of(seconds: f64) -> Self {
        // The cast saturates; 2^61 ticks are 2^31 units.
        let ticks = ((seconds * TICKS) as i64).clamp(0, LONGEST_WAIT);
        Self((ticks >> UNIT) as u32)
    }

    #[inline(always)]
    pub fn ticks(self) -> i64 {
        i64::from(self.0) << UNIT
    }
}

impl Step {
    pub fn before(&self) -> Clock {
        self.before
    }

    pub fn after(&self) -> Clock {
        self.after
    }

    /// Whether no time passes.
    pub fn is_empty(&self) -> bool {
        self.seconds == 0.0
    }

    /// Whether this step visits an entry that is due at a moment.
    #[inline(always)]
    pub fn reaches(&self, moment: Moment) -> bool {
        self.all || self.after.ticks.wrapping_sub(moment.0) >= 0
    }

    /// Whether this step visits all entries.
    pub fn reaches_all(&self) -> bool {
        self.all
    }

    /// 1 or −1: the direction of time.
    pub fn sign(&self) -> f64 {
        self.after.sign()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_days_of_frames_are_ten_days() {
        let mut clock = Clock::default();
        // Hours before the count wraps, and at zero: the differences are the same.
        let mut late = Clock { ticks: i64::MAX - 5, backwards: false };
        let (first, first_late) = (clock.now(), late.now());
        for _ in 0..60 * 3600 {
            clock.advance(1.0 / 60.0);
            late.advance(1.0 / 60.0);
        }
        let hour = clock.since(first);
        assert!((hour - 3600.0).abs() * 240.0 < 1e-6, "{hour}");
        assert_eq!(late.since(first_late), hour);
    }

    #[test]
    fn steps_turn_and_leap() {
        let mut clock = Clock::default();
        assert!(!clock.advance(0.25).reaches_all());
        assert!(clock.advance(-0.25).reaches_all());
        assert!(!clock.advance(-0.25).reaches_all());
        assert!(clock.advance(0.0).is_empty());
        let start = clock.now();
        let leap = clock.advance(-1e9);
        assert!(leap.reaches_all() && leap.seconds == 1e9 && clock.now() == start);
        let moment = start.wait(0.5);
        assert!(!clock.advance(-0.25).reaches(moment));
        assert!(clock.advance(-0.25).reaches(moment));
        assert_eq!(clock.since(start), 0.5);
    }
}
