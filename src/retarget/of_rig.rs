//! `HumanoidMap::of_rig`: from what a model's file states, else by names.

use super::humanoid::{HumanoidMap, MapError, MapOrigin};
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
        let pairs = rig
            .humanoid()
            .iter()
            .map(|&(bone, joint)| (bone, usize::from(joint)));
        let pairs: Vec<_> = pairs.collect();
        Self::new(rig.skeleton(), &pairs, MapOrigin::Extension)
    }
}
