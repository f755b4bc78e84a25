//! Blending of whole local poses, and transforms relative to one another, in f64.

use super::Pose;
use glam::{DAffine3, DQuat, DVec3};

/// The pose between two: translations and scales on the line between, rotations on the chord of the shorter arc.
pub fn blended(from: &Pose, to: &Pose, weight: f64) -> Pose {
    let line = |a: [f64; 3], b: [f64; 3]| DVec3::from(a).lerp(DVec3::from(b), weight).to_array();
    let mut out = from.clone();
    for (out, to) in out.iter_mut().zip(to) {
        let (a, b) = (DQuat::from_array(out.r), DQuat::from_array(to.r));
        let near = if a.dot(b) < 0.0 { -b } else { b };
        out.r = (a * (1.0 - weight) + near * weight).normalize().to_array();
        (out.t, out.s) = (line(out.t, to.t), line(out.s, to.s));
    }
    out
}

/// The position of a transform in the space of another one.
pub fn relative(parent: &DAffine3, child: &DAffine3) -> DVec3 {
    parent.inverse().transform_point3(child.translation)
}
