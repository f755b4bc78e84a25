//! Synchronisation: the time at which a clip must start to be in step with another clip.

use crate::clip::{Clip, Marker};
use crate::words::shorten;

/// How the second action of a crossfade is synchronised with the first when the fade begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync<'a> {
    /// No synchronisation.
    #[default]
    No,
    /// The second action starts at the same fraction of its duration.
    Phase,
    /// Markers of the same names match, such as foot contacts. If the first action is a third of the way from one marker
    /// to the next, the second starts a third of the way between its markers of those names. Only these names count; an
    /// empty list means all names that both clips have.
    Markers(&'a [&'a str]),
}

/// The way in which a crossfade hides the change from one action to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FadeKind {
    /// Both play, and their weights change linearly.
    #[default]
    Blend,
    /// The second action plays alone from the first frame. The offset of the pose that was shown against it, and the
    /// velocity of that offset, decay over the fade: movement goes on where it was, and one clip is evaluated.
    ///
    /// Offsets are of the layer's pose, before it is laid over the layers below, and before modifiers. They are found
    /// by the call, from the poses then and 1/60 s before, in which an offset that still decays takes part: a fade can be
    /// interrupted at any time. Rotations turn about one axis each, translations and scales go along one direction, scalars
    /// each by its own; of their velocities, what leads towards the second action counts, and shortens the fade of a
    /// joint to 5 × offset / velocity if that is sooner. The movement of root motion is not offset: it is that of the second
    /// action at once.
    ///
    /// [`Blend`](Self::Blend) is used instead if offsets of [`MAX_INERTIAL_BYTES`](super::MAX_INERTIAL_BYTES) already decay
    /// ([`inertial_refused`](crate::crowd::Crowd::inertial_refused) counts that), on an additive layer, if nothing on
    /// the layer has a weight, or if the weights of a layer that is [filled from below](super::Fill::Below) would change.
    ///
    /// D. Bollo, "Inertialization: High-Performance Animation Transitions in Gears of War", GDC 2018.
    Inertial,
}

/// Options of a crossfade from one action to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrossFade<'a> {
    /// Duration of the fade in seconds, ≥ 0. Default 0.
    pub seconds: f32,
    /// How the change is hidden. Default [`FadeKind::Blend`].
    pub kind: FadeKind,
    /// True to change both speeds over the fade, from the speed of the first clip to that of the second, so that a pass
    /// of either takes the same time: strides in phase stay in phase. Default `false`.
    pub warp: bool,
    /// How the second action is synchronised with the first. Default [`Sync::No`]. If the first action has been
    /// advanced, a second one that repeats without end does not fire the marker at which it starts, since the first has
    /// fired that.
    pub sync: Sync<'a>,
}

impl From<f32> for CrossFade<'_> {
    fn from(seconds: f32) -> Self {
        Self { seconds, ..Self::default() }
    }
}

/// The markers of a clip, its duration, and a time within it; both in seconds.
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
        let listed = names.is_empty() || names.contains(&m.name.as_str());
        listed && has(&from, &m.name) && has(&to, &m.name)
    };
    let time = |m: &Marker| f64::from(m.time);
    // Clips are treated as cycles: the last marker precedes the first.
    let mine = || from.markers.iter().filter(counts);
    let before = mine().rfind(|m| time(m) <= from.time);
    let after = mine().find(|m| time(m) > from.time);
    let (last, next) = (before.or(mine().next_back())?, after.or(mine().next())?);
    let since = (from.time - time(last)).rem_euclid(from.duration);
    let share = since / span(time(last), time(next), from.duration);
    // In the second clip: the earliest marker of that name whose follower matches too, else the earliest.
    let theirs = || to.markers.iter().filter(counts);
    let follower = |at: usize| theirs().nth(at + 1).or(theirs().next());
    let starts = || theirs().enumerate().filter(|(_, m)| m.name == last.name);
    let fits = |at: usize| follower(at).is_some_and(|m| m.name == next.name);
    let (at, start) = starts().find(|(at, _)| fits(*at)).or(starts().next())?;
    let end = follower(at)?;
    let there = time(start) + share * span(time(start), time(end), to.duration);
    Some(there.rem_euclid(to.duration))
}

/// The most markers of each clip that a message names.
const NAMED: usize = 4;

/// Text that says which of the named markers each clip lacks; without names, which markers each has.
pub(super) fn lacking(clips: [&Clip; 2], names: &[&str]) -> String {
    let quoted = |names: &[&str]| {
        let some = names.iter().take(NAMED);
        let some: Vec<String> = some.map(|n| format!("\"{}\"", shorten(n))).collect();
        match names.len().saturating_sub(NAMED) {
            0 => some.join(", "),
            more => format!("{} and {more} more", some.join(", ")),
        }
    };
    let each = clips.map(|clip| {
        let has = |name: &&str| clip.markers().iter().any(|m| m.name == **name);
        let (verb, mut list) = match names {
            [] => {
                let own = clip.markers().iter();
                ("has", own.map(|m| m.name.as_str()).collect::<Vec<_>>())
            }
            _ => {
                let missing = names.iter().filter(|name| !has(name));
                ("lacks", missing.copied().collect())
            }
        };
        list.dedup();
        let list = match (list.is_empty(), names.is_empty()) {
            (true, false) => return None,
            (true, true) => "none".into(),
            (false, _) => quoted(&list),
        };
        Some(format!("\"{}\" {verb} {list}", shorten(clip.name())))
    });
    each.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Time from one marker to the next in a cycle; from a marker to itself, one full cycle.
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
            let from = Beat { markers, duration, time };
            let (markers, duration) = (&run[..], 0.75);
            let to = Beat { markers, duration, time: 0.0 };
            in_step(from, to, names)
        };
        let near = |time, want: f64| {
            let have = at(time, &[]).unwrap();
            assert!((have - want).abs() < 1e-9, "{time}: {have} {want}");
        };
        near(0.0, 0.25);
        near(0.25, 0.375);
        near(0.5, 0.5);
        // Halfway from right to left, across the end.
        near(0.75, 0.0);
        assert_eq!(at(0.0, &["whistle"]), None);
        let alone = at(0.1, &["left"]).unwrap();
        assert!((alone - (0.25 + 0.075)).abs() < 1e-9);
    }
}
