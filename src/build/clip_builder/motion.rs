//! Which tracks move: what of a track counts as constant, and whether its arrays fit each other.

use super::error::ClipBuildError;
use crate::build::curve::Curve;
use crate::import::raw::{Interpolation, RawChannel, RawTrack};

/// A rotation track whose keys stay this close together per component is constant.
pub const ROTATION_TOLERANCE: f64 = 1e-6;
/// A translation track whose keys stay within this part of the model's size is constant.
/// At 1e-5 pab's run was 2.4e-5 off its golden poses (2e-5 allowed); here it is 1.9e-6, in as many bytes.
pub const TRANSLATION_TOLERANCE: f64 = 2e-6;
/// A scale track whose keys stay this close together is constant, and 1 if that is as close
/// (4e-7 of noise was observed in the scales of a widely used exporter).
pub const SCALE_TOLERANCE: f64 = 1e-6;
/// A scalar track whose keys stay this close together is constant.
pub const SCALAR_TOLERANCE: f64 = 1e-6;

/// How a track behaves, found before lane order is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Motion {
    Still([f64; 4]),
    Moving,
}

/// The tolerance below which a channel counts as constant.
pub(crate) fn tolerance(channel: RawChannel, model_size: f64) -> f64 {
    match channel {
        RawChannel::Translation => TRANSLATION_TOLERANCE * model_size,
        RawChannel::Rotation => ROTATION_TOLERANCE,
        RawChannel::Scale => SCALE_TOLERANCE,
        RawChannel::Weights => SCALAR_TOLERANCE,
    }
}

/// Classifies a curve, snapping constant scales to 1.
pub(crate) fn classify(curve: &Curve, channel: RawChannel, model_size: f64) -> Motion {
    match curve.constant(tolerance(channel, model_size)) {
        None => Motion::Moving,
        Some(mut v) => {
            if channel == RawChannel::Scale {
                for s in &mut v[..3] {
                    if (*s - 1.0).abs() <= SCALE_TOLERANCE {
                        *s = 1.0;
                    }
                }
            }
            Motion::Still(v)
        }
    }
}

/// Checks that a track's arrays have consistent lengths.
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
