//! Import of glTF 2.0 into raw data: `.gltf` with external and embedded buffers, `.glb`.
//!
//! Lives here: reading, checking and repairing files, one concept per file. Not here: skeletons,
//! skins and clips as the runtime plays them (the builders make those), other file formats.
//! Nothing trusts the file: every index, range and count is checked before it is used, memory is
//! paid for from a [memory limit](MEMORY_PER_BYTE) before it is allocated.

mod accessor;
mod buffers;
mod clips;
mod container;
mod document;
mod error;
mod influences;
mod limits;
mod materials;
mod matrix;
mod meshes;
mod meshopt;
mod nodes;
mod uri;

pub use error::{GltfError, GltfErrorKind};
pub use limits::{
    MAX_FILE_BYTES, MAX_JSON_DEPTH, MAX_REPORT_ENTRIES, MAX_SKIN_JOINTS, MAX_ZERO_ELEMENTS,
    MEMORY_BASE, MEMORY_PER_BYTE, WEIGHT_SUM_TOLERANCE,
};
pub use uri::external_files;

use super::raw::RawScene;
use super::{ImportReport, UpAxis};
use crate::build::RootMotionOptions;
use crate::mesh::ImageMode;
use buffers::Buffers;
use error::Fault;
use limits::{MemoryLimit, Notes};
use std::path::Path;

/// What an import may do.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// The axis that points up in the result; glTF's is Y, the default.
    pub up_axis: UpAxis,
    /// Nodes (by name, else by index in the file) whose subtrees become rigs of their own; read by
    /// [`import_path`](super::import_path) and [`import_slice`](super::import_slice).
    pub split: Vec<String>,
    /// What is taken out of clips as root motion, if anything; its up axis is `up_axis`. Read by
    /// [`import_path`](super::import_path) and [`import_slice`](super::import_slice).
    pub root_motion: Option<RootMotionOptions>,
    /// What becomes of images; decoded by default, where the feature `images` is there.
    pub images: ImageMode,
    /// Whether URIs may climb out of the file's folder with `..` (default: no).
    pub parent_folders: bool,
    /// Bytes the import may allocate; `None` (default) is 64 MiB and 64 times the files' size.
    pub memory_limit: Option<u64>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            up_axis: UpAxis::Y,
            split: Vec::new(),
            root_motion: None,
            images: ImageMode::default(),
            parent_folders: false,
            memory_limit: None,
        }
    }
}

/// Imports a `.gltf` or `.glb` file; files it refers to are looked up beside it.
///
/// Result: metres and radians as in the file, up axis as in the options.
/// Errors: everything that cannot be repaired, see [`GltfErrorKind`].
pub fn read_path(
    path: &Path,
    options: &ImportOptions,
) -> Result<(RawScene, ImportReport), GltfError> {
    let name = path.display().to_string();
    let bytes = uri::read_file(path).map_err(|fault| fault.in_file(&name))?;
    let base = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    read_slice(&bytes, &name, Some(base), options)
}

/// Imports the bytes of a `.gltf` or `.glb` file. `name` is for messages and the scene.
///
/// `base` is the folder of external files; without one they are refused.
/// Errors: as [`read_path`].
pub fn read_slice(
    bytes: &[u8],
    name: &str,
    base: Option<&Path>,
    options: &ImportOptions,
) -> Result<(RawScene, ImportReport), GltfError> {
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
    let mut document = document::Document::parse(container.json, &counts, &mut memory)?;
    document.check(notes)?;
    let mut buffers = Buffers::new(&mut document, container.bin, base, options, memory);
    let slots = smallest_skins(&document);
    let materials = materials::materials(
        document.materials,
        &document.textures,
        document.images.len(),
        notes,
    )?;
    let meshes = meshes::meshes(
        document.meshes,
        &slots,
        materials.len(),
        &mut buffers,
        notes,
    )?;
    let skin_count = document.skins.len();
    let nodes = nodes::nodes(document.nodes, &meshes, skin_count, &mut buffers, notes)?;
    let skins = nodes::skins(document.skins, nodes.len(), &mut buffers, notes)?;
    let (scenes, default_scene) = nodes::scenes(document.scenes, document.scene, &nodes, notes)?;
    let clips = clips::clips(document.animations, &nodes, &mut buffers, notes)?;
    // Pictures come last: they are what the memory can do without.
    let mut wanted = vec![false; document.images.len()];
    for image in materials.iter().filter_map(|m| m.base_color_image) {
        if let Some(wanted) = wanted.get_mut(image) {
            *wanted = true;
        }
    }
    let images = materials::images(
        document.images,
        &wanted,
        options.images,
        &mut buffers,
        notes,
    );
    Ok(RawScene {
        name: String::new(),
        nodes,
        skins,
        clips,
        meshes,
        materials,
        images,
        channels: Vec::new(),
        scenes,
        default_scene,
    })
}

/// For every mesh the joints of the smallest skin that some node uses with it.
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
