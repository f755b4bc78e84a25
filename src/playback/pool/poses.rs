//! Setting the poses of a pool's instances, one at a time or in batches.

use super::Pool;
use crate::evaluate::POSE_ROWS;
use crate::math::{LANES, Row};
use crate::playback::PlaybackError;
use crate::playback::changes::What;
use crate::playback::ids::InstanceId;
use crate::playback::inputs::POSE;
use crate::playback::poses::{HostPose, PoseSpace};
use crate::playback::state::State;
use crate::skeleton::{Skeleton, Trs};
use crate::threads;
use glam::DAffine3;

/// A range of fewer poses is not split further: each takes a quarter of a microsecond.
const POSES: usize = 16;

/// Poses of many instances: for each one transform per joint.
#[derive(Clone, Copy)]
struct PoseBatch<'a> {
    state: &'a State,
    skeleton: &'a Skeleton,
    space: PoseSpace,
    instances: &'a [InstanceId],
    joints: &'a [Trs],
}

impl PoseBatch<'_> {
    /// Writes all poses by lane, on the current rayon pool if there are many; `join` runs both halves without
    /// allocating. Returns whether all scales are 1. The error is that of the first element refused, with any number of
    /// workers.
    fn write(&self, first: usize, rows: &mut [Row]) -> Result<bool, (usize, PlaybackError)> {
        let count = self.instances.len();
        let (joints, size) = (self.skeleton.len(), rows.len() / count.max(1));
        if count > POSES && threads::current_num_threads() > 1 {
            let half = count / 2;
            let (instances_a, instances_b) = self.instances.split_at(half);
            let (joints_a, joints_b) = self.joints.split_at(half * joints);
            let (rows_a, rows_b) = rows.split_at_mut(half * size);
            let a = Self { instances: instances_a, joints: joints_a, ..*self };
            let b = Self { instances: instances_b, joints: joints_b, ..*self };
            let (a, b) = threads::join(|| a.write(first, rows_a), || b.write(first + half, rows_b));
            return Ok(a? & b?);
        }
        let mut even = true;
        if size == 0 {
            return Ok(even);
        }
        let all = self.instances.iter().zip(self.joints.chunks_exact(joints));
        for (element, ((instance, joints), rows)) in
            all.zip(rows.chunks_exact_mut(size)).enumerate()
        {
            let to_model = match self.space {
                PoseSpace::World => self.state.world_wide(instance.index()).inverse(),
                _ => DAffine3::IDENTITY,
            };
            let pose = HostPose { skeleton: self.skeleton, joints, space: self.space, to_model };
            even &= pose.write(rows).map_err(|error| (first + element, error))?;
        }
        Ok(even)
    }
}

impl Pool {
    /// Sets the poses of instances, in which one may come twice; for each one transform per joint. If one is refused,
    /// nothing is changed and the error has its element.
    pub fn set_poses(
        &mut self,
        instances: &[InstanceId],
        joints: &[Trs],
        space: PoseSpace,
    ) -> Result<(), (usize, PlaybackError)> {
        let rig = self.library.rig().clone();
        let skeleton = rig.skeleton();
        let size = skeleton.joint_of().len() / LANES * POSE_ROWS;
        let mut rows = std::mem::take(&mut self.batch.rows);
        let needed = instances.len() * size;
        rows.resize(rows.len().max(needed), Row::default());
        let batch = PoseBatch { state: &self.state, skeleton, space, instances, joints };
        let written = batch.write(0, &mut rows[..needed]);
        if let Ok(even) = written {
            self.state.inputs_mut().set_poses(instances, (&mut rows, size), even);
            for index in instances.iter().map(|instance| instance.index()) {
                if self.state.inputs().active(index) >> POSE == 1 {
                    self.touch(index, What::POSE | What::BOUNDS);
                }
            }
            self.tables.prepare_lanes(skeleton.joint_of().len());
        }
        self.batch.rows = rows;
        written.map(|_| ())
    }

    /// Fades the weight of an instance's pose, all checked.
    ///
    /// # Errors
    /// If the instance has no pose.
    pub fn fade_pose(
        &mut self,
        index: usize,
        weight: f32,
        seconds: f64,
    ) -> Result<(), PlaybackError> {
        if self.state.inputs().pose(index).is_empty() {
            return Err(PlaybackError::NoPose);
        }
        self.fade_modifier(index, POSE, weight, seconds);
        Ok(())
    }

    pub fn clear_pose(&mut self, index: usize) {
        if self.state.inputs_mut().clear_pose(index) {
            self.touch(index, What::POSE | What::BOUNDS);
        }
    }
}
