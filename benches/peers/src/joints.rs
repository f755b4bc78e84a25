//! The joints of a rig in ozz's order, depth first.

use phalanx::import::raw::RawScene;
use phalanx::rig::Rig;

/// Joints in depth-first order. Phalanx has parents before their children, in the order of the file.
pub struct Joints {
    /// The node of every joint in the raw scene.
    pub nodes: Vec<usize>,
    /// The parent of every joint; -1 for a root.
    pub parents: Vec<i16>,
}

impl Joints {
    /// The nodes of a raw scene that are joints of a rig.
    pub fn new(raw: &RawScene, rig: &Rig) -> Self {
        let is_joint = |node: usize| {
            let source = raw.nodes[node].source;
            rig.nodes().iter().any(|n| n.source == source && n.joint.is_some())
        };
        let joints: Vec<usize> = (0..raw.nodes.len()).filter(|&node| is_joint(node)).collect();
        let parent = |node: usize| raw.nodes[node].parent.filter(|above| joints.contains(above));
        let mut out = Self { nodes: Vec::new(), parents: Vec::new() };
        let roots = joints.iter().rev().filter(|&&node| parent(node).is_none());
        // The index of the parent in the new order, and the node.
        let mut waiting: Vec<(i16, usize)> = roots.map(|&node| (-1, node)).collect();
        while let Some((above, node)) = waiting.pop() {
            let joint = out.nodes.len() as i16;
            out.nodes.push(node);
            out.parents.push(above);
            let children = joints.iter().rev().filter(|&&child| parent(child) == Some(node));
            waiting.extend(children.map(|&child| (joint, child)));
        }
        out
    }

    /// The joint of a node.
    pub fn of(&self, node: usize) -> Option<usize> {
        self.nodes.iter().position(|&n| n == node)
    }
}
