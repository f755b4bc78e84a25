//! Materials and images, as far as the renderers use them.

use super::buffers::Buffers;
use super::document::Texture;
use super::error::{Fault, GltfErrorKind as Kind, Within, label};
use super::limits::Notes;
use super::meshes::image_of;
use super::nodes::finite;
use super::uri::media_type;
#[cfg(feature = "images")]
use crate::mesh::Survey;
use crate::mesh::{EncodedImage, ImageData, ImageMode, Material};
use ::gltf::json;
use serde::Deserialize;
use std::rc::Rc;

/// The part of KHR_materials_pbrSpecularGlossiness that is used as base colour.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecularGlossiness {
    #[serde(default = "white")]
    diffuse_factor: [f32; 4],
    diffuse_texture: Option<TextureRef>,
}

#[derive(Deserialize)]
struct TextureRef {
    index: usize,
}

fn white() -> [f32; 4] {
    [1.0; 4]
}

/// Reads the materials.
pub(super) fn materials(
    list: Vec<json::Material>,
    textures: &[Texture],
    images: usize,
    notes: &mut Notes,
) -> Result<Vec<Material>, Fault> {
    let mut out = Vec::with_capacity(list.len());
    for (index, material) in list.into_iter().enumerate() {
        let place = label("material", index, material.name.as_deref());
        let material = material_of(material, textures, images, &place, notes);
        out.push(material.within(|| place)?);
    }
    Ok(out)
}

fn material_of(
    material: json::Material,
    textures: &[Texture],
    images: usize,
    place: &str,
    notes: &mut Notes,
) -> Result<Material, Fault> {
    let pbr = &material.pbr_metallic_roughness;
    let mut base_color = pbr.base_color_factor.0;
    let mut texture = pbr.base_color_texture.as_ref().map(|t| t.index.value());
    if let Some(info) = pbr.base_color_texture.as_ref().filter(|t| t.tex_coord != 0) {
        let message = format!(
            "its texture uses TEXCOORD_{}, only 0 is kept",
            info.tex_coord
        );
        notes.note(place, message);
    }
    let extensions = material.extensions.as_ref();
    if let Some(value) =
        extensions.and_then(|e| e.others.get("KHR_materials_pbrSpecularGlossiness"))
    {
        match SpecularGlossiness::deserialize(value) {
            Ok(old) => {
                base_color = old.diffuse_factor;
                texture = old.diffuse_texture.map(|t| t.index);
            }
            Err(error) => notes.dropped(place, format!("specular and glossiness: {error}")),
        }
    }
    finite("base colour", &base_color)?;
    let base_color_image = match texture {
        Some(texture) => {
            let image = image_of(texture, textures, images)?;
            if image.is_none() {
                notes.dropped(
                    place,
                    format!("texture {texture} has no PNG or JPEG source"),
                );
            }
            image
        }
        None => None,
    };
    Ok(Material {
        name: material.name,
        base_color,
        base_color_image,
        double_sided: material.double_sided,
    })
}

/// Reads the images marked in `wanted`; those that cannot be read are `None` and reported.
pub(super) fn images(
    list: Vec<json::Image>,
    wanted: &[bool],
    mode: ImageMode,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Vec<Option<ImageData>> {
    let mut out = Vec::with_capacity(list.len());
    for (index, image) in list.into_iter().enumerate() {
        let wanted = wanted.get(index).copied().unwrap_or(false);
        if mode == ImageMode::Skip || !wanted {
            out.push(None);
            continue;
        }
        let read = read(&image, mode, buffers);
        if let Err(message) = &read {
            let place = label("image", index, image.name.as_deref());
            notes.dropped(place, message.replace(['\n', '\r'], " "));
        }
        out.push(read.ok());
    }
    out
}

/// The encoded bytes of an image.
enum Source {
    /// In a buffer view.
    View(usize),
    /// Behind a URI.
    Fetched(Rc<Vec<u8>>),
}

impl Source {
    fn new(image: &json::Image, buffers: &mut Buffers) -> Result<Self, Fault> {
        match (&image.uri, image.buffer_view.map(|v| v.value())) {
            (Some(uri), _) => Ok(Self::Fetched(buffers.fetch(uri)?)),
            (None, Some(view)) => {
                buffers.prepare_view(view)?;
                Ok(Self::View(view))
            }
            (None, None) => Err(Kind::Missing("uri and no buffer view").into()),
        }
    }

    fn bytes<'b>(&'b self, buffers: &'b Buffers) -> Result<&'b [u8], Fault> {
        match self {
            Self::View(view) => Ok(buffers.view(*view)?.bytes),
            Self::Fetched(bytes) => Ok(bytes),
        }
    }
}

fn read(image: &json::Image, mode: ImageMode, buffers: &mut Buffers) -> Result<ImageData, String> {
    let text = |fault: Fault| fault.kind().to_string();
    let source = Source::new(image, buffers).map_err(text)?;
    let len = source.bytes(buffers).map_err(text)?.len() as u64;
    // Images may share their bytes, and each scans or copies all of them: that is work, so it is charged
    // like memory.
    buffers.memory.charge(len).map_err(|e| e.to_string())?;
    match mode {
        ImageMode::Skip | ImageMode::Encoded => {
            let bytes = source.bytes(buffers).map_err(text)?.to_vec();
            let stated = image.mime_type.as_ref().map(|m| m.0.as_str());
            let stated = stated.or_else(|| image.uri.as_deref().and_then(media_type));
            Ok(ImageData::Encoded(EncodedImage::new(bytes, stated)))
        }
        #[cfg(feature = "images")]
        ImageMode::Decoded => {
            buffers.memory.release(len);
            let survey = Survey::new(source.bytes(buffers).map_err(text)?)?;
            let charged = buffers.memory.charge(survey.needed);
            charged.map_err(|e| e.to_string())?;
            let decoded = survey.decode(source.bytes(buffers).map_err(text)?);
            // The image is kept; the decoder's own memory is free again.
            let kept = decoded.as_ref().map_or(0, |image| image.rgba.len() as u64);
            buffers.memory.release(survey.needed.saturating_sub(kept));
            decoded.map(ImageData::Decoded)
        }
    }
}
