//! A binary adaptive range coder, as in LZMA: 32-bit range, 12-bit probabilities, carries propagated into
//! bytes already written.

use super::model::Bit;
use super::{Fault, ReadError, flaw, short};

/// The range is renormalised when it falls below this.
const LEAST_RANGE: u32 = 1 << 24;
/// Bits of a probability.
const PROBABILITY_BITS: u32 = 12;
/// Limit on the bits that one call stores without a model.
const RAW_BITS: u32 = 8;

/// The encoder or the decoder. Each call accepts the value to write and returns the value written or read,
/// so one traversal of a clip serves both directions. A decoder ignores the values passed in.
pub(super) trait Coder {
    /// True for the decoder.
    const READS: bool;

    /// Codes a bit with an adaptive model.
    fn bit(&mut self, model: &mut Bit, bit: bool) -> Result<bool, ReadError>;

    /// Codes at most [`RAW_BITS`] bits without a model.
    fn few(&mut self, value: u32, bits: u32) -> Result<u32, ReadError>;

    /// Charges memory of the decoded clip before it is allocated.
    fn charge(&mut self, bytes: usize) -> Result<(), ReadError>;

    /// Number of bytes written or read; the decoder counts from the start of its slice.
    fn position(&self) -> usize;

    /// The error for a number that is out of range.
    fn limit(&self, what: &'static str, found: u64, limit: u64) -> ReadError {
        flaw(self.position(), Fault::limit(what, found, limit))
    }

    /// Codes any number of bits without a model.
    fn raw(&mut self, value: u64, bits: u32) -> Result<u64, ReadError> {
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

/// The encoder.
pub(super) struct Writer {
    low: u64,
    range: u32,
    /// The last byte that a carry can still change, and the number of bytes 0xff that follow it.
    cache: u8,
    pending: usize,
    out: Vec<u8>,
    memory: usize,
}

impl Writer {
    pub fn new() -> Self {
        Self { low: 0, range: u32::MAX, cache: 0, pending: 0, out: Vec::new(), memory: 0 }
    }

    /// The encoded bytes, and the memory that was charged.
    pub fn finish(mut self) -> (Vec<u8>, usize) {
        for _ in 0..5 {
            self.shift();
        }
        // The initial cache byte is always 0 and carries no value.
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

    fn bit(&mut self, model: &mut Bit, bit: bool) -> Result<bool, ReadError> {
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

    fn few(&mut self, value: u32, bits: u32) -> Result<u32, ReadError> {
        self.range >>= bits;
        self.low += u64::from(value) * u64::from(self.range);
        self.settle();
        Ok(value)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.memory += bytes;
        Ok(())
    }

    fn position(&self) -> usize {
        self.out.len()
    }
}

/// The decoder.
pub(super) struct RangeDecoder<'a> {
    bytes: &'a [u8],
    at: usize,
    code: u32,
    range: u32,
    memory: usize,
    limit: usize,
}

impl<'a> RangeDecoder<'a> {
    /// Decodes bytes from `at`; at most `limit` bytes of memory may be charged.
    pub fn new(bytes: &'a [u8], at: usize, limit: usize) -> Result<Self, ReadError> {
        let mut reader = Self { bytes, at, code: 0, range: u32::MAX, memory: 0, limit };
        for _ in 0..4 {
            reader.code = reader.code << 8 | reader.next()?;
        }
        Ok(reader)
    }

    fn next(&mut self) -> Result<u32, ReadError> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(short(self.at, self.bytes.len()));
        };
        self.at += 1;
        Ok(byte.into())
    }

    fn settle(&mut self) -> Result<(), ReadError> {
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.code = self.code << 8 | self.next()?;
        }
        Ok(())
    }
}

impl Coder for RangeDecoder<'_> {
    const READS: bool = true;

    fn bit(&mut self, model: &mut Bit, _: bool) -> Result<bool, ReadError> {
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

    fn few(&mut self, _: u32, bits: u32) -> Result<u32, ReadError> {
        self.range >>= bits;
        // Invalid bytes can give a value past the last one.
        let value = (self.code / self.range).min((1 << bits) - 1);
        self.code -= value * self.range;
        self.settle()?;
        Ok(value)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        let needed = self.memory.saturating_add(bytes);
        if needed > self.limit {
            let (needed, limit) = (needed as u64, self.limit as u64);
            return Err(flaw(self.at, Fault::Memory { needed, limit }));
        }
        self.memory = needed;
        Ok(())
    }

    fn position(&self) -> usize {
        self.at
    }
}
