//! Springs: chains of joints that swing.

use super::definitions::add;
use crate::border::*;
use crate::convert;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::glam::Vec3;
use phalanx::skeleton::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};
use std::ptr::null;

/// A joint of a chain. Its tail, a point that hangs on it, is what moves; the joint turns towards it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_spring_joint {
    /// Index of the joint.
    pub joint: u32,
    /// Not 0 if `tail` is given. Otherwise the tail is the place of the chain's next joint in the rest pose; a last joint
    /// without a tail does not swing.
    pub has_tail: u32,
    /// The tail in the space of the joint.
    pub tail: [f32; 3],
    /// Radius of the tail against colliders, in units of the model.
    pub radius: f32,
    /// The way towards where it is animated that a step adds to the tail, per second of the step, in units of the world.
    /// VRM's default is 1.
    pub stiffness: f32,
    /// The way that a step adds to the tail by gravity and wind, per second of the step, in the world and its units.
    pub gravity: [f32; 3],
    /// The share of its speed that the tail loses in a step of 1/60 s, in [0, 1]. VRM's default is 0.5.
    pub drag: f32,
}

/// A chain of joints, each below the one before; joints between them are as animated.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_spring_chain {
    /// The joints. A joint is in one chain at most.
    pub joints: *const phx_spring_joint,
    /// The number of joints.
    pub joint_count: usize,
    /// Indices of the colliders that the chain does not pass.
    pub colliders: *const u32,
    /// The number of these colliders.
    pub collider_count: usize,
    /// A joint whose movement, with that of the character, does not make the chain swing. `PHX_NONE`: none.
    pub center: u32,
}

/// The shape of a collider, in the space of its joint.
pub type phx_collider_shape = u32;
/// A capsule from `a` to `b`, or a sphere if both are one place; tails stay outside.
pub const PHX_COLLIDER_OUTSIDE: phx_collider_shape = 0;
/// The same shape; tails stay inside.
pub const PHX_COLLIDER_INSIDE: phx_collider_shape = 1;
/// All that is behind a plane through `a` with the normal `b`; tails stay on the normal's side.
pub const PHX_COLLIDER_PLANE: phx_collider_shape = 2;

/// A body that chains do not pass.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_spring_collider {
    /// Index of the joint that it hangs on.
    pub joint: u32,
    /// What `a` and `b` mean.
    pub shape: phx_collider_shape,
    /// An end of the capsule, or a point of the plane.
    pub a: [f32; 3],
    /// The other end, or the normal of the plane, of any length.
    pub b: [f32; 3],
    /// The radius of the capsule; it scales with the joint.
    pub radius: f32,
}

/// Chains of joints that swing: hair, tails, clothes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_springs {
    /// The size of this struct.
    pub size: usize,
    /// The chains.
    pub chains: *const phx_spring_chain,
    /// The number of chains.
    pub chain_count: usize,
    /// Bodies that chains do not pass, at most 1,024.
    pub colliders: *const phx_spring_collider,
    /// The number of colliders.
    pub collider_count: usize,
    /// The farthest that a character moves in a step of 1/60 s, in units of the world: beyond, chains start again at
    /// rest. Above 0. Default 2.
    pub teleport: f32,
}

extensible!(
    phx_springs,
    Self {
        size: size_of::<Self>(),
        chains: null(),
        chain_count: 0,
        colliders: null(),
        collider_count: 0,
        teleport: 2.0,
    }
);

/// # Safety
/// The caller's promise of the arrays.
pub(super) unsafe fn springs(springs: &phx_springs) -> Result<SpringBones, Error> {
    // SAFETY: as above.
    let (chains, colliders) = unsafe {
        (
            array(springs.chains, springs.chain_count, "the chains of phx_springs")?,
            array(springs.colliders, springs.collider_count, "the colliders of phx_springs")?,
        )
    };
    // SAFETY: as above.
    let chains = chains.iter().map(|chain| unsafe { self::chain(chain) });
    let colliders = colliders.iter().map(collider);
    Ok(SpringBones {
        chains: chains.collect::<Result<_, _>>()?,
        colliders: colliders.collect::<Result<_, _>>()?,
        teleport: springs.teleport,
    })
}

/// # Safety
/// The caller's promise of the arrays.
unsafe fn chain(chain: &phx_spring_chain) -> Result<SpringChain, Error> {
    // SAFETY: as above.
    let (joints, colliders) = unsafe {
        (
            array(chain.joints, chain.joint_count, "the joints of phx_spring_chain")?,
            array(chain.colliders, chain.collider_count, "the colliders of phx_spring_chain")?,
        )
    };
    let joint = |j: &phx_spring_joint| SpringJoint {
        joint: j.joint as usize,
        tail: (j.has_tail != 0).then(|| Vec3::from_array(j.tail)),
        radius: j.radius,
        stiffness: j.stiffness,
        gravity: Vec3::from_array(j.gravity),
        drag: j.drag,
    };
    Ok(SpringChain {
        joints: joints.iter().map(joint).collect(),
        colliders: colliders.iter().map(|&collider| collider as usize).collect(),
        center: convert::some(chain.center),
    })
}

fn collider(c: &phx_spring_collider) -> Result<SpringCollider, Error> {
    let ends = [c.a, c.b].map(Vec3::from_array);
    let capsule = |inside| ColliderShape::Capsule { ends, radius: c.radius, inside };
    let plane = ColliderShape::Plane { point: ends[0], normal: ends[1] };
    let shapes = [capsule(false), capsule(true), plane];
    let shape = convert::choice("the shape of a collider", c.shape, &shapes)?;
    Ok(SpringCollider { joint: c.joint as usize, shape })
}

/// Adds springs to a rig of a crowd, as `phx_crowd_add_two_bone_ik` does; null for those of the rig's file. They have no
/// targets. Frames step them, on a grid of 1/60 s of the crowd's time.
///
/// PHX_ERROR_VALUE: there are no chains, joints or numbers that the rig refuses, or an unknown shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_springs(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    definition: *const phx_springs,
    out: *mut phx_modifier_id,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe {
        let springs = if definition.is_null() {
            share(crowd)?.crowd.rig(convert::rig_id(rig)?)?.springs().clone()
        } else {
            self::springs(&options(definition)?)?
        };
        add(crowd, rig, springs, out)
    })
}
