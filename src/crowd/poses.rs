//! Poses of many instances, read into the host's arrays.

use super::crowd_data::Crowd;
use crate::evaluate::{Evaluated, PoseStage, WATCHED_CHUNK};
use crate::math::Affine3x4;
use crate::playback::pool::Pool;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId, Unknown};
use crate::skeleton::Trs;
use crate::threads;
use crate::words::shorten;

impl Crowd {
    /// The local transforms of the same joints of many instances, now: relative to their parents. Evaluates the
    /// instances on the current rayon pool. `out` has one transform per joint of the first instance, then of the second,
    /// and so on.
    ///
    /// Shear, which turns of joints below uneven scales can give a local matrix, is left out.
    ///
    /// `joints` are indices in any order. An instance costs about what its palette costs; the call does not allocate
    /// after each thread's first. [`WatchedJoints`](super::WatchedJoints) come with the palettes of a frame instead.
    ///
    /// ```
    /// use phalanx::crowd::{Crowd, PoseStage};
    /// use phalanx::skeleton::Trs;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "gltf")] {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let all = [crowd.spawn(rig)?, crowd.spawn(rig)?];
    /// let head = crowd.rig(rig)?.skeleton().joint("Head")?;
    /// let mut heads = [Trs::IDENTITY; 2];
    /// crowd.local_poses(rig, &[head], &all, PoseStage::Before, &mut heads)?;
    /// assert_eq!(heads[0], crowd.rig(rig)?.skeleton().rest(head));
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the rig, an instance or a joint is unknown, an instance is of another rig, or `out` does not have one element
    /// per instance and joint. Nothing is written then.
    pub fn local_poses(
        &self,
        rig: RigId,
        joints: &[usize],
        instances: &[InstanceId],
        stage: PoseStage,
        out: &mut [Trs],
    ) -> Result<(), CrowdError> {
        let pool = self.check_joints(rig, joints, instances, out.len())?;
        let read = |instances: &[InstanceId], out: &mut [Trs]| {
            Evaluated::locals(pool, (indices(instances), stage), joints, out);
        };
        each(instances, joints.len(), out, &read);
        Ok(())
    }

    /// The model matrices of the same joints of many instances, now: joint space to model space. As
    /// [`local_poses`](Self::local_poses).
    ///
    /// # Errors
    /// As for [`local_poses`](Self::local_poses).
    pub fn model_poses(
        &self,
        rig: RigId,
        joints: &[usize],
        instances: &[InstanceId],
        stage: PoseStage,
        out: &mut [Affine3x4],
    ) -> Result<(), CrowdError> {
        let pool = self.check_joints(rig, joints, instances, out.len())?;
        let read = |instances: &[InstanceId], out: &mut [Affine3x4]| {
            Evaluated::models(pool, (indices(instances), stage), joints, out);
        };
        each(instances, joints.len(), out, &read);
        Ok(())
    }

    /// Checks the arguments of a call on joints of instances of a rig, with an array of `values`.
    pub(super) fn check_joints(
        &self,
        rig: RigId,
        joints: &[usize],
        instances: &[InstanceId],
        values: usize,
    ) -> Result<&Pool, CrowdError> {
        let pool = self.pool(rig)?;
        for &joint in joints {
            pool.rig().skeleton().joint(joint)?;
        }
        self.check_instances(rig, joints.len(), instances, values)
    }

    /// Checks the instances of a call that has an array of `values` elements: `joints` for each instance.
    pub(super) fn check_instances(
        &self,
        rig: RigId,
        joints: usize,
        instances: &[InstanceId],
        values: usize,
    ) -> Result<&Pool, CrowdError> {
        let pool = self.pool(rig)?;
        if instances.len().checked_mul(joints) != Some(values) {
            let instances = instances.len();
            return Err(CrowdError::JointValues { values, instances, joints });
        }
        for &instance in instances {
            if instance.rig() != rig || !pool.state().knows(instance) {
                self.instance(instance)?;
                let why = Unknown::OtherRig { here: rig, user: "this call" };
                let rig = shorten(pool.rig().name());
                return Err(CrowdError::UnknownInstance { instance, why, rig });
            }
        }
        Ok(pool)
    }
}

fn indices(instances: &[InstanceId]) -> impl Iterator<Item = usize> {
    instances.iter().map(|instance| instance.index())
}

/// Calls `read` with ranges of instances and their elements of `out`, `count` each, on the current rayon pool.
fn each<T: Send>(
    instances: &[InstanceId],
    count: usize,
    out: &mut [T],
    read: &(impl Fn(&[InstanceId], &mut [T]) + Sync),
) {
    if instances.len() > WATCHED_CHUNK {
        let half = instances.len() / 2;
        let (a, b) = instances.split_at(half);
        let (out_a, out_b) = out.split_at_mut(half * count);
        threads::join(|| each(a, count, out_a, read), || each(b, count, out_b, read));
        return;
    }
    read(instances, out);
}
