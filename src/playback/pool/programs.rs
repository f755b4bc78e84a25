//! The tables with which a pool's instances are evaluated: the programs of its clips, and the masks of its layers.

use super::LayerOptions;
use crate::clip::Clip;
use crate::evaluate::{CHANNELS, ClipProgram, LayerMask, Programs, RigProgram, UnitSet};
use crate::math::LANES;
use crate::playback::action::Action;
use crate::playback::arena::Arena;
use crate::rig::Rig;
use crate::simd::SimdLevel;
use std::sync::Arc;

/// From this many clips on, instances are evaluated in the order of their clips: fewer clips stay in the first-level
/// cache in any order.
const MANY_CLIPS: usize = 16;

/// Programs for one register width.
#[derive(Debug)]
pub(crate) struct PoolPrograms {
    /// Tables of the rig, shared by all pools of the rig.
    rig: Arc<Programs>,
    width: usize,
    /// The level for which the programs were last made; its register width is `width`.
    pub level: Option<SimdLevel>,
    /// Programs by index of the clip; `None` for clips that have not played.
    clips: Vec<Option<Arc<ClipProgram>>>,
    masks: Vec<LayerMask>,
    loaded: usize,
    key_bytes: usize,
}

impl PoolPrograms {
    pub fn new(rig: &Rig) -> Self {
        Self {
            rig: Programs::of(rig),
            width: 0,
            level: None,
            clips: Vec::new(),
            masks: Vec::new(),
            loaded: 0,
            key_bytes: 0,
        }
    }

    /// The tables of the rig for which these programs are made.
    pub fn rig(&self) -> &Programs {
        &self.rig
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn clips(&self) -> &[Option<Arc<ClipProgram>>] {
        &self.clips
    }

    pub fn masks(&self) -> &[LayerMask] {
        &self.masks
    }

    /// The total size of all loaded clips' keys, bytes.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Whether there are so many clips that sorting instances by clip pays.
    pub fn many(&self) -> bool {
        self.loaded >= MANY_CLIPS
    }

    /// Drops the programs of clips that are no longer loaded, and remakes the others if the width changes.
    /// [`require`](Self::require) makes those that are missing.
    pub fn fit(
        &mut self,
        width: usize,
        rig: &Rig,
        clips: &Arena<Arc<Clip>>,
        layers: &[LayerOptions],
    ) {
        let mut others = Vec::new();
        if self.width != width {
            others = std::mem::take(&mut self.clips);
            self.width = width;
            let program = self.rig.get(rig, width);
            let mask = |l| layer_mask(l, program);
            self.masks = layers.iter().map(mask).collect();
            program.prepare(rig, program.rest_apart.lanes);
            for mask in self.masks.iter().filter(|m| m.mask.is_some()) {
                program.prepare(rig, mask.lanes);
            }
        }
        self.clips.resize(clips.places(), None);
        self.loaded = clips.iter().count();
        let bytes = |clip: &Clip| size_of_val(clip.rows()) + size_of_val(clip.packed());
        self.key_bytes = clips.iter().map(|(_, clip)| bytes(clip)).sum();
        for (index, place) in (0..).zip(&mut self.clips) {
            let loaded = clips.get(index);
            place.take_if(|made| !loaded.is_some_and(|clip| Arc::ptr_eq(&made.clip, clip)));
        }
        // Even if no action plays the clip now: kept palettes and shared phases may need it.
        self.require_those(&others, rig, clips);
    }

    /// Makes the programs of an action's clips if they are missing, and the topologies that they can need, so that no
    /// frame has to make one. Returns whether a program was made.
    #[inline]
    pub fn require(&mut self, rig: &Rig, clips: &Arena<Arc<Clip>>, action: &Action) -> bool {
        let (clip, other) = action.members();
        let mut made = false;
        for index in std::iter::once(clip).chain(other.map(|(clip, _)| clip)) {
            made |= self.require_clip(rig, clips, index);
        }
        made
    }

    /// As [`require`](Self::require), for one clip by its index.
    #[inline]
    pub fn require_clip(&mut self, rig: &Rig, clips: &Arena<Arc<Clip>>, index: u16) -> bool {
        let missing = matches!(self.clips.get(usize::from(index)), Some(None));
        if missing {
            self.make(rig, clips, index);
        }
        missing
    }

    /// Makes the programs of the clips that `others` has programs of, where they are missing.
    pub fn follow(&mut self, others: &Self, rig: &Rig, clips: &Arena<Arc<Clip>>) {
        self.require_those(&others.clips, rig, clips);
    }

    fn require_those(
        &mut self,
        others: &[Option<Arc<ClipProgram>>],
        rig: &Rig,
        clips: &Arena<Arc<Clip>>,
    ) {
        for (index, other) in (0..).zip(others) {
            if other.is_some() {
                self.require_clip(rig, clips, index);
            }
        }
    }

    #[cold]
    fn make(&mut self, rig: &Rig, clips: &Arena<Arc<Clip>>, index: u16) {
        if let Some(clip) = clips.get(index) {
            let program = self.rig.get(rig, self.width);
            let made = program.clip(rig, usize::from(index), clip);
            program.prepare(rig, made.touched_lanes);
            self.clips[usize::from(index)] = Some(made);
        }
    }
}

fn layer_mask(layer: &LayerOptions, program: &RigProgram) -> LayerMask {
    let units = &program.units;
    let mut of = LayerMask { mask: layer.mask.clone(), units: UnitSet::ALL, lanes: units.lanes() };
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
