//! Blocks whose lanes come from several timelines or kinds: their curves are split at the union of their key times.
//! Lines, great arcs and cubic pieces are split without error except for rounding; a great arc that becomes cubic gets
//! additional keys.

use super::curve::{Knot, LaneCurve};
use super::plan::{BlockPlan, Old};
use crate::clip::{BlockKind, Channel, Clip, FloatKeys, Part};
use crate::math::{LANES, NOISE, NOISE_LENGTH, angle};
use crate::skeleton::{Frames, NO_JOINT, noise_length};

/// The largest rotation between keys when a cubic block replaces slerp, radians: the Hermite fit then stays within 3e-6
/// (20 degrees).
pub(crate) const CUBIC_SLERP_MAX_ANGLE: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// The key times of all lanes that move, with the additional ones of great arcs that become cubic.
pub fn union(clip: &Clip, plan: &BlockPlan<'_>) -> Vec<f32> {
    let mut times: Vec<f32> = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    for (_, old) in plan.moving() {
        let curve = LaneCurve::new(clip, plan.channel, old.block, old.lane);
        let arcs = plan.kind == BlockKind::Cubic && plan.channel == Channel::Rotation;
        if arcs && !curve.holds() && !curve.is_cubic() {
            times.extend(between(&curve));
        }
        if !seen.contains(&old.block.timeline) {
            seen.push(old.block.timeline);
            // −0.0 and 0.0 count as one key time.
            times.extend(curve.times.iter().map(|t| t + 0.0));
        }
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}

/// Times between the keys of a great arc that keep rotations between keys within [`CUBIC_SLERP_MAX_ANGLE`].
fn between(curve: &LaneCurve<'_>) -> Vec<f32> {
    let mut out = Vec::new();
    for (k, pair) in curve.times.windows(2).enumerate() {
        let (p, q) = (curve.key(k, Part::Value), curve.key(k + 1, Part::Value));
        let parts = (angle(&p, &q) / CUBIC_SLERP_MAX_ANGLE).ceil();
        let (a, b) = (f64::from(pair[0]), f64::from(pair[1]));
        out.extend((1..parts as usize).map(|i| (a + (b - a) * i as f64 / parts) as f32));
    }
    out
}

/// The scale of the frame of a lane, given in the old order.
fn frame(clip: &Clip, frames: &Frames, old: &Old<'_>) -> f64 {
    let lane = usize::from(old.block.block) * LANES + old.lane;
    let joint = clip.skeleton().joint_of().get(lane).copied();
    frames.above(joint.unwrap_or(NO_JOINT).into())
}

/// Writes the keys of the lanes that move.
pub fn write(clip: &Clip, plan: &BlockPlan<'_>, times: &[f32], keys: &mut FloatKeys<'_>) {
    let translates = plan.channel == Channel::Translation;
    let frames = translates.then(|| Frames::of_rest(clip.skeleton()));
    for (lane, old) in plan.moving() {
        let noise = match (plan.channel, &frames) {
            (Channel::Rotation, _) => NOISE,
            (_, Some(frames)) => noise_length(frame(clip, frames, &old)),
            (_, None) => NOISE_LENGTH,
        };
        let curve = LaneCurve::new(clip, plan.channel, old.block, old.lane);
        let tangents = plan.kind == BlockKind::Cubic && !curve.holds();
        let mut near = 0;
        for (k, &time) in times.iter().enumerate() {
            if !tangents {
                let value = curve.value(time, &mut near);
                keys.set(k, Part::Value, lane, &value.map(|v| v as f32));
                continue;
            }
            let Knot { value, before, after } = curve.at(time);
            keys.set(k, Part::Value, lane, &value.map(|v| v as f32));
            keys.set_tangents((k, lane), times, [before, after], noise);
        }
    }
}
