//! Imports: files of characters, and the rigs, links and reports that come of them.

use crate::border::*;
use crate::convert::{none, small};
use crate::rig::{RigState, at, new_rig, phx_rig, view};
use crate::types::*;
use phalanx::format::{Library, RigOptions, is_phx};
use phalanx::import::{self, ImportOptions, Imported, ReportEntry, Severity};
use phalanx::mesh::ImageMode;
use phalanx::rig::Rig;
use std::ffi::c_char;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

mod options;

pub use options::*;

/// The rig of a .phx file.
fn of_library(library: &Library, file: &str, import: &Import) -> Result<Imported, Error> {
    let options = RigOptions { clips: import.clips, images: import.options.images };
    let rig = library.rig(&options).map_err(|error| error.in_file(file))?;
    Ok(Imported { rigs: vec![rig], links: Vec::new(), report: Vec::new() })
}

/// Whether a file begins as .phx files do. What is no regular file is not opened: a pipe would block.
fn is_phx_file(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = |f: std::fs::File| f.take(16).read_to_end(&mut head);
    path.is_file() && std::fs::File::open(path).and_then(read).is_ok() && is_phx(&head)
}

fn import_file(file: &str, import: &Import) -> Result<Imported, Error> {
    let path = Path::new(file);
    if is_phx_file(path) {
        return of_library(&Library::open(path)?, file, import);
    }
    Ok(import::import_path(path, &import.options)?)
}

fn import_bytes(bytes: &[u8], name: &str, import: &Import) -> Result<Imported, Error> {
    if is_phx(bytes) {
        let library = Library::from_bytes(bytes).map_err(|error| error.in_file(name))?;
        return of_library(&library, name, import);
    }
    Ok(import::import_slice(bytes, name, None, &import.options)?)
}

/// What an import's handle owns.
pub struct ImportState {
    rigs: Vec<Arc<Rig>>,
    links: Vec<phx_rig_link>,
    /// Views of `report`.
    entries: Vec<phx_report_entry>,
    _report: Vec<ReportEntry>,
}

impl ImportState {
    fn new(imported: Imported) -> Self {
        let Imported { rigs, links, report } = imported;
        let entry = |e: &ReportEntry| phx_report_entry {
            severity: match e.severity {
                Severity::Note => PHX_NOTE,
                Severity::Repaired => PHX_REPAIRED,
                Severity::Dropped => PHX_DROPPED,
            },
            place: phx_text::of(&e.place),
            message: phx_text::of(&e.message),
        };
        let link = |l: import::RigLink| phx_rig_link {
            child: small(l.child),
            parent: small(l.parent),
            node: none(l.node),
        };
        Self {
            rigs: rigs.into_iter().map(Arc::new).collect(),
            links: links.into_iter().map(link).collect(),
            entries: report.iter().map(entry).collect(),
            _report: report,
        }
    }
}

/// The rigs of a file, how they are attached to each other, and what the import had to change.
pub struct phx_import {
    _opaque: [u8; 0],
}

handle!(phx_import, ImportState, b"impt", "import");

/// Imports a file: glTF (.gltf or .glb), BVH, or the rig of a .phx file. Its content says which it is. If a file of
/// markers lies beside a model, such as fox.events.json beside fox.glb, its clips get them.
///
/// `options` may be null. A file becomes one rig, unless the options split it.
///
/// PHX_ERROR_FILE: the file cannot be read. PHX_ERROR_DATA: it is refused, and the message says where.
/// PHX_ERROR_LIMIT: it needs more memory than allowed. PHX_ERROR_NOT_FOUND: it has no such root joint.
/// PHX_ERROR_UNSUPPORTED: it requires an extension that is not read, or images were to be decoded. PHX_ERROR_VERSION:
/// the .phx file is of another version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_import_new_file(
    path: *const c_char,
    path_length: usize,
    options: *const phx_import_options,
    out: *mut *mut phx_import,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (path, import, out) = unsafe {
            (
                text(path, path_length, "the path")?,
                import_options(options)?,
                output(out, "the import's place")?,
            )
        };
        out.write(new(ImportState::new(import_file(path, &import)?)));
        Ok(())
    })
}

/// Imports a file that lies in memory: glTF that refers to no other files, BVH, or .phx. The bytes are not used after
/// the call. `name` is the file's name in messages; it also names the clip of a BVH file.
///
/// Errors are those of `phx_import_new_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_import_new_memory(
    data: *const u8,
    size: usize,
    name: *const c_char,
    name_length: usize,
    options: *const phx_import_options,
    out: *mut *mut phx_import,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (data, name, import, out) = unsafe {
            (
                bytes(data, size, "the file's data")?,
                text(name, name_length, "the name")?,
                import_options(options)?,
                output(out, "the import's place")?,
            )
        };
        out.write(new(ImportState::new(import_bytes(data, name, &import)?)));
        Ok(())
    })
}

/// Frees an import. Its rigs that were taken stay. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_import_free(import: *mut phx_import) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(import) })
}

/// A rig of an import that is attached to a node of another.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_rig_link {
    /// The attached rig, by its index in the import.
    pub child: u32,
    /// The rig that it is attached to.
    pub parent: u32,
    /// The node of that rig, for `phx_rig_node`; PHX_NONE: it was at the root.
    pub node: u32,
}

/// How grave an entry of a report is.
pub type phx_severity = u32;
/// Nothing was changed.
pub const PHX_NOTE: phx_severity = 0;
/// A value was repaired.
pub const PHX_REPAIRED: phx_severity = 1;
/// Something of the file is not in the result.
pub const PHX_DROPPED: phx_severity = 2;

/// What an import repaired, left out or noticed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_report_entry {
    /// How grave it is.
    pub severity: phx_severity,
    /// The place in the file, such as: animation 0, channel 2.
    pub place: phx_text,
    /// What was found and done.
    pub message: phx_text,
}

/// What an import holds. The views stay until the import is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_import_info {
    /// The size of this struct.
    pub size: usize,
    /// The number of rigs, at least 1.
    pub rig_count: usize,
    /// How rigs are attached to each other.
    pub links: *const phx_rig_link,
    /// The number of links.
    pub link_count: usize,
    /// The report, in the order of the findings.
    pub entries: *const phx_report_entry,
    /// The number of entries.
    pub entry_count: usize,
}

extensible!(phx_import_info);

/// Tells what an import holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_import_describe(
    import: *const phx_import,
    out: *mut phx_import_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let import = unsafe { share(import) }?;
        let info = phx_import_info {
            size: 0,
            rig_count: import.rigs.len(),
            links: view(&import.links),
            link_count: import.links.len(),
            entries: view(&import.entries),
            entry_count: import.entries.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A rig of an import, as a handle of its own.
///
/// PHX_ERROR_NOT_FOUND: there is no rig of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_import_rig(
    import: *const phx_import,
    index: usize,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (import, out) = unsafe { (share(import)?, output(out, "the rig's place")?) };
        let rig = at(&import.rigs, index, "rig")?;
        out.write(new(RigState::new(rig.clone())));
        Ok(())
    })
}

/// The only rig of an import; links and the report are dropped.
fn only_rig(imported: Imported) -> Result<Rig, Error> {
    let count = imported.rigs.len();
    match imported.rigs.into_iter().next() {
        Some(rig) if count == 1 => Ok(rig),
        _ => {
            let words =
                format!("the options make {count} rigs of the file: phx_import_new_file gives all");
            Err(Error::new(PHX_ERROR_DATA, words))
        }
    }
}

/// The rig of a file: `phx_import_new_file` for files that become one rig, without the report.
///
/// PHX_ERROR_DATA: the file is refused, or the options split it into several rigs. Other errors are those of
/// `phx_import_new_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_new_file(
    path: *const c_char,
    path_length: usize,
    options: *const phx_import_options,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (path, import, out) = unsafe {
            (
                text(path, path_length, "the path")?,
                import_options(options)?,
                output(out, "the rig's place")?,
            )
        };
        out.write(new_rig(only_rig(import_file(path, &import)?)?));
        Ok(())
    })
}

/// The rig of a file that lies in memory: `phx_import_new_memory` for files that become one rig, without the report.
///
/// Errors are those of `phx_rig_new_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_new_memory(
    data: *const u8,
    size: usize,
    name: *const c_char,
    name_length: usize,
    options: *const phx_import_options,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (data, name, import, out) = unsafe {
            (
                bytes(data, size, "the file's data")?,
                text(name, name_length, "the name")?,
                import_options(options)?,
                output(out, "the rig's place")?,
            )
        };
        out.write(new_rig(only_rig(import_bytes(data, name, &import)?)?));
        Ok(())
    })
}

/// The character that is built into the library, for first steps without files: 47 joints, eleven clips, among them
/// "Idle", "Walk" and "Run", three levels of detail. Metres, Y up; it faces +Z.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_new_mannequin(out: *mut *mut phx_rig) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { output(out, "the rig's place") }?;
        let options = ImportOptions { images: ImageMode::Encoded, ..ImportOptions::default() };
        out.write(new_rig(import::mannequin_with(&options)?));
        Ok(())
    })
}
