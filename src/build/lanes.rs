//! The joints of a raw scene, and the lane order that follows from its clips.

use super::check::check_indices;
use super::clip_builder::{Variation, variation};
use super::joint_order::joint_order;
use super::lengths::Lengths;
use super::rig::scalars_of;
use crate::clip::{Channel, Clip, Defaults};
use crate::error::BuildError;
use crate::math::LANES;
use crate::raw::{RawChannel, RawScene};
use crate::rig::CYCLE;
use crate::skeleton::{Joint, MAX_JOINTS, NO_JOINT, Skeleton};
use std::ops::Range;

/// The joints of a raw scene, checked.
pub(super) struct Joints {
    /// The node of every joint.
    pub order: Vec<usize>,
    pub joint_of_node: Vec<u16>,
    /// The scalars of every node.
    pub morphs: Vec<Range<usize>>,
    /// The skeleton, with lanes in joint order.
    pub skeleton: Skeleton,
}

impl Joints {
    pub fn new(raw: &RawScene) -> Result<Self, BuildError> {
        check_indices(raw)?;
        let order = joint_order(raw).ok_or(BuildError::invalid(CYCLE))?;
        let mut joint_of_node = vec![NO_JOINT; raw.nodes.len()];
        if order.len() <= MAX_JOINTS {
            for (joint, &node) in order.iter().enumerate() {
                joint_of_node[node] = joint as u16;
            }
        }
        let joint = |&node: &usize| {
            let n = &raw.nodes[node];
            Joint {
                name: n.name.clone().unwrap_or_default(),
                parent: n.parent.map(|p| usize::from(joint_of_node[p])),
                rest: n.local,
            }
        };
        let joints: Vec<Joint> = order.iter().map(joint).collect();
        let (scalars, morphs) = scalars_of(raw);
        // An invalid skeleton fails here, before anything is measured against it.
        let plain = Skeleton::new(&joints, None, scalars)?;
        let skeleton = plain.with_channels(raw.channels.clone())?;
        Ok(Self { order, joint_of_node, morphs, skeleton })
    }

    /// Lengths in the frames of the scene's nodes. Reads all keys of scales.
    pub fn lengths(&self, raw: &RawScene) -> Lengths {
        Lengths::of_scene(&self.skeleton, &self.joint_of_node, &raw.clips)
    }
}

/// The skeleton that [`build_rig`](super::build_rig) makes of a scene, except for its lane order, which is joint order.
/// Reads no keys.
///
/// # Errors
/// If an index of the scene is out of range, or its joints do not form a skeleton.
pub fn skeleton_of(raw: &RawScene) -> Result<Skeleton, BuildError> {
    Ok(Joints::new(raw)?.skeleton)
}

/// The use of a skeleton's joints by the clips of one or more files; the lane order follows from it.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneUses(Vec<JointUse>);

#[derive(Clone, Copy, Debug, Default)]
struct JointUse {
    /// Whether a clip animates its translation or scale.
    slides: bool,
    /// Number of clips that animate it.
    clips: usize,
    /// Whether it has a constant track in a clip.
    tracks: bool,
}

impl LaneUses {
    pub fn new(joints: usize) -> Self {
        Self(vec![JointUse::default(); joints])
    }

    pub fn add(
        &mut self,
        raw: &RawScene,
        joint_of_node: &[u16],
        lengths: &Lengths,
    ) -> Result<(), BuildError> {
        for (clip, c) in raw.clips.iter().enumerate() {
            // A list, not a flag per joint: many clips of a large skeleton animate few of its joints.
            let mut moved = Vec::new();
            for (index, t) in c.tracks.iter().enumerate() {
                if t.channel == RawChannel::Weights {
                    continue;
                }
                let found = variation(c, index, lengths).map_err(|e| e.in_animation(clip))?;
                let joint = usize::from(joint_of_node[t.node]);
                match found {
                    Variation::Animated => {
                        moved.push(joint);
                        self.0[joint].slides |= t.channel != RawChannel::Rotation;
                    }
                    Variation::Constant(_) => self.0[joint].tracks = true,
                }
            }
            self.count(moved);
        }
        Ok(())
    }

    /// Counts a clip that animates these joints, each of which may be listed several times.
    fn count(&mut self, mut moved: Vec<usize>) {
        moved.sort_unstable();
        moved.dedup();
        moved.into_iter().for_each(|joint| self.0[joint].clips += 1);
    }

    /// Adds a clip of the skeleton, in any lane order.
    pub fn add_clip(&mut self, clip: &Clip) {
        let defaults = Defaults::new(clip.skeleton(), clip.kind());
        let mut moved = Vec::new();
        for channel in [Channel::Translation, Channel::Rotation, Channel::Scale] {
            for b in clip.blocks(channel) {
                let first = usize::from(b.block) * LANES;
                let lanes = clip.skeleton().joint_of().iter().enumerate();
                for (lane, &joint) in lanes.skip(first).take(LANES) {
                    if joint == NO_JOINT {
                        continue;
                    }
                    let joint = usize::from(joint);
                    if b.moves(lane % LANES) {
                        moved.push(joint);
                        self.0[joint].slides |= channel != Channel::Rotation;
                        continue;
                    }
                    let width = channel.components();
                    let value = clip.constant(channel, b, lane % LANES);
                    let default = defaults.value(channel, lane);
                    self.0[joint].tracks |= value[..width] != default[..width];
                }
            }
        }
        self.count(moved);
    }

    /// The joint of every lane: joints with animated translation or scale; then those that most clips
    /// animate; then those with a constant track in some clip; then the others; ties by joint.
    pub fn order(&self) -> Vec<u16> {
        let mut order: Vec<u16> = (0..self.0.len()).map(|j| j as u16).collect();
        order.sort_by_key(|&j| {
            let own = &self.0[usize::from(j)];
            (!own.slides, std::cmp::Reverse(own.clips), !own.tracks, j)
        });
        order
    }
}

/// Finds one lane order for the clips of several files with the same skeleton.
#[derive(Clone, Debug, Default)]
pub struct LaneScan {
    structure: Option<u64>,
    uses: LaneUses,
}

impl LaneScan {
    /// Adds the clips of a file; returns the structure hash of its skeleton. The clips of a file whose
    /// skeleton differs from the first are ignored.
    ///
    /// # Errors
    /// If the scene has no valid skeleton, or a track is invalid.
    pub fn add(&mut self, raw: &RawScene) -> Result<u64, BuildError> {
        let found = Joints::new(raw)?;
        let structure = found.skeleton.structure_hash();
        if self.counts(&found.skeleton, structure) {
            let lengths = found.lengths(raw);
            self.uses.add(raw, &found.joint_of_node, &lengths)?;
        }
        Ok(structure)
    }

    /// Adds a clip, in any lane order; returns the structure hash of its skeleton. A clip whose skeleton differs from
    /// the first file's is ignored.
    pub fn add_clip(&mut self, clip: &Clip) -> u64 {
        let structure = clip.structure_hash();
        if self.counts(clip.skeleton(), structure) {
            self.uses.add_clip(clip);
        }
        structure
    }

    /// Whether a skeleton is the first one, or has its structure.
    fn counts(&mut self, skeleton: &Skeleton, structure: u64) -> bool {
        if self.structure.is_none() {
            self.structure = Some(structure);
            self.uses = LaneUses::new(skeleton.len());
        }
        self.structure == Some(structure)
    }

    /// The joint of every lane, for [`BuildOptions::lane_order`](super::BuildOptions::lane_order); empty before a file was
    /// added.
    pub fn order(&self) -> Vec<u16> {
        self.uses.order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildOptions, build_rig};
    use crate::raw::{Interpolation, RawClip, RawNode, RawTrack};

    #[test]
    fn the_skeleton_of_a_scene_is_that_of_its_rig() {
        let track = RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0; 6],
        };
        let mut scene = RawScene {
            nodes: vec![RawNode::default(); 2],
            clips: vec![RawClip { duration: 1.0, tracks: vec![track], ..RawClip::default() }],
            ..RawScene::default()
        };
        // A node becomes a joint even if only a clip animates it.
        for joints in [1, 0] {
            let found = skeleton_of(&scene).unwrap();
            assert_eq!(found.len(), joints);
            let rig = build_rig(scene.clone(), &BuildOptions::default()).unwrap();
            assert_eq!(found.mismatch(rig.skeleton()), None);
            scene.clips.clear();
        }
        scene.nodes[0].parent = Some(2);
        assert!(matches!(skeleton_of(&scene), Err(BuildError::Index { .. })));
    }
}
