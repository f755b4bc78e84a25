//! Measuring the bounds of a rig's clips.

use crate::clip::ClipKind;
use crate::rig::Rig;
use crate::runtime::{ClipBoundsScratch, clip_cost};

/// Limit on the matrices that measuring all clips of a rig computes: about half a second.
const MATRICES: usize = 1 << 26;

/// Measures the bounds of the clips that have none. Clips that are too long for the limit are left out: a crowd
/// measures them if it needs them.
pub(super) fn measure_bounds(rig: &mut Rig) {
    let boxes = &rig.slot_bounds;
    if boxes.iter().all(|b| b.is_empty()) {
        return;
    }
    let mut left = MATRICES;
    let mut scratch = ClipBoundsScratch::new(rig);
    let mut all = Vec::with_capacity(rig.clips.len());
    for clip in &rig.clips {
        let room = left.checked_sub(clip_cost(rig, clip));
        let measured = room.filter(|_| clip.kind() == ClipKind::Full).map(|room| {
            left = room;
            scratch.measure(rig, Some(clip)).ok().flatten()
        });
        all.push(measured.flatten());
    }
    rig.clip_bounds = all;
}
