//! An app without a window that draws into an image and reads it back.

use bevy::asset::RenderAssetUsages;
use bevy::camera::RenderTarget;
use bevy::gltf::Gltf;
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy_phalanx::PhalanxPlugin;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Width and height of pictures: a row of them is a multiple of 256 bytes.
pub const SIZE: [u32; 2] = [320, 240];

/// The folder of the real models; `None` where it is not, which CI refuses.
pub fn models() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::var_os("PHALANX_ASSETS")
        .map_or_else(|| here.join("../shared/assets"), PathBuf::from);
    if folder.join("Fox.glb").exists() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("PHALANX_REQUIRE_ASSETS").is_none(),
        "no models in {}",
        folder.display()
    );
    eprintln!("skipped: no models in {}", folder.display());
    None
}

/// The last picture that was read back.
#[derive(Resource, Default)]
pub struct Picture(pub Vec<u8>);

/// An app with Bevy's plugins, the plugin, and a folder of assets. Each update is 1/60 s.
pub fn app(folder: &std::path::Path) -> App {
    app_with(folder, |_| {})
}

/// [`app`], with other plugins.
pub fn app_with(folder: &std::path::Path, plugins: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    let folder = folder.canonicalize().expect("the folder of assets exists");
    app.add_plugins(
        DefaultPlugins
            .set(RenderPlugin { synchronous_pipeline_compilation: true, ..default() })
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(AssetPlugin { file_path: folder.display().to_string(), ..default() })
            .disable::<bevy::log::LogPlugin>()
            .disable::<bevy::render::pipelined_rendering::PipelinedRenderingPlugin>(),
    )
    .add_plugins(PhalanxPlugin::default())
    .init_resource::<Picture>()
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    register(&mut app);
    plugins(&mut app);
    app.finish();
    app.cleanup();
    app
}

/// What Bevy's scenes hold. Bevy's feature `reflect_auto_register`, one of its defaults, does this in an app.
pub fn register(app: &mut App) {
    use bevy::camera::{primitives::Aabb, visibility};
    app.register_type::<Transform>()
        .register_type::<GlobalTransform>()
        .register_type::<TransformTreeChanged>()
        .register_type::<Visibility>()
        .register_type::<InheritedVisibility>()
        .register_type::<ViewVisibility>()
        .register_type::<visibility::VisibilityClass>()
        .register_type::<visibility::DynamicSkinnedMeshBounds>()
        .register_type::<Aabb>()
        .register_type::<Name>()
        .register_type::<Children>()
        .register_type::<ChildOf>()
        .register_type::<Mesh3d>()
        .register_type::<MeshMaterial3d<StandardMaterial>>()
        .register_type::<bevy::mesh::skinning::SkinnedMesh>()
        .register_type::<bevy::mesh::morph::MorphWeights>()
        .register_type::<bevy::mesh::morph::MeshMorphWeights>()
        .register_type::<bevy::gltf::GltfExtras>()
        .register_type::<bevy::gltf::GltfSceneExtras>()
        .register_type::<bevy::gltf::GltfSceneName>()
        .register_type::<bevy::gltf::GltfMeshExtras>()
        .register_type::<bevy::gltf::GltfMeshName>()
        .register_type::<bevy::gltf::GltfMaterialExtras>()
        .register_type::<bevy::gltf::GltfMaterialName>()
        .register_type::<bevy::animation::AnimationPlayer>()
        .register_type::<bevy::animation::AnimationTargetId>()
        .register_type::<bevy::animation::AnimatedBy>();
}

/// An image that a camera draws into and that can be read back.
pub fn image(app: &mut App) -> Handle<Image> {
    let mut image =
        Image::new_target_texture(SIZE[0], SIZE[1], TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    image.asset_usage = RenderAssetUsages::default();
    app.world_mut().resource_mut::<Assets<Image>>().add(image)
}

/// A camera and a light, as both ways of animating see them.
pub fn scene(app: &mut App, eye: Vec3, target: Vec3) {
    let image = image(app);
    let world = app.world_mut();
    world.spawn((
        Camera3d::default(),
        Camera::default(),
        RenderTarget::Image(image.clone().into()),
        Msaa::Off,
        bevy::core_pipeline::tonemapping::Tonemapping::None,
        Transform::from_translation(eye).looking_at(target, Vec3::Y),
    ));
    world.spawn((
        DirectionalLight { illuminance: 5000.0, shadow_maps_enabled: false, ..default() },
        Transform::from_xyz(1.0, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    world.spawn(Readback::texture(image)).observe(
        |read: On<ReadbackComplete>, mut picture: ResMut<Picture>| {
            picture.0.clone_from(&read.data);
        },
    );
}

/// Updates until something holds, at most five minutes.
pub fn until(app: &mut App, what: &str, mut done: impl FnMut(&mut World) -> bool) {
    let start = Instant::now();
    while !done(app.world_mut()) {
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "{what} did not happen in five minutes"
        );
        app.update();
    }
}

/// A file that Bevy has loaded whole. Without it Bevy reads a file again for each label that is asked for meanwhile, and
/// each time spawns its scenes again.
pub fn loaded(app: &mut App, file: &str) -> Handle<Gltf> {
    let file = app.world().resource::<AssetServer>().load(file.to_owned());
    until(app, "the file loads", |world| {
        world.resource::<AssetServer>().is_loaded_with_dependencies(&file)
    });
    file
}

/// The picture of the present state, after some updates that the device may need.
pub fn picture(app: &mut App) -> Vec<u8> {
    for _ in 0..8 {
        app.update();
    }
    app.world().resource::<Picture>().0.clone()
}

/// An app without a renderer, with a folder of assets. Each update is 1/64 s.
pub fn bare(folder: &std::path::Path, plugin: PhalanxPlugin) -> App {
    let mut app = App::new();
    let folder = folder.canonicalize().expect("the folder of assets exists");
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin { file_path: folder.display().to_string(), ..default() },
        TransformPlugin,
        bevy::state::app::StatesPlugin,
        plugin,
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 64.0)));
    app.finish();
    app.cleanup();
    // The first update of Bevy's clock is no step.
    app.update();
    app
}

/// The folder of the built-in character.
pub fn built_in() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../assets")
}

/// Updates without time until so many characters are instances.
pub fn bound(app: &mut App, count: usize) {
    let step = app.world_mut().remove_resource::<TimeUpdateStrategy>().expect("set");
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    until(app, "the characters are bound", |world| {
        world.query::<&bevy_phalanx::PhalanxInstance>().iter(world).count() == count
    });
    app.insert_resource(step);
}
