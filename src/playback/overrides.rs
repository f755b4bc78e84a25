//! `Overrides`: local matrices that users set on single joints of single instances.
//!
//! ```text
//! lists   | instance 0: first, length | instance 1 | …      up to the last instance that had an override
//! locals  | range of 1 | range of 4          | range of 2 | …    sorted by joint within a list
//! ```
//!
//! A list has a range of a power of two. A list that outgrows its range takes one of the next size; free ranges of each
//! size are used again. So a call costs the same for any number of instances, and a copy of all overrides is two copies
//! of memory.

use crate::evaluate::LocalOverride;
use crate::math::Affine3x4;
use crate::skeleton::limits::{Beyond, MAX_OVERRIDE_LENGTH, MAX_OVERRIDE_SCALE, beyond};
use std::ops::Range;

/// The overrides of a rig's instances.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    /// The list of each instance, by index.
    lists: Vec<List>,
    /// The overrides of all lists.
    locals: Vec<LocalOverride>,
    /// Bounds of the stretch factors, parallel to `locals`: at least 1.
    bounds: Vec<f64>,
    /// First entries of the free ranges, by the logarithm of their size.
    free: Vec<Vec<u32>>,
}

/// The override that is refused: its joint, and the number that is beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refused {
    pub joint: u16,
    pub what: &'static str,
    pub value: f64,
    pub limit: f64,
}

/// The overrides of an instance: `len` entries from `first` on. An empty list has no range.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    first: u32,
    len: u32,
}

impl List {
    fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }

    /// The base-2 logarithm of the size of the range of a list.
    fn class(len: u32) -> usize {
        len.next_power_of_two().trailing_zeros() as usize
    }
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
    pub fn of(&self, instance: usize) -> &[LocalOverride] {
        match self.lists.get(instance) {
            Some(list) if list.len > 0 => self.locals.get(list.range()).unwrap_or_default(),
            _ => &[],
        }
    }

    pub fn all(&self) -> impl Iterator<Item = &LocalOverride> {
        (0..self.lists.len()).flat_map(|instance| self.of(instance))
    }

    /// Sets the local matrix of a joint. Returns false if it already had the same bits.
    ///
    /// # Errors
    /// If a number is not finite, the translation is beyond its limit, or the stretch factors of the overrides down a
    /// chain of joints multiply beyond [`MAX_OVERRIDE_SCALE`].
    pub fn set(
        &mut self,
        parents: &[u16],
        instance: usize,
        joint: u16,
        local: Affine3x4,
    ) -> Result<bool, Refused> {
        let bound = bound(joint, &local)?;
        self.check(parents, instance, &[joint], &[local], bound)?;
        Ok(self.put(instance, LocalOverride { joint, local }, bound))
    }

    /// Checks that an instance can have overrides of `joints`, ascending. Writes the bounds of their stretch factors to
    /// `bounds`.
    pub fn check_many(
        &self,
        parents: &[u16],
        instance: usize,
        (joints, locals): (&[u16], &[Affine3x4]),
        bounds: &mut [f64],
    ) -> Result<(), Refused> {
        let mut product = 1.0;
        for ((local, to), &joint) in locals.iter().zip(bounds).zip(joints) {
            *to = bound(joint, local)?;
            product *= *to;
        }
        self.check(parents, instance, joints, locals, product)
    }

    /// Checks the stretch factors of an instance with these overrides. `product` is the product of their bounds.
    fn check(
        &self,
        parents: &[u16],
        instance: usize,
        joints: &[u16],
        locals: &[Affine3x4],
        mut product: f64,
    ) -> Result<(), Refused> {
        let range = self.lists.get(instance).map_or(0..0, |list| list.range());
        for (other, bound) in self.locals[range.clone()].iter().zip(&self.bounds[range]) {
            if joints.binary_search(&other.joint).is_err() {
                product *= bound;
            }
        }
        // Chains are walked only if the product over all overrides of the instance can exceed the limit.
        if product.is_nan() || product > MAX_OVERRIDE_SCALE {
            let (joint, value) = self.most_down_a_chain(parents, instance, (joints, locals));
            let limit = MAX_OVERRIDE_SCALE;
            if value.is_nan() || value > limit {
                let what = "with those of the joints above it, it stretches by";
                return Err(Refused { joint, what, value, limit });
            }
        }
        Ok(())
    }

    /// Sets a local matrix that was checked, with the bound of its stretch factor. Returns false if it already had the
    /// same bits.
    #[inline]
    pub fn put(&mut self, instance: usize, entry: LocalOverride, bound: f64) -> bool {
        if self.lists.len() <= instance {
            self.lists.resize(instance + 1, List::default());
        }
        let list = self.lists[instance];
        let found = self.locals[list.range()].binary_search_by_key(&entry.joint, |o| o.joint);
        let at = match found {
            Ok(at) => {
                let at = list.first as usize + at;
                let bits = |local: &Affine3x4| local.rows.map(|row| row.map(f32::to_bits));
                if bits(&self.locals[at].local) == bits(&entry.local) {
                    return false;
                }
                at
            }
            Err(at) => self.insert(instance, at),
        };
        (self.locals[at], self.bounds[at]) = (entry, bound);
        true
    }

    /// Makes room for one more entry at `at` in the list of an instance. Returns its index in `locals`.
    fn insert(&mut self, instance: usize, at: usize) -> usize {
        let mut list = self.lists[instance];
        let class = List::class(list.len + 1);
        if list.len == 0 || class != List::class(list.len) {
            let to = self.take(class);
            self.locals.copy_within(list.range(), to as usize);
            self.bounds.copy_within(list.range(), to as usize);
            self.give(list);
            list.first = to;
        }
        let range = list.range();
        let at = range.start + at;
        self.locals.copy_within(at..range.end, at + 1);
        self.bounds.copy_within(at..range.end, at + 1);
        list.len += 1;
        self.lists[instance] = list;
        at
    }

    /// Takes a range of a size, given by its logarithm.
    fn take(&mut self, class: usize) -> u32 {
        if let Some(first) = self.free.get_mut(class).and_then(Vec::pop) {
            return first;
        }
        // A rig has at most 65,535 joints and 2^20 instances; so many overrides do not fit in memory.
        let first = self.locals.len();
        let end = first + (1 << class);
        let nothing = LocalOverride { joint: 0, local: Affine3x4::IDENTITY };
        self.locals.resize(end, nothing);
        self.bounds.resize(end, 1.0);
        first as u32
    }

    fn give(&mut self, list: List) {
        if list.len > 0 {
            let class = List::class(list.len);
            if self.free.len() <= class {
                self.free.resize_with(class + 1, Vec::new);
            }
            self.free[class].push(list.first);
        }
    }

    /// Sets an override without checking its chain: [`fit`](Self::fit) does that for all.
    pub fn append(&mut self, instance: u32, joint: u16, local: Affine3x4) -> Result<(), Refused> {
        let bound = bound(joint, &local)?;
        self.put(instance as usize, LocalOverride { joint, local }, bound);
        Ok(())
    }

    /// Whether all overrides are on joints of a skeleton with these parents, and within the limit down its chains.
    pub fn fit(&self, parents: &[u16]) -> bool {
        (0..self.lists.len()).all(|instance| {
            let known = |o: &LocalOverride| usize::from(o.joint) < parents.len();
            self.of(instance).iter().all(known)
                && self.check(parents, instance, &[], &[], 1.0).is_ok()
        })
    }

    /// The largest product of stretch factors down a chain of joints, and the joint at its end, if `joints`, ascending,
    /// had the local matrices `locals`.
    fn most_down_a_chain(
        &self,
        parents: &[u16],
        instance: usize,
        (joints, locals): (&[u16], &[Affine3x4]),
    ) -> (u16, f64) {
        let others = self.of(instance).iter().map(|o| (o.joint, &o.local));
        let others = others.filter(|o| joints.binary_search(&o.0).is_err());
        let all = others.chain(joints.iter().copied().zip(locals));
        let mut all: Vec<_> = all.map(|(j, l)| (j, l.stretch().max(1.0))).collect();
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
        let found = self.of(instance).binary_search_by_key(&joint, |o| o.joint);
        let Ok(at) = found else {
            return false;
        };
        let list = self.lists[instance];
        let at = list.first as usize + at;
        self.locals.copy_within(at + 1..list.range().end, at);
        self.bounds.copy_within(at + 1..list.range().end, at);
        let mut less = list;
        less.len -= 1;
        if less.len == 0 {
            self.give(list);
        } else if List::class(less.len) != List::class(list.len) {
            less.first = self.take(List::class(less.len));
            let from = list.first as usize..list.first as usize + less.len as usize;
            self.locals.copy_within(from.clone(), less.first as usize);
            self.bounds.copy_within(from, less.first as usize);
            self.give(list);
        }
        self.lists[instance] = less;
        true
    }

    /// Removes all overrides of an instance. Returns false if there were none.
    pub fn clear_all(&mut self, instance: usize) -> bool {
        match self.lists.get_mut(instance) {
            Some(list) if list.len > 0 => {
                let list = std::mem::take(list);
                self.give(list);
                true
            }
            _ => false,
        }
    }
}

/// Checks a local matrix. Returns a bound of its stretch factor, at least 1.
fn bound(joint: u16, local: &Affine3x4) -> Result<f64, Refused> {
    let refused = |Beyond { what, value, limit }| Refused {
        joint,
        what,
        value: value.into(),
        limit: limit.into(),
    };
    beyond("the matrix has", local.rows.as_flattened(), f32::MAX).map_err(refused)?;
    let length = local.translation().to_array();
    beyond("the translation has", &length, MAX_OVERRIDE_LENGTH).map_err(refused)?;
    Ok(local.stretch_bound().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
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
        assert!(overrides.all().next().is_none());
        assert_eq!(overrides, Overrides::default());
    }

    #[test]
    fn blocks_are_used_again() {
        let mut overrides = Overrides::default();
        let fill = |overrides: &mut Overrides| {
            for joint in [5, 3, 9, 1, 7] {
                for instance in 0..20 {
                    let set = overrides.set(&[], instance, joint, Affine3x4::IDENTITY);
                    set.unwrap();
                }
            }
        };
        fill(&mut overrides);
        let size = overrides.locals.len();
        let full = overrides.clone();
        for round in 0..5 {
            for instance in 0..20 {
                for joint in [1, 9, 3, 5, 7] {
                    assert!(overrides.clear(instance, joint), "round {round}");
                    assert!(overrides.of(instance).is_sorted_by_key(|o| o.joint));
                }
            }
            fill(&mut overrides);
            assert_eq!(overrides, full);
        }
        assert_eq!(overrides.locals.len(), size);
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
        let Refused { joint, what, value, limit } = refused;
        assert!(joint == 12 && what.contains("stretches"), "{refused:?}");
        assert!((value / (2.0 * 999.0 * 999.0) - 1.0).abs() < 1e-5, "{value}");
        assert_eq!(limit, 1e6);
        assert_eq!(overrides, before);
        overrides.set(&parents, 0, 12, by(400.0)).unwrap();
        overrides.set(&parents, 0, 0, by(2.0)).unwrap();
        assert!(overrides.set(&parents, 0, 3, by(f32::MAX)).is_err());
        // Another instance has separate overrides.
        overrides.set(&parents, 1, 0, by(9e5)).unwrap();
    }
}
