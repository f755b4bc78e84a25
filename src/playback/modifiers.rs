//! Modifiers: what changes poses after blending. Definitions belong to a rig in a crowd or mixer, inputs to instances.

mod aim;
mod feet;
mod hook;
mod springs;
mod target;
mod two_bone_ik;

pub use aim::Aim;
pub use feet::{Feet, Foot, Ground};
pub use hook::Hook;
pub use target::{Space, Target};
pub use two_bone_ik::TwoBoneIk;

use super::error::PlaybackError;
use crate::evaluate::Change;
use crate::rig::Rig;
use crate::skeleton::{Skeleton, SpringBones};
use crate::words::shorten;
use glam::Vec3;

/// The most modifiers of one rig.
pub const MAX_MODIFIERS: usize = 63;

/// The definition of a modifier of a rig's instances: [`Crowd::add_modifier`](crate::crowd::Crowd::add_modifier).
///
/// Modifiers change the blended local pose of an instance before the hierarchy is composed, after its overrides, in the
/// order of their handles' indices. Palettes, watched joints and mirrors follow. An instance whose weight of a modifier
/// is 0 is not changed by it, and costs nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Modifier {
    /// Bends two bones so that their end reaches a target.
    TwoBoneIk(TwoBoneIk),
    /// Turns one joint or a chain so that the last one looks at a target.
    Aim(Aim),
    /// Puts feet on the ground.
    Feet(Feet),
    /// Lets chains of joints swing: hair, tails, clothes.
    ///
    /// Tails step on a grid of 1/60 s of the crowd's time, so a stiffness means the same at any frame rate; between two
    /// steps they are interpolated. What steps them are frames, and [`Mixer::evaluate`](super::Mixer::evaluate): once for
    /// a time, however often they are evaluated. Calls that read a pose see them as a frame would show them, and step
    /// nothing.
    ///
    /// - An instance that was not evaluated, as it is far away, catches up four steps at most, between its last pose and
    ///   its present one; after up to half a step more, the last four of them. Beyond, and when its weight leaves 0, it
    ///   starts at rest. So do all after [`Crowd::teleport`](crate::crowd::Crowd::teleport), and those that move
    ///   [too far](SpringBones::teleport) in a step.
    /// - Joints swing about the pose that comes in: a clip that animates them goes on. If a frame takes several steps, the
    ///   joints above chains, of colliders and of centres move between them; those within chains have their present local
    ///   transforms in all.
    /// - Lengths of bones are kept, with any scales. A joint below a scale of 0, or whose tail is in its own place, is as
    ///   animated. Settings are in units of the world, whatever the scale; radii scale with the model.
    /// - At a weight below 1 every joint turns in part.
    /// - A call that lets a weight leave 0 allocates the state of the character. The first frame in which a thread swings
    ///   springs allocates its buffers.
    /// - With tiers an instance that has a weight is not interpolated. Tiers may leave springs out
    ///   ([`Tier::springs`](crate::crowd::Tier::springs)).
    Springs(SpringBones),
    /// Calls the host's code.
    Hook(Hook),
}

/// A modifier of a rig, as it is evaluated.
#[derive(Debug)]
pub(crate) struct Definition {
    pub change: Change,
    /// The joints that may change.
    pub joints: Box<[u16]>,
    /// The joints whose local matrices it reads, as bits.
    reads: Box<[u64]>,
    /// One more than the last lane of a joint that may change, or of one above it.
    pub lanes: usize,
    /// The largest factor on the distances between joints.
    pub stretch: f32,
    /// By how much vertices move beyond where turns of the joints take them, in model space.
    pub moves: f32,
    /// By foot the markers that put it down and lift it.
    pub markers: Box<[Option<[String; 2]>]>,
    /// The hash of its kind's fields and joints.
    pub hash: u64,
}

impl Definition {
    /// Checks a modifier against a skeleton.
    pub fn new(modifier: &Modifier, rig: &Rig) -> Result<Self, PlaybackError> {
        match modifier {
            Modifier::TwoBoneIk(ik) => ik.define(rig),
            Modifier::Aim(aim) => aim.define(rig),
            Modifier::Feet(feet) => feet.define(rig),
            Modifier::Springs(of) => springs::define(of, rig),
            Modifier::Hook(hook) => hook.define(rig),
        }
    }

    pub fn is_hook(&self) -> bool {
        matches!(self.change, Change::Hook)
    }

    /// Whether it reads what another modifier changes.
    #[inline]
    pub fn reads_of(&self, other: &Self) -> bool {
        let reads = |joint: usize| self.reads[joint / 64] >> (joint % 64) & 1 == 1;
        other.joints.iter().any(|&joint| reads(joint.into()))
    }

    /// A modifier that changes these joints, and reads them, `further` ones, and all joints above those. `hash` is that
    /// of its kind's fields.
    fn of(
        rig: &Rig,
        change: Change,
        (joints, further): (Vec<u16>, Option<usize>),
        hash: u64,
    ) -> Result<Self, PlaybackError> {
        let skeleton = rig.skeleton();
        let all = || joints.iter().flat_map(|&joint| above(skeleton, joint.into()));
        if let Some(out) = all().find(|&joint| !rig.is_evaluated(joint.into())) {
            let joint = quoted(skeleton, out.into());
            return Err(refused(format!("{joint} is left out of this detail")));
        }
        let lanes = all().map(|joint| usize::from(skeleton.lane_of()[usize::from(joint)]) + 1);
        let lanes = lanes.max().unwrap_or(0);
        let mut reads = vec![0; skeleton.len().div_ceil(64)].into_boxed_slice();
        for joint in all().chain(further.into_iter().flat_map(|joint| above(skeleton, joint))) {
            reads[usize::from(joint) / 64] |= 1 << (joint % 64);
        }
        let (joints, markers) = (joints.into(), Box::default());
        Ok(Self { change, joints, reads, lanes, stretch: 1.0, moves: 0.0, markers, hash })
    }
}

fn refused(what: String) -> PlaybackError {
    PlaybackError::Modifier { what }
}

/// A joint and all joints above it.
fn above(skeleton: &Skeleton, joint: usize) -> impl Iterator<Item = u16> {
    let parents = skeleton.parents();
    let next = |joint: &u16| {
        let parent = parents[usize::from(*joint)];
        (usize::from(parent) < parents.len()).then_some(parent)
    };
    std::iter::successors(Some(joint as u16), next)
}

/// The joints below `from`, down to `to`; `None` if `to` is not below `from`.
fn below(skeleton: &Skeleton, from: usize, to: usize) -> Option<Vec<u16>> {
    let mut path: Vec<u16> = above(skeleton, to).collect();
    let at = path.iter().position(|&joint| usize::from(joint) == from)?;
    path.truncate(at);
    path.reverse();
    (!path.is_empty()).then_some(path)
}

/// A joint as errors name it.
fn quoted(skeleton: &Skeleton, joint: usize) -> String {
    format!("joint {joint} (\"{}\")", shorten(&skeleton.names()[joint]))
}

fn unit(what: &str, v: Vec3) -> Result<Vec3, PlaybackError> {
    let unit = v.try_normalize();
    unit.ok_or_else(|| refused(format!("{what} is {v}, which has no direction")))
}
