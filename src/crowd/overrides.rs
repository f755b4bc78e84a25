//! Overrides of many instances: matrices of joints that replace the animated ones.

use super::bulk::{Values, check_weight};
use super::crowd_data::Crowd;
use crate::math::Affine3x4;
#[cfg(doc)]
use crate::playback::Player;
use crate::playback::{InstanceId, PlaybackError as CrowdError, PoseSpace, RigId};
use crate::words::shorten;

impl Crowd {
    /// Overrides the same joints of many instances, for example with the results of inverse kinematics or of physics:
    /// [`Player::set_override_weighted`]. `matrices` has one matrix per joint of the first instance, then of the second,
    /// and so on; `weights` one value for all instances or one for each. All is checked first; large arrays on the
    /// current rayon pool.
    ///
    /// `joints` are indices in ascending order, none twice. If an instance is given twice, the later matrices hold.
    /// Overrides of other joints stay. Does not allocate once the instances have had overrides of these joints.
    ///
    /// # Errors
    /// If the rig, an instance or a joint is unknown, an instance is of another rig, the joints do not ascend, an array
    /// has another length, or for a reason that [`Player::set_override_weighted`] lists. Nothing is changed then.
    pub fn set_overrides(
        &mut self,
        rig: RigId,
        joints: &[usize],
        instances: &[InstanceId],
        matrices: &[Affine3x4],
        space: PoseSpace,
        weights: &[f32],
    ) -> Result<(), CrowdError> {
        let pool = self.check_joints(rig, joints, instances, matrices.len())?;
        if let Some(pair) = joints.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (joint, after) = (pair[1], pair[0]);
            let all = pool.rig().skeleton().names();
            let names = [joint, after].map(|joint| shorten(&all[joint]));
            return Err(CrowdError::JointOrder { names, joint, after });
        }
        let weights = Values::new("weights", weights, instances)?;
        self.check(instances, |e| check_weight(Some(weights), e.element))?;
        let pool = self.pool_mut(rig)?;
        pool.set_overrides(joints, instances, (matrices, space), |e| weights.of(e))
    }
}
