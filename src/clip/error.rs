//! The messages of a `ClipFault`.

use super::limits::MAX_SHARING;
use super::marker::MAX_MARKERS;
use crate::error::ClipFault;
use crate::skeleton::{MAX_CHAIN_SCALE, MAX_SECONDS};
use crate::words::{are, plural, says, shorten};

says! { ClipFault:
    Self::Duration { clip, duration } =>
        ("clip \"{clip}\": the duration is {duration} s, allowed are 0 to {MAX_SECONDS:e} s", clip = shorten(clip)),
    Self::KeyCount { clip, timeline, keys, limit } =>
        ("clip \"{clip}\": timeline {timeline} has {}, allowed are 2 to {limit}",
        plural(*keys as u64, "key"), clip = shorten(clip)),
    Self::Times { clip, timeline, key } =>
        ("clip \"{clip}\": timeline {timeline}, key {key}: times must increase, from -{MAX_SECONDS:e} to \
        {MAX_SECONDS:e} s", clip = shorten(clip)),
    Self::TooManyTimelines { clip, count } =>
        ("clip \"{clip}\": {count} irregular timelines, the limit is {}", u16::MAX, clip = shorten(clip)),
    Self::Block { clip, channel, index, what, needed, have } =>
        ("clip \"{clip}\": {channel} block {index} refers to {what} {needed}, there {} {have}",
        are(*have as u64), clip = shorten(clip)),
    Self::Unknown { clip, clips } => ("there is no clip {clip}: the rig has {}", plural(*clips as u64, "clip")),
    Self::Marker { clip, marker, time, duration } =>
        ("clip \"{clip}\": marker \"{marker}\" is at {time} s, the clip ends at {duration} s",
        clip = shorten(clip), marker = shorten(marker)),
    Self::TooManyMarkers { clip, count } =>
        ("clip \"{clip}\": {count} markers, the limit is {MAX_MARKERS}", clip = shorten(clip)),
    Self::NotFinite { clip, row } => ("clip \"{clip}\": row {row} is not finite", clip = shorten(clip)),
    Self::Beyond { clip, place, value, limit } =>
        ("clip \"{clip}\": {place}: {value:e} is beyond the limit of {limit:e}", clip = shorten(clip)),
    Self::Scale { clip, joint, name, product } =>
        ("clip \"{clip}\": the largest scales down to joint {joint} \"{name}\" multiply to {product:e}, the limit \
        is {MAX_CHAIN_SCALE:e}", clip = shorten(clip), name = shorten(name)),
    Self::Sharing { clip, what, needed, limit } =>
        ("clip \"{clip}\": blocks read {needed} {what}, the limit is {limit} ({MAX_SHARING} times those stored, \
        plus 65536)", clip = shorten(clip)),
    Self::RootMotion { clip, what, index } => ("clip \"{clip}\", root motion: {what} ({index})", clip = shorten(clip)),
    Self::LaneSkeleton { clip, mismatch } =>
        ("clip \"{clip}\" was built for another skeleton: {mismatch}", clip = shorten(clip)),
    Self::LaneMemory { clip, needed, limit } =>
        ("clip \"{clip}\" needs {needed} bytes in another lane order, the limit is {limit}", clip = shorten(clip)),
}
