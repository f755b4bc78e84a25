//! Materials, with their textures and samplers.

use super::buffers::at;
use super::error::{Fault, ImportFault as Kind, Within, index, label, shorten};
use super::limits::{MemoryLimit, Notes};
use super::material_json as json;
use super::nodes::finite;
use crate::mesh::{
    AlphaMode, Filter, Material, Sampler, TEX_COORD_SETS, Texture, TextureTransform, Wrap,
};
use crate::skeleton::MAX_LENGTH;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::{Display, LowerExp};

/// The tables that materials refer to.
pub(super) struct Sources<'f> {
    pub textures: &'f [json::Texture],
    pub samplers: &'f [json::Sampler],
    /// Number of images.
    pub images: usize,
}

/// Reads the materials.
pub(super) fn materials(
    list: Vec<json::Material>,
    sources: &Sources,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<Vec<Material>, Fault> {
    memory.charge_for::<Material>(list.len())?;
    memory.charge_for::<Sampler>(sources.samplers.len())?;
    let samplers = sources.samplers.iter().enumerate();
    let samplers: Vec<Sampler> = samplers.map(|(i, s)| sampler(i, s, notes)).collect();
    let mut out = Vec::with_capacity(list.len());
    let mut unseen = Unseen::default();
    for (index, material) in list.into_iter().enumerate() {
        let place = label("material", index, material.name.as_deref());
        unseen.count(&material);
        let mut reader =
            MaterialReader { sources, samplers: &samplers, place: &place, notes: &mut *notes };
        out.push(reader.read(material).within(|| place.clone())?);
    }
    if let Some(message) = unseen.message() {
        notes.note("materials", message);
    }
    Ok(out)
}

/// Numbers of materials with properties that pictures do not show.
#[derive(Default)]
struct Unseen {
    counts: [(&'static str, usize); 5],
}

impl Unseen {
    fn count(&mut self, m: &json::Material) {
        let extensions = m.extensions.as_ref();
        // By its specification an unlit material ignores all properties counted here.
        if extensions.is_some_and(|e| e.unlit.is_some()) {
            return;
        }
        let old = extensions.is_some_and(|e| e.specular_glossiness.is_some());
        let pbr = &m.pbr_metallic_roughness;
        let mapped = pbr.metallic_roughness_texture.is_some();
        let emits = m.emissive_factor.iter().any(|&v| v > 0.0);
        let found = [
            // A metallic factor that is not stated is 1: the surface is a metal. Specular-glossiness has no such factor.
            ("metallic", !old && (mapped || pbr.metallic_factor.unwrap_or(1.0) > 0.0)),
            ("roughness", mapped || pbr.roughness_factor.is_some_and(|v| v < 1.0)),
            ("normal textures", m.normal_texture.is_some()),
            ("occlusion", m.occlusion_texture.is_some()),
            ("emissive", emits || m.emissive_texture.is_some()),
        ];
        for (count, (name, found)) in self.counts.iter_mut().zip(found) {
            *count = (name, count.1 + usize::from(found));
        }
    }

    fn message(&self) -> Option<String> {
        let found = self.counts.iter().filter(|(_, count)| *count > 0);
        let all: Vec<String> = found.map(|(name, count)| format!("{name} (of {count})")).collect();
        (!all.is_empty()).then(|| format!("kept, but not shown in pictures: {}", all.join(", ")))
    }
}

/// Reads one material.
struct MaterialReader<'r> {
    sources: &'r Sources<'r>,
    samplers: &'r [Sampler],
    place: &'r str,
    notes: &'r mut Notes,
}

impl MaterialReader<'_> {
    fn read(&mut self, m: json::Material) -> Result<Material, Fault> {
        let pbr = m.pbr_metallic_roughness;
        let extensions = m.extensions.unwrap_or_default();
        let alpha_mode = self.alpha_mode(m.alpha_mode.as_deref());
        let mut out = Material {
            name: m.name,
            base_color: self.base_color(pbr.base_color_factor.unwrap_or([1.0; 4]))?,
            base_color_texture: self.texture("base colour", pbr.base_color_texture.as_ref())?,
            metallic: self.share("metallic factor", pbr.metallic_factor),
            roughness: self.share("roughness factor", pbr.roughness_factor),
            metallic_roughness_texture: self
                .texture("metallic and roughness", pbr.metallic_roughness_texture.as_ref())?,
            normal_texture: self.texture("normal", m.normal_texture.as_ref())?,
            normal_scale: self.number(
                "scale of the normals",
                m.normal_texture.and_then(|t| t.scale).unwrap_or(1.0),
                -MAX_LENGTH,
                MAX_LENGTH,
            ),
            occlusion_texture: self.texture("occlusion", m.occlusion_texture.as_ref())?,
            occlusion_strength: self
                .share("strength of the occlusion", m.occlusion_texture.and_then(|t| t.strength)),
            emissive: self.emissive(m.emissive_factor, extensions.emissive_strength)?,
            emissive_texture: self.texture("emissive", m.emissive_texture.as_ref())?,
            alpha_mode,
            alpha_cutoff: self.number(
                "alpha cutoff",
                m.alpha_cutoff.unwrap_or(0.5),
                0.0,
                MAX_LENGTH,
            ),
            double_sided: m.double_sided,
            unlit: extensions.unlit.is_some(),
        };
        if let Some(old) = self.extension("specular and glossiness", extensions.specular_glossiness)
        {
            self.specular_glossiness(old, &mut out)?;
        }
        Ok(out)
    }

    /// The diffuse colour becomes the base colour of a surface that is not a metal.
    fn specular_glossiness(
        &mut self,
        old: json::SpecularGlossiness,
        out: &mut Material,
    ) -> Result<(), Fault> {
        let color = old.diffuse_factor.unwrap_or([1.0; 4]);
        // Numbers of extensions beyond f32 are read as infinite.
        out.base_color = color.map(|v| self.number("diffuse factor", v, 0.0, 1.0));
        out.base_color_texture = self.texture("base colour", old.diffuse_texture.as_ref())?;
        out.metallic = 0.0;
        out.roughness = 1.0 - self.share("glossiness factor", old.glossiness_factor);
        out.metallic_roughness_texture = None;
        let textured = old.specular_glossiness_texture.is_some();
        let lost = if textured { " and its texture" } else { "" };
        let message = format!("its specular colour{lost} is not kept: it is read as no metal");
        self.notes.dropped(self.place, message);
        Ok(())
    }

    fn base_color(&mut self, factor: [f32; 4]) -> Result<[f32; 4], Fault> {
        finite("base colour", &factor)?;
        Ok(factor.map(|v| self.number("base colour", v, 0.0, 1.0)))
    }

    fn emissive(&mut self, factor: [f32; 3], strength: Option<Value>) -> Result<[f32; 3], Fault> {
        finite("emissive factor", &factor)?;
        let factor = factor.map(|v| self.number("emissive factor", v, 0.0, 1.0));
        let strength = self.extension::<json::EmissiveStrength>("emissive strength", strength);
        let strength = strength.and_then(|s| s.emissive_strength).unwrap_or(1.0);
        let strength = self.number("emissive strength", strength, 0.0, MAX_LENGTH);
        Ok(factor.map(|v| v * strength))
    }

    fn alpha_mode(&mut self, name: Option<&str>) -> AlphaMode {
        let Some(name) = name else { return AlphaMode::default() };
        AlphaMode::named(name).unwrap_or_else(|| {
            let message = format!("its alpha mode {:?} is unknown, it is opaque", shorten(name));
            self.notes.repaired(self.place, message);
            AlphaMode::default()
        })
    }

    /// A factor from 0 to 1; 1 if it is not stated.
    fn share(&mut self, what: &'static str, value: Option<f32>) -> f32 {
        self.number(what, value.unwrap_or(1.0), 0.0, 1.0)
    }

    /// A number, moved into its range if it lies outside.
    fn number<T: Copy + Display + LowerExp + Into<f64>>(
        &mut self,
        what: &'static str,
        value: T,
        least: f32,
        most: f32,
    ) -> f32 {
        let exact: f64 = value.into();
        let kept = exact.clamp(least.into(), most.into());
        if kept != exact {
            let (was, set) = (shown(value), shown(kept as f32));
            let message = format!("its {what} was {was} and was set to {set}");
            self.notes.repaired(self.place, message);
        }
        kept as f32
    }

    /// The contents of an extension; `None` if it is missing or malformed.
    fn extension<T: DeserializeOwned>(&mut self, what: &str, value: Option<Value>) -> Option<T> {
        match serde_json::from_value(value?) {
            Ok(read) => Some(read),
            Err(error) => {
                let message = shorten(&error.to_string().replace(['\n', '\r'], " "));
                self.notes.dropped(self.place, format!("{what}: {message}"));
                None
            }
        }
    }

    fn texture(
        &mut self,
        name: &'static str,
        info: Option<&json::TextureInfo>,
    ) -> Result<Option<Texture>, Fault> {
        let Some(info) = info else { return Ok(None) };
        let index = info.index;
        let texture = at(self.sources.textures, index, "texture")?;
        let Some(image) = image_of(texture, self.sources.images)? else {
            let reason = no_image(texture);
            // Pictures use only the base colour; the command line recognises losses of the others by these words.
            let message = match name {
                "base colour" => format!("texture {index} has {reason}"),
                _ => format!("its {name} texture {index} has {reason}"),
            };
            self.notes.dropped(self.place, message);
            return Ok(None);
        };
        let stated = info.extensions.as_ref().and_then(|e| e.transform.clone());
        let stated = self.extension::<json::TextureTransform>("texture transform", stated);
        let stated = stated.unwrap_or_default();
        let scale = stated.scale.unwrap_or([1.0; 2]);
        // Numbers of extensions beyond f32 are read as infinite.
        let mut rotation = stated.rotation;
        if !rotation.is_finite() {
            rotation = 0.0;
            let message =
                format!("the rotation of its {name} texture is beyond f32 and was set to 0");
            self.notes.repaired(self.place, message);
        }
        let within = |v: f32| v.clamp(-MAX_LENGTH, MAX_LENGTH);
        let transform = TextureTransform {
            offset: stated.offset.map(within),
            rotation,
            scale: scale.map(within),
        };
        if (transform.offset, transform.scale) != (stated.offset, scale) {
            let message = format!("the transform of its {name} texture was cut to {MAX_LENGTH:e}");
            self.notes.repaired(self.place, message);
        }
        let mut tex_coord = stated.tex_coord.unwrap_or(info.tex_coord);
        if tex_coord >= TEX_COORD_SETS {
            let message = format!(
                "its {name} texture uses TEXCOORD_{tex_coord}, which is not kept: TEXCOORD_0 is used"
            );
            self.notes.dropped(self.place, message);
            tex_coord = 0;
        }
        let sampler = match texture.sampler {
            Some(sampler) => *at(self.samplers, sampler, "sampler")?,
            None => Sampler::default(),
        };
        Ok(Some(Texture { image, tex_coord, transform, sampler }))
    }
}

/// A number for a message, large ones without trailing zeros.
fn shown<T: Copy + Display + LowerExp + Into<f64>>(value: T) -> String {
    let size: f64 = value.into();
    if size.abs() < 1e6 { value.to_string() } else { format!("{value:e}") }
}

/// The image of a texture, checked. The specification's source is preferred to an extension's: files have both only for
/// readers that do not know the extension.
fn image_of(texture: &json::Texture, images: usize) -> Result<Option<usize>, Kind> {
    let webp = || texture.extensions.as_ref()?.webp.as_ref()?.source;
    let source = texture.source.or_else(webp);
    match source.filter(|&image| image >= images) {
        Some(image) => Err(index("image", image, images)),
        None => Ok(source),
    }
}

/// The reason for a texture without an image.
fn no_image(texture: &json::Texture) -> String {
    let extensions = texture.extensions.as_ref();
    let unread = extensions.and_then(|e| {
        let basisu = e.basisu.as_ref().map(|_| "KHR_texture_basisu");
        basisu.or_else(|| e.avif.as_ref().map(|_| "EXT_texture_avif"))
    });
    match unread {
        Some(name) => format!("no PNG, JPEG or WebP source, only that of {name}"),
        None => "no PNG, JPEG or WebP source".into(),
    }
}

fn sampler(index: usize, stated: &json::Sampler, notes: &mut Notes) -> Sampler {
    let mut unknown = |name: &str, value: u32| {
        let message = format!("its {name} {value} is unknown, the default is used");
        notes.repaired(format!("sampler {index}"), message);
    };
    let mut wrap = |name, value: Option<u32>| match value {
        None | Some(10_497) => Wrap::Repeat,
        Some(33_071) => Wrap::ClampToEdge,
        Some(33_648) => Wrap::MirroredRepeat,
        Some(other) => {
            unknown(name, other);
            Wrap::Repeat
        }
    };
    let (wrap_u, wrap_v) = (wrap("wrapS", stated.wrap_s), wrap("wrapT", stated.wrap_t));
    let mut filter = |name, codes: &[u32], value: Option<u32>| {
        let value = value?;
        let place = codes.iter().position(|&code| code == value);
        if place.is_none() {
            unknown(name, value);
        }
        place
    };
    let mag_filter = filter("magFilter", &[9728, 9729], stated.mag_filter);
    let codes = [9728, 9729, 9984, 9985, 9986, 9987];
    let min_filter = filter("minFilter", &codes, stated.min_filter).map(|f| Filter::MIN[f]);
    Sampler {
        wrap_u,
        wrap_v,
        mag_filter: mag_filter.map(|f| Filter::MAG[f]),
        min_filter: min_filter.map(|f| f.0),
        mip_filter: min_filter.and_then(|f| f.1),
    }
}
