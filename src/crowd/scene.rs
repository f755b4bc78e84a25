//! Instances in a scene graph: mirrors of their joints.

use super::crowd_data::Crowd;
use super::mirrors::Mirrored;
use crate::playback::{InstanceId, PlaybackError as CrowdError};
use crate::scene::{NodeId, OnRemove, SceneError, SceneGraph};
use crate::skeleton::LookupError;
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
    /// Adds joints of an instance to a scene graph as nodes: its mirror, whose root is returned. `joints` are indices, in
    /// any order; `None` for all joints. The cost is per joint, and instances without a mirror cost nothing.
    ///
    /// These joints of the instance are [watched](Self::watch) while the mirror exists, and
    /// [`update_scene`](Self::update_scene) copies them to the nodes. The mirror's root has the transform of
    /// [`set_world`](Self::set_world). If it is a child of another node, the scene sets the instance's world
    /// transform instead. The joints are children of the root: their local transforms are model matrices.
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
    /// let mirror = crowd.mirror(character, &mut scene, Some(&[hand]))?;
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
    pub fn mirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        joints: Option<&[usize]>,
    ) -> Result<NodeId, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let skeleton = pool.rig().skeleton();
        // Joint indices fit in 16 bits.
        let joints: Arc<[u16]> = match joints {
            None => (0..skeleton.len()).map(|joint| joint as u16).collect(),
            Some(some) => {
                let some = some.iter().map(|&joint| Ok(skeleton.joint(joint)? as u16));
                let mut some = some.collect::<Result<Vec<u16>, LookupError>>()?;
                some.sort_unstable();
                some.dedup();
                some.into()
            }
        };
        if let Some(Mirrored { mirror, joints: has, .. }) = self.mirrors.find(instance, scene) {
            let (mirror, missing) =
                (*mirror, joints.iter().find(|j| has.binary_search(j).is_err()));
            return match missing {
                Some(&joint) => Err(SceneError::NoNode { mirror, joint: joint.into() }.into()),
                None => Ok(mirror),
            };
        }
        let mirror = scene.mirror(skeleton, joints.clone(), true)?;
        scene.place_root(mirror, pool.state().world(index));
        self.mirrors.add(Mirrored {
            instance,
            mirror,
            joints,
            scene: scene.id(),
            alive: scene.alive(),
        });
        Ok(mirror)
    }

    /// The root of the mirror of an instance in a scene graph, if it has one.
    pub fn mirror_of(&self, instance: InstanceId, scene: &SceneGraph) -> Option<NodeId> {
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

    /// Removes the mirror of an instance; the instance stays. `attached` says what happens to the nodes attached to it.
    ///
    /// The mirror of an instance that was removed by [`despawn`](Self::despawn) is removed in the next
    /// [`update_scene`](Self::update_scene).
    ///
    /// # Errors
    /// If the instance is unknown, it has no mirror in the scene, or the attached nodes cannot be moved to the new
    /// parent: see [`SceneGraph::remove`].
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
        scene.remove(mirror, attached)?;
        self.mirrors.remove(mirror);
        Ok(())
    }

    /// Updates a scene graph: removes the mirrors of instances that were removed, copies the watched joints of mirrored
    /// instances to their nodes, then calls [`SceneGraph::update`].
    ///
    /// The matrices come from the last [`evaluate`](Self::evaluate), into heap or device memory. An instance that
    /// changed since, or was not evaluated, is evaluated here: call `update_scene` after `evaluate`, not before it.
    ///
    /// A node attached to a mirror that is removed keeps its world transform and has no parent;
    /// [`update_scene_with`](Self::update_scene_with) has other choices. An instance whose root has a parent node gets
    /// its world transform from that node, in the same call, through any number of instances attached to one another.
    /// Allocates only when mirrors, instances or clips were added, or a removed mirror has nodes attached.
    pub fn update_scene(&mut self, scene: &mut SceneGraph) -> SceneStats {
        self.update_scene_with(scene, Some(OnRemove::Reparent(None)))
    }

    /// [`update_scene`](Self::update_scene) with a choice for the mirrors whose instance no longer exists: it was
    /// despawned, or [`restore`](Self::restore) returned to a time before it was spawned.
    ///
    /// With `Some`, these mirrors are removed, as by [`unmirror`](Self::unmirror). An attached node
    /// gets no parent if the requested one is unknown, is part of the mirror or has no inverse. An attached node
    /// without a finite world transform is removed. With `None` the mirrors keep their last transforms. A mirror
    /// of a despawned instance is updated again if `restore` brings the instance back; the next call with `Some`
    /// removes the mirrors that still have no instance.
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
        let mirrors = std::mem::take(&mut self.mirrors);
        let mut stats = SceneStats::default();
        let mut hung = false;
        for m in mirrors.all() {
            let Ok((pool, index)) = self.instance_mut(m.instance) else {
                continue;
            };
            let Some((root, hangs)) = scene.place_root(m.mirror, pool.state().world(index)) else {
                continue;
            };
            hung |= hangs;
            stats.mirrored += 1;
            stats.evaluated += usize::from(pool.refresh_watched(index));
            if let Some(row) = pool.watched().row(index) {
                scene.write_models(root + 1, &m.joints, |joint| row.model(joint));
            }
        }
        scene.update();
        if hung {
            for m in mirrors.all() {
                let world = scene.hung_root(m.mirror).filter(is_world);
                if let (Some(world), Ok((pool, index))) = (world, self.instance_mut(m.instance)) {
                    pool.set_world(index, world);
                }
            }
        }
        self.mirrors = mirrors;
        stats
    }
}

/// Removes a mirror of this scene. If `attached` is refused, the attached nodes lose their parent, or else are removed.
fn remove(scene: &mut SceneGraph, mirror: NodeId, attached: OnRemove) {
    let choices = [attached, OnRemove::Reparent(None), OnRemove::Remove];
    // A mirror of another scene is unknown here; the update of that scene removes it.
    if scene.has(mirror) {
        let _ = choices.into_iter().find(|&choice| scene.remove(mirror, choice).is_ok());
    }
}
