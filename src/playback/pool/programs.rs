//! What a pool's instances share to be evaluated: the programs of its clips, and the masks of its layers.

use super::LayerOptions;
use crate::clip::Clip;
use crate::kernel::LayerMask;
use crate::math::LANES;
use crate::playback::arena::Arena;
use crate::program::{CHANNELS, ClipProgram, UnitSet};
use crate::rig::Rig;
use crate::simd::SimdLevel;
use std::sync::Arc;

/// From this many clips on, instances run in the order of their clips: fewer stay in the first-level cache anyway.
const MANY_CLIPS: usize = 16;

/// From this many clips on, what the next instances read is prefetched: fewer stay in the second-level cache, and
/// asking for what is there costs a tenth of a frame.
const COLD_CLIPS: usize = 100;

/// Programs for one register width.
#[derive(Debug, Default)]
pub(crate) struct PoolPrograms {
    width: usize,
    /// A level of that width, the last that they were made for.
    pub level: Option<SimdLevel>,
    /// By the indices of clips.
    clips: Vec<Option<Arc<ClipProgram>>>,
    masks: Vec<LayerMask>,
    loaded: usize,
}

impl PoolPrograms {
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn clips(&self) -> &[Option<Arc<ClipProgram>>] {
        &self.clips
    }

    pub fn masks(&self) -> &[LayerMask] {
        &self.masks
    }

    /// Whether what instances read is worth prefetching.
    pub fn cold(&self) -> bool {
        self.loaded >= COLD_CLIPS
    }

    /// Whether instances are worth sorting by their clips.
    pub fn many(&self) -> bool {
        self.loaded >= MANY_CLIPS
    }

    /// Finds or makes the programs of all clips, and the topologies that they can need together.
    pub fn fit(
        &mut self,
        width: usize,
        rig: &Rig,
        clips: &Arena<Arc<Clip>>,
        layers: &[LayerOptions],
    ) {
        if self.width != width {
            self.clips.clear();
            self.masks = layers.iter().map(|l| layer_mask(l, rig, width)).collect();
            self.width = width;
        }
        let program = rig.program(width);
        let mut last = 0;
        self.loaded = 0;
        for (index, clip) in clips.iter() {
            let index = usize::from(index);
            if self.clips.len() <= index {
                self.clips.resize(index + 1, None);
            }
            self.clips[last..index].fill(None);
            last = index + 1;
            self.loaded += 1;
            let place = &mut self.clips[index];
            if !place.as_ref().is_some_and(|p| Arc::ptr_eq(&p.clip, clip)) {
                let made = program.clip(rig, clip);
                program.prepare(rig, made.touched_lanes);
                *place = Some(made);
            }
        }
        self.clips.truncate(last);
        program.prepare(rig, program.rest_apart.lanes);
        for mask in self.masks.iter().filter(|m| m.mask.is_some()) {
            program.prepare(rig, mask.lanes);
        }
    }
}

fn layer_mask(layer: &LayerOptions, rig: &Rig, width: usize) -> LayerMask {
    let units = &rig.program(width).units;
    let mut of = LayerMask {
        mask: layer.mask.clone(),
        units: UnitSet::ALL,
        lanes: units.lanes(),
    };
    if let Some(mask) = &layer.mask {
        of.units = UnitSet::default();
        of.lanes = 0;
        for lane in 0..units.lanes() {
            if mask.rows()[lane / LANES].0[lane % LANES] != 0.0 {
                of.lanes = lane + 1;
                (0..CHANNELS.len()).for_each(|c| of.units.insert(c, units.of_lane(lane)));
            }
        }
    }
    of
}
