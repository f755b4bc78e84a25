//! Hooks: the host's callback in the evaluation of a pose.

use crate::border::*;
use crate::types::*;
use phalanx::crowd::{InstanceId, PoseError, PoseMut};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The pose of a character in a hook: after its clips, its overrides, and the modifiers before the hook. It is valid
/// during the callback, on the callback's thread.
pub struct phx_pose {
    _opaque: [u8; 0],
}

/// A hook: changes the pose of a character by `phx_pose_set_local` and `phx_pose_set_model`. Once per evaluated character
/// and frame, in any order, on several threads at the same time. `seconds` is the crowd's time since the hook was called
/// for the character last; 0 for the first time. Every call with the crowd is PHX_ERROR_BUSY. It must not throw.
pub type phx_hook_call = Option<
    unsafe extern "C" fn(user: *mut c_void, who: phx_instance, pose: *mut phx_pose, seconds: f64),
>;

thread_local! {
    /// The pose of the innermost callback that runs on this thread.
    static CURRENT: Cell<*mut PoseMut<'static>> = const { Cell::new(null_mut()) };
}

/// The callback of a frame.
#[derive(Clone, Copy)]
pub(crate) struct HookCall {
    call: unsafe extern "C" fn(*mut c_void, phx_instance, *mut phx_pose, f64),
    user: *mut c_void,
}

// SAFETY: the caller promises that several threads may call it.
unsafe impl Send for HookCall {}
// SAFETY: as above.
unsafe impl Sync for HookCall {}

/// A callback as the library calls it.
pub(crate) type Closure = Box<dyn Fn(InstanceId, &mut PoseMut<'_>, f64) + Send + Sync>;

impl HookCall {
    pub fn new(
        call: unsafe extern "C" fn(*mut c_void, phx_instance, *mut phx_pose, f64),
        user: *mut c_void,
    ) -> Self {
        Self { call, user }
    }

    pub fn closure(self) -> impl Fn(InstanceId, &mut PoseMut<'_>, f64) + Send + Sync {
        move |who, pose, seconds| self.run(who, pose, seconds)
    }

    pub fn boxed(self) -> Closure {
        Box::new(self.closure())
    }

    fn run(&self, who: InstanceId, pose: &mut PoseMut<'_>, seconds: f64) {
        /// A callback that evaluates another crowd may have its thread run a second one within.
        struct Outer(*mut PoseMut<'static>);

        impl Drop for Outer {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }

        let pose: *mut PoseMut<'_> = pose;
        let _outer = Outer(CURRENT.replace(pose.cast()));
        // SAFETY: the caller's promise of the callback.
        unsafe { (self.call)(self.user, who.to_bits(), pose.cast(), seconds) };
    }
}

/// Lends the pose of the callback that runs.
fn with<R>(
    pose: *const phx_pose,
    run: impl FnOnce(&mut PoseMut<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    if pose.is_null() {
        return Err(Error::new(PHX_ERROR_NULL, "the pose is null"));
    }
    let current = CURRENT.get();
    if !std::ptr::addr_eq(pose, current) {
        let why = "the pose is not that of the callback that runs on this thread";
        return Err(Error::new(PHX_ERROR_STATE, why));
    }
    // SAFETY: the callback runs, in which nobody else uses its pose; no call of these calls back.
    run(unsafe { &mut *current })
}

fn refused(error: PoseError) -> Error {
    let status = match error {
        PoseError::UnknownJoint { .. } => PHX_ERROR_NOT_FOUND,
        PoseError::NoInverse { .. } => PHX_ERROR_STATE,
        _ => PHX_ERROR_VALUE,
    };
    Error::new(status, error.to_string())
}

/// A value of a joint, which the skeleton has.
fn known<T>(value: Option<T>, joint: u32, pose: &PoseMut<'_>) -> Result<T, Error> {
    value.ok_or_else(|| Error::index("joint", joint as usize, pose.joint_count()))
}

/// A pose in a hook.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_pose_info {
    /// The size of this struct.
    pub size: usize,
    /// The number of joints.
    pub joint_count: u32,
    /// The present weight of the hook, above 0. It is for the hook to use.
    pub weight: f32,
}

extensible!(phx_pose_info, Self { size: size_of::<Self>(), joint_count: 0, weight: 0.0 });

/// How many joints a pose has, and the weight of the hook.
///
/// PHX_ERROR_STATE, of all functions of poses: the pose is not that of the callback that runs on this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pose_describe(
    pose: *const phx_pose,
    out: *mut phx_pose_info,
) -> phx_status {
    entry(|| {
        with(pose, |pose| {
            let joint_count = crate::convert::small(pose.joint_count());
            let info = phx_pose_info { joint_count, weight: pose.weight(), ..Extensible::DEFAULT };
            // SAFETY: the caller's promise.
            unsafe { fill(out, info) }
        })
    })
}

/// The local transform of a joint, relative to its parent: without shear, and as a matrix. Either output may be null.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pose_local(
    pose: *const phx_pose,
    joint: u32,
    trs: *mut phx_trs,
    matrix: *mut phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (trs, matrix) =
            unsafe { (optional(trs, "the transform")?, optional(matrix, "the matrix")?) };
        with(pose, |pose| {
            let local = known(pose.local_matrix(joint as usize), joint, pose)?;
            if let (Some(trs), Some(local)) = (trs, pose.local(joint as usize)) {
                trs.write(local.into());
            }
            if let Some(matrix) = matrix {
                matrix.write(local.into());
            }
            Ok(())
        })
    })
}

/// Sets the local matrix of a joint. Joints below it move. Later calls, modifiers and the palette see it.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint. PHX_ERROR_VALUE: the joint is not one of the hook's, or a number is not
/// finite or beyond its limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pose_set_local(
    pose: *mut phx_pose,
    joint: u32,
    matrix: *const phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { one(matrix, "the matrix") }?;
        with(pose, |pose| pose.set_local(joint as usize, matrix).map_err(refused))
    })
}

/// The model matrix of a joint: joint space to model space.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pose_model(
    pose: *const phx_pose,
    joint: u32,
    out: *mut phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { output(out, "the matrix") }?;
        with(pose, |pose| {
            out.write(known(pose.model(joint as usize), joint, pose)?.into());
            Ok(())
        })
    })
}

/// Sets the model matrix of a joint, by its local matrix. Joints below it move.
///
/// Errors are those of `phx_pose_set_local`, and PHX_ERROR_STATE: the model matrix of the joint's parent has no inverse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_pose_set_model(
    pose: *mut phx_pose,
    joint: u32,
    matrix: *const phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { one(matrix, "the matrix") }?;
        with(pose, |pose| pose.set_model(joint as usize, matrix).map_err(refused))
    })
}
