//! Section BNDS: the volume that the meshes take while each clip plays.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::{Bytes, bit};
use crate::rig::{Aabb, ClipBounds};
use crate::skeleton::NO_JOINT;
use bytemuck::{Pod, Zeroable};

/// Flag: the bounds of a clip were measured.
const MEASURED: u32 = 1;
/// Flag: the clip's box of meshes is not empty.
const DRAWN: u32 = 2;

/// Stored bounds.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Stored {
    flags: u32,
    mesh: [[f32; 3]; 2],
    anchor: [[f32; 3]; 2],
    morph: f32,
}

/// The bounds of the clips of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    /// The joint whose positions the anchor boxes hold.
    pub anchor: Option<u16>,
    /// Bounds by the index of the clip.
    pub clips: Vec<Option<ClipBounds>>,
}

pub(super) fn write(bounds: &Bounds) -> Vec<u8> {
    let mut out = Bytes::default();
    out.one(bounds.anchor.unwrap_or(NO_JOINT));
    out.pad(4);
    out.count(bounds.clips.len());
    let corners = |b: &Aabb| [b.min.to_array(), b.max.to_array()];
    for clip in &bounds.clips {
        let stored = clip.as_ref().map_or(Stored::zeroed(), |b| Stored {
            flags: MEASURED | bit(!b.mesh.is_empty(), DRAWN),
            mesh: if b.mesh.is_empty() { [[0.0; 3]; 2] } else { corners(&b.mesh) },
            anchor: corners(&b.anchor),
            morph: b.morph,
        });
        out.one(stored);
    }
    out.0
}

/// Reads the section of a file with given numbers of clips and joints.
pub(super) fn read(
    mut r: SectionReader<'_>,
    clips: usize,
    joints: usize,
) -> Result<Bounds, ReadError> {
    let anchor: u16 = r.one("the anchor")?;
    if anchor != NO_JOINT {
        r.index("the anchor", anchor.into(), joints)?;
    }
    r.pad(4)?;
    let count = r.count("the number of bounds", size_of::<Stored>())?;
    if count != clips {
        return Err(r.limit("the number of bounds", count as u64, clips as u64));
    }
    let mut all = Vec::new();
    for _ in 0..count {
        r.charge(size_of::<Option<ClipBounds>>())?;
        let stored: Stored = r.one("bounds of a clip")?;
        let clip = all.len();
        all.push(of_clip(&stored).ok_or_else(|| {
            let words =
                format!("the bounds of clip {clip} are not finite, or contradict their flags");
            r.fault(Fault::Invalid(words))
        })?);
    }
    r.finish()?;
    Ok(Bounds { anchor: (anchor != NO_JOINT).then_some(anchor), clips: all })
}

/// The stored bounds; `None` if their numbers are not finite or contradict the flags.
fn of_clip(stored: &Stored) -> Option<Option<ClipBounds>> {
    let flags = stored.flags;
    let aabb = |[min, max]: [[f32; 3]; 2]| Aabb { min: min.into(), max: max.into() };
    if flags & MEASURED == 0 {
        return (*stored == Stored::zeroed()).then_some(None);
    }
    let drawn = flags & DRAWN != 0;
    let bounds = ClipBounds {
        mesh: if drawn { aabb(stored.mesh) } else { Aabb::EMPTY },
        anchor: aabb(stored.anchor),
        morph: stored.morph,
    };
    let known = flags <= MEASURED | DRAWN && (drawn || stored.mesh == [[0.0; 3]; 2]);
    let full = !drawn || !bounds.mesh.is_empty();
    let sound = known && full && !bounds.anchor.is_empty() && bounds.is_sound();
    sound.then_some(Some(bounds))
}
