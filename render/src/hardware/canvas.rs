//! `Canvas`: the render targets for pictures of one size, and their read-back.

use super::super::PictureSize;
use phalanx::gpu::{Gpu, GpuError};

/// Samples per pixel that all render targets of a device support: 4 or 1.
pub(super) fn samples(gpu: &Gpu) -> u32 {
    let four = [PICTURE_FORMAT, MASK_FORMAT, DEPTH_FORMAT].iter().all(|&format| {
        gpu.adapter.get_texture_format_features(format).flags.sample_count_supported(4)
    });
    if four { 4 } else { 1 }
}

/// Format of pictures: written as linear colours, stored and resolved as sRGB.
pub(super) const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Format of shadow masks: the share of a pixel that is in shadow.
pub(super) const MASK_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;
/// Format of depth: reversed depth needs floats.
pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The textures that pictures of one size are drawn into.
#[derive(Debug)]
pub struct Canvas {
    size: PictureSize,
    /// The device that owns the textures: [`Gpu::serial`].
    pub(super) device: u64,
    picture: Resolved,
    mask: Resolved,
    depth: wgpu::TextureView,
}

/// A texture, with a multisampled one that resolves to it if the device multisamples.
#[derive(Debug)]
struct Resolved {
    samples: Option<wgpu::TextureView>,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl Resolved {
    fn attachment(&self) -> Option<wgpu::RenderPassColorAttachment<'_>> {
        Some(wgpu::RenderPassColorAttachment {
            view: self.samples.as_ref().unwrap_or(&self.view),
            depth_slice: None,
            resolve_target: self.samples.as_ref().map(|_| &self.view),
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                store: if self.samples.is_some() {
                    wgpu::StoreOp::Discard
                } else {
                    wgpu::StoreOp::Store
                },
            },
        })
    }
}

impl Canvas {
    /// # Errors
    /// If the picture is larger than the device's textures can be.
    pub(super) fn new(gpu: &Gpu, size: PictureSize) -> Result<Self, GpuError> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        let side = size.width.max(size.height);
        if side > limit {
            return Err(GpuError::Limit {
                what: "the longer side of the picture, in pixels,",
                needed: side.into(),
                limit: limit.into(),
            });
        }
        let texture = |format, samples, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture target"),
                size: wgpu::Extent3d {
                    width: size.width,
                    height: size.height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let view = |t: &wgpu::Texture| t.create_view(&Default::default());
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let count = samples(gpu);
        let resolved = |format, usage| {
            let last = texture(format, 1, attachment | usage);
            Resolved {
                samples: (count > 1).then(|| view(&texture(format, count, attachment))),
                view: view(&last),
                texture: last,
            }
        };
        Ok(Self {
            size,
            device: gpu.serial(),
            picture: resolved(
                PICTURE_FORMAT,
                wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING,
            ),
            mask: resolved(MASK_FORMAT, wgpu::TextureUsages::TEXTURE_BINDING),
            depth: view(&texture(DEPTH_FORMAT, count, attachment)),
        })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> PictureSize {
        self.size
    }

    /// The finished picture; sampling it returns linear colours.
    pub fn view(&self) -> &wgpu::TextureView {
        &self.picture.view
    }

    /// The finished shadow mask.
    pub(super) fn mask_view(&self) -> &wgpu::TextureView {
        &self.mask.view
    }

    pub(super) fn begin_mask<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
    ) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow mask"),
            color_attachments: &[self.mask.attachment()],
            ..Default::default()
        })
    }

    pub(super) fn begin_picture<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
    ) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[self.picture.attachment()],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Waits for the picture and copies it to memory.
    ///
    /// # Errors
    /// If the picture is larger than the device's buffers can be, or the device fails.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<image::RgbaImage, GpuError> {
        let PictureSize { width, height } = self.size;
        let row_bytes = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let bytes = u64::from(row_bytes) * u64::from(height);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let what = "the picture's read-back buffer, in bytes,";
        let readback = gpu.empty_buffer(what, bytes, usage)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.picture.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row_bytes),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        );
        gpu.queue.submit([encoder.finish()]);
        let padded = gpu.read(readback.slice(..))?;
        let used = width as usize * 4;
        let mut bytes = Vec::with_capacity(used * height as usize);
        for row in padded.chunks(row_bytes as usize) {
            bytes.extend_from_slice(row.get(..used).unwrap_or(row));
        }
        image::RgbaImage::from_raw(width, height, bytes).ok_or_else(|| GpuError::Refused {
            reason: format!("the picture's read-back has {} bytes", padded.len()),
        })
    }
}
