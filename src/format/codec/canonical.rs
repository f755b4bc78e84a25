//! The canonical order of rows and integers: that of the blocks.

use crate::clip::{Channel, Clip, ClipParts, Encoding};

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
            let keys = clip.keys(channel, b);
            let mut block = *b;
            block.first_row = rows.len() as u32;
            rows.extend_from_slice(keys.rows());
            if let (Encoding::Packed { lanes, .. }, Some((integers, _))) =
                (b.encoding, keys.integers())
            {
                let first = packed.len() as u32;
                block.encoding = Encoding::Packed { first, lanes };
                packed.extend_from_slice(integers);
            }
            parts.channels[channel as usize].push(block);
        }
    }
    parts
}
