//! A crowd whose heads follow a passing target: chest, neck and head share the turn, within a limit and a speed.
//!
//! Three moments of a target that flies by from left to right, one above the other.
//!
//! `cargo run --release -p phalanx-render --example look_at [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, Quat, Vec3};
use phalanx::crowd::{Aim, BoneBuffer, Crowd, PlayOptions, Target};
use phalanx::import::mannequin;
use phalanx::mesh::Primitive;
use phalanx_render::PictureSize;
use picture::{Posed, Shape, out_file, picture};
use std::error::Error;
use std::sync::Arc;

const FRAME: f32 = 1.0 / 60.0;
/// Seconds of the flight.
const FLIGHT: f32 = 4.0;

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let idle = crowd.clip_named(id, "Idle")?;
    let joint = |name: &str| rig.skeleton().joint(name);
    let (chest, neck, head) = (joint("Chest")?, joint("Neck")?, joint("Head")?);
    let look = Aim {
        up: Some(Vec3::Y),
        limit: 80f32.to_radians(),
        soft: 0.3,
        speed: 200f32.to_radians(),
        ..Aim::chain([(chest, 1.0), (neck, 1.5), (head, 2.5)])
    };
    let look = crowd.add_modifier(id, look)?;

    let mut all = Vec::new();
    for n in 0..21 {
        let (row, column) = ((n / 7) as f32, (n % 7) as f32);
        let one = crowd.spawn(id)?;
        let place = Vec3::new((column - 3.0) * 0.8 + 0.4 * (row % 2.0), 0.0, -0.9 * row);
        let turn = Quat::from_rotation_y(0.3 * (2.4 * n as f32).sin());
        crowd.set_world(one, Affine3A::from_rotation_translation(turn, place))?;
        let time = 0.37 * f64::from(n);
        crowd.play(one, idle, &PlayOptions { time, ..PlayOptions::default() })?;
        all.push(one);
    }

    let mut bones = BoneBuffer::new();
    let mut whole = image::RgbaImage::new(960, 1080);
    let frames = (FLIGHT / FRAME) as usize;
    for frame in 0..=frames {
        let share = frame as f32 / frames as f32;
        let height = 1.9 + 0.15 * (4.0 * std::f32::consts::PI * share).cos();
        let target = Vec3::new(6.0 * share - 3.0, height, 0.9);
        // Everyone notices it within half a second.
        crowd.set_targets(look, &all, &[Target::world(target)], &[(4.0 * share).min(1.0)])?;
        crowd.advance(FRAME.into())?;
        let moments = [frames / 4, frames / 2, frames * 3 / 4];
        let Some(moment) = moments.iter().position(|&at| at == frame) else {
            continue;
        };
        crowd.evaluate(&mut bones);
        let mut poses = Vec::new();
        let mut most = 0f32;
        for &one in &all {
            let world = *crowd.world(one)?;
            let models = crowd.model_matrices(one)?;
            let line = world.transform_point3(models[head].translation()) - target;
            let looks = world.transform_vector3(models[head].transform_vector3(Vec3::Z));
            most = most.max((-line).angle_between(looks));
            let rows = crowd.palette_range(one).ok_or("an instance has no palette rows")?;
            let palette = bones.rows()[rows].to_vec();
            poses.push(Posed { world, palette, tint: [0.25, 0.45, 0.75] });
        }
        println!(
            "target at {target:.2}: heads are off by {:.1} degrees at most",
            most.to_degrees()
        );
        let size = PictureSize { width: 960, height: 360 };
        let camera = [Vec3::new(0.0, 2.2, 3.6), Vec3::new(0.0, 1.55, 0.0)];
        let ball = Shape { primitive: octahedron(0.07), color: [1.0, 0.25, 0.02], at: target };
        let drawn = picture(&rig, &poses, &[ball], camera, size)?.image;
        image::imageops::replace(&mut whole, &drawn, 0, 360 * moment as i64);
    }
    let out = out_file("look_at.png")?;
    image::DynamicImage::from(whole).to_rgb8().save(&out)?;
    println!("{}", out.display());
    Ok(())
}

fn octahedron(radius: f32) -> Primitive {
    let mut out = Primitive::default();
    for octant in 0..8 {
        let [x, y, z] =
            [0, 1, 2].map(|axis| if octant >> axis & 1 == 1 { -radius } else { radius });
        let mut corners = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
        if x * y * z < 0.0 {
            corners.swap(1, 2);
        }
        let normal = Vec3::new(x, y, z).normalize().to_array();
        out.indices.extend((0..3).map(|i| out.positions.len() as u32 + i));
        out.positions.extend(corners);
        out.normals.extend([normal; 3]);
    }
    out
}
