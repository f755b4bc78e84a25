//! Times the frames of a plaza.

use super::super::super::budget::Budget;
use super::super::super::error::CliError;
use super::super::CrowdArgs;
use super::super::tiers_file;
use super::figures::{Events, Run, SharedRow, TierRow};
use indicatif::ProgressBar;
use phalanx::crowd::{BoneBuffer, Tiers};
use phalanx_workload::plaza::{Plaza, PlazaEvents, PlazaTimes};
use std::time::Instant;

/// Frames before the measured ones: shared palettes are evaluated when they are first needed.
pub const WARM_UP: u32 = 240;

/// Runs the frames of a plaza in a pool of `threads`.
pub fn run(
    args: &CrowdArgs,
    threads: usize,
    scene: &mut Plaza,
    progress: &ProgressBar,
) -> Result<Run, CliError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| CliError::Threads { threads, source })?;
    pool.install(|| frames(args, threads, scene, progress))
}

fn frames(
    args: &CrowdArgs,
    threads: usize,
    scene: &mut Plaza,
    progress: &ProgressBar,
) -> Result<Run, CliError> {
    let mut budget = Budget::new(args.budget);
    let mut bones = BoneBuffer::new();
    let mut times: Vec<PlazaTimes> = Vec::with_capacity(args.frames as usize);
    let mut calls = Vec::with_capacity(args.frames as usize);
    let mut sums = Sums::default();
    for frame in 0..WARM_UP + args.frames {
        let allowed = budget.palettes();
        if allowed.is_some() {
            let set = scene.crowd_mut().set_budget(allowed);
            set.map_err(|e| CliError::Tiers(e.to_string()))?;
        }
        let start = Instant::now();
        let fades = scene.direct()?;
        let called = start.elapsed().as_nanos() as f64;
        let now = scene.frame(&mut bones)?;
        if let Some(stats) = scene.crowd().tier_stats() {
            // What `Crowd::evaluate` is.
            budget.observe(stats, (now.schedule + now.evaluate) / 1e3);
        }
        if frame >= WARM_UP {
            times.push(now);
            calls.push(called);
            sums.add(scene, fades, allowed);
        }
        progress.inc(1);
    }
    let of = |part: &dyn Fn(&PlazaTimes) -> f64| spread(times.iter().map(part).collect());
    let [median_ns, p99_ns, worst_ns] = of(&PlazaTimes::total);
    let frames = f64::from(args.frames);
    let per_frame = |sum: u64| sum as f64 / frames;
    let tiers = scene.crowd().tiers();
    Ok(Run {
        threads,
        median_ns,
        p99_ns,
        worst_ns,
        advance_ns: of(&|t| t.advance)[0],
        events_ns: of(&|t| t.events)[0],
        schedule_ns: of(&|t| t.schedule)[0],
        evaluate_ns: of(&|t| t.evaluate)[0],
        crossfades_ns: spread(calls)[0],
        crossfades_per_frame: per_frame(sums.fades),
        events_per_frame: Events {
            markers: per_frame(sums.events.markers),
            finishes: per_frame(sums.events.finishes),
        },
        in_view_per_frame: tiers.map(|_| per_frame(sums.in_view)),
        evaluated_per_frame: per_frame(sums.evaluated),
        budget_per_frame: args.budget.map(|_| per_frame(sums.allowed)),
        beyond_budget_per_frame: args.budget.map(|_| per_frame(sums.beyond_budget)),
        by_tier: tiers.map_or_else(Vec::new, |tiers| sums.rows(tiers, frames)),
        shared: tiers.map(|_| SharedRow {
            characters_per_frame: per_frame(sums.tiers.iter().map(|t| t.shared).sum()),
            palettes_per_frame: per_frame(sums.shared_palettes),
            evaluated_per_frame: per_frame(sums.shared_evaluated),
            ns_per_frame: per_frame(sums.shared_nanoseconds),
        }),
    })
}

/// Sums over the measured frames.
#[derive(Debug, Default)]
struct Sums {
    tiers: Vec<TierSums>,
    events: PlazaEvents,
    fades: u64,
    in_view: u64,
    evaluated: u64,
    shared_palettes: u64,
    shared_evaluated: u64,
    shared_nanoseconds: u64,
    allowed: u64,
    beyond_budget: u64,
}

#[derive(Clone, Debug, Default)]
struct TierSums {
    characters: u64,
    shared: u64,
    evaluated: u64,
    held: u64,
    waiting: u64,
    /// The greatest of all frames.
    oldest: u32,
    nanoseconds: u64,
}

impl Sums {
    /// Adds the last frame of a plaza.
    fn add(&mut self, scene: &Plaza, fades: u64, allowed: Option<usize>) {
        let events = scene.events();
        self.events.markers += events.markers;
        self.events.finishes += events.finishes;
        self.fades += fades;
        self.allowed += allowed.unwrap_or(0) as u64;
        let all = scene.crowd().instance_count();
        let Some(frame) = scene.crowd().tier_stats() else {
            self.evaluated += all as u64;
            return;
        };
        self.in_view += all.saturating_sub(frame.out) as u64;
        self.shared_palettes += frame.shared_palettes as u64;
        self.shared_evaluated += frame.shared_evaluated as u64;
        self.shared_nanoseconds += frame.shared_nanoseconds;
        self.beyond_budget += frame.beyond_budget as u64;
        self.evaluated += frame.shared_evaluated as u64;
        self.tiers.resize(frame.tiers.len(), TierSums::default());
        for (sum, now) in self.tiers.iter_mut().zip(&frame.tiers) {
            self.evaluated += now.evaluated as u64;
            sum.characters += now.instances as u64;
            sum.shared += now.shared as u64;
            sum.evaluated += now.evaluated as u64;
            sum.held += now.held as u64;
            sum.waiting += now.waiting as u64;
            sum.oldest = sum.oldest.max(now.oldest);
            sum.nanoseconds += now.nanoseconds;
        }
    }

    fn rows(&self, tiers: &Tiers, frames: f64) -> Vec<TierRow> {
        let row = |(number, (tier, sum)): (usize, (&phalanx::crowd::Tier, &TierSums))| {
            let per_frame = |sum: u64| sum as f64 / frames;
            TierRow {
                tier: number,
                height: tier.height,
                rate: tier.rate,
                interpolate: tier.interpolate && tier.rate > 1,
                sharing: tiers_file::sharing(tier.shared_error),
                detail: tiers_file::detail(tier.detail.as_ref()),
                characters_per_frame: per_frame(sum.characters),
                shared_per_frame: per_frame(sum.shared),
                evaluated_per_frame: per_frame(sum.evaluated),
                held_per_frame: per_frame(sum.held),
                waiting_per_frame: per_frame(sum.waiting),
                oldest: sum.oldest,
                ns_per_frame: per_frame(sum.nanoseconds),
            }
        };
        let tiers = tiers.tiers.iter().zip(&self.tiers);
        tiers.enumerate().map(row).collect()
    }
}

/// The median, the 99th percentile and the largest.
fn spread(mut all: Vec<f64>) -> [f64; 3] {
    all.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * all.len() as f64).ceil() as usize;
        all.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    [at(0.5), at(0.99), at(1.0)]
}
