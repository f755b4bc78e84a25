//! The actions of a mixer: a motion on a layer with options of its own, playing or not.

use super::error::PlaybackError;
use super::ids::{ActionId, Playable};
use super::mixer::Mixer;
use super::options::PlayOptions;
use super::playing::ActionState;
use super::unknown::Unknown;

/// What a mixer stores of an action, playing or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remembered {
    pub layer: usize,
    pub motion: Playable,
    pub options: PlayOptions,
}

impl Mixer {
    pub(super) fn remembered(&self, id: ActionId) -> Result<Remembered, PlaybackError> {
        let found = self.actions.find(id.index, id.generation).copied();
        let why = match id.mixer == self.id {
            true => Unknown::Gone,
            false => Unknown::OtherMixer,
        };
        found
            .filter(|_| id.mixer == self.id)
            .ok_or(PlaybackError::UnknownAction { action: id, why })
    }
}

/// An action of a mixer: the verbs of a [`Player`](super::Player), for one motion on one layer, with options that the
/// action keeps.
///
/// | call | is |
/// |---|---|
/// | [`play()`](Self::play) | `player().play(layer, motion, &options)` |
/// | [`fade_to(seconds)`](Self::fade_to) | `player().fade_to(layer, motion, seconds, &options)` |
/// | [`restart()`](Self::restart) | `player().restart(layer, motion, &options)` |
/// | [`add()`](Self::add) | `player().add(layer, motion, &options)` |
/// | [`stop(seconds)`](Self::stop) | `player().stop(layer, motion, seconds)` |
///
/// All that changes a playing action alone is on [`Mixer::player`]. The calls chain. A call that fails changes
/// nothing.
#[derive(Debug)]
pub struct ActionMut<'a> {
    pub(super) mixer: &'a mut Mixer,
    pub(super) id: ActionId,
}

impl ActionMut<'_> {
    /// The handle of the action.
    pub fn id(&self) -> ActionId {
        self.id
    }

    /// The options that the next call plays with.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn options(&self) -> Result<PlayOptions, PlaybackError> {
        Ok(self.own()?.options)
    }

    /// Sets the options that the next call plays with. What plays is not changed until then.
    ///
    /// # Errors
    /// If an option is out of range.
    pub fn set_options(self, options: &PlayOptions) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer.pool.check_options(own.layer, options)?;
        let ActionId {
            index, generation, ..
        } = self.id;
        if let Some(remembered) = self.mixer.actions.find_mut(index, generation) {
            remembered.options = *options;
        }
        Ok(self)
    }

    /// [`Player::play`](super::Player::play) with the action's options.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn play(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        let mut player = self.mixer.player();
        player.play(own.layer, own.motion, &own.options)?;
        Ok(self)
    }

    /// [`Player::fade_to`](super::Player::fade_to) with the action's options.
    ///
    /// # Errors
    /// If `seconds` is negative or not finite.
    pub fn fade_to(self, seconds: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        let mut player = self.mixer.player();
        player.fade_to(own.layer, own.motion, seconds, &own.options)?;
        Ok(self)
    }

    /// [`Player::restart`](super::Player::restart) with the action's options.
    ///
    /// # Errors
    /// None with a valid handle.
    pub fn restart(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        let mut player = self.mixer.player();
        player.restart(own.layer, own.motion, &own.options)?;
        Ok(self)
    }

    /// [`Player::add`](super::Player::add) with the action's options.
    ///
    /// # Errors
    /// If the layer is full.
    pub fn add(self) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        let mut player = self.mixer.player();
        player.add(own.layer, own.motion, &own.options)?;
        Ok(self)
    }

    /// [`Player::stop`](super::Player::stop): fades the action out over `seconds`, then stops it.
    ///
    /// # Errors
    /// If the action does not play, or `seconds` is negative or not finite.
    pub fn stop(self, seconds: f32) -> Result<Self, PlaybackError> {
        let own = self.own()?;
        self.mixer.player().stop(own.layer, own.motion, seconds)?;
        Ok(self)
    }

    /// The state of the action; `None` if it does not play.
    pub fn state(&self) -> Option<ActionState> {
        let own = self.own().ok()?;
        self.mixer.playing().action(own.layer, own.motion).ok()
    }

    fn own(&self) -> Result<Remembered, PlaybackError> {
        self.mixer.remembered(self.id)
    }
}
