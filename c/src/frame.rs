//! Frames: palettes into the caller's memory, at once or in parts on threads of the caller.

mod memory;
mod parts;
#[cfg(test)]
pub(crate) mod tests;

use crate::border::*;
use crate::convert;
use crate::crowd::{CrowdState, on_pool, phx_crowd};
use crate::modifiers::{HookCall, phx_hook_call};
use crate::types::*;
use memory::{COLUMN_BYTES, Columns, Memory, ROW_BYTES};
use parts::FrameState;
use phalanx::crowd::{FrameId, RowLayout, Schedule};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// How a palette's matrices are written.
pub type phx_row_format = u32;
/// `phx_matrix`, 48 bytes: three rows of four.
pub const PHX_ROWS_3X4: phx_row_format = 0;
/// 64 bytes: four columns of four, the fourth row being (0, 0, 0, 1). One multiplies it by column vectors.
pub const PHX_COLUMNS_4X4: phx_row_format = 1;

/// The caller's memory in messages.
const MEMORY: &str = "the frame's memory";

/// The most rows that palettes can be aligned to.
const MAX_ALIGN: u32 = 1 << 16;

/// How a frame is written. `phx_options_init` with `PHX_FRAME_OPTIONS` sets the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_frame_options {
    /// The size of this struct.
    pub size: usize,
    /// How matrices are written. Default `PHX_ROWS_3X4`.
    pub format: phx_row_format,
    /// Every palette starts at a multiple of this many rows, at most 65,536; 0 and 1 are no alignment. Default 0.
    pub align: u32,
    /// Not 0 if the memory still has all rows of this crowd's last frame, in the same format: characters that are not
    /// scheduled, and palettes that tiers hold, are then not written again. Otherwise all palettes are written. Default 0.
    pub keep: u32,
    /// At most this many parts, for `phx_frame_begin`; 0 is 1. A part is never empty, so there may be fewer. Default 0.
    pub parts: u32,
    /// Called for every evaluated character whose weight of its rig's hook (`phx_crowd_add_hook`) is above 0. Default
    /// null: hooks are not called.
    pub hook: phx_hook_call,
    /// Passed to `hook`. Several threads pass it at the same time.
    pub user: *mut c_void,
}

extensible!(
    phx_frame_options,
    Self {
        size: size_of::<Self>(),
        format: PHX_ROWS_3X4,
        align: 0,
        keep: 0,
        parts: 0,
        hook: None,
        user: null_mut(),
    }
);

/// Counts of a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_frame_stats {
    /// The size of this struct.
    pub size: usize,
    /// Rows of the frame, with padding.
    pub rows: u64,
    /// Bytes of memory for these rows in the format of the options.
    pub bytes: u64,
    /// Palettes that are evaluated.
    pub instances: u64,
    /// Palettes that stay as in the last frame.
    pub carried: u64,
    /// Parts of the frame, of `phx_frame_begin`; 0 of `phx_crowd_evaluate`.
    pub parts: u32,
}

extensible!(phx_frame_stats);

/// The options, checked.
struct Request {
    layout: RowLayout,
    columns: bool,
    parts: usize,
    hook: Option<HookCall>,
}

impl Request {
    fn new(options: &phx_frame_options, last: Option<FrameId>) -> Result<Self, Error> {
        let columns = convert::choice("the format", options.format, &[false, true])?;
        if options.align > MAX_ALIGN {
            let align = options.align;
            return Err(Error::value(format!("an alignment of {align} rows; at most {MAX_ALIGN}")));
        }
        let holds = last.filter(|_| options.keep != 0);
        let layout = RowLayout { align: options.align as usize, compact: false, holds };
        let hook = options.hook.map(|call| HookCall::new(call, options.user));
        Ok(Self { layout, columns, parts: options.parts as usize, hook })
    }

    fn row_bytes(&self) -> usize {
        if self.columns { COLUMN_BYTES } else { ROW_BYTES }
    }

    fn stats(&self, schedule: &Schedule<'_>) -> phx_frame_stats {
        let (rows, stats) = (schedule.rows(), schedule.stats());
        phx_frame_stats {
            size: size_of::<phx_frame_stats>(),
            rows: rows as u64,
            bytes: rows.saturating_mul(self.row_bytes()) as u64,
            instances: stats.instances as u64,
            carried: stats.carried as u64,
            parts: 0,
        }
    }
}

/// The caller's memory before its size is compared.
#[derive(Clone, Copy)]
struct Given {
    data: *mut c_void,
    bytes: usize,
}

// SAFETY: the caller lends the memory to the call, whichever threads write to it.
unsafe impl Send for Given {}

impl Given {
    /// # Safety
    /// The caller's promise.
    unsafe fn new(data: *mut c_void, bytes: usize) -> Result<Self, Error> {
        // SAFETY: as above; numbers that may be uninitialised.
        unsafe {
            array_mut::<MaybeUninit<f32>>(data.cast(), bytes / size_of::<f32>(), MEMORY)?;
        }
        Ok(Self { data, bytes })
    }

    /// The memory for `rows` rows.
    ///
    /// # Safety
    /// The caller's promise, as long as `'a` is.
    unsafe fn rows<'a>(self, rows: usize, request: &Request) -> Result<Memory<'a>, Error> {
        let needed = rows.saturating_mul(request.row_bytes());
        if self.bytes < needed {
            return Err(Error::short("bytes of the frame's memory", self.bytes, needed));
        }
        // SAFETY: the caller's promise; it has room for the rows. They are numbers, and none is read before
        // it was written.
        unsafe {
            Ok(match request.columns {
                true => Memory::Columns(Columns(array_mut(self.data.cast(), rows, MEMORY)?)),
                false => Memory::Rows(array_mut(self.data.cast(), rows, MEMORY)?),
            })
        }
    }
}

/// Checks where counts go, if they are wanted.
///
/// # Safety
/// The caller's promise.
unsafe fn told(out: *const phx_frame_stats) -> Result<(), Error> {
    // SAFETY: as above.
    if out.is_null() { Ok(()) } else { unsafe { fillable(out) }.map(|_| ()) }
}

/// Writes the counts, if they are wanted.
///
/// # Safety
/// The caller's promise.
unsafe fn tell(out: *mut phx_frame_stats, stats: phx_frame_stats) -> Result<(), Error> {
    // SAFETY: as above.
    if out.is_null() { Ok(()) } else { unsafe { fill(out, stats) } }
}

/// Evaluates all visible characters that are due and writes their palettes to the caller's memory, on the crowd's
/// threads. `phx_instance_describe` and `phx_instances_shown` say which rows a character has.
///
/// `memory` is aligned to 4 bytes and may be uninitialised. In `PHX_COLUMNS_4X4` it is only written, so mapped memory of
/// a graphics API will do. In `PHX_ROWS_3X4` palettes are evaluated in place, and watched joints read them once more.
/// Rows that no character has, such as padding, are not written. `out`, which may be null, gets the counts.
///
/// PHX_ERROR_SHORT: the memory is too small. Nothing was written but `out`, which says in `bytes` what is needed, and
/// the next frame is written whole; null with 0 bytes asks for the size. The frame counts as scheduled: what
/// `phx_instances_shown` says is about it, whose rows are nowhere, until the next one is written. PHX_ERROR_VALUE: the
/// format is unknown, the alignment too large, the memory not aligned. PHX_ERROR_BUSY: another call, a frame in parts, or
/// the call that has called back a hook uses the crowd.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_evaluate(
    crowd: *mut phx_crowd,
    options: *const phx_frame_options,
    memory: *mut c_void,
    bytes: usize,
    out: *mut phx_frame_stats,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, options, ()) =
            unsafe { (lend(crowd)?, self::options(options)?, told(out)?) };
        let CrowdState { crowd, pool, frame, .. } = &mut *state;
        let request = Request::new(&options, *frame)?;
        // SAFETY: the caller's promise.
        let given = unsafe { Given::new(memory, bytes) }?;
        // Whatever fails from here on, no memory has this frame.
        *frame = None;
        let (stats, written) = on_pool(pool, move || {
            let mut schedule = crowd.schedule(&request.layout);
            let stats = request.stats(&schedule);
            // SAFETY: the caller's promise.
            let written = unsafe { given.rows(schedule.rows(), &request) }.map(|memory| {
                match (memory, &request.hook) {
                    (Memory::Rows(rows), None) => schedule.write(rows),
                    (Memory::Columns(columns), None) => schedule.write(columns),
                    (Memory::Rows(rows), Some(hook)) => schedule.write_with(rows, &hook.closure()),
                    (Memory::Columns(columns), Some(hook)) => {
                        schedule.write_with(columns, &hook.closure())
                    }
                };
                schedule.id()
            });
            (stats, written)
        });
        // SAFETY: the caller's promise.
        unsafe { tell(out, stats) }?;
        *frame = Some(written?);
        Ok(())
    })
}

/// A frame whose parts the caller runs, on threads of its own.
pub struct phx_frame {
    _opaque: [u8; 0],
}

handle!(phx_frame, FrameState, b"fram", "frame", true);

/// Starts a frame that is written in parts, for job systems: `phx_frame_part` runs a part on the calling thread,
/// `phx_frame_end` ends the frame. The rows are bit for bit those of `phx_crowd_evaluate`. `out->parts` says how many
/// parts there are; `out` may be null. Watched joints are evaluated here, without hooks.
///
/// Until the end the memory stays the frame's, and every other call with the crowd is PHX_ERROR_BUSY.
///
/// Errors are those of `phx_crowd_evaluate`; no frame is started then, but one that is refused with PHX_ERROR_SHORT counts
/// as scheduled, as it does there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_frame_begin(
    crowd: *mut phx_crowd,
    options: *const phx_frame_options,
    memory: *mut c_void,
    bytes: usize,
    out: *mut phx_frame_stats,
    frame: *mut *mut phx_frame,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise. Blocks of handles stay for good, and the value of this one as long as the
        // guard lives.
        let (state, options, (), frame) = unsafe {
            (
                lend::<phx_crowd>(crowd)?,
                self::options(options)?,
                told(out)?,
                output(frame, "the frame's place")?,
            )
        };
        let request = Request::new(&options, state.frame)?;
        // SAFETY: the caller's promise.
        let given = unsafe { Given::new(memory, bytes) }?;
        // SAFETY: the caller promises the memory until the frame ends.
        let (stats, begun) = unsafe { FrameState::begin(state, request, given) };
        // SAFETY: the caller's promise.
        unsafe { tell(out, stats) }?;
        frame.write(new(begun?));
        Ok(())
    })
}

/// Runs one part of a frame on the calling thread. Different threads may run different parts at the same time, in any
/// order; each part is run once.
///
/// PHX_ERROR_NOT_FOUND: there is no such part. PHX_ERROR_STATE: the part was run, or is running. PHX_ERROR_HANDLE: the
/// frame has ended. PHX_ERROR_BUSY: another thread is ending it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_frame_part(frame: *mut phx_frame, index: u32) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let frame = unsafe { share(frame) }?;
        frame.run(index as usize)
    })
}

/// Ends a frame: runs the parts that were not run, on the calling thread, and releases crowd and memory. The handle is
/// freed. Null is nothing to end.
///
/// PHX_ERROR_BUSY: a part is running on another thread; the frame has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_frame_end(frame: *mut phx_frame) -> phx_status {
    entry(|| {
        if frame.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { take(frame) }?.end();
        Ok(())
    })
}
