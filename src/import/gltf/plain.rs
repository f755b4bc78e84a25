//! The JSON text as the parser reads it: integers without fraction or exponent, each key once in its object, no members
//! that are `null`.
//!
//! glTF 2.0, "JSON Encoding", allows integers as `5126.0` and `1e2`. RFC 8259 leaves open which of two equal keys
//! counts; parsers in use take the last. A member that is `null` counts as absent: some exporters write it.
//! ```text
//! {"a": 1, "b": null, "a": 2, "mesh": 3.0}
//! {                   "a": 2, "mesh": 3  }
//! ```
//!
//! Members are replaced by spaces, so that errors state the lines and columns of the file. Numbers and `null` in
//! `extras` are user data and stay unchanged; of equal keys the last counts there too.

use super::document::json_fault;
use super::error::{Fault, ImportFault as Kind, invalid, shorten};
use super::inventory::{decoded, string};
use super::limits::{MAX_JSON_DEPTH, MAX_REPORT_ENTRIES, MemoryLimit, Notes};
use super::summary::{LISTED, list};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Keys of integers in glTF 2.0 and in the extensions that are read, a row per group: buffers and accessors; nodes, skins
/// and scenes; animations; meshes and materials; samplers of textures. Arrays under them are arrays of integers. The only
/// other integers are in `attributes` and `targets`, whose keys are names of attributes.
const INTEGERS: [&[&str]; 5] = [
    &["buffer", "bufferView", "byteLength", "byteOffset", "byteStride", "componentType", "count"],
    &[
        "camera",
        "children",
        "inverseBindMatrices",
        "joints",
        "mesh",
        "nodes",
        "scene",
        "skeleton",
        "skin",
    ],
    &["input", "node", "output", "sampler", "target"],
    &["index", "indices", "material", "mode", "source", "texCoord"],
    &["magFilter", "minFilter", "wrapS", "wrapT"],
];

/// Bound of integers, 2^53: below it f64 distinguishes all; glTF allows no others.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Number of members of an object that are compared one by one; beyond it a map finds equal keys.
const COMPARED: usize = 16;

/// Largest memory of a member of an open object, bytes: itself, doubled storage, its entry in the map.
const MEMBER_BYTES: u64 = 256;

/// A member of an object.
struct Member<'t> {
    key: Cow<'t, str>,
    /// Range from the key to the end of the value.
    span: Range<usize>,
    /// Index of the comma behind the member.
    comma: Option<usize>,
    /// Whether the member is removed.
    gone: bool,
}

/// An open object or array.
#[derive(Default)]
struct Open<'t> {
    object: bool,
    extras: bool,
    /// For an array, whether its numbers are integers.
    integers: bool,
    /// Whether the numbers of this object, or of the objects in this array, are integers.
    map: bool,
    members: Vec<Member<'t>>,
    /// Indices of members by key, once there are more than [`COMPARED`].
    found: HashMap<Cow<'t, str>, usize>,
    /// For an object, whether the next string is a key.
    key: bool,
    /// For an array, the index of the next value.
    index: usize,
}

/// Counts from which the memory of the parsed JSON is estimated.
#[derive(Clone, Copy, Default)]
pub(super) struct JsonCounts {
    /// Number of opening braces.
    pub objects: u64,
    /// Number of commas and opening brackets: an upper bound of the number of values.
    pub values: u64,
}

/// The changes to the text.
#[derive(Default)]
struct Edits {
    integers: Vec<(Range<usize>, i64)>,
    blanks: Vec<Range<usize>>,
}

struct Scan<'t, 'm> {
    text: &'t [u8],
    stack: Vec<Open<'t>>,
    counts: JsonCounts,
    edits: Edits,
    /// Paths of keys that occur twice, in the order found.
    twice: Vec<String>,
    more_twice: usize,
    memory: &'m mut MemoryLimit,
}

/// Converts a text to plain form, and counts its objects and values; reports keys that occur twice, and rejects deep
/// nesting. Text that needs no change is borrowed.
pub(super) fn plain<'t>(
    text: &'t [u8],
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(Cow<'t, [u8]>, JsonCounts), Fault> {
    let mut scan = Scan {
        text,
        stack: Vec::new(),
        counts: JsonCounts::default(),
        edits: Edits::default(),
        twice: Vec::new(),
        more_twice: 0,
        memory,
    };
    scan.run()?;
    let Scan { counts, edits, twice, more_twice, .. } = scan;
    if edits.integers.is_empty() && edits.blanks.is_empty() {
        return Ok((Cow::Borrowed(text), counts));
    }
    // The scan trusts the text: removing members must not turn invalid text into JSON.
    serde_json::from_slice::<IgnoredAny>(text).map_err(json_fault)?;
    // The text without the removed members is copied once more, since some integers become longer.
    let digits = edits.integers.len() as u64 * DIGITS as u64;
    memory.charge(2 * text.len() as u64 + digits)?;
    report(twice, more_twice, notes);
    let made = edits.apply(text);
    memory.release(text.len() as u64);
    Ok((Cow::Owned(made), counts))
}

/// Digits and sign of an integer within [`EXACT`].
const DIGITS: usize = 17;

fn report(twice: Vec<String>, more: usize, notes: &mut Notes) {
    let count = twice.len() + more;
    if count == 0 {
        return;
    }
    let shown = list(&twice[..twice.len().min(LISTED)], count);
    let message = match count {
        1 => format!("the key {shown} occurs twice in its object; the last counts"),
        _ => format!("{count} keys occur twice in their object: {shown}; the last of each counts"),
    };
    notes.repaired("JSON", message);
    if twice.len() > 1 {
        notes.items(twice);
    }
}

impl Edits {
    fn apply(self, text: &[u8]) -> Vec<u8> {
        let mut out = text.to_vec();
        for span in &self.blanks {
            for byte in &mut out[span.clone()] {
                if !matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
        }
        if self.integers.is_empty() {
            return out;
        }
        let blank = std::mem::take(&mut out);
        let mut at = 0;
        for (span, value) in self.integers {
            // The number is in a member that is removed.
            if blank[span.start] == b' ' {
                continue;
            }
            let value = value.to_string();
            out.extend_from_slice(&blank[at..span.start]);
            out.extend_from_slice(value.as_bytes());
            let left = span.len().saturating_sub(value.len());
            out.extend(std::iter::repeat_n(b' ', left));
            at = span.end;
        }
        out.extend_from_slice(&blank[at..]);
        out
    }
}

/// The integer that a number denotes, if it is not written as an integer.
fn integer(token: &[u8]) -> Option<i64> {
    if token != b"-0" && !token.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return None;
    }
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64)
}

impl<'t> Scan<'t, '_> {
    fn run(&mut self) -> Result<(), Fault> {
        let mut at = 0;
        while let Some(&byte) = self.text.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'{' | b'[' => {
                    let (depth, limit) = (self.stack.len() + 1, MAX_JSON_DEPTH);
                    if depth > limit {
                        let words =
                            format!("JSON nested {depth} levels deep, the limit is {limit}");
                        return Err(invalid(words).into());
                    }
                    self.counts.objects += u64::from(byte == b'{');
                    self.counts.values += 1;
                    let open = self.open(byte == b'{');
                    self.stack.push(open);
                }
                b'}' | b']' => {
                    if let Some(open) = self.stack.pop() {
                        self.close(open)?;
                    }
                    self.end(at);
                }
                b',' => {
                    self.counts.values += 1;
                    if let Some(open) = self.stack.last_mut() {
                        (open.key, open.index) = (open.object, open.index + 1);
                        if let Some(member) = open.members.last_mut() {
                            member.comma = Some(start);
                        }
                    }
                }
                b'"' => {
                    at = (at + string(&self.text[at..]) + 1).min(self.text.len());
                    match self.stack.last().is_some_and(|open| open.key) {
                        true => self.member(start..at)?,
                        false => self.end(at),
                    }
                }
                b':' | b' ' | b'\t' | b'\n' | b'\r' => {}
                _ => {
                    let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[');
                    // A token has at least one byte: a form feed would end a token that it begins.
                    let rest = &self.text[at..];
                    let length = rest.iter().position(|b| ends(b) || b.is_ascii_whitespace());
                    at += length.unwrap_or(rest.len());
                    self.token(start..at)?;
                    self.end(at);
                }
            }
        }
        Ok(())
    }

    /// Begins an object or array.
    fn open(&self, object: bool) -> Open<'t> {
        let mut open = Open { object, key: object, ..Open::default() };
        if let Some(above) = self.stack.last() {
            let key = above.members.last().map(|m| &*m.key);
            let key = key.filter(|_| above.object);
            open.extras = above.extras || key == Some("extras");
            open.integers = self.is_integer();
            open.map =
                matches!(key, Some("attributes" | "targets")) || (!above.object && above.map);
        }
        open
    }

    /// Whether a number at this place is an integer.
    fn is_integer(&self) -> bool {
        match self.stack.last() {
            None => false,
            Some(open) if open.extras => false,
            Some(open) if !open.object => open.integers,
            Some(open) => {
                let key = open.members.last().map(|m| &*m.key);
                open.map || key.is_some_and(|key| INTEGERS.iter().any(|keys| keys.contains(&key)))
            }
        }
    }

    /// Records a number or a word.
    fn token(&mut self, span: Range<usize>) -> Result<(), Kind> {
        let token = &self.text[span.clone()];
        let Some(open) = self.stack.last_mut() else { return Ok(()) };
        if token == b"null" && open.object && !open.extras {
            if let Some(member) = open.members.last_mut() {
                member.gone = true;
            }
        } else if matches!(token.first(), Some(b'-' | b'0'..=b'9'))
            && self.is_integer()
            && let Some(value) = integer(token)
        {
            self.memory.charge_for::<[(Range<usize>, i64); 2]>(1)?;
            self.edits.integers.push((span, value));
        }
        Ok(())
    }

    /// Ends a value.
    fn end(&mut self, at: usize) {
        if let Some(member) = self.stack.last_mut().and_then(|o| o.members.last_mut()) {
            member.span.end = at;
        }
    }

    /// Begins a member, at its key.
    fn member(&mut self, span: Range<usize>) -> Result<(), Kind> {
        self.memory.charge(MEMBER_BYTES)?;
        let key = decoded(&self.text[span.clone()]);
        let Some(open) = self.stack.last_mut() else { return Ok(()) };
        open.key = false;
        let index = open.members.len();
        if index == COMPARED {
            let keys = open.members.iter().enumerate();
            open.found = keys.map(|(i, m)| (m.key.clone(), i)).collect();
        }
        let before = match index < COMPARED {
            // The map holds the last of equal keys, so this search takes the last too.
            true => open.members.iter().rposition(|m| m.key == key),
            false => open.found.insert(key.clone(), index),
        };
        open.members.push(Member { key, span, comma: None, gone: false });
        if let Some(before) = before {
            open.members[before].gone = true;
            self.twice()?;
        }
        Ok(())
    }

    /// Notes the path of the latest member as a key that occurs twice.
    fn twice(&mut self) -> Result<(), Kind> {
        if self.twice.len() >= MAX_REPORT_ENTRIES {
            self.more_twice += 1;
            return Ok(());
        }
        let mut path = String::new();
        for open in &self.stack {
            path.push('/');
            match open.members.last() {
                Some(member) => path += &shorten(&member.key),
                None => path += &open.index.to_string(),
            }
        }
        self.memory.charge(2 * (path.len() + size_of::<String>()) as u64)?;
        self.twice.push(format!("{path:?}"));
        Ok(())
    }

    /// Marks the removed members of an object that ends as blanks, each with a comma.
    fn close(&mut self, open: Open<'t>) -> Result<(), Kind> {
        let members = &open.members;
        let gone = members.iter().filter(|m| m.gone).count();
        if gone > 0 {
            self.memory.charge_for::<[Range<usize>; 4]>(gone)?;
        }
        for member in members.iter().filter(|m| m.gone) {
            let commas = member.comma.map(|comma| comma..comma + 1);
            self.edits.blanks.push(member.span.clone());
            self.edits.blanks.extend(commas);
        }
        // The comma behind the last kept member goes, since nothing follows it.
        if members.last().is_some_and(|last| last.gone) {
            let kept = members.iter().rfind(|m| !m.gone);
            let comma = kept.and_then(|m| m.comma);
            self.edits.blanks.extend(comma.map(|comma| comma..comma + 1));
        }
        self.memory.release(MEMBER_BYTES * members.len() as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
