//! Import of glTF 2.0 into raw data: `.gltf` with external and embedded buffers, and `.glb`.
//!
//! Files are not trusted: every index, range and count is checked before use, and memory is charged to a
//! [memory limit](MEMORY_PER_BYTE) before it is allocated. The import repairs what it can; the
//! [report](super::ReportEntry) lists the repairs and everything of the file that is not used.

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
mod springs;
mod summary;
mod unread;
mod uri;

pub use limits::{MEMORY_BASE, MEMORY_PER_BYTE};
pub use uri::external_files;

use super::{ImportOptions, ReportEntry};
use crate::import::ImportError;
use crate::mesh::ImageMode;
use crate::raw::RawScene;
use buffers::Buffers;
use error::Fault;
use limits::{MemoryLimit, Notes};
use scenes::Scenes;
use std::path::Path;

/// Reads the bytes of a `.gltf` or `.glb` file.
pub(super) fn read_slice(
    bytes: &[u8],
    name: &str,
    base: Option<&Path>,
    options: &ImportOptions,
) -> Result<(RawScene, Vec<ReportEntry>), ImportError> {
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
    let mut memory = MemoryLimit::new(bytes.len() as u64, options.memory_limit);
    memory.charge(bytes.len() as u64)?;
    let (text, counts) = plain::plain(container.json, &mut memory, notes)?;
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
    let children = document.nodes.iter().map(|node| {
        let children = node.children.iter().flatten();
        children.map(|child| child.value()).collect()
    });
    let children: Vec<Vec<usize>> = children.collect();
    let mut nodes = nodes::nodes(document.nodes, &meshes, skin_count, &mut buffers, notes)?;
    let springs = springs::springs(&document.extensions, &nodes, &children, notes);
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
        springs,
    };
    summary::late_clips(&mut scene, &sources, options.trim, &mut buffers.memory, notes)?;
    summary::repeated_names(&scene, &mut buffers.memory, notes)?;
    Ok(scene)
}

/// For every mesh, the number of joints of the smallest skin that a node uses with it.
fn smallest_skins(document: &document::Document) -> Vec<Option<usize>> {
    let mut slots = vec![None; document.meshes.len()];
    for node in &document.nodes {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else { continue };
        let joints = document.skins.get(skin.value()).map(|s| s.joints.len());
        if let (Some(slot), Some(joints)) = (slots.get_mut(mesh.value()), joints) {
            *slot = Some(slot.map_or(joints, |least: usize| least.min(joints)));
        }
    }
    slots
}
