//! `HumanoidMap::of_rig` and `MapDraft::of_rig`: from what a model's file states, else by names or shape.

use super::humanoid::{HumanBone, HumanoidMap, MapDraft, MapError, MapOrigin};
use crate::rig::Rig;

impl HumanoidMap {
    /// The humanoid of a rig: that of its file's extension (`VRMC_vrm`, `VRM`, `VRMC_vrm_animation`) if it has one, else the
    /// one that [`HumanoidMap::find`] finds by names or by the shape of the rest pose.
    ///
    /// # Errors
    /// If the extension's table is refused by [`HumanoidMap::new`], or neither names nor the rest pose are those of a
    /// humanoid.
    pub fn of_rig(rig: &Rig) -> Result<Self, MapError> {
        if rig.humanoid().is_empty() {
            return Self::find(rig.skeleton());
        }
        Self::new(rig.skeleton(), &stated(rig), MapOrigin::Extension)
    }
}

impl MapDraft {
    /// The bones that the file's extension states if it has one, else those that [`MapDraft::find`] finds.
    pub fn of_rig(rig: &Rig) -> Self {
        match rig.humanoid().is_empty() {
            true => Self::find(rig.skeleton()),
            false => Self::new(stated(rig), MapOrigin::Extension),
        }
    }
}

fn stated(rig: &Rig) -> Vec<(HumanBone, usize)> {
    let pairs = rig.humanoid().iter();
    pairs.map(|&(b, joint)| (b, usize::from(joint))).collect()
}
