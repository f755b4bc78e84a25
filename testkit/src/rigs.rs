//! Rigs of raw scenes, and what their palettes must be whatever they are.

use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::RawScene;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use std::sync::Arc;

/// The rig of a scene within the limits.
///
/// # Panics
/// If it is refused.
pub fn built(raw: RawScene) -> Arc<Rig> {
    Arc::new(build_rig(raw, &BuildOptions::default()).expect("a rig within the limits"))
}

/// Asserts that rows are finite.
#[track_caller]
pub fn finite(rows: &[Affine3x4], what: &str) {
    if let Some(row) = rows.iter().position(|m| !m.is_finite()) {
        panic!("{what}: row {row} is {:?}", rows[row]);
    }
}
