//! The nodes that become joints, and their order.

use crate::raw::{RawChannel, RawScene};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes that become joints, as node indices in joint order: joints of skins, nodes whose transform is animated,
/// bones of the humanoid, nodes of springs, and all their ancestors; without skins also the nodes below these bones. `None` if the parents
/// form a cycle.
///
/// Parents come first. Among such orders it follows the slots of the largest skin, so that its palette is written front
/// to back.
pub(crate) fn joint_order(raw: &RawScene) -> Option<Vec<usize>> {
    let count = raw.nodes.len();
    let parent = |node: usize| raw.nodes[node].parent.filter(|&p| p < count);
    let mut wanted = vec![false; count];
    let skins = raw.skins.iter().flat_map(|s| s.joints.iter().copied());
    let animated = raw
        .clips
        .iter()
        .flat_map(|c| &c.tracks)
        .filter(|t| t.channel != RawChannel::Weights)
        .map(|t| t.node);
    let bones = raw.humanoid.iter().map(|bone| bone.1);
    let springs = raw.springs.joints();
    let mut below = Vec::new();
    if raw.skins.is_empty() && !raw.humanoid.is_empty() {
        let mut children = vec![Vec::new(); count];
        for node in 0..count {
            if let Some(parent) = parent(node) {
                children[parent].push(node);
            }
        }
        let mut seen = vec![false; count];
        below.extend(bones.clone());
        let mut at = 0;
        while let Some(&node) = below.get(at) {
            at += 1;
            if node < count && !std::mem::replace(&mut seen[node], true) {
                below.extend(&children[node]);
            }
        }
    }
    for node in skins.chain(animated).chain(bones).chain(below).chain(springs) {
        let mut at = Some(node).filter(|&n| n < count);
        while let Some(n) = at.filter(|&n| !wanted[n]) {
            wanted[n] = true;
            at = parent(n);
        }
    }
    // Sort key of a node: the smallest slot in its subtree, then its index.
    let mut key = vec![(usize::MAX, usize::MAX); count];
    for (node, k) in key.iter_mut().enumerate() {
        k.1 = node;
    }
    if let Some(skin) = raw.skins.iter().max_by_key(|s| (s.joints.len(), Reverse(s.name.as_ref())))
    {
        for (slot, &joint) in skin.joints.iter().enumerate() {
            let mut at = Some(joint).filter(|&n| n < count);
            // Slots ascend: a node that has one already has a smaller one, and so have its ancestors.
            while let Some(n) = at.filter(|&n| key[n].0 == usize::MAX) {
                key[n].0 = slot;
                at = parent(n);
            }
        }
    }
    let mut children = vec![Vec::new(); count];
    let mut ready = BinaryHeap::new();
    let mut total = 0;
    for node in (0..count).filter(|&n| wanted[n]) {
        total += 1;
        match parent(node) {
            Some(p) => children[p].push(node),
            None => ready.push(Reverse((key[node], node))),
        }
    }
    let mut order = Vec::with_capacity(total);
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for &child in &children[node] {
            ready.push(Reverse((key[child], child)));
        }
    }
    (order.len() == total).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{RawNode, RawSkin};

    fn scene(parents: &[Option<usize>], skin: &[usize]) -> RawScene {
        RawScene {
            nodes: parents.iter().map(|&parent| RawNode { parent, ..RawNode::default() }).collect(),
            skins: vec![RawSkin { joints: skin.to_vec(), ..RawSkin::default() }],
            ..RawScene::default()
        }
    }

    #[test]
    fn ancestors_count_and_slots_lead() {
        // 4 is above the skin, 3 is between its joints, 5 is not needed.
        let parents = [Some(3), Some(4), Some(1), Some(1), None, Some(4)];
        let raw = scene(&parents, &[1, 2, 0]);
        assert_eq!(joint_order(&raw), Some(vec![4, 1, 2, 3, 0]));
        let raw = scene(&parents, &[1, 0, 2]);
        assert_eq!(joint_order(&raw), Some(vec![4, 1, 3, 0, 2]));
    }

    #[test]
    fn cycles_are_seen() {
        assert_eq!(joint_order(&scene(&[Some(1), Some(0)], &[0])), None);
        assert_eq!(joint_order(&scene(&[Some(0)], &[0])), None);
    }
}
