//! Playing on instances: clips, fades, speeds, transforms. Every call checks first.

use super::actions::{ACTIONS_PER_LAYER, NO_CLIP, PlayOptions, rate};
use super::crowd_data::{Crowd, MAX_TIME, check};
use super::error::CrowdError;
use super::ids::{ClipId, InstanceId};
use crate::math::Affine3x4;

/// The largest speed factor, either sign.
const MAX_SPEED: f64 = 1.0e6;

fn check_options(options: &PlayOptions, additive: bool) -> Result<(), CrowdError> {
    check("speed", f64::from(options.speed), -MAX_SPEED, MAX_SPEED)?;
    check("time", options.time, -MAX_TIME, MAX_TIME)?;
    let low = if additive { -1.0 } else { 0.0 };
    check("weight", f64::from(options.weight), low, 1.0)
}

impl Crowd {
    /// Plays a clip on the first layer, at once and alone.
    ///
    /// # Errors
    /// If the instance or clip is unknown, the clip's kind is not the layer's, or an option is out
    /// of range.
    pub fn play(
        &mut self,
        instance: InstanceId,
        clip: ClipId,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.fade_on(instance, 0, clip, 0.0, options)
    }

    /// Fades to a clip on the first layer over `seconds`; what plays fades out from the weights it
    /// has reached.
    ///
    /// # Errors
    /// Those of [`Crowd::play`], or if `seconds` is negative or not finite.
    pub fn fade_to(
        &mut self,
        instance: InstanceId,
        clip: ClipId,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        self.fade_on(instance, 0, clip, seconds, options)
    }

    /// Fades to a clip on any layer. A clip that already plays there goes on from its time and
    /// weight; if the layer is full, the action of least weight gives way
    /// (see [`Crowd::displaced`]).
    ///
    /// # Errors
    /// Those of [`Crowd::fade_to`], or if there is no such layer.
    pub fn fade_on(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let duration = Self::check_clip(pool, layer, clip)?;
        check_options(options, pool.layers[layer].additive)?;
        check("seconds", f64::from(seconds), 0.0, MAX_TIME)?;
        let entry = pool.entry(index, layer);
        let (pool, _) = self.instance_mut(instance)?;
        let actions = &mut pool.state.actions;
        let known = actions.find(entry, clip).filter(|_| seconds > 0.0);
        actions.fade_out(entry, seconds);
        if let Some(a) = known {
            let weight = actions.weight[entry][a];
            actions.target[entry][a] = options.weight;
            actions.fade[entry][a] = rate(options.weight - weight, seconds);
            actions.ending[entry][a] = false;
            actions.speed[entry][a] = f64::from(options.speed);
        } else if actions.start(entry, clip, duration, options, seconds) {
            pool.state.displaced += 1;
        }
        Ok(())
    }

    /// Adds a clip beside those that play on a layer, at once: for weighted sets of actions.
    ///
    /// # Errors
    /// Those of [`Crowd::fade_on`], or if the layer holds [`ACTIONS_PER_LAYER`] actions already.
    pub fn add_action(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
        options: &PlayOptions,
    ) -> Result<(), CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let duration = Self::check_clip(pool, layer, clip)?;
        check_options(options, pool.layers[layer].additive)?;
        let entry = pool.entry(index, layer);
        let playing = pool.state.actions.clip[entry].iter();
        if playing.filter(|&&c| c != NO_CLIP).count() == ACTIONS_PER_LAYER {
            return Err(CrowdError::Limit {
                what: "actions of one layer",
                count: ACTIONS_PER_LAYER + 1,
                limit: ACTIONS_PER_LAYER,
            });
        }
        let (pool, _) = self.instance_mut(instance)?;
        pool.state
            .actions
            .start(entry, clip, duration, options, 0.0);
        Ok(())
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
        let entry = self.entry(instance, layer)?;
        check("seconds", f64::from(seconds), 0.0, MAX_TIME)?;
        let (pool, _) = self.instance_mut(instance)?;
        pool.state.actions.fade_out(entry, seconds);
        Ok(())
    }

    /// Sets the speed of an instance: a factor on that of its actions.
    ///
    /// # Errors
    /// If the instance is unknown or the speed is not within ±1e6.
    pub fn set_speed(&mut self, instance: InstanceId, speed: f32) -> Result<(), CrowdError> {
        self.instance(instance)?;
        check("speed", f64::from(speed), -MAX_SPEED, MAX_SPEED)?;
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.speed[index] = speed;
        Ok(())
    }

    /// Puts a playing clip at a time, in seconds of unbounded time.
    ///
    /// # Errors
    /// If the instance or layer is unknown, the clip does not play there, or the time is not within
    /// ±[`MAX_TIME`].
    pub fn set_time(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
        time: f64,
    ) -> Result<(), CrowdError> {
        let (entry, a) = self.action(instance, layer, clip)?;
        check("time", time, -MAX_TIME, MAX_TIME)?;
        let (pool, _) = self.instance_mut(instance)?;
        pool.state.actions.seek(entry, a, time);
        Ok(())
    }

    /// Puts a playing clip at a phase: 0 is its start, 1 its end.
    ///
    /// # Errors
    /// Those of [`Crowd::set_time`].
    pub fn set_phase(
        &mut self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
        phase: f64,
    ) -> Result<(), CrowdError> {
        let (entry, a) = self.action(instance, layer, clip)?;
        let (pool, _) = self.instance(instance)?;
        let time = phase * pool.state.actions.duration[entry][a];
        self.set_time(instance, layer, clip, time)
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
        clip: ClipId,
        weight: f32,
    ) -> Result<(), CrowdError> {
        let (entry, a) = self.action(instance, layer, clip)?;
        let (pool, _) = self.instance(instance)?;
        let low = if pool.layers[layer].additive {
            -1.0
        } else {
            0.0
        };
        check("weight", f64::from(weight), low, 1.0)?;
        let (pool, _) = self.instance_mut(instance)?;
        let actions = &mut pool.state.actions;
        actions.weight[entry][a] = weight;
        actions.target[entry][a] = weight;
        actions.fade[entry][a] = 0.0;
        actions.ending[entry][a] = false;
        Ok(())
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
        let entry = self.entry(instance, layer)?;
        let (pool, _) = self.instance(instance)?;
        let low = if pool.layers[layer].additive {
            -1.0
        } else {
            0.0
        };
        check("layer weight", f64::from(weight), low, 1.0)?;
        let (pool, _) = self.instance_mut(instance)?;
        pool.state.layer_weight[entry] = weight;
        Ok(())
    }

    /// Sets where an instance stands: model space to world space. It does not change the palette.
    ///
    /// # Errors
    /// If the instance is unknown or the transform is not finite.
    pub fn set_world(
        &mut self,
        instance: InstanceId,
        world: impl Into<Affine3x4>,
    ) -> Result<(), CrowdError> {
        let world = world.into();
        self.instance(instance)?;
        if !world.is_finite() {
            return Err(CrowdError::Transform);
        }
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.world[index] = world;
        Ok(())
    }

    /// Shows or hides an instance: a hidden one keeps its time but is not evaluated and has no
    /// palette.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn set_visible(&mut self, instance: InstanceId, visible: bool) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.state.visible[index] = visible;
        Ok(())
    }

    fn entry(&self, instance: InstanceId, layer: usize) -> Result<usize, CrowdError> {
        let (pool, index) = self.instance(instance)?;
        let layers = pool.layers.len();
        if layer >= layers {
            return Err(CrowdError::UnknownLayer { layer, layers });
        }
        Ok(pool.entry(index, layer))
    }

    pub(crate) fn action(
        &self,
        instance: InstanceId,
        layer: usize,
        clip: ClipId,
    ) -> Result<(usize, usize), CrowdError> {
        let entry = self.entry(instance, layer)?;
        let (pool, _) = self.instance(instance)?;
        let found = pool.state.actions.find(entry, clip);
        // The place that means "nothing plays" is no clip.
        found
            .filter(|_| clip != NO_CLIP)
            .map(|a| (entry, a))
            .ok_or(CrowdError::UnknownClip { clip })
    }
}
