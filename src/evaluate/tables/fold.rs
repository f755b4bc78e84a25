//! Fold: the constants that a topology multiplies with, as products down the chains of constant joints.

use super::Topology;
use super::constants::Constants;
use crate::math::{Affine3x4, NOISE, settle};
use crate::rig::Rig;
use crate::simd::{Rows, WalkConstants};
use crate::skeleton::{Frames, NO_JOINT, noise_length};
use glam::{DAffine3, DMat3, DVec3};

/// Constants of a topology: local matrices of its steps, and per palette row the product from the joint's anchor times
/// the inverse bind matrix. A clip's fold leaves out what equals the base's. Products are made in f64.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fold {
    pub walk: WalkConstants,
    /// For every joint of [`Topology::unslotted`] the product of the local matrices from its anchor down to it.
    pub products: Vec<Affine3x4>,
}

impl Fold {
    pub fn new(rig: &Rig, topology: &Topology, constants: &Constants) -> Self {
        let skeleton = rig.skeleton();
        let (parents, lane_of) = (skeleton.parents(), skeleton.lane_of());
        let local = |joint: usize| constants.local(usize::from(lane_of[joint]));
        let count = skeleton.len();
        let mut chains = vec![DAffine3::IDENTITY; count];
        for joint in 0..count {
            if usize::from(topology.anchor[joint]) == joint + 1 {
                continue;
            }
            chains[joint] = match chains.get(usize::from(parents[joint])) {
                Some(above) => *above * local(joint),
                None => local(joint),
            };
        }
        let frames = Frames::of_rest(skeleton);
        // Products begin in the frame of the joint's anchor; 0 is the root.
        let anchored = |joint: u16| match topology.anchor.get(usize::from(joint)) {
            Some(&anchor) if anchor > 0 => frames.below(usize::from(anchor) - 1),
            _ => 1.0,
        };
        let mut binds = Vec::with_capacity(rig.palette_len());
        for skin in rig.skins() {
            for (&joint, bind) in skin.joints().iter().zip(skin.inverse_bind()) {
                let product = match joint {
                    NO_JOINT => wide(bind),
                    _ => chains[usize::from(joint)] * wide(bind),
                };
                binds.push(rows(product, anchored(joint)));
            }
        }
        let locals = topology.constants.iter();
        let locals: Vec<Rows> =
            locals.map(|&j| rows(local(usize::from(j)), frames.above(j.into()))).collect();
        let products = topology.unslotted.iter();
        let products =
            products.map(|&j| Affine3x4 { rows: rows(chains[usize::from(j)], anchored(j)) });
        Self { walk: topology.walk.constants(&locals, binds), products: products.collect() }
    }
}

pub(crate) fn wide(m: &Affine3x4) -> DAffine3 {
    let c = m.to_cols_array().map(f64::from);
    DAffine3::from_mat3_translation(
        DMat3::from_cols_array(&[c[0], c[1], c[2], c[4], c[5], c[6], c[8], c[9], c[10]]),
        DVec3::new(c[12], c[13], c[14]),
    )
}

/// The rows of a matrix, with noise settled to zero; `frame` is the scale of the frame that it leads into.
pub(super) fn rows(m: DAffine3, frame: f64) -> Rows {
    let c = m.to_cols_array();
    let largest = c[..9].iter().fold(0.0f64, |a, v| a.max(v.abs()));
    std::array::from_fn(|r| {
        std::array::from_fn(|k| {
            let noise = if k < 3 { NOISE * largest as f32 } else { noise_length(frame) };
            settle(c[k * 3 + r] as f32, noise)
        })
    })
}
