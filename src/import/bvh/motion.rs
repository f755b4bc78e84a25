//! The MOTION of a BVH file: one line per frame, one value per channel.

use super::error::{Fault, ImportFault as Kind, invalid};
use super::hierarchy::{Hierarchy, length};
use super::text::Text;
use super::{FRAME_TIMES, MAX_FRAMES};
use crate::import::ImportOptions;
use crate::raw::{Interpolation, RawChannel, RawTrack};
use crate::words::{are, number, plural};
use glam::{DQuat, DVec3};

/// The frames of a file as tracks.
#[derive(Debug, Default)]
pub(super) struct Motion {
    /// Number of frames in the file.
    pub frames: usize,
    /// Time from frame to frame, seconds.
    pub frame_time: f64,
    /// Translation and rotation of every joint that has such channels. The node is the index of the entry.
    pub tracks: Vec<RawTrack>,
}

/// The position of a joint's values in a line, and the tracks that they become.
struct Place {
    entry: usize,
    first: usize,
    translation: Option<usize>,
    rotation: Option<usize>,
}

/// Reads the text behind the word MOTION.
pub(super) fn motion(
    text: &mut Text<'_>,
    hierarchy: &Hierarchy,
    options: &ImportOptions,
) -> Result<Motion, Fault> {
    text.expect("Frames", "Frames:")?;
    text.skip_colon();
    let (declared, place) = text.count("the number of frames", MAX_FRAMES as u64)?;
    if declared > MAX_FRAMES as u64 {
        let limit = MAX_FRAMES as u64;
        return Err(place.fault(Kind::Limit { what: "frames", needed: declared, limit }));
    }
    text.expect("Frame", "Frame Time:")?;
    text.expect("Time", "Frame Time:")?;
    text.skip_colon();
    let (frame_time, place) = text.number("the frame time")?;
    let [least, most] = FRAME_TIMES;
    if !(least..=most).contains(&frame_time) {
        let found = number(frame_time);
        let words = format!("the frame time is {found} s, allowed are {least} to {most} s");
        return Err(place.fault(invalid(words)));
    }
    let rest = text.value();
    if !rest.bytes.is_empty() {
        return Err(rest.expected("the end of the line"));
    }
    // Checked before the frames are read, which may be a gigabyte.
    if hierarchy.channels > 0
        && let Some(frame) = meets(declared as usize, frame_time)
    {
        let seconds = frame as f64 * frame_time;
        return Err(place.fault(Kind::FramesMeet {
            frame,
            seconds,
            step: distance(seconds as f32),
            frame_time,
            frames: declared as usize,
        }));
    }
    let (mut tracks, places) = tracks(hierarchy);
    reserve(text, hierarchy, declared, options, &mut tracks)?;
    // Lines without values are blank, so frames cannot be counted.
    let frames = match hierarchy.channels {
        0 => declared as usize,
        _ => frames(text, hierarchy, declared as usize, options, (&places, &mut tracks))?,
    };
    if text.next_line() {
        let word = text.value();
        if hierarchy.channels == 0 {
            let more = std::iter::from_fn(|| Some(text.value()).filter(|v| !v.bytes.is_empty()));
            return Err(word.fault(wrong_count(0, 1 + more.count(), 0)));
        }
        let mut found = frames as u64;
        loop {
            found += 1;
            text.skip_line();
            if !text.next_line() {
                break;
            }
        }
        return Err(word.fault(wrong_frames(declared, found)));
    }
    let time = |k: usize| (k as f64 * frame_time) as f32;
    for track in &mut tracks {
        track.times.extend((0..frames).map(time));
    }
    Ok(Motion { frames, frame_time, tracks })
}

/// The distance from one f32 to the next.
fn distance(time: f32) -> f64 {
    f64::from(time.next_up()) - f64::from(time)
}

/// The first frame whose time as f32 equals the time of the frame before it: the step of f32 exceeds the frame time.
fn meets(frames: usize, frame_time: f64) -> Option<usize> {
    let time = |k: usize| (k as f64 * frame_time) as f32;
    // Frames at least as far apart as f32 round to different times.
    if frames == 0 || distance(time(frames - 1)) <= frame_time {
        return None;
    }
    (1..frames).find(|&k| time(k) <= time(k - 1))
}

/// Empty tracks for all joints that have channels.
fn tracks(hierarchy: &Hierarchy) -> (Vec<RawTrack>, Vec<Place>) {
    let (mut tracks, mut places) = (Vec::new(), Vec::new());
    let mut first = 0;
    for (entry, e) in hierarchy.entries.iter().enumerate() {
        let mut add = |rotation: bool, channel| {
            let wanted = e.channels.iter().any(|c| c.rotation == rotation);
            wanted.then(|| {
                tracks.push(RawTrack {
                    node: entry,
                    channel,
                    interpolation: Interpolation::Linear,
                    times: Vec::new(),
                    values: Vec::new(),
                });
                tracks.len() - 1
            })
        };
        let translation = add(false, RawChannel::Translation);
        let rotation = add(true, RawChannel::Rotation);
        if translation.is_some() || rotation.is_some() {
            places.push(Place { entry, first, translation, rotation });
        }
        first += e.channels.len();
    }
    (tracks, places)
}

/// Number of floats of a key.
fn width(track: &RawTrack) -> usize {
    if track.channel == RawChannel::Rotation { 4 } else { 3 }
}

/// The memory that building a rig's clip takes in addition to its tracks, as a multiple of these: keys in f64, and the
/// keys that are kept.
const BUILDING: u64 = 4;

/// Reserves memory for the declared frames, but for no more than the rest of the file can hold. Fails if there is too
/// little memory for them and for the clip made from them.
fn reserve(
    text: &Text<'_>,
    hierarchy: &Hierarchy,
    declared: u64,
    options: &ImportOptions,
    tracks: &mut [RawTrack],
) -> Result<(), Fault> {
    // A value takes at least a digit and a space.
    let fit = text.left() / 2 / hierarchy.channels.max(1) + 1;
    let frames = fit.min(declared as usize);
    // Each key also has a key time.
    let floats: usize = tracks.iter().map(|t| width(t) + 1).sum();
    let needed = (frames as u64).saturating_mul((floats * size_of::<f32>()) as u64);
    if let Some(limit) = options.memory_limit.filter(|&limit| needed > limit) {
        return Err(Kind::Memory { what: "memory of the import in bytes", needed, limit }.into());
    }
    let all = needed.saturating_mul(1 + BUILDING);
    let none = |_| invalid(format!("the motion needs {all} bytes of memory, more than there are"));
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(usize::try_from(all).unwrap_or(usize::MAX)).map_err(none)?;
    // The optimiser may remove an allocation that is not used.
    std::hint::black_box(&room);
    drop(room);
    for track in tracks {
        let count = frames * width(track);
        track.values.try_reserve_exact(count).map_err(none)?;
        track.times.try_reserve_exact(frames).map_err(none)?;
    }
    Ok(())
}

/// Reads at most `declared` lines; returns their number, which is `declared`.
fn frames(
    text: &mut Text<'_>,
    hierarchy: &Hierarchy,
    declared: usize,
    options: &ImportOptions,
    (places, tracks): (&[Place], &mut [RawTrack]),
) -> Result<usize, Fault> {
    let moves: Vec<bool> =
        hierarchy.entries.iter().flat_map(|e| e.channels.iter().map(|c| !c.rotation)).collect();
    let mut values = vec![0.0; hierarchy.channels];
    for frame in 0..declared {
        if !text.next_line() {
            return Err(text.word().fault(wrong_frames(declared as u64, frame as u64)));
        }
        let wrong = |found| wrong_count(frame, found, hierarchy.channels);
        for (i, (value, &moves)) in values.iter_mut().zip(&moves).enumerate() {
            let word = text.value();
            if word.bytes.is_empty() {
                return Err(word.fault(wrong(i)));
            }
            *value = match moves {
                true => length(&word, "a position", options.unit)?,
                false => word.number("a rotation")?,
            };
        }
        let more = text.value();
        if !more.bytes.is_empty() {
            let mut found = hierarchy.channels + 1;
            while !text.value().bytes.is_empty() {
                found += 1;
            }
            return Err(more.fault(wrong(found)));
        }
        for place in places {
            add_key(place, hierarchy, &values, tracks);
        }
    }
    Ok(declared)
}

/// The fault of fewer or more lines of motion than are declared.
fn wrong_frames(declared: u64, found: u64) -> Kind {
    let (frames, were, there) = (plural(declared, "frame"), are(declared), are(found));
    invalid(format!("{frames} {were} declared, there {there} {found}"))
}

/// The fault of a line that does not have one value per channel.
fn wrong_count(frame: usize, found: usize, expected: usize) -> Kind {
    let found = plural(found as u64, "value");
    let expected = plural(expected as u64, "channel");
    invalid(format!("frame {frame} has {found}, the joints have {expected}"))
}

/// Appends the key of one joint and frame.
fn add_key(place: &Place, hierarchy: &Hierarchy, values: &[f64], tracks: &mut [RawTrack]) {
    const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];
    let entry = &hierarchy.entries[place.entry];
    // A position replaces the offset, axis by axis.
    let mut translation = entry.offset;
    // The first rotation is the outermost: R = R1 R2 R3 for column vectors.
    let mut rotation = DQuat::IDENTITY;
    for (channel, &value) in entry.channels.iter().zip(&values[place.first..]) {
        match channel.rotation {
            true => rotation *= DQuat::from_axis_angle(AXES[channel.axis], value.to_radians()),
            false => translation[channel.axis] = value,
        }
    }
    if let Some(track) = place.translation {
        tracks[track].values.extend(translation.map(|v| v as f32));
    }
    if let Some(track) = place.rotation {
        tracks[track].values.extend(rotation.as_quat().to_array());
    }
}
