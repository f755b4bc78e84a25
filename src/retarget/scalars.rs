//! Morph weights and user channels: kept if the target has one of the same name, compared like joints.

use super::bind::{scalar_pairs, scalars_by_index};
use crate::raw::{RawClip, RawTrack};
use crate::skeleton::{Skeleton, UserChannel};

/// For every scalar of the source the scalars of the target, by name, or by index if no name is common and the order is
/// unambiguous; and whether it is by index.
pub fn by_name_or_index(source: &Skeleton, target: &Skeleton) -> (Vec<Vec<usize>>, bool) {
    let (source, target) = (names(source), names(target));
    let named = scalar_pairs(&source, &target);
    let none = named.iter().all(Vec::is_empty);
    match scalars_by_index(&source, &target).filter(|_| none) {
        Some(pairs) => (pairs, true),
        None => (named, false),
    }
}

/// The tracks of scalars that the target has too, with nodes numbered from its number of joints on; and the names of the
/// others. `pairs` finds the scalars of the target.
pub fn tracks(
    raw: &RawClip,
    [source, target]: [&Skeleton; 2],
    pairs: impl Fn() -> Vec<Vec<usize>>,
) -> (Vec<RawTrack>, Vec<String>) {
    let (mut tracks, mut left) = (Vec::new(), Vec::new());
    if raw.tracks.iter().all(|t| t.node < source.len()) {
        return (tracks, left);
    }
    let (from, pairs) = (names(source), pairs());
    for track in &raw.tracks {
        let Some(scalar) = track.node.checked_sub(source.len()) else { continue };
        let places = pairs.get(scalar).map_or(&[][..], Vec::as_slice);
        tracks.extend(
            places.iter().map(|place| RawTrack { node: target.len() + place, ..track.clone() }),
        );
        if places.is_empty() {
            left.push(from.get(scalar).map_or("", |name| name).to_owned());
        }
    }
    (tracks, left)
}

fn names(skeleton: &Skeleton) -> Vec<&str> {
    let scalars = skeleton.scalars().iter();
    scalars.map(|s| s.name.as_str()).collect()
}

/// Renames user channels to those of the target of the same type and with their names; drops the tracks of the others and
/// returns their names.
pub fn channels(
    channels: &mut [UserChannel],
    tracks: &mut Vec<RawTrack>,
    target: &Skeleton,
) -> Vec<String> {
    let there: Vec<&UserChannel> = target.channels().filter(|c| c.rest.is_quaternion()).collect();
    let from: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
    let to: Vec<&str> = there.iter().map(|c| c.name.as_str()).collect();
    let pairs = scalar_pairs(&from, &to);
    let mut left = Vec::new();
    for (index, (channel, places)) in channels.iter_mut().zip(pairs).enumerate() {
        // Names of user channels are unique.
        match places.first() {
            Some(&place) => channel.name.clone_from(&there[place].name),
            None => {
                tracks.retain(|t| t.node != index);
                left.push(channel.name.clone());
            }
        }
    }
    left
}
