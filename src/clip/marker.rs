//! `Marker`: a named time of a clip.

use super::clip_data::Clip;
use crate::error::BuildError;

/// Limit on the markers of a clip: events store 16-bit marker indices.
pub const MAX_MARKERS: usize = u16::MAX as usize;

/// A named time in a clip, such as a footstep or the moment a blow lands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    /// Name; several markers may share it.
    pub name: String,
    /// Clip time in seconds, in [0, duration].
    pub time: f32,
}

impl Marker {
    /// Makes a marker; the time is checked when it is added to a clip.
    pub fn new(name: impl Into<String>, time: f32) -> Self {
        Self { name: name.into(), time }
    }
}

/// Checks markers and sorts them by time; markers at equal times keep their order.
pub(super) fn sorted(
    mut markers: Vec<Marker>,
    clip: &str,
    duration: f32,
) -> Result<Vec<Marker>, BuildError> {
    if markers.len() > MAX_MARKERS {
        let count = markers.len();
        let what = format!("{count} markers");
        return Err(BuildError::clip_limit(clip, what, count, MAX_MARKERS));
    }
    let within = |m: &&Marker| !(0.0..=duration).contains(&m.time);
    if let Some(bad) = markers.iter().find(within) {
        return Err(BuildError::Marker {
            clip: clip.to_owned(),
            marker: bad.name.clone(),
            time: bad.time,
            duration,
        });
    }
    // This turns −0.0 into 0.0, which `total_cmp` distinguishes.
    markers.iter_mut().for_each(|m| m.time += 0.0);
    markers.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(markers)
}

impl Clip {
    /// Replaces all markers of the clip.
    ///
    /// # Errors
    /// If a time is outside [0, duration], or there are more than 65,535.
    pub fn with_markers(mut self, markers: Vec<Marker>) -> Result<Self, BuildError> {
        self.markers = sorted(markers, &self.name, self.duration)?;
        Ok(self)
    }

    /// The markers, sorted by time.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }
}
