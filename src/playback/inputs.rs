//! `Inputs`: the targets and weights of the modifiers of a pool's instances.

use super::ids::InstanceId;
use super::linear_fade::LinearFade;
use super::lists::{Keyed, Lists};
use super::modifiers::Target;
use super::poses::Poses;
use super::springs::SpringStates;
use crate::evaluate::{Gaze, Tails};
use crate::math::Row;

/// The number by which the weight of an instance's pose is listed: no modifier has it.
pub(crate) const POSE: u8 = 63;

/// The input of a modifier of one instance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input {
    /// Index of the modifier.
    pub modifier: u8,
    /// Index of the foot; 0 for modifiers with one target. The first has the weight of all.
    pub slot: u8,
    pub target: Target,
    pub weight: LinearFade,
    /// Where an aim of limited speed has got to.
    pub gaze: Gaze,
    /// Whether the list of fades has it.
    listed: bool,
}

impl PartialEq for Input {
    /// Whether all but their places in lists is equal.
    fn eq(&self, other: &Self) -> bool {
        let all = |of: &Self| (of.key(), of.target, of.weight, of.gaze);
        all(self) == all(other)
    }
}

impl Keyed for Input {
    fn key(&self) -> u16 {
        key(self.modifier, self.slot)
    }
}

/// The key of a modifier's input.
fn key(modifier: u8, slot: u8) -> u16 {
    u16::from(modifier) << 8 | u16::from(slot)
}

/// The inputs of all instances, by modifier and slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    lists: Lists<Input>,
    /// By instance the modifiers, as bits, whose weight is not 0 for good.
    active: Vec<u64>,
    /// Instance and modifier of each weight that fades.
    fading: Vec<(u32, u8)>,
    /// The poses that were set. An instance has an input of [`POSE`], its weight, while it has a pose.
    poses: Poses,
    /// The states of springs that have a weight.
    springs: SpringStates,
}

impl PartialEq for Inputs {
    /// Whether all instances have the same inputs, wherever they are stored.
    fn eq(&self, other: &Self) -> bool {
        let instances = self.lists.len().max(other.lists.len());
        (0..instances).all(|instance| self.same(other, instance))
    }
}

impl Inputs {
    /// Whether an instance has the same inputs and pose.
    pub fn same(&self, other: &Self, instance: usize) -> bool {
        self.all(instance) == other.all(instance)
            && self.pose(instance) == other.pose(instance)
            && self.springs.same(&other.springs, instance)
    }

    /// The states of springs.
    #[inline]
    pub fn springs(&self) -> &SpringStates {
        &self.springs
    }

    /// Sets the state of the springs of an instance's modifier.
    pub fn set_springs(&mut self, instance: usize, modifier: u8, tails: Tails) {
        self.springs.set(instance, modifier, tails);
    }

    /// Lets the springs of an instance start at rest, or those of all.
    pub fn rest_springs(&mut self, instance: Option<usize>) {
        match instance {
            Some(instance) => self.springs.rest(instance),
            None => self.springs.rest_all(),
        }
    }

    /// The pose of an instance, by lane; empty if it has none.
    #[inline]
    pub fn pose(&self, instance: usize) -> &[Row] {
        self.poses.of(instance)
    }

    /// Whether all scales of an instance's pose are known to be 1.
    pub fn even_pose(&self, instance: usize) -> bool {
        self.poses.even(instance)
    }

    /// Whether an instance has had a pose.
    pub fn has_poses(&self) -> bool {
        self.poses.len() > 0
    }

    /// Sets the pose of an instance.
    pub fn set_pose(&mut self, instance: usize, pose: &[Row]) {
        self.entry(instance, (POSE, 0));
        self.poses.set(instance, pose, false);
    }

    /// Sets the poses of instances, one after another in `rows`, which gets any contents. `even`: all their scales are 1.
    pub fn set_poses(
        &mut self,
        instances: &[InstanceId],
        rows: (&mut Vec<Row>, usize),
        even: bool,
    ) {
        for instance in instances {
            self.entry(instance.index(), (POSE, 0));
        }
        self.poses.set_all(instances, rows, even);
    }

    /// Removes the pose of an instance. Returns whether it had a weight.
    pub fn clear_pose(&mut self, instance: usize) -> bool {
        let had = self.active(instance) >> POSE == 1;
        if self.poses.clear(instance) {
            if self.weight(instance, POSE).running() {
                // The next pose of the instance fades by itself.
                self.fading.retain(|&fade| fade != (instance as u32, POSE));
            }
            self.lists.remove(instance, key(POSE, 0));
            self.mark(instance, POSE, false);
        }
        had
    }

    /// The modifiers of an instance, as bits, whose weight is not 0 for good.
    #[inline(always)]
    pub fn active(&self, instance: usize) -> u64 {
        self.active.get(instance).copied().unwrap_or(0)
    }

    /// Whether any weight fades.
    #[inline(always)]
    pub fn fades(&self) -> bool {
        !self.fading.is_empty()
    }

    /// The inputs of an instance, in ascending order of modifiers.
    #[inline]
    pub fn all(&self, instance: usize) -> &[Input] {
        self.lists.of(instance)
    }

    /// The first inputs of an instance's active modifiers, ascending.
    pub fn of(&self, instance: usize) -> impl Iterator<Item = &Input> {
        let active = move |input: &&Input| self.active(instance) >> input.modifier & 1 == 1;
        self.all(instance).iter().filter(|input| input.slot == 0).filter(active)
    }

    /// The input of a modifier of an instance, if it was ever set.
    pub fn get(&self, instance: usize, modifier: u8) -> Option<&Input> {
        self.all(instance).iter().find(|input| input.modifier == modifier)
    }

    /// The weight of a modifier of an instance.
    pub fn weight(&self, instance: usize, modifier: u8) -> LinearFade {
        self.get(instance, modifier).map_or(LinearFade::still(0.0), |input| input.weight)
    }

    fn entry(&mut self, instance: usize, (modifier, slot): (u8, u8)) -> &mut Input {
        let entry = self.lists.entry(instance, key(modifier, slot));
        (entry.modifier, entry.slot) = (modifier, slot);
        entry
    }

    /// Sets a target. Returns whether that changes the pose.
    #[inline]
    pub fn set_target(&mut self, instance: usize, modifier: u8, target: Target) -> bool {
        self.set_slot(instance, (modifier, 0), target)
    }

    /// Sets the target of a modifier's slot. Returns whether that changes the pose.
    #[inline]
    pub fn set_slot(
        &mut self,
        instance: usize,
        (modifier, slot): (u8, u8),
        target: Target,
    ) -> bool {
        let entry = self.entry(instance, (modifier, slot));
        let changes = entry.target != target;
        entry.target = target;
        changes && self.active(instance) >> modifier & 1 == 1
    }

    /// Sets a weight.
    pub fn set_weight(&mut self, instance: usize, modifier: u8, weight: LinearFade) {
        let begins = self.active(instance) >> modifier & 1 == 0;
        let entry = self.entry(instance, (modifier, 0));
        entry.weight = weight;
        if begins || weight.is_silent() {
            entry.gaze = Gaze::default();
        }
        // A fade that a call ended stays listed until the next step.
        if weight.running() && !entry.listed {
            entry.listed = true;
            self.fading.push((instance as u32, modifier));
        }
        self.mark(instance, modifier, !weight.is_silent());
    }

    fn mark(&mut self, instance: usize, modifier: u8, is_active: bool) {
        if !is_active {
            self.springs.remove(instance, modifier);
        }
        if self.active.len() <= instance && is_active {
            self.active.resize(instance + 1, 0);
        }
        if let Some(active) = self.active.get_mut(instance) {
            *active = *active & !(1 << modifier) | u64::from(is_active) << modifier;
        }
    }

    /// Advances the weights that fade by `seconds`, but for instances that stand still. Calls `ended` with every
    /// instance one of whose modifiers has come to rest at 0.
    pub fn advance(
        &mut self,
        seconds: f64,
        stands_still: impl Fn(usize) -> bool,
        mut ended: impl FnMut(usize),
    ) {
        let mut at = 0;
        while let Some(&(instance, modifier)) = self.fading.get(at) {
            let index = instance as usize;
            // Inputs that are removed are no longer listed.
            let Some(input) = self.lists.get_mut(index, key(modifier, 0)) else {
                self.fading.swap_remove(at);
                continue;
            };
            if !stands_still(index) {
                input.weight.advance(seconds);
            }
            if input.weight.running() {
                at += 1;
                continue;
            }
            input.listed = false;
            let silent = input.weight.is_silent();
            if silent {
                input.gaze = Gaze::default();
            }
            self.fading.swap_remove(at);
            if silent && self.active(index) >> modifier & 1 == 1 {
                self.mark(index, modifier, false);
                ended(index);
            }
        }
    }

    /// Calls `step` with every instance for which a modifier is active, and with its input.
    pub fn each_active(&mut self, modifier: u8, mut step: impl FnMut(usize, &mut Input)) {
        let Self { lists, active, .. } = self;
        for (instance, active) in active.iter().enumerate() {
            if active >> modifier & 1 == 1
                && let Some(input) = lists.get_mut(instance, key(modifier, 0))
            {
                step(instance, input);
            }
        }
    }

    /// Sets where an aim of limited speed has got to.
    pub fn set_gaze(&mut self, instance: usize, modifier: u8, gaze: Gaze) {
        self.entry(instance, (modifier, 0)).gaze = gaze;
    }

    /// Removes the inputs of an instance.
    pub fn clear(&mut self, instance: usize) {
        self.poses.clear(instance);
        self.springs.clear(instance);
        let listed = self.all(instance).iter().any(|input| input.listed);
        if self.lists.clear(instance) {
            if let Some(active) = self.active.get_mut(instance) {
                *active = 0;
            }
            if listed {
                self.fading.retain(|fade| fade.0 as usize != instance);
            }
        }
    }

    /// Removes the inputs of a modifier. Returns the instances for which it was active.
    pub fn remove(&mut self, modifier: u8) -> Vec<usize> {
        self.fading.retain(|fade| fade.1 != modifier);
        let mut had = Vec::new();
        for instance in 0..self.lists.len() {
            while let Some(slot) = self.get(instance, modifier).map(|input| input.slot) {
                self.lists.remove(instance, key(modifier, slot));
            }
            if self.active(instance) >> modifier & 1 == 1 {
                self.mark(instance, modifier, false);
                had.push(instance);
            }
        }
        had
    }
}
