//! `SharedPhases`: the palettes of a pool that several instances show: one per phase of a clip.
//!
//! Phase `k` of `n` is the pose at `k / n` of the clip's duration, whatever the time is. So a palette is evaluated once,
//! and an instance moves from one to the next. Numbers of phases are powers of two: coarser tiers use every second,
//! fourth, … phase of the finest.

use super::bank::NONE;
use super::tier::{MAX_TIERS, Tiers};
use super::tiering::CLOCK_ERROR;
use crate::clip::{Clip, ClipKind};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::Pool;
use crate::rig::ClipSpeed;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most phases of a clip.
const MAX_PHASES: u16 = 4096;

/// The phase of a clip: of the finest division that the clip has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhaseKey {
    /// [`NO_CLIP`] for the rest pose.
    pub clip: u16,
    pub phase: u16,
    /// The number of the detail that it is evaluated by.
    pub detail: u8,
}

impl PhaseKey {
    /// The phase as the owner of a cell; its bank has the detail.
    pub fn bits(self) -> u32 {
        u32::from(self.clip) << 16 | u32::from(self.phase)
    }

    pub fn of_bits(bits: u32, detail: u8) -> Self {
        Self { clip: (bits >> 16) as u16, phase: bits as u16, detail }
    }
}

/// The phases of a clip.
#[derive(Clone, Debug)]
struct Phases {
    /// Intervals, a power of two; 0 if the clip is not shared in any tier.
    count: u16,
    /// For each tier, the number of these phases per phase that the tier uses, a power of two; 0 if the tier does not
    /// share the clip.
    steps: [u16; MAX_TIERS],
    /// Phases per second.
    rate: f32,
    /// The cell of every phase, or [`NONE`], detail by detail up to the last of which one was needed.
    cells: Vec<u32>,
}

/// The shared palettes of a pool.
#[derive(Debug, Default)]
pub(super) struct SharedPhases {
    /// One entry per clip index; `None` if it is not loaded, has not played, or is additive.
    clips: Vec<Option<Phases>>,
    /// Cell of the rest pose in each detail, or [`NONE`].
    rest: Vec<u32>,
    /// For each shared cell, the frame in which an instance last looked for it.
    looked: Vec<AtomicU32>,
    /// The pool's count of clip changes for which this was made.
    made_for: Option<u64>,
}

impl Phases {
    /// Index of a phase's cell in `cells`.
    fn index(&self, key: PhaseKey) -> usize {
        usize::from(key.detail) * (usize::from(self.count) + 1) + usize::from(key.phase)
    }

    /// `None` if the clip is additive, or its speed is not known: no tier shares, or it has not played.
    fn of(pool: &Pool, index: u16, clip: &Clip, tiers: &Tiers) -> Option<Self> {
        if clip.kind() == ClipKind::Additive {
            return None;
        }
        let speed = pool.speed(index)?;
        let seconds = f64::from(clip.duration());
        let needed = |error: f32| phases_within(error, speed, seconds);
        let mut counts = [0u16; MAX_TIERS];
        for (count, tier) in counts.iter_mut().zip(&tiers.tiers) {
            if let Some(n) =
                tier.shared_error.and_then(needed).filter(|&n| n <= f64::from(MAX_PHASES))
            {
                *count = (n.ceil().max(1.0) as u16).next_power_of_two();
            }
        }
        let count = counts.into_iter().max().unwrap_or(0);
        let steps = counts.map(|n| count.checked_div(n).unwrap_or(0));
        let seconds = clip.duration();
        Some(Self {
            count,
            steps,
            rate: if seconds > 0.0 { f32::from(count) / seconds } else { 0.0 },
            cells: Vec::new(),
        })
    }
}

impl SharedPhases {
    /// Finds the phases of clips that have come or played for the first time. Returns whether clips have changed.
    pub fn fit(&mut self, pool: &Pool, tiers: &Tiers) -> bool {
        if self.made_for == Some(pool.clip_changes()) {
            return false;
        }
        self.made_for = Some(pool.clip_changes());
        for (index, clip) in pool.library().clips().iter() {
            let at = usize::from(index);
            if self.clips.len() <= at {
                self.clips.resize(at + 1, None);
            }
            if self.clips[at].is_none() {
                self.clips[at] = Phases::of(pool, index, clip, tiers);
            }
        }
        true
    }

    /// Forgets the phases of a clip that was unloaded. Returns their cells.
    pub fn unload(&mut self, clip: u16) -> impl Iterator<Item = u32> + use<> {
        let phases = self.clips.get_mut(usize::from(clip)).and_then(Option::take);
        let cells = phases.map(|p| p.cells).unwrap_or_default();
        cells.into_iter().filter(|&cell| cell != NONE)
    }

    /// The phases of a clip, and how many of them are one of a tier's; `None` if the tier does not share the clip.
    #[inline(always)]
    fn in_tier(&self, clip: u16, tier: u8) -> Option<(&Phases, u16)> {
        let phases = self.clips.get(usize::from(clip))?.as_ref()?;
        let step = *phases.steps.get(usize::from(tier))?;
        (step > 0).then_some((phases, step))
    }

    /// The nearest phase of a clip's time in a tier, which has a detail; `None` if the tier does not share the clip.
    #[inline]
    pub fn key(&self, clip: u16, time: f32, (tier, detail): (u8, u8)) -> Option<PhaseKey> {
        let phase = if clip == NO_CLIP {
            0
        } else {
            let (phases, step) = self.in_tier(clip, tier)?;
            // The cast saturates; the last phase is the end of the clip.
            let nearest = (time * phases.rate / f32::from(step) + 0.5) as u16;
            nearest.saturating_mul(step).min(phases.count)
        };
        Some(PhaseKey { clip, phase, detail })
    }

    /// The nearest phase of a clip in a tier, which has a detail, at a share of the clip's pass, in 2^-32.
    #[inline(always)]
    pub fn key_at(&self, clip: u16, share: u32, (tier, detail): (u8, u8)) -> Option<PhaseKey> {
        let phase = if clip == NO_CLIP {
            0
        } else {
            let (phases, step) = self.in_tier(clip, tier)?;
            // Both are powers of two: the tier's phases are `count >> log`.
            let log = step.trailing_zeros();
            let shift = 32 - phases.count.trailing_zeros() + log;
            let nearest = (u64::from(share) + (1 << shift >> 1)) >> shift;
            (nearest << log) as u16
        };
        Some(PhaseKey { clip, phase, detail })
    }

    /// The time of a phase in seconds.
    pub fn time(&self, key: PhaseKey) -> f32 {
        let phases = self.clips.get(usize::from(key.clip)).and_then(Option::as_ref);
        let rate = phases.map_or(0.0, |p| p.rate);
        if rate > 0.0 { f32::from(key.phase) / rate } else { 0.0 }
    }

    /// The cell of a phase, if it has one. It counts as looked for in this frame.
    #[inline]
    pub fn find(&self, key: PhaseKey, frame: u32) -> Option<u32> {
        let cell = match key.clip {
            NO_CLIP => *self.rest.get(usize::from(key.detail))?,
            clip => {
                let phases = self.clips.get(usize::from(clip))?.as_ref()?;
                *phases.cells.get(phases.index(key))?
            }
        };
        if cell == NONE {
            return None;
        }
        // All that look for it in a frame store the same number.
        if let Some(looked) = self.looked.get(cell as usize)
            && looked.load(Ordering::Relaxed) != frame
        {
            looked.store(frame, Ordering::Relaxed);
        }
        Some(cell)
    }

    /// Sets the cell of a phase, looked for in this frame; [`NONE`] forgets it.
    pub fn set(&mut self, key: PhaseKey, cell: u32, frame: u32) {
        match key.clip {
            NO_CLIP => put(&mut self.rest, key.detail.into(), cell),
            clip => {
                let Some(Some(phases)) = self.clips.get_mut(usize::from(clip)) else {
                    return;
                };
                let details = usize::from(key.detail) + 1;
                let cells = details * (usize::from(phases.count) + 1);
                if phases.cells.len() < cells {
                    phases.cells.resize(cells, NONE);
                }
                let index = phases.index(key);
                if let Some(known) = phases.cells.get_mut(index) {
                    *known = cell;
                }
            }
        }
        if cell != NONE {
            if self.looked.len() <= cell as usize {
                self.looked.resize_with(cell as usize + 1, || AtomicU32::new(0));
            }
            *self.looked[cell as usize].get_mut() = frame;
        }
    }

    /// The frame in which a cell was last looked for.
    pub fn looked(&self, cell: u32) -> u32 {
        let looked = self.looked.get(cell as usize);
        looked.map_or(0, |l| l.load(Ordering::Relaxed))
    }

    pub fn cells(&self) -> impl Iterator<Item = (PhaseKey, u32)> + '_ {
        let of_clips = (0..).zip(&self.clips).flat_map(|(clip, phases)| {
            let cells = phases.as_ref().map(|p| &p.cells[..]).unwrap_or_default();
            let count = phases.as_ref().map_or(1, |p| usize::from(p.count) + 1);
            let all = (0u8..).zip(cells.chunks(count));
            all.flat_map(move |(detail, cells)| {
                let key = move |phase| PhaseKey { clip, phase, detail };
                (0..).zip(cells).map(move |(phase, &cell)| (key(phase), cell))
            })
        });
        let rest = |detail| PhaseKey { clip: NO_CLIP, phase: 0, detail };
        let of_rest = (0u8..).zip(&self.rest);
        let all = of_clips.chain(of_rest.map(move |(detail, &cell)| (rest(detail), cell)));
        all.filter(|(_, cell)| *cell != NONE)
    }
}

/// Number of phases that a clip of `seconds` needs so that no vertex is farther than `error` from its exact position: a
/// vertex moves for half a phase and for the error of clocks, and jumps once. `None` if no number is enough.
fn phases_within(error: f32, speed: ClipSpeed, seconds: f64) -> Option<f64> {
    let distance = f64::from(speed.speed) * seconds;
    let left = f64::from(error) - f64::from(speed.jump) - CLOCK_ERROR * distance;
    (left > 0.0).then(|| distance / (2.0 * left))
}

/// Sets an entry of a list that grows as far as it has to.
fn put(all: &mut Vec<u32>, at: usize, cell: u32) {
    if all.len() <= at {
        all.resize(at + 1, NONE);
    }
    all[at] = cell;
}
