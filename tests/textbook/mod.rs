//! The textbook pipeline: what tutorials write, in f32 with glam. One track per joint and channel, a binary
//! search per track, lerp and slerp, a local 4×4 matrix per joint, the parent's product in joint order, the
//! inverse bind product. Tracks are arrays of structures; scratch is the caller's, so a frame allocates
//! nothing. It shares no code with the library's kernels: the row to compare them with.

use glam::{Mat4, Quat, Vec3};
use phalanx::offline::raw::{Interpolation, RawChannel, RawScene, RawTrack};
use phalanx::skeleton::Trs;

/// One character: the joints of a skin and their ancestors, parents first, and the clips that move them.
pub struct Textbook {
    parents: Vec<Option<usize>>,
    rest: Vec<Trs>,
    slots: Vec<(usize, Mat4)>,
    clips: Vec<Vec<JointTracks>>,
}

#[derive(Clone, Default)]
struct JointTracks {
    translation: Option<Track<Vec3>>,
    rotation: Option<Track<Quat>>,
    scale: Option<Track<Vec3>>,
}

#[derive(Clone)]
struct Track<T> {
    step: bool,
    times: Vec<f32>,
    values: Vec<T>,
}

impl<T: Copy> Track<T> {
    /// The value at `t`, clamped to the first and last key; `mix` goes from key to key.
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
            return Err(format!("node {}: cubic splines are left out", raw.node));
        }
        Ok(Self {
            step: raw.interpolation == Interpolation::Step,
            times: raw.times.clone(),
            values: raw.values.as_chunks().0.iter().map(|&v| value(v)).collect(),
        })
    }
}

impl Textbook {
    /// The skin `skin` of a scene and all its clips. No cubic splines, no morph targets.
    pub fn new(scene: &RawScene, skin: usize) -> Result<Self, String> {
        let skin = scene.skins.get(skin).ok_or("no such skin")?;
        // Nodes in joint order: every ancestor before what hangs on it.
        let mut order: Vec<usize> = Vec::new();
        for &joint in &skin.joints {
            let above = std::iter::successors(Some(joint), |&n| scene.nodes[n].parent);
            let chain: Vec<usize> = above.take_while(|n| !order.contains(n)).collect();
            order.extend(chain.into_iter().rev());
        }
        let place = |node: usize| order.iter().position(|&n| n == node);
        let slot =
            |(&node, bind): (&usize, &[f32; 16])| Some((place(node)?, Mat4::from_cols_array(bind)));
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
            parents: order
                .iter()
                .map(|&n| scene.nodes[n].parent.and_then(place))
                .collect(),
            rest: order.iter().map(|&n| scene.nodes[n].local).collect(),
            slots: skin
                .joints
                .iter()
                .zip(&skin.inverse_bind)
                .filter_map(slot)
                .collect(),
            clips,
        })
    }

    /// Joints per pose and world matrices.
    pub fn joints(&self) -> usize {
        self.parents.len()
    }

    /// Matrices per palette.
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
                scale: tracks
                    .scale
                    .as_ref()
                    .map_or(rest.scale, |k| k.sample(t, Vec3::lerp)),
            };
        }
    }

    /// Moves `pose` towards `other` by `weight`.
    pub fn blend(pose: &mut [Trs], other: &[Trs], weight: f32) {
        for (a, b) in pose.iter_mut().zip(other) {
            a.translation = a.translation.lerp(b.translation, weight);
            a.rotation = a.rotation.lerp(b.rotation, weight);
            a.scale = a.scale.lerp(b.scale, weight);
        }
    }

    /// World matrices (scratch, one per joint), then the palette, one 4×4 matrix per slot.
    pub fn palette(&self, pose: &[Trs], world: &mut [Mat4], palette: &mut [Mat4]) {
        for (joint, (trs, parent)) in pose.iter().zip(&self.parents).enumerate() {
            let local =
                Mat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation);
            world[joint] = match *parent {
                Some(parent) => world[parent] * local,
                None => local,
            };
        }
        for (out, (joint, inverse_bind)) in palette.iter_mut().zip(&self.slots) {
            *out = world[*joint] * *inverse_bind;
        }
    }
}
