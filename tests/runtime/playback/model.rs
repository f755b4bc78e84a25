//! An action in f64, written from the rules and not from the code: time is one number that grows, and
//! events are copies of the markers along it.

use phalanx::playback::{EventKind, LoopMode};

#[derive(Clone, Debug)]
pub struct Model {
    pub duration: f64,
    pub mode: LoopMode,
    pub repetitions: Option<u32>,
    pub markers: Vec<f64>,
    pub time: f64,
}

/// An event at a place in unbounded time. Of one place, forwards: markers at the end of a pass, the loop,
/// markers at the start of the next, the finish.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Copy {
    at: f64,
    rank: u8,
    what: (EventKind, usize),
}

impl Model {
    /// Passes, if they are limited.
    fn passes(&self) -> Option<f64> {
        match self.mode {
            LoopMode::Once => Some(1.0),
            _ => self.repetitions.map(f64::from),
        }
    }

    fn bound(&self, time: f64) -> f64 {
        match self.passes() {
            Some(n) => time.clamp(0.0, n * self.duration),
            None => time,
        }
    }

    /// The clip time.
    pub fn shown(&self) -> f64 {
        let d = self.duration;
        let last = self.passes().map(|n| n * d);
        if self.mode == LoopMode::PingPong {
            let t = self.time.rem_euclid(2.0 * d);
            return t.min(2.0 * d - t);
        }
        if last == Some(self.time) {
            return d;
        }
        self.time.rem_euclid(d)
    }

    /// Whole passes behind.
    pub fn loops(&self) -> f64 {
        let passed = (self.time / self.duration).floor();
        self.passes().map_or(passed, |n| passed.min(n - 1.0))
    }

    /// How near the closest end or marker is to the time.
    pub fn margin(&self) -> f64 {
        let near = |t: f64| {
            let r = (self.shown() - t).abs();
            r.min((self.duration - r).abs())
        };
        let ends = [0.0, self.duration];
        let all = self.markers.iter().chain(&ends);
        all.map(|&t| near(t)).fold(f64::INFINITY, f64::min)
    }

    fn copies(&self, low: f64, high: f64) -> Vec<Copy> {
        let d = self.duration;
        let mut out = Vec::new();
        let (first, last) = ((low / d).floor() - 2.0, (high / d).ceil() + 2.0);
        let mut pass = first;
        while pass <= last {
            let inside = self.passes().is_none_or(|n| pass >= 0.0 && pass < n);
            if inside {
                for (i, &m) in self.markers.iter().enumerate() {
                    let back = self.mode == LoopMode::PingPong && pass.rem_euclid(2.0) == 1.0;
                    let within = if back { d - m } else { m };
                    let turn = self.mode == LoopMode::PingPong && within == 0.0;
                    // A turn belongs to two passes: once.
                    if turn && !(pass == 0.0 && self.passes().is_some()) {
                        continue;
                    }
                    let rank = if within == d {
                        0
                    } else if within == 0.0 {
                        2
                    } else {
                        1
                    };
                    let at = pass * d + within;
                    let what = (EventKind::Marker, i);
                    out.push(Copy { at, rank, what });
                }
                let inner = self.passes().is_none_or(|_| pass > 0.0);
                if inner {
                    let what = (EventKind::Looped, 0);
                    let at = pass * d;
                    out.push(Copy { at, rank: 1, what });
                }
            }
            pass += 1.0;
        }
        out
    }

    /// The place of a time to start at.
    pub fn step_to(&self, time: f64) -> f64 {
        self.bound(time)
    }

    /// Whether the time stands at an end.
    pub fn ended(&self) -> bool {
        let end = self.passes().map(|n| n * self.duration);
        end.is_some() && (self.time == 0.0 || Some(self.time) == end)
    }

    /// Advances and returns the events passed, in order.
    pub fn step(&mut self, distance: f64) -> Vec<(EventKind, usize)> {
        let (from, to) = (self.time, self.bound(self.time + distance));
        self.time = to;
        let (low, high) = (from.min(to), from.max(to));
        let mut passed = self.copies(low, high);
        if distance > 0.0 {
            passed.retain(|c| c.at > from && c.at <= to);
        } else {
            passed.retain(|c| c.at >= to && c.at < from);
        }
        passed.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.rank.cmp(&b.rank)));
        if distance < 0.0 {
            passed.reverse();
        }
        let mut out: Vec<_> = passed.iter().map(|c| c.what).collect();
        let end = self.passes().map(|n| n * self.duration);
        let over = if distance > 0.0 { end == Some(to) } else { end.is_some() && to == 0.0 };
        if over && from != to {
            out.push((EventKind::Finished, 0));
        }
        out
    }
}
