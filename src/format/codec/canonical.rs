//! The canonical order of rows and integers: the order of the blocks.

use crate::clip::{Block, Channel, Clip, ClipParts, Encoding};

/// The parts of a clip in canonical order.
pub(super) fn canonical(clip: &Clip) -> ClipParts {
    let mut parts = clip.outline();
    let (rows, packed) = (&mut parts.rows, &mut parts.packed);
    for channel in Channel::ALL {
        for b in clip.blocks(channel) {
            let own = b.encoding.extent(channel, b.kind, clip.keys_of(b));
            let (lanes, at) = b.encoding.numbers();
            let block = Block {
                first_row: rows.len() as u32,
                encoding: Encoding::of_numbers((lanes, packed.len() as u32)),
                ..*b
            };
            rows.extend_from_slice(&clip.rows()[b.first_row as usize..][..own.rows]);
            packed.extend_from_slice(&clip.packed()[at as usize..][..own.integers]);
            parts.channels[channel as usize].push(block);
        }
    }
    parts
}
