//! What changes a character's pose after blending: overrides, modifiers and its pose, as calls of a `Player`.

use super::error::PlaybackError;
use super::ids::ModifierId;
use super::modifiers::{Ground, Target};
use super::options::{check, check_seconds};
use super::player::Player;
use super::poses::PoseSpace;
use crate::evaluate::{JointOverride, Replaces};
use crate::math::Affine3x4;
use crate::skeleton::{JointRef, Trs};
use glam::Quat;

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
        self.pool.set_override(self.index, JointOverride::whole(joint, local.into()))
    }

    /// Overrides a joint as [`set_override`](Self::set_override) does, with a matrix in any space that is blended with
    /// the animation: translations and scales linearly, rotations along the shorter arc. At weight 0 it costs what it costs at any other.
    ///
    /// A matrix in model space, with its scales and shear, is kept while the joints above move, unless a modifier moves
    /// them. One in world space becomes one in model space by the call, so it goes with the character when its world
    /// transform changes. The joint stays as it is animated while no local matrix within the limits gives the model
    /// matrix: a joint above it has a scale of 0, or close to it.
    ///
    /// # Errors
    /// As for [`set_override`](Self::set_override), or if the weight is outside [0, 1].
    pub fn set_override_weighted<'j>(
        &mut self,
        joint: impl Into<JointRef<'j>>,
        matrix: impl Into<Affine3x4>,
        space: PoseSpace,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        let joint = self.joint(joint)?;
        check("weight", weight.into(), 0.0, 1.0)?;
        let (replaces, matrix) = self.pool.in_space(self.index, space, matrix.into());
        let by = JointOverride { replaces, weight, ..JointOverride::whole(joint, matrix) };
        self.pool.set_override(self.index, by)
    }

    /// Overrides the rotation of a joint in model space: it stays while the joints above move, unless a modifier moves
    /// them. The joint keeps its animated position and scale. `weight` blends from the animated rotation.
    ///
    /// # Errors
    /// As for [`set_override`](Self::set_override), or if the weight is outside [0, 1].
    pub fn set_model_rotation<'j>(
        &mut self,
        joint: impl Into<JointRef<'j>>,
        rotation: Quat,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        let joint = self.joint(joint)?;
        check("weight", weight.into(), 0.0, 1.0)?;
        // Of no length it is not finite, and refused.
        let rotation = rotation.as_dquat().normalize().as_quat();
        let local = Trs { rotation, ..Trs::IDENTITY }.into();
        let replaces = Replaces::ModelRotation;
        let by = JointOverride { replaces, weight, ..JointOverride::whole(joint, local) };
        self.pool.set_override(self.index, by)
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

    /// Sets the target of a modifier, from the next evaluation on. Its weight, 0 at first, is set by
    /// [`fade_modifier`](Self::fade_modifier). Snapshots contain targets.
    ///
    /// # Errors
    /// If the modifier or the target's joint is unknown, or a number of the target is not finite, or above
    /// [`MAX_WORLD`](crate::skeleton::MAX_WORLD), or its rotation or normal has no length.
    pub fn set_target(
        &mut self,
        modifier: ModifierId,
        target: Target,
    ) -> Result<(), PlaybackError> {
        let index = self.pool.library().target_modifier(modifier)?;
        target.check(self.pool.rig().skeleton())?;
        self.pool.set_target(self.index, index, target);
        Ok(())
    }

    /// Sets the ground of each foot of [`Feet`](super::Feet), from the next evaluation on.
    /// The weight is set by [`fade_modifier`](Self::fade_modifier). Snapshots contain grounds.
    ///
    /// # Errors
    /// If the modifier is unknown or has no feet, `grounds` does not have one element per foot, or a number of a ground is
    /// not finite, above [`MAX_WORLD`](crate::skeleton::MAX_WORLD), or its normal has no length.
    pub fn set_grounds(
        &mut self,
        modifier: ModifierId,
        grounds: &[Ground],
    ) -> Result<(), PlaybackError> {
        let (index, feet) = self.pool.library().feet(modifier)?;
        super::pool::check_count(grounds.len(), 1, feet)?;
        self.pool.check_grounds(grounds)?;
        self.pool.set_grounds(self.index, index, grounds);
        Ok(())
    }

    /// Fades the weight of a modifier to `weight`, in [0, 1], over `seconds`. At first it is 0: the modifier changes
    /// nothing and costs nothing. Without a target it pulls to the origin of the model. A running fade to the same weight
    /// that ends sooner continues.
    ///
    /// # Errors
    /// If the modifier is unknown, the weight is outside [0, 1], or `seconds` is not within 0 to
    /// [`MAX_TIME`](super::MAX_TIME).
    pub fn fade_modifier(
        &mut self,
        modifier: ModifierId,
        weight: f32,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let index = self.pool.library().modifier(modifier)?;
        check("weight", weight.into(), 0.0, 1.0)?;
        check_seconds("seconds", seconds)?;
        self.pool.fade_modifier(self.index, index, weight, seconds.into());
        Ok(())
    }

    /// Gives the character a whole pose, from the next evaluation on: `joints` has one transform per joint of the
    /// skeleton, in its order. It is blended with the pose of the clips by a weight, 0 at first, that
    /// [`fade_pose`](Self::fade_pose) sets: translations and scales linearly, rotations along the shorter arc. Overrides
    /// and modifiers come after it. Setting another pose keeps the weight.
    ///
    /// Poses in model or world space are converted once, by this call; that drops shear below uneven scales. A pose in
    /// world space goes with the character when its world transform changes. Rotations are made unit length. Snapshots
    /// contain poses.
    ///
    /// # Errors
    /// If there is not one transform per joint, a number is not finite, a rotation has no length, a local translation
    /// is above 1e9, or a pose would scale down a chain of joints by more than 100 times what the rest pose does.
    pub fn set_pose(&mut self, joints: &[Trs], space: PoseSpace) -> Result<(), PlaybackError> {
        let needed = self.pool.rig().skeleton().len();
        if joints.len() != needed {
            let (values, instances) = (joints.len(), 1);
            return Err(PlaybackError::JointValues { values, instances, joints: needed });
        }
        let instance = self.pool.instance_id(self.index);
        self.pool.set_poses(&[instance], joints, space).map_err(|(_, error)| error)
    }

    /// Fades the weight of the pose to `weight`, in [0, 1], over `seconds`. At weight 0 the pose changes nothing and
    /// costs nothing. A running fade to the same weight that ends sooner continues.
    ///
    /// # Errors
    /// If the character has no pose, the weight is outside [0, 1], or `seconds` is not within 0 to
    /// [`MAX_TIME`](super::MAX_TIME).
    pub fn fade_pose(&mut self, weight: f32, seconds: f32) -> Result<(), PlaybackError> {
        check("weight", weight.into(), 0.0, 1.0)?;
        check_seconds("seconds", seconds)?;
        self.pool.fade_pose(self.index, weight, seconds.into())
    }

    /// Removes the pose of the character: its clips animate it again.
    pub fn clear_pose(&mut self) {
        self.pool.clear_pose(self.index);
    }

    fn joint<'j>(&self, joint: impl Into<JointRef<'j>>) -> Result<u16, PlaybackError> {
        // Joint indices fit in 16 bits.
        Ok(self.pool.rig().skeleton().joint(joint)? as u16)
    }
}
