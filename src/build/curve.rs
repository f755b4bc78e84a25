//! `Curve`: one raw track in f64, as the clip builder uses it.

use crate::clip::Knot;
use crate::math::{angle, hermite, slerp};
use crate::raw::{Interpolation, RawChannel, RawTrack};

/// The largest deviation that a tangent of 1 causes in an interval of 1: the extremum of both Hermite functions of
/// tangents.
pub(super) const BULGE: f64 = 4.0 / 27.0;

/// One property of one joint over time, in f64, `width` values per key.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub interpolation: Interpolation,
    pub rotation: bool,
    pub times: Vec<f32>,
    pub width: usize,
    /// Values, all components of a key together.
    pub values: Vec<f64>,
    /// In- and out-tangents per second, in the order of `values`; empty unless cubic.
    pub tangents_in: Vec<f64>,
    pub tangents_out: Vec<f64>,
}

impl Curve {
    /// Reads a track. Rotations are normalised, and aligned to one hemisphere if linear; keys of splines keep their
    /// lengths. `part` selects one target of a weights track. The track's lengths must be consistent.
    pub fn new(track: &RawTrack, part: usize) -> Self {
        let keys = track.times.len();
        let cubic = track.interpolation == Interpolation::CubicSpline;
        let per_key = if cubic { 3 } else { 1 };
        let stored = track.values.len().checked_div(keys * per_key).unwrap_or_default();
        let (width, offset) = match track.channel {
            RawChannel::Weights => (1, part),
            RawChannel::Rotation => (4, 0),
            RawChannel::Translation | RawChannel::Scale => (3, 0),
        };
        let read = |group: usize| -> Vec<f64> {
            (0..keys)
                .flat_map(|k| (0..width).map(move |c| (k * per_key + group) * stored + offset + c))
                .map(|i| f64::from(track.values.get(i).copied().unwrap_or_default()))
                .collect()
        };
        let mut curve = Self {
            interpolation: track.interpolation,
            rotation: track.channel == RawChannel::Rotation,
            times: track.times.clone(),
            width,
            values: read(if cubic { 1 } else { 0 }),
            tangents_in: if cubic { read(0) } else { Vec::new() },
            tangents_out: if cubic { read(2) } else { Vec::new() },
        };
        if curve.rotation {
            curve.normalize();
        }
        curve
    }

    /// Normalises rotations. The keys of a spline keep their lengths, which are part of its shape: a spline that was split
    /// has keys shorter than 1, and scaling them without their tangents gives another curve. Importers normalise the
    /// keys of files.
    fn normalize(&mut self) {
        let align = self.interpolation == Interpolation::Linear;
        let spline = self.interpolation == Interpolation::CubicSpline;
        let mut last = [0.0, 0.0, 0.0, 1.0];
        let mut first = true;
        for q in self.values.chunks_exact_mut(4) {
            let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length > 0.0 && length.is_finite() {
                let scale = if spline { 1.0 } else { length };
                q.iter_mut().for_each(|v| *v /= scale);
            } else {
                q.copy_from_slice(&last);
            }
            let dot: f64 = q.iter().zip(&last).map(|(a, b)| a * b).sum();
            if align && !first && dot < 0.0 {
                q.iter_mut().for_each(|v| *v = -*v);
            }
            last.copy_from_slice(q);
            first = false;
        }
    }

    pub fn key(&self, k: usize) -> &[f64] {
        &self.values[k * self.width..][..self.width]
    }

    /// Maps every value and, by its linear part, every tangent.
    pub fn map(&mut self, value: impl Fn(&mut [f64]), tangent: impl Fn(&mut [f64])) {
        let width = self.width;
        self.values.chunks_exact_mut(width).for_each(value);
        self.tangents_in.chunks_exact_mut(width).for_each(&tangent);
        self.tangents_out.chunks_exact_mut(width).for_each(&tangent);
    }

    /// The largest magnitude of every component of the keys.
    pub fn largest(&self) -> [f64; 4] {
        let mut most = [0.0f64; 4];
        for key in self.values.chunks_exact(self.width) {
            for (most, v) in most.iter_mut().zip(key) {
                *most = most.max(v.abs());
            }
        }
        most
    }

    /// The middle of the range of the keys if the curve is constant: the components of keys (rotations up to sign) and of
    /// the values between them are within their tolerances of each other. `None` otherwise.
    pub fn constant(&self, tolerance: [f64; 4]) -> Option<[f64; 4]> {
        let first = self.values.get(..self.width)?;
        let mut low = [f64::INFINITY; 4];
        let mut high = [f64::NEG_INFINITY; 4];
        for key in self.values.chunks_exact(self.width) {
            let dot: f64 = key.iter().zip(first).map(|(a, b)| a * b).sum();
            let sign = if self.rotation && dot < 0.0 { -1.0 } else { 1.0 };
            // A cubic key of opposite sign gives another curve, not the same pose.
            if sign < 0.0 && self.interpolation == Interpolation::CubicSpline {
                return None;
            }
            for c in 0..self.width {
                low[c] = low[c].min(key[c] * sign);
                high[c] = high[c].max(key[c] * sign);
            }
        }
        let still = (0..self.width).all(|c| high[c] - low[c] <= tolerance[c]);
        if !still || !self.stays_within(&low, &high, &tolerance) {
            return None;
        }
        let mut out = [0.0; 4];
        for c in 0..self.width {
            // Equal keys return their exact value, not a rounded mean.
            out[c] = if low[c] == high[c] { low[c] } else { 0.5 * (low[c] + high[c]) };
        }
        if self.rotation {
            let length = out.iter().map(|v| v * v).sum::<f64>().sqrt();
            out.iter_mut().for_each(|v| *v /= length);
        }
        Some(out)
    }

    /// Whether tangents keep a cubic curve with keys from `low` to `high` within the tolerances. True for other curves.
    ///
    /// Between keys a and b, h apart, with tangents m and n, the curve is
    /// `(1 - s) a + s b + u (1 - u)² h m - u² (1 - u) h n`, where s runs from 0 to 1 with u. The first two terms
    /// stay between the keys. `u (1 - u)²` is largest at 1/3 and `u² (1 - u)` at 2/3; both are [`BULGE`] there.
    fn stays_within(&self, low: &[f64; 4], high: &[f64; 4], tolerance: &[f64; 4]) -> bool {
        let width = self.width;
        let (mut least, mut most) = (*low, *high);
        let after = self.tangents_out.chunks_exact(width);
        let before = self.tangents_in.chunks_exact(width).skip(1);
        let keys = self.values.chunks_exact(width);
        let keys = keys.clone().zip(keys.skip(1));
        for ((times, (a, b)), (m, n)) in self.times.windows(2).zip(keys).zip(after.zip(before)) {
            let h = BULGE * (f64::from(times[1]) - f64::from(times[0]));
            for c in 0..width {
                let (m, n) = (h * m[c], -h * n[c]);
                let (down, up) = (m.min(0.0) + n.min(0.0), m.max(0.0) + n.max(0.0));
                least[c] = least[c].min(a[c].min(b[c]) + down);
                most[c] = most[c].max(a[c].max(b[c]) + up);
                // Minima and maxima skip NaN.
                if (m + n).is_nan() {
                    return false;
                }
            }
        }
        (0..width).all(|c| most[c] - least[c] <= tolerance[c])
    }

    /// Times to insert so that no rotation between neighbouring keys exceeds `max_angle` radians.
    pub fn extra_times(&self, max_angle: f64) -> Vec<f32> {
        let mut out = Vec::new();
        if !self.rotation || self.interpolation != Interpolation::Linear {
            return out;
        }
        for k in 1..self.times.len() {
            let parts = (angle(self.key(k - 1), self.key(k)) / max_angle).ceil();
            let (a, b) = (f64::from(self.times[k - 1]), f64::from(self.times[k]));
            for i in 1..parts as usize {
                out.push((a + (b - a) * i as f64 / parts) as f32);
            }
        }
        out
    }

    /// The largest number of parts into which [`extra_times`](Self::extra_times) divides an interval; 1 if it divides none.
    pub fn most_parts(&self, max_angle: f64) -> usize {
        if !self.rotation || self.interpolation != Interpolation::Linear {
            return 1;
        }
        let parts = (1..self.times.len()).map(|k| angle(self.key(k - 1), self.key(k)) / max_angle);
        parts.fold(1.0, f64::max).ceil() as usize
    }

    /// One component of every value as a curve. Linear rotations get extra keys, so close together
    /// that linear interpolation follows slerp once normalised.
    pub fn part(&self, part: usize, max_angle: f64) -> Self {
        let mut times = self.times.clone();
        times.extend(self.extra_times(max_angle));
        times.sort_by(f32::total_cmp);
        times.dedup();
        let one = |values: &[f64]| -> Vec<f64> {
            let keys = values.chunks_exact(self.width);
            keys.map(|key| key[part]).collect()
        };
        Self {
            interpolation: self.interpolation,
            rotation: false,
            width: 1,
            values: match times.len() == self.times.len() {
                true => one(&self.values),
                false => times.iter().map(|&t| self.at(t).value[part]).collect(),
            },
            times,
            tangents_in: one(&self.tangents_in),
            tangents_out: one(&self.tangents_out),
        }
    }

    /// Value and derivatives at a time, by appendix C of glTF 2.0; constant outside the keys.
    pub fn at(&self, time: f32) -> Knot {
        let mut knot = Knot::default();
        let keys = self.times.len();
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 || after == keys {
            let k = after.saturating_sub(1).min(keys.saturating_sub(1));
            knot.value[..self.width].copy_from_slice(self.key(k));
            // Exactly at the last key, the interval before it has the derivative.
            if after == keys && keys > 1 && self.times[k] == time {
                self.interval(k - 1, 1.0, &mut [0.0; 4], &mut knot.before);
            }
            return knot;
        }
        let k = after - 1;
        let (a, b) = (f64::from(self.times[k]), f64::from(self.times[after]));
        let u = (f64::from(time) - a) / (b - a);
        let mut derivative = [0.0; 4];
        self.interval(k, u, &mut knot.value, &mut derivative);
        knot.after = derivative;
        knot.before = derivative;
        if u == 0.0 {
            knot.before = [0.0; 4];
            if k > 0 {
                self.interval(k - 1, 1.0, &mut [0.0; 4], &mut knot.before);
            }
        }
        knot
    }

    /// Value and derivative per second in the interval after key `k`, at `u` in [0, 1].
    fn interval(&self, k: usize, u: f64, value: &mut [f64; 4], derivative: &mut [f64; 4]) {
        let (p0, p1) = (self.key(k), self.key(k + 1));
        let h = f64::from(self.times[k + 1]) - f64::from(self.times[k]);
        match self.interpolation {
            Interpolation::Step => {
                let key = if u < 1.0 { p0 } else { p1 };
                value[..self.width].copy_from_slice(key);
            }
            Interpolation::Linear if self.rotation => slerp((p0, p1), u, h, value, derivative),
            Interpolation::Linear => {
                for c in 0..self.width {
                    value[c] = if u == 0.0 { p0[c] } else { p0[c] + (p1[c] - p0[c]) * u };
                    derivative[c] = (p1[c] - p0[c]) / h;
                }
            }
            Interpolation::CubicSpline => {
                let m0 = &self.tangents_out[k * self.width..];
                let m1 = &self.tangents_in[(k + 1) * self.width..];
                for c in 0..self.width {
                    let (from, to) = ((p0[c], m0[c] * h), (p1[c], m1[c] * h));
                    let per_interval;
                    (value[c], per_interval) = hermite(from, to, u);
                    derivative[c] = per_interval / h;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
