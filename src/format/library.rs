//! `Library`: an open .phx file. Clips are read individually, on request.

use super::clip::{self, ClipEntry, ClipForm};
use super::container::{self, Entry, Section};
use super::error::{Fault, ReadError};
use super::events::{self, Event};
use super::memory::MemoryLimit;
use super::names::Names;
use super::provenance::{self, Provenance};
use super::read::SectionReader;
use super::source::{OpenFile, Source, copy};
use super::table::{at_most_one, by_name, check_entry, of_kind, the_one};
use super::{bounds, humanoid, images, materials, meshes, nodes, skeleton, skins, springs};
use crate::clip::{Clip, ClipOrigin, Marker, reorder_lanes};
use crate::mesh::{ImageData, ImageMode, Mesh};
use crate::rig::{Rig, RigParts};
use crate::skeleton::Skeleton;
use crate::threads;
use std::path::Path;
use std::sync::Arc;

/// An open .phx file.
///
/// Opening reads and checks the header, the table, names, skeleton, markers and provenance. Clips, meshes,
/// materials and images are read and checked on request; each call has its own
/// [memory limit](super::MEMORY_PER_BYTE). A clone shares the open file.
///
/// | opened with | holds | rows of a clip in form [`ClipForm::Rows`] |
/// |---|---|---|
/// | [`Library::open`] | the open file | a copy of its own, freed with the clip |
/// | [`Library::open_mapped`], `unsafe` | the mapped file | in the mapped file |
/// | [`Library::from_bytes`] | a copy of the file | in that copy |
///
/// Clips outlive the library. A clip with rows in a mapped file or in a copy keeps all of it alive.
/// ```
/// use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, save};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rig = phalanx::import::mannequin()?;
/// let path = std::env::temp_dir().join(format!("walk-{}.phx", std::process::id()));
/// save(&path, |out| {
///     let mut writer = LibraryWriter::new(out, rig.skeleton())?;
///     for clip in rig.clips() {
///         writer.add_clip(clip, clip.name(), ClipForm::Rows)?;
///     }
///     writer.finish(&Provenance::default()).map(|_| ())
/// })?;
/// let library = Library::open(&path)?;
/// let walk = library.find_clip("Walk").ok_or("no clip Walk")?;
/// println!("{:?}", library.clip_info(walk)); // from the table
/// let clip = library.clip(walk)?; // the clip is read here
/// assert!(clip.fits(rig.skeleton()));
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Library {
    pub(super) source: Source,
    /// The checksum of the table, which contains the checksums of all sections.
    table: u64,
    entries: Vec<Entry>,
    /// Table entries of the clips.
    clips: Vec<Entry>,
    /// Indices of the clips, sorted by name.
    by_name: Vec<u32>,
    names: Names,
    skeleton: Arc<Skeleton>,
    events: Vec<Event>,
    provenance: Provenance,
}

/// The parts that [`Library::rig`] reads. Default: all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigOptions {
    /// Whether to read all clips, or none. Default: all.
    pub clips: bool,
    /// Reading of images. Default: decoded, or encoded in builds without the feature `images`.
    pub images: ImageMode,
}

impl Default for RigOptions {
    fn default() -> Self {
        Self { clips: true, images: ImageMode::default() }
    }
}

/// A section of a file, as listed in its table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectionInfo<'a> {
    /// Kind of the section.
    pub section: Section,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// Form of a clip; `None` for other sections.
    pub form: Option<ClipForm>,
    /// Name of a clip; empty for other sections.
    pub name: &'a str,
    /// Duration of a clip, seconds; 0 for other sections.
    pub duration: f32,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (clips, bytes) = (self.clips.len(), self.byte_len());
        write!(f, "Library({clips} clips, {bytes} bytes)")
    }
}

impl Library {
    /// Opens a file and keeps it open. Each section is read into its own memory when it is requested.
    ///
    /// The library stays with the file that was opened, even if another file takes its name later. If the file is written to
    /// or truncated while it is open, calls return errors that name the section: [`Fault::Checksum`] or [`Fault::Short`].
    /// Clips that were read before do not change.
    ///
    /// # Errors
    /// If the file cannot be read, is not a regular file, or is not a valid .phx file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::of_file(path, OpenFile::open(path)?.into())
    }

    /// Opens a file in memory. The bytes are copied once, into aligned memory, and used in that copy.
    ///
    /// # Errors
    /// If the bytes are not a valid .phx file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        Self::new(Source::Memory(copy(bytes)))
    }

    /// The library of a file that was opened or mapped.
    pub(super) fn of_file(path: &Path, source: Source) -> Result<Self, ReadError> {
        Self::new(source).map_err(|error| error.in_file(path.display().to_string()))
    }

    fn new(source: Source) -> Result<Self, ReadError> {
        let (header, entries) = container::read(&source)?;
        let memory = MemoryLimit::new(bytes_of(&source));
        let sections = Sections { source: &source, entries: &entries, memory: &memory };
        let named = the_one(&entries, Section::Names)?;
        let names = sections.read(named, Names::read)?;
        let clips: Vec<Entry> = of_kind(&entries, Section::Clip).copied().collect();
        for (place, e) in entries.iter().enumerate() {
            let at = header.table + (place * container::ENTRY) as u64;
            check_entry(e, at, names.len())?;
        }
        let bones = the_one(&entries, Section::Skeleton)?;
        let skeleton = sections.read(bones, |r| skeleton::read(r, &names))?;
        let count = clips.len();
        let events = sections.one(Section::Events, |r| events::read(r, &names, count))?;
        let read = |r: SectionReader<'_>| provenance::read(r, &names, count);
        let provenance = sections.one(Section::Provenance, read)?;
        let by_name = by_name(&names, &clips);
        Ok(Self {
            table: header.table_checksum,
            entries,
            clips,
            by_name,
            names,
            skeleton: Arc::new(skeleton),
            events: events.unwrap_or_default(),
            provenance: provenance.unwrap_or_default(),
            source,
        })
    }

    /// The skeleton, shared by all clips.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Number of clips.
    pub fn clip_count(&self) -> usize {
        self.clips.len()
    }

    /// Table entry of a clip: name, duration, size and form. `None` if the index is out of range.
    pub fn clip_info(&self, clip: usize) -> Option<SectionInfo<'_>> {
        self.clips.get(clip).map(|e| self.info(e))
    }

    fn info(&self, e: &Entry) -> SectionInfo<'_> {
        // Names and values of unknown sections are not checked.
        let (section, clip) = (e.section(), e.section() == Section::Clip);
        SectionInfo {
            section,
            offset: e.offset,
            bytes: e.bytes,
            form: ClipForm::of_code(e.form).filter(|_| clip),
            name: if clip { self.names.text(e.name) } else { "" },
            duration: if clip { f32::from_bits(e.value) } else { 0.0 },
        }
    }

    /// Index of the first clip with this name.
    pub fn find_clip(&self, name: &str) -> Option<usize> {
        let of = |&c: &u32| self.names.text(self.clips[c as usize].name);
        let first = self.by_name.partition_point(|c| of(c) < name);
        let found = self.by_name.get(first).filter(|c| of(c) == name);
        found.map(|&c| c as usize)
    }

    /// Reads and checks one clip.
    ///
    /// # Errors
    /// If there is no such clip, or its section is damaged.
    pub fn clip(&self, clip: usize) -> Result<Clip, ReadError> {
        self.clip_within(clip, &MemoryLimit::new(self.byte_len()))
    }

    fn clip_within(&self, clip: usize, memory: &MemoryLimit) -> Result<Clip, ReadError> {
        let Some(entry) = self.clips.get(clip) else {
            let limit = self.clips.len().saturating_sub(1) as u64;
            let fault = Fault::limit("the index of a clip", clip as u64, limit);
            return Err(Section::Table.fault(0, fault));
        };
        let bytes = self.source.section(entry)?;
        let mut r = SectionReader::new(&bytes, entry, memory);
        let name = r.name(&self.names, entry.name)?.unwrap_or_default();
        let mut markers = Vec::new();
        for e in events::of_clip(&self.events, clip) {
            let name = r.name(&self.names, e.name)?.unwrap_or_default();
            r.charge(size_of::<Marker>())?;
            markers.push(Marker::new(name, e.time));
        }
        let stated = ClipEntry {
            // Unknown forms were rejected with the table.
            form: ClipForm::of_code(entry.form).unwrap_or_default(),
            name,
            duration: f32::from_bits(entry.value),
            markers,
        };
        let mut read = clip::read(r, &self.skeleton, stated, &bytes)?;
        // A file has fewer than 2^32 sections.
        read.origin = ClipOrigin(Some((self.table, clip as u32)));
        Ok(read)
    }

    /// Reads a clip for a skeleton whose lane order may differ from the file's. If it does, the clip is
    /// converted into owned rows.
    ///
    /// # Errors
    /// Those of [`Library::clip`], and if the skeletons differ in more than their lane order, or the conversion
    /// needs more memory than the file's size allows.
    pub fn clip_for(&self, clip: usize, skeleton: &Skeleton) -> Result<Clip, ReadError> {
        let memory = MemoryLimit::new(self.byte_len());
        let read = self.clip_within(clip, &memory)?;
        if read.fits(skeleton) {
            return Ok(read);
        }
        let offset = self.clips.get(clip).map_or(0, |e| e.offset);
        // The conversion holds keys in both orders and as tracks.
        let room = usize::try_from(memory.left() / 4).unwrap_or(usize::MAX);
        let reordered = reorder_lanes(&read, skeleton, room);
        reordered.map_err(|e| Section::Clip.fault(offset, e))
    }

    /// Reads and checks a whole character. The bounds that the file states for its clips are read with it; they apply to the
    /// rig's clips and to clips of the file that are added later.
    ///
    /// # Errors
    /// If a section is damaged, the parts do not fit each other, or together they need more memory than the
    /// file's size allows.
    pub fn rig(&self, options: &RigOptions) -> Result<Rig, ReadError> {
        let memory = MemoryLimit::new(self.byte_len());
        let sections = Sections { source: &self.source, entries: &self.entries, memory: &memory };
        let (names, joints) = (&self.names, self.skeleton.len());
        let skins = sections.one(Section::Skins, |r| skins::read(r, names, joints))?;
        let (skins, file_skins) = skins.unwrap_or_default();
        let mut shared: Vec<Arc<Mesh>> = Vec::new();
        for e in of_kind(&self.entries, Section::Mesh) {
            shared.push(Arc::new(sections.read(e, |r| meshes::read(r, names))?));
        }
        let materials = sections.one(Section::Materials, |r| materials::read(r, names))?;
        let mut images: Vec<Option<ImageData>> = Vec::new();
        for e in of_kind(&self.entries, Section::Image) {
            images.push(sections.read(e, |r| images::read(r, e.form, options.images))?);
        }
        let nodes = sections.one(Section::Nodes, |r| nodes::read(r, names, &shared))?;
        let nodes = nodes.unwrap_or_default();
        let clips = if options.clips { self.clips_within(&memory)? } else { Vec::new() };
        let parts = RigParts {
            name: nodes.name,
            skeleton: self.skeleton.clone(),
            skins,
            file_skins,
            clips,
            nodes: nodes.nodes,
            roots: nodes.roots,
            meshes: nodes.meshes,
            materials: materials.unwrap_or_default(),
            images,
        };
        let nodes_at = of_kind(&self.entries, Section::Nodes).next();
        let offset = nodes_at.map_or(0, |e| e.offset);
        let mut rig = Rig::new(parts).map_err(|e| Section::Nodes.fault(offset, e))?;
        let humanoid = sections.one(Section::Humanoid, |r| humanoid::read(r, &self.skeleton))?;
        rig.humanoid = humanoid.unwrap_or_default();
        let springs = sections.one(Section::Springs, |r| springs::read(r, &self.skeleton))?;
        rig.springs = springs.unwrap_or_default();
        let count = self.clips.len();
        if let Some(bounds) = sections.one(Section::Bounds, |r| bounds::read(r, count, joints))? {
            // Bounds around another anchor are of no use: the clips are measured when they are needed.
            if rig.set_anchor(bounds.anchor) {
                rig.clip_bounds = bounds.clips;
                rig.bounds_file = Some(self.table);
            }
        }
        Ok(rig)
    }

    /// Reads all clips, in parallel on rayon's current pool.
    ///
    /// # Errors
    /// Those of [`Library::clip`], for the clips together: they share one memory limit.
    pub fn clips(&self) -> Result<Vec<Arc<Clip>>, ReadError> {
        self.clips_within(&MemoryLimit::new(self.byte_len()))
    }

    /// The clips of one call share its memory limit: many clips may repeat one long name.
    fn clips_within(&self, memory: &MemoryLimit) -> Result<Vec<Arc<Clip>>, ReadError> {
        threads::try_each(self.clips.len(), |c| self.clip_within(c, memory).map(Arc::new))
    }

    /// Compares every section with its checksum, without parsing it.
    ///
    /// # Errors
    /// With a section whose checksum differs.
    pub fn check_sums(&self) -> Result<(), ReadError> {
        let check = |e: usize| self.source.section(&self.entries[e]).map(|_| ());
        threads::try_each(self.entries.len(), check).map(|_| ())
    }

    /// Reads and checks all sections; of unknown sections only the checksums.
    ///
    /// # Errors
    /// With the first fault found.
    pub fn verify(&self) -> Result<(), ReadError> {
        for e in &self.entries {
            if let Section::Unknown(_) = e.section() {
                self.source.section(e)?;
            }
        }
        self.rig(&RigOptions::default()).map(|_| ())
    }

    /// The sources of the file; empty if it has no such section.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The sections, in file order.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = SectionInfo<'_>> {
        self.entries.iter().map(|e| self.info(e))
    }

    /// Size of the file in bytes, when it was opened.
    pub fn byte_len(&self) -> usize {
        bytes_of(&self.source)
    }
}

/// The sections that one call reads, within its memory.
#[derive(Clone, Copy)]
struct Sections<'a> {
    source: &'a Source,
    entries: &'a [Entry],
    memory: &'a MemoryLimit,
}

impl Sections<'_> {
    fn read<T>(
        self,
        entry: &Entry,
        read: impl FnOnce(SectionReader<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let bytes = self.source.section(entry)?;
        read(SectionReader::new(&bytes, entry, self.memory))
    }

    /// Reads the only section of a kind; `None` if there is none.
    fn one<T>(
        self,
        kind: Section,
        read: impl FnOnce(SectionReader<'_>) -> Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        let entry = at_most_one(self.entries, kind)?;
        entry.map(|e| self.read(e, read)).transpose()
    }
}

fn bytes_of(source: &Source) -> usize {
    usize::try_from(source.len()).unwrap_or(usize::MAX)
}
