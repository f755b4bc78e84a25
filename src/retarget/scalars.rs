//! Morph weights and user channels: kept where the target has one of the same name.

use crate::import::raw::{RawClip, RawTrack, RawUserChannel};
use crate::skeleton::Skeleton;
use std::collections::HashMap;

/// The tracks of scalars that the target has too, whose nodes are counted from its number of joints; and the names of
/// the others.
pub fn tracks(raw: &RawClip, source: &Skeleton, target: &Skeleton) -> (Vec<RawTrack>, Vec<String>) {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, scalar) in target.scalars().iter().enumerate() {
        places.entry(&scalar.name).or_insert(place);
    }
    let (mut tracks, mut left) = (Vec::new(), Vec::new());
    for track in &raw.tracks {
        let Some(scalar) = track.node.checked_sub(source.len()) else {
            continue;
        };
        let name = source.scalars().get(scalar).map_or("", |s| s.name.as_str());
        match places.get(name) {
            Some(place) => tracks.push(RawTrack {
                node: target.len() + place,
                ..track.clone()
            }),
            None => left.push(name.to_owned()),
        }
    }
    (tracks, left)
}

/// The channels that the target has too, of the same type, and the names of the others.
pub fn channels(
    channels: Vec<RawUserChannel>,
    target: &Skeleton,
) -> (Vec<RawUserChannel>, Vec<String>) {
    let same = |c: &RawUserChannel| {
        let mut all = target.channels();
        all.any(|t| t.name == c.channel.name && t.rest.is_quaternion())
    };
    let (kept, left): (Vec<_>, Vec<_>) = channels.into_iter().partition(same);
    (kept, left.into_iter().map(|c| c.channel.name).collect())
}
