//! Checks of blocks before sampling, and detection of moving lanes.

use super::block::{BlockKind, Channel};
use super::clip_data::ClipParts;
use super::encoding::{Encoding, slack};
use super::error::ClipError;
use crate::math::{LANES, Row, within};
use crate::skeleton::{MAX_LENGTH, Skeleton};

/// Checks that the blocks of a channel ascend and that all their references are in range.
pub(super) fn check_blocks(
    parts: &ClipParts,
    channel: Channel,
    skeleton: &Skeleton,
) -> Result<(), ClipError> {
    let have_blocks = match channel {
        Channel::Scalar => skeleton.rest_pose().scalar_blocks(),
        _ => skeleton.blocks(),
    };
    let (rows, packed) = (parts.rows.as_slice(), parts.packed.as_slice());
    let mut least = 0usize;
    for (index, b) in parts.channels[channel as usize].iter().enumerate() {
        let fail = |what, needed, have| ClipError::Block {
            clip: parts.name.clone(),
            channel,
            index,
            what,
            needed,
            have,
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
        let count = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
        let end = (b.first_row as usize).saturating_add(count);
        if end > rows.len() {
            return Err(fail("row", end, rows.len()));
        }
        if let Encoding::Packed { first, lanes } = b.encoding {
            let lanes = usize::from(lanes);
            if !matches!(b.kind, BlockKind::Linear | BlockKind::Slerp) {
                return Err(fail("packed keys of the kind", b.kind as usize, 0));
            }
            if lanes == 0 || lanes > LANES {
                return Err(fail("packed lane", lanes, LANES));
            }
            let steps = &rows[end - 1].0;
            if let Some(l) = (lanes..LANES).find(|&l| steps[l] != 0.0) {
                return Err(fail("step of lane", l, lanes));
            }
            let size = keys * channel.components() * lanes + slack(lanes);
            let end = (first as usize).saturating_add(size);
            if end > packed.len() {
                return Err(fail("packed key", end, packed.len()));
            }
            // Any integer may occur, so the whole range must be within the limit.
            let ranges = &rows[b.first_row as usize..][..channel.components()];
            let farthest = |l: usize| {
                let least = ranges.iter().map(|r| r.0[l].abs()).fold(0.0, f32::max);
                least + steps[l].abs() * f32::from(u16::MAX)
            };
            if let Some(l) = (0..LANES).find(|&l| !within(farthest(l), MAX_LENGTH)) {
                return Err(ClipError::Beyond {
                    clip: parts.name.clone(),
                    place: format!("{channel} block {index}, the range of lane {l}"),
                    value: farthest(l),
                    limit: MAX_LENGTH,
                });
            }
        }
    }
    Ok(())
}

/// The lanes of a block that change over its keys.
pub(super) fn moving_lanes(rows: &[Row], kind: BlockKind, channel: Channel) -> u16 {
    let width = channel.components();
    let per_key = kind.rows_per_key(channel);
    let values = match kind {
        BlockKind::Cubic => width..2 * width,
        _ => 0..width,
    };
    let mut moving = [0u32; LANES];
    for key in rows.chunks_exact(per_key) {
        for (part, (row, first)) in key.iter().zip(rows).enumerate() {
            // The tangents of a lane that does not move are zero.
            let still = if values.contains(&part) {
                first.0
            } else {
                [0.0; LANES]
            };
            for (moving, (v, still)) in moving.iter_mut().zip(row.0.iter().zip(still)) {
                *moving |= u32::from(*v != still);
            }
        }
    }
    let bits = moving.iter().enumerate();
    bits.fold(0, |all, (l, &moving)| all | (moving as u16) << l)
}

/// Keys that are compared between checks for an early exit.
const KEYS_AT_ONCE: usize = 4;

/// The lanes of a packed block that change over its keys.
pub(super) fn packed_moving_lanes(steps: &Row, packed: &[u16], lanes: usize, width: usize) -> u16 {
    let bits =
        |of: &dyn Fn(usize) -> bool| (0..lanes).fold(0, |all, l| all | u16::from(of(l)) << l);
    let stepping = bits(&|l| steps.0[l] != 0.0);
    let mut moving = 0;
    let (first, later) = packed.split_at(width * lanes);
    let mut differs = [0u16; 4 * LANES];
    for keys in later.chunks(KEYS_AT_ONCE * width * lanes) {
        for key in keys.chunks_exact(width * lanes) {
            for (differs, (a, b)) in differs.iter_mut().zip(first.iter().zip(key)) {
                *differs |= a ^ b;
            }
        }
        moving = bits(&|l| (0..width).any(|c| differs[c * lanes + l] != 0)) & stepping;
        if moving == stepping {
            break;
        }
    }
    moving
}
