//! `Space`: the map from the model space of one character to that of another.

use glam::{DMat3, DQuat, DVec3};

/// The map of directions and rotations from the source's model space to the target's: characters may face different ways
/// or have another up axis, and mirroring swaps left and right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// The source's facing: rotation from left, up and forward as x, y and z to model space.
    pub from: DQuat,
    /// The target's facing.
    pub to: DQuat,
    pub mirror: bool,
}

impl Space {
    /// A rotation reflected at the plane x = 0; the image of a product is the product of the images.
    pub fn reflect(&self, q: DQuat) -> DQuat {
        if self.mirror { DQuat::from_xyzw(q.x, -q.y, -q.z, q.w) } else { q }
    }

    /// A direction of the source in the target's model space.
    pub fn direction(&self, v: DVec3) -> DVec3 {
        let own = self.from.conjugate() * v;
        let side = if self.mirror { -1.0 } else { 1.0 };
        self.to * (own * DVec3::new(side, 1.0, 1.0))
    }

    /// The map of [`direction`](Self::direction) as a matrix.
    pub fn matrix(&self) -> DMat3 {
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| self.direction(axis));
        DMat3::from_cols(x, y, z)
    }

    /// A rotation of the source's model space in the target's.
    pub fn rotation(&self, q: DQuat) -> DQuat {
        self.to * self.reflect(self.from.conjugate() * q * self.from) * self.to.conjugate()
    }

    /// The left and right factors for a reflected product, such that `left · W · q · V · right` is the rotation of `W · q · V`
    /// in the target's model space.
    pub fn ends(&self, before: DQuat, after: DQuat) -> (DQuat, DQuat) {
        let left = self.to * self.reflect(self.from.conjugate() * before);
        let right = self.reflect(after * self.from) * self.to.conjugate();
        (left, right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_and_directions_change_space_alike() {
        let q = DQuat::from_xyzw(0.1, -0.3, 0.5, 0.7).normalize();
        let v = DVec3::new(0.3, -2.0, 1.1);
        for mirror in [false, true] {
            let space = Space {
                from: DQuat::from_rotation_x(0.4),
                to: DQuat::from_rotation_y(2.0),
                mirror,
            };
            let there = space.direction(q * v);
            let here = space.rotation(q) * space.direction(v);
            assert!((there - here).length() < 1e-12, "{mirror}");
            assert!((space.matrix() * v - space.direction(v)).length() < 1e-12);
            let (left, right) = space.ends(DQuat::IDENTITY, DQuat::IDENTITY);
            let ends = left * space.reflect(q) * right;
            assert!(ends.dot(space.rotation(q)).abs() > 1.0 - 1e-12);
        }
    }
}
