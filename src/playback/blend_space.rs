//! Blend spaces: clips along a parameter. The two neighbours of its value play in phase.

use super::action::Action;
use super::event_sink::Clips;
use super::ids::NO_CLIP;

/// The points of a blend space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Space {
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub parameter: f32,
    /// Index of the clip in the pool.
    pub clip: u16,
}

/// The clips that play at one value of the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Members {
    pub clip: u16,
    /// Index of the second clip. [`NO_CLIP`] marks a clip outside blend spaces, whose time is in seconds.
    pub other: u16,
    /// Weight of `other`; `clip` has the rest to 1.
    pub mix: f32,
}

impl Members {
    pub const NOTHING: Self = Self { clip: NO_CLIP, other: NO_CLIP, mix: 0.0 };
}

/// The change of an action's time per second at speed 1: one second, or the phases at the blend of the clips' rates.
pub(crate) fn pace(clips: &Clips, action: &Action) -> f64 {
    pace_by(action, |clip| clips.get(clip).map_or(0.0, |c| f64::from(c.duration())))
}

/// [`pace`] with given durations of clips.
pub(crate) fn pace_by(action: &Action, duration: impl Fn(u16) -> f64) -> f64 {
    if !action.in_phases() {
        return 1.0;
    }
    let rate = |clip: u16| {
        let duration = duration(clip);
        if duration > 0.0 { 1.0 / duration } else { 0.0 }
    };
    let (clip, other) = action.members();
    let below = rate(clip);
    match other {
        Some((other, mix)) => below + (rate(other) - below) * f64::from(mix),
        None => below,
    }
}

/// The most blend space indices of one rig: an index has 16 bits, and one value means "none".
pub(super) const MAX_SPACES: usize = u16::MAX as usize;

impl Space {
    /// The neighbours of a value. Beyond the ends, the clip at that end plays alone.
    pub(crate) fn at(&self, value: f32) -> Members {
        let alone = |p: &Point| Members { clip: p.clip, other: p.clip, mix: 0.0 };
        let above = self.points.partition_point(|p| p.parameter <= value);
        match (above.checked_sub(1), self.points.get(above)) {
            (Some(below), Some(above)) => {
                let below = &self.points[below];
                let mix = (value - below.parameter) / (above.parameter - below.parameter);
                if mix <= 0.0 {
                    return alone(below);
                }
                Members { clip: below.clip, other: above.clip, mix }
            }
            // There is at least one point.
            (below, _) => alone(&self.points[below.unwrap_or(0)]),
        }
    }

    /// The first parameter at which two neighbours have these weights, or at which a clip plays alone.
    pub(super) fn parameter(&self, (clip, other): (u16, Option<(u16, f32)>)) -> Option<f32> {
        let Some((other, mix)) = other else {
            let alone = self.points.iter().find(|p| p.clip == clip);
            return alone.map(|p| p.parameter);
        };
        let mut pairs = self.points.windows(2);
        let pair = pairs.find(|pair| (pair[0].clip, pair[1].clip) == (clip, other))?;
        let [low, high] = [&pair[0], &pair[1]].map(|p| f64::from(p.parameter));
        Some((low + (high - low) * f64::from(mix)) as f32)
    }

    pub(crate) fn holds(&self, clip: u16) -> bool {
        self.points.iter().any(|p| p.clip == clip)
    }

    /// Index of one of the clips; all are of one kind.
    pub(super) fn any_clip(&self) -> u16 {
        self.points[0].clip
    }
}
