//! `GpuModels`: meshes and textures on the device, for any number of pictures.
//!
//! A mesh holds its triangles' edges where it is loaded for a wireframe: a list of lines works on every device,
//! drawing triangles as lines does not.

use std::borrow::Cow;
use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};

use super::super::draw_list::Needs;
use super::super::texture::mip_chain;
use super::super::{DrawMesh, DrawModel, Placement, RenderError, Winding};
use super::batches::Batch;
use super::pipelines::Pipelines;
use phalanx::gpu::{Gpu, GpuError, GpuMesh};
use phalanx::math::Affine3x4;
use phalanx::mesh::{AlphaMode, Image, Primitive};

/// The parts of a mesh that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Surfaces,
    Wireframe,
}

/// `Mesh` of `shaders/character.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MeshUniform {
    place: [[f32; 4]; 3],
    base_color: [f32; 4],
    /// Rows of the transform of texture coordinates.
    uv: [[f32; 4]; 2],
    first_slot: u32,
    first_weight: u32,
    targets: u32,
    vertices: u32,
    tint: f32,
    textured: f32,
    flat_shading: u32,
    double_sided: u32,
    alpha_cutoff: f32,
    unlit: u32,
    padding: [u32; 2],
}

/// One mesh on the device.
#[derive(Debug)]
pub(super) struct LoadedMesh {
    pub mesh: GpuMesh,
    pub bind_group: wgpu::BindGroup,
    pub double_sided: bool,
    /// Opaque if edges are drawn.
    pub alpha_mode: AlphaMode,
    pub winding: Winding,
    /// Drawn in place of surfaces.
    pub edges: Option<Edges>,
}

/// The edges of a mesh's triangles, each once, as a list of lines.
#[derive(Debug)]
pub(super) struct Edges {
    pub indices: wgpu::Buffer,
    pub index_count: u32,
}

impl Edges {
    fn upload(gpu: &Gpu, triangles: &[u32]) -> Result<Self, GpuError> {
        let lines = unique_edges(triangles);
        let indices = gpu.buffer(
            "the indices of edges, in bytes,",
            bytemuck::cast_slice(&lines),
            wgpu::BufferUsages::INDEX,
        )?;
        Ok(Self {
            indices,
            // A buffer within a device's limits has fewer.
            index_count: u32::try_from(lines.len() * 2).unwrap_or(u32::MAX),
        })
    }
}

/// The edges of triangles, each once.
fn unique_edges(triangles: &[u32]) -> Vec<[u32; 2]> {
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let (triangles, _) = triangles.as_chunks::<3>();
    let ordered = triangles.iter().flat_map(sides);
    let mut edges: Vec<[u32; 2]> = ordered.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The models of a scene on a device: all meshes of all details, with their textures.
#[derive(Debug)]
pub struct GpuModels {
    /// Meshes per model and detail.
    models: Vec<Vec<Vec<LoadedMesh>>>,
    pub(super) needs: Needs,
    /// The device that owns the models: [`Gpu::serial`].
    pub(super) device: u64,
}

impl GpuModels {
    /// Validates and uploads models.
    ///
    /// # Errors
    /// If the arrays of a mesh do not fit each other, or the device fails.
    pub(super) fn load(
        gpu: &Gpu,
        pipelines: &Pipelines,
        models: &[DrawModel],
        style: Style,
    ) -> Result<Self, RenderError> {
        let needs = Needs::of(models)?;
        pipelines.backend.check(gpu, needs.most_rows().max(1))?;
        let models = gpu.checked(|| {
            let mut textures = Textures::new(gpu)?;
            let mut load = |m: &DrawMesh| mesh(gpu, pipelines, m, &mut textures, style);
            let mut loaded = Vec::with_capacity(models.len());
            for model in models {
                let details = model.details.iter();
                let details = details.map(|d| d.meshes.iter().map(&mut load).collect());
                loaded.push(details.collect::<Result<_, _>>()?);
            }
            Ok(loaded)
        })?;
        Ok(Self { models, needs, device: gpu.serial() })
    }

    /// Number of models.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// True without models.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The meshes that a batch draws.
    pub(super) fn of(&self, batch: &Batch) -> &[LoadedMesh] {
        let details = self.models.get(batch.model);
        let meshes = details.and_then(|d| d.get(batch.detail));
        meshes.map_or(&[], Vec::as_slice)
    }
}

fn mesh(
    gpu: &Gpu,
    pipelines: &Pipelines,
    draw: &DrawMesh,
    textures: &mut Textures,
    style: Style,
) -> Result<LoadedMesh, GpuError> {
    let (place, first_slot, skinned) = match draw.placement {
        Placement::Rigid(place) => (place, 0, false),
        Placement::Skinned { first_slot, .. } => (Affine3x4::IDENTITY, first_slot, true),
    };
    let texture = draw.texture();
    let mesh = GpuMesh::upload(gpu, pipelines.backend, &with_uvs(draw), skinned)?;
    let uniform = MeshUniform {
        place: place.rows,
        base_color: draw.material.base_color,
        uv: texture.transform.rows().map(|[u, v, one]| [u, v, one, 0.0]),
        first_slot,
        first_weight: draw.first_weight,
        targets: mesh.targets,
        vertices: mesh.vertices,
        tint: draw.tint,
        textured: if draw.image.is_some() { 1.0 } else { 0.0 },
        flat_shading: u32::from(draw.primitive.normals.is_empty()),
        double_sided: u32::from(draw.material.double_sided),
        // Opaque surfaces do not read it, and blended ones do for their shadow alone.
        alpha_cutoff: draw.shadow_cutoff().unwrap_or(0.0),
        unlit: u32::from(draw.material.unlit),
        padding: [0; 2],
    };
    let uniform =
        gpu.buffer("mesh uniform", bytemuck::bytes_of(&uniform), wgpu::BufferUsages::UNIFORM)?;
    let edges = style == Style::Wireframe;
    let view = textures.view(gpu, draw.image.filter(|_| !edges))?;
    let bind_group = gpu.bind(
        &pipelines.layouts.mesh,
        &[
            uniform.as_entire_binding(),
            wgpu::BindingResource::TextureView(&view),
            wgpu::BindingResource::Sampler(pipelines.sampler(&texture.sampler)),
            mesh.deltas.binding(),
        ],
    );
    Ok(LoadedMesh {
        mesh,
        bind_group,
        double_sided: draw.material.double_sided,
        alpha_mode: match style {
            Style::Surfaces => draw.material.alpha_mode,
            Style::Wireframe => AlphaMode::Opaque,
        },
        winding: draw.winding(),
        edges: match style {
            Style::Surfaces => None,
            Style::Wireframe => Some(Edges::upload(gpu, &draw.primitive.indices)?),
        },
    })
}

/// The primitive with the texture coordinates of its image in the place of the first: a mesh on a device has one set.
fn with_uvs<'a>(draw: &DrawMesh<'a>) -> Cow<'a, Primitive> {
    if draw.texture().tex_coord == 0 {
        return Cow::Borrowed(draw.primitive);
    }
    Cow::Owned(Primitive { uvs: draw.uvs().to_vec(), ..draw.primitive.clone() })
}

/// Base colour textures by image; images shared by meshes are uploaded once.
struct Textures {
    white: wgpu::TextureView,
    by_address: HashMap<usize, wgpu::TextureView>,
}

impl Textures {
    fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let white = Image { width: 1, height: 1, rgba: vec![255; 4] };
        Ok(Self { white: texture(gpu, &white), by_address: HashMap::new() })
    }

    fn view(&mut self, gpu: &Gpu, image: Option<&Image>) -> Result<wgpu::TextureView, GpuError> {
        let Some(image) = image else {
            return Ok(self.white.clone());
        };
        // The address is a valid key: the images are borrowed for the lifetime of the map.
        let key = std::ptr::from_ref(image).addr();
        let view = self.by_address.entry(key).or_insert_with(|| texture(gpu, image));
        Ok(view.clone())
    }
}

fn texture(gpu: &Gpu, image: &Image) -> wgpu::TextureView {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let chain = mip_chain(image);
    // An image too large for the device loses its finest mip levels.
    let fits = |i: &Image| i.width.max(i.height) <= limit;
    let first = chain.iter().position(fits).unwrap_or(0);
    let levels = chain.get(first..).unwrap_or(&[]);
    let extent =
        |i: &Image| wgpu::Extent3d { width: i.width, height: i.height, depth_or_array_layers: 1 };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_edges_are_drawn_once() {
        // Two triangles with a common edge, wound alike, and the rest of a broken list.
        let edges = unique_edges(&[0, 1, 2, 2, 1, 3, 7]);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert!(unique_edges(&[]).is_empty());
    }
}
