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
            let seed = self.begun * 3;
            self.begun += 1;
            let instance = pick(seed, self.playing.instances.len());
            let clip = self.clips.get(pick(seed + 1, self.clips.len()));
            let (Some(&instance), Some(&(clip, duration))) =
                (self.playing.instances.get(instance), clip)
            else {
                return Ok(());
            };
            let options =
                PlayOptions { time: hash01(seed + 2) * duration, ..PlayOptions::default() };
            let crowd = &mut self.playing.crowd;
            crowd.fade_to(instance, clip, FADE_SECONDS, &options)?;
        }
        Ok(())
    }
}
