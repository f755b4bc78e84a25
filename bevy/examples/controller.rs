//! A third-person controller: WASD walks, shift runs, space jumps, E or the left mouse button attacks.
//!
//! `cargo run --release --features window --example controller` opens a window.
//! With `--frames 300 --picture controller.png` there is none: a script presses the keys for so many frames.

mod offscreen;

use argh::FromArgs;
use bevy::mesh::VertexAttributeValues::Float32x3;
use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::{BlendSpace, EventKind, Feet, Fill, LayerOptions};
use bevy_phalanx::phalanx::skeleton::JointMask;
use bevy_phalanx::*;
use std::path::PathBuf;

/// A character to walk about with.
#[derive(FromArgs)]
struct Args {
    /// draw so many frames without a window
    #[argh(option)]
    frames: Option<u32>,
    /// where the last of these frames goes, a PNG file
    #[argh(option)]
    picture: Option<PathBuf>,
}

/// The frames in which a key is held, without a window.
const SCRIPT: [(KeyCode, [u32; 2]); 8] = [
    (KeyCode::KeyW, [10, 180]),
    (KeyCode::KeyE, [80, 81]),
    (KeyCode::KeyD, [200, 215]),
    (KeyCode::KeyW, [260, 500]),
    (KeyCode::ShiftLeft, [260, 500]),
    (KeyCode::Space, [320, 321]),
    (KeyCode::Space, [560, 561]),
    (KeyCode::KeyE, [640, 641]),
];

#[derive(Component, Default)]
struct Hero {
    speed: f32,
    /// Upwards, while in the air.
    rise: Option<f32>,
}

/// A slope of 16 m up to 3 m.
fn height(at: Vec3) -> f32 {
    1.5 - 1.5 * (((-1.0 - at.z) / 16.0).clamp(0.0, 1.0) * PI).cos()
}

fn main() -> Result<AppExit> {
    let args: Args = argh::from_env();
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets");
    let normal = |at| {
        let slope = |step| 10.0 * (height(at - step) - height(at + step));
        Vec3::new(slope(0.05 * Vec3::X), 1.0, slope(0.05 * Vec3::Z))
    };
    let mut app = App::new();
    app.add_plugins(offscreen::plugins("Controller", args.frames.is_none(), assets))
        .add_plugins(PhalanxPlugin::default())
        .insert_resource(PhalanxGround::new(move |at| (height(at), normal(at))))
        .add_systems(Startup, set_up)
        .add_systems(Update, (control, follow).chain());
    let Some(frames) = args.frames else { return Ok(app.run()) };
    app.add_systems(Startup, draw_into_image.after(set_up)).add_systems(Update, press.before(control));
    offscreen::load::<With<PhalanxInstance>>(&mut app, 1)?;
    offscreen::draw(&mut app, frames);
    if let Some(file) = &args.picture {
        offscreen::save(&mut app, file)?;
    }
    Ok(AppExit::Success)
}
