//! Reference sampling for the optimiser: in f64, one lane at a time, bit-identical on every machine. The
//! reported error is measured on the output of the sample job instead.

use crate::clip::{Block, BlockKind, Channel, Clip, Part};

/// The position of a time on a timeline: the key before it, and the fraction to the next key.
pub(super) fn locate(times: &[f32], time: f32) -> (usize, f64) {
    let last = times.len() - 2;
    let key = times.partition_point(|&t| t <= time).saturating_sub(1).min(last);
    let (a, b) = (f64::from(times[key]), f64::from(times[key + 1]));
    (key, ((f64::from(time) - a) / (b - a)).clamp(0.0, 1.0))
}

/// The value of a lane of a block after key `k`, at `t` of the way to the next one. Rotations are not normalised.
pub(super) fn value(
    clip: &Clip,
    channel: Channel,
    b: &Block,
    lane: usize,
    (k, mut t): (usize, f64),
) -> [f64; 4] {
    let keys = clip.keys(channel, b);
    let key = |k: usize, part: Part| keys.get_f64(k, part, lane);
    if b.kind == BlockKind::Constant {
        return key(0, Part::Value);
    }
    if b.holds(lane) && t < 1.0 {
        t = 0.0;
    }
    if b.kind == BlockKind::Cubic {
        let (t2, t3) = (t * t, t * t * t);
        let values = weighted(
            key(k, Part::Value),
            key(k + 1, Part::Value),
            2.0 * t3 - 3.0 * t2 + 1.0,
            3.0 * t2 - 2.0 * t3,
        );
        let tangents =
            weighted(key(k, Part::Out), key(k + 1, Part::In), t3 - 2.0 * t2 + t, t3 - t2);
        return weighted(values, tangents, 1.0, 1.0);
    }
    if t == 0.0 {
        return key(k, Part::Value);
    }
    mix(b.kind == BlockKind::Slerp, key(k, Part::Value), key(k + 1, Part::Value), t)
}

/// Interpolates two values: slerp if `turns`, otherwise lerp.
pub(super) fn mix(turns: bool, a: [f64; 4], b: [f64; 4], t: f64) -> [f64; 4] {
    if t == 0.0 {
        return a;
    }
    let (mut wa, mut wb) = (1.0 - t, t);
    if turns {
        let cosine: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let theta = cosine.clamp(-1.0, 1.0).acos();
        if theta > 1e-6 {
            (wa, wb) = ((wa * theta).sin() / theta.sin(), (wb * theta).sin() / theta.sin());
        }
    }
    weighted(a, b, wa, wb)
}

fn weighted(a: [f64; 4], b: [f64; 4], wa: f64, wb: f64) -> [f64; 4] {
    std::array::from_fn(|c| a[c] * wa + b[c] * wb)
}
