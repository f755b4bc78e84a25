//! The interval rule: which events a time interval fires, in order.

use super::events::{EventKinds, MAX_EVENTS_PER_ACTION};
use super::interval::{Loop, Playhead, TimeInterval};
use crate::clip::Marker;

/// An event that a time interval fires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fired {
    Marker(usize),
    /// A pass ended at its end (backwards: at its start). Holds the number of the pass.
    Looped(f64),
    Finished,
}

/// A bound of an interval, and whether the interval includes it.
type End = (f64, bool);

/// The markers of a clip under a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timetable<'a> {
    pub course: &'a Loop,
    pub markers: &'a [Marker],
    /// Duration of the clip in seconds. In a blend space, whose loop has length 1, marker times become phases.
    pub seconds: f64,
}

impl Timetable<'_> {
    /// The time within a pass at which a marker is passed.
    fn local(&self, marker: &Marker, mirrored: bool) -> f64 {
        let (time, length) = (f64::from(marker.time), self.course.length);
        let time = if length == self.seconds {
            time
        } else if self.seconds > 0.0 {
            time / self.seconds * length
        } else {
            0.0
        };
        if mirrored { length - time } else { time }
    }

    /// The markers of a pass between two bounds.
    fn range(&self, pass: f64, low: End, high: End) -> std::ops::Range<usize> {
        let before = |t: f64| t < low.0 || (t == low.0 && !low.1);
        let after = |t: f64| t > high.0 || (t == high.0 && !high.1);
        let m = self.markers;
        let (first, end) = if self.course.mirrored(pass) {
            let local = |m: &Marker| self.local(m, true);
            let first = m.partition_point(|m| after(local(m)));
            (first, m.partition_point(|m| !before(local(m))))
        } else {
            let local = |m: &Marker| self.local(m, false);
            let first = m.partition_point(|m| before(local(m)));
            (first, m.partition_point(|m| !after(local(m))))
        };
        first..end.max(first)
    }

    /// The times of the nearest marker at or before the playhead and of the nearest one after it, within the pass.
    pub fn around(&self, playhead: Playhead) -> (Option<f64>, Option<f64>) {
        let mirrored = self.course.mirrored(playhead.pass);
        let local = |i: usize| self.markers.get(i).map(|m| self.local(m, mirrored));
        let (now, end) = ((playhead.time, true), (f64::INFINITY, true));
        let up_to = self.range(playhead.pass, (f64::NEG_INFINITY, true), now);
        let after = self.range(playhead.pass, (playhead.time, false), end);
        let (last, next) = if mirrored {
            (up_to.start, after.end.wrapping_sub(1))
        } else {
            (up_to.end.wrapping_sub(1), after.start)
        };
        let last = local(last).filter(|_| !up_to.is_empty());
        (last, local(next).filter(|_| !after.is_empty()))
    }

    /// The distance from a playhead to the next marker in a direction. If neither this pass nor the next has one, less.
    pub fn distance(&self, playhead: Playhead, backwards: bool) -> f64 {
        let length = self.course.length;
        let (last, next) = self.around(playhead);
        let here = match backwards {
            true => last.map(|last| playhead.time - last),
            false => next.map(|next| next - playhead.time),
        };
        if let Some(distance) = here {
            return distance;
        }
        let (step, to_end, start) = match backwards {
            true => (-1.0, playhead.time, length),
            false => (1.0, length - playhead.time, 0.0),
        };
        // A marker at the boundary of two passes may belong to either.
        let start = Playhead { pass: playhead.pass + step, time: start };
        let (last, next) = self.around(start);
        let there = match backwards {
            true => last.map(|last| length - last),
            false => last.or(next),
        };
        to_end + there.unwrap_or(0.0)
    }

    /// Fires the events of these kinds in an interval, each with its distance from the interval's start. Returns how
    /// many were dropped.
    pub fn fire(
        &self,
        interval: &TimeInterval,
        kinds: EventKinds,
        emit: impl FnMut(Fired, f64),
    ) -> u64 {
        let mut line = Line {
            table: self,
            start: interval.from,
            backwards: interval.backwards,
            kinds,
            room: MAX_EVENTS_PER_ACTION,
            dropped: 0.0,
            emit,
        };
        line.run(interval);
        if kinds.finishes && interval.finished {
            line.send(Fired::Finished, interval.to);
        }
        line.dropped as u64
    }
}

/// Emits the events of one interval, up to [`MAX_EVENTS_PER_ACTION`].
struct Line<'a, F> {
    table: &'a Timetable<'a>,
    start: Playhead,
    backwards: bool,
    kinds: EventKinds,
    room: usize,
    dropped: f64,
    emit: F,
}

impl<F: FnMut(Fired, f64)> Line<'_, F> {
    fn send(&mut self, fired: Fired, at: Playhead) {
        if self.room > 0 {
            self.room -= 1;
            (self.emit)(fired, self.table.course.distance(self.start, at));
        } else {
            self.dropped += 1.0;
        }
    }

    /// The markers between two bounds of a pass; none if markers are not collected.
    fn markers(&self, pass: f64, low: End, high: End) -> std::ops::Range<usize> {
        if self.kinds.markers { self.table.range(pass, low, high) } else { 0..0 }
    }

    /// Fires the markers between two bounds of a pass.
    fn part(&mut self, pass: f64, low: End, high: End) {
        let range = self.markers(pass, low, high);
        let late = range.len().saturating_sub(self.room);
        self.dropped += late as f64;
        // In passes that run forwards in the clip, markers are in order of time.
        let mirrored = self.table.course.mirrored(pass);
        for i in 0..range.len() - late {
            let marker = match mirrored == self.backwards {
                true => range.start + i,
                false => range.end - 1 - i,
            };
            let time = self.table.local(&self.table.markers[marker], mirrored);
            self.send(Fired::Marker(marker), Playhead { pass, time });
        }
    }

    fn looped(&mut self, pass: f64) {
        if self.kinds.loops {
            let time = match self.backwards {
                true => 0.0,
                false => self.table.course.length,
            };
            self.send(Fired::Looped(pass), Playhead { pass, time });
        }
    }

    fn run(&mut self, interval: &TimeInterval) {
        let course = self.table.course;
        let end = (course.length, true);
        // A marker at a ping-pong turn belongs to the pass that ends there.
        let start = (0.0, !course.ping_pong);
        let step = if self.backwards { -1.0 } else { 1.0 };
        let (mut from, mut to) = (interval.from, interval.to);
        let mut first = (from.time, interval.closed);
        if self.backwards {
            // Backwards, the boundary of two passes counts as the end of the earlier one.
            let below = |p: Playhead| p.time == 0.0 && (p.pass > 0.0 || !course.bounded());
            if below(from) {
                if interval.closed {
                    self.part(from.pass, (0.0, true), (0.0, true));
                }
                (from.pass, first) = (from.pass - 1.0, (course.length, false));
            }
            if below(to) {
                (to.pass, to.time) = (to.pass - 1.0, course.length);
            }
        }
        let last = (to.time, true);
        let crossed = (to.pass - from.pass).abs();
        let mut pass = from.pass;
        if crossed < 1.0 {
            let (low, high) = if self.backwards { (last, first) } else { (first, last) };
            return self.part(pass, low, high);
        }
        let (low, high) = if self.backwards { (start, first) } else { (first, end) };
        self.part(pass, low, high);
        self.looped(pass);
        // Whole passes. Of two in a row at least one has an event, or no pass has any: the loop ends after the limit.
        let mut whole = crossed - 1.0;
        for _ in 0..2 * MAX_EVENTS_PER_ACTION + 2 {
            if whole < 1.0 {
                break;
            }
            (pass, whole) = (pass + step, whole - 1.0);
            self.part(pass, start, end);
            self.looped(pass);
        }
        let two = [0.0, 1.0].map(|p| self.markers(p, start, end).len() as f64);
        self.dropped += whole * (0.5 * (two[0] + two[1]) + f64::from(u8::from(self.kinds.loops)));
        let (low, high) = if self.backwards { (last, end) } else { (start, last) };
        self.part(to.pass, low, high);
    }
}
