//! `SectionReader`: the values of one section, each checked to be there before it is read.

use super::container::{Entry, Section};
use super::error::{Fault, FormatError};
use super::memory::MemoryLimit;
use super::names::Names;
use crate::math::all_finite;
use bytemuck::AnyBitPattern;

/// Walks through a section's bytes.
pub(super) struct SectionReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where what was read last begins.
    last: usize,
    section: Section,
    /// Where the section begins in the file.
    offset: u64,
    pub memory: &'a MemoryLimit,
}

impl<'a> SectionReader<'a> {
    pub fn new(bytes: &'a [u8], entry: &Entry, memory: &'a MemoryLimit) -> Self {
        Self {
            bytes,
            at: 0,
            last: 0,
            section: entry.section(),
            offset: entry.offset,
            memory,
        }
    }

    /// A fault of what was read last.
    pub fn fault(&self, fault: impl Into<Fault>) -> FormatError {
        self.fault_at(self.last, fault)
    }

    /// A fault at a byte of the section.
    pub fn fault_at(&self, at: usize, fault: impl Into<Fault>) -> FormatError {
        self.section.fault(self.offset + at as u64, fault)
    }

    /// A fault of the section as a whole.
    pub fn whole(&self, fault: impl Into<Fault>) -> FormatError {
        self.fault_at(0, fault)
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], FormatError> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..count) else {
            return Err(self.fault_at(
                self.at,
                Fault::Short {
                    what,
                    needed: count as u64,
                    have: rest.len() as u64,
                },
            ));
        };
        self.last = self.at;
        self.at += count;
        Ok(taken)
    }

    /// All bytes that were not read yet.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.last = self.at;
        self.at = self.bytes.len();
        rest
    }

    /// One value.
    pub fn one<T: AnyBitPattern>(&mut self, what: &'static str) -> Result<T, FormatError> {
        let bytes = self.take(size_of::<T>(), what)?;
        Ok(bytemuck::pod_read_unaligned(bytes))
    }

    /// As many values as the file says; whether they are there is known before memory is.
    pub fn many<T: AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<Vec<T>, FormatError> {
        let bytes = self.take(self.length::<T>(count, what)?, what)?;
        self.charge(bytes.len())?;
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// The same, one by one where they lie: no memory is taken.
    pub fn each<T: AnyBitPattern>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<impl ExactSizeIterator<Item = T> + Clone + use<'a, T>, FormatError> {
        let bytes = self.take(self.length::<T>(count, what)?, what)?;
        let values = bytes.chunks_exact(size_of::<T>());
        Ok(values.map(bytemuck::pod_read_unaligned))
    }

    /// Floats, all of them finite.
    pub fn floats<T: AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<Vec<T>, FormatError> {
        let values: Vec<T> = self.many(count, what)?;
        let floats: &[f32] = bytemuck::cast_slice(&values);
        if !all_finite(floats) {
            let index = floats.iter().position(|v| !v.is_finite());
            let index = index.unwrap_or_default();
            let place = self.last + 4 * index;
            return Err(self.fault_at(place, Fault::NotFinite { what, index }));
        }
        Ok(values)
    }

    /// A count of things that take at least `each` bytes of the section.
    pub fn count(&mut self, what: &'static str, each: usize) -> Result<usize, FormatError> {
        let found = self.one::<u32>(what)?;
        let limit = (self.bytes.len() / each.max(1)) as u64;
        if u64::from(found) > limit {
            let found = u64::from(found);
            return Err(self.fault(Fault::Limit { what, found, limit }));
        }
        Ok(found as usize)
    }

    /// Zero bytes up to a multiple of `alignment`.
    pub fn pad(&mut self, alignment: usize) -> Result<(), FormatError> {
        let count = self.at.next_multiple_of(alignment) - self.at;
        let padding = self.take(count, "padding")?;
        match padding.iter().find(|&&b| b != 0) {
            None => Ok(()),
            Some(&found) => Err(self.zero("a byte of padding", u64::from(found))),
        }
    }

    /// The fault of a value that has to be zero.
    pub fn zero(&self, what: &'static str, found: u64) -> FormatError {
        let limit = 0;
        self.fault(Fault::Limit { what, found, limit })
    }

    /// An index that must be less than `have`.
    pub fn index(&self, what: &'static str, index: u32, have: usize) -> Result<usize, FormatError> {
        if (index as usize) < have {
            return Ok(index as usize);
        }
        Err(self.fault(Fault::Limit {
            what,
            found: u64::from(index),
            limit: (have as u64).saturating_sub(1),
        }))
    }

    /// A name, or that there is none; paid for, as it is copied.
    pub fn name(&mut self, names: &Names, name: u32) -> Result<Option<String>, FormatError> {
        if name == super::names::NO_NAME {
            return Ok(None);
        }
        let place = self.index("a name", name, names.len())?;
        let text = names.get(place);
        self.charge(text.len() + size_of::<String>())?;
        Ok(Some(text.to_owned()))
    }

    /// Pays for memory.
    pub fn charge(&mut self, bytes: usize) -> Result<(), FormatError> {
        let paid = self.memory.charge(bytes);
        paid.map_err(|fault| self.fault(fault))
    }

    /// Says that all was read.
    pub fn finish(self) -> Result<(), FormatError> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        let fault = Fault::Extra {
            expected: self.offset + self.at as u64,
            have: self.offset + self.bytes.len() as u64,
        };
        Err(self.fault_at(self.at, fault))
    }

    fn length<T>(&self, count: usize, what: &'static str) -> Result<usize, FormatError> {
        count.checked_mul(size_of::<T>()).ok_or_else(|| {
            let have = (self.bytes.len() - self.at) as u64;
            let needed = u64::MAX;
            self.fault_at(self.at, Fault::Short { what, needed, have })
        })
    }
}
