//! The writer refuses what does not fit.

use super::Tested;
use super::roundtrip::{check, turned};
use phalanx::format::{ClipForm, LibraryWriter, WriteError};
use phalanx::skeleton::SkeletonMismatch;
use phalanx_testkit::made;
use std::io::Cursor;

pub fn refused() -> Tested {
    let rig = made::rig();
    let other = made::rig_in_order(turned(rig.skeleton().len()));
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton())?;
    let clip = &other.clips()[0];
    for result in [writer.add_clip(clip, "walk", ClipForm::Rows), writer.add_rig(&other)] {
        match result {
            Err(WriteError::Skeleton { mismatch, .. }) => {
                check(mismatch == SkeletonMismatch::LaneOrder, "the lane order")?;
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    // What was refused has left nothing behind.
    for clip in rig.clips() {
        writer.add_clip(clip, clip.name(), ClipForm::Rows)?;
    }
    let file = writer.finish(&made::provenance(3))?.into_inner();
    let library = phalanx::format::Library::from_bytes(&file)?;
    check(library.clip_count() == 3, "clips")?;
    let rig = library.rig(&Default::default())?;
    check(rig.meshes().is_empty() && rig.nodes().is_empty(), "a library of clips alone")
}
