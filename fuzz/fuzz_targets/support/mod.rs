//! Shared by the targets: takes files apart without trusting them, and plays everything in a rig.

// Every target includes the whole module but uses only part of it.
#![allow(dead_code)]

mod level;

use phalanx::clip::{ClipKind, Cursor};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::runtime::SampleJob;
use phalanx_testkit::seal::{ENTRY, HEADER, Part, u32_at, u64_at};
use std::sync::Arc;

/// Largest number of sections read.
const MOST_SECTIONS: usize = 64;

/// The sections listed by a table at the end of any bytes, clipped to the file's length.
pub fn parts(file: &[u8]) -> Option<Vec<Part>> {
    if file.len() < HEADER {
        return None;
    }
    let room = (file.len() - HEADER) / ENTRY;
    let count = (u32_at(file, 12) as usize).min(room).min(MOST_SECTIONS);
    let entries = file[file.len() - count * ENTRY..].chunks_exact(ENTRY);
    let part = |e: &[u8]| {
        let first = (u64_at(e, 8) as usize).min(file.len());
        let rest = &file[first..];
        Part {
            code: [e[0], e[1], e[2], e[3]],
            form: u32_at(e, 4),
            name: u32_at(e, 32),
            value: u32_at(e, 36),
            bytes: rest[..rest.len().min(u64_at(e, 16) as usize)].to_vec(),
        }
    };
    Some(entries.map(part).collect())
}

/// Samples every clip at several times, blends pairs of clips, computes bounds and skins the meshes.
pub fn play(rig: Rig) {
    level::choose(rig.skeleton().len() + rig.clips().len());
    let rig = Arc::new(rig);
    for clip in rig.clips().iter().take(4) {
        let skeleton = rig.skeleton();
        let mut output = skeleton.rest_pose().clone();
        let mut hints = vec![0; clip.hint_count()];
        let mut cursors = vec![Cursor::default(); clip.timelines().len()];
        let end = clip.duration();
        for time in [0.0, end, 0.5 * end, -1.0, 1e30, f32::INFINITY, f32::NAN, 0.3 * end] {
            let job = SampleJob {
                skeleton,
                clip,
                time,
                hints: &mut hints,
                cursors: &mut cursors,
                output: &mut output,
            };
            let _ = job.run();
        }
    }
    let mut crowd = Crowd::new();
    let Ok(id) = crowd.add_rig(rig.clone()) else {
        return;
    };
    let mut buffer = BoneBuffer::new();
    for first in 0..rig.clips().len().min(6) {
        let Ok(instance) = crowd.spawn(id) else {
            return;
        };
        for clip in [first, first + 1] {
            if let Some(clip) = crowd.clip_by_index(id, clip) {
                let _ = crowd.fade_to(instance, clip, 0.5, &PlayOptions::default());
                let _ = crowd.advance(0.3);
            }
        }
    }
    for dt in [0.0, 0.1, -7.3, 1.0e9] {
        let _ = crowd.advance(dt);
        crowd.evaluate(&mut buffer);
        let finite = buffer.rows().iter().all(|r| r.is_finite());
        assert!(finite, "the palette of an accepted rig is finite");
    }
    for instance in crowd.instances().take(2) {
        let _ = crowd.bounds(instance);
        let _ = crowd.model_matrix(instance, 0);
    }
    let clips = 0..rig.clips().len().min(3);
    let blend: Vec<PoseAction> = clips
        .filter(|&c| rig.clips()[c].kind() == ClipKind::Full)
        .map(|clip| PoseAction { clip, time: 0.37 * rig.clips()[clip].duration(), weight: 0.3 })
        .collect();
    for actions in [&[][..], &blend] {
        if let Ok(pose) = evaluate_pose(&rig, actions) {
            let finite = pose.check_finite(&rig);
            assert!(finite.is_ok(), "{}", finite.unwrap_err());
            let _ = pose.vertices(&rig);
        }
    }
}
