//! `Plan`: what has to be computed for a set of clips, found once. Joints that no clip of the set
//! moves fold into constants: a constant joint below a moving one costs one product.

use crate::clip::{Channel, Clip};
use crate::math::{Affine3x4, LANES, Row};
use crate::rig::Rig;
use crate::skeleton::{NO_JOINT, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Where a group of lanes takes a channel from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Rows of the plan: no clip moves these lanes.
    Fixed(u32),
    /// Sampled and blended.
    Varying,
    /// Scale 1 in every lane that is read.
    One,
}

/// As many lanes of a block as a register holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Group {
    pub block: u16,
    /// First lane within the block.
    pub lane: u8,
    pub translation: Source,
    pub rotation: Source,
    pub scale: Source,
}

/// What a step writes, and from where it takes its local rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// A moving joint: model matrix and palette row.
    MovingBoth,
    /// A constant joint above a moving one: model matrix and palette row.
    ConstantBoth,
    /// A moving joint whose palette row is not due.
    MovingModel,
    /// A constant joint whose palette row is not due.
    ConstantModel,
    /// A palette row: model matrix × constant.
    Palette,
}

/// One step down the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub kind: StepKind,
    /// Model matrix to multiply: joint + 1, 0 for the root.
    pub parent: u16,
    /// Model matrix to write: joint + 1.
    pub model: u16,
    /// Local rows: a place in the scratch (moving) or in the table (constant).
    pub source: u32,
    /// The inverse bind, or the constant of a palette step: a place in the table.
    pub bind: u32,
}

/// The program of one set of clips on one rig, for registers of `width` lanes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub groups: Vec<Group>,
    pub rows: Vec<Row>,
    pub steps: Vec<Step>,
    pub table: Vec<[[f32; 4]; 3]>,
}

/// Scratch floats that `width` lanes of local matrices take.
pub(crate) const fn group_floats(width: usize) -> usize {
    12 * width
}

/// How far constants of two clips may lie apart to count as one, relative to their size.
const SAME: f32 = 1e-6;

/// The clips of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanInput<'a> {
    pub full: &'a [&'a Clip],
    pub additive: &'a [&'a Clip],
    /// Whether the rest pose takes part.
    pub rest: bool,
    /// Treats every joint as moving: for sets that are too many to plan for.
    pub all: bool,
    pub width: usize,
}

/// The constant value of a lane over a set of clips, or that there is none.
fn lane_value(
    skeleton: &Skeleton,
    input: &PlanInput<'_>,
    channel: Channel,
    lane: usize,
) -> Option<[f32; 4]> {
    let (block, l) = (lane / LANES, lane % LANES);
    let trs = skeleton.rest_pose().lane(lane);
    let mut rest = [0.0; 4];
    match channel {
        Channel::Translation => rest[..3].copy_from_slice(&trs.translation.to_array()),
        Channel::Rotation => rest = trs.rotation.to_array(),
        _ => rest[..3].copy_from_slice(&trs.scale.to_array()),
    }
    if input.all {
        return None;
    }
    // An additive clip touches every lane it stores.
    let touched = |c: &&Clip| c.block_at(channel, block).is_some();
    if input.additive.iter().any(touched) {
        return None;
    }
    let mut value = (input.rest || input.full.is_empty()).then_some(rest);
    for clip in input.full {
        let next = match clip.block_at(channel, block) {
            Some(b) if b.moving >> l & 1 == 1 => return None,
            Some(b) => clip.constant(channel, b, l),
            None => rest,
        };
        let size = next.iter().fold(0.0f32, |a, v| a.max(v.abs()));
        let same = |a: [f32; 4], sign: f32| {
            a.iter()
                .zip(next)
                .all(|(a, b)| (a * sign - b).abs() <= SAME * size)
        };
        match value {
            Some(a) if same(a, 1.0) => {}
            Some(a) if channel == Channel::Rotation && same(a, -1.0) => {}
            Some(_) => return None,
            None => value = Some(next),
        }
    }
    value
}

impl Plan {
    pub fn new(rig: &Rig, input: &PlanInput<'_>) -> Self {
        let skeleton = rig.skeleton();
        let lanes = skeleton.blocks() * LANES;
        let values = [Channel::Translation, Channel::Rotation, Channel::Scale].map(|channel| {
            let lane = |l| lane_value(skeleton, input, channel, l);
            (0..lanes).map(lane).collect::<Vec<_>>()
        });
        let moving_lane =
            |l: usize| skeleton.joint_of()[l] != NO_JOINT && values.iter().any(|v| v[l].is_none());
        let mut plan = Self {
            groups: Vec::new(),
            rows: Vec::new(),
            steps: Vec::new(),
            table: Vec::new(),
        };
        let mut place = vec![None; lanes];
        for first in (0..lanes).step_by(input.width) {
            let group = first..first + input.width;
            if !group.clone().any(moving_lane) {
                continue;
            }
            for (at, lane) in group.clone().enumerate() {
                place[lane] = Some(scratch_row(plan.groups.len(), at, input.width));
            }
            let read: Vec<usize> = group.filter(|&l| moving_lane(l)).collect();
            plan.add_group(skeleton, first, &read, &values);
        }
        plan.add_steps(rig, &values, &place, moving_lane);
        plan
    }

    fn add_group(
        &mut self,
        skeleton: &Skeleton,
        first: usize,
        read: &[usize],
        values: &[Vec<Option<[f32; 4]>>; 3],
    ) {
        let (block, lane) = (first / LANES, first % LANES);
        let rest = skeleton.rest_pose();
        let mut source = |channel: usize, width: usize| {
            if read.iter().any(|&l| values[channel][l].is_none()) {
                return Source::Varying;
            }
            let one = |l: &usize| values[channel][*l].is_some_and(|v| v[..3] == [1.0; 3]);
            if channel == 2 && read.iter().all(one) {
                return Source::One;
            }
            let at = self.rows.len() as u32;
            for c in 0..width {
                let mut row = match channel {
                    0 => rest.translation[block][c],
                    1 => rest.rotation[block][c],
                    _ => rest.scale[block][c],
                };
                for &l in read {
                    if let Some(v) = values[channel][l] {
                        row.0[l % LANES] = v[c];
                    }
                }
                self.rows.push(row);
            }
            Source::Fixed(at)
        };
        let group = Group {
            block: block as u16,
            lane: lane as u8,
            translation: source(0, 3),
            rotation: source(1, 4),
            scale: source(2, 3),
        };
        self.groups.push(group);
    }

    fn constant(&mut self, m: DAffine3) -> u32 {
        let c = m.to_cols_array();
        let at = self.table.len() as u32;
        self.table.push(std::array::from_fn(|r| {
            std::array::from_fn(|k| c[k * 3 + r] as f32)
        }));
        at
    }

    fn add_steps(
        &mut self,
        rig: &Rig,
        values: &[Vec<Option<[f32; 4]>>; 3],
        place: &[Option<u32>],
        moving_lane: impl Fn(usize) -> bool,
    ) {
        let skeleton = rig.skeleton();
        let parents = skeleton.parents();
        let lane = |joint: usize| usize::from(skeleton.lane_of()[joint]);
        let count = skeleton.len();
        // A model matrix is needed where something that moves hangs on it, or is it.
        let mut needed: Vec<bool> = (0..count).map(|j| moving_lane(lane(j))).collect();
        for joint in (0..count).rev() {
            if let (true, Some(n)) = (needed[joint], needed.get_mut(usize::from(parents[joint]))) {
                *n = true;
            }
        }
        // For the others: the nearest needed joint above, and the constant way from there.
        let mut anchor = vec![0u16; count];
        let mut way = vec![DAffine3::IDENTITY; count];
        for joint in 0..count {
            let parent = usize::from(parents[joint]);
            if needed[joint] {
                anchor[joint] = joint as u16 + 1;
                continue;
            }
            if parent < count {
                anchor[joint] = anchor[parent];
                way[joint] = way[parent] * local(values, lane(joint));
            } else {
                way[joint] = local(values, lane(joint));
            }
        }
        let mut done = vec![false; count];
        for skin in rig.skins() {
            for (&joint, bind) in skin.joints().iter().zip(skin.inverse_bind()) {
                let j = usize::from(joint);
                let bind = wide(bind);
                if joint == NO_JOINT {
                    let bind = self.constant(bind);
                    self.palette(0, bind);
                } else if !needed[j] || done[j] {
                    // The joint it hangs on need not have a slot of its own.
                    if let Some(above) = usize::from(anchor[j]).checked_sub(1) {
                        self.add_models(skeleton, values, place, &moving_lane, &mut done, above);
                    }
                    let bind = self.constant(way[j] * bind);
                    self.palette(anchor[j], bind);
                } else {
                    self.add_models(skeleton, values, place, &moving_lane, &mut done, j);
                    let bind = self.constant(bind);
                    if let Some(step) = self.steps.last_mut() {
                        step.kind = match step.kind {
                            StepKind::MovingModel => StepKind::MovingBoth,
                            _ => StepKind::ConstantBoth,
                        };
                        step.bind = bind;
                    }
                }
            }
        }
    }

    fn palette(&mut self, parent: u16, bind: u32) {
        self.steps.push(Step {
            kind: StepKind::Palette,
            parent,
            model: 0,
            source: 0,
            bind,
        });
    }

    /// Steps for the model matrices of a needed joint and all above it that are not done yet.
    fn add_models(
        &mut self,
        skeleton: &Skeleton,
        values: &[Vec<Option<[f32; 4]>>; 3],
        place: &[Option<u32>],
        moving_lane: &impl Fn(usize) -> bool,
        done: &mut [bool],
        joint: usize,
    ) {
        let mut chain = Vec::new();
        let mut at = joint;
        while at < done.len() && !done[at] {
            chain.push(at);
            at = usize::from(skeleton.parents()[at]);
        }
        for &j in chain.iter().rev() {
            done[j] = true;
            let lane = usize::from(skeleton.lane_of()[j]);
            let moving = moving_lane(lane);
            let source = match place[lane] {
                Some(at) if moving => at,
                _ => self.constant(local(values, lane)),
            };
            self.steps.push(Step {
                kind: if moving {
                    StepKind::MovingModel
                } else {
                    StepKind::ConstantModel
                },
                parent: skeleton.parents()[j].wrapping_add(1),
                model: j as u16 + 1,
                source,
                bind: 0,
            });
        }
    }
}

/// The place of a lane's first row in the scratch, in rows of four floats; the next rows follow at a
/// distance of `width`. A transpose within 128-bit blocks leaves lane `4q + r` at block q of its
/// r-th output.
fn scratch_row(group: usize, lane: usize, width: usize) -> u32 {
    ((group * group_floats(width) + (lane % 4) * width + lane / 4 * 4) / 4) as u32
}

/// The local matrix of a lane whose channels are all constant.
fn local(values: &[Vec<Option<[f32; 4]>>; 3], lane: usize) -> DAffine3 {
    let get = |channel: usize| values[channel][lane].unwrap_or_default().map(f64::from);
    let ([tx, ty, tz, _], q, [sx, sy, sz, _]) = (get(0), get(1), get(2));
    let q = DQuat::from_array(q);
    let rotation = if q.length_squared() > 0.0 {
        q.normalize()
    } else {
        DQuat::IDENTITY
    };
    DAffine3::from_scale_rotation_translation(
        DVec3::new(sx, sy, sz),
        rotation,
        DVec3::new(tx, ty, tz),
    )
}

fn wide(m: &Affine3x4) -> DAffine3 {
    let c = m.to_cols_array().map(f64::from);
    DAffine3::from_mat3_translation(
        DMat3::from_cols_array(&[c[0], c[1], c[2], c[4], c[5], c[6], c[8], c[9], c[10]]),
        DVec3::new(c[12], c[13], c[14]),
    )
}
