//! A local transform as translation, rotation and scale.

use crate::math::Affine3x4;
use glam::{Quat, Vec3};

/// A local transform: scale, then rotation, then translation, relative to the parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Metres.
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Factor per axis; may be negative.
    pub scale: Vec3,
}

impl Default for Trs {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Trs {
    /// The identity transform.
    pub const IDENTITY: Self =
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// The transform as a matrix.
    #[inline]
    pub(crate) fn to_affine(self) -> Affine3x4 {
        Affine3x4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The ten floats tx ty tz, qx qy qz qw, sx sy sz.
    #[inline]
    pub fn to_array(&self) -> [f32; 10] {
        let (t, r, s) = (self.translation, self.rotation, self.scale);
        [t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z]
    }

    /// Whether every element is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.to_array().iter().all(|v| v.is_finite())
    }
}

/// The inverse of [`Trs::to_array`]; the rotation is not normalised.
impl From<[f32; 10]> for Trs {
    #[inline]
    fn from([tx, ty, tz, qx, qy, qz, qw, sx, sy, sz]: [f32; 10]) -> Self {
        Self {
            translation: Vec3::new(tx, ty, tz),
            rotation: Quat::from_xyzw(qx, qy, qz, qw),
            scale: Vec3::new(sx, sy, sz),
        }
    }
}

impl From<Trs> for Affine3x4 {
    #[inline]
    fn from(trs: Trs) -> Self {
        trs.to_affine()
    }
}
