//! Import of glTF 2.0 into raw data: `.gltf` with external and embedded buffers, and `.glb`.
//!
//! Start with [`read_path`] or, for finished rigs, with [`import_path`](super::import_path). Files are
//! not trusted: every index, range and count is checked before use, and memory is charged to a
//! [memory limit](MEMORY_PER_BYTE) before it is allocated. The import repairs what it can; the
//! [report](super::ImportReport) lists the repairs and everything of the file that is not used.

mod accessor;
mod buffers;
mod clips;
mod container;
mod document;
mod error;
mod extensions;
mod humanoid;
mod images;
mod influences;
mod inventory;
mod limits;
mod material_json;
mod materials;
mod matrix;
mod meshes;
mod meshopt;
mod nodes;
mod plain;
mod scenes;
mod summary;
mod unread;
mod uri;

pub use error::GltfErrorKind;
pub use extensions::ExtensionEffect;
pub use limits::{
    MAX_FILE_BYTES, MAX_JSON_DEPTH, MAX_REPORT_ENTRIES, MAX_SKIN_JOINTS, MAX_ZERO_ELEMENTS, MEMORY,
    MEMORY_BASE, MEMORY_PER_BYTE, WEIGHT_SUM_TOLERANCE,
};
pub use uri::external_files;

use super::{ImportReport, UpAxis};
use crate::build::RootMotionOptions;
use crate::import::ImportError;
use crate::mesh::ImageMode;
use crate::raw::RawScene;
use buffers::Buffers;
use error::Fault;
use limits::{MemoryLimit, Notes};
use scenes::Scenes;
use std::path::Path;

/// Settings of an import.
///
/// ```
/// use phalanx::import::{ImportOptions, mannequin_with};
///
/// # fn main() -> Result<(), phalanx::import::ImportError> {
/// let options = ImportOptions {
///     lenient: true, // Reads files that require unsupported extensions.
///     trim: true,    // Clips begin at 0 s.
///     ..ImportOptions::default()
/// };
/// let rig = mannequin_with(&options)?;
/// assert_eq!(rig.clips().len(), 11);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// The up axis of the result. Default: Y, as in glTF.
    pub up_axis: UpAxis,
    /// Metres per unit of a BVH file, which states no unit; glTF files are in metres. See
    /// [`BvhOptions::unit`](super::BvhOptions::unit). Default: 1.
    pub unit: f64,
    /// Nodes (by name, else by index in the file) whose subtrees become separate rigs. Used by
    /// [`import_path`](super::import_path) and [`import_slice`](super::import_slice). Default: none.
    pub split: Vec<String>,
    /// Extraction of root motion from clips; its up axis is replaced by `up_axis`. Used by
    /// [`import_path`](super::import_path) and [`import_slice`](super::import_slice). Default: `None`.
    pub root_motion: Option<RootMotionOptions>,
    /// Reading of images. Default: decoded, if the feature `images` is enabled.
    pub images: ImageMode,
    /// Whether URIs may leave the file's folder with `..`. Default: no.
    pub parent_folders: bool,
    /// Whether to import files that require an extension which is not read and changes geometry, textures or animation. The
    /// report states the effect. Vertices that are only in Draco data are left out. Clips with keys below 0 s are moved so
    /// that the first key is at 0. Default: no, such a file is an error ([`GltfErrorKind::Extension`]), and such clips are
    /// left out.
    pub lenient: bool,
    /// Whether clips that begin late are cut so that their first key is at 0 ([`RawScene::trim_clips`]), and clips with keys
    /// below 0 s are moved. Default: no, the report names them.
    pub trim: bool,
    /// Limit on the memory that the import allocates and on the rows of its clips, bytes. Default: `None`, 64 MiB plus 64
    /// times the files' size; for rows, 16 MiB plus 24 times the file's size.
    pub memory_limit: Option<u64>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            up_axis: UpAxis::Y,
            unit: super::bvh::METRES,
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

/// Imports a `.gltf` or `.glb` file; files it refers to are read from its folder.
///
/// Units are the file's, metres and radians; the up axis is the options'.
///
/// # Errors
/// If the file has an error that cannot be repaired: see [`GltfErrorKind`].
pub fn read_path(
    path: &Path,
    options: &ImportOptions,
) -> Result<(RawScene, ImportReport), ImportError> {
    let name = path.display().to_string();
    let bytes = uri::read_file(path).map_err(|fault| fault.in_file(&name))?;
    let base = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    read_slice(&bytes, &name, Some(base), options)
}

/// Imports the bytes of a `.gltf` or `.glb` file. `name` is used in messages and for the scene.
///
/// `base` is the folder of external files; without it they are an error.
///
/// # Errors
/// Those of [`read_path`].
pub fn read_slice(
    bytes: &[u8],
    name: &str,
    base: Option<&Path>,
    options: &ImportOptions,
) -> Result<(RawScene, ImportReport), ImportError> {
    let mut notes = Notes::default();
    let scene = read(bytes, base, options, &mut notes);
    let mut scene = scene.map_err(|fault| fault.in_file(name))?;
    scene.name = name.to_owned();
    scene.convert_up_axis(options.up_axis);
    Ok((scene, notes.finish()))
}

fn read(
    bytes: &[u8],
    base: Option<&Path>,
    options: &ImportOptions,
    notes: &mut Notes,
) -> Result<RawScene, Fault> {
    let container = container::split(bytes)?;
    let counts = container::survey(container.json)?;
    let mut memory = MemoryLimit::new(bytes.len() as u64, options.memory_limit);
    memory.charge(bytes.len() as u64)?;
    let text = plain::plain(container.json, &mut memory, notes)?;
    let mut document = document::Document::parse(&text, &counts, &mut memory)?;
    let inventory = inventory::Inventory::take(&text, &mut memory)?;
    document.check(&inventory, options.lenient, notes)?;
    unread::cameras(&document, notes);
    unread::meshes(&document, notes);
    extensions::leave_out_draco(&mut document, options.lenient, notes)?;
    let mut buffers = Buffers::new(&mut document, container.bin, base, options, memory);
    let slots = smallest_skins(&document);
    let sources = materials::Sources {
        textures: &document.textures,
        samplers: &document.samplers,
        images: document.images.len(),
    };
    let memory = &mut buffers.memory;
    let materials = materials::materials(document.materials, &sources, memory, notes)?;
    let mut streams = unread::Streams::default();
    let list = document.meshes;
    let meshes = meshes::meshes(list, &slots, &materials, &mut streams, &mut buffers, notes)?;
    streams.report(&inventory, &materials, &mut buffers.memory, notes)?;
    let skin_count = document.skins.len();
    let humanoid = humanoid::humanoid(&document.extensions, document.nodes.len(), notes);
    let mut nodes = nodes::nodes(document.nodes, &meshes, skin_count, &mut buffers, notes)?;
    let skins = nodes::skins(document.skins, nodes.len(), &mut buffers, notes)?;
    let scenes = Scenes::read(document.scenes, document.scene, &mut nodes, notes)?;
    let list = document.animations;
    let (sources, clips) = clips::clips(list, &nodes, &scenes, options, &mut buffers, notes)?;
    scenes.report(&nodes, &skins, &clips, notes);
    // Images come last: if memory runs out, the import can do without them.
    let (list, mode) = (document.images, options.images);
    if mode != ImageMode::Skip {
        unread::images(list.len(), &materials, notes);
    }
    let images = images::images(list, &materials, mode, &mut buffers, notes);
    let mut scene = RawScene {
        name: String::new(),
        nodes,
        skins,
        clips,
        meshes,
        materials,
        images,
        channels: Vec::new(),
        scenes: scenes.roots,
        default_scene: scenes.default,
        humanoid,
    };
    summary::late_clips(
        &mut scene,
        &sources,
        options.trim,
        &mut buffers.memory,
        notes,
    )?;
    summary::repeated_names(&scene, &mut buffers.memory, notes)?;
    Ok(scene)
}

/// For every mesh, the number of joints of the smallest skin that a node uses with it.
fn smallest_skins(document: &document::Document) -> Vec<Option<usize>> {
    let mut slots = vec![None; document.meshes.len()];
    for node in &document.nodes {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else {
            continue;
        };
        let joints = document.skins.get(skin.value()).map(|s| s.joints.len());
        if let (Some(slot), Some(joints)) = (slots.get_mut(mesh.value()), joints) {
            *slot = Some(slot.map_or(joints, |least: usize| least.min(joints)));
        }
    }
    slots
}
