//! `MapDraft`: the known bones of a skeleton, to be completed by hand.

use super::map::{HumanoidMap, MapOrigin};
use crate::skeleton::HumanBone;

/// The known human bones of a skeleton, unchecked: a start for a map that is completed by hand.
///
/// Unlike a [`HumanoidMap`] it may lack hips, or be empty. `MapDraft::to_json` writes it with `null` for bones that VRM
/// 1.0 requires and that are missing; with joints in their place, `HumanoidMap::from_json` reads the text. A draft holds
/// indices, so it belongs to skeletons with the same joints.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::retarget::{HumanoidMap, MapDraft};
/// use phalanx::skeleton::{Joint, Skeleton, Trs};
///
/// let joint = |name: &str, parent| Joint { name: name.into(), parent, rest: Trs::IDENTITY };
/// let joints = [joint("Base", None), joint("Spine", Some(0)), joint("Head", Some(1))];
/// let skeleton = Skeleton::new(&joints, None, Vec::new())?;
/// assert!(HumanoidMap::find(&skeleton).is_err());
/// let text = MapDraft::find(&skeleton).to_json(&skeleton);
/// assert!(text.contains("\"hips\": null") && text.contains("\"head\": \"Head\""));
/// let map = HumanoidMap::from_json(&text.replacen("null", "\"Base\"", 1), &skeleton)?;
/// assert_eq!(map.bones().count(), 3);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapDraft {
    /// Bones with their joints, in the order of the bones.
    bones: Vec<(HumanBone, usize)>,
    origin: MapOrigin,
}

impl MapDraft {
    pub(crate) fn new(mut bones: Vec<(HumanBone, usize)>, origin: MapOrigin) -> Self {
        bones.sort_by_key(|b| b.0);
        Self { bones, origin }
    }

    /// The bones that have joints, parents first, with their joints.
    pub fn bones(&self) -> impl Iterator<Item = (HumanBone, usize)> {
        self.bones.iter().copied()
    }

    /// The bones that VRM 1.0 requires and the draft lacks.
    pub fn lacking(&self) -> impl Iterator<Item = HumanBone> {
        let has = |bone: &HumanBone| self.bones.iter().any(|b| b.0 == *bone);
        HumanBone::all().filter(move |b| b.required() && !has(b))
    }

    /// The source of the bones.
    pub fn origin(&self) -> MapOrigin {
        self.origin
    }
}

impl From<&HumanoidMap> for MapDraft {
    fn from(map: &HumanoidMap) -> Self {
        Self::new(map.bones().collect(), map.origin())
    }
}
