//! Footsteps: the file's markers give the time of a heel strike, the pose and the root motion its position.
//!
//! The mannequin's clips have the markers `LeftFoot.strike` and `RightFoot.strike`. A marker fires once each
//! time it is passed, whatever the frame rate. Of clips that play in step, one leads, so that blends sound each step
//! once. Events are read after the step; there are no callbacks.
//!
//! `cargo run --release --example events_footsteps [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, DAffine3, Vec3};
use phalanx::build::RootMotionOptions;
use phalanx::import::{ImportOptions, mannequin_with};
use phalanx::math::Affine3x4;
use phalanx::playback::{EventKind, Mixer, PlayOptions};
use phalanx_render::PictureSize;
use picture::{Posed, draw_poses, out_file};
use std::error::Error;
use std::sync::Arc;

const FRAME: f64 = 1.0 / 30.0;
const SECONDS: f64 = 4.25;

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin_with(&ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    })?);
    let mut mixer = Mixer::new(rig.clone())?;
    let walk = mixer.clip_named("Walk_RootMotion")?;
    mixer.player().play(0, walk, &PlayOptions::default())?;
    let names: Vec<String> = (mixer.clip(walk)?.markers().iter()).map(|m| m.name.clone()).collect();
    println!("markers: {}", names.join(", "));

    let mut place = DAffine3::IDENTITY;
    let mut poses = Vec::new();
    for frame in 0..(SECONDS / FRAME) as usize {
        mixer.advance(FRAME)?;
        let motion = mixer.root_motion();
        place *= DAffine3::from_rotation_translation(motion.rotation, motion.translation);
        let events = mixer.events().iter();
        let steps: Vec<String> = events
            .filter(|e| e.kind == EventKind::Marker && e.leading)
            .map(|e| names[usize::from(e.marker)].clone())
            .filter(|name| name.ends_with(".strike"))
            .collect();
        for step in steps {
            let foot = step.trim_end_matches(".strike");
            let world = Affine3A::from_cols_array(&place.to_cols_array().map(|v| v as f32));
            let model = Affine3A::from(mixer.model_matrix(foot)?);
            let at = (world * model).translation;
            let seconds = (frame + 1) as f64 * FRAME;
            println!("{seconds:5.2} s  {foot:9} x {:5.2} m, z {:5.2} m", at.x, at.z);
            poses.push(Posed {
                world: Affine3x4::from(world),
                palette: mixer.evaluate().to_vec(),
                tint: [[0.9, 0.35, 0.2], [0.2, 0.5, 0.9]][usize::from(foot == "RightFoot")],
            });
        }
    }

    // One step of 5 s fires the same events as 150 frames. Events beyond the limit per action are counted.
    mixer.advance(5.0)?;
    let strikes = mixer.events().iter().filter(|e| {
        e.kind == EventKind::Marker && names[usize::from(e.marker)].ends_with(".strike")
    });
    println!(
        "in one step of 5 s: {} strikes, {} events left out",
        strikes.count(),
        mixer.dropped_events()
    );

    let size = PictureSize { width: 1200, height: 400 };
    let middle = Vec3::new(0.0, 0.8, 2.8);
    let view = [middle + Vec3::new(6.4, 1.2, 1.2), middle];
    draw_poses(&rig, &poses, &[], view, size, &out_file("events_footsteps.png")?)
}
