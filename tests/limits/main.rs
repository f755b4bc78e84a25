//! Limits on the numbers of rigs and clips: within them every palette is finite, at every level of SIMD;
//! beyond them nothing is taken.

mod counted;
mod extreme;
mod parts;
mod refused;

use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::RawScene;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use std::sync::Arc;

fn built(raw: RawScene) -> Arc<Rig> {
    Arc::new(build_rig(raw, &BuildOptions::default()).expect("a rig within the limits"))
}

fn finite(rows: &[Affine3x4], what: &str) {
    if let Some(row) = rows.iter().position(|m| !m.is_finite()) {
        panic!("{what}: row {row} is {:?}", rows[row]);
    }
}
