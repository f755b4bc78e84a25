//! Where a clip has to start so that it is in step with another.

use crate::clip::Marker;

/// How the second action of a crossfade is put in step with the first when the fade begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync<'a> {
    /// Not at all.
    #[default]
    No,
    /// By the share of the clip that lies behind.
    Phase,
    /// By markers of the same names (foot contacts, say): it starts as far between two markers as the
    /// first one is between its own of those names. Of these names only; none given: all that both have.
    Markers(&'a [&'a str]),
}

/// How one action gives way to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossFade<'a> {
    /// Of the fade.
    pub seconds: f32,
    /// Whether both speeds run, over the fade, from what suits the first clip to what suits the second,
    /// so that both clips take the same time: strides of the same phase stay together.
    pub warp: bool,
    /// Whether the second is put in step.
    pub sync: Sync<'a>,
}

impl From<f32> for CrossFade<'_> {
    fn from(seconds: f32) -> Self {
        Self {
            seconds,
            ..Self::default()
        }
    }
}

/// The markers of a clip, its duration, and a time in it, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat<'a> {
    pub markers: &'a [Marker],
    pub duration: f64,
    pub time: f64,
}

/// The time in `to` that is in step with `from` by markers; `None` if they share none.
pub(super) fn in_step(from: Beat<'_>, to: Beat<'_>, names: &[&str]) -> Option<f64> {
    let has = |beat: &Beat<'_>, name: &str| beat.markers.iter().any(|m| m.name == name);
    let counts = |m: &&Marker| {
        let asked = names.is_empty() || names.contains(&m.name.as_str());
        asked && has(&from, &m.name) && has(&to, &m.name)
    };
    let time = |m: &Marker| f64::from(m.time);
    // Clips are taken as circles here: before the first marker lies the last.
    let mine = || from.markers.iter().filter(counts);
    let before = mine().rfind(|m| time(m) <= from.time);
    let after = mine().find(|m| time(m) > from.time);
    let (last, next) = (before.or(mine().next_back())?, after.or(mine().next())?);
    let since = (from.time - time(last)).rem_euclid(from.duration);
    let share = since / span(time(last), time(next), from.duration);
    // Of the places where the second marker follows the first, the earliest.
    let theirs = || to.markers.iter().filter(counts);
    let follower = |at: usize| theirs().nth(at + 1).or(theirs().next());
    let starts = || theirs().enumerate().filter(|(_, m)| m.name == last.name);
    let fits = |at: usize| follower(at).is_some_and(|m| m.name == next.name);
    let (at, start) = starts().find(|(at, _)| fits(*at)).or(starts().next())?;
    let end = follower(at)?;
    let there = time(start) + share * span(time(start), time(end), to.duration);
    Some(there.rem_euclid(to.duration))
}

/// From one marker to the next on a circle; one marker alone is a whole turn apart from itself.
fn span(from: f64, to: f64, duration: f64) -> f64 {
    let span = (to - from).rem_euclid(duration);
    if span > 0.0 { span } else { duration }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_markers_correspond() {
        let list = |markers: &[(&str, f32)]| -> Vec<Marker> {
            markers.iter().map(|&(n, t)| Marker::new(n, t)).collect()
        };
        let walk = list(&[("left", 0.0), ("whistle", 0.3), ("right", 0.5)]);
        let run = list(&[("left", 0.25), ("right", 0.5)]);
        let at = |time, names: &[&str]| {
            let (markers, duration) = (&walk[..], 1.0);
            let from = Beat {
                markers,
                duration,
                time,
            };
            let (markers, duration) = (&run[..], 0.75);
            let to = Beat {
                markers,
                duration,
                time: 0.0,
            };
            in_step(from, to, names)
        };
        let near = |time, want: f64| {
            let have = at(time, &[]).unwrap();
            assert!((have - want).abs() < 1e-9, "{time}: {have} {want}");
        };
        near(0.0, 0.25);
        near(0.25, 0.375);
        near(0.5, 0.5);
        // Half-way from right to left, over the end.
        near(0.75, 0.0);
        assert_eq!(at(0.0, &["whistle"]), None);
        let alone = at(0.1, &["left"]).unwrap();
        assert!((alone - (0.25 + 0.075)).abs() < 1e-9);
    }
}
