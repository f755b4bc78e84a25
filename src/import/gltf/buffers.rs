//! Buffers and buffer views, loaded and decompressed on first use.

use super::ImportOptions;
use super::error::{self, Fault, ImportFault as Kind, Within, count, invalid, shorten};
use super::limits::MemoryLimit;
use super::{meshopt, uri};
use crate::import::read_file::{MAX_FILE_BYTES, read_file};
use crate::words::plural;
use ::gltf::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The binary data of a file.
pub(super) struct Buffers<'a> {
    pub accessors: Vec<json::Accessor>,
    views: Vec<json::buffer::View>,
    buffers: Vec<json::Buffer>,
    bin: Option<&'a [u8]>,
    base: Option<&'a Path>,
    options: &'a ImportOptions,
    loaded: HashMap<usize, Rc<Vec<u8>>>,
    files: HashMap<PathBuf, Rc<Vec<u8>>>,
    decoded: HashMap<usize, Vec<u8>>,
    pub memory: MemoryLimit,
}

/// The bytes of a buffer view.
pub(super) struct ViewBytes<'s> {
    pub bytes: &'s [u8],
    /// Distance between elements in bytes; `None` if they are packed.
    pub stride: Option<u64>,
}

/// The element `index` of `all`; the error states both numbers.
pub(super) fn at<'v, T>(all: &'v [T], index: usize, what: &'static str) -> Result<&'v T, Kind> {
    all.get(index).ok_or_else(|| error::index(what, index, all.len()))
}

/// `bytes[offset..offset + length]`; the error names the container.
fn range(
    bytes: &[u8],
    offset: u64,
    length: u64,
    container: impl FnOnce() -> String,
) -> Result<&[u8], Kind> {
    let end = offset.saturating_add(length);
    let slice = match (usize::try_from(offset), usize::try_from(end)) {
        (Ok(start), Ok(end)) => bytes.get(start..end),
        _ => None,
    };
    slice.ok_or_else(|| {
        let (container, size) = (container(), plural(bytes.len() as u64, "byte"));
        invalid(format!("ends at byte {end} of {container}, which has {size}"))
    })
}

impl<'a> Buffers<'a> {
    /// Takes accessors, buffer views and buffers out of the document.
    pub fn new(
        document: &mut super::document::Document,
        bin: Option<&'a [u8]>,
        base: Option<&'a Path>,
        options: &'a ImportOptions,
        memory: MemoryLimit,
    ) -> Self {
        Buffers {
            accessors: std::mem::take(&mut document.accessors),
            views: std::mem::take(&mut document.buffer_views),
            buffers: std::mem::take(&mut document.buffers),
            bin,
            base,
            options,
            loaded: HashMap::new(),
            files: HashMap::new(),
            decoded: HashMap::new(),
            memory,
        }
    }

    /// The bytes of a URI: embedded in it, or read from a file beside the glTF.
    pub fn fetch(&mut self, text: &str) -> Result<Rc<Vec<u8>>, Fault> {
        if uri::behind_scheme(text).is_some() {
            self.memory.charge(text.len() as u64)?;
        }
        if let Some(data) = uri::data(text) {
            return data.map(Rc::new);
        }
        let base = self.base;
        let base =
            base.ok_or_else(|| uri::refused(text, "no folder was given for external files"))?;
        let path = uri::resolve(text, base, self.options)?;
        if let Some(bytes) = self.files.get(&path) {
            return Ok(bytes.clone());
        }
        let bytes =
            read_file(&path, MAX_FILE_BYTES).within(|| format!("file {:?}", shorten(text)))?;
        self.memory.extend(bytes.len() as u64);
        self.memory.charge(bytes.len() as u64)?;
        let bytes = Rc::new(bytes);
        self.files.insert(path, bytes.clone());
        Ok(bytes)
    }

    /// Loads a buffer, so that `buffer_bytes(index)` is valid.
    fn load_buffer(&mut self, index: usize) -> Result<(), Fault> {
        let buffer = at(&self.buffers, index, "buffer")?;
        let declared = buffer.byte_length.0;
        let found = match (&buffer.uri, self.loaded.get(&index), self.bin) {
            (Some(_), Some(bytes), _) => bytes.len(),
            (Some(uri), None, _) => {
                let uri = uri.clone();
                let bytes = self.fetch(&uri).within(|| format!("buffer {index}"))?;
                let found = bytes.len();
                self.loaded.insert(index, bytes);
                found
            }
            (None, _, Some(bin)) if index == 0 => bin.len(),
            (None, _, _) => {
                let missing = invalid("has no uri, and there is no BIN chunk for it");
                return Err(missing).within(|| format!("buffer {index}"));
            }
        } as u64;
        if found < declared {
            let found = plural(found, "byte");
            let words = format!("byteLength is {declared}, the data has {found}");
            return Err(invalid(words)).within(|| format!("buffer {index}"));
        }
        Ok(())
    }

    fn buffer_bytes(&self, index: usize) -> &[u8] {
        let declared = self.buffers.get(index).map_or(0, |b| b.byte_length.0);
        let loaded = self.loaded.get(&index).map(|bytes| bytes.as_slice());
        let bytes = loaded.or(self.bin).unwrap_or_default();
        &bytes[..bytes.len().min(usize::try_from(declared).unwrap_or(0))]
    }

    /// Loads a view's buffer and decompresses it, so that `view(index)` is valid.
    pub fn prepare_view(&mut self, index: usize) -> Result<(), Fault> {
        let view = at(&self.views, index, "buffer view")?;
        let compression = meshopt::of(view).within(|| format!("buffer view {index}"))?;
        let Some(packed) = compression else {
            let buffer = view.buffer.value();
            return (self.load_buffer(buffer)).within(|| format!("buffer view {index}"));
        };
        if self.decoded.contains_key(&index) {
            return Ok(());
        }
        let declared = view.byte_length.0;
        self.decompress(&packed, declared)
            .map(|bytes| {
                self.decoded.insert(index, bytes);
            })
            .within(|| format!("buffer view {index}"))
    }

    fn decompress(&mut self, packed: &meshopt::Packed, declared: u64) -> Result<Vec<u8>, Fault> {
        let size = packed.decoded_size()?;
        if size < declared {
            return Err(count("bytes of count × byteStride", declared, size).into());
        }
        self.load_buffer(packed.buffer)?;
        // The charge covers the decoder's output and its copy as bytes.
        self.memory.charge(size.saturating_mul(2))?;
        let source = range(
            self.buffer_bytes(packed.buffer),
            packed.byte_offset,
            packed.byte_length,
            || format!("buffer {}", packed.buffer),
        )?;
        let bytes = meshopt::decode(packed, source)?;
        self.memory.release(size);
        Ok(bytes)
    }

    /// The bytes of a view that `prepare_view` accepted.
    pub fn view(&self, index: usize) -> Result<ViewBytes<'_>, Fault> {
        let view = at(&self.views, index, "buffer view")?;
        // Old exporters write 0 for "packed".
        let stride = view.byte_stride.map(|s| s.0 as u64).filter(|&s| s != 0);
        let length = view.byte_length.0;
        let (bytes, offset) = match self.decoded.get(&index) {
            Some(bytes) => (bytes.as_slice(), 0),
            None => {
                let offset = view.byte_offset.map_or(0, |o| o.0);
                (self.buffer_bytes(view.buffer.value()), offset)
            }
        };
        let bytes = range(bytes, offset, length, || format!("buffer {}", view.buffer.value()))
            .within(|| format!("buffer view {index}"))?;
        Ok(ViewBytes { bytes, stride })
    }

    /// The part of view `view` that starts at `offset` and holds `count` elements of `element`
    /// bytes, and the stride in bytes.
    pub fn elements(
        &self,
        view: usize,
        offset: u64,
        count: u64,
        element: u64,
        packed: bool,
    ) -> Result<(&[u8], usize), Fault> {
        let ViewBytes { bytes, stride } = self.view(view)?;
        let stride = stride.filter(|_| !packed).unwrap_or(element);
        if stride < element {
            let element = plural(element, "byte");
            let words = format!("byteStride is {stride}, an element has {element}");
            return Err(invalid(words).into());
        }
        let gaps = count.checked_sub(1);
        let length = gaps.map_or(0, |gaps| gaps.saturating_mul(stride).saturating_add(element));
        let bytes = range(bytes, offset, length, || format!("buffer view {view}"))?;
        Ok((bytes, usize::try_from(stride).unwrap_or(usize::MAX)))
    }
}
