//! Section HUMN: the joints of the human bones, as the source of the file states them.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::Bytes;
use crate::skeleton::{HUMAN_BONES, HumanBone, Skeleton};
use crate::words::shorten;
use bytemuck::{Pod, Zeroable};

/// A stored bone.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Stored {
    /// Index of the bone among all bones.
    bone: u16,
    joint: u16,
}

/// The bytes of the section. Bones ascend, as in a rig.
pub(super) fn write(bones: &[(HumanBone, u16)]) -> Vec<u8> {
    let mut out = Bytes::default();
    out.count(bones.len());
    for &(bone, joint) in bones {
        let bone = bone as u16;
        out.one(Stored { bone, joint });
    }
    out.0
}

/// Reads the section. Bones ascend, so none occurs twice; the reader checks that no joint does.
pub(super) fn read(
    mut r: SectionReader<'_>,
    skeleton: &Skeleton,
) -> Result<Vec<(HumanBone, u16)>, ReadError> {
    let count = r.count("the number of bones", size_of::<Stored>())?;
    let mut bones: Vec<(HumanBone, u16)> = Vec::new();
    for _ in 0..count {
        let stored: Stored = r.one("a bone")?;
        let place = r.index("a bone", stored.bone.into(), HUMAN_BONES)?;
        let least = bones.last().map_or(0, |&(last, _)| last as usize + 1);
        // `index` has checked the range.
        let Some(bone) = HumanBone::all().nth(place).filter(|_| place >= least) else {
            let what = "a bone, in ascending order,";
            return Err(r.limit(what, place as u64, least as u64));
        };
        let joint = r.index("the joint of a bone", stored.joint.into(), skeleton.len())?;
        if let Some(&(first, _)) = bones.iter().find(|b| b.1 == stored.joint) {
            let name = shorten(&skeleton.names()[joint]);
            return Err(r.fault(Fault::Invalid(format!(
                "joint {joint} {name:?} is given to two bones, \"{first}\" and \"{bone}\""
            ))));
        }
        r.charge(size_of::<(HumanBone, u16)>())?;
        bones.push((bone, stored.joint));
    }
    r.finish()?;
    Ok(bones)
}
