//! Inertial fades beside crossfades: the same interruptions, as two rows of poses, with the jerk of the joints below.
//!
//! A walk is interrupted by a blow, and the blow by a cheer. A crossfade plays both clips, and changes the speed of
//! every joint when it begins and when it ends. An inertial fade plays the new clip alone, and an offset decays that goes
//! on as the joints were moving, but for movement away from the new clip, which stops. Jerk is the change of acceleration;
//! the largest of all joints is printed and plotted. These clips are a good case: of all 720 ways to interrupt one clip of
//! this character by a second and that by a third, inertial fades have the lower peak in 175.
//!
//! `cargo run --release --example inertial [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, DVec3, Vec3};
use image::{Rgba, RgbaImage};
use phalanx::import::mannequin;
use phalanx::playback::{CrossFade, FadeKind, Mixer, PlayOptions};
use phalanx::rig::Rig;
use phalanx_render::PictureSize;
use picture::{Posed, out_file};
use std::error::Error;
use std::sync::Arc;

const FRAME: f64 = 1.0 / 60.0;
const FRAMES: usize = 72;
/// Frames between two poses of a row.
const STEP: usize = 6;
const SECONDS: f32 = 0.4;
/// The clips, and the frames at which they begin.
const CLIPS: [(&str, usize); 3] = [("Walk", 0), ("Attack", 23), ("Cheer", 38)];

const SIZE: PictureSize = PictureSize { width: 1400, height: 560 };
/// Height of the plot below the poses, pixels.
const PLOT: u32 = 180;

/// The poses of a row, and the largest jerk of a joint in every frame, m/s³.
struct Row {
    poses: Vec<Posed>,
    jerks: Vec<f64>,
}

fn play(rig: &Arc<Rig>, kind: FadeKind, up: f32, tint: [f32; 3]) -> Result<Row, Box<dyn Error>> {
    let mut mixer = Mixer::new(rig.clone())?;
    let mut clips = Vec::new();
    for (name, _) in CLIPS {
        clips.push(mixer.clip_named(name)?);
    }
    let options = PlayOptions::default();
    mixer.player().play(0, clips[0], &options)?;
    let mut row = Row { poses: Vec::new(), jerks: Vec::new() };
    let mut places: Vec<Vec<DVec3>> = Vec::new();
    for frame in 0..FRAMES {
        if let Some(n) = (1..CLIPS.len()).find(|&n| CLIPS[n].1 == frame) {
            let fade = CrossFade { seconds: SECONDS, kind, ..CrossFade::default() };
            mixer.player().cross_fade(0, clips[n - 1], clips[n], fade, &options)?;
        }
        mixer.advance(FRAME)?;
        let joints = mixer.model_matrices();
        places.push(joints.iter().map(|m| m.translation().as_dvec3()).collect());
        if frame % STEP == STEP - 1 {
            let along = (row.poses.len() as f32 - 0.5 * (FRAMES / STEP - 1) as f32) * 1.15;
            row.poses.push(Posed {
                world: Affine3A::from_translation(Vec3::new(along, up, 0.0)).into(),
                palette: mixer.evaluate().to_vec(),
                tint,
            });
        }
    }
    row.jerks = places
        .windows(4)
        .map(|w| {
            let third = |j: usize| w[3][j] - 3.0 * w[2][j] + 3.0 * w[1][j] - w[0][j];
            let all = (0..w[0].len()).map(|j| third(j).length());
            all.fold(0.0, f64::max) / FRAME.powi(3)
        })
        .collect();
    Ok(row)
}

/// The place of a frame in the plot, pixels.
fn across(frame: f64) -> f64 {
    frame / FRAMES as f64 * f64::from(SIZE.width)
}

/// Draws a curve of values between frames: each is of four frames, of which the first has its index.
fn curve(image: &mut RgbaImage, values: &[f64], most: f64, [r, g, b]: [u8; 3]) {
    let top = SIZE.height;
    let last = (values.len() - 1) as f64;
    let height = |x: u32| {
        let at = (f64::from(x) / across(1.0) - 1.5).clamp(0.0, last);
        let (n, share) = (at as usize, at.fract());
        let next = values[(n + 1).min(values.len() - 1)];
        let value = values[n] + (next - values[n]) * share;
        top + PLOT - 8 - (value / most * f64::from(PLOT - 16)) as u32
    };
    for x in 1..image.width() {
        let (from, to) = (height(x - 1), height(x));
        for y in from.min(to) - 1..=from.max(to) + 1 {
            image.put_pixel(x, y, Rgba([r, g, b, 255]));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let rows = [
        play(&rig, FadeKind::Blend, 2.1, [0.9, 0.45, 0.1])?,
        play(&rig, FadeKind::Inertial, 0.0, [0.15, 0.4, 0.9])?,
    ];
    let most = rows.each_ref().map(|row| row.jerks.iter().copied().fold(0.0, f64::max));
    println!("largest jerk: crossfades {:.0} m/s³, inertial fades {:.0} m/s³", most[0], most[1]);
    let poses: Vec<Posed> = rows.iter().flat_map(|row| &row.poses).map(copy).collect();
    let view = [Vec3::new(0.0, 2.0, 9.0), Vec3::new(0.0, 1.95, 0.0)];
    let drawn = picture::picture(&rig, &poses, &[], view, SIZE)?;
    let mut image =
        RgbaImage::from_pixel(SIZE.width, SIZE.height + PLOT, Rgba([250, 250, 250, 255]));
    image::imageops::replace(&mut image, &drawn.image, 0, 0);
    // The frames at which clips begin.
    for (_, frame) in &CLIPS[1..] {
        let x = across(*frame as f64 - 1.0) as u32;
        for y in SIZE.height..SIZE.height + PLOT {
            image.put_pixel(x, y, Rgba([190, 190, 190, 255]));
        }
    }
    for (row, color) in rows.iter().zip([[215, 105, 20], [35, 95, 215]]) {
        curve(&mut image, &row.jerks, most[0].max(most[1]), color);
    }
    let out = out_file("inertial.png")?;
    image.save(&out)?;
    println!("{} ({})", out.display(), drawn.drawn_by);
    Ok(())
}

fn copy(pose: &Posed) -> Posed {
    Posed { palette: pose.palette.clone(), ..*pose }
}
