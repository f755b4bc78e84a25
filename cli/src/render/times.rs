//! Times of the frames, and how long each is shown.

use super::super::actions::seconds;
use std::str::FromStr;

/// Default frames of a sheet, and frames per second of a GIF.
const SHEET_FRAMES: usize = 8;
const GIF_FPS: f64 = 25.0;

/// A time or a time range in the form `A..B`, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span(pub f64, pub f64);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((a, b)) = text.split_once("..") else {
            let at = seconds(text)?;
            return Ok(Self(at, at));
        };
        match (seconds(a)?, seconds(b)?) {
            (a, b) if a <= b => Ok(Self(a, b)),
            (a, b) => Err(format!("a range ends after it begins, not {a}..{b}")),
        }
    }
}

/// The options that decide the times.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub span: Span,
    /// True if the end of the span shows the pose of its beginning.
    pub loops: bool,
    /// Seconds after which the clip repeats.
    pub duration: f64,
    pub frames: Option<u32>,
    pub fps: Option<f64>,
    pub gif: bool,
}

/// Evenly spaced times.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The first time, in seconds.
    pub first: f64,
    pub step: f64,
    pub count: usize,
    /// Display time of each frame of an animation, in seconds.
    pub shown: f64,
}

/// Smallest difference of phase between two frames that counts as movement, in rounds.
const LEAST_PHASE: f64 = 1e-3;

impl Times {
    /// N frames of a loop are at k/N of it: the end would show the first frame again. Other spans are shown
    /// from beginning to end.
    pub fn new(w: &Wanted) -> Self {
        let Span(first, end) = w.span;
        let span = end - first;
        let closed = usize::from(!w.loops && span > 0.0);
        let most = super::MAX_FRAMES as f64;
        let by_rate = |fps: f64| (span * fps).round().clamp(1.0, most) as usize + closed;
        let count = match (w.frames, w.fps) {
            (Some(frames), _) => frames as usize,
            (None, Some(fps)) => by_rate(fps),
            (None, None) if w.gif => by_rate(GIF_FPS),
            (None, None) if span > 0.0 => sheet_frames(w),
            (None, None) => 1,
        };
        let step = match count - closed.min(count - 1) {
            0 => 0.0,
            steps if count > 1 => span / steps as f64,
            _ => 0.0,
        };
        // If both are given, the rate is that of the animation, which may then play slow or fast.
        let shown = match (w.frames, w.fps) {
            (Some(_), Some(fps)) => 1.0 / fps,
            _ if step > 0.0 => step,
            _ => 1.0 / GIF_FPS,
        };
        Self { first, step, count, shown: shown.max(1.0 / super::MAX_FPS) }
    }

    /// The times, one per frame.
    pub fn moments(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.count).map(|k| self.first + self.step * k as f64)
    }

    /// True if frames of a clip that repeats every `round` seconds seem to stand still or to run backwards,
    /// since there are fewer than two per round.
    pub fn aliases(&self, round: f64) -> bool {
        let rounds = self.step / round;
        let phase = rounds.fract();
        self.count > 1 && rounds >= 0.5 && !(LEAST_PHASE..=0.5 - LEAST_PHASE).contains(&phase)
    }
}

/// Frames of a sheet. Over several rounds of a loop, their poses differ and run forwards: eight frames of eight
/// rounds would all show one pose, and eight of seven rounds would run backwards.
fn sheet_frames(w: &Wanted) -> usize {
    let rounds = ((w.span.1 - w.span.0) / w.duration).round();
    let frames = SHEET_FRAMES..=2 * SHEET_FRAMES + 1;
    let forwards = |n: usize, rounds: usize| common(n, rounds) == 1 && 2 * (rounds % n) < n;
    match w.loops && (2.0..1e6).contains(&rounds) {
        true => frames.into_iter().find(|&n| forwards(n, rounds as usize)).unwrap_or(SHEET_FRAMES),
        false => SHEET_FRAMES,
    }
}

/// The greatest common divisor.
fn common(a: usize, b: usize) -> usize {
    match b {
        0 => a,
        _ => common(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        assert_eq!("-0.5..2".parse(), Ok(Span(-0.5, 2.0)));
        assert_eq!("1..1".parse(), Ok(Span(1.0, 1.0)));
        assert_eq!("-0.25".parse(), Ok(Span(-0.25, -0.25)));
        for bad in ["", "..", "2..1", "0..nan", "0..inf", "a..b", "soon", "0..1e10"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    fn wanted(span: Span, loops: bool) -> Wanted {
        Wanted { span, loops, duration: 1.0, frames: None, fps: None, gif: false }
    }

    fn moments(w: Wanted) -> Vec<f64> {
        Times::new(&w).moments().collect()
    }

    #[test]
    fn a_loop_leaves_out_its_end_and_others_show_it() {
        let four = |loops| Wanted { frames: Some(4), ..wanted(Span(0.0, 1.2), loops) };
        let (looping, whole) = (moments(four(true)), moments(four(false)));
        let near = |a: &[f64], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near(&looping, [0.0, 0.3, 0.6, 0.9]), "{looping:?}");
        assert!(near(&whole, [0.0, 0.4, 0.8, 1.2]), "{whole:?}");
        assert_eq!(moments(wanted(Span(0.5, 0.5), false)), [0.5]);
        let one = Wanted { frames: Some(1), ..wanted(Span(0.25, 1.0), false) };
        assert_eq!(moments(one), [0.25]);
        let gif = |loops| Wanted { gif: true, ..wanted(Span(0.0, 1.0), loops) };
        assert_eq!((moments(gif(true)).len(), moments(gif(false)).len()), (25, 26));
        assert!((Times::new(&gif(false)).shown - 0.04).abs() < 1e-9);
    }

    #[test]
    fn several_rounds_of_a_loop_show_different_poses() {
        for rounds in 1..=40 {
            let w = wanted(Span(0.0, rounds.into()), true);
            let mut phases: Vec<f64> = moments(w).iter().map(|t| t.fract()).collect();
            assert!(phases.len() >= SHEET_FRAMES);
            assert!(!Times::new(&w).aliases(1.0), "{rounds} rounds");
            phases.sort_by(f64::total_cmp);
            let apart = phases.windows(2).all(|p| p[1] - p[0] > 0.05);
            assert!(apart, "{rounds} rounds: {phases:?}");
        }
    }

    #[test]
    fn too_few_frames_per_round_are_noticed() {
        let aliases = |frames, end: f64| {
            let w = Wanted { frames: Some(frames), ..wanted(Span(0.0, end), true) };
            Times::new(&w).aliases(1.0)
        };
        // One pose four times, a walk backwards, two poses in turn.
        assert!(aliases(4, 4.0) && aliases(8, 7.0) && aliases(8, 4.0));
        assert!(!aliases(4, 1.0) && !aliases(16, 7.0) && !aliases(8, 9.0) && !aliases(1, 4.0));
    }
}
