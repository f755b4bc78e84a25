//! Topology: the steps down the hierarchy if the first lanes move and all others are constant, with palette rows in
//! the palette's order. Joints that a level of detail leaves out are constant in any lane.

use crate::rig::Rig;
use crate::simd::{Local, Step, Walk};
use crate::skeleton::NO_JOINT;

/// Steps for the first `moving` lanes. Which constants they need depends on the hierarchy alone; the values are in
/// a [`Fold`](super::Fold).
#[derive(Debug)]
pub(crate) struct Topology {
    pub walk: Walk,
    /// The number of lanes whose local matrices are read from the locals.
    pub moving: usize,
    /// Joints whose local matrices are the constants of the walk, in its order.
    pub constants: Vec<u16>,
    /// The anchor of each joint: joint + 1 of the nearest joint at or above it that has a model matrix, or 0 for the
    /// root.
    pub anchor: Vec<u16>,
    /// Joints whose model matrix no palette row gives, in ascending order.
    pub unslotted: Vec<u16>,
}

struct Steps<'a> {
    rig: &'a Rig,
    moving: usize,
    width: usize,
    done: Vec<bool>,
    steps: Vec<Step>,
    constants: Vec<u16>,
}

impl Topology {
    /// The steps for the first `moving` lanes of a rig, in registers of `width` lanes.
    pub fn new(rig: &Rig, moving: usize, width: usize, unslotted: &[u16]) -> Self {
        let skeleton = rig.skeleton();
        let parents = skeleton.parents();
        let count = skeleton.len();
        let moves = |joint: usize| {
            usize::from(skeleton.lane_of()[joint]) < moving && rig.is_evaluated(joint)
        };
        // A model matrix is needed for joints that move and for those that something moving hangs on.
        let mut needed: Vec<bool> = (0..count).map(moves).collect();
        for joint in (0..count).rev() {
            if let (true, Some(n)) = (needed[joint], needed.get_mut(usize::from(parents[joint]))) {
                *n = true;
            }
        }
        let mut anchor = vec![0u16; count];
        for joint in 0..count {
            let parent = usize::from(parents[joint]);
            if needed[joint] {
                anchor[joint] = joint as u16 + 1;
            } else if parent < count {
                anchor[joint] = anchor[parent];
            }
        }
        let mut steps = Steps {
            rig,
            moving,
            width,
            done: vec![false; count],
            steps: Vec::new(),
            constants: Vec::new(),
        };
        let joints = rig.skins().iter().flat_map(|skin| skin.joints());
        for &joint in joints {
            let above = match joint {
                NO_JOINT => 0,
                _ => anchor[usize::from(joint)],
            };
            // An anchor need not have a palette row itself.
            if let Some(joint) = usize::from(above).checked_sub(1) {
                steps.add_models(joint);
            }
            steps.palette_row(above);
        }
        let kept = unslotted.iter().map(|&joint| anchor[usize::from(joint)]);
        for above in kept.clone() {
            if let Some(joint) = usize::from(above).checked_sub(1) {
                steps.add_models(joint);
            }
        }
        steps.chain(kept);
        let groups = moving.div_ceil(width);
        let locals = groups * group_floats(width) / 4;
        let rows = rig.palette_len();
        let Steps { steps, constants, .. } = steps;
        let sizes = (constants.len(), rows);
        let walk = match Walk::new(steps, sizes, (locals, width), count + 1) {
            Ok(walk) => walk,
            Err(error) => unreachable!("the steps of a topology are within its buffers: {error}"),
        };
        Self { walk, moving, constants, anchor, unslotted: unslotted.to_vec() }
    }
}

impl Steps<'_> {
    /// Adds the next palette row: a model matrix × a constant.
    fn palette_row(&mut self, model: u16) {
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

    /// Adds steps for the model matrices of a needed joint and of all joints above it that have none yet.
    fn add_models(&mut self, joint: usize) {
        let skeleton = self.rig.skeleton();
        let parents = skeleton.parents();
        let mut chain = Vec::new();
        let mut at = joint;
        while at < self.done.len() && !self.done[at] {
            chain.push(at);
            at = usize::from(parents[at]);
        }
        for &j in chain.iter().rev() {
            self.done[j] = true;
            let lane = usize::from(skeleton.lane_of()[j]);
            let local = if lane < self.moving && self.rig.is_evaluated(j) {
                Local::Moving(scratch_row(lane, self.width))
            } else {
                self.constants.push(j as u16);
                Local::Constant(self.constants.len() as u32 - 1)
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

    /// Marks steps that go on from the matrix of the step before. Model matrices that no other step reads and that are
    /// not `kept` are no longer stored.
    fn chain(&mut self, kept: impl Iterator<Item = u16>) {
        let mut last = 0;
        for step in &mut self.steps {
            step.chained = step.parent == last;
            last = result(step);
        }
        let mut read = vec![false; self.done.len() + 1];
        kept.for_each(|model| read[usize::from(model)] = true);
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

/// The model matrix that a step computes or uses.
fn result(step: &Step) -> u16 {
    if step.local == Local::Done { step.parent } else { step.model }
}

/// The number of scratch floats that `width` lanes of local matrices take.
pub(crate) const fn group_floats(width: usize) -> usize {
    12 * width
}

/// The index of a lane's first row in the locals, in rows of four floats; the next rows follow at a distance of
/// `width`. A transpose within each 128 bits leaves lane `4q + r` of a group at the q-th 128 bits of its r-th output.
pub(crate) fn scratch_row(lane: usize, width: usize) -> u32 {
    // The width is a power of two.
    let (group, lane) = (lane >> width.trailing_zeros(), lane & (width - 1));
    ((group * group_floats(width) + (lane % 4) * width + lane / 4 * 4) / 4) as u32
}
