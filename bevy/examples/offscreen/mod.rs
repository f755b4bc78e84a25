//! Drawing without a window: an image to draw into, and its last frame as a file.

use bevy::asset::RenderAssetUsages;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use std::path::Path;

/// A row of it is a multiple of 256 bytes, as copies want it.
const SIZE: [u32; 2] = [640, 360];

/// For a camera: draws into an image of its own.
pub fn target(images: &mut Assets<Image>) -> impl Bundle {
    let mut image =
        Image::new_target_texture(SIZE[0], SIZE[1], TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    image.asset_usage = RenderAssetUsages::default();
    // Tone mapping without a table, which is a feature of Bevy's.
    (RenderTarget::Image(images.add(image).into()), Tonemapping::None)
}

#[derive(Resource, Default)]
struct Picture(Vec<u8>);

/// Draws some more frames and stores the last.
pub fn save(app: &mut App, file: &Path) -> Result<(), BevyError> {
    let world = app.world_mut();
    let target = world.query::<&RenderTarget>().iter(world).find_map(|target| match target {
        RenderTarget::Image(image) => Some(image.handle.clone()),
        _ => None,
    });
    let image = target.ok_or("no camera draws into an image")?;
    world.init_resource::<Picture>();
    world.spawn(Readback::texture(image)).observe(
        |read: On<ReadbackComplete>, mut picture: ResMut<Picture>| {
            picture.0.clone_from(&read.data);
        },
    );
    for _ in 0..20 {
        app.update();
        if !app.world().resource::<Picture>().0.is_empty() {
            break;
        }
    }
    let picture = std::mem::take(&mut app.world_mut().resource_mut::<Picture>().0);
    image::RgbaImage::from_raw(SIZE[0], SIZE[1], picture)
        .ok_or("the device gave no picture")?
        .save(file)?;
    Ok(())
}
