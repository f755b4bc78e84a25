//! `Inertia`: the offset of a layer that decays, and how far it has got.

use crate::evaluate::{OffsetId, OffsetInput, Offsets, ROTATION, SCALARS, SCALE};
use crate::math::{LANES, Row};
use crate::skeleton::limits::MAX_LENGTH;
use crate::skeleton::{NO_JOINT, Skeleton};

/// The seconds over which the velocity of an offset is measured.
pub(crate) const STEP: f64 = 1.0 / 60.0;

/// The largest number in an offset: that of two poses, of which one may have an offset of its own.
const MAX_OFFSET: f32 = 10.0 * MAX_LENGTH;
/// The largest product, down a chain of joints, of the factors by which an offset of scales stretches.
const MAX_OFFSET_SCALE: f64 = 1.0e6;
/// The largest half of an angle: π/2, and what rounding adds.
const MAX_HALF: f32 = 1.571;

/// The offset of a layer of an instance, as of the anchor of its entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inertia {
    pub id: OffsetId,
    /// Seconds of the whole fade.
    pub total: f64,
    /// Seconds since it began.
    pub elapsed: f64,
}

impl Inertia {
    /// Seconds left.
    pub fn left(&self) -> f64 {
        self.total - self.elapsed
    }

    /// The input of an evaluation `seconds` after the anchor.
    pub fn input(&self, seconds: f64) -> OffsetInput {
        let seconds = (self.elapsed + seconds) as f32;
        OffsetInput { id: self.id, seconds, inverse: (1.0 / self.total) as f32 }
    }

    /// The same offset `seconds` later, not before it began.
    pub fn after(self, seconds: f64) -> Self {
        Self { elapsed: (self.elapsed + seconds).max(0.0), ..self }
    }
}

/// Whether an offset is possible for a skeleton: its parts are of lanes and scalars that there are, and its numbers are
/// within their limits. `products` is a buffer.
pub(crate) fn fits(
    offsets: &Offsets,
    id: OffsetId,
    skeleton: &Skeleton,
    products: &mut Vec<f64>,
) -> bool {
    let rest = skeleton.rest_pose();
    let mut scales = false;
    for part in offsets.parts(id) {
        let (blocks, limit) = match part.channel {
            SCALARS => (rest.scalar_blocks(), MAX_OFFSET),
            ROTATION => (rest.blocks(), MAX_HALF),
            _ => (rest.blocks(), MAX_OFFSET),
        };
        let [x, y, z, rates] = part.rows;
        let lengths = (0..LANES).map(|l| x.0[l].hypot(y.0[l]).hypot(z.0[l]));
        let within = lengths.fold(0.0, f32::max) <= limit
            && [x, y, z, rates].iter().all(|row| row.0.iter().all(|v| v.is_finite()))
            && rates.0.iter().all(|&rate| rate >= 0.0);
        if part.block >= blocks || !within {
            return false;
        }
        scales |= part.channel == SCALE;
    }
    !scales || stretch(offsets, id, skeleton, products) <= MAX_OFFSET_SCALE
}

/// The largest product of factors of scale down a chain.
fn stretch(offsets: &Offsets, id: OffsetId, skeleton: &Skeleton, products: &mut Vec<f64>) -> f64 {
    products.clear();
    products.resize(skeleton.len(), 1.0);
    let parts = offsets.parts(id).filter(|part| part.channel == SCALE);
    for (part, lane) in parts.flat_map(|part| (0..LANES).map(move |lane| (part, lane))) {
        let joint = skeleton.joint_of()[part.block * LANES + lane];
        if joint != NO_JOINT {
            products[usize::from(joint)] = 1.0 + f64::from(largest(&part.rows[..3], lane));
        }
    }
    let mut most = 1.0f64;
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let above = products.get(usize::from(parent)).copied().unwrap_or(1.0);
        products[joint] *= above;
        most = most.max(products[joint]);
    }
    most
}

/// The largest component of a lane.
pub(super) fn largest(rows: &[Row], lane: usize) -> f32 {
    rows.iter().map(|row| row.0[lane].abs()).fold(0.0, f32::max)
}
