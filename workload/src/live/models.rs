//! `Models`: the rigs of all cases, made from one rig when they are first needed.

use super::cubic::cubic_clips;
use super::library::library;
use super::long_clips::long_clips;
use super::poses::ClipSource;
use super::scene::LiveError;
use super::springs::haired;
use crate::WorkloadClips;
use phalanx::rig::Rig;
use std::collections::HashMap;
use std::sync::Arc;

/// The key of a derived rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Made {
    Library(usize),
    Copy(usize),
    Long(u32),
    Cubic(bool),
    Haired,
}

/// A rig, the clips of its workloads, and the rigs that were made from it so far.
#[derive(Debug)]
pub struct Models {
    source: ClipSource,
    clips: WorkloadClips,
    made: HashMap<Made, Arc<Rig>>,
}

impl Models {
    /// Takes over a rig and the clips of its workloads.
    pub fn new(rig: &Arc<Rig>, clips: &WorkloadClips) -> Self {
        Self { source: ClipSource::new(rig), clips: clips.clone(), made: HashMap::new() }
    }

    /// The rig itself.
    pub fn rig(&self) -> &Arc<Rig> {
        self.source.rig()
    }

    /// The clips of its workloads.
    pub fn clips(&self) -> &WorkloadClips {
        &self.clips
    }

    /// A rig of `clips` clips: see [`library`](super::library()).
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn library(&mut self, clips: usize) -> Result<Arc<Rig>, LiveError> {
        let bases = self.clips.clips;
        self.get(Made::Library(clips), |source| library(source, &bases, clips))
    }

    /// Rigs of the same joints and the three clips. Each is built separately: they share no memory.
    ///
    /// # Errors
    /// If they cannot be built.
    pub fn copies(&mut self, count: usize) -> Result<Vec<Arc<Rig>>, LiveError> {
        let clips = self.clips.clips;
        let build = |source: &ClipSource| {
            let raw = source.raw_clips();
            let clips = clips.iter().map(|&clip| {
                raw.get(clip).cloned().ok_or(LiveError::Clip { clip, clips: raw.len() })
            });
            source.build(clips.collect::<Result<_, _>>()?)
        };
        (0..count).map(|copy| self.get(Made::Copy(copy), build)).collect()
    }

    /// A rig of three clips of `seconds` seconds: see [`long_clips`](super::long_clips()).
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn long(&mut self, seconds: u32) -> Result<Arc<Rig>, LiveError> {
        let bases = self.clips.clips;
        self.get(Made::Long(seconds), |source| long_clips(source, &bases, seconds.into()))
    }

    /// A rig of three cubic splines: see [`cubic_clips`](super::cubic_clips()).
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn cubic(&mut self, noise: bool) -> Result<Arc<Rig>, LiveError> {
        let bases = self.clips.clips;
        self.get(Made::Cubic(noise), |source| cubic_clips(source, &bases, noise))
    }

    /// The rig with chains of hair.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn haired(&mut self) -> Result<Arc<Rig>, LiveError> {
        self.get(Made::Haired, haired)
    }

    /// Drops the rigs that were made.
    pub fn clear(&mut self) {
        self.made.clear();
    }

    fn get(
        &mut self,
        which: Made,
        build: impl FnOnce(&ClipSource) -> Result<Rig, LiveError>,
    ) -> Result<Arc<Rig>, LiveError> {
        if let Some(rig) = self.made.get(&which) {
            return Ok(rig.clone());
        }
        let rig = Arc::new(build(&self.source)?);
        self.made.insert(which, rig.clone());
        Ok(rig)
    }
}
