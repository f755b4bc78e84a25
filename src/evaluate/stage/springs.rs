//! Joints that swing, as an evaluation moves them: tables of a definition, the state of an instance, and its steps.
//!
//! ```text
//! joints    | group 0: 8 joints | group 1 | …     joints of one group have as many swinging joints above them, so
//!                                                 the joints above a group are done when it begins
//! places    | the world | joints above springs, colliders and centres |     matrices of one pass
//! models    | group 0: 8 joints | group 1 | …     those of the groups, whose places follow
//! tails     | now x y z, before x y z | …         8 lanes each: what is stored of a group
//! ```
//!
//! All of it is along the axes of the world, relative to the present place of the instance: f32 suffices wherever the
//! instance is. Between two evaluations the difference of the places is taken in f64.

mod lanes8;
mod pass;
mod tables;

use super::PoseMut;
use crate::math::Affine3x4;
use crate::simd::dispatch_on;
use crate::skeleton::ColliderShape;
use glam::{Affine3A, DAffine3, DVec3, Vec3};
use lanes8::{LANES, Lanes8, Models8};
use pass::{Kind, Pass, Places, Shape};
use std::cell::RefCell;

/// Seconds of a step.
const STEP: f32 = 1.0 / 60.0;

/// The most steps that an evaluation catches up.
const MOST_STEPS: u32 = 4;

/// Springs of a rig as tables.
#[derive(Debug)]
pub(crate) struct Springs {
    /// Joints whose matrices are found as they are before the springs, each with the place of its parent.
    above: Box<[(u16, u32)]>,
    /// The places of which an instance keeps the matrices of its last evaluation: parents of the first joints, colliders
    /// and centres.
    anchors: Box<[u32]>,
    /// The centres, by index among the anchors.
    centers: Box<[u32]>,
    colliders: Box<[Collider]>,
    groups: Box<[Group]>,
    /// The farthest that an instance moves in a step.
    teleport: f32,
}

/// Eight joints; lanes behind the last repeat the first.
#[derive(Debug)]
struct Group {
    joints: [u16; LANES],
    /// Their lanes in a pose, and one more than the last of them.
    lanes: [u16; LANES],
    end: usize,
    /// The first rows of their local matrices, for registers of 4, 8 and 16 lanes.
    rows: [[u32; LANES]; 3],
    /// Their lanes as bits, with the words of the set in which they lie.
    changes: Box<[(u16, u64)]>,
    above: Above,
    /// Places of the parents.
    parents: [u32; LANES],
    /// Joints that do not swing between a place and its lane's joint, downwards.
    via: Box<[(u8, Box<[u16]>)]>,
    /// The tails in the spaces of the joints.
    tail: [Lanes8; 3],
    /// Share of the speed that is kept, stiffness of a step, radius by the length of the bone.
    keep: Lanes8,
    stiffness: Lanes8,
    radius: Lanes8,
    /// Gravity of a step.
    gravity: [Lanes8; 3],
    /// The lanes that do not pass a collider, as bits, by the collider's index.
    colliders: Box<[(u16, u8)]>,
    /// By lane one more than the index of a centre; 0 for none.
    centers: [u8; LANES],
}

/// How the parents of a group lie.
#[derive(Clone, Copy, Debug)]
enum Above {
    /// They are the joints of a group, lane by lane.
    Group(usize),
    /// They are one, at this place.
    Place(usize),
    Each,
}

#[derive(Debug)]
struct Collider {
    /// The place of its joint.
    place: u32,
    shape: ColliderShape,
}

/// The state of an instance's springs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tails {
    /// The clock of the last evaluation that was kept; `None` at rest.
    pub at: Option<i64>,
    /// The world transform then.
    pub world: DAffine3,
    /// The matrices of the anchors then.
    pub anchors: Box<[Affine3x4]>,
    pub groups: Box<[TailGroup]>,
}

/// Present and last tails of eight joints.
pub(crate) type TailGroup = [Lanes8; 6];

/// The steps of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steps {
    /// More than [`MOST_STEPS`]: it begins at rest.
    pub count: u32,
    /// The moment of the first step as a share of the time since the last evaluation, and that of a step.
    pub first: f32,
    pub each: f32,
    /// The share of a step that has passed since the last one, in [0, 1).
    pub rest: f32,
}

impl Steps {
    /// Steps at the front that are left out. A frame that is a little late crosses one more moment of the grid now and
    /// then; to begin at rest for that would be seen.
    fn skipped(self) -> u32 {
        let one_more = self.count == MOST_STEPS + 1;
        u32::from(one_more && self.each * (MOST_STEPS as f32 + 0.5) > 1.0)
    }
}

/// Buffers of a thread.
#[derive(Default)]
struct Buffers {
    places: Vec<Affine3x4>,
    models: Vec<Models8>,
    /// Matrices of the anchors: before, now.
    before: Vec<Affine3x4>,
    now: Vec<Affine3x4>,
    shapes: Vec<Shape>,
    /// The centres of the last pass, and the movements since; the first is none.
    centers: Vec<Affine3x4>,
    moves: Vec<Affine3x4>,
    groups: Vec<TailGroup>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl Springs {
    /// A state at rest.
    pub fn rest(&self) -> Tails {
        Tails {
            at: None,
            world: DAffine3::IDENTITY,
            anchors: vec![Affine3x4::IDENTITY; self.anchors.len()].into(),
            groups: vec![[[0.0; LANES]; 6]; self.groups.len()].into(),
        }
    }

    /// Whether a state has the sizes of these springs.
    pub fn fits(&self, tails: &Tails) -> bool {
        tails.anchors.len() == self.anchors.len() && tails.groups.len() == self.groups.len()
    }

    /// Turns the joints of a pose after the steps since its last evaluation. If they are kept, the caller sets the clock.
    pub fn swing(
        &self,
        pose: &mut PoseMut<'_>,
        tails: &mut Tails,
        (world, steps, weight): (&DAffine3, Steps, f32),
        keep: bool,
    ) {
        BUFFERS.with_borrow_mut(|buffers| {
            let stored = match keep {
                true => None,
                false => {
                    buffers.groups.clear();
                    buffers.groups.extend_from_slice(&tails.groups);
                    Some(std::mem::take(&mut buffers.groups))
                }
            };
            let mut copy = stored.unwrap_or_default();
            let groups = if keep { &mut *tails.groups } else { &mut copy[..] };
            let way = tails.world.translation - world.translation;
            buffers.before.clear();
            buffers.before.extend_from_slice(&tails.anchors);
            self.run(pose, groups, buffers, (world, way), (steps, weight));
            if keep {
                tails.world = *world;
                tails.anchors.copy_from_slice(&buffers.now);
            }
            if !keep {
                buffers.groups = copy;
            }
        });
    }

    fn run(
        &self,
        pose: &mut PoseMut<'_>,
        groups: &mut [TailGroup],
        buffers: &mut Buffers,
        (world, way): (&DAffine3, DVec3),
        (steps, weight): (Steps, f32),
    ) {
        self.find_places(pose, buffers, world);
        let most = f64::from(self.teleport) * f64::from(steps.count.max(1));
        let mut shown = false;
        let first = steps.skipped();
        if steps.count - first <= MOST_STEPS && way.length() <= most {
            if way != DVec3::ZERO {
                carry(groups, &mut buffers.before, way.as_vec3());
            }
            self.begin_centers(buffers);
            for step in first..steps.count {
                // The last one is now, if no share of a step has passed since.
                shown = steps.rest == 0.0 && step + 1 == steps.count;
                let share = steps.each.mul_add(step as f32, steps.first);
                self.place_anchors(buffers, if shown { 1.0 } else { share });
                self.pass(pose, groups, buffers, (Kind::Step { shown }, weight));
            }
        } else {
            buffers.before.clone_from(&buffers.now);
            self.begin_centers(buffers);
            self.pass(pose, groups, buffers, (Kind::Rest, weight));
        }
        if !shown {
            self.place_anchors(buffers, 1.0);
            self.pass(pose, groups, buffers, (Kind::Show { rest: steps.rest }, weight));
        }
    }

    /// Finds the matrices above the springs.
    fn find_places(&self, pose: &PoseMut<'_>, buffers: &mut Buffers, world: &DAffine3) {
        let Buffers { places, models, now, .. } = buffers;
        // A pass writes them before it reads them.
        if models.len() < self.groups.len() {
            models.resize(self.groups.len(), [[0.0; LANES]; 12]);
        }
        places.resize(1 + self.above.len(), Affine3x4::IDENTITY);
        places[0] = Affine3A::from_mat3(world.matrix3.as_mat3()).into();
        dispatch_on(pose.level, Places { springs: self, pose, places });
        now.clear();
        now.extend(self.anchors.iter().map(|&at| places[at as usize]));
    }

    /// Puts the anchors where they were after a share of the time since the last evaluation.
    fn place_anchors(&self, buffers: &mut Buffers, share: f32) {
        let Buffers { places, before, now, .. } = buffers;
        for ((&at, before), now) in self.anchors.iter().zip(before).zip(now) {
            let mut place = *now;
            if share < 1.0 {
                let all = place.rows.as_flattened_mut().iter_mut();
                for (now, &before) in all.zip(before.rows.as_flattened()) {
                    *now = (*now - before).mul_add(share, before);
                }
            }
            places[at as usize] = place;
        }
    }

    fn begin_centers(&self, buffers: &mut Buffers) {
        let Buffers { centers, before, .. } = buffers;
        centers.clear();
        centers.extend(self.centers.iter().map(|&at| before[at as usize]));
    }

    /// One pass down the joints.
    fn pass(
        &self,
        pose: &mut PoseMut<'_>,
        groups: &mut [TailGroup],
        buffers: &mut Buffers,
        (kind, weight): (Kind, f32),
    ) {
        let Buffers { places, models, shapes, centers, moves, .. } = buffers;
        shapes.clear();
        shapes
            .extend(self.colliders.iter().map(|c| Shape::new(&c.shape, &places[c.place as usize])));
        moves.clear();
        if kind != Kind::Rest {
            moves.push(Affine3x4::IDENTITY);
            for (last, &at) in centers.iter_mut().zip(&self.centers) {
                let now = places[self.anchors[at as usize] as usize];
                let last = std::mem::replace(last, now);
                moves.push(if last == now { Affine3x4::IDENTITY } else { between(&last, &now) });
            }
            if moves.iter().all(|moved| *moved == Affine3x4::IDENTITY) {
                moves.clear();
            }
        }
        let level = pose.level;
        let pass =
            Pass { springs: self, pose, groups, places, models, shapes, moves, kind, weight };
        dispatch_on(level, pass);
    }
}

/// Moves tails and anchors.
fn carry(groups: &mut [TailGroup], anchors: &mut [Affine3x4], by: Vec3) {
    for group in groups {
        for (c, row) in group.iter_mut().enumerate() {
            row.iter_mut().for_each(|v| *v += by[c % 3]);
        }
    }
    for anchor in anchors {
        anchor.rows.iter_mut().zip(by.to_array()).for_each(|(row, by)| row[3] += by);
    }
}

/// What moves points with a centre.
fn between(last: &Affine3x4, now: &Affine3x4) -> Affine3x4 {
    let moved: Affine3x4 = (Affine3A::from(*now) * Affine3A::from(*last).inverse()).into();
    if moved.is_finite() { moved } else { Affine3x4::IDENTITY }
}
