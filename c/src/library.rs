//! Libraries: .phx files whose clips are read one by one.

use crate::border::*;
use crate::clip::phx_clip;
use crate::convert::small;
use crate::rig::{at, phx_rig, view};
use crate::types::*;
use phalanx::format::{ClipForm, Library};
use std::ffi::c_char;
use std::path::Path;
use std::sync::Arc;

/// What a library's handle owns.
pub struct LibraryState {
    library: Library,
    /// The file's clips; their names are the library's.
    entries: Vec<phx_library_entry>,
}

impl LibraryState {
    fn new(library: Library) -> Self {
        let infos = (0..library.clip_count()).filter_map(|clip| library.clip_info(clip));
        let entries = infos.map(|info| phx_library_entry {
            name: phx_text::of(info.name),
            duration: info.duration,
            coded: (info.form == Some(ClipForm::Coded)).into(),
            bytes: info.bytes,
        });
        Self { entries: entries.collect(), library }
    }
}

/// An open .phx file, whose clips are read when they are asked for.
pub struct phx_library {
    _opaque: [u8; 0],
}

handle!(phx_library, LibraryState, b"libr", "library");

/// Opens a .phx file and keeps it open. Only its tables are read. The file must not change while it is open: then
/// clips are refused.
///
/// PHX_ERROR_FILE: the file cannot be read. PHX_ERROR_DATA: it is no .phx file or is damaged. PHX_ERROR_VERSION: it is
/// of another version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_library_new_file(
    path: *const c_char,
    path_length: usize,
    out: *mut *mut phx_library,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (path, out) =
            unsafe { (text(path, path_length, "the path")?, output(out, "the library's place")?) };
        out.write(new(LibraryState::new(Library::open(Path::new(path))?)));
        Ok(())
    })
}

/// Opens a .phx file that lies in memory. The bytes are copied.
///
/// Errors are those of `phx_library_new_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_library_new_memory(
    data: *const u8,
    size: usize,
    out: *mut *mut phx_library,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (data, out) =
            unsafe { (bytes(data, size, "the file's data")?, output(out, "the library's place")?) };
        out.write(new(LibraryState::new(Library::from_bytes(data)?)));
        Ok(())
    })
}

/// Frees a library and closes its file. Clips that were read stay. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_library_free(library: *mut phx_library) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(library) })
}

/// A clip of a library, as the file's table has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_library_entry {
    /// The name; it may be empty.
    pub name: phx_text,
    /// Seconds.
    pub duration: f32,
    /// Flag: the clip is coded, and reading it takes longer.
    pub coded: u32,
    /// The size in the file.
    pub bytes: u64,
}

/// What a library holds. The views stay until the library is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_library_info {
    /// The size of this struct.
    pub size: usize,
    /// The clips, in the order of the file.
    pub clips: *const phx_library_entry,
    /// The number of clips.
    pub clip_count: u32,
    /// The size of the file.
    pub bytes: u64,
}

extensible!(phx_library_info);

/// Tells what a library holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_library_describe(
    library: *const phx_library,
    out: *mut phx_library_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(library) }?;
        let info = phx_library_info {
            size: 0,
            clips: view(&state.entries),
            clip_count: small(state.entries.len()),
            bytes: state.library.byte_len() as u64,
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// Reads a clip. For a rig it comes in the order of joints that the rig has in memory, so that a crowd takes it as it
/// is; for null in that of the file. Threads may read from one library at the same time.
///
/// PHX_ERROR_NOT_FOUND: there is no clip of this index. PHX_ERROR_DATA: the clip is damaged, or is of another skeleton
/// than the rig. PHX_ERROR_FILE: the file cannot be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_library_clip(
    library: *const phx_library,
    index: u32,
    rig: *const phx_rig,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, rig, out) = unsafe {
            let rig = if rig.is_null() { None } else { Some(share(rig)?) };
            (share(library)?, rig, output(out, "the clip's place")?)
        };
        let index = index as usize;
        at(&state.entries, index, "clip")?;
        let clip = match rig {
            Some(rig) => state.library.clip_for(index, rig.rig.skeleton())?,
            None => state.library.clip(index)?,
        };
        out.write(new(Arc::new(clip)));
        Ok(())
    })
}
