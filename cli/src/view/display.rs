//! [`Display`]: a window with its device. A lost device is reopened on the same window.

use super::super::error::CliError;
use super::history::milliseconds;
use super::opened::Subject;
use super::viewer::Viewer;
use super::{input, interface};
use egui::FullOutput;
use egui_wgpu::{RendererOptions, ScreenDescriptor};
use phalanx::crowd::{Crowd, FrameStats};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, GpuOptions};
use phalanx_render::{
    Canvas, GpuModels, GpuRenderer, NextFrame, PictureSize, RenderError, Scene, Screen,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use winit::event::WindowEvent;
use winit::window::Window;

/// Result of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    /// The frame is on the screen.
    Shown,
    /// The window currently shows nothing.
    Hidden,
}

/// A window with its device.
pub struct Display {
    window: Arc<Window>,
    interface: egui_winit::State,
    device: Device,
    /// Position and size of the picture in the window, in pixels.
    room: Option<([u32; 2], PictureSize)>,
}

/// Everything that is lost with the device.
struct Device {
    renderer: GpuRenderer,
    models: GpuModels,
    /// The same models as edges, once they were asked for.
    wireframe: Option<GpuModels>,
    screen: Screen,
    canvas: Option<Canvas>,
    bones: GpuBoneBuffer,
    painter: egui_wgpu::Renderer,
}

impl Display {
    /// Opens a device for a window. Fails without an adapter that can present to it, or if a call to it
    /// fails.
    pub fn open(window: Arc<Window>, subject: &Subject) -> Result<Self, RenderError> {
        let device = Device::open(&window, subject)?;
        // A new context: the lost device's context would assume that its textures still exist.
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let most = device.renderer.gpu().device.limits().max_texture_dimension_2d;
        let interface = egui_winit::State::new(
            context,
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            None,
            Some(most as usize),
        );
        Ok(Self { window, interface, device, room: None })
    }

    /// Loads other models in place of the present ones, which stay if that fails.
    pub fn load(&mut self, subject: &Subject) -> Result<(), RenderError> {
        self.device.load(subject)
    }

    /// Drops the device and returns the window.
    pub fn close(self) -> Arc<Window> {
        self.window
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Name of the adapter, and how shaders read palettes.
    pub fn drawn_by(&self) -> [String; 2] {
        let renderer = &self.device.renderer;
        let adapter = renderer.gpu().adapter_name();
        [adapter, format!("{} palettes", renderer.backend())]
    }

    /// The largest palette, in rows, of which the device holds pairs.
    pub fn most_pair_rows(&self) -> u64 {
        let renderer = &self.device.renderer;
        renderer.backend().max_joints(renderer.gpu(), true)
    }

    /// Destroys the device, to simulate its loss.
    pub fn lose_device(&self) {
        self.device.renderer.gpu().device.destroy();
    }

    /// True if the window can currently show a frame.
    pub fn has_pixels(&self) -> bool {
        self.device.screen.size().is_some()
    }

    /// Passes an event to the interface and the surface. Fails if the device fails.
    pub fn event(&mut self, event: &WindowEvent) -> Result<(), GpuError> {
        // The response (repaint, consumed) is not needed: every frame is painted, and all input is read from
        // the interface.
        let _ = self.interface.on_window_event(&self.window, event);
        if let WindowEvent::Resized(size) = event {
            let Device { renderer, screen, .. } = &mut self.device;
            screen.resize(renderer.gpu(), size.width, size.height)?;
        }
        Ok(())
    }

    /// Evaluates, draws and shows a frame, and applies the user's commands.
    pub fn frame(
        &mut self,
        viewer: &mut Viewer,
        subject: &Subject,
    ) -> Result<FrameOutcome, CliError> {
        if !self.has_pixels() {
            return Ok(FrameOutcome::Hidden);
        }
        if let Some((_, size)) = self.room {
            let Self { device, .. } = self;
            let mut refused = None;
            viewer.evaluate(size, |crowd| Ok(device.evaluate(crowd, &mut refused)?))?;
            if let Some(error) = refused {
                let notice = format!("{error}; this frame was evaluated into heap memory");
                viewer.notice.set(notice);
            }
            let start = Instant::now();
            if let Err(error) = self.device.prepare(viewer.wireframe, subject) {
                if matches!(error, RenderError::Gpu(GpuError::Lost { .. })) {
                    return Err(error.into());
                }
                viewer.wireframe = false;
                viewer.notice.set(error.to_string());
            }
            viewer.counts = self.device.paint(viewer, subject, size)?;
            viewer.frame.draw = milliseconds(start.elapsed());
        }
        let start = Instant::now();
        let (mut output, room) = self.converse(viewer)?;
        self.interface.handle_platform_output(&self.window, output.platform_output);
        let scale = output.pixels_per_point;
        let shapes = self.interface.egui_ctx().tessellate(output.shapes, scale);
        viewer.frame.interface = milliseconds(start.elapsed());
        let corner = self.room.map(|r| r.0);
        let shown = self.device.show(&output.textures_delta, &shapes, scale, corner);
        // Changes that were not applied are lost with the device.
        output.textures_delta.clear();
        self.room = pixels(room, scale);
        Ok(shown.map_err(RenderError::from)?)
    }

    /// Runs the interface and applies its commands, press by press. Returns the output to paint, and the area
    /// left for the picture.
    fn converse(&mut self, viewer: &mut Viewer) -> Result<(FullOutput, egui::Rect), CliError> {
        let shown = viewer.screen_joints()?;
        let context = self.interface.egui_ctx().clone();
        let mut output = FullOutput::default();
        let mut room = egui::Rect::NOTHING;
        for input in input::parts(self.interface.take_egui_input(&self.window)) {
            let mut commands = Vec::new();
            output.append(context.run_ui(input, |ui| {
                // egui may run several passes; only the last one counts.
                commands.clear();
                room = interface::show(ui, viewer, &shown, &mut commands);
            }));
            let done = commands.into_iter().try_for_each(|a| viewer.apply(a));
            if let Err(error) = done {
                output.drop_without_applying_deltas();
                return Err(error);
            }
        }
        Ok((output, room))
    }
}

/// A rectangle in points, converted to whole pixels; `None` if it is empty.
fn pixels(room: egui::Rect, scale: f32) -> Option<([u32; 2], PictureSize)> {
    let (min, max) = (room.min * scale, room.max * scale);
    let [left, top, right, bottom] =
        [min.x, min.y, max.x, max.y].map(|v| v.round().clamp(0.0, 65_536.0) as u32);
    let size =
        PictureSize { width: right.saturating_sub(left), height: bottom.saturating_sub(top) };
    (size.width > 0 && size.height > 0).then_some(([left, top], size))
}

impl Device {
    fn open(window: &Arc<Window>, subject: &Subject) -> Result<Self, RenderError> {
        let (gpu, surface) = Gpu::open_for_window(&GpuOptions::default(), window)?;
        let size = window.inner_size();
        let screen = Screen::new(&gpu, surface, size.width, size.height)?;
        let painter = gpu.checked(|| {
            let options = RendererOptions::default();
            Ok(egui_wgpu::Renderer::new(&gpu.device, screen.format(), options))
        })?;
        let renderer = GpuRenderer::on(gpu, subject.joints(), subject.palettes().0)?;
        Ok(Self {
            models: subject.with_models(|models| renderer.load(models))?,
            wireframe: None,
            bones: GpuBoneBuffer::new(
                renderer.gpu(),
                renderer.backend(),
                &GpuBoneOptions::default(),
            )?,
            renderer,
            screen,
            canvas: None,
            painter,
        })
    }

    fn load(&mut self, subject: &Subject) -> Result<(), RenderError> {
        let renderer = &self.renderer;
        let models = subject.with_models(|models| renderer.load(models))?;
        let options = GpuBoneOptions::default();
        self.bones = GpuBoneBuffer::new(renderer.gpu(), renderer.backend(), &options)?;
        self.models = models;
        self.wireframe = None;
        Ok(())
    }

    /// Loads the edges of the models if they are to be drawn.
    fn prepare(&mut self, wireframe: bool, subject: &Subject) -> Result<(), RenderError> {
        if wireframe && self.wireframe.is_none() {
            let renderer = &self.renderer;
            let edges = subject.with_models(|models| renderer.load_wireframe(models))?;
            self.wireframe = Some(edges);
        }
        Ok(())
    }

    /// Evaluates into the device's memory, or if that fails, into the heap for this frame. Fails if the
    /// device is lost or heap memory runs out.
    fn evaluate(
        &mut self,
        crowd: &mut Crowd,
        refused: &mut Option<GpuError>,
    ) -> Result<FrameStats, RenderError> {
        match self.bones.evaluate(crowd, self.renderer.gpu()) {
            Ok(upload) => Ok(upload.frame),
            Err(error @ (GpuError::Lost { .. } | GpuError::HeapMemory(_))) => Err(error.into()),
            Err(error) => {
                *refused = Some(error);
                Ok(FrameStats { instances: crowd.instance_count(), ..FrameStats::default() })
            }
        }
    }

    /// Draws the characters into the canvas.
    fn paint(
        &mut self,
        viewer: &Viewer,
        subject: &Subject,
        size: PictureSize,
    ) -> Result<phalanx_render::DrawCounts, RenderError> {
        let canvas = match self.canvas.take().filter(|c| c.size() == size) {
            Some(canvas) => canvas,
            None => self.renderer.canvas(size)?,
        };
        let canvas = self.canvas.insert(canvas);
        let edges = self.wireframe.as_ref().filter(|_| viewer.wireframe);
        let loaded = edges.unwrap_or(&self.models);
        subject.with_models(|models| {
            let scene = Scene {
                models,
                instances: viewer.crowd.drawn(),
                palette: (&self.bones).into(),
                morph_weights: viewer.crowd.morph_weights(),
                camera: viewer.camera(),
                look: viewer.look(),
            };
            self.renderer.paint(loaded, &scene, canvas)
        })
    }

    /// Shows canvas and interface.
    fn show(
        &mut self,
        textures: &egui::TexturesDelta,
        shapes: &[egui::ClippedPrimitive],
        scale: f32,
        corner: Option<[u32; 2]>,
    ) -> Result<FrameOutcome, GpuError> {
        let Self { renderer, screen, canvas, painter, .. } = self;
        let gpu = renderer.gpu();
        // Applied even without a frame: the interface reports each change only once.
        guarded(gpu, || {
            for (id, deltas) in &textures.set {
                for delta in deltas {
                    painter.update_texture(&gpu.device, &gpu.queue, *id, delta);
                }
            }
        })?;
        let shown = match screen.next_frame(gpu)? {
            NextFrame::Later => FrameOutcome::Hidden,
            NextFrame::Lost => {
                return Err(GpuError::Lost { reason: "the window's surface is gone".into() });
            }
            NextFrame::Ready(texture) => {
                guarded(gpu, || {
                    let descriptor = ScreenDescriptor {
                        size_in_pixels: [texture.texture.width(), texture.texture.height()],
                        pixels_per_point: scale,
                    };
                    let (device, queue) = (&gpu.device, &gpu.queue);
                    let mut encoder = device.create_command_encoder(&Default::default());
                    // Command buffers of callbacks; there are none.
                    let _ =
                        painter.update_buffers(device, queue, &mut encoder, shapes, &descriptor);
                    let canvas = canvas.as_ref().zip(corner);
                    let pass = screen.begin(gpu, &mut encoder, &texture, canvas);
                    let mut pass = pass.forget_lifetime();
                    painter.render(&mut pass, shapes, &descriptor);
                    drop(pass);
                    queue.submit([encoder.finish()]);
                })?;
                screen.present(gpu, texture)?;
                FrameOutcome::Shown
            }
        };
        for id in &textures.free {
            painter.free_texture(id);
        }
        Ok(shown)
    }
}

/// Runs commands of the interface's painter, which panics if its device is lost meanwhile.
fn guarded(gpu: &Gpu, work: impl FnOnce()) -> Result<(), GpuError> {
    gpu.checked(|| {
        catch_unwind(AssertUnwindSafe(work))
            .map_err(|_| GpuError::Lost { reason: "the interface could not be painted".into() })
    })
}
