//! Hooks: the host's code in the evaluation of an instance's pose.

use super::ids::InstanceId;
use super::modifiers::Definition;
use super::pool::Pool;
use super::springs::Swing;
use crate::evaluate::{Given, Modify, PoseMut as Pose, beneath};
use crate::math::Affine3x4;
use crate::skeleton::Trs;
use crate::skeleton::limits::{Beyond, check_set};
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// The pose of an instance in a hook: after its clips, its given pose, its overrides and the modifiers before the hook.
///
/// Joints are given by index. No call allocates. What is set is seen by the calls after it, by the modifiers after the
/// hook, and by the palette.
pub struct PoseMut<'a> {
    pose: Pose<'a>,
    /// The joints that may be set, ascending.
    joints: &'a [u16],
    weight: f32,
}

/// A joint of a pose that cannot be set. The pose is as before.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PoseError {
    /// The skeleton has no such joint.
    #[error("unknown joint {joint}: the skeleton has {joints}")]
    UnknownJoint {
        /// Index of the joint.
        joint: usize,
        /// Number of joints.
        joints: usize,
    },
    /// The hook's definition does not list the joint: [`Hook::joints`](super::Hook::joints).
    #[error("joint {joint} is not among the joints of the hook")]
    Unlisted {
        /// Index of the joint.
        joint: usize,
    },
    /// A number of the local matrix is not finite, or beyond its limit.
    #[error("the local matrix of joint {joint} has {value:e}, beyond the limit of {limit:e}")]
    Beyond {
        /// Index of the joint.
        joint: usize,
        /// The number of greatest size; infinite for one that is not finite.
        value: f32,
        /// The limit: 1e9 for translations, 1e6 for all others.
        limit: f32,
    },
    /// The model matrix of the joint's parent has no inverse, so that no local matrix gives a model matrix.
    #[error("the model matrix of the parent of joint {joint} has no inverse")]
    NoInverse {
        /// Index of the joint.
        joint: usize,
    },
}

impl std::fmt::Debug for PoseMut<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a pose of {} joints, weight {}", self.joint_count(), self.weight)
    }
}

impl PoseMut<'_> {
    /// The number of joints of the skeleton.
    #[inline]
    pub fn joint_count(&self) -> usize {
        self.pose.sources.rig.skeleton().len()
    }

    /// The present weight of the hook, above 0. It is for the hook to use.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    #[inline]
    fn known(&self, joint: usize) -> Option<usize> {
        (joint < self.joint_count()).then_some(joint)
    }

    /// The local transform of a joint, relative to its parent; `None` for an unknown joint. Shear is left out.
    #[inline]
    pub fn local(&self, joint: usize) -> Option<Trs> {
        self.known(joint).map(|joint| self.pose.local_trs(joint))
    }

    /// The local matrix of a joint; `None` for an unknown joint.
    pub fn local_matrix(&self, joint: usize) -> Option<Affine3x4> {
        self.known(joint).map(|joint| self.pose.local(joint))
    }

    /// The model matrix of a joint, joint space to model space; `None` for an unknown joint. It is computed from the
    /// local matrices of the joint and of all above it.
    pub fn model(&self, joint: usize) -> Option<Affine3x4> {
        self.known(joint).map(|joint| self.pose.model(joint))
    }

    /// Sets the local transform or matrix of a joint. Joints below it move.
    ///
    /// # Errors
    /// If the joint is unknown or not one of the hook's, or a number is not finite or beyond its limit.
    #[inline(always)]
    pub fn set_local(
        &mut self,
        joint: usize,
        local: impl Into<Affine3x4>,
    ) -> Result<(), PoseError> {
        // Here, so that the numbers of a transform stay in registers.
        self.put(joint, &local.into())
    }

    /// Sets the model matrix of a joint, by its local matrix. Joints below it move.
    ///
    /// # Errors
    /// As for [`set_local`](Self::set_local), or if the joint's parent has no inverse.
    pub fn set_model(
        &mut self,
        joint: usize,
        model: impl Into<Affine3x4>,
    ) -> Result<(), PoseError> {
        self.check(joint)?;
        let local = beneath(&self.pose.above(joint), &model.into());
        self.put(joint, &local.ok_or(PoseError::NoInverse { joint })?)
    }

    #[inline]
    fn check(&self, joint: usize) -> Result<(), PoseError> {
        let joints = self.joint_count();
        self.known(joint).ok_or(PoseError::UnknownJoint { joint, joints })?;
        let listed = self.joints.binary_search(&(joint as u16));
        listed.map(|_| ()).map_err(|_| PoseError::Unlisted { joint })
    }

    fn put(&mut self, joint: usize, local: &Affine3x4) -> Result<(), PoseError> {
        self.check(joint)?;
        let beyond = |Beyond { value, limit, .. }| PoseError::Beyond { joint, value, limit };
        check_set(local).map_err(beyond)?;
        // Within the limits it is finite.
        self.pose.put(self.pose.lane(joint), local.rows.each_ref());
        Ok(())
    }
}

/// The code of a host that a frame calls.
pub(crate) type HookFn<'a> = dyn Fn(InstanceId, &mut PoseMut<'_>, f64) + Sync + 'a;

/// The calls of a hook in one frame.
#[derive(Clone, Copy)]
pub(crate) struct Calls<'a> {
    pub hook: &'a HookFn<'a>,
    /// A number that other frames of the pool do not have.
    pub frame: u32,
}

impl std::fmt::Debug for Calls<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "calls in frame {}", self.frame)
    }
}

/// The modifiers of a pool in a frame, which may call a hook.
#[derive(Clone, Copy)]
pub(crate) struct Framed<'a> {
    pub pool: &'a Pool,
    pub calls: Option<Calls<'a>>,
    pub swing: Swing,
}

impl Modify for Framed<'_> {
    fn given(&self, index: usize) -> Option<Given<'_>> {
        self.pool.given(index)
    }

    fn modify(&self, index: usize, pose: &mut Pose<'_>) {
        self.pool.modify_by(index, pose, (self.calls.as_ref(), self.swing));
    }
}

impl Calls<'_> {
    /// Calls the hook for an instance, which may set `joints`.
    pub fn run(
        &self,
        (pool, index): (&Pool, usize),
        (joints, weight): (&[u16], f32),
        pose: &mut Pose<'_>,
    ) {
        let seconds = pool.hook_clock().pass(index, self.frame);
        let mut pose = PoseMut { pose: pose.reborrow(), joints, weight };
        (self.hook)(pool.instance_id(index), &mut pose, seconds);
    }
}

/// When the instances of a pool were last evaluated with a hook. It is of what is shown: no part of playback.
#[derive(Debug, Default)]
pub(crate) struct HookClock {
    /// Seconds that the pool was advanced by, in either direction.
    now: f64,
    seen: Vec<Seen>,
}

/// Written by the one worker that evaluates the instance.
#[derive(Debug)]
struct Seen {
    /// [`HookClock::now`] then; NaN for never. Bits of an f64.
    at: AtomicU64,
    /// The seconds that the hook was told, bits of an f64.
    told: AtomicU64,
    /// The frame in which it was told; `u64::MAX` for never.
    frame: AtomicU64,
}

impl Default for Seen {
    fn default() -> Self {
        let never = || AtomicU64::new(f64::NAN.to_bits());
        Self { at: never(), told: never(), frame: AtomicU64::new(u64::MAX) }
    }
}

impl HookClock {
    pub fn advance(&mut self, seconds: f64) {
        self.now += seconds;
    }

    /// Forgets when an instance was evaluated, and makes room for it.
    pub fn forget(&mut self, index: usize) {
        if self.seen.len() <= index {
            self.seen.resize_with(index + 1, Seen::default);
        }
        self.seen[index] = Seen::default();
    }

    /// As [`forget`](Self::forget) for all of so many instances.
    pub fn restart(&mut self, instances: usize) {
        self.seen.clear();
        self.seen.resize_with(instances, Seen::default);
    }

    /// The seconds since an instance was last evaluated, 0 for the first time; in the same frame what it was told
    /// before.
    fn pass(&self, index: usize, frame: u32) -> f64 {
        let Some(seen) = self.seen.get(index) else {
            return 0.0;
        };
        // One worker evaluates an instance.
        if seen.frame.load(Ordering::Relaxed) == u64::from(frame) {
            return f64::from_bits(seen.told.load(Ordering::Relaxed));
        }
        seen.frame.store(frame.into(), Ordering::Relaxed);
        let at = f64::from_bits(seen.at.load(Ordering::Relaxed));
        seen.at.store(self.now.to_bits(), Ordering::Relaxed);
        let seconds = if at.is_nan() { 0.0 } else { self.now - at };
        seen.told.store(seconds.to_bits(), Ordering::Relaxed);
        seconds
    }
}

impl Pool {
    /// Whether an instance is changed by what one frame does once: a hook, if the frame calls one, or springs that swing.
    pub fn is_stepped(&self, index: usize, swings: bool) -> bool {
        let once = |of: &Definition| of.is_hook() || swings && of.springs().is_some();
        self.heeded(index, swings) != 0 && self.active(index).any(|(of, _)| once(of))
    }
}
