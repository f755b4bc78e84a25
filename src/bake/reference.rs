//! Reference sampling for the optimiser: in f64, one lane at a time, bit-identical on every machine. The
//! reported error is measured on the output of the sample job instead.

use crate::clip::{Block, BlockKind, Channel, Clip, Encoding};

/// The position of a time on a timeline: the key before it, and the fraction to the next key.
pub(super) fn locate(times: &[f32], time: f32) -> (usize, f64) {
    let last = times.len() - 2;
    let key = times
        .partition_point(|&t| t <= time)
        .saturating_sub(1)
        .min(last);
    let (a, b) = (f64::from(times[key]), f64::from(times[key + 1]));
    (key, ((f64::from(time) - a) / (b - a)).clamp(0.0, 1.0))
}

/// One component of one key. `part` is 0; in cubic blocks 0 in-tangent, 1 value, 2 out-tangent.
fn number(
    clip: &Clip,
    channel: Channel,
    b: &Block,
    key: usize,
    part: usize,
    c: usize,
    lane: usize,
) -> f64 {
    let (width, first) = (channel.components(), b.first_row as usize);
    match b.encoding {
        Encoding::Float => {
            let row = first + key * b.kind.rows_per_key(channel) + part * width + c;
            f64::from(clip.rows()[row].0[lane])
        }
        Encoding::Packed { first: at, lanes } => {
            let least = f64::from(clip.rows()[first + c].0[lane]);
            let lanes = usize::from(lanes);
            if lane >= lanes {
                return least;
            }
            let step = f64::from(clip.rows()[first + width].0[lane]);
            let k = clip.packed()[at as usize + (key * width + c) * lanes + lane];
            least + step * f64::from(k)
        }
    }
}

/// The value of a lane of a block at a time, seconds. Rotations are not normalised.
pub(super) fn value(clip: &Clip, channel: Channel, b: &Block, lane: usize, time: f32) -> [f64; 4] {
    let width = channel.components();
    let key = |k: usize, part: usize| {
        let mut out = [0.0; 4];
        for (c, v) in out.iter_mut().enumerate().take(width) {
            *v = number(clip, channel, b, k, part, c, lane);
        }
        out
    };
    if b.kind == BlockKind::Constant {
        return key(0, 0);
    }
    let timeline = &clip.timelines()[b.timeline as usize];
    let (k, mut t) = locate(clip.times(timeline), time);
    if b.hold >> lane & 1 == 1 && t < 1.0 {
        t = 0.0;
    }
    if b.kind == BlockKind::Cubic {
        let (t2, t3) = (t * t, t * t * t);
        let values = weighted(
            key(k, 1),
            key(k + 1, 1),
            2.0 * t3 - 3.0 * t2 + 1.0,
            3.0 * t2 - 2.0 * t3,
        );
        let tangents = weighted(key(k, 2), key(k + 1, 0), t3 - 2.0 * t2 + t, t3 - t2);
        return weighted(values, tangents, 1.0, 1.0);
    }
    mix(b.kind == BlockKind::Slerp, key(k, 0), key(k + 1, 0), t)
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
            (wa, wb) = (
                (wa * theta).sin() / theta.sin(),
                (wb * theta).sin() / theta.sin(),
            );
        }
    }
    weighted(a, b, wa, wb)
}

fn weighted(a: [f64; 4], b: [f64; 4], wa: f64, wb: f64) -> [f64; 4] {
    std::array::from_fn(|c| a[c] * wa + b[c] * wb)
}
