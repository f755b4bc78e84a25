//! Crossfades of two actions: fades, time warping, synchronised start.

use super::action::Action;
use super::error::PlaybackError;
use super::ids::{Playable, Source};
use super::layer_state::{Entrance, LayerState};
use super::library::Library;
use super::linear_fade::LinearFade;
use super::options::{MAX_SPEED, PlayOptions, check, check_seconds};
use super::player::Player;
use super::sync::{Beat, CrossFade, FadeKind, Sync, in_step, lacking};
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
    /// do not change. With [`FadeKind::Inertial`] all others stop at once, and an offset of the pose decays over these seconds.
    /// Synchronising sets the time of the second action, even if it plays already. If the first fades
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
        let (fade, library) = (fade.into(), self.pool.library());
        let (before, first) = self.pool.find_action(self.index, layer, from.into())?;
        let to = library.check_play(layer, to.into(), options)?;
        check_seconds("seconds", fade.seconds)?;
        let mut state = before;
        let target = state.find(to);
        let is_target = target.is_some_and(|a| state.action(a).is_target());
        let under_way = state.action(first).ending() && is_target;
        if under_way || target == Some(first) {
            state.enter(library, to, fade.seconds, options, Entrance::Continue);
            self.pool.store(self.index, layer, &before, &state);
            return Ok(());
        }
        let prepared = Prepared::new(library, &state, first, to, &fade, options)?;
        if fade.kind == FadeKind::Inertial && fade.seconds > 0.0 {
            state.end_all(0.0, |a| a.source() != to);
            let (target, _) = state.enter(library, to, 0.0, options, Entrance::Continue);
            state.action_mut(target).settle(options.weight);
            prepared.apply(&before, first, (&mut state, target), &fade, options);
            let at = (self.index, layer);
            if self.pool.keeps_share(layer, &before, options.weight)
                && self.pool.offset(at, &before, &mut state, fade.seconds)
            {
                self.pool.store(self.index, layer, &before, &state);
                return Ok(());
            }
            state = before;
        }
        state.end(first, fade.seconds);
        let library = self.pool.library();
        let (target, evicted) = state.enter(library, to, fade.seconds, options, Entrance::Continue);
        prepared.apply(&before, first, (&mut state, target), &fade, options);
        if fade.seconds <= 0.0 {
            state.offset = None;
        }
        if evicted {
            self.pool.evict((self.index, layer), &before, &mut state, fade.seconds);
        }
        self.pool.store(self.index, layer, &before, &state);
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

impl Prepared {
    /// Synchronises the second action, `target`, and sets both speeds. `first` is the first action before the fade.
    fn apply(
        &self,
        before: &LayerState,
        first: usize,
        (state, target): (&mut LayerState, usize),
        fade: &CrossFade<'_>,
        options: &PlayOptions,
    ) {
        let first = before.action(first);
        if let Some(time) = self.time {
            let target = state.action_mut(target);
            target.seek(time);
            if !first.fresh() && target.repeats() {
                // In step, both pass a marker at once: markers that the first has passed do not fire again.
                target.advanced(false);
            }
        }
        if let Some((last, begin)) = self.speeds {
            state.set_speeds(target, begin, options.speed, fade.seconds);
            if let Some(source) = state.find(first.source()) {
                let speed = state.action(source).speed();
                state.set_speeds(source, speed, last, fade.seconds);
            }
        }
    }

    fn new(
        library: &Library,
        state: &LayerState,
        first: usize,
        to: Source,
        fade: &CrossFade<'_>,
        options: &PlayOptions,
    ) -> Result<Self, PlaybackError> {
        let source = state.action(first);
        let goes_on = |&a: &usize| !state.action(a).finished();
        let target = match state.find(to).filter(goes_on) {
            Some(a) => *state.action(a),
            None => Action::new(to, library.place_of(to, options.parameter), options),
        };
        let phases = |action: &Action| {
            let length = action.course().length;
            let pace = library.motions().pace(action);
            if length > 0.0 { pace / length } else { 0.0 }
        };
        let (mine, theirs) = (phases(source), phases(&target));
        let mut prepared = Self { time: None, speeds: None };
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
                let clip = |action| {
                    let clip = library.motions().clips_of(action).next()?;
                    library.clips().get(clip).map(|c| c.as_ref())
                };
                let first: Option<&Clip> = clip(source);
                let (Some(first), Some(second)) = (first, clip(&target)) else {
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
