//! `ImportOptions`: the settings of an import.

use super::UpAxis;
use crate::build::RootMotionOptions;
use crate::mesh::ImageMode;

/// Settings of an import.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), phalanx::import::ImportError> {
/// use phalanx::import::{ImportOptions, mannequin_with};
///
/// let options = ImportOptions {
///     lenient: true, // Reads files that require unsupported extensions.
///     trim: true,    // Clips begin at 0 s.
///     ..ImportOptions::default()
/// };
/// let rig = mannequin_with(&options)?;
/// assert_eq!(rig.clips().len(), 11);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// The up axis of the result. Default: Y, as in glTF.
    pub up_axis: UpAxis,
    /// Metres per unit of a BVH file, which states no unit: 0.01 for centimetres, or any finite number above 0. glTF files
    /// are in metres. Default: 1.
    pub unit: f64,
    /// Nodes (by name, else by index in the file) whose subtrees become separate rigs. Used by
    /// `import_path` and `import_slice`. Default: none.
    pub split: Vec<String>,
    /// Extraction of root motion from clips; its up axis is replaced by `up_axis`. Used by
    /// `import_path` and `import_slice`. Default: `None`.
    pub root_motion: Option<RootMotionOptions>,
    /// Reading of images. Default: decoded, if the feature `images` is enabled.
    pub images: ImageMode,
    /// Whether URIs may leave the file's folder with `..`. Default: no.
    pub parent_folders: bool,
    /// Whether to import files that require an extension which is not read and changes geometry, textures or animation. The
    /// report states the effect. Vertices that are only in Draco data are left out. Clips with keys below 0 s are moved so
    /// that the first key is at 0. Default: no, such a file is an error, and such clips are
    /// left out.
    pub lenient: bool,
    /// Whether clips that begin late are cut so that their first key is at 0 ([`RawScene::trim_clips`](super::raw::RawScene::trim_clips)), and clips with keys
    /// below 0 s are moved. Default: no, the report names them.
    pub trim: bool,
    /// Limit on the memory that the import allocates and on the rows of its clips, bytes. Default: `None`, 64 MiB plus 64
    /// times the files' size; for rows, 16 MiB plus 24 times the file's size; the tracks of a BVH file take at most ten times its
    /// size.
    pub memory_limit: Option<u64>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            up_axis: UpAxis::Y,
            unit: 1.0,
            split: Vec::new(),
            root_motion: None,
            images: ImageMode::default(),
            parent_folders: false,
            lenient: false,
            trim: false,
            memory_limit: None,
        }
    }
}
