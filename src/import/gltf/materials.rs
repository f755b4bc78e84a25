//! Materials and images: what the renderers use of them.

use super::document::Texture;
use super::error::{Fault, GltfErrorKind as Kind, Within, label};
use super::limits::{MAX_IMAGE_SIZE, Notes};
use super::meshes::image_of;
use super::nodes::finite;
use super::store::Store;
use crate::mesh::{Image, Material};
use ::gltf::json;
use ::image::{ImageFormat, ImageReader, Limits};
use serde::Deserialize;
use std::io::Cursor;

/// The part of KHR_materials_pbrSpecularGlossiness that stands for the base colour.
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

/// Decodes the images that `wanted` names; what cannot be decoded is `None` and reported.
pub(super) fn images(
    list: Vec<json::Image>,
    wanted: &[bool],
    store: &mut Store,
    notes: &mut Notes,
) -> Vec<Option<Image>> {
    let mut out = Vec::with_capacity(list.len());
    for (index, image) in list.into_iter().enumerate() {
        if !wanted.get(index).copied().unwrap_or(false) {
            out.push(None);
            continue;
        }
        let decoded = decode(&image, store);
        if let Err(message) = &decoded {
            let place = label("image", index, image.name.as_deref());
            notes.dropped(place, message.replace(['\n', '\r'], " "));
        }
        out.push(decoded.ok());
    }
    out
}

fn decode(image: &json::Image, store: &mut Store) -> Result<Image, String> {
    let text = |fault: Fault| fault.kind().to_string();
    let fetched;
    let view = match (&image.uri, image.buffer_view.map(|v| v.value())) {
        (Some(uri), _) => {
            fetched = store.fetch(uri).map_err(text)?;
            None
        }
        (None, Some(view)) => {
            store.prepare_view(view).map_err(text)?;
            fetched = Default::default();
            Some(view)
        }
        (None, None) => return Err(Kind::Missing("uri and no buffer view").to_string()),
    };
    let bytes = |store: &Store| -> Result<u64, String> {
        let bytes = match view {
            Some(view) => store.view(view).map_err(text)?.bytes.len(),
            None => fetched.len(),
        };
        Ok(bytes as u64)
    };
    // Images may share their bytes, and each looks through them all: that is work, if no memory.
    let read = bytes(store)?;
    store.budget.charge(read).map_err(|e| e.to_string())?;
    store.budget.release(read);
    let (width, height, per_pixel, format) = survey(match view {
        Some(view) => store.view(view).map_err(text)?.bytes,
        None => fetched.as_slice(),
    })?;
    let pixels = u64::from(width) * u64::from(height);
    let needed = pixels.saturating_mul(per_pixel);
    store.budget.charge(needed).map_err(|e| e.to_string())?;
    let source = match view {
        Some(view) => store.view(view).map_err(text)?.bytes,
        None => fetched.as_slice(),
    };
    let mut reader = ImageReader::with_format(Cursor::new(source), format);
    reader.limits(limits(needed));
    let decoded = reader.decode().map(|image| image.into_rgba8());
    // The picture stays; the decoder's own memory is free again.
    let kept = decoded.as_ref().map_or(0, |_| pixels * 4);
    store.budget.release(needed.saturating_sub(kept));
    let decoded = decoded.map_err(|e| e.to_string())?;
    Ok(Image {
        width: decoded.width(),
        height: decoded.height(),
        rgba: decoded.into_raw(),
    })
}

fn limits(bytes: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_IMAGE_SIZE);
    limits.max_image_height = Some(MAX_IMAGE_SIZE);
    limits.max_alloc = Some(bytes);
    limits
}

/// Fixed part of what a decoder allocates (tables, window, one row of blocks).
const DECODER_BYTES: u64 = 1 << 20;

/// Size of a picture and the bytes that decoding takes per pixel, from its header.
fn survey(bytes: &[u8]) -> Result<(u32, u32, u64, ImageFormat), String> {
    let format = ::image::guess_format(bytes).map_err(|e| e.to_string())?;
    // PNG: up to 8 bytes per pixel and 4 as RGBA. JPEG: up to 4 and 4, and if it is progressive
    // (marker FF C2) all its coefficients, 4 times 2 bytes, and their padding.
    let per_pixel = match format {
        ImageFormat::Png => 12,
        ImageFormat::Jpeg if bytes.windows(2).any(|w| w == [0xff, 0xc2]) => 24,
        ImageFormat::Jpeg => 12,
        other => return Err(format!("{other:?} pictures are not read")),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits(DECODER_BYTES));
    let (width, height) = reader.into_dimensions().map_err(|e| e.to_string())?;
    if width > MAX_IMAGE_SIZE || height > MAX_IMAGE_SIZE {
        return Err(Kind::Limit {
            what: "width or height of an image in pixels",
            needed: u64::from(width.max(height)),
            limit: u64::from(MAX_IMAGE_SIZE),
        }
        .to_string());
    }
    Ok((width, height, per_pixel, format))
}
