//! `Table`: arrays that shaders index, as storage buffers or textures.

use super::{Gpu, GpuError, PaletteBackend};

/// An array of floats or vectors on the device.
#[derive(Debug)]
pub struct Table {
    data: Data,
}

#[derive(Debug)]
enum Data {
    Buffer(wgpu::Buffer),
    Texture(wgpu::TextureView),
}

impl Table {
    /// An array of floats: the morph weights of instances.
    ///
    /// A storage buffer with the storage backend, an r32float texture with the others. Call inside
    /// [`Gpu::checked`].
    ///
    /// # Errors
    /// If a binding or texture of the device cannot hold that many floats.
    pub fn floats(
        gpu: &Gpu,
        backend: PaletteBackend,
        what: &'static str,
        values: &[f32],
    ) -> Result<Self, GpuError> {
        let bytes = bytemuck::cast_slice(values);
        Self::new(gpu, backend, what, bytes, wgpu::TextureFormat::R32Float)
    }

    /// An array of 4-vectors: the displacements of a mesh. As [`Table::floats`], with an rgba32float texture.
    ///
    /// # Errors
    /// As for [`Table::floats`].
    pub(crate) fn vectors(
        gpu: &Gpu,
        backend: PaletteBackend,
        what: &'static str,
        values: &[[f32; 4]],
    ) -> Result<Self, GpuError> {
        let bytes = bytemuck::cast_slice(values);
        Self::new(gpu, backend, what, bytes, wgpu::TextureFormat::Rgba32Float)
    }

    fn new(
        gpu: &Gpu,
        backend: PaletteBackend,
        what: &'static str,
        bytes: &[u8],
        format: wgpu::TextureFormat,
    ) -> Result<Self, GpuError> {
        let limits = gpu.device.limits();
        let refuse = |needed: u64, limit: u64| GpuError::Limit { what, needed, limit };
        if backend == PaletteBackend::Storage {
            let limit = limits.max_storage_buffer_binding_size;
            if bytes.len() as u64 > limit {
                return Err(refuse(bytes.len() as u64, limit));
            }
            let buffer = gpu.buffer(what, bytes, wgpu::BufferUsages::STORAGE)?;
            return Ok(Self { data: Data::Buffer(buffer) });
        }
        let texel = if format == wgpu::TextureFormat::R32Float { 4 } else { 16 };
        let side = limits.max_texture_dimension_2d;
        let texels = bytes.len().div_ceil(texel).max(1);
        let width = texels.min(side as usize);
        let height = texels.div_ceil(width);
        if height > side as usize {
            let most = u64::from(side) * u64::from(side) * texel as u64;
            return Err(refuse(bytes.len() as u64, most));
        }
        let texture = gpu.texture(what, format, [width as u32, height as u32]);
        let mut whole = bytes.to_vec();
        whole.resize(width * height * texel, 0);
        gpu.queue.write_texture(
            texture.as_image_copy(),
            &whole,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some((width * texel) as u32),
                rows_per_image: None,
            },
            texture.size(),
        );
        Ok(Self { data: Data::Texture(texture.create_view(&Default::default())) })
    }

    /// The resource that shaders bind.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        match &self.data {
            Data::Buffer(buffer) => buffer.as_entire_binding(),
            Data::Texture(view) => wgpu::BindingResource::TextureView(view),
        }
    }

    /// The layout entry of a table that was made for a backend.
    pub fn layout_entry(
        backend: PaletteBackend,
        binding: u32,
        visibility: wgpu::ShaderStages,
    ) -> wgpu::BindGroupLayoutEntry {
        let like = match backend {
            PaletteBackend::Storage => PaletteBackend::Storage,
            PaletteBackend::Uniform | PaletteBackend::Texture => PaletteBackend::Texture,
        };
        like.layout_entry(binding, visibility)
    }
}
