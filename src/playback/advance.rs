//! A step of time: how far every action moves, what it passes, and how its weight changes.

use super::actions::{ACTIONS_PER_LAYER, Actions};
use super::event_sink::EventSink;
use super::ids::NO_CLIP;
use super::options::AtEnd;
use wide::{CmpGt, CmpLt, f64x4};

/// A step of an entry: seconds, and the factor that its instance and layer put on them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub dt: f64,
    pub factor: f64,
}

impl Actions {
    /// Moves the times of an entry on if nothing else happens to it in the step: no weight changes, no
    /// end or marker is passed. Returns whether that was so.
    #[inline(always)]
    pub fn glide(&mut self, entry: usize, step: Step) -> bool {
        if self.busy[entry] {
            return false;
        }
        let distance = f64x4::splat(step.dt * step.factor) * f64x4::new(self.rate[entry]);
        let moved = f64x4::new(self.time[entry]) + distance;
        let above = moved.cmp_gt(f64x4::new(self.low[entry]));
        let below = moved.cmp_lt(f64x4::new(self.high[entry]));
        let free = (above & below).all();
        if free {
            self.time[entry] = moved.to_array();
        }
        free
    }

    /// Moves an entry on, action by action. `sink` gets every interval that holds an end or a marker,
    /// or is an action's first. Returns whether a weight changed or an action stopped.
    pub fn advance(&mut self, entry: usize, step: Step, sink: &mut EventSink<'_>) -> bool {
        let mut changed = false;
        let mut busy = false;
        let calm = !self.busy[entry];
        for a in 0..ACTIONS_PER_LAYER {
            if self.clip[entry][a] == NO_CLIP {
                continue;
            }
            if calm {
                // Most often one action of several passes something: the others are not looked up.
                let moved = self.time[entry][a] + step.dt * step.factor * self.rate[entry][a];
                if moved > self.low[entry][a] && moved < self.high[entry][a] {
                    self.time[entry][a] = moved;
                    continue;
                }
            }
            let slow = self.slow[entry][a];
            let size = step.dt.abs();
            // What fades out goes no further than its fade, whatever the step.
            let seconds = if slow.ending {
                size.min(slow.fade.left())
            } else {
                size
            };
            let factor = seconds.copysign(step.dt) * step.factor;
            let distance = if slow.warp.running() && !slow.paused {
                let mean = slow.warp.integral(seconds) / seconds.max(f64::MIN_POSITIVE);
                let speed = self.slow[entry][a].warp.advance(seconds);
                self.slow[entry][a].speed = speed;
                self.set_rate(entry, a);
                factor * (mean * slow.pace)
            } else {
                factor * self.rate[entry][a]
            };
            let moved = self.time[entry][a] + distance;
            let within = moved > self.low[entry][a] && moved < self.high[entry][a];
            if within && !slow.fresh {
                self.time[entry][a] = moved;
            } else if let Some(interval) = {
                let from = self.place(entry, a);
                slow.course.pass(from, distance, slow.fresh)
            } {
                self.slow[entry][a].fresh = false;
                self.put(entry, a, interval.to);
                self.slow[entry][a].ended = interval.finished;
                (self.low[entry][a], self.high[entry][a]) = sink.window(self, entry, a);
                if interval.finished {
                    // The step that leads away from the end is looked at, too.
                    self.close_window(entry, a);
                }
                sink.emit(self, entry, a, &interval);
                if interval.finished && slow.at_end == AtEnd::Stop {
                    self.free(entry, a);
                    changed = true;
                    continue;
                }
            }
            if slow.fade.running() {
                changed = true;
                let slow = &mut self.slow[entry][a];
                self.weight[entry][a] = slow.fade.advance(size) as f32;
                if slow.ending && !slow.fade.running() {
                    self.free(entry, a);
                    continue;
                }
            }
            let slow = &self.slow[entry][a];
            busy |= slow.fresh || slow.fade.running() || slow.warp.running();
        }
        self.busy[entry] = busy;
        changed
    }
}
