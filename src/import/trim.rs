//! Clips that begin late: the time of their first key, and cutting what is before it.

use crate::clip::Marker;
use crate::raw::RawScene;

impl RawScene {
    /// The time of a clip's first key in seconds, of all its tracks and user channels; `None` if it has no keys.
    ///
    /// Before that time a clip holds its first pose. Exporters that count frames from 1 begin a frame late.
    pub fn first_key(&self, clip: usize) -> Option<f32> {
        let clip = self.clips.get(clip).into_iter();
        let tracks = clip.flat_map(|c| c.tracks.iter().chain(&c.user_tracks));
        tracks.filter_map(|t| t.times.first().copied()).reduce(f32::min)
    }

    /// Cuts every clip that begins late: its keys and markers move so that the first key is at 0, and
    /// [`RawClip::trimmed`](crate::raw::RawClip::trimmed) grows by the time that was cut. Markers before the first key
    /// move to 0. Times in `extras` do not change.
    ///
    /// The difference of two times is rounded once, to f32; keys keep their order and stay distinct.
    ///
    /// ```
    /// use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
    ///
    /// let track = RawTrack {
    ///     node: 0,
    ///     channel: RawChannel::Translation,
    ///     interpolation: Interpolation::Linear,
    ///     times: vec![1.0, 1.5],
    ///     values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    /// };
    /// let clip = RawClip { duration: 1.5, tracks: vec![track], ..RawClip::default() };
    /// let mut scene = RawScene {
    ///     nodes: vec![RawNode::default()],
    ///     clips: vec![clip],
    ///     ..RawScene::default()
    /// };
    /// scene.trim_clips();
    /// assert_eq!(scene.clips[0].tracks[0].times, [0.0, 0.5]);
    /// assert_eq!((scene.clips[0].duration, scene.clips[0].trimmed), (0.5, 1.0));
    /// ```
    pub fn trim_clips(&mut self) {
        for clip in 0..self.clips.len() {
            match self.first_key(clip) {
                Some(first) if first > 0.0 && first.is_finite() => self.trim(clip, first),
                _ => {}
            }
        }
    }

    fn trim(&mut self, clip: usize, first: f32) {
        let c = &mut self.clips[clip];
        let mut last = 0.0f32;
        for track in c.tracks.iter_mut().chain(&mut c.user_tracks) {
            shift(&mut track.times, first);
            last = track.times.last().copied().unwrap_or(0.0).max(last);
        }
        let duration = earlier(c.duration, first).max(last);
        let inside = |m: &&mut Marker| (0.0..=c.duration).contains(&m.time);
        for marker in c.markers.iter_mut().filter(inside) {
            trim_marker(marker, first);
            marker.time = marker.time.min(duration);
        }
        c.duration = duration;
        c.trimmed += first;
    }
}

/// A time less another, rounded once; not below 0.
pub(crate) fn earlier(time: f32, first: f32) -> f32 {
    (f64::from(time) - f64::from(first)).max(0.0) as f32
}

/// Moves key times; neighbours that would round to one time are kept one step of f32 apart.
pub(crate) fn shift(times: &mut [f32], first: f32) {
    let mut previous: Option<f32> = None;
    for time in times {
        let moved = earlier(*time, first);
        let moved = previous.map_or(moved, |p| if moved > p { moved } else { p.next_up() });
        *time = moved;
        previous = Some(moved);
    }
}

/// Moves a marker of a clip whose first `cut` seconds were cut; a marker before the cut moves to 0. A time outside the
/// clip does not change, so that a later check refuses it.
pub(crate) fn trim_marker(marker: &mut Marker, cut: f32) {
    if marker.time >= 0.0 && marker.time.is_finite() {
        marker.time = earlier(marker.time, cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_round_to_one_stay_apart() {
        // Ties: 1 + 2 and 1 + 3 steps, less half a step, both round to an even number of steps.
        let step = f32::EPSILON;
        let mut times = [step / 2.0, 1.0 + 2.0 * step, 1.0 + 3.0 * step];
        let first = times[0];
        shift(&mut times, first);
        assert_eq!(times[0], 0.0);
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    }

    #[test]
    fn markers_that_no_clip_has_stay_as_they_are() {
        let mut markers = [-1.0, 0.5, 2.0, f32::INFINITY].map(|t| Marker::new("m", t));
        markers.iter_mut().for_each(|m| trim_marker(m, 1.0));
        let times = markers.map(|m| m.time);
        assert_eq!(times, [-1.0, 0.0, 1.0, f32::INFINITY]);
    }
}
