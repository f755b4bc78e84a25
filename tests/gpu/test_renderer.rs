//! A renderer of the tests' own: one mesh, its instances side by side, normals as colours. Skinned by the
//! vertex shader through a backend, or drawn as the CPU skinning job left it.

use crate::subject::{INSTANCES, STRANGERS, Staged, Subject};
use glam::{EulerRot, Mat4, Quat, Vec3};
use phalanx::gpu::{
    Gpu, GpuError, GpuMesh, PaletteBackend, SKINNED_LAYOUT, SURFACE_LAYOUT, SkinnedVertex, Table,
    shaders,
};

pub const SIDE: u32 = 256;

const COMMON: &str = "
struct Scene {
    clip: mat4x4<f32>,
    step: f32,          // metres from one instance to the next
    vertices: u32,
    targets: u32,
    first_slot: u32,
    strangers: u32,
}
@group(0) @binding(0) var<uniform> scene: Scene;
struct Seen {
    @builtin(position) clip: vec4<f32>,
    @location(0) normal: vec3<f32>,
}
fn seen(position: vec3<f32>, normal: vec3<f32>, column: u32) -> Seen {
    let aside = vec3<f32>(f32(column) * scene.step, 0.0, 0.0);
    return Seen(scene.clip * vec4<f32>(position + aside, 1.0), normal);
}
@fragment fn color(in: Seen) -> @location(0) vec4<f32> {
    return vec4<f32>(normalize(in.normal) * 0.5 + 0.5, 1.0);
}
";

const BY_THE_JOB: &str = "
@vertex fn as_it_is(
    @location(0) position: vec3<f32>, @location(1) normal: vec3<f32>, @location(8) place: vec3<u32>,
) -> Seen {
    return seen(position, normal, place.z);
}
";

const BY_THE_SHADER: &str = "
fn skinned(p: vec3<f32>, n: vec3<f32>, v: u32, place: vec3<u32>, rows: Rows) -> Seen {
    let base = Morphed(p, n, vec3<f32>(0.0));
    let m = morph(base, v, scene.vertices, scene.targets, place.y + scene.strangers);
    let normal = unit_or(transform_normal(rows, m.normal), m.normal);
    return seen(transform_point(rows, m.position), normal, place.z);
}
@vertex fn skin4(
    @builtin(vertex_index) v: u32, @location(0) p: vec3<f32>, @location(1) n: vec3<f32>,
    @location(4) joints: vec4<u32>, @location(5) weights: vec4<f32>, @location(8) place: vec3<u32>,
) -> Seen {
    return skinned(p, n, v, place, blend4(place.x + scene.first_slot, joints, weights));
}
@vertex fn skin8(
    @builtin(vertex_index) v: u32, @location(0) p: vec3<f32>, @location(1) n: vec3<f32>,
    @location(4) joints_a: vec4<u32>, @location(5) weights_a: vec4<f32>,
    @location(6) joints_b: vec4<u32>, @location(7) weights_b: vec4<f32>, @location(8) place: vec3<u32>,
) -> Seen {
    let first = place.x + scene.first_slot;
    return skinned(p, n, v, place, blend8(first, joints_a, weights_a, joints_b, weights_b));
}
";

/// Row, first morph weight, column.
const PLACE_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: 12,
    step_mode: wgpu::VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![8 => Uint32x3],
};

/// The picture that the vertex shader makes of a subject, through the backend it is staged for.
pub fn by_the_shader(gpu: &Gpu, staged: &Staged<'_>) -> Vec<u8> {
    let backend = staged.bones.backend();
    let drawn = gpu.checked(|| {
        let mesh = GpuMesh::upload(gpu, backend, &staged.subject.primitive, true)?;
        let weights = Table::floats(gpu, backend, "weights", &staged.weights)?;
        let layout_of = mesh.influence_layout.clone().expect("the mesh is skinned");
        let entry = if layout_of.attributes.len() == 4 { "skin8" } else { "skin4" };
        let buffers = [SURFACE_LAYOUT, layout_of, PLACE_LAYOUT];
        let window = gpu.window_rows();
        let source = [COMMON, &shaders::pieces(backend, window), BY_THE_SHADER].join("\n");
        let vertex = wgpu::ShaderStages::VERTEX;
        let layouts = [
            layout(
                gpu,
                &[backend.layout_entry(0, vertex), Table::layout_entry(backend, 1, vertex)],
            ),
            layout(gpu, &[Table::layout_entry(backend, 3, vertex)]),
        ];
        let page = staged.bones.page(gpu, 0).expect("there are rows");
        let groups = [
            group(gpu, &layouts[0], &[(0, page), (1, weights.binding())]),
            group(gpu, &layouts[1], &[(3, mesh.deltas.binding())]),
        ];
        let uniform = backend == PaletteBackend::Uniform;
        let places: Vec<[u32; 3]> = (0u32..)
            .zip(&staged.places)
            .map(|(i, place)| {
                let row = if uniform { 0 } else { place.row };
                [row, i * staged.stride(), i]
            })
            .collect();
        let places = vertices(gpu, bytemuck::cast_slice(&places))?;
        let layouts = layouts.each_ref().map(Some);
        paint(gpu, staged.subject, &source, entry, &buffers, &layouts, |pass| {
            pass.set_vertex_buffer(0, mesh.surface.slice(..));
            let influences = mesh.influences.as_ref().expect("the mesh is skinned");
            pass.set_vertex_buffer(1, influences.slice(..));
            pass.set_vertex_buffer(2, places.slice(..));
            pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.set_bind_group(2, &groups[1], &[]);
            if uniform {
                // A draw per window: its last one ends beyond the last instance's rows.
                for (i, place) in (0u32..).zip(&staged.places) {
                    pass.set_bind_group(1, &groups[0], &[place.offset()]);
                    pass.draw_indexed(0..mesh.index_count, 0, i..i + 1);
                }
            } else {
                pass.set_bind_group(1, &groups[0], &[]);
                pass.draw_indexed(0..mesh.index_count, 0, 0..INSTANCES as u32);
            }
        })
    });
    gpu.read(drawn.expect("the device works").slice(..)).expect("the device works")
}

/// The same picture of vertices that the CPU skinning job has computed.
pub fn by_the_job(gpu: &Gpu, staged: &Staged<'_>) -> Vec<u8> {
    let drawn = gpu.checked(|| {
        let buffers = [SKINNED_LAYOUT, PLACE_LAYOUT];
        let source = [COMMON, BY_THE_JOB].join("\n");
        let places: Vec<[u32; 3]> = (0..INSTANCES as u32).map(|i| [0, 0, i]).collect();
        let places = vertices(gpu, bytemuck::cast_slice(&places))?;
        let mut instances = Vec::new();
        for i in 0..INSTANCES {
            let skinned = staged.by_the_job(i);
            let pairs = skinned.positions.iter().zip(&skinned.normals);
            let all = pairs.map(|(&position, &normal)| SkinnedVertex {
                position,
                normal,
                tangent: [0.0; 4],
            });
            let all: Vec<_> = all.collect();
            instances.push(vertices(gpu, bytemuck::cast_slice(&all))?);
        }
        let indices = &staged.subject.primitive.indices;
        let index = wgpu::BufferUsages::INDEX;
        let index = gpu.buffer("indices", bytemuck::cast_slice(indices), index)?;
        paint(gpu, staged.subject, &source, "as_it_is", &buffers, &[], |pass| {
            pass.set_vertex_buffer(1, places.slice(..));
            pass.set_index_buffer(index.slice(..), wgpu::IndexFormat::Uint32);
            for (i, vertices) in (0u32..).zip(&instances) {
                pass.set_vertex_buffer(0, vertices.slice(..));
                pass.draw_indexed(0..indices.len() as u32, 0, i..i + 1);
            }
        })
    });
    gpu.read(drawn.expect("the device works").slice(..)).expect("the device works")
}

fn vertices(gpu: &Gpu, bytes: &[u8]) -> Result<wgpu::Buffer, GpuError> {
    gpu.buffer("vertices", bytes, wgpu::BufferUsages::VERTEX)
}

pub fn layout(gpu: &Gpu, entries: &[wgpu::BindGroupLayoutEntry]) -> wgpu::BindGroupLayout {
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries };
    gpu.device.create_bind_group_layout(&descriptor)
}

pub fn group(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    resources: &[(u32, wgpu::BindingResource<'_>)],
) -> wgpu::BindGroup {
    let entries = resources.iter().map(|(binding, resource)| wgpu::BindGroupEntry {
        binding: *binding,
        resource: resource.clone(),
    });
    let entries: Vec<_> = entries.collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

/// Where the instances stand, as floats: the matrix to clip space, then the other fields of `Scene`.
fn scene(subject: &Subject) -> [u32; 24] {
    let size = subject.size;
    let step = 0.9 * size;
    let middle = Vec3::new(step * (INSTANCES - 1) as f32 / 2.0, size * 0.4, 0.0);
    // Seen askew from afar: x and y to -1..1, depth to 0..1.
    let turn = Quat::from_euler(EulerRot::XYZ, 0.3, 0.4, 0.0);
    let wide = 1.0 / (0.5 * step * INSTANCES as f32);
    let clip = Mat4::from_translation(Vec3::Z * 0.5)
        * Mat4::from_scale(Vec3::new(wide, wide, -0.2 * wide))
        * Mat4::from_rotation_translation(turn, Vec3::ZERO)
        * Mat4::from_translation(-middle);
    let mut out = [0; 24];
    for (to, float) in out.iter_mut().zip(clip.to_cols_array()) {
        *to = float.to_bits();
    }
    out[16] = step.to_bits();
    out[17] = subject.primitive.positions.len() as u32;
    out[18] = subject.targets() as u32;
    out[19] = subject.slots.start as u32;
    out[20] = STRANGERS;
    out
}

/// Draws into a texture and copies it to a buffer that can be read: rgba, 8 bits each.
fn paint(
    gpu: &Gpu,
    subject: &Subject,
    source: &str,
    entry: &str,
    buffers: &[wgpu::VertexBufferLayout<'_>],
    more: &[Option<&wgpu::BindGroupLayout>],
    draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
) -> Result<wgpu::Buffer, GpuError> {
    let device = &gpu.device;
    let (format, depth) = (wgpu::TextureFormat::Rgba8Unorm, wgpu::TextureFormat::Depth32Float);
    let texture = |format, usage| {
        let size = wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 };
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        })
    };
    let picture = texture(format, wgpu::TextureUsages::COPY_SRC);
    let depths = texture(depth, wgpu::TextureUsages::RENDER_ATTACHMENT);
    let first = layout(
        gpu,
        &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    );
    let uniform = wgpu::BufferUsages::UNIFORM;
    let scene = gpu.buffer("scene", bytemuck::bytes_of(&scene(subject)), uniform)?;
    let scene = group(gpu, &first, &[(0, scene.as_entire_binding())]);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("renderer"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let layouts: Vec<_> = [Some(&first)].into_iter().chain(more.iter().copied()).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &layouts,
        immediate_size: 0,
    });
    let buffers: Vec<_> = buffers.iter().cloned().map(Some).collect();
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            buffers: &buffers,
        },
        primitive: Default::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: depth,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("color"),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &picture.create_view(&Default::default()),
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                store: wgpu::StoreOp::Store,
            },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depths.create_view(&Default::default()),
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(1.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    });
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &scene, &[]);
    draw(&mut pass);
    drop(pass);
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(SIDE * SIDE * 4),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    encoder.copy_texture_to_buffer(
        picture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &read,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIDE * 4),
                rows_per_image: None,
            },
        },
        picture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    Ok(read)
}
