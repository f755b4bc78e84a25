//! Models and their clips.

use libtest_mimic::Failed;
use phalanx::clip::Clip;
use phalanx::import::import_path;
use phalanx::rig::Rig;
use phalanx_testkit::trials;
use std::sync::Arc;

pub type Rigs = Vec<Arc<Rig>>;

pub fn rig_of(file: &str) -> Result<Rigs, Failed> {
    let imported = import_path(&trials::needed(file)?, &Default::default())?;
    Ok(imported.rigs.into_iter().map(Arc::new).collect())
}

pub fn clip_of(file: &str, name: &str) -> Result<(Arc<Rig>, Arc<Clip>), Failed> {
    let rig = rig_of(file)?.swap_remove(0);
    let clip = rig.clips().iter().find(|c| c.name() == name).cloned();
    Ok((rig, clip.ok_or("the model has the clip")?))
}
