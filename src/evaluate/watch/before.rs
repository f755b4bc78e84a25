//! `BeforeJoints`: the model matrices of joints before the stage changes the pose.

use super::super::scratch::Scratch;
use super::super::stage::PoseMut;
use crate::math::Affine3x4;
use crate::skeleton::Skeleton;

/// The joints of a rig that are watched before the stage, with all joints above them. An instance with a stage computes
/// their matrices before it runs; of any other, they are those of the palette.
#[derive(Debug, Default)]
pub(crate) struct BeforeJoints {
    /// Joints, ascending, each with the index of its parent among them; `u16::MAX` for a root.
    steps: Vec<(u16, u16)>,
    /// Index in `steps` of each watched joint, ascending.
    watched: Vec<u16>,
}

impl BeforeJoints {
    /// Sets the watched joints, ascending.
    pub fn set(&mut self, skeleton: &Skeleton, joints: impl Iterator<Item = u16>) {
        let parents = skeleton.parents();
        let watched: Vec<u16> = joints.collect();
        let mut all = vec![false; parents.len()];
        for &joint in &watched {
            let mut at = usize::from(joint);
            while let Some(seen) = all.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                at = parents[at].into();
            }
        }
        let all = all.iter().enumerate().filter(|(_, seen)| **seen);
        let all: Vec<u16> = all.map(|(joint, _)| joint as u16).collect();
        let step = |joint: u16| all.binary_search(&joint).map_or(u16::MAX, |at| at as u16);
        self.steps = all.iter().map(|&joint| (joint, step(parents[usize::from(joint)]))).collect();
        self.watched = watched.into_iter().map(step).collect();
    }

    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Computes the matrices of a pose.
    pub fn compute(&self, pose: &PoseMut<'_>, models: &mut [Affine3x4]) {
        for (at, &(joint, parent)) in self.steps.iter().enumerate() {
            let local = pose.local(joint.into());
            models[at] = match models.get(usize::from(parent)) {
                Some(parent) => *parent * local,
                None => local,
            };
        }
    }

    /// The index of a joint among the watched ones.
    pub fn find(&self, joint: u16) -> Option<usize> {
        let joint_of = |&step: &u16| self.steps[usize::from(step)].0;
        self.watched.binary_search_by_key(&joint, joint_of).ok()
    }

    /// The matrix of a watched joint, by its index among them, of the last pose in a scratch that had a stage.
    pub fn model(&self, scratch: &Scratch, at: usize) -> Affine3x4 {
        scratch.before[usize::from(self.watched[at])]
    }
}
