//! The error that tracks may have between their keys, so that directions in model space stay within a bound.

use super::link::Link;
use super::motion::Motion;
use super::track::is_exact;
use crate::clip::MAX_IRREGULAR_KEYS;
use crate::skeleton::{NO_JOINT, Skeleton};

/// The largest deviation from the source between two keys, radians, before a key is inserted.
pub(super) const BETWEEN: f64 = 2e-5;

/// The largest deviation in model space: the sum of the deviations of a joint and those above it. Directions are to stay
/// within 1e-4; the rest is for f32 and for times between those that are compared.
const IN_SPACE: f64 = 5e-5;

/// The number of keys that may be inserted into a track: a share of the room of an irregular timeline beside the source's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// Half of the room.
    Half,
    /// A sixteenth: the tracks of the 16 joints of a block then fit into one timeline, if they share the source's keys.
    Block,
    /// No key.
    Nothing,
}

impl Room {
    /// The room beside `keys` of the source.
    pub fn of(self, keys: usize) -> usize {
        let free = MAX_IRREGULAR_KEYS.saturating_sub(keys);
        match self {
            Self::Half => free / 2,
            Self::Block => free / 16,
            Self::Nothing => 0,
        }
    }
}

/// The links above links: for every link the nearest link above its joint on the target.
pub(super) fn above(links: &[Link], target: &Skeleton) -> Vec<Option<usize>> {
    let mut own: Vec<Option<usize>> = vec![None; target.len()];
    for (at, link) in links.iter().enumerate() {
        own[link.target] = Some(at);
    }
    // Parents come first, so this becomes the nearest link at or above every joint.
    let mut near = own;
    let mut above = vec![None; links.len()];
    for (joint, &parent) in target.parents().iter().enumerate() {
        let over = match parent {
            NO_JOINT => None,
            p => near[usize::from(p)],
        };
        match near[joint] {
            Some(at) => above[at] = over,
            None => near[joint] = over,
        }
    }
    above
}

/// The tolerance of every link, radians: the bound in model space, divided by the number of links on a path through it
/// that need inserted keys. `above` comes from [`above`]; links above come first.
pub(super) fn tolerances(links: &[Link], above: &[Option<usize>], motion: &Motion<'_>) -> Vec<f64> {
    let counts = |link: &Link| usize::from(!is_exact(link, motion));
    let own: Vec<usize> = links.iter().map(counts).collect();
    let mut up = own.clone();
    for at in 0..links.len() {
        up[at] += above[at].map_or(0, |over| up[over]);
    }
    let mut down = vec![0; links.len()];
    for at in (0..links.len()).rev() {
        if let Some(over) = above[at] {
            down[over] = down[over].max(down[at] + own[at]);
        }
    }
    let count = |(up, down): (usize, usize)| (up + down).max(1) as f64;
    let counts = up.into_iter().zip(down).map(count);
    counts.map(|n| BETWEEN.min(IN_SPACE / n)).collect()
}
