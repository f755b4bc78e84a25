//! Morph weights and user channels: kept where the target has one of the same name.

use crate::import::raw::{RawClip, RawTrack};
use crate::skeleton::Skeleton;

/// The tracks of the target's scalars, whose nodes are counted from its number of joints; how many; and the names
/// of those that the target lacks.
pub(super) fn scalars(
    raw: &RawClip,
    source: &Skeleton,
    target: &Skeleton,
) -> (Vec<RawTrack>, Vec<String>) {
    let (mut tracks, mut dropped) = (Vec::new(), Vec::new());
    for t in &raw.tracks {
        let scalar = t.node.checked_sub(source.len());
        let Some(scalar) = scalar.and_then(|s| source.scalars().get(s)) else {
            continue;
        };
        let same = target.scalars().iter().position(|s| s.name == scalar.name);
        match same {
            Some(place) => tracks.push(RawTrack {
                node: target.len() + place,
                ..t.clone()
            }),
            None => dropped.push(scalar.name.clone()),
        }
    }
    (tracks, dropped)
}
