//! `Poses`: the poses that instances were given, by lane.

use crate::math::Row;
use crate::playback::ids::InstanceId;

/// The stored poses of a pool's instances, by lane.
///
/// ```text
/// slots   | instance 0: its slot | instance 1 | …    up to the last instance that had a pose
/// rows    | slot 0: for every 16 lanes 3 rows of translations, 4 of rotations, 3 of scales | slot 1 | …
/// ```
///
/// A register of any width takes its lanes of each row. Slots that are free are used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Poses {
    slots: Vec<u32>,
    /// By instance, whether all scales of its pose are known to be 1.
    even: Vec<bool>,
    rows: Vec<Row>,
    /// Rows of a slot, the same for all instances of a rig.
    size: usize,
    free: Vec<u32>,
}

const NO_SLOT: u32 = u32::MAX;

impl Poses {
    /// The pose of an instance; empty if it has none.
    #[inline]
    pub fn of(&self, instance: usize) -> &[Row] {
        let slot = self.slots.get(instance).copied().unwrap_or(NO_SLOT) as usize;
        let rows = slot.checked_mul(self.size).and_then(|first| self.rows.get(first..));
        rows.and_then(|rows| rows.get(..self.size)).unwrap_or_default()
    }

    /// Whether all scales of an instance's pose are known to be 1.
    #[inline]
    pub fn even(&self, instance: usize) -> bool {
        self.even.get(instance).copied().unwrap_or(false)
    }

    /// The number of instances up to the last one that had a pose.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Stores a pose of as many rows as all others have.
    pub fn set(&mut self, instance: usize, pose: &[Row], even: bool) {
        if self.rows.is_empty() {
            self.size = pose.len();
        }
        if self.slots.len() <= instance {
            self.slots.resize(instance + 1, NO_SLOT);
            self.even.resize(instance + 1, false);
        }
        if self.slots[instance] == NO_SLOT {
            self.slots[instance] = self.free.pop().unwrap_or_else(|| {
                let slot = self.rows.len() / self.size.max(1);
                self.rows.resize(self.rows.len() + self.size, Row::default());
                // A rig has at most 2^20 instances.
                slot as u32
            });
        }
        self.even[instance] = even;
        let first = self.slots[instance] as usize * self.size;
        self.rows[first..first + self.size].copy_from_slice(pose);
    }

    /// Stores the poses of instances, one after another in `rows`. If they are all that have poses, in ascending order,
    /// `rows` becomes the storage and takes the former one: nothing is copied.
    pub fn set_all(
        &mut self,
        instances: &[InstanceId],
        (rows, size): (&mut Vec<Row>, usize),
        even: bool,
    ) {
        let slots = |rows: &Vec<Row>| rows.len() / size.max(1);
        let all = instances.len() == slots(&self.rows) - self.free.len()
            && instances.is_sorted_by(|a, b| a.index() < b.index())
            && instances.iter().all(|instance| !self.of(instance.index()).is_empty());
        if !all {
            for (instance, pose) in instances.iter().zip(rows.chunks_exact(size.max(1))) {
                self.set(instance.index(), pose, even);
            }
            return;
        }
        std::mem::swap(&mut self.rows, rows);
        self.free.clear();
        // A rig has at most 2^20 instances.
        self.free.extend(instances.len() as u32..slots(&self.rows) as u32);
        for (slot, instance) in instances.iter().enumerate() {
            self.slots[instance.index()] = slot as u32;
            self.even[instance.index()] = even;
        }
    }

    /// Removes the pose of an instance. Returns false if there was none.
    pub fn clear(&mut self, instance: usize) -> bool {
        let slot = self.slots.get_mut(instance).map(|slot| std::mem::replace(slot, NO_SLOT));
        let had = slot.filter(|&slot| slot != NO_SLOT);
        self.free.extend(had);
        had.is_some()
    }
}
