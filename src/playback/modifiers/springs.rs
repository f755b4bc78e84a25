//! Springs, as they are defined.

use super::{Definition, Modifier, refused};
use crate::evaluate::{Change, Springs};
use crate::playback::error::PlaybackError;
use crate::rig::Rig;
use crate::skeleton::SpringBones;

impl From<SpringBones> for Modifier {
    fn from(springs: SpringBones) -> Self {
        Self::Springs(springs)
    }
}

pub(super) fn define(springs: &SpringBones, rig: &Rig) -> Result<Definition, PlaybackError> {
    if springs.is_empty() {
        return Err(refused("springs have no chains".into()));
    }
    springs.check(rig.skeleton()).map_err(refused)?;
    let all = springs.chains.iter().flat_map(|chain| chain.swinging());
    let mut joints: Vec<u16> = all.map(|joint| joint.joint as u16).collect();
    joints.sort_unstable();
    let change = Change::Springs(Springs::new(springs, rig.skeleton()));
    Definition::of(rig, change, (joints, None), springs.hash())
}

impl Definition {
    /// The springs, if the modifier has any.
    pub fn springs(&self) -> Option<&Springs> {
        match &self.change {
            Change::Springs(springs) => Some(springs),
            _ => None,
        }
    }
}
