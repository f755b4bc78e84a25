//! Sampling of animation channels (3.11 and appendix C), and loop modes.

use super::math::{Quat, lerp, normalize, slerp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interpolation {
    Linear,
    Step,
    CubicSpline,
}

/// A sampler's keys, `width` numbers per value; a cubic key is in-tangent, value, out-tangent.
#[derive(Clone, Debug)]
pub struct Curve {
    pub interpolation: Interpolation,
    pub times: Vec<f64>,
    pub keys: Vec<f64>,
    pub width: usize,
}

/// The position of a time among the keys: at a key (also before the first and after the last), or between two.
enum KeyPosition {
    At(usize),
    Between(usize, f64),
}

impl Curve {
    fn locate(&self, t: f64) -> KeyPosition {
        let after = self.times.partition_point(|&key| key <= t);
        if after == 0 {
            return KeyPosition::At(0);
        }
        let k = after - 1;
        if after == self.times.len() || self.interpolation == Interpolation::Step {
            return KeyPosition::At(k);
        }
        let (t0, t1) = (self.times[k], self.times[after]);
        KeyPosition::Between(k, (t - t0) / (t1 - t0))
    }

    /// The value of key `k`.
    fn value(&self, k: usize) -> &[f64] {
        self.part(k, 1)
    }

    /// Part 0, 1 or 2 of a cubic key (in-tangent, value, out-tangent); of other curves the key.
    fn part(&self, k: usize, part: usize) -> &[f64] {
        let start = match self.interpolation {
            Interpolation::CubicSpline => (k * 3 + part) * self.width,
            _ => k * self.width,
        };
        &self.keys[start..start + self.width]
    }

    /// Hermite spline from key `k` to the next (C.5); `read` may normalise the values first.
    fn hermite(&self, k: usize, u: f64, read: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let span = self.times[k + 1] - self.times[k];
        let (p0, p1) = (read(self.value(k)), read(self.value(k + 1)));
        let (out, into) = (self.part(k, 2), self.part(k + 1, 0));
        let (u2, u3) = (u * u, u * u * u);
        (0..self.width)
            .map(|i| {
                (2.0 * u3 - 3.0 * u2 + 1.0) * p0[i]
                    + span * (u3 - 2.0 * u2 + u) * out[i]
                    + (-2.0 * u3 + 3.0 * u2) * p1[i]
                    + span * (u3 - u2) * into[i]
            })
            .collect()
    }

    /// Translations, scales and weights at `t` seconds.
    pub fn scalars(&self, t: f64) -> Vec<f64> {
        match self.locate(t) {
            KeyPosition::At(k) => self.value(k).to_vec(),
            KeyPosition::Between(k, u) if self.interpolation == Interpolation::CubicSpline => {
                self.hermite(k, u, <[f64]>::to_vec)
            }
            KeyPosition::Between(k, u) => {
                let pairs = self.value(k).iter().zip(self.value(k + 1));
                pairs.map(|(&a, &b)| lerp(a, b, u)).collect()
            }
        }
    }

    /// A rotation at `t` seconds. Key values are normalised before use, and the result again; cubic keys are
    /// not aligned to one hemisphere.
    pub fn rotation(&self, t: f64) -> Quat {
        let quat = |v: &[f64]| normalize(std::array::from_fn(|i| v[i]));
        match self.locate(t) {
            KeyPosition::At(k) => quat(self.value(k)),
            KeyPosition::Between(k, u) if self.interpolation == Interpolation::CubicSpline => {
                quat(&self.hermite(k, u, |v| quat(v).to_vec()))
            }
            KeyPosition::Between(k, u) => slerp(quat(self.value(k)), quat(self.value(k + 1)), u),
        }
    }
}

/// How an action's time maps to a time in its clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopMode {
    Once,
    Repeat,
    PingPong,
}

impl LoopMode {
    /// The time in [0, duration] at which the clip is sampled.
    pub fn apply(self, t: f64, duration: f64) -> f64 {
        if duration <= 0.0 {
            return 0.0;
        }
        match self {
            LoopMode::Once => t.clamp(0.0, duration),
            LoopMode::Repeat => t.rem_euclid(duration),
            LoopMode::PingPong => {
                let phase = t.rem_euclid(2.0 * duration);
                phase.min(2.0 * duration - phase)
            }
        }
    }
}
