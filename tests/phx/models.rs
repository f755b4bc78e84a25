//! Whole models: the same rig, the same poses.

use super::roundtrip::same_rig;
use super::{Tested, common, made};
use phalanx::format::{Library, RigOptions};
use phalanx::offline::{ImportOptions, import_path};

pub fn file(name: &str) -> Tested {
    let imported = import_path(&common::needed(name)?, &ImportOptions::default())?;
    let rig = imported.rigs.into_iter().next().ok_or("no rig")?;
    let library = Library::from_bytes(&made::library(&rig))?;
    same_rig(&rig, &library.rig(RigOptions::default())?)?;
    library.verify()?;
    Ok(())
}
