//! The stored form of a mixer: that of its pool.

use super::super::error::PlaybackError;
use super::bytes::{Kind, Reader, Writer};
use super::{MixerSnapshot, PoolSnapshot};

impl MixerSnapshot {
    /// The snapshot as bytes, for files and other processes. FORMAT.md specifies every byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::new(Kind::Mixer);
        self.pool.write(&mut w);
        w.finish()
    }

    /// Reads the bytes that [`to_bytes`](Self::to_bytes) made. The bytes may come from anywhere: every number is
    /// checked, and memory is at most [`SNAPSHOT_MEMORY_PER_BYTE`](super::SNAPSHOT_MEMORY_PER_BYTE) times the bytes.
    /// [`Mixer::restore`](crate::playback::Mixer::restore) checks whether the snapshot fits a mixer.
    ///
    /// # Errors
    /// If the bytes are not a snapshot of a mixer, or are of another version, cut, changed, or contradictory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PlaybackError> {
        let mut r = Reader::new(bytes, Kind::Mixer)?;
        let pool = PoolSnapshot::read(&mut r)?;
        let only = pool.state.len() == 1 && pool.state.count_alive() == 1;
        r.needs(only, "a mixer has one instance")?;
        r.finish()?;
        Ok(Self { pool })
    }
}

impl PartialEq for MixerSnapshot {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}
