//! Root motion: a character walks around a square, moved by its clips alone.
//!
//! `Walk_RootMotion` travels and `TurnLeft` turns. The import extracts that motion from the poses, and the
//! mixer returns each frame how far the root moved, crossfades included.
//!
//! `cargo run --release --example root_motion [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, DAffine3, Vec3};
use phalanx::build::RootMotionOptions;
use phalanx::import::{ImportOptions, mannequin_with};
use phalanx::playback::{LoopMode, Mixer, PlayOptions};
use phalanx_render::PictureSize;
use picture::{Posed, draw_poses, out_file};
use std::error::Error;
use std::sync::Arc;

const FRAME: f64 = 1.0 / 60.0;
/// Seconds of walking along a side.
const WALK: f64 = 3.0;
/// Seconds of the turn at the end of a side.
const TURN: f64 = 1.2;
const FADE: f32 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin_with(&ImportOptions {
        root_motion: Some(RootMotionOptions { rotation: true, ..RootMotionOptions::default() }),
        ..ImportOptions::default()
    })?);
    for clip in rig.clips() {
        if let Some(motion) = clip.root_motion() {
            let whole = motion.whole();
            let turn = whole.rotation.to_scaled_axis().y.to_degrees();
            let way = whole.translation.length();
            println!("{}: {way:.2} m and {turn:.0} degrees a loop", clip.name());
        }
    }

    let mut mixer = Mixer::new(rig.clone())?;
    let walk = mixer.clip_named("Walk_RootMotion")?;
    let turn = mixer.clip_named("TurnLeft")?;
    let once = PlayOptions { loop_mode: LoopMode::Once, ..PlayOptions::default() };

    let mut place = DAffine3::IDENTITY;
    let mut poses = Vec::new();
    for side in 0..4 {
        for (clip, seconds) in [(walk, WALK), (turn, TURN)] {
            let options = if clip == turn { once } else { PlayOptions::default() };
            mixer.player().fade_to(0, clip, FADE, &options)?;
            let frames = (seconds / FRAME).round() as usize;
            for frame in 0..frames {
                mixer.advance(FRAME)?;
                let motion = mixer.root_motion();
                place *= DAffine3::from_rotation_translation(motion.rotation, motion.translation);
                if frame % 36 == 18 {
                    let m = place.to_cols_array().map(|v| v as f32);
                    poses.push(Posed {
                        world: Affine3A::from_cols_array(&m).into(),
                        palette: mixer.evaluate().to_vec(),
                        tint: [[0.9, 0.35, 0.2], [0.2, 0.5, 0.9]][usize::from(clip == turn)],
                    });
                }
            }
        }
        let at = place.translation;
        println!("corner {}: x {:.2} m, z {:.2} m", side + 1, at.x, at.z);
    }

    let size = PictureSize { width: 960, height: 600 };
    let middle = Vec3::new(2.0, 0.6, 2.2);
    let eye = middle + Vec3::new(1.5, 6.0, 8.5);
    draw_poses(&rig, &poses, &[], [eye, middle], size, &out_file("root_motion.png")?)
}
