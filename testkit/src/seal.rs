//! Takes .phx files apart and rebuilds them from FORMAT.md alone, with valid checksums around any bytes.

use phalanx::format::hash_bytes;

pub const HEADER: usize = 64;
pub const ENTRY: usize = 40;

/// A section: its table entry and its bytes.
#[derive(Clone, Debug)]
pub struct Part {
    pub code: [u8; 4],
    pub form: u32,
    pub name: u32,
    pub value: u32,
    pub bytes: Vec<u8>,
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The sections of a valid file.
pub fn parts(file: &[u8]) -> Vec<Part> {
    let (count, table) = (u32_at(file, 12) as usize, u64_at(file, 40) as usize);
    (0..count)
        .map(|i| {
            let e = &file[table + i * ENTRY..][..ENTRY];
            let (offset, len) = (u64_at(e, 8) as usize, u64_at(e, 16) as usize);
            Part {
                code: e[..4].try_into().unwrap(),
                form: u32_at(e, 4),
                name: u32_at(e, 32),
                value: u32_at(e, 36),
                bytes: file[offset..offset + len].to_vec(),
            }
        })
        .collect()
}

/// Builds a file from sections, with valid checksums.
pub fn file(parts: &[Part]) -> Vec<u8> {
    let mut out = vec![0; HEADER];
    let mut table = Vec::new();
    for p in parts {
        out.resize(out.len().next_multiple_of(64), 0);
        table.extend_from_slice(&p.code);
        table.extend_from_slice(&p.form.to_le_bytes());
        table.extend_from_slice(&(out.len() as u64).to_le_bytes());
        table.extend_from_slice(&(p.bytes.len() as u64).to_le_bytes());
        table.extend_from_slice(&hash_bytes(&p.bytes).to_le_bytes());
        table.extend_from_slice(&p.name.to_le_bytes());
        table.extend_from_slice(&p.value.to_le_bytes());
        out.extend_from_slice(&p.bytes);
    }
    out.resize(out.len().next_multiple_of(64), 0);
    let place = out.len() as u64;
    out.extend_from_slice(&table);
    out[..8].copy_from_slice(b"\x89PHX\r\n\x1a\n");
    out[8] = 1;
    out[12..16].copy_from_slice(&(parts.len() as u32).to_le_bytes());
    let len = out.len() as u64;
    out[32..40].copy_from_slice(&len.to_le_bytes());
    out[40..48].copy_from_slice(&place.to_le_bytes());
    out[48..56].copy_from_slice(&hash_bytes(&table).to_le_bytes());
    seal_header(&mut out);
    out
}

/// Recomputes the header's checksum.
pub fn seal_header(file: &mut [u8]) {
    let sum = hash_bytes(&file[..56]);
    file[56..64].copy_from_slice(&sum.to_le_bytes());
}

/// Index of the first section with that code.
pub fn find(parts: &[Part], code: &[u8; 4]) -> usize {
    let found = parts.iter().position(|p| &p.code == code);
    found.expect("the file has such a section")
}
