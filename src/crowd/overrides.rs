//! Overrides of many instances: local matrices of joints that replace the animated ones.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
#[cfg(doc)]
use crate::playback::Player;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId, Unknown};
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
        let pool = self.pool(rig)?;
        for &joint in joints {
            pool.rig().skeleton().joint(joint)?;
        }
        if let Some(pair) = joints.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (joint, after) = (pair[1], pair[0]);
            let all = pool.rig().skeleton().names();
            let names = [joint, after].map(|joint| shorten(&all[joint]));
            return Err(CrowdError::JointOrder { names, joint, after });
        }
        let needed = instances.len().checked_mul(joints.len());
        if needed != Some(locals.len()) {
            return Err(CrowdError::OverrideCount {
                matrices: locals.len(),
                instances: instances.len(),
                joints: joints.len(),
            });
        }
        for &instance in instances {
            if instance.rig() != rig || !pool.state().knows(instance) {
                self.instance(instance)?;
                let why = Unknown::OtherRig { here: rig, user: "this call" };
                let rig = shorten(pool.rig().name());
                return Err(CrowdError::UnknownInstance { instance, why, rig });
            }
        }
        self.pool_mut(rig)?.set_overrides(joints, instances, locals)
    }
}
