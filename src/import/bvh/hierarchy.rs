//! The HIERARCHY of a BVH file: its joints, their offsets and channels.

use super::error::{Fault, ImportFault as Kind, invalid};
use super::text::{Text, Word};
use super::{MAX_BVH_JOINTS, MAX_CHANNELS};
use crate::skeleton::MAX_LENGTH;

/// One channel: a component of a position, or a rotation about an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub rotation: bool,
    /// Index of the axis: 0 to 2 for X to Z.
    pub axis: usize,
}

/// The names of all channels.
const CHANNELS: [(&str, Channel); MAX_CHANNELS] = {
    const fn channel(rotation: bool, axis: usize) -> Channel {
        Channel { rotation, axis }
    }
    [
        ("Xposition", channel(false, 0)),
        ("Yposition", channel(false, 1)),
        ("Zposition", channel(false, 2)),
        ("Xrotation", channel(true, 0)),
        ("Yrotation", channel(true, 1)),
        ("Zrotation", channel(true, 2)),
    ]
};

/// A joint, or an End Site.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub name: String,
    /// Index of the joint above.
    pub parent: Option<usize>,
    /// Vector from the joint above, in metres.
    pub offset: [f64; 3],
    /// Channels in the order of the file; empty for End Sites.
    pub channels: Vec<Channel>,
    pub is_end: bool,
}

/// All joints and End Sites, in file order.
#[derive(Debug, Default)]
pub(super) struct Hierarchy {
    pub entries: Vec<Entry>,
    /// Number of channels of all joints, which is the number of values of a frame.
    pub channels: usize,
    /// Indices of entries whose names were not UTF-8.
    pub repaired_names: Vec<usize>,
}

/// An entry whose brace is open.
struct Open {
    entry: usize,
    has_offset: bool,
    has_channels: bool,
}

/// The words allowed between the braces of a joint, for messages.
const WITHIN: &str = "OFFSET, CHANNELS, JOINT, End Site or }";

/// Reads up to the word MOTION. Lengths are multiplied by `unit`, metres.
pub(super) fn hierarchy(text: &mut Text<'_>, unit: f64) -> Result<Hierarchy, Fault> {
    let mut out = Hierarchy::default();
    let mut joints = 0;
    let mut open: Vec<Open> = Vec::new();
    loop {
        let word = text.word();
        let Some(top) = open.last_mut() else {
            if word.is("ROOT") {
                open.push(begin(text, &mut out, None, &word, &mut joints)?);
            } else if word.is("MOTION") && !out.entries.is_empty() {
                return Ok(out);
            } else if out.entries.is_empty() {
                return Err(word.expected("ROOT"));
            } else {
                return Err(word.expected("ROOT or MOTION"));
            }
            continue;
        };
        let entry = &mut out.entries[top.entry];
        if word.is("OFFSET") {
            if std::mem::replace(&mut top.has_offset, true) {
                return Err(word.fault(twice("OFFSET")));
            }
            for value in &mut entry.offset {
                let word = text.word();
                *value = length(&word, "an offset", unit)?;
            }
        } else if word.is("CHANNELS") {
            if std::mem::replace(&mut top.has_channels, true) {
                return Err(word.fault(twice("CHANNELS")));
            }
            entry.channels = channels(text, entry.is_end)?;
            out.channels += entry.channels.len();
        } else if word.is("}") {
            if !top.has_offset {
                return Err(word.expected("OFFSET"));
            }
            open.pop();
        } else if entry.is_end {
            return Err(word.expected("OFFSET or } of the End Site"));
        } else if word.is("JOINT") || word.is("End") {
            let parent = top.entry;
            open.push(begin(text, &mut out, Some(parent), &word, &mut joints)?);
        } else {
            return Err(word.expected(WITHIN));
        }
    }
}

/// Limit on the length of a joint's name, bytes: End Sites repeat it. Files were seen with up to 40.
const MAX_NAME: usize = 1024;

/// Words that are not names when they begin a line.
const KEYWORDS: [&str; 6] = ["OFFSET", "CHANNELS", "JOINT", "End", "MOTION", "}"];

/// Reads the name of a joint, behind its keyword or on a later line; empty for an End Site without one.
fn name<'a>(text: &mut Text<'a>, keyword: &Word<'_>) -> Result<Word<'a>, Fault> {
    let mut first = *text;
    let name = text.name();
    if name.bytes.len() > MAX_NAME {
        return Err(name.fault(Kind::Limit {
            what: "bytes of a name",
            needed: name.bytes.len() as u64,
            limit: MAX_NAME as u64,
        }));
    }
    // A keyword on a later line means that there is no name, unless a brace follows it.
    let first = first.word();
    let later = name.place.line != keyword.place.line;
    let mut ahead = *text;
    let misplaced = later && KEYWORDS.iter().any(|k| first.is(k)) && !ahead.word().is("{");
    match !keyword.is("End") && (misplaced || name.bytes.is_empty()) {
        true => Err(first.expected("the name of a joint")),
        false => Ok(name),
    }
}

/// Reads the name and the brace of a joint or End Site, and adds it.
fn begin(
    text: &mut Text<'_>,
    out: &mut Hierarchy,
    parent: Option<usize>,
    keyword: &Word<'_>,
    joints: &mut usize,
) -> Result<Open, Fault> {
    let is_end = keyword.is("End");
    let name = name(text, keyword)?;
    // End Sites count too: they are nodes of the scene.
    *joints += 1;
    if *joints > MAX_BVH_JOINTS {
        return Err(keyword.fault(Kind::Limit {
            what: "joints and End Sites",
            needed: *joints as u64,
            limit: MAX_BVH_JOINTS as u64,
        }));
    }
    let entry = out.entries.len();
    let name = match (is_end, parent) {
        // The word is usually `Site`. End Sites have no names; other tools name them after the joint.
        (true, Some(above)) => format!("{}_end", out.entries[above].name),
        _ => {
            let text = String::from_utf8_lossy(name.bytes);
            if matches!(text, std::borrow::Cow::Owned(_)) {
                out.repaired_names.push(entry);
            }
            text.into_owned()
        }
    };
    text.expect("{", "{")?;
    out.entries.push(Entry { name, parent, is_end, ..Entry::default() });
    Ok(Open { entry, has_offset: false, has_channels: false })
}

fn twice(what: &str) -> Kind {
    invalid(format!("the joint has a second {what}"))
}

/// A length in metres.
pub(super) fn length(word: &Word<'_>, what: &'static str, unit: f64) -> Result<f64, Fault> {
    let metres = word.number(what)? * unit;
    // The limit applies to the stored f32; as f32 the limit itself rounds down.
    match (metres as f32).abs() <= MAX_LENGTH {
        true => Ok(metres),
        false => {
            Err(word.fault(invalid(format!("{what} is {metres:e}, the limit is {MAX_LENGTH:e}"))))
        }
    }
}

/// The count and the names of channels.
fn channels(text: &mut Text<'_>, is_end: bool) -> Result<Vec<Channel>, Fault> {
    let most = if is_end { 0 } else { MAX_CHANNELS as u64 };
    let (count, place) = text.count("the number of channels", most)?;
    if count > most {
        let what = if is_end { "channels of an End Site" } else { "channels of a joint" };
        return Err(place.fault(Kind::Limit { what, needed: count, limit: most }));
    }
    let mut channels: Vec<Channel> = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let word = text.word();
        let Some(&(name, channel)) = CHANNELS.iter().find(|(name, _)| word.is(name)) else {
            let found = word.quoted();
            return Err(word.fault(invalid(format!(
                "unknown channel {found}, expected Xposition to Zposition or Xrotation to Zrotation"
            ))));
        };
        if channels.contains(&channel) {
            return Err(word.fault(twice(name)));
        }
        channels.push(channel);
    }
    Ok(channels)
}
