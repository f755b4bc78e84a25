//! Vertex streams, indices and morph displacements of one primitive on the device.

use bytemuck::{Pod, Zeroable};

use super::influences;
use super::{Gpu, GpuError, PaletteBackend, Table};
use crate::mesh::Primitive;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct SurfaceVertex {
    position: [f32; 3],
    normal: [f32; 3],
    uv: [f32; 2],
    color: [f32; 4],
}

/// The layout of the surface stream: position in mesh space, unit normal (zero if the primitive has none), texture
/// coordinates and linear vertex colour (white if it has none), at locations 0 to 3.
pub const SURFACE_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<SurfaceVertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![
        0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Float32x4
    ],
};

/// A primitive's buffers.
#[derive(Debug)]
pub struct GpuMesh {
    /// Surface vertices.
    pub surface: wgpu::Buffer,
    /// Influences; `None` if the mesh is rigid.
    pub influences: Option<wgpu::Buffer>,
    /// The layout of the influences; `None` if the mesh is rigid. Joints are at location 4, weights at 5; of eight
    /// influences per vertex, which have four attributes, the second four are at 6 and 7.
    pub influence_layout: Option<wgpu::VertexBufferLayout<'static>>,
    /// Triangle indices, 32 bits.
    pub indices: wgpu::Buffer,
    /// Number of indices.
    pub index_count: u32,
    /// Morph displacements, all vertices of a target together; one zero entry if there are none.
    pub deltas: Table,
    /// Number of morph targets.
    pub targets: u32,
    /// Number of vertices.
    pub vertices: u32,
    /// The largest weight that the reduction to eight influences dropped.
    pub dropped_weight: f32,
}

impl GpuMesh {
    /// Uploads a primitive. Its streams must be as long as `positions`, and its indices below that length.
    ///
    /// `skinned: false` ignores the influences. More than eight influences per vertex are reduced to the eight largest.
    /// Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If a buffer is above the device's limit.
    pub fn upload(
        gpu: &Gpu,
        backend: PaletteBackend,
        primitive: &Primitive,
        skinned: bool,
    ) -> Result<Self, GpuError> {
        let vertices = primitive.positions.len();
        let narrow = |what: &'static str, n: usize| {
            u32::try_from(n).map_err(|_| GpuError::Limit {
                what,
                needed: n as u64,
                limit: u32::MAX.into(),
            })
        };
        let surface: Vec<SurfaceVertex> = primitive
            .positions
            .iter()
            .enumerate()
            .map(|(v, &position)| SurfaceVertex {
                position,
                normal: primitive.normals.get(v).copied().unwrap_or([0.0; 3]),
                uv: primitive.uvs.get(v).copied().unwrap_or([0.0; 2]),
                color: primitive.colors.get(v).copied().unwrap_or([1.0; 4]),
            })
            .collect();
        let stream = Some(primitive).filter(|_| skinned).and_then(influences::stream);
        let vertex = wgpu::BufferUsages::VERTEX;
        let (influence_layout, influences, dropped_weight) = match stream {
            Some((layout, bytes, dropped)) => {
                (Some(layout), Some(gpu.buffer("influences", &bytes, vertex)?), dropped)
            }
            None => (None, None, 0.0),
        };
        Ok(Self {
            surface: gpu.buffer("vertices", bytemuck::cast_slice(&surface), vertex)?,
            influences,
            influence_layout,
            indices: gpu.buffer(
                "indices",
                bytemuck::cast_slice(&primitive.indices),
                wgpu::BufferUsages::INDEX,
            )?,
            index_count: narrow("the number of indices of one mesh", primitive.indices.len())?,
            deltas: displacements(gpu, backend, primitive)?,
            targets: narrow("the number of morph targets", primitive.targets.len())?,
            vertices: narrow("the number of vertices of one mesh", vertices)?,
            dropped_weight,
        })
    }
}

/// The morph displacements of a primitive as a table; one zero entry if there are none.
pub(super) fn displacements(
    gpu: &Gpu,
    backend: PaletteBackend,
    primitive: &Primitive,
) -> Result<Table, GpuError> {
    let what = "the morph displacements of one mesh, in bytes,";
    Table::vectors(gpu, backend, what, &deltas(primitive))
}

/// Displacements of position, normal and tangent, each padded to four floats, of every vertex of every target.
fn deltas(primitive: &Primitive) -> Vec<[f32; 4]> {
    let pad = |v: Option<&[f32; 3]>| v.map_or([0.0; 4], |&[x, y, z]| [x, y, z, 0.0]);
    let deltas = primitive.targets.iter().flat_map(|target| {
        (0..primitive.positions.len()).flat_map(move |v| {
            [target.positions.get(v), target.normals.get(v), target.tangents.get(v)].map(pad)
        })
    });
    deltas.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::MorphTarget;

    #[test]
    fn displacements_are_target_major_and_padded() {
        let primitive = Primitive {
            positions: vec![[0.0; 3]; 2],
            targets: vec![
                MorphTarget { positions: vec![[1.0, 2.0, 3.0]; 2], ..Default::default() },
                MorphTarget { normals: vec![[0.0, 1.0, 0.0]; 2], ..Default::default() },
            ],
            ..Default::default()
        };
        let deltas = deltas(&primitive);
        assert_eq!(deltas.len(), 4 * 3);
        assert_eq!(deltas[3..5], [[1.0, 2.0, 3.0, 0.0], [0.0; 4]]);
        assert_eq!(deltas[9..11], [[0.0; 4], [0.0, 1.0, 0.0, 0.0]]);
    }
}
