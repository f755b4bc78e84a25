//! The textbook pipeline: skeletal animation as tutorials write it, in f32 with glam.
//!
//! One track per joint and channel, a binary search per track, lerp for translation and scale, slerp for
//! rotation, a local 4×4 matrix per joint, the product with the parent in joint order, the product with the
//! inverse bind matrix. Tracks are arrays of structures. The caller owns the scratch memory, so a frame
//! allocates nothing. The pipeline shares no code with the library's kernels; it is their baseline.

use glam::{Mat4, Quat, Vec3};
use phalanx::import::raw::{Interpolation, RawChannel, RawScene, RawTrack};
use phalanx::skeleton::Trs;

/// The joints and clips of one character: the joints of all skins, the nodes of rigid meshes and the
/// ancestors of both, parents first.
#[derive(Debug)]
pub struct Textbook {
    nodes: Vec<usize>,
    parents: Vec<Option<usize>>,
    rest: Vec<Trs>,
    slots: Vec<(usize, Mat4)>,
    clips: Vec<Vec<JointTracks>>,
}

#[derive(Clone, Debug, Default)]
struct JointTracks {
    translation: Option<Track<Vec3>>,
    rotation: Option<Track<Quat>>,
    scale: Option<Track<Vec3>>,
}

#[derive(Clone, Debug)]
struct Track<T> {
    step: bool,
    times: Vec<f32>,
    values: Vec<T>,
}

impl<T: Copy> Track<T> {
    /// The value at `t` seconds, clamped to the first and last key; `mix` interpolates between two keys.
    #[inline]
    fn sample(&self, t: f32, mix: impl Fn(T, T, f32) -> T) -> T {
        let next = self.times.partition_point(|&key| key <= t);
        if next == 0 {
            return self.values[0];
        }
        if next == self.times.len() || self.step {
            return self.values[next - 1];
        }
        let (t0, t1) = (self.times[next - 1], self.times[next]);
        let u = (t - t0) / (t1 - t0);
        mix(self.values[next - 1], self.values[next], u)
    }

    fn of<const N: usize>(raw: &RawTrack, value: impl Fn([f32; N]) -> T) -> Result<Self, String> {
        if raw.interpolation == Interpolation::CubicSpline {
            return Err(format!("node {}: cubic splines are not supported", raw.node));
        }
        if raw.times.is_empty() || raw.values.len() != raw.times.len() * N {
            return Err(format!(
                "node {}: a track has no keys or a wrong number of values",
                raw.node
            ));
        }
        Ok(Self {
            step: raw.interpolation == Interpolation::Step,
            times: raw.times.clone(),
            values: raw.values.as_chunks().0.iter().map(|&v| value(v)).collect(),
        })
    }
}

impl Textbook {
    /// Prepares a scene with all its clips.
    ///
    /// The palette has the order of a crowd's: the slots of every skin, then one per rigid mesh. Morph
    /// weights are ignored.
    ///
    /// # Errors
    /// If a track is a cubic spline, or has no keys or a wrong number of values. The text names the node.
    pub fn new(scene: &RawScene) -> Result<Self, String> {
        let mut slots: Vec<(usize, Mat4)> = Vec::new();
        for skin in &scene.skins {
            let binds = skin.inverse_bind.iter().map(Mat4::from_cols_array);
            slots.extend(skin.joints.iter().copied().zip(binds));
        }
        let rigid = scene.nodes.iter().enumerate();
        let rigid = rigid.filter(|(_, node)| node.mesh.is_some() && node.skin.is_none());
        slots.extend(rigid.map(|(node, _)| (node, Mat4::IDENTITY)));
        // Ancestors precede their descendants.
        let mut order: Vec<usize> = Vec::new();
        for &(node, _) in &slots {
            let above = std::iter::successors(Some(node), |&n| scene.nodes[n].parent);
            let chain: Vec<usize> = above.take_while(|n| !order.contains(n)).collect();
            order.extend(chain.into_iter().rev());
        }
        let place = |node: usize| order.iter().position(|&n| n == node);
        let mut clips = Vec::new();
        for clip in &scene.clips {
            let mut joints = vec![JointTracks::default(); order.len()];
            for track in &clip.tracks {
                let Some(joint) = place(track.node) else {
                    continue;
                };
                let joint = &mut joints[joint];
                match track.channel {
                    RawChannel::Translation => {
                        joint.translation = Some(Track::of(track, Vec3::from_array)?);
                    }
                    RawChannel::Rotation => {
                        let unit = |q| Quat::from_array(q).normalize();
                        joint.rotation = Some(Track::of(track, unit)?);
                    }
                    RawChannel::Scale => joint.scale = Some(Track::of(track, Vec3::from_array)?),
                    RawChannel::Weights => {}
                }
            }
            clips.push(joints);
        }
        Ok(Self {
            nodes: order.clone(),
            parents: order.iter().map(|&n| scene.nodes[n].parent.and_then(place)).collect(),
            rest: order.iter().map(|&n| scene.nodes[n].local).collect(),
            slots: slots
                .into_iter()
                .filter_map(|(node, bind)| Some((place(node)?, bind)))
                .collect(),
            clips,
        })
    }

    /// Number of joints: the length of poses and of world matrices.
    pub fn joints(&self) -> usize {
        self.parents.len()
    }

    /// Number of slots: the length of a palette.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The local pose of a clip at `t` seconds.
    pub fn sample(&self, clip: usize, t: f32, pose: &mut [Trs]) {
        let joints = self.clips[clip].iter().zip(&self.rest);
        for (out, (tracks, rest)) in pose.iter_mut().zip(joints) {
            *out = Trs {
                translation: tracks
                    .translation
                    .as_ref()
                    .map_or(rest.translation, |k| k.sample(t, Vec3::lerp)),
                rotation: tracks
                    .rotation
                    .as_ref()
                    .map_or(rest.rotation, |k| k.sample(t, Quat::slerp)),
                scale: tracks.scale.as_ref().map_or(rest.scale, |k| k.sample(t, Vec3::lerp)),
            };
        }
    }

    /// Blends `pose` towards `other` by `weight`. Rotations are lerped along the shorter arc and normalised.
    pub fn blend(pose: &mut [Trs], other: &[Trs], weight: f32) {
        for (a, b) in pose.iter_mut().zip(other) {
            a.translation = a.translation.lerp(b.translation, weight);
            a.rotation = a.rotation.lerp(b.rotation, weight);
            a.scale = a.scale.lerp(b.scale, weight);
        }
    }

    /// A mask of 1 for the joint of a node and its descendants and 0 elsewhere; without a node, 1 for all.
    pub fn mask(&self, node: Option<usize>) -> Vec<f32> {
        let Some(node) = node else {
            return vec![1.0; self.joints()];
        };
        let mut mask = vec![0.0; self.joints()];
        for (joint, &parent) in self.parents.iter().enumerate() {
            let below = parent.is_some_and(|p| mask[p] == 1.0);
            mask[joint] = f32::from(u8::from(below || self.nodes[joint] == node));
        }
        mask
    }

    /// Adds the difference between `other` and `reference` to `pose`, with a weight per joint.
    pub fn add(pose: &mut [Trs], other: &[Trs], reference: &[Trs], mask: &[f32]) {
        let differences = other.iter().zip(reference).zip(mask);
        for (a, ((b, reference), &weight)) in pose.iter_mut().zip(differences) {
            if weight == 0.0 {
                continue;
            }
            let turn = reference.rotation.inverse() * b.rotation;
            let ratio = b.scale / reference.scale;
            a.translation += (b.translation - reference.translation) * weight;
            a.rotation *= Quat::IDENTITY.lerp(turn, weight);
            a.scale *= Vec3::ONE.lerp(ratio, weight);
        }
    }

    /// Computes the world matrices, one per joint.
    pub fn models(&self, pose: &[Trs], world: &mut [Mat4]) {
        for (joint, (trs, parent)) in pose.iter().zip(&self.parents).enumerate() {
            let local =
                Mat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation);
            world[joint] = match *parent {
                Some(parent) => world[parent] * local,
                None => local,
            };
        }
    }

    /// Computes the palette from world matrices, one 4×4 matrix per slot.
    pub fn palette(&self, world: &[Mat4], palette: &mut [Mat4]) {
        for (out, (joint, inverse_bind)) in palette.iter_mut().zip(&self.slots) {
            *out = world[*joint] * *inverse_bind;
        }
    }
}
