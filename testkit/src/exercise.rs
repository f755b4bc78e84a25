//! Plays a rig from a possibly damaged file in every way.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions};
use phalanx::playback::{PlaybackError, evaluate_pose};
use phalanx::rig::Rig;
use std::sync::Arc;

/// Samples, blends, evaluates, bounds and skins; every rig that was accepted must pass. `refused` is called
/// with the error of each clip that cannot be played.
pub fn play(rig: Arc<Rig>, refused: impl Fn(CrowdError)) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("an empty crowd accepts a rig");
    let mut buffer = BoneBuffer::new();
    for first in 0..rig.clips().len().min(3) {
        let instance = crowd.spawn(id).expect("there is room for three");
        for clip in [first, first + 1] {
            if let Some(clip) = crowd.clip_by_index(id, clip) {
                let played = crowd.fade_to(instance, clip, 0.5, &PlayOptions::default());
                if let Err(error) = played {
                    refused(error);
                }
                crowd.advance(0.3).expect("a valid time step");
            }
        }
    }
    for dt in [0.0, 0.4, -1.0e6] {
        crowd.advance(dt).expect("a step within the limit");
        crowd.evaluate(&mut buffer);
        let finite = buffer.rows().iter().all(|row| row.is_finite());
        assert!(finite, "the palette of an accepted rig is finite");
    }
    for instance in crowd.instances().take(1) {
        crowd.bounds(instance).expect("the instance lives");
    }
    let pose = evaluate_pose(&rig, &[]).expect("every rig has a rest pose");
    let finite = |palette: &Vec<_>| palette.iter().all(phalanx::math::Affine3x4::is_finite);
    assert!(pose.palettes.iter().all(finite), "the rest pose is finite");
    // Joint indices were checked against skins when the rig was read.
    match pose.vertices(&rig) {
        Ok(_) | Err(PlaybackError::TooManyVertices { .. }) => {}
        Err(error) => panic!("every mesh of a rig can be skinned: {error}"),
    }
}
