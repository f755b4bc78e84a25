//! `JointMask`: a weight per joint, for layers.

use super::{JointRef, Skeleton};
use crate::error::BuildError;
use crate::math::Row;
use crate::words::plural;

/// A weight in [0, 1] for every joint, stored as rows in the skeleton's lane order.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMask {
    rows: Vec<Row>,
    layout: u64,
    structure: u64,
}

impl JointMask {
    /// A mask from one weight per joint, in joint order.
    ///
    /// # Errors
    /// If there is not one weight per joint, or a weight is outside [0, 1].
    pub fn from_weights(skeleton: &Skeleton, weights: &[f32]) -> Result<Self, BuildError> {
        if weights.len() != skeleton.len() {
            let weights = plural(weights.len() as u64, "weight");
            let joints = plural(skeleton.len() as u64, "joint");
            return Err(BuildError::invalid(format!("{weights} given for {joints}")));
        }
        let mut rows = vec![Row::splat(0.0); skeleton.blocks()];
        for (joint, (&weight, &lane)) in weights.iter().zip(skeleton.lane_of()).enumerate() {
            if !(0.0..=1.0).contains(&weight) {
                return Err(BuildError::invalid(format!(
                    "the weight {weight} of joint {joint} is outside [0, 1]"
                )));
            }
            rows[usize::from(lane) / 16].0[usize::from(lane) % 16] = weight;
        }
        Ok(Self { rows, layout: skeleton.layout_hash(), structure: skeleton.structure_hash() })
    }

    /// Weight 1 for a joint, by name, path or index, and all its descendants, 0 elsewhere.
    ///
    /// # Errors
    /// If no joint matches, or several do.
    pub fn subtree<'a>(
        skeleton: &Skeleton,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<Self, BuildError> {
        let joint = skeleton.joint(joint)?;
        let mut weights = vec![0.0f32; skeleton.len()];
        weights[joint] = 1.0;
        for (j, &parent) in skeleton.parents().iter().enumerate().skip(joint + 1) {
            if let Some(&w) = weights.get(usize::from(parent)) {
                weights[j] = w;
            }
        }
        Self::from_weights(skeleton, &weights)
    }

    /// The given weights for these joints, by name, path or index, and 0 elsewhere; the last weight counts if a joint
    /// is listed twice.
    ///
    /// # Errors
    /// If a joint matches none of the skeleton or several, or a weight is outside [0, 1].
    pub fn from_joints<'a, J>(skeleton: &Skeleton, joints: &[(J, f32)]) -> Result<Self, BuildError>
    where
        J: Into<JointRef<'a>> + Copy,
    {
        let mut weights = vec![0.0f32; skeleton.len()];
        for &(joint, weight) in joints {
            weights[skeleton.joint(joint)?] = weight;
        }
        Self::from_weights(skeleton, &weights)
    }

    /// The weights as rows in lane order.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether the mask was made for a skeleton of this structure and lane order.
    pub(crate) fn fits(&self, skeleton: &Skeleton) -> bool {
        (self.structure, self.layout) == (skeleton.structure_hash(), skeleton.layout_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Joint, Trs};
    use super::*;
    use crate::skeleton::LookupError;

    #[test]
    fn weights_are_given_by_name_path_or_index() {
        let joint = |name: &str, parent| Joint { name: name.into(), parent, rest: Trs::IDENTITY };
        let joints = [joint("Hips", None), joint("Left", Some(0)), joint("Hand", Some(1))];
        let s = Skeleton::new(&joints, None, vec![]).unwrap();
        let mask = JointMask::from_joints(&s, &[("Hips", 0.25), ("Left/Hand", 1.0)]).unwrap();
        assert_eq!(mask.rows()[0].0[..3], [0.25, 0.0, 1.0]);
        assert!(JointMask::from_joints(&s, &[(3, 1.0)]).is_err());
        assert!(JointMask::from_joints(&s, &[(0, 1.5)]).is_err());
    }

    #[test]
    fn subtree_follows_parents_and_bad_masks_are_refused() {
        let joint = |parent| Joint { name: String::new(), parent, rest: Trs::IDENTITY };
        let joints = [joint(None), joint(Some(0)), joint(Some(1)), joint(Some(0))];
        let s = Skeleton::new(&joints, Some(&[3, 2, 1, 0]), vec![]).unwrap();
        let mask = JointMask::subtree(&s, 1).unwrap();
        assert_eq!(mask.rows()[0].0[..5], [0.0, 1.0, 1.0, 0.0, 0.0]);
        let out = LookupError::JointIndex { joint: 4, joints: 4 };
        assert_eq!(JointMask::subtree(&s, 4), Err(BuildError::Joint(out)));
        let says = |weights: &[f32]| JointMask::from_weights(&s, weights).unwrap_err().to_string();
        assert_eq!(says(&[0.0; 3]), "3 weights given for 4 joints");
        let nan = "the weight NaN of joint 1 is outside [0, 1]";
        assert_eq!(says(&[0.0, f32::NAN, 0.0, 0.0]), nan);
    }
}
