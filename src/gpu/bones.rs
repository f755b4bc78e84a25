//! `GpuBoneBuffer`: the palettes of a crowd in a device's memory, written there as they are evaluated.

use super::backend::{PaletteBackend, ROW_BYTES};
use super::staging::Ring;
use super::stamps::Stamps;
use super::target::Target;
use super::{Gpu, GpuError};
use crate::crowd::{BoneBuffer, Crowd, FrameStats, reserve_rows};
use crate::math::Affine3x4;
use std::ops::Range;
use std::time::Duration;

/// How a bone buffer lies on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuBoneOptions {
    /// How shaders reach the rows: see [`PaletteBackend::choose`].
    pub backend: PaletteBackend,
    /// Keeps the rows of the frame before, too, for motion vectors: twice the memory.
    pub previous: bool,
    /// Writes through a ring of mapped buffers; without, from heap memory by `write_buffer`.
    pub mapped: bool,
}

impl GpuBoneOptions {
    /// A backend, through mapped memory, without the frame before.
    pub fn new(backend: PaletteBackend) -> Self {
        Self {
            backend,
            previous: false,
            mapped: true,
        }
    }
}

/// By which way a frame's rows reached the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadWay {
    /// Workers wrote into mapped memory, which the device copies from.
    Mapped,
    /// By way of heap memory: the ring was not asked for, the device was too far behind, or no
    /// memory could be mapped.
    Written,
}

/// What a frame's upload did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoneUpload {
    /// What was evaluated and what was carried over.
    pub frame: FrameStats,
    /// By which way.
    pub way: UploadWay,
    /// Bytes brought to the device, with those between aligned instances.
    pub bytes: u64,
    /// Bytes carried over by the device itself.
    pub carried: u64,
    /// Copy commands: one per page that was written, one per run of carried rows, and with the texture
    /// backend one per page, from its buffer to its texture.
    pub copies: u32,
    /// Pages with rows.
    pub pages: usize,
}

/// Where an instance's rows lie on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BonePlace {
    /// The page.
    pub page: usize,
    /// The first row in the page: what shaders of the texture and storage backends are given.
    pub row: u32,
}

impl BonePlace {
    /// The dynamic offset of a window that starts here, in bytes: uniform backend. Pages end before
    /// offsets do, at 4 GiB.
    pub fn offset(&self) -> u32 {
        self.row.saturating_mul(ROW_BYTES as u32)
    }
}

/// One page as shaders see it.
#[derive(Debug)]
pub struct BonePage<'a> {
    /// For the layout of [`GpuBoneBuffer::layout_entry`].
    pub binding: wgpu::BindingResource<'a>,
    /// The rows of the frame that the page has.
    pub rows: Range<usize>,
}

/// The palettes of a crowd in a device's memory.
///
/// A frame is [`Crowd::advance`], then [`evaluate`](Self::evaluate) in place of [`Crowd::evaluate`]; then
/// [`locate`](Self::locate) tells where the rows of [`Crowd::palette_range`] lie. Whatever happens to the
/// device, the crowd goes on: on an error the same frame is in [`heap`](Self::heap), if there is memory.
#[derive(Debug)]
pub struct GpuBoneBuffer {
    pub(super) options: GpuBoneOptions,
    /// The device that has all of this: [`Gpu::serial`].
    device: u64,
    pub(super) ring: Ring,
    pub(super) targets: [Target; 2],
    pub(super) current: usize,
    /// Both targets are in use: something was carried over, or the frame before is kept.
    pub(super) both: bool,
    /// The other target has the crowd's frame before this one.
    pub(super) follows: bool,
    pub(super) generation: u64,
    /// Rows on their way to `write_buffer`.
    pub(super) spill: Vec<Affine3x4>,
    heap: BoneBuffer,
    in_heap: bool,
    pub(super) stamps: Option<Stamps>,
}

impl GpuBoneBuffer {
    /// An empty one; device memory comes with the first frame.
    ///
    /// # Errors
    /// If the device lacks the backend.
    pub fn new(gpu: &Gpu, options: GpuBoneOptions) -> Result<Self, GpuError> {
        options.backend.check(gpu, 1)?;
        Ok(Self {
            options,
            device: gpu.serial(),
            ring: Ring::new(),
            targets: Default::default(),
            current: 0,
            both: options.previous,
            follows: false,
            generation: 0,
            spill: Vec::new(),
            heap: BoneBuffer::new(),
            in_heap: false,
            stamps: None,
        })
    }

    /// How it was made.
    pub fn options(&self) -> GpuBoneOptions {
        self.options
    }

    /// Whether workers write through mapped buffers from the next frame on. What the ring has stays.
    pub fn set_mapped(&mut self, mapped: bool) {
        self.options.mapped = mapped;
    }

    /// Evaluates every visible instance that is due into device memory; the rows of the others are
    /// carried over there. Submits its own copies: what is submitted later reads this frame's rows.
    ///
    /// # Errors
    /// If a palette has too many joints for the backend, or the device fails: it is lost or out of
    /// memory. Then all visible instances are evaluated into [`heap`](Self::heap) instead. If that has no
    /// memory either, the error is [`GpuError::HeapMemory`], or that of a lost device, and this frame has
    /// rows nowhere; the crowd has lost nothing, and the next frame evaluates every instance.
    pub fn evaluate(&mut self, crowd: &mut Crowd, gpu: &Gpu) -> Result<BoneUpload, GpuError> {
        self.in_heap = false;
        let error = match self.upload(crowd, gpu) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        // What the device has is in doubt: nothing is carried over from it.
        self.forget();
        // Rows that were on their way make room.
        self.spill = Vec::new();
        match crowd.try_evaluate(&mut self.heap) {
            Ok(_) => self.in_heap = true,
            Err(_) if matches!(error, GpuError::Lost { .. }) => {}
            Err(none) => return Err(GpuError::HeapMemory(none)),
        }
        Err(error)
    }

    /// The frame's rows in heap memory, if the device could not take them and there was room.
    pub fn heap(&self) -> Option<&BoneBuffer> {
        self.in_heap.then_some(&self.heap)
    }

    /// Forgets what is on the device and frees it, timestamps too. Happens by itself after an error and on
    /// another device.
    pub fn forget(&mut self) {
        self.ring.clear();
        self.targets = Default::default();
        self.follows = false;
        self.stamps = None;
        self.generation += 1;
    }

    /// Goes on on a device, which has nothing if it is another one than before.
    pub(super) fn settle(&mut self, gpu: &Gpu) {
        if !self.is_on(gpu) {
            self.forget();
            self.device = gpu.serial();
        }
    }

    /// Whether the rows are on this device.
    pub fn is_on(&self, gpu: &Gpu) -> bool {
        self.device == gpu.serial()
    }

    /// Has the device note how long the copies of every frame take, from the next one on; tells whether it
    /// can.
    pub fn time_copies(&mut self, gpu: &Gpu) -> bool {
        self.settle(gpu);
        self.stamps = Stamps::new(gpu, 1);
        self.stamps.is_some()
    }

    /// How long the device took for the last frame's copies, waiting for them; `None` if that was not
    /// [asked for](Self::time_copies). Rows that go [by way of heap memory](UploadWay::Written) are not in it.
    ///
    /// # Errors
    /// If the device fails.
    pub fn copy_time(&self, gpu: &Gpu) -> Result<Option<Duration>, GpuError> {
        match &self.stamps {
            Some(stamps) if self.is_on(gpu) => {
                Ok(stamps.read(gpu)?.and_then(|parts| parts.first().copied()))
            }
            _ => Ok(None),
        }
    }

    /// Reads the frame's rows back, waiting for the device: for tests and tools.
    ///
    /// # Errors
    /// If the device fails or has none of them.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Affine3x4>, GpuError> {
        if !self.is_on(gpu) {
            let reason = "the rows are on another device".into();
            return Err(GpuError::Refused { reason });
        }
        let target = self.target();
        let mut rows = Vec::new();
        for (i, page) in target.pages.iter().enumerate().take(target.paging.len()) {
            let bytes = target.paging.rows(i).len() as u64 * ROW_BYTES;
            let copy = gpu.checked(|| {
                let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("palette read-back"),
                    size: bytes,
                    usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(&page.buffer, 0, &copy, 0, bytes);
                gpu.queue.submit([encoder.finish()]);
                Ok(copy)
            })?;
            let read = gpu.read(&copy)?;
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

    /// A number that changes when bindings have to be made anew: pages were added or have grown.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Which of two sets of pages has the frame: bindings are kept by generation, set and page.
    pub fn set(&self) -> usize {
        self.current
    }

    /// Rows of the frame, with those that lie between instances.
    pub fn row_count(&self) -> usize {
        let paging = &self.target().paging;
        paging.rows(paging.len().saturating_sub(1)).end
    }

    /// Pages with rows of the frame.
    pub fn page_count(&self) -> usize {
        self.target().paging.len()
    }

    /// A page of the frame.
    pub fn page(&self, gpu: &Gpu, page: usize) -> Option<BonePage<'_>> {
        self.page_of(self.target(), gpu, page)
    }

    /// A page of the frame before, if it is kept and that frame went to the device.
    pub fn previous_page(&self, gpu: &Gpu, page: usize) -> Option<BonePage<'_>> {
        self.page_of(self.previous()?, gpu, page)
    }

    /// Where rows of the frame lie, as [`Crowd::palette_range`] tells them.
    pub fn locate(&self, rows: &Range<usize>) -> Option<BonePlace> {
        place(self.target(), rows)
    }

    /// Where rows of the frame before lie, as [`Crowd::previous_range`] tells them, if it is kept.
    pub fn locate_previous(&self, rows: &Range<usize>) -> Option<BonePlace> {
        place(self.previous()?, rows)
    }

    /// The layout of a page's binding. With the uniform backend it has a dynamic offset.
    pub fn layout_entry(
        &self,
        binding: u32,
        visibility: wgpu::ShaderStages,
    ) -> wgpu::BindGroupLayoutEntry {
        self.options.backend.layout_entry(binding, visibility)
    }

    pub(super) fn target(&self) -> &Target {
        &self.targets[self.current]
    }

    fn previous(&self) -> Option<&Target> {
        let target = &self.targets[1 - self.current];
        (self.options.previous && self.follows).then_some(target)
    }

    fn page_of<'a>(&self, target: &'a Target, gpu: &Gpu, page: usize) -> Option<BonePage<'a>> {
        let rows = target.paging.rows(page);
        (page < target.paging.len()).then_some(())?;
        let binding = target
            .pages
            .get(page)?
            .binding(self.options.backend, gpu.palette_limits());
        Some(BonePage { binding, rows })
    }
}

fn place(target: &Target, rows: &Range<usize>) -> Option<BonePlace> {
    let (page, row) = target.paging.locate(rows.start)?;
    Some(BonePlace {
        page,
        row: u32::try_from(row).ok()?,
    })
}
