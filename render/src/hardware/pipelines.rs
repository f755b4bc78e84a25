//! Shader modules, layouts and pipelines. Pipelines of characters are made when first needed.

use std::collections::HashMap;

use super::batches::{Batch, InstanceRecord};
use super::canvas::{DEPTH_FORMAT, MASK_FORMAT, PICTURE_FORMAT, samples};
use super::layouts::Layouts;
use super::models::LoadedMesh;
use crate::Winding;
use phalanx::gpu::{Gpu, PaletteBackend, SURFACE_LAYOUT, shaders};
use phalanx::mesh::{AlphaMode, Sampler, Wrap};

/// The camera, lights and shadows of a picture, in group 0.
const VIEW: &str = include_str!("../../shaders/view.wgsl");

/// The stages that show a finished image in a window.
pub(super) const SHOW: &str = include_str!("../../shaders/show.wgsl");

/// The source of the module that draws characters.
pub(super) fn character_source(backend: PaletteBackend, window: u64) -> String {
    [VIEW, &shaders::pieces(backend, window), include_str!("../../shaders/character.wgsl")]
        .join("\n")
}

/// The source of the module that draws ground and sky.
pub(super) fn background_source() -> String {
    [VIEW, include_str!("../../shaders/background.wgsl")].join("\n")
}

/// The pass that a draw belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    Body,
    Shadow,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    pass: Pass,
    /// The layout of the influences; `None` for rigid meshes.
    influences: Option<wgpu::VertexBufferLayout<'static>>,
    /// No faces are culled before the fragment stage.
    both_sides: bool,
    mirrored: bool,
    /// The fragment stage determines the front side.
    by_rows: bool,
    /// Edges are drawn in place of surfaces.
    edges: bool,
    /// For shadows: masked if alpha decides, else opaque.
    alpha_mode: AlphaMode,
}

impl Key {
    fn new(pass: Pass, mesh: &LoadedMesh, batch: &Batch) -> Self {
        let influences = mesh.mesh.influence_layout.clone();
        match pass {
            Pass::Body if mesh.edges.is_none() => Self {
                pass,
                influences,
                both_sides: mesh.double_sided || mesh.winding == Winding::ByRows,
                mirrored: batch.world_mirrors ^ (mesh.winding == Winding::Turned),
                by_rows: mesh.winding == Winding::ByRows,
                edges: false,
                alpha_mode: mesh.alpha_mode,
            },
            // An edge has no front, and both sides cast shadows.
            Pass::Body | Pass::Shadow => Self {
                pass,
                influences,
                both_sides: true,
                mirrored: false,
                by_rows: false,
                edges: pass == Pass::Body,
                alpha_mode: match mesh.alpha_mode {
                    AlphaMode::Opaque => AlphaMode::Opaque,
                    AlphaMode::Mask | AlphaMode::Blend => AlphaMode::Mask,
                },
            },
        }
    }
}

/// Layouts and pipelines of one device.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub backend: PaletteBackend,
    pub layouts: Layouts,
    /// Samples per pixel.
    samples: u32,
    /// One for each wrapping along u, and within it along v.
    samplers: Vec<wgpu::Sampler>,
    pub ground: wgpu::RenderPipeline,
    pub sky: wgpu::RenderPipeline,
    module: wgpu::ShaderModule,
    layout: wgpu::PipelineLayout,
    characters: HashMap<Key, wgpu::RenderPipeline>,
}

impl Pipelines {
    pub fn new(gpu: &Gpu, backend: PaletteBackend) -> Self {
        let (layouts, samples) = (Layouts::new(gpu, backend), samples(gpu));
        let module = |label, source: String| {
            gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(source.into()),
            })
        };
        let pipeline_layout = |groups: &[&wgpu::BindGroupLayout]| {
            let groups: Vec<_> = groups.iter().map(|&g| Some(g)).collect();
            gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &groups,
                immediate_size: 0,
            })
        };
        let layout = pipeline_layout(&[&layouts.view, &layouts.rows, &layouts.mesh]);
        let background = module("background", background_source());
        let background_layout = pipeline_layout(&[&layouts.view, &layouts.mask]);
        let background_pipeline = |vertex, fragment, topology, depth| {
            pipeline(
                gpu,
                &PipelineParts {
                    layout: &background_layout,
                    module: &background,
                    vertex,
                    fragment,
                    buffers: &[],
                    topology,
                    cull_mode: None,
                    front_face: wgpu::FrontFace::Ccw,
                    target: PICTURE_FORMAT,
                    samples,
                    depth: Some(depth),
                    blends: false,
                },
            )
        };
        let wraps = Wrap::ALL.into_iter();
        let wraps = wraps.flat_map(|u| Wrap::ALL.map(|v| (u, v)));
        Self {
            ground: background_pipeline(
                "ground_corner",
                "ground_color",
                wgpu::PrimitiveTopology::TriangleStrip,
                (wgpu::CompareFunction::Greater, true),
            ),
            sky: background_pipeline(
                "sky_corner",
                "sky_fragment",
                wgpu::PrimitiveTopology::TriangleList,
                (wgpu::CompareFunction::GreaterEqual, false),
            ),
            samplers: wraps.map(|(u, v)| sampler(gpu, u, v)).collect(),
            module: module("characters", character_source(backend, gpu.window_rows())),
            backend,
            layouts,
            samples,
            layout,
            characters: HashMap::new(),
        }
    }

    /// The sampler that wraps in this way.
    pub fn sampler(&self, wanted: &Sampler) -> &wgpu::Sampler {
        let place = |wrap| Wrap::ALL.iter().position(|w| *w == wrap).unwrap_or(0);
        let at = place(wanted.wrap_u) * Wrap::ALL.len() + place(wanted.wrap_v);
        &self.samplers[at]
    }

    /// Makes the pipeline that draws `mesh` in `batch`, unless it exists.
    pub fn prepare(&mut self, gpu: &Gpu, pass: Pass, mesh: &LoadedMesh, batch: &Batch) {
        let key = Key::new(pass, mesh, batch);
        if self.characters.contains_key(&key) {
            return;
        }
        let cut = key.alpha_mode != AlphaMode::Opaque;
        let vertex = match (pass, key.influences.as_ref().map(|l| l.attributes.len() == 4)) {
            (Pass::Body, None) => "body_rigid",
            (Pass::Body, Some(false)) => "body_skin4",
            (Pass::Body, Some(true)) => "body_skin8",
            (Pass::Shadow, None) if cut => "cut_shadow_rigid",
            (Pass::Shadow, Some(false)) if cut => "cut_shadow_skin4",
            (Pass::Shadow, Some(true)) if cut => "cut_shadow_skin8",
            (Pass::Shadow, None) => "shadow_rigid",
            (Pass::Shadow, Some(false)) => "shadow_skin4",
            (Pass::Shadow, Some(true)) => "shadow_skin8",
        };
        let mut buffers = vec![Some(SURFACE_LAYOUT), Some(InstanceRecord::LAYOUT)];
        buffers.extend(key.influences.clone().map(Some));
        let made = pipeline(
            gpu,
            &PipelineParts {
                layout: &self.layout,
                module: &self.module,
                vertex,
                fragment: match pass {
                    Pass::Body if key.edges => "edge_color",
                    Pass::Body => match (key.alpha_mode, key.by_rows) {
                        (AlphaMode::Opaque, false) => "body_color",
                        (AlphaMode::Opaque, true) => "body_color_by_rows",
                        (AlphaMode::Mask, false) => "body_masked",
                        (AlphaMode::Mask, true) => "body_masked_by_rows",
                        (AlphaMode::Blend, false) => "body_blended",
                        (AlphaMode::Blend, true) => "body_blended_by_rows",
                    },
                    Pass::Shadow if cut => "cut_shadow_mask",
                    Pass::Shadow => "shadow_mask",
                },
                buffers: &buffers,
                topology: if key.edges {
                    wgpu::PrimitiveTopology::LineList
                } else {
                    wgpu::PrimitiveTopology::TriangleList
                },
                cull_mode: (!key.both_sides).then_some(wgpu::Face::Back),
                front_face: if key.mirrored { wgpu::FrontFace::Cw } else { wgpu::FrontFace::Ccw },
                target: match pass {
                    Pass::Body => PICTURE_FORMAT,
                    Pass::Shadow => MASK_FORMAT,
                },
                // What is blended covers nothing that is drawn after it.
                samples: self.samples,
                depth: (pass == Pass::Body).then_some((
                    wgpu::CompareFunction::Greater,
                    key.alpha_mode != AlphaMode::Blend,
                )),
                blends: key.alpha_mode == AlphaMode::Blend,
            },
        );
        self.characters.insert(key, made);
    }

    /// The pipeline that draws `mesh` in `batch`, if it was prepared.
    pub fn get(
        &self,
        pass: Pass,
        mesh: &LoadedMesh,
        batch: &Batch,
    ) -> Option<&wgpu::RenderPipeline> {
        self.characters.get(&Key::new(pass, mesh, batch))
    }
}

struct PipelineParts<'a> {
    layout: &'a wgpu::PipelineLayout,
    module: &'a wgpu::ShaderModule,
    vertex: &'a str,
    fragment: &'a str,
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    topology: wgpu::PrimitiveTopology,
    cull_mode: Option<wgpu::Face>,
    front_face: wgpu::FrontFace,
    target: wgpu::TextureFormat,
    samples: u32,
    depth: Option<(wgpu::CompareFunction, bool)>,
    /// Colours are mixed with the colours behind them by alpha.
    blends: bool,
}

/// A sampler that is linear within mip levels and between them.
fn sampler(gpu: &Gpu, u: Wrap, v: Wrap) -> wgpu::Sampler {
    let mode = |wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::ClampToEdge => wgpu::AddressMode::ClampToEdge,
        Wrap::MirroredRepeat => wgpu::AddressMode::MirrorRepeat,
    };
    gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: mode(u),
        address_mode_v: mode(v),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    })
}

fn pipeline(gpu: &Gpu, parts: &PipelineParts) -> wgpu::RenderPipeline {
    gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(parts.vertex),
        layout: Some(parts.layout),
        vertex: wgpu::VertexState {
            module: parts.module,
            entry_point: Some(parts.vertex),
            compilation_options: Default::default(),
            buffers: parts.buffers,
        },
        primitive: wgpu::PrimitiveState {
            topology: parts.topology,
            cull_mode: parts.cull_mode,
            front_face: parts.front_face,
            ..Default::default()
        },
        depth_stencil: parts.depth.map(|(compare, write)| wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(write),
            depth_compare: Some(compare),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState { count: parts.samples, ..Default::default() },
        fragment: Some(wgpu::FragmentState {
            module: parts.module,
            entry_point: Some(parts.fragment),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::ColorTargetState {
                blend: parts.blends.then_some(wgpu::BlendState::ALPHA_BLENDING),
                ..parts.target.into()
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::naga;

    fn validate(source: &str) -> naga::Module {
        let module = match naga::front::wgsl::parse_str(source) {
            Ok(module) => module,
            Err(e) => panic!("{}", e.emit_to_string(source)),
        };
        // Only capabilities that every device has.
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::empty(),
        );
        if let Err(e) = validator.validate(&module) {
            panic!("{}", e.emit_to_string(source));
        }
        module
    }

    #[test]
    fn shaders_are_valid_and_their_structures_have_our_sizes() {
        for backend in PaletteBackend::ALL {
            agrees(&validate(&character_source(backend, 341)));
        }
    }

    #[test]
    fn the_shader_of_screens_is_valid() {
        let show = validate(SHOW);
        let names: Vec<_> = show.entry_points.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(names, ["show_corner", "show_linear", "show_encoded"]);
    }

    fn agrees(characters: &naga::Module) {
        let background = validate(&background_source());
        let entries: Vec<_> = (characters.entry_points.iter())
            .chain(&background.entry_points)
            .map(|e| e.name.as_str())
            .collect();
        for name in [
            "body_rigid",
            "body_skin4",
            "body_color_by_rows",
            "body_masked",
            "body_masked_by_rows",
            "body_blended",
            "body_blended_by_rows",
            "edge_color",
            "shadow_skin8",
            "cut_shadow_rigid",
            "cut_shadow_skin4",
            "cut_shadow_skin8",
            "cut_shadow_mask",
            "ground_color",
            "sky_fragment",
        ] {
            assert!(entries.contains(&name), "{name} is not among {entries:?}");
        }
        let size = |name: &str| {
            let found = characters.types.iter().find(|(_, t)| t.name.as_deref() == Some(name));
            match found.map(|(_, t)| &t.inner) {
                Some(naga::TypeInner::Struct { span, .. }) => *span as usize,
                other => panic!("{name}: {other:?}"),
            }
        };
        assert_eq!(size("View"), size_of::<super::super::super::view::ViewUniform>());
        assert_eq!(size("Mesh"), size_of::<super::super::models::MeshUniform>());
    }
}
