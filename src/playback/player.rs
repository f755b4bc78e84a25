//! `Player`: the layers and actions of one character, of a mixer or a crowd. Every call validates before it changes
//! anything.

use super::blend_space::check_parameter;
use super::error::PlaybackError;
use super::ids::{Playable, Source};
use super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::options::PlayOptions;
use super::play_rule::Entrance;
use super::playing::Playing;
use super::pool::{MAX_TIME, Pool, check};

/// The largest magnitude of a speed factor.
pub const MAX_SPEED: f64 = 1.0e6;

/// The layers and actions of one character: of a [`Mixer`](super::Mixer), or of an instance of a
/// [`Crowd`](crate::crowd::Crowd).
///
/// An action is identified by its layer and the clip or blend space that it plays, its motion. A call that fails
/// changes nothing. Calls fail for a clip or blend space that is [unknown](PlaybackError::UnknownClip), and calls
/// on an action for one that [does not play](PlaybackError::NotPlaying). [`playing`](Self::playing) reads.
///
/// # What a call does to what plays
///
/// `m` is the motion of the call. `s` is its duration in seconds: the argument of [`fade_to`](Self::fade_to) and
/// [`stop`](Self::stop), `options.fade_in` of the others.
///
/// | `m` on the layer | [`play`](Self::play), `fade_to` | [`add`](Self::add) | `restart` | `stop` |
/// |---|---|---|---|---|
/// | does not play | starts at `options.time`, its weight from 0 over `s` | the same; `Limit` if the layer is full | the same | `NotPlaying` |
/// | plays | goes on | the same | starts at `options.time`; its weight goes on to `options.weight` | fades out over `s`, then stops |
/// | is paused | as if it plays, and it is no longer paused | the same | the same | as if it plays |
/// | fades out | goes on; its weight goes on to `options.weight` | the same | starts at `options.time`; its weight goes on to `options.weight` | keeps its fade, or stops after `s` if that is sooner |
/// | has finished | starts at `options.time`; its weight goes on to `options.weight` | the same | the same | as if it plays |
/// | *another that does not fade out* | fades out over `s`, then stops | | fades out over `s`, then stops | |
/// | *another that fades out* | keeps its fade; unless `m` plays, it stops after `s` if that is sooner | | keeps its fade, or stops after `s` if that is sooner | |
///
/// - An action that goes on keeps its time, weight and fade, and nothing fires; speed, loop mode, end and weight of the
///   options apply.
/// - A call that is repeated in every frame changes nothing after the first, and its fade ends after the seconds of
///   the first call. Exceptions: [`restart`](Self::restart) starts `m` in each call; a motion that has finished starts
///   again with each `play`, `fade_to` and `add`; `stop` is `NotPlaying` once `m` has stopped.
/// - Seconds of 0 act at once: an action that fades out stops, and a weight is reached.
/// - A weight that goes on to `options.weight` takes what is left of the running fade; if no fade runs, or `m` fades
///   out, it takes `s`.
/// - An action of weight 0 that fades out stops at once. A running fade to 0 that ends before `s` is kept.
/// - A speed that applies ends a warp of [`cross_fade`](Self::cross_fade), unless the warp leads to it.
/// - Another loop mode or number of repetitions applies from the clip time reached, in the first pass.
/// - The time and the parameter of the options apply to an action that starts. In other cases
///   [`set_time`](Self::set_time) and [`set_parameter`](Self::set_parameter) set them.
/// - Times of clips are in seconds, times of blend spaces in phases: 1 is one pass.
/// - `cross_fade` is `NotPlaying` once its first motion has stopped.
/// - A layer holds [`ACTIONS_PER_LAYER`] actions. `play`, `fade_to`, `restart` and `cross_fade` evict the one with the
///   lowest weight for another.
///
/// ```
/// use phalanx::playback::{LoopMode, Mixer, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let [walk, cheer] = ["Walk", "Cheer"].map(|name| mixer.find_clip(name).unwrap());
/// let mut player = mixer.player();
/// player.play(0, walk, &PlayOptions::default())?;
/// // Called in every frame, the fade takes half a second all the same.
/// let once = PlayOptions { loop_mode: LoopMode::Once, ..PlayOptions::default() };
/// for _ in 0..32 {
///     mixer.player().fade_to(0, cheer, 0.5, &once)?;
///     mixer.advance(1.0 / 64.0)?;
/// }
/// assert_eq!(mixer.playing().action(0, cheer)?.weight, 1.0);
/// assert!(mixer.playing().action(0, walk).is_err());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Player<'a> {
    pub(crate) pool: &'a mut Pool,
    pub(crate) index: usize,
}

impl Pool {
    /// The state of a layer, and the index of the action that plays a motion on it.
    pub(crate) fn find_action(
        &self,
        index: usize,
        layer: usize,
        motion: Playable,
    ) -> Result<(LayerState, usize), PlaybackError> {
        self.check_layer(layer)?;
        let source = self.source(motion)?;
        let state = self.layer(index, layer);
        let none = || self.not_playing(motion, layer);
        let found = state.find(source).ok_or_else(none)?;
        Ok((state, found))
    }

    /// Checks that a motion plays on a layer.
    pub(crate) fn check_plays(
        &self,
        index: usize,
        layer: usize,
        motion: Playable,
    ) -> Result<(), PlaybackError> {
        self.check_layer(layer)?;
        let source = self.source(motion)?;
        let mut actions = self.state.entries().actions(self.entry(index, layer));
        let plays = actions.any(|a| a.source() == source);
        plays.then_some(()).ok_or_else(|| self.not_playing(motion, layer))
    }

    pub(super) fn not_playing(&self, motion: Playable, layer: usize) -> PlaybackError {
        PlaybackError::NotPlaying { motion, name: self.name_of(motion), layer }
    }

    /// Changes the action that plays a motion on a layer, if there is one.
    pub(crate) fn change(
        &mut self,
        index: usize,
        layer: usize,
        motion: Playable,
        change: impl FnOnce(&mut LayerState, usize),
    ) {
        if let Ok((mut state, a)) = self.find_action(index, layer, motion) {
            let before = state;
            change(&mut state, a);
            self.replace_layer(index, layer, &before, &state);
        }
    }

    /// Checks the seconds of a fade.
    pub(crate) fn check_fade(seconds: f32) -> Result<(), PlaybackError> {
        check_seconds("seconds", seconds)
    }

    /// Checks the time of an action.
    pub(crate) fn check_time(time: f64) -> Result<(), PlaybackError> {
        check("time", time, -MAX_TIME, MAX_TIME)
    }

    pub(crate) fn check_options(
        &self,
        layer: usize,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        check_speed(options.speed)?;
        check("time", options.time, -MAX_TIME, MAX_TIME)?;
        check_seconds("fade_in", options.fade_in)?;
        check_repetitions(options.repetitions)?;
        check_parameter(options.parameter)?;
        self.check_weight("weight", layer, options.weight)
    }

    pub(crate) fn check_weight(
        &self,
        what: &'static str,
        layer: usize,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        let low = if self.layers[layer].additive { -1.0 } else { 0.0 };
        check(what, f64::from(weight), low, 1.0)
    }
}

pub(super) fn check_speed(speed: f32) -> Result<(), PlaybackError> {
    check("speed", f64::from(speed), -MAX_SPEED, MAX_SPEED)
}

pub(super) fn check_seconds(what: &'static str, seconds: f32) -> Result<(), PlaybackError> {
    check(what, f64::from(seconds), 0.0, MAX_TIME)
}

pub(super) fn check_repetitions(repetitions: Option<u32>) -> Result<(), PlaybackError> {
    let n = repetitions.map_or(1.0, f64::from);
    check("repetitions", n, 1.0, f64::from(u32::MAX))
}

impl Player<'_> {
    /// Checks a motion and its options. Returns the state of the layer and the resolved motion.
    pub(super) fn admit(
        &self,
        layer: usize,
        motion: Playable,
        options: &PlayOptions,
    ) -> Result<(LayerState, Source), PlaybackError> {
        let source = self.pool.check_motion(layer, motion)?;
        self.pool.check_options(layer, options)?;
        Ok((self.pool.layer(self.index, layer), source))
    }

    /// The state of a layer and the index of the action that plays a motion on it.
    pub(super) fn find(
        &self,
        layer: usize,
        motion: impl Into<Playable>,
    ) -> Result<(LayerState, usize), PlaybackError> {
        self.pool.find_action(self.index, layer, motion.into())
    }

    /// Stores the state of a layer, if it has changed.
    pub(super) fn store(&mut self, layer: usize, state: &LayerState) {
        self.pool.set_layer(self.index, layer, state);
    }

    /// Plays a motion alone on a layer: [`fade_to`](Self::fade_to) over the seconds of `options.fade_in`.
    ///
    /// # Errors
    /// As for [`fade_to`](Self::fade_to).
    pub fn play(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        self.fade_to(layer, motion, options.fade_in, options)
    }

    /// Fades to a motion over `seconds`. The other actions of the layer fade out from their present weights.
    ///
    /// A motion that already plays goes on, by [the table](Player#what-a-call-does-to-what-plays). `options.fade_in` is
    /// not used, but must be valid. If the layer is full, the action with the lowest weight is evicted.
    ///
    /// # Errors
    /// If the layer or clip is unknown, the clip's kind is not the layer's, or a number is out of range.
    pub fn fade_to(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        self.play_alone(layer, motion.into(), seconds, options, Entrance::Continue)
    }

    /// Starts a motion at `options.time`, whether it plays or not, and fades out the other actions of the layer.
    ///
    /// # Errors
    /// As for [`fade_to`](Self::fade_to).
    pub fn restart(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let seconds = options.fade_in;
        self.play_alone(layer, motion.into(), seconds, options, Entrance::Restart)
    }

    /// Plays a motion in addition to the other actions of a layer, without eviction: for weighted sets of actions.
    ///
    /// A motion that already plays goes on, by [the table](Player#what-a-call-does-to-what-plays).
    ///
    /// # Errors
    /// As for [`fade_to`](Self::fade_to), or if the layer plays [`ACTIONS_PER_LAYER`] other actions.
    pub fn add(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        let (mut state, source) = self.admit(layer, motion.into(), options)?;
        if state.find(source).is_none() && state.len() == ACTIONS_PER_LAYER {
            return Err(PlaybackError::Limit {
                what: "actions of one layer",
                count: ACTIONS_PER_LAYER + 1,
                limit: ACTIONS_PER_LAYER,
            });
        }
        let seconds = options.fade_in;
        self.enter(&mut state, source, seconds, options, Entrance::Continue);
        self.store(layer, &state);
        Ok(())
    }

    /// Fades the weight of an action to a target over `seconds`. At weight 0 the action keeps playing.
    ///
    /// A running fade to the same weight that ends sooner continues. An action that was fading out no longer stops at
    /// the end of its fade.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or a number is out of range.
    pub fn fade(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        weight: f32,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        self.pool.check_weight("weight", layer, weight)?;
        check_seconds("seconds", seconds)?;
        state.fade(a, weight, seconds);
        self.store(layer, &state);
        Ok(())
    }

    /// Fades an action out over `seconds`, then stops it. With 0 seconds, or at weight 0, it stops at once. A running
    /// fade to 0 that ends sooner is kept, and the action stops at its end.
    ///
    /// # Errors
    /// If the motion does not play on the layer, or `seconds` is not within 0 to [`MAX_TIME`](super::MAX_TIME).
    pub fn stop(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        seconds: f32,
    ) -> Result<(), PlaybackError> {
        let (mut state, a) = self.find(layer, motion)?;
        check_seconds("seconds", seconds)?;
        state.end(a, seconds);
        self.store(layer, &state);
        Ok(())
    }

    /// [Stops](Self::stop) all actions of a layer over `seconds`.
    ///
    /// # Errors
    /// If the layer is unknown, or `seconds` is not within 0 to [`MAX_TIME`](super::MAX_TIME).
    pub fn stop_layer(&mut self, layer: usize, seconds: f32) -> Result<(), PlaybackError> {
        self.pool.check_layer(layer)?;
        check_seconds("seconds", seconds)?;
        let mut state = self.pool.layer(self.index, layer);
        state.end_all(seconds, |_| true);
        self.store(layer, &state);
        Ok(())
    }

    /// [Stops](Self::stop) all actions of all layers over `seconds`.
    ///
    /// # Errors
    /// If `seconds` is not within 0 to [`MAX_TIME`](super::MAX_TIME).
    pub fn stop_all(&mut self, seconds: f32) -> Result<(), PlaybackError> {
        check_seconds("seconds", seconds)?;
        (0..self.pool.layers.len()).try_for_each(|layer| self.stop_layer(layer, seconds))
    }

    /// Reads what the character plays.
    pub fn playing(&self) -> Playing<'_> {
        Playing { pool: self.pool, index: self.index }
    }
}
