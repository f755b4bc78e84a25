//! The tables of springs: joints in groups by the number of swinging joints above them.

use super::lanes8::LANES;
use super::{Above, Collider, Group, STEP, Springs};
use crate::evaluate::tables::scratch_row;
use crate::math::Affine3x4;
use crate::skeleton::{Skeleton, SpringBones, SpringJoint};
use glam::Vec3;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A joint that swings, while tables are made.
struct Found<'a> {
    joint: &'a SpringJoint,
    chain: usize,
    tail: Vec3,
    /// The number of swinging joints above, and of those further down the chain.
    level: usize,
    below: usize,
}

impl Springs {
    /// The tables of springs that were checked.
    pub fn new(springs: &SpringBones, skeleton: &Skeleton) -> Self {
        let parent = |joint: usize| {
            let parent = usize::from(skeleton.parents()[joint]);
            (parent < skeleton.len()).then_some(parent)
        };
        let above = |joint: usize| std::iter::successors(parent(joint), |&at| parent(at));
        let mut swings = vec![false; skeleton.len()];
        let all = || springs.chains.iter().flat_map(|chain| chain.swinging());
        all().for_each(|joint| swings[joint.joint] = true);
        let mut found: Vec<Found<'_>> = Vec::new();
        for (chain, c) in springs.chains.iter().enumerate() {
            let swinging = c.swinging();
            for (at, joint) in swinging.iter().enumerate() {
                let below = swinging.len() - at;
                let next = c.joints.get(at + 1).map(|next| next.joint);
                let tail = joint.tail.or(next.map(|next| tail(skeleton, joint.joint, next)));
                let level = above(joint.joint).filter(|&at| swings[at]).count();
                found.push(Found { joint, chain, tail: tail.unwrap_or_default(), level, below });
            }
        }
        // Within a level longer chains first: the lanes of chains stay the same down the levels, though others end.
        found.sort_by_key(|found| (found.level, Reverse(found.below)));
        // Joints whose places are found before the springs, with all above them.
        let roots = all()
            .filter_map(|joint| parent(joint.joint))
            .filter(|&at| !swings[at] && above(at).all(|at| !swings[at]));
        let fixed = springs.colliders.iter().map(|collider| collider.joint);
        let fixed = fixed.chain(springs.chains.iter().filter_map(|chain| chain.center));
        let wanted: BTreeSet<usize> =
            roots.chain(fixed).flat_map(|at| std::iter::once(at).chain(above(at))).collect();
        let wanted: Vec<usize> = wanted.into_iter().collect();
        // The first place is the world.
        let place = |joint: Option<usize>| match joint {
            Some(joint) => wanted.binary_search(&joint).map_or(0, |at| at as u32 + 1),
            None => 0,
        };
        let mut tables = Self {
            above: wanted.iter().map(|&joint| (joint as u16, place(parent(joint)))).collect(),
            anchors: Box::default(),
            centers: Box::default(),
            colliders: (springs.colliders.iter())
                .map(|c| Collider { place: place(Some(c.joint)), shape: c.shape })
                .collect(),
            groups: Box::default(),
            teleport: springs.teleport,
        };
        let centers: BTreeSet<u32> =
            springs.chains.iter().filter_map(|c| Some(place(Some(c.center?)))).collect();
        let centers: Vec<u32> = centers.into_iter().collect();
        let mut anchors: BTreeSet<u32> = tables.colliders.iter().map(|c| c.place).collect();
        anchors.extend(&centers);
        let first = wanted.len() + 1;
        let mut lanes = vec![0u32; skeleton.len()];
        let mut groups: Vec<Group> = Vec::new();
        for level in found.chunk_by(|a, b| a.level == b.level) {
            for found in level.chunks(LANES) {
                let at = first + groups.len() * LANES;
                let mut group = Group::empty();
                let mut by: Vec<u8> = vec![0; springs.colliders.len()];
                let mut via = Vec::new();
                for lane in 0..LANES {
                    let Found { joint, chain, tail, .. } = found.get(lane).unwrap_or(&found[0]);
                    let chain = &springs.chains[*chain];
                    group.joints[lane] = joint.joint as u16;
                    let swinging = above(joint.joint).position(|at| swings[at]);
                    group.parents[lane] = match swinging {
                        Some(up) => above(joint.joint).nth(up).map_or(0, |at| lanes[at]),
                        None => place(parent(joint.joint)),
                    };
                    // Lanes behind the last joint do what the first one does.
                    chain.colliders.iter().for_each(|&c| by[c] |= 1 << lane);
                    if lane < found.len() {
                        lanes[joint.joint] = (at + lane) as u32;
                    }
                    match swinging {
                        Some(up) if up > 0 => {
                            let mut path: Vec<u16> =
                                above(joint.joint).take(up).map(|at| at as u16).collect();
                            path.reverse();
                            via.push((lane as u8, path.into()));
                        }
                        Some(_) => {}
                        None => {
                            anchors.insert(group.parents[lane]);
                        }
                    }
                    group.set(lane, joint, *tail);
                    // There are at most 255 centres, below.
                    let center = chain.center.map(|joint| place(Some(joint)));
                    let center = center.and_then(|c| centers.binary_search(&c).ok());
                    group.centers[lane] = center.map_or(0, |at| at as u8 + 1);
                }
                group.via = via.into();
                group.above = match groups.iter().position(|above| group.follows(above, skeleton)) {
                    Some(above) => Above::Group(above),
                    None if group.via.is_empty() => group.one_place(first),
                    None => Above::Each,
                };
                group.find(skeleton);
                let by = by.into_iter().enumerate().filter(|by| by.1 != 0);
                group.colliders = by.map(|(at, lanes)| (at as u16, lanes)).collect();
                groups.push(group);
            }
        }
        let anchors: Vec<u32> = anchors.into_iter().collect();
        let index = |place: &u32| anchors.binary_search(place).map_or(0, |at| at as u32);
        tables.centers = centers.iter().map(index).collect();
        tables.anchors = anchors.into();
        tables.groups = groups.into();
        tables
    }
}

/// The tail of a joint in its space: the place of a joint below in the rest pose.
fn tail(skeleton: &Skeleton, joint: usize, below: usize) -> Vec3 {
    let (mut at, mut tail) = (below, Vec3::ZERO);
    while at != joint && at < skeleton.len() {
        tail = Affine3x4::from(skeleton.rest(at)).transform_point3(tail);
        at = skeleton.parents()[at].into();
    }
    tail
}

impl Group {
    fn empty() -> Self {
        let zero = [0.0; LANES];
        Self {
            joints: [0; LANES],
            lanes: [0; LANES],
            end: 0,
            rows: [[0; LANES]; 3],
            changes: Box::default(),
            above: Above::Each,
            parents: [0; LANES],
            via: Box::default(),
            tail: [zero; 3],
            keep: zero,
            stiffness: zero,
            radius: zero,
            gravity: [zero; 3],
            colliders: Box::default(),
            centers: [0; LANES],
        }
    }

    /// Whether the parents of the joints are another group's joints, lane by lane.
    fn follows(&self, above: &Self, skeleton: &Skeleton) -> bool {
        let parents = self.joints.map(|joint| skeleton.parents()[usize::from(joint)]);
        parents == above.joints
    }

    /// The place of all parents, if it is one of the first ones.
    fn one_place(&self, first: usize) -> Above {
        let at = self.parents[0] as usize;
        let one = at < first && self.parents.iter().all(|&parent| parent as usize == at);
        if one { Above::Place(at) } else { Above::Each }
    }

    /// Finds the joints in a pose.
    fn find(&mut self, skeleton: &Skeleton) {
        self.lanes = self.joints.map(|joint| skeleton.lane_of()[usize::from(joint)]);
        let lanes = self.lanes.map(usize::from);
        self.end = lanes.into_iter().max().map_or(0, |last| last + 1);
        self.rows = [4, 8, 16].map(|width| lanes.map(|lane| scratch_row(lane, width)));
        let mut changes: Vec<(u16, u64)> = Vec::new();
        for lane in lanes {
            let (word, bit) = ((lane / 64) as u16, 1 << (lane % 64));
            match changes.iter_mut().find(|change| change.0 == word) {
                Some(change) => change.1 |= bit,
                None => changes.push((word, bit)),
            }
        }
        self.changes = changes.into();
    }

    /// Sets what a joint states.
    fn set(&mut self, lane: usize, joint: &SpringJoint, tail: Vec3) {
        let gravity = joint.gravity * STEP;
        for c in 0..3 {
            self.tail[c][lane] = tail[c];
            self.gravity[c][lane] = gravity[c];
        }
        self.keep[lane] = 1.0 - joint.drag;
        self.stiffness[lane] = joint.stiffness * STEP;
        let length = tail.length();
        self.radius[lane] = if length > 0.0 { joint.radius / length } else { 0.0 };
    }
}
