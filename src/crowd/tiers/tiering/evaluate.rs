//! The evaluation of a frame: rayon over ranges of banks, each with its part of the memory and its own scratch.

use super::ranked::Ranked;
use super::{Plan, Tiering};
use crate::crowd::PaletteMemory;
use crate::crowd::scratches::WorkerScratch;
use crate::crowd::tiers::bank::{Bank, SHARED};
use crate::crowd::tiers::banks::BankSlice;
use crate::crowd::tiers::cells::OUT;
use crate::crowd::tiers::order::{Order, Source, Upcoming, arrange, together};
use crate::crowd::tiers::shared::{PhaseKey, SharedPhases};
use crate::crowd::tiers::tier::MAX_TIERS;
use crate::crowd::tiers::work::{Selected, Work};
use crate::evaluate::{
    ActionInput, Instance, Instances, LayerInput, PaletteScratch, Scratch, Stage, TakenJoints,
    Target,
};
use crate::playback::hook::{Calls, Framed, HookFn};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::Pool;
use crate::playback::springs::Swing;
use crate::simd::{Fence, Kernel, Lanes, Streaming, dispatch};
use crate::threads;

/// Data that all workers of a frame read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BankTask<'a> {
    pools: &'a [Option<Pool>],
    ranked: &'a [Ranked],
    plan: &'a Plan,
    /// True if watched joints are taken of the palettes.
    joints: bool,
    /// The calls of the host's hook.
    calls: Option<Calls<'a>>,
}

/// A range of the work of a frame, with the banks that it writes. Its memory begins at `row`.
#[derive(Debug)]
pub(in crate::crowd) struct BankShare<'a> {
    pub work: &'a [Work],
    pub banks: BankSlice<'a>,
    pub row: usize,
}

impl<'a> BankShare<'a> {
    /// Splits off `some` of `parts` parts of about equal numbers of rows. Returns both shares and the number of rows of
    /// memory before the second. Each part has at least one bank, so there must be at least `parts` banks.
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
struct BankRun<'a, M> {
    task: &'a BankTask<'a>,
    share: BankShare<'a>,
    scratches: &'a mut [WorkerScratch],
    memory: M,
}

impl Tiering {
    /// Evaluates the work of a frame into memory.
    pub(in crate::crowd) fn run(
        &mut self,
        pools: &[Option<Pool>],
        scratches: &mut [WorkerScratch],
        memory: impl PaletteMemory,
        hook: Option<&HookFn<'_>>,
    ) {
        let (task, share) = self.share(pools, true, hook);
        match scratches {
            _ if share.work.is_empty() => {}
            [scratch] => task.fill(share, scratch, memory),
            scratches => BankRun { task: &task, share, scratches, memory }.run(),
        }
        self.finish();
    }

    /// The work of a frame. With `joints`, watched joints are taken of the palettes.
    #[inline]
    pub(in crate::crowd) fn share<'a>(
        &'a mut self,
        pools: &'a [Option<Pool>],
        joints: bool,
        hook: Option<&'a HookFn<'a>>,
    ) -> (BankTask<'a>, BankShare<'a>) {
        if self.plan.on {
            self.plan.progress.clear_times();
        }
        let frame = self.plan.clock.frame();
        let calls = hook.map(|hook| Calls { hook, frame });
        let task = BankTask { pools, ranked: &self.pools, plan: &self.plan, joints, calls };
        let share = BankShare { work: self.selection.work(), banks: self.banks.as_slice(), row: 0 };
        (task, share)
    }

    /// To be called before a frame is evaluated.
    pub(in crate::crowd) fn begin_joints(&self, pools: &mut [Option<Pool>]) {
        for pool in pools.iter_mut().flatten().filter(|pool| !pool.watched().is_empty()) {
            pool.watched_mut().begin_frame();
        }
    }

    /// Evaluates the watched joints of those instances in the picture of which the frame has taken none, on rayon's
    /// `workers` or on this thread. Their cells may be held, shared, or of other times.
    pub(in crate::crowd) fn evaluate_joints(&self, pools: &mut [Option<Pool>], workers: bool) {
        for (pool, ranked) in pools.iter_mut().zip(&self.pools) {
            let Some(pool) = pool.as_mut().filter(|pool| !pool.watched().is_empty()) else {
                continue;
            };
            pool.evaluate_watched(workers, |index| ranked.cells.tier(index) != OUT);
        }
    }

    /// To be called when a frame has been written: the memory has all palettes.
    #[inline]
    pub(in crate::crowd) fn finish(&mut self) {
        let Self { plan, stats, .. } = self;
        plan.progress.finish(plan.on.then_some(stats));
    }
}

impl<M: PaletteMemory> BankRun<'_, M> {
    /// Splits down to one scratch; `join` runs both halves without allocating.
    fn run(self) {
        let Self { task, share, scratches, memory } = self;
        let parts = scratches.len().min(share.work.len());
        if parts <= 1 {
            if let (Some(scratch), false) = (scratches.first_mut(), share.work.is_empty()) {
                task.fill(share, scratch, memory);
            }
            return;
        }
        let ((share_a, share_b), rows) = share.split(parts / 2, parts);
        let (memory_a, memory_b) = memory.split_at(rows);
        let (scratches_a, scratches_b) = scratches.split_at_mut(parts / 2);
        let a = BankRun { task, share: share_a, scratches: scratches_a, memory: memory_a };
        let b = BankRun { task, share: share_b, scratches: scratches_b, memory: memory_b };
        threads::join(|| a.run(), || b.run());
    }
}

/// The palettes of one worker: its share of the frame, its buffers, and its part of the memory.
struct Palettes<'a, 's, 't> {
    task: &'a BankTask<'a>,
    share: BankShare<'a>,
    run: &'a mut Scratch,
    joints: &'a mut TakenJoints,
    order: &'a mut Order,
    arranged: &'a mut Vec<Work>,
    streaming: Option<Streaming<'s>>,
    target: Target<'t>,
}

/// By reference: a dispatch copies its kernel.
impl Kernel for &mut Palettes<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Palettes { task, share, run, joints, order, arranged, streaming, target } = self;
        let run = &mut **run;
        let BankTask { pools, ranked, plan, joints: takes, calls, .. } = **task;
        let Selected { watched, sorts: some_sort, store, .. } = plan.selected;
        let how = plan.how;
        let mut rest = match some_sort {
            true => arrange(arranged, share.work, &share.banks),
            false => share.work,
        };
        let mut times = plan.on.then(|| plan.progress.times());
        while let Some(head) = rest.first() {
            let banks = &mut share.banks;
            let kind = *banks.all[head.bank as usize - banks.first].kind();
            let Some(Some(pool)) = pools.get(usize::from(kind.pool)) else {
                return;
            };
            let sorts = some_sort && pool.tables().sorts();
            let (works, others) = rest.split_at(together(rest, sorts, banks));
            rest = others;
            let own = kind.tier != SHARED;
            if let Some(times) = &mut times {
                times.go_on(usize::from(kind.tier).min(MAX_TIERS));
                if own {
                    for work in works {
                        let bank = &mut banks.all[work.bank as usize - banks.first];
                        let how = (&plan.clock, &plan.tiers.tiers[usize::from(kind.tier)], store);
                        bank.renew(task.evaluates(work), how, pool, run);
                    }
                }
            }
            let memory = (share.row, how.compact);
            order.list(works, banks, (&kind, pool), memory, !plan.progress.written());
            if sorts {
                order.sort(banks.all, &kind, pool);
            }
            let (all, hints) = (&*banks.all, &mut *banks.hints);
            let items = order.items();
            let sources = pool.tables().sources_of(kind.detail);
            let shared = ranked.get(usize::from(kind.pool)).map(|r| &r.shared);
            let ahead = how.ahead.then(|| Upcoming {
                items,
                kind: &kind,
                pool,
                shared,
                sources: &sources,
                behind: task.behind(others, kind.pool, all, banks.first),
                first: banks.first,
            });
            let watching =
                takes && watched && own && kind.detail == 0 && !pool.watched().is_empty();
            let rows = kind.rows as usize;
            let swings = plan.swings(kind.tier);
            let frame = plan.clock.frame();
            for (i, item) in items.iter().enumerate() {
                if let Some(ahead) = &ahead {
                    ahead.look_ahead(i, all);
                }
                match item.source(&kind, all) {
                    Source::Now(index) => pool.gather(index, run),
                    Source::Stored(input) => input.load(run),
                    Source::Shared(key) => load_phase(key, shared, run),
                }
                let row = item.row as usize;
                let output = match target {
                    Target::Rows(all) => all.get_mut(row..row + rows),
                    Target::Copied { palette, .. } => palette.get_mut(..rows),
                };
                let Some(output) = output else {
                    continue;
                };
                let index = item.owner as usize;
                let mut framed = None;
                let stage = match own {
                    true => pool.stage_by(index, || {
                        let swing = match (swings, item.is_held(all, frame)) {
                            (false, _) => Swing::Out,
                            (true, false) => Swing::Step,
                            (true, true) => Swing::Hold,
                        };
                        (framed.insert(Framed { pool, calls, swing }), swings)
                    }),
                    false => Stage::default(),
                };
                let watches = watching && item.is_now() && pool.watched().watches(index);
                let (staged, hints) = (!stage.is_empty(), hints.get_mut(item.hint as usize..));
                Instance {
                    sources,
                    stage,
                    hints: hints.unwrap_or_default(),
                    scratch: run,
                    output,
                    // What is read after the run is not stored past the caches.
                    streaming: streaming.filter(|_| !watches),
                }
                .run(simd);
                if watches {
                    let of = (pool.watched(), kind.pool, index);
                    joints.take(simd, of, (&sources, run, staged), output);
                }
                if let Target::Copied { palette, write } = target {
                    write(row, &palette[..rows]);
                }
            }
        }
        if let Some(times) = times {
            times.end();
        }
    }
}

impl<'a> BankTask<'a> {
    /// Evaluates a share of the frame into its memory, in place if that is a slice of rows.
    pub fn fill(
        &self,
        share: BankShare<'_>,
        scratch: &mut WorkerScratch,
        mut memory: impl PaletteMemory,
    ) {
        let WorkerScratch { palettes, order, arranged } = scratch;
        let PaletteScratch { run, palette, joints } = palettes;
        let Plan { progress, how, .. } = self.plan;
        progress.begin_cells();
        let evaluate = |target: Target<'_>| {
            // Rows that are read afterwards are not stored past the caches.
            let streams = how.stream && matches!(target, Target::Rows(_));
            // Outside the kernel, so that it is dropped when the kernel unwinds.
            let fence = streams.then(|| Fence::new(how.level));
            let streaming = fence.as_ref().map(Fence::streaming);
            let task = self;
            let mut palettes =
                Palettes { task, share, run, joints, order, arranged, streaming, target };
            dispatch(how.level, &mut palettes);
        };
        match memory.as_rows() {
            Some(rows) => evaluate(Target::Rows(rows)),
            None => evaluate(Target::Copied {
                palette,
                write: &mut |row, palette| memory.write(row, palette),
            }),
        }
    }

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
        let of = banks[work.bank as usize - first].kind().pool;
        let next = self.pools.get(usize::from(of)).and_then(Option::as_ref);
        next.filter(|_| of != pool).map(|pool| (work, pool))
    }

    /// The cells that are evaluated from what they play now.
    #[inline(always)]
    fn evaluates(&self, work: &Work) -> u16 {
        if self.plan.progress.written() { 0 } else { work.evaluate }
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
            offset: None,
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
