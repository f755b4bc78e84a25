//! Whole models: the same rig, the same poses.

use super::Tested;
use super::roundtrip::same_rig;
use phalanx::format::{Library, RigOptions};
use phalanx::import::{ImportOptions, import_path};
use phalanx_testkit::made;
use phalanx_testkit::trials;

pub fn file(name: &str) -> Tested {
    let imported = import_path(&trials::needed(name)?, &ImportOptions::default())?;
    let rig = imported.rigs.into_iter().next().ok_or("no rig")?;
    let library = Library::from_bytes(&made::library(&rig))?;
    same_rig(&rig, &library.rig(&RigOptions::default())?)?;
    library.verify()?;
    Ok(())
}
