//! The evaluation of a frame with tiers: rayon over ranges of banks, each with its part of the memory and its own scratch.

use super::bank::{Bank, CELLS, SHARED};
use super::select::{Work, places};
use super::shared::{PhaseKey, SharedPhases};
use super::tier::Tiers;
use super::tiering::{Ranked, Tiering};
use crate::crowd::evaluate::Scratches;
use crate::crowd::memory::Output;
use crate::kernel::{ActionInput, Instance, LayerInput, LocalOverride, Scratch};
use crate::playback::Events;
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::{How, InstanceScratch, PaletteScratch, Pool, Target};
use crate::simd::{Fence, Kernel, Lanes, Streaming, dispatch};
use std::sync::atomic::{AtomicU64, Ordering};

/// What all workers of a frame read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BankTask<'a> {
    pools: &'a [Option<Pool>],
    ranked: &'a [Ranked],
    tiers: &'a Tiers,
    how: How,
    frame: u32,
    time: f64,
    /// Seconds of the last step, with its sign.
    step: f64,
    /// Whether inputs are stored though a tier is updated in every frame: the budget may let it wait.
    store: bool,
    compact: bool,
    nanoseconds: &'a [AtomicU64; super::MAX_TIERS + 1],
}

/// The banks of a range of work, which are written to the memory from `row` on.
pub(crate) struct BankRun<'a, O> {
    pub task: BankTask<'a>,
    /// Those from `first` on.
    pub banks: &'a mut [Bank],
    pub first: usize,
    pub work: &'a [Work],
    pub scratches: &'a mut [PaletteScratch],
    pub row: usize,
    pub output: O,
}

/// What one worker evaluates into its part of the memory.
pub(crate) struct BankPart<'a> {
    pub task: BankTask<'a>,
    pub banks: &'a mut [Bank],
    pub first: usize,
    pub work: &'a [Work],
    pub row: usize,
    pub instance: &'a mut InstanceScratch,
    pub events: &'a mut Events,
}

impl Tiering {
    /// Evaluates the work of a frame into memory.
    pub(in crate::crowd) fn run<O: Output>(
        &mut self,
        pools: &[Option<Pool>],
        how: How,
        scratches: &mut Scratches,
        compact: bool,
        output: O,
    ) {
        let palettes = self.work.iter().map(Work::palettes);
        let scratches = scratches.prepare(palettes.sum());
        let (task, banks, work) = self.task(pools, how, compact);
        BankRun {
            task,
            banks,
            first: 0,
            work,
            scratches,
            row: 0,
            output,
        }
        .run();
        self.finish();
    }

    /// What the workers of a frame share, with the banks and the work.
    pub(in crate::crowd) fn task<'a>(
        &'a mut self,
        pools: &'a [Option<Pool>],
        how: How,
        compact: bool,
    ) -> (BankTask<'a>, &'a mut [Bank], &'a [Work]) {
        for all in &mut self.nanoseconds {
            *all.get_mut() = 0;
        }
        let task = BankTask {
            pools,
            ranked: &self.pools,
            tiers: &self.tiers,
            how,
            frame: self.frame,
            time: self.time,
            step: self.step,
            store: self.budget.is_some(),
            compact,
            nanoseconds: &self.nanoseconds,
        };
        (task, &mut self.banks.all, &self.work)
    }

    /// To be called when a frame has been written: the memory has all palettes.
    pub(in crate::crowd) fn finish(&mut self) {
        self.lost = false;
        // Written again, to other memory, they are the same.
        for work in &mut self.work {
            work.evaluate = 0;
        }
        for (tier, stats) in self.stats.tiers.iter_mut().enumerate() {
            stats.nanoseconds = self.nanoseconds[tier].load(Ordering::Relaxed);
        }
        self.stats.shared_nanoseconds = self.nanoseconds[super::MAX_TIERS].load(Ordering::Relaxed);
    }
}

impl<'a, O: Output> BankRun<'a, O> {
    /// Splits down to one scratch; `join` runs both halves without allocating.
    pub fn run(self) {
        let parts = self.scratches.len().min(self.work.len());
        if parts <= 1 {
            if let (Some(scratch), false) = (self.scratches.first_mut(), self.work.is_empty()) {
                let PaletteScratch {
                    instance,
                    palette,
                    events,
                } = scratch;
                let part = BankPart {
                    task: self.task,
                    banks: self.banks,
                    first: self.first,
                    work: self.work,
                    row: self.row,
                    instance,
                    events,
                };
                self.output.fill_banks(part, palette);
            }
            return;
        }
        let before = |w: &Work| w.before as usize;
        let (start, last) = (before(&self.work[0]), &self.work[self.work.len() - 1]);
        let all = before(last) + last.palettes() - start;
        let half = start + all * (parts / 2) / parts;
        let middle = self.work.partition_point(|w| before(w) < half);
        let middle = middle.clamp(1, self.work.len() - 1);
        let (work_a, work_b) = self.work.split_at(middle);
        let (bank, row) = (work_b[0].bank as usize, work_b[0].row);
        let (banks_a, banks_b) = self.banks.split_at_mut(bank - self.first);
        let (output_a, output_b) = self.output.split(row - self.row);
        let (scratches_a, scratches_b) = self.scratches.split_at_mut(parts / 2);
        let a = BankRun {
            banks: banks_a,
            work: work_a,
            scratches: scratches_a,
            output: output_a,
            ..self
        };
        let b = BankRun {
            task: self.task,
            banks: banks_b,
            first: bank,
            work: work_b,
            scratches: scratches_b,
            row,
            output: output_b,
        };
        rayon::join(|| a.run(), || b.run());
    }
}

impl BankPart<'_> {
    /// Evaluates the part; rows that are read afterwards are not stored past the caches.
    pub fn evaluate(self, target: Target<'_>) {
        let how = self.task.how;
        let streams = how.stream && matches!(target, Target::Rows(_));
        // Outside the kernel, so that it is dropped when the kernel unwinds.
        let fence = streams.then(|| Fence::new(how.level));
        let streaming = fence.as_ref().map(Fence::streaming);
        dispatch(
            how.level,
            Cells {
                part: self,
                streaming,
                target,
            },
        );
    }
}

/// The cells of a part.
struct Cells<'a, 's, 't> {
    part: BankPart<'a>,
    streaming: Option<Streaming<'s>>,
    target: Target<'t>,
}

impl Kernel for Cells<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(mut self, simd: S) {
        let BankPart {
            task,
            banks,
            first,
            work,
            row,
            instance,
            events,
        } = self.part;
        let run = &mut instance.run;
        let mut nanoseconds = [0u64; super::MAX_TIERS + 1];
        // Each bank's time ends where that of the next begins.
        let mut watch = Stopwatch::start();
        for work in work {
            let bank = &mut banks[work.bank as usize - first];
            let Some(Some(pool)) = task.pools.get(usize::from(bank.kind.pool)) else {
                continue;
            };
            let shared = task
                .ranked
                .get(usize::from(bank.kind.pool))
                .map(|r| &r.shared);
            let sources = pool.sources_of(bank.kind.detail);
            let rows = sources.rig.palette_len();
            let stride = pool.hints_per_instance();
            let mut compact = work.row;
            for place in places(work.write) {
                let evaluate = work.evaluate >> place & 1 == 1;
                let two = work.both >> place & 1 == 1;
                if evaluate && bank.kind.tier != SHARED {
                    task.renew(pool, bank, place, run, events);
                }
                // The earlier palette first, if it is written; then the later one.
                for later in usize::from(!two)..2 {
                    task.load(pool, shared, bank, (place, later), run);
                    let to = match task.compact {
                        true => compact,
                        false => bank.rows_of(place)[later],
                    };
                    compact += bank.kind.stride as usize;
                    let at = to - row;
                    let output = match &mut self.target {
                        Target::Rows(all) => all.get_mut(at..at + rows),
                        Target::Copied { palette, .. } => palette.get_mut(..rows),
                    };
                    let Some(output) = output else {
                        continue;
                    };
                    let index = bank.owner[place] as usize;
                    let own = bank.kind.tier != SHARED;
                    let overrides: &[LocalOverride] = match own {
                        true => pool.state.overrides().of(index),
                        false => &[],
                    };
                    let hints = bank.hints.get_mut(place * stride..);
                    Instance {
                        sources,
                        overrides,
                        hints: hints.unwrap_or_default(),
                        scratch: run,
                        output,
                        streaming: self.streaming,
                    }
                    .run(simd);
                    if let Target::Copied { palette, write } = &mut self.target {
                        write(at, &palette[..rows]);
                    }
                }
            }
            bank.fresh &= !work.write;
            bank.stale &= !work.evaluate;
            let tier = usize::from(bank.kind.tier).min(super::MAX_TIERS);
            nanoseconds[tier] += watch.lap();
        }
        for (all, own) in task.nanoseconds.iter().zip(nanoseconds) {
            if own > 0 {
                all.fetch_add(own, Ordering::Relaxed);
            }
        }
    }
}

impl BankTask<'_> {
    /// Stores what the palettes of a cell are evaluated from, and when they are reached.
    #[inline(always)]
    fn renew(
        &self,
        pool: &Pool,
        bank: &mut Bank,
        place: usize,
        run: &mut Scratch,
        events: &mut Events,
    ) {
        let bit = 1u16 << place;
        let index = bank.owner[place] as usize;
        bank.updated[place] = self.frame;
        let tier = &self.tiers.tiers[usize::from(bank.kind.tier)];
        if bank.kind.palettes == 1 {
            if tier.rate > 1 || self.store {
                pool.gather(index, run);
                bank.stored |= bit;
                bank.inputs[place].store(run);
            } else {
                bank.stored &= !bit;
            }
            return;
        }
        let rate = u32::from(tier.rate);
        let anew = (bank.fresh | bank.stale) & bit != 0;
        let frames = if anew {
            pool.gather(index, run);
            let later = usize::from(bank.second & bit != 0);
            bank.inputs[place * 2 + 1 - later].store(run);
            bank.times[place][0] = self.time;
            // Until the next frame of the bank's phase.
            rate - (self.frame.wrapping_sub(bank.kind.phase.into())) % rate
        } else {
            bank.second ^= bit;
            bank.times[place][0] = bank.times[place][1];
            rate
        };
        let ahead = f64::from(frames) * self.step;
        pool.gather_ahead(index, ahead, events, run);
        let later = usize::from(bank.second & bit != 0);
        bank.inputs[place * 2 + later].store(run);
        bank.times[place][1] = self.time + ahead.abs();
        bank.stored |= bit;
    }

    /// Puts what a palette is evaluated from into the scratch.
    #[inline(always)]
    fn load(
        &self,
        pool: &Pool,
        shared: Option<&SharedPhases>,
        bank: &Bank,
        (place, later): (usize, usize),
        run: &mut Scratch,
    ) {
        if bank.kind.tier == SHARED {
            let key = PhaseKey::of_bits(bank.owner[place], bank.kind.detail);
            run.layers.clear();
            run.actions.clear();
            if key.clip != NO_CLIP {
                run.layers.push(LayerInput {
                    // No layer of the rig, so none with a mask.
                    layer: usize::MAX,
                    additive: false,
                    weight: 1.0,
                    rest: 0.0,
                    actions: 0..1,
                });
                run.actions.push(ActionInput {
                    clip: key.clip,
                    hint: 0,
                    time: shared.map_or(0.0, |s| s.time(key)),
                    weight: 1.0,
                    cursor: 0,
                });
            }
            return;
        }
        if bank.stored >> place & 1 == 0 {
            // It is updated in every frame: what it plays now.
            return pool.gather(bank.owner[place] as usize, run);
        }
        let palettes = usize::from(bank.kind.palettes);
        let second = usize::from(bank.second >> place & 1);
        let palette = match palettes {
            1 => 0,
            // The first of a pair is the later one unless the second is.
            _ => 1 - (second ^ later),
        };
        bank.inputs[place * palettes + palette].load(run);
    }
}

/// Measures time where the platform has a clock.
struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    #[inline(always)]
    fn start() -> Self {
        Self(
            #[cfg(not(target_family = "wasm"))]
            std::time::Instant::now(),
        )
    }

    /// Nanoseconds since the start or the last lap.
    #[inline(always)]
    fn lap(&mut self) -> u64 {
        #[cfg(not(target_family = "wasm"))]
        {
            let now = std::time::Instant::now();
            let lap = now.duration_since(std::mem::replace(&mut self.0, now));
            u64::try_from(lap.as_nanos()).unwrap_or(u64::MAX)
        }
        #[cfg(target_family = "wasm")]
        0
    }
}

const _: () = assert!(CELLS == u16::BITS as usize);
