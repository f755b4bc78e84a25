//! `PhaseClocks`: where in their clips the instances are that play one clip steadily. The ranking reads 12 bytes of each
//! in place of what it plays.
//!
//! ```text
//! share now = share at the chunk's moment + seconds since then × passes per second
//! ```

use super::rank::CHUNK;
use crate::playback::clock::{Clock, Moment};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::{Pool, Steady};

/// The clip of an instance whose clock is not known.
pub(super) const UNKNOWN: u16 = NO_CLIP - 1;

/// One pass, in the unit of [`PhaseClock::share`].
const PASS: f64 = (1u64 << 32) as f64;

/// Seconds after which the clocks of a chunk are made again.
const LONGEST: f64 = 1024.0;

/// Seconds by which the clocks of a chunk last longer than the clocks of the chunk before, so that not all are remade
/// in one frame. Every `STAGGERED` chunks the delay starts over.
const STAGGER: f64 = 8.0;
const STAGGERED: usize = 64;

/// The most passes per second of a clock; what is faster is looked at in the playback state. Up to here a
/// [`PhaseClock::rate`] is off by 2^-29 at most. In 1,536 seconds that is 2.9e-6 of a pass: the 85th part of one of
/// 4,096 phases.
pub(super) const FASTEST: f64 = 512.0;

/// The most that the share of a clock is off, in passes: by its rate, and by the rounding of three shares.
pub(in crate::crowd::tiers) const CLOCK_ERROR: f64 =
    (LONGEST + STAGGER * STAGGERED as f64) / (1u64 << 29) as f64 + 3.0 / PASS;

/// A clip that plays alone, at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhaseClock {
    /// Share of a pass that had gone by at the chunk's moment, times 2^32.
    pub share: u32,
    /// The upper 32 bits of the [rate](Self::rate), an f64, and the next 16. An f32 would be off by half of a phase after
    /// some minutes, and a whole f64 would make a clock as large as 16 bytes.
    high: u32,
    low: u16,
    /// The clip, [`NO_CLIP`] for the rest pose, or [`UNKNOWN`].
    pub clip: u16,
}

/// The moment of a chunk's clocks; `None` if none of them is known.
pub(super) type Origin = Option<(Moment, f64)>;

/// The clocks of a pool's instances.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseClocks {
    pub all: Vec<PhaseClock>,
    /// One entry per chunk.
    pub origins: Vec<Origin>,
}

/// The clocks of a chunk.
pub(super) struct ChunkClocks<'a> {
    pub all: &'a mut [PhaseClock],
    /// Seconds since the chunk's moment.
    elapsed: f64,
}

impl PhaseClock {
    const UNKNOWN: Self = Self { share: 0, high: 0, low: 0, clip: UNKNOWN };

    /// A clock with a share of a pass and a rate, which is finite.
    pub fn new(clip: u16, share: u32, rate: f64) -> Self {
        // Finite numbers are below the largest exponent, so the carry of the rounding stays within the number.
        let bits = rate.to_bits() + (1 << 15);
        Self { share, high: (bits >> 32) as u32, low: (bits >> 16) as u16, clip }
    }

    /// Passes per second of the pool's clock; rounded to 48 bits, so off by 2^-37 of it at most.
    #[inline(always)]
    pub fn rate(self) -> f64 {
        f64::from_bits(u64::from(self.high) << 32 | u64::from(self.low) << 16)
    }

    /// Share of a pass that elapses in `seconds`, times 2^32, without whole passes.
    #[inline(always)]
    fn passed(self, seconds: f64) -> u32 {
        (seconds * self.rate() * PASS) as i64 as u32
    }

    /// The clip and the share `seconds` after the chunk's moment; `None` if the clip is not known.
    #[inline(always)]
    pub fn after(self, seconds: f64) -> Option<(u16, u32)> {
        let share = self.share.wrapping_add(self.passed(seconds));
        (self.clip != UNKNOWN).then_some((self.clip, share))
    }
}

impl PhaseClocks {
    pub fn resize(&mut self, instances: usize) {
        self.all.resize(instances, PhaseClock::UNKNOWN);
        self.origins.resize(instances.div_ceil(CHUNK), None);
    }

    /// Forgets the clocks of instances that watch joints of their own.
    pub fn forget_watching(&mut self, pool: &Pool) {
        for (index, clock) in self.all.iter_mut().enumerate() {
            if pool.watched().watches_own(index) {
                *clock = PhaseClock::UNKNOWN;
            }
        }
    }

    pub fn forget_all(&mut self) {
        self.origins.fill(None);
    }

    pub fn forget(&mut self, index: usize) {
        self.all[index].clip = UNKNOWN;
    }

    /// Forgets the clocks of a clip that was unloaded.
    pub fn forget_clip(&mut self, clip: u16) {
        let of_clip = self.all.iter_mut().filter(|clock| clock.clip == clip);
        of_clip.for_each(|clock| clock.clip = UNKNOWN);
    }
}

impl<'a> ChunkClocks<'a> {
    /// Lends the clocks of a chunk. Forgets them first if they are too old or run against the pool's clock.
    pub fn new(
        number: usize,
        all: &'a mut [PhaseClock],
        origin: &mut Origin,
        clock: Clock,
    ) -> Self {
        let longest = LONGEST + (number % STAGGERED) as f64 * STAGGER;
        let elapsed = match *origin {
            // Negative after a rollback.
            Some((from, sign)) if sign == clock.sign() => clock.since(from),
            _ => f64::INFINITY,
        };
        if elapsed.abs() <= longest {
            return Self { all, elapsed };
        }
        *origin = Some((clock.now(), clock.sign()));
        all.fill(PhaseClock::UNKNOWN);
        Self { all, elapsed: 0.0 }
    }

    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// Makes the clock of an instance.
    pub fn set(&mut self, at: usize, steady: Steady) {
        let Steady { clip, share, rate } = steady;
        if clip == UNKNOWN || rate.abs() > FASTEST {
            return;
        }
        // The cast saturates: 1, the end of a pass, becomes the largest share below it.
        let mut made = PhaseClock::new(clip, (share * PASS) as u32, rate);
        made.share = made.share.wrapping_sub(made.passed(self.elapsed));
        self.all[at] = made;
    }
}

const _: () = assert!(size_of::<PhaseClock>() == 12);
// What a clock is off is a small part of a phase.
const _: () = assert!(CLOCK_ERROR < 1.0 / 80.0 / 4096.0);

#[cfg(all(test, feature = "gltf"))]
mod tests;
