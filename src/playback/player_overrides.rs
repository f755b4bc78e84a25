//! The calls of a `Player` on overrides: local matrices of single joints that replace the animated ones.

use super::error::PlaybackError;
use super::player::Player;
use super::playing::Playing;
use crate::math::Affine3x4;
use crate::skeleton::JointRef;

impl Player<'_> {
    /// Overrides the local matrix of a joint (relative to its parent joint), from the next evaluation on. Palette rows
    /// and joints below it follow.
    ///
    /// The override replaces the joint's blended local transform before the hierarchy is composed. Setting the same
    /// matrix again, bit by bit, changes nothing. Snapshots contain overrides.
    ///
    /// # Errors
    /// If the joint is unknown, several joints match, the matrix is not finite, its translation exceeds 1e9, or its
    /// scale times those of the character's other overrides down a chain of joints exceeds 1e6.
    pub fn set_override<'j>(
        &mut self,
        joint: impl Into<JointRef<'j>>,
        local: impl Into<Affine3x4>,
    ) -> Result<(), PlaybackError> {
        let joint = self.joint(joint)?;
        self.pool.set_override(self.index, joint, local.into())
    }

    /// Removes the override of a joint: its actions animate it again.
    ///
    /// # Errors
    /// If no joint matches, or several do.
    pub fn clear_override<'j>(
        &mut self,
        joint: impl Into<JointRef<'j>>,
    ) -> Result<(), PlaybackError> {
        let joint = self.joint(joint)?;
        self.pool.clear_override(self.index, joint);
        Ok(())
    }

    /// Removes all overrides of the character.
    pub fn clear_overrides(&mut self) {
        self.pool.clear_overrides(self.index);
    }

    fn joint<'j>(&self, joint: impl Into<JointRef<'j>>) -> Result<u16, PlaybackError> {
        // Joint indices fit in 16 bits.
        Ok(self.pool.rig.skeleton().joint(joint)? as u16)
    }
}

impl<'a> Playing<'a> {
    /// The joints that have overrides, with their local matrices, in ascending order of joints.
    pub fn overrides(&self) -> impl Iterator<Item = (usize, &'a Affine3x4)> + use<'a> {
        let overrides = self.pool.state.overrides().of(self.index).iter();
        overrides.map(|o| (usize::from(o.joint), &o.local))
    }
}
