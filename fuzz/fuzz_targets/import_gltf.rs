//! Any bytes as a glTF file: never a panic; what imports can be sampled, blended and walked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::offline::{ImportOptions, import_slice};
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let options = ImportOptions {
        images: false,
        ..ImportOptions::default()
    };
    let Ok(imported) = import_slice(bytes, "fuzz", None, &options) else {
        return;
    };
    for rig in imported.rigs {
        let rig = Arc::new(rig);
        let mut crowd = Crowd::new();
        let Ok(id) = crowd.add_rig(rig.clone()) else {
            continue;
        };
        let mut buffer = BoneBuffer::new();
        // Two clips at a time, so that hostile clips are blended as well.
        for first in 0..rig.clips().len().min(8) {
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
        }
        for instance in crowd.instances().take(2) {
            let _ = crowd.bounds(instance);
            let _ = crowd.model_matrix(instance, 0);
        }
        if let Ok(pose) = phalanx::playback::evaluate_pose(&rig, &[]) {
            let _ = pose.vertices(&rig);
        }
    }
});
