//! `GpuBoneBuffer`: the palettes of a crowd in device memory, uploaded as they are evaluated.

use super::backend::{PaletteBackend, ROW_BYTES, row_bytes};
use super::staging::Ring;
use super::stamps::Stamps;
use super::target::Target;
use super::{Gpu, GpuError};
use crate::crowd::{BoneBuffer, Crowd, FrameStats, InstanceId, PoseMut, reserve_rows};
use crate::math::Affine3x4;
use crate::playback::hook::HookFn;
use std::ops::Range;
use std::time::Duration;

/// Options of a bone buffer: what it keeps and how rows are uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuBoneOptions {
    /// Whether the rows of the previous frame are kept too, for motion vectors. Doubles the device memory.
    /// Default: no.
    pub previous: bool,
    /// Whether workers write through a ring of mapped buffers; otherwise rows are sent from heap memory with
    /// `write_buffer`. Default: yes.
    pub mapped: bool,
    /// Whether the device times every frame's copies, if it can. Default: no.
    pub timed: bool,
}

impl Default for GpuBoneOptions {
    fn default() -> Self {
        Self { previous: false, mapped: true, timed: false }
    }
}

/// Statistics of one frame's upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoneUpload {
    /// Counts of the evaluation.
    pub frame: FrameStats,
    /// True if workers wrote into mapped memory, from which the device copies. False if rows were sent from heap
    /// memory: the ring was not requested, the device was too far behind, or no memory could be mapped.
    pub mapped: bool,
    /// Bytes sent to the device, including the padding between aligned instances.
    pub bytes: u64,
    /// Bytes that the device copied from page to page: contents of pages that were replaced by larger ones and, if the
    /// previous frame is kept, the rows that the last frame had changed.
    pub carried: u64,
    /// Copy commands: one per run of rows that were written or copied and, with the texture backend, one per page from
    /// its buffer to its texture.
    pub copies: u32,
    /// Pages that hold rows.
    pub pages: usize,
}

/// The position of a palette's first row on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoneRow {
    /// Index of the page.
    pub page: usize,
    /// The first row in the page: the row index for shaders of the texture and storage backends.
    pub row: u32,
}

impl BoneRow {
    /// The dynamic offset, in bytes, of a window that starts at this row, for the uniform backend. It fits 32 bits,
    /// since pages end below 4 GiB.
    pub fn offset(&self) -> u32 {
        self.row.saturating_mul(ROW_BYTES as u32)
    }
}

/// The palettes of a crowd in device memory.
///
/// Once per frame, call [`Crowd::advance`] and then [`evaluate`](Self::evaluate) instead of
/// [`Crowd::evaluate`]. [`locate`](Self::locate) maps a [`Crowd::palette_range`] to a page and row.
/// Rows are 48 bytes each, mesh space to model space. A failed device does not stop the crowd: after an
/// error, [`heap`](Self::heap) has the same frame if there is memory for it.
///
/// ```no_run
/// use phalanx::crowd::Crowd;
/// use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuOptions, PaletteBackend};
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gpu = Gpu::open(&GpuOptions::default())?;
/// let mut bones = GpuBoneBuffer::new(&gpu, PaletteBackend::Storage, &GpuBoneOptions::default())?;
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(Arc::new(phalanx::import::mannequin()?))?;
/// let character = crowd.spawn(rig)?;
/// crowd.advance(1.0 / 60.0)?;
/// bones.evaluate(&mut crowd, &gpu)?;
/// let range = crowd.palette_range(character).ok_or("hidden")?;
/// let first = bones.locate(&range).ok_or("no rows")?;
/// println!("page {}, row {}", first.page, first.row);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuBoneBuffer {
    pub(super) backend: PaletteBackend,
    pub(super) options: GpuBoneOptions,
    /// [`Gpu::serial`] of the device that owns the pages and the ring.
    device: u64,
    pub(super) ring: Ring,
    pub(super) current: Target,
    /// Pages of the frame before the current one, if that is kept.
    pub(super) previous: Target,
    /// Runs of rows that the current frame has written. The next frame copies them to `previous` before it overwrites
    /// them.
    pub(super) changed: Vec<Range<usize>>,
    /// True if `previous` holds the frame before the current one.
    pub(super) follows: bool,
    pub(super) generation: u64,
    /// Rows in heap memory, on their way to the device by `write_buffer`.
    pub(super) spill: Vec<Affine3x4>,
    heap: BoneBuffer,
    in_heap: bool,
    pub(super) stamps: Option<Stamps>,
}

impl GpuBoneBuffer {
    /// An empty bone buffer; device memory is allocated with the first frame. `backend` is the way in which shaders
    /// read the rows: see [`PaletteBackend::choose`].
    ///
    /// # Errors
    /// If the device lacks the backend.
    pub fn new(
        gpu: &Gpu,
        backend: PaletteBackend,
        options: &GpuBoneOptions,
    ) -> Result<Self, GpuError> {
        backend.check(gpu, 1)?;
        Ok(Self {
            backend,
            options: *options,
            device: gpu.serial(),
            ring: Ring::new(),
            current: Target::default(),
            previous: Target::default(),
            changed: Vec::new(),
            follows: false,
            generation: 0,
            spill: Vec::new(),
            heap: BoneBuffer::new(),
            in_heap: false,
            stamps: None,
        })
    }

    /// How shaders read the rows.
    pub fn backend(&self) -> PaletteBackend {
        self.backend
    }

    /// Sets other options from the next frame on. A change of `previous` drops all rows; the ring of mapped buffers keeps
    /// its memory, and timestamps go with `timed`.
    pub fn set_options(&mut self, options: &GpuBoneOptions) {
        if options.previous != self.options.previous {
            self.forget();
        }
        self.options = *options;
    }

    /// Evaluates every visible instance that is scheduled into device memory. The rows of all others stay where they
    /// are.
    ///
    /// Submits its own copies: work that is submitted later reads this frame's rows.
    ///
    /// # Errors
    /// If a palette has too many joints for the backend, or the device is lost or out of memory. All visible instances
    /// are then evaluated into [`heap`](Self::heap) instead. If there is no memory for that either, the error is
    /// [`GpuError::HeapMemory`], or the loss of the device, and the frame has no rows. The crowd keeps its state, and
    /// the next frame evaluates every instance.
    pub fn evaluate(&mut self, crowd: &mut Crowd, gpu: &Gpu) -> Result<BoneUpload, GpuError> {
        self.evaluate_by(crowd, gpu, None)
    }

    /// [`evaluate`](Self::evaluate) with a [hook](crate::crowd::Hook), which is called for every evaluated instance whose
    /// weight of it is above 0. If the device fails, the frame in heap memory calls it again.
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate).
    pub fn evaluate_with(
        &mut self,
        crowd: &mut Crowd,
        gpu: &Gpu,
        hook: &(impl Fn(InstanceId, &mut PoseMut<'_>, f64) + Sync),
    ) -> Result<BoneUpload, GpuError> {
        self.evaluate_by(crowd, gpu, Some(hook))
    }

    fn evaluate_by(
        &mut self,
        crowd: &mut Crowd,
        gpu: &Gpu,
        hook: Option<&HookFn<'_>>,
    ) -> Result<BoneUpload, GpuError> {
        self.in_heap = false;
        let error = match self.upload(crowd, gpu, hook) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        // The contents of the device's pages are unknown now: keep none of them.
        self.forget();
        // Frees the pending rows first, to leave memory for the frame.
        self.spill = Vec::new();
        match crowd.try_evaluate(&mut self.heap, hook) {
            Ok(_) => self.in_heap = true,
            Err(_) if matches!(error, GpuError::Lost { .. }) => {}
            Err(none) => return Err(GpuError::HeapMemory(none)),
        }
        Err(error)
    }

    /// The frame's rows in heap memory, if the device failed and there was memory for them.
    pub fn heap(&self) -> Option<&BoneBuffer> {
        self.in_heap.then_some(&self.heap)
    }

    /// Drops the rows on the device and frees its memory: after an error or a change of device.
    fn forget(&mut self) {
        self.ring.clear();
        self.current = Target::default();
        self.previous = Target::default();
        self.changed.clear();
        self.follows = false;
        self.stamps = None;
        self.generation += 1;
    }

    /// Prepares for a device; drops all rows if it is not the same as before.
    pub(super) fn settle(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        if !self.is_on(gpu) {
            self.forget();
            self.device = gpu.serial();
        }
        if !self.options.timed {
            self.stamps = None;
        } else if self.stamps.is_none() && Stamps::are_there(gpu) {
            self.stamps = gpu.checked(|| Ok(Stamps::new(gpu, 1)))?;
        }
        Ok(())
    }

    fn is_on(&self, gpu: &Gpu) -> bool {
        self.device == gpu.serial()
    }

    /// The device time of the last frame's copies; waits for them. `None` if it was not
    /// [timed](GpuBoneOptions::timed), or not on this device. Rows sent from heap memory are not included.
    ///
    /// # Errors
    /// If the device fails.
    pub fn copy_time(&self, gpu: &Gpu) -> Result<Option<Duration>, GpuError> {
        let stamps = self.stamps.as_ref().filter(|_| self.is_on(gpu));
        let parts = stamps.map_or(Ok(None), |stamps| stamps.read(gpu))?;
        Ok(parts.and_then(|parts| parts.first().copied()))
    }

    /// Reads the frame's rows back; waits for the device. For tests and tools.
    ///
    /// # Errors
    /// If the device fails, or is not the one that has the rows.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Affine3x4>, GpuError> {
        if !self.is_on(gpu) {
            let reason = "the rows are on another device".into();
            return Err(GpuError::Refused { reason });
        }
        let target = &self.current;
        let mut rows = Vec::new();
        for (i, page) in target.pages.iter().enumerate().take(target.paging.len()) {
            let read = gpu.read(page.buffer.slice(..row_bytes(target.paging.rows(i).len())))?;
            let start = rows.len();
            let count = start + read.len() / ROW_BYTES as usize;
            reserve_rows(&mut rows, count).map_err(GpuError::HeapMemory)?;
            rows.resize(count, Affine3x4::IDENTITY);
            if let Some(rows) = rows.get_mut(start..) {
                bytemuck::cast_slice_mut(rows).copy_from_slice(&read);
            }
        }
        Ok(rows)
    }

    /// Changes whenever bind groups must be recreated: pages were added or have grown.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Rows of the frame, including the padding between palettes.
    pub fn row_count(&self) -> usize {
        let paging = &self.current.paging;
        paging.rows(paging.len().saturating_sub(1)).end
    }

    /// Pages that hold rows of the frame.
    pub fn page_count(&self) -> usize {
        self.current.paging.len()
    }

    /// A page of the frame as shaders bind it, for the layout of [`PaletteBackend::layout_entry`]. `None` if it does not
    /// exist, or is on another device.
    pub fn page(&self, gpu: &Gpu, page: usize) -> Option<wgpu::BindingResource<'_>> {
        self.page_of(&self.current, gpu, page)
    }

    /// A page of the previous frame, if it is kept and that frame reached the device.
    pub fn previous_page(&self, gpu: &Gpu, page: usize) -> Option<wgpu::BindingResource<'_>> {
        self.page_of(self.previous()?, gpu, page)
    }

    /// The page and row at which the palette with this [`Crowd::palette_range`] lies.
    ///
    /// The two palettes of an interpolated instance lie in one page, in either order. Shaders blend
    /// `row + (to_row - row) × factor`, row by row: `PalettePair` in `shaders/skinning.wgsl`. With the uniform backend,
    /// rows count from the start of the window, which is the first of both.
    pub fn locate(&self, rows: &Range<usize>) -> Option<BoneRow> {
        locate(&self.current, rows)
    }

    /// The page and row at which the previous frame has the palette with these rows, which
    /// [stayed](crate::crowd::Shown::stayed), if that frame is kept.
    pub fn locate_previous(&self, rows: &Range<usize>) -> Option<BoneRow> {
        locate(self.previous()?, rows)
    }

    fn previous(&self) -> Option<&Target> {
        self.follows.then_some(&self.previous)
    }

    fn page_of<'a>(
        &self,
        target: &'a Target,
        gpu: &Gpu,
        page: usize,
    ) -> Option<wgpu::BindingResource<'a>> {
        let pages = target.pages.get(..target.paging.len()).filter(|_| self.is_on(gpu))?;
        Some(pages.get(page)?.binding(self.backend, gpu.palette_limits()))
    }
}

fn locate(target: &Target, rows: &Range<usize>) -> Option<BoneRow> {
    let (page, row) = target.paging.locate(rows.start)?;
    Some(BoneRow { page, row: u32::try_from(row).ok()? })
}
