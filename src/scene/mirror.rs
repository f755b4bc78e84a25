//! Mirrors: a skeleton instance as nodes, a root followed by the joints; and attaching nodes to them.

use super::error::SceneError;
use super::graph::{NONE, SceneGraph, within};
use super::ids::{MirrorId, NodeId};
use crate::math::Affine3x4;
use crate::skeleton::{JointRef, NO_JOINT, Skeleton};
use std::sync::Arc;

/// An entry of the mirror table.
#[derive(Clone, Debug)]
pub(super) struct MirrorEntry {
    pub generation: u32,
    pub skeleton: Option<Arc<Skeleton>>,
    /// Its root node; joint j is node `root + 1 + j`.
    pub root: u32,
    /// Whether the root takes its transform from an instance of a crowd while it has no parent.
    pub follows: bool,
}

impl SceneGraph {
    /// Adds the joints of a skeleton as nodes, in the rest pose, below a root node.
    ///
    /// For callers that evaluate the skeleton themselves and pass its local matrices to
    /// [`set_joint_locals`](Self::set_joint_locals). `Crowd::mirror` mirrors a crowd's instances.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn add_mirror(&mut self, skeleton: &Arc<Skeleton>) -> Result<MirrorId, SceneError> {
        self.mirror(skeleton, false)
    }

    pub(crate) fn mirror(
        &mut self,
        skeleton: &Arc<Skeleton>,
        follows: bool,
    ) -> Result<MirrorId, SceneError> {
        let root = self.allocate(skeleton.len() + 1)?;
        let vacant = self.mirrors.iter().position(|m| m.skeleton.is_none());
        // Every mirror has a node, so mirrors cannot run out of indices.
        let index = vacant.unwrap_or(self.mirrors.len());
        if vacant.is_none() {
            self.mirrors.push(MirrorEntry {
                generation: 0,
                skeleton: None,
                root: NONE,
                follows: false,
            });
        }
        let entry = &mut self.mirrors[index];
        entry.skeleton = Some(skeleton.clone());
        entry.root = root;
        entry.follows = follows;
        let root = root as usize;
        self.mirror_of[root] = index as u32;
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let n = root + 1 + joint;
            let above = match parent {
                NO_JOINT => root,
                parent => root + 1 + usize::from(parent),
            };
            self.mirror_of[n] = index as u32;
            self.local[n] = skeleton.rest(joint).to_affine();
            self.link(n, Some(above));
        }
        Ok(self.mirror_handle(index as u32))
    }

    /// The root node of a mirror. Its space is the skeleton's model space.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn root(&self, mirror: MirrorId) -> Result<NodeId, SceneError> {
        Ok(self.handle(self.entry(mirror)?.root as usize))
    }

    /// The node of a joint, by name, path or index.
    ///
    /// # Errors
    /// If the mirror or joint is unknown, or several joints match.
    pub fn joint<'a>(
        &self,
        mirror: MirrorId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<NodeId, SceneError> {
        let entry = self.entry(mirror)?;
        let joint = self.skeleton(mirror)?.joint(joint)?;
        Ok(self.handle(entry.root as usize + 1 + joint))
    }

    /// The node index of a mirror's joint 0; joint j has this index + j.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn first(&self, mirror: MirrorId) -> Result<usize, SceneError> {
        Ok(self.entry(mirror)?.root as usize + 1)
    }

    /// The mirror and joint of a node; `None` if it is not a joint.
    ///
    /// # Errors
    /// If the node is unknown.
    pub fn joint_of(&self, node: NodeId) -> Result<Option<(MirrorId, usize)>, SceneError> {
        Ok(self.joint_at(self.index(node)?))
    }

    /// Attaches a node to a joint, at an offset from it: `set_parent` and `set_local` in one call.
    ///
    /// To attach a skeleton to another one, attach its [`root`](Self::root).
    ///
    /// # Errors
    /// If the node, mirror or joint is unknown, several joints match, the node is a joint or would become
    /// its own descendant, or the offset is not finite or holds a number above
    /// [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn attach<'a>(
        &mut self,
        node: NodeId,
        mirror: MirrorId,
        joint: impl Into<JointRef<'a>>,
        offset: impl Into<Affine3x4>,
    ) -> Result<(), SceneError> {
        let parent = self.joint(mirror, joint)?;
        let offset = within("offset", offset.into())?;
        self.set_parent(node, parent)?;
        // The node has a parent now, so it follows no instance and this cannot fail.
        self.set_local(node, offset)
    }

    /// Makes a node a root; it keeps its world transform.
    ///
    /// # Errors
    /// If the node is unknown or a joint, or its world transform holds a number above
    /// [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn detach(&mut self, node: NodeId) -> Result<(), SceneError> {
        self.set_parent_in_place(node, None)
    }

    /// Sets the local matrices of a mirror's joints, in joint order.
    ///
    /// # Errors
    /// If the mirror is unknown, there is not one matrix per joint, or a matrix is not finite or holds a
    /// number above [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn set_joint_locals(
        &mut self,
        mirror: MirrorId,
        locals: &[Affine3x4],
    ) -> Result<(), SceneError> {
        let joints = self.skeleton(mirror)?.len();
        if locals.len() != joints {
            let have = locals.len();
            return Err(SceneError::Locals { have, joints });
        }
        for local in locals {
            within("local matrix of a joint", *local)?;
        }
        self.write_joints(mirror, |joint| locals[joint])
    }

    /// The skeleton of a mirror.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn skeleton(&self, mirror: MirrorId) -> Result<&Arc<Skeleton>, SceneError> {
        let skeleton = self.entry(mirror)?.skeleton.as_ref();
        skeleton.ok_or_else(|| self.unknown(mirror))
    }

    /// Writes all joints; a joint whose matrix is equal is not marked dirty.
    pub(crate) fn write_joints(
        &mut self,
        mirror: MirrorId,
        local: impl Fn(usize) -> Affine3x4,
    ) -> Result<(), SceneError> {
        let joints = self.skeleton(mirror)?.len();
        let first = self.first(mirror)?;
        for joint in 0..joints {
            self.write_local(first + joint, &local(joint));
        }
        Ok(())
    }

    /// Sets a mirror's root to its instance's world transform if the root has no parent. Returns whether
    /// it has one.
    pub(crate) fn place_root(
        &mut self,
        mirror: MirrorId,
        world: &Affine3x4,
    ) -> Result<bool, SceneError> {
        let root = self.entry(mirror)?.root as usize;
        let hangs = self.parent[root] != NONE;
        if !hangs {
            self.write_local(root, world);
        }
        Ok(hangs)
    }

    /// The world transform of a mirror's root if the root has a parent.
    pub(crate) fn hung_root(&self, mirror: MirrorId) -> Option<Affine3x4> {
        let root = self.entry(mirror).ok()?.root as usize;
        let hangs = self.parent[root] != NONE;
        hangs.then(|| self.world[root].into())
    }

    /// Whether a mirror belonged to this scene and was removed.
    pub(crate) fn has_removed(&self, mirror: MirrorId) -> bool {
        mirror.scene == self.id && self.entry(mirror).is_err()
    }

    /// Whether the node is the root of a mirror that follows its instance.
    pub(super) fn follows(&self, node: usize) -> bool {
        let entry = self.mirrors.get(self.mirror_of[node] as usize);
        self.parent[node] == NONE && entry.is_some_and(|m| m.follows)
    }

    pub(super) fn joint_at(&self, node: usize) -> Option<(MirrorId, usize)> {
        let mirror = self.mirror_of[node];
        let root = self.mirrors.get(mirror as usize)?.root as usize;
        let joint = node.checked_sub(root + 1)?;
        Some((self.mirror_handle(mirror), joint))
    }

    fn entry(&self, mirror: MirrorId) -> Result<&MirrorEntry, SceneError> {
        let entry = self.mirrors.get(mirror.index as usize);
        let good = |m: &&MirrorEntry| m.skeleton.is_some() && m.generation == mirror.generation;
        let entry = entry.filter(|_| mirror.scene == self.id).filter(good);
        entry.ok_or_else(|| self.unknown(mirror))
    }

    fn unknown(&self, mirror: MirrorId) -> SceneError {
        let foreign = mirror.scene != self.id;
        SceneError::UnknownMirror { mirror, foreign }
    }
}
