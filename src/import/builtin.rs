//! The built-in character, embedded in the library so that a crowd needs no files.

use super::ImportOptions;
use super::error::ImportError;
use super::file::{import_slice, read_slice};
use crate::build::add_lod;
use crate::rig::Rig;

/// The files of the built-in character, finest level of detail first (CC0, see
/// `assets/mannequin.md`).
pub const MANNEQUIN: [(&str, &[u8]); 3] = [
    ("mannequin.glb", include_bytes!("../../assets/mannequin.glb")),
    ("mannequin_lod1.glb", include_bytes!("../../assets/mannequin_lod1.glb")),
    ("mannequin_lod2.glb", include_bytes!("../../assets/mannequin_lod2.glb")),
];

/// The built-in character: 47 joints, eleven clips, three levels of detail. Metres, Y up, faces +Z.
///
/// # Errors
/// The files as shipped give none; files pass through the importer, so its errors are possible by type.
pub fn mannequin() -> Result<Rig, ImportError> {
    mannequin_with(&ImportOptions::default())
}

/// The built-in character, imported with the given options (root motion, Z up).
///
/// # Errors
/// If an option names a node to split at, or a joint, that the character lacks.
pub fn mannequin_with(options: &ImportOptions) -> Result<Rig, ImportError> {
    let (name, bytes) = MANNEQUIN[0];
    let mut imported = import_slice(bytes, name, None, options)?;
    let mut rig = imported.rigs.swap_remove(0);
    for (name, bytes) in &MANNEQUIN[1..] {
        let (scene, _) = read_slice(bytes, name, None, options)?;
        add_lod(&mut rig, &scene).map_err(|source| ImportError::Build {
            file: name.to_string(),
            source: Box::new(source),
        })?;
    }
    Ok(rig)
}
