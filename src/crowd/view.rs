//! `RigView`: all instances of a rig at once, as arrays and iterators. Nothing is copied or allocated.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::pool::Pool;
use crate::playback::{InstanceId, PlaybackError as CrowdError, Playing, RigId};

/// The instances of a rig and what they play, from [`Crowd::view`].
///
/// The arrays are indexed by [`InstanceId::index`]; their length is the largest number of instances that were alive at
/// once. They have entries for instances that are gone, too: their [`alive`](Self::alive) is false, and their other values
/// are unspecified.
///
/// ```
/// use phalanx::crowd::{Crowd, PlayOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "gltf")] {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let walk = crowd.clip_named(rig, "Walk")?;
/// let character = crowd.spawn(rig)?;
/// crowd.play(character, walk, &PlayOptions::default())?;
/// let view = crowd.view(rig)?;
/// assert_eq!(view.worlds[character.index()], *crowd.world(character)?);
/// for (instance, playing) in view.playing() {
///     for (motion, state) in playing.actions(0)? {
///         assert_eq!((instance, motion), (character, walk.into()));
///         assert_eq!(state.weight, 1.0);
///     }
/// }
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RigView<'a> {
    /// Whether each instance is alive.
    pub alive: &'a [bool],
    /// Whether each instance is [visible](Crowd::set_visible).
    pub visible: &'a [bool],
    /// Whether each instance is [scheduled](Crowd::set_scheduled).
    pub scheduled: &'a [bool],
    /// The world transform of each instance.
    pub worlds: &'a [Affine3x4],
    /// The speed of each instance: a factor on the speed of its layers.
    pub speeds: &'a [f32],
    pool: &'a Pool,
}

impl Crowd {
    /// All instances of a rig, to be read as arrays.
    pub fn view(&self, rig: RigId) -> Result<RigView<'_>, CrowdError> {
        let pool = self.pool(rig)?;
        let state = pool.state();
        Ok(RigView {
            alive: state.alive(),
            visible: state.visible(),
            scheduled: pool.scheduled().all(),
            worlds: state.worlds(),
            speeds: state.speeds(),
            pool,
        })
    }
}

impl<'a> RigView<'a> {
    /// The instances that are alive, by index.
    pub fn instances(self) -> impl Iterator<Item = InstanceId> + use<'a> {
        self.pool.instances()
    }

    /// The playback of each instance that is alive, by index.
    pub fn playing(self) -> impl Iterator<Item = (InstanceId, Playing<'a>)> + use<'a> {
        let pool = self.pool;
        self.instances().map(move |id| (id, Playing { pool, index: id.index() }))
    }
}
