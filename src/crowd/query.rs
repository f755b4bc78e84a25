//! What can be asked of a crowd after a frame. The others never pay for it.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::ids::NO_CLIP;
use crate::playback::{ClipId, InstanceId, PlaybackError as CrowdError, RigId, RootMotions};
use crate::rig::Aabb;
use crate::runtime::BoundsJob;
use crate::skeleton::{ChannelHandle, ChannelValue};
use std::ops::Range;

impl Crowd {
    /// The rows of an instance in the bone buffer of the last frame; `None` if it was hidden or did
    /// not exist then. They hold until the next frame is scheduled, whoever is due.
    pub fn palette_range(&self, instance: InstanceId) -> Option<Range<usize>> {
        let (pool, index) = self.instance(instance).ok()?;
        let first = pool.places.row(index)?;
        Some(first..first + pool.rig.palette_len())
    }

    /// The rows that an instance had in the frame before the last, for motion vectors; `None` if it had
    /// none. They are of use if both frames went to the same memory and that keeps two.
    pub fn previous_range(&self, instance: InstanceId) -> Option<Range<usize>> {
        let (pool, index) = self.instance(instance).ok()?;
        let first = pool.places.last_row(index)?;
        Some(first..first + pool.rig.palette_len())
    }

    /// The instances that are alive, in palette order: by the slots of rigs, then of instances.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> {
        self.pools().flat_map(|(_, pool)| {
            let alive = pool.state.alive.iter().enumerate().filter(|a| *a.1);
            alive.map(|(i, _)| pool.instance_id(i))
        })
    }

    /// The clips that an instance plays, on all layers; both neighbours of a blend space.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn playing(
        &self,
        instance: InstanceId,
    ) -> Result<impl Iterator<Item = ClipId> + '_, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let actions = &pool.state.actions;
        let entries = (0..pool.layers.len()).map(move |layer| pool.entry(index, layer));
        let slots = entries.flat_map(move |e| actions.playing(e).map(move |a| (e, a)));
        Ok(slots.flat_map(move |(e, a)| {
            let (clip, other) = (actions.clip[e][a], actions.other[e][a]);
            let other = (other != clip && other != NO_CLIP).then_some(other);
            let clips = std::iter::once(clip).chain(other);
            clips.map(|clip| pool.clip_id(clip))
        }))
    }

    /// The model matrices of all joints of an instance, now: joint space to model space. Evaluates the
    /// instance anew.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn model_matrices(&self, instance: InstanceId) -> Result<Vec<Affine3x4>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(pool.evaluate_models(index, &mut []).models)
    }

    /// Where an instance stands: model space to world space.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn world(&self, instance: InstanceId) -> Result<&Affine3x4, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(&pool.state.world[index])
    }

    /// Actions that gave way, so far, because their layer was full.
    pub fn evicted(&self) -> u64 {
        self.pools().map(|(_, p)| p.state.evicted).sum()
    }

    /// The model matrix of a joint, now: joint space to model space. Evaluates the instance anew.
    ///
    /// # Errors
    /// If the instance or joint is unknown.
    pub fn model_matrix(
        &self,
        instance: InstanceId,
        joint: usize,
    ) -> Result<Affine3x4, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let scratch = pool.evaluate_models(index, &mut []);
        let joints = scratch.models.len();
        let model = scratch.models.get(joint).copied();
        model.ok_or(CrowdError::UnknownJoint { joint, joints })
    }

    /// The box around the deformed meshes of an instance, now, in model space; it holds every vertex
    /// for morph weights in [0, 1]. Evaluates the instance anew.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn bounds(&self, instance: InstanceId) -> Result<Aabb, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let mut palette = vec![Affine3x4::IDENTITY; pool.rig.palette_len()];
        pool.evaluate_models(index, &mut palette);
        let job = BoundsJob {
            slots: pool.rig.slot_bounds(),
            palette: &palette,
        };
        // The palette has the rig's own length, so the job cannot refuse it.
        Ok(job.run().unwrap_or_default())
    }

    /// The scalars of an instance, now, in the skeleton's order: morph weights, then the numbers of
    /// user channels. Evaluates them anew.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn scalars(&self, instance: InstanceId) -> Result<Vec<f32>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let pose = pool.evaluate_scalars(index);
        let count = pool.rig.skeleton().scalars().len();
        Ok((0..count).map(|i| pose.scalar(i)).collect())
    }

    /// The value of a user channel of an instance, now (see `Skeleton::channel`). Evaluates the
    /// instance's scalars anew, not its joints.
    ///
    /// # Errors
    /// If the instance is unknown, or the channel is one of another skeleton.
    pub fn channel(
        &self,
        instance: InstanceId,
        channel: ChannelHandle,
    ) -> Result<ChannelValue, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        pool.channel(index, channel)
    }

    /// How far the roots of a rig's instances went in the last [`advance`](Crowd::advance): from clips
    /// with root motion, blended as their poses are. Who plays none is not in the arrays.
    ///
    /// # Errors
    /// If the rig is unknown.
    pub fn root_motion(&self, rig: RigId) -> Result<RootMotions<'_>, CrowdError> {
        Ok(self.pool(rig)?.roots.arrays())
    }
}
