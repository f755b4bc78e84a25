//! Parts of the JSON text that the parser skips: names of extensions in any object, and names of vertex attributes that
//! are not read.
//!
//! One pass over the bytes with a stack of open objects and arrays, at most [`MAX_JSON_DEPTH`](super::MAX_JSON_DEPTH) of
//! them. The text has been parsed, so it is valid JSON.

use super::error::ImportFault as Kind;
use super::limits::MemoryLimit;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Largest memory of a name, bytes, with its share of the map that holds it.
const NAME_BYTES: u64 = 192;

type Counts<'t> = BTreeMap<Cow<'t, str>, Count>;

/// The counts found in a document.
#[derive(Default)]
pub(super) struct Inventory<'t> {
    /// Number of objects that have an extension, by its name. `extras` are not searched.
    pub extensions: Counts<'t>,
    /// Number of primitives that have an attribute that is not read, by its name.
    pub attributes: Counts<'t>,
    /// Number of primitives whose morph targets have an attribute that is not read, by its name.
    pub target_attributes: Counts<'t>,
}

/// The number of owners of a name.
#[derive(Default)]
pub(super) struct Count {
    pub number: usize,
    /// The owner that was counted last, so that it is counted once.
    last: usize,
}

/// The position of an object or array in the document.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Meshes,
    Primitives,
    Attributes,
    Targets,
    Extensions,
    Extras,
    Other,
}

impl Place {
    /// The place of the value under a key of an object at this place.
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Extras, _) => Self::Extras,
            (Self::Extensions, _) => Self::Other,
            (_, "extras") => Self::Extras,
            (_, "extensions") => Self::Extensions,
            (Self::Root, "meshes") => Self::Meshes,
            (Self::Meshes, "primitives") => Self::Primitives,
            (Self::Primitives, "attributes") => Self::Attributes,
            (Self::Primitives, "targets") => Self::Targets,
            _ => Self::Other,
        }
    }
}

/// An open object or array.
struct Open {
    object: bool,
    place: Place,
    /// The place of the next value; for an array, its own place.
    next: Place,
    /// For an object, whether the next string is a key.
    key: bool,
}

impl Count {
    pub fn of(number: usize) -> Self {
        Self { number, last: 0 }
    }
}

impl<'t> Inventory<'t> {
    /// Takes the inventory of a document, in one pass over the text.
    pub fn take(text: &'t [u8], memory: &mut MemoryLimit) -> Result<Self, Kind> {
        let mut out = Self::default();
        let mut stack: Vec<Open> = Vec::new();
        let (mut owner, mut at) = (0, 0);
        while let Some(&byte) = text.get(at) {
            match byte {
                b'{' | b'[' => {
                    let object = byte == b'{';
                    let place = match stack.last().map_or(Place::Root, |open| open.next) {
                        // Extensions are one object, not a list.
                        Place::Extensions if !object => Place::Other,
                        place => place,
                    };
                    // Attributes belong to their primitive, extensions to each object.
                    owner +=
                        usize::from(object && !matches!(place, Place::Attributes | Place::Targets));
                    stack.push(Open { object, place, next: place, key: object });
                }
                b'}' | b']' => drop(stack.pop()),
                b',' => {
                    if let Some(open) = stack.last_mut() {
                        open.key = open.object;
                    }
                }
                b'"' => {
                    let length = string(&text[at + 1..]);
                    if let Some(open) = stack.last_mut().filter(|open| open.key) {
                        let name = decoded(&text[at..(at + length + 2).min(text.len())]);
                        (open.key, open.next) = (false, open.place.below(&name));
                        out.count(open.place, name, owner, memory)?;
                    }
                    at += length + 1;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(out)
    }

    fn count(
        &mut self,
        place: Place,
        name: Cow<'t, str>,
        owner: usize,
        memory: &mut MemoryLimit,
    ) -> Result<(), Kind> {
        let counts = match place {
            Place::Extensions => &mut self.extensions,
            Place::Attributes if !is_read(&name) => &mut self.attributes,
            Place::Targets if !is_target(&name) => &mut self.target_attributes,
            _ => return Ok(()),
        };
        if !counts.contains_key(&name) {
            memory.charge(NAME_BYTES + name.len() as u64)?;
        }
        let count = counts.entry(name).or_default();
        count.number += usize::from(count.last != owner);
        count.last = owner;
        Ok(())
    }
}

/// Whether the reader of meshes takes an attribute. For `TEXCOORD_1` the material decides.
fn is_read(name: &str) -> bool {
    let set = name.strip_prefix("JOINTS_");
    let set = set.or_else(|| name.strip_prefix("WEIGHTS_"));
    match set {
        Some(set) => !set.is_empty() && set.bytes().all(|b| b.is_ascii_digit()),
        None => is_target(name) || matches!(name, "TEXCOORD_0" | "TEXCOORD_1" | "COLOR_0"),
    }
}

/// Whether a morph target's attribute is read.
fn is_target(name: &str) -> bool {
    matches!(name, "POSITION" | "NORMAL" | "TANGENT")
}

/// The number of bytes up to the quote that ends a string.
pub(super) fn string(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// A string with its quotes as text.
pub(super) fn decoded(quoted: &[u8]) -> Cow<'_, str> {
    let plain = quoted.get(1..quoted.len().saturating_sub(1));
    let plain = plain.and_then(|text| std::str::from_utf8(text).ok());
    match plain {
        Some(text) if !text.contains('\\') => Cow::Borrowed(text),
        _ => Cow::Owned(serde_json::from_slice(quoted).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(counts: &Counts) -> Vec<(String, usize)> {
        let each = counts.iter();
        each.map(|(name, c)| (name.to_string(), c.number)).collect()
    }

    #[test]
    fn extensions_are_counted_by_object() {
        let text = br#"{ "extensionsUsed": ["LISTED"], "extensions": { "A": { "extensions": { "\u0042": 1 } } },
            "nodes": [{ "extensions": { "A": { "extensions": [{ "no": 1 }] } } }, { "name": "extensions\"{", "extras":
            { "extensions": { "C": {} } } }],
            "meshes": [{ "primitives": [{ "extensions": { "A": {}, "B": [] }, "attributes": { "extensions": 1 } }] }] }"#;
        let found = Inventory::take(text, &mut MemoryLimit::new(0, None)).unwrap();
        let expected = [("A", 3), ("B", 2)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(numbers(&found.extensions), expected);
    }

    #[test]
    fn attributes_are_counted_by_primitive() {
        let text = br#"{ "meshes": [{ "primitives": [
            { "attributes": { "POSITION": 0, "COLOR_1": 1, "JOINTS_7": 2, "JOINTS_": 3 },
              "targets": [{ "COLOR_0": 1 }, { "POSITION": 1, "COLOR_0": 2, "TEXCOORD_0": 1 }] },
            { "targets": [{ "COLOR_0": 3 }], "attributes": { "COLOR_1": 1, "TEXCOORD_1": 1 } }] }],
            "nodes": [{ "attributes": { "_NO": 1 } }] }"#;
        let found = Inventory::take(text, &mut MemoryLimit::new(0, None)).unwrap();
        let expected = [("COLOR_1", 2), ("JOINTS_", 1)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(numbers(&found.attributes), expected);
        let expected = [("COLOR_0", 2), ("TEXCOORD_0", 1)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(numbers(&found.target_attributes), expected);
    }
}
