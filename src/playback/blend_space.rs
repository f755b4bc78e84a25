//! `BlendSpace1D`: clips along a parameter. The two neighbours of its value play in phase.

use super::action::Action;
use super::clips::INSTANCE;
use super::error::PlaybackError;
use super::event_sink::Clips;
use super::ids::{BlendSpaceId, ClipId, NO_CLIP, Source};
use super::pool::{Pool, check};
use crate::words::shorten;

/// Clips at ascending values of a parameter, such as a walking speed.
///
/// At any value, the two neighbouring clips are blended with linear weights. All clips share one phase, which advances
/// at the blend of their rates, so that their strides match. The time of an action that plays a blend space is its
/// phase.
#[derive(Clone, Copy, Debug)]
pub struct BlendSpace1D<'a> {
    pool: &'a Pool,
    space: &'a Space,
}

/// The points of a blend space, as pools and snapshots store them.
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
    const NOTHING: Self = Self { clip: NO_CLIP, other: NO_CLIP, mix: 0.0 };
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

/// The largest magnitude of a parameter; differences of two parameters stay finite.
pub(super) const MAX_PARAMETER: f64 = 1.0e9;

/// The most blend space indices of one rig: an index has 16 bits, and one value means "none".
pub(super) const MAX_SPACES: usize = u16::MAX as usize;

pub(super) fn check_parameter(value: f32) -> Result<(), PlaybackError> {
    check("parameter", f64::from(value), -MAX_PARAMETER, MAX_PARAMETER)
}

impl<'a> BlendSpace1D<'a> {
    /// The clips and their values, in ascending order.
    pub fn points(self) -> impl Iterator<Item = (f32, ClipId)> + 'a {
        let Self { pool, space } = self;
        let points = space.points.iter();
        points.map(|p| (p.parameter, pool.clip_id(p.clip)))
    }
}

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

impl Pool {
    /// The clips of a motion at a parameter, and the length of a pass over it.
    pub fn members_of(&self, source: Source, parameter: f32) -> (Members, f64) {
        match source {
            Source::Clip(clip) => {
                let members = Members { clip, ..Members::NOTHING };
                let length = self.clips.get(clip).map_or(0.0, |c| c.duration().into());
                (members, length)
            }
            Source::Space(space) => {
                let space = self.spaces.get(space);
                (space.map_or(Members::NOTHING, |s| s.at(parameter)), 1.0)
            }
        }
    }

    pub fn space(&self, space: BlendSpaceId) -> Result<BlendSpace1D<'_>, PlaybackError> {
        let found = self.spaces.find(space.index, space.generation);
        match found.filter(|_| space.owner == self.owner) {
            Some(space) => Ok(BlendSpace1D { pool: self, space }),
            None => {
                let why = space.owner.unknown_to(self.owner, INSTANCE);
                let rig = shorten(self.rig.name());
                Err(PlaybackError::UnknownSpace { space, why, rig })
            }
        }
    }

    /// The index of a blend space.
    pub(super) fn space_index(&self, space: BlendSpaceId) -> Result<u16, PlaybackError> {
        self.space(space).map(|_| space.index)
    }

    pub fn add_space(&mut self, points: &[(f32, ClipId)]) -> Result<BlendSpaceId, PlaybackError> {
        let mut space = Space { points: Vec::new() };
        let mut kind = None;
        for &(parameter, clip) in points {
            check_parameter(parameter)?;
            let Some(data) = self.clip(clip) else {
                return Err(self.unknown_clip(clip, "the blend space"));
            };
            let known = *kind.get_or_insert(data.kind());
            let last = space.points.last().map(|p: &Point| p.parameter);
            if data.kind() != known || last.is_some_and(|last| last >= parameter) {
                let name = self.name_of(clip.into());
                return Err(PlaybackError::BlendSpace {
                    what: match last.filter(|_| data.kind() == known) {
                        Some(last) => format!(
                            "values must ascend, and that of {name} is {parameter:?} after {last:?}"
                        ),
                        None => {
                            format!(
                                "clips must be of one kind, and {name} is of another than the first"
                            )
                        }
                    },
                });
            }
            space.points.push(Point { parameter, clip: clip.index });
        }
        if space.points.is_empty() {
            return Err(PlaybackError::BlendSpace { what: "it has no clips".into() });
        }
        let clips: Vec<u16> = space.points.iter().map(|p| p.clip).collect();
        let what = "blend spaces of one rig";
        let same = |a: &Space, b: &Space| a == b;
        let (index, _) = self.spaces.add_again(space, same, what, MAX_SPACES)?;
        self.adopt_clips(clips);
        // Actions may have two clips from now on.
        self.clip_changes += 1;
        let generation = self.spaces.generation(index);
        Ok(BlendSpaceId::new(self.owner, index, generation))
    }

    pub fn remove_space(&mut self, id: BlendSpaceId) -> Result<(), PlaybackError> {
        let index = self.space_index(id)?;
        let playing = self.state.all_actions();
        let actions = playing.filter(|a| a.source() == Source::Space(index)).count();
        if actions > 0 {
            let name = self.name_of(id.into());
            return Err(PlaybackError::SpaceInUse { space: id, name, actions });
        }
        self.spaces.take(index);
        Ok(())
    }
}
