//! A binary range coder: bits in fractions of a bit, by how likely they are. As LZMA's, with carries
//! passed on to bytes that are already out; writing and reading make the same steps.

use super::CodecError;
use super::model::Bit;

/// Ranges are kept above this.
const LEAST_RANGE: u32 = 1 << 24;
/// Bits of a probability as it is used.
const PROBABILITY_BITS: u32 = 12;
/// The most bits that are passed on as they are at once.
const RAW_BITS: u32 = 8;

/// Writes a clip or reads it: each step takes what is written and gives what is read, so that one
/// walk over a clip's parts serves both. A reader is given anything.
pub(super) trait Coder {
    /// Whether values come from bytes.
    const READS: bool;

    /// A bit of which a model knows how likely it is.
    fn bit(&mut self, model: &mut Bit, bit: bool) -> Result<bool, CodecError>;

    /// At most [`RAW_BITS`] bits, each as likely as not.
    fn few(&mut self, value: u32, bits: u32) -> Result<u32, CodecError>;

    /// Takes memory that the decoded clip needs, before it is allocated.
    fn charge(&mut self, bytes: usize) -> Result<(), CodecError>;

    /// What is wrong with a number that was read.
    fn limit(&self, what: &'static str, found: u64, limit: u64) -> CodecError;

    /// Bits as they are.
    fn raw(&mut self, value: u64, bits: u32) -> Result<u64, CodecError> {
        let (mut read, mut left) = (0, bits);
        while left > 0 {
            let some = left.min(RAW_BITS);
            left -= some;
            let part = (value >> left) as u32 & ((1 << some) - 1);
            read = read << some | u64::from(self.few(part, some)?);
        }
        Ok(read)
    }
}

/// Writes.
pub(super) struct Writer {
    low: u64,
    range: u32,
    /// The last byte that a carry may still change, and bytes of 255 behind it.
    cache: u8,
    pending: usize,
    out: Vec<u8>,
    memory: usize,
}

impl Writer {
    pub fn new() -> Self {
        Self {
            low: 0,
            range: u32::MAX,
            cache: 0,
            pending: 0,
            out: Vec::new(),
            memory: 0,
        }
    }

    /// The bytes, and the memory that was charged.
    pub fn finish(mut self) -> (Vec<u8>, usize) {
        for _ in 0..5 {
            self.shift();
        }
        // The first byte is before all values, and always 0.
        self.out.remove(0);
        (self.out, self.memory)
    }

    fn shift(&mut self) {
        let carry = (self.low >> 32) as u8;
        if self.low < 0xff00_0000 || carry == 1 {
            self.out.push(self.cache.wrapping_add(carry));
            let passed = 0xffu8.wrapping_add(carry);
            self.out.extend(std::iter::repeat_n(passed, self.pending));
            self.pending = 0;
            self.cache = (self.low >> 24) as u8;
        } else {
            self.pending += 1;
        }
        self.low = (self.low & 0x00ff_ffff) << 8;
    }

    fn settle(&mut self) {
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.shift();
        }
    }
}

impl Coder for Writer {
    const READS: bool = false;

    fn bit(&mut self, model: &mut Bit, bit: bool) -> Result<bool, CodecError> {
        let bound = (self.range >> PROBABILITY_BITS) * model.zero();
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
        } else {
            self.range = bound;
        }
        model.learn(bit);
        self.settle();
        Ok(bit)
    }

    fn few(&mut self, value: u32, bits: u32) -> Result<u32, CodecError> {
        self.range >>= bits;
        self.low += u64::from(value) * u64::from(self.range);
        self.settle();
        Ok(value)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), CodecError> {
        self.memory += bytes;
        Ok(())
    }

    fn limit(&self, what: &'static str, found: u64, limit: u64) -> CodecError {
        let offset = self.out.len();
        CodecError::Limit {
            offset,
            what,
            found,
            limit,
        }
    }
}

/// Reads.
pub(super) struct RangeDecoder<'a> {
    bytes: &'a [u8],
    at: usize,
    code: u32,
    range: u32,
    memory: usize,
    limit: usize,
}

impl<'a> RangeDecoder<'a> {
    /// Reads bytes from `at` on; `limit` bytes of memory may be charged.
    pub fn new(bytes: &'a [u8], at: usize, limit: usize) -> Result<Self, CodecError> {
        let mut reader = Self {
            bytes,
            at,
            code: 0,
            range: u32::MAX,
            memory: 0,
            limit,
        };
        for _ in 0..4 {
            reader.code = reader.code << 8 | reader.next()?;
        }
        Ok(reader)
    }

    /// The bytes read.
    pub fn position(&self) -> usize {
        self.at
    }

    fn next(&mut self) -> Result<u32, CodecError> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(CodecError::Short {
                offset: self.at,
                needed: self.at + 1,
                have: self.bytes.len(),
            });
        };
        self.at += 1;
        Ok(byte.into())
    }

    fn settle(&mut self) -> Result<(), CodecError> {
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.code = self.code << 8 | self.next()?;
        }
        Ok(())
    }
}

impl Coder for RangeDecoder<'_> {
    const READS: bool = true;

    fn bit(&mut self, model: &mut Bit, _: bool) -> Result<bool, CodecError> {
        let bound = (self.range >> PROBABILITY_BITS) * model.zero();
        let bit = self.code >= bound;
        if bit {
            self.code -= bound;
            self.range -= bound;
        } else {
            self.range = bound;
        }
        model.learn(bit);
        self.settle()?;
        Ok(bit)
    }

    fn few(&mut self, _: u32, bits: u32) -> Result<u32, CodecError> {
        self.range >>= bits;
        // Bytes that no writer makes lead past the last value.
        let value = (self.code / self.range).min((1 << bits) - 1);
        self.code -= value * self.range;
        self.settle()?;
        Ok(value)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), CodecError> {
        let needed = self.memory.saturating_add(bytes);
        if needed > self.limit {
            return Err(CodecError::Memory {
                offset: self.at,
                needed,
                limit: self.limit,
            });
        }
        self.memory = needed;
        Ok(())
    }

    fn limit(&self, what: &'static str, found: u64, limit: u64) -> CodecError {
        let offset = self.at;
        CodecError::Limit {
            offset,
            what,
            found,
            limit,
        }
    }
}
