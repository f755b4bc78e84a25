//! `Source`: the bytes of a library, in an open file or in memory.
//!
//! ```text
//! open file         section → its own buffer, aligned to 64 bytes; freed with the last clip that uses it
//! copy, or a map    section → a slice of the whole
//! ```

use super::container::{ALIGNMENT, Entry, Section, hash_bytes};
use super::error::{Fault, ReadError};
use crate::clip::SharedBytes;
use crate::math::Row;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
#[cfg(not(any(unix, windows)))]
use std::sync::{Mutex, PoisonError};

/// The place of a library's bytes. Clones share it.
#[derive(Clone)]
pub(super) enum Source {
    /// An open file.
    File(Arc<OpenFile>),
    /// The whole file, copied or mapped, aligned to 64 bytes.
    Memory(SharedBytes),
}

impl Source {
    /// Size of the file when it was opened, bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.bytes,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Reads `count` bytes from `offset` on, aligned as in the file. Errors name the section.
    pub fn read(
        &self,
        section: Section,
        offset: u64,
        count: u64,
    ) -> Result<SharedBytes, ReadError> {
        let short = |have: usize| {
            let (needed, have) = (count, have as u64);
            let what = "file, shorter than when it was opened";
            section.fault(offset, Fault::Short { what, needed, have })
        };
        match self {
            Self::File(file) => {
                let failed = |error: io::Error| {
                    let (kind, message) = (error.kind(), error.to_string());
                    section.fault(offset, Fault::Read { kind, message })
                };
                let mut copy = Copied::zeroed(count).map_err(&failed)?;
                let have = file.read(copy.as_mut(), offset).map_err(&failed)?;
                if have < copy.len {
                    return Err(short(have));
                }
                Ok(SharedBytes::from_owner(copy))
            }
            Self::Memory(all) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = all.get(start..).unwrap_or_default();
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                let found = rest.get(..count).map(|bytes| all.slice_ref(bytes));
                found.ok_or_else(|| short(rest.len()))
            }
        }
    }

    /// The bytes of a section. Its checksum has been compared; the padding behind it is zero.
    pub fn section(&self, entry: &Entry) -> Result<SharedBytes, ReadError> {
        // The table was checked: sums of offsets are within the file, and the padding ends before the next
        // section.
        let end = entry.offset + entry.bytes;
        let padded = end.next_multiple_of(ALIGNMENT as u64) - entry.offset;
        let mut bytes = self.read(entry.section(), entry.offset, padded)?;
        let padding = bytes.split_off(entry.bytes as usize);
        let found = hash_bytes(&bytes);
        if found != entry.checksum {
            let stated = entry.checksum;
            return Err(entry.fault(Fault::Checksum { stated, found }));
        }
        if let Some(stray) = padding.iter().position(|&b| b != 0) {
            let fault = Fault::limit("a byte behind the section", padding[stray], 0u32);
            return Err(entry.section().fault(end + stray as u64, fault));
        }
        Ok(bytes)
    }
}

impl From<OpenFile> for Source {
    fn from(file: OpenFile) -> Self {
        Self::File(Arc::new(file))
    }
}

/// A regular file that is open for reading, by several threads at once if needed.
pub(super) struct OpenFile {
    file: File,
    /// Size when it was opened.
    bytes: u64,
    /// Held while the file's only position is in use.
    #[cfg(not(any(unix, windows)))]
    position: Mutex<()>,
    /// Bytes read so far.
    #[cfg(test)]
    read: std::sync::atomic::AtomicU64,
}

impl OpenFile {
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let (file, bytes) = regular_file(path)?;
        Ok(Self::new(file, bytes))
    }

    fn new(file: File, bytes: u64) -> Self {
        Self {
            file,
            bytes,
            #[cfg(not(any(unix, windows)))]
            position: Mutex::new(()),
            #[cfg(test)]
            read: Default::default(),
        }
    }

    /// Fills the buffer from `offset` on. Returns the number of bytes read, which is less at the file's end.
    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_some(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        #[cfg(test)]
        self.read.fetch_add(done as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(done)
    }

    #[cfg(unix)]
    fn read_some(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_some(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_some(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read, Seek, SeekFrom};
        let _position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

/// Opens a regular file and returns its size in bytes.
pub(super) fn regular_file(path: &Path) -> Result<(File, u64), ReadError> {
    let failed = ReadError::open(path);
    // The kind is checked before opening: opening a pipe blocks until it has a writer.
    let kind = std::fs::metadata(path).map_err(&failed)?;
    if kind.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        return Err(failed(io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(&failed)?;
    let bytes = file.metadata().map_err(&failed)?.len();
    Ok((file, bytes))
}

/// Bytes in memory, aligned to 64 bytes as rows require.
struct Copied {
    rows: Vec<Row>,
    len: usize,
}

impl Copied {
    /// Makes a buffer of zeros; an error if there is not enough memory.
    fn zeroed(bytes: u64) -> io::Result<Self> {
        let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let rows = bytemuck::allocation::try_zeroed_vec(len.div_ceil(size_of::<Row>()));
        let rows = rows.map_err(|()| io::ErrorKind::OutOfMemory)?;
        Ok(Self { rows, len })
    }
}

impl AsRef<[u8]> for Copied {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.rows)[..self.len]
    }
}

impl AsMut<[u8]> for Copied {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.rows)[..self.len]
    }
}

/// Copies bytes into aligned memory.
pub(super) fn copy(bytes: &[u8]) -> SharedBytes {
    let rows = vec![Row::default(); bytes.len().div_ceil(size_of::<Row>())];
    let len = bytes.len();
    let mut copy = Copied { rows, len };
    copy.as_mut().copy_from_slice(bytes);
    SharedBytes::from_owner(copy)
}

// Files of tests are named after their process, which WebAssembly does not know.
#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::super::{ClipForm, Library, LibraryWriter, Provenance};
    use super::*;
    use crate::clip::{Clip, ClipParts};
    use crate::skeleton::{Joint, Skeleton, Trs};
    use std::fs::OpenOptions;
    use std::path::PathBuf;
    use std::sync::atomic::Ordering;

    /// A file that is removed at the end of its test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, bytes: &[u8]) -> Self {
            let name = format!("phalanx-source-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, bytes).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A library of one joint and two clips.
    fn library() -> Vec<u8> {
        let joint = Joint { name: "joint".into(), parent: None, rest: Trs::IDENTITY };
        let skeleton = Skeleton::new(&[joint], None, Vec::new()).unwrap();
        let mut writer = LibraryWriter::new(io::Cursor::new(Vec::new()), &skeleton).unwrap();
        for name in ["one", "two"] {
            let parts = ClipParts { name: name.into(), duration: 1.0, ..ClipParts::default() };
            let clip = Clip::new(parts, &skeleton).unwrap();
            writer.add_clip(&clip, name, ClipForm::Rows).unwrap();
        }
        let file = writer.finish(&Provenance::default()).unwrap();
        file.into_inner()
    }

    fn read_so_far(library: &Library) -> u64 {
        match &library.source {
            Source::File(file) => file.read.load(Ordering::Relaxed),
            Source::Memory(_) => panic!("the file was not kept open"),
        }
    }

    fn padded(library: &Library, wanted: impl Fn(Section) -> bool) -> u64 {
        let sections = library.sections().filter(|s| wanted(s.section));
        sections.map(|s| s.bytes.next_multiple_of(ALIGNMENT as u64)).sum()
    }

    #[test]
    fn opening_reads_tables_and_a_clip_reads_its_section() {
        let file = Scratch::new("tables", &library());
        let library = Library::open(&file.0).unwrap();
        let clips = padded(&library, |s| s == Section::Clip);
        let all = library.byte_len() as u64;
        assert!(clips > 0);
        assert_eq!(read_so_far(&library), all - clips);
        let one = library.clip_info(0).unwrap().bytes;
        library.clip(0).unwrap();
        let read = read_so_far(&library) - (all - clips);
        assert_eq!(read, one.next_multiple_of(ALIGNMENT as u64));
    }

    #[test]
    fn a_cut_file_and_a_failing_one_are_told_apart() {
        let file = Scratch::new("cut", &[7; 200]);
        let cut = Source::from(OpenFile::open(&file.0).unwrap());
        assert_eq!(&cut.read(Section::Names, 100, 100).unwrap()[..], [7; 100]);
        let writer = OpenOptions::new().write(true).open(&file.0).unwrap();
        writer.set_len(130).unwrap();
        let error = cut.read(Section::Names, 100, 100).unwrap_err();
        let named = matches!(error.fault, Fault::Short { needed: 100, have: 30, .. });
        let place = (error.section, error.offset);
        assert!(named && place == (Section::Names, 100), "{error}");
        // A file that is opened only for writing cannot be read.
        let closed = Source::from(OpenFile::new(writer, 200));
        let error = closed.read(Section::Events, 0, 10).unwrap_err();
        let named = matches!(error.fault, Fault::Read { .. });
        assert!(named && error.section == Section::Events, "{error}");
        // The size is larger than any allocator can provide.
        let error = cut.read(Section::Clip, 0, u64::MAX / 4).unwrap_err();
        let full =
            matches!(error.fault, Fault::Read { kind, .. } if kind == io::ErrorKind::OutOfMemory);
        assert!(full, "{error}");
    }

    #[test]
    fn copies_are_aligned_for_rows() {
        let file = Scratch::new("aligned", &[1; 300]);
        let source = Source::from(OpenFile::open(&file.0).unwrap());
        for (offset, count) in [(0, 300), (64, 64), (128, 172), (300, 0)] {
            let bytes = source.read(Section::Clip, offset, count).unwrap();
            assert_eq!(bytes.as_ptr().align_offset(ALIGNMENT), 0);
        }
    }
}
