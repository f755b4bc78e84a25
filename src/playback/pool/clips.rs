//! The clips and blend spaces of a pool, and the tables of its rig and details that follow them.

use super::Pool;
use crate::clip::Clip;
use crate::evaluate::TierDetail;
use crate::playback::PlaybackError;
use crate::playback::action::Action;
use crate::playback::blend_space::BlendSpace;
use crate::playback::ids::{BlendSpaceId, ClipId};
use crate::playback::layer_state::LayerState;
use crate::simd::SimdLevel;
use std::sync::Arc;

impl Pool {
    /// Updates all that follows from the set of loaded clips: bounds, root lane, tables.
    pub(super) fn fit_clips(&mut self) {
        self.clip_changes += 1;
        self.bounds.forget();
        let clips = self.library.clips();
        self.roots.fit(self.library.rig(), clips);
        let indices = 0..clips.len();
        self.tables.set_clips(indices.map(|index| clips.get(index as u16).cloned()));
        self.fit_contacts();
    }

    /// Makes the programs of the clips that a layer plays for the first time.
    pub(super) fn prepare(&mut self, layer: &LayerState) {
        if self.library.has_undone() {
            let sources = layer.actions().iter().map(Action::source);
            if sources.fold(false, |any, source| self.library.adopt(source) | any) {
                self.fit_clips();
            }
        }
        for source in layer.actions().iter().map(Action::source) {
            for clip in self.library.motions().all_clips(source) {
                self.tables.require(clip);
                if self.speeds.needed {
                    let (rig, clips) = (self.library.rig(), self.library.clips());
                    self.clip_changes += u64::from(self.speeds.measure(clip, rig, clips));
                }
            }
        }
    }

    /// Makes what a capture of a layer's pose reads.
    pub(super) fn prepare_capture(&mut self, layer: &LayerState) {
        let motions = self.library.motions();
        let sources = layer.actions().iter().map(Action::source);
        self.tables.require_portable(sources.flat_map(|source| motions.all_clips(source)));
    }

    pub fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        let clip = self.library.add_clip(clip)?;
        self.fit_clips();
        Ok(clip)
    }

    pub fn unload_clip(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        let unloaded = self.library.unload_clip(clip, self.state.all_actions())?;
        self.fit_clips();
        Ok(unloaded)
    }

    pub fn add_space(&mut self, space: &BlendSpace) -> Result<BlendSpaceId, PlaybackError> {
        let (space, adopted) = self.library.add_space(space)?;
        if adopted {
            self.fit_clips();
        }
        // Actions may have several clips from now on.
        self.clip_changes += 1;
        Ok(space)
    }

    pub fn remove_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError> {
        self.library.remove_space(space, self.state.all_actions())
    }

    /// Fits the tables to a level of another register width.
    #[inline]
    pub fn fit_level(&mut self, level: SimdLevel) {
        self.tables.fit_level(level);
    }

    /// Makes the details that tiers request, one per tier; `None` requests the full rig. Existing details are kept.
    pub fn set_details<'a>(&mut self, requested: impl Iterator<Item = Option<&'a TierDetail>>) {
        let watched: Vec<u16> = self.watched.shared().collect();
        self.tables.set_details(requested, &watched);
    }

    pub fn clear_details(&mut self) {
        self.tables.clear_details();
    }

    /// Makes every detail evaluate the joints that all instances watch. Returns whether a detail has changed.
    pub fn watch_details(&mut self) -> bool {
        let watched: Vec<u16> = self.watched.shared().collect();
        self.tables.watch_details(&watched)
    }

    /// The number of the detail with which an instance is evaluated in a tier; 0, the full rig, if it has overrides or
    /// watches joints that not all instances watch. `swings`: whether springs count.
    #[inline]
    pub fn detail_of(&self, index: usize, tier: u8, swings: bool) -> u8 {
        let number = self.tables.details().of_tier(tier);
        if number != 0 && self.needs_all_joints(index, swings) {
            return 0;
        }
        number
    }

    /// Whether an instance has overrides or active modifiers, or watches joints that not all instances watch.
    #[inline]
    pub(super) fn needs_all_joints(&self, index: usize, swings: bool) -> bool {
        !self.state.overrides().of(index).is_empty()
            || self.heeded(index, swings) != 0
            || !self.watched.is_empty() && self.watched.watches_own(index)
    }
}
