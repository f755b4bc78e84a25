//! `SpringBones`: chains of joints that swing, and what they do not pass, as VRM files state them.

use super::Skeleton;
use crate::math::Fnv1a;
use crate::words::{number, shorten};
use glam::Vec3;

/// The most joints that swing, of all chains.
pub const MAX_SPRING_JOINTS: usize = 4096;

/// The most colliders.
pub const MAX_SPRING_COLLIDERS: usize = 1024;

/// The most joints that are centres of chains.
const MAX_CENTERS: usize = 255;

/// The largest setting of a spring: radius, stiffness, gravity.
const MAX_SETTING: f32 = 1.0e6;

/// Joints that swing behind their parents and come back to where they are animated: hair, tails, ribbons, skirts.
///
/// A rig has those of its file ([`Rig::springs`](crate::rig::Rig::springs)); others are made in code. They swing where a
/// crowd or mixer has them as a [modifier](crate::playback::Modifier). Joints are given by index.
///
/// ```
/// use phalanx::skeleton::{SpringBones, SpringChain, SpringJoint};
///
/// let joint = |joint| SpringJoint { stiffness: 0.8, drag: 0.4, ..SpringJoint::new(joint) };
/// // The last joint ends the chain: it only tells where the tail of the one before is.
/// let tail = SpringChain { joints: [4, 5, 6, 7].map(joint).to_vec(), ..SpringChain::default() };
/// let springs = SpringBones { chains: vec![tail], ..SpringBones::default() };
/// # assert_eq!(springs.chains[0].joints.len(), 4);
/// ```
///
/// Source: VRM 1.0, `VRMC_springBone` and `VRMC_springBone_extended_collider`; VRM 0.x, `secondaryAnimation`.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringBones {
    /// The chains. A joint is in one chain at most.
    pub chains: Vec<SpringChain>,
    /// Bodies that the joints of chains do not pass, at most 1,024.
    pub colliders: Vec<SpringCollider>,
    /// The farthest that an instance moves in a step of 1/60 s, in units of the world: beyond, the joints do not swing
    /// after it, but start again at rest. Above 0. Default 2.
    pub teleport: f32,
}

/// A chain of joints, each below the one before; joints between them are as animated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpringChain {
    /// The joints. A last joint without a [tail](SpringJoint::tail) does not swing: it is the tail of the one before.
    pub joints: Vec<SpringJoint>,
    /// Indices of the [colliders](SpringBones::colliders) that the chain does not pass.
    pub colliders: Vec<usize>,
    /// A joint whose movement, with that of the instance, makes the chain not swing: tails keep their speed in its space.
    /// Default: none, the world.
    pub center: Option<usize>,
}

/// A joint that swings. Its tail, a point that hangs on it, is what moves; the joint turns towards it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringJoint {
    /// Index of the joint.
    pub joint: usize,
    /// The tail in the space of the joint. Default: the place of the chain's next joint in the rest pose.
    pub tail: Option<Vec3>,
    /// Radius of the tail against colliders, in units of the model. Default 0.
    pub radius: f32,
    /// The way towards where it is animated that a step adds to the tail, per second of the step, in units of the world.
    /// Default 1.
    pub stiffness: f32,
    /// The way that a step adds to the tail by gravity and wind, per second of the step, in the world and its units. In
    /// VRM's words, `gravityPower` × `gravityDir`. Default (0, 0, 0).
    pub gravity: Vec3,
    /// The share of its speed that the tail loses in a step of 1/60 s, in [0, 1]. Default 0.5.
    pub drag: f32,
}

/// A body at a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringCollider {
    /// Index of the joint.
    pub joint: usize,
    /// The body, in the space of the joint.
    pub shape: ColliderShape,
}

/// The shape of a collider. Radii scale with the largest scale of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColliderShape {
    /// All points within a radius of a line; of a point, if both ends are one.
    Capsule {
        /// The ends of the line.
        ends: [Vec3; 2],
        /// The radius.
        radius: f32,
        /// Whether tails are kept inside, not outside.
        inside: bool,
    },
    /// All that is behind a plane.
    Plane {
        /// A point of the plane.
        point: Vec3,
        /// Direction away from it, to the side where tails are; of any length.
        normal: Vec3,
    },
}

impl Default for SpringBones {
    fn default() -> Self {
        Self { chains: Vec::new(), colliders: Vec::new(), teleport: 2.0 }
    }
}

impl SpringJoint {
    /// A joint with the defaults of VRM 1.0.
    pub fn new(joint: usize) -> Self {
        let gravity = Vec3::ZERO;
        Self { joint, tail: None, radius: 0.0, stiffness: 1.0, gravity, drag: 0.5 }
    }
}

impl SpringChain {
    /// The joints that swing.
    pub(crate) fn swinging(&self) -> &[SpringJoint] {
        match self.joints.split_last() {
            Some((last, others)) if last.tail.is_none() => others,
            _ => &self.joints,
        }
    }
}

impl ColliderShape {
    /// A sphere.
    pub fn sphere(center: Vec3, radius: f32) -> Self {
        Self::Capsule { ends: [center; 2], radius, inside: false }
    }

    /// Two points, or a point and a direction; radius and whether it is an inside.
    pub(crate) fn numbers(&self) -> ([Vec3; 2], f32) {
        match *self {
            Self::Capsule { ends, radius, .. } => (ends, radius),
            Self::Plane { point, normal } => ([point, normal], 0.0),
        }
    }
}

/// Checks that a number is within its range.
fn within(what: &str, value: f32, low: f32, high: f32) -> Result<(), String> {
    if value >= low && value <= high {
        return Ok(());
    }
    let [value, low, high] = [value, low, high].map(|v| number(f64::from(v)));
    Err(format!("{what} is {value}, outside {low} to {high}"))
}

fn all_within(what: &str, v: Vec3) -> Result<(), String> {
    v.to_array().into_iter().try_for_each(|v| within(what, v, -MAX_SETTING, MAX_SETTING))
}

impl SpringBones {
    /// Whether no joint swings.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Checks the springs of a skeleton: what is wrong, with the names of joints.
    pub(crate) fn check(&self, skeleton: &Skeleton) -> Result<(), String> {
        within("the distance of teleports", self.teleport, f32::MIN_POSITIVE, f32::MAX)?;
        let joints: usize = self.chains.iter().map(|chain| chain.joints.len()).sum();
        let mut centers: Vec<usize> = self.chains.iter().filter_map(|c| c.center).collect();
        centers.sort_unstable();
        centers.dedup();
        let counts = [
            ("joints", joints, MAX_SPRING_JOINTS),
            ("centres", centers.len(), MAX_CENTERS),
            ("colliders", self.colliders.len(), MAX_SPRING_COLLIDERS),
        ];
        for (what, count, limit) in counts {
            if count > limit {
                return Err(format!("springs have {count} {what}; the limit is {limit}"));
            }
        }
        for (at, collider) in self.colliders.iter().enumerate() {
            let check = || {
                known(skeleton, collider.joint)?;
                let ([a, b], radius) = collider.shape.numbers();
                all_within("a place", a)?;
                all_within("a place", b)?;
                within("the radius", radius, 0.0, MAX_SETTING)?;
                let flat = matches!(collider.shape, ColliderShape::Plane { .. });
                match flat && b.try_normalize().is_none() {
                    true => Err(format!("the normal is {b}, which has no direction")),
                    false => Ok(()),
                }
            };
            check().map_err(|what| format!("collider {at}: {what}"))?;
        }
        let mut taken = vec![None; skeleton.len()];
        for (at, chain) in self.chains.iter().enumerate() {
            self.check_chain((at, chain), skeleton, &mut taken)
                .map_err(|what| format!("spring chain {at}: {what}"))?;
        }
        Ok(())
    }

    fn check_chain(
        &self,
        (at, chain): (usize, &SpringChain),
        skeleton: &Skeleton,
        taken: &mut [Option<usize>],
    ) -> Result<(), String> {
        if chain.swinging().is_empty() {
            return Err("no joint has a tail".into());
        }
        chain.center.map_or(Ok(()), |center| known(skeleton, center))?;
        if let Some(none) = chain.colliders.iter().find(|&&c| c >= self.colliders.len()) {
            return Err(format!("there is no collider {none} of {}", self.colliders.len()));
        }
        for (place, joint) in chain.joints.iter().enumerate() {
            known(skeleton, joint.joint)?;
            let name = || quoted(skeleton, joint.joint);
            if place > 0 {
                let above = chain.joints[place - 1].joint;
                if !is_below(skeleton, joint.joint, above) {
                    return Err(format!("{} is not below {}", name(), quoted(skeleton, above)));
                }
            }
            if place >= chain.swinging().len() {
                continue;
            }
            if let Some(other) = taken[joint.joint].replace(at) {
                return Err(format!("{} is in chain {other}, too", name()));
            }
            let settings = || {
                all_within("the tail", joint.tail.unwrap_or_default())?;
                all_within("gravity", joint.gravity)?;
                within("the radius", joint.radius, 0.0, MAX_SETTING)?;
                within("the stiffness", joint.stiffness, 0.0, MAX_SETTING)?;
                within("the drag", joint.drag, 0.0, 1.0)
            };
            settings().map_err(|what| format!("{}: {what}", name()))?;
        }
        Ok(())
    }

    /// The springs with other indices of joints. A chain of which a joint is lost is left out, as is a collider; `lost` is
    /// told both.
    pub(crate) fn mapped(
        &self,
        place: impl Fn(usize) -> Option<usize>,
        mut lost: impl FnMut(String),
    ) -> Self {
        let mut left = vec![None; self.colliders.len()];
        let mut colliders = Vec::new();
        for (at, collider) in self.colliders.iter().enumerate() {
            match place(collider.joint) {
                Some(joint) => {
                    left[at] = Some(colliders.len());
                    colliders.push(SpringCollider { joint, ..*collider });
                }
                None => lost(format!("collider {at}: its node {} is no joint", collider.joint)),
            }
        }
        let mut chains = Vec::new();
        for (at, chain) in self.chains.iter().enumerate() {
            let moved =
                |j: &SpringJoint| Ok(SpringJoint { joint: place(j.joint).ok_or(j.joint)?, ..*j });
            match chain.joints.iter().map(moved).collect::<Result<Vec<_>, usize>>() {
                Ok(joints) => chains.push(SpringChain {
                    joints,
                    colliders: chain.colliders.iter().filter_map(|&c| *left.get(c)?).collect(),
                    center: chain.center.and_then(&place),
                }),
                Err(node) => lost(format!("spring chain {at}: its node {node} is no joint")),
            }
        }
        Self { chains, colliders, teleport: self.teleport }
    }

    /// The joints, or nodes, that are named.
    pub(crate) fn joints(&self) -> impl Iterator<Item = usize> {
        let chains = self.chains.iter();
        let all = chains.flat_map(|c| c.joints.iter().map(|j| j.joint).chain(c.center));
        all.chain(self.colliders.iter().map(|collider| collider.joint))
    }

    /// Tails, gravities, places and directions.
    pub(crate) fn vectors(&mut self) -> impl Iterator<Item = &mut Vec3> {
        let Self { chains, colliders, .. } = self;
        let joints = chains.iter_mut().flat_map(|chain| &mut chain.joints);
        let of_shape = |shape| match shape {
            &mut ColliderShape::Capsule { ends: [ref mut a, ref mut b], .. } => [a, b],
            ColliderShape::Plane { point, normal } => [point, normal],
        };
        let shapes = colliders.iter_mut().flat_map(move |collider| of_shape(&mut collider.shape));
        joints.flat_map(|joint| joint.tail.iter_mut().chain([&mut joint.gravity])).chain(shapes)
    }

    /// The springs without the chains that do not fit a skeleton, which `lost` is told.
    pub(crate) fn fitting(mut self, skeleton: &Skeleton, mut lost: impl FnMut(String)) -> Self {
        let mut taken = vec![None; skeleton.len()];
        let chains = std::mem::take(&mut self.chains);
        let mut fitting = self.clone();
        for (at, chain) in chains.into_iter().enumerate() {
            match self.check_chain((at, &chain), skeleton, &mut taken) {
                Ok(()) => fitting.chains.push(chain),
                Err(what) => {
                    lost(format!("spring chain {at}: {what}"));
                    taken.iter_mut().filter(|of| **of == Some(at)).for_each(|of| *of = None);
                }
            }
        }
        if let Err(what) = fitting.check(skeleton) {
            lost(what);
            return Self::default();
        }
        fitting
    }

    /// A hash of all that is set: the same on every machine.
    pub(crate) fn hash(&self) -> u64 {
        let mut h = Fnv1a::default();
        h.write(b"springs");
        h.write_f32(self.teleport);
        let vector = |h: &mut Fnv1a, v: Vec3| v.to_array().into_iter().for_each(|v| h.write_f32(v));
        h.write_u64(self.colliders.len() as u64);
        for SpringCollider { joint, shape } in &self.colliders {
            let inside = match shape {
                ColliderShape::Capsule { inside, .. } => u64::from(*inside),
                ColliderShape::Plane { .. } => 2,
            };
            h.write_u64((*joint as u64) << 2 | inside);
            let (at, radius) = shape.numbers();
            at.into_iter().for_each(|v| vector(&mut h, v));
            h.write_f32(radius);
        }
        for chain in &self.chains {
            h.write_u64(chain.joints.len() as u64);
            for j in &chain.joints {
                h.write_u64((j.joint as u64) << 1 | u64::from(j.tail.is_some()));
                vector(&mut h, j.tail.unwrap_or_default());
                vector(&mut h, j.gravity);
                [j.radius, j.stiffness, j.drag].into_iter().for_each(|v| h.write_f32(v));
            }
            h.write_u64(chain.colliders.len() as u64);
            chain.colliders.iter().for_each(|&c| h.write_u64(c as u64));
            h.write_u64(chain.center.map_or(0, |center| center as u64 + 1));
        }
        h.finish()
    }
}

/// Whether a joint is below another one.
fn is_below(skeleton: &Skeleton, joint: usize, above: usize) -> bool {
    let parents = skeleton.parents();
    let next = |&at: &usize| parents.get(at).map(|&parent| usize::from(parent));
    std::iter::successors(next(&joint), next).any(|at| at == above)
}

fn known(skeleton: &Skeleton, joint: usize) -> Result<(), String> {
    skeleton.joint(joint).map(|_| ()).map_err(|unknown| unknown.to_string())
}

fn quoted(skeleton: &Skeleton, joint: usize) -> String {
    format!("joint {joint} (\"{}\")", shorten(&skeleton.names()[joint]))
}
