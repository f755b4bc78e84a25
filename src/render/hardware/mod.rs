//! Pictures through wgpu: instanced draws over pages of one bone buffer.
//!
//! Here lives what needs a device: pipelines, targets, passes and the read-back. What is visible
//! and in which detail is decided before, in `plan`.

mod batches;
mod canvas;
mod frame;
mod models;
mod pipelines;
mod screen;

use super::plan::{Lists, Plan};
use super::{DrawCounts, DrawModel, DrawnBy, Picture, PictureSize, RenderError, Scene};
use crate::gpu::{Gpu, GpuError, GpuOptions};
use batches::{Batch, Batches};
pub use canvas::Canvas;
use frame::{Bindings, Frame};
pub use models::GpuModels;
use pipelines::{Pass, Pipelines};
pub use screen::{NextFrame, Screen};

/// Storage buffers that the vertex stage binds: palette rows, morph weights, morph displacements.
const VERTEX_STORAGE_BUFFERS: u32 = 3;

/// A device with the pipelines of pictures; keeps both, and its buffers, for further pictures.
#[derive(Debug)]
pub struct GpuRenderer {
    gpu: Gpu,
    pipelines: Pipelines,
    frame: Frame,
    lists: Lists,
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
        Ok(Self {
            gpu,
            pipelines,
            frame: Frame::new(),
            lists: Lists::default(),
        })
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
        let canvas = self.canvas(size)?;
        let models = self.load(scene.models)?;
        self.paint_plan(&models, scene, &canvas, plan)?;
        let Self { gpu, .. } = self;
        Ok(Picture {
            image: gpu.checked(|| canvas.read(gpu))?,
            drawn_by: DrawnBy::Gpu(gpu.adapter().clone()),
            counts: plan.counts,
        })
    }

    /// Takes models to the device, for many pictures. Errors: meshes whose arrays do not fit each
    /// other, and the device's.
    pub fn load(&self, models: &[DrawModel]) -> Result<GpuModels, RenderError> {
        GpuModels::load(&self.gpu, &self.pipelines, models)
    }

    /// Makes a canvas for [`paint`](Self::paint). Errors: no pixels or too many, and the device's.
    pub fn canvas(&self, size: PictureSize) -> Result<Canvas, RenderError> {
        size.validate()?;
        let gpu = &self.gpu;
        Ok(gpu.checked(|| Canvas::new(gpu, size))?)
    }

    /// Draws a picture into a canvas and leaves it there; returns before the device has finished.
    ///
    /// `models` are the scene's, loaded. Errors: what the scene gets wrong, and the device's.
    pub fn paint(
        &mut self,
        models: &GpuModels,
        scene: &Scene,
        canvas: &Canvas,
    ) -> Result<DrawCounts, RenderError> {
        let (found, expected) = (scene.models.len(), models.len());
        if found != expected {
            return Err(RenderError::Loaded { found, expected });
        }
        let lists = std::mem::take(&mut self.lists);
        let plan = Plan::with(scene, canvas.size(), &models.needs, lists)?;
        self.paint_plan(models, scene, canvas, &plan)?;
        self.lists = plan.lists;
        Ok(plan.counts)
    }

    fn paint_plan(
        &mut self,
        models: &GpuModels,
        scene: &Scene,
        canvas: &Canvas,
        plan: &Plan,
    ) -> Result<(), GpuError> {
        let Self {
            gpu,
            pipelines,
            frame,
            ..
        } = self;
        gpu.checked(|| {
            let batches = Batches::new(gpu, scene, &models.needs, plan)?;
            let mask = canvas.mask_view();
            let bindings = frame.write(gpu, pipelines, scene, plan, &batches, mask)?;
            for (pass, batch) in batches.all() {
                for mesh in models.of(batch) {
                    pipelines.prepare(gpu, pass, mesh, batch);
                }
            }
            let painter = Painter {
                pipelines,
                models,
                bindings: &bindings,
            };
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let mut pass = canvas.begin_mask(&mut encoder);
            painter.shadows(&mut pass, &batches);
            drop(pass);
            let mut pass = canvas.begin_picture(&mut encoder);
            painter.bodies(&mut pass, &batches);
            painter.surroundings(&mut pass, plan.eye.ground.is_some());
            drop(pass);
            gpu.queue.submit([encoder.finish()]);
            Ok(())
        })
    }
}

/// What the passes of one picture draw with.
struct Painter<'a> {
    pipelines: &'a Pipelines,
    models: &'a GpuModels,
    bindings: &'a Bindings,
}

impl Painter<'_> {
    fn shadows(&self, pass: &mut wgpu::RenderPass, batches: &Batches) {
        pass.set_bind_group(0, &self.bindings.view, &[]);
        for batch in &batches.shadows {
            self.batch(pass, Pass::Shadow, batch);
        }
    }

    fn bodies(&self, pass: &mut wgpu::RenderPass, batches: &Batches) {
        pass.set_bind_group(0, &self.bindings.view, &[]);
        for batch in &batches.bodies {
            self.batch(pass, Pass::Body, batch);
        }
    }

    /// Ground and sky, behind all that is there.
    fn surroundings(&self, pass: &mut wgpu::RenderPass, ground: bool) {
        pass.set_bind_group(1, &self.bindings.mask, &[]);
        if ground {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
    }

    /// One draw per mesh.
    fn batch(&self, pass: &mut wgpu::RenderPass, kind: Pass, batch: &Batch) {
        let Some(rows) = self.bindings.pages.get(batch.page as usize) else {
            return;
        };
        for mesh in self.models.of(batch) {
            let Some(pipeline) = self.pipelines.get(kind, mesh, batch) else {
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
            pass.set_vertex_buffer(1, self.bindings.records.slice(batch.bytes()));
            if let Some(influences) = &mesh.mesh.influences {
                pass.set_vertex_buffer(2, influences.slice(..));
            }
            pass.set_index_buffer(mesh.mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..mesh.mesh.index_count, 0, 0..batch.count);
        }
    }
}
