//! Clips that are made from arrays.

use super::{new_clip, phx_clip};
use crate::border::*;
use crate::convert::choice;
use crate::rig::phx_rig;
use crate::types::*;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::{Channel, Clip, ClipKind, ClipParts, Marker};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::skeleton::{NO_JOINT, Skeleton};
use std::collections::HashSet;
use std::ptr::null;
use std::sync::Arc;

/// How a track goes from key to key.
pub type phx_interpolation = u32;
/// Straight; rotations on the shortest arc.
pub const PHX_LINEAR: phx_interpolation = 0;
/// A key's value stays until the next key.
pub const PHX_STEP: phx_interpolation = 1;
/// Cubic Hermite splines: each key has an in-tangent, a value and an out-tangent, as in glTF.
pub const PHX_CUBIC: phx_interpolation = 2;

/// The keys of one channel of one joint.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_track {
    /// The joint. It has at most one track of each channel.
    pub joint: u32,
    /// What the track moves.
    pub channel: phx_channel,
    /// How it goes from key to key.
    pub interpolation: phx_interpolation,
    /// The time of each key, seconds, from 0 on, increasing.
    pub times: *const f32,
    /// The number of keys, at least 1.
    pub key_count: usize,
    /// The values, key after key: 3 or, of rotations, 4 numbers each; three times as many with PHX_CUBIC.
    pub values: *const f32,
    /// The number of numbers at `values`.
    pub value_count: usize,
}

/// A named time of a clip, such as a footstep.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_marker {
    /// The name; several markers may have it.
    pub name: phx_text,
    /// Seconds, from 0 to the clip's duration.
    pub time: f32,
}

/// A clip as arrays. `phx_options_init` with PHX_CLIP_ARRAYS sets all to none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_clip_arrays {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// Seconds; keys beyond it are not reached. Default: 0, the time of the last key.
    pub duration: f32,
    /// The tracks. Joints without any stay in their rest pose.
    pub tracks: *const phx_track,
    /// The number of tracks.
    pub track_count: usize,
    /// Markers, in any order.
    pub markers: *const phx_marker,
    /// The number of markers.
    pub marker_count: usize,
}

extensible!(
    phx_clip_arrays,
    Self {
        size: size_of::<Self>(),
        name: phx_text::empty(),
        duration: 0.0,
        tracks: null(),
        track_count: 0,
        markers: null(),
        marker_count: 0,
    }
);

/// The caller's markers; the clip that gets them checks their times.
///
/// # Safety
/// The caller's promise.
pub(crate) unsafe fn read_markers(
    markers: *const phx_marker,
    count: usize,
) -> Result<Vec<Marker>, Error> {
    // SAFETY: the caller's promise.
    let markers = unsafe { array(markers, count, "the markers") }?.iter();
    let marker = |m: &phx_marker| {
        // SAFETY: the caller's promise.
        let name = unsafe { text(m.name.data, m.name.length, "a marker's name") }?;
        Ok(Marker::new(name, m.time))
    };
    markers.map(marker).collect()
}

/// The caller's track number `index`, checked for a skeleton of so many joints.
///
/// # Safety
/// The caller's promise.
unsafe fn raw_track(t: &phx_track, index: usize, joints: usize) -> Result<RawTrack, Error> {
    let place = |words: String| format!("track {index} (joint {}): {words}", t.joint);
    if t.joint as usize >= joints {
        let words = place(format!("the skeleton has {joints} joints"));
        return Err(Error::new(PHX_ERROR_NOT_FOUND, words));
    }
    let channels = [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale];
    let channel = choice("the channel", t.channel, &channels)?;
    let kinds = [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline];
    let interpolation = choice("the interpolation", t.interpolation, &kinds)?;
    // SAFETY: the caller's promise.
    let (times, values) = unsafe {
        (
            array(t.times, t.key_count, "the times of keys")?,
            array(t.values, t.value_count, "the values of keys")?,
        )
    };
    let width = if channel == RawChannel::Rotation { 4 } else { 3 };
    let each = if interpolation == Interpolation::CubicSpline { 3 * width } else { width };
    let (keys, have) = (times.len(), values.len());
    if keys == 0 || have != keys.saturating_mul(each) {
        let words = place(format!("{have} values for {keys} keys of {each} each"));
        return Err(Error::new(PHX_ERROR_DATA, words));
    }
    if let Some(key) = times.iter().position(|t| !(*t >= 0.0 && t.is_finite())) {
        let words = place(format!("the time of key {key} is not a finite number from 0 on"));
        return Err(Error::value(words));
    }
    if let Some(key) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
        let words = place(format!("key {} is not later than the key before", key + 1));
        return Err(Error::new(PHX_ERROR_DATA, words));
    }
    if let Some(value) = values.iter().position(|v| !v.is_finite()) {
        return Err(Error::value(place(format!("value {value} is not finite"))));
    }
    // Of a spline's key the value is the second of three.
    let value_at = if interpolation == Interpolation::CubicSpline { width } else { 0 };
    let flat = |key: &[f32]| key.iter().skip(value_at).take(width).all(|&v| v == 0.0);
    if channel == RawChannel::Rotation
        && let Some(key) = values.chunks(each).position(flat)
    {
        return Err(Error::value(place(format!("the rotation of key {key} is zero"))));
    }
    let (times, values) = (times.to_vec(), values.to_vec());
    Ok(RawTrack { node: t.joint as usize, channel, interpolation, times, values })
}

/// The caller's arrays as a raw clip whose nodes are joints.
///
/// # Safety
/// The caller's promise.
pub(crate) unsafe fn raw_clip(arrays: &phx_clip_arrays, joints: usize) -> Result<RawClip, Error> {
    // SAFETY: the caller's promise.
    let (name, given, markers) = unsafe {
        (
            text(arrays.name.data, arrays.name.length, "the clip's name")?,
            array(arrays.tracks, arrays.track_count, "the tracks")?,
            read_markers(arrays.markers, arrays.marker_count)?,
        )
    };
    let mut duration = arrays.duration;
    let (mut tracks, mut taken) = (Vec::new(), HashSet::new());
    for (index, t) in given.iter().enumerate() {
        // SAFETY: the caller's promise.
        let track = unsafe { raw_track(t, index, joints) }?;
        if !taken.insert((track.node, track.channel)) {
            let words =
                format!("track {index}: joint {} has another {} track", t.joint, track.channel);
            return Err(Error::new(PHX_ERROR_DATA, words));
        }
        if arrays.duration == 0.0 {
            duration = duration.max(track.times.last().copied().unwrap_or(0.0));
        }
        tracks.push(track);
    }
    if !(duration >= 0.0 && duration.is_finite()) {
        return Err(Error::value(format!("the duration is {duration} s")));
    }
    let name = Some(name.to_owned());
    Ok(RawClip { name, duration, tracks, markers, ..RawClip::default() })
}

/// Builds clips of a skeleton, in its lane order, from tracks whose nodes are its joints.
pub(crate) fn clips_of(skeleton: &Skeleton, clips: Vec<RawClip>) -> Result<Vec<Clip>, Error> {
    if clips.is_empty() {
        return Ok(Vec::new());
    }
    let joints = skeleton.len();
    let parents = skeleton.names().iter().zip(skeleton.parents());
    let node = |(source, (name, &parent)): (usize, (&String, &u16))| RawNode {
        source,
        name: Some(name.clone()),
        parent: (parent != NO_JOINT).then_some(usize::from(parent)),
        local: skeleton.rest(source),
        ..RawNode::default()
    };
    // A skin of all joints in their order makes all nodes joints, in the same order.
    let all = RawSkin {
        name: None,
        joints: (0..joints).collect(),
        inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); joints],
    };
    let bytes = clips.iter().flat_map(|c| &c.tracks).map(|t| 4 * (t.times.len() + t.values.len()));
    let options = BuildOptions {
        lane_order: Some(
            skeleton.joint_of().iter().copied().filter(|&joint| joint != NO_JOINT).collect(),
        ),
        // As imports have it: tracks that share no times may need many times their size.
        max_clip_bytes: bytes.sum::<usize>().saturating_mul(24).saturating_add(16 << 20),
        ..BuildOptions::default()
    };
    let raw = RawScene {
        nodes: parents.enumerate().map(node).collect(),
        skins: if joints == 0 { Vec::new() } else { vec![all] },
        clips,
        ..RawScene::default()
    };
    let built = build_rig(raw, &options)?;
    // The same rows for the skeleton with its scalars, which have no tracks.
    let own = |clip: &Arc<Clip>| {
        let parts = ClipParts {
            name: clip.name().to_owned(),
            duration: clip.duration(),
            kind: ClipKind::Full,
            timelines: clip.timelines().map(<[f32]>::to_vec).collect(),
            channels: Channel::ALL.map(|channel| clip.blocks(channel).to_vec()),
            rows: clip.rows().to_vec(),
            packed: clip.packed().to_vec(),
            tracks: Channel::ALL.map(|channel| clip.tracks(channel)),
            root_motion: None,
            markers: clip.markers().to_vec(),
        };
        Ok(Clip::new(parts, skeleton)?)
    };
    built.clips().iter().map(own).collect()
}

/// A clip of a rig's skeleton from tracks of keys. All is copied.
///
/// PHX_ERROR_DATA: a track has the wrong number of values, its times do not increase, or two tracks move the same.
/// PHX_ERROR_NOT_FOUND: the rig has no joint of a track. PHX_ERROR_VALUE: a number is not finite or beyond its limit,
/// or a marker lies outside the clip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_new_arrays(
    rig: *const phx_rig,
    arrays: *const phx_clip_arrays,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, raw, out) = unsafe {
            let state = share(rig)?;
            let raw = raw_clip(&required(arrays)?, state.rig.skeleton().len())?;
            (state, raw, output(out, "the clip's place")?)
        };
        for clip in clips_of(state.rig.skeleton(), vec![raw])? {
            out.write(new_clip(clip));
        }
        Ok(())
    })
}
