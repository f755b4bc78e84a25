//! Feet of many instances: where they are, and the grounds that they stand on.

use super::bulk::{Values, check_weight};
use super::crowd_data::Crowd;
use crate::playback::pool::check_count;
#[cfg(doc)]
use crate::playback::{Feet, Player};
use crate::playback::{Ground, InstanceId, ModifierId, PlaybackError as CrowdError};
use glam::Vec3;

impl Crowd {
    /// The number of feet of [`Feet`].
    ///
    /// # Errors
    /// If the modifier is unknown or has no feet.
    pub fn foot_count(&self, modifier: ModifierId) -> Result<usize, CrowdError> {
        let pool = self.pool(self.rig_of_modifier(modifier)?)?;
        Ok(pool.library().feet(modifier)?.1.legs.len())
    }

    /// The world positions of the feet of [`Feet`], without the modifier: as animated in the last frame that evaluated
    /// the instance, moved by its present world transform. The call evaluates only instances that no frame has evaluated
    /// since they were spawned, or the crowd restored. `out` has one position per foot of the first instance, then of the
    /// second, and so on.
    ///
    /// # Errors
    /// If the modifier is unknown or has no feet, an instance is unknown or of another rig, or `out` does not have one
    /// element per instance and foot. Nothing is written then.
    pub fn foot_positions(
        &self,
        modifier: ModifierId,
        instances: &[InstanceId],
        out: &mut [Vec3],
    ) -> Result<(), CrowdError> {
        let rig = self.rig_of_modifier(modifier)?;
        let pool = self.pool(rig)?;
        let (_, feet) = pool.library().feet(modifier)?;
        self.check_instances(rig, feet.legs.len(), instances, out.len())?;
        for (instance, out) in instances.iter().zip(out.chunks_exact_mut(feet.legs.len())) {
            pool.last_feet(instance.index(), feet, out);
        }
        Ok(())
    }

    /// Sets the grounds of the feet of [`Feet`] and its weights for many instances: [`Player::set_grounds`], then
    /// [`Player::fade_modifier`] over 0 seconds. `grounds` has one ground per foot of the first instance, then of the
    /// second, and so on; `weights` one value for all instances or one for each; if it is empty, weights and their fades
    /// stay. All is checked first. Tiers show new grounds with their next updates.
    ///
    /// # Errors
    /// If an array has another length, the modifier is unknown or has no feet, an instance is unknown or of another rig,
    /// or a ground or weight is refused; the error names the instance's element. Nothing is changed then.
    pub fn set_grounds(
        &mut self,
        modifier: ModifierId,
        instances: &[InstanceId],
        grounds: &[Ground],
        weights: &[f32],
    ) -> Result<(), CrowdError> {
        let rig = self.rig_of_modifier(modifier)?;
        let (number, feet) = self.pool(rig)?.library().feet(modifier)?;
        check_count(grounds.len(), instances.len(), feet)?;
        if instances.is_empty() {
            return Ok(());
        }
        let count = feet.legs.len();
        let weights = Values::weights(weights, instances)?;
        let of = |element: usize| &grounds[element * count..(element + 1) * count];
        self.check(instances, |e| {
            if e.first {
                e.pool.library().feet(modifier)?;
            }
            e.pool.check_grounds(of(e.element))?;
            check_weight(weights, e.element)
        })?;
        self.each(instances, |pool, index, element| {
            pool.set_grounds(index, number, of(element));
            if let Some(weights) = weights {
                pool.fade_modifier(index, number, weights.of(element), 0.0);
            }
        });
        Ok(())
    }
}
