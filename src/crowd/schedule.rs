//! `Schedule`: which instances a frame evaluates and where their rows lie, before anything is written.

use super::crowd_data::{Crowd, FrameStats};
use super::evaluate::{COLD_BYTES, Pools, STREAM_BYTES};
use super::memory::{Copied, Output, PaletteMemory};
use super::parts::Parts;
use super::tiers::Tiering;
use crate::math::Affine3x4;
use crate::playback::pool::{How, Pool};
use crate::playback::{RowMove, RowOrder};
use crate::simd::SimdLevel;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies one frame of one crowd. Memory that keeps rows stores the id of their frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId {
    crowd: NonZeroU64,
    number: u64,
}

impl FrameId {
    /// An id that no other frame of the process has.
    fn after(last: Option<Self>) -> Self {
        // The atomic counts crowds, not frames: an atomic add in every frame waits for all stores of the last.
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

/// The layout of a frame's rows in memory. Default: unaligned, by index, in memory that holds no frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowLayout {
    /// Every instance starts at a multiple of this many rows; 0 counts as 1.
    pub align: usize,
    /// The order of the instances.
    pub order: RowOrder,
    /// The [`Schedule::id`] of the frame whose rows the memory still has. Unless that is the crowd's last frame,
    /// every visible instance is evaluated, scheduled or not.
    pub holds: Option<FrameId>,
}

/// Instances of one palette length, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// The row of the first instance.
    pub first: usize,
    /// Rows from one instance to the next.
    pub stride: usize,
    /// Rows of an instance's palette. The rest of the stride is padding.
    pub palette: usize,
    /// The number of instances.
    pub instances: usize,
}

/// A scheduled frame: the row range of every visible instance is known, and no row is written yet.
///
/// [`Crowd::palette_range`] returns this frame's rows from now on. A caller that keeps the rows of the last frame
/// copies those that [`moves`](Self::moves) lists; [`write`](Self::write) evaluates all others.
///
/// ```
/// use phalanx::crowd::{Crowd, PaletteMemory, RowLayout};
/// use phalanx::math::Affine3x4;
/// use std::sync::Arc;
///
/// /// Memory of an engine.
/// struct Memory<'a>(&'a mut [Affine3x4]);
///
/// impl PaletteMemory for Memory<'_> {
///     fn split_at(self, rows: usize) -> (Self, Self) {
///         let (now, later) = self.0.split_at_mut(rows.min(self.0.len()));
///         (Self(now), Self(later))
///     }
///
///     fn write(&mut self, row: usize, palette: &[Affine3x4]) {
///         self.0[row..row + palette.len()].copy_from_slice(palette);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(Arc::new(phalanx::import::mannequin()?))?;
/// let character = crowd.spawn(rig)?;
/// // Palettes start at multiples of 16 rows; the memory holds no earlier frame.
/// let layout = RowLayout { align: 16, ..RowLayout::default() };
/// let mut schedule = crowd.schedule(&layout);
/// let mut rows = vec![Affine3x4::IDENTITY; schedule.rows()];
/// let stats = schedule.write(Memory(&mut rows));
/// assert_eq!(stats.instances, 1);
/// let range = crowd.palette_range(character).ok_or("hidden")?;
/// println!("rows {range:?} of {}", rows.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Schedule<'a> {
    crowd: &'a mut Crowd,
    id: FrameId,
    follows: bool,
    level: SimdLevel,
    totals: Totals,
}

/// The inputs of a frame's row ranges besides the crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LayoutRequest {
    align: usize,
    order: RowOrder,
    holds: bool,
    level: SimdLevel,
}

/// The totals of a frame over all rigs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    rows: usize,
    written: usize,
    /// Instances with rows in the written part.
    instances: usize,
    /// Of the clips of all rigs.
    key_bytes: usize,
    stats: FrameStats,
}

impl Crowd {
    /// Decides which instances are evaluated and where all rows lie. Most callers want
    /// [`evaluate`](Self::evaluate), which does this and writes into heap memory; engines with memory of their own
    /// start here.
    pub fn schedule(&mut self, layout: &RowLayout) -> Schedule<'_> {
        self.settle_parts();
        self.mend_tiers();
        let request = LayoutRequest {
            align: layout.align,
            order: layout.order,
            holds: layout.holds.is_some() && layout.holds == self.frame,
            level: SimdLevel::current(),
        };
        let steady = |pool: &Pool| pool.steady(request.holds, request.order);
        let totals = match self.scheduled {
            _ if self.tiering.is_some() => self.schedule_by_tiers(request),
            Some((last, totals))
                if last == request
                    && !self.mirrors.changed
                    && self.pools().all(|(_, p)| steady(p)) =>
            {
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

    /// Fits watched joints, programs and scratches to the instances and the level.
    fn fit(&mut self, level: SimdLevel) {
        self.lay_out_watched();
        for pool in self.pools.iter_mut().flatten() {
            pool.fit_level(level);
            self.scratches.reserve(pool);
        }
    }

    #[inline(never)]
    fn schedule_by_tiers(&mut self, request: LayoutRequest) -> Totals {
        self.fit(request.level);
        let compact = request.order == RowOrder::FreshFirst;
        let selected = self.schedule_tiers(request.align, (request.holds, compact));
        let stats = FrameStats {
            instances: selected.cells,
            carried: selected.held,
            rows: selected.rows,
            bytes: selected.rows * size_of::<Affine3x4>(),
            unoptimized: cfg!(phalanx_unoptimized),
        };
        let totals = Totals {
            rows: selected.all,
            written: selected.written,
            instances: selected.palettes,
            key_bytes: self.pools().map(|(_, p)| p.key_bytes()).sum(),
            stats,
        };
        self.scheduled = Some((request, totals));
        totals
    }

    #[inline(never)]
    fn schedule_anew(&mut self, request: LayoutRequest) -> Totals {
        self.fit(request.level);
        let mut stats = FrameStats {
            unoptimized: cfg!(phalanx_unoptimized),
            ..FrameStats::default()
        };
        let (mut written, mut instances) = (0, 0);
        for pool in self.pools.iter_mut().flatten() {
            let counts = pool.count_places(request.holds, request.order);
            let fresh = counts.written - counts.kept;
            instances += counts.written;
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
            instances,
            key_bytes: self.pools().map(|(_, p)| p.key_bytes()).sum(),
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
    /// The frame's id, for [`RowLayout::holds`] of the next frame.
    pub fn id(&self) -> FrameId {
        self.id
    }

    /// True if the memory [holds](RowLayout::holds) the rows of the crowd's last frame, at
    /// [`Crowd::previous_range`].
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// All rows of the frame, with the padding between aligned instances.
    pub fn rows(&self) -> usize {
        self.totals.rows
    }

    /// The rows of memory that [`write`](Self::write) fills: all of the frame with [`RowOrder::Index`], those of
    /// the evaluated instances with [`RowOrder::FreshFirst`].
    pub fn written_rows(&self) -> usize {
        self.totals.written
    }

    /// How many instances will be evaluated and carried over.
    pub fn stats(&self) -> FrameStats {
        self.totals.stats
    }

    /// The instances in the order of their rows, in groups of one palette length. Memory that is split between
    /// instances (pages) may be split within a group or between groups.
    pub fn groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        let tiers = self.crowd.tiering.as_deref();
        let banks = tiers.into_iter().flat_map(Tiering::groups);
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
        let plain = group(false).chain(group(true));
        let all = plain.filter(move |_| tiers.is_none()).chain(banks);
        all.filter(|g| g.instances > 0 && g.stride > 0)
    }

    /// The rows to be carried over from the last frame, adjacent ones joined, rig by rig in ascending order of
    /// their destination. With [`RowOrder::Index`] source and destination may be the same.
    pub fn moves(&self, mut each: impl FnMut(RowMove)) {
        if self.crowd.tiering.is_some() {
            return;
        }
        for (_, pool) in self.crowd.pools() {
            pool.places.moves(pool.rig.palette_len(), &mut each);
        }
    }

    /// Evaluates into memory of [`written_rows`](Self::written_rows) rows, on the current rayon pool. Rows that are
    /// carried over are not touched. It may be called again, with other memory.
    pub fn write(&mut self, memory: impl PaletteMemory) -> FrameStats {
        self.run(Copied(memory));
        self.totals.stats
    }

    /// The frame in at most `parts` parts of about as many rows, for the caller's own threads: [`write`](Self::write)
    /// without rayon. Each part may hold instances of several rigs. Memory is as for `write`.
    ///
    /// Allocates only when the number of parts has grown. The bits are those of `write`.
    ///
    /// ```
    /// use phalanx::crowd::{BoneBuffer, Crowd};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "gltf")] {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// crowd.spawn_many(rig, 100, &mut Vec::new())?;
    /// let mut bones = BoneBuffer::new();
    /// let (mut schedule, rows) = crowd.schedule_into(&mut bones);
    /// std::thread::scope(|threads| {
    ///     for part in schedule.parts(4, rows) {
    ///         threads.spawn(move || part.run());
    ///     }
    /// });
    /// let hash = bones.hash();
    /// crowd.evaluate(&mut bones);
    /// assert_eq!(bones.hash(), hash);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn parts<M: PaletteMemory>(&mut self, parts: usize, memory: M) -> Parts<'_, M> {
        let frame = (self.id, self.totals.written, self.totals.instances);
        let how = self.how();
        if self.crowd.tiering.is_some() {
            let compact = self.compact();
            return self
                .crowd
                .lend_banks(self.id, (how, compact), parts, memory);
        }
        self.crowd.lend_parts(frame, how, parts, memory)
    }

    /// Where the rows of the memory that [`write`](Self::write) fills belong, adjacent ones joined: from the row there to
    /// the row of the frame. With [`RowOrder::FreshFirst`] and [tiers](Crowd::set_tiers) they are written one after
    /// another and belong to many places, and all other rows of the frame stay where they are; otherwise they are
    /// written where they belong. To be called after the rows were written: pairs of palettes change places then.
    pub fn scatter(&self, mut each: impl FnMut(RowMove)) {
        match &self.crowd.tiering {
            Some(tiering) if self.compact() => tiering.scatter(each),
            _ => each(RowMove {
                from: 0,
                to: 0,
                rows: self.totals.written,
            }),
        }
    }

    /// True if [`scatter`](Self::scatter) says where rows belong: with [`RowOrder::FreshFirst`] and
    /// [tiers](Crowd::set_tiers).
    pub fn scatters(&self) -> bool {
        self.crowd.tiering.is_some() && self.compact()
    }

    /// The rows of the memory that [`write`](Self::write) fills, in groups of one length: memory that is split between
    /// palettes may be split within a group or between groups.
    pub fn written_groups(&self) -> impl Iterator<Item = RowGroup> + '_ {
        let tiers = self.crowd.tiering.as_deref().filter(|_| self.compact());
        let compact = tiers.into_iter().flat_map(Tiering::written_groups);
        let written = self.totals.written;
        let plain = self
            .groups()
            .filter(move |g| tiers.is_none() && g.first < written);
        compact.chain(plain)
    }

    /// Whether what is evaluated is written one after another.
    fn compact(&self) -> bool {
        let request = self.crowd.scheduled.map(|s| s.0.order);
        request == Some(RowOrder::FreshFirst)
    }

    /// How the frame is evaluated.
    fn how(&self) -> How {
        How {
            level: self.level,
            stream: self.totals.written * size_of::<Affine3x4>() >= STREAM_BYTES,
            ahead: self.totals.key_bytes >= COLD_BYTES,
        }
    }

    /// [`write`](Self::write) into a slice of contiguous rows, for [`RowOrder::Index`].
    pub(super) fn write_rows(&mut self, rows: &mut [Affine3x4]) -> FrameStats {
        self.run(rows);
        self.totals.stats
    }

    fn run(&mut self, memory: impl Output) {
        self.crowd.settle_parts();
        let how = self.how();
        let compact = self.compact();
        let Crowd {
            pools,
            scratches,
            frame,
            tiering,
            ..
        } = &mut *self.crowd;
        // If the caller's memory panics, no memory holds this frame, and the next one is evaluated whole.
        *frame = None;
        if let Some(tiering) = tiering {
            tiering.evaluate_watched(pools, true);
            tiering.run(pools, how, scratches, compact, memory);
            *frame = Some(self.id);
            return;
        }
        let scratches = scratches.prepare(self.totals.instances);
        Pools {
            pools,
            how,
            scratches,
            output: memory,
        }
        .run();
        *frame = Some(self.id);
    }
}
