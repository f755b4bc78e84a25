//! `Frame`: the buffers that change with every picture, and what binds them.

use super::super::Scene;
use super::super::plan::Plan;
use super::batches::Batches;
use super::models::bind;
use super::pipelines::Pipelines;
use crate::gpu::{Gpu, GpuError};

/// A buffer that is written anew for every picture and replaced only when it has become too small.
#[derive(Debug)]
struct Growing {
    what: &'static str,
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
}

impl Growing {
    fn new(what: &'static str, usage: wgpu::BufferUsages) -> Self {
        Self {
            what,
            usage,
            buffer: None,
        }
    }

    /// Errors: larger than the device's limit.
    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<&wgpu::Buffer, GpuError> {
        let fits = |b: &wgpu::Buffer| b.size() >= bytes.len() as u64;
        let buffer = match self.buffer.take().filter(fits) {
            Some(buffer) => {
                // All that is written here is a whole number of words.
                gpu.queue.write_buffer(&buffer, 0, bytes);
                buffer
            }
            None => gpu.buffer(self.what, bytes, self.usage)?,
        };
        Ok(self.buffer.insert(buffer))
    }
}

/// Buffers kept from picture to picture.
#[derive(Debug)]
pub(super) struct Frame {
    view: Growing,
    records: Growing,
    weights: Growing,
}

/// What the passes of one picture bind.
#[derive(Debug)]
pub(super) struct Bindings {
    pub view: wgpu::BindGroup,
    pub mask: wgpu::BindGroup,
    /// Palette rows and morph weights, one group per page.
    pub pages: Vec<wgpu::BindGroup>,
    pub records: wgpu::Buffer,
}

impl Frame {
    pub fn new() -> Self {
        Self {
            view: Growing::new("view uniform", wgpu::BufferUsages::UNIFORM),
            records: Growing::new("instance records, in bytes,", wgpu::BufferUsages::VERTEX),
            weights: Growing::new("morph weights", wgpu::BufferUsages::STORAGE),
        }
    }

    /// Writes what a picture needs. Call inside [`Gpu::checked`].
    pub fn write(
        &mut self,
        gpu: &Gpu,
        pipelines: &Pipelines,
        scene: &Scene,
        plan: &Plan,
        batches: &Batches,
        mask: &wgpu::TextureView,
    ) -> Result<Bindings, GpuError> {
        let uniform = plan.eye.uniform();
        let view = self.view.write(gpu, bytemuck::bytes_of(&uniform))?;
        let weight_bytes = size_of_val(scene.morph_weights) as u64;
        let limit = gpu.device.limits().max_storage_buffer_binding_size;
        if weight_bytes > limit {
            return Err(GpuError::Limit {
                what: "the morph weights of all instances, in bytes,",
                needed: weight_bytes,
                limit,
            });
        }
        let weights = bytemuck::cast_slice(scene.morph_weights);
        let weights = self.weights.write(gpu, weights)?;
        let pages = batches.pages.upload(gpu, scene.palette)?;
        let pages = pages.iter().map(|page| {
            let both = [page.as_entire_binding(), weights.as_entire_binding()];
            bind(gpu, &pipelines.rows_layout, &both)
        });
        let records = bytemuck::cast_slice(&batches.records);
        Ok(Bindings {
            pages: pages.collect(),
            view: bind(gpu, &pipelines.view_layout, &[view.as_entire_binding()]),
            mask: bind(
                gpu,
                &pipelines.mask_layout,
                &[wgpu::BindingResource::TextureView(mask)],
            ),
            records: self.records.write(gpu, records)?.clone(),
        })
    }
}
