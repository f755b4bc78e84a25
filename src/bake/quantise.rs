//! Values of a joint rounded to the steps of its channels, in registers.

use super::tracks::{ChannelForm, JointTrack};
use super::transforms::{Live, Model, Trs, Turn, conjugate, product, round};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// Quantises the values of a group of times, whose raw transforms in model space are given.
#[inline(always)]
pub(super) fn quantise<S: Simd>(
    simd: S,
    track: &JointTrack,
    (chunk, goal): (usize, &Model),
    parent: &Live<S>,
    steps: [f64; 3],
) -> Trs<S> {
    let mut out = track.raw.load(simd, chunk);
    let mut which = 0;
    while which < 3 {
        if track.forms[which] == ChannelForm::Constant {
            let (first, width) = ([0, 3, 7][which], [3, 4, 3][which]);
            let mut c = 0;
            while c < width {
                out[first + c] = f64x8::splat(simd, track.middles[which][c]);
                c += 1;
            }
        }
        which += 1;
    }
    let mut q = [out[3], out[4], out[5], out[6]];
    let mut which = 0;
    while which < 3 {
        if track.forms[which] != ChannelForm::Kept {
            let first = [0, 3, 7][which];
            let mut c = first;
            while c < first + 3 {
                out[c] = nearest(out[c], steps[which]);
                c += 1;
            }
        }
        which += 2;
    }
    if track.forms[1] == ChannelForm::Kept {
        return out;
    }
    // The rotation compensates the rotation errors of its ancestors, so that they do not accumulate.
    if matches!(track.forms[1], ChannelForm::Moving { .. }) && track.base.is_none() {
        let wanted = Live::load(simd, goal).turn;
        let wanted = product(&conjugate(&parent.turn), &wanted);
        let dot = wanted[0] * q[0] + wanted[1] * q[1] + wanted[2] * q[2] + wanted[3] * q[3];
        let sign = f64x8::splat(simd, 1.0).copysign(dot);
        q = [wanted[0] * sign, wanted[1] * sign, wanted[2] * sign, wanted[3] * sign];
    }
    let q = nearest_turn(simd, &q, steps[1], track.derived);
    out[3..7].copy_from_slice(&q);
    out
}

#[inline(always)]
fn nearest<S: Simd>(v: f64x8<S>, step: f64) -> f64x8<S> {
    round(v * (1.0 / step)) * step
}

#[inline(always)]
fn nearest_turn<S: Simd>(
    simd: S,
    q: &Turn<S>,
    step: f64,
    derived: Option<(usize, bool)>,
) -> Turn<S> {
    let near = [nearest(q[0], step), nearest(q[1], step), nearest(q[2], step), nearest(q[3], step)];
    let Some((largest, negative)) = derived else { return near };
    let mut out = near;
    let mut square = f64x8::splat(simd, 0.0);
    let mut c = 0;
    while c < 4 {
        if c != largest {
            square += near[c] * near[c];
        }
        c += 1;
    }
    let left = f64x8::splat(simd, 1.0) - square;
    let left = left.max(f64x8::splat(simd, 0.0)).sqrt();
    let sign = if negative { -1.0 } else { 1.0 };
    out[largest] = nearest(left, step) * sign;
    out
}
