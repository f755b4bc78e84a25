//! Five hundred characters walk and stand on hills: `Feet` bends their legs and turns their soles to the ground.
//!
//! A frame asks where the feet are, finds the ground there, and sets it for the next frame.
//!
//! `cargo run --release -p phalanx-render --example uneven_ground [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, Quat, Vec3};
use phalanx::build::RootMotionOptions;
use phalanx::crowd::{BoneBuffer, Crowd, Feet, Ground, PlayOptions, PoseStage};
use phalanx::import::{ImportOptions, mannequin_with};
use phalanx::math::Affine3x4;
use phalanx::mesh::Primitive;
use phalanx_render::PictureSize;
use picture::{Posed, Shape, draw_poses, out_file};
use std::error::Error;
use std::sync::Arc;

const FRAME: f64 = 1.0 / 60.0;
const COUNT: usize = 500;
/// Half the sides of the hills along x and z, metres.
const HALF: [f32; 2] = [20.0, 20.0];

/// Height of the ground.
fn height(x: f32, z: f32) -> f32 {
    1.3 + 0.6 * (0.75 * x + 0.4).sin() * (0.5 * z).cos() + 0.5 * (0.2 * x - 0.25 * z).sin()
}

/// Height and normal of the ground below a place.
fn ground(at: Vec3) -> Ground {
    let (step, of) = (0.05, |x, z| height(at.x + x, at.z + z));
    let normal =
        Vec3::new(of(-step, 0.0) - of(step, 0.0), 2.0 * step, of(0.0, -step) - of(0.0, step));
    Ground { height: of(0.0, 0.0), normal }
}

fn main() -> Result<(), Box<dyn Error>> {
    let motion = RootMotionOptions::default();
    let options = ImportOptions { root_motion: Some(motion), ..ImportOptions::default() };
    let rig = Arc::new(mannequin_with(&options)?);
    let joint = |name: &str| rig.skeleton().joint(name);
    let (pelvis, ankles) = (joint("Hips")?, [joint("LeftFoot")?, joint("RightFoot")?]);
    let sole = rig.skeleton().rest_models()[ankles[0]].translation.y;

    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    // The clips move the instances over the ground.
    crowd.apply_root_motion(id, true)?;
    let feet = crowd.add_modifier(id, Feet::new(pelvis, &ankles))?;
    let clips = [crowd.clip_named(id, "Idle")?, crowd.clip_named(id, "Walk_RootMotion")?];
    let mut all = Vec::new();
    crowd.spawn_many(id, COUNT, &mut all)?;
    for (n, &one) in all.iter().enumerate() {
        let (row, column) = ((n / 20) as f32, (n % 20) as f32);
        let place = Vec3::new(1.6 * column - 15.2 + 0.8 * (row % 2.0), 0.0, 15.5 - 1.3 * row);
        let turn = Quat::from_rotation_y(2.4 * n as f32);
        crowd.set_world(one, Affine3A::from_rotation_translation(turn, place))?;
        let options = PlayOptions { time: 0.37 * n as f64, ..PlayOptions::default() };
        crowd.play(one, clips[n % 2], &options)?;
    }

    let mut bones = BoneBuffer::new();
    let mut at = vec![Vec3::ZERO; 2 * COUNT];
    for _ in 0..90 {
        crowd.advance(FRAME)?;
        for &one in &all {
            let mut world = Affine3A::from(*crowd.world(one)?);
            world.translation.y = height(world.translation.x, world.translation.z);
            crowd.set_world(one, world)?;
        }
        crowd.foot_positions(feet, &all, &mut at)?;
        let grounds: Vec<Ground> = at.iter().map(|&at| ground(at)).collect();
        crowd.set_grounds(feet, &all, &grounds, &[1.0])?;
        crowd.evaluate(&mut bones);
    }

    // Where those who stand have their ankles, over the ground that is below them.
    for stage in [PoseStage::Before, PoseStage::After] {
        let standing: Vec<_> = all.iter().step_by(2).copied().collect();
        let mut models = vec![Affine3x4::IDENTITY; 2 * standing.len()];
        crowd.model_poses(id, &ankles, &standing, stage, &mut models)?;
        let mut worst = 0f32;
        for (n, model) in models.iter().enumerate() {
            let ankle = crowd.world(standing[n / 2])?.transform_point3(model.translation());
            worst = worst.max((ankle.y - height(ankle.x, ankle.z) - sole).abs());
        }
        println!("{stage:?}: soles are off the ground by {:.1} cm at most", 100.0 * worst);
    }

    let mut poses = Vec::new();
    for (n, &one) in all.iter().enumerate() {
        let rows = crowd.palette_range(one).ok_or("an instance has no palette rows")?;
        let tint = [[0.25, 0.45, 0.75], [0.8, 0.35, 0.2]][n % 2];
        poses.push(Posed { world: *crowd.world(one)?, palette: bones.rows()[rows].to_vec(), tint });
    }
    let hills = Shape { primitive: hills(), color: [0.3, 0.36, 0.2], at: Vec3::ZERO };
    let camera = [Vec3::new(-1.5, 3.3, 20.0), Vec3::new(-1.2, 1.5, 12.0)];
    let size = PictureSize { width: 1200, height: 600 };
    draw_poses(&rig, &poses, &[hills], camera, size, &out_file("uneven_ground.png")?)
}

/// The hills as triangles, in tiles of two colours.
fn hills() -> Primitive {
    let mut out = Primitive::default();
    let cells = HALF.map(|half| (4.0 * half) as i32);
    for (i, k) in (0..cells[0]).flat_map(|i| (0..cells[1]).map(move |k| (i, k))) {
        let first = out.positions.len() as u32;
        let shade = [0.6, 1.0][((i / 2 + k / 2) % 2) as usize];
        for (i, k) in [(i, k), (i, k + 1), (i + 1, k), (i + 1, k + 1)] {
            let at = Vec3::new(0.5 * i as f32 - HALF[0], 0.0, 0.5 * k as f32 - HALF[1]);
            let ground = ground(at);
            out.positions.push([at.x, ground.height, at.z]);
            out.normals.push(ground.normal.normalize().to_array());
            out.colors.push([shade, shade, shade, 1.0]);
        }
        out.indices.extend([0, 1, 2, 2, 1, 3].map(|corner| first + corner));
    }
    out
}
