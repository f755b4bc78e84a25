//! Markers from JSON: the `extras` of animations, and marker files beside a model.
//!
//! A list of markers is `[{"name": "step", "time": 0.1}, …]`, or an object of times by name:
//! `{"step": 0.1, "clap": [0.2, 0.6], "LeftFoot": {"strike": 0.0}}`, where the last is a marker `LeftFoot.strike`.
//! Extras hold it under `markers` or `events`. A file is `{"clips": {NAME: …}}`, where each clip has such a list, or an
//! object like extras.

use super::error::{Fault, ImportError};
use super::fault::{ImportFault, invalid};
use super::read_file::read_file;
use crate::clip::{Clip, MAX_MARKERS, Marker};
use crate::import::trim::trim_marker;
use crate::rig::Rig;
use crate::words::{brief, shorten};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Time beyond the end of its clip up to which a marker is moved to the end, seconds: times are written with as few as
/// four digits.
pub const MARKER_SLACK: f64 = 1e-3;

/// Limit on the length of a marker's name, bytes; a list of times repeats it for each.
const MAX_MARKER_NAME: usize = 256;

/// Limit on the size of a marker file, bytes.
pub const MAX_MARKER_FILE: u64 = 16 << 20;

/// Limit on the markers that one file adds to all clips together: several clips may share a name, and each
/// gets all markers of that name.
const MAX_GIVEN_MARKERS: usize = 1 << 22;

fn kind(marker: &str, found: &Value, needed: &str) -> ImportFault {
    // The shortened text is enough to recognise the value.
    let found = shorten(&found.to_string());
    invalid(format!("marker {marker}: expected a {needed}, found {found}"))
}

fn long_name(len: usize) -> ImportFault {
    invalid(format!("a marker's name has {len} bytes, the limit is {MAX_MARKER_NAME}"))
}

struct List(Vec<Marker>);

impl List {
    fn push(&mut self, name: &str, time: &Value) -> Result<(), ImportFault> {
        if name.len() > MAX_MARKER_NAME {
            return Err(long_name(name.len()));
        }
        if self.0.len() == MAX_MARKERS {
            return Err(invalid(format!("more than {MAX_MARKERS} markers")));
        }
        let seconds = time.as_f64();
        let seconds =
            seconds.ok_or_else(|| kind(&format!("\"{name}\""), time, "time in seconds"))?;
        self.0.push(Marker::new(name, seconds as f32));
        Ok(())
    }

    fn times(&mut self, name: &str, value: &Value) -> Result<(), ImportFault> {
        match value {
            Value::Array(times) => times.iter().try_for_each(|t| self.push(name, t)),
            time => self.push(name, time),
        }
    }

    fn object(&mut self, names: &Map<String, Value>) -> Result<(), ImportFault> {
        for (name, value) in names {
            match value {
                Value::Object(inner) => {
                    for (part, value) in inner {
                        let len = name.len() + part.len() + 1;
                        if len > MAX_MARKER_NAME {
                            return Err(long_name(len));
                        }
                        self.times(&format!("{name}.{part}"), value)?;
                    }
                }
                value => self.times(name, value)?,
            }
        }
        Ok(())
    }
}

/// Parses a list of markers, or an object of times by name.
pub(crate) fn parse(value: &Value) -> Result<Vec<Marker>, ImportFault> {
    let mut list = List(Vec::new());
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str);
                match (name, item.get("time")) {
                    (Some(name), Some(time)) => list.push(name, time)?,
                    _ => return Err(kind(&i.to_string(), item, "name and time")),
                }
            }
        }
        Value::Object(names) => list.object(names)?,
        other => return Err(kind("list", other, "list of markers")),
    }
    Ok(list.0)
}

/// The markers in extras, under `markers` and `events`; `None` if the extras have neither.
pub(crate) fn of_extras(extras: &Map<String, Value>) -> Option<Result<Vec<Marker>, ImportFault>> {
    let mut found: Option<Vec<Marker>> = None;
    for value in ["markers", "events"].into_iter().filter_map(|k| extras.get(k)) {
        match parse(value) {
            Ok(mut more) => found.get_or_insert_default().append(&mut more),
            Err(fault) => return Some(Err(fault)),
        }
    }
    found.map(Ok)
}

/// Moves markers that are within [`MARKER_SLACK`] after the clip's end to its end.
pub(crate) fn snap(markers: &mut [Marker], duration: f32) {
    for marker in markers {
        let over = f64::from(marker.time) - f64::from(duration);
        if over > 0.0 && over <= MARKER_SLACK {
            marker.time = duration;
        }
    }
}

/// The error of a file of markers, or of one clip in it.
fn refused(file: &str, clip: Option<&String>, fault: ImportFault) -> ImportError {
    let place = clip.map_or_else(String::new, |clip| format!("clip \"{}\"", shorten(clip)));
    Fault { place, kind: fault }.in_file(file)
}

/// The marker file of a model: `fox.events.json` beside `fox.glb`.
pub fn marker_file(model: &Path) -> PathBuf {
    model.with_extension("events.json")
}

/// Reads a marker file: `{"clips": {"Walk": [{"name": "step", "time": 0.1}]}}`. The list may be replaced by times by name
/// (`{"step": [0.1, 0.6]}`).
///
/// # Errors
/// If the file cannot be read or does not have that form.
pub fn read_markers(path: &Path) -> Result<Vec<(String, Vec<Marker>)>, ImportError> {
    let file = path.display().to_string();
    let bytes = read_file(path, MAX_MARKER_FILE).map_err(|fault| refused(&file, None, fault))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| refused(&file, None, invalid("the text is not valid UTF-8")))?;
    parse_markers(&text, &file)
}

/// Parses the text of a marker file; `file` is its name in messages.
///
/// # Errors
/// If the text does not have the form of a marker file.
pub fn parse_markers(text: &str, file: &str) -> Result<Vec<(String, Vec<Marker>)>, ImportError> {
    let fail = |message: String| refused(file, None, invalid(message));
    let document: Value = serde_json::from_str(text).map_err(|e| fail(brief(&e)))?;
    let Some(Value::Object(clips)) = document.get("clips") else {
        return Err(fail("there is no object \"clips\"".to_owned()));
    };
    let mut out = Vec::new();
    for (clip, value) in clips {
        let nested = value.as_object().and_then(of_extras);
        let markers = nested.unwrap_or_else(|| parse(value));
        let markers = markers.map_err(|fault| refused(file, Some(clip), fault))?;
        out.push((clip.clone(), markers));
    }
    Ok(out)
}

/// Replaces the markers of clips, by name: of every clip with the name, in every rig. `file` is used in messages.
///
/// `trimmed` holds the seconds that were cut from the beginning of every clip of each rig
/// ([`RawClip::trimmed`](crate::raw::RawClip::trimmed)), as times are relative to the clips before the cut; missing
/// entries count as 0.
///
/// # Errors
/// If no rig has a clip of a name, a marker is outside its clip, or there are too many. The rigs are then
/// unchanged.
pub fn add_markers(
    rigs: &mut [Rig],
    trimmed: &[f32],
    markers: &[(String, Vec<Marker>)],
    file: &str,
) -> Result<(), ImportError> {
    let mut named: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (r, rig) in rigs.iter().enumerate() {
        for (c, clip) in rig.clips().iter().enumerate() {
            named.entry(clip.name()).or_default().push((r, c));
        }
    }
    let mut needed = 0usize;
    for (name, markers) in markers {
        let clips = named.get(name.as_str()).map_or(0, Vec::len);
        needed = needed.saturating_add(clips.saturating_mul(markers.len()));
    }
    if needed > MAX_GIVEN_MARKERS {
        let (what, needed) = ("markers of all clips together", needed as u64);
        let limit = MAX_GIVEN_MARKERS as u64;
        return Err(refused(file, None, ImportFault::Limit { what, needed, limit }));
    }
    let mut changed: Vec<(usize, usize, Arc<Clip>)> = Vec::new();
    for (name, markers) in markers {
        let Some(clips) = named.get(name.as_str()) else {
            let words = format!("there is no clip \"{}\"", shorten(name));
            return Err(refused(file, None, invalid(words)));
        };
        for &(r, c) in clips {
            let clip = &rigs[r].clips()[c];
            let mut markers = markers.clone();
            if let Some(&cut) = trimmed.get(c) {
                markers.iter_mut().for_each(|m| trim_marker(m, cut));
            }
            snap(&mut markers, clip.duration());
            let clip = clip.as_ref().clone().with_markers(markers);
            let clip =
                clip.map_err(|error| refused(file, None, ImportFault::MarkedClip(error.into())))?;
            changed.push((r, c, Arc::new(clip)));
        }
    }
    for (rig, clip, with) in changed {
        rigs[rig].clips[clip] = with;
    }
    Ok(())
}
