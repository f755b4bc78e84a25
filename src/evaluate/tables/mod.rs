//! Tables that an evaluation reads, made once and shared by all crowds and mixers of a rig.
//!
//! Per rig: the base constants, the topologies (steps down the hierarchy) and the palette rows of joints. Per clip: its
//! tracks, its constants and its fold. A frame combines a topology with references to clips, so it makes no tables.

mod clip_program;
mod constants;
mod fold;
mod rig_program;
mod topology;
mod units;

pub(crate) use clip_program::ClipProgram;
pub(crate) use fold::Fold;
pub(crate) use rig_program::{Programs, RigProgram};
pub(crate) use topology::{Topology, group_floats, scratch_row};
pub(crate) use units::{UnitSet, Units};

use crate::clip::Channel;

/// The channels of joints, in the order of their arrays.
pub(crate) const CHANNELS: [Channel; 3] = [Channel::Translation, Channel::Rotation, Channel::Scale];
pub(crate) const TRANSLATION: usize = 0;
pub(crate) const ROTATION: usize = 1;
pub(crate) const SCALE: usize = 2;

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use super::Programs;
    use crate::rig::{DetailOptions, Rig};
    use crate::skeleton::{JointRef, NO_JOINT};
    use std::sync::Arc;

    /// The number of tracks of all clips of a rig, and one more than the last lane that one of them touches.
    fn sampled(rig: &Rig, width: usize) -> (usize, usize) {
        let programs = Programs::of(rig);
        let program = programs.get(rig, width);
        let (mut tracks, mut lanes) = (0, 0);
        for (i, clip) in rig.clips().iter().enumerate() {
            let clip = program.clip(rig, i, clip);
            lanes = lanes.max(clip.touched_lanes);
            for track in clip.tracks.iter().flatten() {
                tracks += 1;
                let first = track.first as usize;
                let joints = &rig.skeleton().joint_of()[first..first + width];
                let mut joints = joints.iter().filter(|&&joint| joint != NO_JOINT);
                assert!(joints.any(|&joint| !rig.is_left_out(joint)));
            }
        }
        (tracks, lanes)
    }

    #[test]
    fn groups_without_evaluated_joints_are_not_sampled() {
        let rig = Arc::new(crate::import::mannequin().unwrap());
        let skeleton = rig.skeleton();
        let names = skeleton.names().iter();
        let fingers = names.filter(|n| n.contains("Hand") && !n.ends_with("Hand"));
        let fingers: Vec<JointRef<'_>> = fingers.map(JointRef::from).collect();
        let detail = |leave_out| {
            let options = DetailOptions { level: 2, keep: &[], leave_out };
            rig.detail(&options).unwrap()
        };
        let (coarse, bare) = (detail(&[]), detail(&fingers[..]));
        for width in [4, 8, 16] {
            let [full, coarse, bare] = [&rig, &coarse, &bare].map(|rig| sampled(rig, width));
            println!("{width} lanes: tracks and touched lanes {full:?}, {coarse:?}, {bare:?}");
            assert!(bare.0 < coarse.0 && coarse.0 <= full.0);
            // The last lanes of the skeleton belong to fingers.
            assert_eq!(bare.1, skeleton.len() - fingers.len());
        }
        // Lanes 24 to 31 are fingers that no vertex of the level uses.
        assert!(sampled(&coarse, 8).0 < sampled(&rig, 8).0);
    }
}
