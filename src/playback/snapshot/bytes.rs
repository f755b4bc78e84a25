//! The head of stored snapshots, and the cursors that write and read their values: little endian; every read is checked
//! against the end.

use super::{SNAPSHOT_VERSION, SnapshotError, SnapshotFault};
use crate::math::Fnv1a;

/// The first eight bytes, equal to those of a .phx file.
const MAGIC: [u8; 8] = *b"\x89PHS\r\n\x1a\n";

/// Magic, version, kind, 5 zero bytes, length, checksum.
const HEAD: usize = 32;
/// Offset of the checksum.
const CHECKSUM: usize = 24;

/// The owner of a snapshot, as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Crowd = 1,
    Mixer = 2,
}

/// FNV-1a of all bytes except the checksum.
fn checksum(bytes: &[u8]) -> u64 {
    let mut h = Fnv1a::default();
    h.write(bytes.get(..CHECKSUM).unwrap_or_default());
    h.write(bytes.get(HEAD..).unwrap_or_default());
    h.finish()
}

/// A snapshot that is being written.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn new(kind: Kind) -> Self {
        let mut bytes = Vec::with_capacity(4096);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&SNAPSHOT_VERSION.to_le_bytes());
        bytes.push(kind as u8);
        bytes.resize(HEAD, 0);
        Self { bytes }
    }

    /// Writes length and checksum into the head, and returns all bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u64;
        self.bytes[CHECKSUM - 8..CHECKSUM].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&self.bytes);
        self.bytes[CHECKSUM..HEAD].copy_from_slice(&sum.to_le_bytes());
        self.bytes
    }

    pub fn u8(&mut self, v: u8) {
        self.bytes.push(v);
    }

    pub fn u16(&mut self, v: u16) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub fn u32(&mut self, v: u32) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub fn u64(&mut self, v: u64) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub fn f32(&mut self, v: f32) {
        self.u32(v.to_bits());
    }

    pub fn f64(&mut self, v: f64) {
        self.u64(v.to_bits());
    }

    /// A length or an index, which is below 2^32 by the limits of crowds.
    pub fn count(&mut self, v: usize) {
        self.u32(v as u32);
    }

    /// Writes flags as bits of a byte, the first one lowest.
    pub fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        let bits = flags.iter().enumerate();
        self.u8(bits.map(|(n, &flag)| u8::from(flag) << n).sum());
    }

    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// A cursor over the bytes of a snapshot.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the last value read, for errors.
    last: usize,
}

impl<'a> Reader<'a> {
    /// Checks the head, and starts behind it.
    pub fn new(bytes: &'a [u8], needed: Kind) -> Result<Self, SnapshotError> {
        let mut r = Self { bytes, at: 0, last: 0 };
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic != &MAGIC[..magic.len()] || magic.is_empty() {
            return Err(r.fault(SnapshotFault::Magic));
        }
        r.take(MAGIC.len(), "the head")?;
        // The version is checked first, since the head of another version may differ.
        let (have, known) = (r.u16("the head")?, SNAPSHOT_VERSION);
        if have != known {
            return Err(r.fault(SnapshotFault::Version { have, known }));
        }
        let kind = r.u8("the head")?;
        let kind_fault = r.fault(SnapshotFault::Kind { have: kind, needed: needed as u8 });
        r.zeros(5, "the head")?;
        let (expected, have) = (r.u64("the head")?, bytes.len() as u64);
        if expected > have || expected < HEAD as u64 {
            return Err(r.fault(SnapshotFault::Short {
                what: "the snapshot",
                needed: expected.max(HEAD as u64),
                have,
            }));
        }
        if expected < have {
            return Err(r.fault(SnapshotFault::Extra { expected, have }));
        }
        let (stated, found) = (r.u64("the head")?, checksum(bytes));
        if stated != found {
            return Err(r.fault(SnapshotFault::Checksum { stated, found }));
        }
        if kind != needed as u8 {
            return Err(kind_fault);
        }
        Ok(r)
    }

    /// Checks that no bytes are left.
    pub fn finish(mut self) -> Result<(), SnapshotError> {
        self.last = self.at;
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(self.fault(SnapshotFault::Extra {
            expected: self.at as u64,
            have: self.bytes.len() as u64,
        }))
    }

    /// An error at the last value read.
    pub fn fault(&self, fault: SnapshotFault) -> SnapshotError {
        SnapshotError { offset: self.last as u64, fault }
    }

    /// Fails at the last value read unless a condition holds.
    pub fn needs(&self, holds: bool, otherwise: &'static str) -> Result<(), SnapshotError> {
        match holds {
            true => Ok(()),
            false => Err(self.fault(SnapshotFault::Contradiction(otherwise))),
        }
    }

    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], SnapshotError> {
        let rest = &self.bytes[self.at..];
        self.last = self.at;
        let Some(taken) = rest.get(..count) else {
            return Err(self.fault(SnapshotFault::Short {
                what,
                needed: count as u64,
                have: rest.len() as u64,
            }));
        };
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], SnapshotError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn u8(&mut self, what: &'static str) -> Result<u8, SnapshotError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub fn u16(&mut self, what: &'static str) -> Result<u16, SnapshotError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub fn u32(&mut self, what: &'static str) -> Result<u32, SnapshotError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &'static str) -> Result<u64, SnapshotError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads an integer and checks that it is at most `limit`.
    pub fn up_to(&mut self, what: &'static str, limit: u64) -> Result<u64, SnapshotError> {
        let found = self.u64(what)?;
        self.limit(what, found, limit)?;
        Ok(found)
    }

    pub fn limit(&self, what: &'static str, found: u64, limit: u64) -> Result<(), SnapshotError> {
        match found <= limit {
            true => Ok(()),
            false => Err(self.fault(SnapshotFault::Limit { what, found, limit })),
        }
    }

    /// Reads a number and checks that it is within a range.
    pub fn f32(&mut self, what: &'static str, low: f64, high: f64) -> Result<f32, SnapshotError> {
        let value = self.array(what).map(f32::from_le_bytes)?;
        self.within(what, f64::from(value), low, high)?;
        Ok(value)
    }

    /// Reads a number and checks that it is within a range.
    pub fn f64(&mut self, what: &'static str, low: f64, high: f64) -> Result<f64, SnapshotError> {
        let value = self.array(what).map(f64::from_le_bytes)?;
        self.within(what, value, low, high)?;
        Ok(value)
    }

    /// Checks that a number that was read is within a range.
    pub fn within(
        &self,
        what: &'static str,
        value: f64,
        low: f64,
        high: f64,
    ) -> Result<(), SnapshotError> {
        // Negated so that NaN is refused as well.
        if !(value >= low && value <= high) {
            return Err(self.fault(SnapshotFault::Value { what, value, low, high }));
        }
        Ok(())
    }

    /// Reads the number of elements of a list. The rest of the bytes can hold that many, at `each` bytes or more, so
    /// memory for them may be allocated.
    pub fn count(
        &mut self,
        what: &'static str,
        each: usize,
        limit: usize,
    ) -> Result<usize, SnapshotError> {
        let found = u64::from(self.u32(what)?);
        let room = (self.bytes.len() - self.at) / each.max(1);
        self.limit(what, found, limit.min(room) as u64)?;
        Ok(found as usize)
    }

    /// Reads flags, the first one lowest; all other bits must be 0.
    pub fn flags<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[bool; N], SnapshotError> {
        let bits = self.u8(what)?;
        self.limit(what, u64::from(bits), (1 << N) - 1)?;
        Ok(std::array::from_fn(|n| bits >> n & 1 == 1))
    }

    /// Skips bytes, each of which must be 0.
    pub fn zeros(&mut self, count: usize, what: &'static str) -> Result<(), SnapshotError> {
        let zeros = self.take(count, what)?;
        self.needs(zeros.iter().all(|&b| b == 0), "a byte that must be zero is not")
    }

    pub fn text(&mut self, what: &'static str) -> Result<String, SnapshotError> {
        let length = self.count(what, 1, u32::MAX as usize)?;
        let text = self.take(length, what)?;
        let text = std::str::from_utf8(text).ok();
        self.needs(text.is_some(), "a name is not valid UTF-8")?;
        Ok(text.unwrap_or_default().to_owned())
    }
}
