//! Section EVNT: the markers of all clips.

use super::error::ReadError;
use super::names::{NO_NAME, NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use crate::clip::Marker;
use bytemuck::{Pod, Zeroable};

/// A stored marker.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Event {
    /// Index of the clip in the file; markers are sorted by it.
    pub clip: u32,
    pub name: u32,
    pub time: f32,
}

pub(super) fn write(events: &[Event]) -> Vec<u8> {
    let mut out = Bytes::default();
    out.count(events.len());
    out.many(events);
    out.0
}

/// Appends the markers of a clip.
pub(super) fn add(events: &mut Vec<Event>, clip: u32, markers: &[Marker], names: &mut NameTable) {
    events.extend(markers.iter().map(|m| Event {
        clip,
        name: names.add(Some(&m.name)),
        time: m.time,
    }));
}

/// Reads the section. Times are checked when their clip is read.
pub(super) fn read(
    mut r: SectionReader<'_>,
    names: &Names,
    clips: usize,
) -> Result<Vec<Event>, ReadError> {
    let count = r.count("the number of markers", size_of::<Event>())?;
    let events: Vec<Event> = r.many(count, "markers")?;
    let mut last = 0;
    for e in &events {
        if e.clip < last {
            let what = "a marker's clip, in ascending order,";
            return Err(r.limit(what, e.clip, last));
        }
        last = e.clip;
        r.index("a marker's clip", e.clip, clips)?;
        if e.name != NO_NAME {
            r.index("a marker's name", e.name, names.len())?;
        }
    }
    r.finish()?;
    Ok(events)
}

/// The markers of one clip.
pub(super) fn of_clip(events: &[Event], clip: usize) -> &[Event] {
    let first = events.partition_point(|e| (e.clip as usize) < clip);
    let end = events.partition_point(|e| e.clip as usize <= clip);
    &events[first..end]
}
