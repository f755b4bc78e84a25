//! Section SKIN: the joints and inverse bind matrices of all slots of all skins.

use super::error::ReadError;
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use crate::math::Affine3x4;
use crate::rig::Rig;
use crate::skeleton::Skin;

pub(super) fn write(rig: &Rig, names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.count(rig.skins().len());
    out.count(rig.file_skins().len());
    for skin in rig.skins() {
        out.one(names.add(skin.name()));
        out.count(skin.len());
        out.many(skin.joints());
        out.pad(4);
        for bind in skin.inverse_bind() {
            out.many(bind.rows.as_flattened());
        }
    }
    out.0
}

/// Reads the section: all skins, and how many of them come from the source file.
pub(super) fn read(
    mut r: SectionReader<'_>,
    names: &Names,
    joints: usize,
) -> Result<(Vec<Skin>, usize), ReadError> {
    let count = r.count("the number of skins", 8)?;
    let file_skins: u32 = r.one("the number of skins of the file")?;
    let file_skins = r.index("the number of skins of the file", file_skins, count + 1)?;
    let mut skins = Vec::new();
    for skin in 0..count {
        r.charge(size_of::<Skin>())?;
        let name = r.named(names, "the name of a skin")?;
        let slots = r.count("the number of slots", 2 + 48)?;
        let list: Vec<u16> = r.many(slots, "slots")?;
        r.pad(4)?;
        let binds: Vec<[[f32; 4]; 3]> = r.floats(slots, "inverse bind matrices")?;
        r.charge(slots.saturating_mul(48))?;
        let binds = binds.into_iter().map(|rows| Affine3x4 { rows }).collect();
        let made = Skin::new(name, list, binds, joints);
        skins.push(made.map_err(|source| r.whole(source.within(format!("skin {skin}"))))?);
    }
    r.finish()?;
    Ok((skins, file_skins))
}
