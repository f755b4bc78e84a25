//! Ten thousand of the built-in character in three levels of detail, whose heads follow a light that wanders among them.
//!
//! `cargo run --release --features window --example crowd` opens a window, with the figures of the frame on it.
//! With `--frames 60 --picture crowd.png` there is none: so many frames are drawn into an image.

mod offscreen;

use argh::FromArgs;
use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::{Aim, InstanceId, Space, Target, TierDetail, Tiers};
use bevy_phalanx::phalanx::glam;
use bevy_phalanx::{
    PhalanxCharacter, PhalanxCrowd, PhalanxInstance, PhalanxPlayer, PhalanxPlugin, PhalanxRig,
    RigSettings, RigSetup,
};
use std::path::PathBuf;

/// A crowd that looks.
#[derive(FromArgs, Resource, Clone)]
struct Args {
    /// total number of characters
    #[argh(option, default = "10000")]
    count: usize,
    /// draw so many frames without a window
    #[argh(option)]
    frames: Option<u32>,
    /// where the last of these frames goes, a PNG file
    #[argh(option)]
    picture: Option<PathBuf>,
}

/// What all look at.
#[derive(Component)]
struct Wanderer;

#[cfg(feature = "window")]
#[derive(Component)]
struct Hud;

#[derive(Resource)]
struct Model(Handle<PhalanxRig>);

const CLIPS: [&str; 4] = ["Idle", "Walk", "Jog", "Idle"];
const SPACING: f32 = 1.6;
/// Those who are farther away do not look, and may share poses.
const SIGHT: f32 = 15.0;

fn main() -> Result<AppExit> {
    let args: Args = argh::from_env();
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let mut app = App::new();
    let mut tiers = Tiers::default();
    for (tier, level) in tiers.tiers.iter_mut().zip([0, 0, 1, 1, 2, 2]) {
        tier.detail = (level > 0).then(|| TierDetail { level, ..default() });
    }
    app.add_plugins((
        offscreen::plugins("Crowd", args.frames.is_none(), assets),
        PhalanxPlugin { tiers: Some(tiers), ..default() },
    ))
    .insert_resource(args.clone())
    .add_systems(Startup, set_up)
    .add_systems(Update, (wander, look, show).chain());
    let Some(frames) = args.frames else { return Ok(app.run()) };
    offscreen::load::<With<PhalanxInstance>>(&mut app, args.count)?;
    let frame = offscreen::draw(&mut app, frames);
    println!("{}", figures(app.world().resource::<PhalanxCrowd>(), frame));
    if let Some(file) = &args.picture {
        offscreen::save(&mut app, file)?;
    }
    Ok(AppExit::Success)
}

fn set_up(
    mut commands: Commands,
    server: Res<AssetServer>,
    mut crowd: ResMut<PhalanxCrowd>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
    args: Res<Args>,
) {
    let levels = |settings: &mut RigSettings| {
        settings.lods = vec!["mannequin_lod1.glb".into(), "mannequin_lod2.glb".into()];
    };
    let model: Handle<PhalanxRig> =
        server.load_builder().with_settings(levels).load("mannequin.glb");
    let setup = RigSetup::new(|crowd, rig, names| {
        let skeleton = crowd.rig(rig)?.skeleton();
        let mut aim = Aim::chain([(skeleton.joint("Neck")?, 0.4), (skeleton.joint("Head")?, 0.6)]);
        aim.limit = 1.2;
        names.modifier("look", crowd.add_modifier(rig, aim)?);
        Ok(())
    });
    crowd.set_up(&model, setup);
    let side = (args.count as f32).sqrt().ceil() as usize;
    for i in 0..args.count {
        let mut player = PhalanxPlayer::default();
        player.play(CLIPS[i % CLIPS.len()]).repeat().seek_to(i as f32 * 0.37 % 4.0);
        let [x, z] = [i % side, i / side].map(|n| (n as f32 - 0.5 * side as f32) * SPACING);
        commands.spawn((PhalanxCharacter(model.clone()), player, Transform::from_xyz(x, 0.0, z)));
    }
    commands.insert_resource(Model(model));

    let front = 0.5 * side as f32 * SPACING;
    let view = Transform::from_xyz(0.0, 3.5, front + 6.0)
        .looking_at(Vec3::new(0.0, 0.5, front - 6.0), Vec3::Y);
    let mut camera = commands.spawn((Camera3d::default(), view));
    if args.frames.is_some() {
        camera.insert(offscreen::target(&mut images));
    }
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(500.0, 500.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.35, 0.4, 0.35))),
    ));
    commands.spawn((
        Wanderer,
        Mesh3d(meshes.add(Sphere::new(0.2))),
        MeshMaterial3d(
            materials
                .add(StandardMaterial { emissive: LinearRgba::rgb(8.0, 4.0, 0.5), ..default() }),
        ),
        Transform::from_xyz(0.0, 2.2, front),
    ));
    commands.spawn((
        DirectionalLight { illuminance: 3000.0, ..default() },
        Transform::from_xyz(1.0, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    #[cfg(feature = "window")]
    commands.spawn((Hud, Text::default()));
}

/// The light goes back and forth in front of the crowd.
fn wander(time: Res<Time>, mut wanderers: Query<&mut Transform, With<Wanderer>>) {
    for mut transform in &mut wanderers {
        transform.translation.x = 6.0 * (0.5 * time.elapsed_secs()).sin();
    }
}

/// One call for all: those who are near look at the light, others less and less.
fn look(
    mut crowd: ResMut<PhalanxCrowd>,
    model: Res<Model>,
    characters: Query<(&PhalanxInstance, &Transform)>,
    wanderer: Single<&Transform, With<Wanderer>>,
    mut arrays: Local<(Vec<InstanceId>, Vec<f32>)>,
) -> Result {
    let Some(modifier) = crowd.rig(&model.0).and_then(|rig| crowd.modifier(rig, "look")) else {
        return Ok(());
    };
    let (instances, weights) = &mut *arrays;
    instances.clear();
    weights.clear();
    for (instance, transform) in &characters {
        let distance = transform.translation.distance(wanderer.translation);
        instances.push(instance.id());
        weights.push((2.0 - 2.0 * distance / SIGHT).clamp(0.0, 1.0));
    }
    let position = glam::Vec3::from(wanderer.translation.to_array());
    let target = Target { space: Space::World, position, rotation: None, normal: None };
    crowd.crowd.set_targets(modifier, instances, &[target], weights)?;
    Ok(())
}

/// The figures of the last frame.
fn figures(crowd: &PhalanxCrowd, milliseconds: f64) -> String {
    let Some(frame) = crowd.crowd.tier_stats() else { return String::new() };
    let sum = |of: fn(&_) -> usize| frame.tiers.iter().map(of).sum::<usize>();
    format!(
        "{milliseconds:.1} ms\n{} evaluated\n{} held\n{} share {} palettes\n{} out of the picture",
        sum(|tier: &bevy_phalanx::phalanx::crowd::TierStats| tier.evaluated),
        sum(|tier| tier.held),
        sum(|tier| tier.shared),
        frame.shared_palettes,
        frame.out
    )
}

#[cfg(feature = "window")]
fn show(crowd: Res<PhalanxCrowd>, time: Res<Time>, mut hud: Single<&mut Text, With<Hud>>) {
    hud.0 = figures(&crowd, 1e3 * time.delta_secs_f64());
}

#[cfg(not(feature = "window"))]
fn show() {}
