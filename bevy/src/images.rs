//! Images and materials of a rig as Bevy's.

use crate::loader::RigLoaderError;
use crate::rig_assets::Store;
use bevy::asset::{Handle, RenderAssetUsages};
use bevy::color::{Color, LinearRgba};
use bevy::image::{
    CompressedImageFormats, Image, ImageAddressMode, ImageFilterMode, ImageSampler,
    ImageSamplerDescriptor, ImageType,
};
use bevy::math::{Affine2, Vec2};
use bevy::mesh::UvChannel;
use bevy::pbr::StandardMaterial;
use bevy::prelude::AlphaMode;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use phalanx::mesh::{AlphaMode as RigAlpha, Filter, ImageData, Material, Sampler, Texture, Wrap};
use phalanx::rig::Rig;
use std::collections::HashMap;

/// The images that are loaded so far.
struct Loaded {
    /// By index, colour space and sampler.
    images: HashMap<(usize, bool, String), Handle<Image>>,
    /// What the device reads without decoding.
    compressed: CompressedImageFormats,
}

/// One per material of the rig, then the default.
pub fn materials(
    rig: &Rig,
    store: &mut impl Store,
    compressed: CompressedImageFormats,
) -> Result<Vec<Handle<StandardMaterial>>, RigLoaderError> {
    let mut loaded = Loaded { images: HashMap::new(), compressed };
    let mut handles = Vec::new();
    for (index, material) in rig.materials().iter().chain([&Material::DEFAULT]).enumerate() {
        let material = standard(rig, material, &mut loaded, store)?;
        handles.push(store.material(format!("Phalanx/Material{index}"), material));
    }
    Ok(handles)
}

fn standard(
    rig: &Rig,
    material: &Material,
    loaded: &mut Loaded,
    store: &mut impl Store,
) -> Result<StandardMaterial, RigLoaderError> {
    let mut image = |texture: &Option<Texture>, srgb| match texture {
        Some(texture) => load(rig, texture, srgb, loaded, store),
        None => Ok(None),
    };
    let channel = |texture: &Option<Texture>| match texture {
        Some(Texture { tex_coord: 1, .. }) => UvChannel::Uv1,
        _ => UvChannel::Uv0,
    };
    let [r, g, b, a] = material.base_color;
    let [er, eg, eb] = material.emissive;
    Ok(StandardMaterial {
        base_color: Color::linear_rgba(r, g, b, a),
        base_color_channel: channel(&material.base_color_texture),
        base_color_texture: image(&material.base_color_texture, true)?,
        metallic: material.metallic,
        perceptual_roughness: material.roughness,
        metallic_roughness_channel: channel(&material.metallic_roughness_texture),
        metallic_roughness_texture: image(&material.metallic_roughness_texture, false)?,
        normal_map_channel: channel(&material.normal_texture),
        normal_map_texture: image(&material.normal_texture, false)?,
        occlusion_channel: channel(&material.occlusion_texture),
        occlusion_texture: image(&material.occlusion_texture, false)?,
        emissive: LinearRgba::rgb(er, eg, eb),
        emissive_channel: channel(&material.emissive_texture),
        emissive_texture: image(&material.emissive_texture, true)?,
        // Bevy has one transform for all textures of a material; the base colour's is seen most.
        uv_transform: material.base_color_texture.as_ref().map_or(Affine2::IDENTITY, |texture| {
            let t = &texture.transform;
            // glTF turns counter-clockwise about the offset, with the second axis downwards.
            Affine2::from_scale_angle_translation(
                Vec2::from(t.scale),
                -t.rotation,
                Vec2::from(t.offset),
            )
        }),
        alpha_mode: match material.alpha_mode {
            RigAlpha::Opaque => AlphaMode::Opaque,
            RigAlpha::Mask => AlphaMode::Mask(material.alpha_cutoff),
            RigAlpha::Blend => AlphaMode::Blend,
        },
        double_sided: material.double_sided,
        cull_mode: (!material.double_sided).then_some(bevy::render::render_resource::Face::Back),
        unlit: material.unlit,
        ..StandardMaterial::default()
    })
}

/// An image of the file; `None` if the rig does not hold it.
fn load(
    rig: &Rig,
    texture: &Texture,
    srgb: bool,
    loaded: &mut Loaded,
    store: &mut impl Store,
) -> Result<Option<Handle<Image>>, RigLoaderError> {
    let index = texture.image;
    let Some(Some(data)) = rig.images().get(index) else { return Ok(None) };
    let key = (index, srgb, format!("{:?}", texture.sampler));
    if let Some(handle) = loaded.images.get(&key) {
        return Ok(Some(handle.clone()));
    }
    let sampler = ImageSampler::Descriptor(sampler(&texture.sampler));
    let usages = RenderAssetUsages::default();
    let image = match data {
        ImageData::Encoded { mime, bytes } => {
            let kind = ImageType::MimeType(mime);
            Image::from_buffer(bytes, kind, loaded.compressed, srgb, sampler, usages)
                .map_err(|source| RigLoaderError::Image { image: index, source })?
        }
        ImageData::Decoded(pixels) => {
            let size =
                Extent3d { width: pixels.width, height: pixels.height, depth_or_array_layers: 1 };
            let format = match srgb {
                true => TextureFormat::Rgba8UnormSrgb,
                false => TextureFormat::Rgba8Unorm,
            };
            let rgba = pixels.rgba.clone();
            let image = Image::new(size, TextureDimension::D2, rgba, format, usages);
            Image { sampler, ..image }
        }
    };
    let handle = store.image(format!("Phalanx/Image{}", loaded.images.len()), image);
    loaded.images.insert(key, handle.clone());
    Ok(Some(handle))
}

fn sampler(sampler: &Sampler) -> ImageSamplerDescriptor {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => ImageAddressMode::Repeat,
        Wrap::ClampToEdge => ImageAddressMode::ClampToEdge,
        Wrap::MirroredRepeat => ImageAddressMode::MirrorRepeat,
    };
    let filter = |filter| match filter {
        Some(Filter::Nearest) => ImageFilterMode::Nearest,
        Some(Filter::Linear) | None => ImageFilterMode::Linear,
    };
    ImageSamplerDescriptor {
        address_mode_u: wrap(sampler.wrap_u),
        address_mode_v: wrap(sampler.wrap_v),
        mag_filter: filter(sampler.mag_filter),
        min_filter: filter(sampler.min_filter),
        mipmap_filter: filter(sampler.mip_filter),
        ..ImageSamplerDescriptor::default()
    }
}
