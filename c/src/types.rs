//! Numbers, text and ids that all groups share. Enumerations are numbers with named values, as any number may come in.

use std::ffi::c_char;
use std::ptr::null;

/// What a call returned: 0, or why nothing was done.
pub type phx_status = i32;
/// Success.
pub const PHX_OK: phx_status = 0;
/// A pointer is null that must not be.
pub const PHX_ERROR_NULL: phx_status = 1;
/// A handle was freed, or is of another kind.
pub const PHX_ERROR_HANDLE: phx_status = 2;
/// An id is stale, or of another crowd or rig.
pub const PHX_ERROR_ID: phx_status = 3;
/// A number is out of range, not finite, or none of the values of its enumeration.
pub const PHX_ERROR_VALUE: phx_status = 4;
/// The size that a struct states is unknown.
pub const PHX_ERROR_STRUCT_SIZE: phx_status = 5;
/// An array is too short; nothing was written to it.
pub const PHX_ERROR_SHORT: phx_status = 6;
/// Another call uses the handle: of another thread, or the one that has called back.
pub const PHX_ERROR_BUSY: phx_status = 7;
/// A file cannot be read.
pub const PHX_ERROR_FILE: phx_status = 8;
/// The content of a file, of bytes or of arrays is refused.
pub const PHX_ERROR_DATA: phx_status = 9;
/// There is no such name, index, layer or action.
pub const PHX_ERROR_NOT_FOUND: phx_status = 10;
/// The call does not fit the present state: a clip plays, there are no tiers.
pub const PHX_ERROR_STATE: phx_status = 11;
/// A count, a size or memory is beyond a limit.
pub const PHX_ERROR_LIMIT: phx_status = 12;
/// A version is unknown: of this ABI, or of a file.
pub const PHX_ERROR_VERSION: phx_status = 13;
/// Text is not UTF-8.
pub const PHX_ERROR_UTF8: phx_status = 14;
/// This machine or this build cannot do it.
pub const PHX_ERROR_UNSUPPORTED: phx_status = 15;
/// A fault of this library, which was caught.
pub const PHX_ERROR_INTERNAL: phx_status = 16;

/// The version of this ABI. It changes when callers must be compiled again, and `phx_abi_check` compares it.
pub const PHX_ABI_VERSION: u32 = 1;

/// As the length of text: it ends at its NUL.
pub const PHX_NUL: usize = usize::MAX;

/// As an index of an optional thing: there is none. As a count of passes: without end.
pub const PHX_NONE: u32 = u32::MAX;

/// A rig of a crowd. 0 is none. Ids are numbers for arrays and files; those of removed things are refused.
pub type phx_rig_id = u64;
/// A clip of a rig of a crowd.
pub type phx_clip_id = u64;
/// A blend space of a rig of a crowd.
pub type phx_space_id = u64;
/// What an action plays: a `phx_clip_id` or a `phx_space_id`.
pub type phx_playable = u64;
/// A modifier of a rig of a crowd.
pub type phx_modifier_id = u64;
/// A character of a crowd.
pub type phx_instance = u64;

/// Text of the library: UTF-8, `length` bytes, without a NUL behind it. How long it stays is said where it is returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_text {
    /// The bytes.
    pub data: *const c_char,
    /// The number of bytes.
    pub length: usize,
}

// SAFETY: it is only a view; who reads it keeps to the header's rule of how long it stays.
unsafe impl Send for phx_text {}
// SAFETY: as above.
unsafe impl Sync for phx_text {}

impl phx_text {
    pub const fn empty() -> Self {
        Self { data: null(), length: 0 }
    }

    pub fn of(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), length: text.len() }
    }

    pub fn of_option(text: Option<&str>) -> Self {
        text.map_or(Self::empty(), Self::of)
    }
}

/// An affine transform: three rows of four, for column vectors; the fourth row is (0, 0, 0, 1). The layout of a palette
/// row, 48 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_matrix {
    /// The rows; `rows[i][3]` is the translation.
    pub rows: [[f32; 4]; 3],
}

/// Translation, rotation (a quaternion x, y, z, w) and scale: applied in the order scale, rotation, translation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_trs {
    /// Units of the model.
    pub translation: [f32; 3],
    /// x, y, z, w; of any length above 0.
    pub rotation: [f32; 4],
    /// A factor per axis.
    pub scale: [f32; 3],
}

/// A rotation, then a translation, in double precision.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_rigid {
    /// x, y, z, w.
    pub rotation: [f64; 4],
    /// Units of the model.
    pub translation: [f64; 3],
}

/// A value of a blend space's axes; on a line `y` is not used.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_parameter {
    /// The first axis.
    pub x: f32,
    /// The second axis.
    pub y: f32,
}

/// An axis-aligned box.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_box {
    /// The least corner; above `max` in an empty box.
    pub min: [f32; 3],
    /// The greatest corner.
    pub max: [f32; 3],
}

/// What happens at the ends of a clip.
pub type phx_loop_mode = u32;
/// One pass.
pub const PHX_LOOP_ONCE: phx_loop_mode = 0;
/// From the start again.
pub const PHX_LOOP_REPEAT: phx_loop_mode = 1;
/// Forwards and backwards in turns.
pub const PHX_LOOP_PING_PONG: phx_loop_mode = 2;

/// What an action does after its last pass.
pub type phx_at_end = u32;
/// It holds the last pose.
pub const PHX_END_HOLD: phx_at_end = 0;
/// It stops.
pub const PHX_END_STOP: phx_at_end = 1;
/// It fades out within seconds that are given beside.
pub const PHX_END_FADE_OUT: phx_at_end = 2;

/// Which pose is meant.
pub type phx_pose_stage = u32;
/// The animation: blended clips, before overrides and modifiers.
pub const PHX_STAGE_BEFORE: phx_pose_stage = 0;
/// What is shown: after overrides and modifiers.
pub const PHX_STAGE_AFTER: phx_pose_stage = 1;

/// The space of matrices and poses.
pub type phx_pose_space = u32;
/// Relative to the parent joint.
pub const PHX_SPACE_LOCAL: phx_pose_space = 0;
/// Relative to the character.
pub const PHX_SPACE_MODEL: phx_pose_space = 1;
/// The world, in which `phx_instance_set_world` places the character.
pub const PHX_SPACE_WORLD: phx_pose_space = 2;

/// Channels of a joint, in tracks of clips that are made from arrays.
pub type phx_channel = u32;
/// Three numbers per key.
pub const PHX_CHANNEL_TRANSLATION: phx_channel = 0;
/// Four numbers per key: a quaternion x, y, z, w.
pub const PHX_CHANNEL_ROTATION: phx_channel = 1;
/// Three numbers per key.
pub const PHX_CHANNEL_SCALE: phx_channel = 2;
