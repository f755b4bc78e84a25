//! Watched joints: model matrices that every frame stores beside the palettes.

use super::arrays::joints;
use crate::border::*;
use crate::convert;
use crate::crowd::{CrowdState, phx_crowd};
use crate::types::*;
use phalanx::crowd::{Crowd, CrowdError, PoseStage, RigId};
use std::ptr::null;

/// The age of matrices that come from no frame.
pub const PHX_NEVER: u64 = u64::MAX;

/// The watched joints of a character: views that stay until the next call that changes the crowd.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_watched {
    /// The size of this struct.
    pub size: usize,
    /// The joints, ascending.
    pub joints: *const u16,
    /// Their model matrices, in the same order: joint space to model space.
    pub models: *const phx_matrix,
    /// The number of joints; 0 before the first frame after `phx_crowd_watch`.
    pub count: usize,
    /// The number of frames since the one that the matrices come from: 0 for the last frame. `PHX_NEVER`: they come from
    /// none, and are identities if the character was not evaluated since its joints are watched.
    pub age: u64,
    /// 1 if the character has not changed since it was evaluated, else 0.
    pub current: u32,
}

extensible!(
    phx_watched,
    Self {
        size: size_of::<Self>(),
        joints: null(),
        models: null(),
        count: 0,
        age: PHX_NEVER,
        current: 0,
    }
);

/// # Safety
/// The caller's promise.
unsafe fn change(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    all: (*const u32, usize),
    stage: phx_pose_stage,
    change: impl FnOnce(&mut Crowd, RigId, &[usize], PoseStage) -> Result<(), CrowdError>,
) -> Result<(), Error> {
    // SAFETY: as above.
    let (mut state, all) = unsafe { (lend(crowd)?, array(all.0, all.1, "the joints")?) };
    let (rig, stage) = (convert::rig_id(rig)?, convert::stage(stage)?);
    let CrowdState { crowd, .. } = &mut *state;
    Ok(joints(all, |joints| change(crowd, rig, joints, stage))?)
}

/// Watches joints of all characters of a rig: every frame keeps their model matrices, before or after overrides and
/// modifiers, for `phx_instance_watched`. Calls are counted: a joint is watched until `phx_crowd_unwatch` was called as
/// often.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the stage is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_watch(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    joints: *const u32,
    count: usize,
    stage: phx_pose_stage,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { change(crowd, rig, (joints, count), stage, Crowd::watch) })
}

/// Takes back one `phx_crowd_watch` of these joints. Joints that are not watched are ignored.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the stage is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_unwatch(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    joints: *const u32,
    count: usize,
    stage: phx_pose_stage,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { change(crowd, rig, (joints, count), stage, Crowd::unwatch) })
}

/// The watched joints of a character, from its last evaluation.
///
/// PHX_ERROR_VALUE: the stage is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_watched(
    crowd: *const phx_crowd,
    who: phx_instance,
    stage: phx_pose_stage,
    out: *mut phx_watched,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let watched = state.crowd.watched(convert::instance(who)?, convert::stage(stage)?)?;
        let value = phx_watched {
            joints: watched.joints.as_ptr(),
            // The layout is the same: `convert::rows` says so.
            models: watched.models.as_ptr().cast(),
            count: watched.joints.len(),
            age: watched.age.unwrap_or(PHX_NEVER),
            current: watched.current.into(),
            ..Extensible::DEFAULT
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, value) }
    })
}
