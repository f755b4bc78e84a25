//! The springs of VRM files: `VRMC_springBone` of 1.0 with `VRMC_springBone_extended_collider`, and `secondaryAnimation` of
//! VRM 0.x. Whether they fit a skeleton is checked when rigs are built.
//!
//! Sources: vrm-c/vrm-specification; for 0.x, UniVRM, which writes vectors of Unity's left-handed space: their z is that of
//! glTF with the other sign.

use super::document::Extensions;
use super::limits::Notes;
use crate::math::Affine3x4;
use crate::raw::RawNode;
use crate::skeleton::springs::{MAX_SPRING_COLLIDERS, MAX_SPRING_JOINTS};
use crate::skeleton::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};
use glam::Vec3;
use serde_json::Value;
use std::collections::BTreeSet;

/// The length of the tail of a last bone in VRM 0.x, in metres.
const LAST_BONE: f32 = 0.07;

/// The largest number of a shape; others are moved into it.
const MOST: f32 = 1.0e6;

/// Springs with indices of nodes. `children` are those of every node, in the order of the file.
pub(super) fn springs(
    extensions: &Extensions,
    nodes: &[RawNode],
    children: &[Vec<usize>],
    notes: &mut Notes,
) -> SpringBones {
    let mut read = Read { nodes, notes, joints: 0, out: SpringBones::default() };
    if let Some(springs) = &extensions.spring_bone {
        read.newest(springs);
    } else if let Some(old) =
        extensions.vrm_0.as_ref().and_then(|vrm| vrm.get("secondaryAnimation"))
    {
        read.oldest(old, children);
    }
    read.out
}

struct Read<'a> {
    nodes: &'a [RawNode],
    notes: &'a mut Notes,
    /// The number of joints of all chains.
    joints: usize,
    out: SpringBones,
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn number(value: &Value, key: &str, default: f32) -> f32 {
    value.get(key).and_then(Value::as_f64).map_or(default, |v| v as f32)
}

/// A vector of three numbers, or with named components. A component that is missing is 0, as three-vrm reads it: the
/// default is that of the whole vector.
fn vector(value: Option<&Value>, default: Vec3) -> Vec3 {
    let Some(value) = value.filter(|v| v.is_array() || v.is_object()) else { return default };
    let at = |n: usize, name: &str| {
        let v = value.get(n).or_else(|| value.get(name)).and_then(Value::as_f64);
        v.map_or(0.0, |v| (v as f32).clamp(-MOST, MOST))
    };
    Vec3::new(at(0, "x"), at(1, "y"), at(2, "z"))
}

fn index(value: Option<&Value>, have: usize) -> Option<usize> {
    let index = value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    index.filter(|&n| n < have)
}

impl Read<'_> {
    fn dropped(&mut self, what: &str, at: usize, message: &str) {
        self.notes.dropped(format!("springs, {what} {at}"), message);
    }

    /// VRM 1.0.
    fn newest(&mut self, springs: &Value) {
        let mut places = Vec::new();
        for (at, collider) in list(springs, "colliders").enumerate() {
            let node = index(collider.get("node"), self.nodes.len());
            let extended = collider.pointer("/extensions/VRMC_springBone_extended_collider/shape");
            let shape = extended.and_then(shape).or_else(|| shape(collider.get("shape")?));
            let (Some(joint), Some(shape)) = (node, shape) else {
                self.dropped("collider", at, "it has no node, or no shape");
                places.push(None);
                continue;
            };
            places.push(self.add_collider(at, SpringCollider { joint, shape }));
        }
        let groups: Vec<Vec<usize>> = list(springs, "colliderGroups")
            .map(|group| {
                let all = list(group, "colliders");
                let all = all.filter_map(|c| places[index(Some(c), places.len())?]);
                // Each once, in the order of the file.
                let mut seen = BTreeSet::new();
                all.filter(|&collider| seen.insert(collider)).collect()
            })
            .collect();
        for (at, spring) in list(springs, "springs").enumerate() {
            if self.joints > MAX_SPRING_JOINTS {
                break;
            }
            let joints: Option<Vec<SpringJoint>> = list(spring, "joints")
                .map(|joint| {
                    let node = index(joint.get("node"), self.nodes.len())?;
                    let direction = vector(joint.get("gravityDir"), Vec3::NEG_Y);
                    Some(settings(joint, node, "stiffness", direction))
                })
                .collect();
            let Some(mut joints) = joints else {
                self.dropped("spring", at, "a joint has no node");
                continue;
            };
            // The last one is a place alone, and need not be a joint of the skeleton.
            let last = joints.pop().zip(joints.last_mut());
            let tail = last.and_then(|(end, joint)| {
                joint.tail = Some(tail(self.nodes, joint.joint, end.joint)?);
                joint.tail
            });
            if tail.is_none() {
                self.dropped("spring", at, "its last joint is not below another one");
                continue;
            }
            let center = index(spring.get("center"), self.nodes.len());
            self.push(joints, list(spring, "colliderGroups"), &groups, center);
        }
    }

    /// VRM 0.x: all nodes below the listed ones swing.
    fn oldest(&mut self, old: &Value, children: &[Vec<usize>]) {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, group) in list(old, "colliderGroups").enumerate() {
            let Some(joint) = index(group.get("node"), self.nodes.len()) else {
                self.dropped("collider group", at, "it has no node");
                groups.push(Vec::new());
                continue;
            };
            let mut of_group = Vec::new();
            for sphere in list(group, "colliders") {
                let offset = mirrored(vector(sphere.get("offset"), Vec3::ZERO));
                let shape = ColliderShape::sphere(offset, radius(sphere));
                of_group.extend(self.add_collider(at, SpringCollider { joint, shape }));
            }
            groups.push(of_group);
        }
        let mut taken = vec![false; self.nodes.len()];
        for (at, group) in list(old, "boneGroups").enumerate() {
            let direction = mirrored(vector(group.get("gravityDir"), Vec3::NEG_Y));
            let center = index(group.get("center"), self.nodes.len());
            let mut roots = Vec::new();
            for bone in list(group, "bones") {
                match index(Some(bone), self.nodes.len()) {
                    Some(node) => roots.push(node),
                    None => self.dropped("bone group", at, "a bone is no node"),
                }
            }
            roots.reverse();
            // Down the first children; the others begin chains of their own.
            while let Some(root) = roots.pop() {
                let (mut joints, mut next) = (Vec::new(), Some(root));
                while let Some(node) = next.filter(|&n| !std::mem::replace(&mut taken[n], true)) {
                    let below = children.get(node).map_or(&[][..], |below| below);
                    let joint = settings(group, node, "stiffiness", direction);
                    let tail = below.first().and_then(|&first| tail(self.nodes, node, first));
                    let tail = Some(tail.unwrap_or_else(|| last_tail(&self.nodes[node])));
                    joints.push(SpringJoint { tail, ..joint });
                    roots.extend(below.iter().skip(1).rev());
                    next = below.first().copied();
                }
                if !joints.is_empty() {
                    self.push(joints, list(group, "colliderGroups"), &groups, center);
                }
            }
        }
    }

    /// The index of a collider, unless there are too many.
    fn add_collider(&mut self, at: usize, collider: SpringCollider) -> Option<usize> {
        let index = self.out.colliders.len();
        if index == MAX_SPRING_COLLIDERS {
            self.dropped("collider", at, "there are too many");
            return None;
        }
        self.out.colliders.push(collider);
        Some(index)
    }

    fn push<'v>(
        &mut self,
        joints: Vec<SpringJoint>,
        of: impl Iterator<Item = &'v Value>,
        groups: &[Vec<usize>],
        center: Option<usize>,
    ) {
        self.joints += joints.len();
        if self.joints > MAX_SPRING_JOINTS {
            let message = format!("springs have more than {MAX_SPRING_JOINTS} joints");
            return self.dropped("chain", self.out.chains.len(), &message);
        }
        let (mut known, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut colliders = Vec::new();
        for group in of.filter_map(|group| index(Some(group), groups.len())) {
            if known.insert(group) {
                let new = groups[group].iter().filter(|&&collider| seen.insert(collider));
                colliders.extend(new);
            }
        }
        self.out.chains.push(SpringChain { joints, colliders, center });
    }
}

/// A vector of VRM 0.x in the space of glTF.
fn mirrored(v: Vec3) -> Vec3 {
    Vec3::new(v.x, v.y, -v.z)
}

fn radius(shape: &Value) -> f32 {
    number(shape, "radius", 0.0).clamp(0.0, MOST)
}

fn settings(stated: &Value, joint: usize, stiffness: &str, direction: Vec3) -> SpringJoint {
    SpringJoint {
        joint,
        tail: None,
        radius: number(stated, "hitRadius", 0.0),
        stiffness: number(stated, stiffness, 1.0),
        gravity: direction * number(stated, "gravityPower", 0.0),
        drag: number(stated, "dragForce", 0.5).clamp(0.0, 1.0),
    }
}

/// The shape of a collider in VRM 1.0.
fn shape(value: &Value) -> Option<ColliderShape> {
    let point = |of: &Value, key: &str| vector(of.get(key), Vec3::ZERO);
    let inside = |of: &Value| of.get("inside").and_then(Value::as_bool).unwrap_or(false);
    if let Some(sphere) = value.get("sphere") {
        let ends = [point(sphere, "offset"); 2];
        return Some(ColliderShape::Capsule {
            ends,
            radius: radius(sphere),
            inside: inside(sphere),
        });
    }
    if let Some(of) = value.get("capsule") {
        let ends = [point(of, "offset"), point(of, "tail")];
        return Some(ColliderShape::Capsule { ends, radius: radius(of), inside: inside(of) });
    }
    let plane = value.get("plane")?;
    let normal = vector(plane.get("normal"), Vec3::Z);
    normal.try_normalize()?;
    Some(ColliderShape::Plane { point: point(plane, "offset"), normal })
}

/// The place of a node in the space of one above it; `None` if it is not below.
fn tail(nodes: &[RawNode], above: usize, mut at: usize) -> Option<Vec3> {
    let mut tail = Vec3::ZERO;
    for _ in 0..nodes.len() {
        if at == above {
            return Some(tail);
        }
        tail = Affine3x4::from(nodes[at].local).transform_point3(tail);
        at = nodes[at].parent?;
    }
    None
}

/// The tail of a last bone in VRM 0.x: 7 cm on from its parent.
fn last_tail(node: &RawNode) -> Vec3 {
    node.local.rotation.inverse() * (node.local.translation.normalize_or_zero() * LAST_BONE)
}
