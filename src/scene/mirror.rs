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
    /// The joints that have nodes, ascending; `None` for all.
    pub chosen: Option<Arc<[u16]>>,
    /// The mirror's root node; the i-th joint with a node is node `root + 1 + i`.
    pub root: u32,
    /// Whether the mirror shows an instance of a crowd: the root then takes the instance's world transform while it has no
    /// parent, and the joints are children of the root.
    pub follows: bool,
}

impl MirrorEntry {
    /// The number of joints with nodes.
    pub fn len(&self) -> usize {
        match (&self.chosen, &self.skeleton) {
            (Some(chosen), Some(_)) => chosen.len(),
            (_, skeleton) => skeleton.as_ref().map_or(0, |s| s.len()),
        }
    }

    /// The joint of the i-th node.
    fn joint(&self, at: usize) -> Option<usize> {
        match &self.chosen {
            Some(chosen) => chosen.get(at).map(|&joint| joint.into()),
            None => (at < self.len()).then_some(at),
        }
    }

    /// The index of a joint among those with nodes.
    fn place(&self, joint: usize) -> Option<usize> {
        match &self.chosen {
            Some(chosen) => chosen.iter().position(|&j| usize::from(j) == joint),
            None => Some(joint),
        }
    }
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
        let (mirror, root) = self.allocate_mirror(skeleton, None, false)?;
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let above = match parent {
                NO_JOINT => root,
                parent => root + 1 + usize::from(parent),
            };
            self.local[root + 1 + joint] = skeleton.rest(joint).to_affine();
            self.link(root + 1 + joint, Some(above));
        }
        Ok(mirror)
    }

    /// Adds a mirror of an instance: a root, and below it the chosen joints (ascending) or all, in the rest pose.
    pub(crate) fn follow(
        &mut self,
        skeleton: &Arc<Skeleton>,
        chosen: Option<Arc<[u16]>>,
    ) -> Result<MirrorId, SceneError> {
        let (mirror, root) = self.allocate_mirror(skeleton, chosen, true)?;
        let models = models(skeleton, |joint| skeleton.rest(joint).to_affine());
        let count = self.entry(mirror)?.len();
        for at in 0..count {
            let joint = self.entry(mirror)?.joint(at);
            let model = joint.and_then(|joint| models.get(joint));
            self.local[root + 1 + at] = *model.unwrap_or(&Affine3x4::IDENTITY);
            self.link(root + 1 + at, Some(root));
        }
        Ok(mirror)
    }

    /// Adds a mirror whose joints have no parents yet; returns it and its root.
    fn allocate_mirror(
        &mut self,
        skeleton: &Arc<Skeleton>,
        chosen: Option<Arc<[u16]>>,
        follows: bool,
    ) -> Result<(MirrorId, usize), SceneError> {
        let joints = chosen.as_ref().map_or(skeleton.len(), |c| c.len());
        let root = self.allocate(joints + 1)?;
        // Every mirror has a node, so mirrors cannot run out of indices.
        let index = match self.vacant.pop() {
            Some(index) => index as usize,
            None => {
                self.mirrors.push(MirrorEntry {
                    generation: 0,
                    skeleton: None,
                    chosen: None,
                    root: NONE,
                    follows: false,
                });
                self.mirrors.len() - 1
            }
        };
        let entry = &mut self.mirrors[index];
        entry.skeleton = Some(skeleton.clone());
        entry.chosen = chosen;
        entry.root = root;
        entry.follows = follows;
        let root = root as usize;
        self.mirror_of[root..=root + joints].fill(index as u32);
        Ok((self.mirror_handle(index as u32), root))
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
    /// If the mirror or joint is unknown, several joints match, or the mirror has no node for it.
    pub fn joint<'a>(
        &self,
        mirror: MirrorId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<NodeId, SceneError> {
        let entry = self.entry(mirror)?;
        let joint = self.skeleton(mirror)?.joint(joint)?;
        let place = entry.place(joint);
        let place = place.ok_or(SceneError::NoNode { mirror, joint })?;
        Ok(self.handle(entry.root as usize + 1 + place))
    }

    /// The node index of a mirror's joint 0; joint j has this index + j. If only some joints have nodes, the node index of
    /// the first of them; the others follow in ascending order.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn first(&self, mirror: MirrorId) -> Result<usize, SceneError> {
        Ok(self.entry(mirror)?.root as usize + 1)
    }

    /// The joints of a mirror that have nodes, ascending.
    ///
    /// # Errors
    /// If the mirror is unknown.
    pub fn joints(&self, mirror: MirrorId) -> Result<impl Iterator<Item = usize>, SceneError> {
        let entry = self.entry(mirror)?;
        Ok((0..entry.len()).filter_map(|at| entry.joint(at)))
    }

    /// The mirror and joint of a node; `None` if it is not a joint.
    ///
    /// # Errors
    /// If the node is unknown.
    pub(crate) fn joint_of(&self, node: NodeId) -> Result<Option<(MirrorId, usize)>, SceneError> {
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

    /// Sets the local matrices of a mirror's joints (relative to their parent joints), in joint order.
    ///
    /// # Errors
    /// If the mirror is unknown, there is not one matrix per joint, or a matrix is not finite or holds a
    /// number above [`MAX_WORLD`](crate::skeleton::MAX_WORLD).
    pub fn set_joint_locals(
        &mut self,
        mirror: MirrorId,
        locals: &[Affine3x4],
    ) -> Result<(), SceneError> {
        let skeleton = self.skeleton(mirror)?.clone();
        let joints = skeleton.len();
        if locals.len() != joints {
            let have = locals.len();
            return Err(SceneError::Locals { have, joints });
        }
        for local in locals {
            within("local matrix of a joint", *local)?;
        }
        if self.entry(mirror)?.follows {
            let models = models(&skeleton, |joint| locals[joint]);
            return self.write_joints(mirror, |joint| models[joint]);
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

    /// Writes the local transforms of all nodes of joints, in ascending order of joints. A node whose matrix is unchanged
    /// is not marked dirty.
    pub(crate) fn write_joints(
        &mut self,
        mirror: MirrorId,
        mut local: impl FnMut(usize) -> Affine3x4,
    ) -> Result<(), SceneError> {
        let entry = self.entry(mirror)?;
        let (first, joints) = (entry.root as usize + 1, entry.len());
        match entry.chosen.clone() {
            Some(chosen) => {
                for (node, &joint) in (first..).zip(&chosen[..]) {
                    self.write_local(node, &local(joint.into()));
                }
            }
            None => {
                for joint in 0..joints {
                    self.write_local(first + joint, &local(joint));
                }
            }
        }
        Ok(())
    }

    /// Writes the model matrices of an instance into the nodes of its mirror.
    pub(crate) fn write_models<'a>(
        &mut self,
        mirror: MirrorId,
        model: impl Fn(u16) -> Option<&'a Affine3x4>,
    ) {
        let Ok(entry) = self.entry(mirror) else {
            return;
        };
        let (first, joints) = (entry.root as usize + 1, entry.len());
        for at in 0..joints {
            let joint = self.mirrors[mirror.index as usize].joint(at);
            if let Some(model) = joint.and_then(|joint| model(joint as u16)) {
                self.write_local(first + at, model);
            }
        }
    }

    /// Sets a mirror's root to its instance's world transform if the root has no parent. Returns whether the root has a
    /// parent.
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
        let entry = self.mirrors.get(mirror as usize)?;
        let joint = entry.joint(node.checked_sub(entry.root as usize + 1)?)?;
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

/// Model matrices of the joints with these local matrices.
fn models(skeleton: &Skeleton, local: impl Fn(usize) -> Affine3x4) -> Vec<Affine3x4> {
    let mut models: Vec<Affine3x4> = Vec::with_capacity(skeleton.len());
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let local = local(joint);
        let above = models.get(usize::from(parent));
        models.push(above.map_or(local, |above| above.mul(&local)));
    }
    models
}
