//! The plans of a pool: one per sequence of clips that plays, looked up by a key.

use super::actions::{ACTIONS_PER_LAYER, Four};
use super::lent::Lent;
use super::pool::Pool;
use crate::runtime::plan::{InputLayer, Plan, PlanInput};
use std::collections::HashMap;

/// If there are more plans than this and less than half are in use, all are dropped and those in use are rebuilt. A
/// plan of a 67-joint rig takes about 8 KB.
const MAX_PLANS: usize = 1024;

/// Marks a layer's number among the clips of a key.
const LAYER: u32 = 1 << 31;
/// Marks a key in which the rest pose takes part.
const REST: u32 = 1 << 30;

/// Layers and clips in the order of blending, and whether the rest pose takes part.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanKey {
    /// The first entry states whether the rest pose takes part; then follow the layers, each before its clips.
    words: Vec<u32>,
}

impl PlanKey {
    pub fn clear(&mut self) {
        self.words.clear();
        self.words.push(0);
    }

    pub fn add_layer(&mut self, layer: usize) {
        self.words.push(LAYER | layer as u32);
    }

    pub fn add_clip(&mut self, clip: u16) {
        self.words.push(u32::from(clip));
    }

    pub fn add_rest(&mut self) {
        self.words[0] = REST;
    }
}

/// The plans of one rig, for one register width.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    plans: Vec<Plan>,
    keys: HashMap<Box<[u32]>, u32>,
    width: usize,
    /// The plan of every instance.
    pub of: Vec<u32>,
    /// Per entry of the action arrays: the slots with a weight, in the order of blending.
    pub order: Vec<Four<u8>>,
    /// Instances whose sequence of clips may have changed, and whether there are any.
    dirty: Vec<bool>,
    any_dirty: bool,
    key: PlanKey,
}

impl Plans {
    pub fn get(&self, instance: usize) -> &Plan {
        &self.plans[self.of[instance] as usize]
    }

    /// Whether some instance's sequence of clips may have changed.
    pub fn stale(&self) -> bool {
        self.any_dirty
    }

    /// Drops all plans: a clip was added or removed.
    pub fn clear(&mut self) {
        self.plans.clear();
        self.keys.clear();
        self.touch_all();
    }

    /// Marks the plan of one instance stale: its sequence of clips may have changed.
    pub fn mark_dirty(&mut self, instance: usize) {
        self.any_dirty = true;
        if let Some(dirty) = self.dirty.get_mut(instance) {
            *dirty = true;
        }
    }

    /// Marks the plans of all instances stale.
    pub fn touch_all(&mut self) {
        self.any_dirty = true;
        self.dirty.fill(true);
    }

    /// Adds entries up to the number of instances, and drops plans of another register width.
    pub fn prepare(&mut self, instances: usize, layers: usize, width: usize) {
        if self.width != width {
            self.width = width;
            self.clear();
        }
        self.of.resize(instances, 0);
        self.order
            .resize(instances * layers, [0; ACTIONS_PER_LAYER]);
        self.dirty.resize(instances, true);
        if self.plans.len() > MAX_PLANS {
            let mut used = vec![false; self.plans.len()];
            for &plan in &self.of {
                // Instances that were despawned before the plans were last dropped still refer to dropped plans.
                if let Some(used) = used.get_mut(plan as usize) {
                    *used = true;
                }
            }
            if used.iter().filter(|u| **u).count() * 2 < self.plans.len() {
                self.clear();
            }
        }
    }
}

impl Pool {
    /// Finds or makes the plans of the instances whose clips have changed.
    pub fn find_plans(&mut self, width: usize) {
        if !self.plans.any_dirty && self.plans.width == width {
            return;
        }
        let mut lent = Lent::new(self, |pool| &mut pool.plans);
        let (pool, plans) = lent.split();
        let layers = pool.layers.len();
        plans.prepare(pool.state.alive.len(), layers, width);
        for instance in 0..plans.of.len() {
            if !plans.dirty[instance] || !pool.state.alive[instance] {
                continue;
            }
            for entry in instance * layers..(instance + 1) * layers {
                for (slot, a) in plans.order[entry].iter_mut().zip(pool.in_order(entry)) {
                    *slot = a as u8;
                }
            }
            // The plan depends only on the clips that play now, never on those played before, so that a restored
            // snapshot gives the same bits.
            pool.plan_key(instance, &mut plans.key);
            plans.of[instance] = match plans.keys.get(&plans.key.words[..]) {
                Some(&plan) => plan,
                None => {
                    let next = plans.plans.len() as u32;
                    plans.plans.push(pool.make_plan(&plans.key, width));
                    plans.keys.insert(plans.key.words.clone().into(), next);
                    next
                }
            };
            plans.dirty[instance] = false;
        }
        plans.any_dirty = false;
    }

    fn make_plan(&self, key: &PlanKey, width: usize) -> Plan {
        let mut layers: Vec<InputLayer<'_>> = Vec::new();
        for &word in &key.words[1..] {
            if word & LAYER != 0 {
                let layer = (word & !LAYER) as usize;
                let options = &self.layers[layer];
                layers.push(InputLayer {
                    layer,
                    additive: options.additive,
                    mask: options.mask.as_ref(),
                    clips: Vec::new(),
                });
            } else if let (Some(layer), Some(clip)) =
                (layers.last_mut(), self.clips.get(word as u16))
            {
                layer.clips.push(clip.clone());
            }
        }
        let input = PlanInput {
            layers,
            rest: key.words[0] == REST,
            width,
        };
        Plan::new(&self.rig, &input)
    }
}
