//! `SectionReader`: reads the values of one section, with every read checked against its end.

use super::container::{Entry, Section};
use super::error::{Fault, ReadError};
use super::memory::MemoryLimit;
use super::names::Names;
use crate::math::all_within;
use bytemuck::AnyBitPattern;

/// A cursor over the bytes of a section.
pub(super) struct SectionReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Start of the last value read, in bytes.
    last: usize,
    section: Section,
    /// Start of the section in the file, in bytes.
    offset: u64,
    pub memory: &'a MemoryLimit,
}

impl<'a> SectionReader<'a> {
    /// Begins to read a section.
    pub fn new(bytes: &'a [u8], entry: &Entry, memory: &'a MemoryLimit) -> Self {
        Self { bytes, at: 0, last: 0, section: entry.section(), offset: entry.offset, memory }
    }

    /// An error at the last value read.
    pub fn fault(&self, fault: impl Into<Fault>) -> ReadError {
        self.fault_at(self.last, fault)
    }

    /// An error at a byte of the section.
    pub fn fault_at(&self, at: usize, fault: impl Into<Fault>) -> ReadError {
        self.section.fault(self.offset + at as u64, fault)
    }

    /// An error of the section as a whole.
    pub fn whole(&self, fault: impl Into<Fault>) -> ReadError {
        self.fault_at(0, fault)
    }

    /// Number of bytes read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Reads the next `count` bytes, in place.
    pub fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], ReadError> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..count) else {
            return Err(self.fault_at(
                self.at,
                Fault::Short { what, needed: count as u64, have: rest.len() as u64 },
            ));
        };
        self.last = self.at;
        self.at += count;
        Ok(taken)
    }

    /// All bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.last = self.at;
        self.at = self.bytes.len();
        rest
    }

    /// Reads one value.
    pub fn one<T: AnyBitPattern>(&mut self, what: &'static str) -> Result<T, ReadError> {
        let bytes = self.take(size_of::<T>(), what)?;
        Ok(bytemuck::pod_read_unaligned(bytes))
    }

    /// Reads `count` values into a vector. The bytes are checked and the memory is charged before it is
    /// allocated.
    pub fn many<T: AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<Vec<T>, ReadError> {
        let bytes = self.take(self.length::<T>(count, what)?, what)?;
        self.charge(bytes.len())?;
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// Iterates over `count` values in place, without allocating.
    pub fn each<T: AnyBitPattern>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<impl ExactSizeIterator<Item = T> + Clone + use<'a, T>, ReadError> {
        let bytes = self.take(self.length::<T>(count, what)?, what)?;
        let values = bytes.chunks_exact(size_of::<T>());
        Ok(values.map(bytemuck::pod_read_unaligned))
    }

    /// Reads values made of floats, all of which must be finite.
    pub fn floats<T: AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<Vec<T>, ReadError> {
        let values: Vec<T> = self.many(count, what)?;
        let floats: &[f32] = bytemuck::cast_slice(&values);
        if !all_within(floats, f32::MAX) {
            let index = floats.iter().position(|v| !v.is_finite());
            let index = index.unwrap_or_default();
            let place = self.last + 4 * index;
            return Err(self.fault_at(place, Fault::NotFinite { what, index }));
        }
        Ok(values)
    }

    /// Reads a number of elements. Each takes at least `each` bytes of the section, which bounds the number.
    pub fn count(&mut self, what: &'static str, each: usize) -> Result<usize, ReadError> {
        let found = self.one::<u32>(what)? as usize;
        let limit = self.bytes.len() / each.max(1);
        if found > limit {
            return Err(self.limit(what, found as u64, limit as u64));
        }
        Ok(found)
    }

    /// Skips padding up to a multiple of `alignment`; every byte must be 0.
    pub fn pad(&mut self, alignment: usize) -> Result<(), ReadError> {
        let count = self.at.next_multiple_of(alignment) - self.at;
        let padding = self.take(count, "padding")?;
        match padding.iter().find(|&&b| b != 0) {
            None => Ok(()),
            Some(&found) => Err(self.limit("a byte of padding", found, 0u8)),
        }
    }

    /// The error for the last value read; `limit` is the nearest allowed value.
    pub fn limit(
        &self,
        what: &'static str,
        found: impl Into<u64>,
        limit: impl Into<u64>,
    ) -> ReadError {
        self.fault(Fault::limit(what, found, limit))
    }

    /// Checks that no bits but the `known` ones are set.
    pub fn bits(&self, what: &'static str, found: u32, known: u32) -> Result<u32, ReadError> {
        if found & !known == 0 { Ok(found) } else { Err(self.limit(what, found, known)) }
    }

    /// Checks that an index is less than `have`.
    pub fn index(&self, what: &'static str, index: u32, have: usize) -> Result<usize, ReadError> {
        if (index as usize) < have {
            return Ok(index as usize);
        }
        Err(self.limit(what, index, (have as u64).saturating_sub(1)))
    }

    /// Copies a name, with its memory charged. `None` for the index that stands for no name.
    pub fn name(&mut self, names: &Names, name: u32) -> Result<Option<String>, ReadError> {
        if name == super::names::NO_NAME {
            return Ok(None);
        }
        let place = self.index("a name", name, names.len())?;
        let text = names.get(place);
        self.charge(text.len() + size_of::<String>())?;
        Ok(Some(text.to_owned()))
    }

    /// Reads the index of a name, and the name.
    pub fn named(
        &mut self,
        names: &Names,
        what: &'static str,
    ) -> Result<Option<String>, ReadError> {
        let name = self.one(what)?;
        self.name(names, name)
    }

    /// Charges memory before it is allocated.
    pub fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        let paid = self.memory.charge(bytes);
        paid.map_err(|fault| self.fault(fault))
    }

    /// Checks that no bytes are left.
    pub fn finish(self) -> Result<(), ReadError> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        let fault = Fault::Extra {
            expected: self.offset + self.at as u64,
            have: self.offset + self.bytes.len() as u64,
        };
        Err(self.fault_at(self.at, fault))
    }

    fn length<T>(&self, count: usize, what: &'static str) -> Result<usize, ReadError> {
        count.checked_mul(size_of::<T>()).ok_or_else(|| {
            let have = (self.bytes.len() - self.at) as u64;
            let needed = u64::MAX;
            self.fault_at(self.at, Fault::Short { what, needed, have })
        })
    }
}
