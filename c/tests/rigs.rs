//! Imports, rigs, meshes, libraries and clips, called as C calls them and compared with the library used directly.

use phalanx::format::{ClipForm, LibraryWriter, Provenance};
use phalanx::import::{self, ImportOptions};
use phalanx::mesh::ImageMode;
use phalanx::rig::Rig;
use phalanx_c::*;
use std::path::PathBuf;
use std::ptr::{null, null_mut};

#[path = "rigs/arrays.rs"]
mod arrays;
#[path = "rigs/clip.rs"]
mod clip;
#[path = "rigs/import.rs"]
mod import_files;
#[path = "rigs/library.rs"]
mod library;
#[path = "rigs/mesh.rs"]
mod mesh;
#[path = "rigs/rig.rs"]
mod rig;

/// The message of the last failure.
fn message() -> String {
    let (mut text, mut length) = (null(), 0);
    assert_eq!(unsafe { phx_error_message(&raw mut text, &raw mut length) }, PHX_OK);
    string(phx_text { data: text, length })
}

fn ok(status: phx_status) {
    assert_eq!(status, PHX_OK, "{}", message());
}

fn string(text: phx_text) -> String {
    let bytes: &[u8] = slice(text.data.cast(), text.length);
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A view of the library, while its owner lives.
fn slice<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, count) } }
}

/// A struct whose first field is its size, else zero.
fn sized<T: Copy>(size: usize) -> T {
    unsafe {
        let mut value: T = std::mem::zeroed();
        (&raw mut value).cast::<usize>().write(size);
        value
    }
}

/// What a getter writes. It refuses null and structs of unknown size, and writes nothing then.
fn described<T: Copy>(call: impl Fn(*mut T) -> phx_status) -> T {
    assert_eq!(call(null_mut()), PHX_ERROR_NULL);
    for size in [0, size_of::<T>() - 1, size_of::<T>() + 8] {
        // In place, as moves need not keep padding.
        let mut out = std::mem::MaybeUninit::<T>::uninit();
        unsafe {
            std::ptr::write_bytes(out.as_mut_ptr(), 0, 1);
            out.as_mut_ptr().cast::<usize>().write(size);
        }
        assert_eq!(call(out.as_mut_ptr()), PHX_ERROR_STRUCT_SIZE, "{size}");
        let bytes: &[u8] = slice(out.as_ptr().cast(), size_of::<T>());
        assert!(bytes[size_of::<usize>()..].iter().all(|&b| b == 0));
    }
    let mut out: T = sized(size_of::<T>());
    ok(call(&raw mut out));
    assert_eq!(unsafe { *(&raw const out).cast::<usize>() }, size_of::<T>());
    out
}

/// The struct of a kind of options, at its defaults.
fn defaults<T: Copy>(kind: phx_options_kind) -> T {
    let mut options: T = sized(0);
    ok(unsafe { phx_options_init(kind, (&raw mut options).cast(), size_of::<T>()) });
    options
}

/// The handle that a call makes. It refuses null as the handle's place.
fn made<T>(call: impl Fn(*mut *mut T) -> phx_status) -> *mut T {
    assert_eq!(call(null_mut()), PHX_ERROR_NULL);
    let mut out = null_mut();
    ok(call(&raw mut out));
    assert!(!out.is_null());
    out
}

/// A call that fails so, and leaves its output alone.
fn refused<T>(wanted: phx_status, call: impl FnOnce(*mut *mut T) -> phx_status) -> String {
    let mut out = std::ptr::dangling_mut::<T>();
    assert_eq!(call(&raw mut out), wanted, "{}", message());
    assert_eq!(out, std::ptr::dangling_mut());
    message()
}

fn mannequin() -> *mut phx_rig {
    made(|out| unsafe { phx_rig_new_mannequin(out) })
}

/// The same character in Rust.
fn mannequin_rig() -> Rig {
    import::mannequin_with(&encoded()).unwrap()
}

fn encoded() -> ImportOptions {
    ImportOptions { images: ImageMode::Encoded, ..ImportOptions::default() }
}

fn free_rig(rig: *mut phx_rig) {
    ok(unsafe { phx_rig_free(rig) });
}

fn free_clip(clip: *mut phx_clip) {
    ok(unsafe { phx_clip_free(clip) });
}

fn clip_info(clip: *const phx_clip) -> phx_clip_info {
    described(|out| unsafe { phx_clip_describe(clip, out) })
}

fn rig_info(rig: *const phx_rig) -> phx_rig_info {
    described(|out| unsafe { phx_rig_describe(rig, out) })
}

/// The content hashes of a rig's clips.
fn hashes(rig: *const phx_rig) -> Vec<u64> {
    let clip = |index| {
        let clip = made(|out| unsafe { phx_rig_clip(rig, index, out) });
        let hash = clip_info(clip).content_hash;
        free_clip(clip);
        hash
    };
    (0..rig_info(rig).clip_count).map(clip).collect()
}

fn rust_hashes(rig: &Rig) -> Vec<u64> {
    rig.clips().iter().map(|clip| clip.content_hash()).collect()
}

/// A rig as a .phx file.
fn phx(rig: &Rig, form: ClipForm) -> Vec<u8> {
    let mut writer = LibraryWriter::new(std::io::Cursor::new(Vec::new()), rig.skeleton()).unwrap();
    for clip in rig.clips() {
        writer.add_clip(clip, clip.name(), form).unwrap();
    }
    writer.add_rig(rig).unwrap();
    writer.finish(&Provenance::default()).unwrap().into_inner()
}

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("phalanx-c-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The path of a model of the shared folder; `None`, told on stdout, where it is missing.
fn asset(name: &str) -> Option<String> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/assets");
    let folder = std::env::var("PHALANX_ASSETS").unwrap_or_else(|_| own.into());
    let path = PathBuf::from(folder).join(name);
    if path.is_file() {
        return Some(path.to_str().unwrap().to_owned());
    }
    println!("skipped: {} is missing", path.display());
    let required = std::env::var("PHALANX_REQUIRE_ASSETS").is_ok_and(|v| v == "1");
    assert!(!required, "{} is missing", path.display());
    None
}

fn rig_file(path: &str, options: *const phx_import_options) -> *mut phx_rig {
    let text = path.as_ptr().cast();
    made(|out| unsafe { phx_rig_new_file(text, path.len(), options, out) })
}

fn rig_memory(bytes: &[u8], name: &str, options: *const phx_import_options) -> *mut phx_rig {
    let (text, length) = (name.as_ptr().cast(), name.len());
    let (data, size) = (bytes.as_ptr(), bytes.len());
    made(|out| unsafe { phx_rig_new_memory(data, size, text, length, options, out) })
}
