//! `SpringStates`: where the springs of a pool's instances have got to.

use super::player::Player;
use super::pool::Pool;
use crate::evaluate::{PoseMut, Springs, Tails};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The states of all instances whose springs have a weight.
#[derive(Debug, Default)]
pub(crate) struct SpringStates {
    /// By instance, in ascending order of modifiers.
    of: Vec<Vec<State>>,
}

/// The state of an instance's modifier. A frame's worker holds its lock while it evaluates the instance; it waits only for
/// a call that reads the instance meanwhile.
#[derive(Debug)]
struct State {
    modifier: u8,
    tails: Mutex<Tails>,
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Tails> {
        // Whatever a panic left is finite.
        self.tails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { modifier: self.modifier, tails: Mutex::new(self.lock().clone()) }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Tails| *a == *other.lock();
        self.modifier == other.modifier && (std::ptr::eq(self, other) || same(&self.lock().clone()))
    }
}

impl Clone for SpringStates {
    fn clone(&self) -> Self {
        Self { of: self.of.clone() }
    }
}

impl SpringStates {
    fn list(&self, instance: usize) -> &[State] {
        self.of.get(instance).map_or(&[], |list| &**list)
    }

    /// Whether an instance has the same states.
    pub fn same(&self, other: &Self, instance: usize) -> bool {
        self.list(instance) == other.list(instance)
    }

    /// The state of an instance's modifier.
    pub fn get(&self, instance: usize, modifier: u8) -> Option<MutexGuard<'_, Tails>> {
        let state = self.list(instance).iter().find(|state| state.modifier == modifier)?;
        Some(state.lock())
    }

    /// Sets the state of an instance's modifier.
    pub fn set(&mut self, instance: usize, modifier: u8, tails: Tails) {
        if self.of.len() <= instance {
            self.of.resize_with(instance + 1, Vec::new);
        }
        let list = &mut self.of[instance];
        let at = list.partition_point(|state| state.modifier < modifier);
        let state = State { modifier, tails: Mutex::new(tails) };
        match list.get_mut(at).filter(|state| state.modifier == modifier) {
            Some(old) => *old = state,
            None => list.insert(at, state),
        }
    }

    /// Removes the state of an instance's modifier.
    pub fn remove(&mut self, instance: usize, modifier: u8) {
        if let Some(list) = self.of.get_mut(instance) {
            list.retain(|state| state.modifier != modifier);
        }
    }

    /// Removes the states of an instance.
    pub fn clear(&mut self, instance: usize) {
        if let Some(list) = self.of.get_mut(instance) {
            list.clear();
        }
    }

    /// Lets an instance start at rest.
    pub fn rest(&mut self, instance: usize) {
        self.list(instance).iter().for_each(|state| state.lock().at = None);
    }

    /// Lets all instances start at rest.
    pub fn rest_all(&mut self) {
        (0..self.of.len()).for_each(|instance| self.rest(instance));
    }
}

/// How an evaluation treats springs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swing {
    /// It steps them.
    Step,
    /// It shows them stepped, and keeps nothing.
    Read,
    /// It shows them as they were last evaluated.
    Hold,
    /// It leaves them out.
    Out,
}

impl Pool {
    /// Turns the joints of an instance's springs.
    pub(super) fn swing(
        &self,
        (index, modifier): (usize, u8),
        springs: &Springs,
        (pose, weight): (&mut PoseMut<'_>, f32),
        how: Swing,
    ) {
        let tails = self.state().inputs().springs().get(index, modifier);
        let Some(mut tails) = tails.filter(|_| how != Swing::Out) else {
            return;
        };
        let (mut clock, mut world) = (self.state().clock(), self.state().world_wide(index));
        if let (Swing::Hold, Some(at)) = (how, tails.at) {
            (clock, world) = (clock.at(at), tails.world);
        }
        let steps = clock.steps_since(tails.at);
        springs.swing(pose, &mut tails, (&world, steps, weight), how == Swing::Step);
        if how == Swing::Step {
            tails.at = Some(clock.parts().0);
        }
    }
}

impl Player<'_> {
    /// Lets the [springs](super::Modifier::Springs) of the character start at rest, from the next evaluation on: it is
    /// elsewhere, or another pose begins without a fade.
    pub fn rest_springs(&mut self) {
        self.pool.rest_springs(self.index);
    }
}
