//! The parents of meshes without a skin: the nearest joint above each, and the transform relative to it.

use crate::math::Affine3x4;
use crate::raw::RawScene;
use crate::skeleton::NO_JOINT;

/// Up to this many nodes between a mesh and its joint, the matrices are multiplied again for each mesh;
/// for longer chains each product is cached. Files were seen with up to 12.
const SHORT_WAY: usize = 64;

/// Finds the nearest joint at or above a node, and the node's transform relative to it.
pub(super) struct Anchors<'a> {
    raw: &'a RawScene,
    joint_of_node: &'a [u16],
    /// For each node, the product of a long chain from the joint down, once it is computed.
    known: Vec<Option<(u16, Affine3x4)>>,
}

impl<'a> Anchors<'a> {
    pub fn new(raw: &'a RawScene, joint_of_node: &'a [u16]) -> Self {
        Self { raw, joint_of_node, known: Vec::new() }
    }

    fn local(&self, node: usize) -> Affine3x4 {
        #[cfg(test)]
        tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
        match &self.raw.nodes[node].matrix {
            Some(m) => Affine3x4::from_cols_array(m),
            None => self.raw.nodes[node].local.to_affine(),
        }
    }

    pub fn of(&mut self, node: usize) -> (u16, Affine3x4) {
        let mut offset = Affine3x4::IDENTITY;
        let mut at = Some(node);
        for _ in 0..SHORT_WAY {
            let Some(n) = at else { return (NO_JOINT, offset) };
            if self.joint_of_node[n] != NO_JOINT {
                return (self.joint_of_node[n], offset);
            }
            offset = self.local(n) * offset;
            at = self.raw.nodes[n].parent;
        }
        self.of_long_way(node)
    }

    fn of_long_way(&mut self, node: usize) -> (u16, Affine3x4) {
        self.known.resize(self.raw.nodes.len(), None);
        let mut path = Vec::new();
        let mut at = Some(node);
        let mut anchor = (NO_JOINT, Affine3x4::IDENTITY);
        while let Some(n) = at {
            let joint = self.joint_of_node[n];
            if joint != NO_JOINT {
                anchor.0 = joint;
                break;
            }
            if let Some(known) = self.known[n] {
                anchor = known;
                break;
            }
            path.push(n);
            at = self.raw.nodes[n].parent;
        }
        while let Some(n) = path.pop() {
            anchor.1 = anchor.1 * self.local(n);
            self.known[n] = Some(anchor);
        }
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::RawNode;
    use glam::Vec3;
    use std::cell::Cell;

    thread_local! {
        /// The number of matrices read.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn long_ways_are_gone_once() {
        const NODES: usize = 5000;
        // One joint at the top, and a metre from each node to the next.
        let node = |n: usize| {
            let mut node = RawNode { parent: n.checked_sub(1), ..RawNode::default() };
            node.local.translation = Vec3::X;
            node
        };
        let raw = RawScene { nodes: (0..NODES).map(node).collect(), ..RawScene::default() };
        let mut joint_of_node = vec![NO_JOINT; NODES];
        joint_of_node[0] = 7;
        let mut anchors = Anchors::new(&raw, &joint_of_node);
        LOOKED_AT.set(0);
        for n in 0..NODES {
            let (joint, offset) = anchors.of(n);
            assert_eq!((joint, offset.translation()), (7, Vec3::X * n as f32));
        }
        let looked_at = LOOKED_AT.get();
        assert!(looked_at <= NODES * (SHORT_WAY + 1), "{looked_at}");
    }
}
