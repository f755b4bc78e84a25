//! Instances in a scene graph: mirrors of their joints.

use super::crowd_data::Crowd;
use super::mirrors::Mirrored;
use crate::playback::lent::Lent;
use crate::playback::{InstanceId, PlaybackError as CrowdError};
use crate::scene::{MirrorId, NodeId, OnRemove, SceneError, SceneGraph};
use crate::skeleton::limits::is_world;
use std::sync::Arc;

/// Counts of one update of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SceneStats {
    /// Instances that are mirrored in the scene.
    pub mirrored: usize,
    /// Mirrored instances that had changed since their last evaluation, and were evaluated by the update.
    pub evaluated: usize,
}

impl Crowd {
    /// Adds the joints of an instance to a scene graph as nodes: its mirror. Later calls return the same mirror.
    ///
    /// [`update_scene`](Self::update_scene) keeps the nodes up to date. The mirror's root has the transform of
    /// [`set_world`](Self::set_world). If it is a child of another node, the scene sets the instance's world
    /// transform instead. The joints are children of the root: their local transforms are model matrices. Instances
    /// without a mirror cost nothing. For a prop or two [`mirror_joints`](Self::mirror_joints) costs less.
    ///
    /// # Errors
    /// If the instance is unknown, it has a mirror of some joints in the scene, or the scene is full.
    pub fn mirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
    ) -> Result<MirrorId, CrowdError> {
        self.add_mirror(instance, scene, None)
    }

    /// [`mirror`](Self::mirror) with nodes for these joints only (indices, in any order); the cost is per joint.
    ///
    /// If the instance has a mirror with nodes for all these joints, that mirror is returned.
    ///
    /// ```
    /// use phalanx::crowd::{BoneBuffer, Crowd};
    /// use phalanx::math::Affine3x4;
    /// use phalanx::scene::SceneGraph;
    ///
    /// # #[cfg(feature = "gltf")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let hand = crowd.rig(rig)?.skeleton().joint("RightHand")?;
    /// let character = crowd.spawn(rig)?;
    /// let mut scene = SceneGraph::new();
    /// let mirror = crowd.mirror_joints(character, &mut scene, &[hand])?;
    /// let sword = scene.add(None, Affine3x4::IDENTITY)?;
    /// scene.attach(sword, mirror, hand, Affine3x4::IDENTITY)?;
    /// let mut bones = BoneBuffer::new();
    /// // Every frame:
    /// crowd.advance(1.0 / 60.0)?;
    /// crowd.evaluate(&mut bones);
    /// let stats = crowd.update_scene(&mut scene);
    /// assert_eq!((stats.mirrored, stats.evaluated), (1, 0));
    /// assert!(scene.world(sword)?.translation.length() > 0.5);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "gltf"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// If the instance or a joint is unknown, it has a mirror in the scene that lacks one of the joints, or the
    /// scene is full.
    pub fn mirror_joints(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        joints: &[usize],
    ) -> Result<MirrorId, CrowdError> {
        let (pool, _) = self.instance(instance)?;
        let mut chosen = Vec::with_capacity(joints.len());
        for &joint in joints {
            // Joint indices fit in 16 bits.
            chosen.push(pool.rig().skeleton().joint(joint)? as u16);
        }
        chosen.sort_unstable();
        chosen.dedup();
        self.add_mirror(instance, scene, Some(chosen.into()))
    }

    fn add_mirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        joints: Option<Arc<[u16]>>,
    ) -> Result<MirrorId, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        if let Some(found) = self.mirrors.find(instance, scene) {
            let (mirror, all) = (found.mirror, pool.rig().skeleton().len());
            let Some(has) = &found.joints else {
                return Ok(mirror);
            };
            let has = |joint: &u16| has.binary_search(joint).is_ok();
            let missing = match &joints {
                Some(joints) => joints.iter().find(|joint| !has(joint)).copied(),
                None => (0..all).map(|j| j as u16).find(|joint| !has(joint)),
            };
            return match missing.map(usize::from) {
                Some(joint) => Err(SceneError::NoNode { mirror, joint }.into()),
                None => Ok(mirror),
            };
        }
        let world = *pool.state().world(index);
        let mirror = scene.follow(pool.rig().skeleton(), joints.clone())?;
        scene.place_root(mirror, &world)?;
        self.mirrors.add(Mirrored {
            instance,
            mirror,
            joints,
            scene: scene.id(),
            alive: scene.alive(),
        });
        Ok(mirror)
    }

    /// The mirror of an instance in a scene graph, if it has one.
    pub fn mirror_of(&self, instance: InstanceId, scene: &SceneGraph) -> Option<MirrorId> {
        Some(self.mirrors.find(instance, scene)?.mirror)
    }

    /// The instance and joint that a node mirrors.
    ///
    /// # Errors
    /// If the node is unknown, is not a joint, or is a joint of a mirror that is not of this crowd.
    pub fn mirrored_joint(
        &self,
        scene: &SceneGraph,
        node: NodeId,
    ) -> Result<(InstanceId, usize), CrowdError> {
        let (mirror, joint) = scene.joint_of(node)?.ok_or(CrowdError::NotMirrored { node })?;
        let found = self.mirrors.instance_of(mirror);
        let instance = found.ok_or(CrowdError::NotMirrored { node })?;
        Ok((instance, joint))
    }

    /// Removes an instance and its mirror at once. `attached` says what happens to the nodes attached to the mirror.
    ///
    /// The mirror of an instance that was removed by [`despawn`](Self::despawn) is removed in the next
    /// [`update_scene`](Self::update_scene).
    ///
    /// # Errors
    /// If the instance is unknown, it has no mirror in the scene, or the attached nodes cannot be moved to the new
    /// parent: see [`SceneGraph::remove`].
    pub fn despawn_mirrored(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        attached: OnRemove,
    ) -> Result<(), CrowdError> {
        self.unmirror(instance, scene, attached)?;
        self.despawn(instance)
    }

    /// Removes the mirror of an instance; the instance stays.
    ///
    /// # Errors
    /// For a reason that [`despawn_mirrored`](Self::despawn_mirrored) lists.
    pub fn unmirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        attached: OnRemove,
    ) -> Result<(), CrowdError> {
        self.instance(instance)?;
        let mirror = self.mirror_of(instance, scene);
        let mirror = mirror
            .ok_or_else(|| CrowdError::NoMirror { instance, rig: self.rig_name(instance) })?;
        scene.remove_mirror(mirror, attached)?;
        self.mirrors.remove(mirror);
        Ok(())
    }

    /// Updates a scene graph: removes the mirrors of instances that were removed, writes the present model matrices of
    /// this crowd's mirrored instances, then calls [`SceneGraph::update`]. Returns how many instances are mirrored
    /// there, and how many of them were evaluated for it.
    ///
    /// The matrices are those of the last [`evaluate`](Self::evaluate), into heap or device memory. An instance that
    /// changed since, or was not evaluated, is evaluated here: call `update_scene` after `evaluate`, not before it.
    ///
    /// A node attached to a mirror that is removed keeps its world transform and has no parent;
    /// [`update_scene_with`](Self::update_scene_with) has other choices. An instance whose root has a parent node gets
    /// its world transform from that node, in the same call, through any number of instances attached to one another.
    /// Hidden instances are updated, too. Allocates only when mirrors, instances or clips were added, or a removed
    /// mirror has nodes attached.
    pub fn update_scene(&mut self, scene: &mut SceneGraph) -> SceneStats {
        self.update_scene_with(scene, Some(OnRemove::Reparent(None)))
    }

    /// [`update_scene`](Self::update_scene) with a choice for the mirrors whose instance no longer exists: it was
    /// despawned, or [`restore`](Self::restore) returned to a time before it was spawned.
    ///
    /// With `Some`, these mirrors are removed, as by [`despawn_mirrored`](Self::despawn_mirrored). An attached node
    /// gets no parent if the requested one is unknown, is part of the mirror or has no inverse. An attached node
    /// without a finite world transform is removed. With `None` the mirrors keep their last transforms. Those of
    /// despawned instances are updated again if `restore` brings the instance back; the next call with `Some` removes
    /// those that still have no instance.
    ///
    /// A `restore` to a time before an instance was spawned ends its mirror for good, since its handle may be reused.
    /// Call [`mirror`](Self::mirror) for the instance that a replay spawns.
    pub fn update_scene_with(
        &mut self,
        scene: &mut SceneGraph,
        gone: Option<OnRemove>,
    ) -> SceneStats {
        if let Some(attached) = gone {
            // Removed first, so that nodes attached to them are updated in this call, whatever the order of mirrors.
            let dead = |m: &&Mirrored| self.instance(m.instance).is_err();
            let dead = self.mirrors.all().iter().filter(dead);
            for m in dead.chain(self.mirrors.undone()) {
                remove(scene, m.mirror, attached);
            }
        }
        // Mirrors that were removed from the scene are dropped here.
        self.mirrors.forget_removed(scene);
        self.lay_out_watched();
        let mut lent = Lent::new(self, |crowd| &mut crowd.mirrors);
        let (crowd, mirrors) = lent.split();
        let mut stats = SceneStats::default();
        let mut hung = false;
        for m in mirrors.all() {
            let Ok((pool, index)) = crowd.instance_mut(m.instance) else {
                continue;
            };
            let Ok(hangs) = scene.place_root(m.mirror, pool.state().world(index)) else {
                // The mirror is in another scene.
                continue;
            };
            hung |= hangs;
            stats.mirrored += 1;
            stats.evaluated += usize::from(pool.refresh_watched(index));
            if let Some(row) = pool.watched().row(index) {
                scene.write_models(m.mirror, |joint| row.model(joint));
            }
        }
        scene.update();
        if hung {
            for m in mirrors.all() {
                let world = scene.hung_root(m.mirror).filter(is_world);
                if let (Some(world), Ok((pool, index))) = (world, crowd.instance_mut(m.instance)) {
                    pool.set_world(index, world);
                }
            }
        }
        stats
    }
}

/// Removes a mirror of this scene. If `attached` is refused, the attached nodes lose their parent, or else are removed.
fn remove(scene: &mut SceneGraph, mirror: MirrorId, attached: OnRemove) {
    let ways = [attached, OnRemove::Reparent(None), OnRemove::Remove];
    // A mirror of another scene is refused by every attempt; the update of that scene removes it.
    let _ = ways.into_iter().find(|&way| scene.remove_mirror(mirror, way).is_ok());
}
