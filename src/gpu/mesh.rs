//! Vertex streams, indices and morph displacements of one primitive on the device.

use bytemuck::{Pod, Zeroable};

use super::{Gpu, GpuError};
use crate::mesh::Primitive;

/// One vertex of the first stream: what the surface looks like in the rest pose.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SurfaceVertex {
    /// Position in mesh space.
    pub position: [f32; 3],
    /// Unit normal; zero if the primitive has none.
    pub normal: [f32; 3],
    /// Texture coordinates.
    pub uv: [f32; 2],
    /// Linear vertex colour; white if the primitive has none.
    pub color: [f32; 4],
}

/// The first stream's layout: locations 0 to 3.
pub const SURFACE_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<SurfaceVertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![
        0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Float32x4
    ],
};

/// One vertex of the second stream with four influences: locations 4 and 5.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Influence4 {
    /// Slots of the skin.
    pub joints: [u16; 4],
    /// Weights.
    pub weights: [f32; 4],
}

impl Influence4 {
    /// The stream's layout.
    pub const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![4 => Uint16x4, 5 => Float32x4],
    };
}

/// One vertex of the second stream with eight influences: locations 4 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Influence8 {
    /// Slots of the skin.
    pub joints: [[u16; 4]; 2],
    /// Weights.
    pub weights: [[f32; 4]; 2],
}

impl Influence8 {
    /// The stream's layout.
    pub const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![
            4 => Uint16x4, 6 => Uint16x4, 5 => Float32x4, 7 => Float32x4
        ],
    };
}

/// How many influences the vertex shader blends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InfluenceCount {
    /// None: the mesh moves as a whole.
    Rigid,
    /// The four largest.
    Four,
    /// The eight largest.
    Eight,
}

/// A morph target's displacement of one vertex, as two rows of four on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Deltas {
    /// Added to the position, times the weight.
    pub position: [f32; 4],
    /// Added to the normal, times the weight.
    pub normal: [f32; 4],
}

/// A primitive's buffers.
#[derive(Debug)]
pub struct GpuMesh {
    /// Surface vertices.
    pub surface: wgpu::Buffer,
    /// Influences, unless the mesh is rigid.
    pub influences: Option<wgpu::Buffer>,
    /// Which influence stream there is.
    pub count: InfluenceCount,
    /// Triangle indices, 32 bits.
    pub indices: wgpu::Buffer,
    /// Number of indices.
    pub index_count: u32,
    /// Morph displacements, target-major; one zero entry if there are none.
    pub deltas: wgpu::Buffer,
    /// Number of morph targets.
    pub targets: u32,
    /// Number of vertices.
    pub vertices: u32,
    /// The largest weight that the reduction to eight influences dropped.
    pub dropped_weight: f32,
}

impl GpuMesh {
    /// Uploads a primitive. Its streams must be as long as `positions`, indices below that.
    ///
    /// `skinned: false` ignores the influences. More than eight are reduced to the eight largest.
    /// Errors: a buffer above the device's limit. Call inside [`Gpu::checked`].
    pub fn upload(gpu: &Gpu, primitive: &Primitive, skinned: bool) -> Result<Self, GpuError> {
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
        let (count, bytes, dropped_weight) = influences(primitive, skinned);
        let vertex = wgpu::BufferUsages::VERTEX;
        let deltas = deltas(primitive);
        let binding = gpu.device.limits().max_storage_buffer_binding_size;
        let delta_bytes = size_of_val(deltas.as_slice()) as u64;
        if delta_bytes > binding {
            return Err(GpuError::Limit {
                what: "the morph displacements of one mesh, in bytes,",
                needed: delta_bytes,
                limit: binding,
            });
        }
        Ok(Self {
            surface: gpu.buffer("vertices", bytemuck::cast_slice(&surface), vertex)?,
            influences: match count {
                InfluenceCount::Rigid => None,
                _ => Some(gpu.buffer("influences", &bytes, vertex)?),
            },
            count,
            indices: gpu.buffer(
                "indices",
                bytemuck::cast_slice(&primitive.indices),
                wgpu::BufferUsages::INDEX,
            )?,
            index_count: narrow("the number of indices of one mesh", primitive.indices.len())?,
            deltas: gpu.buffer(
                "morph displacements",
                bytemuck::cast_slice(&deltas),
                wgpu::BufferUsages::STORAGE,
            )?,
            targets: narrow("the number of morph targets", primitive.targets.len())?,
            vertices: narrow("the number of vertices of one mesh", vertices)?,
            dropped_weight,
        })
    }
}

fn influences(primitive: &Primitive, skinned: bool) -> (InfluenceCount, Vec<u8>, f32) {
    if !skinned || primitive.influences.is_empty() {
        return (InfluenceCount::Rigid, Vec::new(), 0.0);
    }
    let four = primitive.influences.per_vertex <= 4;
    let (kept, dropped) = primitive.influences.largest(if four { 4 } else { 8 });
    let (joints, _) = kept.joints.as_chunks::<4>();
    let (weights, _) = kept.weights.as_chunks::<4>();
    let mut bytes = Vec::new();
    if four {
        for (&joints, &weights) in joints.iter().zip(weights) {
            bytes.extend_from_slice(bytemuck::bytes_of(&Influence4 { joints, weights }));
        }
        (InfluenceCount::Four, bytes, dropped)
    } else {
        let (joints, _) = joints.as_chunks::<2>();
        let (weights, _) = weights.as_chunks::<2>();
        for (&joints, &weights) in joints.iter().zip(weights) {
            bytes.extend_from_slice(bytemuck::bytes_of(&Influence8 { joints, weights }));
        }
        (InfluenceCount::Eight, bytes, dropped)
    }
}

fn deltas(primitive: &Primitive) -> Vec<Deltas> {
    let pad = |v: Option<&[f32; 3]>| v.map_or([0.0; 4], |&[x, y, z]| [x, y, z, 0.0]);
    primitive
        .targets
        .iter()
        .flat_map(|target| {
            (0..primitive.positions.len()).map(move |v| Deltas {
                position: pad(target.positions.get(v)),
                normal: pad(target.normals.get(v)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Influences, MorphTarget};

    #[test]
    fn influence_streams_have_the_bytes_their_layouts_say() {
        assert_eq!(size_of::<Influence4>(), 24);
        assert_eq!(size_of::<Influence8>(), 48);
        let primitive = Primitive {
            positions: vec![[0.0; 3]; 2],
            influences: Influences {
                per_vertex: 8,
                joints: (0..16).collect(),
                weights: (0..16).map(|i| (16 - i) as f32 / 100.0).collect(),
            },
            ..Default::default()
        };
        let (count, bytes, dropped) = influences(&primitive, true);
        assert_eq!(
            (count, bytes.len(), dropped),
            (InfluenceCount::Eight, 96, 0.0)
        );
        assert_eq!(&bytes[..4], &[0, 0, 1, 0]);
        assert_eq!(&bytes[48..52], &[8, 0, 9, 0]);
        assert_eq!(influences(&primitive, false).0, InfluenceCount::Rigid);
    }

    #[test]
    fn displacements_are_target_major_and_padded() {
        let primitive = Primitive {
            positions: vec![[0.0; 3]; 2],
            targets: vec![
                MorphTarget {
                    positions: vec![[1.0, 2.0, 3.0]; 2],
                    ..Default::default()
                },
                MorphTarget {
                    normals: vec![[0.0, 1.0, 0.0]; 2],
                    ..Default::default()
                },
            ],
            ..Default::default()
        };
        let deltas = deltas(&primitive);
        assert_eq!(deltas.len(), 4);
        assert_eq!(deltas[1].position, [1.0, 2.0, 3.0, 0.0]);
        assert_eq!(deltas[2].position, [0.0; 4]);
        assert_eq!(deltas[3].normal, [0.0, 1.0, 0.0, 0.0]);
    }
}
