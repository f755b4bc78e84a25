//! `HumanBone`: the bones of VRM 1.0's humanoid.

use std::fmt;

/// The number of human bones.
pub const HUMAN_BONES: usize = 55;

/// A bone of a humanoid: a role that a joint can have. The specification says bone; a skeleton has joints.
///
/// Source: VRM 1.0, `VRMC_vrm`, "humanoid".
///
/// ```
/// use phalanx::skeleton::HumanBone;
///
/// let knee = HumanBone::named("leftLowerLeg").ok_or("no such bone")?;
/// assert_eq!(knee.mirrored(), HumanBone::RightLowerLeg);
/// assert!(knee.required());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
// The variants have the names of VRM 1.0.
#[allow(missing_docs)]
pub enum HumanBone {
    Hips,
    Spine,
    Chest,
    UpperChest,
    Neck,
    Head,
    LeftEye,
    RightEye,
    Jaw,
    LeftUpperLeg,
    LeftLowerLeg,
    LeftFoot,
    LeftToes,
    RightUpperLeg,
    RightLowerLeg,
    RightFoot,
    RightToes,
    LeftShoulder,
    LeftUpperArm,
    LeftLowerArm,
    LeftHand,
    RightShoulder,
    RightUpperArm,
    RightLowerArm,
    RightHand,
    LeftThumbMetacarpal,
    LeftThumbProximal,
    LeftThumbDistal,
    LeftIndexProximal,
    LeftIndexIntermediate,
    LeftIndexDistal,
    LeftMiddleProximal,
    LeftMiddleIntermediate,
    LeftMiddleDistal,
    LeftRingProximal,
    LeftRingIntermediate,
    LeftRingDistal,
    LeftLittleProximal,
    LeftLittleIntermediate,
    LeftLittleDistal,
    RightThumbMetacarpal,
    RightThumbProximal,
    RightThumbDistal,
    RightIndexProximal,
    RightIndexIntermediate,
    RightIndexDistal,
    RightMiddleProximal,
    RightMiddleIntermediate,
    RightMiddleDistal,
    RightRingProximal,
    RightRingIntermediate,
    RightRingDistal,
    RightLittleProximal,
    RightLittleIntermediate,
    RightLittleDistal,
}

/// A bone, its name in files, its parent, and whether VRM 1.0 requires it.
type Row = (HumanBone, &'static str, Option<HumanBone>, bool);

use HumanBone as B;

/// All bones; parents come before their children.
#[rustfmt::skip]
const TABLE: [Row; HUMAN_BONES] = [
    (B::Hips, "hips", None, true),
    (B::Spine, "spine", Some(B::Hips), true),
    (B::Chest, "chest", Some(B::Spine), false),
    (B::UpperChest, "upperChest", Some(B::Chest), false),
    (B::Neck, "neck", Some(B::UpperChest), false),
    (B::Head, "head", Some(B::Neck), true),
    (B::LeftEye, "leftEye", Some(B::Head), false),
    (B::RightEye, "rightEye", Some(B::Head), false),
    (B::Jaw, "jaw", Some(B::Head), false),
    (B::LeftUpperLeg, "leftUpperLeg", Some(B::Hips), true),
    (B::LeftLowerLeg, "leftLowerLeg", Some(B::LeftUpperLeg), true),
    (B::LeftFoot, "leftFoot", Some(B::LeftLowerLeg), true),
    (B::LeftToes, "leftToes", Some(B::LeftFoot), false),
    (B::RightUpperLeg, "rightUpperLeg", Some(B::Hips), true),
    (B::RightLowerLeg, "rightLowerLeg", Some(B::RightUpperLeg), true),
    (B::RightFoot, "rightFoot", Some(B::RightLowerLeg), true),
    (B::RightToes, "rightToes", Some(B::RightFoot), false),
    (B::LeftShoulder, "leftShoulder", Some(B::UpperChest), false),
    (B::LeftUpperArm, "leftUpperArm", Some(B::LeftShoulder), true),
    (B::LeftLowerArm, "leftLowerArm", Some(B::LeftUpperArm), true),
    (B::LeftHand, "leftHand", Some(B::LeftLowerArm), true),
    (B::RightShoulder, "rightShoulder", Some(B::UpperChest), false),
    (B::RightUpperArm, "rightUpperArm", Some(B::RightShoulder), true),
    (B::RightLowerArm, "rightLowerArm", Some(B::RightUpperArm), true),
    (B::RightHand, "rightHand", Some(B::RightLowerArm), true),
    (B::LeftThumbMetacarpal, "leftThumbMetacarpal", Some(B::LeftHand), false),
    (B::LeftThumbProximal, "leftThumbProximal", Some(B::LeftThumbMetacarpal), false),
    (B::LeftThumbDistal, "leftThumbDistal", Some(B::LeftThumbProximal), false),
    (B::LeftIndexProximal, "leftIndexProximal", Some(B::LeftHand), false),
    (B::LeftIndexIntermediate, "leftIndexIntermediate", Some(B::LeftIndexProximal), false),
    (B::LeftIndexDistal, "leftIndexDistal", Some(B::LeftIndexIntermediate), false),
    (B::LeftMiddleProximal, "leftMiddleProximal", Some(B::LeftHand), false),
    (B::LeftMiddleIntermediate, "leftMiddleIntermediate", Some(B::LeftMiddleProximal), false),
    (B::LeftMiddleDistal, "leftMiddleDistal", Some(B::LeftMiddleIntermediate), false),
    (B::LeftRingProximal, "leftRingProximal", Some(B::LeftHand), false),
    (B::LeftRingIntermediate, "leftRingIntermediate", Some(B::LeftRingProximal), false),
    (B::LeftRingDistal, "leftRingDistal", Some(B::LeftRingIntermediate), false),
    (B::LeftLittleProximal, "leftLittleProximal", Some(B::LeftHand), false),
    (B::LeftLittleIntermediate, "leftLittleIntermediate", Some(B::LeftLittleProximal), false),
    (B::LeftLittleDistal, "leftLittleDistal", Some(B::LeftLittleIntermediate), false),
    (B::RightThumbMetacarpal, "rightThumbMetacarpal", Some(B::RightHand), false),
    (B::RightThumbProximal, "rightThumbProximal", Some(B::RightThumbMetacarpal), false),
    (B::RightThumbDistal, "rightThumbDistal", Some(B::RightThumbProximal), false),
    (B::RightIndexProximal, "rightIndexProximal", Some(B::RightHand), false),
    (B::RightIndexIntermediate, "rightIndexIntermediate", Some(B::RightIndexProximal), false),
    (B::RightIndexDistal, "rightIndexDistal", Some(B::RightIndexIntermediate), false),
    (B::RightMiddleProximal, "rightMiddleProximal", Some(B::RightHand), false),
    (B::RightMiddleIntermediate, "rightMiddleIntermediate", Some(B::RightMiddleProximal), false),
    (B::RightMiddleDistal, "rightMiddleDistal", Some(B::RightMiddleIntermediate), false),
    (B::RightRingProximal, "rightRingProximal", Some(B::RightHand), false),
    (B::RightRingIntermediate, "rightRingIntermediate", Some(B::RightRingProximal), false),
    (B::RightRingDistal, "rightRingDistal", Some(B::RightRingIntermediate), false),
    (B::RightLittleProximal, "rightLittleProximal", Some(B::RightHand), false),
    (B::RightLittleIntermediate, "rightLittleIntermediate", Some(B::RightLittleProximal), false),
    (B::RightLittleDistal, "rightLittleDistal", Some(B::RightLittleIntermediate), false),
];

impl HumanBone {
    /// All bones; parents come before their children.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator {
        TABLE.iter().map(|row| row.0)
    }

    /// The bone of this name in VRM 1.0, such as `leftUpperArm`.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The name in VRM 1.0.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The bone above, if a file has both; `None` for the hips.
    pub(crate) fn parent(self) -> Option<Self> {
        TABLE[self as usize].2
    }

    /// Whether VRM 1.0 requires the bone.
    pub fn required(self) -> bool {
        TABLE[self as usize].3
    }

    /// Whether `above` is one of the bones above it.
    pub(crate) fn is_below(self, above: Self) -> bool {
        std::iter::successors(self.parent(), |bone| bone.parent()).any(|bone| bone == above)
    }

    /// The same bone of the other side; the bone itself in the middle of the body.
    pub fn mirrored(self) -> Self {
        let name = self.name();
        let other = match (name.strip_prefix("left"), name.strip_prefix("right")) {
            (Some(rest), _) => format!("right{rest}"),
            (_, Some(rest)) => format!("left{rest}"),
            _ => return self,
        };
        Self::named(&other).unwrap_or(self)
    }

    /// Whether the bone is a part of a finger.
    pub(crate) fn is_finger(self) -> bool {
        self.is_below(Self::LeftHand) || self.is_below(Self::RightHand)
    }
}

/// The name in VRM 1.0.
impl fmt::Display for HumanBone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_bones() {
        for (place, (bone, name, parent, _)) in TABLE.iter().enumerate() {
            assert_eq!(*bone as usize, place);
            assert_eq!(HumanBone::named(name), Some(*bone));
            assert!(parent.is_none_or(|p| (p as usize) < place), "{name}");
            assert_eq!(bone.mirrored().mirrored(), *bone);
        }
        // VRM 1.0 requires 15 bones.
        assert_eq!(HumanBone::all().filter(|b| b.required()).count(), 15);
        assert!(HumanBone::LeftIndexDistal.is_finger() && !HumanBone::LeftHand.is_finger());
    }
}
