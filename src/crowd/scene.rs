//! Instances in a scene graph: mirrors of their joints, and overrides of single joints.

use super::crowd_data::Crowd;
use crate::math::{Affine3x4, SimdLevel};
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use crate::runtime::chain::Scratch;
use crate::scene::{Hanging, MirrorId, NodeId, SceneError, SceneGraph};
use crate::skeleton::JointRef;
use crate::skeleton::limits::is_world;

/// The mirrors of a crowd's instances, and what their evaluation needs.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    of: Vec<(InstanceId, MirrorId)>,
    scratch: Vec<(RigId, Scratch)>,
}

impl Mirrors {
    /// A rig's scratch; made when it is needed first, or anew when clips have more timelines.
    fn scratch(&mut self, rig: RigId, make: impl Fn() -> Scratch, fits: impl Fn(&Scratch) -> bool) {
        match self.scratch.iter_mut().find(|s| s.0 == rig) {
            Some((_, scratch)) if fits(scratch) => {}
            Some((_, scratch)) => *scratch = make(),
            None => self.scratch.push((rig, make())),
        }
    }

    /// Forgets a rig's scratch.
    pub fn forget(&mut self, rig: RigId) {
        self.scratch.retain(|s| s.0 != rig);
    }
}

impl Crowd {
    /// Makes the joints of an instance nodes of a scene graph; once, then gives the same mirror again.
    ///
    /// [`update_scene`](Self::update_scene) keeps them up to date. The mirror's root stands where
    /// [`set_world`](Self::set_world) puts the instance; once it hangs on another node, the scene says
    /// where the instance stands. Instances that are not mirrored pay nothing.
    ///
    /// # Errors
    /// If the instance is unknown or the scene is full.
    pub fn mirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
    ) -> Result<MirrorId, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        if let Some(mirror) = self.mirror_of(instance, scene) {
            return Ok(mirror);
        }
        let world = pool.state.world[index];
        let mirror = scene.mirror(pool.rig.skeleton(), true)?;
        scene.place_root(mirror, &world)?;
        self.mirrors.of.push((instance, mirror));
        Ok(mirror)
    }

    /// The mirror of an instance in a scene graph, if it has one.
    pub fn mirror_of(&self, instance: InstanceId, scene: &SceneGraph) -> Option<MirrorId> {
        let mut of = self.mirrors.of.iter();
        of.find(|m| m.0 == instance && scene.skeleton(m.1).is_ok())
            .map(|m| m.1)
    }

    /// The instance and joint that a node mirrors.
    ///
    /// # Errors
    /// If the node is unknown, no joint, or a joint of something else than this crowd's instances.
    pub fn mirrored_joint(
        &self,
        scene: &SceneGraph,
        node: NodeId,
    ) -> Result<(InstanceId, usize), CrowdError> {
        let (mirror, joint) = scene
            .joint_of(node)?
            .ok_or(CrowdError::NotMirrored { node })?;
        let found = self.mirrors.of.iter().find(|m| m.1 == mirror);
        let (instance, _) = found.ok_or(CrowdError::NotMirrored { node })?;
        Ok((*instance, joint))
    }

    /// Removes an instance and its mirror. (A mirror whose instance was despawned otherwise stays in
    /// the scene as it stood last.)
    ///
    /// # Errors
    /// If the instance is unknown, it is not mirrored there, or what hangs on it cannot be hung
    /// elsewhere: see [`SceneGraph::remove`].
    pub fn despawn_mirrored(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        hanging: Hanging,
    ) -> Result<(), CrowdError> {
        self.unmirror(instance, scene, hanging)?;
        self.despawn(instance)
    }

    /// Removes the mirror of an instance, which goes on without.
    ///
    /// # Errors
    /// Those of [`despawn_mirrored`](Self::despawn_mirrored).
    pub fn unmirror(
        &mut self,
        instance: InstanceId,
        scene: &mut SceneGraph,
        hanging: Hanging,
    ) -> Result<(), CrowdError> {
        self.instance(instance)?;
        let mirror = self.mirror_of(instance, scene);
        let mirror = mirror.ok_or(CrowdError::NoMirror { instance })?;
        scene.remove_mirror(mirror, hanging)?;
        self.mirrors.of.retain(|m| m.1 != mirror);
        Ok(())
    }

    /// Brings a scene graph up to date: the joints of this crowd's mirrored instances as they are now,
    /// then [`SceneGraph::update`]. Returns how many instances were mirrored.
    ///
    /// Instances that hang on a node get their world transform from it, in the same call, however many
    /// hang on each other. Hidden instances count. Allocates only when mirrors or clips were added.
    pub fn update_scene(&mut self, scene: &mut SceneGraph) -> usize {
        let level = SimdLevel::current();
        let mut mirrors = std::mem::take(&mut self.mirrors);
        // Who was removed from the scene is mirrored no more; a despawned instance may come back with a
        // snapshot.
        mirrors.of.retain(|m| !scene.has_removed(m.1));
        let mut count = 0;
        for i in 0..mirrors.of.len() {
            let (instance, mirror) = mirrors.of[i];
            let Ok((pool, index)) = self.instance(instance) else {
                continue;
            };
            if scene.place_root(mirror, &pool.state.world[index]).is_err() {
                // It is mirrored in another scene.
                continue;
            }
            let rig = pool.rig.clone();
            mirrors.scratch(
                instance.rig,
                || Scratch::new(&rig, pool.timelines),
                |s| s.timelines() >= pool.timelines,
            );
            let Ok(pool) = self.pool_mut(instance.rig) else {
                continue;
            };
            let Some((_, scratch)) = mirrors.scratch.iter_mut().find(|s| s.0 == instance.rig)
            else {
                continue;
            };
            let mut hints = std::mem::take(&mut pool.hints);
            let stride = pool.hints_per_instance();
            let own = &mut hints[index * stride..(index + 1) * stride];
            pool.run_chain(index, own, scratch, &mut [], |chain| chain.run(level));
            pool.hints = hints;
            let skeleton = rig.skeleton();
            let written = scene.write_joints(mirror, |joint| scratch.local(skeleton, joint));
            count += usize::from(written.is_ok());
        }
        scene.update();
        for &(instance, mirror) in &mirrors.of {
            let world = scene.hung_root(mirror).filter(is_world);
            let index = self.instance(instance).map(|i| i.1);
            if let (Some(world), Ok(index)) = (world, index)
                && let Ok(pool) = self.pool_mut(instance.rig)
            {
                pool.set_world(index, world);
            }
        }
        self.mirrors = mirrors;
        count
    }

    /// Sets the local matrix of a joint (relative to its parent joint) instead of what plays, from the
    /// next [`evaluate`](Self::evaluate) on: the palette and all that hangs below follow.
    ///
    /// Instances with overrides are evaluated joint by joint, which takes longer; the bits of the
    /// others do not change.
    ///
    /// # Errors
    /// If the instance or joint is unknown, several joints are meant, or the matrix is not finite or beyond
    /// [`MAX_OVERRIDE_LENGTH`](crate::skeleton::MAX_OVERRIDE_LENGTH) or, with the instance's other
    /// overrides, [`MAX_OVERRIDE_SCALE`](crate::skeleton::MAX_OVERRIDE_SCALE).
    pub fn set_override<'a>(
        &mut self,
        instance: InstanceId,
        joint: impl Into<JointRef<'a>>,
        local: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        let joint = self.joint(instance, joint)?;
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.overrides.set(index, joint, local.into())
    }

    /// Lets what plays move a joint again.
    ///
    /// # Errors
    /// If the instance or joint is unknown, or several joints are meant.
    pub fn clear_override<'a>(
        &mut self,
        instance: InstanceId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<(), CrowdError> {
        let joint = self.joint(instance, joint)?;
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.overrides.clear(index, joint);
        Ok(())
    }

    /// Lets what plays move all joints again.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn clear_overrides(&mut self, instance: InstanceId) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.overrides.clear_all(index);
        Ok(())
    }

    /// The joints of an instance that have overrides, with their local matrices, by joint.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn overrides(
        &self,
        instance: InstanceId,
    ) -> Result<impl Iterator<Item = (usize, &Affine3x4)>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let overrides = pool.state.overrides.of(index).iter();
        Ok(overrides.map(|o| (usize::from(o.joint), &o.local)))
    }

    fn joint<'a>(
        &self,
        instance: InstanceId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<u16, CrowdError> {
        let (pool, _) = self.instance(instance)?;
        let joint = pool.rig.skeleton().joint(joint).map_err(SceneError::from)?;
        // Joints are counted in 16 bits.
        Ok(joint as u16)
    }
}
