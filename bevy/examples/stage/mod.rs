//! What is around the character of the controller: land, light, a camera, and a script of keys for apps without a window.

use crate::offscreen;
use argh::FromArgs;
use bevy::mesh::VertexAttributeValues::Float32x3;
use bevy::prelude::*;
use bevy_phalanx::PhalanxInstance;
use std::f32::consts::PI;
use std::path::PathBuf;

/// A character to walk about with.
#[derive(FromArgs, Resource, Clone)]
pub struct Args {
    /// draw so many frames without a window
    #[argh(option)]
    frames: Option<u32>,
    /// where the last of these frames goes, a PNG file
    #[argh(option)]
    picture: Option<PathBuf>,
}

/// The frames in which a key is held, without a window.
const SCRIPT: [(KeyCode, [u32; 2]); 7] = [
    (KeyCode::KeyW, [10, 110]),
    (KeyCode::KeyE, [40, 41]),
    (KeyCode::KeyD, [110, 125]),
    (KeyCode::KeyW, [150, 230]),
    (KeyCode::ShiftLeft, [150, 230]),
    (KeyCode::Space, [190, 191]),
    (KeyCode::KeyE, [260, 261]),
];

/// A slope of 14 m, up to 3 m.
pub fn height(at: Vec3) -> f32 {
    1.5 - 1.5 * (PI * (-at.z / 14.0).clamp(0.0, 1.0)).cos()
}

/// The normal of the slope.
pub fn normal(at: Vec3) -> Vec3 {
    let slope = |step| 10.0 * (height(at - step) - height(at + step));
    Vec3::new(slope(0.05 * Vec3::X), 1.0, slope(0.05 * Vec3::Z))
}

/// Runs an app in a window, or draws its frames by the script.
pub fn run(build: impl FnOnce(&mut App)) -> Result<AppExit> {
    let args: Args = argh::from_env();
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let mut app = App::new();
    app.add_plugins(offscreen::plugins("Controller", args.frames.is_none(), assets))
        .insert_resource(ClearColor(Color::srgb(0.6, 0.75, 0.9)))
        .insert_resource(args.clone())
        .add_systems(Startup, set_up)
        .add_systems(Update, press.run_if(any_with_component::<PhalanxInstance>));
    build(&mut app);
    let Some(frames) = args.frames else { return Ok(app.run()) };
    offscreen::load::<With<PhalanxInstance>>(&mut app, 1)?;
    offscreen::draw(&mut app, frames);
    if let Some(file) = &args.picture {
        offscreen::save(&mut app, file)?;
    }
    Ok(AppExit::Success)
}

fn set_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
    args: Res<Args>,
) {
    let mut land = Plane3d::default().mesh().size(40.0, 40.0).subdivisions(159).build();
    let mut colors = Vec::new();
    if let Some(Float32x3(points)) = land.attribute_mut(Mesh::ATTRIBUTE_POSITION) {
        for point in points {
            point[1] = height(Vec3::from(*point));
            let light = (point[0].floor() + point[2].floor()).rem_euclid(2.0);
            colors.push([0.2 + 0.1 * light, 0.3 + 0.1 * light, 0.2, 1.0]);
        }
    }
    let land = land.with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors);
    let land = meshes.add(land.with_computed_smooth_normals());
    commands.spawn((Mesh3d(land), MeshMaterial3d(materials.add(Color::WHITE))));
    let light = DirectionalLight { illuminance: 5000.0, shadow_maps_enabled: true, ..default() };
    commands.spawn((light, Transform::from_xyz(2.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y)));
    let mut camera = commands.spawn((Camera3d::default(), Transform::from_xyz(1.5, 1.8, 4.0)));
    if args.frames.is_some() {
        camera.insert(offscreen::target(&mut images));
    }
}

/// Presses the keys of the script.
pub fn press(mut keys: ResMut<ButtonInput<KeyCode>>, args: Res<Args>, mut frame: Local<u32>) {
    if args.frames.is_none() {
        return;
    }
    *frame += 1;
    keys.reset_all();
    for (key, [from, to]) in SCRIPT {
        if (from..to).contains(&*frame) {
            keys.press(key);
        }
    }
}
