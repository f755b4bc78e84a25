//! Definitions of modifiers, which belong to a rig of a crowd.

use super::direction;
use crate::border::*;
use crate::convert;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::crowd::{Aim, EndRotation, Feet, Foot, Hook, Modifier, Pole, TwoBoneIk};
use phalanx::glam::Vec3;
use std::f32::consts::{FRAC_PI_6, PI};
use std::ptr::null;

/// Where the middle joint of a chain of two bones points.
pub type phx_pole = u32;
/// As it was animated.
pub const PHX_POLE_ANIMATED: phx_pole = 0;
/// In a direction of model space.
pub const PHX_POLE_DIRECTION: phx_pole = 1;
/// To another joint.
pub const PHX_POLE_JOINT: phx_pole = 2;

/// How the end of a chain of two bones is turned if its target says nothing about it.
pub type phx_end_rotation = u32;
/// With its parent.
pub const PHX_END_ROTATION_FOLLOW: phx_end_rotation = 0;
/// In the model as it was animated.
pub const PHX_END_ROTATION_KEEP: phx_end_rotation = 1;

/// Bends two bones so that their end reaches a target: a leg, an arm. Joints are indices of the rig.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_two_bone_ik {
    /// The size of this struct.
    pub size: usize,
    /// The joint that reaches the target. Default `PHX_NONE`, which is refused.
    pub end: u32,
    /// The joint that bends, above `end`. Default `PHX_NONE`: the parent of `end`.
    pub middle: u32,
    /// The joint at the root of the chain, above the middle joint. Default `PHX_NONE`: the parent of the middle joint.
    pub upper: u32,
    /// Where the middle joint points. Default `PHX_POLE_ANIMATED`.
    pub pole: phx_pole,
    /// The direction of `PHX_POLE_DIRECTION`, in model space, of any length.
    pub pole_direction: [f32; 3],
    /// The joint of `PHX_POLE_JOINT`. Default `PHX_NONE`, which that refuses.
    pub pole_joint: u32,
    /// The axis of the bend of a straight chain, in model space in the rest pose: the upper bone turns about it towards
    /// the lower one by the right-hand rule. Default (0, 0, 0): that of the bend in the rest pose.
    pub axis: [f32; 3],
    /// The share of the length over which the chain slows down before it is straight, in [0, 0.999]. Default 0.
    pub soft: f32,
    /// The largest factor on both lengths if the target is out of reach, in [1, 10]. Default 1.
    pub stretch: f32,
    /// Turns the plane of the bend about the line from the upper joint to the target, radians, within ±2π. Default 0.
    pub twist: f32,
    /// How the end is turned if the target says nothing about it. Default `PHX_END_ROTATION_KEEP`.
    pub end_rotation: phx_end_rotation,
    /// The axis of the end, in its space, that is turned to the target's normal. Default (0, 0, 0): the axis along model
    /// y in the rest pose.
    pub normal_axis: [f32; 3],
}

extensible!(
    phx_two_bone_ik,
    Self {
        size: size_of::<Self>(),
        end: PHX_NONE,
        middle: PHX_NONE,
        upper: PHX_NONE,
        pole: PHX_POLE_ANIMATED,
        pole_direction: [0.0; 3],
        pole_joint: PHX_NONE,
        axis: [0.0; 3],
        soft: 0.0,
        stretch: 1.0,
        twist: 0.0,
        end_rotation: PHX_END_ROTATION_KEEP,
        normal_axis: [0.0; 3],
    }
);

/// Turns a joint, or a chain of joints, so that the last one looks at a target: eyes, a head with neck and spine.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_aim {
    /// The size of this struct.
    pub size: usize,
    /// The joints that turn, each below the one before; the last one looks. At most 16.
    pub joints: *const u32,
    /// The share of each joint in the turn, in [0, 1000], that of the last joint above 0. Default null: equal shares.
    pub shares: *const f32,
    /// The number of joints.
    pub count: usize,
    /// The axis of the last joint, in its space, that is pointed at the target. Default (0, 0, 0): the axis along model z
    /// in the rest pose.
    pub forward: [f32; 3],
    /// The direction of model space to which `up_axis` is turned, unless the target has a normal. Default (0, 0, 0):
    /// none; the joint keeps its animated roll.
    pub up: [f32; 3],
    /// The axis of the last joint, in its space, that is turned up. Default (0, 0, 0): the axis along model y in the rest
    /// pose; if that is forward, the axis against model z.
    pub up_axis: [f32; 3],
    /// The largest angle between the look and the animated forward axis, radians, in [0, π]. Default π.
    pub limit: f32,
    /// The share of the limit over which the look slows down before it, in [0, 1]. Default 0.
    pub soft: f32,
    /// The greatest angular speed of the look, radians per second. Default infinite.
    pub speed: f32,
}

extensible!(
    phx_aim,
    Self {
        size: size_of::<Self>(),
        joints: null(),
        shares: null(),
        count: 0,
        forward: [0.0; 3],
        up: [0.0; 3],
        up_axis: [0.0; 3],
        limit: PI,
        soft: 0.0,
        speed: f32::INFINITY,
    }
);

/// A foot of `phx_feet`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_foot {
    /// The joint of the ankle.
    pub ankle: u32,
    /// The leg; its `end`, `end_rotation` and `normal_axis` are not used. Null: the ankle, its parent and its
    /// grandparent.
    pub leg: *const phx_two_bone_ik,
    /// The marker at which clips put the foot down. Empty, with `up`: the foot is down by its height.
    pub down: phx_text,
    /// The marker at which clips lift the foot.
    pub up: phx_text,
}

/// Feet that stand on the host's ground: slopes, stairs, rough land.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_feet {
    /// The size of this struct.
    pub size: usize,
    /// The joint that moves with the lowest foot: the pelvis, above all legs. Default `PHX_NONE`, which is refused.
    pub pelvis: u32,
    /// The feet, at most 8.
    pub feet: *const phx_foot,
    /// The number of feet.
    pub count: usize,
    /// The farthest that the pelvis sinks or rises, as a share of the shortest leg's length, in [0, 1]. Default 0.5.
    pub reach: f32,
    /// The greatest angle by which a sole is turned to the ground, radians, in [0, π/2]. Default π/6.
    pub tilt: f32,
}

extensible!(
    phx_feet,
    Self {
        size: size_of::<Self>(),
        pelvis: PHX_NONE,
        feet: null(),
        count: 0,
        reach: 0.5,
        tilt: FRAC_PI_6,
    }
);

/// The host's own code in the evaluation of a pose, which a frame calls: `phx_frame_options`. A rig has one at most.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_hook {
    /// The size of this struct.
    pub size: usize,
    /// The joints that the hook may set. Default null: all. Null with a count above 0 is PHX_ERROR_NULL.
    pub joints: *const u32,
    /// The number of joints.
    pub count: usize,
    /// By how much the hook moves vertices at most beyond where turns of its joints take them, in units of the model:
    /// bounds are wider by this. Default 0.
    pub reach: f32,
}

extensible!(phx_hook, Self { size: size_of::<Self>(), joints: null(), count: 0, reach: 0.0 });

/// The chain of a definition.
pub(super) fn two_bone_ik(ik: &phx_two_bone_ik) -> Result<TwoBoneIk, Error> {
    let poles = [
        Pole::Animated,
        Pole::Direction(Vec3::from_array(ik.pole_direction)),
        Pole::Joint(ik.pole_joint as usize),
    ];
    let ends = [EndRotation::Follow, EndRotation::Keep];
    Ok(TwoBoneIk {
        middle: convert::some(ik.middle),
        upper: convert::some(ik.upper),
        pole: convert::choice("the pole", ik.pole, &poles)?,
        axis: direction(ik.axis),
        soft: ik.soft,
        stretch: ik.stretch,
        twist: ik.twist,
        end_rotation: convert::choice("the rotation of the end", ik.end_rotation, &ends)?,
        normal_axis: direction(ik.normal_axis),
        ..TwoBoneIk::new(ik.end as usize)
    })
}

/// # Safety
/// The caller's promise of the arrays.
pub(super) unsafe fn aim(aim: &phx_aim) -> Result<Aim, Error> {
    // SAFETY: as above.
    let (joints, shares) = unsafe {
        let shares = if aim.shares.is_null() { 0 } else { aim.count };
        (
            array(aim.joints, aim.count, "the joints of phx_aim")?,
            array(aim.shares, shares, "the shares of phx_aim")?,
        )
    };
    let shares = shares.iter().copied().chain(std::iter::repeat(1.0));
    let joints: Vec<_> = joints.iter().map(|&joint| joint as usize).zip(shares).collect();
    Ok(Aim {
        forward: direction(aim.forward),
        up: direction(aim.up),
        up_axis: direction(aim.up_axis),
        limit: aim.limit,
        soft: aim.soft,
        speed: aim.speed,
        ..Aim::chain(joints)
    })
}

/// The feet of a definition, which is not null. Blend spaces are measured by them, too.
///
/// # Safety
/// The caller's promise.
pub(crate) unsafe fn feet(feet: *const phx_feet) -> Result<Feet, Error> {
    // SAFETY: as above.
    let (feet, all) = unsafe {
        let feet = required(feet)?;
        (feet, array(feet.feet, feet.count, "the feet of phx_feet")?)
    };
    let mut legs = Vec::with_capacity(all.len());
    for (number, foot) in all.iter().enumerate() {
        // SAFETY: as above.
        let (leg, down, up) = unsafe {
            (
                options(foot.leg)?,
                text(foot.down.data, foot.down.length, "the marker of a foot")?,
                text(foot.up.data, foot.up.length, "the marker of a foot")?,
            )
        };
        let markers = match (down.is_empty(), up.is_empty()) {
            (true, true) => None,
            (false, false) => Some([down.into(), up.into()]),
            _ => return Err(Error::value(format!("foot {number} has one marker, not two"))),
        };
        let leg = TwoBoneIk { end: foot.ankle as usize, ..two_bone_ik(&leg)? };
        legs.push(Foot { leg, markers });
    }
    Ok(Feet { pelvis: feet.pelvis as usize, feet: legs, reach: feet.reach, tilt: feet.tilt })
}

/// # Safety
/// The caller's promise of the array.
pub(super) unsafe fn hook(hook: &phx_hook) -> Result<Hook, Error> {
    // SAFETY: as above.
    let joints = unsafe { array(hook.joints, hook.count, "the joints of phx_hook") }?;
    let joints = joints.iter().map(|&joint| joint as usize).collect();
    Ok(Hook { joints: (!hook.joints.is_null()).then_some(joints), reach: hook.reach })
}

/// Adds a modifier.
///
/// # Safety
/// The caller's promise.
pub(super) unsafe fn add(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    modifier: impl Into<Modifier>,
    out: *mut phx_modifier_id,
) -> Result<(), Error> {
    // SAFETY: as above.
    let (mut state, out) = unsafe { (lend(crowd)?, output(out, "the modifier's place")?) };
    out.write(state.crowd.add_modifier(convert::rig_id(rig)?, modifier)?.to_bits());
    Ok(())
}

/// Adds inverse kinematics of two bones to a rig of a crowd. Its characters then can have targets and weights for it;
/// while a weight is 0, as it is at first, the modifier changes nothing and costs nothing. Modifiers run in the order in
/// which they were added; one that was removed leaves its place to the next. A rig has at most 63.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, the joints are no chain, or
/// the chain is straight in the rest pose and has neither axis nor pole.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_two_bone_ik(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    definition: *const phx_two_bone_ik,
    out: *mut phx_modifier_id,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { add(crowd, rig, two_bone_ik(&required(definition)?)?, out) })
}

/// Adds an aim to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, there are no joints, or one is
/// not below the one before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_aim(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    definition: *const phx_aim,
    out: *mut phx_modifier_id,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { add(crowd, rig, aim(&required(definition)?)?, out) })
}

/// Adds feet to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does. In each frame read where the feet are by
/// `phx_instances_foot_positions`, find the ground there, and set it by `phx_instances_set_grounds`.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: a number is out of range, a leg is not below the pelvis
/// or shares joints with another, or a foot has one marker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_feet(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    definition: *const phx_feet,
    out: *mut phx_modifier_id,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { add(crowd, rig, feet(definition)?, out) })
}

/// Adds a hook to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does: a callback that frames are evaluated with is
/// called for the characters whose weight of it is above 0. Null is a hook that may set all joints.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the reach is out of range, or the rig has a hook.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_hook(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    definition: *const phx_hook,
    out: *mut phx_modifier_id,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { add(crowd, rig, hook(&options(definition)?)?, out) })
}

/// Removes a modifier with its targets and weights; its id becomes stale.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_remove_modifier(
    crowd: *mut phx_crowd,
    modifier: phx_modifier_id,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        Ok(state.crowd.remove_modifier(convert::modifier_id(modifier)?)?)
    })
}
