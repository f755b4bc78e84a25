//! `Skin`: the joint and inverse bind matrix of each slot.

use super::NO_JOINT;
use super::limits::{Beyond, MAX_LENGTH, beyond};
use crate::error::BuildError;
use crate::math::Affine3x4;
use crate::words::plural;

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
    /// If the lengths differ, a joint is out of range, or a matrix holds a number that is NaN or beyond [`MAX_LENGTH`].
    pub fn new(
        name: Option<String>,
        joints: Vec<u16>,
        inverse_bind: Vec<Affine3x4>,
        skeleton_len: usize,
    ) -> Result<Self, BuildError> {
        if joints.len() != inverse_bind.len() {
            let joints = plural(joints.len() as u64, "joint");
            let matrices = plural(inverse_bind.len() as u64, "inverse bind matrix");
            return Err(BuildError::invalid(format!("{joints} but {matrices}")));
        }
        for (slot, &joint) in joints.iter().enumerate() {
            if joint != NO_JOINT && usize::from(joint) >= skeleton_len {
                let joints = plural(skeleton_len as u64, "joint");
                return Err(BuildError::invalid(format!(
                    "slot {slot} refers to joint {joint}, the skeleton has {joints}"
                )));
            }
            let elements = inverse_bind[slot].rows.as_flattened();
            beyond("", elements, MAX_LENGTH).map_err(|Beyond { value, limit, .. }| {
                let place = format!("a number of the inverse bind matrix of slot {slot}");
                BuildError::Beyond { place, value, limit }
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
        let says =
            |joints, binds, all| Skin::new(None, joints, binds, all).unwrap_err().to_string();
        assert_eq!(says(vec![0, 0], one.clone(), 1), "2 joints but 1 inverse bind matrix");
        assert_eq!(says(vec![3], one, 2), "slot 0 refers to joint 3, the skeleton has 2 joints");
        let mut bad = Affine3x4::IDENTITY;
        bad.rows[1][3] = f32::INFINITY;
        let bad = Skin::new(None, vec![0], vec![bad], 1);
        assert!(matches!(bad, Err(BuildError::Beyond { value: f32::INFINITY, .. })));
    }
}
