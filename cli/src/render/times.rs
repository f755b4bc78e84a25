//! Times of the frames, and how long each is shown.

use super::RenderArgs;
use std::str::FromStr;

/// Default frames of a sheet, and frames per second of a GIF.
const SHEET_FRAMES: usize = 8;
const GIF_FPS: f64 = 25.0;

/// Largest time, positive or negative, in seconds: one day, in which an f32 still separates frames.
const MAX_TIME: f64 = 86_400.0;

/// A time range in the form `A..B`, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span(pub f64, pub f64);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = |t: &str| t.parse::<f64>().ok().filter(|t| t.abs() <= MAX_TIME);
        let ends = text.split_once("..").map(|(a, b)| (seconds(a), seconds(b)));
        match ends {
            Some((Some(a), Some(b))) if a <= b => Ok(Self(a, b)),
            _ => Err(format!(
                "expected A..B in seconds, A <= B, each from -{MAX_TIME} to {MAX_TIME}"
            )),
        }
    }
}

/// Evenly spaced times.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Clip time in seconds.
    pub first: f64,
    pub step: f64,
    pub count: usize,
    /// Display time of each frame of an animation, in seconds.
    pub shown: f64,
}

impl Times {
    pub fn new(args: &RenderArgs, duration: f64) -> Self {
        let Span(first, end) = args.time.unwrap_or(Span(0.0, duration));
        let span = end - first;
        let most = super::MAX_FRAMES as f64;
        let by_rate = |fps: f64| (span * fps).round().clamp(1.0, most) as usize;
        let count = match (args.frames, args.fps) {
            (Some(frames), _) => frames as usize,
            (None, Some(fps)) => by_rate(fps),
            (None, None) if args.out.gif => by_rate(GIF_FPS),
            (None, None) if span > 0.0 => SHEET_FRAMES,
            (None, None) => 1,
        };
        let step = span / count as f64;
        // If both are given, the rate is that of the animation, which may then play slow or fast.
        let shown = match (args.frames, args.fps) {
            (Some(_), Some(fps)) => 1.0 / fps,
            _ if step > 0.0 => step,
            _ => 1.0 / GIF_FPS,
        };
        Self {
            first,
            step,
            count,
            shown: shown.max(1.0 / super::MAX_FPS),
        }
    }

    /// The times, one per frame.
    pub fn moments(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.count).map(|k| self.first + self.step * k as f64)
    }
}

/// The time within a clip: unchanged inside it, looped beyond its ends.
pub fn within(time: f64, duration: f64) -> f64 {
    if (0.0..=duration).contains(&time) {
        time
    } else if duration > 0.0 {
        time.rem_euclid(duration)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_times() {
        assert_eq!("-0.5..2".parse(), Ok(Span(-0.5, 2.0)));
        assert_eq!("1..1".parse(), Ok(Span(1.0, 1.0)));
        for bad in ["", "1", "..", "2..1", "0..nan", "0..inf", "0...1e9", "a..b"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
        assert_eq!(within(1.0, 1.0), 1.0);
        assert_eq!(within(1.25, 1.0), 0.25);
        assert_eq!(within(-0.25, 1.0), 0.75);
        assert_eq!(within(3.0, 0.0), 0.0);
    }
}
