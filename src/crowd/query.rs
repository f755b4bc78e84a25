//! Queries of a crowd. They cost nothing in frames that do not call them.

use super::crowd_data::Crowd;
use crate::evaluate::Evaluated;
use crate::math::Affine3x4;
use crate::playback::{InstanceId, Playable, PlaybackError as CrowdError, RigId, RootMotions};
use crate::rig::{Aabb, Sphere};
use crate::runtime::palette_bounds;
use crate::skeleton::{ChannelHandle, ChannelValue, JointRef};
use std::ops::Range;

impl Crowd {
    /// The rows of an instance in the bone buffer of the last frame; for an interpolated instance, the rows of the
    /// nearer of its two poses. [`shown`](Self::shown) returns both. `None` if the instance was hidden, out of the
    /// picture, or did not exist in that frame. The range is valid until the next frame is scheduled.
    pub fn palette_range(&self, instance: InstanceId) -> Option<Range<usize>> {
        let (_, [from, to], factor) = self.palettes_of(instance)?;
        Some(if factor < 0.5 { from } else { to })
    }

    /// The instances that are alive, by the indices of rigs, then of instances.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> {
        self.pools().flat_map(|(_, pool)| pool.instances())
    }

    /// The instances that play a motion, in the order of their indices; for a clip, those that play a blend space with it,
    /// too. So once none is left, and no blend space holds the clip, it can be [unloaded](Self::unload_clip):
    /// [`EventKind::Stopped`](super::EventKind::Stopped) says when to ask. Reads all actions of the rig.
    ///
    /// # Errors
    /// If the motion is unknown.
    pub fn instances_playing(
        &self,
        motion: impl Into<Playable>,
    ) -> Result<impl Iterator<Item = InstanceId>, CrowdError> {
        let motion = motion.into();
        let pool = self.pool(self.rig_of(motion)?)?;
        let source = pool.library().source(motion)?;
        Ok(pool.instances().filter(move |id| pool.plays(id.index(), source)))
    }

    /// The model matrices of all joints of an instance, now: joint space to model space. Re-evaluates the
    /// instance; cost of one character.
    pub fn model_matrices(&self, instance: InstanceId) -> Result<Vec<Affine3x4>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(pool.model_matrices(index))
    }

    /// The world transform of an instance: model space to world space.
    pub fn world(&self, instance: InstanceId) -> Result<&Affine3x4, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(pool.state().world(index))
    }

    /// The number of actions evicted so far because their layer was full.
    pub fn evicted(&self) -> u64 {
        self.pools().map(|(_, p)| p.state().evicted()).sum()
    }

    /// The number of inertial fades so far that began as ordinary ones, and of evicted actions whose part in the pose ended
    /// at once, because offsets of [`MAX_INERTIAL_BYTES`](crate::playback::MAX_INERTIAL_BYTES) decayed already. Snapshots do not contain
    /// it.
    pub fn inertial_refused(&self) -> u64 {
        self.pools().map(|(_, p)| p.refused()).sum()
    }

    /// The size of the offsets that decay now, of [inertial fades](crate::playback::FadeKind::Inertial) and evicted actions,
    /// in bytes. Memory that they no longer use is kept for the next ones.
    pub fn inertial_bytes(&self) -> usize {
        self.pools().map(|(_, p)| p.state().offsets().bytes()).sum()
    }

    /// The model matrix of a joint, by name, path or index, now: joint space to model space. Re-evaluates the
    /// instance; cost of one character.
    ///
    /// # Errors
    /// If the instance is unknown, no joint matches, or several do.
    pub fn model_matrix<'a>(
        &self,
        instance: InstanceId,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<Affine3x4, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        pool.model_matrix(index, joint.into())
    }

    /// The box around the deformed meshes of an instance, now, in model space. It contains every vertex for morph
    /// weights in [0, 1]. Re-evaluates the instance; cost of one character.
    pub fn bounds(&self, instance: InstanceId) -> Result<Aabb, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let bounds = Evaluated::read(pool, index, |e| {
            // The palette has the rig's own length, so it cannot be refused.
            palette_bounds(pool.rig().slot_bounds(), e.rows).unwrap_or_default()
        });
        Ok(bounds)
    }

    /// A sphere around the meshes of an instance, in model space, found without evaluating it: it holds them in every
    /// pose that the instance's clips can take. `None` if its rig draws nothing, or the radius would not be finite. For
    /// a rig that draws nothing, tiers use the joints: [`set_views`](Self::set_views).
    ///
    /// While one clip plays, the clip gives the sphere ([`ClipBounds`](crate::rig::ClipBounds)). For blends and
    /// fades, with additive clips and with overrides, it is wider: it holds what any rotations of the joints can reach.
    /// It is valid until the instance is given other clips, weights or overrides. The first call after a clip was added
    /// measures that clip.
    pub fn bounding_sphere(&self, instance: InstanceId) -> Result<Option<Sphere>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(pool.bounding_sphere(index))
    }

    /// Appends the scalars of an instance, now, in the skeleton's order: morph weights, then the numbers of
    /// user channels. Re-evaluates the scalars, not the joints.
    pub fn scalars(&self, instance: InstanceId, out: &mut Vec<f32>) -> Result<(), CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let count = pool.rig().skeleton().scalars().len();
        pool.with_scalars(index, |pose| out.extend((0..count).map(|i| pose.scalar(i))));
        Ok(())
    }

    /// The value of a user channel of an instance, now (see `Skeleton::channel`). Re-evaluates the instance's
    /// scalars, not its joints.
    ///
    /// # Errors
    /// If the instance is unknown, or the channel belongs to another skeleton.
    pub fn channel(
        &self,
        instance: InstanceId,
        channel: ChannelHandle,
    ) -> Result<ChannelValue, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        pool.channel(index, channel)
    }

    /// The root motion of a rig's instances in the last [`advance`](Crowd::advance): from clips with root motion,
    /// blended as their poses are. The arrays have no entry for an instance that plays no such clip.
    pub fn root_motion(&self, rig: RigId) -> Result<RootMotions<'_>, CrowdError> {
        Ok(self.pool(rig)?.roots().moves.arrays())
    }
}
