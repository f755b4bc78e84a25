//! `Plan`: what has to be computed for a sequence of clips, found once and shared by all instances
//! that play it. Joints that no clip of the sequence moves fold into constants; a constant joint
//! below a moving one costs one product; every block of every clip is looked up in advance.

mod fold;
mod steps;
mod tracks;

use crate::clip::Clip;
use crate::math::{LANES, Row};
use crate::rig::Rig;
use crate::simd::Walk;
use crate::skeleton::{JointMask, NO_JOINT};
use fold::Values;
use std::ops::Range;
use std::sync::Arc;

/// Where a group of lanes takes a channel from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Rows of the plan: no clip moves these lanes.
    Fixed(u32),
    /// Sampled and blended: registers of the pose, from this one on.
    Varying(u32),
    /// Scale 1 in every lane that is read.
    One,
}

/// As many lanes of a block as a register holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Group {
    /// First lane within its block.
    pub lane: u8,
    pub translation: Source,
    pub rotation: Source,
    pub scale: Source,
}

/// A channel of a group that is sampled and blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slot {
    /// Its first register in the pose.
    pub register: u32,
    /// Rows of the plan that hold the rest pose.
    pub rest: u32,
    /// First lane within its block.
    pub lane: u8,
}

/// How a slot takes its values from one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrackKind {
    /// Rows of the plan.
    Fixed,
    /// Rows of the clip; rotations whose keys lie so close that lerp needs no correction.
    Linear,
    /// Rows of the clip, rotations along the great circle.
    Slerp,
    /// Rows of the clip with tangents.
    Cubic,
    /// `Linear` over integers; `row` is that of the ranges.
    Packed,
    /// `Slerp` over integers.
    PackedSlerp,
}

/// One action's part in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Track {
    /// First row, of the plan or of the clip.
    pub row: u32,
    /// The group's first integer, if it is packed,
    pub integer: u32,
    /// and how far apart the integers of two components lie.
    pub stride: u8,
    /// Its timeline's cursor, among those of all actions.
    pub cursor: u32,
    /// The slot's first register in the pose.
    pub register: u32,
    /// The layer's mask, for additive clips.
    pub mask: GroupMask,
    /// Lanes of the group that hold a key's value until the next (bit 0: its first lane).
    pub hold: u16,
    pub kind: TrackKind,
    /// First lane within the block.
    pub lane: u8,
}

/// A slot that no action of a layer moves, though their constants differ: its weighted sum needs no
/// sampling and no choice between `q` and `-q`, for the rows lie on one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Still {
    /// First row of the plan: those of the first action, then of the next.
    pub row: u32,
    /// The slot's first register in the pose.
    pub register: u32,
    /// First lane within the block.
    pub lane: u8,
}

/// The weights of a layer's mask on a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GroupMask {
    /// The layer has none.
    Whole,
    /// A row of the plan.
    Row(u32),
    /// All zero: the layer leaves the group alone.
    Nothing,
}

/// An action's clip, with the places of its cursors and tracks.
#[derive(Clone, Debug)]
pub(crate) struct PlanAction {
    pub clip: Arc<Clip>,
    pub first_cursor: usize,
    /// Per channel (translation, rotation, scale) a range of the plan's tracks.
    pub tracks: [Range<usize>; 3],
}

/// A layer's actions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlanLayer {
    /// Number of the layer in the rig's pool.
    pub layer: usize,
    pub additive: bool,
    pub masked: bool,
    pub actions: Range<usize>,
    /// Per channel a range of the plan's still slots, which no action has a track for.
    pub still: [Range<usize>; 3],
    /// Its mask on every slot, channel by channel.
    pub masks: [Vec<GroupMask>; 3],
}

/// The program of one sequence of clips on one rig, for registers of `width` lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub layers: Vec<PlanLayer>,
    pub actions: Vec<PlanAction>,
    pub groups: Vec<Group>,
    /// Per channel (translation, rotation, scale).
    pub slots: [Vec<Slot>; 3],
    /// Registers of the pose.
    pub registers: usize,
    pub tracks: Vec<Track>,
    pub still: Vec<Still>,
    pub rows: Vec<Row>,
    pub walk: Walk,
}

/// Scratch floats that `width` lanes of local matrices take.
pub(crate) const fn group_floats(width: usize) -> usize {
    12 * width
}

/// A layer of a [`PlanInput`].
#[derive(Clone, Debug)]
pub(crate) struct InputLayer<'a> {
    pub layer: usize,
    pub additive: bool,
    pub mask: Option<&'a JointMask>,
    /// In the order of blending.
    pub clips: Vec<Arc<Clip>>,
}

/// What is played.
#[derive(Clone, Debug)]
pub(crate) struct PlanInput<'a> {
    pub layers: Vec<InputLayer<'a>>,
    /// Whether the rest pose takes part.
    pub rest: bool,
    pub width: usize,
}

impl Plan {
    pub fn new(rig: &Rig, input: &PlanInput<'_>) -> Self {
        let skeleton = rig.skeleton();
        let lanes = skeleton.blocks() * LANES;
        let values = Values::new(skeleton, input);
        let moving = |l: usize| skeleton.joint_of()[l] != NO_JOINT && values.moves(l);
        let mut plan = Self::default();
        // Where the group of a lane leaves its local matrix.
        let mut place = vec![None; lanes];
        let mut read = Vec::new();
        for first in (0..lanes).step_by(input.width) {
            let group = first..first + input.width;
            let moved: Vec<usize> = group.clone().filter(|&l| moving(l)).collect();
            if moved.is_empty() {
                continue;
            }
            for (at, lane) in group.enumerate() {
                place[lane] = Some(scratch_row(plan.groups.len(), at, input.width));
            }
            plan.add_group(skeleton, input.width, first, &moved, &values, &mut read);
        }
        plan.add_layers(skeleton, input, &read);
        let locals = plan.groups.len() * group_floats(input.width) / 4;
        plan.walk = steps::walk(rig, &values, &place, moving, (locals, input.width));
        plan
    }
}

/// The place of a lane's first row in the scratch, in rows of four floats; the next rows follow at a
/// distance of `width`. A transpose within 128-bit blocks leaves lane `4q + r` at block q of its
/// r-th output.
fn scratch_row(group: usize, lane: usize, width: usize) -> u32 {
    ((group * group_floats(width) + (lane % 4) * width + lane / 4 * 4) / 4) as u32
}
