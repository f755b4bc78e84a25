//! `HumanoidMap`: the joint of every human bone of a skeleton.

use crate::retarget::error::RetargetError;
use crate::retarget::pose::ancestors;
use crate::skeleton::{HUMAN_BONES, HumanBone, LookupError, NO_JOINT, Skeleton};
use std::fmt;

/// The source of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapOrigin {
    /// Given by the caller or by a file.
    #[default]
    Given,
    /// The humanoid extension of a file (`VRMC_vrm`, `VRM` or `VRMC_vrm_animation`).
    Extension,
    /// A table of joint names, by the name of the convention.
    Names(&'static str),
    /// The shape of a pose, whatever the names, with a confidence in per cent: 98 for upright bodies with symmetrical sides,
    /// human proportions, and names or toes that distinguish left from right; 60 for the least that is offered.
    Shape(u8),
}

/// `given`, `extension`, `names of Mixamo` or `shape, 93% sure`.
impl fmt::Display for MapOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("given"),
            Self::Extension => f.write_str("extension"),
            Self::Names(table) => write!(f, "names of {table}"),
            Self::Shape(confidence) => write!(f, "shape, {confidence}% sure"),
        }
    }
}

/// The joint of every human bone of one skeleton.
///
/// A map that retargeting takes has hips. No joint has two bones. The joint of a bone lies below the joint of the
/// nearest bone above that has one; feet and hands may be in another branch, but not above that joint. Other bones may
/// be missing, required ones too ([`HumanoidMap::lacking`]): retargeting passes their rotation on to the bones below. A
/// map holds indices, so it belongs to skeletons with the same joints.
///
/// All functions check a map, except [`HumanoidMap::draft`], whose map may lack hips or be
/// empty: `to_json` writes them with `null` for missing bones, and with joints in their place `from_json` reads the text.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::retarget::{HumanBone, HumanoidMap};
///
/// let rig = phalanx::import::mannequin()?;
/// let map = HumanoidMap::find(rig.skeleton())?;
/// let knee = map.joint(HumanBone::LeftLowerLeg).ok_or("no knee")?;
/// assert_eq!(rig.skeleton().names()[knee], "LeftLeg");
/// assert!(map.lacking().next().is_none());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HumanoidMap {
    /// The joint of every bone, or [`NO_JOINT`].
    joints: [u16; HUMAN_BONES],
    origin: MapOrigin,
}

impl HumanoidMap {
    /// Makes a map from bones and the indices of their joints, and checks it.
    ///
    /// # Errors
    /// If there are no hips, a bone or a joint occurs twice, a joint is out of range, the orders of bones and joints
    /// form a cycle, or the joint of a bone, other than a foot or hand, does not lie below that of the bone above it.
    pub fn new(
        skeleton: &Skeleton,
        pairs: &[(HumanBone, usize)],
        origin: MapOrigin,
    ) -> Result<Self, RetargetError> {
        let mut joints = [NO_JOINT; HUMAN_BONES];
        let name = |joint: usize| label(skeleton, joint);
        for &(bone, joint) in pairs {
            if joint >= skeleton.len() {
                let joints = skeleton.len();
                let source = LookupError::JointIndex { joint, joints };
                return Err(RetargetError::BoneJoint { bone, source });
            }
            if joints[bone as usize] != NO_JOINT {
                return Err(RetargetError::BoneTwice {
                    bone,
                    first: name(usize::from(joints[bone as usize])),
                    second: name(joint),
                });
            }
            if let Some(place) = joints.iter().position(|&j| usize::from(j) == joint) {
                let first = HumanBone::all().nth(place).unwrap_or(bone);
                return Err(RetargetError::JointTwice { joint: name(joint), first, second: bone });
            }
            joints[bone as usize] = joint as u16;
        }
        let map = Self { joints, origin };
        map.check(skeleton)?;
        Ok(map)
    }

    /// A map that may lack hips; of several joints of one bone it has the last.
    pub(crate) fn unchecked(pairs: &[(HumanBone, usize)], origin: MapOrigin) -> Self {
        let mut joints = [NO_JOINT; HUMAN_BONES];
        for &(bone, joint) in pairs {
            joints[bone as usize] = joint as u16;
        }
        Self { joints, origin }
    }

    /// Fails without hips, or if the orders of bones and joints differ.
    pub(crate) fn check(&self, skeleton: &Skeleton) -> Result<(), RetargetError> {
        if self.joint(HumanBone::Hips).is_none() {
            let bones = self.bones().count();
            return Err(RetargetError::NoHips { bones });
        }
        let order = |bone, above, cycle| RetargetError::BoneOrder {
            bone,
            above,
            joint: label(skeleton, self.joint(bone).unwrap_or(0)),
            above_joint: label(skeleton, self.joint(above).unwrap_or(0)),
            cycle,
        };
        for (bone, joint) in self.bones() {
            let above = std::iter::successors(bone.parent(), |b| b.parent());
            let above = above.filter_map(|b| Some((b, self.joint(b)?)));
            if let Some((b, _)) = above.clone().find(|b| is_below(skeleton, b.1, joint)) {
                return Err(order(bone, b, true));
            }
            let mut nearest = above.filter(|_| !is_loose(bone));
            if let Some((b, _)) = nearest.next().filter(|b| !is_below(skeleton, joint, b.1)) {
                return Err(order(bone, b, false));
            }
        }
        Ok(())
    }

    /// The joint of a bone, if it has one.
    pub fn joint(&self, bone: HumanBone) -> Option<usize> {
        let joint = self.joints[bone as usize];
        (joint != NO_JOINT).then_some(usize::from(joint))
    }

    /// The bone of a joint, if it has one.
    pub(crate) fn bone(&self, joint: usize) -> Option<HumanBone> {
        self.bones().find(|b| b.1 == joint).map(|b| b.0)
    }

    /// The bones that have joints, parents first, with their joints.
    pub fn bones(&self) -> impl Iterator<Item = (HumanBone, usize)> {
        HumanBone::all().filter_map(|bone| Some((bone, self.joint(bone)?)))
    }

    /// The bones that VRM 1.0 requires and the map lacks.
    pub fn lacking(&self) -> impl Iterator<Item = HumanBone> {
        HumanBone::all().filter(|b| b.required() && self.joint(*b).is_none())
    }

    /// The source of the map.
    pub fn origin(&self) -> MapOrigin {
        self.origin
    }

    /// The nearest bone above that has a joint.
    pub(crate) fn parent(&self, bone: HumanBone) -> Option<HumanBone> {
        std::iter::successors(bone.parent(), |b| b.parent()).find(|b| self.joint(*b).is_some())
    }
}

/// Whether a bone's joint may be elsewhere than below the bone above it, as in rigs driven by inverse kinematics.
pub(super) fn is_loose(bone: HumanBone) -> bool {
    use HumanBone as B;
    matches!(bone, B::LeftFoot | B::RightFoot | B::LeftHand | B::RightHand)
}

pub(super) fn label(skeleton: &Skeleton, joint: usize) -> String {
    let name = skeleton.names().get(joint).map_or("", String::as_str);
    format!("{joint} \"{}\"", crate::words::shorten(name))
}

/// Whether a joint lies below another one.
pub(crate) fn is_below(skeleton: &Skeleton, joint: usize, above: usize) -> bool {
    // Parents come first, so the joint is not above those with smaller indices.
    ancestors(skeleton, joint).take_while(|&j| j >= above).any(|j| j == above)
}
