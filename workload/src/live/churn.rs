//! Churn: in each frame some characters begin a crossfade to another clip.

use super::crowds::{Playing, clips_of, pick};
use super::scene::{Around, LiveError};
use crate::hash01;
use phalanx::crowd::{ClipId, Crowd, PlayOptions};
use phalanx::rig::Rig;
use std::sync::Arc;

/// The share of characters that begin a crossfade in a frame.
pub const CHURN_SHARE: f64 = 0.02;
/// Duration of a crossfade, in seconds.
pub const FADE_SECONDS: f32 = 0.3;

/// A crowd of which [`CHURN_SHARE`] begin a crossfade in each frame: which ones, to which clip and at what time of it
/// is pseudo-random and the same in every run.
#[derive(Debug)]
pub struct Churn {
    playing: Playing,
    /// With their durations.
    clips: Vec<(ClipId, f64)>,
    fades: usize,
    /// Number of crossfades so far.
    begun: u64,
}

impl Churn {
    /// `count` characters that play random clips of a library at random times.
    ///
    /// # Errors
    /// If the crowd rejects the rig.
    pub fn new(library: Arc<Rig>, count: usize) -> Result<Self, LiveError> {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(library)?;
        let clips = clips_of(&crowd, rig)?;
        for i in 0..count as u64 {
            let instance = crowd.spawn(rig)?;
            if clips.is_empty() {
                continue;
            }
            let (clip, duration) = clips[pick(SPAWN + i * 2, clips.len())];
            let options = PlayOptions {
                time: hash01(SPAWN + i * 2 + 1) * duration,
                ..PlayOptions::default()
            };
            crowd.play(instance, clip, &options)?;
        }
        Ok(Self {
            playing: Playing::new(crowd)?,
            clips,
            fades: ((count as f64 * CHURN_SHARE).round() as usize).max(1),
            begun: 0,
        })
    }
}

/// A crossfade that begins: one of [`Churn::fade`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChurnFade {
    /// The character, in palette order.
    pub character: usize,
    /// Index of the clip that it fades to.
    pub clip: usize,
    /// The time at which the clip begins, as a share of its duration.
    pub phase: f64,
}

impl Churn {
    /// The `n`-th crossfade of `characters` characters that play `clips` clips, from 0. Another library that is
    /// measured beside a crowd begins the same ones.
    pub fn fade(n: u64, characters: usize, clips: usize) -> ChurnFade {
        let seed = n * 3;
        ChurnFade {
            character: pick(seed, characters),
            clip: pick(seed + 1, clips),
            phase: hash01(seed + 2),
        }
    }

    /// Number of crossfades that begin in a frame.
    pub fn fades(&self) -> usize {
        self.fades
    }

    /// The crowd.
    pub fn crowd(&self) -> &Playing {
        &self.playing
    }
}

/// First seed of the clips that characters begin with. The seeds of crossfades count from zero.
const SPAWN: u64 = 1 << 48;

impl Around for Churn {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        for _ in 0..self.fades {
            let instances = &self.playing.instances;
            let fade = Self::fade(self.begun, instances.len(), self.clips.len());
            self.begun += 1;
            let (Some(&instance), Some(&(clip, duration))) =
                (instances.get(fade.character), self.clips.get(fade.clip))
            else {
                return Ok(());
            };
            let options = PlayOptions { time: fade.phase * duration, ..PlayOptions::default() };
            let crowd = &mut self.playing.crowd;
            crowd.fade_to(instance, clip, FADE_SECONDS, &options)?;
        }
        Ok(())
    }
}
