//! The inputs of modifiers in the state of instances.

use super::{State, stands_still};
use crate::math::Affine3x4;
use crate::playback::inputs::Input;
use crate::playback::library::Library;
use crate::skeleton::Skeleton;

impl State {
    /// Whether all targets are possible for the skeleton and the modifiers of a library.
    pub fn inputs_fit(&self, library: &Library) -> bool {
        let all = |index| self.inputs.all(index).iter().map(move |input| (index, input));
        (0..self.len()).flat_map(all).all(|(index, input)| {
            let by = library.modifiers().get(input.modifier.into());
            // The weight of a pose is no modifier's.
            let slots = by.and_then(|by| by.feet()).map_or(1, |feet| feet.legs.len());
            let springs = by.and_then(|by| by.springs());
            let springs = springs.filter(|_| self.inputs.active(index) >> input.modifier & 1 == 1);
            let tails = self.inputs.springs().get(index, input.modifier);
            let swings = match (springs, &tails) {
                (Some(springs), Some(tails)) => springs.fits(tails),
                (springs, tails) => springs.is_none() && tails.is_none(),
            };
            let fits = input.target.check(library.rig().skeleton()).is_ok();
            swings && usize::from(input.slot) < slots && fits
        })
    }

    /// Whether all poses are possible for a skeleton.
    pub fn poses_fit(&self, skeleton: &Skeleton) -> bool {
        let mut all = (0..self.len()).map(|index| self.inputs.pose(index));
        all.all(|pose| pose.is_empty() || crate::playback::poses::fits(pose, skeleton))
    }

    /// Advances the weights of modifiers: see [`Inputs::advance`].
    pub fn advance_inputs(&mut self, seconds: f64, ended: impl FnMut(usize)) {
        let Self { inputs, speed, .. } = self;
        inputs.advance(seconds, |index| stands_still(speed[index]), ended);
    }

    /// Calls `step` with the input of every instance for which a modifier is active and that does not stand still, and with
    /// its world transform.
    pub fn step_inputs(&mut self, modifier: u8, mut step: impl FnMut(&mut Input, &Affine3x4)) {
        let Self { inputs, speed, world, .. } = self;
        inputs.each_active(modifier, |index, input| {
            if !stands_still(speed[index]) {
                step(input, &world[index]);
            }
        });
    }
}
