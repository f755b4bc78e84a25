//! Instances in a scene graph: mirrors of their joints, and overrides of single joints.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::lent::Lent;
use crate::playback::pool::Pool;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use crate::runtime::chain::Scratch;
use crate::scene::{Hanging, MirrorId, NodeId, SceneGraph};
use crate::simd::SimdLevel;
use crate::skeleton::JointRef;
use crate::skeleton::limits::is_world;
use std::sync::Weak;

/// The mirrors of a crowd's instances, and the scratch memory of their evaluation.
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
    /// True after a restore to a time without the instance: its handle may then identify another one.
    undone: bool,
}

impl Mirrors {
    /// Makes a rig's scratch at its first use, and again when clips have more timelines.
    fn scratch(&mut self, rig: RigId, make: impl Fn() -> Scratch, fits: impl Fn(&Scratch) -> bool) {
        match self.scratch.iter_mut().find(|s| s.0 == rig) {
            Some((_, scratch)) if fits(scratch) => {}
            Some((_, scratch)) => *scratch = make(),
            None => self.scratch.push((rig, make())),
        }
    }

    /// Drops the mirrors of scenes that were dropped, and those that this scene has removed.
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

    /// Drops a rig's scratch.
    pub fn forget(&mut self, rig: RigId) {
        self.scratch.retain(|s| s.0 != rig);
    }
}

impl Crowd {
    /// Adds the joints of an instance to a scene graph as nodes: its mirror. Later calls return the same mirror.
    ///
    /// [`update_scene`](Self::update_scene) keeps the nodes up to date. The mirror's root has the transform of
    /// [`set_world`](Self::set_world). If it is a child of another node, the scene sets the instance's world
    /// transform instead. Instances without a mirror cost nothing.
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
        // A scene that was replaced by an earlier clone returns the same handles again.
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
    /// If the node is unknown, is no joint, or is a joint of a mirror that is not of this crowd.
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

    /// Removes an instance and its mirror at once. `hanging` says what happens to the nodes attached to the mirror.
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
        hanging: Hanging,
    ) -> Result<(), CrowdError> {
        self.unmirror(instance, scene, hanging)?;
        self.despawn(instance)
    }

    /// Removes the mirror of an instance; the instance stays.
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

    /// Updates a scene graph: removes the mirrors of instances that were removed, writes the current local matrices of
    /// this crowd's mirrored instances, then calls [`SceneGraph::update`]. Returns how many instances are mirrored
    /// there.
    ///
    /// A node attached to a mirror that is removed keeps its world transform and has no parent;
    /// [`update_scene_with`](Self::update_scene_with) has other choices. An instance whose root has a parent node gets
    /// its world transform from that node, in the same call, through any number of instances attached to one another.
    /// Hidden instances are updated, too. Allocates only when mirrors or clips were added, or a removed mirror has
    /// nodes attached.
    pub fn update_scene(&mut self, scene: &mut SceneGraph) -> usize {
        self.update_scene_with(scene, Some(Hanging::Reparent(None)))
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
    pub fn update_scene_with(&mut self, scene: &mut SceneGraph, gone: Option<Hanging>) -> usize {
        let level = SimdLevel::current();
        let mut lent = Lent::new(self, |crowd| &mut crowd.mirrors);
        let (crowd, mirrors) = lent.split();
        if let Some(hanging) = gone {
            // First, so that nodes attached to them are updated in this call, whatever the order of mirrors.
            for m in &mirrors.of {
                if m.undone || crowd.instance(m.instance).is_err() {
                    remove(scene, m.mirror, hanging);
                }
            }
        }
        // Mirrors that were removed from the scene are dropped here.
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

    /// Overrides the local matrix of a joint (relative to its parent joint), from the next
    /// [`evaluate`](Self::evaluate) on. Palette rows and joints below it follow.
    ///
    /// Instances with overrides are evaluated joint by joint, which takes longer. The bits of other instances do not
    /// change.
    ///
    /// # Errors
    /// If the instance or joint is unknown, several joints match, the matrix is not finite, it exceeds
    /// [`MAX_OVERRIDE_LENGTH`](crate::skeleton::MAX_OVERRIDE_LENGTH), or its scale times those of the instance's other
    /// overrides down a chain of joints exceeds [`MAX_OVERRIDE_SCALE`](crate::skeleton::MAX_OVERRIDE_SCALE).
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

    /// Removes the override of a joint: its actions animate it again.
    ///
    /// # Errors
    /// If the instance or joint is unknown, or several joints match.
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

    /// Removes all overrides of an instance.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn clear_overrides(&mut self, instance: InstanceId) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.overrides.clear_all(index);
        Ok(())
    }

    /// The joints of an instance that have overrides, with their local matrices, in ascending order of joints.
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
        let joint = pool.rig.skeleton().joint(joint)?;
        // Joint indices fit in 16 bits.
        Ok(joint as u16)
    }
}

/// Removes a mirror of this scene. If `hanging` is refused, attached nodes lose their parent, or else are removed.
fn remove(scene: &mut SceneGraph, mirror: MirrorId, hanging: Hanging) {
    let ways = [hanging, Hanging::Reparent(None), Hanging::Remove];
    // A mirror of another scene is refused in each attempt; the update of that scene removes it.
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

    /// Rigs of another tag are other rigs: a restore drops the scratch of the earlier ones.
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
