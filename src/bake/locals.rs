//! `Locals`: the local transforms of one joint at all key times, in groups of eight.
//!
//! ```text
//! channel that moves     group 0: x y z (w) | group 1: x y z (w) | …     a component of eight times each
//! channel that does not  group 0 alone
//! ```

use super::transforms::{Local, TIMES, Trs, V, store_turn, unit};
use crate::simd::{Kernel, Lanes};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// For each channel the number of components, and the index of the first in a transform.
const CHANNELS: [(usize, usize); 3] = [(3, 0), (4, 3), (3, 7)];

/// Translations, rotations and scales. A channel that does not move has one group.
pub(super) struct Locals([Vec<V>; 3]);

impl Locals {
    /// One transform for all times.
    pub fn still(fixed: &[f64; 10]) -> Self {
        let channel = |(width, first): (usize, usize)| {
            let values = &fixed[first..first + width];
            values.iter().map(|&v| V::splat(v)).collect()
        };
        Self(CHANNELS.map(channel))
    }

    pub fn set_still(&mut self, which: usize, value: &[f64; 4]) {
        let (width, _) = CHANNELS[which];
        self.0[which] = value[..width].iter().map(|&v| V::splat(v)).collect();
    }

    /// Sets a channel to a value per key time. The last time fills up the last group.
    pub fn set(&mut self, which: usize, values: impl ExactSizeIterator<Item = [f64; 4]>) {
        let (width, _) = CHANNELS[which];
        let times = values.len();
        let channel = &mut self.0[which];
        channel.clear();
        channel.resize(times.div_ceil(TIMES) * width, V::ZERO);
        for (i, value) in values.enumerate() {
            let group = &mut channel[i / TIMES * width..][..width];
            for (v, x) in group.iter_mut().zip(value) {
                if i + 1 < times {
                    v.0[i % TIMES] = x;
                } else {
                    v.0[i % TIMES..].fill(x);
                }
            }
        }
    }

    pub fn groups(&self, which: usize) -> impl ExactSizeIterator<Item = &[V]> + Clone {
        self.0[which].chunks_exact(CHANNELS[which].0)
    }

    /// The value of a channel at a key time.
    pub fn at(&self, which: usize, time: usize) -> [f64; 4] {
        let (width, _) = CHANNELS[which];
        let values = &self.0[which];
        let at = group_at(values, width, time / TIMES);
        let mut out = [0.0; 4];
        for (out, v) in out.iter_mut().zip(&values[at..at + width]) {
            *out = v.0[time % TIMES];
        }
        out
    }

    /// Least and greatest value of each component of a channel.
    pub fn range(&self, which: usize) -> [[f64; 2]; 4] {
        let mut low = [V::splat(f64::INFINITY); 4];
        let mut high = [V::splat(f64::NEG_INFINITY); 4];
        for group in self.groups(which) {
            for (v, (low, high)) in group.iter().zip(low.iter_mut().zip(&mut high)) {
                for (x, (low, high)) in v.0.iter().zip(low.0.iter_mut().zip(&mut high.0)) {
                    (*low, *high) = (low.min(*x), high.max(*x));
                }
            }
        }
        std::array::from_fn(|c| {
            let low = low[c].0.into_iter().fold(f64::INFINITY, f64::min);
            let high = high[c].0.into_iter().fold(f64::NEG_INFINITY, f64::max);
            [low, high]
        })
    }

    /// The transforms of a group of times.
    #[inline(always)]
    pub fn load<S: Simd>(&self, simd: S, group: usize) -> Trs<S> {
        let mut out = [f64x8::splat(simd, 0.0); 10];
        let mut which = 0;
        while which < 3 {
            let (width, first) = CHANNELS[which];
            let values = &self.0[which];
            let at = group_at(values, width, group);
            let values = &values[at..at + width];
            let mut c = 0;
            while c < width {
                out[first + c] = f64x8::load_array_ref(simd, &values[c].0);
                c += 1;
            }
            which += 1;
        }
        out
    }
}

/// The index at which a group of a channel begins.
#[inline(always)]
fn group_at(values: &[V], width: usize, group: usize) -> usize {
    if values.len() == width { 0 } else { group * width }
}

pub(super) struct Normalise<'a>(pub &'a mut Locals);

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        for q in self.0.0[1].chunks_exact_mut(4) {
            let turn = [
                f64x8::load_array_ref(simd, &q[0].0),
                f64x8::load_array_ref(simd, &q[1].0),
                f64x8::load_array_ref(simd, &q[2].0),
                f64x8::load_array_ref(simd, &q[3].0),
            ];
            store_turn(&unit(&turn), q);
        }
    }
}

/// A transform of eight times before any is set.
pub(super) const NOTHING: Local = [V::ZERO; 10];
