//! Both sides against the oracle, which samples the keys in f64.

use crate::ozz::Row;
use crate::work::{Kind, Pair, Source};
use glam::{DMat4, DVec3};
use phalanx::crowd::LayerOptions;
use phalanx_testkit::oracle::{Action, Layer};
use phalanx_testkit::reference::{Beside, palette, wide};
use phalanx_workload::live::Playing;
use std::error::Error;

/// Frames before the comparison: longer than a crossfade and than a pass over some clips.
const FRAMES: u32 = 90;
/// Characters that are compared.
const COMPARED: usize = 60;
/// Radius of the shell around a joint on which its error is measured, in metres, as `phalanx bake` has it.
const SHELL: f64 = 0.03;
/// The most characters, as a share, that may play something else on both sides.
const APART: f64 = 0.01;

/// Largest errors of a workload, in millimetres, on points of shells around all joints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    pub ours: f64,
    pub ozz: f64,
    /// Characters that do not play the same on both sides.
    pub apart: usize,
    pub characters: usize,
}

/// Runs both sides for some frames, and compares their palettes with the oracle's.
///
/// # Errors
/// If the two sides do not play the same, or a palette has another length.
pub fn check(kind: Kind, count: usize, source: &mut Source) -> Result<Errors, Box<dyn Error>> {
    let assets = source.assets(kind)?;
    let mut pair = Pair::new(kind, count, source)?;
    pair.ours.run(FRAMES)?;
    pair.run_ozz(FRAMES, true)?;
    let mut errors = Errors { apart: pair.differences()?, characters: count, ..Errors::default() };
    if errors.apart as f64 > APART * count as f64 {
        return Err(format!("{} of {count} characters play something else", errors.apart).into());
    }
    let mut beside = Beside::new(&assets.raw, &assets.rig, [(LayerOptions::default(), None)]);
    pair.clips.iter().enumerate().for_each(|(clip, &id)| beside.clip(id, clip));
    let binds = assets.raw.skins.iter().flat_map(|skin| &skin.inverse_bind);
    let binds: Vec<DMat4> =
        binds.map(|bind| DMat4::from_cols_array(&bind.map(f64::from)).inverse()).collect();
    let Playing { crowd, buffer, instances } = pair.ours.playing();
    let slots = assets.library.palette_len();
    for at in (0..count).step_by((count / COMPARED).max(1)) {
        let layers = beside.playing(crowd, instances[at], |_| 0.0).ok_or("a clip plays twice")?;
        let expected = palette(&beside.scene, &layers);
        let rows = crowd.palette_range(instances[at]).ok_or("a character without rows")?;
        let found = wide(&buffer.rows()[rows]);
        errors.ours = errors.ours.max(worst(&found, &expected, &binds)?);

        // ozz divides by the sum of the weights; Phalanx adds the rest pose where they sum to less than one.
        let actions = &pair.ozz.characters[at].actions;
        let sum: f64 = actions.iter().map(|a| a.weight).sum();
        let actions = actions.iter().map(|a| Action::new(a.clip, a.time, a.weight / sum));
        let expected = palette(&beside.scene, &[Layer::of(actions.collect())]);
        let rows = &pair.ozz.palettes[at * slots..][..slots];
        let found: Vec<[f64; 16]> = rows.iter().map(columns).collect();
        errors.ozz = errors.ozz.max(worst(&found, &expected, &binds)?);
    }
    Ok(errors)
}

/// The largest distance of a point on the shell of a joint from where it should be, in millimetres.
fn worst(
    found: &[[f64; 16]],
    expected: &[[f64; 16]],
    binds: &[DMat4],
) -> Result<f64, Box<dyn Error>> {
    if found.len() != expected.len() || binds.len() != expected.len() {
        return Err(format!("{} rows for {}", found.len(), expected.len()).into());
    }
    let mut worst: f64 = 0.0;
    for ((found, expected), bind) in found.iter().zip(expected).zip(binds) {
        let off = DMat4::from_cols_array(found) - DMat4::from_cols_array(expected);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            for point in [axis * SHELL, axis * -SHELL] {
                let point = bind.transform_point3(point);
                let distance = (off * point.extend(1.0)).truncate().length() * 1e3;
                worst = if distance.is_nan() { f64::INFINITY } else { worst.max(distance) };
            }
        }
    }
    Ok(worst)
}

/// A row as a column-major matrix.
fn columns(row: &Row) -> [f64; 16] {
    std::array::from_fn(|i| match row.get(i % 4) {
        Some(row) => f64::from(row[i / 4]),
        None => f64::from(u8::from(i == 15)),
    })
}
