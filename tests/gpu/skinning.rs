//! Compute skinning, read back, against the CPU skinning job.

use crate::models::{Weights, chain, file, mirrored_chain, tube};
use crate::subject::{INSTANCES, STRANGERS, Skinned, Staged, Subject};
use crate::support::open;
use phalanx::gpu::{
    ComputeSkinner, Gpu, GpuError, GpuMesh, PaletteBackend, SkinInstance, SkinRun, SkinnedVertex,
    SkinningMesh, Table,
};
use std::ops::Range;
use wgpu::VertexFormat;

/// Of positions, relative to the model's size: what rounding in another order may cost.
const POSITION: f32 = 1e-5;
/// Of unit vectors: `normalize` of WGSL may be off by some units in the last place more.
const DIRECTION: f32 = 1e-4;

/// Influences per vertex, how weights are stored, morph targets, joints.
pub const KINDS: [(usize, Weights, usize, usize); 6] = [
    (4, Weights::Bytes, 0, 67),
    (4, Weights::Shorts, 3, 300),
    (4, Weights::Floats, 17, 67),
    (8, Weights::Bytes, 3, 300),
    (8, Weights::Shorts, 0, 67),
    (8, Weights::Floats, 2, 67),
];

/// Streams are stored as narrow as the file had them, and skin as the job does.
pub fn every_kind() {
    let gpu = open();
    for (per_vertex, weights, targets, joints) in KINDS {
        let primitive = tube(joints, per_vertex, weights, targets);
        let mesh = GpuMesh::upload(&gpu, PaletteBackend::Texture, &primitive, true);
        let layout = mesh.unwrap().influence_layout.expect("the mesh is skinned");
        let [joint, .., weight] = layout.attributes else { panic!("{layout:?}") };
        let expected = match weights {
            Weights::Bytes => VertexFormat::Unorm8x4,
            Weights::Shorts => VertexFormat::Unorm16x4,
            Weights::Floats => VertexFormat::Float32x4,
        };
        let wide = [VertexFormat::Uint8x4, VertexFormat::Uint16x4][usize::from(joints > 256)];
        assert_eq!((weight.format, joint.format), (expected, wide));
        let subject = Subject::new(chain(joints), primitive, 0..joints);
        for backend in PaletteBackend::ALL {
            check(&gpu, backend, &subject);
        }
    }
}

/// Under rows that mirror, normals stay outside and tangents change their bitangents' side.
pub fn mirrored() {
    let gpu = open();
    for per_vertex in [4, 8] {
        let primitive = tube(67, per_vertex, Weights::Floats, 0);
        let subject = Subject::new(mirrored_chain(67), primitive, 0..67);
        for backend in PaletteBackend::ALL {
            check(&gpu, backend, &subject);
        }
    }
}

/// Between two palettes side by side, in either order: as the job makes of rows that were interpolated on the CPU.
pub fn between_two_poses() {
    let gpu = open();
    for (per_vertex, weights, targets, joints) in KINDS {
        let primitive = tube(joints, per_vertex, weights, targets);
        let subject = Subject::new(chain(joints), primitive, 0..joints);
        for backend in PaletteBackend::ALL {
            check_between(&gpu, backend, &subject);
        }
    }
    // Without influences, by its first slot.
    let mut whole = tube(67, 4, Weights::Floats, 0);
    whole.influences = Default::default();
    let subject = Subject::new(chain(67), whole, 30..31);
    for backend in PaletteBackend::ALL {
        check_between(&gpu, backend, &subject);
    }
}

fn check_between(gpu: &Gpu, backend: PaletteBackend, subject: &Subject) {
    let staged = Staged::new(gpu, backend, subject);
    let vertices = subject.primitive.positions.len();
    let alone = skin(gpu, &staged, |i| (i, 0.0)).expect("the device works");
    for factor in [0.0, 0.3, 1.0] {
        // Neighbours have palettes side by side. Every other one goes from the second to the first.
        let to = |i: usize| if i + 1 < INSTANCES { i + 1 } else { i - 1 };
        let skinned = skin(gpu, &staged, |i| (to(i), factor)).expect("the device works");
        for (i, skinned) in skinned.chunks(vertices).enumerate() {
            let truth = staged.between(i, to(i), factor);
            let what = format!("{backend}, instance {i} at {factor}");
            compare(&staged, &truth, skinned, &what);
        }
        if factor == 0.0 {
            assert_eq!(skinned, alone, "{backend}: factor 0 changes bits");
        }
    }
}

/// Factors that are none, and rows beyond the window of the uniform backend.
pub fn refusals() {
    let gpu = open();
    let subject = Subject::new(chain(67), tube(67, 4, Weights::Floats, 0), 0..67);
    for backend in PaletteBackend::ALL {
        let staged = Staged::new(&gpu, backend, &subject);
        for factor in [f32::NAN, -0.1, 1.1, f32::INFINITY] {
            let refused = skin(&gpu, &staged, |i| (i, factor));
            assert_eq!(refused, Err(GpuError::Factor { instance: 0 }), "{backend}");
        }
    }
    let wide = Subject::new(chain(677), tube(677, 4, Weights::Floats, 0), 0..677);
    let staged = Staged::new(&gpu, PaletteBackend::Uniform, &wide);
    assert_eq!(PaletteBackend::Uniform.max_joints(&gpu, true), 677);
    let neighbours = skin(&gpu, &staged, |i| (i ^ usize::from(i < 4), 0.5));
    assert!(neighbours.is_ok(), "{neighbours:?}");
    // The one after the next: 2 · 688 + 677 rows.
    let refused = skin(&gpu, &staged, |i| ((i + 2) % INSTANCES, 0.5));
    let expected = GpuError::Window { instance: 0, needed: 2053, limit: 1365 };
    assert_eq!(refused, Err(expected));
    // At factor 0 the other rows are not read.
    assert!(skin(&gpu, &staged, |i| ((i + 2) % INSTANCES, 0.0)).is_ok());
}

/// 1,500 joints are more than a window of 64 KiB holds: through what the device has beside it.
pub fn many_joints() {
    let gpu = open();
    let primitive = tube(1500, 4, Weights::Floats, 1);
    let subject = Subject::new(chain(1500), primitive, 0..1500);
    for backend in [PaletteBackend::Texture, PaletteBackend::Storage] {
        check(&gpu, backend, &subject);
    }
    assert!(PaletteBackend::Uniform.check(&gpu, 1500).is_err());
}

pub fn file_of_201_joints() {
    let rig = file("bl_manyjoints.glb");
    assert!(rig.skeleton().len() >= 201);
    meshes_of(&Subject::of_file(&rig));
}

pub fn file_with_morphs() {
    let subjects = Subject::of_file(&file("bl_morphbones.glb"));
    assert!(subjects.iter().any(|s| s.targets() > 0));
    meshes_of(&subjects);
}

fn meshes_of(subjects: &[Subject]) {
    assert!(!subjects.is_empty());
    let gpu = open();
    for subject in subjects {
        for backend in PaletteBackend::ALL {
            check(&gpu, backend, subject);
        }
    }
}

fn check(gpu: &Gpu, backend: PaletteBackend, subject: &Subject) {
    let staged = Staged::new(gpu, backend, subject);
    let skinned = skin(gpu, &staged, |i| (i, 0.0)).expect("the device works");
    let vertices = subject.primitive.positions.len();
    assert_eq!(skinned.len(), vertices * INSTANCES);
    for (i, skinned) in skinned.chunks(vertices).enumerate() {
        let truth = staged.by_the_job(i);
        compare(&staged, &truth, skinned, &format!("{backend}, instance {i}"));
    }
}

/// Skins all instances on the device: in one run, or in one per window. `to` gives the instance with the palette at
/// factor 1, and the factor.
fn skin(
    gpu: &Gpu,
    staged: &Staged<'_>,
    to: impl Fn(usize) -> (usize, f32),
) -> Result<Vec<SkinnedVertex>, GpuError> {
    let backend = staged.bones.backend();
    let mut skinner = ComputeSkinner::new(gpu, backend).expect("the device has compute shaders");
    let row =
        |i: usize| staged.bones.locate(&staged.ranges[i]).expect("it is in the only page").row;
    // Rows count from `start`. The second palette, if it is not read, may lie before it.
    let instance = |i: usize, start: u32| SkinInstance {
        row: row(i) - start,
        first_weight: i as u32 * staged.stride(),
        to_row: row(to(i).0).wrapping_sub(start),
        factor: to(i).1,
    };
    let bytes = staged.subject.primitive.positions.len() * size_of::<SkinnedVertex>();
    let read = gpu.checked(|| {
        let mesh = SkinningMesh::upload(gpu, backend, &staged.subject.primitive)?;
        let weights = Table::floats(gpu, backend, "weights", &staged.weights)?;
        let read = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (bytes * INSTANCES) as u64,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut run = |instances: &[SkinInstance], offset, to: Range<usize>| {
            let output = ComputeSkinner::output(gpu, &mesh, instances.len())?;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            let page = staged.bones.page(gpu, 0).expect("there are rows");
            let run = SkinRun {
                mesh: &mesh,
                palette: page,
                offset,
                weights: &weights,
                instances,
                first_slot: staged.subject.slots.start as u32,
                first_weight: STRANGERS,
                targets: u32::MAX,
                output: &output,
            };
            skinner.record(gpu, &mut pass, &run)?;
            drop(pass);
            let (at, size) = ((to.start * bytes) as u64, (to.len() * bytes) as u64);
            encoder.copy_buffer_to_buffer(&output, 0, &read, at, size);
            Ok(())
        };
        if backend == PaletteBackend::Uniform {
            // A window per instance; its rows count from the window's start.
            for i in 0..INSTANCES {
                // A window for two palettes starts at the first of them.
                let mut place = staged.places[i];
                if to(i).1 != 0.0 {
                    place.row = place.row.min(row(to(i).0));
                }
                assert_eq!(u64::from(place.offset()), u64::from(place.row) * 48);
                run(&[instance(i, place.row)], place.offset(), i..i + 1)?;
            }
        } else {
            let all: Vec<_> = (0..INSTANCES).map(|i| instance(i, 0)).collect();
            run(&all, 0, 0..INSTANCES)?;
        }
        gpu.queue.submit([encoder.finish()]);
        Ok(read)
    });
    let bytes = gpu.read(read?.slice(..))?;
    Ok(bytemuck::cast_slice(&bytes).to_vec())
}

fn compare(staged: &Staged<'_>, truth: &Skinned, skinned: &[SkinnedVertex], what: &str) {
    let subject = staged.subject;
    let rest = &subject.primitive.positions;
    let moved = |(a, b)| distance::<3>(a, b) > 0.01 * subject.size;
    let moves = truth.positions.iter().zip(rest).any(moved);
    assert!(moves, "{what}: the subject stands still");
    for (v, got) in skinned.iter().enumerate() {
        let off = distance(&got.position, &truth.positions[v]) / subject.size;
        assert!(off <= POSITION, "{what}, vertex {v}: position off by {off:e}");
        if let Some(normal) = truth.normals.get(v) {
            let off = distance(&got.normal, normal);
            assert!(off <= DIRECTION, "{what}, vertex {v}: normal off by {off:e}");
        }
        if let Some(tangent) = truth.tangents.get(v) {
            let off = distance(&got.tangent, tangent);
            assert!(off <= DIRECTION, "{what}, vertex {v}: tangent off by {off:e}");
        }
    }
}

fn distance<const N: usize>(a: &[f32; N], b: &[f32; N]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f32>().sqrt()
}
