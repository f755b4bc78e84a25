//! Splits a file into JSON text and binary chunk, and checks the container.

use super::error::{Fault, invalid};
use crate::words::{are, plural};

/// The two parts of a file.
pub(super) struct Container<'a> {
    /// JSON text without a byte order mark.
    pub json: &'a [u8],
    /// The BIN chunk of a GLB.
    pub bin: Option<&'a [u8]>,
}

const GLB_HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// Splits a file: `.glb` by its magic number; anything else must be a JSON object.
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    if bytes.is_empty() {
        return Err(invalid("the file is empty").into());
    }
    if bytes.starts_with(b"glTF") {
        return split_glb(bytes);
    }
    let json = without_mark(bytes);
    match json.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'{') => Ok(Container { json, bin: None }),
        _ => Err(invalid("is neither binary glTF nor JSON").into()),
    }
}

fn without_mark(json: &[u8]) -> &[u8] {
    json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

fn split_glb(bytes: &[u8]) -> Result<Container<'_>, Fault> {
    let found = bytes.len() as u64;
    let length = |declared: u64| {
        let declared = plural(declared, "byte");
        invalid(format!("the GLB header claims {declared}, the file has {found}"))
    };
    let short = || length(GLB_HEADER as u64);
    let version = word(bytes, 4).ok_or_else(short)?;
    let declared = word(bytes, 8).ok_or_else(short)?;
    if version != 2 {
        return Err(invalid(format!("GLB version {version}, expected 2")).into());
    }
    let declared = u64::from(declared);
    let whole = usize::try_from(declared)
        .ok()
        .filter(|&n| n >= GLB_HEADER)
        .and_then(|n| bytes.get(..n))
        .ok_or_else(|| length(declared))?;
    let (mut json, mut bin) = (None, None);
    let mut at = GLB_HEADER;
    let mut chunk = 0;
    while at < whole.len() {
        let left = (whole.len() - at) as u64;
        let claims = |declared: usize, left: u64| {
            let (declared, are) = (plural(declared as u64, "byte"), are(left));
            invalid(format!("GLB chunk {chunk} claims {declared}, {left} {are} left"))
        };
        let header = |offset| word(whole, at + offset).ok_or_else(|| claims(CHUNK_HEADER, left));
        let (length, tag) = (header(0)? as usize, header(4)?);
        let data = (at + CHUNK_HEADER)
            .checked_add(length)
            .and_then(|end| whole.get(at + CHUNK_HEADER..end))
            .ok_or_else(|| claims(length, left.saturating_sub(CHUNK_HEADER as u64)))?;
        match (&tag.to_le_bytes(), chunk) {
            (b"JSON", 0) => json = Some(data),
            (_, 0) => return Err(invalid("the first GLB chunk is not JSON").into()),
            (b"BIN\0", 1) => bin = Some(data),
            _ => {} // By the specification, unknown chunks are skipped.
        }
        // Missing padding of the last chunk is accepted: nothing follows it.
        at += CHUNK_HEADER + length;
        chunk += 1;
    }
    let json = json.ok_or_else(|| invalid("the first GLB chunk is not JSON"))?;
    // Some writers pad the text with zeros instead of spaces.
    let padding = json.iter().rev().take_while(|&&byte| byte == 0).count();
    let json = without_mark(&json[..json.len() - padding]);
    Ok(Container { json, bin })
}
