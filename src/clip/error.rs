//! The messages of a `ClipFault`.

use super::limits::MAX_SHARING;
use super::marker::MAX_MARKERS;
use super::timeline::MAX_IRREGULAR_KEYS;
use crate::error::{ClipFault, MAX_RESAMPLED_KEYS, MAX_ROOT_STEPS};
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
    Self::TrackLength { clip, track, node, keys, values, needed } =>
        ("clip \"{clip}\", track {track} (node {node}): {} and {}, needs {}",
        plural(*keys as u64, "key"),
        plural(*values as u64, "value"),
        plural(*needed as u64, "value"),
        clip = shorten(clip)),
    Self::Target { clip, track, node, what } =>
        ("clip \"{clip}\", track {track}: node {node} has no such {what}", clip = shorten(clip)),
    Self::UserTrack { clip, channel, what, have, needed } =>
        ("clip \"{clip}\", user channel \"{channel}\": {what}: {have}, needed: {needed}",
        clip = shorten(clip), channel = shorten(channel)),
    Self::TooManyKeys { clip, channel, block, keys } =>
        ("clip \"{clip}\": {channel} block {block} has {keys} key times, the limit is {MAX_IRREGULAR_KEYS}, and no \
        {MAX_RESAMPLED_KEYS} evenly spaced times can replace them", clip = shorten(clip)),
    Self::TooLarge { clip, keys, needed, limit } =>
        ("clip \"{clip}\"{} needs {needed} bytes of rows, the limit is {limit}",
        match keys { 0 => String::new(), &n => format!(", with blocks of {},", plural(u64::from(n), "key")) },
        clip = shorten(clip)),
    Self::OutOfMemory { clip, needed } =>
        ("clip \"{clip}\" needs {needed} bytes of memory for its rows, more than there are", clip = shorten(clip)),
    Self::RootJoint(inner) => ("root motion: {inner}"),
    Self::MovingAncestor { clip, joint, above } =>
        ("root motion of clip \"{clip}\": joint \"{above}\" above \"{joint}\" is animated too",
        clip = shorten(clip), above = shorten(above), joint = shorten(joint)),
    Self::RootScale(joint) =>
        ("root motion: the joints above \"{joint}\" have non-uniform or zero scale", joint = shorten(joint)),
    Self::RootKeys { clip, keys, limit } =>
        ("root motion of clip \"{clip}\" needs {keys} keys, the limit is {limit}", clip = shorten(clip)),
    Self::RootWork(needed) => ("root motion: the search takes {needed} steps, the limit is {MAX_ROOT_STEPS}"),
}
