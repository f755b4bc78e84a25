//! A third-person controller: WASD walks, shift runs, space jumps, E or the left mouse button attacks.
//!
//! `cargo run --release --features window --example controller` opens a window.
//! With `--frames 300 --picture controller.png` there is none: a script presses the keys for so many frames.

mod offscreen;
mod stage;

use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::{BlendSpace, EventKind, Feet, Fill, LayerOptions};
use bevy_phalanx::phalanx::skeleton::JointMask;
use bevy_phalanx::*;
use stage::height;

#[derive(Component, Default)]
struct Hero {
    speed: f32,
    /// Upwards, while in the air.
    rise: Option<f32>,
}

fn main() -> Result<AppExit> {
    stage::run(|app| {
        app.add_plugins(PhalanxPlugin::default())
            .insert_resource(PhalanxGround::new(|at| (height(at), stage::normal(at))))
            .add_systems(Startup, set_up)
            .add_systems(Update, (control, follow).chain().after(stage::press));
    })
}

fn set_up(
    mut commands: Commands,
    server: Res<AssetServer>,
    mut crowd: ResMut<PhalanxCrowd>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let model: Handle<PhalanxRig> = server.load("mannequin.glb");
    let setup = RigSetup::new(|crowd, rig, names| {
        let skeleton = crowd.rig(rig)?.skeleton();
        let ankles = [skeleton.joint("LeftFoot")?, skeleton.joint("RightFoot")?];
        let mut feet = Feet::new(skeleton.joint("Hips")?, &ankles);
        for (foot, side) in feet.feet.iter_mut().zip(["LeftFoot", "RightFoot"]) {
            foot.markers = Some(["strike", "toeOff"].map(|marker| format!("{side}.{marker}")));
        }
        let [idle, walk, run] = ["Idle", "Walk", "Run"].map(|name| crowd.clip_named(rig, name));
        let gait = BlendSpace::by_speed(&[idle?, walk?, run?]).measured_by(feet.clone());
        names.playable("gait", crowd.add_blend_space(rig, gait)?);
        names.modifier("feet", crowd.add_modifier(rig, feet)?);
        Ok(())
    });
    let layers = |rig: &phalanx::rig::Rig| {
        let arms = Some(JointMask::subtree(rig.skeleton(), "Spine")?);
        let upper = LayerOptions { mask: arms, fill: Fill::Below, ..default() };
        Ok(vec![LayerOptions::default(), upper])
    };
    crowd.set_up(&model, setup.with_layers(layers));
    let mut player = PhalanxPlayer::default();
    player.play("gait").repeat();
    player.set_layer_weight(1, 0.0);
    let hero = commands.spawn((Hero::default(), PhalanxCharacter(model), player)).id();
    commands.entity(hero).insert((PhalanxFeet::default(), Transform::from_rotation(BACK)));
    let sword =
        Cuboid::new(0.03, 0.06, 0.9).mesh().build().translated_by(Vec3::new(0.0, -0.1, 0.4));
    let gray = materials.add(Color::srgb(0.6, 0.6, 0.7));
    let sword = (Mesh3d(meshes.add(sword)), MeshMaterial3d(gray), ChildOf(hero));
    commands.spawn((PhalanxAttachment::new("RightHand"), sword));
}

/// The character looks along its +z, the camera along its -z.
const BACK: Quat = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);

fn control(
    keys: Res<ButtonInput<KeyCode>>,
    buttons: Res<ButtonInput<MouseButton>>,
    time: Res<Time>,
    crowd: Res<PhalanxCrowd>,
    mut events: MessageReader<PhalanxEvent>,
    camera: Single<&Transform, (With<Camera3d>, Without<Hero>)>,
    hero: Single<
        (Entity, &mut Hero, &mut Transform, &mut PhalanxPlayer, &mut PhalanxFeet),
        With<PhalanxInstance>,
    >,
) {
    let (entity, mut hero, mut place, mut player, mut feet) = hero.into_inner();
    let seconds = time.delta_secs();
    let axis = |plus, minus| f32::from(keys.pressed(plus)) - f32::from(keys.pressed(minus));
    let way = camera.rotation * Vec3::X * axis(KeyCode::KeyD, KeyCode::KeyA)
        + camera.rotation * Vec3::NEG_Z * axis(KeyCode::KeyW, KeyCode::KeyS);
    let way = way.with_y(0.0).normalize_or_zero();
    let fast = if keys.pressed(KeyCode::ShiftLeft) { 4.5 } else { 1.4 };
    hero.speed.smooth_nudge(&(fast * way.length()), 6.0, seconds);
    if way != Vec3::ZERO {
        let facing = Transform::default().looking_to(-way, Vec3::Y).rotation;
        place.rotation.smooth_nudge(&facing, 8.0, seconds);
    }
    let step = place.rotation * Vec3::Z * hero.speed * seconds;
    place.translation += step;
    let floor = height(place.translation);
    if let Some(rise) = &mut hero.rise {
        *rise -= 9.81 * seconds;
        place.translation.y += *rise * seconds;
        if place.translation.y <= floor {
            hero.rise = None;
            player.transition("gait", 0.3).repeat().at([hero.speed, 0.0]);
            *feet = PhalanxFeet { weight: 1.0, seconds: 0.15 };
        }
    } else if let Some(jump) = crowd.state(entity, "Cheer").filter(|jump| !jump.fading_out) {
        // It bends its knees first.
        if jump.time > 0.39 {
            hero.rise = Some(3.0);
            *feet = PhalanxFeet { weight: 0.0, seconds: 0.1 };
        }
    } else {
        player.set_parameter("gait", [hero.speed, 0.0]);
        if keys.just_pressed(KeyCode::Space) {
            player.transition("Cheer", 0.12).seek_to(0.28).with_speed(0.65);
        }
    }
    if hero.rise.is_none() {
        place.translation.y = floor;
    }
    if keys.just_pressed(KeyCode::KeyE) || buttons.just_pressed(MouseButton::Left) {
        player.play("Attack").on_layer(1);
        player.fade_layer(1, 1.0, 0.15);
    }
    let ends = |event: &&PhalanxEvent| event.kind() == EventKind::Finished;
    if events.read().filter(ends).any(|event| event.clip.name() == "Attack") {
        player.fade_layer(1, 0.0, 0.25);
    }
}

/// The camera is drawn behind the character, above the ground.
fn follow(
    time: Res<Time>,
    hero: Single<&Transform, (With<Hero>, Without<Camera3d>)>,
    mut camera: Single<&mut Transform, With<Camera3d>>,
) {
    let away = (camera.translation - hero.translation).with_y(0.0).normalize_or(Vec3::Z);
    let wanted = hero.translation + 3.5 * away + 1.6 * Vec3::Y;
    camera.translation.smooth_nudge(&wanted, 5.0, time.delta_secs());
    camera.translation.y = camera.translation.y.max(height(camera.translation) + 0.5);
    camera.look_at(hero.translation + Vec3::Y, Vec3::Y);
}
