//! Import of BVH (Biovision hierarchy), the text format of motion capture, into raw data.
//!
//! Start with [`read_slice`] or, for files and finished rigs, with [`import_path`](super::import_path). The reader has no
//! dependencies. Files are not trusted: counts are compared with limits and with the text, nothing recurses, and
//! memory grows with the bytes that were read, not with the numbers in them.
//!
//! ```text
//! HIERARCHY
//! ROOT Hips
//! {
//!     OFFSET 0 0 0                                         rest translation; rest rotations are the identity
//!     CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
//!     JOINT Chest
//!     {
//!         OFFSET 0 10 0
//!         CHANNELS 3 Zrotation Xrotation Yrotation         rotation = Z · X · Y, in degrees
//!         End Site { OFFSET 0 20 0 }                       a node "Chest_end", no joint
//!     }
//! }
//! MOTION
//! Frames: 2
//! Frame Time: 0.0083333
//! 0 90 0  0 0 0  0 0 0                                     a line per frame, a value per channel
//! 0 90 1  0 5 0  0 0 0
//! ```
//!
//! - A joint has 0 to 6 channels, each at most once, in any order. Rotations multiply in the order of the file:
//!   the first is the outermost. Between frames they are slerped, as all rotations of clips.
//! - A position replaces the offset, axis by axis, in the root and in all other joints.
//! - There may be several roots. An End Site becomes a node below its joint, named after it.
//! - Keywords may be in any case. Names follow ROOT and JOINT or are on the next line; they reach to the end of the line
//!   and are kept with spaces and colons. Lines end with LF, CR LF or CR; blank lines and tabs are skipped.
//! - The file has no unit and no up axis: [`ImportOptions`] has the unit, and +Y is taken to be up.

mod error;
mod hierarchy;
mod motion;
mod scene;
mod text;

use super::{ImportOptions, ReportEntry};
use crate::clip::MAX_KEYS;
use crate::import::ImportError;
use crate::raw::RawScene;
use crate::skeleton::MAX_JOINTS;
use crate::words::number;
use error::{Fault, invalid};
use std::io::Read;
use std::path::Path;
use text::Text;

/// Limit on the joints of a file: that of a skeleton. It also bounds the nesting.
const MAX_BVH_JOINTS: usize = MAX_JOINTS;

/// Limit on the channels of a joint: a position and a rotation, each about three axes.
const MAX_CHANNELS: usize = 6;

/// Limit on the frames of a file: the keys of a regular timeline.
///
/// A take must also be short enough for f32 times to tell its frames apart ([`ImportFault::FramesMeet`](super::ImportFault::FramesMeet)). This holds for
/// any take of 2^23 frames, 19.4 hours at 120 Hz; at 120 Hz it holds up to 131,072 s, 36.4 hours.
const MAX_FRAMES: usize = MAX_KEYS;

/// The shortest and the longest frame time in seconds. Between them key times in f32 are normal and finite.
pub(super) const FRAME_TIMES: [f64; 2] = [1.0e-6, 1.0e4];

/// Reads the bytes of a `.bvh` file. `name` is used in messages and for the scene; its file name without the
/// extension names the clip.
///
/// ```
/// use phalanx::build::{BuildOptions, build_rig};
/// use phalanx::import::ImportOptions;
/// use phalanx::import::bvh::read_slice;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 90 0\n CHANNELS 1 Yrotation\n End Site\n {\n  OFFSET 0 80 0\n }\n}\n\
///     MOTION\nFrames: 2\nFrame Time: 0.5\n0\n90\n";
/// let options = ImportOptions { unit: 0.01, ..ImportOptions::default() };
/// let (raw, _report) = read_slice(text.as_bytes(), "captured/turn.bvh", &options)?;
/// let rig = build_rig(raw, &BuildOptions::default())?;
/// assert_eq!(rig.skeleton().rest(0).translation.y, 0.9);
/// assert_eq!(rig.clips()[0].name(), "turn");
/// assert_eq!(rig.clips()[0].duration(), 0.5);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the text has an error: see [`ImportFault`](super::ImportFault).
pub fn read_slice(
    bytes: &[u8],
    name: &str,
    options: &ImportOptions,
) -> Result<(RawScene, Vec<ReportEntry>), ImportError> {
    let mut report = Vec::new();
    let scene = read(bytes, name, options, &mut report);
    let mut scene = scene.map_err(|fault| fault.in_file(name))?;
    scene.convert_up_axis(options.up_axis);
    Ok((scene, report))
}

/// True if the first word of bytes is HIERARCHY. Only the first 256 bytes are read, so that the head of a file gives the
/// same answer as the whole file.
pub fn is_bvh(bytes: &[u8]) -> bool {
    Text::new(&bytes[..bytes.len().min(HEAD)]).word().is("HIERARCHY")
}

/// True if a path ends with `.bvh`, in any case.
pub(super) fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("bvh"))
}

/// True if a file is named `.bvh`, or [`is_bvh`] of its bytes.
pub fn is_bvh_file(path: &Path) -> bool {
    if is_named(path) {
        return true;
    }
    // Opening a pipe would block until a writer appears.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(HEAD as u64).read_to_end(&mut head));
    read.is_ok() && is_bvh(&head)
}

/// Number of bytes that are read to tell what a file is.
const HEAD: usize = 256;

fn read(
    bytes: &[u8],
    name: &str,
    options: &ImportOptions,
    report: &mut Vec<ReportEntry>,
) -> Result<RawScene, Fault> {
    let unit = options.unit;
    if !(unit > 0.0 && unit.is_finite()) {
        let unit = number(unit);
        let words = format!("the unit is {unit} m, expected a finite number above 0");
        return Err(invalid(words).into());
    }
    let mut text = Text::new(bytes);
    let first = text.word();
    if first.bytes.is_empty() {
        return Err(invalid("the file is empty").into());
    }
    if !first.is("HIERARCHY") {
        let words = format!("a BVH file begins with HIERARCHY, this one with {}", first.quoted());
        return Err(first.fault(invalid(words)));
    }
    let hierarchy = hierarchy::hierarchy(&mut text, unit)?;
    let motion = motion::motion(&mut text, &hierarchy, options)?;
    Ok(scene::scene(name, hierarchy, motion, options, report))
}
