//! Calls on one instance: its player, transform, scheduling and visibility.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::pool::Pool;
use crate::playback::{
    EventKinds, InstanceId, PlayOptions, Playable, PlaybackError as CrowdError, Player, Playing,
    RigId,
};
use crate::skeleton::limits::{Beyond, MAX_WORLD, beyond};
use crate::words::shorten;

impl Crowd {
    /// All calls on the layers and actions of an instance.
    pub fn player(&mut self, instance: InstanceId) -> Result<Player<'_>, CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        Ok(Player { pool, index })
    }

    /// Reads what an instance plays.
    pub fn playing(&self, instance: InstanceId) -> Result<Playing<'_>, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        Ok(Playing { pool, index })
    }

    /// Plays a motion alone on the first layer of an instance: [`Player::play`].
    ///
    /// # Errors
    /// If the instance is unknown, or for a reason that [`Player::play`] lists.
    pub fn play(
        &mut self,
        instance: InstanceId,
        motion: impl Into<Playable>,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.play(0, motion, options)
    }

    /// Fades to a motion on the first layer of an instance over `seconds`: [`Player::fade_to`].
    ///
    /// # Errors
    /// If the instance is unknown, or for a reason that [`Player::fade_to`] lists.
    pub fn fade_to(
        &mut self,
        instance: InstanceId,
        motion: impl Into<Playable>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.fade_to(0, motion, seconds, options)
    }

    /// Sets the world transform of an instance: model space to world space. The palette does not change.
    ///
    /// # Errors
    /// If the instance is unknown, or the transform is not finite or holds a number above [`MAX_WORLD`].
    pub fn set_world(
        &mut self,
        instance: InstanceId,
        world: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        let world = world.into();
        let (pool, index) = self.instance_mut(instance)?;
        check_world(pool, instance, &world)?;
        pool.set_world(index, world);
        Ok(())
    }

    /// [`set_world`](Self::set_world) for an instance that is elsewhere at once: its springs start at rest.
    ///
    /// # Errors
    /// As for [`set_world`](Self::set_world).
    pub fn teleport(
        &mut self,
        instance: InstanceId,
        world: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        self.set_world(instance, world)?;
        self.player(instance)?.rest_springs();
        Ok(())
    }

    /// Sets whether the root motion of a rig's instances moves their world transforms. Default false. While it does,
    /// the transforms are kept in f64, so that many small steps do not drift.
    ///
    /// # Errors
    /// If the rig is unknown, or `apply` is true and no loaded clip of the rig has root motion.
    pub fn apply_root_motion(&mut self, rig: RigId, apply: bool) -> Result<(), CrowdError> {
        let pool = self.pool_mut(rig)?;
        if apply && pool.roots().lane.is_none() {
            let name = shorten(pool.rig().name());
            return Err(CrowdError::NoRootMotion { rig, name });
        }
        pool.apply_roots(apply);
        Ok(())
    }

    /// Sets whether each [`advance`](Self::advance) computes the root motion of a rig's instances, for
    /// [`root_motion`](Self::root_motion). Default true. If the rig has root motion, every step then visits every
    /// instance; when it is neither tracked nor [applied](Self::apply_root_motion), an instance costs nothing until
    /// something happens to it. Snapshots do not contain this setting.
    pub fn track_root_motion(&mut self, rig: RigId, track: bool) -> Result<(), CrowdError> {
        self.pool_mut(rig)?.roots_mut().tracks = track;
        Ok(())
    }

    /// Sets which kinds of events [`events`](Self::events) collects for a rig's instances. Default [`EventKinds::ALL`].
    ///
    /// Other kinds cost nothing: between fades and ends, an action that loops is not visited. Times, fades, poses and
    /// root motion have the same bits with every filter. Snapshots do not contain this setting.
    pub fn set_event_filter(&mut self, rig: RigId, kinds: EventKinds) -> Result<(), CrowdError> {
        self.pool_mut(rig)?.set_event_filter(kinds);
        Ok(())
    }

    /// Sets whether an instance is evaluated in the next frames. Default true.
    ///
    /// An instance that is not scheduled keeps last frame's palette, which costs nothing; its time, events and root
    /// motion continue. Meant for characters out of sight or far away. An instance without rows is evaluated in any
    /// case.
    pub fn set_scheduled(
        &mut self,
        instance: InstanceId,
        scheduled: bool,
    ) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.set_scheduled(index, scheduled);
        Ok(())
    }

    /// Shows or hides an instance: a hidden one keeps its time but is not evaluated and has no palette.
    pub fn set_visible(&mut self, instance: InstanceId, visible: bool) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.set_visible(index, visible);
        Ok(())
    }
}

/// Checks that a world transform is finite and within its limit.
pub(super) fn check_world(
    pool: &Pool,
    instance: InstanceId,
    world: &Affine3x4,
) -> Result<(), CrowdError> {
    let checked = beyond("", world.rows.as_flattened(), MAX_WORLD);
    checked.map_err(|Beyond { value, limit, .. }| {
        let rig = shorten(pool.rig().name());
        CrowdError::Beyond { instance, rig, value, limit }
    })
}
