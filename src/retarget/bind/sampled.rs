//! Samples of what several moving joints do together: at all their key times, and between them until the line or the
//! arc between two samples is close enough.

use crate::build::curve::Curve;
use crate::clip::MAX_IRREGULAR_KEYS;
use crate::import::raw::Interpolation;
use crate::math::angle;
use glam::{DQuat, DVec3};
use std::cell::Cell;

/// How far an interval may be from what is sampled: radians (0.002 degrees).
const ROTATION: f64 = 4e-5;

/// How far an interval may be from what is sampled: metres.
const TRANSLATION: f64 = 2e-5;

/// How often an interval between two key times is halved at most.
const HALVINGS: u32 = 8;

/// Where an interval is compared. A cubic curve that eases in and out meets its chord in the middle.
const PROBES: [f64; 3] = [0.5, 0.25, 0.75];

/// The largest number of local transforms that binding one clip evaluates. A take of ten minutes at 120 Hz with ten
/// joints that are folded needs 2^24.
pub const MAX_WORK: usize = 1 << 26;

/// What is left of the work of a clip.
pub struct Work(Cell<usize>);

impl Work {
    pub fn new() -> Self {
        Self(Cell::new(MAX_WORK))
    }

    /// Counts evaluations; `None` if there are too many.
    pub fn take(&self, count: usize) -> Option<()> {
        self.0.set(self.0.get().checked_sub(count)?);
        Some(())
    }
}

/// Keys, and how far they are from what they sample.
pub struct Sampled {
    pub times: Vec<f32>,
    pub values: Vec<f32>,
    pub difference: f64,
}

/// Samples a rotation; `None` if `at` gives none.
pub fn sample_rotation(curves: &[&Curve], at: impl Fn(f32) -> Option<DQuat>) -> Option<Sampled> {
    let between = |a: &DQuat, b: &DQuat, part: f64| {
        let b = if a.dot(*b) < 0.0 { -*b } else { *b };
        a.slerp(b, part)
    };
    let apart = |a: &DQuat, b: &DQuat| angle(&a.to_array(), &b.to_array());
    let (times, values, difference) = sample(curves, at, between, apart, ROTATION)?;
    Some(Sampled {
        times,
        values: values.iter().flat_map(|q| q.as_quat().to_array()).collect(),
        difference,
    })
}

/// Samples a translation; `None` if `at` gives none.
pub fn sample_translation(curves: &[&Curve], at: impl Fn(f32) -> Option<DVec3>) -> Option<Sampled> {
    let between = |a: &DVec3, b: &DVec3, part: f64| a.lerp(*b, part);
    let apart = |a: &DVec3, b: &DVec3| a.distance(*b);
    let (times, values, difference) = sample(curves, at, between, apart, TRANSLATION)?;
    Some(Sampled {
        times,
        values: values.iter().flat_map(|v| v.as_vec3().to_array()).collect(),
        difference,
    })
}

type Samples<V> = (Vec<f32>, Vec<V>, f64);

fn sample<V: Copy>(
    curves: &[&Curve],
    at: impl Fn(f32) -> Option<V>,
    between: impl Fn(&V, &V, f64) -> V,
    apart: impl Fn(&V, &V) -> f64,
    tolerance: f64,
) -> Option<Samples<V>> {
    let mut keys: Vec<f32> = Vec::new();
    for curve in curves {
        for (k, &time) in curve.times.iter().enumerate() {
            // A step has its old value until just before.
            if curve.interpolation == Interpolation::Step && k > 0 {
                keys.push(time.next_down());
            }
            keys.push(time + 0.0);
        }
    }
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let Some(&first) = keys.first() else {
        return Some((vec![0.0], vec![at(0.0)?], 0.0));
    };
    // Halvings that an interval may have so that all of them stay within the keys of an irregular timeline.
    let room = MAX_IRREGULAR_KEYS / keys.len().max(1);
    let halvings = room.max(1).ilog2().min(HALVINGS);
    let (mut times, mut values, mut worst) = (vec![first], vec![at(first)?], 0.0f64);
    for pair in keys.windows(2) {
        // Intervals that are still to be looked at, the first one last.
        let mut open = vec![(pair[0], at(pair[0])?, pair[1], at(pair[1])?, 0)];
        while let Some((a, start, b, end, depth)) = open.pop() {
            let mut off = 0.0f64;
            let mut middle = None;
            for part in PROBES {
                let time = a + (b - a) * part as f32;
                if !(time > a && time < b) {
                    continue;
                }
                let now = at(time)?;
                middle = middle.or(Some((time, now)));
                // Times are rounded, where intervals are short.
                let part = (f64::from(time) - f64::from(a)) / (f64::from(b) - f64::from(a));
                off = off.max(apart(&between(&start, &end, part), &now));
            }
            match middle {
                Some((half, now)) if off > tolerance && depth < halvings => {
                    open.push((half, now, b, end, depth + 1));
                    open.push((a, start, half, now, depth + 1));
                }
                _ => {
                    worst = worst.max(off);
                    times.push(b);
                    values.push(end);
                }
            }
        }
    }
    Some((times, values, worst))
}
