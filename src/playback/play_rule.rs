//! The rule of play: what happens to a motion that is played while it already plays, and to the other actions of its
//! layer. The table is on [`Player`]'s page.

use super::actions::Actions;
use super::error::PlaybackError;
use super::ids::{Motion, Source};
use super::interval::Loop;
use super::linear_fade::LinearFade;
use super::options::PlayOptions;
use super::player::{Player, check_seconds};

/// Whether a motion that already plays goes on from its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// It goes on unless it has finished.
    Continue,
    /// It starts at the time of the options.
    Restart,
}

impl Actions {
    /// Whether an action goes on by itself: it neither fades out nor has finished.
    pub fn is_target(&self, entry: usize, a: usize) -> bool {
        !self.slow[entry][a].ending && !self.finished(entry, a)
    }

    /// Applies the options to an action that goes on: all but time, weight, fade and parameter.
    fn adopt(&mut self, entry: usize, a: usize, options: &PlayOptions) {
        let slow = &mut self.slow[entry][a];
        slow.at_end = options.at_end;
        slow.paused = false;
        let speed = f64::from(options.speed);
        // A warp that leads to this speed goes on.
        if !slow.warp.running() {
            slow.speed = speed;
        } else if slow.warp.end() != speed {
            slow.speed = speed;
            slow.warp = LinearFade::default();
        }
        let length = slow.course.length;
        let course = Loop::new(options.loop_mode, options.repetitions, length);
        self.set_course(entry, a, course);
        self.set_rate(entry, a);
    }

    /// Sets how an action makes its passes. With other passes than before it is in the first of them, at the clip
    /// time it has reached.
    pub fn set_course(&mut self, entry: usize, a: usize, course: Loop) {
        if self.slow[entry][a].course != course {
            let time = self.clip_time(entry, a);
            self.slow[entry][a].course = course;
            self.seek(entry, a, time);
        }
    }

    /// Fades the weight of an action to a target: over what is left of its running fade, or over `seconds` if none runs
    /// or it fades out. Returns whether anything changed.
    fn aim(&mut self, entry: usize, a: usize, target: f32, seconds: f32) -> bool {
        let slow = &mut self.slow[entry][a];
        let weight = self.weight[entry][a];
        let to = f64::from(target);
        if !slow.ending && slow.fade.running() {
            let turns = slow.fade.end() != to;
            if turns {
                slow.fade = LinearFade::new(f64::from(weight), to, slow.fade.left());
            }
            turns
        } else {
            (slow.ending || weight != target) && self.fade(entry, a, target, seconds)
        }
    }
}

impl Player<'_> {
    /// Plays a motion alone on a layer, over `seconds`.
    pub(super) fn play_alone(
        &mut self,
        layer: usize,
        motion: Motion,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) -> Result<(), PlaybackError> {
        let (entry, source) = self.admit(layer, motion, options)?;
        check_seconds("seconds", seconds)?;
        let actions = self.actions();
        let own = actions.find(entry, source);
        let goes_on =
            entrance == Entrance::Continue && own.is_some_and(|a| actions.is_target(entry, a));
        let mut changed = false;
        for a in actions.playing(entry).filter(|&a| own != Some(a)) {
            // While the target plays, actions that fade out keep their fades, however often it is played again.
            if !(goes_on && actions.slow[entry][a].ending) {
                changed |= actions.end(entry, a, seconds);
            }
        }
        if changed {
            self.pool.mark_dirty(self.index);
        }
        self.enter(entry, source, seconds, options, entrance);
        Ok(())
    }

    /// Plays a motion beside the other actions of its layer. The arguments have been checked.
    pub(super) fn enter(
        &mut self,
        entry: usize,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) {
        let actions = &mut self.pool.state.actions;
        let own = actions.find(entry, source);
        let (a, changed) = match own {
            Some(a) if entrance == Entrance::Continue && !actions.finished(entry, a) => {
                actions.adopt(entry, a, options);
                (a, false)
            }
            _ => {
                let members = self.pool.members_of(source, options.parameter);
                let actions = &mut self.pool.state.actions;
                let (a, evicted) = own.map_or_else(|| actions.vacate(entry), |a| (a, false));
                actions.start(entry, a, source, members, options);
                self.pool.state.evicted += u64::from(evicted);
                (a, true)
            }
        };
        let actions = &mut self.pool.state.actions;
        if actions.aim(entry, a, options.weight, seconds) | changed {
            self.pool.mark_dirty(self.index);
        }
    }
}
