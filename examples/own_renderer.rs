//! A renderer of one's own on the library's bone buffer and shaders; nothing of `phalanx::render` is used.
//!
//! `cargo run --release --example own_renderer [picture.png]`

use glam::Vec3;
use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use phalanx::crowd::standard_crowd;
use phalanx::gpu::*;
use phalanx::offline::mannequin;
use std::{error::Error, sync::Arc};
use wgpu::BufferUsages as Usage;

const SIZE: [u32; 2] = [1024, 576];
/// Characters to a side of their square.
const SIDE: usize = 20;

/// What an instance of a mesh is given: its position, the bits of its first palette row, its colour.
type Place = [f32; 8];

const SHADER: &str = "
@group(0) @binding(0) var<uniform> to_clip: mat4x4<f32>;
struct Seen { @builtin(position) clip: vec4<f32>, @location(0) normal: vec3<f32>, @location(1) color: vec4<f32> }
@vertex fn body(
    @location(0) position: vec3<f32>, @location(1) normal: vec3<f32>, @location(4) joints: vec4<u32>,
    @location(5) weights: vec4<f32>, @location(8) place: vec3<f32>, @location(9) row: u32, @location(10) color: vec4<f32>,
) -> Seen {
    let rows = blend4(row, joints, weights);
    let world = vec4<f32>(transform_point(rows, position) + place, 1.0);
    return Seen(to_clip * world, transform_normal(rows, normal), color);
}
@fragment fn shaded(in: Seen) -> @location(0) vec4<f32> {
    let sun = max(dot(normalize(in.normal), vec3<f32>(0.48, 0.64, 0.6)), 0.0);
    return vec4<f32>(in.color.rgb * (0.3 + 0.7 * sun), 1.0);
}";

#[rustfmt::skip]
fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let (mut crowd, instances) = standard_crowd(rig.clone(), &[], SIDE * SIDE)?;
    let gpu = Gpu::open(&Default::default())?;
    let backend = PaletteBackend::choose(&gpu, rig.palette_len())?;
    assert_ne!(backend, PaletteBackend::Uniform, "this draws all at once, not window by window");
    let mut bones = GpuBoneBuffer::new(&gpu, GpuBoneOptions::new(backend))?;
    for _ in 0..30 {
        crowd.advance(1.0 / 60.0)?;
        bones.evaluate(&mut crowd, &gpu)?;
    }
    let read = gpu.checked(|| {
        // A frame's rows lie where the bone buffer says.
        let mut meshes = Vec::new();
        for mesh in rig.meshes().iter().filter(|m| m.lod == 0) {
            for primitive in &mesh.mesh.primitives {
                let material = primitive.material.and_then(|m| rig.materials().get(m));
                let [r, g, b, a] = material.map_or([1.0; 4], |m| m.base_color);
                let place = |(i, &id)| -> Option<Place> {
                    let row = bones.locate(&crowd.palette_range(id)?)?.row + rig.palette_offset(mesh.skin) as u32;
                    let [x, z] = [i % SIDE, i / SIDE].map(|k| k as f32 - 0.5 * SIDE as f32);
                    Some([x, 0.0, z, f32::from_bits(row), r, g, b, a])
                };
                let places: Vec<_> = instances.iter().enumerate().filter_map(place).collect();
                let places = gpu.buffer("places", bytemuck::cast_slice(&places), Usage::VERTEX)?;
                meshes.push((GpuMesh::upload(&gpu, backend, primitive, true)?, places));
            }
        }
        paint(&gpu, &bones, &meshes)
    })?;
    let out = std::env::args().nth(1).unwrap_or_else(|| "own_renderer.png".into());
    image::save_buffer(&out, &gpu.read(&read)?, SIZE[0], SIZE[1], image::ColorType::Rgba8)?;
    println!("{} characters through the {backend} backend on {}: {out}", SIDE * SIDE, gpu.adapter());
    Ok(())
}

/// Draws all instances of each mesh at once, and copies the picture to a buffer that can be read.
#[rustfmt::skip]
fn paint(gpu: &Gpu, bones: &GpuBoneBuffer, meshes: &[(GpuMesh, wgpu::Buffer)]) -> Result<wgpu::Buffer, GpuError> {
    let (device, backend) = (&gpu.device, bones.options().backend);
    let (eye, ratio) = (Vec3::new(-9.0, 6.0, 17.0), SIZE[0] as f32 / SIZE[1] as f32);
    let camera = perspective(0.7, ratio, 0.1, 200.0) * look_at_mat4(eye, Vec3::Y, Vec3::Y);
    let camera = gpu.buffer("camera", bytemuck::bytes_of(&camera), Usage::UNIFORM)?;
    let palette = shaders::palette(backend, gpu.palette_limits().window);
    let source = [&palette, shaders::SKINNING, SHADER].join("\n");
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None, source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let (format, depth) = (wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureFormat::Depth32Float);
    let size = wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 };
    let [picture, depths] = [format, depth].map(|format| device.create_texture(&wgpu::TextureDescriptor {
        label: None, size, mip_level_count: 1, sample_count: 1, dimension: wgpu::TextureDimension::D2, format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC, view_formats: &[],
    }));
    let places_layout = wgpu::VertexBufferLayout {
        array_stride: size_of::<Place>() as u64, step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![8 => Float32x3, 9 => Uint32, 10 => Float32x4],
    };
    let mut encoder = device.create_command_encoder(&Default::default());
    let sky = wgpu::Color { r: 0.30, g: 0.42, b: 0.55, a: 1.0 };
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &picture.create_view(&Default::default()), depth_slice: None, resolve_target: None,
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(sky), store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depths.create_view(&Default::default()), stencil_ops: None,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
        }),
        ..Default::default()
    });
    for (mesh, places) in meshes {
        let (Some(stored), Some(influences)) = (mesh.stored, &mesh.influences) else { continue };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None, layout: None, primitive: Default::default(), multisample: Default::default(),
            vertex: wgpu::VertexState {
                module: &module, entry_point: None, compilation_options: Default::default(),
                buffers: &[Some(SURFACE_LAYOUT), Some(stored.layout(&stored.attributes())), Some(places_layout.clone())],
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: depth, depth_write_enabled: Some(true), stencil: Default::default(),
                depth_compare: Some(wgpu::CompareFunction::Less), bias: Default::default(),
            }),
            fragment: Some(wgpu::FragmentState {
                module: &module, entry_point: None, compilation_options: Default::default(), targets: &[Some(format.into())],
            }),
            multiview_mask: None, cache: None,
        });
        let page = bones.page(gpu, 0).expect("a crowd of this size takes one page").binding;
        for (index, resource) in [(0, camera.as_entire_binding()), (1, page)] {
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None, layout: &pipeline.get_bind_group_layout(index),
                entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
            });
            pass.set_bind_group(index, &group, &[]);
        }
        pass.set_pipeline(&pipeline);
        (0..).zip([&mesh.surface, influences, places]).for_each(|(i, b)| pass.set_vertex_buffer(i, b.slice(..)));
        pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..mesh.index_count, 0, 0..(SIDE * SIDE) as u32);
    }
    drop(pass);
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None, size: u64::from(SIZE[0] * SIZE[1] * 4), mapped_at_creation: false,
        usage: Usage::MAP_READ | Usage::COPY_DST,
    });
    let layout = wgpu::TexelCopyBufferLayout { bytes_per_row: Some(SIZE[0] * 4), ..Default::default() };
    let to = wgpu::TexelCopyBufferInfo { buffer: &read, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), to, size);
    gpu.queue.submit([encoder.finish()]);
    Ok(read)
}
