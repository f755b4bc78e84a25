//! Extensions: those that are read, and the effect of the others.
//!
//! A file that requires an extension that is not read is refused if the extension changes geometry, textures or
//! animation, or is unknown; [`ImportOptions::lenient`](super::ImportOptions::lenient) imports the file without it. The
//! report contains every extension that is used but not read, whether the file lists it or not.

use super::document::Document;
use super::error::{Fault, ImportFault as Kind, Within, label, shorten};
use super::inventory::Inventory;
use super::limits::Notes;
use crate::words::plural;
use ::gltf::json;
use json::mesh::Semantic;
use json::validation::Checked;
use std::collections::HashSet;

/// Effects of leaving an extension out, as messages state them.
const GEOMETRY: &str = "changes geometry";
const TEXTURES: &str = "changes textures";
const ANIMATION: &str = "changes animation";
const UNKNOWN: &str = "is not known";

/// The treatment of an extension by the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// All of its data that concerns characters is read.
    Read,
    /// Part of its data is read; the text says which. Leaving out the rest has this effect.
    Partly(&'static str, &'static str),
    /// Only the named part, with its verb, is read; the rest changes nothing of a rig or its clips.
    Only(&'static str),
    /// It changes nothing that is imported: names, licences, sounds, physics, lights.
    Harmless,
    /// It changes how surfaces look in ways that pictures ignore.
    Surface,
    /// Nothing is read; leaving it out has this effect.
    Changes(&'static str),
}

use Meaning::{Changes, Harmless, Only, Partly, Read, Surface};

/// Extensions that need the C++ decoder.
const MESHOPT: Meaning = if cfg!(feature = "meshopt") { Read } else { Changes(GEOMETRY) };

const DRACO: &str = "KHR_draco_mesh_compression";

/// Every extension that is known. Once the import reads one, its line here becomes [`Read`].
const KNOWN: &[(&str, Meaning)] = &[
    ("EXT_mesh_gpu_instancing", Changes(GEOMETRY)),
    ("EXT_meshopt_compression", MESHOPT),
    ("KHR_meshopt_compression", MESHOPT),
    ("KHR_mesh_quantization", Read),
    (DRACO, Changes(GEOMETRY)),
    ("KHR_gaussian_splatting", Changes(GEOMETRY)),
    ("KHR_node_visibility", Changes(GEOMETRY)),
    ("CESIUM_RTC", Changes(GEOMETRY)),
    ("EXT_mesh_features", Harmless),
    ("EXT_mesh_manifold", Harmless),
    ("EXT_instance_features", Harmless),
    ("EXT_structural_metadata", Harmless),
    ("FB_geometry_metadata", Harmless),
    ("MSFT_lod", Harmless),
    // Textures. The materials read PNG and JPEG.
    ("EXT_texture_avif", Changes(TEXTURES)),
    ("EXT_texture_webp", Read),
    ("KHR_texture_basisu", Changes(TEXTURES)),
    ("KHR_texture_transform", Read),
    ("MSFT_texture_dds", Changes(TEXTURES)),
    // Materials. Losses of a single material are reported where materials are read.
    (
        "KHR_materials_pbrSpecularGlossiness",
        Partly("its diffuse colour and texture are read as base colour", TEXTURES),
    ),
    ("ADOBE_materials_clearcoat_specular", Surface),
    ("ADOBE_materials_clearcoat_tint", Surface),
    ("ADOBE_materials_thin_transparency", Surface),
    ("KHR_materials_anisotropy", Surface),
    ("KHR_materials_clearcoat", Surface),
    ("KHR_materials_diffuse_transmission", Surface),
    ("KHR_materials_dispersion", Surface),
    ("KHR_materials_emissive_strength", Read),
    ("KHR_materials_ior", Surface),
    ("KHR_materials_iridescence", Surface),
    ("KHR_materials_sheen", Surface),
    ("KHR_materials_specular", Surface),
    ("KHR_materials_transmission", Surface),
    ("KHR_materials_unlit", Read),
    ("KHR_materials_variants", Surface),
    ("KHR_materials_volume", Surface),
    ("KHR_materials_volume_scatter", Surface),
    ("MSFT_packing_normalRoughnessMetallic", Surface),
    ("MSFT_packing_occlusionRoughnessMetallic", Surface),
    ("VRMC_materials_hdr_emissiveMultiplier", Surface),
    ("VRMC_materials_mtoon", Surface),
    // Lights, sounds, physics and descriptions are not part of a rig.
    ("AGI_articulations", Harmless),
    ("AGI_stk_metadata", Harmless),
    ("EXT_lights_ies", Harmless),
    ("EXT_lights_image_based", Harmless),
    ("KHR_audio_emitter", Harmless),
    ("KHR_collision_shapes", Harmless),
    ("KHR_implicit_shapes", Harmless),
    ("KHR_interactivity", Harmless),
    ("KHR_lights_punctual", Harmless),
    ("KHR_node_hoverability", Harmless),
    ("KHR_node_selectability", Harmless),
    ("KHR_physics_rigid_bodies", Harmless),
    ("KHR_xmp", Harmless),
    ("KHR_xmp_json_ld", Harmless),
    ("OMI_physics_body", Harmless),
    ("OMI_physics_shape", Harmless),
    ("VRM", Only("its humanoid and its springs are")),
    ("VRMC_vrm", Only("its humanoid is")),
    // Motion. Pointers to other targets than nodes are reported one by one.
    ("KHR_animation_pointer", Read),
    ("VRMC_node_constraint", Changes(ANIMATION)),
    ("VRMC_springBone", Read),
    ("VRMC_springBone_extended_collider", Read),
    ("VRMC_vrm_animation", Only("its humanoid is")),
];

fn meaning(name: &str) -> Meaning {
    let known = KNOWN.iter().find(|(known, _)| *known == name);
    known.map_or(Changes(UNKNOWN), |&(_, meaning)| meaning)
}

/// The tool setting that writes a file without an extension; `None` if none is known.
fn cure(name: &str) -> Option<&'static str> {
    Some(match name {
        DRACO => "`gltf-transform copy IN.glb OUT.glb` decodes it",
        "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            "builds with the feature `meshopt` read it, and `gltf-transform copy IN.glb OUT.glb` decodes it"
        }
        "KHR_materials_pbrSpecularGlossiness" => {
            "`gltf-transform metalrough IN.glb OUT.glb` converts it"
        }
        "KHR_texture_basisu" | "EXT_texture_avif" | "MSFT_texture_dds" => {
            "export the model with PNG or JPEG textures"
        }
        _ => return None,
    })
}

fn refused(name: &str, effect: &'static str) -> Fault {
    let (name, cure) = (shorten(name), cure(name));
    Kind::Extension { name, effect, cure }.into()
}

/// Refuses required extensions that change what is imported, unless `lenient`. Reports all that are not read: first those
/// that the file lists, then those that only its objects have.
pub(super) fn check(
    used: &[String],
    required: &[String],
    inventory: &Inventory,
    (draco, lenient): (Draco, bool),
    notes: &mut Notes,
) -> Result<(), Fault> {
    for name in required {
        let effect = match meaning(name) {
            Changes(effect) | Partly(_, effect) => effect,
            Read | Only(_) | Harmless | Surface => continue,
        };
        if !lenient {
            return Err(refused(name, effect));
        }
    }
    let must: HashSet<&str> = required.iter().map(String::as_str).collect();
    let mut seen = HashSet::new();
    for name in required.iter().chain(used).map(String::as_str) {
        if seen.insert(name) {
            let objects = inventory.extensions.get(name).map_or(0, |c| c.number);
            let have = match objects {
                0 => "no object has it".to_owned(),
                1 => "1 object has it".to_owned(),
                n => format!("{n} objects have it"),
            };
            report(name, (must.contains(name), draco), &have, notes);
        }
    }
    for (name, count) in &inventory.extensions {
        if !seen.contains(&**name) {
            let objects = plural(count.number as u64, "object");
            let have = format!("found on {objects}, but not listed in extensionsUsed");
            report(name, (false, draco), &have, notes);
        }
    }
    Ok(())
}

/// Reports one extension, unless it is read. `have` states the number of objects that have it.
fn report(name: &str, (required, draco): (bool, Draco), have: &str, notes: &mut Notes) {
    let place = format!("extension {:?}", shorten(name));
    let is = if required { "is required and ignored" } else { "is ignored" };
    let (note, message) = match meaning(name) {
        Read => return,
        Only(part) => (true, format!("only {part} read")),
        Harmless => (true, format!("{is}; it changes nothing of a rig or its clips")),
        Surface => (true, format!("{is}; it changes how surfaces look in the light")),
        Partly(part, effect) => (false, format!("{part}; the rest, which {effect}, {is}")),
        Changes(UNKNOWN) => (!required, format!("{is}; it is not known")),
        Changes(effect) if name == DRACO && !required => match (draco.beside, draco.alone) {
            (0, 0) => (true, is.to_owned()),
            (_, 0) => (true, format!("{is}; the data beside it is read")),
            (0, _) => (false, format!("{is}, though it {effect}")),
            _ => (true, format!("{is}; the data beside it is read where there is some")),
        },
        Changes(effect) => (false, format!("{is}, though it {effect}")),
    };
    let message = format!("{message}; {have}");
    if note { notes.note(place, message) } else { notes.dropped(place, message) }
}

/// Numbers of primitives with Draco data.
#[derive(Clone, Copy, Default)]
pub(super) struct Draco {
    /// Primitives that also have uncompressed data.
    beside: usize,
    /// Primitives that have only Draco data.
    alone: usize,
}

impl Draco {
    pub fn count(document: &Document) -> Self {
        let mut out = Self::default();
        for primitive in document.meshes.iter().flat_map(|m| &m.primitives) {
            match draco_alone(primitive, &document.accessors) {
                None => {}
                Some(false) => out.beside += 1,
                Some(true) => out.alone += 1,
            }
        }
        out
    }
}

/// Whether the vertices of a primitive are only in Draco data; `None` if it has none.
fn draco_alone(primitive: &json::mesh::Primitive, accessors: &[json::Accessor]) -> Option<bool> {
    let extensions = primitive.extensions.as_ref();
    extensions.filter(|e| e.others.contains_key(DRACO))?;
    let positions = primitive.attributes.get(&Checked::Valid(Semantic::Positions));
    let plain = positions
        .and_then(|p| accessors.get(p.value()))
        .is_none_or(|a| a.buffer_view.is_some() || a.sparse.is_some());
    Some(!plain)
}

/// Refuses primitives whose vertices are only in Draco data, which would be read as zeros; if `lenient`, empties them.
/// Such files should require the extension, but not all do.
pub(super) fn leave_out_draco(
    document: &mut Document,
    lenient: bool,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let accessors = &document.accessors;
    for (index, mesh) in document.meshes.iter_mut().enumerate() {
        let name = mesh.name.as_deref();
        for (at, primitive) in mesh.primitives.iter_mut().enumerate() {
            if draco_alone(primitive, accessors) != Some(true) {
                continue;
            }
            let place = || format!("{}, primitive {at}", label("mesh", index, name));
            if !lenient {
                return Err(refused(DRACO, GEOMETRY)).within(place);
            }
            notes.dropped(place(), "has only Draco data, so its vertices are left out");
            primitive.attributes.clear();
            primitive.indices = None;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_is_listed_once() {
        let names: HashSet<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), KNOWN.len());
    }
}
