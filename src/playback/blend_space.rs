//! `BlendSpace1D`: clips along a parameter, of which two neighbours play in step.

use super::error::PlaybackError;
use super::ids::{BlendSpaceId, ClipId, Motion, NO_CLIP};
use super::pool::{Pool, check};

/// Clips at values of a parameter (a speed, say), in ascending order.
///
/// At any value its two neighbours are blended by linear weights. All clips share one phase, which moves
/// on at the blend of their rates, so that their strides match; the time of such an action is its phase.
#[derive(Clone, Debug, PartialEq)]
pub struct BlendSpace1D {
    points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    parameter: f32,
    clip: ClipId,
    /// Phases per second; 0 for a clip without length.
    rate: f64,
}

/// What plays at a value of the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Members {
    pub clip: ClipId,
    /// [`NO_CLIP`] tells a clip that plays by itself, in seconds, from a member of a blend space.
    pub other: ClipId,
    /// The share of `other`.
    pub mix: f32,
    /// Phases per second.
    pub rate: f64,
}

/// The largest value of a parameter, either sign; differences of two stay finite.
const MAX_PARAMETER: f64 = 1.0e9;

/// The most blend spaces of one rig: handles are 16 bits.
const MAX_SPACES: usize = u16::MAX as usize;

pub(super) fn check_parameter(value: f32) -> Result<(), PlaybackError> {
    check("parameter", f64::from(value), -MAX_PARAMETER, MAX_PARAMETER)
}

impl BlendSpace1D {
    /// The clips and their values, ascending.
    pub fn points(&self) -> impl Iterator<Item = (f32, ClipId)> + '_ {
        self.points.iter().map(|p| (p.parameter, p.clip))
    }

    /// The neighbours of a value; beyond the ends the last clip alone.
    pub(crate) fn at(&self, value: f32) -> Members {
        let alone = |p: &Point| Members {
            clip: p.clip,
            other: p.clip,
            mix: 0.0,
            rate: p.rate,
        };
        let above = self.points.partition_point(|p| p.parameter <= value);
        match (above.checked_sub(1), self.points.get(above)) {
            (Some(below), Some(above)) => {
                let below = &self.points[below];
                let mix = (value - below.parameter) / (above.parameter - below.parameter);
                if mix <= 0.0 {
                    return alone(below);
                }
                Members {
                    clip: below.clip,
                    other: above.clip,
                    mix,
                    rate: below.rate + (above.rate - below.rate) * f64::from(mix),
                }
            }
            // There is at least one point.
            (below, _) => alone(&self.points[below.unwrap_or(0)]),
        }
    }

    pub(crate) fn holds(&self, clip: ClipId) -> bool {
        self.points.iter().any(|p| p.clip == clip)
    }

    /// A clip of it; all are of one kind.
    pub(super) fn any_clip(&self) -> ClipId {
        self.points[0].clip
    }
}

impl Pool {
    /// The clips of a motion at a value of its parameter, and the length of a pass over it.
    pub fn source(&self, motion: Motion, parameter: f32) -> (Members, f64) {
        match motion {
            Motion::Clip(clip) => {
                let members = Members {
                    clip,
                    other: NO_CLIP,
                    mix: 0.0,
                    rate: 1.0,
                };
                let length = self.clip(clip).map_or(0.0, |c| c.duration().into());
                (members, length)
            }
            Motion::Space(id) => {
                let nothing = Members {
                    clip: NO_CLIP,
                    other: NO_CLIP,
                    mix: 0.0,
                    rate: 0.0,
                };
                (self.space(id).map_or(nothing, |s| s.at(parameter)), 1.0)
            }
        }
    }

    pub fn space(&self, id: BlendSpaceId) -> Option<&BlendSpace1D> {
        match self.spaces.get(usize::from(id.index)) {
            Some((generation, space)) if *generation == id.generation && id.rig == self.id => {
                space.as_ref()
            }
            _ => None,
        }
    }

    pub fn add_space(&mut self, points: &[(f32, ClipId)]) -> Result<BlendSpaceId, PlaybackError> {
        let mut space = BlendSpace1D { points: Vec::new() };
        let mut kind = None;
        for &(parameter, clip) in points {
            check_parameter(parameter)?;
            let Some(data) = self.clip(clip) else {
                return Err(PlaybackError::UnknownClip { clip });
            };
            let known = *kind.get_or_insert(data.kind());
            let last = space.points.last().map(|p: &Point| p.parameter);
            if data.kind() != known || last.is_some_and(|last| last >= parameter) {
                return Err(PlaybackError::BlendSpace {
                    what: if data.kind() == known {
                        "values must ascend"
                    } else {
                        "clips must be of one kind"
                    },
                });
            }
            let duration = f64::from(data.duration());
            space.points.push(Point {
                parameter,
                clip,
                rate: if duration > 0.0 { 1.0 / duration } else { 0.0 },
            });
        }
        if space.points.is_empty() {
            return Err(PlaybackError::BlendSpace {
                what: "it has no clips",
            });
        }
        let index = match self.spaces.iter().position(|s| s.1.is_none()) {
            Some(index) => index,
            None if self.spaces.len() >= MAX_SPACES => {
                return Err(PlaybackError::Limit {
                    what: "blend spaces of one rig",
                    count: self.spaces.len() + 1,
                    limit: MAX_SPACES,
                });
            }
            None => {
                self.spaces.push((0, None));
                self.spaces.len() - 1
            }
        };
        self.spaces[index].1 = Some(space);
        self.fit_hints();
        Ok(BlendSpaceId {
            rig: self.id,
            index: index as u16,
            generation: self.spaces[index].0,
        })
    }

    pub fn remove_space(&mut self, id: BlendSpaceId) -> Result<(), PlaybackError> {
        if self.space(id).is_none() {
            return Err(PlaybackError::UnknownSpace { space: id });
        }
        let playing = self.state.actions.slow.iter().flatten();
        let actions = playing.filter(|s| s.space == Some(id)).count();
        if actions > 0 {
            return Err(PlaybackError::SpaceInUse { space: id, actions });
        }
        let slot = &mut self.spaces[usize::from(id.index)];
        *slot = (slot.0.wrapping_add(1), None);
        Ok(())
    }
}
