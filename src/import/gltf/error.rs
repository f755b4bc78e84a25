//! `GltfErrorKind`: what is wrong with a glTF file, and where.

use super::extensions::ExtensionEffect;
use crate::import::ImportError;
use crate::import::error::Lead;
pub(super) use crate::words::shorten;
use crate::words::{are, plural, says};
use std::fmt;

/// Words behind a semicolon, or nothing.
struct After<'a>(&'a Option<&'static str>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |words| write!(f, "; {words}"))
    }
}

/// What is wrong with a file. Where two numbers disagree, both are here.
#[derive(Debug)]
#[non_exhaustive]
pub enum GltfErrorKind {
    /// The operating system cannot read the file.
    Io(std::io::Error),
    /// A fault without numbers: something is empty, missing, its own ancestor or not defined by glTF.
    Invalid(&'static str),
    /// The GLB header has another version.
    GlbVersion(u32),
    /// The length in the GLB header is above that of the file, or less than the header.
    GlbLength {
        /// Length in the header.
        declared: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// A chunk is longer than the rest of the file.
    GlbChunk {
        /// Index of the chunk.
        chunk: usize,
        /// Length in its header.
        declared: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// The JSON text is nested too deeply.
    JsonDepth {
        /// Depth reached.
        depth: usize,
        /// Deepest level allowed.
        limit: usize,
    },
    /// The JSON text cannot be parsed or does not have the structure of glTF.
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// `asset.version` or `asset.minVersion` is not 2.0.
    AssetVersion(String),
    /// `extensionsRequired` lists an extension that changes what is imported and is not read.
    Extension {
        /// Its name.
        name: String,
        /// What it changes.
        effect: ExtensionEffect,
        /// What writes a file without it, if something is known to.
        cure: Option<&'static str>,
    },
    /// An index is out of range.
    Index {
        /// The kind of what the index names.
        what: &'static str,
        /// The index in the file.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A URI that is not followed.
    Uri {
        /// The URI, shortened.
        uri: String,
        /// Why.
        reason: &'static str,
    },
    /// A URI that leaves the file's folder, which [`ImportOptions::parent_folders`](super::ImportOptions) allows.
    ParentFolder(String),
    /// Fewer bytes than declared.
    Short {
        /// Length in the file.
        declared: u64,
        /// Bytes in the data.
        found: u64,
    },
    /// A range that ends beyond its container.
    Bounds {
        /// `buffer 0`, `buffer view 3`.
        container: String,
        /// One past the last byte.
        end: u64,
        /// Bytes in the container.
        size: u64,
    },
    /// A stride smaller than an element.
    Stride {
        /// Stride in the file.
        stride: u64,
        /// Bytes of one element.
        element: u64,
    },
    /// An accessor of a type that its use does not allow.
    Type {
        /// The accessor's type.
        found: String,
        /// The types allowed.
        expected: &'static str,
    },
    /// Two counts that must agree.
    Count {
        /// What is counted.
        what: &'static str,
        /// The count that the rest of the file requires.
        expected: u64,
        /// The count found.
        found: u64,
    },
    /// NaN or an infinity where a finite number is required.
    NotFinite {
        /// `key`, `matrix`, `translation`.
        what: &'static str,
        /// Index among its kind.
        index: usize,
        /// The value.
        value: f32,
    },
    /// Key times that go backwards.
    TimeOrder {
        /// Index of the key.
        index: usize,
        /// Its time.
        time: f32,
        /// The time before it.
        previous: f32,
    },
    /// A node that is the child of two nodes.
    TwoParents {
        /// The first parent.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A vertex index that is out of range.
    VertexIndex {
        /// Position in the index list.
        position: usize,
        /// The index.
        index: u32,
        /// Vertices of the primitive.
        vertices: usize,
    },
    /// A vertex uses a joint that its skin lacks.
    JointIndex {
        /// The vertex.
        vertex: usize,
        /// The joint index.
        joint: u64,
        /// Its weight.
        weight: f32,
        /// Joints of the smallest skin that is used with the mesh.
        slots: usize,
    },
    /// Compressed data that cannot be decoded.
    Meshopt(String),
    /// A named limit is exceeded.
    Limit {
        /// Name of the limit.
        what: &'static str,
        /// What the file needs.
        needed: u64,
        /// The limit.
        limit: u64,
    },
}

says! { GltfErrorKind:
    Self::Io(inner) => ("cannot be read: {inner}"),
    Self::Invalid(fault) => ("{fault}"),
    Self::GlbVersion(found) => ("GLB version {found}, expected 2"),
    Self::GlbLength { declared, found } =>
        ("the GLB header claims {}, the file has {found}", plural(*declared, "byte")),
    Self::GlbChunk { chunk, declared, left } =>
        ("GLB chunk {chunk} claims {}, {left} {} left", plural(*declared, "byte"), are(*left)),
    Self::JsonDepth { depth, limit } => ("JSON nested {depth} levels deep, the limit is {limit}"),
    Self::Json { line, column, message } => ("JSON line {line}, column {column}: {message}"),
    Self::AssetVersion(found) => ("glTF version {found:?}, expected 2.0"),
    Self::Extension { name, effect, cure } =>
        ("requires the extension {name:?}, which {effect} and is not supported{}", After(cure)),
    Self::Index { what, index, count } => ("{what} {index} is out of range, there {} {count}", are(*count as u64)),
    Self::Uri { uri, reason } => ("the URI {uri:?} is rejected: {reason}"),
    Self::ParentFolder(uri) => ("the URI {uri:?} is rejected: it leaves the folder of the file"),
    Self::Short { declared, found } => ("byteLength is {declared}, the data has {}", plural(*found, "byte")),
    Self::Bounds { container, end, size } => ("ends at byte {end} of {container}, which has {}", plural(*size, "byte")),
    Self::Stride { stride, element } => ("byteStride is {stride}, an element has {}", plural(*element, "byte")),
    Self::Type { found, expected } => ("is {found}, expected {expected}"),
    Self::Count { what, expected, found } => ("{what}: expected {expected}, found {found}"),
    Self::NotFinite { what, index, value } => ("{what} {index} is {value}"),
    Self::TimeOrder { index, time, previous } => ("time {index} is {time}, after {previous}"),
    Self::TwoParents { first, second } => ("is a child of node {first} and of node {second}"),
    Self::VertexIndex { position, index, vertices } =>
        ("index {position} is {index}, there {} {}", are(*vertices as u64), plural(*vertices as u64, "vertex")),
    Self::JointIndex { vertex, joint, weight, slots } =>
        ("vertex {vertex} uses joint {joint} with weight {weight}, the skin has {}", plural(*slots as u64, "joint")),
    Self::Meshopt(inner) => ("meshopt: {inner}"),
    Self::Limit { what, needed, limit } => ("{what}: {needed} needed, the limit is {limit}"),
}

/// An error on its way to the caller: each level prepends its place.
#[derive(Debug)]
pub(super) struct Fault {
    place: String,
    kind: GltfErrorKind,
}

impl From<GltfErrorKind> for Fault {
    fn from(kind: GltfErrorKind) -> Self {
        let place = String::new();
        Fault { place, kind }
    }
}

impl Fault {
    /// The public error.
    pub fn in_file(self, file: &str) -> ImportError {
        ImportError::Gltf {
            file: file.to_owned(),
            place: self.place,
            kind: self.kind,
        }
    }

    /// The place and the problem.
    pub fn text(&self) -> String {
        format!("{}{}", Lead(&self.place), self.kind)
    }

    /// Whether key times are what is wrong.
    pub fn is_of_times(&self) -> bool {
        let kind = &self.kind;
        matches!(
            kind,
            GltfErrorKind::TimeOrder { .. } | GltfErrorKind::NotFinite { what: "time", .. }
        )
    }

    /// The problem.
    pub fn kind(&self) -> &GltfErrorKind {
        &self.kind
    }
}

/// Adds a place to an error.
pub(super) trait Within<T> {
    /// Prepends `place` to the error's place.
    fn within(self, place: impl FnOnce() -> String) -> Result<T, Fault>;
}

impl<T, E: Into<Fault>> Within<T> for Result<T, E> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T, Fault> {
        self.map_err(|error| {
            let mut fault: Fault = error.into();
            let outer = place();
            fault.place = match fault.place.is_empty() {
                true => outer,
                false => format!("{outer}, {}", fault.place),
            };
            fault
        })
    }
}

/// `node 3 "Hips"`, or `node 3` without a name.
pub(super) fn label(kind: &str, index: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{kind} {index} {:?}", shorten(name)),
        None => format!("{kind} {index}"),
    }
}
