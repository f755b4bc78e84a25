//! Buffers, textures and bind groups of one scene.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};

use super::super::plan::Plan;
use super::super::scene::mirrors;
use super::super::texture::mip_chain;
use super::super::{DrawMesh, Placement, Scene};
use super::batches::{Batch, Batches};
use super::pipelines::Pipelines;
use crate::gpu::{Gpu, GpuError, GpuMesh, PaletteBackend};
use crate::math::Affine3x4;
use crate::mesh::Image;

/// `Mesh` of `shaders/character.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MeshUniform {
    place: [[f32; 4]; 3],
    base_color: [f32; 4],
    first_slot: u32,
    first_weight: u32,
    targets: u32,
    vertices: u32,
    tint: f32,
    textured: f32,
    flat_shading: u32,
    padding: u32,
}

/// One mesh of the scene on the device.
#[derive(Debug)]
pub(super) struct SceneMesh {
    pub mesh: GpuMesh,
    pub bind_group: wgpu::BindGroup,
    pub double_sided: bool,
    pub place_mirrors: bool,
}

/// The meshes of the models and details that a picture draws.
#[derive(Debug)]
pub(super) struct SceneMeshes {
    meshes: HashMap<(usize, usize), Vec<SceneMesh>>,
}

impl SceneMeshes {
    /// Uploads the meshes that batches draw, and no others.
    pub fn upload(
        gpu: &Gpu,
        pipelines: &Pipelines,
        scene: &Scene,
        batches: &Batches,
    ) -> Result<Self, GpuError> {
        let mut meshes: HashMap<(usize, usize), Vec<SceneMesh>> = HashMap::new();
        let mut textures = Textures::new(gpu)?;
        for (_, batch) in batches.all() {
            let key = (batch.model, batch.detail);
            if meshes.contains_key(&key) {
                continue;
            }
            let detail = scene
                .models
                .get(batch.model)
                .and_then(|m| m.details.get(batch.detail));
            let uploaded: Result<Vec<_>, _> = detail
                .map_or(&[][..], |d| d.meshes)
                .iter()
                .map(|m| mesh(gpu, pipelines, scene, m, &mut textures))
                .collect();
            meshes.insert(key, uploaded?);
        }
        Ok(Self { meshes })
    }

    /// The meshes that a batch draws.
    pub fn of(&self, batch: &Batch) -> &[SceneMesh] {
        self.meshes
            .get(&(batch.model, batch.detail))
            .map_or(&[], Vec::as_slice)
    }
}

fn mesh(
    gpu: &Gpu,
    pipelines: &Pipelines,
    scene: &Scene,
    draw: &DrawMesh,
    textures: &mut Textures,
) -> Result<SceneMesh, GpuError> {
    let (place, first_slot, skinned) = match draw.placement {
        Placement::Rigid(place) => (place, 0, false),
        Placement::Skinned { first_slot } => (Affine3x4::IDENTITY, first_slot, true),
    };
    let mesh = GpuMesh::upload(gpu, PaletteBackend::Storage, draw.primitive, skinned)?;
    let uniform = MeshUniform {
        place: place.rows,
        base_color: draw.material.base_color,
        first_slot,
        first_weight: draw.first_weight,
        targets: if scene.morph_weights.is_empty() {
            0
        } else {
            mesh.targets
        },
        vertices: mesh.vertices,
        tint: draw.tint,
        textured: if draw.image.is_some() { 1.0 } else { 0.0 },
        flat_shading: u32::from(draw.primitive.normals.is_empty()),
        padding: 0,
    };
    let uniform = gpu.buffer(
        "mesh uniform",
        bytemuck::bytes_of(&uniform),
        wgpu::BufferUsages::UNIFORM,
    )?;
    let texture = textures.view(gpu, draw.image)?;
    let bind_group = bind(
        gpu,
        &pipelines.mesh_layout,
        &[
            uniform.as_entire_binding(),
            wgpu::BindingResource::TextureView(&texture),
            wgpu::BindingResource::Sampler(&pipelines.sampler),
            mesh.deltas.binding(),
        ],
    );
    Ok(SceneMesh {
        mesh,
        bind_group,
        double_sided: draw.material.double_sided,
        place_mirrors: mirrors(&place),
    })
}

/// Base colour textures by image; images shared by meshes are uploaded once.
struct Textures {
    white: wgpu::TextureView,
    by_address: HashMap<usize, wgpu::TextureView>,
}

impl Textures {
    fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let white = Image {
            width: 1,
            height: 1,
            rgba: vec![255; 4],
        };
        Ok(Self {
            white: texture(gpu, &white),
            by_address: HashMap::new(),
        })
    }

    fn view(&mut self, gpu: &Gpu, image: Option<&Image>) -> Result<wgpu::TextureView, GpuError> {
        let Some(image) = image else {
            return Ok(self.white.clone());
        };
        // Only a key: the scene borrows the images for as long as this lives.
        let key = std::ptr::from_ref(image).addr();
        let view = self
            .by_address
            .entry(key)
            .or_insert_with(|| texture(gpu, image));
        Ok(view.clone())
    }
}

fn texture(gpu: &Gpu, image: &Image) -> wgpu::TextureView {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let chain = mip_chain(image);
    // An image too large for the device loses its finest levels.
    let fits = |i: &Image| i.width.max(i.height) <= limit;
    let first = chain.iter().position(fits).unwrap_or(0);
    let levels = chain.get(first..).unwrap_or(&[]);
    let extent = |i: &Image| wgpu::Extent3d {
        width: i.width,
        height: i.height,
        depth_or_array_layers: 1,
    };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("base colour"),
        size: levels.first().map_or_else(Default::default, extent),
        mip_level_count: u32::try_from(levels.len()).unwrap_or(1).max(1),
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (level, image) in (0u32..).zip(levels) {
        gpu.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level: level,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            },
            &image.rgba,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(image.width * 4),
                rows_per_image: None,
            },
            extent(image),
        );
    }
    texture.create_view(&Default::default())
}

/// A bind group of resources at bindings 0, 1, 2, …
fn bind(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0u32..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding,
            resource: resource.clone(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

/// The bind groups that all meshes share.
#[derive(Debug)]
pub(super) struct Bindings {
    pub view: wgpu::BindGroup,
    pub mask: wgpu::BindGroup,
    /// Palette rows and morph weights, one group per page.
    pub pages: Vec<wgpu::BindGroup>,
}

impl Bindings {
    pub fn new(
        gpu: &Gpu,
        pipelines: &Pipelines,
        scene: &Scene,
        plan: &Plan,
        batches: &Batches,
        mask: &wgpu::TextureView,
    ) -> Result<Self, GpuError> {
        let view = gpu.buffer(
            "view uniform",
            bytemuck::bytes_of(&plan.eye.uniform()),
            wgpu::BufferUsages::UNIFORM,
        )?;
        let weight_bytes = size_of_val(scene.morph_weights) as u64;
        let limit = gpu.device.limits().max_storage_buffer_binding_size;
        if weight_bytes > limit {
            return Err(GpuError::Limit {
                what: "the morph weights of all instances, in bytes,",
                needed: weight_bytes,
                limit,
            });
        }
        let weights = gpu.buffer(
            "morph weights",
            bytemuck::cast_slice(scene.morph_weights),
            wgpu::BufferUsages::STORAGE,
        )?;
        let pages = batches.pages.upload(gpu, scene.palette)?;
        let pages = pages.iter().map(|page| {
            let both = [page.as_entire_binding(), weights.as_entire_binding()];
            bind(gpu, &pipelines.rows_layout, &both)
        });
        Ok(Self {
            pages: pages.collect(),
            view: bind(gpu, &pipelines.view_layout, &[view.as_entire_binding()]),
            mask: bind(
                gpu,
                &pipelines.mask_layout,
                &[wgpu::BindingResource::TextureView(mask)],
            ),
        })
    }
}
