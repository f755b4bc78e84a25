//! Compute skinning of all instances in the coarsest detail. A renderer with several passes would run it once
//! per frame.

use super::table::Table;
use phalanx::gpu::{
    BoneRow, ComputeSkinner, Gpu, GpuBoneBuffer, GpuError, PaletteBackend, SkinInstance, SkinRun,
    SkinnedVertex, SkinningMesh, Stamps, Table as Weights,
};
use phalanx::rig::Rig;

/// Rounds over all instances; the first is not counted.
const ROUNDS: usize = 6;

/// The most bytes of skinned vertices at a time.
const OUTPUT: u64 = 64 << 20;

/// Times recording and skinning, and prints the table.
pub fn measure(
    gpu: &Gpu,
    rig: &Rig,
    bones: &GpuBoneBuffer,
    places: &[BoneRow],
) -> Result<(), GpuError> {
    let backend = bones.backend();
    if backend == PaletteBackend::Uniform {
        println!("compute skinning skipped: the uniform backend needs a run per window");
        return Ok(());
    }
    let mut skinner = match ComputeSkinner::new(gpu, backend) {
        Ok(skinner) => skinner,
        Err(error) => {
            println!("compute skinning skipped: {error}");
            return Ok(());
        }
    };
    let last = rig.lod_count() - 1;
    let meshes = rig.meshes().iter().filter(|m| m.lod == last);
    let meshes = gpu.checked(|| {
        let upload = |(first_slot, p)| {
            let mesh = SkinningMesh::upload(gpu, backend, p)?;
            let most = gpu.device.limits().max_compute_workgroups_per_dimension as usize;
            let vertices = p.positions.len();
            let one = (vertices * size_of::<SkinnedVertex>()) as u64;
            let run = (OUTPUT / one.max(1)).max(1) as usize;
            let run = run.min(most).min(places.len());
            let output = ComputeSkinner::output(gpu, &mesh, run)?;
            Ok(Skinned { first_slot, vertices, run, output, mesh })
        };
        let primitives = meshes.flat_map(|m| {
            let first = rig.palette_offset(m.skin) as u32;
            m.mesh.primitives.iter().map(move |p| (first, p))
        });
        primitives.map(upload).collect::<Result<Vec<_>, _>>()
    })?;
    let weights = gpu.checked(|| Weights::floats(gpu, backend, "weights", &[0.0]))?;
    let mut table = Table::default();
    let mut stamps = Stamps::new(gpu, 1);
    for round in 0..ROUNDS {
        if round == 1 {
            table = Table::default();
        }
        table.time("record compute skinning", || {
            let stage = Stage { gpu, bones, weights: &weights, meshes: &meshes };
            gpu.checked(|| stage.record(&mut skinner, &mut stamps, places))
        })?;
        table.time("wait for it", || gpu.wait())?;
        let time = stamps.as_ref().map_or(Ok(None), |s| s.read(gpu))?;
        let time = time.and_then(|parts| parts.first().copied());
        table.device("compute skinning", time);
    }
    let vertices: usize = meshes.iter().map(|m| m.vertices).sum();
    let bytes = places.len() * vertices * size_of::<SkinnedVertex>();
    println!(
        "{vertices} vertices of each skinned to {bytes} bytes; median of {} rounds, ms",
        ROUNDS - 1
    );
    println!("{table}");
    Ok(())
}

struct Stage<'a> {
    gpu: &'a Gpu,
    bones: &'a GpuBoneBuffer,
    weights: &'a Weights,
    meshes: &'a [Skinned],
}

/// A mesh with an output buffer for the vertices of the instances of one run.
struct Skinned {
    first_slot: u32,
    vertices: usize,
    mesh: SkinningMesh,
    run: usize,
    output: wgpu::Buffer,
}

impl Stage<'_> {
    /// Records and submits the skinning of all meshes and instances, page by page. A run has the instances that fit one
    /// dispatch and the output buffer.
    fn record(
        &self,
        skinner: &mut ComputeSkinner,
        stamps: &mut Option<Stamps>,
        places: &[BoneRow],
    ) -> Result<(), GpuError> {
        let gpu = self.gpu;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if let Some(stamps) = stamps {
            stamps.begin(&mut encoder, 0);
        }
        for skinned in self.meshes {
            let pages = places.chunk_by(|a, b| a.page == b.page);
            for run in pages.flat_map(|page| page.chunks(skinned.run)) {
                let Some(page) = self.bones.page(gpu, run[0].page) else {
                    continue;
                };
                let instance =
                    |place: &BoneRow| SkinInstance { row: place.row, ..SkinInstance::default() };
                let instances: Vec<_> = run.iter().map(instance).collect();
                let run = SkinRun {
                    mesh: &skinned.mesh,
                    palette: page,
                    offset: 0,
                    weights: self.weights,
                    instances: &instances,
                    first_slot: skinned.first_slot,
                    first_weight: 0,
                    targets: 0,
                    output: &skinned.output,
                };
                let mut pass = encoder.begin_compute_pass(&Default::default());
                skinner.record(gpu, &mut pass, &run)?;
            }
        }
        if let Some(stamps) = stamps {
            stamps.end(&mut encoder, 0);
        }
        gpu.queue.submit([encoder.finish()]);
        Ok(())
    }
}
