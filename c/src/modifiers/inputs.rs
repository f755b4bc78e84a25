//! What a character gives its modifiers: targets, grounds and weights; its overrides.

use super::scratch;
use crate::border::*;
use crate::convert;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::crowd::{Ground, Space, Target};
use phalanx::glam::{Quat, Vec3};
use std::cell::Cell;

/// The space of a target.
pub type phx_target_space = u32;
/// The world, in which the character is placed.
pub const PHX_TARGET_WORLD: phx_target_space = 0;
/// The character's model.
pub const PHX_TARGET_MODEL: phx_target_space = 1;
/// A joint of the character, as the modifiers before have left it.
pub const PHX_TARGET_JOINT: phx_target_space = 2;

/// The target of a character's modifier. All zeros are the origin of the world.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_target {
    /// The space of the other fields.
    pub space: phx_target_space,
    /// The joint of `PHX_TARGET_JOINT`.
    pub joint: u32,
    /// The position that the end reaches, or that is looked at.
    pub position: [f32; 3],
    /// Not 0 if `rotation` is given.
    pub has_rotation: u32,
    /// The rotation of the end joint: x, y, z, w, of any length above 0.
    pub rotation: [f32; 4],
    /// Not 0 if `normal` is given.
    pub has_normal: u32,
    /// The direction to which `phx_two_bone_ik::normal_axis` is turned, if there is no rotation; for an aim, the
    /// direction for its `up_axis`.
    pub normal: [f32; 3],
}

/// The ground below a foot, in the world.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_ground {
    /// Height along y.
    pub height: f32,
    /// Direction away from the ground, of any length above 0.
    pub normal: [f32; 3],
}

pub(super) fn target(target: &phx_target) -> Result<Target, Error> {
    let spaces = [Space::World, Space::Model, Space::Joint(target.joint as usize)];
    Ok(Target {
        space: convert::choice("the space of a target", target.space, &spaces)?,
        position: Vec3::from_array(target.position),
        rotation: (target.has_rotation != 0).then(|| Quat::from_array(target.rotation)),
        normal: (target.has_normal != 0).then(|| Vec3::from_array(target.normal)),
    })
}

fn target_out(target: &Target) -> phx_target {
    let (space, joint) = match target.space {
        Space::World => (PHX_TARGET_WORLD, 0),
        Space::Model => (PHX_TARGET_MODEL, 0),
        Space::Joint(joint) => (PHX_TARGET_JOINT, convert::small(joint)),
    };
    phx_target {
        space,
        joint,
        position: target.position.into(),
        has_rotation: target.rotation.is_some().into(),
        rotation: target.rotation.map_or([0.0; 4], Into::into),
        has_normal: target.normal.is_some().into(),
        normal: target.normal.map_or([0.0; 3], Into::into),
    }
}

thread_local! {
    static GROUNDS: Cell<Vec<Ground>> = const { Cell::new(Vec::new()) };
}

/// Lends grounds, converted.
pub(super) fn grounds<R>(grounds: &[phx_ground], run: impl FnOnce(&[Ground]) -> R) -> R {
    scratch(&GROUNDS, |into| {
        let one = |g: &phx_ground| Ground { height: g.height, normal: Vec3::from_array(g.normal) };
        into.extend(grounds.iter().map(one));
        run(into)
    })
}

/// Sets the target of a character's modifier, from the next frame on. Its weight, 0 at first, is set by
/// `phx_instance_fade_modifier`.
///
/// PHX_ERROR_NOT_FOUND: the target's joint is unknown. PHX_ERROR_VALUE: a number is not finite or too large, a rotation
/// or normal has no length, the space is unknown, or the modifier takes no targets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_target(
    crowd: *mut phx_crowd,
    who: phx_instance,
    modifier: phx_modifier_id,
    target: *const phx_target,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, target) = unsafe { (lend(crowd)?, one(target, "the target")?) };
        let modifier = convert::modifier_id(modifier)?;
        let mut player = state.crowd.player(convert::instance(who)?)?;
        Ok(player.set_target(modifier, self::target(&target)?)?)
    })
}

/// The target of a character's modifier, and its present weight. Before a target is set it is the origin of the model.
/// Either output may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_target(
    crowd: *const phx_crowd,
    who: phx_instance,
    modifier: phx_modifier_id,
    target: *mut phx_target,
    weight: *mut f32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out, weight_out) = unsafe {
            (share(crowd)?, optional(target, "the target")?, optional(weight, "the weight")?)
        };
        let playing = state.crowd.playing(convert::instance(who)?)?;
        let (target, weight) = playing.target(convert::modifier_id(modifier)?)?;
        if let Some(out) = out {
            out.write(target_out(&target));
        }
        if let Some(out) = weight_out {
            out.write(weight);
        }
        Ok(())
    })
}

/// Sets the ground of each foot of a modifier of feet, from the next frame on.
///
/// PHX_ERROR_VALUE: there is not one ground per foot, the modifier has no feet, a number is not finite or too large, or
/// a normal has no length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_grounds(
    crowd: *mut phx_crowd,
    who: phx_instance,
    modifier: phx_modifier_id,
    grounds: *const phx_ground,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, grounds) = unsafe { (lend(crowd)?, array(grounds, count, "the grounds")?) };
        let modifier = convert::modifier_id(modifier)?;
        let mut player = state.crowd.player(convert::instance(who)?)?;
        Ok(self::grounds(grounds, |grounds| player.set_grounds(modifier, grounds))?)
    })
}

/// Fades the weight of a character's modifier to `weight`, in [0, 1], over `seconds`; 0 sets it. At first it is 0.
///
/// PHX_ERROR_VALUE: a number is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_fade_modifier(
    crowd: *mut phx_crowd,
    who: phx_instance,
    modifier: phx_modifier_id,
    weight: f32,
    seconds: f32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        let modifier = convert::modifier_id(modifier)?;
        let mut player = state.crowd.player(convert::instance(who)?)?;
        Ok(player.fade_modifier(modifier, weight, seconds)?)
    })
}

/// Puts all springs of a character at rest, for example after a cut.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_rest_springs(
    crowd: *mut phx_crowd,
    who: phx_instance,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        state.crowd.player(convert::instance(who)?)?.rest_springs();
        Ok(())
    })
}

/// Overrides a joint of a character from the next frame on: a matrix in local, model or world space, blended with the
/// animation by a weight in [0, 1]. One in world space goes with the character when it is moved.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is not finite or too large, the weight is out
/// of range, or the space is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_override(
    crowd: *mut phx_crowd,
    who: phx_instance,
    joint: u32,
    matrix: *const phx_matrix,
    space: phx_pose_space,
    weight: f32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, matrix) = unsafe { (lend(crowd)?, one(matrix, "the matrix")?) };
        let space = convert::pose_space(space)?;
        let mut player = state.crowd.player(convert::instance(who)?)?;
        Ok(player.set_override_weighted(joint as usize, matrix, space, weight)?)
    })
}

/// Removes the override of a joint, or all overrides of the character for `PHX_NONE`.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_clear_override(
    crowd: *mut phx_crowd,
    who: phx_instance,
    joint: u32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        let mut player = state.crowd.player(convert::instance(who)?)?;
        match convert::some(joint) {
            Some(joint) => player.clear_override(joint)?,
            None => player.clear_overrides(),
        }
        Ok(())
    })
}
