//! `ClipBounds`: the volume that the meshes of a rig take while a clip plays. `Sphere`.

use super::Aabb;

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre.
    pub center: [f32; 3],
    /// Radius.
    pub radius: f32,
}

impl Sphere {
    /// The sphere around a box; `None` if the box is empty or not finite.
    pub(crate) fn around(bounds: &Aabb) -> Option<Self> {
        let (center, radius) = (bounds.center(), bounds.half_size().length());
        let usable = !bounds.is_empty() && center.is_finite() && radius.is_finite();
        usable.then(|| Self { center: center.to_array(), radius })
    }
}

/// The volume that the meshes of a rig take while a clip plays, in model space.
///
/// [`clip_bounds`](crate::runtime::clip_bounds) measures them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipBounds {
    /// The box of all vertices over the whole clip, for morph weights in [0, 1] and the clip's own weights. Empty if the
    /// rig draws nothing.
    pub mesh: Aabb,
    /// The box of the positions of the rig's [anchor](super::Rig::anchor).
    pub anchor: Aabb,
    /// The distance that morph weights outside [0, 1] can move a vertex further, metres; an upper bound.
    pub morph: f32,
}

impl ClipBounds {
    /// Empty bounds.
    pub(crate) const EMPTY: Self = Self { mesh: Aabb::EMPTY, anchor: Aabb::EMPTY, morph: 0.0 };

    /// Whether all numbers are finite, and none is negative that must not be.
    pub(crate) fn is_sound(&self) -> bool {
        let sound =
            |b: &Aabb| *b == Aabb::EMPTY || b.min.is_finite() && b.max.is_finite() && !b.is_empty();
        sound(&self.mesh) && sound(&self.anchor) && self.morph.is_finite() && self.morph >= 0.0
    }
}
