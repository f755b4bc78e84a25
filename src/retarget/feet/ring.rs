//! `Ring`: the samples of a clip in a row or, for a loop, in a circle.

use glam::DVec3;
use std::ops::Range;

/// The samples of a clip. In a loop the last one is the first of the next round, and indices continue: sample
/// `len() + k` is sample `k` one round later.
pub(super) struct Ring<'t> {
    times: &'t [f32],
    loops: bool,
}

impl<'t> Ring<'t> {
    pub fn new(times: &'t [f32], loops: bool) -> Self {
        let loops = loops && times.len() > 2;
        Self { times, loops }
    }

    pub fn len(&self) -> usize {
        self.times.len() - usize::from(self.loops)
    }

    fn split(&self, k: usize) -> (usize, f64) {
        if self.loops { (k % self.len(), (k / self.len()) as f64) } else { (k, 0.0) }
    }

    pub fn time(&self, k: usize) -> f64 {
        let (k, rounds) = self.split(k);
        let at = |k: usize| f64::from(self.times[k]);
        at(k) + rounds * (at(self.times.len() - 1) - at(0))
    }

    /// The position of a sample; each round of a loop is displaced by the way from the first to the last.
    pub fn place(&self, places: &[DVec3], k: usize) -> DVec3 {
        let (k, rounds) = self.split(k);
        places[k] + rounds * (places[places.len() - 1] - places[0])
    }

    /// The neighbour of a sample, as an index; `None` beyond the ends of a row.
    pub fn beside(&self, k: usize, forward: bool) -> Option<usize> {
        let last = self.times.len() - 1;
        match (forward, self.loops) {
            (true, true) => Some(k + 1),
            (true, false) => (k < last).then_some(k + 1),
            (false, true) => Some(k + if k == 0 { self.len() } else { 0 } - 1),
            (false, false) => k.checked_sub(1),
        }
    }

    /// Seconds between two samples that are less than half a round apart.
    pub fn apart(&self, a: usize, b: usize) -> f64 {
        let apart = (self.time(a) - self.time(b)).abs();
        match self.loops {
            true => {
                let round = self.time(self.len()) - self.time(0);
                let apart = apart % round;
                apart.min(round - apart)
            }
            false => apart,
        }
    }

    /// Velocities from differences of neighbouring positions.
    pub fn velocities(&self, places: &[DVec3]) -> Vec<DVec3> {
        let velocity = |k: usize| {
            // One round later every sample has one before it.
            let k = if self.loops { k + self.len() } else { k };
            let [a, b] = [false, true].map(|forward| self.beside(k, forward).unwrap_or(k));
            let seconds = self.time(b) - self.time(a);
            match seconds > 0.0 {
                true => (self.place(places, b) - self.place(places, a)) / seconds,
                false => DVec3::ZERO,
            }
        };
        (0..self.len()).map(velocity).collect()
    }

    /// The ranges of neighbours for which `holds` is true, of at least `shortest` seconds. In a loop a range may continue past
    /// the last sample; if `holds` is true everywhere, its end is its start one round later.
    pub fn ranges(&self, holds: &[bool], shortest: f64) -> Vec<Range<usize>> {
        let len = self.len();
        if self.loops && holds.iter().all(|h| *h) {
            return std::iter::once(0..len + 1).collect();
        }
        // In a loop the search begins at a sample outside all ranges.
        let begin = if self.loops { holds.iter().position(|h| !h).unwrap_or(0) } else { 0 };
        let mut out = Vec::new();
        let mut at = begin;
        while at < begin + len {
            let same = |k: &usize| holds[k % len] == holds[at % len];
            let end = (at..begin + len).take_while(same).last().unwrap_or(at) + 1;
            if holds[at % len] && self.seconds(&(at..end)) >= shortest {
                let round = at / len * len;
                out.push(at - round..end - round);
            }
            at = end;
        }
        out
    }

    pub fn is_whole(&self, range: &Range<usize>) -> bool {
        self.loops && range.len() > self.len()
    }

    pub fn seconds(&self, range: &Range<usize>) -> f64 {
        self.time(range.end - 1) - self.time(range.start)
    }

    /// Extends values of the distinct samples to all samples.
    pub fn unroll(&self, mut values: Vec<DVec3>) -> Vec<DVec3> {
        if self.loops {
            values.push(values[0]);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_go_on_past_the_end_of_a_loop() {
        let times: Vec<f32> = (0..=8).map(|k| k as f32).collect();
        let holds = [true, true, false, false, true, false, false, true];
        let ring = Ring::new(&times, true);
        assert_eq!(ring.ranges(&holds, 0.0), [4..5, 7..10]);
        assert!(ring.ranges(&holds, 1.0).into_iter().eq(std::iter::once(7..10)));
        assert!(ring.ranges(&[true; 8], 8.0).into_iter().eq(std::iter::once(0..9)));
        assert_eq!(ring.apart(7, 1), 2.0);
        let places: Vec<DVec3> = times.iter().map(|t| DVec3::X * f64::from(*t)).collect();
        assert_eq!(ring.place(&places, 10), DVec3::X * 10.0);
        assert!(ring.velocities(&places).iter().all(|v| *v == DVec3::X));
        let holds = [true, true, false, false, true, false, false, true, true];
        let row = Ring::new(&times, false);
        assert_eq!(row.ranges(&holds, 0.0), [0..2, 4..5, 7..9]);
        assert!(row.ranges(&[false; 9], 0.0).is_empty());
    }
}
