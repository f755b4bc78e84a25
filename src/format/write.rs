//! `Bytes`: writes the bytes of one section.

use bytemuck::NoUninit;

/// A growing byte buffer, with the counterparts of `SectionReader`'s methods.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn one<T: NoUninit>(&mut self, value: T) {
        self.0.extend_from_slice(bytemuck::bytes_of(&value));
    }

    pub fn many<T: NoUninit>(&mut self, values: &[T]) {
        self.0.extend_from_slice(bytemuck::cast_slice(values));
    }

    /// Writes a count or an index. `Rig` and `Clip` check that theirs fit 32 bits. A larger number is written
    /// as `u32::MAX`, which readers reject.
    pub fn count(&mut self, value: usize) {
        self.one(u32::try_from(value).unwrap_or(u32::MAX));
    }

    /// Writes an index; `u32::MAX` stands for none.
    pub fn index(&mut self, value: Option<usize>) {
        self.count(value.unwrap_or(u32::MAX as usize));
    }

    pub fn pad(&mut self, alignment: usize) {
        let end = self.0.len().next_multiple_of(alignment);
        self.0.resize(end, 0);
    }
}

/// `bit` if `set`, otherwise 0.
pub(super) fn bit(set: bool, bit: u32) -> u32 {
    if set { bit } else { 0 }
}

/// The number of a value in files: its index in a list of all values.
pub(super) fn code_of<T: PartialEq>(all: &[T], value: T) -> usize {
    all.iter().position(|v| *v == value).unwrap_or(0)
}
