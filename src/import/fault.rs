//! `ImportFault`: what is wrong with a file, wherever in it.

use super::bvh::FRAME_TIMES;
use crate::clip::MAX_MARKERS;
use crate::error::BuildError;
use crate::words::{are, number, plural, says, shorten};
use std::fmt;

/// Limit on the length of a marker's name, bytes; a list of times repeats it for each.
pub const MAX_MARKER_NAME: usize = 256;

/// Limit on the markers that one file adds to all clips together: several clips may share a name, and each
/// gets all markers of that name.
pub const MAX_GIVEN_MARKERS: usize = 1 << 22;

/// Words behind a semicolon, or nothing.
struct After<'a>(&'a Option<&'static str>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |words| write!(f, "; {words}"))
    }
}

/// What is wrong with a file. Where two numbers disagree, both are here. Texts of the file are cut after 40 characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportFault {
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
        /// What it does: `changes geometry`, `changes textures`, `changes animation`, or `is not known`.
        effect: &'static str,
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
    /// The first word is not HIERARCHY.
    NotBvh(String),
    /// Another word or sign belongs here.
    Expected {
        /// What belongs here.
        what: &'static str,
        /// What stands here, quoted.
        found: String,
    },
    /// A joint states something twice.
    Twice(&'static str),
    /// A word is no number.
    Number {
        /// What the number is.
        what: &'static str,
        /// The word, quoted.
        found: String,
    },
    /// A number is NaN or infinite.
    Infinite {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A number is beyond its limit.
    Beyond {
        /// What the number is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f32,
    },
    /// A count is negative, has a fraction, or is beyond 64 bits.
    Whole {
        /// What is counted.
        what: &'static str,
        /// The number in the file.
        value: f64,
        /// The most allowed.
        limit: u64,
    },
    /// Two frames have one time, as times of f32 are farther apart than the frames.
    FramesMeet {
        /// The first such frame, from 0.
        frame: usize,
        /// Its time, seconds.
        seconds: f64,
        /// The distance of times of f32 there, seconds.
        step: f64,
        /// Seconds from frame to frame in the file.
        frame_time: f64,
        /// Frames declared.
        frames: usize,
    },
    /// A channel has a name that BVH does not define.
    Channel(String),
    /// There is more of something than allowed.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much was found or declared.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The operating system cannot provide the memory that the motion takes.
    Memory(u64),
    /// A line of the motion does not have one value per channel.
    Values {
        /// The frame, from 0.
        frame: usize,
        /// Values on its line.
        found: usize,
        /// Channels of all joints.
        expected: usize,
    },
    /// There are fewer or more lines of motion than declared.
    Frames {
        /// Frames declared.
        declared: u64,
        /// Lines with values.
        found: u64,
    },
    /// The frame time is out of range.
    FrameTime(f64),
    /// The unit in the options is not a finite number above 0.
    Unit(f64),
    /// The node's index is out of range.
    NoSuchNode {
        /// The requested node.
        node: usize,
        /// Nodes in the scene.
        count: usize,
    },
    /// No node has that name or index.
    NoSuchName(String),
    /// The node of that index has no parent.
    Root(usize),
    /// A skin has joints on both sides.
    SkinStraddles {
        /// The skin.
        skin: usize,
        /// The requested node.
        node: usize,
        /// Joints in the subtree.
        inside: usize,
        /// Joints elsewhere.
        outside: usize,
    },
    /// An index of the scene is out of range, or its parents form a cycle.
    Malformed {
        /// What the index refers to.
        what: &'static str,
        /// The index.
        index: usize,
    },
    /// The file cannot be read, or is not JSON.
    MarkerFile(String),
    /// A value is not a marker.
    Marker {
        /// Its index or its name.
        marker: String,
        /// The value found.
        found: String,
        /// What is expected.
        needed: &'static str,
    },
    /// A name is too long: its length in bytes.
    MarkerName(usize),
    /// A clip has too many.
    Markers,
    /// The model has no clip of that name.
    UnknownClip(String),
    /// Clips that share names get too many markers together: how many all clips get.
    GivenMarkers(usize),
    /// A marker is outside its clip, or there are too many.
    MarkedClip(Box<BuildError>),
}

says! { ImportFault:
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
    Self::NotBvh(found) => ("a BVH file begins with HIERARCHY, this one with {found}"),
    Self::Expected { what, found } => ("expected {what}, found {found}"),
    Self::Twice(what) => ("the joint has a second {what}"),
    Self::Number { what, found } => ("{what} is {found}, expected a number"),
    Self::Infinite { what, value } => ("{what} is {value}, expected a finite number"),
    Self::Beyond { what, value, limit } => ("{what} is {value:e}, the limit is {limit:e}"),
    Self::Whole { what, value, limit } => ("{what} is {}, expected a whole number from 0 to {limit}", short(*value)),
    Self::FramesMeet { frame, seconds, step, frame_time, frames } =>
        ("frame {frame}, at {seconds:.3} s, has the time of the frame before it: times of f32 are {} s apart \
        there, the frame time is {} s; of the {frames} frames the first {frame} can be read",
        number(*step), number(*frame_time)),
    Self::Channel(found) => ("unknown channel {found}, expected Xposition to Zposition or Xrotation to Zrotation"),
    Self::TooMany { what, found, limit } => ("{what}: {found}, the limit is {limit}"),
    Self::Memory(needed) => ("the motion needs {needed} bytes of memory, more than there are"),
    Self::Values { frame, found, expected } =>
        ("frame {frame} has {}, the joints have {}",
        plural(*found as u64, "value"), plural(*expected as u64, "channel")),
    Self::Frames { declared, found } =>
        ("{} {} declared, there {} {found}", plural(*declared, "frame"), are(*declared), are(*found)),
    Self::FrameTime(seconds) =>
        ("the frame time is {} s, allowed are {} to {} s",
        number(*seconds), FRAME_TIMES[0], FRAME_TIMES[1]),
    Self::Unit(unit) => ("the unit is {} m, expected a finite number above 0", number(*unit)),
    Self::NoSuchNode { node, count } => ("node {node} is out of range, there {} {count}", are(*count as u64)),
    Self::NoSuchName(name) => ("there is no node \"{}\"", shorten(name)),
    Self::Root(node) => ("node {node} is a root, there is nothing to split it from"),
    Self::SkinStraddles { skin, node, inside, outside } =>
        ("skin {skin} has {} below node {node} and {outside} elsewhere", plural(*inside as u64, "joint")),
    Self::Malformed { what, index } => ("{what} {index} does not exist or is its own ancestor"),
    Self::MarkerFile(message) => ("{message}"),
    Self::Marker { marker, found, needed } => ("marker {marker}: expected a {needed}, found {found}"),
    Self::MarkerName(len) => ("a marker's name has {len} bytes, the limit is {MAX_MARKER_NAME}"),
    Self::Markers => ("more than {MAX_MARKERS} markers"),
    Self::UnknownClip(clip) => ("there is no clip \"{}\"", shorten(clip)),
    Self::GivenMarkers(needed) => ("all clips together get {needed} markers, the limit is {MAX_GIVEN_MARKERS}"),
    Self::MarkedClip(error) => ("{error}"),
}

/// A number in few digits, also if it is large.
fn short(value: f64) -> String {
    match value.abs() < 1e15 {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}
