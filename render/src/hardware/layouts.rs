//! Layouts of the bind groups: view, palette rows, mesh, shadow mask.

use phalanx::gpu::{Gpu, PaletteBackend, Table};

/// The layouts of one device and backend.
#[derive(Debug)]
pub(super) struct Layouts {
    /// Group 0.
    pub view: wgpu::BindGroupLayout,
    /// Group 1 of characters: palette rows and morph weights.
    pub rows: wgpu::BindGroupLayout,
    /// Group 2 of characters.
    pub mesh: wgpu::BindGroupLayout,
    /// Group 1 of ground and sky.
    pub mask: wgpu::BindGroupLayout,
}

impl Layouts {
    pub fn new(gpu: &Gpu, backend: PaletteBackend) -> Self {
        let (vertex, fragment, both) = (
            wgpu::ShaderStages::VERTEX,
            wgpu::ShaderStages::FRAGMENT,
            wgpu::ShaderStages::VERTEX_FRAGMENT,
        );
        let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        Self {
            view: group(gpu, &[entry(0, both, UNIFORM)]),
            rows: group(
                gpu,
                &[backend.layout_entry(0, vertex), Table::layout_entry(backend, 1, vertex)],
            ),
            mesh: group(
                gpu,
                &[
                    entry(0, both, UNIFORM),
                    entry(1, fragment, TEXTURE),
                    entry(2, fragment, filtering),
                    Table::layout_entry(backend, 3, vertex),
                ],
            ),
            mask: group(gpu, &[entry(0, fragment, TEXTURE)]),
        }
    }
}

const UNIFORM: wgpu::BindingType = wgpu::BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: false,
    min_binding_size: None,
};

const TEXTURE: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: true },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

fn entry(
    binding: u32,
    visibility: wgpu::ShaderStages,
    ty: wgpu::BindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None }
}

fn group(gpu: &Gpu, entries: &[wgpu::BindGroupLayoutEntry]) -> wgpu::BindGroupLayout {
    gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
}
