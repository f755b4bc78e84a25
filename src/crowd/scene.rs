//! Instances in a scene graph: mirrors of their joints, and overrides of single joints.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::lent::Lent;
use crate::playback::pool::Pool;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use crate::runtime::chain::Scratch;
use crate::scene::{Hanging, MirrorId, NodeId, SceneError, SceneGraph};
use crate::simd::SimdLevel;
use crate::skeleton::JointRef;
use crate::skeleton::limits::is_world;
use std::sync::Weak;

/// The mirrors of a crowd's instances, and what their evaluation needs.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    of: Vec<Mirrored>,
    scratch: Vec<(RigId, Scratch)>,
}

/// An instance and its mirror.
#[derive(Debug)]
struct Mirrored {
    instance: InstanceId,
    mirror: MirrorId,
    /// The scene, which may be dropped before the crowd.
    scene: Weak<()>,
    /// A restore went back to a time without the instance: from then on its handle may name another.
    undone: bool,
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

    /// Forgets the mirrors of scenes that were dropped, and those that a scene has removed.
    fn forget_removed(&mut self, scene: &SceneGraph) {
        self.of
            .retain(|m| m.scene.strong_count() > 0 && !scene.has_removed(m.mirror));
    }

    /// Marks the mirrors of instances that a restored state does not have.
    pub fn undo(&mut self, gone: impl Fn(InstanceId) -> bool) {
        for m in &mut self.of {
            m.undone |= gone(m.instance);
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
        self.mirrors.forget_removed(scene);
        // A scene that went back to an earlier clone gives the same handles again.
        self.mirrors.of.retain(|m| m.mirror != mirror);
        self.mirrors.of.push(Mirrored {
            instance,
            mirror,
            scene: scene.alive(),
            undone: false,
        });
        Ok(mirror)
    }

    /// The mirror of an instance in a scene graph, if it has one.
    pub fn mirror_of(&self, instance: InstanceId, scene: &SceneGraph) -> Option<MirrorId> {
        let mut of = self.mirrors.of.iter();
        of.find(|m| m.instance == instance && !m.undone && scene.skeleton(m.mirror).is_ok())
            .map(|m| m.mirror)
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
        let mut of = self.mirrors.of.iter();
        let found = of.find(|m| m.mirror == mirror && !m.undone);
        let found = found.ok_or(CrowdError::NotMirrored { node })?;
        Ok((found.instance, joint))
    }

    /// Removes an instance and its mirror, at once and with a choice of its own for what hangs on it. (The
    /// mirror of an instance that was despawned otherwise goes with the next
    /// [`update_scene`](Self::update_scene).)
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
        self.mirrors.of.retain(|m| m.mirror != mirror);
        Ok(())
    }

    /// Brings a scene graph up to date: removes the mirrors of instances that are gone, writes the joints of
    /// this crowd's mirrored instances as they are now, then calls [`SceneGraph::update`]. Returns how many
    /// instances are mirrored there.
    ///
    /// What hangs on a mirror that is removed stays where it stands in the world and hangs on nothing:
    /// [`update_scene_with`](Self::update_scene_with) has the other ways. Instances that hang on a node get
    /// their world transform from it, in the same call, however many hang on each other. Hidden instances
    /// count. Allocates only when mirrors or clips were added, or mirrors on which something hangs are
    /// removed.
    pub fn update_scene(&mut self, scene: &mut SceneGraph) -> usize {
        self.update_scene_with(scene, Some(Hanging::Reparent(None)))
    }

    /// [`update_scene`](Self::update_scene) with a choice for the mirrors whose instance is gone: it was
    /// despawned, or [`restore`](Self::restore) went back to a time before it.
    ///
    /// With `Some`, they are removed, as [`despawn_mirrored`](Self::despawn_mirrored) removes them. What
    /// cannot hang on the node that is asked for (it is unknown, part of the mirror, or has no inverse)
    /// hangs on nothing; what has no finite place in the world is removed. With `None` they stay as they
    /// stood last, and those of instances that were despawned move again if `restore` brings the instance
    /// back. The next call with `Some` removes those that are still without one.
    ///
    /// A `restore` to a time before an instance was spawned ends its mirror for good, since its handle may
    /// be given to another: call [`mirror`](Self::mirror) for the instance that a replay spawns.
    pub fn update_scene_with(&mut self, scene: &mut SceneGraph, gone: Option<Hanging>) -> usize {
        let level = SimdLevel::current();
        let mut lent = Lent::new(self, |crowd| &mut crowd.mirrors);
        let (crowd, mirrors) = lent.split();
        if let Some(hanging) = gone {
            // First, so that what hung on them moves in this call whatever the order of mirrors is.
            for m in &mirrors.of {
                if m.undone || crowd.instance(m.instance).is_err() {
                    remove(scene, m.mirror, hanging);
                }
            }
        }
        // What was removed from the scene is mirrored no more.
        mirrors.forget_removed(scene);
        let mut count = 0;
        for i in 0..mirrors.of.len() {
            let Mirrored {
                instance,
                mirror,
                undone,
                ..
            } = mirrors.of[i];
            if undone {
                continue;
            }
            let Ok((pool, index)) = crowd.instance(instance) else {
                continue;
            };
            if scene.place_root(mirror, &pool.state.world[index]).is_err() {
                // It is mirrored in another scene.
                continue;
            }
            let rig = pool.rig.clone();
            mirrors.scratch(
                instance.rig(),
                || Scratch::new(&rig, pool.timelines),
                |s| s.timelines() >= pool.timelines,
            );
            let Ok(pool) = crowd.pool_mut(instance.rig()) else {
                continue;
            };
            let Some((_, scratch)) = mirrors.scratch.iter_mut().find(|s| s.0 == instance.rig())
            else {
                continue;
            };
            let stride = pool.hints_per_instance();
            let mut lent = Lent::new(pool, |pool| &mut pool.hints);
            let (pool, hints) = lent.split();
            let own = &mut hints[index * stride..(index + 1) * stride];
            pool.run_chain(index, own, scratch, &mut [], |chain| chain.run(level));
            drop(lent);
            let skeleton = rig.skeleton();
            let written = scene.write_joints(mirror, |joint| scratch.local(skeleton, joint));
            count += usize::from(written.is_ok());
        }
        scene.update();
        for m in mirrors.of.iter().filter(|m| !m.undone) {
            let world = scene.hung_root(m.mirror).filter(is_world);
            let index = crowd.instance(m.instance).map(|i| i.1);
            if let (Some(world), Ok(index)) = (world, index)
                && let Ok(pool) = crowd.pool_mut(m.instance.rig())
            {
                pool.set_world(index, world);
            }
        }
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
    /// overrides down a chain of joints, [`MAX_OVERRIDE_SCALE`](crate::skeleton::MAX_OVERRIDE_SCALE).
    pub fn set_override<'a>(
        &mut self,
        instance: InstanceId,
        joint: impl Into<JointRef<'a>>,
        local: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        let joint = self.joint(instance, joint)?;
        let (pool, index) = self.instance_mut(instance)?;
        let Pool { rig, state, .. } = pool;
        let parents = rig.skeleton().parents();
        state.overrides.set(parents, index, joint, local.into())
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

/// Removes a mirror of this scene, with what hangs on it as asked, or else in the way that is left.
fn remove(scene: &mut SceneGraph, mirror: MirrorId, hanging: Hanging) {
    let ways = [hanging, Hanging::Reparent(None), Hanging::Remove];
    // A mirror of another scene is refused each time: it is removed when that scene is updated.
    let _ = ways
        .into_iter()
        .find(|&way| scene.remove_mirror(mirror, way).is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build_rig;
    use crate::import::raw::{RawNode, RawScene};
    use std::sync::Arc;

    /// Rigs of another tag are other rigs: their handles find no scratch of the ones before.
    #[test]
    fn scratch_goes_with_the_tag() {
        let raw = RawScene {
            nodes: vec![RawNode::default()],
            ..RawScene::default()
        };
        let rig = Arc::new(build_rig(raw, &Default::default()).unwrap());
        let [mut crowd, other] = [1, 2].map(|tag| {
            let mut crowd = Crowd::with_tag(tag).unwrap();
            let id = crowd.add_rig(rig.clone()).unwrap();
            crowd.spawn(id).unwrap();
            crowd
        });
        let mut scene = SceneGraph::new();
        let instance = crowd.instances().next().unwrap();
        crowd.mirror(instance, &mut scene).unwrap();
        assert_eq!(crowd.update_scene(&mut scene), 1);
        assert_eq!(crowd.mirrors.scratch.len(), 1);
        crowd.restore(&other.snapshot()).unwrap();
        assert_eq!(crowd.mirrors.scratch.len(), 0);
    }
}
