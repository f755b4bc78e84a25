//! Local matrices that users set on single joints of single instances: sparse, for nearly all have none.

use super::error::PlaybackError;
use crate::math::Affine3x4;
use crate::runtime::chain::LocalOverride;
use crate::skeleton::limits::{MAX_OVERRIDE_LENGTH, MAX_OVERRIDE_SCALE, beyond};
use std::ops::Range;

/// The overrides of a rig's instances, sorted by instance, then joint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    instances: Vec<u32>,
    /// Parallel to `instances`.
    locals: Vec<LocalOverride>,
    /// What each stretches by, at least 1.
    stretches: Vec<f64>,
}

impl Overrides {
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// Those of an instance.
    pub fn of(&self, instance: usize) -> &[LocalOverride] {
        &self.locals[self.range(instance)]
    }

    /// Sets the matrix of a joint.
    ///
    /// # Errors
    /// If it holds a number that is not finite or beyond its limit, or the overrides of the instance would
    /// stretch by too much together.
    pub fn set(
        &mut self,
        instance: usize,
        joint: u16,
        local: Affine3x4,
    ) -> Result<(), PlaybackError> {
        if !local.is_finite() {
            return Err(PlaybackError::Transform);
        }
        let length = local.translation().to_array();
        beyond(
            "the translation of the override",
            &length,
            MAX_OVERRIDE_LENGTH,
        )?;
        let found = self.find(instance, joint);
        let stretch = local.stretch().max(1.0);
        let others = self.range(instance).filter(|&at| found != Ok(at));
        let product = others.fold(stretch, |product, at| product * self.stretches[at]);
        if product.is_nan() || product > MAX_OVERRIDE_SCALE {
            return Err(PlaybackError::Value {
                what: "the scale of all overrides of the instance",
                value: product,
                low: 0.0,
                high: MAX_OVERRIDE_SCALE,
            });
        }
        let entry = LocalOverride { joint, local };
        match found {
            Ok(at) => (self.locals[at], self.stretches[at]) = (entry, stretch),
            Err(at) => {
                self.instances.insert(at, instance as u32);
                self.locals.insert(at, entry);
                self.stretches.insert(at, stretch);
            }
        }
        Ok(())
    }

    /// Removes the override of a joint, if it has one.
    pub fn clear(&mut self, instance: usize, joint: u16) {
        if let Ok(at) = self.find(instance, joint) {
            self.instances.remove(at);
            self.locals.remove(at);
            self.stretches.remove(at);
        }
    }

    /// Removes all of an instance.
    pub fn clear_all(&mut self, instance: usize) {
        let range = self.range(instance);
        self.instances.drain(range.clone());
        self.locals.drain(range.clone());
        self.stretches.drain(range);
    }

    fn find(&self, instance: usize, joint: u16) -> Result<usize, usize> {
        let range = self.range(instance);
        let found = self.locals[range.clone()].binary_search_by_key(&joint, |o| o.joint);
        found
            .map(|at| range.start + at)
            .map_err(|at| range.start + at)
    }

    fn range(&self, instance: usize) -> Range<usize> {
        let first = self.instances.partition_point(|&i| (i as usize) < instance);
        let end = self
            .instances
            .partition_point(|&i| (i as usize) <= instance);
        first..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_and_sorted() {
        let mut overrides = Overrides::default();
        for (instance, joint) in [(7, 3), (2, 9), (7, 1), (2, 9), (5, 0)] {
            overrides.set(instance, joint, Affine3x4::IDENTITY).unwrap();
        }
        let joints = |o: &Overrides, i| o.of(i).iter().map(|o| o.joint).collect::<Vec<_>>();
        assert_eq!(joints(&overrides, 7), [1, 3]);
        assert_eq!(joints(&overrides, 2), [9]);
        assert_eq!(joints(&overrides, 6), [0u16; 0]);
        overrides.clear(7, 1);
        overrides.clear(7, 2);
        assert_eq!(joints(&overrides, 7), [3]);
        overrides.clear_all(2);
        overrides.clear_all(7);
        assert_eq!(joints(&overrides, 5), [0]);
        overrides.clear_all(5);
        assert!(overrides.is_empty());
    }
}
