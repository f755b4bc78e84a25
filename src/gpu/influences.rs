//! Influence streams: joints and weights of vertices, in the narrowest format without loss.

use crate::mesh::{Influences, Primitive};

/// The format of an influence stream: per vertex 4 or 8 joints, then as many weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InfluenceFormat {
    /// Eight influences per vertex instead of four.
    pub eight: bool,
    /// The format of four joint indices: `Uint8x4` or `Uint16x4`.
    pub joints: wgpu::VertexFormat,
    /// The format of four weights: `Unorm8x4`, `Unorm16x4` or `Float32x4`.
    pub weights: wgpu::VertexFormat,
}

impl InfluenceFormat {
    /// The narrowest format that holds influences, 4 or 8 per vertex, without loss. It is never wider than the file's.
    fn of(influences: &Influences) -> Self {
        let fractions = |of: f32| {
            let mut weights = influences.weights.iter();
            weights.all(|&w| (0.0..=1.0).contains(&w) && (w * of).round() / of == w)
        };
        Self {
            eight: influences.per_vertex > 4,
            joints: match influences.joints.iter().all(|&j| j <= u16::from(u8::MAX)) {
                true => wgpu::VertexFormat::Uint8x4,
                false => wgpu::VertexFormat::Uint16x4,
            },
            weights: match (fractions(255.0), fractions(65_535.0)) {
                (true, _) => wgpu::VertexFormat::Unorm8x4,
                (false, true) => wgpu::VertexFormat::Unorm16x4,
                (false, false) => wgpu::VertexFormat::Float32x4,
            },
        }
    }

    /// Number of vectors of four influences per vertex: 1 or 2.
    pub(super) fn fours(self) -> u64 {
        1 + u64::from(self.eight)
    }

    /// Bytes of a vertex.
    fn stride(self) -> u64 {
        self.fours() * (self.joints.size() + self.weights.size())
    }

    /// The stream's attributes: joints at location 4, weights at 5; the second four of each at 6 and 7. With four
    /// influences per vertex, the last two attributes repeat the first two and are unused.
    pub fn attributes(self) -> [wgpu::VertexAttribute; 4] {
        let attribute = |format, offset, shader_location| wgpu::VertexAttribute {
            format,
            offset,
            shader_location,
        };
        let (joint, weight) = (self.joints.size(), self.weights.size());
        let first = joint * self.fours();
        let second = self.fours() - 1;
        [
            attribute(self.joints, 0, 4),
            attribute(self.weights, first, 5),
            attribute(self.joints, joint * second, 6),
            attribute(self.weights, first + weight * second, 7),
        ]
    }

    /// The layout of a vertex buffer with this format.
    pub fn layout(self, attributes: &[wgpu::VertexAttribute; 4]) -> wgpu::VertexBufferLayout<'_> {
        wgpu::VertexBufferLayout {
            array_stride: self.stride(),
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: if self.eight { attributes } else { &attributes[..2] },
        }
    }

    /// Encodes a stream. The influences must be 4 or 8 per vertex, as in the format.
    fn encode(self, influences: &Influences) -> Vec<u8> {
        let each = influences.per_vertex.max(1);
        let mut bytes = Vec::with_capacity(influences.vertex_count() * self.stride() as usize);
        let vertices = influences.joints.chunks(each).zip(influences.weights.chunks(each));
        for (joints, weights) in vertices {
            for &joint in joints {
                match self.joints {
                    wgpu::VertexFormat::Uint8x4 => bytes.push(joint.min(255) as u8),
                    _ => bytes.extend(joint.to_le_bytes()),
                }
            }
            for &weight in weights {
                match self.weights {
                    wgpu::VertexFormat::Unorm8x4 => bytes.push((weight * 255.0).round() as u8),
                    wgpu::VertexFormat::Unorm16x4 => {
                        bytes.extend(((weight * 65_535.0).round() as u16).to_le_bytes());
                    }
                    _ => bytes.extend(weight.to_le_bytes()),
                }
            }
        }
        bytes
    }
}

/// The stream of a primitive, reduced to the four or eight largest influences of each vertex, and the largest weight
/// that the reduction dropped. `None` if the primitive has no influences.
pub(super) fn stream(primitive: &Primitive) -> Option<(InfluenceFormat, Vec<u8>, f32)> {
    let influences = &primitive.influences;
    if influences.is_empty() {
        return None;
    }
    let (kept, dropped) = match influences.per_vertex {
        4 | 8 => (influences.clone(), 0.0),
        n => influences.largest(if n < 4 { 4 } else { 8 }),
    };
    let format = InfluenceFormat::of(&kept);
    Some((format, format.encode(&kept), dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn influences(per_vertex: usize, joint: u16, weights: &[f32]) -> Influences {
        Influences {
            per_vertex,
            joints: (0..weights.len() as u16).map(|j| j + joint).collect(),
            weights: weights.to_vec(),
        }
    }

    #[test]
    fn streams_are_as_narrow_as_their_values_allow() {
        let bytes = influences(4, 0, &[1.0, 51.0 / 255.0, 0.0, 254.0 / 255.0]);
        let f = InfluenceFormat::of(&bytes);
        assert_eq!(
            (f.joints, f.weights),
            (wgpu::VertexFormat::Uint8x4, wgpu::VertexFormat::Unorm8x4)
        );
        assert_eq!(f.encode(&bytes), [0, 1, 2, 3, 255, 51, 0, 254]);
        let shorts = influences(4, 254, &[1.0, 1.0 / 65_535.0, 0.0, 300.0 / 65_535.0]);
        let f = InfluenceFormat::of(&shorts);
        assert_eq!(
            (f.joints, f.weights),
            (wgpu::VertexFormat::Uint16x4, wgpu::VertexFormat::Unorm16x4)
        );
        let expected = [254, 0, 255, 0, 0, 1, 1, 1, 255, 255, 1, 0, 0, 0, 44, 1];
        assert_eq!(f.encode(&shorts), expected);
        let floats = influences(8, 7, &[0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 1.5]);
        let f = InfluenceFormat::of(&floats);
        assert_eq!((f.weights, f.stride()), (wgpu::VertexFormat::Float32x4, 40));
        let encoded = f.encode(&floats);
        assert_eq!((encoded.len(), &encoded[..3]), (40, &[7, 8, 9][..]));
        assert_eq!(encoded[36..], 1.5f32.to_le_bytes());
        let offsets = f.attributes().map(|a| (a.shader_location, a.offset));
        assert_eq!(offsets, [(4, 0), (5, 8), (6, 4), (7, 24)]);
    }
}
