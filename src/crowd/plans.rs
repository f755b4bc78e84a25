//! The plans of a pool: one per set of clips that has played together, found again by a key.

use super::ids::ClipId;
use super::pool::Pool;
use crate::clip::{Clip, ClipKind};
use crate::runtime::plan::{Plan, PlanInput};
use std::collections::HashMap;

/// Clips beyond this index, and sets beyond this number of plans, share the plan that folds nothing.
const MAX_PLANNED_CLIPS: usize = 64;
/// A plan of a 67-joint rig takes about 6 KB; beyond this many they would leave the second cache.
const MAX_PLANS: usize = 256;

/// Which clips take part, and whether the rest pose does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    clips: u64,
    rest: bool,
    all: bool,
}

impl PlanKey {
    pub fn add(&mut self, clip: ClipId) {
        if self.all {
            return;
        }
        match 1u64.checked_shl(u32::from(clip.index)) {
            Some(bit) if usize::from(clip.index) < MAX_PLANNED_CLIPS => self.clips |= bit,
            _ => *self = Self::ALL,
        }
    }

    pub fn add_rest(&mut self) {
        self.rest = !self.all;
    }

    const ALL: Self = Self {
        clips: 0,
        rest: false,
        all: true,
    };
}

/// The plans of one rig, for one register width.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    plans: Vec<Plan>,
    keys: HashMap<PlanKey, u16>,
    width: usize,
    /// The plan of every instance.
    pub of: Vec<u16>,
    /// Instances whose set of clips may have changed.
    pub dirty: Vec<bool>,
}

impl Plans {
    pub fn get(&self, instance: usize) -> &Plan {
        &self.plans[usize::from(self.of[instance])]
    }

    /// Forgets all plans: a clip came or went.
    pub fn clear(&mut self) {
        self.plans.clear();
        self.keys.clear();
        self.dirty.fill(true);
    }

    /// Makes room for that many instances, and forgets plans of another register width.
    pub fn prepare(&mut self, instances: usize, width: usize) {
        if self.width != width {
            self.width = width;
            self.clear();
        }
        self.of.resize(instances, 0);
        self.dirty.resize(instances, true);
    }
}

impl Pool {
    /// Finds the plans of the instances whose clips have changed.
    pub fn find_plans(&mut self, width: usize) {
        let mut plans = std::mem::take(&mut self.plans);
        plans.prepare(self.state.alive.len(), width);
        for instance in 0..plans.of.len() {
            if !plans.dirty[instance] || !self.state.alive[instance] {
                continue;
            }
            plans.dirty[instance] = false;
            let mut key = self.plan_key(instance);
            if plans.plans.len() >= MAX_PLANS && !plans.keys.contains_key(&key) {
                key = PlanKey::ALL;
            }
            let next = plans.plans.len() as u16;
            plans.of[instance] = *plans.keys.entry(key).or_insert_with(|| {
                plans.plans.push(self.make_plan(key, width));
                next
            });
        }
        self.plans = plans;
    }

    fn make_plan(&self, key: PlanKey, width: usize) -> Plan {
        let (mut full, mut additive): (Vec<&Clip>, Vec<&Clip>) = Default::default();
        for (index, (_, clip)) in self.clips.iter().enumerate().take(MAX_PLANNED_CLIPS) {
            let Some(clip) = clip.as_deref().filter(|_| key.clips >> index & 1 == 1) else {
                continue;
            };
            match clip.kind() {
                ClipKind::Full => full.push(clip),
                ClipKind::Additive => additive.push(clip),
            }
        }
        let input = PlanInput {
            full: &full,
            additive: &additive,
            rest: key.rest,
            all: key.all,
            width,
        };
        Plan::new(&self.rig, &input)
    }
}
