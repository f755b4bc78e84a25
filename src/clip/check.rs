//! Checks of blocks before sampling.

use super::block::{BlockKind, Channel};
use super::clip_data::ClipParts;
use super::encoding::{Encoding, slack};
use super::keys::{Extent, ranges};
use crate::clip::ClipFault;
use crate::error::BuildError;
use crate::math::{LANES, within};
use crate::skeleton::{MAX_LENGTH, Skeleton};

/// Checks that the blocks of a channel ascend and that all their references are in range.
pub(super) fn check_blocks(
    parts: &ClipParts,
    channel: Channel,
    skeleton: &Skeleton,
) -> Result<(), BuildError> {
    let have_blocks = match channel {
        Channel::Scalar => skeleton.rest_pose().scalar_blocks(),
        _ => skeleton.blocks(),
    };
    let (rows, packed) = (parts.rows.as_slice(), parts.packed.as_slice());
    let mut least = 0usize;
    for (index, b) in parts.channels[channel as usize].iter().enumerate() {
        let fail = |what, needed, have| {
            BuildError::Clip(ClipFault::Block {
                clip: parts.name.clone(),
                channel,
                index,
                what,
                needed,
                have,
            })
        };
        let block = usize::from(b.block);
        // Blocks ascend, so sampling writes each block once.
        if block >= have_blocks || block < least {
            return Err(fail("block", block, have_blocks));
        }
        least = block + 1;
        let keys = if b.kind == BlockKind::Constant {
            1
        } else {
            match parts.timelines.get(b.timeline as usize) {
                Some(t) => t.len(),
                None => {
                    return Err(fail("timeline", b.timeline as usize, parts.timelines.len()));
                }
            }
        };
        let extent = Extent::new(channel, b, keys);
        let end = (b.first_row as usize).saturating_add(extent.rows);
        if end > rows.len() {
            return Err(fail("row", end, rows.len()));
        }
        let ranges = ranges(&rows[b.first_row as usize..end]);
        if let (Encoding::Packed { first, lanes }, Some((least, steps))) = (b.encoding, ranges) {
            let lanes = usize::from(lanes);
            if !matches!(b.kind, BlockKind::Linear | BlockKind::Slerp) {
                return Err(fail("packed keys of the kind", b.kind as usize, 0));
            }
            if lanes == 0 || lanes > LANES {
                return Err(fail("packed lane", lanes, LANES));
            }
            if let Some(l) = (lanes..LANES).find(|&l| steps.0[l] != 0.0) {
                return Err(fail("step of lane", l, lanes));
            }
            let end = (first as usize).saturating_add(extent.integers + slack(lanes));
            if end > packed.len() {
                return Err(fail("packed key", end, packed.len()));
            }
            // Any integer may occur, so the whole range must be within the limit.
            let farthest = |l: usize| {
                let least = least.iter().map(|r| r.0[l].abs()).fold(0.0, f32::max);
                least + steps.0[l].abs() * f32::from(u16::MAX)
            };
            if let Some(l) = (0..LANES).find(|&l| !within(farthest(l), MAX_LENGTH)) {
                return Err(BuildError::Clip(ClipFault::Beyond {
                    clip: parts.name.clone(),
                    place: format!("{channel} block {index}, the range of lane {l}"),
                    value: farthest(l),
                    limit: MAX_LENGTH,
                }));
            }
        }
    }
    Ok(())
}
