//! Samples of what several moving joints do together: at all their key times, and between them until the line or the
//! arc between two samples is close enough.

use crate::build::curve::Curve;
use crate::clip::MAX_IRREGULAR_KEYS;
use crate::import::raw::Interpolation;
use crate::math::angle;
use glam::{DQuat, DVec3};

/// How far the middle of an interval may be from what is sampled: radians (0.002 degrees).
const ROTATION: f64 = 4e-5;

/// How far the middle of an interval may be from what is sampled: metres.
const TRANSLATION: f64 = 2e-5;

/// How often an interval between two key times is halved at most.
const HALVINGS: u32 = 8;

/// Keys, and how far they are from what they sample.
pub struct Sampled {
    pub times: Vec<f32>,
    pub values: Vec<f32>,
    pub difference: f64,
}

/// Samples a rotation.
pub fn sample_rotation(curves: &[&Curve], at: impl Fn(f32) -> DQuat) -> Sampled {
    let middle = |a: &DQuat, b: &DQuat| {
        let b = if a.dot(*b) < 0.0 { -*b } else { *b };
        (*a + b).normalize()
    };
    let apart = |a: &DQuat, b: &DQuat| angle(&a.to_array(), &b.to_array());
    let (times, values, difference) = sample(curves, at, middle, apart, ROTATION);
    Sampled {
        times,
        values: values.iter().flat_map(|q| q.as_quat().to_array()).collect(),
        difference,
    }
}

/// Samples a translation.
pub fn sample_translation(curves: &[&Curve], at: impl Fn(f32) -> DVec3) -> Sampled {
    let middle = |a: &DVec3, b: &DVec3| (*a + *b) * 0.5;
    let apart = |a: &DVec3, b: &DVec3| a.distance(*b);
    let (times, values, difference) = sample(curves, at, middle, apart, TRANSLATION);
    Sampled {
        times,
        values: values.iter().flat_map(|v| v.as_vec3().to_array()).collect(),
        difference,
    }
}

fn sample<V: Copy>(
    curves: &[&Curve],
    at: impl Fn(f32) -> V,
    middle: impl Fn(&V, &V) -> V,
    apart: impl Fn(&V, &V) -> f64,
    tolerance: f64,
) -> (Vec<f32>, Vec<V>, f64) {
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
    let (mut times, mut values, mut worst) = (Vec::new(), Vec::new(), 0.0f64);
    let Some(&first) = keys.first() else {
        return (vec![0.0], vec![at(0.0)], 0.0);
    };
    times.push(first);
    values.push(at(first));
    for pair in keys.windows(2) {
        // Intervals that are still to be looked at, the first one last.
        let mut open = vec![(pair[0], at(pair[0]), pair[1], at(pair[1]), 0)];
        while let Some((a, start, b, end, depth)) = open.pop() {
            let half = a + (b - a) * 0.5;
            let between = half > a && half < b;
            let now = at(half);
            let off = if between {
                apart(&middle(&start, &end), &now)
            } else {
                0.0
            };
            // Beyond the most keys of a timeline nothing is added: the builder refuses or resamples.
            let room = times.len() + open.len() < MAX_IRREGULAR_KEYS;
            if off > tolerance && depth < HALVINGS && room {
                open.push((half, now, b, end, depth + 1));
                open.push((a, start, half, now, depth + 1));
                continue;
            }
            worst = worst.max(off);
            times.push(b);
            values.push(end);
        }
    }
    (times, values, worst)
}
