//! The parts that any wgpu renderer has: a colour and depth target, pipelines for it, and its read-back.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, Device};

const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
const SKY: wgpu::Color = wgpu::Color { r: 0.30, g: 0.42, b: 0.55, a: 1.0 };

/// A render target; its width must be a multiple of 64 pixels for the read-back.
pub struct Canvas {
    size: wgpu::Extent3d,
    color: wgpu::Texture,
    depth: wgpu::Texture,
}

impl Canvas {
    pub fn new(device: &Device, [width, height]: [u32; 2]) -> Self {
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let texture = |format| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        Self { size, color: texture(COLOR), depth: texture(DEPTH) }
    }

    /// Clears the target and begins a pass on it.
    pub fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(SKY),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Copies the colour target to a mappable buffer.
    pub fn read(&self, device: &Device, encoder: &mut wgpu::CommandEncoder) -> wgpu::Buffer {
        let read = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(self.size.width * self.size.height * 4),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let to = wgpu::TexelCopyBufferInfo {
            buffer: &read,
            layout: wgpu::TexelCopyBufferLayout {
                bytes_per_row: Some(self.size.width * 4),
                ..Default::default()
            },
        };
        encoder.copy_texture_to_buffer(self.color.as_image_copy(), to, self.size);
        read
    }
}

/// A pipeline from a module's only vertex and fragment entry points onto a canvas, with back faces culled.
pub fn pipeline(
    device: &Device,
    source: &str,
    groups: &[&BindGroupLayout],
    buffers: &[Option<wgpu::VertexBufferLayout<'_>>],
) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let groups: Vec<_> = groups.iter().map(|&group| Some(group)).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Back), ..Default::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(COLOR.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A bind group layout with one binding.
pub fn layout(device: &Device, entry: wgpu::BindGroupLayoutEntry) -> BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[entry],
    })
}

/// A bind group with one uniform buffer for the vertex stage.
pub fn uniform(device: &Device, buffer: &wgpu::Buffer) -> (BindGroupLayout, BindGroup) {
    let layout = layout(
        device,
        wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        },
    );
    let group = bind(device, &layout, buffer.as_entire_binding());
    (layout, group)
}

/// A bind group with one binding.
pub fn bind(device: &Device, layout: &BindGroupLayout, resource: BindingResource<'_>) -> BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
    })
}
