//! Overrides of many instances: local matrices of joints that replace the animated ones.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
#[cfg(doc)]
use crate::playback::Player;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use crate::words::shorten;

impl Crowd {
    /// Overrides the local matrices of the same joints of many instances, for example with the results of inverse
    /// kinematics or a look-at. `locals` has one matrix per joint of the first instance, then of the second, and so
    /// on. All matrices are checked first; large arrays on the current rayon pool.
    ///
    /// `joints` are indices in ascending order, none twice. If an instance is given twice, the later matrices hold.
    /// Overrides of other joints stay. Does not allocate once the instances have had overrides of these joints.
    ///
    /// # Errors
    /// If the rig, an instance or a joint is unknown, an instance is of another rig, the joints do not ascend, `locals`
    /// does not have one matrix per instance and joint, or for a reason that [`Player::set_override`]
    /// lists. Nothing is changed then.
    pub fn set_overrides(
        &mut self,
        rig: RigId,
        joints: &[usize],
        instances: &[InstanceId],
        locals: &[Affine3x4],
    ) -> Result<(), CrowdError> {
        let pool = self.check_joints(rig, joints, instances, locals.len())?;
        if let Some(pair) = joints.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (joint, after) = (pair[1], pair[0]);
            let all = pool.rig().skeleton().names();
            let names = [joint, after].map(|joint| shorten(&all[joint]));
            return Err(CrowdError::JointOrder { names, joint, after });
        }
        self.pool_mut(rig)?.set_overrides(joints, instances, locals)
    }
}
