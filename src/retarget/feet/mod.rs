//! Planting of feet: a foot that stands in the source stands in the target.
//!
//! A foot of the source is in contact while it is low and moves with the ground. The ground stands, except in a clip that
//! walks in place, so its velocity is measured first. On the target, a two-bone correction of the leg moves the foot in
//! contact along with the ground; it is faded in and out around the contact.

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
    /// Largest height of a foot in contact above its lowest position. Default: 0.05.
    pub height: f64,
    /// Largest speed of a foot in contact relative to the ground, per second. Default: 0.35.
    pub speed: f64,
    /// Time over which a correction fades in and out, seconds. Default: 0.1.
    pub fade: f64,
}

impl Default for FootPlanting {
    fn default() -> Self {
        Self { height: 0.05, speed: 0.35, fade: 0.1 }
    }
}

impl FootPlanting {
    pub(super) fn check(&self) -> Result<(), RetargetError> {
        let all = [("height", self.height), ("speed", self.speed), ("fade", self.fade)];
        match all.into_iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())) {
            Some((what, value)) => Err(RetargetError::Feet { what, value }),
            None => Ok(()),
        }
    }
}

/// The contacts and corrections of the planting of feet. Speeds are along the ground, in the target's units per second,
/// over the samples in contact; slide is the speed relative to the ground. Root motion is included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeetReport {
    /// Missing bones without which a foot is not planted, at most one per leg, with the side that lacks them, `source` or
    /// `target`. Without both legs [`Retargeting::new`](super::Retargeting::new) fails.
    pub missing: Vec<(&'static str, HumanBone)>,
    /// Number of contacts of both feet. One that spans the seam of a loop counts once.
    pub contacts: usize,
    /// Time in contact, seconds, summed over both feet.
    pub seconds: f64,
    /// The velocity of the source's ground in its model space, units per second. It is zero unless the clip walks in place:
    /// its hips stay, and contacts last longer with a ground that moves faster than [`FootPlanting::speed`].
    pub ground_velocity: [f64; 3],
    /// Mean slide before the correction.
    pub slide_before: f64,
    /// Mean slide after the correction.
    pub slide_after: f64,
    /// Mean speed in the world before the correction; equals `slide_before` if the ground stands.
    pub world_before: f64,
    /// Mean speed in the world after the correction.
    pub world_after: f64,
    /// Largest slide before the correction.
    pub worst_before: f64,
    /// Largest slide after the correction.
    pub worst_after: f64,
    /// Largest distance by which a foot was moved.
    pub correction: f64,
    /// Number of samples at which a leg was too short for its correction; the foot then slides.
    pub out_of_reach: usize,
}
