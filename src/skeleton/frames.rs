//! `Frames`: the factors from lengths of joints to lengths in model space.

use super::{NO_JOINT, Skeleton};
use crate::math::NOISE_LENGTH;

/// For each joint the scale of the frame of its translation: the largest length in model space of a length of 1 there.
///
/// The scale is the product of the largest components of the scales above. A joint with scale 0 counts as not scaled,
/// since a clip may show what the rest pose hides.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    parents: Vec<u16>,
    /// For each joint the scale of the frames of its children.
    below: Vec<f64>,
}

impl Frames {
    /// Frames of joints with given scales: the largest component of each.
    pub fn new(parents: Vec<u16>, scale: impl Fn(usize) -> f64) -> Self {
        // Outside the range of f32, lengths are nothing or unknown.
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let mut below: Vec<f64> = Vec::with_capacity(parents.len());
        for (joint, &parent) in parents.iter().enumerate() {
            let above = below.get(usize::from(parent)).copied().unwrap_or(1.0);
            let own = scale(joint).abs();
            let own = if own > 0.0 && own.is_finite() { own } else { 1.0 };
            below.push((above * own).clamp(least, most));
        }
        Self { parents, below }
    }

    /// Frames of the rest pose.
    pub fn of_rest(skeleton: &Skeleton) -> Self {
        Self::new(skeleton.parents().to_vec(), |joint| {
            skeleton.rest(joint).scale.abs().max_element().into()
        })
    }

    /// The scale of the frame of a joint's translation; 1 without a joint.
    pub fn above(&self, joint: usize) -> f64 {
        match self.parents.get(joint) {
            Some(&parent) if parent != NO_JOINT => self.below(parent.into()),
            _ => 1.0,
        }
    }

    /// The scale of the joint's own frame; 1 without a joint.
    pub fn below(&self, joint: usize) -> f64 {
        self.below.get(joint).copied().unwrap_or(1.0)
    }
}

/// The size below which a component of a translation is noise, in a frame of this scale.
pub(crate) fn noise_length(frame: f64) -> f32 {
    (f64::from(NOISE_LENGTH) / frame) as f32
}
