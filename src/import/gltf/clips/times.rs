//! Key times of samplers: their checks, and the keys that tracks take from them.

use super::super::error::ImportFault as Kind;
use crate::import::trim::shift;
use crate::raw::Interpolation;

/// A sampler's key times after their checks: finite, and never decreasing.
pub(super) struct Times {
    /// Time of each key, seconds.
    pub times: Vec<f32>,
    /// Number of keys with the time of the key before them.
    pub equal: usize,
    /// The first time that two keys share.
    pub jump: Option<f32>,
}

/// The begin and end of a clip, by the samplers that its channels use, seconds.
pub(super) struct Span {
    /// Time of the first key; 0 for a clip without keys.
    pub begin: f32,
    /// Time subtracted from the file's times: `begin` if it is below 0, otherwise 0.
    pub shift: f32,
    /// Time of the last key, shifted.
    pub end: f32,
}

/// Keys of a track, and their indices in the file.
pub(super) struct Keys {
    /// Key times, strictly increasing and not negative.
    pub times: Vec<f32>,
    /// Indices of the keys in the file; `None` if all keys are kept in order.
    pub kept: Option<Vec<usize>>,
}

/// Checks that times are finite and do not decrease.
pub(super) fn check_times(times: Vec<f32>) -> Result<Times, Kind> {
    let (mut equal, mut jump) = (0, None);
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Kind::Times(format!("time {index} is {time}")));
        }
        match index.checked_sub(1).map(|before| times[before]) {
            Some(previous) if time < previous => {
                return Err(Kind::Times(format!("time {index} is {time}, after {previous}")));
            }
            Some(previous) if time == previous => {
                equal += 1;
                jump = jump.or(Some(time));
            }
            _ => {}
        }
    }
    Ok(Times { times, equal, jump })
}

impl Times {
    /// The keys of a track. Of several keys at one time the first and the last count, as a jump: the first is moved one step
    /// of f32 earlier. If nothing leads to it, as in step tracks and at the beginning of the clip, only the last counts.
    pub fn keys(&self, span: &Span, interpolation: Interpolation) -> Keys {
        let mut times = self.times.clone();
        if self.equal == 0 {
            if span.shift < 0.0 {
                shift(&mut times, span.shift);
            }
            return Keys { times, kept: None };
        }
        let all = &self.times;
        times.dedup();
        if span.shift < 0.0 {
            shift(&mut times, span.shift);
        }
        let mut keys = Keys { times: Vec::new(), kept: None };
        let mut kept = Vec::new();
        let mut first = 0;
        for time in times {
            let equal = all[first..].iter().take_while(|&&t| t == all[first]);
            let last = first + equal.count() - 1;
            let jumps = interpolation != Interpolation::Step && all[first] > span.begin;
            let before = time.next_down();
            if last > first && jumps && keys.times.last().is_none_or(|&t| t < before) {
                keys.times.push(before);
                kept.push(first);
            }
            keys.times.push(time);
            kept.push(last);
            first = last + 1;
        }
        keys.kept = Some(kept);
        keys
    }
}
