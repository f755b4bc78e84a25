//! Many rigs in one crowd, and many mixers of one rig.

use super::crowds::Playing;
use super::scene::{Around, FRAME, LiveError, Scene};
use crate::hash01;
use phalanx::crowd::{Crowd, PlayOptions};
use phalanx::playback::Mixer;
use phalanx::rig::Rig;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::sync::Arc;

/// A crowd of several rigs with equally many characters each.
#[derive(Debug)]
pub struct ManyRigs(Playing);

impl ManyRigs {
    /// `each` characters of every rig; character i plays clip i of its rig, counted round.
    ///
    /// # Errors
    /// If the crowd rejects a rig.
    pub fn new(rigs: &[Arc<Rig>], each: usize) -> Result<Self, LiveError> {
        let mut crowd = Crowd::new();
        for (r, rig) in rigs.iter().enumerate() {
            let clips = rig.clips().len();
            let id = crowd.add_rig(rig.clone())?;
            for i in 0..each {
                let instance = crowd.spawn(id)?;
                let Some(clip) = crowd.clip_by_index(id, i % clips.max(1)) else {
                    continue;
                };
                let duration = f64::from(crowd.clip(clip)?.duration());
                let options = PlayOptions {
                    time: hash01((r * each + i) as u64 * 4) * duration,
                    ..PlayOptions::default()
                };
                crowd.play(instance, clip, &options)?;
            }
        }
        Ok(Self(Playing::new(crowd)?))
    }
}

impl Around for ManyRigs {
    fn playing(&self) -> &Playing {
        &self.0
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.0
    }
}

/// Mixers of one rig, evaluated one after another, as engines do that keep one per character.
#[derive(Debug)]
pub struct Mixers(Vec<Mixer>);

impl Mixers {
    /// `count` mixers that play the clips of C1 at the times of C1.
    ///
    /// # Errors
    /// If a mixer rejects the rig or a clip.
    pub fn new(rig: &Arc<Rig>, clips: [usize; 3], count: usize) -> Result<Self, LiveError> {
        let mut mixers = Vec::with_capacity(count);
        for i in 0..count {
            let mut mixer = Mixer::new(rig.clone())?;
            let clip = clips[i % 3];
            let clip = mixer
                .clip_by_index(clip)
                .ok_or(LiveError::Clip { clip, clips: rig.clips().len() })?;
            let duration = f64::from(mixer.clip(clip)?.duration());
            let options =
                PlayOptions { time: hash01(i as u64 * 4) * duration, ..PlayOptions::default() };
            mixer.player().play(0, clip, &options)?;
            mixers.push(mixer);
        }
        Ok(Self(mixers))
    }
}

impl Scene for Mixers {
    fn characters(&self) -> usize {
        self.0.len()
    }

    fn advance(&mut self) -> Result<(), LiveError> {
        for mixer in &mut self.0 {
            mixer.advance(FRAME)?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<(), LiveError> {
        for mixer in &mut self.0 {
            black_box(mixer.evaluate());
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        for row in self.0.iter().flat_map(Mixer::palette) {
            row.rows.iter().flatten().for_each(|&v| hash.write_u32(v.to_bits()));
        }
        hash.finish()
    }
}
