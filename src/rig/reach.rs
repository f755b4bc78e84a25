//! `Reach`: the largest distance of vertices from a joint, whatever the rotations of the joints are.

use super::Aabb;
use crate::clip::{Channel, Clip, ClipKind};
use crate::math::LANES;
use crate::skeleton::{NO_JOINT, Skeleton, Skin, Trs};
use glam::Vec3;

/// Rotations by fewer radians, and scales that differ by a smaller share, count as no motion of the anchor.
const STILL: f32 = 1e-4;

/// The distances of vertices from the joints that move them, and the joint around which blends are bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// The anchor: a joint above all joints that move vertices; `None` for the origin of the model.
    pub anchor: Option<u16>,
    /// For each joint, the distance of the farthest vertex of its slots, in joint space; negative without vertices.
    radii: Vec<f32>,
    /// The distance of the farthest vertex of slots without a joint, from the origin of the model; negative without vertices.
    fixed: f32,
    /// The largest factor by which an inverse bind matrix scales.
    pub bind: f32,
}

/// The largest offsets and scales of joints over the rest pose and any number of clips.
#[derive(Clone, Debug)]
pub(crate) struct Extremes {
    /// For each joint, the largest distance from its parent, and the largest component of its scale.
    full: Vec<[f32; 2]>,
    /// For each joint, the largest distance that one additive action adds, and its largest factor of the scale.
    additive: Vec<[f32; 2]>,
}

impl Extremes {
    /// Extremes of the rest pose.
    pub fn of_rest(skeleton: &Skeleton) -> Self {
        let rest = |joint: usize| {
            let rest = skeleton.rest(joint);
            let scale = rest.scale.abs().max_element();
            [rest.translation.length(), scale]
        };
        Self {
            full: (0..skeleton.len()).map(rest).collect(),
            additive: vec![[0.0, 1.0]; skeleton.len()],
        }
    }

    /// Extends the extremes to include a clip's.
    pub fn add(&mut self, skeleton: &Skeleton, clip: &Clip) {
        let all = match clip.kind() {
            ClipKind::Full => &mut self.full,
            ClipKind::Additive => &mut self.additive,
        };
        for (joint, most) in all.iter_mut().enumerate() {
            let lane = usize::from(skeleton.lane_of()[joint]);
            if let Some(length) = largest(clip, Channel::Translation, lane) {
                most[0] = most[0].max(length.length());
            }
            if let Some(scale) = largest(clip, Channel::Scale, lane) {
                // An additive scale is a factor, s at weight 1.
                most[1] = most[1].max(scale.max_element());
            }
        }
        // At weight -1 the factor is 2 - s: the kernel's additive scale is 1 + w (s - 1).
        if clip.kind() == ClipKind::Additive {
            for (lane, &factor) in clip.scale_factors().iter().enumerate() {
                let joint = skeleton.joint_of().get(lane).copied().unwrap_or(NO_JOINT);
                if let Some(most) = all.get_mut(usize::from(joint)) {
                    most[1] = most[1].max(factor);
                }
            }
        }
    }

    /// The largest distance and scale of a joint while `additive` additive actions play.
    pub fn of(&self, joint: usize, additive: u32) -> [f64; 2] {
        let [length, scale] = self.full[joint].map(f64::from);
        if additive == 0 {
            return [length, scale];
        }
        let [more, factor] = self.additive[joint].map(f64::from);
        [
            length + more * f64::from(additive),
            scale * factor.max(1.0).powi(additive.min(1 << 10) as i32),
        ]
    }

    /// The largest component of a joint's scale while `additive` additive actions play.
    pub fn scale(&self, joint: usize, additive: u32) -> f64 {
        self.of(joint, additive)[1]
    }
}

/// The largest magnitudes of a lane's components over all times; `None` if the clip does not store them.
fn largest(clip: &Clip, channel: Channel, lane: usize) -> Option<Vec3> {
    let block = clip.block_at(channel, lane / LANES)?;
    let [x, y, z, _] = clip.reach(channel, block, lane % LANES);
    Some(Vec3::from([x, y, z].map(|[low, high]| low.abs().max(high.abs()))))
}

impl Reach {
    /// Measures a rig. The anchor is below all joints above it that a clip turns or scales.
    pub fn new<'c>(
        skeleton: &Skeleton,
        skins: &[Skin],
        slots: &[Aabb],
        clips: impl Iterator<Item = &'c Clip>,
    ) -> Self {
        let mut radii = vec![-1.0f32; skeleton.len()];
        let (mut fixed, mut most_bind) = (-1.0f32, 0.0f32);
        let all = skins.iter().flat_map(|s| s.joints().iter().zip(s.inverse_bind()));
        for ((&joint, bind), slot) in all.zip(slots).filter(|(_, b)| !b.is_empty()) {
            let squares = bind.rows.iter().flat_map(|r| &r[..3]).map(|v| v * v);
            most_bind = most_bind.max(squares.sum::<f32>().sqrt());
            let far = |corner| bind.transform_point3(corner).length();
            let most = slot.corners().map(far).into_iter().fold(0.0, f32::max);
            match radii.get_mut(usize::from(joint)) {
                Some(radius) => *radius = radius.max(most),
                None => fixed = fixed.max(most),
            }
        }
        let mut reach = Self { anchor: None, radii, fixed, bind: most_bind };
        reach.anchor = reach.above_all(skeleton);
        for clip in clips {
            if let Some(joint) = reach.turning(skeleton, clip) {
                reach.anchor = Some(joint);
            }
        }
        reach
    }

    /// The reach of the joints themselves, for a rig that draws nothing: every joint counts as a vertex, and the anchor is
    /// the only root.
    pub fn of_joints(skeleton: &Skeleton) -> Self {
        let mut reach =
            Self { anchor: None, radii: vec![0.0; skeleton.len()], fixed: -1.0, bind: 0.0 };
        reach.anchor = reach.above_all(skeleton);
        reach
    }

    /// The same distances around another anchor.
    #[cfg(feature = "phx")]
    pub fn around(self, anchor: Option<u16>) -> Self {
        Self { anchor, ..self }
    }

    /// The lowest joint that is at or above all joints that move vertices.
    fn above_all(&self, skeleton: &Skeleton) -> Option<u16> {
        if self.fixed >= 0.0 {
            return None;
        }
        let mut below: Vec<u32> = self.radii.iter().map(|&r| u32::from(r >= 0.0)).collect();
        let total: u32 = below.iter().sum();
        for (joint, &parent) in skeleton.parents().iter().enumerate().rev() {
            let count = below[joint];
            if count == total && total > 0 {
                return u16::try_from(joint).ok();
            }
            if let Some(above) = below.get_mut(usize::from(parent)) {
                *above += count;
            }
        }
        None
    }

    /// The joints above the anchor, from its parent up.
    fn above<'s>(&self, skeleton: &'s Skeleton) -> impl Iterator<Item = u16> + use<'s> {
        let parent = |joint: u16| {
            let parent = skeleton.parents().get(usize::from(joint)).copied();
            parent.filter(|&p| p != NO_JOINT)
        };
        std::iter::successors(self.anchor.and_then(parent), move |&joint| parent(joint))
    }

    /// The anchor and all joints above it.
    pub fn chain<'s>(&self, skeleton: &'s Skeleton) -> impl Iterator<Item = u16> + use<'s> {
        self.anchor.into_iter().chain(self.above(skeleton))
    }

    /// The topmost joint above the anchor whose rotation or scale a clip changes from the rest pose.
    pub fn turning(&self, skeleton: &Skeleton, clip: &Clip) -> Option<u16> {
        let turns = |&joint: &u16| {
            let lane = usize::from(skeleton.lane_of()[usize::from(joint)]);
            let rest = match clip.kind() {
                ClipKind::Full => skeleton.rest(usize::from(joint)),
                ClipKind::Additive => Trs::IDENTITY,
            };
            let differs = |channel: Channel, rest: &[f32]| {
                let Some(block) = clip.block_at(channel, lane / LANES) else {
                    return false;
                };
                let range = clip.reach(channel, block, lane % LANES);
                // Quaternions have length 1.
                let still = STILL * rest.iter().fold(0.0f32, |most, v| most.max(v.abs()));
                let still = if channel == Channel::Rotation { STILL } else { still };
                let near = |sign: f32| {
                    let both = range.iter().zip(rest);
                    let mut far =
                        both.map(|(r, v)| (r[0] - sign * v).abs().max((r[1] - sign * v).abs()));
                    !far.any(|far| far > still)
                };
                !(near(1.0) || channel == Channel::Rotation && near(-1.0))
            };
            differs(Channel::Rotation, &rest.rotation.to_array())
                || differs(Channel::Scale, &rest.scale.to_array())
        };
        self.above(skeleton).filter(turns).last()
    }

    /// The largest distances of a vertex from the anchor and from the origin of the model, while `additive` additive
    /// actions play. Without an anchor both are from the origin.
    pub fn farthest(&self, skeleton: &Skeleton, extremes: &Extremes, additive: u32) -> [f64; 2] {
        // For each joint: the product of scales, the distance from the anchor (negative: not below it) and from the origin.
        let mut chains: Vec<[f64; 3]> = Vec::with_capacity(self.radii.len());
        let fixed = f64::from(self.fixed).max(0.0);
        let mut most = [0.0, fixed];
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let [above, far, farther] = match chains.get(usize::from(parent)) {
                Some(&chain) => chain,
                None => [1.0, -1.0, 0.0],
            };
            let [length, scale] = extremes.of(joint, additive);
            let is_anchor = self.anchor.is_some_and(|a| usize::from(a) == joint);
            let near = match (is_anchor, far >= 0.0) {
                (true, _) => 0.0,
                (_, true) => far + above * length,
                _ => -1.0,
            };
            let chain = [above * scale, near, farther + above * length];
            let radius = f64::from(self.radii[joint]);
            if radius >= 0.0 {
                let around = chain[0] * radius;
                most = [most[0].max(chain[1] + around), most[1].max(chain[2] + around)];
            }
            chains.push(chain);
        }
        if self.anchor.is_none() {
            most[0] = most[1];
        }
        most
    }

    /// The largest distance that additive actions can move the anchor itself.
    pub fn drift(&self, skeleton: &Skeleton, extremes: &Extremes, additive: u32) -> f64 {
        let mut all: Vec<u16> = self.chain(skeleton).collect();
        all.reverse();
        let mut above = 1.0;
        let mut drift = 0.0;
        for joint in all.into_iter().map(usize::from) {
            drift += above * f64::from(extremes.additive[joint][0]) * f64::from(additive);
            above *= extremes.scale(joint, additive);
        }
        drift
    }
}
