//! The key times of a block: the union of its lanes' times, or an even grid if they are too many.
//!
//! ```text
//! up to 65,535 times, or even ones          kept
//! even times, and more where joints rotate  a grid of a multiple of their rate that contains them all
//! other times                               a grid of the requested rate, or of their mean rate if that is higher
//! ```

use super::Lane;
use super::variation::Variation;
use crate::build::curve::Curve;
use crate::clip::timeline::regular_rate;
use crate::clip::{Channel, MAX_IRREGULAR_KEYS, MAX_KEYS};
use crate::error::MAX_RESAMPLED_KEYS;
use crate::math::angle;
use crate::raw::Interpolation;

/// Default of [`BuildOptions::resample_rate`](crate::build::BuildOptions::resample_rate), keys per second: the rate
/// of optical motion capture.
pub const RESAMPLE_RATE: f64 = 120.0;

/// Limit on the keys of a grid per key time that it replaces: memory stays within eight times the memory of the tracks.
/// It is also the largest multiple of the rate of even times: rotations between two keys that need more than eight
/// steps lose the difference, which is measured.
const MAX_GROWTH: usize = 8;

/// The resampling of one channel's blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resampled {
    pub channel: Channel,
    /// Numbers of key times before and after.
    pub keys: [usize; 2],
    /// Keys per second.
    pub rate: f64,
    /// The largest difference from the tracks, at their keys and halfway between them. Radians for rotations,
    /// lengths of model space for translations.
    pub error: f64,
}

/// The key times chosen for a block.
pub(super) enum KeyTimes {
    /// The union of the lanes' times.
    Union(Vec<f32>),
    /// A grid that replaces `replaced` times, on which the lanes are to be sampled.
    Grid { times: Vec<f32>, replaced: usize },
}

/// The key times of the moving lanes of a block. Linear rotations get additional ones, so that no rotation from key to
/// key exceeds `max_angle`. Fails with the number of times if they are too many and fit no grid.
pub(super) fn key_times(moving: &[&Lane], max_angle: f64, rate: f64) -> Result<KeyTimes, usize> {
    let mut own: Vec<f32> = Vec::new();
    let mut extra: Vec<f32> = Vec::new();
    let mut last: Option<&Lane> = None;
    for &lane in moving {
        extra.extend(lane.curve.extra_times(max_angle));
        // Lanes of one file mostly share their times.
        if last.is_some_and(|last| last.curve.times == lane.curve.times) {
            continue;
        }
        last = Some(lane);
        // −0.0 and 0.0 count as one key time.
        own.extend(lane.curve.times.iter().map(|t| t + 0.0));
        sort(&mut own);
    }
    if extra.is_empty() && (own.len() <= MAX_IRREGULAR_KEYS || is_even(&own)) {
        return Ok(KeyTimes::Union(own));
    }
    let mut all = own.clone();
    all.extend(extra.iter().map(|t| t + 0.0));
    sort(&mut all);
    if all.len() <= MAX_IRREGULAR_KEYS || is_even(&all) {
        return Ok(KeyTimes::Union(all));
    }
    let times = grid(&own, moving, max_angle, rate).ok_or(all.len())?;
    Ok(KeyTimes::Grid { times, replaced: all.len() })
}

/// The moving lanes of a block, sampled on a grid that replaces `replaced` times, and the measured difference.
pub(super) fn resample(
    channel: Channel,
    moving: &[&Lane],
    grid: &[f32],
    replaced: usize,
) -> (Vec<Lane>, Resampled) {
    let lanes: Vec<Lane> = moving.iter().map(|lane| sampled(lane, grid)).collect();
    let pairs = moving.iter().zip(&lanes);
    let errors = pairs.map(|(a, b)| error(&a.curve, &b.curve) * a.frame);
    let resampled = Resampled {
        channel,
        keys: [replaced, grid.len()],
        rate: (grid.len() - 1) as f64 / span(grid),
        error: errors.fold(0.0, f64::max),
    };
    (lanes, resampled)
}

fn sort(times: &mut Vec<f32>) {
    times.sort_by(f32::total_cmp);
    times.dedup();
}

fn is_even(times: &[f32]) -> bool {
    times.len() <= MAX_KEYS && regular_rate(times) != 0.0
}

/// Seconds from the first time to the last.
fn span(times: &[f32]) -> f64 {
    match (times.first(), times.last()) {
        (Some(&first), Some(&last)) => f64::from(last) - f64::from(first),
        _ => 0.0,
    }
}

/// Evenly spaced times from the first to the last; `None` if f32 cannot space them.
fn grid(own: &[f32], moving: &[&Lane], max_angle: f64, rate: f64) -> Option<Vec<f32>> {
    let (first, span) = (f64::from(*own.first()?), span(own));
    let place = |k: usize, steps: usize| (first + span * (k as f64 / steps as f64)) as f32;
    let steps = own.len() - 1;
    let usable = |times: &[f32]| times.windows(2).all(|t| t[0] < t[1]) && is_even(times);
    let most = MAX_GROWTH.min((MAX_RESAMPLED_KEYS - 1) / steps);
    if is_even(own) {
        let parts = moving.iter().map(|lane| lane.curve.most_parts(max_angle));
        // Without room for a multiple the times are kept.
        let parts = parts.max().unwrap_or(1).clamp(1, most.max(1));
        // The times of the lanes are kept bit for bit.
        let time = |k: usize| match k % parts {
            0 => own[k / parts],
            _ => place(k, steps * parts),
        };
        let times: Vec<f32> = (0..=steps * parts).map(time).collect();
        return Some(times).filter(|t| usable(t)).or(Some(own.to_vec()));
    }
    let wanted = (span * rate).ceil().max(steps as f64) as usize;
    let steps = wanted.min(steps.saturating_mul(MAX_GROWTH));
    let steps = steps.min(MAX_RESAMPLED_KEYS - 1);
    let times: Vec<f32> = (0..=steps).map(|k| place(k, steps)).collect();
    Some(times).filter(|t| usable(t))
}

/// A lane with a key at each of these times: held if it was held, otherwise linear.
fn sampled(lane: &Lane, times: &[f32]) -> Lane {
    let curve = &lane.curve;
    let mut values: Vec<f64> = Vec::with_capacity(times.len() * curve.width);
    for &time in times {
        let mut value = curve.at(time).value;
        if curve.rotation {
            let length = value.iter().map(|v| v * v).sum::<f64>().sqrt();
            let before = values.len().checked_sub(4).and_then(|at| values.get(at..));
            let dot = before.map_or(1.0, |b| b.iter().zip(&value).map(|(a, b)| a * b).sum());
            // Splines of quaternions may pass through zero; the value of the key before is used then.
            let scale = match (length > 1e-6, dot < 0.0) {
                (true, false) => 1.0 / length,
                (true, true) => -1.0 / length,
                (false, _) => 0.0,
            };
            match (scale == 0.0, before) {
                (true, Some(before)) => value.copy_from_slice(before),
                (true, None) => value = [0.0, 0.0, 0.0, 1.0],
                (false, _) => value.iter_mut().for_each(|v| *v *= scale),
            }
        }
        values.extend_from_slice(&value[..curve.width]);
    }
    Lane {
        lane: lane.lane,
        frame: lane.frame,
        size: lane.size,
        curve: Curve {
            interpolation: match curve.interpolation {
                Interpolation::Step => Interpolation::Step,
                _ => Interpolation::Linear,
            },
            rotation: curve.rotation,
            times: times.to_vec(),
            width: curve.width,
            values,
            tangents_in: Vec::new(),
            tangents_out: Vec::new(),
        },
        variation: Variation::Animated,
    }
}

/// The largest difference between two curves at the keys of the first, and halfway between them.
fn error(of: &Curve, built: &Curve) -> f64 {
    let halves = of.times.windows(2).map(|t| 0.5 * (t[0] + t[1]));
    let times = of.times.iter().copied().chain(halves);
    let apart = times.map(|time| {
        let (a, b) = (of.at(time).value, built.at(time).value);
        if of.rotation {
            let length = a.iter().map(|v| v * v).sum::<f64>().sqrt();
            return if length > 1e-6 { angle(&a.map(|v| v / length), &b) } else { 0.0 };
        }
        let each = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        each.fold(0.0, f64::max)
    });
    apart.fold(0.0, f64::max)
}
