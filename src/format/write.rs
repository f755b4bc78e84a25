//! `Bytes`: the bytes of one section in the making.

use bytemuck::NoUninit;

/// Bytes, with the same steps as `SectionReader`.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn one<T: NoUninit>(&mut self, value: T) {
        self.0.extend_from_slice(bytemuck::bytes_of(&value));
    }

    pub fn many<T: NoUninit>(&mut self, values: &[T]) {
        self.0.extend_from_slice(bytemuck::cast_slice(values));
    }

    /// A count or an index. Those of a rig are checked to fit by what made them; a larger one is
    /// written as the largest, which no reader takes.
    pub fn count(&mut self, value: usize) {
        self.one(u32::try_from(value).unwrap_or(u32::MAX));
    }

    /// An index, or that there is none.
    pub fn index(&mut self, value: Option<usize>) {
        self.count(value.unwrap_or(u32::MAX as usize));
    }

    pub fn pad(&mut self, alignment: usize) {
        let end = self.0.len().next_multiple_of(alignment);
        self.0.resize(end, 0);
    }
}
