//! Apps with a window, or without one: then they draw into an image, whose last frame becomes a file.

use bevy::app::PluginGroupBuilder;
use bevy::asset::RenderAssetUsages;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::ecs::query::QueryFilter;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bevy's plugins, with a window of this title or without one, and a folder of assets.
pub fn plugins(title: &str, window: bool, assets: impl Into<String>) -> PluginGroupBuilder {
    let primary_window = window.then(|| Window { title: title.into(), ..default() });
    let exit_condition =
        if window { ExitCondition::OnPrimaryClosed } else { ExitCondition::DontExit };
    DefaultPlugins
        .set(AssetPlugin { file_path: assets.into(), ..default() })
        .set(WindowPlugin { primary_window, exit_condition, ..default() })
        .set(RenderPlugin { synchronous_pipeline_compilation: !window, ..default() })
}

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

/// Updates an app without a window until so many entities are `Ready`. Each frame is a sixtieth of a second.
pub fn load<Ready: QueryFilter>(app: &mut App, count: usize) -> Result {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.finish();
    app.cleanup();
    let start = Instant::now();
    loop {
        app.update();
        let world = app.world_mut();
        let ready = world.query_filtered::<(), Ready>().iter(world).count();
        if ready == count {
            return Ok(());
        }
        if start.elapsed() > Duration::from_secs(120) {
            return Err(format!("{ready} of {count} characters in two minutes").into());
        }
    }
}

/// Draws frames; returns the milliseconds of one.
pub fn draw(app: &mut App, frames: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..frames {
        app.update();
    }
    start.elapsed().as_secs_f64() * 1e3 / f64::from(frames.max(1))
}

/// Draws some more frames and stores the last.
pub fn save(app: &mut App, file: &Path) -> Result {
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
