//! Morph weights and user channels: kept if the target has one of the same name, compared like joints.

use super::bind::Numbered;
use crate::raw::{RawClip, RawTrack};
use crate::skeleton::{Skeleton, UserChannel};
use std::collections::HashMap;

/// For every scalar of the source the scalars of the target, by name, or by index if no name is common and the order is
/// unambiguous; and whether it is by index.
pub fn by_name_or_index(source: &Skeleton, target: &Skeleton) -> (Vec<Vec<usize>>, bool) {
    let (source, target) = (names(source), names(target));
    let named = scalar_pairs(&source, &target);
    let none = named.iter().all(Vec::is_empty);
    let by_index = scalars_by_index(&source, &target).filter(|_| none);
    by_index.map_or((named, false), |pairs| (pairs, true))
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

/// Gives user channels the names of the target's channels of the same type and matching name. Drops the tracks of user
/// channels without a match, and returns the names of these channels.
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

/// For every scalar of the source the scalars of the target, by the names of their nodes, compared like joints. Scalars
/// with equal names are paired in order, and a single one of the source with all of the target, which are copies. Names
/// that are equal otherwise must be unique. Nodes without names match only if all scalars are equal.
fn scalar_pairs(source: &[&str], target: &[&str]) -> Vec<Vec<usize>> {
    let numbered = Numbered::of([source, target].map(|names| names.iter().map(|n| node_of(n).0)));
    let key = |step: usize, name: &str| {
        let (node, rest) = node_of(name);
        let node = if step == 0 { node } else { numbered.strip(node) };
        (if step < 2 { node.to_owned() } else { node.to_lowercase() }, rest.to_owned())
    };
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); source.len()];
    let says = |name: &str| source == target || !node_of(name).0.is_empty();
    let mut taken: Vec<bool> = target.iter().map(|name| !says(name)).collect();
    for step in 0..3 {
        let mut groups: HashMap<_, [Vec<usize>; 2]> = HashMap::new();
        for (at, name) in
            source.iter().enumerate().filter(|(i, name)| found[*i].is_empty() && says(name))
        {
            groups.entry(key(step, name)).or_default()[0].push(at);
        }
        for (at, name) in target.iter().enumerate().filter(|(i, _)| !taken[*i]) {
            groups.entry(key(step, name)).or_default()[1].push(at);
        }
        for [from, to] in groups.into_values() {
            if step > 0 && (from.len(), to.len()) != (1, 1) {
                continue;
            }
            let copies = if from.len() == 1 { to.len() } else { 1 };
            let from = from.iter().flat_map(|&a| std::iter::repeat_n(a, copies));
            for (a, b) in from.zip(to) {
                found[a].push(b);
                taken[b] = true;
            }
        }
    }
    found
}

/// Pairs the scalars of source and target by index, if each has one node with morph weights and both have equally many:
/// the names are then absent or have nothing in common.
fn scalars_by_index(source: &[&str], target: &[&str]) -> Option<Vec<Vec<usize>>> {
    let weights = |names: &[&str]| -> Option<Vec<usize>> {
        let of = |at: &usize| node_of(names[*at]);
        let all: Vec<usize> = (0..names.len()).filter(|at| !of(at).1.is_empty()).collect();
        let first = of(all.first()?).0;
        // The weights of a second node without a name begin at 0 again.
        let in_order = |(k, at): (usize, &usize)| of(at) == (first, &*format!(".weights[{k}]"));
        all.iter().enumerate().all(in_order).then_some(all)
    };
    let (from, to) = (weights(source)?, weights(target)?);
    (from.len() == to.len()).then(|| {
        let mut found = vec![Vec::new(); source.len()];
        from.into_iter().zip(to).for_each(|(a, b)| found[a].push(b));
        found
    })
}

/// The node's part of a scalar's name, and the rest: `Face` and `.weights[3]`. The name of a user channel has no rest.
fn node_of(name: &str) -> (&str, &str) {
    let at = name.rfind(".weights[").filter(|_| name.ends_with(']'));
    name.split_at(at.unwrap_or(name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_pair_as_the_joints_of_their_nodes_do() {
        let source = [
            "rig:Face.weights[0]",
            "rig:Face.weights[1]",
            "TEETH.001.weights[0]",
            "brow.weights[0]",
            "grip",
            "Tail.weights[0]",
            "Tail.weights[0]",
            "Brow.weights[0]",
            "x:Twin.weights[0]",
            "y:Twin.weights[0]",
            "Spine.001.weights[0]",
            "Spine.002.weights[0]",
        ];
        let target = [
            "Face.weights[1]",
            "Face.weights[0]",
            "Teeth.weights[0]",
            "brow.weights[1]",
            "hand:Grip",
            "Tail.weights[0]",
            "Tail.weights[0]",
            "Brow.weights[0]",
            "Brow.weights[0]",
            "Twin.weights[0]",
            "Spine.weights[0]",
        ];
        let (none, some) = (Vec::new, |place: usize| vec![place]);
        let expected = [
            some(1),
            some(0),
            some(2),
            none(),
            some(4),
            some(5),
            some(6),
            vec![7, 8],
            none(),
            none(),
            none(),
            none(),
        ];
        assert_eq!(scalar_pairs(&source, &target), expected);
    }
}
