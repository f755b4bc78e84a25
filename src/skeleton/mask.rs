//! `JointMask`: a weight per joint, for layers.

use super::Skeleton;
use crate::math::Row;
use thiserror::Error;

/// A weight in [0, 1] for every joint, as rows in the skeleton's lane order.
#[derive(Clone, Debug, PartialEq)]
pub struct JointMask {
    rows: Vec<Row>,
    layout: u64,
}

/// Why a mask cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MaskError {
    /// One weight per joint is needed.
    #[error("{weights} weights for {joints} joints")]
    Lengths {
        /// Weights given.
        weights: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// A weight is outside [0, 1] or NaN.
    #[error("the weight {weight} of joint {joint} is outside [0, 1]")]
    Weight {
        /// The joint.
        joint: usize,
        /// Its weight.
        weight: f32,
    },
    /// The skeleton has no such joint.
    #[error("joint {joint} does not exist, the skeleton has {joints}")]
    UnknownJoint {
        /// The joint.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
}

impl JointMask {
    /// A mask from one weight per joint, in joint order.
    ///
    /// # Errors
    /// If the number of weights is not that of the joints, or one is outside [0, 1].
    pub fn from_weights(skeleton: &Skeleton, weights: &[f32]) -> Result<Self, MaskError> {
        if weights.len() != skeleton.len() {
            return Err(MaskError::Lengths {
                weights: weights.len(),
                joints: skeleton.len(),
            });
        }
        let mut rows = vec![Row::splat(0.0); skeleton.blocks()];
        for (joint, (&weight, &lane)) in weights.iter().zip(skeleton.lane_of()).enumerate() {
            if !(0.0..=1.0).contains(&weight) {
                return Err(MaskError::Weight { joint, weight });
            }
            rows[usize::from(lane) / 16].0[usize::from(lane) % 16] = weight;
        }
        Ok(Self {
            rows,
            layout: skeleton.layout_hash(),
        })
    }

    /// Weight 1 for a joint and all below it, 0 elsewhere.
    ///
    /// # Errors
    /// If the skeleton has no such joint.
    pub fn subtree(skeleton: &Skeleton, joint: usize) -> Result<Self, MaskError> {
        if joint >= skeleton.len() {
            return Err(MaskError::UnknownJoint {
                joint,
                joints: skeleton.len(),
            });
        }
        let mut weights = vec![0.0f32; skeleton.len()];
        weights[joint] = 1.0;
        for (j, &parent) in skeleton.parents().iter().enumerate().skip(joint + 1) {
            if let Some(&w) = weights.get(usize::from(parent)) {
                weights[j] = w;
            }
        }
        Self::from_weights(skeleton, &weights)
    }

    /// The weights as rows in lane order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The layout hash of the skeleton that it was made for.
    pub fn layout_hash(&self) -> u64 {
        self.layout
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Joint, Trs};
    use super::*;

    #[test]
    fn subtree_follows_parents_and_bad_masks_are_refused() {
        let joint = |parent| Joint {
            name: String::new(),
            parent,
            rest: Trs::IDENTITY,
        };
        let joints = [joint(None), joint(Some(0)), joint(Some(1)), joint(Some(0))];
        let s = Skeleton::new(&joints, Some(&[3, 2, 1, 0]), vec![]).unwrap();
        let mask = JointMask::subtree(&s, 1).unwrap();
        assert_eq!(mask.rows()[0].0[..5], [0.0, 1.0, 1.0, 0.0, 0.0]);
        assert!(matches!(
            JointMask::subtree(&s, 4),
            Err(MaskError::UnknownJoint { .. })
        ));
        assert!(matches!(
            JointMask::from_weights(&s, &[0.0; 3]),
            Err(MaskError::Lengths {
                weights: 3,
                joints: 4
            })
        ));
        assert!(matches!(
            JointMask::from_weights(&s, &[0.0, f32::NAN, 0.0, 0.0]),
            Err(MaskError::Weight { joint: 1, .. })
        ));
    }
}
