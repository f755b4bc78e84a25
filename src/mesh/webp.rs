//! The container of WebP files: the cost of decoding, found before anything is decoded.
//!
//! ```text
//! "RIFF" [size] "WEBP" then chunks [code, 4 bytes][size: u32][payload, padded to an even number]
//! ```

/// Memory of the decoder per pixel, bytes: planes or coefficients, the image, and its copy as RGBA.
const PER_PIXEL: u64 = 16;

/// Largest memory of the decoder per byte of lossless data: a table of 4 KiB takes 11 bytes to describe.
const PER_LOSSLESS_BYTE: u64 = 400;

/// Lossy images are decoded in blocks of 16 by 16 pixels.
const BLOCK: u64 = 16;

/// Sizes that the chunks of a file state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Container {
    pub width: u32,
    pub height: u32,
    /// Bytes of lossless data, of an image or of its alpha.
    lossless: u64,
}

impl Container {
    /// Reads the sizes of all chunks. Refuses animated images and images whose parts differ in size.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let damaged = || "the chunks of the WebP file are damaged".to_owned();
        let (riff, rest) = bytes.split_at_checked(12).ok_or_else(damaged)?;
        if !riff.starts_with(b"RIFF") || !riff.ends_with(b"WEBP") {
            return Err(damaged());
        }
        let mut size: Option<(u32, u32)> = None;
        let mut lossless = 0;
        let mut rest = rest;
        while let Some((head, after)) = rest.split_at_checked(8) {
            let [code @ .., a, b, c, d] = head else { break };
            let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
            let payload = after.get(..length).unwrap_or(after);
            let stated = match code {
                b"VP8X" => Some(canvas(payload)?),
                b"VP8 " => Some(lossy(payload).ok_or_else(damaged)?),
                b"VP8L" => Some(lossless_size(payload).ok_or_else(damaged)?),
                _ => None,
            };
            if matches!(code, b"VP8L" | b"ALPH") {
                lossless += payload.len() as u64;
            }
            if let Some(stated) = stated
                && *size.get_or_insert(stated) != stated
            {
                return Err("the parts of the WebP image differ in size".into());
            }
            rest = after.get(length.next_multiple_of(2)..).unwrap_or(&[]);
        }
        let (width, height) = size.ok_or_else(damaged)?;
        Ok(Self { width, height, lossless })
    }

    /// Bytes that decoding allocates, including the image.
    pub fn needed(&self) -> u64 {
        let side = |pixels: u32| u64::from(pixels).next_multiple_of(BLOCK);
        let image = side(self.width) * side(self.height) * PER_PIXEL;
        image.saturating_add(self.lossless.saturating_mul(PER_LOSSLESS_BYTE))
    }
}

/// The size in the header of a file with several chunks.
fn canvas(payload: &[u8]) -> Result<(u32, u32), String> {
    const ANIMATION: u8 = 2;
    let &[flags, _, _, _, a, b, c, d, e, f, ..] = payload else {
        return Err("the header of the WebP file is too short".into());
    };
    if flags & ANIMATION != 0 {
        return Err("animated WebP images are not supported".into());
    }
    let side = |low, middle, high| u32::from_le_bytes([low, middle, high, 0]) + 1;
    Ok((side(a, b, c), side(d, e, f)))
}

/// The size of a lossy image, behind its tag and start code; the upper two bits are a scale.
fn lossy(payload: &[u8]) -> Option<(u32, u32)> {
    let sides: [u8; 4] = payload.get(6..10)?.try_into().ok()?;
    let [a, b, c, d] = sides;
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((side(a, b), side(c, d)))
}

/// The size of a lossless image: 14 bits each behind a signature, less 1.
fn lossless_size(payload: &[u8]) -> Option<(u32, u32)> {
    let bits = u32::from_le_bytes(payload.get(1..5)?.try_into().ok()?);
    Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}
