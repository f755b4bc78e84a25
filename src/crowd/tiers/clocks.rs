//! `PhaseClocks`: where in their clips the instances are that play one clip steadily. The ranking reads 12 bytes of each
//! in place of what it plays.
//!
//! ```text
//! turn now = turn at the chunk's moment + seconds since then × passes per second
//! ```

use super::rank::CHUNK;
use crate::playback::clock::{Clock, Moment};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::{Pool, Steady};

/// The clip of an instance whose clock is not known.
pub(super) const UNKNOWN: u16 = NO_CLIP - 1;

/// Turns of a pass.
const TURNS: f64 = (1u64 << 32) as f64;

/// Seconds after which the clocks of a chunk are made again: the rate has 24 bits, so they are off by 10^-4 of what passes
/// in a second.
const LONGEST: f64 = 1024.0;

/// The most passes per second: their turns in [`LONGEST`] fit into an i64.
pub(super) const FASTEST: f64 = 1e5;

/// A clip that plays alone, at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhaseClock {
    /// The share of a pass at the chunk's moment, in 2^-32.
    pub turn: u32,
    /// Passes per second of the pool's clock.
    pub rate: f32,
    /// The clip, [`NO_CLIP`] for the rest pose, or [`UNKNOWN`].
    pub clip: u16,
}

/// The moment of a chunk's clocks; `None` if none of them is known.
pub(super) type Origin = Option<(Moment, f64)>;

/// The clocks of a pool's instances.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseClocks {
    pub all: Vec<PhaseClock>,
    /// By chunk.
    pub origins: Vec<Origin>,
}

/// Those of a chunk.
pub(super) struct ChunkClocks<'a> {
    pub all: &'a mut [PhaseClock],
    /// Seconds since the chunk's moment.
    elapsed: f64,
}

impl PhaseClock {
    const UNKNOWN: Self = Self {
        turn: 0,
        rate: 0.0,
        clip: UNKNOWN,
    };

    /// The clip and the turn in so many seconds after the chunk's moment; `None` if it is not known.
    #[inline(always)]
    pub fn after(self, seconds: f64) -> Option<(u16, u32)> {
        let passed = (seconds * f64::from(self.rate) * TURNS) as i64;
        (self.clip != UNKNOWN).then_some((self.clip, self.turn.wrapping_add(passed as u32)))
    }
}

impl PhaseClocks {
    pub fn resize(&mut self, instances: usize) {
        self.all.resize(instances, PhaseClock::UNKNOWN);
        self.origins.resize(instances.div_ceil(CHUNK), None);
    }

    /// Forgets the clocks of those that watch joints of their own.
    pub fn forget_watching(&mut self, pool: &Pool) {
        for (index, clock) in self.all.iter_mut().enumerate() {
            if pool.watch.watches_own(index) {
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
    /// The clocks of a chunk, with those that are too old or run the other way forgotten.
    pub fn new(
        number: usize,
        all: &'a mut [PhaseClock],
        origin: &mut Origin,
        clock: Clock,
    ) -> Self {
        // Not all chunks in one frame.
        let longest = LONGEST + (number % 64) as f64 * 8.0;
        let elapsed = match *origin {
            Some((from, sign)) if sign == clock.sign() => clock.since(from),
            _ => f64::INFINITY,
        };
        if elapsed <= longest {
            return Self { all, elapsed };
        }
        *origin = Some((clock.now(), clock.sign()));
        all.fill(PhaseClock::UNKNOWN);
        Self { all, elapsed: 0.0 }
    }

    /// Seconds since the chunk's moment.
    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// Makes the clock of an instance.
    pub fn set(&mut self, place: usize, steady: Steady) {
        let Steady { clip, share, rate } = steady;
        if clip == UNKNOWN || rate.abs() > FASTEST {
            return;
        }
        let rate = rate as f32;
        let passed = (self.elapsed * f64::from(rate) * TURNS) as i64;
        // The cast saturates: the end of a pass is the last turn.
        let turn = ((share * TURNS) as u32).wrapping_sub(passed as u32);
        self.all[place] = PhaseClock { turn, rate, clip };
    }
}

const _: () = assert!(size_of::<PhaseClock>() == 12);

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use super::*;
    use crate::crowd::{BoneBuffer, Crowd, PlayOptions, Sharing, Tier, Tiers};
    use crate::playback::LoopMode;
    use std::sync::Arc;

    /// Whatever calls and steps there are, a clock that is known is where the action is.
    #[test]
    fn clocks_are_those_of_the_actions() {
        let mut state = 7u32;
        let mut random = |n: usize| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) as usize % n
        };
        let mut crowd = Crowd::new();
        let rig = Arc::new(crate::import::mannequin().unwrap());
        let id = crowd.add_rig(rig.clone()).unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(id, 100, &mut all).unwrap();
        let tier = Tier {
            sharing: Sharing::Phases(64),
            ..Tier::default()
        };
        crowd
            .set_tiers(Some(Tiers {
                tiers: vec![tier],
                ..Tiers::default()
            }))
            .unwrap();
        let mut bones = BoneBuffer::new();
        let (mut known, mut turned) = (0, 0);
        for frame in 0..600 {
            for _ in 0..random(6) {
                let i = all[random(100)];
                let clip = crowd.clip_by_index(id, random(rig.clips().len())).unwrap();
                let speed = random(41) as f32 / 10.0 - 2.0;
                let modes = [LoopMode::Repeat, LoopMode::PingPong, LoopMode::Once];
                let options = PlayOptions {
                    speed,
                    loop_mode: modes[random(6) % 3 * random(2)],
                    time: random(100) as f64 * 0.01,
                    ..PlayOptions::default()
                };
                match random(8) {
                    0 => crowd.play(i, clip, &options).unwrap(),
                    1 => crowd.player(i).unwrap().set_character_speed(speed).unwrap(),
                    2 => crowd.player(i).unwrap().stop_all(0.0).unwrap(),
                    7 => crowd.player(i).unwrap().set_layer_speed(0, speed).unwrap(),
                    3 => crowd.set_visible(i, random(2) == 0).unwrap(),
                    _ => crowd.fade_to(i, clip, 0.2, &options).unwrap(),
                }
            }
            let step = match random(60) {
                0 => 5000.0,
                1 => 300.0,
                2 => 0.0,
                _ => 1.0 / 60.0,
            };
            let back = frame / 70 % 3 == 1;
            turned += usize::from(back);
            crowd.advance(if back { -step } else { step }).unwrap();
            if random(10) == 0 {
                // There and back: the clock is another one, though it runs the same way.
                crowd.advance(if back { 0.5 } else { -0.5 }).unwrap();
                crowd.advance(if back { -0.1 } else { 0.1 }).unwrap();
            }
            crowd.evaluate(&mut bones);
            let pool = crowd.pools[0].as_ref().unwrap();
            let clocks = &crowd.tiering.as_ref().unwrap().pools[0].clocks;
            let (from, sign) = clocks.origins[0].unwrap();
            let now = pool.state.clock();
            assert_eq!(sign, now.sign());
            for (index, clock) in clocks.all.iter().enumerate() {
                let Some((clip, turn)) = clock.after(now.since(from)) else {
                    continue;
                };
                let (found, time) = pool.plays_alone(index, 0.0).unwrap();
                assert_eq!(clip, found, "frame {frame}, instance {index}");
                if clip == NO_CLIP {
                    continue;
                }
                known += 1;
                let length = rig.clips()[usize::from(clip)].duration();
                let apart = (f64::from(turn) / TURNS - f64::from(time / length)).abs();
                let apart = apart.min(1.0 - apart);
                assert!(apart < 2e-4, "frame {frame}, instance {index}: {apart}");
            }
        }
        assert!(known > 15_000 && turned > 100, "{known} {turned}");
    }
}
