//! Planting of feet: what stands in the source stands in the target.
//!
//! A foot of the source is in contact while it is low and moves with the ground. The ground stands, but below a clip
//! that walks in place, so its velocity is measured first. On the target, the foot in contact is led along with the
//! ground by a two-bone correction of the leg, which is faded in and out around the contact.

mod contact;
mod leg;
mod plant;
mod ring;
mod roots;

pub(super) use plant::{least_work, missing, plant};

use super::error::RetargetError;
use super::humanoid::HumanBone;

/// Thresholds of the planting of feet. Lengths are shares of the height of the source's hips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootPlanting {
    /// A foot in contact is at most this far above its lowest place. Default: 0.05.
    pub height: f64,
    /// A foot in contact moves at most this fast relative to the ground, per second. Default: 0.35.
    pub speed: f64,
    /// Seconds over which a correction fades in and out. Default: 0.1.
    pub fade: f64,
}

impl Default for FootPlanting {
    fn default() -> Self {
        Self {
            height: 0.05,
            speed: 0.35,
            fade: 0.1,
        }
    }
}

impl FootPlanting {
    pub(super) fn check(&self) -> Result<(), RetargetError> {
        let all = [
            ("height", self.height),
            ("speed", self.speed),
            ("fade", self.fade),
        ];
        match all.into_iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())) {
            Some((what, value)) => Err(RetargetError::Feet { what, value }),
            None => Ok(()),
        }
    }
}

/// What the planting of feet found and did. Speeds are along the ground, in the target's units per second, over the
/// samples in contact; slide is the speed relative to the ground. Root motion is included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeetReport {
    /// Bones without which a foot is not planted, at most one per leg, with the side that lacks them, `source` or
    /// `target`. Without either leg [`Retargeting::new`](super::Retargeting::new) fails.
    pub missing: Vec<(&'static str, HumanBone)>,
    /// Number of contacts of both feet. One that spans the seam of a loop is one.
    pub contacts: usize,
    /// Seconds in contact, summed over both feet.
    pub seconds: f64,
    /// The velocity of the source's ground in its model space, units per second; zero unless the clip walks in place:
    /// its hips stay, and more of it is contact with a ground that moves faster than [`FootPlanting::speed`].
    pub ground_velocity: [f64; 3],
    /// Mean slide before the correction.
    pub slide_before: f64,
    /// Mean slide after it.
    pub slide_after: f64,
    /// Mean speed in the world before the correction: `slide_before` if the ground stands.
    pub world_before: f64,
    /// The same after it.
    pub world_after: f64,
    /// Largest slide before the correction.
    pub worst_before: f64,
    /// Largest slide after it.
    pub worst_after: f64,
    /// The largest correction of a foot's place.
    pub correction: f64,
    /// Samples at which a leg was too short for its correction; the foot then slides.
    pub out_of_reach: usize,
}
