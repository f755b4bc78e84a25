//! The entropy-coded form of clips: [`encode`] and [`decode`].
//!
//! Keys are turned into integers, predicted, and the residuals are range coded. Decoding is lossless: the
//! clip samples to the same bits. Names and markers are stored separately.
//!
//! The bytes are untrusted input: every number is checked before it is used, and memory is charged before
//! it is allocated.
//!
//! ```text
//! [length of the padding: LEB128][padding: zeros][range-coded clip]
//! ```

mod blocks;
mod canonical;
mod clip_coder;
mod model;
mod range;
mod residuals;
mod times;
mod values;

pub(super) use blocks::KINDS;

use super::container::Section;
use super::error::{Fault, ReadError};
use super::writer::WriteError;
use crate::clip::{Clip, ClipParts, Marker};
use crate::skeleton::Skeleton;
use canonical::canonical;
use clip_coder::{ClipCoder, folded};
use range::{Coder, RangeDecoder, Writer};

/// Memory that a decoded clip may take, in bytes per encoded byte. [`encode`] pads clips that compress
/// better with zeros. Measured: 4 for walk cycles, 60 for clips of held poses.
pub(super) const EXPANSION: usize = 256;

/// Memory that a decoded clip may take in addition, whatever its encoded size: 16 KiB.
pub(super) const MEMORY_BASE: usize = 16 << 10;

/// Encodes all parts of a clip except its name and markers.
///
/// Rows are stored in the order of their blocks; rows that no block uses are dropped.
///
/// # Errors
/// If the clip does not fit the skeleton, or a count or a number exceeds the limits of the format.
pub fn encode(clip: &Clip, skeleton: &Skeleton) -> Result<Vec<u8>, WriteError> {
    let refused = |fault| WriteError::Codec { name: clip.name().to_owned(), fault };
    if !clip.fits(skeleton) {
        let have = folded(clip.structure_hash(), clip.layout_hash());
        let needed = folded(skeleton.structure_hash(), skeleton.layout_hash());
        return Err(refused(foreign(have, needed)));
    }
    let mut writer = Writer::new();
    let coded = ClipCoder::new(&mut writer, canonical(clip), skeleton).run();
    coded.map_err(|e| refused(e.fault))?;
    let (coded, memory) = writer.finish();
    let wanted = memory.saturating_sub(MEMORY_BASE).div_ceil(EXPANSION);
    let mut filling = wanted.saturating_sub(coded.len());
    let mut out = Vec::new();
    let zeros = filling;
    while filling >= 0x80 {
        out.push(filling as u8 | 0x80);
        filling >>= 7;
    }
    out.push(filling as u8);
    out.resize(out.len() + zeros, 0);
    out.extend_from_slice(&coded);
    Ok(out)
}

/// Decodes the bytes of [`encode`], for the same skeleton with the same lane order.
///
/// # Errors
/// If the bytes are not exactly one such clip, or decoding needs more memory than 256 bytes for each byte and 16 KiB.
/// Offsets of errors count from the start of the bytes.
pub fn decode(
    bytes: &[u8],
    skeleton: &Skeleton,
    name: String,
    markers: Vec<Marker>,
) -> Result<Clip, ReadError> {
    let start = skip_padding(bytes)?;
    let limit = bytes.len().saturating_mul(EXPANSION);
    let mut reader = RangeDecoder::new(bytes, start, limit.saturating_add(MEMORY_BASE))?;
    let empty = ClipParts { name, markers, ..ClipParts::default() };
    let mut coder = ClipCoder::new(&mut reader, empty, skeleton);
    coder.run()?;
    let mut parts = coder.parts;
    let offset = reader.position();
    if offset != bytes.len() {
        let (expected, have) = (offset as u64, bytes.len() as u64);
        return Err(flaw(offset, Fault::Extra { expected, have }));
    }
    parts.end_packed();
    Clip::new(parts, skeleton).map_err(|error| flaw(offset, error))
}

/// A fault at an offset from the start of the coded bytes.
fn flaw(offset: usize, fault: impl Into<Fault>) -> ReadError {
    Section::Clip.fault(offset as u64, fault)
}

/// The byte at `offset` is missing.
fn short(offset: usize, have: usize) -> ReadError {
    let (what, needed, have) = ("a coded clip", offset as u64 + 1, have as u64);
    flaw(offset, Fault::Short { what, needed, have })
}

/// A clip of another skeleton or lane order, by the hashes of both, folded to 32 bits.
fn foreign(have: u32, needed: u32) -> Fault {
    let (have, needed) = (have.into(), needed.into());
    Fault::Structure { have, needed }
}

/// The start of the range-coded part.
fn skip_padding(bytes: &[u8]) -> Result<usize, ReadError> {
    let short = |offset| short(offset, bytes.len());
    let (mut filling, mut shift, mut at) = (0usize, 0, 0);
    loop {
        let byte = *bytes.get(at).ok_or(short(at))?;
        at += 1;
        filling |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
        if shift > 28 {
            let fault = Fault::limit("the bits of the padding's length", shift as u64, 28u32);
            return Err(flaw(at, fault));
        }
    }
    let Some(zeros) = bytes[at..].get(..filling) else { return Err(short(bytes.len())) };
    if let Some(i) = zeros.iter().position(|&b| b != 0) {
        return Err(flaw(at + i, Fault::limit("a byte of the padding", zeros[i], 0u32)));
    }
    Ok(at + filling)
}
