//! `FrameResources`: the buffers that change with every picture, and their bind groups.

use std::ops::Range;

use super::super::draw_list::DrawList;
use super::super::{Palette, Scene};
use super::batches::InstanceRecord;
use super::pipelines::Pipelines;
use phalanx::gpu::{BoneRow, Gpu, GpuError, PaletteBackend, RowPages, Table};

/// A buffer that is rewritten for every picture and replaced only when it is too small.
#[derive(Debug)]
struct Growing {
    what: &'static str,
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
}

impl Growing {
    fn new(what: &'static str, usage: wgpu::BufferUsages) -> Self {
        Self { what, usage, buffer: None }
    }

    /// # Errors
    /// If the bytes exceed the device's limit.
    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<&wgpu::Buffer, GpuError> {
        let fits = |b: &wgpu::Buffer| b.size() >= bytes.len() as u64;
        let buffer = match self.buffer.take().filter(fits) {
            Some(buffer) => {
                // Every write here is a whole number of 4-byte words, as `write_buffer` requires.
                gpu.queue.write_buffer(&buffer, 0, bytes);
                buffer
            }
            None => gpu.buffer(self.what, bytes, self.usage)?,
        };
        Ok(self.buffer.insert(buffer))
    }
}

/// Buffers that are reused from picture to picture.
#[derive(Debug)]
pub(super) struct FrameResources {
    view: Growing,
    records: Growing,
    rows: RowPages,
    /// A table of one zero, kept while the scene has no morph weights.
    weights: Option<Table>,
}

/// The bind groups and the instance buffer of one picture.
#[derive(Debug)]
pub(super) struct Bindings {
    pub view: wgpu::BindGroup,
    pub mask: wgpu::BindGroup,
    /// Palette rows and morph weights, one group per page.
    pub pages: Vec<wgpu::BindGroup>,
    pub records: wgpu::Buffer,
}

impl FrameResources {
    pub fn new(backend: PaletteBackend) -> Self {
        Self {
            view: Growing::new("view uniform", wgpu::BufferUsages::UNIFORM),
            records: Growing::new("instance records, in bytes,", wgpu::BufferUsages::VERTEX),
            rows: RowPages::new(backend),
            weights: None,
        }
    }

    /// The positions of all readers' rows on the device; rows in heap memory are uploaded first. Call inside
    /// [`Gpu::checked`].
    pub fn place(
        &mut self,
        gpu: &Gpu,
        palette: Palette,
        readers: &[Range<usize>],
    ) -> Result<Vec<BoneRow>, GpuError> {
        let nowhere = BoneRow { page: 0, row: 0 };
        match palette.bound() {
            Palette::Heap(rows) => self.rows.upload(gpu, readers, rows),
            // The list has rejected rows that do not exist.
            Palette::Device(bones) => {
                Ok(readers.iter().map(|rows| bones.locate(rows).unwrap_or(nowhere)).collect())
            }
        }
    }

    /// Writes the buffers of a picture and makes its bind groups. Call inside [`Gpu::checked`].
    pub fn write(
        &mut self,
        gpu: &Gpu,
        pipelines: &Pipelines,
        scene: &Scene,
        draws: &DrawList,
        records: &[InstanceRecord],
        mask: &wgpu::TextureView,
    ) -> Result<Bindings, GpuError> {
        let layouts = &pipelines.layouts;
        let uniform = draws.eye.uniform();
        let view = self.view.write(gpu, bytemuck::bytes_of(&uniform))?;
        let weights = match self.weights.take() {
            Some(none) if scene.morph_weights.is_empty() => none,
            _ => {
                let what = "the morph weights of all instances, in bytes,";
                Table::floats(gpu, pipelines.backend, what, scene.morph_weights)?
            }
        };
        let page = |rows| gpu.bind(&layouts.rows, &[rows, weights.binding()]);
        let pages = match scene.palette.bound() {
            Palette::Heap(_) => self.rows.bindings(gpu).map(page).collect(),
            Palette::Device(bones) => (0..bones.page_count())
                .filter_map(|index| bones.page(gpu, index))
                .map(page)
                .collect(),
        };
        self.weights = scene.morph_weights.is_empty().then_some(weights);
        let mask = wgpu::BindingResource::TextureView(mask);
        Ok(Bindings {
            pages,
            view: gpu.bind(&layouts.view, &[view.as_entire_binding()]),
            mask: gpu.bind(&layouts.mask, &[mask]),
            records: self.records.write(gpu, bytemuck::cast_slice(records))?.clone(),
        })
    }
}
