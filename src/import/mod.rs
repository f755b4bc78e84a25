//! From files to rigs: glTF 2.0, BVH, markers, and the raw scenes in between.
//!
//! Start with [`import_rig`], or with [`import_path`] for options and the report. For characters made in code, start with [`raw`].

#[cfg(feature = "gltf")]
mod builtin;
pub mod bvh;
mod clip_name;
mod error;
mod fault;
#[cfg(feature = "gltf")]
mod file;
#[cfg(feature = "gltf")]
mod gltf;
#[cfg(feature = "gltf")]
pub(crate) mod markers;
mod options;
#[cfg(feature = "gltf")]
mod read_file;
mod repeated;
mod split;
#[cfg(feature = "gltf")]
mod travel;
mod trim;

pub use crate::raw::{ReportEntry, Severity, UpAxis};
#[cfg(feature = "gltf")]
pub use builtin::{MANNEQUIN, mannequin, mannequin_with};
pub use clip_name::clip_name_from_file;
pub use error::ImportError;
pub use fault::ImportFault;
#[cfg(feature = "gltf")]
pub use file::{
    Imported, RigLink, build_path, import_path, import_rig, import_slice, read_path, read_slice,
};
#[cfg(feature = "gltf")]
pub use gltf::{MEMORY_BASE, MEMORY_PER_BYTE, external_files};
#[cfg(feature = "gltf")]
pub use markers::{add_markers, marker_file, parse_markers, read_markers};
pub use options::ImportOptions;
pub use split::SplitScene;

/// Raw data, the input of the builders: plain arrays in file order, not packed and not resampled.
///
/// Fill a [`RawScene`](raw::RawScene) to make a character in code, and pass it to [`build_rig`](crate::build::build_rig).
pub mod raw {
    pub use crate::raw::{
        Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
    };
}
