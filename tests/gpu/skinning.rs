//! Compute skinning, read back, against the CPU skinning job.

use crate::models::{HEIGHT, Weights, chain, file, tube};
use crate::support::{bones, crowd_of, open};
use phalanx::crowd::BoneBuffer;
use phalanx::gpu::{
    ComputeSkinner, Gpu, GpuBoneBuffer, InfluenceFormat, JointFormat, PaletteBackend, ROW_BYTES,
    SkinInstance, SkinRun, SkinnedVertex, SkinningMesh, Table, WeightFormat,
};
use phalanx::math::Affine3x4;
use phalanx::mesh::Primitive;
use phalanx::rig::Rig;
use phalanx::runtime::SkinningJob;
use std::ops::Range;
use std::sync::Arc;

/// Of positions, relative to the model's size: what the issue of rounding in another order may cost.
const POSITION: f32 = 1e-5;
/// Of unit vectors: `normalize` of WGSL may be off by some units in the last place more.
const DIRECTION: f32 = 1e-4;

struct Subject<'a> {
    rig: Arc<Rig>,
    primitive: &'a Primitive,
    /// The rows of the mesh's skin in an instance's palette.
    slots: Range<usize>,
    size: f32,
}

const INSTANCES: usize = 5;

pub fn every_kind() {
    let gpu = open();
    for backend in PaletteBackend::ALL {
        for (per_vertex, weights, targets, joints) in [
            (4, Weights::Bytes, 0, 67),
            (4, Weights::Shorts, 3, 300),
            (4, Weights::Floats, 17, 67),
            (8, Weights::Bytes, 3, 300),
            (8, Weights::Shorts, 0, 67),
            (8, Weights::Floats, 2, 67),
        ] {
            let primitive = tube(joints, per_vertex, weights, targets);
            let format = InfluenceFormat::of(&primitive.influences);
            let expected = match weights {
                Weights::Bytes => WeightFormat::Unorm8,
                Weights::Shorts => WeightFormat::Unorm16,
                Weights::Floats => WeightFormat::F32,
            };
            let wide = [JointFormat::U8, JointFormat::U16][usize::from(joints > 256)];
            assert_eq!((format.weights, format.joints), (expected, wide));
            check(
                &gpu,
                backend,
                &Subject {
                    rig: chain(joints),
                    primitive: &primitive,
                    slots: 0..joints,
                    size: HEIGHT,
                },
            );
        }
    }
}

/// 1,500 joints are more than a window of 64 KiB holds: through what the device has beside it.
pub fn many_joints() {
    let gpu = open();
    let primitive = tube(1500, 4, Weights::Floats, 1);
    let mut held = 0;
    for backend in PaletteBackend::ALL {
        if backend.check(&gpu, 1500).is_err() {
            assert_eq!(backend, PaletteBackend::Uniform);
            continue;
        }
        held += 1;
        check(
            &gpu,
            backend,
            &Subject {
                rig: chain(1500),
                primitive: &primitive,
                slots: 0..1500,
                size: HEIGHT,
            },
        );
    }
    assert_eq!(held, 2);
}

pub fn file_of_201_joints() {
    let rig = file("bl_manyjoints.glb");
    assert!(rig.skeleton().len() >= 201);
    meshes_of(&rig);
}

pub fn file_with_morphs() {
    let rig = file("bl_morphbones.glb");
    assert!(!rig.morphs().is_empty());
    meshes_of(&rig);
}

fn meshes_of(rig: &Arc<Rig>) {
    let gpu = open();
    let mut count = 0;
    for mesh in rig.meshes().iter().filter(|m| m.rigid_slot.is_none()) {
        let first = rig.palette_offset(mesh.skin);
        for primitive in &mesh.mesh.primitives {
            let far = |p: &[f32; 3]| p.iter().fold(0.0f32, |m, x| m.max(x.abs()));
            let size = primitive.positions.iter().map(far).fold(0.0, f32::max);
            for backend in PaletteBackend::ALL {
                check(
                    &gpu,
                    backend,
                    &Subject {
                        rig: rig.clone(),
                        primitive,
                        slots: first..first + rig.skins()[mesh.skin].len(),
                        size,
                    },
                );
            }
            count += 1;
        }
    }
    assert!(count > 0);
}

fn check(gpu: &Gpu, backend: PaletteBackend, subject: &Subject<'_>) {
    let (mut crowd, all, _) = crowd_of(&[subject.rig.clone()], INSTANCES);
    let mut heap = BoneBuffer::new();
    crowd.evaluate(&mut heap);
    let palettes: Vec<Vec<Affine3x4>> = all
        .iter()
        .map(|&id| heap.rows()[crowd.palette_range(id).unwrap()][subject.slots.clone()].to_vec())
        .collect();
    let mut bones = bones(gpu, backend);
    bones.evaluate(&mut crowd, gpu).unwrap();
    let targets = subject.primitive.targets.len();
    let weight = |i: usize, t: usize| ((i * 5 + t * 3) % 7) as f32 / 6.0 - 0.25;
    // Two weights of something else stand before each instance's.
    let weights: Vec<f32> = (0..INSTANCES)
        .flat_map(|i| {
            [9.0, 9.0]
                .into_iter()
                .chain((0..targets).map(move |t| weight(i, t)))
        })
        .collect();
    let places: Vec<_> = all
        .iter()
        .map(|&id| bones.locate(&crowd.palette_range(id).unwrap()).unwrap())
        .collect();
    let skinned = skin(gpu, &bones, subject, &weights, &places);
    let vertices = subject.primitive.positions.len();
    for (i, (palette, skinned)) in palettes.iter().zip(skinned.chunks(vertices)).enumerate() {
        let own: Vec<f32> = (0..targets).map(|t| weight(i, t)).collect();
        compare(
            subject,
            palette,
            &own,
            skinned,
            &format!("{backend}, instance {i}"),
        );
    }
}

fn skin(
    gpu: &Gpu,
    bones: &GpuBoneBuffer,
    subject: &Subject<'_>,
    weights: &[f32],
    places: &[phalanx::gpu::BonePlace],
) -> Vec<SkinnedVertex> {
    let backend = bones.options().backend;
    let mut skinner = ComputeSkinner::new(gpu, backend).unwrap();
    let stride = 2 + subject.primitive.targets.len() as u32;
    let vertices = subject.primitive.positions.len() as u64;
    let bytes = vertices * INSTANCES as u64 * size_of::<SkinnedVertex>() as u64;
    let read = gpu
        .checked(|| {
            let mesh = SkinningMesh::upload(gpu, backend, subject.primitive)?;
            let table = Table::floats(gpu, backend, "weights", weights)?;
            let read = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let instance = |(i, row): (usize, u32)| SkinInstance {
                row,
                first_weight: i as u32 * stride,
            };
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let run = |encoder: &mut wgpu::CommandEncoder,
                       skinner: &mut ComputeSkinner,
                       instances: &[SkinInstance],
                       (page, offset): (usize, u32),
                       output: &wgpu::Buffer| {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                skinner.record(
                    gpu,
                    &mut pass,
                    &SkinRun {
                        mesh: &mesh,
                        palette: bones.page(gpu, page).unwrap().binding,
                        offset,
                        weights: &table,
                        instances,
                        first_slot: subject.slots.start as u32,
                        first_weight: 2,
                        targets: u32::MAX,
                        output,
                    },
                )
            };
            let one = bytes / INSTANCES as u64;
            match backend {
                PaletteBackend::Uniform => {
                    // A window per instance; its rows count from the window's start.
                    for (i, place) in places.iter().enumerate() {
                        assert_eq!(u64::from(place.offset()), u64::from(place.row) * ROW_BYTES);
                        let output = ComputeSkinner::output(gpu, &mesh, 1)?;
                        let at = (place.page, place.offset());
                        run(&mut encoder, &mut skinner, &[instance((i, 0))], at, &output)?;
                        encoder.copy_buffer_to_buffer(&output, 0, &read, i as u64 * one, one);
                    }
                }
                PaletteBackend::Texture | PaletteBackend::Storage => {
                    let rows = places.iter().map(|p| p.row).enumerate();
                    let instances: Vec<_> = rows.map(instance).collect();
                    let output = ComputeSkinner::output(gpu, &mesh, INSTANCES)?;
                    run(&mut encoder, &mut skinner, &instances, (0, 0), &output)?;
                    encoder.copy_buffer_to_buffer(&output, 0, &read, 0, bytes);
                }
            }
            gpu.queue.submit([encoder.finish()]);
            Ok(read)
        })
        .unwrap();
    bytemuck::cast_slice(&gpu.read(&read).unwrap()).to_vec()
}

fn compare(
    subject: &Subject<'_>,
    palette: &[Affine3x4],
    weights: &[f32],
    skinned: &[SkinnedVertex],
    what: &str,
) {
    let p = subject.primitive;
    let count = p.positions.len();
    let mut positions = vec![[0.0; 3]; count];
    let mut normals = vec![[0.0; 3]; p.normals.len()];
    let mut tangents = vec![[0.0; 4]; p.tangents.len()];
    SkinningJob {
        primitive: p,
        palette,
        rigid: Affine3x4::IDENTITY,
        morph_weights: weights,
        positions: &mut positions,
        normals: &mut normals,
        tangents: &mut tangents,
    }
    .run()
    .unwrap();
    assert_eq!(skinned.len(), count);
    let moved = positions
        .iter()
        .zip(&p.positions)
        .any(|(a, b)| distance(a, b) > 0.01 * subject.size);
    assert!(moved, "{what}: the subject stands still");
    for (v, got) in skinned.iter().enumerate() {
        let off = distance(&got.position, &positions[v]) / subject.size;
        assert!(
            off <= POSITION,
            "{what}, vertex {v}: position off by {off:e}"
        );
        if let Some(normal) = normals.get(v) {
            let off = distance(&got.normal, normal);
            assert!(
                off <= DIRECTION,
                "{what}, vertex {v}: normal off by {off:e}"
            );
        }
        if let Some(tangent) = tangents.get(v) {
            let off = distance(&got.tangent, tangent);
            assert!(
                off <= DIRECTION,
                "{what}, vertex {v}: tangent off by {off:e}"
            );
        }
    }
}

fn distance<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f32>().sqrt()
}
