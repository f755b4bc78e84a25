//! Report entries about cameras, meshes and images without use, vertex attributes that are not read, and textures whose
//! coordinates a mesh lacks.

use super::document::Document;
use super::error::{Fault, label, shorten};
use super::inventory::{Count, Inventory};
use super::limits::{MemoryLimit, Notes};
use super::summary::{ITEM, LISTED, list};
use crate::mesh::{Material, TEX_COORD_SETS};
use crate::words::{are, plural};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reports cameras, of which nothing is read.
pub(super) fn cameras(document: &Document, notes: &mut Notes) {
    let cameras = document.cameras.len() as u64;
    let nodes = document.nodes.iter().filter(|n| n.camera.is_some());
    let nodes = nodes.count() as u64;
    if cameras == 0 && nodes == 0 {
        return;
    }
    let have = if nodes == 1 { "has" } else { "have" };
    let message = format!(
        "{} {} ignored; {} {have} one; they change nothing of a rig or its clips",
        plural(cameras, "camera"),
        are(cameras),
        plural(nodes, "node"),
    );
    notes.note("cameras", message);
}

/// Reports meshes that no node uses: no rig has them.
pub(super) fn meshes(document: &Document, notes: &mut Notes) {
    let used = document.nodes.iter().filter_map(|n| n.mesh).map(|mesh| mesh.value());
    let what = ["is on no node and left out of rigs", "are on no node and left out of rigs"];
    without_use("meshes", what, document.meshes.len(), used, notes);
}

/// Reports images that no texture of a material uses: they are not read.
pub(super) fn images(count: usize, materials: &[Material], notes: &mut Notes) {
    let used = materials.iter().flat_map(Material::textures).map(|(_, t)| t.image);
    let what = [
        "has no use in what is read of materials and is left out",
        "have no use in what is read of materials and are left out",
    ];
    without_use("images", what, count, used, notes);
}

/// Reports the number of elements of a list that have no use, in words for one and for several, and the first of them.
fn without_use(
    place: &str,
    [one, several]: [&str; 2],
    all: usize,
    used: impl Iterator<Item = usize>,
    notes: &mut Notes,
) {
    let mut unused = vec![true; all];
    used.for_each(|index| unused.get_mut(index).into_iter().for_each(|unused| *unused = false));
    let count = unused.iter().filter(|unused| **unused).count();
    if let Some(first) = unused.iter().position(|unused| *unused) {
        let what = if count == 1 { one } else { several };
        notes.note(place, format!("{count} of {all} {what}; the first is {first}"));
    }
}

/// Findings of the reader of meshes about vertex streams.
#[derive(Default)]
pub(super) struct Streams {
    /// Number of primitives with a second texture coordinate set that no texture of their material uses.
    pub second_sets: usize,
    /// Primitives that lack a texture coordinate set that a texture uses, by material and set.
    lacking: BTreeMap<(usize, u32), Lacking>,
}

/// Primitives that lack a set.
struct Lacking {
    /// Place of the first primitive.
    first: String,
    number: u64,
}

impl Streams {
    /// Notes the sets that the textures of a primitive's material use but the primitive lacks.
    pub fn textures(
        &mut self,
        material: Option<usize>,
        materials: &[Material],
        lacks: [bool; TEX_COORD_SETS as usize],
        place: &str,
    ) {
        let Some((index, material)) = material.and_then(|m| Some((m, materials.get(m)?))) else {
            return;
        };
        for (set, _) in (0u32..).zip(lacks).filter(|&(_, lacks)| lacks) {
            if material.textures().any(|(_, t)| t.tex_coord == set) {
                let new = || Lacking { first: place.to_owned(), number: 0 };
                let lacking = self.lacking.entry((index, set)).or_insert_with(new);
                lacking.number += 1;
            }
        }
    }

    /// Reports the attributes that are not read, of vertices and of morph targets, and the sets that are missing.
    pub fn report(
        &self,
        inventory: &Inventory,
        materials: &[Material],
        memory: &mut MemoryLimit,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        for (&(index, set), lacking) in &self.lacking {
            let material = &materials[index];
            let uses = material.textures().filter(|(_, t)| t.tex_coord == set);
            let uses: Vec<&str> = uses.map(|(name, _)| name).collect();
            let more = match lacking.number - 1 {
                0 => String::new(),
                n => format!(" (and {})", plural(n, "more primitive")),
            };
            let message = format!(
                "lacks TEXCOORD_{set}{more}, which textures of {} use: {}; it is drawn without these",
                label("material", index, material.name.as_deref()),
                uses.join(", "),
            );
            notes.note(&*lacking.first, message);
        }
        let second = Count::of(self.second_sets);
        let second = (self.second_sets > 0).then_some((Cow::Borrowed("TEXCOORD_1"), &second));
        let vertices = inventory.attributes.iter().map(|(n, c)| (n.clone(), c));
        if let Some((text, items)) = attributes(second.into_iter().chain(vertices), memory)? {
            notes.note("meshes", format!("vertex attributes that are not read: {text}"));
            notes.items(items);
        }
        let targets = inventory.target_attributes.iter();
        if let Some((text, items)) = attributes(targets.map(|(n, c)| (n.clone(), c)), memory)? {
            let message = format!("attributes of morph targets that are not read: {text}");
            notes.dropped("meshes", message);
            notes.items(items);
        }
        Ok(())
    }
}

/// The names of attributes with their numbers of primitives: a sentence with the first, and a list of all.
fn attributes<'t>(
    names: impl Iterator<Item = (Cow<'t, str>, &'t Count)>,
    memory: &mut MemoryLimit,
) -> Result<Option<(String, Vec<String>)>, Fault> {
    let mut items = Vec::new();
    for (name, count) in names {
        memory.charge(ITEM as u64)?;
        let primitives = plural(count.number as u64, "primitive");
        // A name that glTF allows is shown unquoted; any other as one quoted line.
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let name = shorten(&name);
        items.push(match plain {
            true => format!("{name} ({primitives})"),
            false => format!("{name:?} ({primitives})"),
        });
    }
    let text = list(&items[..items.len().min(LISTED)], items.len());
    Ok((!items.is_empty()).then_some((text, items)))
}
