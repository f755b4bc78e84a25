//! Crossfades of two actions: fades, time warping, synchronised start.

use super::action::Action;
use super::blend_space::{check_parameter, pace};
use super::error::PlaybackError;
use super::ids::{BlendSpaceId, Playable, Source};
use super::layer_state::LayerState;
use super::linear_fade::LinearFade;
use super::options::PlayOptions;
use super::play_rule::Entrance;
use super::player::{MAX_SPEED, Player, check_seconds};
use super::pool::{Pool, check};
use super::sync::{Beat, CrossFade, Sync, in_step, lacking};
use crate::clip::Clip;
use crate::words::shorten;

/// The values of a crossfade, computed and checked before anything changes.
struct Prepared {
    /// The clip time at which the second action starts, if it is synchronised.
    time: Option<f64>,
    /// The speed that the first action ends with, and the speed that the second begins with; `None` without warping.
    speeds: Option<(f32, f32)>,
}

impl Player<'_> {
    /// Fades one action out and another in, over `fade` seconds or as a [`CrossFade`] states.
    ///
    /// The first [stops](Self::stop), the second [plays](Self::add) over the same seconds; other actions of the layer
    /// do not change. Synchronising sets the time of the second action, even if it plays already. If the first fades
    /// out already while the second plays, that crossfade continues, and only `options` apply.
    ///
    /// # Errors
    /// If `from` does not play on the layer or has stopped, the two clips share no markers for
    /// [`Sync::Markers`], a warped speed is out of range, or for a reason that [`fade_to`](Self::fade_to) lists.
    pub fn cross_fade<'f>(
        &mut self,
        layer: usize,
        from: impl Into<Playable>,
        to: impl Into<Playable>,
        fade: impl Into<CrossFade<'f>>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let fade = fade.into();
        let (_, first) = self.find(layer, from)?;
        let (mut state, to) = self.admit(layer, to.into(), options)?;
        check_seconds("seconds", fade.seconds)?;
        let from = state.action(first).source();
        let target = state.find(to);
        let is_target = target.is_some_and(|a| state.action(a).is_target());
        let under_way = state.action(first).ending() && is_target;
        if under_way || target == Some(first) {
            self.enter(&mut state, to, fade.seconds, options, Entrance::Continue);
            self.store(layer, &state);
            return Ok(());
        }
        let prepared = self.pool.prepare(&state, first, to, &fade, options)?;
        let passed = !state.action(first).fresh();
        state.end(first, fade.seconds);
        let target = self.enter(&mut state, to, fade.seconds, options, Entrance::Continue);
        if let Some(time) = prepared.time {
            let target = state.action_mut(target);
            target.seek(time);
            if passed && target.repeats() {
                // In step, both pass a marker at once: markers that the first has passed do not fire again.
                target.advanced(false);
            }
        }
        if let Some((last, first)) = prepared.speeds {
            state.set_speeds(target, first, options.speed, fade.seconds);
            if let Some(source) = state.find(from) {
                let speed = state.action(source).speed();
                state.set_speeds(source, speed, last, fade.seconds);
            }
        }
        self.store(layer, &state);
        Ok(())
    }

    /// Sets the parameter of a playing blend space. Beyond its ends the clip at that end plays alone.
    ///
    /// # Errors
    /// If the blend space does not play on the layer, or the value is not within ±1e9.
    pub fn set_parameter(
        &mut self,
        layer: usize,
        space: BlendSpaceId,
        value: f32,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, space)?;
        check_parameter(value)?;
        let source = state.action(a).source();
        let (members, _) = self.pool.members_of(source, value);
        state.action_mut(a).set_members(members);
        self.store(layer, &state);
        Ok(())
    }
}

impl LayerState {
    /// Changes the speed of an action linearly from one value to another over `seconds`.
    fn set_speeds(&mut self, a: usize, from: f32, to: f32, seconds: f32) {
        let warp = LinearFade::new(from, to, f64::from(seconds));
        self.action_mut(a).warp_to(warp.value());
        self.set_warp(a, warp);
    }
}

impl Pool {
    fn prepare(
        &self,
        state: &LayerState,
        first: usize,
        to: Source,
        fade: &CrossFade<'_>,
        options: &PlayOptions,
    ) -> Result<Prepared, PlaybackError> {
        let source = state.action(first);
        let goes_on = |&a: &usize| !state.action(a).finished();
        let target = match state.find(to).filter(goes_on) {
            Some(a) => *state.action(a),
            None => Action::new(to, self.members_of(to, options.parameter), options),
        };
        let phases = |action: &Action| {
            let length = action.course().length;
            let pace = pace(&self.clips, action);
            if length > 0.0 { pace / length } else { 0.0 }
        };
        let (mine, theirs) = (phases(source), phases(&target));
        let mut prepared = Prepared { time: None, speeds: None };
        if mine == 0.0 || theirs == 0.0 {
            // Clips without length can be neither warped nor synchronised.
            return Ok(prepared);
        }
        if fade.warp {
            let last = f64::from(options.speed) * theirs / mine;
            let first = f64::from(source.speed()) * mine / theirs;
            check("warped speed", last, -MAX_SPEED, MAX_SPEED)?;
            check("warped speed", first, -MAX_SPEED, MAX_SPEED)?;
            prepared.speeds = Some((last as f32, first as f32));
        }
        let length = target.course().length;
        let phase = source.clip_time() / source.course().length;
        prepared.time = match fade.sync {
            Sync::No => None,
            Sync::Phase => Some(phase * length),
            Sync::Markers(names) => {
                let clip = |index| self.clips.get(index).map(|c| c.as_ref());
                let first: Option<&Clip> = clip(source.members().0);
                let (Some(first), Some(second)) = (first, clip(target.members().0)) else {
                    return Ok(prepared);
                };
                let beat = |clip: &'_ Clip, phase: f64| {
                    let duration = f64::from(clip.duration());
                    (duration, duration * phase)
                };
                let (duration, time) = beat(first, phase);
                let from = Beat { markers: first.markers(), duration, time };
                let (duration, time) = beat(second, 0.0);
                let to = Beat { markers: second.markers(), duration, time };
                let found = in_step(from, to, names).map(|t| t / duration * length);
                let none = || PlaybackError::NoSyncMarkers {
                    from: shorten(first.name()),
                    to: shorten(second.name()),
                    lacks: lacking([first, second], names),
                };
                Some(found.ok_or_else(none)?)
            }
        };
        Ok(prepared)
    }
}
