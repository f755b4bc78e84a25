//! Drawing with wgpu: instanced draws over the pages of one bone buffer.
//!
//! Pipelines, render targets, passes and read-back. `draw_list` has decided what is visible, in which detail.

mod batches;
mod canvas;
mod frame;
mod layouts;
mod models;
mod pipelines;
mod screen;

use super::draw_list::{DrawList, Lists};
use super::{DrawCounts, DrawModel, DrawnBy, Palette, Picture, PictureSize, RenderError, Scene};
use batches::{Batch, Batches, Batching, readers};
pub use canvas::Canvas;
use frame::{Bindings, FrameResources};
pub use models::GpuModels;
use models::{LoadedMesh, Style};
use phalanx::gpu::{Gpu, GpuError, GpuOptions, PaletteBackend, Stamps};
use phalanx::mesh::AlphaMode;
use pipelines::{Pass, Pipelines};
pub use screen::{NextFrame, Screen};
use std::time::Duration;

/// Storage buffers that the vertex stage binds: palette rows, morph weights, morph displacements.
const VERTEX_STORAGE_BUFFERS: u32 = 3;

/// Draws pictures on a device, and keeps the device, pipelines and buffers for further pictures.
#[derive(Debug)]
pub struct GpuRenderer {
    gpu: Gpu,
    pipelines: Pipelines,
    frame: FrameResources,
    lists: Lists,
    stamps: Option<Stamps>,
}

/// The device time of a picture's passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// The shadow mask of the ground.
    pub shadows: Duration,
    /// Characters, ground and sky, including the skinning in the vertex stage.
    pub picture: Duration,
}

impl GpuRenderer {
    /// Opens a device and makes a renderer on it.
    ///
    /// # Errors
    /// Those of [`Gpu::open`] and of [`GpuRenderer::on`].
    pub fn open(
        options: &GpuOptions,
        joints: usize,
        backend: Option<PaletteBackend>,
    ) -> Result<Self, RenderError> {
        Ok(Self::on(Gpu::open(options)?, joints, backend)?)
    }

    /// Makes a renderer on an open device, for palettes of up to `joints` rows per instance.
    ///
    /// Without a `backend`, it chooses the best one that holds such palettes. For interpolated instances `joints` is
    /// the number of rows from the first of one palette to the last of the other; see
    /// [`PaletteBackend::max_joints`].
    ///
    /// # Errors
    /// If the device lacks the backend, the backend does not hold so many joints, or the driver rejects the
    /// shaders.
    pub fn on(gpu: Gpu, joints: usize, backend: Option<PaletteBackend>) -> Result<Self, GpuError> {
        let backend = match backend {
            Some(backend) => check(&gpu, backend, joints).map(|()| backend)?,
            None => choose(&gpu, joints)?,
        };
        let pipelines = gpu.checked(|| Ok(Pipelines::new(&gpu, backend)))?;
        Ok(Self {
            gpu,
            pipelines,
            frame: FrameResources::new(backend),
            lists: Lists::default(),
            stamps: None,
        })
    }

    /// How shaders read palette rows.
    ///
    /// A [`GpuBoneBuffer`](phalanx::gpu::GpuBoneBuffer) to draw from must have the same backend.
    pub fn backend(&self) -> PaletteBackend {
        self.pipelines.backend
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Draws one picture and reads it back.
    ///
    /// # Errors
    /// If the scene or the size is invalid, or the device fails.
    pub fn draw(&mut self, scene: &Scene, size: PictureSize) -> Result<Picture, RenderError> {
        let draws = DrawList::new(scene, size)?;
        self.draw_listed(scene, size, &draws)
    }

    pub(super) fn draw_listed(
        &mut self,
        scene: &Scene,
        size: PictureSize,
        draws: &DrawList,
    ) -> Result<Picture, RenderError> {
        let canvas = self.canvas(size)?;
        let models = self.load(scene.models)?;
        self.paint_listed(&models, scene, &canvas, draws)?;
        Ok(Picture {
            image: self.read(&canvas)?,
            drawn_by: DrawnBy::Gpu(self.gpu.adapter_name()),
            counts: draws.counts,
        })
    }

    /// Uploads models to the device, for any number of pictures.
    ///
    /// # Errors
    /// If the arrays of a mesh do not fit each other, or the device fails.
    pub fn load(&self, models: &[DrawModel]) -> Result<GpuModels, RenderError> {
        GpuModels::load(&self.gpu, &self.pipelines, models, Style::Surfaces)
    }

    /// As [`load`](Self::load), for pictures that show the edges of all triangles in place of surfaces.
    ///
    /// Edges are lines of one pixel, each drawn once, without texture and light; shadows stay whole. Works on
    /// every device. The software rasteriser has no such style.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_wireframe(&self, models: &[DrawModel]) -> Result<GpuModels, RenderError> {
        GpuModels::load(&self.gpu, &self.pipelines, models, Style::Wireframe)
    }

    /// Makes a canvas for [`paint`](Self::paint).
    ///
    /// # Errors
    /// If the size has no pixels or too many, or the device fails.
    pub fn canvas(&self, size: PictureSize) -> Result<Canvas, RenderError> {
        size.validate()?;
        let gpu = &self.gpu;
        Ok(gpu.checked(|| Canvas::new(gpu, size))?)
    }

    /// Draws a picture into a canvas; returns before the device has finished.
    ///
    /// `models` must be loaded from the scene's models.
    ///
    /// # Errors
    /// If the scene is invalid, the models, the canvas or the palette belong to another device, the number of
    /// models differs, the palette is laid out for another backend, or the device fails.
    pub fn paint(
        &mut self,
        models: &GpuModels,
        scene: &Scene,
        canvas: &Canvas,
    ) -> Result<DrawCounts, RenderError> {
        self.check_device("set of models", models.device)?;
        self.check_device("canvas", canvas.device)?;
        let (found, expected) = (scene.models.len(), models.len());
        if found != expected {
            return Err(RenderError::Loaded { found, expected });
        }
        let lists = std::mem::take(&mut self.lists);
        let draws = DrawList::with(scene, canvas.size(), &models.needs, lists)?;
        self.paint_listed(models, scene, canvas, &draws)?;
        self.lists = draws.lists;
        Ok(draws.counts)
    }

    /// Waits for the picture in a canvas and copies it to memory.
    ///
    /// # Errors
    /// If the canvas belongs to another device, or the device fails.
    pub fn read(&self, canvas: &Canvas) -> Result<image::RgbaImage, RenderError> {
        self.check_device("canvas", canvas.device)?;
        Ok(self.gpu.checked(|| canvas.read(&self.gpu))?)
    }

    /// Rejects objects of another device.
    fn check_device(&self, what: &'static str, device: u64) -> Result<(), RenderError> {
        let same = device == self.gpu.serial();
        same.then_some(()).ok_or(RenderError::OtherDevice { what })
    }

    /// Measures the device time of every picture's passes, from the next picture on. Returns whether the
    /// device supports it.
    pub fn time_passes(&mut self) -> bool {
        self.stamps = Stamps::new(&self.gpu, 2);
        self.stamps.is_some()
    }

    /// The device time of the last picture's passes; waits for the device.
    ///
    /// `None` if it was not [measured](Self::time_passes).
    ///
    /// # Errors
    /// If the device fails.
    pub fn pass_times(&self) -> Result<Option<PassTimes>, GpuError> {
        let Some(stamps) = &self.stamps else {
            return Ok(None);
        };
        Ok(match stamps.read(&self.gpu)?.as_deref() {
            Some(&[shadows, picture]) => Some(PassTimes { shadows, picture }),
            _ => None,
        })
    }

    fn paint_listed(
        &mut self,
        models: &GpuModels,
        scene: &Scene,
        canvas: &Canvas,
        draws: &DrawList,
    ) -> Result<(), RenderError> {
        let Self { gpu, pipelines, frame, stamps, .. } = self;
        let backend = pipelines.backend;
        if let Palette::Device(bones) = scene.palette {
            let found = bones.backend();
            if found != backend {
                let expected = backend;
                return Err(RenderError::PaletteBackend { found, expected });
            }
            if bones.page_count() > 0 && bones.page(gpu, 0).is_none() {
                return Err(RenderError::OnDevice);
            }
        }
        check_pairs(gpu, backend, scene, draws)?;
        let window = usize::try_from(gpu.window_rows()).unwrap_or(usize::MAX);
        let readers = readers(scene, draws);
        gpu.checked(|| {
            let places = frame.place(gpu, scene.palette, &readers)?;
            let batching = Batching {
                scene,
                draws,
                places: &places,
                window: (backend == PaletteBackend::Uniform).then_some(window),
            };
            let batches = batching.run();
            let mask = canvas.mask_view();
            let bindings = frame.write(gpu, pipelines, scene, draws, &batches.records, mask)?;
            for (pass, batch) in batches.all() {
                for mesh in models.of(batch) {
                    pipelines.prepare(gpu, pass, mesh, batch);
                }
            }
            let painter = Painter { pipelines, models, bindings: &bindings };
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            timed(stamps, &mut encoder, 0, |encoder| {
                painter.shadows(&mut canvas.begin_mask(encoder), &batches);
            });
            timed(stamps, &mut encoder, 1, |encoder| {
                let mut pass = canvas.begin_picture(encoder);
                painter.bodies(&mut pass, &batches);
                painter.surroundings(&mut pass, draws.eye.ground.is_some());
                painter.blended(&mut pass, &batches);
            });
            gpu.queue.submit([encoder.finish()]);
            Ok(())
        })?;
        Ok(())
    }
}

/// Checks that the backend binds both palettes of every interpolated instance at once.
fn check_pairs(
    gpu: &Gpu,
    backend: PaletteBackend,
    scene: &Scene,
    draws: &DrawList,
) -> Result<(), RenderError> {
    let Lists { bodies, shadows, .. } = &draws.lists;
    let limit = backend.max_joints(gpu, false);
    for visible in bodies.iter().chain(shadows) {
        let (shown, rows) = draws.lists.shown(scene, visible);
        let needed = rows.len() as u64;
        if shown.row != shown.to_row && needed > limit {
            return Err(RenderError::Apart { instance: visible.instance, backend, needed, limit });
        }
    }
    Ok(())
}

/// Records a part of a picture, between timestamps if passes are measured.
fn timed(
    stamps: &mut Option<Stamps>,
    encoder: &mut wgpu::CommandEncoder,
    part: u32,
    record: impl FnOnce(&mut wgpu::CommandEncoder),
) {
    if let Some(stamps) = stamps {
        stamps.begin(encoder, part);
    }
    record(encoder);
    if let Some(stamps) = stamps {
        stamps.end(encoder, part);
    }
}

/// The best backend that holds palettes of `joints` rows.
fn choose(gpu: &Gpu, joints: usize) -> Result<PaletteBackend, GpuError> {
    let best = PaletteBackend::choose(gpu, joints)?;
    if check(gpu, best, joints).is_ok() {
        return Ok(best);
    }
    // The palette fits, but not the other storage buffers of the vertex stage.
    let others = [PaletteBackend::Texture, PaletteBackend::Uniform];
    let other = others.into_iter().find(|b| b.check(gpu, joints).is_ok());
    other.map_or_else(|| check(gpu, best, joints).map(|()| best), Ok)
}

/// Checks that the device has the backend and that the backend holds `joints` rows.
fn check(gpu: &Gpu, backend: PaletteBackend, joints: usize) -> Result<(), GpuError> {
    backend.check(gpu, joints.max(1))?;
    let found = gpu.device.limits().max_storage_buffers_per_shader_stage;
    if backend == PaletteBackend::Storage && found < VERTEX_STORAGE_BUFFERS {
        return Err(GpuError::Unsupported {
            adapter: gpu.adapter_name(),
            what: "the number of storage buffers in the vertex stage",
            found: found.into(),
            needed: VERTEX_STORAGE_BUFFERS.into(),
        });
    }
    Ok(())
}

/// Records the draws of one picture.
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

    /// Draws the meshes that blend with all that is behind them.
    fn blended(&self, pass: &mut wgpu::RenderPass, batches: &Batches) {
        pass.set_bind_group(0, &self.bindings.view, &[]);
        for (mesh, batch) in &batches.blended {
            // In a wireframe it was drawn with the others.
            let mesh = self.models.of(batch).get(*mesh);
            if let Some(mesh) = mesh.filter(|m| m.alpha_mode == AlphaMode::Blend) {
                self.mesh(pass, Pass::Body, batch, mesh);
            }
        }
    }

    /// Draws ground and sky behind the characters.
    fn surroundings(&self, pass: &mut wgpu::RenderPass, ground: bool) {
        pass.set_bind_group(1, &self.bindings.mask, &[]);
        if ground {
            pass.set_pipeline(&self.pipelines.ground);
            pass.draw(0..4, 0..1);
        }
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
    }

    /// Draws a batch: one draw per mesh, except meshes that blend.
    fn batch(&self, pass: &mut wgpu::RenderPass, kind: Pass, batch: &Batch) {
        for mesh in self.models.of(batch) {
            if kind == Pass::Shadow || mesh.alpha_mode != AlphaMode::Blend {
                self.mesh(pass, kind, batch, mesh);
            }
        }
    }

    /// Draws one mesh of a batch's instances.
    fn mesh(&self, pass: &mut wgpu::RenderPass, kind: Pass, batch: &Batch, mesh: &LoadedMesh) {
        let pipeline = self.pipelines.get(kind, mesh, batch);
        let (Some(rows), Some(pipeline)) = (self.bindings.pages.get(batch.page), pipeline) else {
            return;
        };
        if mesh.mesh.index_count == 0 {
            return;
        }
        pass.set_pipeline(pipeline);
        let offset = [batch.offset()];
        let offsets = match self.pipelines.backend {
            PaletteBackend::Uniform => &offset[..],
            PaletteBackend::Texture | PaletteBackend::Storage => &[],
        };
        pass.set_bind_group(1, rows, offsets);
        pass.set_bind_group(2, &mesh.bind_group, &[]);
        pass.set_vertex_buffer(0, mesh.mesh.surface.slice(..));
        // The records of the batch are bound as a slice: not every GL device supports a first instance
        // other than zero.
        pass.set_vertex_buffer(1, self.bindings.records.slice(batch.bytes()));
        if let Some(influences) = &mesh.mesh.influences {
            pass.set_vertex_buffer(2, influences.slice(..));
        }
        let (indices, index_count) = match &mesh.edges {
            Some(edges) if kind == Pass::Body => (&edges.indices, edges.index_count),
            _ => (&mesh.mesh.indices, mesh.mesh.index_count),
        };
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..index_count, 0, 0..batch.count);
    }
}
