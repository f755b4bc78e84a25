//! The JSON of materials, textures and samplers. All references of a material to textures have one type.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Material {
    pub name: Option<String>,
    pub pbr_metallic_roughness: MetallicRoughness,
    pub normal_texture: Option<TextureInfo>,
    pub occlusion_texture: Option<TextureInfo>,
    pub emissive_texture: Option<TextureInfo>,
    pub emissive_factor: [f32; 3],
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f32>,
    pub double_sided: bool,
    pub extensions: Option<MaterialExtensions>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MetallicRoughness {
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: Option<f32>,
    pub roughness_factor: Option<f32>,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

/// A reference to a texture. `scale` belongs to normals, `strength` to occlusion.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: usize,
    #[serde(default)]
    pub tex_coord: u32,
    pub scale: Option<f32>,
    pub strength: Option<f32>,
    pub extensions: Option<TextureInfoExtensions>,
}

/// Extensions are read one by one: a malformed one is reported and left out of the material.
#[derive(Deserialize, Default)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<IgnoredAny>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub emissive_strength: Option<Value>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub specular_glossiness: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<Value>,
}

/// KHR_materials_emissive_strength.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmissiveStrength {
    pub emissive_strength: Option<f64>,
}

/// The part of KHR_materials_pbrSpecularGlossiness that the metallic-roughness model can express.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SpecularGlossiness {
    pub diffuse_factor: Option<[f32; 4]>,
    pub diffuse_texture: Option<TextureInfo>,
    pub glossiness_factor: Option<f32>,
    pub specular_glossiness_texture: Option<IgnoredAny>,
}

/// KHR_texture_transform.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TextureTransform {
    pub offset: [f32; 2],
    pub rotation: f32,
    pub scale: Option<[f32; 2]>,
    pub tex_coord: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Texture {
    pub source: Option<usize>,
    pub sampler: Option<usize>,
    pub extensions: Option<TextureExtensions>,
}

#[derive(Deserialize)]
pub(super) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub webp: Option<TextureSource>,
    #[serde(rename = "KHR_texture_basisu")]
    pub basisu: Option<IgnoredAny>,
    #[serde(rename = "EXT_texture_avif")]
    pub avif: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct TextureSource {
    pub source: Option<usize>,
}

/// A sampler, with OpenGL's numbers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sampler {
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
    pub mag_filter: Option<u32>,
    pub min_filter: Option<u32>,
}
