//! Keys of what several curves make together: at all their key times, and between them until the line or the arc
//! between two keys is close enough.

use super::track::Keys;
use crate::build::curve::Curve;
use crate::import::raw::Interpolation;
use crate::math::angle;
use glam::{DQuat, DVec3};

/// Where an interval is compared, if all curves in it are lines or arcs: their products are farthest from the chord
/// near the middle.
const MIDDLE: [f64; 1] = [0.5];

/// The same if one curve is cubic: a curve that eases in and out meets its chord in the middle.
const QUARTERS: [f64; 3] = [0.5, 0.25, 0.75];

/// A value that is sampled.
pub(super) trait Value: Copy {
    fn between(a: Self, b: Self, part: f64) -> Self;
    /// Radians for rotations.
    fn apart(a: Self, b: Self) -> f64;
    fn put(self, values: &mut Vec<f32>);
}

impl Value for DQuat {
    fn between(a: Self, b: Self, part: f64) -> Self {
        let b = if a.dot(b) < 0.0 { -b } else { b };
        // Halfway along the arc without trigonometry: the common case.
        if part == 0.5 {
            (a + b).normalize()
        } else {
            a.slerp(b, part)
        }
    }

    fn apart(a: Self, b: Self) -> f64 {
        angle(&a.to_array(), &b.to_array())
    }

    fn put(self, values: &mut Vec<f32>) {
        values.extend(self.to_array().map(|v| v as f32));
    }
}

impl Value for DVec3 {
    fn between(a: Self, b: Self, part: f64) -> Self {
        a.lerp(b, part)
    }

    fn apart(a: Self, b: Self) -> f64 {
        a.distance(b)
    }

    fn put(self, values: &mut Vec<f32>) {
        values.extend(self.to_array().map(|v| v as f32));
    }
}

/// When moving curves are sampled, and how closely.
pub(super) struct Sampling {
    /// Ascending, each once; empty without curves.
    pub times: Vec<f32>,
    /// Whether all curves hold their keys: so does the result.
    step: bool,
    probes: &'static [f64],
    /// How often an interval between two key times is halved at most.
    pub halvings: u32,
    /// The largest distance from what is sampled before an interval is halved.
    pub tolerance: f64,
}

impl Sampling {
    /// At the key times of the curves alone.
    pub fn new(curves: &[&Curve]) -> Self {
        let steps = |c: &&Curve| c.interpolation == Interpolation::Step;
        let step = !curves.is_empty() && curves.iter().all(steps);
        let cubic = curves.iter().any(is_cubic);
        Self {
            times: key_times(curves, !step),
            step,
            probes: if cubic { &QUARTERS } else { &MIDDLE },
            halvings: 0,
            tolerance: f64::INFINITY,
        }
    }

    /// Inserts keys where an interval is farther off than `tolerance`.
    pub fn refine(self, tolerance: f64, halvings: u32) -> Self {
        Self {
            halvings,
            tolerance,
            ..self
        }
    }

    /// Whether a curve is cubic.
    pub fn is_cubic(&self) -> bool {
        self.probes.len() > MIDDLE.len()
    }

    /// Keys of a function, and their largest distance from it where intervals were compared.
    pub fn sample<V: Value, E>(&self, at: impl Fn(f32) -> Result<V, E>) -> Result<(Keys, f64), E> {
        let first = self.times.first().copied().unwrap_or(0.0);
        let mut out = Samples {
            keys: Keys {
                times: Vec::with_capacity(self.times.len()),
                interpolation: match self.step {
                    true => Interpolation::Step,
                    false => Interpolation::Linear,
                },
                values: Vec::with_capacity(4 * self.times.len()),
            },
            worst: 0.0,
        };
        let mut last = (first, at(first)?);
        out.push(last);
        for &time in self.times.iter().skip(1) {
            let next = (time, at(time)?);
            if !self.step {
                self.between(last, next, &at, &mut out)?;
            }
            out.push(next);
            last = next;
        }
        Ok((out.keys, out.worst))
    }

    /// Adds the keys between two.
    fn between<V: Value, E>(
        &self,
        from: (f32, V),
        to: (f32, V),
        at: &impl Fn(f32) -> Result<V, E>,
        out: &mut Samples,
    ) -> Result<(), E> {
        // Intervals that are still to be looked at, the first one last.
        let mut open = vec![(from, to, 0)];
        while let Some((a, b, depth)) = open.pop() {
            let mut off = 0.0f64;
            let mut middle = None;
            for part in self.probes {
                let time = a.0 + (b.0 - a.0) * *part as f32;
                if !(time > a.0 && time < b.0) {
                    continue;
                }
                let now = at(time)?;
                middle = middle.or(Some((time, now)));
                // Times are rounded, where intervals are short.
                let start = f64::from(a.0);
                let part = (f64::from(time) - start) / (f64::from(b.0) - start);
                off = off.max(V::apart(V::between(a.1, b.1, part), now));
            }
            match middle {
                Some(half) if off > self.tolerance && depth < self.halvings => {
                    open.push((half, b, depth + 1));
                    open.push((a, half, depth + 1));
                }
                _ => {
                    out.worst = out.worst.max(off);
                    if b.0 < to.0 {
                        out.push(b);
                    }
                }
            }
        }
        Ok(())
    }
}

struct Samples {
    keys: Keys,
    worst: f64,
}

impl Samples {
    fn push<V: Value>(&mut self, (time, value): (f32, V)) {
        self.keys.times.push(time);
        value.put(&mut self.keys.values);
    }
}

fn is_cubic(curve: &&Curve) -> bool {
    curve.interpolation == Interpolation::CubicSpline
}

/// The most evaluations that sampling takes, without collecting the times. `halvings` is of a number of times, and whether
/// a curve is cubic.
pub(super) fn evaluations(curves: &[&Curve], halvings: impl Fn(usize, bool) -> u32) -> usize {
    let mut times = 0usize;
    let mut last: &[f32] = &[];
    for curve in curves {
        if curve.times != last {
            let each = match curve.interpolation {
                Interpolation::Step => 2,
                _ => 1,
            };
            times = times.saturating_add(each * curve.times.len());
            last = &curve.times;
        }
    }
    let cubic = curves.iter().any(is_cubic);
    let probes = match cubic {
        true => QUARTERS.len(),
        false => MIDDLE.len(),
    };
    // All intervals of a tree of halvings, and the key.
    let each = probes * ((2 << halvings(times, cubic)) - 1) + 1;
    times.saturating_mul(each)
}

/// The key times of curves together, ascending, each once. If `before`, also those just before a step.
pub(super) fn key_times(curves: &[&Curve], before: bool) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    let mut last: Option<&Curve> = None;
    for curve in curves {
        let steps = before && curve.interpolation == Interpolation::Step;
        if !steps && last.is_some_and(|last| last.times == curve.times) {
            continue;
        }
        // −0.0 and 0.0 are one key time.
        times.extend(curve.times.iter().map(|t| t + 0.0));
        if steps {
            // A step has its old value until just before.
            times.extend(curve.times.iter().skip(1).map(|t| t.next_down()));
        }
        last = Some(curve);
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}
