//! Gathers the layers and clips that an instance plays, as inputs of its evaluation. `Instances` is the interface of a
//! pool to an evaluation.

use super::blend::shares;
use super::frame::One;
use super::offsets::OffsetInput;
use super::rig_tables::RigTables;
use super::scratch::{ActionInput, LayerInput, Needs, Scratch};
use super::stage::Stage;
use crate::math::Affine3x4;
use crate::simd::{SimdLevel, dispatch};

/// A layer with a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveLayer {
    pub layer: usize,
    pub additive: bool,
    /// The layer's weight as it was set.
    own: f32,
    /// Weight over the layers below: less than `own` if the layers below fill a share that the weights of the actions
    /// leave.
    weight: f32,
    /// Share of the rest pose in the layer, 0 to 1.
    rest: f32,
    /// Factor on the weights of the actions, after which they and the rest pose sum to 1.
    share: f32,
    /// The offset of the layer's pose, if one decays.
    pub offset: Option<OffsetInput>,
}

impl ActiveLayer {
    /// A layer of weight `own` whose actions' weights sum to `total`; `None` if it has no part in the pose. With
    /// `below`, the layers below take the share that the actions leave, otherwise the rest pose does.
    #[inline(always)]
    pub fn new(
        layer: usize,
        (additive, below): (bool, bool),
        own: f32,
        total: f32,
    ) -> Option<Self> {
        let below = below && !additive;
        // Weights are divided by their sum, whose reciprocal has to be finite.
        if below && total < f32::MIN_POSITIVE {
            return None;
        }
        let of = shares(total);
        let (rest, share, weight) = if below && of.rest > 0.0 {
            (0.0, 1.0 / total, own * total)
        } else {
            (of.rest, of.factor, own)
        };
        Some(Self { layer, additive, own, weight, rest, share, offset: None })
    }
}

/// A clip that plays on a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActiveClip {
    /// Index of the clip in its pool.
    pub clip: u16,
    /// Clip time in seconds.
    pub time: f32,
    /// Weight of the action × share of the clip in a blend space.
    pub weight: f32,
}

/// Receives the layers of an instance that have a weight, lowest first. Each layer comes before its clips, oldest
/// first.
pub(crate) trait Visitor {
    fn layer(&mut self, layer: ActiveLayer);
    fn clip(&mut self, clip: ActiveClip);
}

/// The instances of one rig, which an evaluation visits by index.
pub(crate) trait Instances: Sync {
    /// The tables of the rig and of its loaded clips.
    fn tables(&self) -> &RigTables;

    fn layer_count(&self) -> usize;

    /// The most clips that an instance plays at once.
    fn max_clips(&self) -> usize;

    /// Visits the layers and clips of an instance now.
    fn visit(&self, index: usize, visitor: &mut impl Visitor);

    /// Visits the layers and clips that an instance will play in `seconds` if no call changes it.
    fn visit_ahead(&self, index: usize, seconds: f64, visitor: &mut impl Visitor);

    /// What changes the pose of an instance.
    fn stage(&self, index: usize) -> Stage<'_>;

    /// Number of key hints of an instance.
    fn hints_per_instance(&self) -> usize {
        self.max_clips() * self.tables().hint_stride
    }

    /// Sizes of the buffers that a worker needs for any of these instances.
    fn needs(&self) -> Needs {
        let (tables, clips) = (self.tables(), self.max_clips());
        Needs {
            actions: clips,
            layers: self.layer_count(),
            cursors: clips * tables.timelines,
            lanes: tables.rig().skeleton().joint_of().len(),
            joints: tables.rig().skeleton().len(),
            rows: tables.rig().palette_len(),
        }
    }

    /// Fills the scratch's layers and actions for an instance. The scratch has been reserved for all.
    #[inline(always)]
    fn gather(&self, index: usize, scratch: &mut Scratch) {
        self.visit(index, &mut Gather::new(self.tables(), scratch));
    }

    /// [`gather`](Self::gather) for the actions that the instance will play in `seconds` if no call changes it.
    #[inline(never)]
    fn gather_ahead(&self, index: usize, seconds: f64, scratch: &mut Scratch) {
        self.visit_ahead(index, seconds, &mut Gather::new(self.tables(), scratch));
    }

    /// Evaluates one instance, whether it is scheduled or not, with a stage. `hints` are the instance's.
    fn evaluate_one(
        &self,
        (index, stage): (usize, Stage<'_>),
        level: SimdLevel,
        hints: &mut [u16],
        scratch: &mut Scratch,
        output: &mut [Affine3x4],
    ) {
        dispatch(level, One { instances: self, index, stage, hints, scratch, output });
    }
}

/// Fills a scratch with what it is shown.
pub(crate) struct Gather<'a> {
    tables: &'a RigTables,
    scratch: &'a mut Scratch,
    /// Factor on the weights of the layer's actions.
    factor: f32,
}

impl<'a> Gather<'a> {
    /// Clears the scratch to gather into it.
    #[inline(always)]
    pub fn new(tables: &'a RigTables, scratch: &'a mut Scratch) -> Self {
        scratch.layers.clear();
        scratch.actions.clear();
        Self { tables, scratch, factor: 1.0 }
    }
}

impl Visitor for Gather<'_> {
    #[inline(always)]
    fn layer(&mut self, layer: ActiveLayer) {
        self.factor = if layer.additive { layer.own } else { layer.share };
        let first = self.scratch.actions.len();
        self.scratch.layers.push(LayerInput {
            layer: layer.layer,
            additive: layer.additive,
            weight: layer.weight.min(1.0),
            rest: layer.rest,
            actions: first..first,
            offset: layer.offset,
        });
    }

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        let Scratch { layers, actions, .. } = &mut *self.scratch;
        let Some(layer) = layers.last_mut() else {
            return;
        };
        let weight = clip.weight * self.factor;
        let weight = match layer.additive {
            true => weight.clamp(-1.0, 1.0),
            false => weight,
        };
        // A member of a blend space may have weight 0.
        if weight != 0.0 {
            debug_assert!(
                self.tables.has_program(clip.clip),
                "clip {} plays without a program",
                clip.clip
            );
            actions.push(ActionInput {
                clip: clip.clip,
                hint: actions.len() as u16,
                time: clip.time,
                weight,
                cursor: 0,
            });
            layer.actions.end = actions.len();
        }
    }
}
