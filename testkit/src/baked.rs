//! What a clip shows, in f64 and lane by lane, read from its rows and integers by this file alone; and
//! how far two clips carry the points of a shell apart.

use crate::oracle::math::{Mat4, from_trs, mul, normalize, product, slerp, transform_point};
use phalanx::clip::{Block, BlockKind, Channel, Clip, ClipKind, Encoding};
use phalanx::skeleton::Skeleton;

/// One component of one key; `part` is the in-tangent, the value or the out-tangent of cubic blocks.
fn component(
    clip: &Clip,
    channel: Channel,
    b: &Block,
    key: usize,
    part: usize,
    c: usize,
    lane: usize,
) -> f64 {
    let width = match channel {
        Channel::Translation | Channel::Scale => 3,
        Channel::Rotation => 4,
        Channel::Scalar => 1,
    };
    let first = b.first_row as usize;
    match b.encoding {
        Encoding::Float if b.kind == BlockKind::Cubic => {
            clip.rows()[first + (key * 3 + part) * width + c].0[lane].into()
        }
        Encoding::Float => clip.rows()[first + key * width + c].0[lane].into(),
        Encoding::Packed { first: integers, lanes } => {
            let least: f64 = clip.rows()[first + c].0[lane].into();
            let step: f64 = clip.rows()[first + width].0[lane].into();
            let lanes = usize::from(lanes);
            if lane >= lanes {
                return least;
            }
            let at = integers as usize + (key * width + c) * lanes + lane;
            least + step * f64::from(clip.packed()[at])
        }
    }
}

/// A channel of a lane at a time; none if no keys are stored.
pub fn lane(clip: &Clip, channel: Channel, lane: usize, time: f64) -> Option<[f64; 4]> {
    let b = clip.blocks(channel).iter().find(|b| usize::from(b.block) == lane / 16)?;
    let l = lane % 16;
    let width = match channel {
        Channel::Rotation => 4,
        Channel::Scalar => 1,
        _ => 3,
    };
    let all = |key: usize, part: usize| -> [f64; 4] {
        std::array::from_fn(|c| {
            if c < width { component(clip, channel, b, key, part, c, l) } else { 0.0 }
        })
    };
    if b.kind == BlockKind::Constant {
        return Some(all(0, 0));
    }
    let times = clip.timelines().nth(b.timeline as usize)?;
    let last = times.len() - 1;
    let value = |k: usize| all(k, usize::from(b.kind == BlockKind::Cubic));
    if time <= times[0].into() {
        return Some(value(0));
    }
    if time >= times[last].into() {
        return Some(value(last));
    }
    let k = (0..last).rev().find(|&k| f64::from(times[k]) <= time)?;
    let (t0, t1) = (f64::from(times[k]), f64::from(times[k + 1]));
    let u = (time - t0) / (t1 - t0);
    if b.hold >> l & 1 == 1 {
        return Some(value(k));
    }
    let (a, z) = (value(k), value(k + 1));
    Some(match b.kind {
        BlockKind::Cubic => {
            let (out, into) = (all(k, 2), all(k + 1, 0));
            let h = [
                2.0 * u.powi(3) - 3.0 * u * u + 1.0,
                u.powi(3) - 2.0 * u * u + u,
                3.0 * u * u - 2.0 * u.powi(3),
                u.powi(3) - u * u,
            ];
            std::array::from_fn(|i| h[0] * a[i] + h[1] * out[i] + h[2] * z[i] + h[3] * into[i])
        }
        BlockKind::Slerp => slerp(normalize(a), normalize(z), u),
        _ => std::array::from_fn(|i| a[i] * (1.0 - u) + z[i] * u),
    })
}

/// Model matrices of all joints at a time.
pub fn models(clip: &Clip, skeleton: &Skeleton, time: f64) -> Vec<Mat4> {
    let mut out: Vec<Mat4> = Vec::new();
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let at = usize::from(skeleton.lane_of()[joint]);
        let rest = skeleton.rest(joint);
        let three = |v: glam::Vec3| v.to_array().map(f64::from);
        let (rt, rs) = (three(rest.translation), three(rest.scale));
        let rr = normalize(rest.rotation.to_array().map(f64::from));
        let t = lane(clip, Channel::Translation, at, time).map(|v| [v[0], v[1], v[2]]);
        let r = lane(clip, Channel::Rotation, at, time).map(normalize);
        let s = lane(clip, Channel::Scale, at, time).map(|v| [v[0], v[1], v[2]]);
        let local = match clip.kind() {
            ClipKind::Full => from_trs(t.unwrap_or(rt), r.unwrap_or(rr), s.unwrap_or(rs)),
            ClipKind::Additive => {
                let (t, s) = (t.unwrap_or([0.0; 3]), s.unwrap_or([1.0; 3]));
                let r = r.map_or(rr, |r| normalize(product(rr, r)));
                let sum = std::array::from_fn(|i| rt[i] + t[i]);
                from_trs(sum, r, std::array::from_fn(|i| rs[i] * s[i]))
            }
        };
        out.push(match out.get(usize::from(parent)) {
            Some(above) => mul(above, &local),
            None => local,
        });
    }
    out
}

/// How far each joint's shell is apart at a time, metres.
pub fn apart(raw: &Clip, built: &Clip, skeleton: &Skeleton, shell: f64, time: f64) -> Vec<f64> {
    let (a, b) = (models(raw, skeleton, time), models(built, skeleton, time));
    let distance = |a: &Mat4, b: &Mat4, point: [f64; 3]| {
        let (p, q) = (transform_point(a, point), transform_point(b, point));
        p.iter().zip(&q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt()
    };
    let shells = [[shell, 0.0, 0.0], [0.0, shell, 0.0], [0.0, 0.0, shell]];
    a.iter()
        .zip(&b)
        .map(|(a, b)| shells.iter().map(|&p| distance(a, b, p)).fold(0.0, f64::max))
        .collect()
}

/// All key times of a clip, and parts of the ways between them: of the first way, of the second, in turns.
pub fn times(clip: &Clip, parts: &[&[f64]]) -> Vec<f64> {
    let mut keys: Vec<f32> = clip.timelines().flatten().copied().collect();
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let mut out: Vec<f64> = keys.iter().map(|&t| t.into()).collect();
    for (pair, parts) in keys.windows(2).zip(parts.iter().cycle()) {
        let (a, b) = (f64::from(pair[0]), f64::from(pair[1]));
        out.extend(parts.iter().map(|p| a + (b - a) * p));
    }
    if out.is_empty() {
        out.push(0.0);
    }
    out
}
