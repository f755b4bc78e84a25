//! The evaluation of a frame: rayon over ranges of banks, each with its part of the memory and its own scratch.

use super::bank::{Bank, BankSlice, CELLS, SHARED};
use super::order::{GROUP, Palettes, Source, Upcoming, arrange, group};
use super::select::{PaletteSet, Work, places};
use super::shared::{PhaseKey, SharedPhases};
use super::tier::Tiers;
use super::tiering::{Ranked, Tiering};
use crate::crowd::memory::Output;
use crate::crowd::scratches::WorkerScratch;
use crate::evaluate::{
    ActionInput, How, Instance, InstanceScratch, Instances, LayerInput, LocalOverride,
    PaletteScratch, Scratch, TakenJoints, Target,
};
use crate::math::Affine3x4;
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::Pool;
use crate::simd::{Fence, Kernel, Lanes, Streaming, dispatch};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What all workers of a frame read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BankTask<'a> {
    pools: &'a [Option<Pool>],
    ranked: &'a [Ranked],
    tiers: &'a Tiers,
    how: How,
    frame: u32,
    time: f64,
    /// About the seconds of a frame, with the sign of time.
    step: f64,
    /// Whether the frame was written before.
    again: bool,
    /// Whether inputs are stored though a tier is updated in every frame: the budget may let it wait.
    store: bool,
    /// Whether watched joints are taken of the palettes.
    joints: bool,
    /// Whether the time that tiers take is measured.
    timed: bool,
    nanoseconds: &'a [AtomicU64; super::MAX_TIERS + 1],
    begun: &'a AtomicBool,
}

/// A range of the work of a frame, with the banks that it writes. Its memory begins at `row`.
#[derive(Debug)]
pub(in crate::crowd) struct BankShare<'a> {
    pub work: &'a [Work],
    pub banks: BankSlice<'a>,
    pub row: usize,
}

impl<'a> BankShare<'a> {
    /// Splits off `some` of `parts` parts of about as many rows, and says how many rows of memory lie before the rest. Each
    /// has some of the work; there are two banks at least.
    pub fn split(self, some: usize, parts: usize) -> ((Self, Self), usize) {
        let work = self.work;
        let (start, last) = (work[0].before, &work[work.len() - 1]);
        let share = start + (last.before - start) * some / parts;
        let at = work.partition_point(|w| w.before < share);
        let Self { work, banks, row } = self;
        let (now, later) = work.split_at(at.clamp(some, work.len() - (parts - some)));
        let next = later.first();
        let (bank, next_row) = next.map_or((banks.first, row), |w| (w.bank as usize, w.row));
        let (banks_a, banks_b) = banks.split_before(bank);
        let share = |work, banks, row| Self { work, banks, row };
        let both = (share(now, banks_a, row), share(later, banks_b, next_row));
        (both, next_row - row)
    }
}

/// A range of work that is split among scratches.
pub(crate) struct BankRun<'a, O> {
    pub task: &'a BankTask<'a>,
    pub share: BankShare<'a>,
    pub scratches: &'a mut [WorkerScratch],
    pub output: O,
}

/// What one worker evaluates into its part of the memory.
pub(crate) struct BankPart<'a> {
    pub task: &'a BankTask<'a>,
    pub share: BankShare<'a>,
    pub instance: &'a mut InstanceScratch,
    /// For the order of its work.
    pub arranged: &'a mut Vec<Work>,
    pub joints: &'a mut TakenJoints,
}

impl Tiering {
    /// Evaluates the work of a frame into memory.
    pub(in crate::crowd) fn run<O: Output>(
        &mut self,
        pools: &[Option<Pool>],
        how: How,
        scratches: &mut [WorkerScratch],
        output: O,
    ) {
        let (task, share) = self.share(pools, how, true);
        match scratches {
            _ if share.work.is_empty() => {}
            [scratch] => output.fill(&task, share, scratch),
            scratches => BankRun { task: &task, share, scratches, output }.run(),
        }
        self.finish();
    }

    /// The work of a frame. With `joints`, watched joints are taken of the palettes.
    #[inline]
    pub(in crate::crowd) fn share<'a>(
        &'a mut self,
        pools: &'a [Option<Pool>],
        how: How,
        joints: bool,
    ) -> (BankTask<'a>, BankShare<'a>) {
        if self.on {
            self.nanoseconds.iter_mut().for_each(|n| *n.get_mut() = 0);
        }
        let task = BankTask {
            pools,
            ranked: &self.pools,
            tiers: &self.tiers,
            how,
            frame: self.frame,
            time: self.time,
            step: self.step,
            again: self.written,
            store: self.budget.is_some(),
            joints,
            timed: self.on,
            nanoseconds: &self.nanoseconds,
            begun: &self.begun,
        };
        let share = BankShare { work: &self.work, banks: self.banks.as_slice(), row: 0 };
        (task, share)
    }

    /// To be called when a frame has been written: the memory has all palettes.
    pub(in crate::crowd) fn finish(&mut self) {
        self.lost = false;
        self.written = true;
        *self.begun.get_mut() = false;
        if !self.on {
            return;
        }
        for (tier, stats) in self.stats.tiers.iter_mut().enumerate() {
            stats.nanoseconds = self.nanoseconds[tier].load(Ordering::Relaxed);
        }
        self.stats.shared_nanoseconds = self.nanoseconds[super::MAX_TIERS].load(Ordering::Relaxed);
    }
}

impl<O: Output> BankRun<'_, O> {
    /// Splits down to one scratch; `join` runs both halves without allocating.
    pub fn run(self) {
        let work = self.share.work;
        let parts = self.scratches.len().min(work.len());
        if parts <= 1 {
            if let (Some(scratch), false) = (self.scratches.first_mut(), work.is_empty()) {
                self.output.fill(self.task, self.share, scratch);
            }
            return;
        }
        let ((share_a, share_b), rows) = self.share.split(parts / 2, parts);
        let (output_a, output_b) = self.output.split(rows);
        let (scratches_a, scratches_b) = self.scratches.split_at_mut(parts / 2);
        let task = self.task;
        let a = BankRun { task, share: share_a, scratches: scratches_a, output: output_a };
        let b = BankRun { task, share: share_b, scratches: scratches_b, output: output_b };
        rayon::join(|| a.run(), || b.run());
    }
}

impl<'a> BankPart<'a> {
    /// With the buffers of a worker, of which the second finishes palettes that are copied.
    pub fn new(
        task: &'a BankTask<'a>,
        share: BankShare<'a>,
        scratch: &'a mut WorkerScratch,
    ) -> (Self, &'a mut [Affine3x4]) {
        let WorkerScratch { palettes, works } = scratch;
        let PaletteScratch { instance, palette, joints } = palettes;
        let part = Self { task, share, instance, arranged: works, joints };
        (part, palette)
    }

    /// Evaluates the part; rows that are read afterwards are not stored past the caches.
    pub fn evaluate(mut self, mut target: Target<'_>) {
        let BankTask { how, begun, .. } = *self.task;
        begun.store(true, Ordering::Relaxed);
        let streams = how.stream && matches!(target, Target::Rows(_));
        // Outside the kernel, so that it is dropped when the kernel unwinds.
        let fence = streams.then(|| Fence::new(how.level));
        let streaming = fence.as_ref().map(Fence::streaming);
        let cells = Cells { part: &mut self, streaming, target: &mut target };
        dispatch(how.level, cells);
    }
}

/// The cells of a part.
struct Cells<'c, 'a, 's, 't> {
    part: &'c mut BankPart<'a>,
    streaming: Option<Streaming<'s>>,
    target: &'c mut Target<'t>,
}

impl Kernel for Cells<'_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let BankPart { task, share, instance, arranged, joints } = self.part;
        // Plain slices: what lies behind a reference to a reference is read again for every palette.
        let (task, work, row, streaming) = (*task, share.work, share.row, self.streaming);
        let BankSlice { all: banks, first, hints, first_hint } = &mut share.banks;
        let (banks, hints) = (&mut **banks, &mut **hints);
        let (first, first_hint) = (*first, *first_hint);
        let joints = &mut **joints;
        let InstanceScratch { run, order } = &mut **instance;
        let compact = task.how.compact;
        let mut target = match self.target {
            Target::Rows(all) => Target::Rows(all),
            Target::Copied { palette, write } => Target::Copied { palette, write: *write },
        };
        let mut rest = arrange(arranged, work, (banks, first), task.pools);
        let ahead = task.how.ahead;
        let mut times = task.timed.then(|| Times::start(task.nanoseconds));
        while let Some(head) = rest.first() {
            let kind = banks[head.bank as usize - first].kind;
            let pool = task.pools.get(usize::from(kind.pool));
            let Some(pool) = pool.and_then(Option::as_ref) else {
                return;
            };
            let sorts = pool.tables().sorts();
            let (group, others) = rest.split_at(group(rest, sorts, banks, first));
            rest = others;
            if let Some(times) = &mut times {
                times.go_on(usize::from(kind.tier).min(super::MAX_TIERS));
            }
            // Without tiers nobody waits, and nothing is stored.
            if task.timed && kind.tier != SHARED {
                for work in group {
                    let bank = &mut banks[work.bank as usize - first];
                    task.renew(pool, bank, task.evaluates(work), run);
                }
            }
            let shared = task.ranked.get(usize::from(kind.pool)).map(|r| &r.shared);
            let how = (pool, sorts, ahead);
            let mut palettes = Palettes::new(order, group, (banks, first), how);
            let stride = pool.hints_per_instance();
            let watching = task.joints && !pool.watched().is_empty();
            let behind = if ahead { task.behind(others, kind.pool, banks, first) } else { None };
            let mut sources = pool.tables().sources_of(kind.detail);
            let place_of = |work: &Work| {
                let bank = &banks[work.bank as usize - first];
                Place::of(work, bank, (row, first_hint))
            };
            let (mut detail, mut now, mut at) = (kind.detail, head.bank, place_of(head));
            while let Some((work, palette)) = palettes.next() {
                if ahead {
                    Upcoming {
                        group,
                        first,
                        items: palettes.listed(),
                        pool,
                        shared,
                        sources: &sources,
                        behind,
                    }
                    .look_ahead(palettes.taken() - 1, banks);
                }
                if work.bank != now {
                    (now, at) = (work.bank, place_of(work));
                    if !sorts && let Some(later) = banks.get(now as usize - first + GROUP) {
                        later.prefetch();
                    }
                    if at.bank.kind.detail != detail {
                        detail = at.bank.kind.detail;
                        sources = pool.tables().sources_of(detail);
                    }
                }
                let Place { bank, .. } = at;
                let cell = palette / 2;
                let rows = bank.kind.rows as usize;
                task.load(pool, shared, bank.source(palette), run);
                let before = match compact {
                    true => at.palettes.before(palette),
                    false => bank.slot(palette),
                };
                let first = at.row + before * at.stride;
                let output = match &mut target {
                    Target::Rows(all) => all.get_mut(first..first + rows),
                    Target::Copied { palette, .. } => palette.get_mut(..rows),
                };
                let Some(output) = output else {
                    continue;
                };
                let index = bank.owner[cell] as usize;
                let overrides: &[LocalOverride] = match kind.tier {
                    SHARED => &[],
                    _ => pool.overrides(index),
                };
                let watches = watching && bank.is_now(cell) && pool.watched().watches(index);
                let hints = hints.get_mut(at.hints + cell * stride..);
                Instance {
                    sources,
                    overrides,
                    hints: hints.unwrap_or_default(),
                    scratch: run,
                    output,
                    // What is read after the run is not stored past the caches.
                    streaming: streaming.filter(|_| !watches),
                }
                .run(simd);
                if watches {
                    let of = (pool.watched(), kind.pool, index);
                    joints.take(simd, of, (&sources, run), output);
                }
                if let Target::Copied { palette, write } = &mut target {
                    write(first, &palette[..rows]);
                }
            }
            for work in group {
                let bank = &mut banks[work.bank as usize - first];
                // Lines that stay as they are need not go back to memory.
                if (bank.fresh | bank.stale) != 0 {
                    bank.fresh &= !work.write;
                    bank.stale &= !task.evaluates(work);
                }
            }
        }
        if let Some(times) = times {
            times.end();
        }
    }
}

/// The bank whose palettes are evaluated, and where it lies in its part.
#[derive(Clone, Copy)]
struct Place<'a> {
    bank: &'a Bank,
    palettes: PaletteSet,
    /// The first row, the rows of a palette, and the first key hint.
    row: usize,
    stride: usize,
    hints: usize,
}

impl<'a> Place<'a> {
    /// In a part with this first row and this first hint.
    #[inline(always)]
    fn of(work: &Work, bank: &'a Bank, (row, hint): (usize, usize)) -> Self {
        Self {
            bank,
            palettes: work.palettes,
            row: work.row - row,
            stride: bank.kind.stride as usize,
            hints: bank.hints - hint,
        }
    }
}

impl<'a> BankTask<'a> {
    /// The first of other works, with its pool, if that is not this one.
    #[inline(always)]
    fn behind<'w>(
        &self,
        others: &'w [Work],
        pool: u16,
        banks: &[Bank],
        first: usize,
    ) -> Option<(&'w Work, &'a Pool)> {
        let work = others.first()?;
        let of = banks[work.bank as usize - first].kind.pool;
        let next = self.pools.get(usize::from(of)).and_then(Option::as_ref);
        next.filter(|_| of != pool).map(|pool| (work, pool))
    }

    /// The cells that are evaluated from what they play now.
    #[inline(always)]
    fn evaluates(&self, work: &Work) -> u16 {
        if self.again { 0 } else { work.evaluate }
    }

    /// Stores what the palettes of cells are evaluated from, and when they are reached.
    #[inline(always)]
    fn renew(&self, pool: &Pool, bank: &mut Bank, cells: u16, run: &mut Scratch) {
        let tier = &self.tiers.tiers[usize::from(bank.kind.tier)];
        let pairs = bank.kind.palettes > 1;
        if !tier.stores(self.store) {
            if cells == bank.used {
                bank.whole = self.frame;
            } else {
                places(cells).for_each(|place| bank.updated[place] = self.frame);
            }
            if bank.stored != 0 {
                bank.stored &= !cells;
            }
            return;
        }
        let anew = bank.fresh | bank.stale;
        for place in places(cells) {
            let before = std::mem::replace(&mut bank.updated[place], self.frame);
            if !pairs {
                pool.gather(bank.owner[place] as usize, run);
                bank.inputs[place].store(run);
            } else if before != self.frame || anew >> place & 1 == 1 {
                // Otherwise a part of this frame was run, and the frame is written once more: a pair is renewed once.
                self.renew_pair(pool, bank, (place, tier.rate), run);
            }
        }
        bank.stored |= cells;
    }

    fn renew_pair(
        &self,
        pool: &Pool,
        bank: &mut Bank,
        (place, rate): (usize, u8),
        run: &mut Scratch,
    ) {
        let bit = 1u16 << place;
        let index = bank.owner[place] as usize;
        let rate = u32::from(rate);
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
        pool.gather_ahead(index, ahead, run);
        let later = usize::from(bank.second & bit != 0);
        bank.inputs[place * 2 + later].store(run);
        bank.times[place][1] = self.time + ahead.abs();
    }

    /// Puts what a palette is evaluated from into the scratch.
    #[inline(always)]
    fn load(
        &self,
        pool: &Pool,
        shared: Option<&SharedPhases>,
        source: Source<'_>,
        run: &mut Scratch,
    ) {
        match source {
            Source::Now(index) => pool.gather(index, run),
            Source::Stored(input) => input.load(run),
            Source::Shared(key) => load_phase(key, shared, run),
        }
    }
}

/// Puts a phase of a clip into a scratch.
#[inline(never)]
fn load_phase(key: PhaseKey, shared: Option<&SharedPhases>, run: &mut Scratch) {
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
}

/// The time of banks of one tier, which ends where that of another tier's begins.
struct Times<'a> {
    all: &'a [AtomicU64; super::MAX_TIERS + 1],
    watch: Stopwatch,
    tier: Option<usize>,
}

impl<'a> Times<'a> {
    fn start(all: &'a [AtomicU64; super::MAX_TIERS + 1]) -> Self {
        Self { all, watch: Stopwatch::start(), tier: None }
    }

    /// Banks of a tier come next.
    fn go_on(&mut self, tier: usize) {
        if self.tier != Some(tier) {
            self.lap();
            self.tier = Some(tier);
        }
    }

    fn lap(&mut self) {
        if let Some(tier) = self.tier {
            self.all[tier].fetch_add(self.watch.lap(), Ordering::Relaxed);
        }
    }

    fn end(mut self) {
        self.lap();
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
