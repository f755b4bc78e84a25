//! `Overrides`: matrices that users set on single joints of single instances.

use super::lists::{Keyed, Lists};
use crate::evaluate::JointOverride;
use crate::math::Affine3x4;
use crate::skeleton::limits::{Beyond, MAX_OVERRIDE_LENGTH, MAX_OVERRIDE_SCALE, beyond};

/// The overrides of a rig's instances, by joint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    lists: Lists<JointOverride>,
}

impl Keyed for JointOverride {
    fn key(&self) -> u16 {
        self.joint
    }
}

/// The override that is refused: its joint, and the number that is beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refused {
    pub joint: u16,
    pub what: &'static str,
    pub value: f64,
    pub limit: f64,
}

impl PartialEq for Overrides {
    /// Whether all instances have the same overrides, wherever they are stored.
    fn eq(&self, other: &Self) -> bool {
        let instances = self.lists.len().max(other.lists.len());
        (0..instances).all(|instance| self.of(instance) == other.of(instance))
    }
}

impl Overrides {
    /// The overrides of an instance, in ascending order of joints.
    #[inline(always)]
    pub fn of(&self, instance: usize) -> &[JointOverride] {
        self.lists.of(instance)
    }

    pub fn all(&self) -> impl Iterator<Item = &JointOverride> {
        (0..self.lists.len()).flat_map(|instance| self.of(instance))
    }

    /// Sets an override of a joint. Returns false if it already had the same bits.
    ///
    /// # Errors
    /// If a number is not finite, the translation is beyond its limit, or the stretch factors of the overrides down a
    /// chain of joints multiply beyond [`MAX_OVERRIDE_SCALE`].
    pub fn set(
        &mut self,
        parents: &[u16],
        instance: usize,
        by: JointOverride,
    ) -> Result<bool, Refused> {
        let bound = bound(by.joint, &by.matrix)?;
        self.check(parents, instance, &[by.joint], &[by.matrix], bound)?;
        Ok(self.put(instance, JointOverride { bound, ..by }))
    }

    /// Checks that an instance can have overrides of `joints`, ascending. Writes the bounds of their stretch factors to
    /// `bounds`.
    pub fn check_many(
        &self,
        parents: &[u16],
        instance: usize,
        (joints, matrices): (&[u16], &[Affine3x4]),
        bounds: &mut [f64],
    ) -> Result<(), Refused> {
        let mut product = 1.0;
        for ((matrix, to), &joint) in matrices.iter().zip(bounds).zip(joints) {
            *to = bound(joint, matrix)?;
            product *= *to;
        }
        self.check(parents, instance, joints, matrices, product)
    }

    /// Checks the stretch factors of an instance with these overrides. `product` is the product of their bounds.
    fn check(
        &self,
        parents: &[u16],
        instance: usize,
        joints: &[u16],
        matrices: &[Affine3x4],
        mut product: f64,
    ) -> Result<(), Refused> {
        for other in self.of(instance) {
            if joints.binary_search(&other.joint).is_err() {
                product *= other.bound;
            }
        }
        // Chains are walked only if the product over all overrides of the instance can exceed the limit.
        if product.is_nan() || product > MAX_OVERRIDE_SCALE {
            let (joint, value) = self.most_down_a_chain(parents, instance, (joints, matrices));
            let limit = MAX_OVERRIDE_SCALE;
            if value.is_nan() || value > limit {
                let what = "with those of the joints above it, it stretches by";
                return Err(Refused { joint, what, value, limit });
            }
        }
        Ok(())
    }

    /// Sets an override that was checked, with the bound of its stretch factor. Returns false if it already had the same
    /// bits.
    #[inline]
    pub fn put(&mut self, instance: usize, by: JointOverride) -> bool {
        let entry = self.lists.entry(instance, by.joint);
        let bits = |o: &JointOverride| {
            let rows = o.matrix.rows.map(|row| row.map(f32::to_bits));
            (rows, o.weight.to_bits(), o.replaces)
        };
        // A new entry has no bound.
        let same = entry.bound > 0.0 && bits(entry) == bits(&by);
        *entry = by;
        !same
    }

    /// Sets an override without checking its chain: [`fit`](Self::fit) does that for all.
    pub fn append(&mut self, instance: u32, by: JointOverride) -> Result<(), Refused> {
        let bound = bound(by.joint, &by.matrix)?;
        self.put(instance as usize, JointOverride { bound, ..by });
        Ok(())
    }

    /// Whether all overrides are on joints of a skeleton with these parents, and within the limit down its chains.
    pub fn fit(&self, parents: &[u16]) -> bool {
        (0..self.lists.len()).all(|instance| {
            let known = |o: &JointOverride| usize::from(o.joint) < parents.len();
            self.of(instance).iter().all(known)
                && self.check(parents, instance, &[], &[], 1.0).is_ok()
        })
    }

    /// The largest product of stretch factors down a chain of joints, and the joint at its end, if `joints`, ascending,
    /// had the matrices `matrices`.
    fn most_down_a_chain(
        &self,
        parents: &[u16],
        instance: usize,
        (joints, matrices): (&[u16], &[Affine3x4]),
    ) -> (u16, f64) {
        let others = self.of(instance).iter().map(|o| (o.joint, &o.matrix));
        let others = others.filter(|o| joints.binary_search(&o.0).is_err());
        let all = others.chain(joints.iter().copied().zip(matrices));
        let mut all: Vec<_> = all.map(|(j, m)| (j, m.stretch().max(1.0))).collect();
        // Parents precede their children.
        all.sort_unstable_by_key(|o| o.0);
        let mut most = (0, 1.0f64);
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
            if product.is_nan() || product > most.1 {
                most = (joint, product);
            }
            if product.is_nan() {
                break;
            }
        }
        most
    }

    /// Removes the override of a joint. Returns false if there was none.
    pub fn clear(&mut self, instance: usize, joint: u16) -> bool {
        self.lists.remove(instance, joint)
    }

    /// Removes all overrides of an instance. Returns false if there were none.
    pub fn clear_all(&mut self, instance: usize) -> bool {
        self.lists.clear(instance)
    }
}

/// Checks a matrix. Returns a bound of its stretch factor, at least 1.
fn bound(joint: u16, matrix: &Affine3x4) -> Result<f64, Refused> {
    let refused = |Beyond { what, value, limit }| Refused {
        joint,
        what,
        value: value.into(),
        limit: limit.into(),
    };
    beyond("the matrix has", matrix.rows.as_flattened(), f32::MAX).map_err(refused)?;
    let length = matrix.translation().to_array();
    beyond("the translation has", &length, MAX_OVERRIDE_LENGTH).map_err(refused)?;
    Ok(matrix.stretch_bound().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            overrides.set(&parents, 0, JointOverride::whole(joint, by(999.0))).unwrap();
        }
        overrides.set(&parents, 0, JointOverride::whole(12, by(999.0))).unwrap();
        let before = overrides.clone();
        // Down 0, 3 and 12 the product is 2 × 999², above the limit of 1e6.
        let refused = overrides.set(&parents, 0, JointOverride::whole(0, by(2.0))).unwrap_err();
        let Refused { joint, what, value, limit } = refused;
        assert!(joint == 12 && what.contains("stretches"), "{refused:?}");
        assert!((value / (2.0 * 999.0 * 999.0) - 1.0).abs() < 1e-5, "{value}");
        assert_eq!(limit, 1e6);
        assert_eq!(overrides, before);
        overrides.set(&parents, 0, JointOverride::whole(12, by(400.0))).unwrap();
        overrides.set(&parents, 0, JointOverride::whole(0, by(2.0))).unwrap();
        let refused = overrides.set(&parents, 0, JointOverride::whole(3, by(f32::MAX)));
        assert!(refused.is_err());
        // Another instance has separate overrides.
        overrides.set(&parents, 1, JointOverride::whole(0, by(9e5))).unwrap();
    }
}
