//! Keys of a function of several curves: at all their key times, and between them until the line or the arc between two
//! keys is close enough.

use super::track::Keys;
use crate::build::curve::Curve;
use crate::math::angle;
use crate::raw::Interpolation;
use glam::{DQuat, DVec3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Fractions of an interval at which it is compared. A product of arcs is farthest from its chord near the middle; there a
/// curve that eases in and out meets it.
const PROBES: [f64; 3] = [0.25, 0.5, 0.75];

/// Evaluations per key that is inserted: two intervals are compared, whose middles are known.
pub(super) const PER_KEY: usize = 4;

pub(super) trait Value: Copy {
    fn between(a: Self, b: Self, part: f64) -> Self;
    /// Distance of two values, radians for rotations.
    fn apart(a: Self, b: Self) -> f64;
    fn put(self, values: &mut Vec<f32>);
}

impl Value for DQuat {
    fn between(a: Self, b: Self, part: f64) -> Self {
        let b = if a.dot(b) < 0.0 { -b } else { b };
        // Halfway along the arc, the common case, needs no trigonometry.
        if part == 0.5 { (a + b).normalize() } else { a.slerp(b, part) }
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

/// The key times at which moving curves are sampled.
pub(super) struct Sampling {
    /// Key times, ascending, each once; empty without curves.
    times: Vec<f32>,
    /// Whether all curves, and so the result, hold their keys.
    step: bool,
}

impl Sampling {
    pub fn new(curves: &[&Curve]) -> Self {
        let steps = |c: &&Curve| c.interpolation == Interpolation::Step;
        let step = !curves.is_empty() && curves.iter().all(steps);
        Self { times: key_times(curves, !step), step }
    }

    /// The number of key times; 1 without curves.
    pub fn keys(&self) -> usize {
        self.times.len().max(1)
    }

    /// Keys of a function at the curves' key times, and between them: the interval with the largest distance is halved first,
    /// until all are within `tolerance` or there are `most` keys. Returns the largest distance at the compared times too.
    pub fn sample<V: Value, E>(
        &self,
        (tolerance, most): (f64, usize),
        at: impl Fn(f32) -> Result<V, E>,
    ) -> Result<(Keys, f64), E> {
        let times = if self.times.is_empty() { &[0.0][..] } else { &self.times };
        let keys = times.iter().map(|&t| Ok((t, at(t)?)));
        let mut keys: Vec<(f32, V)> = keys.collect::<Result<_, E>>()?;
        let mut worst = 0.0f64;
        if !self.step {
            let mut open = BinaryHeap::new();
            let mut put =
                |interval: Interval<V>, open: &mut BinaryHeap<_>| match interval.off > tolerance {
                    true => open.push(interval),
                    false => worst = worst.max(interval.off),
                };
            for pair in keys.windows(2) {
                put(Interval::new(pair[0], pair[1], None, &at)?, &mut open);
            }
            while keys.len() < most
                && let Some(far) = open.pop()
            {
                let Some(half) = far.probes[1] else { break };
                keys.push(half);
                let (a, b) = (far.from, far.to);
                put(Interval::new(a, half, far.probes[0], &at)?, &mut open);
                put(Interval::new(half, b, far.probes[2], &at)?, &mut open);
            }
            worst = open.peek().map_or(worst, |far| worst.max(far.off));
            keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let mut values = Vec::with_capacity(4 * keys.len());
        keys.iter().for_each(|key| key.1.put(&mut values));
        let interpolation = if self.step { Interpolation::Step } else { Interpolation::Linear };
        let times = keys.iter().map(|key| key.0).collect();
        Ok((Keys { times, interpolation, values }, worst))
    }
}

/// Two keys, and the function between them.
struct Interval<V> {
    from: (f32, V),
    to: (f32, V),
    /// The function at [`PROBES`]; `None` if no time lies between the keys.
    probes: [Option<(f32, V)>; 3],
    /// The largest distance of the function from the line or arc between the keys.
    off: f64,
}

impl<V: Value> Interval<V> {
    fn new<E>(
        from: (f32, V),
        to: (f32, V),
        middle: Option<(f32, V)>,
        at: &impl Fn(f32) -> Result<V, E>,
    ) -> Result<Self, E> {
        let (start, length) = (f64::from(from.0), f64::from(to.0) - f64::from(from.0));
        let mut probes = [None, middle, None];
        let mut off = 0.0f64;
        for (probe, part) in probes.iter_mut().zip(PROBES) {
            let time = probe.map_or((start + length * part) as f32, |p| p.0);
            if !(time > from.0 && time < to.0) {
                continue;
            }
            let now = probe.map_or_else(|| at(time), |known| Ok(known.1))?;
            *probe = Some((time, now));
            // In short intervals times are rounded.
            let part = (f64::from(time) - start) / length;
            off = off.max(V::apart(V::between(from.1, to.1, part), now));
        }
        Ok(Self { from, to, probes, off })
    }
}

/// The larger distance comes first, then the earlier interval.
impl<V> Ord for Interval<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = other.from.0.total_cmp(&self.from.0);
        self.off.total_cmp(&other.off).then(earlier)
    }
}

impl<V> PartialOrd for Interval<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V> PartialEq for Interval<V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<V> Eq for Interval<V> {}

/// A lower bound of the evaluations of sampling, without collecting the times.
pub(super) fn evaluations(curves: &[&Curve]) -> usize {
    let mut times = 0usize;
    let mut last: &[f32] = &[];
    for curve in curves {
        if curve.times != last {
            let each = if curve.interpolation == Interpolation::Step { 2 } else { 1 };
            times = times.saturating_add(each * curve.times.len());
            last = &curve.times;
        }
    }
    times.saturating_mul(PROBES.len() + 1)
}

/// The union of the curves' key times, ascending, each once. With `before`, also the times just before steps.
pub(super) fn key_times(curves: &[&Curve], before: bool) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    let mut last: Option<&Curve> = None;
    for curve in curves {
        let steps = before && curve.interpolation == Interpolation::Step;
        if !steps && last.is_some_and(|last| last.times == curve.times) {
            continue;
        }
        // −0.0 and 0.0 count as one key time.
        times.extend(curve.times.iter().map(|t| t + 0.0));
        if steps {
            // A step keeps its old value until just before its time.
            times.extend(curve.times.iter().skip(1).map(|t| t.next_down()));
        }
        last = Some(curve);
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}
