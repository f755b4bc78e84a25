//! Classification of tracks as constant or animated, and the check of their lengths.

use super::error::ClipBuildError;
use crate::build::curve::Curve;
use crate::import::raw::{Interpolation, RawChannel, RawTrack};

/// A rotation track whose components vary by no more than this is constant.
pub const ROTATION_TOLERANCE: f64 = 1e-6;
/// A translation track that varies by no more than this fraction of the model's size is constant.
/// At 1e-5, pab's run was 2.4e-5 off its golden poses (2e-5 is allowed); at 2e-6 it is 1.9e-6, in as many
/// bytes.
pub const TRANSLATION_TOLERANCE: f64 = 2e-6;
/// A scale track that varies by no more than this is constant, and 1 if it is within this of 1
/// (noise of 4e-7 was observed in the scales of a widely used exporter).
pub const SCALE_TOLERANCE: f64 = 1e-6;
/// A scalar track that varies by no more than this is constant.
pub const SCALAR_TOLERANCE: f64 = 1e-6;

/// Whether a track is constant (with its value) or animated. Found before the lane order is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variation {
    Constant([f64; 4]),
    Animated,
}

/// The variation up to which a channel counts as constant.
pub(crate) fn tolerance(channel: RawChannel, model_size: f64) -> f64 {
    match channel {
        RawChannel::Translation => TRANSLATION_TOLERANCE * model_size,
        RawChannel::Rotation => ROTATION_TOLERANCE,
        RawChannel::Scale => SCALE_TOLERANCE,
        RawChannel::Weights => SCALAR_TOLERANCE,
    }
}

/// Classifies a curve, snapping constant scales to 1.
pub(crate) fn classify(curve: &Curve, channel: RawChannel, model_size: f64) -> Variation {
    match curve.constant(tolerance(channel, model_size)) {
        None => Variation::Animated,
        Some(mut v) => {
            if channel == RawChannel::Scale {
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

/// Checks that the lengths of a track's arrays are consistent.
pub(crate) fn check_track(
    clip: &str,
    index: usize,
    track: &RawTrack,
    targets: usize,
) -> Result<(), ClipBuildError> {
    let width = match track.channel {
        RawChannel::Translation | RawChannel::Scale => 3,
        RawChannel::Rotation => 4,
        RawChannel::Weights => targets,
    };
    let groups = if track.interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let needed = track.times.len().saturating_mul(width * groups);
    if track.times.is_empty() || track.values.len() != needed {
        return Err(ClipBuildError::TrackLength {
            clip: clip.to_owned(),
            track: index,
            node: track.node,
            keys: track.times.len(),
            values: track.values.len(),
            needed: needed.max(width * groups),
        });
    }
    Ok(())
}
