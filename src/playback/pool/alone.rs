//! Queries of crowds with tiers: the clip that an instance plays alone, and the speeds of clips.

use super::Pool;
use crate::playback::action::Action;
use crate::playback::entries::Several;
use crate::playback::ids::NO_CLIP;
use crate::rig::{Aabb, ClipSpeed};
use crate::simd::prefetch;

/// A clip that plays at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steady {
    /// Index of the clip; [`NO_CLIP`] for the rest pose.
    pub clip: u16,
    /// Present time as a share of a pass, in [0, 1].
    pub share: f64,
    /// Passes per second.
    pub rate: f64,
}

impl Pool {
    /// Prefetches the entries that [`plays_alone`](Self::plays_alone) reads.
    #[inline(always)]
    pub fn prefetch_entries(&self, index: usize) {
        prefetch(self.state.entries().range(self.entries_of(index)));
    }

    /// The only action of an instance, if it plays one clip at full weight on a layer without a mask or an offset, with the
    /// index of its entry; `Ok(None)` if nothing plays; `Err` otherwise. Layers and actions of weight 0 do not count, unless
    /// they fade. Valid until a call changes the instance, a fade ends or an action stops.
    #[inline]
    pub fn sole(&self, index: usize) -> Result<Option<(usize, &Action)>, Several> {
        let entries = self.state.entries();
        if self.entries_of(index).any(|at| self.state.offset(at).is_some()) {
            return Err(Several);
        }
        let mut alone = None;
        for (options, at) in self.library.layers().iter().zip(self.entries_of(index)) {
            let Some(action) = entries.sole(at)? else {
                continue;
            };
            let plain = options.mask.is_none() && !options.additive && !action.in_phases();
            if alone.is_some() || !plain {
                return Err(Several);
            }
            alone = Some((at, action));
        }
        Ok(alone)
    }

    /// As [`sole`](Self::sole); `None` also if the instance has overrides, or watches joints that not all instances
    /// watch. `swings`: whether springs count.
    #[inline]
    fn shareable(&self, index: usize, swings: bool) -> Option<Option<(usize, &Action)>> {
        match self.needs_all_joints(index, swings) {
            true => None,
            false => self.sole(index).ok(),
        }
    }

    /// The clip whose palette an instance can share, and its time within the clip in `lead` seconds; [`NO_CLIP`] if
    /// nothing plays; `None` if the instance cannot share.
    #[inline]
    pub fn plays_alone(&self, index: usize, lead: f64, swings: bool) -> Option<(u16, f32)> {
        let Some((at, action)) = self.shareable(index, swings)? else {
            return Some((NO_CLIP, 0.0));
        };
        let entry = &self.state.entries().range(at..at + 1)[0];
        let time = action.clip_time_after(entry.since(self.state.clock()) + lead);
        Some((action.clip().unwrap_or(NO_CLIP), time as f32))
    }

    /// The clip whose palette an instance can share, if its rate is constant until a call changes it or time
    /// reverses.
    pub fn plays_steadily(&self, index: usize, swings: bool) -> Option<Steady> {
        let Some((at, action)) = self.shareable(index, swings)? else {
            return Some(Steady { clip: NO_CLIP, share: 0.0, rate: 0.0 });
        };
        let (entries, clock) = (self.state.entries(), self.state.clock());
        let entry = &entries.range(at..at + 1)[0];
        let length = action.course().length;
        // After a call the rate is known once the next step has visited the entry.
        let armed = clock.now().is_before(entry.still_until());
        let constant = action.rate() == 0.0 || action.repeats();
        let time = action.clip_time_after(entry.since(clock));
        (armed && constant).then(|| Steady {
            clip: action.clip().unwrap_or(NO_CLIP),
            share: if length > 0.0 { time / length } else { 0.0 },
            rate: if length > 0.0 { action.rate() / length } else { 0.0 },
        })
    }

    /// The longest side of the rest pose's box around the meshes, or around the joints of a rig that draws nothing; 1
    /// if the box is a point.
    pub fn longest_side(&self) -> f32 {
        let rest = self.bounds().rest();
        let side = rest.map_or(0.0, |b: &Aabb| 2.0 * b.half_size().max_element());
        if side > 0.0 && side.is_finite() { side } else { 1.0 }
    }

    /// The speed of a full clip, if it has played while speeds were needed.
    pub fn speed(&self, clip: u16) -> Option<ClipSpeed> {
        self.speeds.of(clip, self.library.clips())
    }

    /// Sets whether the speeds of clips are needed, and measures those of the clips that play. Other clips are measured
    /// when they first play.
    pub fn need_speeds(&mut self, needed: bool) {
        self.speeds.needed = needed;
        self.require_speeds();
    }

    /// Measures the speeds of the clips that play, if they are needed.
    pub fn require_speeds(&mut self) {
        if !self.speeds.needed {
            return;
        }
        let mut clips: Vec<u16> = Vec::new();
        let motions = self.library.motions();
        for clip in self.state.all_actions().flat_map(|a| motions.all_clips(a.source())) {
            if clips.last() != Some(&clip) {
                clips.push(clip);
            }
        }
        clips.sort_unstable();
        clips.dedup();
        clips.into_iter().for_each(|clip| self.measure(clip));
    }

    /// Measures the speed of a clip that has begun to play.
    pub(super) fn measure(&mut self, clip: u16) {
        let (rig, clips) = (self.library.rig(), self.library.clips());
        self.clip_changes += u64::from(self.speeds.measure(clip, rig, clips));
    }
}

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use crate::crowd::{BoneBuffer, Crowd, PlayOptions, Tier, Tiers};
    use crate::rig::ClipSpeed;
    use std::sync::Arc;

    fn tiers(shared_error: Option<f32>) -> Option<Tiers> {
        let tier = Tier { shared_error, ..Tier::default() };
        Some(Tiers { tiers: vec![tier], ..Tiers::default() })
    }

    /// Only tiers that share have speeds measured, once per rig and clip.
    #[test]
    fn speeds_are_measured_once_and_where_they_are_needed() {
        let rig = Arc::new(crate::import::mannequin().unwrap());
        let of_rig = |clip: usize| rig.measured(&rig.clips()[clip]);
        let known = |clip| of_rig(clip).speed.get().copied();
        let mut crowd = Crowd::new();
        let ids = [0; 2].map(|_| crowd.add_rig(rig.clone()).unwrap());
        let all = ids.map(|id| crowd.spawn(id).unwrap());
        let play = |crowd: &mut Crowd, clip: usize| {
            for i in all {
                let clip = crowd.clip_by_index(i.rig(), clip).unwrap();
                crowd.play(i, clip, &PlayOptions::default()).unwrap();
            }
        };
        let mut bones = BoneBuffer::new();
        crowd.set_tiers(tiers(None)).unwrap();
        play(&mut crowd, 0);
        crowd.advance(0.01).unwrap();
        crowd.evaluate(&mut bones);
        assert_eq!(known(0), None);
        assert_eq!(all.map(|i| crowd.shown(i).is_some_and(|s| s.shared)), [false; 2]);
        // A value that measuring would not give.
        let stated = ClipSpeed { speed: 123.0, jump: 0.0 };
        of_rig(2).speed.set(stated).unwrap();
        crowd.set_tiers(tiers(Some(0.01))).unwrap();
        assert!(known(0).is_some() && known(1).is_none());
        play(&mut crowd, 1);
        assert!(known(1).is_some());
        play(&mut crowd, 2);
        for pool in crowd.pools.iter().flatten() {
            assert_eq!((pool.speed(1), pool.speed(2)), (known(1), Some(stated)));
        }
        assert_eq!(known(3), None);
    }
}
