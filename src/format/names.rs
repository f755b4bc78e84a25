//! Section NAME: the names of a file, each stored once.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::Bytes;
use std::collections::HashMap;

/// The index that stands for no name.
pub(super) const NO_NAME: u32 = u32::MAX;

/// The names of a file that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    text: String,
    /// End of each name in the text, bytes.
    ends: Vec<u32>,
}

impl Names {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A name; panics if the index is not below [`Names::len`].
    pub fn get(&self, name: usize) -> &str {
        let start = name.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[name] as usize]
    }

    /// A name, or an empty string for [`NO_NAME`].
    pub fn text(&self, name: u32) -> &str {
        if name == NO_NAME { "" } else { self.get(name as usize) }
    }

    pub fn read(mut r: SectionReader<'_>) -> Result<Self, ReadError> {
        let count = r.count("the number of names", 4)?;
        let ends: Vec<u32> = r.many(count, "the ends of names")?;
        let total = ends.last().copied().unwrap_or(0);
        let bytes = r.take(total as usize, "the text of names")?;
        r.charge(bytes.len())?;
        // The text is copied before it is checked: bytes of a mapped file may change after the check.
        let bytes = bytes.to_vec();
        let mut start = 0;
        for (name, &end) in ends.iter().enumerate() {
            let Some(text) = bytes.get(start as usize..end as usize) else {
                let fault = Fault::limit("the end of a name", end, total);
                return Err(r.fault_at(4 + 4 * name, fault));
            };
            if let Err(error) = std::str::from_utf8(text) {
                let byte = error.valid_up_to();
                let at = 4 + 4 * count + start as usize + byte;
                let words = format!("name {name} is not valid UTF-8 at its byte {byte}");
                return Err(r.fault_at(at, Fault::Invalid(words)));
            }
            start = end;
        }
        // Each name is valid UTF-8, so the whole text is too.
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| r.fault(Fault::Invalid("names are not valid UTF-8".into())))?;
        r.finish()?;
        Ok(Self { text, ends })
    }
}

/// The names of a file that is being written, in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    places: HashMap<String, u32>,
    ends: Vec<u32>,
    text: String,
}

impl NameTable {
    /// The index of a name; a new name is appended.
    pub fn add(&mut self, name: Option<&str>) -> u32 {
        let Some(name) = name else { return NO_NAME };
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        self.places.insert(name.to_owned(), place);
        place
    }

    pub fn write(&self) -> Vec<u8> {
        let mut out = Bytes::default();
        out.count(self.ends.len());
        out.many(&self.ends);
        out.many(self.text.as_bytes());
        out.0
    }
}
