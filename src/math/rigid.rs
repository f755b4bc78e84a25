//! `Rigid`: a rotation and a translation in f64, for motion that accumulates over many frames.

use glam::{DQuat, DVec3};
use std::ops::Mul;

/// A rigid motion: first the rotation, then the translation. f64, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid {
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Metres.
    pub translation: DVec3,
}

impl Default for Rigid {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Rigid {
    /// The identity motion.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// The inverse motion.
    pub(crate) fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// The motion repeated `n` times; a negative `n` repeats the inverse. Squares, so at most 64 steps.
    pub(crate) fn repeat(&self, n: i64) -> Self {
        let mut square = if n < 0 { self.inverse() } else { *self };
        let mut left = n.unsigned_abs();
        let mut out = Self::IDENTITY;
        while left > 0 {
            if left & 1 == 1 {
                out = out * square;
            }
            square = square * square;
            left >>= 1;
        }
        out
    }
}

/// Applies the right motion in the local space that the left one leads to.
impl Mul for Rigid {
    type Output = Self;

    fn mul(self, next: Self) -> Self {
        Self {
            rotation: (self.rotation * next.rotation).normalize(),
            translation: self.translation + self.rotation * next.translation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: &Rigid, b: &Rigid, tolerance: f64) -> bool {
        let apart = (a.translation - b.translation).length();
        apart <= tolerance && a.rotation.dot(b.rotation).abs() >= 1.0 - tolerance
    }

    #[test]
    fn powers_are_what_a_loop_gives_and_undo_each_other() {
        let step = Rigid {
            rotation: DQuat::from_rotation_y(0.37) * DQuat::from_rotation_x(0.05),
            translation: DVec3::new(0.3, -0.01, 1.4),
        };
        let mut looped = Rigid::IDENTITY;
        for n in 0..300 {
            assert!(near(&step.repeat(n), &looped, 1e-11), "{n}");
            let back = step.repeat(-n) * looped;
            assert!(near(&back, &Rigid::IDENTITY, 1e-11), "{n}");
            looped = looped * step;
        }
        assert_eq!(Rigid::IDENTITY.repeat(i64::MIN), Rigid::IDENTITY);
        assert!(step.repeat(i64::MAX).translation.is_finite());
    }
}
