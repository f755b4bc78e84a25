//! The header and the section table.
//!
//! ```text
//! [header: 64 bytes][section 0, padded to 64][section 1, padded to 64] … [table: 40 bytes per section]
//! ```

use super::error::{Fault, ReadError};
use super::source::Source;
use bytemuck::{Pod, Zeroable};
use std::fmt;
use twox_hash::XxHash3_64;

/// The first eight bytes of a file. As in PNG, a non-ASCII byte and line ends expose text-mode transfers.
pub const MAGIC: [u8; 8] = *b"\x89PHX\r\n\x1a\n";

/// The version of the file. Files of other versions are rejected.
pub const VERSION: u32 = 1;

/// Alignment of sections, and of rows within them, in bytes.
pub(super) const ALIGNMENT: usize = 64;

/// XXH3, 64 bits, seed 0: the checksum of sections and the hash of source files.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// The first 64 bytes.
    Header,
    /// The section table.
    Table,
    /// All names of the file.
    Names,
    /// Joints, rest pose, lane order, scalars.
    Skeleton,
    /// All skins: slots and inverse bind matrices.
    Skins,
    /// Nodes and their meshes.
    Nodes,
    /// One mesh.
    Mesh,
    /// All materials.
    Materials,
    /// One image.
    Image,
    /// One clip.
    Clip,
    /// Markers of all clips.
    Events,
    /// The sources of the file.
    Provenance,
    /// The human bones of the joints.
    Humanoid,
    /// The springs of the joints.
    Springs,
    /// The volume that the meshes take while each clip plays.
    Bounds,
    /// Any other section; it is skipped.
    Unknown([u8; 4]),
}

const CODES: [([u8; 4], Section); 13] = [
    (*b"NAME", Section::Names),
    (*b"SKEL", Section::Skeleton),
    (*b"SKIN", Section::Skins),
    (*b"NODE", Section::Nodes),
    (*b"MESH", Section::Mesh),
    (*b"MATL", Section::Materials),
    (*b"IMAG", Section::Image),
    (*b"CLIP", Section::Clip),
    (*b"EVNT", Section::Events),
    (*b"PROV", Section::Provenance),
    (*b"HUMN", Section::Humanoid),
    (*b"SPRG", Section::Springs),
    (*b"BNDS", Section::Bounds),
];

impl Section {
    pub(super) fn of_code(code: [u8; 4]) -> Self {
        let known = CODES.iter().find(|(c, _)| *c == code);
        known.map_or(Self::Unknown(code), |(_, section)| *section)
    }

    pub(super) fn code(self) -> [u8; 4] {
        let known = CODES.iter().find(|(_, section)| *section == self);
        match (known, self) {
            (Some((code, _)), _) => *code,
            (None, Self::Unknown(code)) => code,
            (None, _) => [0; 4],
        }
    }

    pub(super) fn fault(self, offset: u64, fault: impl Into<Fault>) -> ReadError {
        ReadError { file: None, section: self, offset, fault: fault.into() }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Table => f.write_str("table"),
            other => write!(f, "section {}", other.code().escape_ascii()),
        }
    }
}

/// The first 64 bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    pub magic: [u8; 8],
    pub version: u32,
    pub sections: u32,
    pub zero: [u64; 2],
    pub file_bytes: u64,
    pub table: u64,
    pub table_checksum: u64,
    /// Checksum of the bytes before it.
    pub checksum: u64,
}

/// An entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Entry {
    pub code: [u8; 4],
    /// Form in which the bytes are stored; the forms are listed in FORMAT.md.
    pub form: u32,
    pub offset: u64,
    pub bytes: u64,
    pub checksum: u64,
    /// Index into the file's names.
    pub name: u32,
    /// Clips: bits of the duration (f32, seconds); otherwise 0.
    pub value: u32,
}

pub(super) const HEADER: usize = size_of::<Header>();
pub(super) const ENTRY: usize = size_of::<Entry>();

impl Entry {
    pub fn section(&self) -> Section {
        Section::of_code(self.code)
    }

    pub fn fault(&self, fault: impl Into<Fault>) -> ReadError {
        self.section().fault(self.offset, fault)
    }
}

impl Header {
    pub fn seal(mut self) -> Self {
        self.checksum = hash_bytes(&bytemuck::bytes_of(&self)[..HEADER - 8]);
        self
    }
}

/// Reads and checks the header and the table. Sections, and the padding behind them, are not read.
pub(super) fn read(source: &Source) -> Result<(Header, Vec<Entry>), ReadError> {
    let fail = |offset, fault: Fault| Err(Section::Header.fault(offset, fault));
    let have = source.len();
    let bytes = source.read(Section::Header, 0, have.min(HEADER as u64))?;
    if !bytes.starts_with(&MAGIC) {
        return fail(0, Fault::Magic);
    }
    let short = |needed| Fault::Short { what: "header", needed, have };
    let Some(version) = bytes.get(8..12) else { return fail(8, short(HEADER as u64)) };
    // The version is checked first: a newer header may be longer.
    let version = bytemuck::pod_read_unaligned(version);
    if version != VERSION {
        let (have, known) = (version, VERSION);
        return fail(8, Fault::Version { have, known });
    }
    let Some(head) = bytes.get(..HEADER) else { return fail(8, short(HEADER as u64)) };
    let header: Header = bytemuck::pod_read_unaligned(head);
    let found = header.seal().checksum;
    if found != header.checksum {
        let stated = header.checksum;
        return fail(56, Fault::Checksum { stated, found });
    }
    if let Some(&found) = header.zero.iter().find(|&&zero| zero != 0) {
        return fail(16, Fault::limit("a reserved field", found, 0u32));
    }
    if header.file_bytes > have {
        let needed = header.file_bytes;
        let what = "file";
        return fail(32, Fault::Short { what, needed, have });
    }
    if header.file_bytes < have {
        let expected = header.file_bytes;
        return fail(32, Fault::Extra { expected, have });
    }
    let table_bytes = u64::from(header.sections) * ENTRY as u64;
    let end = header.table.checked_add(table_bytes);
    if end != Some(have) || header.table < HEADER as u64 {
        let limit = have.saturating_sub(table_bytes);
        return fail(40, Fault::limit("the offset of the table", header.table, limit));
    }
    let table = source.read(Section::Table, header.table, table_bytes)?;
    let found = hash_bytes(&table);
    if found != header.table_checksum {
        let stated = header.table_checksum;
        return Err(Section::Table.fault(header.table, Fault::Checksum { stated, found }));
    }
    let entries: Vec<Entry> = bytemuck::pod_collect_to_vec(&table);
    check_places(&header, &entries)?;
    Ok((header, entries))
}

/// Checks that sections follow each other up to the table, aligned. Bytes between sections are read with the section
/// before them.
fn check_places(header: &Header, entries: &[Entry]) -> Result<(), ReadError> {
    let mut end = HEADER as u64;
    let places = entries.iter().map(|e| (e.offset, e.bytes));
    for (i, (offset, length)) in places.chain([(header.table, 0)]).enumerate() {
        let at = header.table + (i * ENTRY) as u64;
        let next = end.next_multiple_of(ALIGNMENT as u64);
        if offset != next {
            let fault = Fault::limit("the offset of a section", offset, next);
            return Err(Section::Table.fault(at, fault));
        }
        end = match offset.checked_add(length).filter(|&e| e <= header.table) {
            Some(end) => end,
            None => {
                let what = "section";
                let (needed, have) = (length, header.table.saturating_sub(offset));
                return Err(Section::Table.fault(at, Fault::Short { what, needed, have }));
            }
        };
    }
    Ok(())
}
