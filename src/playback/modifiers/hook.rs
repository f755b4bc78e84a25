//! Hooks, as they are defined.

use super::{Definition, Modifier, above};
use crate::evaluate::Change;
use crate::math::Fnv1a;
use crate::playback::error::PlaybackError;
use crate::playback::options::check;
use crate::rig::Rig;
use crate::skeleton::limits::MAX_OVERRIDE_LENGTH;

/// The host's own code in the evaluation of a pose, for what the other modifiers do not do. A rig has at most one.
///
/// [`Crowd::evaluate_with`](crate::crowd::Crowd::evaluate_with) and its like call the code for every instance that is
/// evaluated and whose weight of this modifier is above 0 ([`Player::fade_modifier`](crate::playback::Player::fade_modifier),
/// [`Crowd::set_targets`](crate::crowd::Crowd::set_targets)), with the instance, its pose and the seconds since it was
/// last evaluated so.
///
/// - It is called once per instance and frame, on any thread and in any order. If it reads nothing but its arguments,
///   the same calls give the same bits for any number of threads.
/// - The seconds are those by which the crowd was advanced, in either direction: 0 for the first time after the weight
///   was 0 and after a snapshot was restored. They are no part of snapshots.
/// - A frame that is written once more, to other memory, calls it again with the same seconds.
/// - With tiers an instance that has a weight is not interpolated: its palette is updated at the rate of its tier, and
///   held between.
/// - A plain `evaluate` does not call it, nor does any call that reads poses: the pose is without it. Watched joints
///   have it if they come with the palette of the frame: neither of parts, nor of palettes that tiers hold.
/// - If it unwinds, so does the call. The crowd is as it was, and its next frame is evaluated whole.
///
/// ```
/// use phalanx::crowd::{BoneBuffer, Crowd, Hook};
/// use phalanx::skeleton::Trs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "gltf")] {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let head = crowd.rig(rig)?.skeleton().joint("Head")?;
/// let nod = crowd.add_modifier(rig, Hook { joints: Some(vec![head]), ..Hook::default() })?;
/// let character = crowd.spawn(rig)?;
/// crowd.player(character)?.fade_modifier(nod, 1.0, 0.0)?;
/// crowd.evaluate_with(&mut BoneBuffer::new(), &|_, pose, _seconds| {
///     if let Some(local) = pose.local(head) {
///         let rotation = local.rotation * glam::Quat::from_rotation_x(0.3);
///         // The head is one of the hook's joints, and the numbers are finite.
///         let _ = pose.set_local(head, Trs { rotation, ..local });
///     }
/// });
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hook {
    /// Indices of the joints that it may set. Default: all.
    pub joints: Option<Vec<usize>>,
    /// By how much the hook moves vertices at most beyond where turns of its joints take them, in model space: bounding
    /// spheres are wider by this. Default 0.
    pub reach: f32,
}

impl From<Hook> for Modifier {
    fn from(hook: Hook) -> Self {
        Self::Hook(hook)
    }
}

impl Hook {
    pub(super) fn define(&self, rig: &Rig) -> Result<Definition, PlaybackError> {
        let skeleton = rig.skeleton();
        check("reach", self.reach.into(), 0.0, MAX_OVERRIDE_LENGTH.into())?;
        let mut joints: Vec<u16> = match &self.joints {
            Some(joints) => {
                let known = |&joint: &usize| Ok(skeleton.joint(joint)? as u16);
                joints.iter().map(known).collect::<Result<_, PlaybackError>>()?
            }
            None => {
                let evaluated = |&joint: &u16| {
                    above(skeleton, joint.into()).all(|joint| rig.is_evaluated(joint.into()))
                };
                (0..skeleton.len()).map(|joint| joint as u16).filter(evaluated).collect()
            }
        };
        joints.sort_unstable();
        joints.dedup();
        let mut h = Fnv1a::default();
        h.write_u64(joints.len() as u64);
        joints.iter().for_each(|&joint| h.write_u64(joint.into()));
        h.write_f32(self.reach);
        let definition = Definition::of(rig, Change::Hook, (joints, None), h.finish())?;
        Ok(Definition { moves: self.reach, ..definition })
    }
}
