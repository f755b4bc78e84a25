//! Every way in which a rig from a file that may be damaged is played.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions};
use phalanx::playback::evaluate_pose;
use phalanx::rig::Rig;
use std::sync::Arc;

/// Samples, blends, walks, bounds and skins; whatever was read as a rig must come through. `refused`
/// says whether a clip may be refused where it is played.
pub fn play(rig: Arc<Rig>, refused: impl Fn(CrowdError)) {
    let mut crowd = Crowd::new();
    let id = crowd
        .add_rig(rig.clone())
        .expect("an empty crowd takes a rig");
    let mut buffer = BoneBuffer::new();
    for first in 0..rig.clips().len().min(3) {
        let instance = crowd.spawn(id).expect("there is room for three");
        for clip in [first, first + 1] {
            if let Some(clip) = crowd.clip_by_index(id, clip) {
                let played = crowd.fade_to(instance, clip, 0.5, &PlayOptions::default());
                if let Err(error) = played {
                    refused(error);
                }
                crowd.advance(0.3).expect("a short step");
            }
        }
    }
    for dt in [0.0, 0.4, -1.0e6] {
        crowd.advance(dt).expect("a step within the limit");
        crowd.evaluate(&mut buffer);
        let finite = buffer.rows().iter().all(|row| row.is_finite());
        assert!(finite, "a palette of a rig that was taken is finite");
    }
    for instance in crowd.instances().take(1) {
        crowd.bounds(instance).expect("the instance lives");
    }
    let pose = evaluate_pose(&rig, &[]).expect("every rig has a rest pose");
    let finite = |palette: &Vec<_>| palette.iter().all(phalanx::math::Affine3x4::is_finite);
    assert!(pose.palettes.iter().all(finite), "and so is the rest pose");
    // Joint indices were checked against skins when the rig was read.
    pose.vertices(&rig)
        .expect("every mesh of a rig can be skinned");
}
