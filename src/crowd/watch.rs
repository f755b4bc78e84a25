//! Watched joints: model matrices that every evaluation stores, in addition to the palettes.

use super::crowd_data::Crowd;
use crate::evaluate::{Own, PoseStage, Watched};
use crate::math::Affine3x4;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use glam::DAffine3;

/// The watched joints of an instance: see [`Crowd::watch`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WatchedJoints<'a> {
    /// The joints, ascending.
    pub joints: &'a [u16],
    /// Model matrices of the joints, in the same order: joint space to model space.
    pub models: &'a [Affine3x4],
    /// True if the instance has not changed since it was evaluated: the crowd was not advanced, and no call has changed
    /// its actions, overrides, pose or targets.
    pub current: bool,
    /// The number of frames evaluated since the one that the matrices come from: 0 for the last frame. `None` if they
    /// come from no frame: the instance was not evaluated since the joints are watched (the matrices are then the
    /// identity), or [`Crowd::update_scene`] has evaluated it.
    pub age: Option<u64>,
    world: DAffine3,
}

impl<'a> WatchedJoints<'a> {
    /// World matrices of the joints, in the order of [`joints`](Self::joints): the instance's present world transform ×
    /// the model matrix, in f64. Each product is made when it is read.
    pub fn worlds(&self) -> impl ExactSizeIterator<Item = DAffine3> + 'a {
        let world = self.world;
        self.models.iter().map(move |model| world * DAffine3::from(*model))
    }

    /// The model matrix of a joint; `None` if it is not watched.
    pub fn model(&self, joint: usize) -> Option<&'a Affine3x4> {
        let joint = u16::try_from(joint).ok()?;
        self.models.get(self.joints.binary_search(&joint).ok()?)
    }
}

impl Crowd {
    /// Watches joints (indices, in any order) of all instances of a rig: every evaluation, into heap or device memory,
    /// keeps their model matrices as of a stage: before overrides and modifiers, or after them. The cost is one product per joint; with [tiers](Self::set_tiers), one more
    /// evaluation of each instance in the picture. Read the matrices by [`watched`](Self::watched). Palettes do not
    /// change.
    ///
    /// Calls are counted, by stage: a joint is watched until [`unwatch`](Self::unwatch) was called as often as `watch`.
    /// An instance without overrides and modifiers has the same matrices in both stages, but for rounding.
    ///
    /// ```
    /// use phalanx::crowd::{BoneBuffer, Crowd, PoseStage};
    ///
    /// # #[cfg(feature = "gltf")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let feet = ["LeftFoot", "RightFoot"].map(|name| crowd.rig(rig).unwrap().skeleton().joint(name).unwrap());
    /// let character = crowd.spawn(rig)?;
    /// crowd.watch(rig, &feet, PoseStage::After)?;
    /// crowd.evaluate(&mut BoneBuffer::new());
    /// let watched = crowd.watched(character, PoseStage::After)?;
    /// assert_eq!((watched.age, watched.models.len()), (Some(0), 2));
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "gltf"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// If the rig or a joint is unknown.
    pub fn watch(
        &mut self,
        rig: RigId,
        joints: &[usize],
        stage: PoseStage,
    ) -> Result<(), CrowdError> {
        // The next frame lays them out.
        let watched = self.watch_of(rig, joints)?;
        watched.watch(stage, joints.iter().map(|&joint| joint as u16));
        Ok(())
    }

    /// Takes back one [`watch`](Self::watch) of these joints as of a stage. Joints that are not watched are ignored.
    ///
    /// # Errors
    /// If the rig or a joint is unknown.
    pub fn unwatch(
        &mut self,
        rig: RigId,
        joints: &[usize],
        stage: PoseStage,
    ) -> Result<(), CrowdError> {
        let watched = self.watch_of(rig, joints)?;
        watched.unwatch(stage, joints.iter().map(|&joint| joint as u16));
        Ok(())
    }

    /// The joints of an instance that are watched as of a stage, from its last evaluation. An instance that is hidden or not scheduled keeps
    /// its matrices: see [`WatchedJoints::age`]. A joint has a matrix from the first evaluation after
    /// [`watch`](Self::watch) on.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn watched(
        &self,
        instance: InstanceId,
        stage: PoseStage,
    ) -> Result<WatchedJoints<'_>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let row = pool.watched().row(index);
        let of = row.map(|row| match stage {
            PoseStage::Before => row.before,
            PoseStage::After => row.shared(),
        });
        let (joints, models) = of.unwrap_or_default();
        Ok(WatchedJoints {
            joints,
            models,
            world: pool.state().world_wide(index),
            current: row.is_some_and(|row| row.current),
            age: row.and_then(|row| row.age),
        })
    }

    /// The watched joints of a rig that has these joints.
    fn watch_of(&mut self, rig: RigId, joints: &[usize]) -> Result<&mut Watched, CrowdError> {
        let pool = self.pool_mut(rig)?;
        for &joint in joints {
            pool.rig().skeleton().joint(joint)?;
        }
        Ok(pool.watched_mut())
    }

    /// Lays out the watched joints of each rig whose watched joints, mirrors or instances have changed.
    pub(super) fn lay_out_watched(&mut self) {
        let changed = std::mem::take(&mut self.mirrors.changed);
        for (number, pool) in self.pools.iter_mut().enumerate() {
            let Some(pool) = pool else { continue };
            if !changed && !pool.watched().is_stale() {
                continue;
            }
            let mut own = Vec::new();
            for m in self.mirrors.all() {
                let here = self.rigs.index(m.instance.rig()) == Some(number);
                if here && pool.state().knows(m.instance) {
                    own.push(Own { instance: m.instance.index(), joints: m.joints.clone() });
                }
            }
            pool.lay_out_watched(&own);
        }
    }
}
