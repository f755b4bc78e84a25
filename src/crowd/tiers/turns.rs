//! `Turns`: how many cells each frame updates, so that new ones go where there are few.

use super::bank::{BankKind, SHARED};

/// Numbers of cells, by the frames in which they are updated.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Number of cells that are updated in each of 16 successive frames.
    load: [u32; 16],
    /// Number of cells by the logarithm of their rate, and by turn.
    cells: [[u32; 16]; 5],
    /// Number of shared cells.
    shared: usize,
}

/// Cells to move from one turn to another, so that all frames update about the same number of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uneven {
    pub rate: u8,
    pub from: u8,
    pub to: u8,
    /// Upper limit of this number.
    pub cells: u32,
}

/// The frames, among 16 successive ones, that are a given turn of a rate.
fn frames_of(rate: u8, turn: u8) -> impl Iterator<Item = usize> {
    (usize::from(turn)..16).step_by(usize::from(rate))
}

impl Turns {
    /// Number of cells by which frames may differ so that fewer banks are needed: 4% of their mean.
    pub fn slack(&self) -> u32 {
        self.load.iter().sum::<u32>() / 16 / 24
    }

    /// The mean number of cells that are updated in the frames of a turn.
    fn mean(&self, rate: u8, turn: u8) -> u32 {
        let all: u32 = frames_of(rate, turn).map(|f| self.load[f]).sum();
        all * u32::from(rate) / 16
    }

    /// The turn of a rate in which the fewest cells are updated, or a turn of the set `open` with at most `slack` more.
    pub fn choose(&self, rate: u8, open: u16) -> u8 {
        let mean = |turn: &u8| self.mean(rate, *turn);
        // The first of equals.
        let least = (0..rate).min_by_key(mean).unwrap_or(0);
        let most = mean(&least) + self.slack();
        let fit = |turn: &u8| open >> turn & 1 == 1 && mean(turn) <= most;
        (0..rate).filter(fit).min_by_key(mean).unwrap_or(least)
    }

    /// Which cells could be updated in this frame rather than in their own, so that it comes up to the mean; `None` if
    /// frames are about even. Called again after cells were moved, it finds the next ones.
    pub fn uneven(&self, frame: u32) -> Option<Uneven> {
        let mean = self.load.iter().sum::<u32>().div_ceil(16);
        let room = (mean + 1).saturating_sub(self.due(frame) as u32);
        if room == 0 {
            return None;
        }
        for (log, cells) in self.cells.iter().enumerate().skip(1) {
            let rate = 1u8 << log;
            let to = (frame % u32::from(rate)) as u8;
            let least = self.mean(rate, to);
            // The first frame after this one of equals.
            let others = (1..rate).map(|after| (to + after) % rate);
            let others = others.filter(|&from| cells[usize::from(from)] > 0);
            let most = others.rev().max_by_key(|&from| self.mean(rate, from));
            let Some(from) = most else {
                continue;
            };
            let most = self.mean(rate, from);
            if most > mean && most > least + (self.slack() * 3 / 2).max(4) + 1 {
                let cells = (most - mean).min(room).min(cells[usize::from(from)]);
                return Some(Uneven { rate, from, to, cells });
            }
        }
        None
    }

    pub fn due(&self, frame: u32) -> usize {
        self.load[frame as usize % 16] as usize
    }

    /// Counts cells that have come to a bank, or gone.
    pub fn count(&mut self, kind: BankKind, rate: u8, by: i32) {
        if kind.tier != SHARED {
            for frame in frames_of(rate, kind.turn) {
                self.load[frame] = self.load[frame].saturating_add_signed(by);
            }
            let cells = &mut self.cells[rate.trailing_zeros() as usize][usize::from(kind.turn)];
            *cells = cells.saturating_add_signed(by);
        } else {
            self.shared = self.shared.saturating_add_signed(by as isize);
        }
    }

    /// Cells that are an instance's own.
    pub fn own_cells(&self) -> usize {
        self.cells.as_flattened().iter().sum::<u32>() as usize
    }

    pub fn shared(&self) -> usize {
        self.shared
    }
}
