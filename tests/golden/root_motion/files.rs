//! Root motion of files, against the oracle and what their makers say.

use super::support::{clip_motion, matrix, options, place};
use glam::{DQuat, DVec3};
use libtest_mimic::Failed;
use phalanx::import::{ImportOptions, UpAxis, import_path, mannequin_with};
use phalanx_testkit::oracle::Scene;
use phalanx_testkit::trials;

/// Motion × model matrix in place, of every joint at or below the root joint, is what the oracle reads
/// from the file.
pub fn whole(file: &str, rotation: bool, travelling: usize) -> Result<(), Failed> {
    let path = trials::needed(file)?;
    let scene = Scene::load(&path)?;
    let rig = import_path(&path, &options(rotation))?.rigs.swap_remove(0);
    let mut moving = 0;
    for (index, clip) in rig.clips().iter().enumerate() {
        let Some(motion) = clip.root_motion() else {
            continue;
        };
        moving += 1;
        let is_root = |n: &phalanx::rig::RigNode| n.joint == Some(motion.parts().joint);
        let root = rig.nodes().iter().position(is_root).ok_or("no root node")?;
        for step in 0..=60 {
            let time = (clip.duration() * step as f32 / 60.0).min(clip.duration());
            let posed = place(&rig, index, time)?;
            let expected = scene.evaluate(&scene.pose(index, f64::from(time)));
            let moved = matrix(&motion.at(f64::from(time)));
            for (n, world) in posed.iter().enumerate() {
                if !scene.is_at_or_below(n, root) {
                    continue;
                }
                let expected = expected.world[n].ok_or("no world matrix")?;
                let actual = (moved * *world).to_cols_array();
                let size = expected.iter().fold(1.0f64, |a, v| a.max(v.abs()));
                // Where turns are taken out, what is left bends between keys.
                let tolerance = if rotation { 1e-4 } else { 2e-5 };
                for (a, e) in actual.iter().zip(&expected) {
                    if (a - e).abs() > tolerance * size {
                        return Err(format!("clip {index} at {time}, node {n}: {a} {e}").into());
                    }
                }
            }
        }
        // The joint stays where its first frame has it, but for height and what a spline leaves.
        let start = place(&rig, index, 0.0)?[root].w_axis;
        for step in 0..=20 {
            let time = clip.duration() * step as f32 / 20.0;
            let apart = place(&rig, index, time)?[root].w_axis - start;
            let size = start.abs().max_element().max(1.0);
            // A turn about the start's own axis leaves a curve between keys.
            let tolerance = if rotation { 1e-3 } else { 1e-6 } * size;
            if apart.x.abs().max(apart.z.abs()) > tolerance {
                return Err(format!("clip {index} at {time}: not in place: {apart}").into());
            }
        }
    }
    if moving != travelling {
        return Err(format!("{moving} clips travel, not {travelling}").into());
    }
    Ok(())
}

/// `assets/mannequin.md`: 1.4 m/s along +Z.
pub fn walk_speed() -> Result<(), Failed> {
    let rig = mannequin_with(&options(false))?;
    let (motion, duration) = clip_motion(&rig, "Walk_RootMotion")?;
    let stride = motion.delta(0.0, 0.0, 1);
    let speed = stride.translation / duration;
    assert!((speed - DVec3::new(0.0, 0.0, 1.4)).length() < 1e-4, "{speed}");
    assert_eq!(stride.rotation, DQuat::IDENTITY);
    assert_eq!(rig.skeleton().names()[usize::from(motion.parts().joint)], "Root");
    // In place it is the walk that has no root motion.
    let index = |name: &str| rig.clips().iter().position(|c| c.name() == name);
    let (walk, travels) = (index("Walk"), index("Walk_RootMotion"));
    for step in 0..=40 {
        let time = step as f32 / 40.0;
        let pose = |clip: Option<usize>| place(&rig, clip.unwrap_or(usize::MAX), time);
        for (a, b) in pose(walk)?.iter().zip(&pose(travels)?) {
            assert!(a.abs_diff_eq(*b, 2e-6), "{time}");
        }
    }
    // Up is an axis of its own when files are turned.
    let turned = mannequin_with(&ImportOptions { up_axis: UpAxis::Z, ..options(true) })?;
    let (motion, duration) = clip_motion(&turned, "Walk_RootMotion")?;
    let speed = motion.whole().translation / duration;
    assert!((speed - DVec3::new(0.0, -1.4, 0.0)).length() < 1e-4, "{speed}");
    let (motion, _) = clip_motion(&turned, "TurnLeft")?;
    let axis = motion.whole().rotation.to_scaled_axis();
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!((axis - DVec3::Z * quarter).length() < 1e-4, "{axis}");
    Ok(())
}

pub fn turn_left() -> Result<(), Failed> {
    let rig = mannequin_with(&options(true))?;
    let (motion, _) = clip_motion(&rig, "TurnLeft")?;
    let turn = motion.whole();
    let quarter = DVec3::Y * std::f64::consts::FRAC_PI_2;
    let axis = turn.rotation.to_scaled_axis();
    assert!((axis - quarter).length() < 1e-4, "{axis}");
    assert!(turn.translation.length() < 1e-6);
    // Without turns there is nothing to take out of it.
    let rig = mannequin_with(&options(false))?;
    assert!(clip_motion(&rig, "TurnLeft").is_err());
    Ok(())
}
