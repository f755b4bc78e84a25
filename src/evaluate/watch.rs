//! Watched joints: model matrices that an evaluation stores, in addition to the palettes.
//!
//! ```text
//! joints, models   | instance 0                | instance 1      | …    instances without watched joints have no entries
//!                  | shared | its own | before | shared | before |
//! stamps           | instance 0                | instance 1      | …    when the entries were written
//! ```
//!
//! Shared joints are watched in all instances; an instance's own joints are the joints of its mirrors. The entries
//! `before` are of joints that are watched in all instances before the stage ([`BeforeJoints`]). The workers of a
//! frame collect joints in their scratches ([`TakenJoints`]); they are moved to `models` when all palettes are written.

use super::evaluated::PoseStage;
use super::scratch::{Scratch, Sources};
use crate::math::Affine3x4;
use std::ops::Range;
use std::sync::Arc;

mod before;
mod part;
mod taken;

pub(crate) use before::BeforeJoints;
pub(crate) use part::WatchPart;
use part::matrices;
pub(crate) use taken::TakenJoints;

/// The watched joints of a rig's instances.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Shared joints after the stage.
    after: Counted,
    /// Joints before the stage.
    before: Counted,
    rows: Rows,
    models: Vec<Affine3x4>,
    /// Stamps by instance; empty if no joint is watched.
    stamps: Vec<Stamp>,
    /// True if instances or counts have changed since the rows were laid out.
    stale: bool,
    /// Number of layouts made; tells tiers that the joints may have changed.
    layouts: u64,
    clock: Stamp,
}

/// The time at which the entries of an instance were written. Zeros: never.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stamp {
    /// The present moment when they were written, which counts the changes of all instances; 0 if the instance has
    /// changed since.
    moment: u64,
    /// The number of the evaluated frame that wrote them; 0 if none did.
    frame: u64,
}

/// The instance and joint of each entry.
#[derive(Debug, Default)]
struct Rows {
    /// First entry of each instance, and the number of entries at the end.
    first: Vec<usize>,
    joints: Vec<u16>,
    /// Number of shared entries of each instance.
    shared: usize,
    /// Number of each instance's entries before the stage.
    before: usize,
}

/// Joints, ascending, each with the number of its watches.
#[derive(Debug, Default)]
struct Counted(Vec<(u16, u32)>);

impl Counted {
    fn joints(&self) -> impl Iterator<Item = u16> {
        self.0.iter().map(|c| c.0)
    }

    fn add(&mut self, joint: u16) {
        match self.0.binary_search_by_key(&joint, |c| c.0) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(1),
            Err(at) => self.0.insert(at, (joint, 1)),
        }
    }

    fn remove(&mut self, joint: u16) {
        if let Ok(at) = self.0.binary_search_by_key(&joint, |c| c.0) {
            self.0[at].1 -= 1;
            if self.0[at].1 == 0 {
                self.0.remove(at);
            }
        }
    }
}

impl Rows {
    fn range(&self, instance: usize) -> Range<usize> {
        match self.first.get(instance..instance + 2) {
            Some(&[first, end]) => first..end,
            _ => 0..0,
        }
    }
}

impl Watched {
    /// Watches joints in all instances.
    pub fn watch(&mut self, stage: PoseStage, joints: impl Iterator<Item = u16>) {
        let list = self.list(stage);
        joints.for_each(|joint| list.add(joint));
    }

    /// Takes back one [`watch`](Self::watch) of these joints. Joints that are not watched are ignored.
    pub fn unwatch(&mut self, stage: PoseStage, joints: impl Iterator<Item = u16>) {
        let list = self.list(stage);
        joints.for_each(|joint| list.remove(joint));
    }

    /// The list of a stage, which is to be changed.
    fn list(&mut self, stage: PoseStage) -> &mut Counted {
        self.stale = true;
        match stage {
            PoseStage::Before => &mut self.before,
            PoseStage::After => &mut self.after,
        }
    }

    /// The joints, ascending, that all instances watch after the stage.
    pub fn shared(&self) -> impl Iterator<Item = u16> {
        self.after.joints()
    }

    /// The joints, ascending, that all instances watch before the stage.
    pub fn before(&self) -> impl Iterator<Item = u16> {
        self.before.joints()
    }

    /// Whether no instance has watched joints.
    pub fn is_empty(&self) -> bool {
        self.stamps.is_empty()
    }

    pub fn layouts(&self) -> u64 {
        self.layouts
    }

    /// Whether [`lay_out`](Self::lay_out) has to be called.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Notes that an instance was spawned: its index has no matrices yet.
    pub fn spawn(&mut self, index: usize) {
        if let Some(stamp) = self.stamps.get_mut(index) {
            *stamp = Stamp::default();
        }
        self.stale = true;
    }

    /// Notes that all instances have changed: time was advanced.
    pub fn advance(&mut self) {
        self.clock.moment += 1;
    }

    /// Notes that the state of all instances was replaced.
    pub fn reset(&mut self) {
        self.stamps.fill(Stamp::default());
        self.advance();
        self.stale = true;
    }

    /// Notes that an instance has changed.
    #[inline(always)]
    pub fn touch(&mut self, index: usize) {
        if let Some(stamp) = self.stamps.get_mut(index) {
            stamp.moment = 0;
        }
    }

    /// Lays out the entries of `instances` instances. `own` lists those that watch further joints; an instance may be listed more than once. An instance whose joints were all watched before keeps
    /// their matrices.
    pub fn lay_out(&mut self, instances: usize, own: &[Own]) {
        self.stale = false;
        let shared: Vec<u16> = self.shared().collect();
        let before: Vec<u16> = self.before().collect();
        let watched = !(shared.is_empty() && own.is_empty() && before.is_empty());
        if !watched && self.stamps.is_empty() {
            return;
        }
        self.layouts += 1;
        let instances = if watched { instances } else { 0 };
        let own = own.iter().filter(|own| own.instance < instances);
        let not_shared = |joint: &u16| shared.binary_search(joint).is_err();
        let mut first = vec![0; instances + 1];
        for own in own.clone() {
            first[own.instance + 1] += own.joints().filter(not_shared).count();
        }
        for instance in 0..instances {
            first[instance + 1] += first[instance] + shared.len() + before.len();
        }
        let mut joints = vec![0; first[instances]];
        let mut next = first.clone();
        for next in &mut next[..instances] {
            joints[*next..*next + shared.len()].copy_from_slice(&shared);
            *next += shared.len();
        }
        for own in own {
            for joint in own.joints().filter(not_shared) {
                joints[next[own.instance]] = joint;
                next[own.instance] += 1;
            }
        }
        for instance in 0..instances {
            let end = first[instance + 1] - before.len();
            joints[first[instance] + shared.len()..end].sort_unstable();
            joints[end..end + before.len()].copy_from_slice(&before);
        }
        let rows = Rows { first, joints, shared: shared.len(), before: before.len() };
        let mut models = vec![Affine3x4::IDENTITY; rows.joints.len()];
        let mut stamps = vec![Stamp::default(); instances];
        for (instance, stamp) in stamps.iter_mut().enumerate() {
            let Some((old, when)) = self.row(instance).zip(self.stamps.get(instance)) else {
                continue;
            };
            let range = rows.range(instance);
            let (after, before) = rows.joints[range.clone()].split_at(range.len() - rows.before);
            let kept = after.iter().map(|&j| old.model(j));
            let kept = kept.chain(before.iter().map(|&j| old.model_before(j)));
            if kept.clone().all(|model| model.is_some()) {
                *stamp = *when;
                for (model, kept) in models[range].iter_mut().zip(kept.flatten()) {
                    *model = *kept;
                }
            }
        }
        (self.rows, self.models, self.stamps) = (rows, models, stamps);
    }

    /// The entries of an instance; `None` if no joint is watched.
    #[inline]
    pub fn row(&self, index: usize) -> Option<WatchedRow<'_>> {
        let stamp = self.stamps.get(index)?;
        let range = self.rows.range(index);
        let after = range.len().checked_sub(self.rows.before)?;
        let joints = self.rows.joints.get(range.clone())?.split_at(after);
        let models = self.models.get(range)?.split_at(after);
        Some(WatchedRow {
            shared: self.rows.shared,
            joints: joints.0,
            models: models.0,
            before: (joints.1, models.1),
            known: *stamp != Stamp::default(),
            current: *stamp != Stamp::default() && stamp.moment == self.now().moment,
            age: match stamp.frame {
                0 => None,
                frame => Some(self.clock.frame - frame),
            },
        })
    }

    /// Whether an instance watches joints that not all instances watch.
    pub fn watches_own(&self, index: usize) -> bool {
        self.rows.range(index).len() > self.rows.shared + self.rows.before
    }

    fn now(&self) -> Stamp {
        Stamp {
            // Zero marks entries of instances that have changed.
            moment: self.clock.moment + 1,
            frame: self.clock.frame,
        }
    }

    #[inline(always)]
    pub fn watches(&self, index: usize) -> bool {
        !self.rows.range(index).is_empty()
    }

    /// Notes that the evaluation of a frame begins.
    pub fn begin_frame(&mut self) {
        self.clock.frame += 1;
    }

    /// The entries of all instances, written by the frame that has [begun](Self::begin_frame).
    pub fn frame(&mut self) -> WatchPart<'_> {
        self.part(self.now())
    }

    /// Sets the entries of an instance to the matrices that a frame has collected.
    fn put(&mut self, index: usize, taken: &[Affine3x4]) {
        let now = self.now();
        let models = self.models.get_mut(self.rows.range(index));
        if let (Some(models), Some(stamp)) = (models, self.stamps.get_mut(index)) {
            models.copy_from_slice(taken);
            *stamp = now;
        }
    }

    /// The entries of all instances, written outside of any frame.
    pub fn outside_frames(&mut self) -> WatchPart<'_> {
        let now = self.now();
        self.part(Stamp { frame: 0, ..now })
    }

    fn part(&mut self, now: Stamp) -> WatchPart<'_> {
        WatchPart {
            first: &self.rows.first,
            joints: &self.rows.joints,
            before: self.rows.before,
            start: 0,
            models: &mut self.models,
            stamps: &mut self.stamps,
            now,
        }
    }
}

/// An instance that watches joints in addition to the shared ones.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub instance: usize,
    /// The joints, ascending.
    pub joints: Arc<[u16]>,
}

impl Own {
    fn joints(&self) -> impl Iterator<Item = u16> {
        self.joints.iter().copied()
    }
}

/// The entries of an instance after the stage: the shared joints, ascending, then its own, ascending. Beside them the
/// entries before the stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedRow<'a> {
    shared: usize,
    pub joints: &'a [u16],
    pub models: &'a [Affine3x4],
    /// The joints that are watched before the stage, ascending, and their matrices.
    pub before: (&'a [u16], &'a [Affine3x4]),
    /// True if the entries have been written.
    pub known: bool,
    /// True if the instance has not changed since the entries were written.
    pub current: bool,
    /// Number of frames evaluated since the one that wrote the entries; `None` if none did.
    pub age: Option<u64>,
}

impl<'a> WatchedRow<'a> {
    /// The shared joints and their matrices.
    pub fn shared(&self) -> (&'a [u16], &'a [Affine3x4]) {
        (&self.joints[..self.shared], &self.models[..self.shared])
    }

    /// The model matrix of a joint, if it is watched.
    #[inline]
    pub fn model(&self, joint: u16) -> Option<&'a Affine3x4> {
        // The usual case: one joint, or all of them.
        if self.joints.get(usize::from(joint)) == Some(&joint) {
            return self.models.get(usize::from(joint));
        }
        let (shared, own) = self.joints.split_at(self.shared);
        let at = match shared.binary_search(&joint) {
            Ok(at) => at,
            Err(_) => self.shared + own.binary_search(&joint).ok()?,
        };
        self.models.get(at)
    }

    /// The model matrix of a joint before the stage, if it is watched there.
    pub fn model_before(&self, joint: u16) -> Option<&'a Affine3x4> {
        let (joints, models) = self.before;
        models.get(joints.binary_search(&joint).ok()?)
    }
}
