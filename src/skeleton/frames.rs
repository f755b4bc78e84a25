//! `Frames`: how much longer lengths of joints are in model space.

use super::{NO_JOINT, Skeleton};
use crate::math::NOISE_LENGTH;

/// By joint, the scale of the frame that its translation is in: what a length of 1 there is in model space at most.
///
/// It is the product of the largest components of the scales above. A joint that is scaled to nothing counts as not
/// scaled: what is hidden here may be shown by something else.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    parents: Vec<u16>,
    /// By joint, that of the frames of its children.
    below: Vec<f64>,
}

impl Frames {
    /// Frames under given scales, the largest component of each joint's.
    pub fn new(parents: Vec<u16>, scale: impl Fn(usize) -> f64) -> Self {
        // Below and beyond what numbers of f32 can be, lengths are nothing or unknown.
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let mut below: Vec<f64> = Vec::with_capacity(parents.len());
        for (joint, &parent) in parents.iter().enumerate() {
            let above = below.get(usize::from(parent)).copied().unwrap_or(1.0);
            let own = scale(joint).abs();
            let own = if own > 0.0 && own.is_finite() {
                own
            } else {
                1.0
            };
            below.push((above * own).clamp(least, most));
        }
        Self { parents, below }
    }

    /// Those of the rest pose.
    pub fn of_rest(skeleton: &Skeleton) -> Self {
        Self::new(skeleton.parents().to_vec(), |joint| {
            skeleton.rest(joint).scale.abs().max_element().into()
        })
    }

    /// The scale of the frame that a joint's translation is in; 1 without a joint.
    pub fn above(&self, joint: usize) -> f64 {
        match self.parents.get(joint) {
            Some(&parent) if parent != NO_JOINT => self.below(parent.into()),
            _ => 1.0,
        }
    }

    /// The scale of the frame that the joint is; 1 without a joint.
    pub fn below(&self, joint: usize) -> f64 {
        self.below.get(joint).copied().unwrap_or(1.0)
    }
}

/// The size below which a component of a translation is noise, in a frame of this scale.
pub(crate) fn noise_length(frame: f64) -> f32 {
    (f64::from(NOISE_LENGTH) / frame) as f32
}
