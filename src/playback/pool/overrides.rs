//! Setting the overrides of a pool's instances, one at a time or in batches.

use super::Pool;
use crate::evaluate::{JointOverride, Replaces};
use crate::math::{Affine3x4, Row};
use crate::playback::PlaybackError;
use crate::playback::changes::What;
use crate::playback::ids::InstanceId;
use crate::playback::library::Library;
use crate::playback::overrides::{Overrides, Refused};
use crate::playback::poses::PoseSpace;
use crate::threads;
use crate::words::shorten;
use glam::DAffine3;

/// A range of fewer matrices is not split further, since a check takes only some 20 ns.
const MATRICES: usize = 512;

/// Buffers of a batch, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct Batch {
    joints: Vec<u16>,
    /// Bounds of the stretch factors, parallel to the matrices.
    bounds: Vec<f64>,
    /// Matrices in model space, of those that were given in world space.
    models: Vec<Affine3x4>,
    /// Poses by lane.
    pub rows: Vec<Row>,
}

/// Matrices of the same joints of many instances.
#[derive(Clone, Copy, Debug)]
struct OverrideBatch<'a> {
    /// Indices of the joints, ascending.
    joints: &'a [u16],
    instances: &'a [InstanceId],
    /// For every instance, one per joint.
    matrices: &'a [Affine3x4],
}

impl OverrideBatch<'_> {
    /// Splits the batch behind its first `count` instances.
    fn split(&self, count: usize) -> (Self, Self) {
        let (instances_a, instances_b) = self.instances.split_at(count);
        let (matrices_a, matrices_b) = self.matrices.split_at(count * self.joints.len());
        let a = Self { instances: instances_a, matrices: matrices_a, ..*self };
        let b = Self { instances: instances_b, matrices: matrices_b, ..*self };
        (a, b)
    }

    /// Checks all matrices, on the current rayon pool if there are many; `join` runs both halves without allocating.
    fn check(
        &self,
        overrides: &Overrides,
        parents: &[u16],
        bounds: &mut [f64],
    ) -> Result<(), (usize, Refused)> {
        let (count, joints) = (self.instances.len(), self.joints.len());
        if count > 1 && self.matrices.len() > MATRICES && threads::current_num_threads() > 1 {
            let half = count / 2;
            let (a, b) = self.split(half);
            let (bounds_a, bounds_b) = bounds.split_at_mut(half * joints);
            let (a, b) = threads::join(
                || a.check(overrides, parents, bounds_a),
                || b.check(overrides, parents, bounds_b),
            );
            // The error is that of the first instance refused, with any number of workers.
            return a.and(b);
        }
        let all = self.matrices.chunks_exact(joints);
        let all = self.instances.iter().zip(all);
        for ((instance, matrices), bounds) in all.zip(bounds.chunks_exact_mut(joints)) {
            let given = (self.joints, matrices);
            let index = instance.index();
            let checked = overrides.check_many(parents, index, given, bounds);
            checked.map_err(|refused| (index, refused))?;
        }
        Ok(())
    }
}

/// The error for an override of an instance.
fn refusal(library: &Library, index: usize, refused: Refused) -> PlaybackError {
    let Refused { joint, what, value, limit } = refused;
    let (rig, owner) = (library.rig(), library.owner());
    let joint = usize::from(joint);
    let name = rig.skeleton().names().get(joint);
    let quoted = shorten(rig.name());
    PlaybackError::Override {
        joint,
        name: name.map_or_else(String::new, |name| shorten(name)),
        character: match owner.is_mixers() {
            true => format!("a mixer (\"{quoted}\")"),
            false => format!("instance {index} of {owner} (\"{quoted}\")"),
        },
        what,
        value,
        limit,
    }
}

impl Pool {
    /// What an override replaces whose matrix is in a space, with the matrix in that space or in model space.
    pub fn in_space(
        &self,
        index: usize,
        space: PoseSpace,
        matrix: Affine3x4,
    ) -> (Replaces, Affine3x4) {
        match space {
            PoseSpace::Local => (Replaces::Local, matrix),
            PoseSpace::Model => (Replaces::Model, matrix),
            PoseSpace::World => {
                let to_model = self.state.world_wide(index).inverse();
                (Replaces::Model, (to_model * DAffine3::from(matrix)).into())
            }
        }
    }

    /// Sets an override of an instance.
    pub fn set_override(&mut self, index: usize, by: JointOverride) -> Result<(), PlaybackError> {
        let parents = self.library.rig().skeleton().parents();
        let changed = self.state.overrides_mut().set(parents, index, by);
        let changed = changed.map_err(|refused| refusal(&self.library, index, refused))?;
        self.tables.prepare_joint(by.joint);
        if changed {
            self.touch(index, What::POSE);
        }
        Ok(())
    }

    /// Sets the overrides of the same joints, ascending, of many instances: for each instance one matrix per joint, and
    /// the weight of its element.
    pub fn set_overrides(
        &mut self,
        joints: &[usize],
        instances: &[InstanceId],
        (matrices, space): (&[Affine3x4], PoseSpace),
        weight: impl Fn(usize) -> f32,
    ) -> Result<(), PlaybackError> {
        if joints.is_empty() || instances.is_empty() {
            return Ok(());
        }
        let count = joints.len();
        let mut buffers = std::mem::take(&mut self.batch);
        let Batch { joints: narrow, bounds, models, .. } = &mut buffers;
        narrow.clear();
        narrow.extend(joints.iter().map(|&joint| joint as u16));
        bounds.clear();
        bounds.resize(matrices.len(), 1.0);
        models.clear();
        let (replaces, _) = self.in_space(instances[0].index(), space, Affine3x4::IDENTITY);
        let given = instances.iter().zip(matrices.chunks_exact(count));
        if space == PoseSpace::World {
            let of = |instance: &InstanceId, m| self.in_space(instance.index(), space, m).1;
            models.extend(given.flat_map(|(i, all)| all.iter().map(move |&m| of(i, m))));
        }
        let matrices = if models.is_empty() { matrices } else { models };
        let batch = OverrideBatch { joints: narrow, instances, matrices };
        let parents = self.library.rig().skeleton().parents();
        let checked = batch.check(self.state.overrides(), parents, bounds);
        if let Err((index, refused)) = checked {
            self.batch = buffers;
            return Err(refusal(&self.library, index, refused));
        }
        let values = matrices.chunks_exact(count).zip(bounds.chunks_exact(count));
        for (element, (instance, (matrices, bounds))) in instances.iter().zip(values).enumerate() {
            let entries = batch.joints.iter().zip(matrices).zip(bounds);
            let (weight, mut changed) = (weight(element), false);
            for ((&joint, &matrix), &bound) in entries {
                let by = JointOverride { joint, replaces, weight, matrix, bound };
                changed |= self.state.overrides_mut().put(instance.index(), by);
            }
            if changed {
                self.touch(instance.index(), What::POSE);
            }
        }
        self.batch = buffers;
        for &joint in joints {
            self.tables.prepare_joint(joint as u16);
        }
        Ok(())
    }

    /// Removes the override of a joint of an instance, if it has one.
    pub fn clear_override(&mut self, index: usize, joint: u16) {
        if self.state.overrides_mut().clear(index, joint) {
            self.touch(index, What::POSE);
        }
    }

    pub fn clear_overrides(&mut self, index: usize) {
        if self.state.overrides_mut().clear_all(index) {
            self.touch(index, What::POSE);
        }
    }

    /// Makes the topologies that overrides and poses need, so that no frame has to make one.
    pub fn prepare_overrides(&self) {
        if self.state.inputs().has_poses() {
            self.tables.prepare_lanes(self.rig().skeleton().joint_of().len());
        }
        for entry in self.state.overrides().all() {
            self.tables.prepare_joint(entry.joint);
        }
    }
}
