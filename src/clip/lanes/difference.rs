//! The difference between a clip and the same clip in another lane order.

use super::curve::{LaneCurve, unit};
use super::mixed::{frame, frames};
use super::plan::Plans;
use crate::clip::{Channel, Clip};
use crate::math::{angle_of_chord, chord_squared};
use std::fmt;

/// Fractions of an interval between two keys at which curves are compared.
const PROBES: [f32; 4] = [0.0, 0.25, 0.5, 0.75];

/// The largest differences between a clip and the same clip in another lane order, at its key times and at three
/// times in each interval between them. All zero if every key is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaneDifference {
    /// Number of blocks in which lanes of several timelines or kinds met.
    pub blocks: usize,
    /// Largest difference of a translation, metres in model space.
    pub translation: f64,
    /// Largest difference of a rotation, radians.
    pub rotation: f64,
    /// Largest difference of a scale component.
    pub scale: f64,
    /// Largest difference of a scalar.
    pub scalar: f64,
}

impl LaneDifference {
    /// Whether every key is kept.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// `2 blocks of several timelines: at most 3e-8 m, 1e-7 radians, 0 of scale, 0 of scalars`.
impl fmt::Display for LaneDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("every key is kept");
        }
        write!(
            f,
            "{} blocks of several timelines: at most {:.1e} m, {:.1e} radians, {:.1e} of scale, {:.1e} of scalars",
            self.blocks, self.translation, self.rotation, self.scale, self.scalar
        )
    }
}

/// Compares the lanes of all blocks whose keys were not moved bit for bit.
pub fn measure(old: &Clip, new: &Clip, plans: &Plans<'_>) -> LaneDifference {
    let mut found = LaneDifference::default();
    for plan in plans.blocks.iter().filter(|plan| plan.changes()) {
        found.blocks += 1;
        let Some(block) = new.block_at(plan.channel, plan.block) else {
            continue;
        };
        let times = &plans.timelines[plan.timeline as usize];
        let worst = match plan.channel {
            Channel::Translation => &mut found.translation,
            Channel::Rotation => &mut found.rotation,
            Channel::Scale => &mut found.scale,
            Channel::Scalar => &mut found.scalar,
        };
        let frames = frames(old, plan.channel);
        for (lane, from) in plan.moving() {
            let unit_length = frames.as_ref().map_or(1.0, |all| frame(old, all, &from));
            let was = LaneCurve::new(old, plan.channel, from.block, from.lane);
            let is = LaneCurve::new(new, plan.channel, block, lane);
            let kept = from.block.kind == plan.kind && !is.is_cubic();
            let mut near = [0; 2];
            let mut most = 0.0f64;
            for pair in times.windows(2) {
                was.value(pair[0], &mut near[0]);
                // Keys keep their values, so an interval that both clips have is unchanged.
                if kept && was.is_interval(near[0], pair[0], pair[1]) {
                    continue;
                }
                for part in PROBES {
                    let time = pair[0] + (pair[1] - pair[0]) * part;
                    let a = was.value(time, &mut near[0]);
                    let b = is.value(time, &mut near[1]);
                    let apart = match plan.channel {
                        Channel::Rotation => chord_squared(&unit(a), &unit(b)),
                        _ => a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
                    };
                    most = most.max(apart);
                }
            }
            *worst = worst.max(match plan.channel {
                Channel::Rotation => angle_of_chord(most),
                _ => most * unit_length,
            });
        }
    }
    found
}
