//! The JSON of a file: the types of `gltf::json` if they accept all that the specification allows, and types of this
//! module if those reject valid files (scenes without nodes, channels without a target node, textures without a
//! source).

use super::error::{Fault, invalid, shorten};
use super::extensions;
use super::inventory::Inventory;
use super::limits::{MemoryLimit, Notes};
use super::material_json::{Material, Sampler as TextureSampler, Texture};
use super::plain::JsonCounts;
use crate::words::without_place;
use ::gltf::json;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
pub(super) struct Asset {
    version: String,
    #[serde(rename = "minVersion")]
    min_version: Option<String>,
}

/// The root object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    asset: Asset,
    #[serde(default)]
    extensions_used: Vec<String>,
    #[serde(default)]
    extensions_required: Vec<String>,
    #[serde(default)]
    pub accessors: Vec<json::Accessor>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub buffers: Vec<json::Buffer>,
    #[serde(default)]
    pub buffer_views: Vec<json::buffer::View>,
    #[serde(default)]
    pub cameras: Vec<IgnoredAny>,
    #[serde(default)]
    pub images: Vec<json::Image>,
    #[serde(default)]
    pub materials: Vec<Material>,
    #[serde(default)]
    pub meshes: Vec<json::Mesh>,
    #[serde(default)]
    pub nodes: Vec<json::Node>,
    pub scene: Option<usize>,
    #[serde(default)]
    pub samplers: Vec<TextureSampler>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub skins: Vec<json::Skin>,
    #[serde(default)]
    pub textures: Vec<Texture>,
    #[serde(default)]
    pub extensions: Extensions,
}

/// Extensions of the root object that are read, in any form: a broken one is reported, the others are read.
#[derive(Default, Deserialize)]
pub(super) struct Extensions {
    #[serde(rename = "VRMC_vrm")]
    pub vrm_1: Option<serde_json::Value>,
    #[serde(rename = "VRMC_vrm_animation")]
    pub vrm_animation: Option<serde_json::Value>,
    #[serde(rename = "VRM")]
    pub vrm_0: Option<serde_json::Value>,
    #[serde(rename = "VRMC_springBone")]
    pub spring_bone: Option<serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    pub name: Option<String>,
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
    #[serde(default)]
    pub extras: json::Extras,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub sampler: usize,
    pub target: Target,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub node: Option<usize>,
    pub path: String,
    /// Extensions as text, since most files have none that is read.
    #[serde(default)]
    extensions: json::Extras,
}

/// The target that KHR_animation_pointer adds.
#[derive(Deserialize)]
struct TargetExtensions {
    #[serde(rename = "KHR_animation_pointer")]
    pointer: Option<Pointer>,
}

#[derive(Deserialize)]
struct Pointer {
    pointer: String,
}

impl Target {
    /// The pointer of KHR_animation_pointer; `None` if it is missing or not a text.
    pub fn pointer(&self) -> Option<String> {
        let extensions = self.extensions.as_ref()?;
        let extensions: TargetExtensions = serde_json::from_str(extensions.get()).ok()?;
        Some(extensions.pointer?.pointer)
    }
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

/// Largest memory of one JSON object, bytes: the largest of these types, times three because a growing vector holds its
/// old and its doubled storage at once.
const OBJECT_BYTES: u64 = 3 * largest(&[
    size_of::<json::Accessor>(),
    size_of::<json::buffer::View>(),
    size_of::<json::Node>(),
    size_of::<Material>(),
    size_of::<json::mesh::Primitive>(),
    size_of::<Animation>(),
    size_of::<Channel>(),
]) as u64;

/// Largest memory of one value in an array or object, bytes, by the same rule.
const VALUE_BYTES: u64 = 96;

const fn largest(sizes: &[usize]) -> usize {
    let (mut max, mut i) = (0, 0);
    while i < sizes.len() {
        if sizes[i] > max {
            max = sizes[i];
        }
        i += 1;
    }
    max
}

impl Document {
    /// Parses the text; charges the largest memory that it can need.
    pub fn parse(
        text: &[u8],
        counts: &JsonCounts,
        memory: &mut MemoryLimit,
    ) -> Result<Self, Fault> {
        let objects = counts.objects.saturating_mul(OBJECT_BYTES);
        let values = counts.values.saturating_mul(VALUE_BYTES);
        memory.charge(objects.saturating_add(values) + text.len() as u64)?;
        serde_json::from_slice(text).map_err(json_fault)
    }

    /// Checks version and extensions; reports the extensions that are not read.
    pub fn check(
        &self,
        inventory: &Inventory,
        lenient: bool,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        let asset = &self.asset;
        let version = asset.min_version.as_ref().unwrap_or(&asset.version);
        // Minor versions are backward compatible, so only `minVersion` can exclude 2.0.
        let refused = match asset.min_version {
            Some(_) => version != "2.0" && version != "2",
            None => version != "2" && !version.starts_with("2."),
        };
        if refused {
            let found = shorten(version);
            return Err(invalid(format!("glTF version {found:?}, expected 2.0")).into());
        }
        extensions::check(
            &self.extensions_used,
            &self.extensions_required,
            inventory,
            (extensions::Draco::count(self), lenient),
            notes,
        )
    }
}

/// The fault of a text that the parser rejects.
pub(super) fn json_fault(error: serde_json::Error) -> Fault {
    let (line, column, message) = (error.line(), error.column(), without_place(&error));
    invalid(format!("JSON line {line}, column {column}: {message}")).into()
}
