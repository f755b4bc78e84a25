//! Steps: the way down the hierarchy, with palette rows in the palette's order.

use super::fold::{Values, wide};
use crate::math::{NOISE, NOISE_LENGTH, settle};
use crate::rig::Rig;
use crate::simd::{Local, Rows, Step, Walk};
use crate::skeleton::{NO_JOINT, Skeleton};
use glam::DAffine3;

/// The steps of a plan in the making.
struct Steps<'a, M: Fn(usize) -> bool> {
    skeleton: &'a Skeleton,
    values: &'a Values,
    place: &'a [Option<u32>],
    moving_lane: M,
    done: Vec<bool>,
    steps: Vec<Step>,
    constants: Vec<Rows>,
    binds: Vec<Rows>,
}

/// The walk that writes all palette rows of a rig: `place` says where the local matrix of a lane that
/// moves lies among `locals` (rows, stride).
pub(super) fn walk(
    rig: &Rig,
    values: &Values,
    place: &[Option<u32>],
    moving_lane: impl Fn(usize) -> bool,
    locals: (usize, usize),
) -> Walk {
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
            way[joint] = way[parent] * values.local(lane(joint));
        } else {
            way[joint] = values.local(lane(joint));
        }
    }
    let mut steps = Steps {
        skeleton,
        values,
        place,
        moving_lane,
        done: vec![false; count],
        steps: Vec::new(),
        constants: Vec::new(),
        binds: Vec::new(),
    };
    for skin in rig.skins() {
        for (&joint, bind) in skin.joints().iter().zip(skin.inverse_bind()) {
            let j = usize::from(joint);
            if joint == NO_JOINT {
                steps.palette_row(0, wide(bind));
                continue;
            }
            // The joint that a constant one hangs on need not have a slot of its own.
            if let Some(above) = usize::from(anchor[j]).checked_sub(1) {
                steps.add_models(above);
            }
            steps.palette_row(anchor[j], way[j] * wide(bind));
        }
    }
    steps.chain();
    let Steps {
        steps,
        constants,
        binds,
        ..
    } = steps;
    match Walk::new(steps, &constants, binds, locals, count + 1) {
        Ok(walk) => walk,
        Err(error) => unreachable!("the steps of a plan are within its buffers: {error}"),
    }
}

impl<M: Fn(usize) -> bool> Steps<'_, M> {
    /// The next palette row: a model matrix × a constant.
    fn palette_row(&mut self, model: u16, bind: DAffine3) {
        self.binds.push(rows(bind));
        if let Some(last) = self.steps.last_mut()
            && result(last) == model
            && last.rows < u16::MAX
        {
            last.rows += 1;
            return;
        }
        self.steps.push(Step {
            local: Local::Done,
            parent: model,
            model: 0,
            rows: 1,
            chained: false,
        });
    }

    /// Steps for the model matrices of a needed joint and all above it that are not done yet.
    fn add_models(&mut self, joint: usize) {
        let parents = self.skeleton.parents();
        let mut chain = Vec::new();
        let mut at = joint;
        while at < self.done.len() && !self.done[at] {
            chain.push(at);
            at = usize::from(parents[at]);
        }
        for &j in chain.iter().rev() {
            self.done[j] = true;
            let lane = usize::from(self.skeleton.lane_of()[j]);
            let local = match self.place[lane] {
                Some(at) if (self.moving_lane)(lane) => Local::Moving(at),
                _ => {
                    self.constants.push(rows(self.values.local(lane)));
                    Local::Constant(self.constants.len() as u32 - 1)
                }
            };
            self.steps.push(Step {
                local,
                parent: parents[j].wrapping_add(1),
                model: j as u16 + 1,
                rows: 0,
                chained: false,
            });
        }
    }

    /// Marks steps that go on from the matrix of the step before, and forgets to keep model matrices
    /// that no other step reads.
    fn chain(&mut self) {
        let mut last = 0;
        for step in &mut self.steps {
            step.chained = step.parent == last;
            last = result(step);
        }
        let mut read = vec![false; self.done.len() + 1];
        for step in self.steps.iter_mut().rev() {
            if !read[usize::from(step.model)] {
                step.model = 0;
            }
            if !step.chained {
                read[usize::from(step.parent)] = true;
            }
        }
    }
}

/// The model matrix that a step ends with.
fn result(step: &Step) -> u16 {
    if step.local == Local::Done {
        step.parent
    } else {
        step.model
    }
}

fn rows(m: DAffine3) -> Rows {
    let c = m.to_cols_array();
    let largest = c[..9].iter().fold(0.0f64, |a, v| a.max(v.abs()));
    std::array::from_fn(|r| {
        std::array::from_fn(|k| {
            let noise = if k < 3 {
                NOISE * largest as f32
            } else {
                NOISE_LENGTH
            };
            settle(c[k * 3 + r] as f32, noise)
        })
    })
}
