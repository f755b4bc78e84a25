//! `HumanoidMap::of_rig` and `MapDraft::of_rig`: from what a model's file states, else by names.

use super::humanoid::{HumanBone, HumanoidMap, MapDraft, MapError, MapOrigin};
use crate::rig::Rig;

impl HumanoidMap {
    /// The humanoid of a rig: that of its file's extension (`VRMC_vrm`, `VRM`) if it has one, else the one that
    /// [`HumanoidMap::find`] finds by names.
    ///
    /// # Errors
    /// If the extension's table is refused by [`HumanoidMap::new`], or no table of names fits.
    pub fn of_rig(rig: &Rig) -> Result<Self, MapError> {
        if rig.humanoid().is_empty() {
            return Self::find(rig.skeleton());
        }
        Self::new(rig.skeleton(), &stated(rig), MapOrigin::Extension)
    }
}

impl MapDraft {
    /// The bones that the file's extension states if it has one, else those that [`MapDraft::find`] finds by names.
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
