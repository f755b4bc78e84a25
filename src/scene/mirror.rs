//! Mirrors: a skeleton instance as nodes, a root followed by the joints; and attaching nodes to them.

use super::error::SceneError;
use super::graph::{NONE, SceneGraph, within};
use super::ids::NodeId;
use crate::math::Affine3x4;
use crate::skeleton::{JointRef, Skeleton};
use std::sync::Arc;

/// An entry of the mirror table.
#[derive(Clone, Debug)]
pub(super) struct MirrorEntry {
    /// `None` if the entry is free.
    pub skeleton: Option<Arc<Skeleton>>,
    /// The joints that have nodes, ascending.
    pub joints: Arc<[u16]>,
    /// The mirror's root node; its children are the joints: the i-th one is node `root + 1 + i`.
    pub root: u32,
    /// Whether the root takes the world transform of an instance while it has no parent.
    pub follows: bool,
}

impl MirrorEntry {
    /// The node of a joint.
    fn node(&self, joint: usize) -> Option<usize> {
        let at = self.joints.binary_search(&u16::try_from(joint).ok()?).ok()?;
        Some(self.root as usize + 1 + at)
    }
}

impl SceneGraph {
    /// Adds a mirror of a skeleton: a root node, which is returned, and below it a node per joint, in the rest pose.
    /// Model matrices are in the root's space. The nodes of the joints have the indices behind the root's, in order.
    ///
    /// For callers that evaluate the skeleton themselves and pass its model matrices to
    /// [`set_models`](Self::set_models). `Crowd::mirror` mirrors a crowd's instances.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn add_mirror(&mut self, skeleton: &Arc<Skeleton>) -> Result<NodeId, SceneError> {
        let joints = (0..skeleton.len()).map(|joint| joint as u16).collect();
        self.mirror(skeleton, joints, false)
    }

    /// Adds a mirror with nodes for some joints (ascending), which may follow an instance.
    pub(crate) fn mirror(
        &mut self,
        skeleton: &Arc<Skeleton>,
        joints: Arc<[u16]>,
        follows: bool,
    ) -> Result<NodeId, SceneError> {
        let root = self.allocate(joints.len() + 1)?;
        // Every mirror has a node, so mirrors cannot run out of indices.
        let vacant = self.vacant.pop();
        let index = vacant.unwrap_or(self.mirrors.len() as u32);
        let first = root as usize + 1;
        self.mirror_of[root as usize..first + joints.len()].fill(index);
        let models = skeleton.rest_models();
        for (node, &joint) in (first..).zip(&joints[..]) {
            self.local[node] = models[usize::from(joint)].into();
            self.link(node, Some(root as usize));
        }
        let skeleton = Some(skeleton.clone());
        let entry = MirrorEntry { skeleton, joints, root, follows };
        match vacant {
            Some(index) => self.mirrors[index as usize] = entry,
            None => self.mirrors.push(entry),
        }
        Ok(self.handle(root as usize))
    }

    /// The node of a joint, by name, path or index. `mirror` is the root of a mirror.
    ///
    /// # Errors
    /// If the node or joint is unknown, the node is not the root of a mirror, several joints match, or the mirror has
    /// no node for it.
    pub fn joint<'a>(
        &self,
        mirror: NodeId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<NodeId, SceneError> {
        let (entry, skeleton) = self.entry(mirror)?;
        let joint = skeleton.joint(joint)?;
        let node = entry.node(joint).ok_or(SceneError::NoNode { mirror, joint })?;
        Ok(self.handle(node))
    }

    /// The mirror's root and the joint of a node; `None` if it is not a joint.
    pub(crate) fn joint_of(&self, node: NodeId) -> Result<Option<(NodeId, usize)>, SceneError> {
        Ok(self.joint_at(self.index(node)?))
    }

    /// Attaches a node to a joint, at an offset from it: `set_parent` and `set_local` in one call.
    ///
    /// `mirror` is the root of a mirror. To attach a skeleton to another one, attach its root.
    ///
    /// # Errors
    /// If a node or the joint is unknown, `mirror` is not the root of a mirror, several joints match, the node is a
    /// joint or would become its own descendant, or the offset is not finite or holds a number above
    /// [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn attach<'a>(
        &mut self,
        node: NodeId,
        mirror: NodeId,
        joint: impl Into<JointRef<'a>>,
        offset: impl Into<Affine3x4>,
    ) -> Result<(), SceneError> {
        let parent = self.joint(mirror, joint)?;
        let offset = within("offset", offset.into())?;
        self.set_parent(node, parent)?;
        // The node has a parent now, so it follows no instance and this cannot fail.
        self.set_local(node, offset)
    }

    /// Sets the joints of a mirror, given by its root, to model matrices, one per joint of the skeleton.
    ///
    /// # Errors
    /// If the node is unknown or not the root of a mirror, there is not one matrix per joint, or a matrix is not finite
    /// or holds a number above [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn set_models(&mut self, mirror: NodeId, models: &[Affine3x4]) -> Result<(), SceneError> {
        let (entry, skeleton) = self.entry(mirror)?;
        let (first, nodes) = (entry.root as usize + 1, entry.joints.clone());
        let (have, joints) = (models.len(), skeleton.len());
        if have != joints {
            return Err(SceneError::Models { have, joints });
        }
        for model in models {
            within("model matrix of a joint", *model)?;
        }
        self.write_models(first, &nodes, |joint| models.get(usize::from(joint)));
        Ok(())
    }

    /// Writes model matrices into the nodes of these joints, the first of which has this index. A node whose matrix is
    /// unchanged is not marked dirty.
    #[inline]
    pub(crate) fn write_models<'a>(
        &mut self,
        first: usize,
        joints: &[u16],
        model: impl Fn(u16) -> Option<&'a Affine3x4>,
    ) {
        for (node, &joint) in (first..).zip(joints) {
            if let Some(model) = model(joint) {
                self.write_local(node, model);
            }
        }
    }

    /// Sets a mirror's root to its instance's world transform if the root has no parent. Returns the root's index, behind
    /// which the joints lie, and whether the root has a parent; `None` if the mirror is not in this scene.
    #[inline]
    pub(crate) fn place_root(
        &mut self,
        mirror: NodeId,
        world: &Affine3x4,
    ) -> Option<(usize, bool)> {
        let root = self.find_mirror(mirror)?.0.root as usize;
        let hangs = self.parent[root] != NONE;
        if !hangs {
            self.write_local(root, world);
        }
        Some((root, hangs))
    }

    /// The world transform of a mirror's root if the root has a parent.
    pub(crate) fn hung_root(&self, mirror: NodeId) -> Option<Affine3x4> {
        let root = self.find_mirror(mirror)?.0.root as usize;
        let hangs = self.parent[root] != NONE;
        hangs.then(|| self.world[root].into())
    }

    /// Whether the scene has a mirror.
    pub(crate) fn has(&self, mirror: NodeId) -> bool {
        self.find_mirror(mirror).is_some()
    }

    /// Whether a mirror belonged to this scene and was removed.
    pub(crate) fn has_removed(&self, mirror: NodeId) -> bool {
        mirror.scene == self.id() && !self.has(mirror)
    }

    /// Whether the node is the root of a mirror that follows its instance.
    pub(super) fn follows(&self, node: usize) -> bool {
        let entry = self.mirrors.get(self.mirror_of[node] as usize);
        self.parent[node] == NONE && entry.is_some_and(|m| m.follows)
    }

    pub(super) fn joint_at(&self, node: usize) -> Option<(NodeId, usize)> {
        let entry = self.mirrors.get(self.mirror_of[node] as usize)?;
        let root = entry.root as usize;
        let joint = entry.joints.get(node.checked_sub(root + 1)?)?;
        Some((self.handle(root), usize::from(*joint)))
    }

    fn entry(&self, mirror: NodeId) -> Result<(&MirrorEntry, &Arc<Skeleton>), SceneError> {
        self.index(mirror)?;
        self.find_mirror(mirror).ok_or(SceneError::NotMirror { node: mirror })
    }

    /// A mirror and its skeleton by the root, without the cost of an error.
    #[inline]
    fn find_mirror(&self, mirror: NodeId) -> Option<(&MirrorEntry, &Arc<Skeleton>)> {
        let root = self.find(mirror)?;
        let entry = self.mirrors.get(self.mirror_of[root] as usize);
        let entry = entry.filter(|entry| entry.root == mirror.index)?;
        Some((entry, entry.skeleton.as_ref()?))
    }
}
