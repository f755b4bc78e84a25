//! Targets, grounds, overrides and poses of many characters. Each call checks all before anything changes.

use super::inputs::{grounds, phx_ground, phx_target, target};
use super::scratch;
use crate::border::*;
use crate::convert;
use crate::crowd::on_pool;
use crate::crowd::{CrowdState, phx_crowd};
use crate::types::*;
use phalanx::crowd::{InstanceId, Target};
use phalanx::glam::Vec3;
use phalanx::skeleton::Trs;
use std::cell::Cell;

thread_local! {
    static JOINTS: Cell<Vec<usize>> = const { Cell::new(Vec::new()) };
    static IDS: Cell<Vec<InstanceId>> = const { Cell::new(Vec::new()) };
    static TARGETS: Cell<Vec<Target>> = const { Cell::new(Vec::new()) };
    static TRANSFORMS: Cell<Vec<Trs>> = const { Cell::new(Vec::new()) };
    static POSITIONS: Cell<Vec<Vec3>> = const { Cell::new(Vec::new()) };
}

/// Lends joints, converted.
pub(super) fn joints<R>(joints: &[u32], run: impl FnOnce(&[usize]) -> R) -> R {
    scratch(&JOINTS, |into| {
        into.extend(joints.iter().map(|&joint| joint as usize));
        run(into)
    })
}

/// Lends ids of a call that only reads the crowd, so that several threads may make it.
fn readers<R>(
    ids: &[phx_instance],
    run: impl FnOnce(&[InstanceId]) -> Result<R, Error>,
) -> Result<R, Error> {
    scratch(&IDS, |into| {
        convert::ids(ids, into, convert::instance)?;
        run(into)
    })
}

/// The elements of an output for so many instances, with so many values each.
fn room<T>(out: &mut [T], instances: usize, each: usize) -> Result<&mut [T], Error> {
    let (needed, have) = (instances.saturating_mul(each), out.len());
    out.get_mut(..needed).ok_or_else(|| Error::short("the output", have, needed))
}

const IDS_TEXT: &str = "the instances";
const JOINTS_TEXT: &str = "the joints";
const WEIGHTS: &str = "the weights";
const OUT: &str = "the output";

/// Sets the targets of a modifier and its weights for many characters: one value for all, or one for each. Without
/// weights (null, 0) weights and their fades stay.
///
/// PHX_ERROR_VALUE: an array has another length, or a target or weight is refused; the message names the element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_targets(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    modifier: phx_modifier_id,
    targets: *const phx_target,
    target_count: usize,
    weights: *const f32,
    weight_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, bits, targets, weights) = unsafe {
            (
                lend(crowd)?,
                array(who, count, IDS_TEXT)?,
                array(targets, target_count, "the targets")?,
                array(weights, weight_count, WEIGHTS)?,
            )
        };
        let CrowdState { crowd, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        let modifier = convert::modifier_id(modifier)?;
        scratch(&TARGETS, |into| {
            for (i, one) in targets.iter().enumerate() {
                into.push(target(one).map_err(of_element("element", i))?);
            }
            Ok(crowd.set_targets(modifier, ids, into, weights)?)
        })
    })
}

/// Sets the grounds of a modifier of feet and its weights for many characters. `grounds` has one ground per foot of the
/// first character, then of the second, and so on. Weights are as for `phx_instances_set_targets`.
///
/// PHX_ERROR_VALUE: an array has another length, the modifier has no feet, or a ground or weight is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_grounds(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    modifier: phx_modifier_id,
    grounds: *const phx_ground,
    ground_count: usize,
    weights: *const f32,
    weight_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, bits, grounds, weights) = unsafe {
            (
                lend(crowd)?,
                array(who, count, IDS_TEXT)?,
                array(grounds, ground_count, "the grounds")?,
                array(weights, weight_count, WEIGHTS)?,
            )
        };
        let CrowdState { crowd, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        let modifier = convert::modifier_id(modifier)?;
        Ok(self::grounds(grounds, |all| crowd.set_grounds(modifier, ids, all, weights))?)
    })
}

/// The world positions of the feet of a modifier: as animated in the last frame, moved by the present world transforms.
/// `out` has room for `out_count` numbers, three per foot of the first character, then of the second, and so on.
///
/// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_VALUE: the modifier has no feet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_foot_positions(
    crowd: *const phx_crowd,
    who: *const phx_instance,
    count: usize,
    modifier: phx_modifier_id,
    out: *mut f32,
    out_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, bits, out) = unsafe {
            (share(crowd)?, array(who, count, IDS_TEXT)?, array_mut(out, out_count, OUT)?)
        };
        let modifier = convert::modifier_id(modifier)?;
        let feet = state.crowd.foot_count(modifier)?;
        let out = room(out, bits.len(), 3 * feet)?;
        readers(bits, |ids| {
            scratch(&POSITIONS, |positions| {
                positions.resize(ids.len() * feet, Vec3::ZERO);
                state.crowd.foot_positions(modifier, ids, positions)?;
                for (out, position) in out.as_chunks_mut::<3>().0.iter_mut().zip(positions) {
                    *out = position.to_array();
                }
                Ok(())
            })
        })
    })
}

/// Overrides the same joints of many characters, as `phx_instance_set_override` does. `joints` ascend. `matrices` has one
/// matrix per joint of the first character, then of the second, and so on; `weights` one value for all characters or one
/// for each.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the joints do not ascend, an array has another length,
/// or a matrix or weight is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_overrides(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    joints: *const u32,
    joint_count: usize,
    who: *const phx_instance,
    count: usize,
    matrices: *const phx_matrix,
    matrix_count: usize,
    space: phx_pose_space,
    weights: *const f32,
    weight_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, joints, bits, matrices, weights) = unsafe {
            (
                lend(crowd)?,
                array(joints, joint_count, JOINTS_TEXT)?,
                array(who, count, IDS_TEXT)?,
                array(matrices, matrix_count, "the matrices")?,
                array(weights, weight_count, WEIGHTS)?,
            )
        };
        let CrowdState { crowd, pool, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        let (rig, space) = (convert::rig_id(rig)?, convert::pose_space(space)?);
        let rows = convert::rows(matrices);
        self::joints(joints, |joints| {
            on_pool(pool, || Ok(crowd.set_overrides(rig, joints, ids, rows, space, weights)?))
        })
    })
}

/// Gives many characters whole poses, for example of ragdolls, from the next frame on. `poses` has one transform per
/// joint of the rig for the first character, then for the second, and so on. Each is blended with the animation by a
/// weight, 0 at first; overrides and modifiers come after it. `weights` has one value for all characters or one for each;
/// without weights (null, 0) they stay. Poses in world space go with the characters when they are moved.
///
/// PHX_ERROR_VALUE: an array has another length, or a pose or weight is refused; the message names the element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_poses(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    who: *const phx_instance,
    count: usize,
    poses: *const phx_trs,
    pose_count: usize,
    space: phx_pose_space,
    weights: *const f32,
    weight_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, bits, poses, weights) = unsafe {
            (
                lend(crowd)?,
                array(who, count, IDS_TEXT)?,
                array(poses, pose_count, "the poses")?,
                array(weights, weight_count, WEIGHTS)?,
            )
        };
        let CrowdState { crowd, pool, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        let (rig, space) = (convert::rig_id(rig)?, convert::pose_space(space)?);
        scratch(&TRANSFORMS, |into| {
            into.extend(poses.iter().map(|&pose| Trs::from(pose)));
            on_pool(pool, || Ok(crowd.set_poses(rig, ids, into, space, weights)?))
        })
    })
}

/// Fades the weights of many characters' poses to `weight`, in [0, 1], over `seconds`; 0 sets them.
///
/// PHX_ERROR_STATE: a character has no pose. PHX_ERROR_VALUE: a number is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_fade_poses(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    weight: f32,
    seconds: f32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, bits) = unsafe { (lend(crowd)?, array(who, count, IDS_TEXT)?) };
        let CrowdState { crowd, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        Ok(crowd.fade_poses(ids, weight, seconds)?)
    })
}

/// Removes the poses of many characters: their clips animate them again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_clear_poses(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, bits) = unsafe { (lend(crowd)?, array(who, count, IDS_TEXT)?) };
        let CrowdState { crowd, ids, .. } = &mut *state;
        convert::ids(bits, ids, convert::instance)?;
        Ok(crowd.clear_poses(ids)?)
    })
}

/// The local transforms of the same joints of many characters of a rig, now: relative to their parents, without shear.
/// `out` has room for `out_count` transforms, one per joint of the first character, then of the second, and so on. The
/// characters are evaluated by this call, without hooks. Joints are in any order.
///
/// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_NOT_FOUND: there is no such joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_local_poses(
    crowd: *const phx_crowd,
    rig: phx_rig_id,
    joints: *const u32,
    joint_count: usize,
    who: *const phx_instance,
    count: usize,
    stage: phx_pose_stage,
    out: *mut phx_trs,
    out_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, joints, bits, out) = unsafe {
            (
                share(crowd)?,
                array(joints, joint_count, JOINTS_TEXT)?,
                array(who, count, IDS_TEXT)?,
                array_mut(out, out_count, OUT)?,
            )
        };
        let (rig, stage) = (convert::rig_id(rig)?, convert::stage(stage)?);
        let out = room(out, bits.len(), joints.len())?;
        let (crowd, pool) = (&state.crowd, &state.pool);
        readers(bits, |ids| {
            self::joints(joints, |joints| {
                scratch(&TRANSFORMS, |poses| {
                    poses.resize(out.len(), Trs::IDENTITY);
                    on_pool(pool, || crowd.local_poses(rig, joints, ids, stage, poses))?;
                    for (out, &pose) in out.iter_mut().zip(&*poses) {
                        *out = pose.into();
                    }
                    Ok(())
                })
            })
        })
    })
}

/// The model matrices of the same joints of many characters of a rig, now: joint space to model space. As
/// `phx_instances_local_poses`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_model_poses(
    crowd: *const phx_crowd,
    rig: phx_rig_id,
    joints: *const u32,
    joint_count: usize,
    who: *const phx_instance,
    count: usize,
    stage: phx_pose_stage,
    out: *mut phx_matrix,
    out_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, joints, bits, out) = unsafe {
            (
                share(crowd)?,
                array(joints, joint_count, JOINTS_TEXT)?,
                array(who, count, IDS_TEXT)?,
                array_mut(out, out_count, OUT)?,
            )
        };
        let (rig, stage) = (convert::rig_id(rig)?, convert::stage(stage)?);
        let out = convert::rows_mut(room(out, bits.len(), joints.len())?);
        let (crowd, pool) = (&state.crowd, &state.pool);
        readers(bits, |ids| {
            self::joints(joints, |joints| {
                on_pool(pool, || Ok(crowd.model_poses(rig, joints, ids, stage, out)?))
            })
        })
    })
}
