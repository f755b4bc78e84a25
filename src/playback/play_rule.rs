//! The rule of play: what a call does to a motion that plays already, and to the other actions of its layer. The table
//! is on [`Player`]'s page.

use super::action::Action;
use super::error::PlaybackError;
use super::ids::{Playable, Source};
use super::interval::Loop;
use super::layer_state::LayerState;
use super::linear_fade::LinearFade;
use super::options::PlayOptions;
use super::player::{Player, check_seconds};

/// Whether a motion that plays already keeps its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// It keeps its time, unless it has finished.
    Continue,
    /// It starts at the time of the options.
    Restart,
}

impl LayerState {
    /// Applies the options to an action that keeps its time: all but time, weight, fade and parameter.
    fn adopt(&mut self, a: usize, options: &PlayOptions) {
        let speed = options.speed;
        // A warp that leads to this speed continues.
        if self.warp(a).is_none_or(|warp| warp.end() != speed) {
            self.action_mut(a).warp_to(speed);
            self.set_warp(a, LinearFade::still(speed));
        }
        let action = self.action_mut(a);
        action.set_at_end(options.at_end);
        action.set_paused(false);
        let length = action.course().length;
        action.set_course(&Loop::new(options.loop_mode, options.repetitions, length));
    }
}

impl Player<'_> {
    /// Plays a motion alone on a layer, over `seconds`.
    pub(super) fn play_alone(
        &mut self,
        layer: usize,
        motion: Playable,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) -> Result<(), PlaybackError> {
        let (state, source) = self.admit(layer, motion, options)?;
        check_seconds("seconds", seconds)?;
        self.play_source(layer, (state, source), seconds, options, entrance);
        Ok(())
    }

    /// As [`fade_to`](Self::fade_to), with arguments that have been checked.
    pub(crate) fn play_checked(
        &mut self,
        layer: usize,
        motion: Playable,
        seconds: f32,
        options: &PlayOptions,
    ) {
        if let Ok(source) = self.pool.source(motion) {
            let state = self.pool.layer(self.index, layer);
            let what = (state, source);
            self.play_source(layer, what, seconds, options, Entrance::Continue);
        }
    }

    /// Plays a resolved motion alone on a layer that has this state.
    fn play_source(
        &mut self,
        layer: usize,
        (mut state, source): (LayerState, Source),
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) {
        let before = state;
        let own = state.find(source).map(|a| state.action(a));
        let goes_on = entrance == Entrance::Continue && own.is_some_and(Action::is_target);
        // While the target plays, actions that fade out keep their fades, even if the call is repeated.
        let ends = |a: &Action| a.source() != source && !(goes_on && a.ending());
        state.end_all(seconds, ends);
        self.enter(&mut state, source, seconds, options, entrance);
        self.pool.replace_layer(self.index, layer, &before, &state);
    }

    /// Plays a motion in addition to the other actions of its layer. The arguments have been checked. Returns the index
    /// of its action.
    pub(super) fn enter(
        &mut self,
        state: &mut LayerState,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) -> usize {
        let own = state.find(source);
        let goes_on = |&a: &usize| entrance == Entrance::Continue && !state.action(a).finished();
        let a = match own.filter(goes_on) {
            Some(a) => {
                state.adopt(a, options);
                a
            }
            None => {
                let members = self.pool.members_of(source, options.parameter);
                let mut action = Action::new(source, members, options);
                if let Some(a) = own {
                    // The action keeps its weight and its fade, and becomes the youngest.
                    action.weight = state.action(a).weight;
                    action.set_ending(state.action(a).ending());
                    state.remove(a);
                }
                let (a, evicted) = state.push(action);
                if evicted {
                    self.pool.state.count_evicted();
                }
                a
            }
        };
        state.action_mut(a).aim(options.weight, seconds);
        a
    }
}
