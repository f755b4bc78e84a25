//! The chain of jobs for one instance, pose by pose: for those who ask for model matrices or scalars.
//! Crowds write palettes by the fused run.

use super::blend::{accumulate, add_layer, blend_layer, finish_layer};
use super::local_to_model::{LocalMatrices, compose, walk};
use super::palette::write_palette;
use super::sample::{locate_all, sample_pose, sample_scalars};
use crate::clip::{Clip, Cursor};
use crate::math::{Affine3x4, LANES};
use crate::rig::Rig;
use crate::simd::{Kernel, Lanes, SimdLevel, Widen, apart, dispatch};
use crate::skeleton::{JointMask, Pose, Skeleton};

/// A clip at a time with a weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActionInput<'a> {
    pub clip: &'a Clip,
    pub time: f32,
    pub weight: f32,
    /// Its key hints: this many u16 into the instance's.
    pub first_hint: usize,
}

/// A weighted set of actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerInput<'a> {
    pub additive: bool,
    pub weight: f32,
    pub mask: Option<&'a JointMask>,
    pub actions: &'a [Option<ActionInput<'a>>],
}

impl LayerInput<'_> {
    /// A layer that does nothing.
    pub const NONE: Self = Self {
        additive: false,
        weight: 0.0,
        mask: None,
        actions: &[],
    };
}

/// The local matrix of a joint, whatever plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalOverride {
    pub joint: u16,
    pub local: Affine3x4,
}

/// A worker's buffers for one rig.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    pub pose: Pose,
    rest: Pose,
    above: Pose,
    sampled: Pose,
    cursors: Vec<Cursor>,
    locals: LocalMatrices,
    pub models: Vec<Affine3x4>,
}

impl Scratch {
    pub fn new(rig: &Rig, timelines: usize) -> Self {
        let skeleton = rig.skeleton();
        Self {
            pose: skeleton.new_pose(),
            rest: skeleton.new_pose(),
            above: skeleton.new_pose(),
            sampled: skeleton.new_pose(),
            cursors: vec![Cursor::default(); timelines],
            locals: LocalMatrices::new(skeleton),
            models: vec![Affine3x4::IDENTITY; skeleton.len()],
        }
    }

    /// The most timelines of a clip that it has room for.
    pub fn timelines(&self) -> usize {
        self.cursors.len()
    }

    /// The local matrix of a joint, as it was evaluated last.
    pub fn local(&self, skeleton: &Skeleton, joint: usize) -> Affine3x4 {
        let lane = usize::from(skeleton.lane_of()[joint]);
        let block = &self.locals.0[lane / LANES];
        Affine3x4 {
            rows: [0, 1, 2].map(|row| block[row][lane % LANES]),
        }
    }
}

impl Scratch {
    /// For [`Chain::run_scalars`]: poses without joints.
    pub fn of_scalars(rig: &Rig, timelines: usize) -> Self {
        let rest = rig.skeleton().rest_pose().scalars_only();
        Self {
            pose: rest.clone(),
            above: rest.clone(),
            sampled: rest.clone(),
            rest,
            cursors: vec![Cursor::default(); timelines],
            locals: LocalMatrices(Vec::new()),
            models: Vec::new(),
        }
    }
}

/// Evaluates one instance. The caller has checked that the clips fit the rig, that the scratch is
/// the rig's, that hints suffice, and that `output` has the rig's palette length (or is empty).
pub(crate) struct Chain<'a> {
    pub rig: &'a Rig,
    pub layers: &'a [LayerInput<'a>],
    pub overrides: &'a [LocalOverride],
    pub hints: &'a mut [u16],
    pub scratch: &'a mut Scratch,
    pub output: &'a mut [Affine3x4],
}

impl Chain<'_> {
    pub fn run(self, level: SimdLevel) {
        dispatch(level, self);
    }

    /// Blends the scalars alone into the scratch's pose; the scratch is one of scalars.
    pub fn run_scalars(self, level: SimdLevel) {
        dispatch(level, ScalarChain(self));
    }
}

struct ScalarChain<'a>(Chain<'a>);

impl Kernel for ScalarChain<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let chain = self.0;
        blend(simd, chain.rig, chain.layers, chain.hints, chain.scratch);
    }
}

impl Kernel for Chain<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Chain {
            rig,
            layers,
            overrides,
            hints,
            scratch,
            output,
        } = self;
        blend(simd, rig, layers, hints, scratch);
        let skeleton = rig.skeleton();
        compose(simd, &scratch.pose, &mut scratch.locals.0);
        for o in overrides {
            let lane = usize::from(skeleton.lane_of()[usize::from(o.joint)]);
            let block = &mut scratch.locals.0[lane / LANES];
            for (rows, row) in block.iter_mut().zip(o.local.rows) {
                rows[lane % LANES] = row;
            }
        }
        walk(simd, skeleton, &scratch.locals.0, &mut scratch.models);
        let mut rest = output;
        for skin in rig.skins() {
            if rest.len() < skin.len() {
                return;
            }
            let (now, later) = rest.split_at_mut(skin.len());
            write_palette(simd, skin, &scratch.models, now);
            rest = later;
        }
    }
}

/// Blends all layers into `scratch.pose`. Out of line, as [`sample`] is: copies of both in every caller
/// took half of the library's compile time.
#[inline(always)]
fn blend<S: Widen>(
    simd: S,
    rig: &Rig,
    layers: &[LayerInput<'_>],
    hints: &mut [u16],
    scratch: &mut Scratch,
) {
    apart(
        simd,
        #[inline(always)]
        || blend_layers(simd, rig, layers, hints, scratch),
    );
}

#[inline(always)]
fn blend_layers<S: Widen>(
    simd: S,
    rig: &Rig,
    layers: &[LayerInput<'_>],
    hints: &mut [u16],
    scratch: &mut Scratch,
) {
    let rest = &scratch.rest;
    let mut empty = true;
    for layer in layers {
        let mut playing = layer.actions.iter().flatten().filter(|a| a.weight != 0.0);
        if layer.weight == 0.0 || playing.clone().next().is_none() {
            continue;
        }
        if layer.additive {
            if empty {
                scratch.pose.copy_from(rest);
                empty = false;
            }
            for action in playing {
                sample(
                    simd,
                    rig,
                    action,
                    hints,
                    &mut scratch.cursors,
                    &mut scratch.sampled,
                );
                let weight = (layer.weight * action.weight).clamp(-1.0, 1.0);
                add_layer(
                    simd,
                    &mut scratch.pose,
                    &scratch.sampled,
                    weight,
                    layer.mask,
                );
            }
            continue;
        }
        let replaces = empty && layer.weight >= 1.0 && layer.mask.is_none();
        let target = if replaces {
            &mut scratch.pose
        } else {
            &mut scratch.above
        };
        let total: f32 = playing.clone().map(|a| a.weight).sum();
        let count = playing.clone().count();
        match playing.next() {
            Some(only) if count == 1 && total >= 1.0 => {
                sample(simd, rig, only, hints, &mut scratch.cursors, target);
            }
            first => {
                for (i, action) in first.into_iter().chain(playing).enumerate() {
                    sample(
                        simd,
                        rig,
                        action,
                        hints,
                        &mut scratch.cursors,
                        &mut scratch.sampled,
                    );
                    accumulate(simd, target, &scratch.sampled, action.weight, i == 0);
                }
                finish_layer(simd, target, rest, total, false);
            }
        }
        if !replaces {
            if empty {
                scratch.pose.copy_from(rest);
            }
            let weight = layer.weight.min(1.0);
            blend_layer(simd, &mut scratch.pose, &scratch.above, weight, layer.mask);
        }
        empty = false;
    }
    if empty {
        scratch.pose.copy_from(rest);
    }
}

#[inline(always)]
fn sample<S: Widen>(
    simd: S,
    rig: &Rig,
    action: &ActionInput<'_>,
    hints: &mut [u16],
    cursors: &mut [Cursor],
    output: &mut Pose,
) {
    let hints = hints.get_mut(action.first_hint..).unwrap_or_default();
    let cursors = &mut cursors[..action.clip.timelines().len()];
    locate_all(action.clip, action.time, hints, cursors);
    let (skeleton, clip) = (rig.skeleton(), action.clip);
    apart(
        simd,
        #[inline(always)]
        || match output.blocks() {
            0 => sample_scalars(simd, skeleton, clip, cursors, output),
            _ => sample_pose(simd, skeleton, clip, cursors, output),
        },
    );
}
