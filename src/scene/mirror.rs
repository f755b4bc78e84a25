//! Mirrors: skeleton instances as nodes, a root followed by the joints; and hanging things on them.

use super::error::SceneError;
use super::graph::{NONE, SceneGraph, within};
use super::ids::{MirrorId, NodeId};
use crate::math::Affine3x4;
use crate::skeleton::{JointRef, NO_JOINT, Skeleton};
use std::sync::Arc;

/// A place for a mirror.
#[derive(Clone, Debug)]
pub(super) struct MirrorSlot {
    pub generation: u32,
    pub skeleton: Option<Arc<Skeleton>>,
    /// Its root node; joint j is node root + 1 + j.
    pub root: u32,
    /// Whether an instance elsewhere says where the root stands while it has no parent.
    pub follows: bool,
}

impl SceneGraph {
    /// Makes the joints of a skeleton nodes, in the rest pose, below a root node of their own.
    ///
    /// For those who evaluate the skeleton themselves and hand its local matrices in; a crowd's
    /// instances are mirrored by `Crowd::mirror`.
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
        // Every mirror has a node, so there are fewer than indices.
        let index = vacant.unwrap_or(self.mirrors.len());
        if vacant.is_none() {
            self.mirrors.push(MirrorSlot {
                generation: 0,
                skeleton: None,
                root: NONE,
                follows: false,
            });
        }
        let slot = &mut self.mirrors[index];
        slot.skeleton = Some(skeleton.clone());
        slot.root = root;
        slot.follows = follows;
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

    /// The root node of a mirror: the space of the skeleton's roots, model space.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn root(&self, mirror: MirrorId) -> Result<NodeId, SceneError> {
        Ok(self.handle(self.slot(mirror)?.root as usize))
    }

    /// The node of a joint, by name, path or index.
    ///
    /// # Errors
    /// If the mirror or joint is unknown, or several joints are meant.
    pub fn joint<'a>(
        &self,
        mirror: MirrorId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<NodeId, SceneError> {
        let slot = self.slot(mirror)?;
        let skeleton = slot.skeleton.as_ref();
        let skeleton = skeleton.ok_or(SceneError::UnknownMirror { mirror })?;
        let joint = skeleton.joint(joint)?;
        Ok(self.handle(slot.root as usize + 1 + joint))
    }

    /// The index in the node arrays of a mirror's joint 0; joint j is j further on.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn first(&self, mirror: MirrorId) -> Result<usize, SceneError> {
        Ok(self.slot(mirror)?.root as usize + 1)
    }

    /// The mirror and joint that a node is, if it is one.
    ///
    /// # Errors
    /// If the node is unknown.
    pub fn joint_of(&self, node: NodeId) -> Result<Option<(MirrorId, usize)>, SceneError> {
        Ok(self.joint_at(self.index(node)?))
    }

    /// Hangs a node on a joint, at an offset from it. The same as `set_parent` and `set_local`.
    ///
    /// To hang a skeleton on another one, attach its [`root`](Self::root).
    ///
    /// # Errors
    /// If the node, mirror or joint is unknown, several joints are meant, the node is a joint or would
    /// hang below itself, or the offset is not finite.
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
        // It has a place of its own now, so nothing can refuse this.
        self.set_local(node, offset)
    }

    /// Takes a node off what it hangs on; it stays where it stands in the world.
    ///
    /// # Errors
    /// If the node is unknown or a joint.
    pub fn detach(&mut self, node: NodeId) -> Result<(), SceneError> {
        self.set_parent_in_place(node, None)
    }

    /// Hands in the local matrices of a mirror's joints, in joint order.
    ///
    /// # Errors
    /// If the mirror is unknown, the number is not that of its joints, or one is not finite.
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
        let skeleton = self.slot(mirror)?.skeleton.as_ref();
        skeleton.ok_or(SceneError::UnknownMirror { mirror })
    }

    /// Writes all joints; those whose matrix is the same do not count as moved.
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

    /// Puts a mirror's root where its instance stands, if it hangs on nothing. Returns whether it does
    /// hang on something.
    pub(crate) fn place_root(
        &mut self,
        mirror: MirrorId,
        world: &Affine3x4,
    ) -> Result<bool, SceneError> {
        let root = self.slot(mirror)?.root as usize;
        let hangs = self.parent[root] != NONE;
        if !hangs {
            self.write_local(root, world);
        }
        Ok(hangs)
    }

    /// Whether a mirror's root hangs on something, and where it stands.
    pub(crate) fn hung_root(&self, mirror: MirrorId) -> Option<Affine3x4> {
        let root = self.slot(mirror).ok()?.root as usize;
        let hangs = self.parent[root] != NONE;
        hangs.then(|| self.world[root].into())
    }

    /// Whether a mirror was one of this scene's and was removed.
    pub(crate) fn has_removed(&self, mirror: MirrorId) -> bool {
        mirror.scene == self.id && self.slot(mirror).is_err()
    }

    /// Whether the node is the root of a mirror that stands where its instance stands.
    pub(super) fn follows(&self, node: usize) -> bool {
        let slot = self.mirrors.get(self.mirror_of[node] as usize);
        self.parent[node] == NONE && slot.is_some_and(|m| m.follows)
    }

    pub(super) fn joint_at(&self, node: usize) -> Option<(MirrorId, usize)> {
        let mirror = self.mirror_of[node];
        let root = self.mirrors.get(mirror as usize)?.root as usize;
        let joint = node.checked_sub(root + 1)?;
        Some((self.mirror_handle(mirror), joint))
    }

    fn slot(&self, mirror: MirrorId) -> Result<&MirrorSlot, SceneError> {
        let slot = self.mirrors.get(mirror.index as usize);
        let good = |m: &&MirrorSlot| m.skeleton.is_some() && m.generation == mirror.generation;
        let slot = slot.filter(|_| mirror.scene == self.id).filter(good);
        slot.ok_or(SceneError::UnknownMirror { mirror })
    }
}
