//! `HumanoidMap::of_rig` and `HumanoidMap::known_of_rig`: from the file's extension, or else by names or shape.

use super::error::RetargetError;
use super::humanoid::{HumanBone, HumanoidMap, MapOrigin};
use super::reference::Reference;
use crate::rig::Rig;
use crate::skeleton::Trs;

/// Limits on the clips, and on the frames of each, that are examined for the shape of a humanoid.
const CLIPS: usize = 8;
const FRAMES: usize = 8;

impl HumanoidMap {
    /// The humanoid of a rig: from its file's extension (`VRMC_vrm`, `VRM`, `VRMC_vrm_animation`) if it has one, or else by
    /// [`HumanoidMap::find`] from names or the shape of the rest pose. As rest poses may lie, the shapes of the bind pose and
    /// of some frames of its clips come last.
    ///
    /// # Errors
    /// If [`HumanoidMap::new`] refuses the extension's table, no table of names fits, and no pose has the shape.
    pub fn of_rig(rig: &Rig) -> Result<Self, RetargetError> {
        if !rig.humanoid().is_empty() {
            return Self::new(rig.skeleton(), &stated(rig), MapOrigin::Extension);
        }
        Self::find(rig.skeleton()).or_else(|refused| {
            let found = Self::of_shapes(rig.skeleton(), poses(rig));
            found.ok_or(refused)
        })
    }

    /// The bones of the file's extension if it has one, or those of [`HumanoidMap::of_rig`], or those of
    /// [`HumanoidMap::known`]: unchecked, to be completed by hand.
    pub fn known_of_rig(rig: &Rig) -> Self {
        match rig.humanoid().is_empty() {
            true => Self::of_rig(rig).unwrap_or_else(|_| Self::known(rig.skeleton())),
            false => Self::unchecked(&stated(rig), MapOrigin::Extension),
        }
    }
}

/// The bind pose, and frames of clips.
fn poses(rig: &Rig) -> impl Iterator<Item = Vec<Trs>> {
    let clips = rig.clips().iter().take(CLIPS);
    let frames = clips.flat_map(move |clip| {
        let time = move |k: usize| clip.duration() * (k as f32 / FRAMES as f32);
        (0..FRAMES).map(move |k| Reference::of_clip(clip, rig.skeleton(), time(k)))
    });
    let all = std::iter::once_with(move || Reference::bound(rig)).chain(frames);
    all.filter_map(|pose| match pose {
        Ok(Reference::Pose(pose)) => Some(pose),
        _ => None,
    })
}

fn stated(rig: &Rig) -> Vec<(HumanBone, usize)> {
    let pairs = rig.humanoid().iter();
    pairs.map(|&(b, joint)| (b, usize::from(joint))).collect()
}
