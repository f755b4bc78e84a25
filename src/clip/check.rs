//! Checks of blocks before sampling.

use super::block::{BlockKind, Channel};
use super::clip_data::Clip;
use super::limits::beyond;
use crate::error::BuildError;
use crate::skeleton::MAX_LENGTH;
use crate::words::are;

/// Checks that the blocks of a channel ascend and that all their references are in range.
pub(super) fn check_blocks(clip: &Clip, channel: Channel) -> Result<(), BuildError> {
    let skeleton = clip.skeleton();
    let have_blocks = match channel {
        Channel::Scalar => skeleton.rest_pose().scalar_blocks(),
        _ => skeleton.blocks(),
    };
    let mut least = 0usize;
    for (index, b) in clip.blocks(channel).iter().enumerate() {
        let fail = |what: &str, needed: usize, have: usize| {
            let there = are(have as u64);
            let words =
                format!("{channel} block {index} refers to {what} {needed}, there {there} {have}");
            BuildError::of_clip(&clip.name, words)
        };
        let block = usize::from(b.block);
        // Blocks ascend, so sampling writes each block once.
        if block >= have_blocks || block < least {
            return Err(fail("block", block, have_blocks));
        }
        least = block + 1;
        let (timeline, timelines) = (b.timeline as usize, clip.timelines.len());
        if b.kind != BlockKind::Constant && timeline >= timelines {
            return Err(fail("timeline", timeline, timelines));
        }
        let own = b.encoding.extent(channel, b.kind, clip.keys_of(b));
        let end = (b.first_row as usize).saturating_add(own.rows);
        let Some(rows) = clip.rows.get(b.first_row as usize..end) else {
            return Err(fail("row", end, clip.rows.len()));
        };
        let (own, have) = ((rows, own.integers), clip.packed.len());
        let sound = b.encoding.check(b.kind, own, have);
        sound.map_err(|(what, needed, have)| fail(what, needed, have))?;
        if let Some((lane, value)) = b.encoding.beyond(rows, MAX_LENGTH) {
            let place = format!("{channel} block {index}, the range of lane {lane}");
            return Err(beyond(&clip.name, place, value, MAX_LENGTH));
        }
    }
    Ok(())
}
