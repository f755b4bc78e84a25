//! The playing clips of all instances of a rig, as plain arrays, and how they advance.

use super::ids::ClipId;
use crate::playback::{LoopMode, fold};
use wide::{f32x4, f64x4};

/// Actions that a layer can hold at once.
pub const ACTIONS_PER_LAYER: usize = 4;

/// Four actions of one layer of one instance.
pub(crate) type Four<T> = [T; ACTIONS_PER_LAYER];

/// An action slot that plays nothing.
pub(crate) const NO_CLIP: ClipId = ClipId {
    index: u16::MAX,
    generation: u16::MAX,
};

/// State of the actions, one entry per instance × layer, each of [`ACTIONS_PER_LAYER`] lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Actions {
    pub clip: Vec<Four<ClipId>>,
    /// Seconds, within the period.
    pub time: Vec<Four<f64>>,
    /// Periods passed, signed.
    pub wraps: Vec<Four<f64>>,
    pub duration: Vec<Four<f64>>,
    /// Infinite for actions that play once.
    pub period: Vec<Four<f64>>,
    pub speed: Vec<Four<f64>>,
    pub weight: Vec<Four<f32>>,
    /// What the weight is on its way to, and how fast, per second.
    pub target: Vec<Four<f32>>,
    pub fade: Vec<Four<f32>>,
    /// Whether the slot is freed once its weight is 0.
    pub ending: Vec<Four<bool>>,
    /// When it was started: older actions come first in a blend.
    pub started: Vec<Four<u32>>,
    pub starts: Vec<u32>,
}

/// How a clip is to be played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayOptions {
    /// Factor on time; negative plays backwards.
    pub speed: f32,
    /// What happens at the ends.
    pub loop_mode: LoopMode,
    /// Where to start, in seconds of unbounded time (mapped by the loop mode).
    pub time: f64,
    /// The weight to play at (or to fade to).
    pub weight: f32,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            speed: 1.0,
            loop_mode: LoopMode::Repeat,
            time: 0.0,
            weight: 1.0,
        }
    }
}

/// How fast a weight changes by `change` over `seconds`; finite, so that no time step gives NaN.
pub(crate) fn rate(change: f32, seconds: f32) -> f32 {
    (change.abs() / seconds).min(f32::MAX)
}

impl Actions {
    /// Appends an entry that plays nothing.
    pub fn push(&mut self) {
        let n = self.clip.len() + 1;
        self.clip.resize(n, [NO_CLIP; 4]);
        self.time.resize(n, [0.0; 4]);
        self.wraps.resize(n, [0.0; 4]);
        self.duration.resize(n, [0.0; 4]);
        self.period.resize(n, [f64::INFINITY; 4]);
        self.speed.resize(n, [0.0; 4]);
        self.weight.resize(n, [0.0; 4]);
        self.target.resize(n, [0.0; 4]);
        self.fade.resize(n, [0.0; 4]);
        self.ending.resize(n, [false; 4]);
        self.started.resize(n, [0; 4]);
        self.starts.resize(n, 0);
    }

    /// Frees all slots of an entry.
    pub fn clear(&mut self, entry: usize) {
        for a in 0..ACTIONS_PER_LAYER {
            self.free(entry, a);
        }
    }

    fn free(&mut self, entry: usize, a: usize) {
        self.clip[entry][a] = NO_CLIP;
        self.time[entry][a] = 0.0;
        self.wraps[entry][a] = 0.0;
        self.duration[entry][a] = 0.0;
        self.period[entry][a] = f64::INFINITY;
        self.speed[entry][a] = 0.0;
        self.weight[entry][a] = 0.0;
        self.target[entry][a] = 0.0;
        self.fade[entry][a] = 0.0;
        self.ending[entry][a] = false;
    }

    /// Starts a clip in a slot of its own; the one of least weight gives way if none is free.
    /// Returns whether one had to give way.
    pub fn start(
        &mut self,
        entry: usize,
        clip: ClipId,
        duration: f32,
        options: &PlayOptions,
        fade: f32,
    ) -> bool {
        let clips = &self.clip[entry];
        let vacant = (0..ACTIONS_PER_LAYER).find(|&a| clips[a] == NO_CLIP);
        let a = vacant.unwrap_or_else(|| {
            let weights = &self.weight[entry];
            (1..ACTIONS_PER_LAYER).fold(0, |least, a| {
                if weights[a] < weights[least] {
                    a
                } else {
                    least
                }
            })
        });
        let duration = f64::from(duration);
        let mode = options.loop_mode;
        self.clip[entry][a] = clip;
        self.duration[entry][a] = duration;
        self.period[entry][a] = mode.period(duration);
        self.speed[entry][a] = f64::from(options.speed);
        self.ending[entry][a] = false;
        self.wraps[entry][a] = 0.0;
        self.started[entry][a] = self.starts[entry];
        self.starts[entry] = self.starts[entry].wrapping_add(1);
        self.seek(entry, a, options.time);
        self.target[entry][a] = options.weight;
        if fade > 0.0 {
            self.weight[entry][a] = 0.0;
            self.fade[entry][a] = rate(options.weight, fade);
        } else {
            self.weight[entry][a] = options.weight;
            self.fade[entry][a] = 0.0;
        }
        vacant.is_none()
    }

    /// Puts an action at an unbounded time.
    pub fn seek(&mut self, entry: usize, a: usize, time: f64) {
        let (period, duration) = (self.period[entry][a], self.duration[entry][a]);
        if period.is_finite() {
            if period > 0.0 {
                let wraps = (time / period).floor();
                let rest = (time - wraps * period).clamp(0.0, period);
                self.wraps[entry][a] = wraps;
                self.time[entry][a] = if rest < period { rest } else { 0.0 };
            } else {
                self.time[entry][a] = 0.0;
            }
        } else {
            self.time[entry][a] = time.clamp(0.0, duration);
        }
    }

    /// Fades every action of an entry out over `seconds`, from the weights they have reached.
    pub fn fade_out(&mut self, entry: usize, seconds: f32) {
        for a in 0..ACTIONS_PER_LAYER {
            if self.clip[entry][a] == NO_CLIP {
                continue;
            }
            if seconds > 0.0 && self.weight[entry][a] != 0.0 {
                self.target[entry][a] = 0.0;
                self.fade[entry][a] = rate(self.weight[entry][a], seconds);
                self.ending[entry][a] = true;
            } else {
                self.free(entry, a);
            }
        }
    }

    /// The slot that plays a clip, if any.
    pub fn find(&self, entry: usize, clip: ClipId) -> Option<usize> {
        (0..ACTIONS_PER_LAYER).find(|&a| self.clip[entry][a] == clip)
    }

    /// The clip time of an action, in [0, duration].
    pub fn clip_time(&self, entry: usize, a: usize) -> f64 {
        let (time, duration) = (self.time[entry][a], self.duration[entry][a]);
        fold(time, duration)
    }

    /// Advances times and weights of the entries from `first` by `dt` seconds, each entry's time
    /// scaled by its instance's factor.
    /// Returns whether a weight changed.
    pub fn advance(&mut self, entry: usize, dt: f64, factor: f32) -> bool {
        let zero = f64x4::splat(0.0);
        let step = f64x4::splat(dt * f64::from(factor)) * f64x4::new(self.speed[entry]);
        let duration = f64x4::new(self.duration[entry]);
        let period = f64x4::new(self.period[entry]);
        let moved = f64x4::new(self.time[entry]) + step;
        // Once: clamp. The division by an infinite period gives 0, so nothing is subtracted; the
        // multiplication would give NaN, so the wrapped lanes are selected.
        let held = moved.max(zero).min(duration);
        let wraps = (moved / period).floor();
        let rest = (moved - wraps * period).max(zero);
        let over = rest.simd_ge(period);
        let rest = over.bitselect(zero, rest);
        let loops = period.simd_lt(f64x4::splat(f64::INFINITY)) & period.simd_gt(zero);
        let once = period.simd_eq(f64x4::splat(f64::INFINITY));
        let time = loops.bitselect(rest, once.bitselect(held, zero));
        self.time[entry] = time.to_array();
        self.wraps[entry] =
            (f64x4::new(self.wraps[entry]) + loops.bitselect(wraps, zero)).to_array();

        if self.fade[entry] == [0.0; 4] {
            return false;
        }
        let weight = f32x4::new(self.weight[entry]);
        let target = f32x4::new(self.target[entry]);
        let change = f32x4::new(self.fade[entry]) * f32x4::splat(dt.abs() as f32);
        let up = (weight + change).min(target);
        let down = (weight - change).max(target);
        let rising = weight.simd_lt(target);
        let weight = rising.bitselect(up, down);
        self.weight[entry] = weight.to_array();
        for a in 0..ACTIONS_PER_LAYER {
            if self.weight[entry][a] == self.target[entry][a] {
                self.fade[entry][a] = 0.0;
                if self.ending[entry][a] {
                    self.free(entry, a);
                }
            }
        }
        true
    }
}
