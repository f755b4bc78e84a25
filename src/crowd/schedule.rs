//! `Schedule`: decides which instances a frame evaluates and where their rows lie, before anything is written.

use super::crowd_data::{Crowd, FrameStats};
use super::memory::PaletteMemory;
use super::tiers::{Request, Selected};
use crate::math::Affine3x4;
use crate::playback::hook::HookFn;
use crate::playback::{InstanceId, PoseMut};
use crate::simd::SimdLevel;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies one frame of one crowd. Memory that keeps rows stores the id of their frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId {
    crowd: NonZeroU64,
    number: u64,
}

impl FrameId {
    /// The next frame of the same crowd, or the first one of a crowd. No other frame of the process has this id.
    fn after(last: Option<Self>) -> Self {
        // The atomic counts crowds, not frames: an atomic add in every frame would wait for all stores of the last
        // frame.
        static CROWDS: AtomicU64 = AtomicU64::new(1);
        let crowd = || CROWDS.fetch_add(1, Ordering::Relaxed);
        match last {
            Some(Self { crowd, number }) => Self { crowd, number: number.wrapping_add(1) },
            None => Self { crowd: NonZeroU64::new(crowd()).unwrap_or(NonZeroU64::MIN), number: 0 },
        }
    }
}

/// How a frame is written to memory. Default: unaligned, in place, in memory that holds no frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowLayout {
    /// Every palette starts at a multiple of this many rows; 0 counts as 1.
    pub align: usize,
    /// True to write evaluated palettes one after another, from where [`Schedule::scatter`] copies them to their rows:
    /// for memory on a device. False to write palettes in place.
    pub compact: bool,
    /// The [`Schedule::id`] of the frame whose rows the memory still has. Unless that is the crowd's last frame,
    /// every visible instance is evaluated, scheduled or not.
    pub holds: Option<FrameId>,
}

/// Palettes of one length, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpan {
    /// The row of the first palette.
    pub first: usize,
    /// Rows from the start of one palette to the start of the next.
    pub stride: usize,
    /// Rows of a palette; of an interpolated instance, rows of its pair, with the padding between the two. The rest of
    /// the stride is padding.
    pub palette: usize,
    /// The number of palettes. Some may belong to no instance.
    pub instances: usize,
}

/// A scheduled frame: the row range of every visible instance is known, and no row is written yet.
///
/// [`Crowd::palette_range`] returns this frame's rows from now on. An instance keeps its rows while it is visible and
/// in the picture, so memory that holds the last frame only needs the palettes that [`write`](Self::write) evaluates.
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
}

impl Crowd {
    /// Decides which instances are evaluated and where all rows lie. Most callers want [`evaluate`](Self::evaluate),
    /// which does this and writes into heap memory; engines with memory of their own start here.
    pub fn schedule(&mut self, layout: &RowLayout) -> Schedule<'_> {
        self.settle_parts();
        self.mend_tiers();
        let follows = layout.holds.is_some() && layout.holds == self.frames.last();
        self.tiering.begin_frame(follows);
        // 0 and 1 are both no padding.
        let (align, level) = (layout.align.max(1), SimdLevel::current());
        let request = Request { align, compact: layout.compact, level };
        if self.mirrors.changed || !self.tiering.rests(request, &self.pools) {
            self.select_cells(request);
        }
        let id = FrameId::after(self.frames.last());
        self.frames.hold(id);
        Schedule { crowd: self, id, follows }
    }
}

impl Schedule<'_> {
    fn selected(&self) -> &Selected {
        self.crowd.tiering.selected()
    }

    /// The frame's id, for [`RowLayout::holds`] of the next frame.
    pub fn id(&self) -> FrameId {
        self.id
    }

    /// True if the memory [holds](RowLayout::holds) the rows of the crowd's last frame.
    pub fn follows(&self) -> bool {
        self.follows
    }

    /// The number of rows of the frame, with the padding between aligned palettes and the cells that no instance has.
    pub fn rows(&self) -> usize {
        self.selected().rows
    }

    /// The number of rows that [`write`](Self::write) fills: all rows of the frame, or only the evaluated ones if they
    /// are written [one after another](RowLayout::compact).
    pub fn written_rows(&self) -> usize {
        self.selected().written
    }

    /// How many instances will be evaluated, and how many keep their rows.
    pub fn stats(&self) -> FrameStats {
        let selected = self.selected();
        let rows = selected.palette_rows;
        FrameStats {
            instances: selected.cells,
            carried: selected.held,
            rows,
            bytes: rows * size_of::<Affine3x4>(),
            unoptimized: cfg!(phalanx_unoptimized),
        }
    }

    /// The palettes in the order of their rows, in spans of palettes of one length. Memory that is divided into pages
    /// may be divided within a span, between two palettes, or between spans.
    pub fn spans(&self) -> impl Iterator<Item = RowSpan> + '_ {
        joined(self.crowd.tiering.spans())
    }

    /// Evaluates into memory of [`written_rows`](Self::written_rows) rows, on the current rayon pool. Rows that are
    /// kept are not touched. May be called again with other memory.
    pub fn write(&mut self, memory: impl PaletteMemory) -> FrameStats {
        self.write_by(memory, None)
    }

    /// [`write`](Self::write) with a [hook](super::Hook), which is called for every evaluated instance whose weight of
    /// it is above 0.
    pub fn write_with(
        &mut self,
        memory: impl PaletteMemory,
        hook: &(impl Fn(InstanceId, &mut PoseMut<'_>, f64) + Sync),
    ) -> FrameStats {
        self.write_by(memory, Some(hook))
    }

    pub(crate) fn write_by(
        &mut self,
        memory: impl PaletteMemory,
        hook: Option<&HookFn<'_>>,
    ) -> FrameStats {
        self.crowd.settle_parts();
        let Crowd { pools, scratches, frames, tiering, .. } = &mut *self.crowd;
        // If the caller's memory panics, no memory holds this frame, and the next one evaluates every instance.
        frames.lose();
        let Selected { watched, palettes, .. } = *tiering.selected();
        if watched {
            tiering.begin_joints(pools);
            scratches.clear_joints();
        }
        let parts = scratches.prepare(palettes);
        tiering.run(pools, parts, memory, hook);
        if watched {
            scratches.put_joints(pools);
            if tiering.is_on() {
                tiering.evaluate_joints(pools, true);
            }
        }
        frames.hold(self.id);
        self.stats()
    }

    /// Splits the frame into at most `parts` parts of about equal numbers of rows, for the caller's own threads:
    /// [`write`](Self::write) without rayon. A part is a call that evaluates it into its part of the memory, on the
    /// thread that makes it. It may hold instances of several rigs. `memory` is as for `write`.
    ///
    /// The frame is complete when every part was called. If a part is dropped instead, no memory counts as holding the
    /// frame, and the next frame evaluates every visible instance; [tiers](Crowd::set_tiers) start over if another part
    /// was called. [Watched](Crowd::watch) joints are evaluated here, before the first part.
    ///
    /// Allocates only when the number of parts has grown. The rows are bit for bit the same as with `write`.
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
    ///         threads.spawn(part);
    ///     }
    /// });
    /// let hash = bones.hash();
    /// crowd.evaluate(&mut bones);
    /// assert_eq!(bones.hash(), hash);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn parts<M: PaletteMemory>(
        &mut self,
        parts: usize,
        memory: M,
    ) -> impl ExactSizeIterator<Item = impl FnOnce() + Send> {
        self.crowd.lend_parts(self.id, parts, memory, None).map(|part| move || part.run())
    }

    /// [`parts`](Self::parts) with a [hook](super::Hook), as [`write_with`](Self::write_with). Watched joints, which are
    /// evaluated before the first part, are without it.
    pub fn parts_with<'a, M: PaletteMemory>(
        &'a mut self,
        parts: usize,
        memory: M,
        hook: &'a (impl Fn(InstanceId, &mut PoseMut<'_>, f64) + Sync),
    ) -> impl ExactSizeIterator<Item = impl FnOnce() + Send> {
        let parts = self.crowd.lend_parts(self.id, parts, memory, Some(hook));
        parts.map(|part| move || part.run())
    }

    /// Calls `copy` with every copy from the memory that [`write`](Self::write) fills to the frame: a range of rows,
    /// and the frame's row where the first of them belongs. Adjacent ones are joined. If palettes are written [one
    /// after another](RowLayout::compact), there are many copies, and all other rows of the frame stay; otherwise there
    /// is a single one, from row 0 to row 0. Call it after the rows were written, since the two palettes of a pair
    /// swap rows then.
    pub fn scatter(&self, copy: impl FnMut(Range<usize>, usize)) {
        self.crowd.tiering.scatter(copy);
    }

    /// The [spans](Self::spans) of the memory that [`write`](Self::write) fills.
    pub fn written_spans(&self) -> impl Iterator<Item = RowSpan> + '_ {
        joined(self.crowd.tiering.written_spans())
    }
}

/// Merges each span with those that continue it: same stride and palette, no gap.
fn joined(spans: impl Iterator<Item = RowSpan>) -> impl Iterator<Item = RowSpan> {
    // Rigs without slots have no rows.
    let mut spans = spans.filter(|s| s.stride > 0).peekable();
    std::iter::from_fn(move || {
        let mut all = spans.next()?;
        let goes_on = |all: &RowSpan, next: &RowSpan| {
            let end = all.first + all.instances * all.stride;
            (next.first, next.stride, next.palette) == (end, all.stride, all.palette)
        };
        while let Some(next) = spans.next_if(|next| goes_on(&all, next)) {
            all.instances += next.instances;
        }
        Some(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::PlayOptions;
    use crate::evaluate::How;
    use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack};
    use crate::simd::SETTLED;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// Two instances of a rig of one joint and one clip; only the second instance plays it.
    fn crowd() -> Crowd {
        let track = RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![3.0, 0.0, 0.0, 4.0, 0.0, 0.0],
        };
        let scene = RawScene {
            nodes: vec![RawNode::default()],
            skins: vec![RawSkin {
                name: None,
                joints: vec![0],
                inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array()],
            }],
            clips: vec![RawClip { duration: 1.0, tracks: vec![track], ..RawClip::default() }],
            ..RawScene::default()
        };
        let rig = Arc::new(crate::build::build_rig(scene, &Default::default()).unwrap());
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(rig).unwrap();
        let all = [0; 2].map(|_| crowd.spawn(rig).unwrap());
        let clip = crowd.clip_by_index(rig, 0).unwrap();
        crowd.play(all[1], clip, &PlayOptions::default()).unwrap();
        crowd
    }

    /// A panic between two instances whose rows are streamed: only the fence completes the stores of the first.
    #[test]
    #[cfg_attr(panic = "abort", ignore = "panics end the program")]
    fn streamed_rows_are_settled_when_a_frame_is_cut_short() {
        for level in SimdLevel::supported() {
            let mut crowd = crowd();
            let frame = |crowd: &mut Crowd, stream, cut: bool| {
                let nothing = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
                let mut rows = [nothing; 2];
                let settled = SETTLED.get();
                let mut schedule = crowd.schedule(&RowLayout::default());
                let how = schedule.crowd.tiering.how_mut();
                *how = How { level, stream, ..*how };
                for pool in schedule.crowd.pools.iter_mut().flatten() {
                    pool.fit_level(level);
                }
                if cut {
                    // There is no cursor for the second instance's clip: an index out of range.
                    let scratch = &mut schedule.crowd.scratches.take(1)[0];
                    scratch.palettes.run.forget_cursors();
                }
                let run = || schedule.write(&mut rows[..]);
                let whole = catch_unwind(AssertUnwindSafe(run)).is_ok();
                let first = rows.map(|row| row.rows[0][3]);
                (whole, first.map(f32::to_bits), SETTLED.get() - settled)
            };
            let bits = |x: [f32; 2]| x.map(f32::to_bits);
            let both = bits([0.0, 3.0]);
            assert_eq!(frame(&mut crowd, false, false), (true, both, 0), "{level}");
            assert_eq!(frame(&mut crowd, true, false), (true, both, 1), "{level}");
            let one = bits([0.0, f32::NAN]);
            assert_eq!(frame(&mut crowd, true, true), (false, one, 1), "{level}");
        }
    }
}
