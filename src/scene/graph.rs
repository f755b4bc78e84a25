//! `SceneGraph`: the node arrays, and the operations on single nodes.

use super::error::SceneError;
use super::free_ranges::FreeRanges;
use super::ids::NodeId;
use super::mirror::MirrorEntry;
use crate::math::Affine3x4;
use crate::skeleton::limits::{Beyond, MAX_WORLD, beyond};
use glam::DAffine3;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// "No node" or "no mirror" in an index.
pub(super) const NONE: u32 = u32::MAX;

/// Limit on the nodes: indices are 32 bits and the last value means "none".
pub(super) const MAX_NODES: usize = NONE as usize;

/// A forest of nodes in flat arrays; some nodes are the joints of mirrored skeletons.
///
/// Local transforms are relative to the parent, in f32. World transforms are f64, so that a node attached
/// to a joint matches it far from the origin too. Call [`update`](Self::update) once per frame to compute
/// them. A clone is a snapshot: handles are valid in both. A call that fails changes nothing.
///
/// A sword in the hand of a character that a [`Mixer`](crate::playback::Mixer) plays; joints are found by
/// name, path or index:
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::math::Affine3x4;
/// use phalanx::playback::Mixer;
/// use phalanx::scene::SceneGraph;
/// use std::sync::Arc;
///
/// let mut mixer = Mixer::new(Arc::new(phalanx::import::mannequin()?))?;
/// let mut scene = SceneGraph::new();
/// let character = scene.add_mirror(mixer.rig().skeleton())?;
/// let sword = scene.add(None, Affine3x4::IDENTITY)?;
/// scene.attach(sword, character, "RightHand", Affine3x4::IDENTITY)?;
/// // Every frame:
/// mixer.advance(1.0 / 60.0)?;
/// scene.set_models(character, &mixer.model_matrices())?;
/// scene.update();
/// let world = scene.world(sword)?;
/// # assert!(world.translation.length() > 0.5);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default)]
pub struct SceneGraph {
    number: SceneNumber,
    /// A reference that ends with the scene and the last of its clones.
    alive: Arc<()>,
    // One entry per node.
    pub(super) generation: Vec<u32>,
    pub(super) live: Vec<bool>,
    pub(super) parent: Vec<u32>,
    /// For each node, the number of its children.
    pub(super) children: Vec<u32>,
    /// For each node, the mirror that it is the root or a joint of, or [`NONE`].
    pub(super) mirror_of: Vec<u32>,
    pub(super) local: Vec<Affine3x4>,
    pub(super) world: Vec<DAffine3>,
    /// For each node, whether its local transform or its parent has changed since the last update.
    pub(super) dirty: Vec<bool>,
    /// For each node, whether its world transform changed in the last update that did anything.
    pub(super) changed: Vec<bool>,

    pub(super) free: FreeRanges,
    pub(super) mirrors: Vec<MirrorEntry>,
    /// Free indices of `mirrors`.
    pub(super) vacant: Vec<u32>,
    /// Live nodes, parents before children.
    pub(super) order: Vec<u32>,
    /// Whether `order` is out of date.
    pub(super) unsorted: bool,
    pub(super) any_dirty: bool,
    /// Scratch space of the sort.
    pub(super) path: Vec<u32>,
    pub(super) changed_ranges: Vec<Range<usize>>,
}

/// A number that only a scene and its clones share.
#[derive(Clone, Copy, Debug)]
pub(super) struct SceneNumber(u32);

impl Default for SceneNumber {
    fn default() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl SceneGraph {
    /// An empty scene.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node below `parent`, or a root.
    ///
    /// # Errors
    /// If the parent is unknown, the transform is not finite or holds a number above [`MAX_WORLD`], or
    /// there are too many nodes.
    pub fn add(
        &mut self,
        parent: impl Into<Option<NodeId>>,
        local: impl Into<Affine3x4>,
    ) -> Result<NodeId, SceneError> {
        let parent = parent.into().map(|p| self.index(p)).transpose()?;
        let local = within("local transform", local.into())?;
        let index = self.allocate(1)?;
        self.local[index as usize] = local;
        if let Some(parent) = parent {
            self.link(index as usize, Some(parent));
        }
        Ok(self.handle(index as usize))
    }

    /// Makes a node a child of another one, or a root; its local transform is unchanged.
    ///
    /// The parent may be any node, including a joint. The node may be the root of a mirror: the skeleton then follows the
    /// parent. When the root has no parent again, it follows its instance.
    ///
    /// # Errors
    /// If a node is unknown, the node is a joint, or it would become its own descendant.
    pub fn set_parent(
        &mut self,
        node: NodeId,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<(), SceneError> {
        let (n, p) = self.check_parent(node, parent.into())?;
        self.link(n, p);
        Ok(())
    }

    /// Makes a node a child of another one, or a root, and keeps its world transform.
    ///
    /// # Errors
    /// Those of [`set_parent`](Self::set_parent), or if the parent's transform has no inverse or the new
    /// local transform holds a number above [`MAX_WORLD`].
    pub fn set_parent_in_place(
        &mut self,
        node: NodeId,
        parent: impl Into<Option<NodeId>>,
    ) -> Result<(), SceneError> {
        let (n, p) = self.check_parent(node, parent.into())?;
        let local = self.local_below(n, p)?;
        self.link(n, p);
        self.local[n] = local;
        Ok(())
    }

    /// Sets a node's transform relative to its parent.
    ///
    /// # Errors
    /// If the node is unknown, is a joint (use the overrides of its instance), follows its instance, or
    /// the transform is not finite or holds a number above [`MAX_WORLD`].
    pub fn set_local(
        &mut self,
        node: NodeId,
        local: impl Into<Affine3x4>,
    ) -> Result<(), SceneError> {
        let n = self.own_place(node)?;
        if self.follows(n) {
            return Err(SceneError::Follows { node });
        }
        let local = within("local transform", local.into())?;
        self.write_local(n, &local);
        Ok(())
    }

    /// A node's transform relative to its parent.
    ///
    /// # Errors
    /// If the node is unknown.
    pub fn local(&self, node: NodeId) -> Result<&Affine3x4, SceneError> {
        Ok(&self.local[self.index(node)?])
    }

    /// A node's transform to world space, as of the last update. Subtract the translation of a camera or instance before
    /// rounding to f32, which is exact near that point.
    ///
    /// # Errors
    /// If the node is unknown.
    pub fn world(&self, node: NodeId) -> Result<&DAffine3, SceneError> {
        Ok(&self.world[self.index(node)?])
    }

    /// World transforms of all indices of the node arrays, by [`NodeId::index`]. Entries of free indices
    /// are unspecified.
    pub fn worlds(&self) -> &[DAffine3] {
        &self.world
    }

    /// [`worlds`](Self::worlds) as arrays: the three columns of the linear part, then the translation.
    pub fn world_arrays(&self) -> &[[f64; 12]] {
        bytemuck::must_cast_slice(&self.world)
    }

    /// A node's parent.
    ///
    /// # Errors
    /// If the node is unknown.
    pub fn parent(&self, node: NodeId) -> Result<Option<NodeId>, SceneError> {
        let parent = self.parent[self.index(node)?];
        Ok((parent != NONE).then(|| self.handle(parent as usize)))
    }

    /// The number of nodes, including the nodes of mirrors.
    pub fn node_count(&self) -> usize {
        self.live.iter().filter(|l| **l).count()
    }

    /// A number that only the scene and its clones share.
    pub(crate) fn id(&self) -> u32 {
        self.number.0
    }

    /// A reference that expires when the scene and all its clones are dropped.
    pub(crate) fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    pub(super) fn index(&self, node: NodeId) -> Result<usize, SceneError> {
        let foreign = node.scene != self.id();
        self.find(node).ok_or(SceneError::UnknownNode { node, foreign })
    }

    /// The index of a node, if the scene has it.
    #[inline]
    pub(super) fn find(&self, node: NodeId) -> Option<usize> {
        let i = node.index as usize;
        let good = node.scene == self.id()
            && self.live.get(i) == Some(&true)
            && self.generation[i] == node.generation;
        good.then_some(i)
    }

    pub(super) fn handle(&self, index: usize) -> NodeId {
        NodeId { scene: self.id(), index: index as u32, generation: self.generation[index] }
    }

    /// The index of a node that is not a joint.
    pub(super) fn own_place(&self, node: NodeId) -> Result<usize, SceneError> {
        let n = self.index(node)?;
        match self.joint_at(n) {
            Some((_, joint)) => Err(SceneError::Joint { node, joint }),
            None => Ok(n),
        }
    }

    fn check_parent(
        &self,
        node: NodeId,
        parent: Option<NodeId>,
    ) -> Result<(usize, Option<usize>), SceneError> {
        let n = self.own_place(node)?;
        let Some(parent) = parent else {
            return Ok((n, None));
        };
        let p = self.index(parent)?;
        if self.ancestors(p).any(|a| a == n) {
            return Err(SceneError::Cycle { node, parent });
        }
        Ok((n, Some(p)))
    }

    /// A node and its ancestors, upwards.
    pub(super) fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&n| {
            let parent = self.parent[n];
            (parent != NONE).then_some(parent as usize)
        })
    }

    /// A node's world transform computed from local transforms, whether updated or not.
    pub(super) fn world_now(&self, node: usize) -> DAffine3 {
        let above = self.ancestors(node).skip(1);
        above.fold(DAffine3::from(self.local[node]), |below, n| {
            DAffine3::from(self.local[n]) * below
        })
    }

    /// The local transform with which a node keeps its world transform below another parent.
    pub(super) fn local_below(
        &self,
        node: usize,
        parent: Option<usize>,
    ) -> Result<Affine3x4, SceneError> {
        let mut local = self.world_now(node);
        if let Some(parent) = parent {
            let above = self.world_now(parent);
            let inverse = above.inverse();
            if above.matrix3.determinant() == 0.0 || !inverse.is_finite() {
                return Err(SceneError::Singular { node: self.handle(parent) });
            }
            local = inverse * local;
        }
        within("local transform that keeps the node in place", local.into())
    }

    pub(super) fn link(&mut self, node: usize, parent: Option<usize>) {
        if let Some(children) = self.children.get_mut(self.parent[node] as usize) {
            *children -= 1;
        }
        self.parent[node] = parent.map_or(NONE, |p| p as u32);
        if let Some(parent) = parent {
            self.children[parent] += 1;
        }
        self.mark(node);
        self.unsorted = true;
    }

    pub(super) fn write_local(&mut self, node: usize, local: &Affine3x4) {
        if self.local[node] != *local {
            self.local[node] = *local;
            self.mark(node);
        }
    }

    pub(super) fn mark(&mut self, node: usize) {
        self.dirty[node] = true;
        self.any_dirty = true;
    }

    /// Adds `count` consecutive nodes without parents, at identity.
    pub(super) fn allocate(&mut self, count: usize) -> Result<u32, SceneError> {
        let end = self.live.len();
        let reused = u32::try_from(count).ok().and_then(|c| self.free.take(c));
        let first = match reused {
            Some(first) => first as usize,
            None if end + count > MAX_NODES => {
                return Err(SceneError::Limit {
                    what: "nodes",
                    count: end + count,
                    limit: MAX_NODES,
                });
            }
            None => end,
        };
        let places = end.max(first + count);
        self.generation.resize(places, 0);
        self.live.resize(places, false);
        self.parent.resize(places, NONE);
        self.children.resize(places, 0);
        self.mirror_of.resize(places, NONE);
        self.local.resize(places, Affine3x4::IDENTITY);
        self.world.resize(places, DAffine3::IDENTITY);
        self.dirty.resize(places, false);
        self.changed.resize(places, false);
        for n in first..first + count {
            self.live[n] = true;
            self.parent[n] = NONE;
            self.children[n] = 0;
            self.mirror_of[n] = NONE;
            self.local[n] = Affine3x4::IDENTITY;
            self.world[n] = DAffine3::IDENTITY;
            self.mark(n);
        }
        self.unsorted = true;
        Ok(first as u32)
    }
}

pub(super) fn within(what: &'static str, transform: Affine3x4) -> Result<Affine3x4, SceneError> {
    if !transform.is_finite() {
        return Err(SceneError::Transform { what });
    }
    match beyond(what, transform.rows.as_flattened(), MAX_WORLD) {
        Ok(()) => Ok(transform),
        Err(Beyond { what, value, limit }) => Err(SceneError::Beyond { what, value, limit }),
    }
}
