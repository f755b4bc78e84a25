//! `RigTables`: what evaluating the instances of one rig reads. It follows the loaded clips and the register width.

use super::details::{Details, TierDetail};
use super::scratch::{LayerMask, Sources};
use super::tables::{CHANNELS, ClipProgram, Programs, RigProgram, UnitSet};
use super::watch::BeforeJoints;
use crate::clip::Clip;
use crate::math::LANES;
use crate::rig::Rig;
use crate::simd::{PORTABLE_WIDTH, SimdLevel, prefetch};
use crate::skeleton::JointMask;
use std::sync::Arc;

/// Number of clips from which instances are evaluated in the order of their clips: fewer clips stay in the first-level
/// cache in any order.
const MANY_CLIPS: usize = 16;

/// The tables of a rig, of its details and of the clips that have played.
#[derive(Debug)]
pub(crate) struct RigTables {
    full: ClipPrograms,
    /// Programs of the portable level's width, where that of the tables is another. Empty until they are needed.
    portable: ClipPrograms,
    /// Details that the tiers of a crowd evaluate instead of the rig; empty without tiers.
    details: Details,
    masks: Vec<LayerMask>,
    before: BeforeJoints,
    /// The loaded clips, by index.
    clips: Vec<Option<Arc<Clip>>>,
    /// The level for which the tables were last made.
    level: Option<SimdLevel>,
    /// Number of loaded clips.
    loaded: usize,
    /// The total size of all loaded clips' keys, bytes.
    pub key_bytes: usize,
    /// Number of key hints per action: the largest of all loaded clips.
    pub hint_stride: usize,
    /// The largest number of timelines of a loaded clip.
    pub timelines: usize,
}

/// The programs of clips for a rig or a detail of it.
#[derive(Debug)]
pub(super) struct ClipPrograms {
    rig: Arc<Rig>,
    /// Tables of the rig, shared by all pools of the rig.
    programs: Arc<Programs>,
    /// Register width of the programs; 0 before [`fit`](Self::fit).
    width: usize,
    /// Programs by index of the clip; `None` for clips that have not played.
    clips: Vec<Option<Arc<ClipProgram>>>,
}

impl ClipPrograms {
    pub fn new(rig: Arc<Rig>) -> Self {
        Self { programs: Programs::of(&rig), rig, width: 0, clips: Vec::new() }
    }

    #[inline(always)]
    pub fn rig(&self) -> &Arc<Rig> {
        &self.rig
    }

    /// The tables of the rig.
    #[inline(always)]
    fn program(&self) -> &RigProgram {
        self.programs.get(&self.rig, self.width)
    }

    /// Drops the programs of clips that are no longer loaded, and remakes the others if the width changes.
    fn fit(&mut self, width: usize, masks: &[LayerMask], clips: &[Option<Arc<Clip>>]) {
        let mut others = Vec::new();
        if self.width != width {
            others = std::mem::take(&mut self.clips);
            self.width = width;
            let program = self.program();
            program.prepare(&self.rig, program.rest_differences.lanes);
            for mask in masks.iter().filter(|m| m.mask.is_some()) {
                program.prepare(&self.rig, mask.lanes);
            }
        }
        self.clips.resize(clips.len(), None);
        for (program, loaded) in self.clips.iter_mut().zip(clips) {
            program.take_if(|made| !loaded.as_ref().is_some_and(|c| Arc::ptr_eq(&made.clip, c)));
        }
        // Even if no action plays the clip now: kept palettes and shared phases may need it.
        self.follow(&others, clips);
    }

    /// Makes the program of a clip if it is missing, and the topologies that it can need, so that no frame has to make
    /// one. Returns whether it was missing.
    #[inline]
    fn require(&mut self, index: u16, clips: &[Option<Arc<Clip>>]) -> bool {
        let missing = matches!(self.clips.get(usize::from(index)), Some(None));
        if missing {
            self.make(index, clips);
        }
        missing
    }

    /// Makes the programs of the clips that `others` has programs of, where they are missing.
    fn follow(&mut self, others: &[Option<Arc<ClipProgram>>], clips: &[Option<Arc<Clip>>]) {
        for (index, other) in (0..).zip(others) {
            if other.is_some() {
                self.require(index, clips);
            }
        }
    }

    #[cold]
    fn make(&mut self, index: u16, clips: &[Option<Arc<Clip>>]) {
        let at = usize::from(index);
        if let Some(Some(clip)) = clips.get(at) {
            let program = self.program();
            let made = program.clip(&self.rig, at, clip);
            program.prepare(&self.rig, made.touched_lanes);
            self.clips[at] = Some(made);
        }
    }
}

impl RigTables {
    /// Tables for layers with these masks. [`set_clips`](Self::set_clips) has to follow.
    pub fn new(rig: Arc<Rig>, masks: impl Iterator<Item = Option<JointMask>>) -> Self {
        let mask = |mask| LayerMask { mask, units: UnitSet::ALL, lanes: 0 };
        Self {
            portable: ClipPrograms::new(rig.clone()),
            full: ClipPrograms::new(rig),
            details: Details::default(),
            masks: masks.map(mask).collect(),
            before: BeforeJoints::default(),
            clips: Vec::new(),
            level: None,
            loaded: 0,
            key_bytes: 0,
            hint_stride: 0,
            timelines: 0,
        }
    }

    /// Sets the loaded clips, by index, and fits the tables to them.
    pub fn set_clips(&mut self, clips: impl Iterator<Item = Option<Arc<Clip>>>) {
        self.clips.clear();
        self.clips.extend(clips);
        let loaded = || self.clips.iter().flatten();
        let bytes = |clip: &Arc<Clip>| size_of_val(clip.rows()) + size_of_val(clip.packed());
        self.loaded = loaded().count();
        self.key_bytes = loaded().map(bytes).sum();
        self.timelines = loaded().map(|c| c.timelines().len()).max().unwrap_or(0);
        self.hint_stride = loaded().map(|c| c.hint_count()).max().unwrap_or(0);
        self.fit(SimdLevel::current());
    }

    /// Fits the tables to a level and to the loaded clips. [`require`](Self::require) makes programs that are missing.
    fn fit(&mut self, level: SimdLevel) {
        let program = self.full.programs.get(self.rig(), level.width());
        if self.width() != level.width() {
            self.masks.iter_mut().for_each(|mask| fit_mask(mask, program));
        }
        self.full.fit(level.width(), &self.masks, &self.clips);
        if self.portable.width != 0 {
            self.portable.fit(PORTABLE_WIDTH, &[], &self.clips);
        }
        self.level = Some(level);
        self.fit_details();
    }

    /// Fits the details to the full rig: they have programs of the same clips.
    fn fit_details(&mut self) {
        for detail in self.details.programs() {
            detail.fit(self.full.width, &self.masks, &self.clips);
            detail.follow(&self.full.clips, &self.clips);
        }
    }

    fn width(&self) -> usize {
        self.full.width
    }

    /// [Fits](Self::fit) the tables if the level has another register width.
    #[inline]
    pub fn fit_level(&mut self, level: SimdLevel) {
        if self.width() != level.width() {
            self.fit(level);
        }
    }

    /// The level to evaluate at: the current one, or another of the tables' register width.
    pub fn level(&self) -> SimdLevel {
        let now = SimdLevel::current();
        if self.level == Some(now) {
            return now;
        }
        let fits = |level: &SimdLevel| level.width() == self.width();
        match fits(&now) {
            true => now,
            false => SimdLevel::supported().find(fits).unwrap_or(now),
        }
    }

    /// Makes the programs of a clip if they are missing.
    #[inline]
    pub fn require(&mut self, clip: u16) {
        if self.full.require(clip, &self.clips) {
            for detail in self.details.programs() {
                detail.require(clip, &self.clips);
            }
        }
    }

    /// Makes what [`portable`](Self::portable) reads, and the programs of these clips for it, if they are missing.
    pub fn require_portable(&mut self, clips: impl Iterator<Item = u16>) {
        if self.width() != PORTABLE_WIDTH {
            if self.portable.width == 0 {
                self.portable.fit(PORTABLE_WIDTH, &[], &self.clips);
            }
            clips.for_each(|clip| _ = self.portable.require(clip, &self.clips));
        }
    }

    /// Makes the topology that an override of a joint needs, so that no frame has to make one.
    pub fn prepare_joint(&self, joint: u16) {
        if let Some(&lane) = self.rig().skeleton().lane_of().get(usize::from(joint)) {
            self.prepare_lanes(usize::from(lane) + 1);
        }
    }

    /// Makes the topology in which these first lanes move.
    pub fn prepare_lanes(&self, lanes: usize) {
        self.full.program().prepare(self.rig(), lanes);
    }

    /// Makes that topology for the details, too: instances with an offset are evaluated with them.
    pub fn prepare_offset(&mut self, lanes: usize) {
        self.prepare_lanes(lanes);
        for detail in self.details.programs() {
            detail.program().prepare(detail.rig(), lanes);
        }
    }

    /// Sets the details of all tiers, of a rig with these watched joints, ascending.
    pub fn set_details<'a>(
        &mut self,
        requested: impl Iterator<Item = Option<&'a TierDetail>>,
        watched: &[u16],
    ) {
        self.details.set(&self.full.rig, requested);
        self.details.watch(watched);
        self.fit_details();
    }

    /// Makes every detail evaluate the joints, ascending, that all instances watch and those above them, even if it
    /// would leave them out. Returns whether a detail has changed; the number of rows of its palettes stays.
    pub fn watch_details(&mut self, watched: &[u16]) -> bool {
        let changed = self.details.watch(watched);
        if changed {
            self.fit_details();
        }
        changed
    }

    /// Sets the joints, ascending, that are watched before the stage.
    pub fn watch_before(&mut self, joints: impl Iterator<Item = u16>) {
        self.before.set(self.full.rig.skeleton(), joints);
    }

    /// Lets all tiers use the full rig.
    pub fn clear_details(&mut self) {
        self.details = Details::default();
    }

    #[inline(always)]
    pub fn rig(&self) -> &Arc<Rig> {
        &self.full.rig
    }

    pub fn details(&self) -> &Details {
        &self.details
    }

    #[inline(always)]
    fn programs(&self, detail: u8) -> &ClipPrograms {
        self.details.get(detail).unwrap_or(&self.full)
    }

    /// The rig of a detail; the full rig for 0.
    #[inline]
    pub fn detail_rig(&self, detail: u8) -> &Arc<Rig> {
        &self.programs(detail).rig
    }

    /// The inputs of an evaluation with the full rig.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_> {
        self.sources_with(&self.full)
    }

    /// The inputs of an evaluation at the portable level, without masks. [`require_portable`](Self::require_portable) has
    /// to precede.
    pub fn portable(&self) -> Sources<'_> {
        let wide = self.width() != PORTABLE_WIDTH;
        self.sources_with(if wide { &self.portable } else { &self.full })
    }

    /// The inputs of an evaluation with a detail.
    #[inline(always)]
    pub fn sources_of(&self, detail: u8) -> Sources<'_> {
        self.sources_with(self.programs(detail))
    }

    #[inline(always)]
    fn sources_with<'a>(&'a self, of: &'a ClipPrograms) -> Sources<'a> {
        Sources {
            rig: &of.rig,
            program: of.program(),
            clips: &of.clips,
            masks: &self.masks,
            hint_stride: self.hint_stride,
            before: &self.before,
        }
    }

    /// Prefetches what the evaluation of any instance reads first.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.full.clips);
        prefetch(std::slice::from_ref(&*self.full.rig));
    }

    /// The number of indices of clips, of which some may be free.
    pub fn clip_indices(&self) -> usize {
        self.clips.len()
    }

    pub fn has_program(&self, clip: u16) -> bool {
        matches!(self.full.clips.get(usize::from(clip)), Some(Some(_)))
    }

    /// Whether enough clips are loaded for sorting instances by clip to pay.
    pub fn sorts(&self) -> bool {
        self.loaded >= MANY_CLIPS
    }
}

/// Finds where the mask of a layer is not zero.
fn fit_mask(of: &mut LayerMask, program: &RigProgram) {
    let units = &program.units;
    (of.units, of.lanes) = (UnitSet::ALL, units.lanes());
    if let Some(mask) = &of.mask {
        (of.units, of.lanes) = (UnitSet::default(), 0);
        for lane in 0..units.lanes() {
            if mask.rows()[lane / LANES].0[lane % LANES] != 0.0 {
                of.lanes = lane + 1;
                (0..CHANNELS.len()).for_each(|c| of.units.insert(c, units.of_lane(lane)));
            }
        }
    }
}
