//! `Schedule`: who is evaluated in a frame and where the rows go, before anything is written.

use super::crowd_data::{Crowd, FrameStats};
use super::evaluate::{STREAM_BYTES, Task};
use super::memory::{Copied, Output, PaletteMemory};
use crate::math::Affine3x4;
use crate::playback::lent::Lent;
use crate::playback::pool::Pool;
use crate::playback::{RowMove, RowOrder};
use crate::simd::SimdLevel;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names one frame of one crowd: memory that keeps rows keeps the name of the frame they are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId {
    crowd: NonZeroU64,
    number: u64,
}

impl FrameId {
    /// A name that no other frame of the process has.
    fn after(last: Option<Self>) -> Self {
        // One number per crowd: an atomic step in every frame waits for all stores of the last.
        static CROWDS: AtomicU64 = AtomicU64::new(1);
        let crowd = || CROWDS.fetch_add(1, Ordering::Relaxed);
        match last {
            Some(Self { crowd, number }) => Self {
                crowd,
                number: number.wrapping_add(1),
            },
            None => Self {
                crowd: NonZeroU64::new(crowd()).unwrap_or(NonZeroU64::MIN),
                number: 0,
            },
        }
    }
}

/// How a frame's rows are to lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Every instance starts at a multiple of this many rows; 0 counts as 1.
    pub align: usize,
    /// The order of the instances.
    pub order: RowOrder,
    /// The frame whose rows the memory still has, as [`Schedule::id`] named it. Unless that is the
    /// crowd's last frame, every instance that is shown is evaluated, due or not.
    pub holds: Option<FrameId>,
}

/// Instances of one palette length, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// The row of the first instance.
    pub first: usize,
    /// Rows from one instance to the next.
    pub stride: usize,
    /// Rows of an instance's palette; the others are there to align the next.
    pub palette: usize,
    /// How many instances.
    pub instances: usize,
}

/// A frame that is scheduled: the rows of every instance are known, and none is written yet.
///
/// From here on [`Crowd::palette_range`] tells this frame's rows. Whoever holds rows of the last frame
/// carries those of [`moves`](Self::moves) over; [`write`](Self::write) does the rest.
#[derive(Debug)]
pub struct Schedule<'a> {
    crowd: &'a mut Crowd,
    id: FrameId,
    follows: bool,
    level: SimdLevel,
    totals: Totals,
}

/// What a frame's places depend on besides the crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LayoutRequest {
    align: usize,
    order: RowOrder,
    holds: bool,
    level: SimdLevel,
}

/// What a frame comes to over all rigs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    rows: usize,
    written: usize,
    stats: FrameStats,
}

impl Crowd {
    /// Decides who is evaluated and where all rows lie. Most callers want [`evaluate`](Self::evaluate),
    /// which does this and writes into heap memory; engines with memory of their own start here.
    pub fn schedule(&mut self, layout: &RowLayout) -> Schedule<'_> {
        let request = LayoutRequest {
            align: layout.align,
            order: layout.order,
            holds: layout.holds.is_some() && layout.holds == self.frame,
            level: SimdLevel::current(),
        };
        let steady = |pool: &Pool| pool.steady(request.holds, request.order);
        let totals = match self.scheduled {
            Some((last, totals)) if last == request && self.pools().all(|(_, p)| steady(p)) => {
                totals
            }
            _ => self.schedule_anew(request),
        };
        let id = FrameId::after(self.frame);
        self.frame = Some(id);
        Schedule {
            crowd: self,
            id,
            follows: request.holds,
            level: request.level,
            totals,
        }
    }

    #[inline(never)]
    fn schedule_anew(&mut self, request: LayoutRequest) -> Totals {
        let mut stats = FrameStats {
            unoptimized: cfg!(phalanx_unoptimized),
            ..FrameStats::default()
        };
        let mut written = 0;
        let width = request.level.width();
        for pool in self.pools.iter_mut().flatten() {
            pool.find_plans(width);
            let counts = pool.count_places(request.holds, request.order);
            let fresh = counts.written - counts.kept;
            stats.instances += fresh;
            stats.carried += counts.kept + counts.carried;
            stats.rows += fresh * pool.rig.palette_len();
            written += counts.written * stride(pool.rig.palette_len(), request.align);
        }
        let (mut first, mut carried) = (0, written);
        for pool in self.pools.iter_mut().flatten() {
            let stride = stride(pool.rig.palette_len(), request.align);
            let counts = pool.places.counts();
            pool.places.place(stride, first, carried);
            first += counts.written * stride;
            carried += counts.carried * stride;
        }
        stats.bytes = stats.rows * size_of::<Affine3x4>();
        let totals = Totals {
            rows: carried,
            written,
            stats,
        };
        self.scheduled = Some((request, totals));
        totals
    }
}

/// Rows from one palette to the next.
fn stride(palette: usize, align: usize) -> usize {
    palette.next_multiple_of(align.max(1))
}

impl Schedule<'_> {
    /// The frame's name, for [`RowLayout::holds`] of the next.
    pub fn id(&self) -> FrameId {
        self.id
    }

    /// Whether the memory has the rows of the crowd's last frame: what it [`holds`](RowLayout::holds) is
    /// where [`Crowd::previous_range`] says.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// All rows of the frame, with those between aligned instances.
    pub fn rows(&self) -> usize {
        self.totals.rows
    }

    /// The rows of memory that [`write`](Self::write) fills: all in the order of slots, those of the
    /// instances evaluated with [`RowOrder::FreshFirst`].
    pub fn written_rows(&self) -> usize {
        self.totals.written
    }

    /// What will be evaluated and carried over.
    pub fn stats(&self) -> FrameStats {
        self.totals.stats
    }

    /// The instances in the order of their rows, by groups of one palette length. Rows that are cut
    /// between instances (pages) are cut within or between groups.
    pub fn groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        let group = |carried: bool| {
            self.crowd.pools().map(move |(_, pool)| {
                let (counts, firsts) = (pool.places.counts(), pool.places.firsts());
                RowGroup {
                    first: if carried { firsts.1 } else { firsts.0 },
                    stride: pool.places.stride(),
                    palette: pool.rig.palette_len(),
                    instances: if carried {
                        counts.carried
                    } else {
                        counts.written
                    },
                }
            })
        };
        let all = group(false).chain(group(true));
        all.filter(|g| g.instances > 0 && g.stride > 0)
    }

    /// The rows to be carried over from the last frame, neighbours joined, rig by rig in ascending order
    /// of where they go. In the order of slots these may be rows that stay where they are.
    pub fn moves(&self, mut each: impl FnMut(RowMove)) {
        for (_, pool) in self.crowd.pools() {
            pool.places.moves(pool.rig.palette_len(), &mut each);
        }
    }

    /// Evaluates into memory of [`written_rows`](Self::written_rows) rows, on the current rayon pool. What
    /// is carried over is not touched. It may be called again, for other memory.
    pub fn write(&mut self, memory: impl PaletteMemory) -> FrameStats {
        self.run(Copied(memory));
        self.totals.stats
    }

    /// As [`write`](Self::write), for rows that lie one after another in the order of slots.
    pub(super) fn write_rows(&mut self, rows: &mut [Affine3x4]) -> FrameStats {
        self.run(rows);
        self.totals.stats
    }

    fn run(&mut self, mut rest: impl Output) {
        let Crowd {
            pools,
            scratches,
            frame,
            ..
        } = &mut *self.crowd;
        // If the caller's memory panics, no memory holds this frame, and the next one is evaluated whole.
        *frame = None;
        let stream = self.totals.written * size_of::<Affine3x4>() >= STREAM_BYTES;
        for pool in pools.iter_mut().flatten() {
            let written = pool.places.counts().written;
            let (now, later) = rest.split(written * pool.places.stride());
            let scratches = scratches.prepare(pool, written);
            let mut lent = Lent::new(pool, |pool| &mut pool.hints);
            let (pool, hints) = lent.split();
            Task {
                scratches,
                pool,
                how: (self.level, stream),
                first: 0,
                end: pool.state.alive.len(),
                hints,
                output: now,
            }
            .run();
            rest = later;
        }
        *frame = Some(self.id);
    }
}
