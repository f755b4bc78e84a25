//! `Pose`: local transforms in rows of lanes.

use super::Trs;
use crate::math::{LANES, Row, blocks_for};
use glam::{Quat, Vec3};

/// Local transforms of a skeleton, and its scalars, as SoA rows in lane order.
///
/// Block `b` holds lanes `16 b` to `16 b + 15`. Padding lanes hold identities.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Pose {
    /// Rows x, y, z per block; metres.
    pub translation: Vec<[Row; 3]>,
    /// Rows x, y, z, w per block; unit quaternions.
    pub rotation: Vec<[Row; 4]>,
    /// Rows x, y, z per block.
    pub scale: Vec<[Row; 3]>,
    /// Morph weights, then the numbers of user channels.
    pub scalars: Vec<Row>,
    /// First scalars of the user channels that are quaternions.
    pub(crate) quaternions: Vec<u32>,
}

impl Pose {
    /// A pose of identities and zero scalars, sized for the given numbers of lanes and scalars.
    pub(crate) fn identity(lanes: usize, scalars: usize) -> Self {
        let blocks = blocks_for(lanes);
        let (zero, one) = (Row::splat(0.0), Row::splat(1.0));
        Self {
            translation: vec![[zero; 3]; blocks],
            rotation: vec![[zero, zero, zero, one]; blocks],
            scale: vec![[one; 3]; blocks],
            scalars: vec![zero; blocks_for(scalars)],
            quaternions: Vec::new(),
        }
    }

    /// The number of blocks of joints.
    pub(crate) fn blocks(&self) -> usize {
        self.rotation.len()
    }

    /// The number of blocks of scalars.
    pub(crate) fn scalar_blocks(&self) -> usize {
        self.scalars.len()
    }

    /// Whether both poses have the same numbers of blocks.
    pub(crate) fn same_shape(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }

    /// The numbers of translation, rotation, scale and scalar blocks.
    pub(crate) fn shape(&self) -> [usize; 4] {
        [self.translation.len(), self.rotation.len(), self.scale.len(), self.scalars.len()]
    }

    /// The transform in a lane, its rotation not normalised.
    ///
    /// # Panics
    /// If the pose has no such lane.
    pub fn lane(&self, lane: usize) -> Trs {
        let (b, l) = (lane / LANES, lane % LANES);
        let (t, r, s) = (&self.translation[b], &self.rotation[b], &self.scale[b]);
        Trs {
            translation: Vec3::new(t[0].0[l], t[1].0[l], t[2].0[l]),
            rotation: Quat::from_xyzw(r[0].0[l], r[1].0[l], r[2].0[l], r[3].0[l]),
            scale: Vec3::new(s[0].0[l], s[1].0[l], s[2].0[l]),
        }
    }

    /// Sets the transform in a lane.
    ///
    /// # Panics
    /// If the pose has no such lane.
    pub(crate) fn set_lane(&mut self, lane: usize, trs: &Trs) {
        let (b, l) = (lane / LANES, lane % LANES);
        for (c, v) in trs.translation.to_array().into_iter().enumerate() {
            self.translation[b][c].0[l] = v;
        }
        for (c, v) in trs.rotation.to_array().into_iter().enumerate() {
            self.rotation[b][c].0[l] = v;
        }
        for (c, v) in trs.scale.to_array().into_iter().enumerate() {
            self.scale[b][c].0[l] = v;
        }
    }

    /// The scalar at an index.
    pub fn scalar(&self, index: usize) -> f32 {
        self.scalars[index / LANES].0[index % LANES]
    }

    /// Sets the scalar at an index.
    pub(crate) fn set_scalar(&mut self, index: usize, value: f32) {
        self.scalars[index / LANES].0[index % LANES] = value;
    }

    /// Copies another pose of the same shape, without allocating.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.translation.copy_from_slice(&other.translation);
        self.rotation.copy_from_slice(&other.rotation);
        self.scale.copy_from_slice(&other.scale);
        self.scalars.copy_from_slice(&other.scalars);
    }
}
