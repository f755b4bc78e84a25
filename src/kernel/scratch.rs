//! What the run of an instance reads and writes: inputs in the order of blending, and a worker's buffers.

use crate::clip::Cursor;
use crate::math::{Affine3x4, LANES, Row};
use crate::program::{ClipProgram, RigProgram, UnitSet};
use crate::rig::Rig;
use crate::skeleton::JointMask;
use std::ops::Range;
use std::sync::Arc;

/// A playing clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ActionInput {
    /// Its index among the clips of [`Sources`].
    pub clip: u16,
    /// The number of its key hints among the instance's, in clips.
    pub hint: u16,
    /// Seconds.
    pub time: f32,
    /// Its share of the layer; of an additive clip the weight, with the layer's.
    pub weight: f32,
    /// Its first cursor; the run finds it.
    pub cursor: u32,
}

/// A layer with a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LayerInput {
    /// Its number among the masks of [`Sources`].
    pub layer: usize,
    pub additive: bool,
    /// Of a blending layer, in [0, 1].
    pub weight: f32,
    /// The share of the rest pose.
    pub rest: f32,
    pub actions: Range<usize>,
}

/// A layer's mask, with the units in which it is not zero.
#[derive(Clone, Debug)]
pub(crate) struct LayerMask {
    pub mask: Option<JointMask>,
    pub units: UnitSet,
    /// One more than the last lane in which it is not zero.
    pub lanes: usize,
}

/// The local matrix of a joint, whatever plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalOverride {
    pub joint: u16,
    pub local: Affine3x4,
}

/// Where an instance's values come from: the same for all instances of a pool.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub rig: &'a Rig,
    pub program: &'a RigProgram,
    pub clips: &'a [Option<Arc<ClipProgram>>],
    pub masks: &'a [LayerMask],
    /// Key hints of a clip.
    pub hint_stride: usize,
}

impl<'a> Sources<'a> {
    /// The program of a clip by its index.
    #[inline(always)]
    pub fn clip(&self, index: u16) -> Option<&'a ClipProgram> {
        self.clips.get(usize::from(index))?.as_deref()
    }

    /// Whether a layer has a mask.
    #[inline(always)]
    pub fn masked(&self, layer: &LayerInput) -> bool {
        let mask = self.masks.get(layer.layer);
        mask.is_some_and(|m| m.mask.is_some())
    }

    /// Whether nothing below a layer shows.
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
    /// Registers of the blended pose, and of a layer to lay over it.
    pub(super) pose: Vec<Row>,
    pub(super) above: Vec<Row>,
    /// Rows of local matrices, as the transposes leave them: four to a `Row`.
    pub(super) locals: Vec<Row>,
    /// Model matrices; the first is the identity of the root.
    pub(super) models: Vec<Row>,
    /// The topology of the last run, and whose constants it used.
    pub(super) last: Last,
}

/// What the last run went by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Last {
    pub topology: usize,
    /// The clip that played alone.
    pub alone: Option<u16>,
}

/// The sizes that a scratch needs for the instances of a rig.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Clips that play at once.
    pub actions: usize,
    pub layers: usize,
    pub cursors: usize,
    pub lanes: usize,
    pub joints: usize,
}

impl Needs {
    /// What serves both.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            actions: self.actions.max(other.actions),
            layers: self.layers.max(other.layers),
            cursors: self.cursors.max(other.cursors),
            lanes: self.lanes.max(other.lanes),
            joints: self.joints.max(other.joints),
        }
    }
}

impl Scratch {
    /// Makes room. What there is stays.
    pub fn reserve(&mut self, needs: &Needs) {
        let lanes = needs.lanes;
        reserve(&mut self.actions, needs.actions);
        reserve(&mut self.layers, needs.layers);
        grow(&mut self.cursors, needs.cursors, Cursor::default());
        // Rows, not floats: registers then never straddle two cache lines.
        let zero = Row::splat(0.0);
        grow(&mut self.pose, lanes * 10 / LANES, zero);
        grow(&mut self.above, lanes * 10 / LANES, zero);
        grow(&mut self.locals, lanes * 12 / LANES, zero);
        let mut root = Row::splat(0.0);
        root.0[..12].copy_from_slice(Affine3x4::IDENTITY.rows.as_flattened());
        grow(&mut self.models, needs.joints + 1, root);
    }
}

#[cfg(test)]
impl Scratch {
    /// Breaks the scratch, so that the next run of a clip with keys panics.
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
