//! Skeletons that differ only in the order of their joints: rigs follow the order of `skins[].joints`, which differs
//! between exports.

use super::{NO_JOINT, Skeleton};
use crate::math::Fnv1a;
use std::collections::HashMap;

impl Skeleton {
    /// For each joint of another skeleton the joint of this one, if names, parents and rest poses are equal in some order.
    /// Scalars are not compared.
    pub(crate) fn joints_in(&self, other: &Skeleton) -> Option<Vec<u16>> {
        if self.len() != other.len() {
            return None;
        }
        // Joints with equal names, parents and rest poses are told apart by the joints below them, or are interchangeable.
        let mut free: HashMap<(u16, u64), Vec<u16>> = HashMap::new();
        for (joint, tree) in trees(self).into_iter().enumerate().rev() {
            let key = (self.parents()[joint], tree);
            free.entry(key).or_default().push(joint as u16);
        }
        let mut joints: Vec<u16> = Vec::with_capacity(other.len());
        for (joint, tree) in trees(other).into_iter().enumerate() {
            let above = joints.get(usize::from(other.parents()[joint])).copied();
            let key = (above.unwrap_or(NO_JOINT), tree);
            let own = free.get_mut(&key)?.pop()?;
            // Hashes may collide.
            let place = usize::from(own);
            let same = self.names()[place] == other.names()[joint]
                && self.rest(place).to_array() == other.rest(joint).to_array();
            if !same {
                return None;
            }
            joints.push(own);
        }
        Some(joints)
    }
}

/// A hash of every joint's name and rest pose, and of the joints below it in any order.
fn trees(skeleton: &Skeleton) -> Vec<u64> {
    let mut below = vec![0u64; skeleton.len()];
    let mut all = below.clone();
    for joint in (0..skeleton.len()).rev() {
        let mut h = Fnv1a::default();
        h.write(skeleton.names()[joint].as_bytes());
        for number in skeleton.rest(joint).to_array() {
            // −0.0 and 0.0 are equal.
            h.write_u64((number + 0.0).to_bits().into());
        }
        h.write_u64(below[joint]);
        all[joint] = h.finish();
        if let Some(above) = below.get_mut(usize::from(skeleton.parents()[joint])) {
            *above = above.wrapping_add(all[joint]);
        }
    }
    all
}
