//! `TieringSnapshot`: the tiers of a crowd at a moment.

use super::bank::Banks;
use super::tier::Tiers;
use super::tiering::{Ranked, Tiering};
use crate::crowd::Crowd;
use crate::playback::changes::POSE;

/// What a snapshot holds of tiers. Views and importances are the host's, which gives them for every frame.
#[derive(Clone, Debug)]
pub(in crate::crowd) struct TieringSnapshot {
    tiers: Tiers,
    budget: Option<usize>,
    frame: u32,
    time: f64,
    step: f64,
    backwards: bool,
    ranked_at: f64,
    pools: Vec<Ranked>,
    banks: Banks,
    sweep: usize,
    turn: u32,
    align: usize,
    instances: [usize; super::MAX_TIERS],
    /// By pool, instances that calls have changed since the last frame, and what.
    changed: Vec<Vec<(u32, u8)>>,
}

impl PartialEq for TieringSnapshot {
    /// Whether all cells are the same, and were evaluated from the same.
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Ranked, b: &Ranked| (&a.tier, &a.cell, a.rig) == (&b.tier, &b.cell, b.rig);
        let mut pools = self.pools.iter().zip(&other.pools);
        self.tiers == other.tiers
            && self.budget == other.budget
            && self.frame == other.frame
            && (self.time, self.step) == (other.time, other.step)
            && (self.turn, self.align) == (other.turn, other.align)
            && self.changed == other.changed
            && self.pools.len() == other.pools.len()
            && pools.all(|(a, b)| same(a, b))
            && self.banks.all == other.banks.all
    }
}

impl TieringSnapshot {
    pub fn take(crowd: &Crowd) -> Option<Self> {
        let tiering = crowd.tiering.as_deref()?;
        let changed = crowd.pools.iter().map(|pool| {
            let all = pool.iter().flat_map(|pool| pool.changes.all());
            let changed = all.filter(|(_, what)| what & POSE != 0);
            changed.map(|(index, what)| (index as u32, what)).collect()
        });
        let mut banks = tiering.banks.clone();
        // Any hints are valid.
        banks.forget_hints();
        Some(Self {
            tiers: tiering.tiers.clone(),
            budget: tiering.budget,
            frame: tiering.frame,
            time: tiering.time,
            step: tiering.step,
            backwards: tiering.backwards,
            ranked_at: tiering.ranked_at,
            pools: tiering.pools.iter().map(Ranked::kept).collect(),
            banks,
            sweep: tiering.sweep,
            turn: tiering.turn,
            align: tiering.align,
            instances: tiering.instances,
            changed: changed.collect(),
        })
    }

    /// Restores the tiers of a crowd whose pools have been restored. The memory has none of the palettes.
    pub fn restore(&self, crowd: &mut Crowd) {
        let last = crowd.tiering.take().unwrap_or_default();
        let mut pools = self.pools.clone();
        for (pool, last) in pools.iter_mut().zip(last.pools) {
            (pool.importance, pool.given_for) = (last.importance, last.given_for);
        }
        crowd.tiering = Some(Box::new(Tiering {
            tiers: self.tiers.clone(),
            budget: self.budget,
            frame: self.frame,
            time: self.time,
            step: self.step,
            backwards: self.backwards,
            ranked_at: self.ranked_at,
            pools,
            banks: self.banks.clone(),
            sweep: self.sweep,
            turn: self.turn,
            align: self.align,
            instances: self.instances,
            views: last.views,
            lost: true,
            ..Tiering::default()
        }));
        // Shared palettes may be of clips that nothing plays now.
        for (pool, ranked) in crowd.pools.iter_mut().zip(&self.pools) {
            let Some(pool) = pool else { continue };
            for (key, _) in ranked.shared.cells() {
                pool.require_clip(key.clip);
            }
        }
        for (pool, changed) in crowd.pools.iter_mut().zip(&self.changed) {
            let Some(pool) = pool else { continue };
            self.tiers.make_details(pool);
            pool.record(true, 0);
            pool.measure_all();
            pool.mark_worlds();
            for &(index, what) in changed {
                pool.changes.mark(index as usize, what);
            }
        }
        let kept = crowd.tiering.iter_mut().flat_map(|t| &mut t.pools);
        for (ranked, pool) in kept.zip(&crowd.pools) {
            if let Some(pool) = pool {
                ranked.shared.rebind(pool);
            }
        }
    }
}
