//! Removing nodes and mirrors, with or without their descendants.

use super::error::SceneError;
use super::graph::{NONE, SceneGraph};
use super::ids::NodeId;
use super::update::runs;
use crate::math::Affine3x4;
use std::ops::Range;
use std::sync::Arc;

/// The fate of the children of a node that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRemove {
    /// They are removed, with all their descendants.
    Remove,
    /// They become children of this node, or roots; they keep their world transforms.
    Reparent(Option<NodeId>),
}

/// A node, its new parent (`None` for a root) and its new local transform.
type Move = (usize, Option<usize>, Affine3x4);

impl SceneGraph {
    /// Removes a node. The root of a mirror stands for the whole mirror.
    ///
    /// # Errors
    /// If the node is unknown or a joint; or if its children cannot be moved: the new parent is unknown,
    /// is itself removed or below a node that is, or has a transform without an inverse.
    pub fn remove(&mut self, node: NodeId, children: OnRemove) -> Result<(), SceneError> {
        let n = self.own_place(node)?;
        let mirror = self.mirrors.get(self.mirror_of[n] as usize);
        let joints = mirror.map_or(0, |m| m.joints.len());
        let gone = n..n + 1 + joints;
        match children {
            OnRemove::Remove => {
                if self.bears(gone.clone()) {
                    self.remove_below(n);
                } else {
                    self.free_nodes(gone);
                }
            }
            OnRemove::Reparent(parent) => {
                let moves = self.moves(&gone, parent)?;
                for (node, parent, local) in moves {
                    self.link(node, parent);
                    self.local[node] = local;
                }
                self.free_nodes(gone);
            }
        }
        Ok(())
    }

    /// Whether nodes outside a range are children of nodes in it.
    fn bears(&self, nodes: Range<usize>) -> bool {
        let children: u32 = self.children[nodes.clone()].iter().sum();
        // All nodes of the range but the first have their parent within it.
        children as usize > nodes.len() - 1
    }

    /// The children of the nodes in `gone`, with their new parent and local transform.
    fn moves(&self, gone: &Range<usize>, parent: Option<NodeId>) -> Result<Vec<Move>, SceneError> {
        let to = parent.map(|p| self.index(p)).transpose()?;
        if let (Some(parent), Some(to)) = (parent, to)
            && self.ancestors(to).any(|a| gone.contains(&a))
        {
            return Err(SceneError::Cycle { node: self.handle(gone.start), parent });
        }
        if !self.bears(gone.clone()) {
            return Ok(Vec::new());
        }
        let on_gone = |&n: &usize| {
            self.live[n] && !gone.contains(&n) && gone.contains(&(self.parent[n] as usize))
        };
        let hanging = (0..self.live.len()).filter(on_gone);
        hanging.map(|n| Ok((n, to, self.local_below(n, to)?))).collect()
    }

    /// Removes a node and all its descendants.
    fn remove_below(&mut self, node: usize) {
        self.sort();
        let mut gone = vec![false; self.live.len()];
        gone[node] = true;
        for &n in &self.order {
            let parent = gone.get(self.parent[n as usize] as usize);
            gone[n as usize] |= parent == Some(&true);
        }
        for nodes in runs(&gone) {
            self.free_nodes(nodes);
        }
    }

    fn free_nodes(&mut self, nodes: Range<usize>) {
        for n in nodes.clone() {
            if let Some(children) = self.children.get_mut(self.parent[n] as usize) {
                *children = children.saturating_sub(1);
            }
            if let Some(entry) = self.mirrors.get_mut(self.mirror_of[n] as usize)
                && entry.root as usize == n
            {
                entry.skeleton = None;
                entry.joints = Arc::default();
                self.vacant.push(self.mirror_of[n]);
            }
            self.live[n] = false;
            self.generation[n] = self.generation[n].wrapping_add(1);
            self.parent[n] = NONE;
            self.mirror_of[n] = NONE;
            self.dirty[n] = false;
            self.changed[n] = false;
        }
        self.free.give(nodes.start as u32..nodes.end as u32);
        self.unsorted = true;
    }
}
