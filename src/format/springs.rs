//! Section SPRG: springs, as the source of the file states them.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::Bytes;
use crate::skeleton::springs::{MAX_SPRING_COLLIDERS, MAX_SPRING_JOINTS};
use crate::skeleton::{
    ColliderShape, Skeleton, SpringBones, SpringChain, SpringCollider, SpringJoint,
};
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// A stored collider.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Collider {
    joint: u16,
    /// 0: a capsule, 1: the inside of one, 2: a plane.
    kind: u16,
    /// Both ends, or a point and the normal; then the radius.
    numbers: [f32; 7],
}

/// A stored joint.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Joint {
    joint: u16,
    /// 1 if the tail is stated.
    has_tail: u16,
    /// Tail, gravity, radius, stiffness, drag.
    numbers: [f32; 9],
}

/// The bytes of the section.
pub(super) fn write(springs: &SpringBones) -> Vec<u8> {
    let mut out = Bytes::default();
    out.one(springs.teleport);
    out.count(springs.colliders.len());
    out.count(springs.chains.len());
    for SpringCollider { joint, shape } in &springs.colliders {
        let kind = match shape {
            ColliderShape::Capsule { inside, .. } => u16::from(*inside),
            ColliderShape::Plane { .. } => 2,
        };
        let ([a, b], radius) = shape.numbers();
        let numbers = [a.x, a.y, a.z, b.x, b.y, b.z, radius];
        out.one(Collider { joint: *joint as u16, kind, numbers });
    }
    for chain in &springs.chains {
        out.count(chain.joints.len());
        out.count(chain.colliders.len());
        out.index(chain.center);
        for j in &chain.joints {
            let (t, g) = (j.tail.unwrap_or_default(), j.gravity);
            let numbers = [t.x, t.y, t.z, g.x, g.y, g.z, j.radius, j.stiffness, j.drag];
            let has_tail = j.tail.is_some().into();
            out.one(Joint { joint: j.joint as u16, has_tail, numbers });
        }
        chain.colliders.iter().for_each(|&collider| out.count(collider));
    }
    out.0
}

/// Reads the section.
pub(super) fn read(
    mut r: SectionReader<'_>,
    skeleton: &Skeleton,
) -> Result<SpringBones, ReadError> {
    let teleport: f32 = r.one("the distance of teleports")?;
    let count = r.count("the number of colliders", size_of::<Collider>())?;
    limit(&r, "colliders of springs", count, MAX_SPRING_COLLIDERS)?;
    let chains = r.count("the number of spring chains", 12)?;
    limit(&r, "spring chains", chains, MAX_SPRING_JOINTS)?;
    let mut springs = SpringBones { teleport, ..SpringBones::default() };
    for _ in 0..count {
        let stored: Collider = r.one("a collider")?;
        let [ax, ay, az, bx, by, bz, radius] = stored.numbers;
        let [a, b] = [Vec3::new(ax, ay, az), Vec3::new(bx, by, bz)];
        let shape = match stored.kind {
            2 => ColliderShape::Plane { point: a, normal: b },
            kind => {
                let inside = r.index("the kind of a collider", kind.into(), 3)? == 1;
                ColliderShape::Capsule { ends: [a, b], radius, inside }
            }
        };
        r.charge(size_of::<SpringCollider>())?;
        springs.colliders.push(SpringCollider { joint: stored.joint.into(), shape });
    }
    let mut joints = 0;
    for _ in 0..chains {
        let (len, colliders, center): (u32, u32, u32) =
            (r.one("joints of a chain")?, r.one("colliders of a chain")?, r.one("a centre")?);
        joints += len as usize;
        limit(&r, "joints of springs", joints, MAX_SPRING_JOINTS)?;
        limit(&r, "colliders of a chain", colliders as usize, MAX_SPRING_COLLIDERS)?;
        let center = match center {
            u32::MAX => None,
            joint => Some(r.index("a centre", joint, skeleton.len())?),
        };
        r.charge(size_of::<SpringChain>() + len as usize * size_of::<SpringJoint>())?;
        r.charge(colliders as usize * size_of::<usize>())?;
        let mut chain = SpringChain { center, ..SpringChain::default() };
        for _ in 0..len {
            let stored: Joint = r.one("a joint of a chain")?;
            let [tx, ty, tz, gx, gy, gz, radius, stiffness, drag] = stored.numbers;
            let has_tail = r.bits("whether a tail is stated", stored.has_tail.into(), 1)? == 1;
            let tail = has_tail.then_some(Vec3::new(tx, ty, tz));
            let gravity = Vec3::new(gx, gy, gz);
            let joint = usize::from(stored.joint);
            chain.joints.push(SpringJoint { joint, tail, radius, stiffness, gravity, drag });
        }
        for _ in 0..colliders {
            let collider: u32 = r.one("a collider of a chain")?;
            chain.colliders.push(r.index("a collider of a chain", collider, count)?);
        }
        springs.chains.push(chain);
    }
    springs.check(skeleton).map_err(|what| r.whole(Fault::Invalid(what)))?;
    r.finish()?;
    Ok(springs)
}

fn limit(
    r: &SectionReader<'_>,
    what: &'static str,
    count: usize,
    most: usize,
) -> Result<(), ReadError> {
    if count > most { Err(r.limit(what, count as u64, most as u64)) } else { Ok(()) }
}
