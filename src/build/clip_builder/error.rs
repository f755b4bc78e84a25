//! The messages of a `TrackFault`.

use super::key_times::MAX_RESAMPLED_KEYS;
use crate::clip::MAX_IRREGULAR_KEYS;
use crate::error::TrackFault;
use crate::words::{plural, says, shorten};

says! { TrackFault:
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
}
