//! Two crowds with the same calls: one is evaluated to a device, the other to heap memory, as the reference for the
//! rows of every frame.

use crate::support::crowd_of;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, RigId};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_workload::hash01;
use std::collections::HashMap;
use std::sync::Arc;

/// The rows of all visible instances.
pub type Rows = HashMap<InstanceId, Vec<Affine3x4>>;

pub struct Twins {
    /// For the device.
    pub crowd: Crowd,
    pub all: Vec<InstanceId>,
    heap: Crowd,
    rows: BoneBuffer,
    rigs: Vec<RigId>,
    frame: u64,
}

impl Twins {
    pub fn new(rigs: &[Arc<Rig>], each: usize) -> Self {
        let (crowd, all, ids) = crowd_of(rigs, each);
        Self {
            crowd,
            all,
            heap: crowd_of(rigs, each).0,
            rows: BoneBuffer::new(),
            rigs: ids,
            frame: 0,
        }
    }

    /// Gives both the same order.
    fn both<T: PartialEq + std::fmt::Debug>(&mut self, order: impl Fn(&mut Crowd) -> T) -> T {
        let done = order(&mut self.crowd);
        assert_eq!(done, order(&mut self.heap), "twins differ");
        done
    }

    /// Advances time, hides and shows some instances, schedules half of them, spawns `newcomers` and despawns one.
    pub fn step(&mut self, newcomers: usize) {
        self.frame += 1;
        let frame = self.frame;
        let roll = |salt: u64, i: usize| hash01(frame * 7919 + salt * 104_729 + i as u64);
        self.both(|crowd| crowd.advance(1.0 / 30.0)).unwrap();
        for (i, id) in self.all.clone().into_iter().enumerate() {
            if roll(1, i) < 0.15 {
                let shown = roll(2, i) < 0.7;
                self.both(|crowd| crowd.set_visible(id, shown)).unwrap();
            }
            let scheduled = roll(3, i) < 0.5;
            self.both(|crowd| crowd.set_scheduled(id, scheduled)).unwrap();
        }
        // A new instance may reuse the index of the despawned one.
        let gone = self.all.remove(frame as usize % self.all.len());
        self.both(|crowd| crowd.despawn(gone)).unwrap();
        for i in 0..newcomers {
            let rig = self.rigs[(i + frame as usize) % self.rigs.len()];
            let id = self.both(|crowd| crowd.spawn(rig)).unwrap();
            self.all.push(id);
        }
    }

    /// The frame in heap memory.
    pub fn rows(&mut self) -> Rows {
        self.heap.evaluate(&mut self.rows);
        let rows = |&id: &InstanceId| {
            let range = self.heap.palette_range(id)?;
            Some((id, self.rows.rows()[range].to_vec()))
        };
        self.all.iter().filter_map(rows).collect()
    }
}
