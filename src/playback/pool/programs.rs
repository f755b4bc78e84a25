//! What a pool's instances share to be evaluated: the programs of its clips, and the masks of its layers.

use super::LayerOptions;
use crate::clip::Clip;
use crate::evaluate::{CHANNELS, ClipProgram, LayerMask, Programs, RigProgram, UnitSet};
use crate::math::LANES;
use crate::playback::action::Action;
use crate::playback::arena::Arena;
use crate::rig::Rig;
use crate::simd::SimdLevel;
use std::sync::Arc;

/// From this many clips on, instances run in the order of their clips: fewer stay in the first-level cache anyway.
const MANY_CLIPS: usize = 16;

/// Programs for one register width.
#[derive(Debug)]
pub(crate) struct PoolPrograms {
    /// The tables of the rig, shared with all pools of the rig.
    rig: Arc<Programs>,
    width: usize,
    /// A level of that width, the last that they were made for.
    pub level: Option<SimdLevel>,
    /// By the indices of clips; none of clips that have not played.
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

    /// The tables of the rig that these programs are of.
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

    /// The bytes of keys of all loaded clips.
    pub fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// Whether instances are worth sorting by their clips.
    pub fn many(&self) -> bool {
        self.loaded >= MANY_CLIPS
    }

    /// Forgets the programs of clips that are no longer loaded, and makes the others anew if the width changes. Programs
    /// of other clips are made by [`require`](Self::require).
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
        // Also of clips that no action plays now: palettes that are held, and shared phases, may need them.
        self.require_those(&others, rig, clips);
    }

    /// Finds or makes the programs of an action's clips, and the topologies that they can need: a frame makes none.
    /// Returns whether one was made.
    #[inline]
    pub fn require(&mut self, rig: &Rig, clips: &Arena<Arc<Clip>>, action: &Action) -> bool {
        let (clip, other) = action.members();
        let mut made = false;
        for index in std::iter::once(clip).chain(other.map(|(clip, _)| clip)) {
            made |= self.require_clip(rig, clips, index);
        }
        made
    }

    /// As [`require`](Self::require), of a clip by its index.
    #[inline]
    pub fn require_clip(&mut self, rig: &Rig, clips: &Arena<Arc<Clip>>, index: u16) -> bool {
        let missing = matches!(self.clips.get(usize::from(index)), Some(None));
        if missing {
            self.make(rig, clips, index);
        }
        missing
    }

    /// Makes the programs of the clips that others have programs of.
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
