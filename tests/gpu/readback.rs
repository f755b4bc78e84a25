//! Rows as shaders read them: a compute shader copies them out of a page, through the binding that renderers use.
//! Nothing waits for the device until the rows are read.

use crate::test_renderer::{group, layout};
use phalanx::gpu::{BoneRow, Gpu, GpuBoneBuffer, PaletteBackend, shaders};
use phalanx::math::Affine3x4;

/// The frame of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRows {
    Current,
    Previous,
}

impl FrameRows {
    fn function(self) -> &'static str {
        match self {
            Self::Current => "palette_rows",
            Self::Previous => "previous_rows",
        }
    }

    /// The binding in group 1.
    fn binding(self) -> u32 {
        match self {
            Self::Current => 0,
            Self::Previous => 2,
        }
    }

    fn page<'a>(
        self,
        bones: &'a GpuBoneBuffer,
        gpu: &Gpu,
        page: usize,
    ) -> Option<wgpu::BindingResource<'a>> {
        match self {
            Self::Current => bones.page(gpu, page),
            Self::Previous => bones.previous_page(gpu, page),
        }
    }
}

const COPY: &str = "
struct Job { first: u32, put: u32, count: u32 }
@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read_write> seen: array<vec4<f32>>;
@compute @workgroup_size(64) fn copy_out(@builtin(local_invocation_index) thread: u32) {
    for (var i = thread; i < job.count; i += 64u) {
        let rows = ROWS(job.first + i);
        let to = (job.put + i) * 3u;
        seen[to] = rows.x;
        seen[to + 1u] = rows.y;
        seen[to + 2u] = rows.z;
    }
}
";

/// Jobs lie at offsets that every device takes.
const JOB_STRIDE: usize = 256;

/// Copies rows out of pages, for one backend.
pub struct RowReader {
    backend: PaletteBackend,
    frame: FrameRows,
    groups: [wgpu::BindGroupLayout; 2],
    pipeline: wgpu::ComputePipeline,
}

impl RowReader {
    pub fn new(gpu: &Gpu, backend: PaletteBackend, frame: FrameRows) -> Self {
        let window = gpu.window_rows();
        let source = [
            &shaders::palette(backend, window),
            &shaders::previous_palette(backend),
            shaders::SKINNING,
            COPY,
        ]
        .join("\n")
        .replace("ROWS(", &format!("{}(", frame.function()));
        let stage = wgpu::ShaderStages::COMPUTE;
        let buffer = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: stage,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        };
        let written = wgpu::BufferBindingType::Storage { read_only: false };
        let groups = [
            layout(
                gpu,
                &[buffer(0, wgpu::BufferBindingType::Uniform, true), buffer(1, written, false)],
            ),
            layout(gpu, &[backend.layout_entry(frame.binding(), stage)]),
        ];
        let device = &gpu.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("rows as shaders see them"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups.each_ref().map(Some),
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some("copy_out"),
            compilation_options: Default::default(),
            cache: None,
        });
        Self { backend, frame, groups, pipeline }
    }

    /// Submits copies of palettes, each with its number of rows, after all earlier submissions.
    pub fn copy(
        &self,
        gpu: &Gpu,
        bones: &GpuBoneBuffer,
        palettes: &[(BoneRow, usize)],
    ) -> Readback {
        let windows = self.backend == PaletteBackend::Uniform;
        let mut jobs = Vec::new();
        let mut all = 0;
        for (place, rows) in palettes {
            // Rows of a window count from its start.
            let from = if windows { 0 } else { place.row };
            let mut job = vec![0; JOB_STRIDE / 4];
            job[..3].copy_from_slice(&[from, all as u32, *rows as u32]);
            jobs.extend(job);
            all += rows;
        }
        let copied = gpu.checked(|| {
            let uniform = wgpu::BufferUsages::UNIFORM;
            let jobs = gpu.buffer("jobs", bytemuck::cast_slice(&jobs), uniform)?;
            let out = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
            let seen = gpu.buffer("seen", &vec![0; all.max(1) * 48], out)?;
            let job = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &jobs,
                offset: 0,
                size: wgpu::BufferSize::new(16),
            });
            let own = group(gpu, &self.groups[0], &[(0, job), (1, seen.as_entire_binding())]);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            for (i, (place, _)) in palettes.iter().enumerate() {
                let page = self.frame.page(bones, gpu, place.page).expect("the page");
                let page = group(gpu, &self.groups[1], &[(self.frame.binding(), page)]);
                let offset = [place.offset()];
                pass.set_bind_group(0, &own, &[(i * JOB_STRIDE) as u32]);
                pass.set_bind_group(1, &page, if windows { &offset } else { &[] });
                pass.dispatch_workgroups(1, 1, 1);
            }
            drop(pass);
            gpu.queue.submit([encoder.finish()]);
            Ok(seen)
        });
        Readback {
            rows: palettes.iter().map(|p| p.1).collect(),
            buffer: copied.expect("the device works"),
        }
    }
}

/// Palettes on their way from the device.
pub struct Readback {
    rows: Vec<usize>,
    buffer: wgpu::Buffer,
}

impl Readback {
    /// Waits for the device.
    pub fn palettes(self, gpu: &Gpu) -> Vec<Vec<Affine3x4>> {
        let bytes = gpu.read(self.buffer.slice(..)).expect("the device works");
        let all: Vec<Affine3x4> = bytemuck::pod_collect_to_vec(&bytes);
        let mut rest = all.as_slice();
        let mut palettes = Vec::new();
        for rows in self.rows {
            let (palette, later) = rest.split_at(rows);
            palettes.push(palette.to_vec());
            rest = later;
        }
        palettes
    }
}
