//! Compute skinning into a vertex buffer: vertices are skinned once and drawn in several passes.

use super::influences;
use super::mesh::displacements;
use super::{Gpu, GpuError, PaletteBackend, Table, shaders};
use crate::mesh::Primitive;
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;

/// A vertex that compute skinning reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SkinnedVertex {
    /// Position: mesh space before, model space after.
    pub position: [f32; 3],
    /// Unit normal; zero if the primitive has none.
    pub normal: [f32; 3],
    /// Unit tangent with the bitangent's sign; zero if the primitive has none.
    pub tangent: [f32; 4],
}

/// The layout of a skinned stream: position, normal and tangent at locations 0 to 2.
pub const SKINNED_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<SkinnedVertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4],
};

/// One instance to skin. Rows count from the start of the page; with the uniform backend, from the start of the window.
///
/// The default is not interpolated: `SkinInstance { row, first_weight, ..Default::default() }` uses one palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SkinInstance {
    /// The first palette row.
    pub row: u32,
    /// Index of the first morph weight.
    pub first_weight: u32,
    /// The first row of the palette at factor 1, in the same page or window. Not read at factor 0.
    pub to_row: u32,
    /// Position between the two palettes, 0 to 1. Default 0: the palette at `row`.
    pub factor: f32,
}

/// A primitive's buffers for compute skinning.
#[derive(Debug)]
pub struct SkinningMesh {
    source: wgpu::Buffer,
    influences: wgpu::Buffer,
    deltas: Table,
    layout: Option<wgpu::VertexBufferLayout<'static>>,
    vertices: u32,
    targets: u32,
    /// One more than the largest slot with a weight that is not 0; 1 without influences.
    slots: u32,
}

impl SkinningMesh {
    /// Uploads a primitive. Its streams must be as long as `positions`. More than eight influences per
    /// vertex are reduced to the eight largest. Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If a buffer is above the device's limits.
    pub fn upload(
        gpu: &Gpu,
        backend: PaletteBackend,
        primitive: &Primitive,
    ) -> Result<Self, GpuError> {
        let source: Vec<SkinnedVertex> = (primitive.positions.iter().enumerate())
            .map(|(v, &position)| SkinnedVertex {
                position,
                normal: primitive.normals.get(v).copied().unwrap_or_default(),
                tangent: primitive.tangents.get(v).copied().unwrap_or_default(),
            })
            .collect();
        let stream = influences::stream(primitive);
        let (layout, bytes) = stream.map_or_else(Default::default, |s| (Some(s.0), s.1));
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Self {
            source: storage(gpu, "vertices to skin, in bytes,", bytemuck::cast_slice(&source))?,
            influences: storage(gpu, "influences, in bytes,", &bytes)?,
            deltas: displacements(gpu, backend, primitive)?,
            layout,
            vertices: narrow(source.len()),
            targets: narrow(primitive.targets.len()),
            slots: slots(primitive),
        })
    }
}

/// One more than the largest slot that the weights refer to; 1 without influences, since slot 0 then transforms the
/// mesh.
fn slots(primitive: &Primitive) -> u32 {
    let influences = &primitive.influences;
    let pairs = influences.joints.iter().zip(&influences.weights);
    let weighty = pairs.filter(|(_, weight)| **weight != 0.0);
    weighty.map(|(&joint, _)| joint).max().map_or(1, |joint| u32::from(joint) + 1)
}

fn storage(gpu: &Gpu, what: &'static str, bytes: &[u8]) -> Result<wgpu::Buffer, GpuError> {
    check_binding(gpu, what, bytes.len() as u64)?;
    gpu.buffer(what, bytes, wgpu::BufferUsages::STORAGE)
}

fn check_binding(gpu: &Gpu, what: &'static str, needed: u64) -> Result<(), GpuError> {
    let limit = gpu.device.limits().max_storage_buffer_binding_size;
    if needed > limit {
        return Err(GpuError::Limit { what, needed, limit });
    }
    Ok(())
}

/// The uniform `SkinJob` of `shaders/skin_compute.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct JobUniform {
    vertices: u32,
    instances: u32,
    first_slot: u32,
    first_weight: u32,
    targets: u32,
    padding: [u32; 3],
}

/// Instances of one mesh, in one page or window, skinned by one dispatch.
#[derive(Debug)]
pub struct SkinRun<'a> {
    /// The mesh.
    pub mesh: &'a SkinningMesh,
    /// The page of palette rows: [`GpuBoneBuffer::page`](super::GpuBoneBuffer::page).
    pub palette: wgpu::BindingResource<'a>,
    /// Start of the window in the page, bytes: uniform backend only.
    pub offset: u32,
    /// Morph weights of all instances.
    pub weights: &'a Table,
    /// The instances.
    pub instances: &'a [SkinInstance],
    /// The first slot of the mesh's skin in an instance's rows: `Rig::palette_offset`. A mesh without
    /// influences is transformed by this slot.
    pub first_slot: u32,
    /// Index of the mesh's first morph weight among the weights of an instance.
    pub first_weight: u32,
    /// The number of the mesh's morph targets that have weights.
    pub targets: u32,
    /// Output vertices, instance by instance: [`ComputeSkinner::output`].
    pub output: &'a wgpu::Buffer,
}

/// Invocations per workgroup, as the shader declares.
const WORKGROUP: u32 = 64;

/// The pipelines of compute skinning for one backend.
#[derive(Debug)]
pub struct ComputeSkinner {
    backend: PaletteBackend,
    palette: wgpu::BindGroupLayout,
    mesh: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
    module: wgpu::ShaderModule,
    /// The pipelines, by layout of the influences.
    pipelines: HashMap<Option<wgpu::VertexBufferLayout<'static>>, wgpu::ComputePipeline>,
}

impl ComputeSkinner {
    /// Storage buffers that a dispatch binds in addition to the buffers of the palette, weights and displacements.
    const STORAGE_BUFFERS: u32 = 4;

    /// Creates the shader module and the layouts.
    ///
    /// # Errors
    /// If the device lacks compute shaders, has too few storage buffers, or refuses the shader.
    pub fn new(gpu: &Gpu, backend: PaletteBackend) -> Result<Self, GpuError> {
        let limits = gpu.device.limits();
        let needed = Self::STORAGE_BUFFERS + if backend == PaletteBackend::Storage { 3 } else { 0 };
        let found = match limits.max_compute_invocations_per_workgroup {
            0..WORKGROUP => 0,
            _ => limits.max_storage_buffers_per_shader_stage,
        };
        if found < needed {
            return Err(GpuError::Unsupported {
                adapter: gpu.adapter_name(),
                what: "the number of storage buffers in the compute stage",
                found: found.into(),
                needed: needed.into(),
            });
        }
        gpu.checked(|| Ok(Self::make(gpu, backend)))
    }

    fn make(gpu: &Gpu, backend: PaletteBackend) -> Self {
        let stage = wgpu::ShaderStages::COMPUTE;
        let buffer = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: stage,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("compute skinning"),
                entries,
            })
        };
        let palette =
            layout(&[backend.layout_entry(0, stage), Table::layout_entry(backend, 1, stage)]);
        let mesh = layout(&[
            buffer(0, wgpu::BufferBindingType::Uniform),
            buffer(1, storage(true)),
            buffer(2, storage(true)),
            Table::layout_entry(backend, 3, stage),
            buffer(4, storage(true)),
            buffer(5, storage(false)),
        ]);
        let window = gpu.window_rows();
        let source = [&shaders::pieces(backend, window), shaders::SKIN_COMPUTE].join("\n");
        Self {
            backend,
            layout: gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[None, Some(&palette), Some(&mesh)],
                immediate_size: 0,
            }),
            palette,
            mesh,
            module: gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("compute skinning"),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            }),
            pipelines: HashMap::new(),
        }
    }

    /// A buffer for the skinned vertices of `instances` instances, usable as vertex buffer and copy source.
    /// Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If the buffer is larger than the device can bind.
    pub fn output(
        gpu: &Gpu,
        mesh: &SkinningMesh,
        instances: usize,
    ) -> Result<wgpu::Buffer, GpuError> {
        let stride = size_of::<SkinnedVertex>() as u64;
        let bytes = (u64::from(mesh.vertices) * stride).saturating_mul(instances as u64);
        let what = "skinned vertices, in bytes,";
        check_binding(gpu, what, bytes)?;
        let usage = wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
        gpu.empty_buffer(what, bytes.max(stride), usage | wgpu::BufferUsages::STORAGE)
    }

    /// Records one dispatch for a run. Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If one dispatch cannot hold the vertices or instances, a buffer is above the device's limits, a factor is not a
    /// number from 0 to 1, or, with the uniform backend, an instance reads rows beyond the window.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        run: &SkinRun<'_>,
    ) -> Result<(), GpuError> {
        let most = gpu.device.limits().max_compute_workgroups_per_dimension;
        let workgroups = run.mesh.vertices.div_ceil(WORKGROUP);
        let instances = u32::try_from(run.instances.len()).unwrap_or(u32::MAX);
        for (what, needed) in [
            ("workgroups of 64 vertices in one dispatch", workgroups),
            ("instances in one dispatch", instances),
        ] {
            if needed > most {
                return Err(GpuError::Limit { what, needed: needed.into(), limit: most.into() });
            }
        }
        if workgroups == 0 || instances == 0 {
            return Ok(());
        }
        self.check_rows(gpu, run)?;
        let job = JobUniform {
            vertices: run.mesh.vertices,
            instances,
            first_slot: run.first_slot,
            first_weight: run.first_weight,
            targets: run.targets.min(run.mesh.targets),
            padding: [0; 3],
        };
        let uniform = wgpu::BufferUsages::UNIFORM;
        let job = gpu.buffer("skinning job", bytemuck::bytes_of(&job), uniform)?;
        let rows = storage(gpu, "instances to skin", bytemuck::cast_slice(run.instances))?;
        let palette = gpu.bind(&self.palette, &[run.palette.clone(), run.weights.binding()]);
        let mesh = gpu.bind(
            &self.mesh,
            &[
                job.as_entire_binding(),
                run.mesh.source.as_entire_binding(),
                run.mesh.influences.as_entire_binding(),
                run.mesh.deltas.binding(),
                rows.as_entire_binding(),
                run.output.as_entire_binding(),
            ],
        );
        let offsets: &[u32] = match self.backend {
            PaletteBackend::Uniform => &[run.offset],
            PaletteBackend::Texture | PaletteBackend::Storage => &[],
        };
        pass.set_pipeline(self.pipeline(gpu, run.mesh));
        pass.set_bind_group(1, &palette, offsets);
        pass.set_bind_group(2, &mesh, &[]);
        pass.dispatch_workgroups(workgroups, instances, 1);
        Ok(())
    }

    /// Checks the factors, and that windows hold the rows that instances read.
    fn check_rows(&self, gpu: &Gpu, run: &SkinRun<'_>) -> Result<(), GpuError> {
        let limit = match self.backend {
            PaletteBackend::Uniform => gpu.window_rows(),
            PaletteBackend::Texture | PaletteBackend::Storage => u64::MAX,
        };
        let slots = u64::from(run.first_slot) + u64::from(run.mesh.slots);
        for (instance, i) in run.instances.iter().enumerate() {
            // False for NaN.
            if !(0.0..=1.0).contains(&i.factor) {
                return Err(GpuError::Factor { instance });
            }
            let last = if i.factor == 0.0 { i.row } else { i.row.max(i.to_row) };
            let needed = u64::from(last) + slots;
            if needed > limit {
                return Err(GpuError::Window { instance, needed, limit });
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, gpu: &Gpu, mesh: &SkinningMesh) -> &wgpu::ComputePipeline {
        let (layout, module) = (&self.layout, &self.module);
        self.pipelines.entry(mesh.layout.clone()).or_insert_with(|| {
            let (fours, [joint, weight]) = match &mesh.layout {
                None => (0, [1.0; 2]),
                Some(layout) => {
                    let bytes = influences::formats(layout).map(|f| (f.size() / 4) as f64);
                    (layout.attributes.len() / 2, bytes)
                }
            };
            let constants =
                [("FOURS", fours as f64), ("JOINT_BYTES", joint), ("WEIGHT_BYTES", weight)];
            gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("compute skinning"),
                layout: Some(layout),
                module,
                entry_point: Some("skin_vertices"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    ..Default::default()
                },
                cache: None,
            })
        })
    }
}
