//! The canonical order of rows and integers: that of the blocks.

use crate::clip::{BlockKind, Channel, Clip, ClipParts, Encoding};

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
            let keys = match b.kind {
                BlockKind::Constant => 1,
                _ => parts.timelines[b.timeline as usize].len(),
            };
            let count = b.encoding.rows(channel, keys, b.kind.rows_per_key(channel));
            let mut block = *b;
            block.first_row = rows.len() as u32;
            rows.extend_from_slice(&clip.rows()[b.first_row as usize..][..count]);
            if let Encoding::Packed { first, lanes } = b.encoding {
                let count = keys * channel.components() * usize::from(lanes);
                let integers = &clip.packed()[first as usize..][..count];
                let first = packed.len() as u32;
                block.encoding = Encoding::Packed { first, lanes };
                packed.extend_from_slice(integers);
            }
            parts.channels[channel as usize].push(block);
        }
    }
    parts
}
