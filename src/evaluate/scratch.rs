//! Inputs and buffers of the run of an instance: layers and actions in the order of blending, a worker's scratch.

use super::offsets::OffsetInput;
use super::tables::{ClipProgram, RigProgram, UnitSet};
use super::watch::BeforeJoints;
use crate::clip::Cursor;
use crate::math::{Affine3x4, LANES, Row};
use crate::rig::Rig;
use crate::skeleton::JointMask;
use std::ops::Range;
use std::sync::Arc;

/// A playing clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ActionInput {
    /// Index of the clip in [`Sources::clips`].
    pub clip: u16,
    /// Index of the action's key hints among the instance's, in strides of [`Sources::hint_stride`].
    pub hint: u16,
    /// Time in the clip, seconds.
    pub time: f32,
    /// Share of the layer; for an additive clip the product of the action's weight and the layer's.
    pub weight: f32,
    /// Index of the action's first cursor in the scratch; the run sets it.
    pub cursor: u32,
}

/// A layer with a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LayerInput {
    /// Index of the layer's mask in [`Sources::masks`].
    pub layer: usize,
    pub additive: bool,
    /// Weight of a blending layer, in [0, 1].
    pub weight: f32,
    /// The share of the rest pose, in [0, 1].
    pub rest: f32,
    pub actions: Range<usize>,
    /// The offset of the layer's pose, if one decays.
    pub offset: Option<OffsetInput>,
}

/// A layer's mask, and where it is not zero.
#[derive(Clone, Debug)]
pub(crate) struct LayerMask {
    pub mask: Option<JointMask>,
    pub units: UnitSet,
    /// One more than the last lane in which the mask is not zero.
    pub lanes: usize,
}

/// What an override replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Replaces {
    #[default]
    Local,
    /// The model matrix.
    Model,
    /// The rotation in model space.
    ModelRotation,
}

/// A matrix that replaces what a joint's clips say, or is blended with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointOverride {
    pub joint: u16,
    pub replaces: Replaces,
    /// Weight over the blended pose, in [0, 1].
    pub weight: f32,
    pub matrix: Affine3x4,
    /// Bound of the stretch factor of `matrix`, at least 1; 0 until it is known.
    pub bound: f64,
}

impl JointOverride {
    /// A local matrix that replaces the joint's.
    pub fn whole(joint: u16, matrix: Affine3x4) -> Self {
        Self { joint, replaces: Replaces::Local, weight: 1.0, matrix, bound: 0.0 }
    }
}

/// The sources of an instance's values, the same for all instances of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub rig: &'a Rig,
    pub program: &'a RigProgram,
    pub clips: &'a [Option<Arc<ClipProgram>>],
    pub masks: &'a [LayerMask],
    /// The number of key hints reserved for each action.
    pub hint_stride: usize,
    /// The joints that are watched before the stage.
    pub before: &'a BeforeJoints,
}

impl<'a> Sources<'a> {
    #[inline(always)]
    pub fn clip(&self, index: u16) -> Option<&'a ClipProgram> {
        self.clips.get(usize::from(index))?.as_deref()
    }

    #[inline(always)]
    pub fn masked(&self, layer: &LayerInput) -> bool {
        let mask = self.masks.get(layer.layer);
        mask.is_some_and(|m| m.mask.is_some())
    }

    /// Whether a layer hides everything below it.
    #[inline(always)]
    pub fn replaces(&self, layer: &LayerInput) -> bool {
        !layer.additive && layer.weight >= 1.0 && !self.masked(layer)
    }
}

/// A worker's buffers for one instance after another, of any rig.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub layers: Vec<LayerInput>,
    pub actions: Vec<ActionInput>,
    pub(super) cursors: Vec<Cursor>,
    /// Registers of the blended pose, and of the layer to blend over it.
    pub(super) pose: Vec<Row>,
    pub(super) above: Vec<Row>,
    /// Rows of local matrices, as the transposes leave them: four to a `Row`.
    pub(super) locals: Vec<Row>,
    /// The lanes whose local matrices the stage has changed, as bits.
    pub(super) changed: Vec<u64>,
    /// Model matrices before the stage of the last run that had one, by [`BeforeJoints`].
    pub(super) before: Vec<Affine3x4>,
    /// Model matrices; the first is the root's, the identity.
    pub(super) models: Vec<Row>,
    /// The tables that the last run chose; reading back a joint needs them.
    pub(super) last: Last,
}

/// The tables that a run chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Last {
    pub topology: usize,
    /// Index of the clip that played alone.
    pub alone: Option<u16>,
}

/// The sizes that the buffers of a worker need for the instances of a rig.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The largest number of actions that play at once.
    pub actions: usize,
    pub layers: usize,
    pub cursors: usize,
    pub lanes: usize,
    pub joints: usize,
    /// Rows of a palette.
    pub rows: usize,
}

impl Needs {
    /// The larger of both sizes, each.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            actions: self.actions.max(other.actions),
            layers: self.layers.max(other.layers),
            cursors: self.cursors.max(other.cursors),
            lanes: self.lanes.max(other.lanes),
            joints: self.joints.max(other.joints),
            rows: self.rows.max(other.rows),
        }
    }
}

impl Scratch {
    /// Grows the buffers to these sizes; their contents stay.
    pub fn reserve(&mut self, needs: &Needs) {
        let lanes = needs.lanes;
        reserve(&mut self.actions, needs.actions);
        reserve(&mut self.layers, needs.layers);
        grow(&mut self.cursors, needs.cursors, Cursor::default());
        // The buffers are made of rows, not floats, so that registers never straddle two cache lines.
        let zero = Row::splat(0.0);
        grow(&mut self.pose, lanes * 10 / LANES, zero);
        grow(&mut self.above, lanes * 10 / LANES, zero);
        grow(&mut self.locals, lanes * 12 / LANES, zero);
        grow(&mut self.changed, lanes.div_ceil(64), 0);
        grow(&mut self.before, needs.joints, Affine3x4::IDENTITY);
        let mut root = Row::splat(0.0);
        root.0[..12].copy_from_slice(Affine3x4::IDENTITY.rows.as_flattened());
        grow(&mut self.models, needs.joints + 1, root);
    }
}

#[cfg(test)]
impl Scratch {
    /// Empties the cursors, so that the next run of a clip with keys panics.
    pub fn forget_cursors(&mut self) {
        self.cursors.clear();
    }
}

fn reserve<T>(v: &mut Vec<T>, len: usize) {
    v.reserve(len.saturating_sub(v.len()));
}

fn grow<T: Clone>(v: &mut Vec<T>, len: usize, value: T) {
    if v.len() < len {
        v.resize(len, value);
    }
}
