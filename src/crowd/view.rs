//! `RigView`: all instances of a rig at once, as arrays and iterators. Nothing is copied or allocated.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::pool::Pool;
use crate::playback::{
    ActionState, InstanceId, Playable, PlaybackError as CrowdError, Playing, RigId,
};

/// The instances of a rig and what they play, from [`Crowd::view`].
///
/// The arrays are indexed by [`InstanceId::index`]. They have entries for instances that are gone, too: their
/// [`alive`](Self::alive) is false, and their other values are unspecified.
///
/// ```
/// use phalanx::crowd::{Crowd, PlayOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "gltf")] {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let walk = crowd.find_clip(rig, "Walk").ok_or("no such clip")?;
/// let character = crowd.spawn(rig)?;
/// crowd.play(character, walk, &PlayOptions::default())?;
/// let view = crowd.view(rig)?;
/// assert_eq!(view.worlds()[character.index()], *crowd.world(character)?);
/// for action in view.actions() {
///     assert_eq!((action.instance, action.motion), (character, walk.into()));
///     assert_eq!(action.state.weight, 1.0);
/// }
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RigView<'a> {
    pool: &'a Pool,
}

/// An action of an instance, from [`RigView::actions`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayingAction {
    /// The instance.
    pub instance: InstanceId,
    /// Index of the layer that the action plays on.
    pub layer: usize,
    /// The clip or blend space that the action plays.
    pub motion: Playable,
    /// Time, weight, fade and speed, now.
    pub state: ActionState,
}

impl Crowd {
    /// All instances of a rig, to be read as arrays.
    ///
    /// # Errors
    /// If the rig is unknown.
    pub fn view(&self, rig: RigId) -> Result<RigView<'_>, CrowdError> {
        let pool = self.pool(rig)?;
        Ok(RigView { pool })
    }
}

impl<'a> RigView<'a> {
    /// The length of the arrays: the largest number of instances that were alive at once.
    pub fn len(self) -> usize {
        self.pool.state().len()
    }

    /// Whether the rig never had an instance.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether each instance is alive.
    pub fn alive(self) -> &'a [bool] {
        self.pool.state().alive()
    }

    /// Whether each instance is [visible](Crowd::set_visible).
    pub fn visible(self) -> &'a [bool] {
        self.pool.state().visible()
    }

    /// Whether each instance is [scheduled](Crowd::set_scheduled).
    pub fn scheduled(self) -> &'a [bool] {
        self.pool.scheduled().all()
    }

    /// The world transform of each instance.
    pub fn worlds(self) -> &'a [Affine3x4] {
        self.pool.state().worlds()
    }

    /// The speed of each instance: a factor on the speed of its layers.
    pub fn speeds(self) -> &'a [f32] {
        self.pool.state().speeds()
    }

    /// The instances that are alive, by index.
    pub fn instances(self) -> impl Iterator<Item = InstanceId> + use<'a> {
        let alive = self.alive().iter().enumerate().filter(|a| *a.1);
        alive.map(move |(index, _)| self.pool.instance_id(index))
    }

    /// The playback of each instance that is alive, by index.
    pub fn playing(self) -> impl Iterator<Item = (InstanceId, Playing<'a>)> + use<'a> {
        let Self { pool } = self;
        self.instances().map(move |instance| {
            let index = instance.index();
            (instance, Playing { pool, index })
        })
    }

    /// All actions: by instance, then by layer, within a layer oldest first.
    pub fn actions(self) -> impl Iterator<Item = PlayingAction> + use<'a> {
        let layers = self.pool.library().layers().len();
        self.playing().flat_map(move |(instance, playing)| {
            (0..layers).flat_map(move |layer| {
                let actions = playing.actions(layer).into_iter().flatten();
                actions.map(move |(motion, state)| PlayingAction { instance, layer, motion, state })
            })
        })
    }
}
