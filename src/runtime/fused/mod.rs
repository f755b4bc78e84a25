//! The fused run of one instance: sample → blend → compose per group of lanes in registers, then the
//! steps of its plan, palette rows written once, front to back.

mod compose;
mod mix;

use super::plan::{Plan, group_floats};
use super::sample::locate_all;
use crate::clip::Cursor;
use crate::math::{Affine3x4, LANES, Row};
use crate::rig::Rig;
use crate::simd::{Kernel, Lanes, Streaming};
use fearless_simd::prelude::*;
use mix::Mix;

/// A layer's weights in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LayerShare {
    pub weight: f32,
    /// The share of the rest pose.
    pub rest: f32,
}

/// A worker's buffers for one rig.
#[derive(Clone, Debug, Default)]
pub(crate) struct FusedScratch {
    /// Per action of the plan: its time in seconds.
    pub times: Vec<f32>,
    /// Per action of the plan: its share of the layer; weights that sum to more than 1 are divided
    /// by the sum already, additive ones hold the layer's weight, too.
    pub weights: Vec<f32>,
    /// Per layer of the plan.
    pub shares: Vec<LayerShare>,
    cursors: Vec<Cursor>,
    /// Registers of the blended pose, and of a layer to lay over it.
    pose: Vec<Row>,
    above: Vec<Row>,
    /// Rows of local matrices, as the transposes leave them: four to a `Row`.
    locals: Vec<Row>,
    /// Model matrices; the first is the identity of the root.
    models: Vec<Row>,
}

impl FusedScratch {
    /// Makes room for a rig, and for that many actions, layers and cursors.
    pub fn reserve(&mut self, rig: &Rig, actions: usize, layers: usize, cursors: usize) {
        let lanes = rig.skeleton().blocks() * LANES;
        grow(&mut self.times, actions, 0.0);
        grow(&mut self.weights, actions, 0.0);
        grow(&mut self.shares, layers, LayerShare::default());
        grow(&mut self.cursors, cursors, Cursor::default());
        // Rows, not floats: registers then never straddle two cache lines.
        let zero = Row::splat(0.0);
        grow(&mut self.pose, lanes * 10 / LANES, zero);
        grow(&mut self.above, lanes * 10 / LANES, zero);
        grow(&mut self.locals, lanes * 12 / LANES, zero);
        let mut root = Row::splat(0.0);
        root.0[..12].copy_from_slice(Affine3x4::IDENTITY.rows.as_flattened());
        grow(&mut self.models, rig.skeleton().len() + 1, root);
    }
}

fn grow<T: Clone>(v: &mut Vec<T>, len: usize, value: T) {
    if v.len() < len {
        v.resize(len, value);
    }
}

/// Evaluates one instance. The caller has checked that plan, scratch, hints and output belong to the
/// rig, and has filled the scratch's times and weights.
pub(crate) struct Fused<'a> {
    pub plan: &'a Plan,
    /// Key hints: `hint_stride` for every action.
    pub hints: &'a mut [u16],
    pub hint_stride: usize,
    pub scratch: &'a mut FusedScratch,
    pub output: &'a mut [Affine3x4],
    /// Whether the rows go past the caches: then nothing reads them until the fence is dropped.
    pub streaming: Option<Streaming<'a>>,
}

impl Kernel for Fused<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let FusedScratch {
            times,
            weights,
            shares,
            cursors,
            pose,
            above,
            locals,
            models,
        } = self.scratch;
        let plan = self.plan;
        for (i, (action, &time)) in plan.actions.iter().zip(&*times).enumerate() {
            let hints = self.hints.get_mut(i * self.hint_stride..);
            let cursors = &mut cursors[action.first_cursor..];
            locate_all(&action.clip, time, hints.unwrap_or_default(), cursors);
        }
        let mix = Mix {
            simd,
            plan,
            shares,
            weights,
            cursors,
        };
        let pose = bytemuck::must_cast_slice_mut(pose);
        mix.blend(pose, bytemuck::must_cast_slice_mut(above));
        let floats: &mut [f32] = bytemuck::must_cast_slice_mut(locals);
        let chunks = floats.chunks_exact_mut(group_floats(S::f32s::LEN));
        for (group, out) in plan.groups.iter().zip(chunks) {
            compose::compose(&mix, group, pose, out);
        }
        let locals = bytemuck::must_cast_slice(locals);
        plan.walk
            .run(simd, locals, models, self.output, self.streaming);
    }
}
