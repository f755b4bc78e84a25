//! `EventSink`: turns the time intervals of an advancing pool into events.

use super::action::Action;
use super::arena::Arena;
use super::events::{Event, EventKind, EventKinds, Events};
use super::fire::{Fired, Timetable};
use super::ids::{ClipId, InstanceId, Owner};
use super::interval::{Loop, before};
use super::lead::{Contender, Passage, leader};
use super::motions::Motions;
use crate::clip::Clip;
use std::sync::Arc;

/// The clips of a pool.
pub(crate) type Clips = Arena<Arc<Clip>>;

/// Receives the events of one entry and labels them with its instance and layer.
pub(crate) struct EventSink<'a> {
    pub motions: &'a Motions,
    pub events: &'a mut Events,
    /// The kinds of events that are collected.
    pub kinds: EventKinds,
    pub owner: Owner,
    pub instance: InstanceId,
    pub layer: usize,
    pub layer_weight: f32,
}

/// The seconds for which an action passes no event of these kinds, from `since` seconds after its anchor on. The end of
/// its last pass is left out, since the entry is visited then in any case. All rounding of the times in between is
/// allowed for.
pub(crate) fn silence(motions: &Motions, kinds: EventKinds, action: &Action, since: f64) -> f64 {
    let rate = action.rate();
    if rate == 0.0 || !(kinds.markers || kinds.loops) {
        return f64::INFINITY;
    }
    let (course, playhead, backwards) = (action.course(), action.playhead_after(since), rate < 0.0);
    let mut distance = f64::INFINITY;
    if kinds.loops {
        distance = match backwards {
            true => playhead.time,
            false => course.length - playhead.time,
        };
    }
    for &(clip, _) in motions.members(action).all() {
        if kinds.markers
            && let Some(table) = timetable(&motions.clips, clip, &course)
            && !table.markers.is_empty()
        {
            distance = distance.min(table.distance(playhead, backwards));
        }
    }
    // No distance is longer than two passes.
    let reach = since * rate.abs() + 3.0 * course.length;
    before(distance, reach, rate)
}

fn timetable<'a>(clips: &'a Clips, clip: u16, course: &'a Loop) -> Option<Timetable<'a>> {
    let clip = clips.get(clip)?;
    Some(Timetable { course, markers: clip.markers(), seconds: f64::from(clip.duration()) })
}

impl EventSink<'_> {
    /// Fires the events that action `a` of a layer passes, and that it stops.
    pub fn emit(&mut self, layer: &[Contender], a: usize, passage: Option<&Passage>) {
        let stops = self.kinds.stops && layer[a].until < f64::INFINITY;
        if self.kinds == EventKinds::NONE || passage.is_none() && !stops {
            return;
        }
        let (action, motions) = (&layer[a].action, self.motions);
        let members = motions.members(action);
        let course = action.course();
        let weight = action.weight.value() * self.layer_weight;
        // Events of the whole action fire once, for the clip of the greatest weight.
        let heaviest = members.heaviest();
        if let Some(passage) = passage {
            for (member, &(clip, share)) in members.all().iter().enumerate() {
                let leads = |seconds| leader(motions, layer, seconds) == Some((a, member));
                let ends = member == heaviest;
                self.emit_clip(clip, (&course, passage), weight * share, ends, leads);
            }
        }
        if stops && let Some(&(clip, share)) = members.all().get(heaviest) {
            let distance = passage.map_or(0.0, |passage| passage.rate * layer[a].until);
            let end = course.advance(action.playhead(), distance).0;
            let mirrored = course.mirrored(end.pass);
            let time = if mirrored { course.length - end.time } else { end.time };
            let phases = if action.in_phases() { motions.duration(clip) } else { 1.0 };
            self.events.all.push(Event {
                instance: self.instance,
                layer: self.layer as u16,
                clip: ClipId::new(self.owner, clip, motions.clips.generation(clip)),
                kind: EventKind::Stopped,
                marker: 0,
                time: (time * phases) as f32,
                weight: weight * share,
                leading: false,
            });
        }
    }

    fn emit_clip(
        &mut self,
        index: u16,
        (course, passage): (&Loop, &Passage),
        weight: f32,
        ends: bool,
        leads: impl Fn(f64) -> bool,
    ) {
        let interval = &passage.interval;
        let Some(table) = timetable(&self.motions.clips, index, course) else {
            return;
        };
        // Most intervals cross no end of a pass. One that touches time 0 may: backwards, that is an end.
        let (from, to) = (interval.from, interval.to);
        let within = from.pass == to.pass && from.time != 0.0 && to.time != 0.0;
        let crosses = interval.finished || !within;
        let kinds = EventKinds {
            markers: self.kinds.markers && !table.markers.is_empty(),
            loops: self.kinds.loops && ends && crosses,
            finishes: self.kinds.finishes && ends && interval.finished,
            stops: false,
        };
        if kinds == EventKinds::NONE {
            return;
        }
        let duration = table.seconds as f32;
        // The clip time at which a pass ends, in the direction of time.
        let end_of = |pass: f64| {
            if course.mirrored(pass) == interval.backwards { duration } else { 0.0 }
        };
        let (instance, layer) = (self.instance, self.layer as u16);
        let clip = ClipId::new(self.owner, index, self.motions.clips.generation(index));
        let events = &mut *self.events;
        let dropped = table.fire(interval, kinds, |fired, distance| {
            let (kind, marker, time) = match fired {
                Fired::Marker(i) => (EventKind::Marker, i, table.markers[i].time),
                Fired::Looped(pass) => (EventKind::Looped, 0, end_of(pass)),
                Fired::Finished => (EventKind::Finished, 0, end_of(interval.to.pass)),
            };
            events.all.push(Event {
                instance,
                layer,
                clip,
                kind,
                marker: marker as u16,
                time,
                weight,
                leading: leads(passage.moment(distance)),
            });
        });
        self.events.dropped = self.events.dropped.saturating_add(dropped);
    }
}
