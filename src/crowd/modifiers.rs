//! Modifiers of a crowd's rigs, and targets of many instances.

use super::bulk::{Values, check_weight};
use super::crowd_data::Crowd;
#[cfg(doc)]
use crate::playback::Player;
use crate::playback::{
    InstanceId, Modifier, ModifierId, PlaybackError as CrowdError, RigId, Target,
};

impl Crowd {
    /// Adds a modifier to a rig: from then on its instances can have [targets](Player::set_target) and
    /// [weights](Player::fade_modifier) for it. Modifiers run in the order of their indices; one that was removed leaves
    /// its index to the next.
    ///
    /// # Errors
    /// If the rig is unknown, has [`MAX_MODIFIERS`](crate::playback::MAX_MODIFIERS) already, or the modifier does not
    /// fit its skeleton; the error names the joints.
    pub fn add_modifier(
        &mut self,
        rig: RigId,
        modifier: impl Into<Modifier>,
    ) -> Result<ModifierId, CrowdError> {
        self.pool_mut(rig)?.add_modifier(&modifier.into())
    }

    /// Removes a modifier with the inputs of all instances; its handle becomes stale.
    ///
    /// # Errors
    /// If the modifier is unknown.
    pub fn remove_modifier(&mut self, modifier: ModifierId) -> Result<(), CrowdError> {
        let rig = self.rig_of_modifier(modifier)?;
        self.pool_mut(rig)?.remove_modifier(modifier)
    }

    /// Sets the targets of a modifier and its weights for many instances: [`Player::set_target`], then
    /// [`Player::fade_modifier`] over 0 seconds. `targets` and `weights` have one value for all instances or one for
    /// each; if `weights` is empty, weights and their fades stay. All is checked first.
    ///
    /// # Errors
    /// If an array has another length, the modifier or an instance is unknown, an instance is of another rig, or a
    /// target or weight is refused; the error names the element. Nothing is changed then.
    pub fn set_targets(
        &mut self,
        modifier: ModifierId,
        instances: &[InstanceId],
        targets: &[Target],
        weights: &[f32],
    ) -> Result<(), CrowdError> {
        if instances.is_empty() {
            let rig = self.rig_of_modifier(modifier)?;
            return self.pool(rig)?.library().target_modifier(modifier).map(|_| ());
        }
        let targets = Values::new("targets", targets, instances)?;
        let weights = Values::weights(weights, instances)?;
        self.check(instances, |e| {
            if e.first {
                e.pool.library().target_modifier(modifier)?;
            }
            if targets.differs(e.first) {
                targets.of(e.element).check(e.pool.rig().skeleton())?;
            }
            check_weight(weights, e.element)
        })?;
        let rig = self.rig_of_modifier(modifier)?;
        let number = self.pool(rig)?.library().modifier(modifier)?;
        self.each(instances, |pool, index, element| {
            pool.set_target(index, number, targets.of(element));
            if let Some(weights) = weights {
                pool.fade_modifier(index, number, weights.of(element), 0.0);
            }
        });
        Ok(())
    }

    /// The rig of a modifier, if the crowd has it.
    pub(super) fn rig_of_modifier(&self, modifier: ModifierId) -> Result<RigId, CrowdError> {
        let unknown = |why| CrowdError::UnknownModifier { modifier, why, rig: String::new() };
        self.known_rig(modifier.rig()).map_err(unknown)
    }
}
