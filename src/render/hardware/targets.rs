//! Render targets of one picture, and the way back to memory.

use super::super::PictureSize;
use crate::gpu::{Gpu, GpuError};

/// Pictures: written as linear colours, stored and resolved as sRGB.
pub(super) const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Shadow masks: the share of a pixel that lies in shadow.
pub(super) const MASK_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;
/// Reversed depth wants floats.
pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Textures that a picture is drawn into, and the buffer it is read from.
#[derive(Debug)]
pub(super) struct Targets {
    size: PictureSize,
    picture: Resolved,
    mask: Resolved,
    depth: wgpu::TextureView,
    readback: wgpu::Buffer,
    row_bytes: u32,
}

/// A texture, with one of several samples in front of it if there are any.
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

impl Targets {
    /// Errors: a picture larger than the device's textures or buffers.
    pub fn new(gpu: &Gpu, size: PictureSize) -> Result<Self, GpuError> {
        let limit = gpu.device.limits().max_texture_dimension_2d;
        let side = size.width.max(size.height);
        if side > limit {
            return Err(GpuError::Limit {
                what: "the longer side of the picture, in pixels,",
                needed: side.into(),
                limit: limit.into(),
            });
        }
        let align = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;
        let row_bytes = (size.width * 4).next_multiple_of(align);
        let bytes = u64::from(row_bytes) * u64::from(size.height);
        gpu.check_buffer("the picture's read-back buffer, in bytes,", bytes)?;
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
        let resolved = |format, usage| {
            let last = texture(format, 1, attachment | usage);
            Resolved {
                samples: (gpu.samples() > 1)
                    .then(|| view(&texture(format, gpu.samples(), attachment))),
                view: view(&last),
                texture: last,
            }
        };
        Ok(Self {
            size,
            picture: resolved(PICTURE_FORMAT, wgpu::TextureUsages::COPY_SRC),
            mask: resolved(MASK_FORMAT, wgpu::TextureUsages::TEXTURE_BINDING),
            depth: view(&texture(DEPTH_FORMAT, gpu.samples(), attachment)),
            readback: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("picture read-back"),
                size: bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            row_bytes,
        })
    }

    /// The finished shadow mask.
    pub fn mask_view(&self) -> &wgpu::TextureView {
        &self.mask.view
    }

    pub fn begin_mask<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow mask"),
            color_attachments: &[self.mask.attachment()],
            ..Default::default()
        })
    }

    pub fn begin_picture<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
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

    pub fn copy_out(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_texture_to_buffer(
            self.picture.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(self.row_bytes),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d {
                width: self.size.width,
                height: self.size.height,
                depth_or_array_layers: 1,
            },
        );
    }

    /// Waits for the picture and takes the padding off its rows.
    pub fn read(&self, gpu: &Gpu) -> Result<image::RgbaImage, GpuError> {
        let padded = gpu.read(&self.readback)?;
        let width = self.size.width as usize * 4;
        let mut bytes = Vec::with_capacity(width * self.size.height as usize);
        for row in padded.chunks(self.row_bytes as usize) {
            bytes.extend_from_slice(row.get(..width).unwrap_or(row));
        }
        image::RgbaImage::from_raw(self.size.width, self.size.height, bytes).ok_or_else(|| {
            GpuError::Refused {
                reason: format!("the picture came back with {} bytes", padded.len()),
            }
        })
    }
}
