//! Clips' motions and poses as f64.

use glam::DMat4;
use libtest_mimic::Failed;
use phalanx::build::RootMotionOptions;
use phalanx::clip::RootMotion;
use phalanx::import::ImportOptions;
use phalanx::math::Rigid;
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;

pub fn options(rotation: bool) -> ImportOptions {
    ImportOptions {
        root_motion: Some(RootMotionOptions { rotation, ..RootMotionOptions::default() }),
        ..ImportOptions::default()
    }
}

pub fn matrix(motion: &Rigid) -> DMat4 {
    DMat4::from_rotation_translation(motion.rotation, motion.translation)
}

/// World matrices of all nodes.
pub fn place(rig: &Rig, clip: usize, time: f32) -> Result<Vec<DMat4>, Failed> {
    let weight = 1.0;
    let posed = evaluate_pose(rig, &[PoseAction { clip, time, weight }])?;
    let worlds = posed.worlds.iter();
    Ok(worlds.map(|w| DMat4::from_cols_array(&w.to_cols_array().map(f64::from))).collect())
}

pub fn clip_motion<'a>(rig: &'a Rig, name: &str) -> Result<(&'a RootMotion, f64), Failed> {
    let clip = rig.clips().iter().find(|c| c.name() == name);
    let clip = clip.ok_or_else(|| format!("no clip {name}"))?;
    let motion = clip.root_motion().ok_or("no root motion")?;
    Ok((motion, f64::from(clip.duration())))
}
