//! `Library`: an open .phx file. Its clips are read one by one, when they are asked for.

use super::clip::{self, ClipEntry, ClipForm};
use super::container::{self, Entry, Section, hash_bytes};
use super::error::{Fault, FormatError, OpenError};
use super::events::{self, Event};
use super::memory::MemoryLimit;
use super::names::{NO_NAME, Names};
use super::provenance::{self, Provenance};
use super::read::SectionReader;
use super::{images, materials, meshes, nodes, open, skeleton, skins};
use crate::build::relane;
use crate::clip::{Clip, Marker, SharedBytes};
use crate::mesh::{ImageData, ImageMode, Mesh};
use crate::rig::{Rig, RigParts};
use crate::skeleton::Skeleton;
use rayon::prelude::*;
use std::collections::HashMap;
use std::mem::offset_of;
use std::path::Path;
use std::sync::Arc;

/// An open .phx file: header, table, names, skeleton, markers and provenance were read and checked;
/// clips, meshes and pictures are when they are asked for. Clips share the file's bytes.
#[derive(Clone)]
pub struct Library {
    bytes: SharedBytes,
    entries: Vec<Entry>,
    /// The clips' entries.
    clips: Vec<Entry>,
    /// Clips in the order of their names.
    by_name: Vec<u32>,
    names: Names,
    skeleton: Arc<Skeleton>,
    events: Vec<Event>,
    provenance: Provenance,
}

/// What [`Library::rig`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigOptions {
    /// All clips.
    pub clips: bool,
    /// What becomes of images; decoded by default, where the feature `images` is there.
    pub images: ImageMode,
}

impl Default for RigOptions {
    fn default() -> Self {
        Self {
            clips: true,
            images: ImageMode::default(),
        }
    }
}

/// A section of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionInfo {
    /// What it holds.
    pub section: Section,
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// How a clip's bytes are stored.
    pub form: Option<ClipForm>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (clips, bytes) = (self.clips.len(), self.byte_len());
        write!(f, "Library({clips} clips, {bytes} bytes)")
    }
}

impl Library {
    /// Maps a file. Whoever replaces it must put a new file in its place, never write into it.
    ///
    /// # Errors
    /// If it cannot be read, or is no .phx file that can be used.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::new(open::map(path)?).map_err(|source| OpenError::Format {
            file: path.display().to_string(),
            source: Box::new(source),
        })
    }

    /// Reads a file from memory; the bytes are copied once.
    ///
    /// # Errors
    /// If they are no .phx file that can be used.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        Self::new(open::copy(bytes))
    }

    fn new(owner: SharedBytes) -> Result<Self, FormatError> {
        let bytes = &owner[..];
        let (header, entries) = container::read(bytes)?;
        let memory = MemoryLimit::new(bytes.len());
        let named = the_one(&entries, Section::Names)?;
        let names = Names::read(reader(bytes, named, &memory)?)?;
        let clips: Vec<Entry> = of_kind(&entries, Section::Clip).copied().collect();
        for (place, e) in entries.iter().enumerate() {
            let at = header.table + (place * container::ENTRY) as u64;
            check_entry(e, at, names.len(), header.required)?;
        }
        let bones = the_one(&entries, Section::Skeleton)?;
        let skeleton = skeleton::read(reader(bytes, bones, &memory)?, &names)?;
        let events = match at_most_one(&entries, Section::Events)? {
            Some(e) => events::read(reader(bytes, e, &memory)?, &names, clips.len())?,
            None => Vec::new(),
        };
        let provenance = match at_most_one(&entries, Section::Provenance)? {
            Some(e) => provenance::read(reader(bytes, e, &memory)?, &names, clips.len())?,
            None => Provenance::default(),
        };
        let by_name = by_name(&names, &clips);
        Ok(Self {
            entries,
            clips,
            by_name,
            names,
            skeleton: Arc::new(skeleton),
            events,
            provenance,
            bytes: owner,
        })
    }

    /// The skeleton of all clips.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Number of clips.
    pub fn len(&self) -> usize {
        self.clips.len()
    }

    /// Whether there are no clips.
    pub fn is_empty(&self) -> bool {
        self.clips.is_empty()
    }

    /// A clip's name, from the table; none if there is no such clip.
    pub fn clip_name(&self, clip: usize) -> Option<&str> {
        Some(self.names.text(self.clips.get(clip)?.name))
    }

    /// A clip's seconds, from the table.
    pub fn clip_duration(&self, clip: usize) -> Option<f32> {
        Some(f32::from_bits(self.clips.get(clip)?.value))
    }

    /// The bytes of a clip's section.
    pub fn clip_bytes(&self, clip: usize) -> Option<u64> {
        Some(self.clips.get(clip)?.bytes)
    }

    /// The first clip of that name.
    pub fn find_clip(&self, name: &str) -> Option<usize> {
        let of = |&c: &u32| self.names.text(self.clips[c as usize].name);
        let first = self.by_name.partition_point(|c| of(c) < name);
        let found = self.by_name.get(first).filter(|c| of(c) == name);
        found.map(|&c| c as usize)
    }

    /// Reads and checks one clip; its rows stay where they lie.
    ///
    /// # Errors
    /// If there is no such clip, or its section is damaged.
    pub fn clip(&self, clip: usize) -> Result<Clip, FormatError> {
        self.clip_within(clip, &MemoryLimit::new(self.byte_len()))
    }

    fn clip_within(&self, clip: usize, memory: &MemoryLimit) -> Result<Clip, FormatError> {
        let Some(entry) = self.clips.get(clip) else {
            return Err(Section::Table.fault(
                0,
                Fault::Limit {
                    what: "a clip",
                    found: clip as u64,
                    limit: self.clips.len().saturating_sub(1) as u64,
                },
            ));
        };
        let mut r = reader(self.bytes(), entry, memory)?;
        let name = r.name(&self.names, entry.name)?.unwrap_or_default();
        let mut markers = Vec::new();
        for e in events::of_clip(&self.events, clip) {
            let name = r.name(&self.names, e.name)?.unwrap_or_default();
            r.charge(size_of::<Marker>())?;
            markers.push(Marker::new(name, e.time));
        }
        let stated = ClipEntry {
            // An unknown form was refused with the table.
            form: ClipForm::of_code(entry.form).unwrap_or_default(),
            name,
            duration: f32::from_bits(entry.value),
            markers,
        };
        let place = (&self.bytes, entry.offset as usize);
        clip::read(r, &self.skeleton, stated, place)
    }

    /// Reads a clip for a skeleton that may have another lane order than the file's; then it is laid out
    /// anew, in rows of its own.
    ///
    /// # Errors
    /// Those of [`Library::clip`], and if the skeletons differ in more than their lane order, or the clip
    /// takes more memory in it than the file's size allows.
    pub fn clip_for(&self, clip: usize, skeleton: &Skeleton) -> Result<Clip, FormatError> {
        let memory = MemoryLimit::new(self.byte_len());
        let read = self.clip_within(clip, &memory)?;
        if read.fits(skeleton) {
            return Ok(read);
        }
        let offset = self.clips.get(clip).map_or(0, |e| e.offset);
        // Keys of both orders, once as tracks, are there for a while.
        let room = usize::try_from(memory.left() / 4).unwrap_or(usize::MAX);
        let moved = relane(&read, &self.skeleton, skeleton, room);
        moved.map_err(|e| Section::Clip.fault(offset, e))
    }

    /// All of a character.
    ///
    /// # Errors
    /// If a section is damaged or the parts do not fit each other.
    pub fn rig(&self, options: RigOptions) -> Result<Rig, FormatError> {
        let memory = MemoryLimit::new(self.byte_len());
        let bytes = self.bytes();
        let (skins, file_skins) = match at_most_one(&self.entries, Section::Skins)? {
            Some(e) => {
                let joints = self.skeleton.len();
                skins::read(reader(bytes, e, &memory)?, &self.names, joints)?
            }
            None => (Vec::new(), 0),
        };
        let mut shared: Vec<Arc<Mesh>> = Vec::new();
        for e in of_kind(&self.entries, Section::Mesh) {
            let mesh = meshes::read(reader(bytes, e, &memory)?, &self.names)?;
            shared.push(Arc::new(mesh));
        }
        let materials = match at_most_one(&self.entries, Section::Materials)? {
            Some(e) => materials::read(reader(bytes, e, &memory)?, &self.names)?,
            None => Vec::new(),
        };
        let mut images: Vec<Option<ImageData>> = Vec::new();
        for e in of_kind(&self.entries, Section::Image) {
            let r = reader(bytes, e, &memory)?;
            images.push(images::read(r, e.form, options.images)?);
        }
        let nodes_at = at_most_one(&self.entries, Section::Nodes)?;
        let nodes = match nodes_at {
            Some(e) => nodes::read(reader(bytes, e, &memory)?, &self.names, &shared)?,
            None => nodes::Nodes::default(),
        };
        let clips = if options.clips {
            self.clips_within(&memory)?
        } else {
            Vec::new()
        };
        let parts = RigParts {
            name: nodes.name,
            skeleton: self.skeleton.clone(),
            skins,
            file_skins,
            clips,
            nodes: nodes.nodes,
            roots: nodes.roots,
            meshes: nodes.meshes,
            materials,
            images,
            morphs: nodes.morphs,
        };
        let offset = nodes_at.map_or(0, |e| e.offset);
        Rig::new(parts).map_err(|e| Section::Nodes.fault(offset, e))
    }

    /// All clips, read by rayon's workers.
    ///
    /// # Errors
    /// The first of those of [`Library::clip`].
    pub fn clips(&self) -> Result<Vec<Arc<Clip>>, FormatError> {
        self.clips_within(&MemoryLimit::new(self.byte_len()))
    }

    /// The clips of one call share its memory, or each could repeat one long name.
    fn clips_within(&self, memory: &MemoryLimit) -> Result<Vec<Arc<Clip>>, FormatError> {
        let all = 0..self.clips.len();
        all.into_par_iter()
            .map(|c| self.clip_within(c, memory).map(Arc::new))
            .collect()
    }

    /// Compares every section with its checksum, and reads nothing.
    ///
    /// # Errors
    /// The first that differs.
    pub fn check_sums(&self) -> Result<(), FormatError> {
        let sums = self.entries.par_iter().map(|e| checked(self.bytes(), e));
        sums.map(|bytes| bytes.map(|_| ())).collect()
    }

    /// Reads and checks all there is; of unknown sections the checksums.
    ///
    /// # Errors
    /// The first that is found.
    pub fn verify(&self) -> Result<(), FormatError> {
        for e in &self.entries {
            if let Section::Unknown(_) = e.section() {
                checked(self.bytes(), e)?;
            }
        }
        self.rig(RigOptions::default()).map(|_| ())
    }

    /// What the file was made of.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The sections, in file order.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = SectionInfo> + '_ {
        self.entries.iter().map(|e| SectionInfo {
            section: e.section(),
            offset: e.offset,
            bytes: e.bytes,
            form: ClipForm::of_code(e.form).filter(|_| e.section() == Section::Clip),
        })
    }

    /// Bytes of the file.
    pub fn byte_len(&self) -> usize {
        self.bytes().len()
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn of_kind(entries: &[Entry], section: Section) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(move |e| e.section() == section)
}

fn at_most_one(entries: &[Entry], section: Section) -> Result<Option<&Entry>, FormatError> {
    let mut found = of_kind(entries, section);
    let first = found.next();
    match found.count() {
        0 => Ok(first),
        more => Err(section.fault(
            first.map_or(0, |e| e.offset),
            Fault::Sections { have: more + 1 },
        )),
    }
}

fn the_one(entries: &[Entry], section: Section) -> Result<&Entry, FormatError> {
    at_most_one(entries, section)?.ok_or_else(|| section.fault(0, Fault::Sections { have: 0 }))
}

/// Clips in the order of their names. Names are compared once each: many clips may have one long name.
fn by_name(names: &Names, clips: &[Entry]) -> Vec<u32> {
    let mut used: Vec<u32> = clips.iter().map(|e| e.name).collect();
    used.sort_unstable();
    used.dedup();
    used.sort_by(|&a, &b| names.text(a).cmp(names.text(b)));
    let mut ranks: HashMap<u32, u32> = HashMap::with_capacity(used.len());
    let mut rank = 0;
    for (i, name) in used.iter().enumerate() {
        rank += u32::from(i > 0 && names.text(*name) != names.text(used[i - 1]));
        ranks.insert(*name, rank);
    }
    let mut order: Vec<u32> = (0..clips.len() as u32).collect();
    order.sort_by_key(|&c| ranks.get(&clips[c as usize].name).copied());
    order
}

/// What the table says of a section that is known; the entry is at byte `at` of the file, whose header
/// states `features`.
fn check_entry(e: &Entry, at: u64, names: usize, features: u64) -> Result<(), FormatError> {
    let section = e.section();
    if matches!(section, Section::Unknown(_)) {
        return Ok(());
    }
    let fail = |field: usize, what, found: u32, limit: u64| {
        let found = u64::from(found);
        let offset = at + field as u64;
        Err(Section::Table.fault(offset, Fault::Limit { what, found, limit }))
    };
    let clip = section == Section::Clip;
    let field = offset_of!(Entry, form);
    let (forms, needed) = match section {
        Section::Clip => {
            let form = ClipForm::of_code(e.form);
            (
                ClipForm::ALL.len() as u64,
                form.map_or(0, ClipForm::feature),
            )
        }
        Section::Image => (images::FORMS, images::feature(e.form)),
        _ => (1, 0),
    };
    if u64::from(e.form) >= forms {
        return fail(field, "the form of a section", e.form, forms - 1);
    }
    if needed & !features != 0 {
        let have = features;
        let fault = Fault::Unstated { have, needed };
        return Err(Section::Table.fault(at + field as u64, fault));
    }
    if e.name != NO_NAME && (e.name as usize >= names || !clip) {
        let last = if clip {
            (names as u64).saturating_sub(1)
        } else {
            NO_NAME.into()
        };
        return fail(
            offset_of!(Entry, name),
            "the name of a section",
            e.name,
            last,
        );
    }
    if !clip && e.value != 0 {
        let field = offset_of!(Entry, value);
        return fail(field, "the value of a section", e.value, 0);
    }
    Ok(())
}

/// A section's bytes, once their checksum was found right.
fn checked<'a>(bytes: &'a [u8], entry: &Entry) -> Result<&'a [u8], FormatError> {
    let end = entry.offset.saturating_add(entry.bytes) as usize;
    // The table's places were checked against these very bytes.
    let bytes = bytes.get(entry.offset as usize..end).unwrap_or(&[]);
    let found = hash_bytes(bytes);
    if found != entry.checksum {
        let stated = entry.checksum;
        return Err(entry.fault(Fault::Checksum { stated, found }));
    }
    Ok(bytes)
}

fn reader<'a>(
    bytes: &'a [u8],
    entry: &Entry,
    memory: &'a MemoryLimit,
) -> Result<SectionReader<'a>, FormatError> {
    Ok(SectionReader::new(checked(bytes, entry)?, entry, memory))
}
