//! Playing on instances: the calls of [`Player`], by handle, and transforms and visibility.

use super::crowd_data::Crowd;
use crate::math::Affine3x4;
use crate::playback::{
    ClipId, InstanceId, Motion, PlayOptions, PlaybackError as CrowdError, Player, RigId,
};
use crate::skeleton::limits::{MAX_WORLD, beyond};

impl Crowd {
    /// An instance, to be played: all calls on layers and actions, those of a
    /// [`Mixer`](crate::playback::Mixer), too.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn player(&mut self, instance: InstanceId) -> Result<Player<'_>, CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        Ok(Player { pool, index })
    }

    /// Plays a clip alone on the first layer; what plays there fades out while it fades in.
    ///
    /// # Errors
    /// If the instance or clip is unknown, the clip's kind is not the layer's, or an option is out
    /// of range.
    pub fn play(
        &mut self,
        instance: InstanceId,
        clip: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.play(0, clip, options)
    }

    /// Fades to a clip on the first layer over `seconds`; what plays fades out from the weights it
    /// has reached.
    ///
    /// # Errors
    /// Those of [`Crowd::play`], or if `seconds` is negative or not finite.
    pub fn fade_to(
        &mut self,
        instance: InstanceId,
        clip: impl Into<Motion>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.fade_to(0, clip, seconds, options)
    }

    /// Fades to a clip on any layer: [`Player::fade_to`]. Of those that a full layer loses tells
    /// [`Crowd::evicted`].
    ///
    /// # Errors
    /// Those of [`Crowd::fade_to`], or if there is no such layer.
    pub fn fade_on(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: impl Into<Motion>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?
            .fade_to(layer, clip, seconds, options)
    }

    /// Adds a clip beside those that play on a layer, at once: [`Player::add`].
    ///
    /// # Errors
    /// Those of [`Crowd::fade_on`], or if the layer is full.
    pub fn add_action(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: impl Into<Motion>,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.add(layer, clip, options)
    }

    /// Fades out and stops all that plays on a layer; 0 seconds stops at once.
    ///
    /// # Errors
    /// If the instance or layer is unknown, or `seconds` is negative or not finite.
    pub fn stop(
        &mut self,
        instance: InstanceId,
        layer: usize,
        seconds: f32,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.stop_layer(layer, seconds)
    }

    /// Sets the speed of an instance: a factor on that of its layers.
    ///
    /// # Errors
    /// If the instance is unknown or the speed is not within ±1e6.
    pub fn set_speed(&mut self, instance: InstanceId, speed: f32) -> Result<(), CrowdError> {
        self.player(instance)?.set_character_speed(speed)
    }

    /// Puts a playing clip at a time, in seconds of unbounded time.
    ///
    /// # Errors
    /// If the instance or layer is unknown, the clip does not play there, or the time is not within
    /// ±[`MAX_TIME`](crate::playback::MAX_TIME).
    pub fn set_time(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: impl Into<Motion>,
        time: f64,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.set_time(layer, clip, time)
    }

    /// Puts a playing clip at a phase: 0 is its start, 1 its end.
    ///
    /// # Errors
    /// Those of [`Crowd::set_time`].
    pub fn set_phase(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: impl Into<Motion>,
        phase: f64,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.set_phase(layer, clip, phase)
    }

    /// Sets the weight of a playing clip; a fade of it ends.
    ///
    /// # Errors
    /// If the instance or layer is unknown, the clip does not play there, or the weight is outside
    /// [0, 1] (additive layers: [−1, 1]).
    pub fn set_weight(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: impl Into<Motion>,
        weight: f32,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.set_weight(layer, clip, weight)
    }

    /// Sets the weight of a layer of an instance.
    ///
    /// # Errors
    /// If the instance or layer is unknown, or the weight is outside [0, 1] (additive layers:
    /// [−1, 1]).
    pub fn set_layer_weight(
        &mut self,
        instance: InstanceId,
        layer: usize,
        weight: f32,
    ) -> Result<(), CrowdError> {
        self.player(instance)?.set_layer_weight(layer, weight)
    }

    /// The time of a playing clip in [0, duration], and its weight.
    ///
    /// # Errors
    /// If the instance or layer is unknown, or the clip does not play there.
    pub fn action_state(
        &self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
    ) -> Result<(f64, f32), CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let (entry, a) = pool.slot(index, layer, clip.into())?;
        let state = pool.action_state(entry, a);
        Ok((state.time, state.weight))
    }

    /// Sets where an instance stands: model space to world space. It does not change the palette.
    ///
    /// # Errors
    /// If the instance is unknown, or the transform is not finite or holds a number above
    /// [`MAX_WORLD`].
    pub fn set_world(
        &mut self,
        instance: InstanceId,
        world: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        let world = world.into();
        let (pool, index) = self.instance_mut(instance)?;
        if !world.is_finite() {
            return Err(CrowdError::Transform);
        }
        beyond("the world transform", world.rows.as_flattened(), MAX_WORLD)?;
        pool.set_world(index, world);
        Ok(())
    }

    /// Whether the root motion of a rig's instances moves their world transforms (off at first). They
    /// are then kept in f64, so that many small steps do not drift.
    ///
    /// # Errors
    /// If the rig is unknown.
    pub fn apply_root_motion(&mut self, rig: RigId, apply: bool) -> Result<(), CrowdError> {
        self.pool_mut(rig)?.apply_roots(apply);
        Ok(())
    }

    /// Schedules an instance for evaluation in the next frames, as it is at first, or not. An instance that is
    /// not scheduled keeps last frame's palette, which costs nothing; its time, events and root motion
    /// continue. Meant for characters out of sight or far away. An instance without rows is evaluated in any
    /// case.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn set_scheduled(
        &mut self,
        instance: InstanceId,
        scheduled: bool,
    ) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.places.set_due(index, scheduled);
        Ok(())
    }

    /// Shows or hides an instance: a hidden one keeps its time but is not evaluated and has no
    /// palette.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn set_visible(&mut self, instance: InstanceId, visible: bool) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        if pool.state.visible[index] != visible {
            pool.state.visible[index] = visible;
            pool.places.unsettle();
        }
        Ok(())
    }
}
