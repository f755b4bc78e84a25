//! Influence streams: joints and weights of vertices, in the narrowest format without loss.

use crate::mesh::{Influences, Primitive};
use wgpu::{VertexAttribute, VertexBufferLayout, VertexFormat};

macro_rules! attributes {
    ($($joints:ident: $($weights:ident),+;)+) => {
        [$([$([
            &wgpu::vertex_attr_array![4 => $joints, 5 => $weights],
            &wgpu::vertex_attr_array![4 => $joints, 6 => $joints, 5 => $weights, 7 => $weights],
        ]),+]),+]
    };
}

/// The attributes of all streams, by format of the joints, format of the weights, and number of influences per vertex,
/// 4 or 8. A vertex has its joints, then its weights, each in fours.
const ATTRIBUTES: [[[&[VertexAttribute]; 2]; 3]; 2] = attributes! {
    Uint8x4: Unorm8x4, Unorm16x4, Float32x4;
    Uint16x4: Unorm8x4, Unorm16x4, Float32x4;
};

/// The narrowest layout that holds influences, 4 or 8 per vertex, without loss. It is never wider than the file's.
fn layout(influences: &Influences) -> VertexBufferLayout<'static> {
    let fractions = |of: f32| {
        let mut weights = influences.weights.iter();
        weights.all(|&w| (0.0..=1.0).contains(&w) && (w * of).round() / of == w)
    };
    let joints = influences.joints.iter().any(|&j| j > u8::MAX.into());
    let weights = match (fractions(255.0), fractions(65_535.0)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    let attributes = ATTRIBUTES[usize::from(joints)][weights];
    let attributes = attributes[usize::from(influences.per_vertex > 4)];
    VertexBufferLayout {
        array_stride: attributes.iter().map(|a| a.format.size()).sum(),
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    }
}

/// The formats of four joints and of four weights in a stream.
pub(super) fn formats(layout: &VertexBufferLayout<'_>) -> [VertexFormat; 2] {
    let attributes = layout.attributes;
    [attributes[0].format, attributes[attributes.len() - 1].format]
}

/// Encodes influences, 4 or 8 per vertex, as in the layout.
fn encode(influences: &Influences, layout: &VertexBufferLayout<'_>) -> Vec<u8> {
    let [joint_format, weight_format] = formats(layout);
    let each = influences.per_vertex.max(1);
    let mut bytes = Vec::with_capacity(influences.vertex_count() * layout.array_stride as usize);
    let vertices = influences.joints.chunks(each).zip(influences.weights.chunks(each));
    for (joints, weights) in vertices {
        for &joint in joints {
            match joint_format {
                VertexFormat::Uint8x4 => bytes.push(joint.min(255) as u8),
                _ => bytes.extend(joint.to_le_bytes()),
            }
        }
        for &weight in weights {
            match weight_format {
                VertexFormat::Unorm8x4 => bytes.push((weight * 255.0).round() as u8),
                VertexFormat::Unorm16x4 => {
                    bytes.extend(((weight * 65_535.0).round() as u16).to_le_bytes());
                }
                _ => bytes.extend(weight.to_le_bytes()),
            }
        }
    }
    bytes
}

/// The stream of a primitive with its layout, reduced to the four or eight largest influences of each vertex, and the
/// largest weight that the reduction dropped. `None` if the primitive has no influences.
pub(super) fn stream(primitive: &Primitive) -> Option<(VertexBufferLayout<'static>, Vec<u8>, f32)> {
    let influences = &primitive.influences;
    if influences.is_empty() {
        return None;
    }
    let (kept, dropped) = match influences.per_vertex {
        4 | 8 => (influences.clone(), 0.0),
        n => influences.largest(if n < 4 { 4 } else { 8 }),
    };
    let layout = layout(&kept);
    let bytes = encode(&kept, &layout);
    Some((layout, bytes, dropped))
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
        let l = layout(&bytes);
        assert_eq!(formats(&l), [VertexFormat::Uint8x4, VertexFormat::Unorm8x4]);
        assert_eq!(encode(&bytes, &l), [0, 1, 2, 3, 255, 51, 0, 254]);
        let shorts = influences(4, 254, &[1.0, 1.0 / 65_535.0, 0.0, 300.0 / 65_535.0]);
        let l = layout(&shorts);
        assert_eq!(formats(&l), [VertexFormat::Uint16x4, VertexFormat::Unorm16x4]);
        let expected = [254, 0, 255, 0, 0, 1, 1, 1, 255, 255, 1, 0, 0, 0, 44, 1];
        assert_eq!(encode(&shorts, &l), expected);
        let floats = influences(8, 7, &[0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 1.5]);
        let l = layout(&floats);
        assert_eq!((formats(&l)[1], l.array_stride), (VertexFormat::Float32x4, 40));
        let encoded = encode(&floats, &l);
        assert_eq!((encoded.len(), &encoded[..3]), (40, &[7, 8, 9][..]));
        assert_eq!(encoded[36..], 1.5f32.to_le_bytes());
        let offsets: Vec<_> = l.attributes.iter().map(|a| (a.shader_location, a.offset)).collect();
        assert_eq!(offsets, [(4, 0), (6, 4), (5, 8), (7, 24)]);
    }
}
