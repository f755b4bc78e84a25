//! Targets of modifiers.

use super::refused;
use crate::playback::error::PlaybackError;
use crate::skeleton::Skeleton;
use crate::skeleton::limits::{Beyond, MAX_WORLD, beyond};
use glam::{Quat, Vec3};

/// The space of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// World space: that of the instance's world transform.
    World,
    /// Model space of the instance.
    Model,
    /// The space of the instance's joint with this index, as the modifiers before have left it.
    Joint(usize),
}

/// The target of an instance's modifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The space of the other fields.
    pub space: Space,
    /// The position that the end joint reaches.
    pub position: Vec3,
    /// The rotation of the end joint. Of a joint that is mirrored in the model, that of its axes reversed.
    pub rotation: Option<Quat>,
    /// The direction to which [`TwoBoneIk::normal_axis`](super::TwoBoneIk::normal_axis) is turned, if there is no
    /// rotation.
    pub normal: Option<Vec3>,
}

impl Default for Target {
    /// The origin of model space.
    fn default() -> Self {
        Self::model(Vec3::ZERO)
    }
}

impl Target {
    /// A position in world space.
    pub fn world(position: Vec3) -> Self {
        Self { space: Space::World, position, rotation: None, normal: None }
    }

    /// A position in model space.
    pub fn model(position: Vec3) -> Self {
        Self { space: Space::Model, position, rotation: None, normal: None }
    }

    /// A position in the space of a joint of the same instance, by index.
    pub fn joint(joint: usize, position: Vec3) -> Self {
        Self { space: Space::Joint(joint), position, rotation: None, normal: None }
    }

    /// Checks the numbers, and that the joint is of this skeleton.
    pub(crate) fn check(&self, skeleton: &Skeleton) -> Result<(), PlaybackError> {
        if let Space::Joint(joint) = self.space {
            skeleton.joint(joint)?;
        }
        numbers("position", &self.position.to_array())?;
        self.rotation.map_or(Ok(()), |rotation| direction("rotation", &rotation.to_array()))?;
        self.normal.map_or(Ok(()), |normal| direction("normal", &normal.to_array()))
    }
}

#[inline]
fn numbers(what: &'static str, values: &[f32]) -> Result<(), PlaybackError> {
    beyond(what, values, MAX_WORLD).map_err(|Beyond { what, value, limit }| {
        refused(format!("the {what} of a target is {value:e}, beyond the limit of {limit:e}"))
    })
}

#[inline]
fn direction(what: &'static str, values: &[f32]) -> Result<(), PlaybackError> {
    numbers(what, values)?;
    match values.iter().all(|v| v.abs() < 1e-6) {
        true => Err(refused(format!("the {what} of a target has no length"))),
        false => Ok(()),
    }
}
