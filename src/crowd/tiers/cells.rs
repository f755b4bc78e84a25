//! `Cells`: the tier and the cell of each instance of a pool.

use super::MAX_TIERS;
use super::bank::{NONE, SHARED_CELL};

/// Out of the picture.
pub(super) const OUT: u8 = u8::MAX;

/// Number of instances in each tier, over all pools. [`Cells`] count them.
#[derive(Debug, Default)]
pub(super) struct TierCounts([usize; MAX_TIERS]);

impl TierCounts {
    pub fn all(&self) -> &[usize] {
        &self.0
    }

    pub fn sum(&self) -> usize {
        self.0.iter().sum()
    }

    fn count(&mut self, from: u8, to: u8) {
        if from != OUT {
            self.0[usize::from(from)] -= 1;
        }
        if to != OUT {
            self.0[usize::from(to)] += 1;
        }
    }
}

/// Tiers and cells, by the instance's index. Both arrays have one length.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Tier of each instance, or [`OUT`].
    tier: Vec<u8>,
    /// Cell of each instance, with [`SHARED_CELL`] if it is shared, or [`NONE`].
    cell: Vec<u32>,
}

impl Cells {
    pub fn len(&self) -> usize {
        self.tier.len()
    }

    /// Makes entries for instances that have come: out of the picture, without a cell.
    pub fn resize(&mut self, instances: usize) {
        self.tier.resize(instances, OUT);
        self.cell.resize(instances, NONE);
    }

    #[inline]
    pub fn tier(&self, index: usize) -> u8 {
        self.tier.get(index).copied().unwrap_or(OUT)
    }

    #[inline]
    pub fn cell(&self, index: usize) -> u32 {
        self.cell.get(index).copied().unwrap_or(NONE)
    }

    /// Cell and tier of each instance.
    pub fn all(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.cell.iter().copied().zip(self.tier.iter().copied())
    }

    /// The tiers, and the cells for a ranking, which sets those that are shared to other phases.
    pub fn lend(&mut self) -> (&[u8], &mut [u32]) {
        (&self.tier, &mut self.cell)
    }

    #[inline]
    pub fn set_tier(&mut self, index: usize, tier: u8, counts: &mut TierCounts) {
        counts.count(self.tier[index], tier);
        self.tier[index] = tier;
    }

    #[inline]
    pub fn set_cell(&mut self, index: usize, cell: u32) {
        self.cell[index] = cell;
    }

    /// Takes all cells back. Returns them, or [`NONE`] for an instance that had none.
    pub fn take_cells(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.cell.iter_mut().map(|cell| std::mem::replace(cell, NONE))
    }

    /// Takes back the shared cells that do not stay.
    pub fn retain_shared(&mut self, stays: impl Fn(u32) -> bool) {
        for cell in &mut self.cell {
            if *cell != NONE && *cell & SHARED_CELL != 0 && !stays(*cell) {
                *cell = NONE;
            }
        }
    }

    /// Moves all instances out of the picture.
    pub fn leave(&mut self, counts: &mut TierCounts) {
        for tier in &mut self.tier {
            counts.count(std::mem::replace(tier, OUT), OUT);
        }
    }

    /// Removes the entries from an index on, which is not above the length. Returns their cells.
    pub fn truncate(
        &mut self,
        len: usize,
        counts: &mut TierCounts,
    ) -> impl Iterator<Item = u32> + '_ {
        self.tier.drain(len..).for_each(|tier| counts.count(tier, OUT));
        self.cell.drain(len..)
    }
}
