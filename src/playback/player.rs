//! `Player`: the layers and actions of one character, of a mixer or a crowd. Every call validates before it changes
//! anything.

use super::error::PlaybackError;
use super::ids::{Playable, Source};
use super::layer_state::{ACTIONS_PER_LAYER, Entrance, LayerState};
use super::library::Library;
use super::options::{PlayOptions, check_seconds};
use super::playing::Playing;
use super::pool::Pool;

/// The layers and actions of one character: of a [`Mixer`](super::Mixer), or of an instance of a
/// [`Crowd`](crate::crowd::Crowd).
///
/// An action is identified by its layer and the clip or blend space that it plays, its motion. A call that fails
/// changes nothing. Calls fail for a layer, joint, clip or blend space that is [unknown](PlaybackError::UnknownClip),
/// calls on an action for one that [does not play](PlaybackError::NotPlaying), and all for a number
/// [out of its range](PlaybackError::Value); seconds of fades are within 0 to [`MAX_TIME`](super::MAX_TIME).
/// [`playing`](Self::playing) reads.
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
///   lowest weight for another. Its part in the pose becomes an offset that decays over `s`, as of an
///   [inertial fade](super::FadeKind::Inertial), so that the pose does not jump; but on an additive layer, or if there is no
///   room for offsets. With [`Fill::Below`](super::Fill::Below) `m` then begins at its weight, not at 0. A layer that no longer plays anything, and one that plays something else at once, has no offset.
///
/// ```
/// use phalanx::playback::{LoopMode, Mixer, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let [walk, cheer] = ["Walk", "Cheer"].map(|name| mixer.clip_named(name).unwrap());
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

impl Player<'_> {
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
        let source = self.pool.library().check_play(layer, motion.into(), options)?;
        check_seconds("seconds", seconds)?;
        self.play_source(layer, source, seconds, options, Entrance::Continue);
        Ok(())
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
        let source = self.pool.library().check_play(layer, motion.into(), options)?;
        self.play_source(layer, source, options.fade_in, options, Entrance::Restart);
        Ok(())
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
        let source = self.pool.library().check_play(layer, motion.into(), options)?;
        let before = self.pool.layer(self.index, layer);
        if before.find(source).is_none() && before.len() == ACTIONS_PER_LAYER {
            return Err(PlaybackError::Limit {
                what: "actions of one layer",
                count: ACTIONS_PER_LAYER + 1,
                limit: ACTIONS_PER_LAYER,
            });
        }
        let (mut state, library) = (before, self.pool.library());
        state.enter(library, source, options.fade_in, options, Entrance::Continue);
        self.pool.store(self.index, layer, &before, &state);
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
        self.change(layer, motion, |library, state, a| {
            library.check_weight("weight", layer, weight)?;
            check_seconds("seconds", seconds)?;
            state.fade(a, weight, seconds);
            Ok(())
        })
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
        self.change(layer, motion, |_, state, a| {
            check_seconds("seconds", seconds)?;
            state.end(a, seconds);
            Ok(())
        })
    }

    /// [Stops](Self::stop) all actions of a layer over `seconds`.
    ///
    /// # Errors
    /// If the layer is unknown, or `seconds` is not within 0 to [`MAX_TIME`](super::MAX_TIME).
    pub fn stop_layer(&mut self, layer: usize, seconds: f32) -> Result<(), PlaybackError> {
        self.pool.library().check_layer(layer)?;
        check_seconds("seconds", seconds)?;
        self.change_layer(layer, |state| state.end_all(seconds, |_| true));
        Ok(())
    }

    /// [Stops](Self::stop) all actions of all layers over `seconds`.
    ///
    /// # Errors
    /// If `seconds` is not within 0 to [`MAX_TIME`](super::MAX_TIME).
    pub fn stop_all(&mut self, seconds: f32) -> Result<(), PlaybackError> {
        check_seconds("seconds", seconds)?;
        (0..self.playing().layers()).try_for_each(|layer| self.stop_layer(layer, seconds))
    }

    /// Reads what the character plays.
    pub fn playing(&self) -> Playing<'_> {
        Playing { pool: self.pool, index: self.index }
    }

    /// As [`play`](Self::play), with arguments that have been checked.
    pub(crate) fn play_checked(&mut self, layer: usize, motion: Playable, options: &PlayOptions) {
        if let Ok(source) = self.pool.library().source(motion) {
            self.play_source(layer, source, options.fade_in, options, Entrance::Continue);
        }
    }

    /// Plays a motion alone on a layer, over `seconds`.
    fn play_source(
        &mut self,
        layer: usize,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) {
        let before = self.pool.layer(self.index, layer);
        let mut state = before;
        if state.play(self.pool.library(), source, seconds, options, entrance) {
            self.pool.evict((self.index, layer), &before, &mut state, seconds);
        }
        self.pool.store(self.index, layer, &before, &state);
    }

    /// Changes the action that plays a motion on a layer.
    pub(super) fn change(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
        change: impl FnOnce(&Library, &mut LayerState, usize) -> Result<(), PlaybackError>,
    ) -> Result<(), PlaybackError> {
        self.pool.change(self.index, layer, motion.into(), change)
    }

    /// Changes the state of a layer.
    pub(super) fn change_layer(&mut self, layer: usize, change: impl FnOnce(&mut LayerState)) {
        let before = self.pool.layer(self.index, layer);
        let mut state = before;
        change(&mut state);
        self.pool.store(self.index, layer, &before, &state);
    }
}
