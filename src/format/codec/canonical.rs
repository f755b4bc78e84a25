//! The canonical order of rows and integers: the order of the blocks.

use crate::clip::{Block, Channel, Clip, ClipParts, Encoding};

/// The parts of a clip in canonical order, without its name and markers.
pub(super) fn canonical(clip: &Clip) -> ClipParts {
    let mut parts = ClipParts {
        duration: clip.duration(),
        kind: clip.kind(),
        tracks: Channel::ALL.map(|c| clip.tracks(c)),
        root_motion: clip.root_motion().map(|m| m.parts().clone()),
        ..ClipParts::default()
    };
    let times = clip.timelines().iter().map(|t| clip.times(t).to_vec());
    parts.timelines = times.collect();
    let (rows, packed) = (parts.rows.to_mut(), parts.packed.to_mut());
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
