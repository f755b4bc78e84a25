//! A crossfade from one clip to another and back: weights over time, as numbers and as a row of poses.
//!
//! The second fade interrupts the first. It continues from the weights that the first had reached, so the
//! pose does not jump.
//!
//! `cargo run --release --example crossfade [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, Vec3};
use phalanx::import::mannequin;
use phalanx::playback::{Mixer, PlayOptions};
use phalanx_render::PictureSize;
use picture::{Posed, draw_poses, out_file};
use std::error::Error;
use std::sync::Arc;

const FRAME: f64 = 1.0 / 60.0;
/// Frames between two poses of the row.
const STEP: usize = 6;
const POSES: usize = 14;

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let mut mixer = Mixer::new(rig.clone())?;
    let walk = mixer.clip_named("Walk")?;
    let cheer = mixer.clip_named("Cheer")?;
    let options = PlayOptions::default();
    mixer.player().play(0, walk, &options)?;

    let mut poses = Vec::new();
    println!("frame  walk  cheer");
    for frame in 0..POSES * STEP {
        if frame == 2 * STEP {
            mixer.player().fade_to(0, cheer, 0.6, &options)?;
        }
        // Half-way through, fade back.
        if frame == 6 * STEP {
            mixer.player().fade_to(0, walk, 0.6, &options)?;
        }
        mixer.advance(FRAME)?;
        if frame % STEP == STEP - 1 {
            let playing = mixer.playing();
            let [w, c] =
                [walk, cheer].map(|clip| playing.action(0, clip).map_or(0.0, |s| s.weight));
            println!("{frame:5}  {w:.2}  {c:.2}");
            let along = (poses.len() as f32 - 0.5 * (POSES - 1) as f32) * 1.05;
            let place = Vec3::new(along, 0.0, 0.0);
            poses.push(Posed {
                world: Affine3A::from_translation(place).into(),
                palette: mixer.evaluate().to_vec(),
                tint: [0.2 + 0.7 * c, 0.35, 0.2 + 0.7 * w],
            });
        }
    }
    let size = PictureSize { width: 1400, height: 360 };
    let view = [Vec3::new(0.0, 1.5, 6.4), Vec3::new(0.0, 1.0, 0.0)];
    draw_poses(&rig, &poses, &[], view, size, &out_file("crossfade.png")?)
}
