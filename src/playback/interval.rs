//! The time rule: an action makes passes over its clip, and a step of time covers an interval of them.

use super::loop_mode::LoopMode;

/// The mapping of an action's unbounded time to its clip: passes of one length, one after another. Every second pass of
/// a ping-pong runs backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Loop {
    /// Length of one pass: seconds; 1 for a blend space, whose time is a phase.
    pub length: f64,
    /// Number of passes: a whole number, or infinite. If it is finite, the first pass has the number 0.
    pub passes: f64,
    pub ping_pong: bool,
}

/// A position in unbounded time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Playhead {
    /// Number of the pass: whole, negative before the start.
    pub pass: f64,
    /// Time within the pass, in [0, length); `length` at the end of the last pass.
    pub time: f64,
}

/// The interval of an action's time that a step covers. Forwards it is (from, to], backwards [to, from). In an action's
/// first step it includes `from`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeInterval {
    pub from: Playhead,
    pub to: Playhead,
    pub backwards: bool,
    /// True if the interval includes `from`.
    pub closed: bool,
    /// True if the end of the last pass (backwards: the start of the first) was reached.
    pub finished: bool,
}

/// The largest whole number up to `x`. `f64::floor` is a function call, which takes longer, where the CPU has no
/// instruction for it.
#[inline(always)]
fn floor(x: f64) -> f64 {
    const WHOLE: f64 = (1u64 << 52) as f64;
    if x.abs() < WHOLE {
        let towards_zero = x as i64 as f64;
        towards_zero - f64::from(u8::from(towards_zero > x))
    } else {
        x
    }
}

/// Whether a whole number is odd. From 2^53 on, all are even.
#[inline(always)]
pub(super) fn odd(pass: f64) -> bool {
    let whole = pass as i64;
    whole & 1 != 0 && whole.unsigned_abs() < 1 << 53
}

/// The number of passes by which a time is beyond the present pass, and the time within the pass that it falls in.
#[inline(always)]
pub(super) fn wrap(time: f64, length: f64) -> (f64, f64) {
    let passed = floor(time / length);
    let rest = (time - passed * length).max(0.0);
    if rest >= length {
        // The product was rounded down.
        (passed + 1.0, 0.0)
    } else {
        (passed, rest)
    }
}

/// The seconds for which a time is certain to move less than `distance`. `reach` is the largest time on the way.
#[inline]
pub(super) fn before(distance: f64, reach: f64, rate: f64) -> f64 {
    const ROUNDING: f64 = 1.0 / (1u64 << 48) as f64;
    (distance * (1.0 - ROUNDING) - reach * ROUNDING) / rate.abs()
}

impl Loop {
    /// The loop of a clip; `repetitions` counts passes (`None`: without end).
    pub fn new(mode: LoopMode, repetitions: Option<u32>, length: f64) -> Self {
        Self {
            length,
            passes: match (mode, repetitions) {
                (LoopMode::Once, _) => 1.0,
                (_, Some(n)) => f64::from(n),
                (_, None) => f64::INFINITY,
            },
            ping_pong: mode == LoopMode::PingPong,
        }
    }

    pub fn bounded(&self) -> bool {
        self.passes < f64::INFINITY
    }

    /// Whether a pass runs from the clip's end to its start.
    pub fn mirrored(&self, pass: f64) -> bool {
        self.ping_pong && odd(pass)
    }

    /// The playhead of an unbounded time, clamped to the ends of a bounded loop.
    pub fn playhead(&self, time: f64) -> Playhead {
        let start = Playhead::default();
        self.advance(start, time).0
    }

    fn last(&self) -> Playhead {
        Playhead { pass: self.passes - 1.0, time: self.length }
    }

    /// True if a bounded loop is at its end in the direction of play.
    pub fn over(&self, playhead: Playhead, backwards: bool) -> bool {
        let end = if backwards { Playhead::default() } else { self.last() };
        self.bounded() && (self.length <= 0.0 || playhead == end)
    }

    /// The distance to the end of the last pass (backwards: to the start of the first); infinite if there is none.
    pub fn left(&self, playhead: Playhead, backwards: bool) -> f64 {
        match (self.bounded(), backwards) {
            (false, _) => f64::INFINITY,
            (true, true) => playhead.pass * self.length + playhead.time,
            (true, false) => (self.passes - playhead.pass) * self.length - playhead.time,
        }
    }

    /// The distance between two playheads.
    pub fn distance(&self, from: Playhead, to: Playhead) -> f64 {
        ((to.pass - from.pass) * self.length + (to.time - from.time)).abs()
    }

    /// The playhead after a distance, and whether that is an end of a bounded loop.
    #[inline]
    pub fn advance(&self, from: Playhead, distance: f64) -> (Playhead, bool) {
        if self.length <= 0.0 {
            // A clip of one pose. It has no passes to count; a bounded loop finishes at once.
            return (from, self.bounded() && distance != 0.0);
        }
        let moved = from.time + distance;
        if (0.0..self.length).contains(&moved) {
            let to = Playhead { pass: from.pass, time: moved };
            let start = self.bounded() && distance < 0.0 && to == Playhead::default();
            return (to, start);
        }
        let (passed, time) = wrap(moved, self.length);
        let pass = from.pass + passed;
        if self.bounded() {
            if pass >= self.passes {
                return (self.last(), true);
            }
            if pass < 0.0 {
                return (Playhead::default(), true);
            }
        }
        let to = Playhead { pass, time };
        // Exactly at the start.
        let start = self.bounded() && distance < 0.0 && to == Playhead::default();
        (to, start)
    }

    /// The interval covered from `from` over a distance; `None` if it is empty.
    pub fn pass(&self, from: Playhead, distance: f64, closed: bool) -> Option<TimeInterval> {
        if distance == 0.0 {
            return None;
        }
        let (to, end) = self.advance(from, distance);
        // An action that was already at the end finished earlier.
        let finished = end && (closed || to != from);
        (closed || to != from).then_some(TimeInterval {
            from,
            to,
            backwards: distance < 0.0,
            closed,
            finished,
        })
    }
}
