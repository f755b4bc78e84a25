//! The inputs that the cells of a bank were evaluated from.

use super::{Bank, CELLS, places};
use crate::crowd::tiers::frame_clock::FrameClock;
use crate::crowd::tiers::tier::Tier;
use crate::evaluate::{ActionInput, Instances, LayerInput, Scratch};
use crate::playback::pool::Pool;

/// The layers and actions that a palette was evaluated from, so that it can be evaluated again, with the same bits, after
/// memory was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::crowd::tiers) struct CellInput {
    pub layers: Vec<LayerInput>,
    pub actions: Vec<ActionInput>,
}

impl CellInput {
    /// Makes room, so that later inputs need not allocate.
    pub fn reserve(&mut self, layers: usize, actions: usize) {
        self.layers.reserve(layers.saturating_sub(self.layers.len()));
        self.actions.reserve(actions.saturating_sub(self.actions.len()));
    }

    /// Stores what a scratch holds.
    pub fn store(&mut self, scratch: &Scratch) {
        self.layers.clone_from(&scratch.layers);
        self.actions.clone_from(&scratch.actions);
    }

    /// Puts it into a scratch.
    #[inline(never)]
    pub fn load(&self, scratch: &mut Scratch) {
        scratch.layers.clone_from(&self.layers);
        scratch.actions.clone_from(&self.actions);
    }
}

/// The inputs that cells were evaluated from.
impl Bank {
    /// Whether the input of a cell is stored. Otherwise it is evaluated from what its instance plays now.
    #[inline(always)]
    pub fn stores(&self, place: usize) -> bool {
        self.stored >> place & 1 == 1
    }

    /// The stored input of the palette at a position.
    #[inline(always)]
    pub fn input(&self, position: usize) -> &CellInput {
        &self.inputs[position]
    }

    /// Makes room for the inputs of a set of cells.
    pub fn fit_inputs(&mut self, cells: u16, pool: &Pool) {
        let palettes = usize::from(self.kind.palettes);
        if self.inputs.len() < palettes * CELLS {
            self.inputs.resize_with(palettes * CELLS, Default::default);
        }
        if palettes > 1 && self.times.is_empty() {
            self.times.resize(CELLS, [0.0; 2]);
        }
        // More actions than this make room when they come.
        let (layers, actions) = (pool.layer_count().min(4), pool.max_clips().min(8));
        for place in places(cells) {
            for input in &mut self.inputs[place * palettes..(place + 1) * palettes] {
                input.reserve(layers, actions);
            }
        }
    }

    /// Marks a cell changed by a call.
    pub fn mark_changed(&mut self, place: usize) {
        self.stale |= 1 << place & self.used;
    }

    pub fn mark_all(&mut self) {
        self.stale |= self.used;
    }

    /// Marks the cells changed of which no input is stored.
    pub fn mark_not_stored(&mut self) {
        self.stale |= self.used & !self.stored & !self.fresh;
    }

    /// Marks the cells changed whose stored input plays a clip.
    pub fn mark_clip(&mut self, clip: u16) {
        let palettes = usize::from(self.kind.palettes);
        for place in places(self.stored) {
            let inputs = &self.inputs[place * palettes..(place + 1) * palettes];
            let plays = |input: &CellInput| input.actions.iter().any(|a| a.clip == clip);
            if inputs.iter().any(plays) {
                self.stale |= 1 << place;
            }
        }
    }

    /// Marks those chosen cells as changed whose later palette is more than `most` seconds from the present: the
    /// palette was predicted from longer or shorter frames and cannot serve as the earlier one.
    pub fn mark_mispredicted(&mut self, time: f64, most: f64) {
        if self.kind.palettes > 1 {
            for place in places(self.chosen & !self.fresh) {
                if (self.times[place][1] - time).abs() > most {
                    self.stale |= 1 << place;
                }
            }
        }
    }

    /// Renews the inputs of the cells that a frame evaluates, and when their palettes are reached. With a `budget`,
    /// inputs are stored though the tier is updated in every frame: cells may have to wait.
    #[inline(never)]
    pub fn renew(
        &mut self,
        cells: u16,
        (clock, tier, budget): (&FrameClock, &Tier, bool),
        pool: &Pool,
        run: &mut Scratch,
    ) {
        let frame = clock.frame();
        if !tier.stores(budget) {
            if cells == self.used {
                self.whole = frame;
            } else {
                places(cells).for_each(|place| self.updated[place] = frame);
            }
            if self.stored != 0 {
                self.stored &= !cells;
            }
            return;
        }
        let anew = self.fresh | self.stale;
        for place in places(cells) {
            let before = std::mem::replace(&mut self.updated[place], frame);
            if self.kind.palettes == 1 {
                pool.gather(self.owner[place] as usize, run);
                self.inputs[place].store(run);
            } else if before != frame || anew >> place & 1 == 1 {
                // Otherwise a part of this frame was run, and the frame is written once more: a pair is renewed once.
                self.renew_pair(place, (clock, tier.rate), pool, run);
            }
        }
        self.stored |= cells;
    }

    fn renew_pair(
        &mut self,
        place: usize,
        (clock, rate): (&FrameClock, u8),
        pool: &Pool,
        run: &mut Scratch,
    ) {
        let bit = 1u16 << place;
        let index = self.owner[place] as usize;
        let rate = u32::from(rate);
        let frames = if (self.fresh | self.stale) & bit != 0 {
            pool.gather(index, run);
            let earlier = self.position(2 * place);
            self.inputs[earlier].store(run);
            self.times[place][0] = clock.time();
            // Until the bank's next turn.
            rate - clock.frame().wrapping_sub(self.kind.turn.into()) % rate
        } else {
            self.second ^= bit;
            self.times[place][0] = self.times[place][1];
            rate
        };
        let ahead = f64::from(frames) * clock.step();
        pool.gather_ahead(index, ahead, run);
        let later = self.position(2 * place + 1);
        self.inputs[later].store(run);
        self.times[place][1] = clock.time() + ahead.abs();
    }
}
