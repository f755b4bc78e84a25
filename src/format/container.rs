//! The header and the table of sections.

use super::error::{Fault, FormatError};
use bytemuck::{Pod, Zeroable};
use std::fmt;
use twox_hash::XxHash3_64;

/// The first eight bytes. As PNG's: a byte that is no text, and line ends that transfers spoil.
pub const MAGIC: [u8; 8] = *b"\x89PHX\r\n\x1a\n";

/// The version written, and the newest major version read.
pub const VERSION: (u16, u16) = (1, 0);

/// Sections, and rows within them, begin at multiples of this many bytes.
pub const ALIGNMENT: usize = 64;

/// Feature bits that a reader must know.
pub(super) const FEATURE_CODED: u64 = 1;
/// Images of form 1: as their sources hold them.
pub(super) const FEATURE_ENCODED_IMAGES: u64 = 2;
pub(super) const KNOWN_FEATURES: u64 = FEATURE_CODED | FEATURE_ENCODED_IMAGES;

/// XXH3, 64 bits, seed 0: the checksum of sections and the hash of sources.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// The first 64 bytes.
    Header,
    /// The table of sections.
    Table,
    /// All names.
    Names,
    /// Joints, rest pose, lane order, scalars.
    Skeleton,
    /// Slots and inverse bind matrices.
    Skins,
    /// Nodes, and the meshes on them.
    Nodes,
    /// One mesh.
    Mesh,
    /// Materials.
    Materials,
    /// One picture.
    Image,
    /// One clip.
    Clip,
    /// Markers of all clips.
    Events,
    /// Where all of it comes from.
    Provenance,
    /// One that a later version may know.
    Unknown([u8; 4]),
}

const CODES: [([u8; 4], Section); 10] = [
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

    pub(super) fn fault(self, offset: u64, fault: impl Into<Fault>) -> FormatError {
        FormatError {
            section: self,
            offset,
            fault: fault.into(),
        }
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
    pub major: u16,
    pub minor: u16,
    pub sections: u32,
    pub required: u64,
    pub optional: u64,
    pub file_bytes: u64,
    pub table: u64,
    pub table_checksum: u64,
    /// Of the bytes before it.
    pub checksum: u64,
}

/// One section in the table.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Entry {
    pub code: [u8; 4],
    /// How the bytes are stored; 0: as FORMAT.md lists them.
    pub form: u32,
    pub offset: u64,
    pub bytes: u64,
    pub checksum: u64,
    /// Its name among the file's names.
    pub name: u32,
    /// Clips: seconds, as the bits of an f32.
    pub value: u32,
}

pub(super) const HEADER: usize = size_of::<Header>();
pub(super) const ENTRY: usize = size_of::<Entry>();

impl Entry {
    pub fn section(&self) -> Section {
        Section::of_code(self.code)
    }

    pub fn fault(&self, fault: impl Into<Fault>) -> FormatError {
        self.section().fault(self.offset, fault)
    }
}

impl Header {
    pub fn seal(mut self) -> Self {
        self.checksum = hash_bytes(&bytemuck::bytes_of(&self)[..HEADER - 8]);
        self
    }
}

/// Reads and checks header and table; the sections' own bytes are not looked at, but what lies between
/// them is.
pub(super) fn read(bytes: &[u8]) -> Result<(Header, Vec<Entry>), FormatError> {
    let fail = |offset, fault: Fault| Err(Section::Header.fault(offset, fault));
    let have = bytes.len() as u64;
    if !bytes.starts_with(&MAGIC) {
        return fail(0, Fault::Magic);
    }
    let short = |needed| Fault::Short {
        what: "header",
        needed,
        have,
    };
    let Some(version) = bytes.get(8..10) else {
        return fail(8, short(HEADER as u64));
    };
    // Before all else: a newer header may be longer.
    let major = u16::from_le_bytes([version[0], version[1]]);
    if major == 0 || major > VERSION.0 {
        let known = VERSION.0;
        return fail(8, Fault::Version { have: major, known });
    }
    let Some(head) = bytes.get(..HEADER) else {
        return fail(8, short(HEADER as u64));
    };
    let header: Header = bytemuck::pod_read_unaligned(head);
    let found = header.seal().checksum;
    if found != header.checksum {
        let stated = header.checksum;
        return fail(56, Fault::Checksum { stated, found });
    }
    if header.required & !KNOWN_FEATURES != 0 {
        let known = KNOWN_FEATURES;
        let have = header.required;
        return fail(16, Fault::Features { have, known });
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
        return fail(
            40,
            Fault::Limit {
                what: "the table's first byte",
                found: header.table,
                limit: have.saturating_sub(table_bytes),
            },
        );
    }
    let table = &bytes[header.table as usize..];
    let found = hash_bytes(table);
    if found != header.table_checksum {
        let stated = header.table_checksum;
        return Err(Section::Table.fault(header.table, Fault::Checksum { stated, found }));
    }
    let entries: Vec<Entry> = bytemuck::pod_collect_to_vec(table);
    check_places(&header, &entries, bytes)?;
    Ok((header, entries))
}

/// Sections follow each other, aligned, with nothing but zeros between them, up to the table.
fn check_places(header: &Header, entries: &[Entry], bytes: &[u8]) -> Result<(), FormatError> {
    let mut end = HEADER as u64;
    let places = entries.iter().map(|e| (e.offset, e.bytes));
    for (i, (offset, length)) in places.chain([(header.table, 0)]).enumerate() {
        let at = header.table + (i * ENTRY) as u64;
        let next = end.next_multiple_of(ALIGNMENT as u64);
        if offset != next {
            let (what, found, limit) = ("the section's first byte", offset, next);
            return Err(Section::Table.fault(at, Fault::Limit { what, found, limit }));
        }
        let gap = bytes.get(end as usize..next as usize).unwrap_or(&[]);
        if let Some(stray) = gap.iter().position(|&b| b != 0) {
            let found = u64::from(gap[stray]);
            let (what, limit) = ("a byte between sections", 0);
            let place = end + stray as u64;
            return Err(Section::Table.fault(place, Fault::Limit { what, found, limit }));
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
