//! `ClipSource`: a rig's clips as transforms of joints, and rigs of the same joints with other clips.

use super::scene::LiveError;
use phalanx::build::{BuildOptions, build_rig, raw_joints};
use phalanx::clip::Cursor;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawScene, RawTrack};
use phalanx::mesh::Mesh;
use phalanx::rig::Rig;
use phalanx::runtime::SampleJob;
use phalanx::skeleton::Trs;
use std::sync::Arc;

/// Key rates of clips are taken to be within these bounds, in keys per second.
const RATES: std::ops::RangeInclusive<f64> = 10.0..=120.0;
/// Key rate of a clip without keys.
const DEFAULT_RATE: f64 = 30.0;
/// Transforms of a joint that differ by less than this in every number count as equal.
pub(super) const STILL: f32 = 1e-5;

/// A rig as the source of other rigs: the same joints and skins, without meshes, with clips made in code.
#[derive(Clone, Debug)]
pub struct ClipSource {
    rig: Arc<Rig>,
    /// Nodes and skins, with the clips of the rig.
    raw: RawScene,
    /// The node of every joint.
    node_of: Vec<usize>,
}

/// The transforms of all joints at evenly spaced times.
#[derive(Clone, Debug)]
pub(super) struct Poses {
    pub name: String,
    /// Frames per second.
    pub rate: f64,
    /// Transforms of all joints per frame, relative to their parents.
    pub frames: Vec<Vec<Trs>>,
}

impl ClipSource {
    /// Takes over the joints and skins of a rig.
    pub fn new(rig: &Arc<Rig>) -> Self {
        let mut raw = raw_joints(rig);
        // Nodes with a rigid mesh have palette rows: an empty mesh keeps them.
        let meshes = raw.nodes.iter().filter_map(|n| n.mesh);
        let meshes = meshes.max().map_or(0, |last| last + 1);
        raw.meshes = vec![Mesh::default(); meshes];
        let mut node_of = vec![0; rig.skeleton().len()];
        for (node, n) in rig.nodes().iter().enumerate() {
            if let Some(joint) = n.joint {
                node_of[usize::from(joint)] = node;
            }
        }
        Self { rig: rig.clone(), raw, node_of }
    }

    /// The rig that it was made from.
    pub fn rig(&self) -> &Arc<Rig> {
        &self.rig
    }

    /// The clips of the rig as tracks.
    pub fn raw_clips(&self) -> &[RawClip] {
        &self.raw.clips
    }

    /// Builds a rig with these clips, in separate memory.
    ///
    /// # Errors
    /// If the rig cannot be built.
    pub fn build(&self, clips: Vec<RawClip>) -> Result<Rig, LiveError> {
        self.build_of(clips, |_| ())
    }

    /// Builds a rig with its own clips after a change of its nodes and skins.
    ///
    /// # Errors
    /// If the rig cannot be built.
    pub fn build_with(&self, change: impl FnOnce(&mut RawScene)) -> Result<Rig, LiveError> {
        self.build_of(self.raw.clips.clone(), change)
    }

    fn build_of(
        &self,
        clips: Vec<RawClip>,
        change: impl FnOnce(&mut RawScene),
    ) -> Result<Rig, LiveError> {
        let mut raw = RawScene {
            clips,
            name: self.raw.name.clone(),
            nodes: self.raw.nodes.clone(),
            skins: self.raw.skins.clone(),
            meshes: self.raw.meshes.clone(),
            scenes: self.raw.scenes.clone(),
            default_scene: self.raw.default_scene,
            ..RawScene::default()
        };
        change(&mut raw);
        Ok(build_rig(raw, &BuildOptions::default())?)
    }

    /// Samples a clip at a rate, by default its own, from its start to its end.
    ///
    /// # Errors
    /// If the rig has no such clip.
    pub(super) fn poses(&self, clip: usize, rate: Option<f64>) -> Result<Poses, LiveError> {
        let clips = self.rig.clips();
        let clip = clips.get(clip).ok_or(LiveError::Clip { clip, clips: clips.len() })?;
        let duration = f64::from(clip.duration());
        let keys = clip.timelines().map(<[f32]>::len).max();
        let own = match keys {
            Some(keys) if duration > 0.0 => (keys - 1) as f64 / duration,
            _ => DEFAULT_RATE,
        };
        let rate = rate.unwrap_or(own).clamp(*RATES.start(), *RATES.end());
        let skeleton = self.rig.skeleton();
        let mut output = skeleton.rest_pose().clone();
        let mut hints = vec![0; clip.hint_count()];
        let mut cursors = vec![Cursor::default(); clip.timelines().len()];
        let mut frames = Vec::new();
        for frame in 0..=(duration * rate).round() as usize {
            SampleJob {
                skeleton,
                clip,
                time: ((frame as f64 / rate) as f32).min(clip.duration()),
                hints: &mut hints,
                cursors: &mut cursors,
                output: &mut output,
            }
            .run()?;
            let lanes = skeleton.lane_of().iter();
            let joints = lanes.map(|&lane| {
                let trs = output.lane(usize::from(lane));
                Trs { rotation: trs.rotation.normalize(), ..trs }
            });
            frames.push(joints.collect());
        }
        Ok(Poses { name: clip.name().to_owned(), rate, frames })
    }

    /// A clip of transforms at evenly spaced times, one vector per joint. A joint whose transforms are equal gets
    /// one key.
    pub(super) fn clip(&self, name: String, rate: f64, joints: &[Vec<Trs>]) -> RawClip {
        let keys = joints.first().map_or(0, Vec::len);
        let times: Vec<f32> = (0..keys).map(|k| (k as f64 / rate) as f32).collect();
        let mut tracks = Vec::new();
        for (&node, keys) in self.node_of.iter().zip(joints) {
            for channel in [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale] {
                let width = components(&Trs::IDENTITY, channel).1;
                let values = keys.iter().map(|k| components(k, channel).0);
                let mut values: Vec<[f32; 4]> = values.collect();
                if still(&values) {
                    values.truncate(1);
                }
                tracks.push(RawTrack {
                    node,
                    channel,
                    interpolation: Interpolation::Linear,
                    times: times[..values.len()].to_vec(),
                    values: values.iter().flat_map(|v| v[..width].to_vec()).collect(),
                });
            }
        }
        RawClip {
            name: Some(name),
            duration: times.last().copied().unwrap_or_default(),
            tracks,
            ..RawClip::default()
        }
    }

    /// The node of a joint.
    pub(super) fn node(&self, joint: usize) -> usize {
        self.node_of[joint]
    }
}

/// One property of a transform, and its number of components.
pub(super) fn components(trs: &Trs, channel: RawChannel) -> ([f32; 4], usize) {
    let three = |v: glam::Vec3| ([v.x, v.y, v.z, 0.0], 3);
    match channel {
        RawChannel::Rotation => (trs.rotation.to_array(), 4),
        RawChannel::Scale => three(trs.scale),
        _ => three(trs.translation),
    }
}

/// Whether all values are equal.
pub(super) fn still(values: &[[f32; 4]]) -> bool {
    let near = |v: &[f32; 4]| values[0].iter().zip(v).all(|(a, b)| (a - b).abs() < STILL);
    values.iter().all(near)
}

impl Poses {
    /// The frame at an index that runs forwards and backwards over the frames without end.
    pub fn reflected(&self, index: usize) -> &[Trs] {
        let last = self.frames.len() - 1;
        if last == 0 {
            return &self.frames[0];
        }
        let place = index % (2 * last);
        &self.frames[place.min(2 * last - place)]
    }

    /// Whether a joint's rotation changes.
    pub fn rotates(&self, joint: usize) -> bool {
        let frames = self.frames.iter();
        let rotations: Vec<_> = frames.map(|f| f[joint].rotation.to_array()).collect();
        !still(&rotations)
    }

    /// The mean transform of a joint.
    pub fn mean(&self, joint: usize) -> Trs {
        let first = self.frames[0][joint];
        let mut sum = glam::Vec4::ZERO;
        let mut translation = glam::Vec3::ZERO;
        for frame in &self.frames {
            let q = frame[joint].rotation;
            let q = if q.dot(first.rotation) < 0.0 { -q } else { q };
            sum += glam::Vec4::from(q);
            translation += frame[joint].translation;
        }
        Trs {
            translation: translation / self.frames.len() as f32,
            rotation: match sum.length() > 1e-3 {
                true => glam::Quat::from_vec4(sum.normalize()),
                false => first.rotation,
            },
            scale: first.scale,
        }
    }
}
