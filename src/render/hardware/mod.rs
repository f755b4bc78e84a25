//! Pictures through wgpu: instanced draws over pages of one bone buffer.
//!
//! Here lives what needs a device: pipelines, targets, passes and the read-back. What is visible
//! and in which detail is decided before, in `plan`.

mod batches;
mod pipelines;
mod resources;
mod targets;

use super::plan::Plan;
use super::{DrawnBy, Picture, PictureSize, RenderError, Scene};
use crate::gpu::{Gpu, GpuError, GpuOptions};
use batches::{Batch, Batches};
use pipelines::{Pass, Pipelines};
use resources::{Bindings, SceneMeshes};
use targets::Targets;

/// Storage buffers that the vertex stage binds: palette rows, morph weights, morph displacements.
const VERTEX_STORAGE_BUFFERS: u32 = 3;

/// A device with the pipelines of pictures; keeps both for further pictures.
#[derive(Debug)]
pub struct GpuRenderer {
    gpu: Gpu,
    pipelines: Pipelines,
}

impl GpuRenderer {
    /// Opens a device. Errors: those of [`Gpu::open`], or a driver that refuses the shaders.
    pub fn open(options: &GpuOptions) -> Result<Self, RenderError> {
        let options = GpuOptions {
            vertex_storage_buffers: VERTEX_STORAGE_BUFFERS,
            ..options.clone()
        };
        Ok(Self::on(Gpu::open(&options)?)?)
    }

    /// Draws on an open device. Errors: a driver that refuses the shaders.
    pub fn on(gpu: Gpu) -> Result<Self, GpuError> {
        let pipelines = gpu.checked(|| Ok(Pipelines::new(&gpu)))?;
        Ok(Self { gpu, pipelines })
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Draws one picture. Errors: what the scene gets wrong, and the device's.
    pub fn draw(&mut self, scene: &Scene, size: PictureSize) -> Result<Picture, RenderError> {
        let plan = Plan::new(scene, size)?;
        self.draw_plan(scene, size, &plan)
    }

    pub(super) fn draw_plan(
        &mut self,
        scene: &Scene,
        size: PictureSize,
        plan: &Plan,
    ) -> Result<Picture, RenderError> {
        let Self { gpu, pipelines } = self;
        let image = gpu.checked(|| picture(gpu, pipelines, scene, size, plan))?;
        Ok(Picture {
            image,
            drawn_by: DrawnBy::Gpu(gpu.adapter().clone()),
            counts: plan.counts,
        })
    }
}

fn picture(
    gpu: &Gpu,
    pipelines: &mut Pipelines,
    scene: &Scene,
    size: PictureSize,
    plan: &Plan,
) -> Result<image::RgbaImage, GpuError> {
    let targets = Targets::new(gpu, size)?;
    let batches = Batches::new(gpu, scene, plan)?;
    let meshes = SceneMeshes::upload(gpu, pipelines, scene, &batches)?;
    let bindings = Bindings::new(gpu, pipelines, scene, plan, &batches, targets.mask_view())?;
    for (pass, batch) in batches.all() {
        for mesh in meshes.of(batch) {
            pipelines.prepare(gpu, pass, mesh, batch);
        }
    }
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = targets.begin_mask(&mut encoder);
        pass.set_bind_group(0, &bindings.view, &[]);
        draw_batches(
            &mut pass,
            pipelines,
            Pass::Shadow,
            &batches.shadows,
            &batches,
            &meshes,
            &bindings,
        );
    }
    {
        let mut pass = targets.begin_picture(&mut encoder);
        pass.set_bind_group(0, &bindings.view, &[]);
        draw_batches(
            &mut pass,
            pipelines,
            Pass::Body,
            &batches.bodies,
            &batches,
            &meshes,
            &bindings,
        );
        pass.set_bind_group(1, &bindings.mask, &[]);
        if plan.eye.ground.is_some() {
            pass.set_pipeline(&pipelines.ground);
            pass.draw(0..4, 0..1);
        }
        pass.set_pipeline(&pipelines.sky);
        pass.draw(0..3, 0..1);
    }
    targets.copy_out(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    targets.read(gpu)
}

fn draw_batches(
    pass: &mut wgpu::RenderPass,
    pipelines: &Pipelines,
    kind: Pass,
    list: &[Batch],
    batches: &Batches,
    meshes: &SceneMeshes,
    bindings: &Bindings,
) {
    for batch in list {
        let Some(rows) = bindings.pages.get(batch.page as usize) else {
            continue;
        };
        for mesh in meshes.of(batch) {
            let Some(pipeline) = pipelines.get(kind, mesh, batch) else {
                continue;
            };
            if mesh.mesh.index_count == 0 {
                continue;
            }
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, rows, &[]);
            pass.set_bind_group(2, &mesh.bind_group, &[]);
            pass.set_vertex_buffer(0, mesh.mesh.surface.slice(..));
            // The records of the batch are bound as a slice: a first instance other than zero is
            // not to be had on every GL device.
            pass.set_vertex_buffer(1, batches.records.slice(batch.bytes()));
            if let Some(influences) = &mesh.mesh.influences {
                pass.set_vertex_buffer(2, influences.slice(..));
            }
            pass.set_index_buffer(mesh.mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..mesh.mesh.index_count, 0, 0..batch.count);
        }
    }
}
