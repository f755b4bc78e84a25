//! `LaneCurve`: one lane of a clip as a curve over time, in f64.

use crate::clip::encoding::Keys;
use crate::clip::{Block, BlockKind, Channel, Clip, Part};
use crate::math::{hermite, slerp, slerp_value};

/// A value and its one-sided derivatives per second.
#[derive(Clone, Copy, Default)]
pub struct Knot {
    pub value: [f64; 4],
    pub before: [f64; 4],
    pub after: [f64; 4],
}

/// The curve of one lane of a block.
pub struct LaneCurve<'a> {
    keys: Keys<'a>,
    pub times: &'a [f32],
    lane: usize,
    kind: BlockKind,
    rotation: bool,
}

impl<'a> LaneCurve<'a> {
    pub fn new(clip: &'a Clip, channel: Channel, b: &Block, lane: usize) -> Self {
        Self {
            keys: clip.keys(channel, b),
            times: match b.moves(lane) {
                true => clip.times_of(b),
                false => &[0.0],
            },
            lane,
            // A lane that holds has values only, no tangents.
            kind: match b.holds(lane) {
                true => BlockKind::Constant,
                false => b.kind,
            },
            rotation: channel == Channel::Rotation,
        }
    }

    pub fn holds(&self) -> bool {
        self.kind == BlockKind::Constant
    }

    pub fn is_cubic(&self) -> bool {
        self.kind == BlockKind::Cubic
    }

    pub fn key(&self, key: usize, part: Part) -> [f64; 4] {
        self.keys.get_f64(key, part, self.lane)
    }

    /// The value at a time, the same as [`at`](Self::at). `near` is the interval of the previous call; for ascending times
    /// each interval is found in a step or two.
    pub fn value(&self, time: f32, near: &mut usize) -> [f64; 4] {
        while *near > 0 && self.times[*near] > time {
            *near -= 1;
        }
        while self.times.get(*near + 1).is_some_and(|&t| t <= time) {
            *near += 1;
        }
        let (key, start) = (*near, self.times[*near]);
        if self.holds() || start >= time {
            return self.key(key, Part::Value);
        }
        match self.times.get(key + 1) {
            Some(&end) => {
                let (a, b) = (f64::from(start), f64::from(end));
                self.between(key, (f64::from(time) - a) / (b - a))
            }
            None => self.key(key, Part::Value),
        }
    }

    /// Value and derivatives at a time; constant outside the keys. At a key time the value is the key's.
    pub fn at(&self, time: f32) -> Knot {
        let keys = self.times.len();
        let next = self.times.partition_point(|&t| t <= time);
        let key = next.saturating_sub(1);
        let exact = self.times.get(key) == Some(&time);
        let mut knot = Knot { value: self.key(key, Part::Value), ..Knot::default() };
        if self.holds() {
            return knot;
        }
        if exact && key > 0 {
            knot.before = self.inside(key - 1, 1.0).1;
        }
        if next > 0 && next < keys {
            let (a, b) = (f64::from(self.times[key]), f64::from(self.times[next]));
            let (value, derivative) = self.inside(key, (f64::from(time) - a) / (b - a));
            knot.after = derivative;
            if !exact {
                (knot.value, knot.before) = (value, derivative);
            }
        }
        knot
    }

    /// The value in the interval after a key, at `u` in [0, 1].
    fn between(&self, key: usize, u: f64) -> [f64; 4] {
        if self.kind == BlockKind::Cubic {
            return self.inside(key, u).0;
        }
        let (mut p, mut q) = (self.key(key, Part::Value), self.key(key + 1, Part::Value));
        if self.rotation {
            (p, q) = (unit(p), unit(q));
        }
        let mut value = [0.0; 4];
        if self.rotation && self.kind == BlockKind::Slerp {
            slerp_value((&p, &q), u, &mut value);
            return value;
        }
        for c in 0..4 {
            value[c] = p[c] + (q[c] - p[c]) * u;
        }
        // Rotations that are not slerped are interpolated by nlerp.
        if self.rotation { unit(value) } else { value }
    }

    /// Value and derivative per second in the interval after a key, at `u` in [0, 1].
    fn inside(&self, key: usize, u: f64) -> ([f64; 4], [f64; 4]) {
        let part = |key, part| self.key(key, part);
        let (p, q) = (part(key, Part::Value), part(key + 1, Part::Value));
        let h = f64::from(self.times[key + 1]) - f64::from(self.times[key]);
        let (mut value, mut derivative) = ([0.0; 4], [0.0; 4]);
        if self.kind == BlockKind::Cubic {
            // Tangents are stored per interval.
            let (m, n) = (part(key, Part::Out), part(key + 1, Part::In));
            for c in 0..4 {
                let per_interval;
                (value[c], per_interval) = hermite((p[c], m[c]), (q[c], n[c]), u);
                derivative[c] = per_interval / h;
            }
            return (value, derivative);
        }
        if self.rotation {
            let (p, q) = (unit(p), unit(q));
            slerp((&p, &q), u, h, &mut value, &mut derivative);
        } else {
            for c in 0..4 {
                derivative[c] = (q[c] - p[c]) / h;
            }
        }
        (self.between(key, u), derivative)
    }
}

/// The quaternion normalised; unchanged if it has no direction.
fn unit(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() { q.map(|v| v / length) } else { q }
}
