//! The times at which errors are measured: key times, and times between them.

use crate::clip::{Block, BlockKind, Channel, Clip, Part};
use crate::math::LANES;

/// All distinct key times of a clip, sorted.
pub(super) fn key_times(clip: &Clip) -> Vec<f32> {
    let mut times = if clip.times.is_empty() { vec![0.0] } else { clip.times.clone() };
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}

/// Fractions of an interval at which normalised lerp is farthest from slerp; in the middle both agree. If no joint
/// rotates by more than [`SMALL_TURN`] the two alternate, since measuring both would cost half as much again.
const BESIDE: [f32; 2] = [0.21, 0.79];
/// A rotation between two keys, radians, up to which normalised lerp and slerp are within 4e-6 of the reach.
const SMALL_TURN: f32 = 0.1;
/// A rotation up to which two times between keys suffice, radians: an arc of a quarter of it is straight within
/// [`BETWEEN`](super::metric::BETWEEN).
const WIDE_TURN: f32 = 0.35;
/// Rotation between two measured times beyond that, radians.
const TURN_STEP: f32 = 0.1;
/// Limit on the times between two keys that rotations add.
const MAX_BETWEEN: usize = 32;
/// Smallest number of times between the keys of cubic curves.
const CUBIC: usize = 3;
/// Number of gaps between measured times in which more times are measured: the gaps around the largest errors.
const PEAKS: usize = 8;
/// Number of times in each of these gaps. Over all test models the largest error was 0.9% above the measured one, and
/// 2.5% without these times.
const BESIDE_PEAK: usize = 3;

/// The times to measure: all key times and times between each two, more where joints rotate far. With stepped lanes
/// also the last moment before each key, where other lanes differ most from the step.
pub(super) fn sample_times(clip: &Clip) -> Vec<f32> {
    let keys = key_times(clip);
    let has =
        |what: fn(&Block) -> bool| Channel::ALL.iter().any(|&c| clip.blocks(c).iter().any(what));
    let (cubic, held) = (has(|b| b.kind == BlockKind::Cubic), has(|b| b.hold != 0));
    let turns = turns(clip, &keys);
    let mut times = Vec::with_capacity(keys.len() * if cubic { 5 } else { 3 });
    for (i, (pair, turn)) in keys.windows(2).zip(turns).enumerate() {
        let at = |part: f32| pair[0] + (pair[1] - pair[0]) * part;
        times.push(pair[0]);
        let steps = ((turn / TURN_STEP) as usize).min(MAX_BETWEEN);
        let steps = if cubic { steps.max(CUBIC) } else { steps };
        if turn > WIDE_TURN || cubic {
            times.extend((1..=steps).map(|s| at(s as f32 / (steps + 1) as f32)));
        } else if turn > SMALL_TURN {
            times.extend(BESIDE.map(at));
        } else {
            times.push(at(BESIDE[i % 2]));
        }
        times.extend(held.then(|| pair[1].next_down()));
    }
    times.extend(keys.last());
    times
}

/// For each interval of the key times, a bound of the largest rotation of a joint relative to its parent, radians.
///
/// A spline is bounded by its control points: a plane through the origin crosses the curve at most as often as their
/// polygon (variation diminishing), so the curve on the sphere is no longer than the polygon (Crofton).
fn turns(clip: &Clip, times: &[f32]) -> Vec<f32> {
    let mut turns = vec![0.0f32; times.len().saturating_sub(1)];
    for b in clip.blocks(Channel::Rotation) {
        if b.kind == BlockKind::Constant {
            continue;
        }
        let keys = clip.keys(Channel::Rotation, b);
        let own = clip.times_of(b);
        let moving = b.moving & !b.hold;
        let mut at = times.partition_point(|t| t < &own[0]);
        for (k, pair) in own.windows(2).enumerate() {
            let mut widest = 0.0f64;
            for l in (0..LANES).filter(|l| moving >> l & 1 == 1) {
                let [p, q] = [k, k + 1].map(|k| keys.get_f64(k, Part::Value, l));
                let turn = match b.kind {
                    BlockKind::Cubic => {
                        let third = |v: [f64; 4], t: [f64; 4], sign: f64| -> [f64; 4] {
                            std::array::from_fn(|c| v[c] + sign * t[c] / 3.0)
                        };
                        let after = third(p, keys.get_f64(k, Part::Out, l), 1.0);
                        let before = third(q, keys.get_f64(k + 1, Part::In, l), -1.0);
                        apart_by(&p, &after) + apart_by(&after, &before) + apart_by(&before, &q)
                    }
                    _ => apart_by(&p, &q),
                };
                widest = widest.max(turn);
            }
            let rate = 2.0 * widest as f32 / (pair[1] - pair[0]);
            while at + 1 < times.len() && times[at] < pair[1] {
                turns[at] = turns[at].max(rate * (times[at + 1] - times[at]));
                at += 1;
            }
        }
    }
    turns
}

/// The angle between two quaternions of any length as vectors, radians; 0 if one has none.
fn apart_by(p: &[f64; 4], q: &[f64; 4]) -> f64 {
    let dot = |p: &[f64; 4], q: &[f64; 4]| -> f64 { (0..4).map(|c| p[c] * q[c]).sum() };
    let lengths = (dot(p, p) * dot(q, q)).sqrt();
    if lengths > 0.0 { (dot(p, q) / lengths).clamp(-1.0, 1.0).acos() } else { 0.0 }
}

/// Additional times around the times of the largest errors: between two measured times the error may exceed both.
pub(super) fn near_peaks(times: &[f32], errors: &[f32], joints: usize) -> Vec<f32> {
    let mut peaks: Vec<f32> =
        errors.chunks(joints.max(1)).map(|all| all.iter().copied().fold(0.0, f32::max)).collect();
    // Without joints there are no errors.
    peaks.resize(times.len(), 0.0);
    let mut gaps: Vec<usize> = (0..times.len().saturating_sub(1)).collect();
    let height = |i: usize| peaks[i].max(peaks[i + 1]);
    if gaps.len() > PEAKS {
        gaps.select_nth_unstable_by(PEAKS, |&a, &b| {
            height(b).total_cmp(&height(a)).then(a.cmp(&b))
        });
        gaps.truncate(PEAKS);
        gaps.sort_unstable();
    }
    let mut near = Vec::with_capacity(gaps.len() * BESIDE_PEAK);
    for i in gaps {
        let parts = (1..=BESIDE_PEAK).map(|p| p as f32 / (BESIDE_PEAK + 1) as f32);
        near.extend(parts.map(|part| times[i] + (times[i + 1] - times[i]) * part));
    }
    near
}
