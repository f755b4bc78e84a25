//! Whole poses of many instances, which hosts give by arrays.

use super::bulk::{Values, check_weight, refused};
use super::crowd_data::Crowd;
#[cfg(doc)]
use crate::playback::Player;
use crate::playback::options::{check, check_seconds};
use crate::playback::{InstanceId, PlaybackError as CrowdError, PoseSpace, RigId};
use crate::skeleton::Trs;

impl Crowd {
    /// Gives many instances whole poses, for example the results of a ragdoll: [`Player::set_pose`], then
    /// [`Player::fade_pose`] over 0 seconds. `poses` has one transform per joint of the skeleton for the first instance,
    /// then for the second, and so on. `weights` has one value for all instances or one for each; if it is empty,
    /// weights and their fades stay. All is checked first; large arrays on the current rayon pool.
    ///
    /// If an instance is given twice, the later pose holds. Does not allocate once so many instances have had poses.
    ///
    /// ```
    /// use phalanx::crowd::{BoneBuffer, Crowd, PoseSpace};
    /// use phalanx::skeleton::Trs;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "gltf")] {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let all = [crowd.spawn(rig)?, crowd.spawn(rig)?];
    /// let joints = crowd.rig(rig)?.skeleton().len();
    /// // From your physics: where each body is in the world.
    /// let fallen = vec![Trs::IDENTITY; 2 * joints];
    /// crowd.set_poses(rig, &all, &fallen, PoseSpace::World, &[0.5])?;
    /// crowd.evaluate(&mut BoneBuffer::new());
    /// // Back to the animation, over a second.
    /// crowd.player(all[0])?.fade_pose(0.0, 1.0)?;
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the rig or an instance is unknown, an instance is of another rig, an array has another length, or a weight or
    /// pose is refused; the error names the element and the joint. Nothing is changed then.
    pub fn set_poses(
        &mut self,
        rig: RigId,
        instances: &[InstanceId],
        poses: &[Trs],
        space: PoseSpace,
        weights: &[f32],
    ) -> Result<(), CrowdError> {
        let joints = self.pool(rig)?.rig().skeleton().len();
        self.check_instances(rig, joints, instances, poses.len())?;
        let weights = Values::weights(weights, instances)?;
        self.check(instances, |e| check_weight(weights, e.element))?;
        let pool = self.pool_mut(rig)?;
        let set = pool.set_poses(instances, poses, space);
        set.map_err(|(element, source)| refused(element, source))?;
        if let Some(weights) = weights {
            for (element, instance) in instances.iter().enumerate() {
                pool.fade_pose(instance.index(), weights.of(element), 0.0)?;
            }
        }
        Ok(())
    }

    /// Fades the weights of the poses of many instances to `weight`, in [0, 1], over `seconds`.
    ///
    /// # Errors
    /// As for [`Player::fade_pose`], or if an instance is unknown; the error names the element. Nothing is changed then.
    pub fn fade_poses(
        &mut self,
        instances: &[InstanceId],
        weight: f32,
        seconds: f32,
    ) -> Result<(), CrowdError> {
        check("weight", weight.into(), 0.0, 1.0)?;
        check_seconds("seconds", seconds)?;
        self.check(instances, |e| {
            let has = !e.pool.state().inputs().pose(instances[e.element].index()).is_empty();
            has.then_some(()).ok_or(CrowdError::NoPose)
        })?;
        self.each(instances, |pool, index, _| {
            let faded = pool.fade_pose(index, weight, seconds.into());
            debug_assert!(faded.is_ok(), "that there is a pose was checked");
        });
        Ok(())
    }

    /// Removes the poses of many instances.
    ///
    /// # Errors
    /// If an instance is unknown; the error names the element. Nothing is changed then.
    pub fn clear_poses(&mut self, instances: &[InstanceId]) -> Result<(), CrowdError> {
        self.check(instances, |_| Ok(()))?;
        self.each(instances, |pool, index, _| pool.clear_pose(index));
        Ok(())
    }
}
