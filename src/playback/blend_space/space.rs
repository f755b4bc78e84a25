//! `Space`: the points of a blend space in a pool, and which clips play at a value, with which weights.

use super::triangles::{Flat, area, triangulate};
use super::{Form, Parameter};
use crate::playback::arena::Arena;
use crate::playback::error::PlaybackError;

/// The most blend space indices of one rig: an index has 16 bits, and one value means "none".
pub(crate) const MAX_SPACES: usize = u16::MAX as usize;

/// The most points of a blend space in a plane.
pub(crate) const MAX_IN_PLANE: usize = 64;

/// The most points of a blend space on a line: cells have 16 bits.
pub(crate) const MAX_ON_LINE: usize = u16::MAX as usize;

/// The unit of weights.
pub(crate) const ONE: u32 = 1 << 23;

/// The most clips of one action that have a weight at once.
pub(crate) const MAX_MEMBERS: usize = 3;

/// A blend space. Between the points of a cell, weights are linear.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Space {
    points: Vec<Point>,
    /// The points of each segment or triangle; those of a segment are two, of a single point one, and the last is repeated.
    cells: Vec<[u16; 3]>,
    pub kind: Kind,
    /// Seconds in which the parameter reaches an asked value.
    pub seconds: f32,
}

/// How the values of a blend space are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// True for two parameters.
    pub plane: bool,
    /// True if values are the speeds or velocities of clips, at which characters travel.
    pub speeds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub at: [f32; 2],
    /// Index of the clip in the pool.
    pub clip: u16,
    /// Factor on the weight of the clip in the pose: its passes per second if values are speeds, else 1.
    pub share: f64,
}

/// A value in a blend space: a cell, and the weights of its second and third points in units of 1 / [`ONE`]; the first has
/// the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub cell: u16,
    pub shares: [u32; 2],
}

/// The clips of an action that have a weight, with their weights, which sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Members {
    list: [(u16, f32); MAX_MEMBERS],
    count: usize,
}

impl Members {
    pub const NOTHING: Self = Self { list: [(0, 0.0); MAX_MEMBERS], count: 0 };

    /// A clip alone.
    #[inline(always)]
    pub fn alone(clip: u16) -> Self {
        Self { list: [(clip, 1.0), (0, 0.0), (0, 0.0)], count: 1 }
    }

    #[inline(always)]
    pub fn all(&self) -> &[(u16, f32)] {
        &self.list[..self.count]
    }

    /// The number of the member of the greatest weight; of equal ones, the first.
    pub fn heaviest(&self) -> usize {
        let heavier = |most: usize, i: usize| match self.list[i].1 > self.list[most].1 {
            true => i,
            false => most,
        };
        (1..self.count).fold(0, heavier)
    }
}

impl Place {
    /// The weights of the points of the cell, in units.
    fn units(&self) -> [u32; 3] {
        let [b, c] = self.shares;
        [ONE.saturating_sub(b).saturating_sub(c), b, c]
    }

    fn weights(&self) -> [f64; 3] {
        self.units().map(|units| f64::from(units) / f64::from(ONE))
    }
}

impl Form {
    pub fn kind(&self) -> Kind {
        Kind {
            plane: matches!(self, Self::Plane(_) | Self::Velocity),
            speeds: matches!(self, Self::Speed | Self::Velocity),
        }
    }
}

impl Space {
    /// A space of points; those of a line in ascending order. `name` names clips in errors.
    pub fn new(
        points: Vec<Point>,
        kind: Kind,
        seconds: f32,
        name: impl Fn(u16) -> String,
    ) -> Result<Self, PlaybackError> {
        let refused = |what| Err(PlaybackError::BlendSpace { what });
        let text = |i: usize| {
            let Point { at, clip, .. } = points[i];
            format!("{} at {at:?}", name(clip))
        };
        let (count, limit) = (points.len(), if kind.plane { MAX_IN_PLANE } else { MAX_ON_LINE });
        if count > limit {
            return Err(PlaybackError::Limit { what: "clips of one blend space", count, limit });
        }
        let cells = match kind.plane {
            _ if count == 0 => return refused("it has no clips".into()),
            true if count < 3 => {
                return refused(format!("a plane needs 3 clips, and this one has {count}"));
            }
            true => {
                let at: Vec<[f32; 2]> = points.iter().map(|p| p.at).collect();
                match triangulate(&at) {
                    Ok(cells) => cells,
                    Err(Flat::Close(a, b)) => {
                        return refused(format!(
                            "two clips lie at one point: {} and {}",
                            text(a),
                            text(b)
                        ));
                    }
                    Err(Flat::Line([a, b, c], distance)) => {
                        return refused(format!(
                            "the clips of a plane lie on one line: {} is {distance:?} beside that \
                             from {} to {}; a line takes one parameter",
                            text(c),
                            text(a),
                            text(b)
                        ));
                    }
                }
            }
            false => {
                let falls = |w: &[Point]| w[0].at[0] >= w[1].at[0];
                if let Some(i) = points.windows(2).position(falls) {
                    let [last, value] = [i, i + 1].map(|i| points[i].at[0]);
                    let name = name(points[i + 1].clip);
                    return refused(format!(
                        "values must ascend, and that of {name} is {value:?} after {last:?}"
                    ));
                }
                let segments = (1..count as u16).map(|i| [i - 1, i, i]);
                if count == 1 { vec![[0; 3]] } else { segments.collect() }
            }
        };
        Ok(Self { points, cells, kind, seconds })
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The [`Point::share`] of a clip of this duration if values are speeds.
    pub fn share(seconds: f32) -> f64 {
        1.0 / f64::from(seconds)
    }

    pub fn holds(&self, clip: u16) -> bool {
        self.points.iter().any(|p| p.clip == clip)
    }

    fn corners(&self, cell: u16) -> [&Point; 3] {
        self.cells[usize::from(cell)].map(|i| &self.points[usize::from(i)])
    }

    /// Whether a place that was read from a snapshot is one of this space.
    pub fn has(&self, place: Place) -> bool {
        let Some([a, b, c]) = self.cells.get(usize::from(place.cell)) else {
            return false;
        };
        let [second, third] = place.shares;
        second.checked_add(third).is_some_and(|sum| sum <= ONE)
            && (a != b || second == 0)
            && (b != c || third == 0)
    }

    /// The cell of a value, and the weights of its points, by which the value is their mean.
    fn find(&self, at: [f32; 2]) -> (u16, [f64; 3]) {
        if self.kind.plane {
            return self.find_in_plane(at.map(f64::from));
        }
        let x = at[0];
        let above = self.points.partition_point(|p| p.at[0] <= x);
        // The last cell holds all values from its start on.
        let cell = above.saturating_sub(1).min(self.cells.len() - 1) as u16;
        let [low, high, _] = self.corners(cell).map(|p| f64::from(p.at[0]));
        let second = match high > low {
            true => ((f64::from(x) - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.0,
        };
        (cell, [1.0 - second, second, 0.0])
    }

    fn find_in_plane(&self, p: [f64; 2]) -> (u16, [f64; 3]) {
        let corners = |cell: u16| self.corners(cell).map(|point| point.at.map(f64::from));
        let mut best = (0, [0.0; 3], f64::NEG_INFINITY);
        for cell in 0..self.cells.len() as u16 {
            let [a, b, c] = corners(cell);
            let all = area(a, b, c);
            let weights = [area(p, b, c) / all, area(a, p, c) / all, area(a, b, p) / all];
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least > best.2 {
                best = (cell, weights, least);
            }
        }
        if best.2 >= 0.0 {
            return (best.0, best.1);
        }
        // Of all edges, the nearest to a point outside is on the hull.
        let mut nearest = (0, [0.0; 3], f64::INFINITY);
        for cell in 0..self.cells.len() as u16 {
            let all = corners(cell);
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let (a, b) = (all[i], all[j]);
                let (along, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
                let length = along[0] * along[0] + along[1] * along[1];
                let t = ((to[0] * along[0] + to[1] * along[1]) / length).clamp(0.0, 1.0);
                let off = [to[0] - t * along[0], to[1] - t * along[1]];
                let distance = off[0] * off[0] + off[1] * off[1];
                if distance < nearest.2 {
                    let mut weights = [0.0; 3];
                    (weights[i], weights[j]) = (1.0 - t, t);
                    nearest = (cell, weights, distance);
                }
            }
        }
        (nearest.0, nearest.1)
    }

    /// The place of a value, with the weights of clips in the pose.
    pub fn place(&self, value: Parameter) -> Place {
        let (cell, mut weights) = self.find([value.x, value.y]);
        if self.kind.speeds {
            // The mean of velocities by weights that count seconds: a pass of a slow clip takes longer.
            for (weight, point) in weights.iter_mut().zip(self.corners(cell)) {
                *weight *= point.share;
            }
        }
        let sum: f64 = weights.iter().sum();
        let units = |weight: f64| (weight / sum * f64::from(ONE)).round() as u32;
        let second = units(weights[1]).min(ONE);
        Place { cell, shares: [second, units(weights[2]).min(ONE - second)] }
    }

    /// The value at a place: the inverse of [`place`](Self::place), within the ends.
    pub fn value(&self, place: Place) -> Parameter {
        let (mut at, mut sum) = ([0.0; 2], 0.0);
        for (weight, point) in place.weights().into_iter().zip(self.corners(place.cell)) {
            let weight = weight / point.share;
            at[0] += weight * f64::from(point.at[0]);
            at[1] += weight * f64::from(point.at[1]);
            sum += weight;
        }
        at.map(|v| (v / sum) as f32).into()
    }

    pub fn members(&self, place: Place) -> Members {
        let mut members = Members::NOTHING;
        for (units, point) in place.units().into_iter().zip(self.corners(place.cell)) {
            if units > 0 {
                members.list[members.count] = (point.clip, units as f32 / ONE as f32);
                members.count += 1;
            }
        }
        members
    }

    /// The passes per second at a place, given the durations of clips: the blend of the clips' rates; where values are
    /// speeds, a pass takes the mean of their durations.
    pub fn pace(&self, place: Place, duration: impl Fn(u16) -> f64) -> f64 {
        let inverse = |v: f64| if v > 0.0 { 1.0 / v } else { 0.0 };
        let each = place.weights().into_iter().zip(self.corners(place.cell));
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            let each = each.clone().filter(|(weight, _)| *weight > 0.0);
            each.map(|(weight, point)| weight * of(duration(point.clip))).sum()
        };
        match self.kind.speeds {
            true => inverse(mean(&|duration| duration)),
            false => mean(&inverse),
        }
    }
}

/// The change of an action's time per second at speed 1: one second, or the passes of its blend space.
pub(crate) fn pace_by(
    spaces: &Arena<Space>,
    action: &crate::playback::action::Action,
    duration: impl Fn(u16) -> f64,
) -> f64 {
    match action.space() {
        None => 1.0,
        Some(space) => spaces.get(space).map_or(0.0, |s| s.pace(action.place(), duration)),
    }
}
