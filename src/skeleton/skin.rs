//! `Skin`: the joint and inverse bind matrix of each slot.

use super::limits::{MAX_LENGTH, beyond};
use super::{NO_JOINT, SkeletonFault};
use crate::error::BuildError;
use crate::math::Affine3x4;

/// A skin. Slot `i` is entry `i` of the file's skin, so vertices need no remapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    name: Option<String>,
    joints: Vec<u16>,
    inverse_bind: Vec<Affine3x4>,
}

impl Skin {
    /// Makes a skin for a skeleton of `skeleton_len` joints. A slot with the joint [`NO_JOINT`] is
    /// transformed by its inverse bind matrix alone.
    ///
    /// # Errors
    /// If the lengths differ, a joint is out of range, or a matrix is not finite or holds a number above
    /// [`MAX_LENGTH`].
    pub fn new(
        name: Option<String>,
        joints: Vec<u16>,
        inverse_bind: Vec<Affine3x4>,
        skeleton_len: usize,
    ) -> Result<Self, BuildError> {
        if joints.len() != inverse_bind.len() {
            return Err(BuildError::Skeleton(SkeletonFault::SkinLengths {
                joints: joints.len(),
                matrices: inverse_bind.len(),
            }));
        }
        for (slot, &joint) in joints.iter().enumerate() {
            if joint != NO_JOINT && usize::from(joint) >= skeleton_len {
                return Err(BuildError::Skeleton(SkeletonFault::SkinJoint {
                    slot,
                    joint,
                    joints: skeleton_len,
                }));
            }
            if !inverse_bind[slot].is_finite() {
                return Err(BuildError::Skeleton(SkeletonFault::SkinNotFinite(slot)));
            }
            let elements = inverse_bind[slot].rows.as_flattened();
            beyond("element", elements, MAX_LENGTH).map_err(|b| {
                BuildError::Skeleton(SkeletonFault::SkinBeyond { slot, value: b.value })
            })?;
        }
        Ok(Self { name, joints, inverse_bind })
    }

    /// A skin of joints and matrices that were checked before.
    pub(crate) fn of_checked(
        name: Option<String>,
        joints: Vec<u16>,
        inverse_bind: Vec<Affine3x4>,
    ) -> Self {
        Self { name, joints, inverse_bind }
    }

    /// The name in the file, if any.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joint of every slot.
    pub fn joints(&self) -> &[u16] {
        &self.joints
    }

    /// The inverse bind matrix of every slot: mesh space to the joint's space at bind time.
    pub fn inverse_bind(&self) -> &[Affine3x4] {
        &self.inverse_bind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_mismatched_slots() {
        let one = vec![Affine3x4::IDENTITY];
        assert!(Skin::new(None, vec![0], one.clone(), 1).is_ok());
        assert!(Skin::new(None, vec![NO_JOINT], one.clone(), 0).is_ok());
        assert!(matches!(
            Skin::new(None, vec![0, 0], one.clone(), 1),
            Err(BuildError::Skeleton(SkeletonFault::SkinLengths { joints: 2, matrices: 1 }))
        ));
        assert!(matches!(
            Skin::new(None, vec![3], one, 2),
            Err(BuildError::Skeleton(SkeletonFault::SkinJoint { slot: 0, joint: 3, joints: 2 }))
        ));
        let mut bad = Affine3x4::IDENTITY;
        bad.rows[1][3] = f32::INFINITY;
        assert_eq!(
            Skin::new(None, vec![0], vec![bad], 1),
            Err(BuildError::Skeleton(SkeletonFault::SkinNotFinite(0)))
        );
    }
}
