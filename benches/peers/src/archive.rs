//! Archives of ozz-animation 0.16 from a raw scene, so that nothing of ozz's tools is needed: the skeleton (version 2) and
//! the animation (version 7), as ozz-animation-rs reads them.
//!
//! ```text
//! keys of a channel, sorted by the time of the key before, then by track
//! | first key of track 0 | 1 | … | second key of track 0 | 1 | … | third keys and later, as they are needed |
//! ```
//!
//! Tracks are padded to a multiple of four. Every track has a key at 0 and one at the duration.

use crate::joints::Joints;
use half::f16;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawScene};
use std::error::Error;
use std::f32::consts::SQRT_2;

/// Archives begin with the byte order; 1 is little endian.
const LITTLE_ENDIAN: u8 = 1;
/// The most time points whose indices are stored in a byte.
const BYTE_POINTS: usize = 255;
/// The largest value of a component of a rotation.
const ROTATION_STEPS: f32 = 32_767.0;

/// A key of a track, with the time of the key before it, or -1.
#[derive(Clone, Copy)]
struct Key {
    track: usize,
    before: f32,
    time: f32,
    /// Three components, or four of a rotation.
    value: [f32; 4],
}

/// Archive of a skeleton.
pub fn skeleton(raw: &RawScene, joints: &Joints) -> Vec<u8> {
    let mut out = vec![LITTLE_ENDIAN];
    out.extend(b"ozz-skeleton\0");
    let names: Vec<String> = (0..joints.nodes.len()).map(|j| format!("joint {j}\0")).collect();
    let characters: usize = names.iter().map(String::len).sum();
    for number in [2, names.len() as u32, characters as u32] {
        out.extend(number.to_le_bytes());
    }
    names.iter().for_each(|name| out.extend(name.as_bytes()));
    joints.parents.iter().for_each(|parent| out.extend(parent.to_le_bytes()));
    for four in joints.nodes.chunks(4) {
        let rest = |lane: usize| match four.get(lane) {
            Some(&node) => raw.nodes[node].local.to_array(),
            None => [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        };
        for component in 0..10 {
            (0..4).for_each(|lane| out.extend(rest(lane)[component].to_le_bytes()));
        }
    }
    out
}

/// Archive of an animation, with all keys of the clip.
///
/// # Errors
/// If the clip has keys that are not linear, or too many.
pub fn animation(
    raw: &RawScene,
    clip: &RawClip,
    joints: &Joints,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let channels = [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale];
    let channels = channels.map(|channel| keys(raw, clip, joints, channel));
    let channels = channels.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut points: Vec<f32> = channels.iter().flatten().map(|key| key.time).collect();
    points.sort_by(f32::total_cmp);
    points.dedup();
    let tracks = joints.nodes.len().next_multiple_of(4);
    let last: Vec<_> = channels.iter().map(|keys| last_keys(keys, tracks)).collect();

    let mut out = vec![LITTLE_ENDIAN];
    out.extend(b"ozz-animation\0");
    out.extend(7u32.to_le_bytes());
    out.extend(clip.duration.to_le_bytes());
    let mut counts = vec![joints.nodes.len(), 0, points.len()];
    counts.extend(channels.iter().map(Vec::len));
    last.iter().for_each(|(entries, starts)| counts.extend([entries.len(), starts.len()]));
    for count in counts {
        out.extend(u32::try_from(count)?.to_le_bytes());
    }
    let scale = 1.0 / clip.duration;
    points.iter().for_each(|time| out.extend((time * scale).to_le_bytes()));
    for (channel, (keys, (entries, starts))) in channels.iter().zip(&last).enumerate() {
        for key in keys {
            let point = points.binary_search_by(|time| time.total_cmp(&key.time));
            let point = u16::try_from(point.map_err(|_| "a key at no time point")?)?;
            match points.len() {
                0..=BYTE_POINTS => out.push(point as u8),
                _ => out.extend(point.to_le_bytes()),
            }
        }
        let mut previous = vec![None; tracks];
        for (at, key) in keys.iter().enumerate() {
            let distance = previous[key.track].map_or(0, |before| at - before);
            out.extend(u16::try_from(distance)?.to_le_bytes());
            previous[key.track] = Some(at);
        }
        out.extend(entries);
        starts.iter().for_each(|start| out.extend(start.to_le_bytes()));
        // As ozz's builder has it for clips of at most ten seconds: one entry point, at the end.
        out.extend(1.0f32.to_le_bytes());
        for key in keys {
            let bytes = match channel {
                1 => rotation(key.value),
                _ => [0, 1, 2].map(|c| f16::from_f32(key.value[c]).to_bits()),
            };
            bytes.iter().for_each(|number| out.extend(number.to_le_bytes()));
        }
    }
    Ok(out)
}

/// The keys of a channel in the order of the archive. A joint without a track has its rest pose.
fn keys(
    raw: &RawScene,
    clip: &RawClip,
    joints: &Joints,
    channel: RawChannel,
) -> Result<Vec<Key>, Box<dyn Error>> {
    let (first, width, none) = match channel {
        RawChannel::Translation => (0, 3, [0.0; 4]),
        RawChannel::Rotation => (3, 4, [0.0, 0.0, 0.0, 1.0]),
        _ => (7, 3, [1.0; 4]),
    };
    let mut out = Vec::new();
    for track in 0..joints.nodes.len().next_multiple_of(4) {
        let node = joints.nodes.get(track);
        let own = clip.tracks.iter().find(|t| Some(&t.node) == node && t.channel == channel);
        let mut own: Vec<(f32, [f32; 4])> = match (own, node) {
            (Some(own), _) => {
                if own.interpolation != Interpolation::Linear && own.times.len() > 1 {
                    return Err("ozz has linear keys alone".into());
                }
                let values = own.values.chunks_exact(width).map(|v| {
                    let mut value = none;
                    value[..width].copy_from_slice(v);
                    value
                });
                own.times.iter().copied().zip(values).collect()
            }
            (None, Some(&node)) => {
                let mut value = none;
                value[..width].copy_from_slice(&raw.nodes[node].local.to_array()[first..][..width]);
                vec![(0.0, value)]
            }
            (None, None) => vec![(0.0, none)],
        };
        let [(start, first), (end, last)] = [own[0], own[own.len() - 1]];
        if start > 0.0 {
            own.insert(0, (0.0, first));
        }
        if end < clip.duration || own.len() == 1 {
            own.push((clip.duration, last));
        }
        if channel == RawChannel::Rotation {
            shortest(&mut own);
        }
        let mut before = -1.0;
        for (time, value) in own {
            out.push(Key { track, before, time, value });
            before = time;
        }
    }
    out.sort_by(|a, b| a.before.total_cmp(&b.before).then(a.track.cmp(&b.track)));
    Ok(out)
}

/// Normalises rotations and turns them so that two neighbours are on one hemisphere.
fn shortest(keys: &mut [(f32, [f32; 4])]) {
    let mut near = [0.0, 0.0, 0.0, 1.0];
    for (_, q) in keys {
        let dot = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let length = dot(*q, *q).sqrt().copysign(dot(*q, near));
        *q = q.map(|c| c / length);
        near = *q;
    }
}

/// The entry point at the end of a channel: the last key of every track in groups of four of varying width, then where
/// the group begins and the last key of all. Empty if every track has two keys.
fn last_keys(keys: &[Key], tracks: usize) -> (Vec<u8>, Vec<u32>) {
    if keys.len() == 2 * tracks {
        return (Vec::new(), Vec::new());
    }
    let mut last = vec![0u32; tracks];
    keys.iter().enumerate().for_each(|(at, key)| last[key.track] = at as u32);
    let mut out = Vec::new();
    for four in last.chunks(4) {
        let width = |n: u32| (4 - n.leading_zeros() / 8).max(1);
        let widths = four.iter().enumerate();
        out.push(widths.map(|(lane, &n)| ((width(n) - 1) << (2 * lane)) as u8).sum());
        for &n in four {
            out.extend(&n.to_le_bytes()[..width(n) as usize]);
        }
    }
    (out, vec![0, keys.len() as u32 - 1])
}

/// A rotation: the index of its largest component in two bits, its sign in one, the three others in 15 bits each.
fn rotation(q: [f32; 4]) -> [u16; 3] {
    let largest = (0..4).max_by(|&a, &b| q[a].abs().total_cmp(&q[b].abs())).unwrap_or(3);
    let mut bits = largest as u64 | u64::from(q[largest] < 0.0) << 2;
    let others = (0..4).filter(|&c| c != largest).enumerate();
    for (place, component) in others {
        let steps = (q[component] + SQRT_2 / 2.0) * (ROTATION_STEPS / SQRT_2);
        let steps = steps.round().clamp(0.0, ROTATION_STEPS) as u64;
        bits |= steps << (3 + 15 * place);
    }
    [0, 16, 32].map(|shift| (bits >> shift) as u16)
}
