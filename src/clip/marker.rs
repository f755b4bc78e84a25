//! `Marker`: a named time of a clip.

use super::clip_data::Clip;
use super::error::ClipError;

/// The most markers of one clip: events name them by 16 bits.
pub const MAX_MARKERS: usize = u16::MAX as usize;

/// A named time of a clip: a footstep, the moment a blow lands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    /// Its name; several markers may share one.
    pub name: String,
    /// Seconds, in [0, duration].
    pub time: f32,
}

impl Marker {
    /// A marker.
    pub fn new(name: impl Into<String>, time: f32) -> Self {
        Self {
            name: name.into(),
            time,
        }
    }
}

/// Sorts markers by time (those of one time keep their order) after checking them.
pub(super) fn sorted(
    mut markers: Vec<Marker>,
    clip: &str,
    duration: f32,
) -> Result<Vec<Marker>, ClipError> {
    if markers.len() > MAX_MARKERS {
        return Err(ClipError::TooManyMarkers {
            clip: clip.to_owned(),
            count: markers.len(),
        });
    }
    let within = |m: &&Marker| !(0.0..=duration).contains(&m.time);
    if let Some(bad) = markers.iter().find(within) {
        return Err(ClipError::Marker {
            clip: clip.to_owned(),
            marker: bad.name.clone(),
            time: bad.time,
            duration,
        });
    }
    // −0.0 and 0.0 are one time.
    markers.iter_mut().for_each(|m| m.time += 0.0);
    markers.sort_by(|a, b| a.time.total_cmp(&b.time));
    Ok(markers)
}

impl Clip {
    /// The clip with these markers in place of those it has.
    ///
    /// # Errors
    /// If a time lies outside [0, duration], or there are more than [`MAX_MARKERS`].
    pub fn with_markers(mut self, markers: Vec<Marker>) -> Result<Self, ClipError> {
        self.markers = sorted(markers, &self.name, self.duration)?;
        Ok(self)
    }

    /// Its markers, by time.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }
}
