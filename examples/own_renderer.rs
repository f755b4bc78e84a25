//! A custom renderer on the library's bone buffer and shaders, without `phalanx_render`. What every wgpu
//! renderer has, targets and pipelines, is in `canvas.rs`, which is independent of Phalanx.
//!
//! `cargo run --release --example own_renderer [picture.png [uniform|texture|storage]]`

#[path = "own_renderer/canvas.rs"]
mod canvas;

use canvas::{Canvas, bind, layout, pipeline, uniform};
use glam::Vec3;
use glam::camera::rh::{proj::directx::perspective, view::look_at_mat4};
use phalanx::crowd::InstanceId;
use phalanx::gpu::*;
use phalanx::import::mannequin;
use phalanx::rig::Rig;
use phalanx_workload::standard_crowd;
use std::{error::Error, process::ExitCode, sync::Arc};
use wgpu::{BufferUsages as Usage, ShaderStages, VertexBufferLayout, VertexStepMode};

const SIZE: [u32; 2] = [1024, 576];
/// Characters per side of their square.
const SIDE: usize = 20;

/// Instance data of a mesh: position, first palette row (as bits), colour.
type Place = [f32; 8];
const PLACE_BYTES: u64 = size_of::<Place>() as u64;
const PLACE_LAYOUT: VertexBufferLayout<'_> = VertexBufferLayout {
    array_stride: PLACE_BYTES,
    step_mode: VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![8 => Float32x3, 9 => Uint32, 10 => Float32x4],
};

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

fn main() -> ExitCode {
    let failed = run().inspect_err(|error| eprintln!("nothing was drawn: {error}"));
    ExitCode::from(u8::from(failed.is_err()))
}

fn run() -> Result<(), Box<dyn Error>> {
    let (out, backend) = (std::env::args().nth(1), std::env::args().nth(2));
    let rig = mannequin()?;
    let (mut crowd, instances) = standard_crowd(Arc::new(rig.clone()), &[], SIDE * SIDE)?;
    let gpu = Gpu::open(&GpuOptions::default())?;
    let backend = match backend {
        None => PaletteBackend::choose(&gpu, rig.palette_len())?,
        Some(name) => (PaletteBackend::ALL.into_iter().find(|b| b.to_string() == name))
            .ok_or_else(|| {
                format!("unknown backend {name}: expected uniform, texture or storage")
            })?,
    };
    let mut bones = GpuBoneBuffer::new(&gpu, backend, &GpuBoneOptions::default())?;
    for _ in 0..30 {
        crowd.advance(1.0 / 60.0)?;
        bones.evaluate(&mut crowd, &gpu)?;
    }
    // The bone buffer locates a frame's rows.
    let place = |id: &InstanceId| bones.locate(&crowd.palette_range(*id)?);
    let places: Vec<BoneRow> = instances.iter().filter_map(place).collect();
    let picture = gpu.checked(|| paint(&gpu, &bones, &rig, &places))?;
    let out = out.unwrap_or_else(|| "own_renderer.png".into());
    let (pixels, [width, height]) = (gpu.read(picture.slice(..))?, SIZE);
    image::save_buffer(&out, &pixels, width, height, image::ColorType::Rgba8)?;
    let (count, on) = (places.len(), gpu.adapter_name());
    println!("{count} characters through the {backend} backend on {on}: {out}");
    Ok(())
}

/// Draws each mesh for all instances at once, or window by window; returns a buffer with the pixels.
fn paint(
    gpu: &Gpu,
    bones: &GpuBoneBuffer,
    rig: &Rig,
    places: &[BoneRow],
) -> Result<wgpu::Buffer, GpuError> {
    let (device, backend) = (&gpu.device, bones.backend());
    let windows = backend == PaletteBackend::Uniform;
    let (eye, ratio) = (Vec3::new(-9.0, 6.0, 17.0), SIZE[0] as f32 / SIZE[1] as f32);
    let camera = perspective(0.7, ratio, 0.1, 200.0) * look_at_mat4(eye, Vec3::Y, Vec3::Y);
    let camera = gpu.buffer("camera", bytemuck::bytes_of(&camera), Usage::UNIFORM)?;
    let (camera_layout, camera) = uniform(device, &camera);
    let layout = layout(device, backend.layout_entry(0, ShaderStages::VERTEX));
    let pages = (0..bones.page_count()).filter_map(|page| bones.page(gpu, page));
    let pages: Vec<_> = pages.map(|page| bind(device, &layout, page)).collect();
    let palette = shaders::palette(backend, gpu.window_rows());
    let source = [&palette, shaders::SKINNING, SHADER].join("\n");
    let (canvas, mut encoder) =
        (Canvas::new(device, SIZE), device.create_command_encoder(&Default::default()));
    let mut pass = canvas.begin(&mut encoder);
    pass.set_bind_group(0, &camera, &[]);
    let meshes = rig.meshes().iter().filter(|mesh| mesh.lod == 0);
    for (skin, primitive) in meshes.flat_map(|m| m.mesh.primitives.iter().map(|p| (m.skin, p))) {
        let material = primitive.material.and_then(|m| rig.materials().get(m));
        let [r, g, b, a] = material.map_or([1.0; 4], |m| m.base_color);
        let records = places.iter().enumerate().map(|(i, place)| -> Place {
            let [x, z] = [i % SIDE, i / SIDE].map(|k| k as f32 - 0.5 * SIDE as f32);
            // A window begins with its instance; pages are bound whole.
            let row = if windows { 0 } else { place.row } + rig.palette_offset(skin) as u32;
            [x, 0.0, z, f32::from_bits(row), r, g, b, a]
        });
        let records: Vec<Place> = records.collect();
        let records = gpu.buffer("places", bytemuck::cast_slice(&records), Usage::VERTEX)?;
        let mesh = GpuMesh::upload(gpu, backend, primitive, true)?;
        let (Some(skinned), Some(influences)) = (mesh.influence_layout, &mesh.influences) else {
            continue;
        };
        let buffers = [SURFACE_LAYOUT, skinned, PLACE_LAYOUT].map(Some);
        pass.set_pipeline(&pipeline(device, &source, &[&camera_layout, &layout], &buffers));
        pass.set_vertex_buffer(0, mesh.surface.slice(..));
        pass.set_vertex_buffer(1, influences.slice(..));
        pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
        let mut first = 0;
        for drawn in places.chunk_by(|a, b| !windows && a.page == b.page) {
            let end = first + drawn.len() as u64 * PLACE_BYTES;
            let offset = windows.then(|| drawn[0].offset());
            pass.set_bind_group(1, &pages[drawn[0].page], offset.as_slice());
            pass.set_vertex_buffer(2, records.slice(first..end));
            pass.draw_indexed(0..mesh.index_count, 0, 0..drawn.len() as u32);
            first = end;
        }
    }
    drop(pass);
    let picture = canvas.read(device, &mut encoder);
    gpu.queue.submit([encoder.finish()]);
    Ok(picture)
}
