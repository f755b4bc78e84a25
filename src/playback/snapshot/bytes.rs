//! The head of stored snapshots, and the cursors that write and read their values: little endian; every read is checked
//! against the end.

use super::super::error::PlaybackError;
use super::SNAPSHOT_VERSION;
use crate::math::Fnv1a;
use crate::words::{are, number, plural};

/// The first eight bytes: the magic of a .phx file with `S` in place of `X`.
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
    pub fn new(bytes: &'a [u8], needed: Kind) -> Result<Self, PlaybackError> {
        let mut r = Self { bytes, at: 0, last: 0 };
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic != &MAGIC[..magic.len()] || magic.is_empty() {
            return Err(r.fault("this is not a snapshot"));
        }
        r.take(MAGIC.len(), "the head")?;
        // The version is checked first, since the head of another version may differ.
        let have = r.u16("the head")?;
        if have != SNAPSHOT_VERSION {
            return Err(PlaybackError::SnapshotVersion { have });
        }
        let (kind, needed) = (r.u8("the head")?, needed as u8);
        let of_kind = r.last;
        r.zeros(5, "the head")?;
        let (expected, have) = (r.u64("the head")?, bytes.len() as u64);
        if expected > have || expected < HEAD as u64 {
            return Err(r.short("the snapshot", expected.max(HEAD as u64), have));
        }
        if expected < have {
            return Err(r.extra(expected, have));
        }
        let (stated, found) = (r.u64("the head")?, checksum(bytes));
        if stated != found {
            let fault = format!("the checksum is {found:016x}, the snapshot states {stated:016x}");
            return Err(r.fault(fault));
        }
        if kind != needed {
            r.last = of_kind;
            return Err(r.fault(format!(
                "the snapshot is of kind {kind}, needed is kind {needed} (1: a crowd, 2: a mixer)"
            )));
        }
        Ok(r)
    }

    /// Checks that no bytes are left.
    pub fn finish(mut self) -> Result<(), PlaybackError> {
        self.last = self.at;
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(self.extra(self.at as u64, self.bytes.len() as u64))
    }

    fn extra(&self, expected: u64, have: u64) -> PlaybackError {
        self.fault(format!("the end is at byte {expected}, but the bytes continue to {have}"))
    }

    fn short(&self, what: &str, needed: u64, have: u64) -> PlaybackError {
        let bytes = plural(needed, "byte");
        let (needed, available) = (are(needed), are(have));
        self.fault(format!("{what}: {bytes} {needed} needed, {have} {available} available"))
    }

    /// An error at the last value read.
    pub fn fault(&self, fault: impl Into<String>) -> PlaybackError {
        PlaybackError::SnapshotBytes { offset: self.last as u64, fault: fault.into() }
    }

    /// Fails at the last value read unless a condition holds.
    pub fn needs(&self, holds: bool, otherwise: &'static str) -> Result<(), PlaybackError> {
        match holds {
            true => Ok(()),
            false => Err(self.fault(otherwise)),
        }
    }

    fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], PlaybackError> {
        let rest = &self.bytes[self.at..];
        self.last = self.at;
        let Some(taken) = rest.get(..count) else {
            return Err(self.short(what, count as u64, rest.len() as u64));
        };
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], PlaybackError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn u8(&mut self, what: &'static str) -> Result<u8, PlaybackError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub fn u16(&mut self, what: &'static str) -> Result<u16, PlaybackError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub fn u32(&mut self, what: &'static str) -> Result<u32, PlaybackError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &'static str) -> Result<u64, PlaybackError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads an integer and checks that it is at most `limit`.
    pub fn up_to(&mut self, what: &'static str, limit: u64) -> Result<u64, PlaybackError> {
        let found = self.u64(what)?;
        self.limit(what, found, limit)?;
        Ok(found)
    }

    pub fn limit(&self, what: &'static str, found: u64, limit: u64) -> Result<(), PlaybackError> {
        match found <= limit {
            true => Ok(()),
            false => Err(self.fault(format!("{what} is {found}, the limit is {limit}"))),
        }
    }

    /// Reads a number and checks that it is within a range.
    pub fn f32(&mut self, what: &'static str, low: f64, high: f64) -> Result<f32, PlaybackError> {
        let value = self.array(what).map(f32::from_le_bytes)?;
        self.within(what, f64::from(value), low, high)?;
        Ok(value)
    }

    /// Reads a number and checks that it is within a range.
    pub fn f64(&mut self, what: &'static str, low: f64, high: f64) -> Result<f64, PlaybackError> {
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
    ) -> Result<(), PlaybackError> {
        // Negated so that NaN is refused as well.
        if !(value >= low && value <= high) {
            let [value, low, high] = [value, low, high].map(number);
            return Err(
                self.fault(format!("{what} is {value}; the allowed range is {low} to {high}"))
            );
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
    ) -> Result<usize, PlaybackError> {
        let found = u64::from(self.u32(what)?);
        let room = (self.bytes.len() - self.at) / each.max(1);
        self.limit(what, found, limit.min(room) as u64)?;
        Ok(found as usize)
    }

    /// Reads flags, the first one lowest; all other bits must be 0.
    pub fn flags<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[bool; N], PlaybackError> {
        let bits = self.u8(what)?;
        self.limit(what, u64::from(bits), (1 << N) - 1)?;
        Ok(std::array::from_fn(|n| bits >> n & 1 == 1))
    }

    /// Skips bytes, each of which must be 0.
    pub fn zeros(&mut self, count: usize, what: &'static str) -> Result<(), PlaybackError> {
        let zeros = self.take(count, what)?;
        self.needs(zeros.iter().all(|&b| b == 0), "a byte that must be zero is not")
    }

    pub fn text(&mut self, what: &'static str) -> Result<String, PlaybackError> {
        let length = self.count(what, 1, u32::MAX as usize)?;
        let text = self.take(length, what)?;
        let text = std::str::from_utf8(text).ok();
        self.needs(text.is_some(), "a name is not valid UTF-8")?;
        Ok(text.unwrap_or_default().to_owned())
    }
}
