//! Crossfades of two actions: fades, time warping, synchronised start.

use super::actions::Actions;
use super::blend_space::check_parameter;
use super::error::PlaybackError;
use super::ids::{BlendSpaceId, Motion, Source};
use super::linear_fade::LinearFade;
use super::options::PlayOptions;
use super::play_rule::Entrance;
use super::player::{MAX_SPEED, Player, check_seconds};
use super::pool::{Pool, check};
use super::sync::{Beat, CrossFade, Sync, in_step};
use crate::clip::Clip;

/// The values of a crossfade, computed and checked before anything is changed.
struct Prepared {
    /// The clip time that the second starts at, if it is synchronised.
    time: Option<f64>,
    /// The speed that the first ends with, and the speed that the second begins with.
    speeds: Option<(f64, f64)>,
}

impl Player<'_> {
    /// Fades one action out and another in, over a time in seconds or as a [`CrossFade`] states.
    ///
    /// The first [stops](Self::stop), the second [plays](Self::add) over the same seconds; other actions of the
    /// layer do not change. Synchronising sets the time of the second, also if it plays. If the first fades out
    /// already while the second plays, that crossfade goes on: only `options` apply.
    ///
    /// # Errors
    /// Those of [`fade_to`](Self::fade_to), or if `from` does not play on the layer or no longer does, the two clips
    /// share no markers for [`Sync::Markers`], or a warped speed is out of range.
    pub fn cross_fade<'f>(
        &mut self,
        layer: usize,
        from: impl Into<Motion>,
        to: impl Into<Motion>,
        fade: impl Into<CrossFade<'f>>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let fade = fade.into();
        let (entry, first) = self.pool.find_action(self.index, layer, from.into())?;
        let (_, to) = self.admit(layer, to.into(), options)?;
        check_seconds("seconds", fade.seconds)?;
        let actions = self.actions();
        let from = actions.source(entry, first);
        let target = actions.find(entry, to);
        let under_way = actions.slow[entry][first].ending
            && target.is_some_and(|a| actions.is_target(entry, a));
        if under_way || target == Some(first) {
            self.enter(entry, to, fade.seconds, options, Entrance::Continue);
            return Ok(());
        }
        let prepared = self.pool.prepare(entry, first, to, &fade, options)?;
        if self.actions().end(entry, first, fade.seconds) {
            self.pool.mark_dirty(self.index);
        }
        self.enter(entry, to, fade.seconds, options, Entrance::Continue);
        let actions = self.actions();
        let Some(target) = actions.find(entry, to) else {
            return Ok(());
        };
        if let Some(time) = prepared.time {
            actions.seek(entry, target, time);
        }
        if let Some((last, first)) = prepared.speeds {
            let own = f64::from(options.speed);
            actions.warp(entry, target, first, own, fade.seconds);
            if let Some(source) = actions.find(entry, from) {
                let speed = actions.slow[entry][source].speed;
                actions.warp(entry, source, speed, last, fade.seconds);
            }
        }
        Ok(())
    }

    /// Sets the parameter of a playing blend space; beyond its ends the last clip plays alone.
    ///
    /// # Errors
    /// If the blend space does not play on the layer, or the value is not within ±1e9.
    pub fn set_parameter(
        &mut self,
        layer: usize,
        space: BlendSpaceId,
        value: f32,
    ) -> Result<(), PlaybackError> {
        let (entry, a) = self
            .pool
            .find_action(self.index, layer, Motion::Space(space))?;
        check_parameter(value)?;
        let source = self.actions().source(entry, a);
        let (members, _) = self.pool.members_of(source, value);
        if self.actions().set_members(entry, a, members) {
            self.pool.mark_dirty(self.index);
        }
        Ok(())
    }
}

impl Actions {
    /// Changes the speed of an action linearly from one value to another over `seconds`.
    fn warp(&mut self, entry: usize, a: usize, from: f64, to: f64, seconds: f32) {
        let slow = &mut self.slow[entry][a];
        if seconds > 0.0 {
            slow.speed = from;
            slow.warp = LinearFade::new(from, to, f64::from(seconds));
            self.busy[entry] = true;
        } else {
            slow.speed = to;
        }
        self.set_rate(entry, a);
    }
}

impl Pool {
    fn prepare(
        &self,
        entry: usize,
        source: usize,
        to: Source,
        fade: &CrossFade<'_>,
        options: &PlayOptions,
    ) -> Result<Prepared, PlaybackError> {
        let actions = &self.state.actions;
        let slow = &actions.slow[entry][source];
        let goes_on = |&a: &usize| !actions.finished(entry, a);
        let (members, length) = match actions.find(entry, to).filter(goes_on) {
            Some(a) => {
                let known = &actions.slow[entry][a];
                let (mut members, _) = self.members_of(to, options.parameter);
                (members.clip, members.rate) = (actions.clip[entry][a], known.pace);
                (members, known.course.length)
            }
            None => self.members_of(to, options.parameter),
        };
        let phases = |pace: f64, length: f64| if length > 0.0 { pace / length } else { 0.0 };
        let mine = phases(slow.pace, slow.course.length);
        let theirs = phases(members.rate, length);
        let mut prepared = Prepared {
            time: None,
            speeds: None,
        };
        if mine == 0.0 || theirs == 0.0 {
            // Clips without length can be neither warped nor synchronised.
            return Ok(prepared);
        }
        if fade.warp {
            let last = f64::from(options.speed) * theirs / mine;
            let first = slow.speed * mine / theirs;
            check("warped speed", last, -MAX_SPEED, MAX_SPEED)?;
            check("warped speed", first, -MAX_SPEED, MAX_SPEED)?;
            prepared.speeds = Some((last, first));
        }
        let phase = actions.clip_time(entry, source) / slow.course.length;
        prepared.time = match fade.sync {
            Sync::No => None,
            Sync::Phase => Some(phase * length),
            Sync::Markers(names) => {
                let clip = |index| self.clips.get(index).map(|c| c.as_ref());
                let first: Option<&Clip> = clip(actions.clip[entry][source]);
                let (Some(first), Some(second)) = (first, clip(members.clip)) else {
                    return Ok(prepared);
                };
                let beat = |clip: &'_ Clip, phase: f64| {
                    let duration = f64::from(clip.duration());
                    (duration, duration * phase)
                };
                let (duration, time) = beat(first, phase);
                let from = Beat {
                    markers: first.markers(),
                    duration,
                    time,
                };
                let (duration, time) = beat(second, 0.0);
                let to = Beat {
                    markers: second.markers(),
                    duration,
                    time,
                };
                let found = in_step(from, to, names).map(|t| t / duration * length);
                let none = || PlaybackError::NoSyncMarkers {
                    from: first.name().to_owned(),
                    to: second.name().to_owned(),
                };
                Some(found.ok_or_else(none)?)
            }
        };
        Ok(prepared)
    }
}
