//! `LibraryWriter`: writes sections in order, then the names and the table.

use super::bounds::Bounds;
use super::clip::ClipForm;
use super::container::{
    ALIGNMENT, ENTRY, Entry, HEADER, Header, MAGIC, Section, VERSION, hash_bytes,
};
use super::error::Fault;
use super::events::{self, Event};
use super::names::{NO_NAME, NameTable};
use super::provenance::{self, Provenance};
use super::{bounds, clip, humanoid, images, materials, meshes, nodes, skeleton, skins, springs};
use crate::clip::Clip;
use crate::rig::{ClipBounds, Rig, distinct};
use crate::runtime::ClipBoundsScratch;
use crate::skeleton::{Skeleton, SkeletonMismatch};
use crate::words::shorten;
use bytemuck::Zeroable;
use std::io::{self, Seek, SeekFrom, Write};
use thiserror::Error;

/// An error of writing a library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system reports an error.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The file cannot be put in place.
    #[error("{file}: cannot be written: {source}")]
    Save {
        /// Path of the file.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// A clip or a rig was made for another skeleton or lane order.
    #[error("\"{name}\" does not fit the library's skeleton: {mismatch}", name = shorten(.name))]
    Skeleton {
        /// Name of the clip or the rig.
        name: String,
        /// The first difference: in the skeleton of the clip or the rig, and in the library's.
        mismatch: SkeletonMismatch,
    },
    /// A clip cannot be encoded.
    #[error("\"{name}\": {fault}", name = shorten(.name))]
    Codec {
        /// Name of the clip.
        name: String,
        /// The cause.
        fault: Fault,
    },
    /// The provenance is inconsistent.
    #[error("provenance: {0}")]
    Provenance(Fault),
    /// A count does not fit 32 bits.
    #[error("{have} {what}, the limit is {}", u32::MAX)]
    TooMany {
        /// The counted elements.
        what: &'static str,
        /// Number of elements.
        have: u64,
    },
}

/// Returns the system's error, or one with the text of another error.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(source) | WriteError::Save { source, .. } => source,
            other => Self::other(other.to_string()),
        }
    }
}

/// Writes a .phx file to any seekable output.
///
/// Begin with [`LibraryWriter::new`], add at most one rig and any number of clips, then call
/// [`LibraryWriter::finish`]. Sections are written in the order of the calls; the same calls give the same
/// bytes. After an error the output is incomplete.
#[derive(Debug)]
pub struct LibraryWriter<W> {
    out: W,
    /// End of the last section, bytes.
    end: u64,
    entries: Vec<Entry>,
    names: NameTable,
    events: Vec<Event>,
    clips: u32,
    skeleton: Skeleton,
    /// The rig, without images, and buffers, to measure the clips that are added after it.
    measuring: Option<(Rig, ClipBoundsScratch)>,
    bounds: Vec<Option<ClipBounds>>,
}

impl<W: Write + Seek> LibraryWriter<W> {
    /// Begins a file at the start of `out`, with the skeleton.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: W, skeleton: &Skeleton) -> Result<Self, WriteError> {
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&[0; HEADER])?;
        let mut writer = Self {
            out,
            end: HEADER as u64,
            entries: Vec::new(),
            names: NameTable::default(),
            events: Vec::new(),
            clips: 0,
            skeleton: skeleton.clone(),
            measuring: None,
            bounds: Vec::new(),
        };
        let bytes = skeleton::write(skeleton, &mut writer.names);
        writer.section(Section::Skeleton, &bytes)?;
        Ok(writer)
    }

    /// Adds the skins, nodes, meshes, materials, images, humanoid and springs of a rig. Call it at most once: readers reject a
    /// second rig. If the rig draws something, the bounds of the clips that are added after it are measured and stored.
    ///
    /// # Errors
    /// If the rig has another skeleton or lane order, or `out` cannot be written.
    pub fn add_rig(&mut self, rig: &Rig) -> Result<(), WriteError> {
        self.check(rig.name(), rig.skeleton())?;
        let bytes = skins::write(rig, &mut self.names);
        self.section(Section::Skins, &bytes)?;
        let bytes = nodes::write(rig, &mut self.names);
        self.section(Section::Nodes, &bytes)?;
        if !rig.humanoid().is_empty() {
            self.section(Section::Humanoid, &humanoid::write(rig.humanoid()))?;
        }
        if !rig.springs().is_empty() {
            self.section(Section::Springs, &springs::write(rig.springs()))?;
        }
        let bytes = materials::write(rig.materials(), &mut self.names);
        self.section(Section::Materials, &bytes)?;
        for mesh in distinct(rig.meshes()).0 {
            let bytes = meshes::write(mesh, &mut self.names);
            self.section(Section::Mesh, &bytes)?;
        }
        for image in rig.images() {
            let (form, bytes) = images::write(image.as_ref());
            let image = entry(Section::Image);
            self.put(Entry { form, ..image }, &bytes)?;
        }
        let drawn = rig.slot_bounds().iter().any(|b| !b.is_empty());
        self.measuring = drawn.then(|| (rig.without_images(), ClipBoundsScratch::new(rig)));
        Ok(())
    }

    /// Adds a clip with its markers, under the given name.
    ///
    /// # Errors
    /// If the clip was made for another skeleton or lane order, it cannot be encoded, or `out` cannot be
    /// written.
    pub fn add_clip(&mut self, clip: &Clip, name: &str, form: ClipForm) -> Result<(), WriteError> {
        self.check(name, clip.skeleton())?;
        let bytes = clip::write(clip, &self.skeleton, form)?;
        let entry = Entry {
            form: form.code(),
            name: self.names.add(Some(name)),
            value: clip.duration().to_bits(),
            ..entry(Section::Clip)
        };
        self.put(entry, &bytes)?;
        events::add(&mut self.events, self.clips, clip.markers(), &mut self.names);
        self.clips += 1;
        let measured = self.measuring.as_mut().and_then(|(rig, scratch)| {
            // Additive clips are refused: they have no bounds of their own.
            scratch.measure(rig, Some(clip)).ok().flatten()
        });
        self.bounds.push(measured);
        Ok(())
    }

    /// Writes the remaining sections, the table and the header, and returns the output.
    ///
    /// # Errors
    /// If `out` cannot be written, a count does not fit 32 bits, or the provenance does not fit what was
    /// added. It must have one origin per clip or none, indices of existing sources, and lengths that are
    /// finite and not negative.
    pub fn finish(mut self, provenance: &Provenance) -> Result<W, WriteError> {
        provenance::check(provenance, self.clips as usize)?;
        let bytes = events::write(&self.events);
        self.section(Section::Events, &bytes)?;
        let bytes = provenance::write(provenance, &mut self.names);
        self.section(Section::Provenance, &bytes)?;
        if let Some((rig, _)) = &self.measuring {
            let anchor = rig.anchor();
            let clips = std::mem::take(&mut self.bounds);
            let bytes = bounds::write(&Bounds { anchor, clips });
            self.section(Section::Bounds, &bytes)?;
        }
        let bytes = self.names.write();
        let limits = [
            ("bytes of names", bytes.len()),
            ("sections", self.entries.len() + 1),
            ("markers", self.events.len()),
        ];
        for (what, have) in limits {
            if u32::try_from(have).is_err() {
                let have = have as u64;
                return Err(WriteError::TooMany { what, have });
            }
        }
        self.section(Section::Names, &bytes)?;
        self.align()?;
        let table: &[u8] = bytemuck::cast_slice(&self.entries);
        self.out.write_all(table)?;
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            sections: self.entries.len() as u32,
            zero: [0; 2],
            file_bytes: self.end + (self.entries.len() * ENTRY) as u64,
            table: self.end,
            table_checksum: hash_bytes(table),
            checksum: 0,
        };
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(bytemuck::bytes_of(&header.seal()))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn section(&mut self, section: Section, bytes: &[u8]) -> Result<(), WriteError> {
        self.put(entry(section), bytes)
    }

    fn put(&mut self, mut entry: Entry, bytes: &[u8]) -> Result<(), WriteError> {
        self.align()?;
        entry.offset = self.end;
        entry.bytes = bytes.len() as u64;
        entry.checksum = hash_bytes(bytes);
        self.out.write_all(bytes)?;
        self.end += entry.bytes;
        self.entries.push(entry);
        Ok(())
    }

    fn align(&mut self) -> Result<(), WriteError> {
        let next = self.end.next_multiple_of(ALIGNMENT as u64);
        self.out.write_all(&[0; ALIGNMENT][..(next - self.end) as usize])?;
        self.end = next;
        Ok(())
    }

    fn check(&self, name: &str, skeleton: &Skeleton) -> Result<(), WriteError> {
        match skeleton.mismatch(&self.skeleton) {
            None => Ok(()),
            Some(mismatch) => Err(WriteError::Skeleton { name: name.to_owned(), mismatch }),
        }
    }
}

/// The table entry of a section of form 0 without a name; its position is set when it is written.
fn entry(section: Section) -> Entry {
    Entry { code: section.code(), name: NO_NAME, ..Entry::zeroed() }
}

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use super::*;
    use crate::crowd::{Crowd, PlayOptions};
    use crate::format::{Library, RigOptions};
    use std::io::Cursor;
    use std::sync::Arc;

    /// The bounds that a file states for its clips apply to clips added one by one, by any handle of the file, at any index;
    /// not with the rig of another file.
    #[test]
    fn clips_that_are_added_later_have_the_bounds_of_the_file() {
        let rig = crate::import::mannequin().unwrap();
        let written = |more: f32| {
            let out = Cursor::new(Vec::new());
            let mut writer = LibraryWriter::new(out, rig.skeleton()).unwrap();
            writer.add_rig(&rig).unwrap();
            for clip in rig.clips() {
                writer.add_clip(clip, clip.name(), ClipForm::Rows).unwrap();
            }
            // No measurement finds this size.
            writer.bounds[1].as_mut().unwrap().mesh.max.x += more;
            let bytes = writer.finish(&Provenance::default()).unwrap();
            Library::from_bytes(bytes.get_ref()).unwrap()
        };
        let radius = |of: &Library, clip: Clip| {
            let options = RigOptions { clips: false, ..RigOptions::default() };
            let bare = Arc::new(of.rig(&options).unwrap());
            assert_eq!(bare.clip_bounds(1), None);
            let mut crowd = Crowd::new();
            let id = crowd.add_rig(bare).unwrap();
            let instance = crowd.spawn(id).unwrap();
            let clip = crowd.add_clip(id, Arc::new(clip)).unwrap();
            let options = PlayOptions::default();
            crowd.play(instance, clip, &options).unwrap();
            crowd.bounding_sphere(instance).unwrap().unwrap().radius
        };
        let (library, other) = (written(100.0), written(0.0));
        let clip = |of: &Library| of.clip(1).unwrap();
        assert!(radius(&library, clip(&library)) > 50.0);
        assert!(radius(&library, clip(&written(100.0))) > 50.0);
        assert!(radius(&library, clip(&library).with_name("Stroll")) > 50.0);
        for (rig, clip) in [(&other, clip(&library)), (&library, clip(&other))] {
            assert!(radius(rig, clip) < 5.0);
        }
        // The clips are equal nevertheless.
        assert_eq!(clip(&library), clip(&other));
        assert_eq!(clip(&library).content_hash(), rig.clips()[1].content_hash());
    }
}
