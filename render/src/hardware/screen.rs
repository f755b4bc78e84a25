//! `Screen`: a window's surface, which shows canvases.

use super::canvas::Canvas;
use super::pipelines::SHOW;
use crate::PictureSize;
use phalanx::gpu::{Gpu, GpuError};

/// The most frames in flight on the surface: one more than the frame that is shown.
const LATENCY: u32 = 2;

/// A window's surface, configured for the window's size.
#[derive(Debug)]
pub struct Screen {
    surface: wgpu::Surface<'static>,
    alpha_mode: wgpu::CompositeAlphaMode,
    format: wgpu::TextureFormat,
    size: Option<PictureSize>,
    stale: bool,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::RenderPipeline,
}

/// The result of [`Screen::next_frame`].
#[derive(Debug)]
pub enum NextFrame {
    /// A texture to draw into and then to [`present`](Screen::present).
    Ready(wgpu::SurfaceTexture),
    /// No texture now: the window is hidden or has no pixels, or the compositor is busy. Try again later.
    Later,
    /// The surface is lost: open the window again with [`Gpu::open_for_window`].
    Lost,
}

impl Screen {
    /// Makes a screen for the surface of a window, from [`Gpu::open_for_window`], of this width and height in pixels.
    ///
    /// # Errors
    /// If the surface has no format, or the device fails.
    pub fn new(
        gpu: &Gpu,
        surface: wgpu::Surface<'static>,
        width: u32,
        height: u32,
    ) -> Result<Self, GpuError> {
        let capabilities = surface.get_capabilities(&gpu.adapter);
        let formats = &capabilities.formats;
        // User interfaces are designed for blending on surfaces that do not convert to sRGB.
        let plain = formats.iter().find(|f| {
            matches!(f, wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Rgba8Unorm)
        });
        let Some(&format) = plain.or(formats.first()) else {
            return Err(GpuError::Surface { reason: "its surface has no format".into() });
        };
        let alpha_mode = capabilities.alpha_modes.first().copied().unwrap_or_default();
        let (layout, pipeline) = gpu.checked(|| Ok(pipeline(gpu, format)))?;
        let mut screen =
            Self { surface, alpha_mode, format, size: None, stale: false, layout, pipeline };
        screen.resize(gpu, width, height)?;
        Ok(screen)
    }

    /// The format of the surface's textures.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.format
    }

    /// The surface's size; `None` while the window has no pixels.
    pub fn size(&self) -> Option<PictureSize> {
        self.size
    }

    /// Resizes the surface to the window's size in pixels.
    ///
    /// A size without pixels (a minimised window) pauses the screen. A size above the device's limit is
    /// clamped to it.
    ///
    /// # Errors
    /// If the device fails.
    pub fn resize(&mut self, gpu: &Gpu, width: u32, height: u32) -> Result<(), GpuError> {
        self.size = surface_size(width, height, gpu.device.limits().max_texture_dimension_2d);
        self.configure(gpu)
    }

    fn configure(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        self.stale = false;
        let Some(PictureSize { width, height }) = self.size else {
            return Ok(());
        };
        let config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format: self.format,
            color_space: Default::default(),
            width,
            height,
            present_mode: wgpu::PresentMode::AutoVsync,
            desired_maximum_frame_latency: LATENCY,
            alpha_mode: self.alpha_mode,
            view_formats: Vec::new(),
        };
        gpu.checked(|| {
            self.surface.configure(&gpu.device, &config);
            Ok(())
        })
    }

    /// The next texture of the surface. A surface that has changed is reconfigured first.
    ///
    /// # Errors
    /// If the device fails or is lost.
    pub fn next_frame(&mut self, gpu: &Gpu) -> Result<NextFrame, GpuError> {
        if self.size.is_none() {
            return Ok(NextFrame::Later);
        }
        if self.stale {
            self.configure(gpu)?;
        }
        let surface = &self.surface;
        let next = gpu.checked(|| Ok(surface.get_current_texture()))?;
        Ok(match next {
            wgpu::CurrentSurfaceTexture::Success(texture) => NextFrame::Ready(texture),
            wgpu::CurrentSurfaceTexture::Suboptimal(texture) => {
                self.stale = true;
                NextFrame::Ready(texture)
            }
            wgpu::CurrentSurfaceTexture::Outdated | wgpu::CurrentSurfaceTexture::Validation => {
                self.stale = true;
                NextFrame::Later
            }
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => {
                NextFrame::Later
            }
            wgpu::CurrentSurfaceTexture::Lost => NextFrame::Lost,
        })
    }

    /// Begins a render pass on a surface's texture and draws a canvas, its upper left corner at a position
    /// in pixels. Draw user interfaces around and over it in the same pass.
    pub fn begin<'a>(
        &self,
        gpu: &Gpu,
        encoder: &'a mut wgpu::CommandEncoder,
        texture: &wgpu::SurfaceTexture,
        canvas: Option<(&Canvas, [u32; 2])>,
    ) -> wgpu::RenderPass<'a> {
        let view = texture.texture.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("screen"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        if let Some((canvas, [x, y])) = canvas {
            // While a window is resized, a canvas of the old size may not fit.
            let PictureSize { width, height } = canvas.size();
            let width = width.min(texture.texture.width().saturating_sub(x));
            let height = height.min(texture.texture.height().saturating_sub(y));
            if width > 0 && height > 0 {
                let [x, y, width, height] = [x, y, width, height].map(|v| v as f32);
                pass.set_viewport(x, y, width, height, 0.0, 1.0);
                let picture = wgpu::BindingResource::TextureView(canvas.view());
                pass.set_bind_group(0, &gpu.bind(&self.layout, &[picture]), &[]);
                pass.set_pipeline(&self.pipeline);
                pass.draw(0..3, 0..1);
            }
        }
        pass
    }

    /// Presents a texture that was drawn into.
    ///
    /// # Errors
    /// If the device fails.
    pub fn present(&self, gpu: &Gpu, texture: wgpu::SurfaceTexture) -> Result<(), GpuError> {
        gpu.checked(|| {
            gpu.queue.present(texture);
            Ok(())
        })
    }
}

/// The size of a surface in a window: `None` without pixels, clamped to the device's limit.
fn surface_size(width: u32, height: u32, limit: u32) -> Option<PictureSize> {
    let (width, height) = (width.min(limit), height.min(limit));
    (width > 0 && height > 0).then_some(PictureSize { width, height })
}

fn pipeline(
    gpu: &Gpu,
    format: wgpu::TextureFormat,
) -> (wgpu::BindGroupLayout, wgpu::RenderPipeline) {
    let device = &gpu.device;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("show"),
        source: wgpu::ShaderSource::Wgsl(SHOW.into()),
    });
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("show"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty: wgpu::BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: false },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            count: None,
        }],
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("show"),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let fragment = if format.is_srgb() { "show_linear" } else { "show_encoded" };
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(fragment),
        layout: Some(&pipeline_layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("show_corner"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    (layout, pipeline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_without_pixels_have_no_surface() {
        assert_eq!(surface_size(0, 600, 8192), None);
        assert_eq!(surface_size(800, 0, 8192), None);
        let size = |width, height| Some(PictureSize { width, height });
        assert_eq!(surface_size(800, 600, 8192), size(800, 600));
        assert_eq!(surface_size(10_000, 600, 8192), size(8192, 600));
    }
}
