//! Classification of tracks as constant or animated, and the check of their lengths.

use crate::build::curve::Curve;
use crate::build::lengths::Lengths;
use crate::clip::Channel;
use crate::error::BuildError;
use crate::raw::{Interpolation, RawChannel, RawClip, RawTrack};
use crate::words::plural;

/// A rotation track whose components vary by no more than this is constant.
pub const ROTATION_TOLERANCE: f64 = 1e-6;
/// A translation track that varies by no more than this fraction of the model's size is constant, both in model space:
/// below a joint of scale 1,000 a unit is 1,000 units of the model. At 1e-5, pab's run was 2.4e-5 off its golden poses
/// (2e-5 is allowed); at 2e-6 it is 1.9e-6 off, and takes the same number of bytes.
pub const TRANSLATION_TOLERANCE: f64 = 2e-6;
/// A component of a scale track that varies by no more than this share of itself is constant, and 1 if it is within this
/// of 1. It is a share because an armature's scale may be 0.01. Noise of 4e-7 was observed in the scales of a widely
/// used exporter.
pub const SCALE_TOLERANCE: f64 = 1e-6;
/// A scalar track that varies by no more than this is constant.
pub const SCALAR_TOLERANCE: f64 = 1e-6;

/// Whether a track is constant (with its value) or animated. Known before the lane order is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variation {
    Constant([f64; 4]),
    Animated,
}

/// The variation up to which the components of a channel count as constant. `size` is the model's size in the frame of
/// the translation, see [`Lengths::local`]; `largest` is the size of a scale.
pub(crate) fn tolerance(channel: Channel, size: f64, largest: impl Fn() -> [f64; 4]) -> [f64; 4] {
    match channel {
        Channel::Translation => [TRANSLATION_TOLERANCE * size; 4],
        Channel::Rotation => [ROTATION_TOLERANCE; 4],
        Channel::Scale => largest().map(|v| SCALE_TOLERANCE * v),
        Channel::Scalar => [SCALAR_TOLERANCE; 4],
    }
}

/// Classifies a curve, snapping constant scales to 1. `size` is the model's size in the frame of the translation.
pub(crate) fn classify(curve: &Curve, channel: Channel, size: f64) -> Variation {
    match curve.constant(tolerance(channel, size, || curve.largest())) {
        None => Variation::Animated,
        Some(mut v) => {
            if channel == Channel::Scale {
                for s in &mut v[..3] {
                    if (*s - 1.0).abs() <= SCALE_TOLERANCE {
                        *s = 1.0;
                    }
                }
            }
            Variation::Constant(v)
        }
    }
}

/// Checks a track of a clip that does not animate weights, and classifies it.
///
/// # Errors
/// If the lengths of its arrays are not consistent.
pub(crate) fn variation(
    clip: &RawClip,
    index: usize,
    lengths: &Lengths,
) -> Result<Variation, BuildError> {
    let track = &clip.tracks[index];
    check_track(clip.name.as_deref().unwrap_or_default(), index, track, 1)?;
    let size = lengths.local(track.node);
    Ok(classify(&Curve::new(track, 0), track.channel.to_channel(), size))
}

/// Checks that the lengths of a track's arrays are consistent.
pub(crate) fn check_track(
    clip: &str,
    index: usize,
    track: &RawTrack,
    targets: usize,
) -> Result<(), BuildError> {
    let width = match track.channel {
        RawChannel::Translation | RawChannel::Scale => 3,
        RawChannel::Rotation => 4,
        RawChannel::Weights => targets,
    };
    let groups = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let needed = track.times.len().saturating_mul(width * groups);
    if track.times.is_empty() || track.values.len() != needed {
        let keys = plural(track.times.len() as u64, "key");
        let [values, needed] = [track.values.len(), needed.max(width * groups)]
            .map(|count| plural(count as u64, "value"));
        let node = track.node;
        let words = format!("track {index} (node {node}): {keys} and {values}, needs {needed}");
        return Err(BuildError::of_clip(clip, words));
    }
    Ok(())
}
