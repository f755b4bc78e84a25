//! `Roots`: the root motion of the source and of the target. Feet stand in the world, not in a pose from which the motion
//! was extracted.

use crate::clip::RootMotion;
use crate::math::Rigid;
use crate::retarget::motion::unit;
use crate::retarget::space::Space;
use glam::{DMat3, DVec3};

/// The root motion of a clip, if it has some, on both bodies.
pub(super) struct Roots<'a> {
    pub motion: Option<&'a RootMotion>,
    pub space: &'a Space,
    /// Map from the source's distances to the target's.
    pub scale: DMat3,
}

impl Roots<'_> {
    pub fn source(&self, time: f32) -> Rigid {
        let motion = self.motion.map(|m| m.at(time.into()));
        motion.unwrap_or(Rigid::IDENTITY)
    }

    pub fn target(&self, time: f32) -> Rigid {
        let motion = self.motion.map(|m| m.at(time.into()));
        motion.map_or(Rigid::IDENTITY, |m| Rigid {
            rotation: unit(self.space.rotation(m.rotation)),
            translation: self.scale * m.translation,
        })
    }

    /// The motion from the first pose of the source to the last.
    pub fn whole(&self) -> Option<Rigid> {
        self.motion.map(RootMotion::whole)
    }
}

/// The world position of a point of a pose's model space.
pub(super) fn in_world(root: &Rigid, place: DVec3) -> DVec3 {
    root.rotation * place + root.translation
}
