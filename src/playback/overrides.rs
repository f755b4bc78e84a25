//! Local matrices that users set on single joints of single instances. Stored sparsely: few joints have one.

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
    /// The stretch factor of each, at least 1.
    stretches: Vec<f64>,
}

impl Overrides {
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// The overrides of an instance.
    pub fn of(&self, instance: usize) -> &[LocalOverride] {
        &self.locals[self.range(instance)]
    }

    /// Sets the local matrix of a joint.
    ///
    /// # Errors
    /// If a number is not finite or beyond its limit, or the stretch factors of the overrides down a chain of
    /// joints multiply beyond [`MAX_OVERRIDE_SCALE`].
    pub fn set(
        &mut self,
        parents: &[u16],
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
        // Chains are walked only if the product over all overrides of the instance exceeds the limit.
        if product.is_nan() || product > MAX_OVERRIDE_SCALE {
            let most = self.most_down_a_chain(parents, instance, (joint, stretch));
            if most.is_nan() || most > MAX_OVERRIDE_SCALE {
                return Err(PlaybackError::Value {
                    what: "the scale of the overrides down a chain of joints",
                    value: most,
                    low: 0.0,
                    high: MAX_OVERRIDE_SCALE,
                });
            }
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

    /// The largest product of stretch factors down a chain, with the given factor for one joint.
    fn most_down_a_chain(&self, parents: &[u16], instance: usize, with: (u16, f64)) -> f64 {
        let range = self.range(instance);
        let others = self.locals[range.clone()]
            .iter()
            .zip(&self.stretches[range]);
        let others = others.map(|(o, &stretch)| (o.joint, stretch));
        let mut all: Vec<_> = others.filter(|o| o.0 != with.0).collect();
        all.push(with);
        // Parents precede their children.
        all.sort_unstable_by_key(|o| o.0);
        let mut most = 1.0f64;
        for at in 0..all.len() {
            let (joint, stretch) = all[at];
            let mut above = parents.get(usize::from(joint));
            let mut product = stretch;
            while let Some(&parent) = above {
                if let Ok(at) = all[..at].binary_search_by_key(&parent, |o| o.0) {
                    product *= all[at].1;
                    break;
                }
                above = parents.get(usize::from(parent));
            }
            all[at].1 = product;
            most = if product.is_nan() {
                product
            } else {
                most.max(product)
            };
            if most.is_nan() {
                break;
            }
        }
        most
    }

    /// Removes the override of a joint, if it has one.
    pub fn clear(&mut self, instance: usize, joint: u16) {
        if let Ok(at) = self.find(instance, joint) {
            self.instances.remove(at);
            self.locals.remove(at);
            self.stretches.remove(at);
        }
    }

    /// Removes all overrides of an instance.
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
            let set = overrides.set(&[], instance, joint, Affine3x4::IDENTITY);
            set.unwrap();
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

    #[test]
    fn scales_multiply_down_chains_not_across_branches() {
        use glam::{Quat, Vec3};
        let by = |s: f32| {
            Affine3x4::from_scale_rotation_translation(Vec3::splat(s), Quat::IDENTITY, Vec3::ZERO)
        };
        // Joints 1 to 9 are children of the root. Joint 12 is below 3 through 11, which has no override.
        let mut parents = vec![0u16; 13];
        parents[0] = u16::MAX;
        (parents[11], parents[12]) = (3, 11);
        let mut overrides = Overrides::default();
        for joint in 1..10 {
            overrides.set(&parents, 0, joint, by(999.0)).unwrap();
        }
        overrides.set(&parents, 0, 12, by(999.0)).unwrap();
        let before = overrides.clone();
        // Down 0, 3 and 12 the product is 2 × 999², above the limit of 1e6.
        let refused = overrides.set(&parents, 0, 0, by(2.0)).unwrap_err();
        let PlaybackError::Value { value, high, .. } = refused else {
            panic!("{refused}");
        };
        assert!(
            (value / (2.0 * 999.0 * 999.0) - 1.0).abs() < 1e-5,
            "{value}"
        );
        assert_eq!(high, 1e6);
        assert_eq!(overrides, before);
        overrides.set(&parents, 0, 12, by(400.0)).unwrap();
        overrides.set(&parents, 0, 0, by(2.0)).unwrap();
        assert!(overrides.set(&parents, 0, 3, by(f32::MAX)).is_err());
        // Another instance has separate overrides.
        overrides.set(&parents, 1, 0, by(9e5)).unwrap();
    }
}
