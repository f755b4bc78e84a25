//! The JSON of a file: the types of `gltf::json` where they accept all that the specification allows,
//! own types where those reject valid files (scenes without nodes, channels without a target node,
//! textures without a source).

use super::container::JsonCounts;
use super::error::{Fault, GltfErrorKind as Kind, shorten};
use super::limits::{MemoryLimit, Notes};
use super::material_json::{Material, Sampler as TextureSampler, Texture};
use ::gltf::json;
use serde::Deserialize;

/// Extensions whose data the import reads.
const READ: &[&str] = &[
    "KHR_mesh_quantization",
    #[cfg(feature = "meshopt")]
    "EXT_meshopt_compression",
    #[cfg(feature = "meshopt")]
    "KHR_meshopt_compression",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_texture_transform",
    "EXT_texture_webp",
];

/// Extensions that change only the appearance of surfaces: they may be required, their data is ignored.
const APPEARANCE: &[&str] = &[
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_dispersion",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_texture_basisu",
    "EXT_texture_avif",
];

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
}

#[derive(Deserialize)]
pub(super) struct Scene {
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
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

/// Memory of one JSON object, at most: the largest of these types, times three because a
/// growing vector holds its old and its doubled storage at once.
const OBJECT_BYTES: u64 = 3 * largest(&[
    size_of::<json::Accessor>(),
    size_of::<json::buffer::View>(),
    size_of::<json::Node>(),
    size_of::<Material>(),
    size_of::<json::mesh::Primitive>(),
    size_of::<Animation>(),
]) as u64;

/// Memory of one value in an array or object, at most, by the same rule.
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
    /// Parses the text; charges the most memory that it can need.
    pub fn parse(
        text: &[u8],
        counts: &JsonCounts,
        memory: &mut MemoryLimit,
    ) -> Result<Self, Fault> {
        let objects = counts.objects.saturating_mul(OBJECT_BYTES);
        let values = counts.values.saturating_mul(VALUE_BYTES);
        memory.charge(objects.saturating_add(values) + text.len() as u64)?;
        serde_json::from_slice(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let message = error.to_string();
            let message = match message.rfind(" at line ") {
                Some(end) => message[..end].to_owned(),
                None => message,
            };
            Kind::Json {
                line,
                column,
                // The parser quotes the text, including line breaks.
                message: shorten_message(&message.replace(['\n', '\r'], " ")),
            }
            .into()
        })
    }

    /// Checks version and extensions.
    pub fn check(&self, notes: &mut Notes) -> Result<(), Fault> {
        let asset = &self.asset;
        let version = asset.min_version.as_ref().unwrap_or(&asset.version);
        // Minor versions are backward compatible, so only `minVersion` can exclude 2.0.
        let refused = match asset.min_version {
            Some(_) => version != "2.0" && version != "2",
            None => version != "2" && !version.starts_with("2."),
        };
        if refused {
            let found = shorten(version);
            return Err(Kind::AssetVersion { found }.into());
        }
        for name in &self.extensions_required {
            let known = READ.contains(&name.as_str()) || APPEARANCE.contains(&name.as_str());
            if !known {
                let name = shorten(name);
                return Err(Kind::Extension { name }.into());
            }
        }
        for name in &self.extensions_used {
            if !READ.contains(&name.as_str()) {
                let place = format!("extension {:?}", shorten(name));
                notes.note(place, "its data is ignored");
            }
        }
        Ok(())
    }
}

fn shorten_message(message: &str) -> String {
    match message.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}
