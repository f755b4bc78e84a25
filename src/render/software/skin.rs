//! Skinning of one mesh for the rasteriser, with all its influences.

use glam::Vec3;

use super::super::{DrawMesh, Placement};
use crate::math::Affine3x4;

/// A vertex in model space; the normal of any length.
pub(super) struct SkinnedVertex {
    pub position: Vec3,
    pub normal: Vec3,
}

/// Morphs and skins the vertices of a mesh into model space.
///
/// `rows` are the instance's palette rows, `weights` the mesh's morph weights (empty: no morphing).
pub(super) fn skin_vertices(
    mesh: &DrawMesh,
    rows: &[Affine3x4],
    weights: &[f32],
) -> Vec<SkinnedVertex> {
    let p = mesh.primitive;
    let vector = |v: Option<&[f32; 3]>| v.map_or(Vec3::ZERO, |&v| Vec3::from_array(v));
    (0..p.positions.len())
        .map(|v| {
            let mut position = vector(p.positions.get(v));
            let mut normal = vector(p.normals.get(v));
            for (target, &weight) in p.targets.iter().zip(weights) {
                if weight != 0.0 {
                    position += vector(target.positions.get(v)) * weight;
                    normal += vector(target.normals.get(v)) * weight;
                }
            }
            let m = match mesh.placement {
                Placement::Rigid(place) => place,
                Placement::Skinned { first_slot } => blend(mesh, rows, first_slot as usize, v),
            };
            SkinnedVertex {
                position: m.transform_point3(position),
                normal: transform_normal(&m, normal),
            }
        })
        .collect()
}

fn blend(mesh: &DrawMesh, rows: &[Affine3x4], first_slot: usize, vertex: usize) -> Affine3x4 {
    let i = &mesh.primitive.influences;
    let range = vertex * i.per_vertex..(vertex + 1) * i.per_vertex;
    let joints = i.joints.get(range.clone()).unwrap_or(&[]);
    let weights = i.weights.get(range).unwrap_or(&[]);
    let mut sum = [[0.0f32; 4]; 3];
    for (&joint, &weight) in joints.iter().zip(weights) {
        if weight == 0.0 {
            continue;
        }
        let Some(row) = rows.get(first_slot + joint as usize) else {
            continue;
        };
        for (sum, row) in sum.iter_mut().flatten().zip(row.rows.iter().flatten()) {
            *sum += row * weight;
        }
    }
    Affine3x4 { rows: sum }
}

/// A normal through the inverse transpose, up to a positive factor: `transform_normal` of
/// `shaders/skinning.wgsl`.
pub(super) fn transform_normal(m: &Affine3x4, normal: Vec3) -> Vec3 {
    let [x, y, z] = m.rows.map(|[a, b, c, _]| Vec3::new(a, b, c));
    let (yz, zx, xy) = (y.cross(z), z.cross(x), x.cross(y));
    let turned = Vec3::new(yz.dot(normal), zx.dot(normal), xy.dot(normal));
    if x.dot(yz) < 0.0 { -turned } else { turned }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::mesh::{Influences, Material, MorphTarget, Primitive};

    fn mesh(primitive: &Primitive) -> DrawMesh<'_> {
        static MATERIAL: std::sync::LazyLock<Material> =
            std::sync::LazyLock::new(Material::default);
        DrawMesh {
            primitive,
            material: &MATERIAL,
            image: None,
            tint: 0.0,
            placement: Placement::Skinned { first_slot: 1 },
            first_weight: 0,
        }
    }

    #[test]
    fn vertices_are_blended_between_their_slots() {
        let primitive = Primitive {
            positions: vec![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
            normals: vec![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
            influences: Influences {
                per_vertex: 4,
                joints: vec![0, 1, 0, 0, 1, 0, 0, 0],
                weights: vec![0.25, 0.75, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            },
            ..Default::default()
        };
        let moved = |x: f32, q: Quat| {
            Affine3x4::from_scale_rotation_translation(Vec3::ONE, q, Vec3::new(x, 0.0, 0.0))
        };
        let rows = [
            moved(99.0, Quat::IDENTITY),
            moved(4.0, Quat::IDENTITY),
            moved(8.0, Quat::from_rotation_z(std::f32::consts::FRAC_PI_2)),
        ];
        let out = skin_vertices(&mesh(&primitive), &rows, &[]);
        // 0.25 · (5, 0, 0) + 0.75 · (8, 1, 0)
        assert!((out[0].position - Vec3::new(7.25, 0.75, 0.0)).length() < 1e-5);
        assert!((out[1].position - Vec3::new(6.0, 0.0, 0.0)).length() < 1e-5);
        assert!((out[1].normal - Vec3::Y).length() < 1e-5);
    }

    #[test]
    fn morphing_comes_before_skinning() {
        let primitive = Primitive {
            positions: vec![[0.0; 3]],
            normals: vec![[0.0, 0.0, 1.0]],
            influences: Influences {
                per_vertex: 4,
                joints: vec![0; 4],
                weights: vec![1.0, 0.0, 0.0, 0.0],
            },
            targets: vec![MorphTarget {
                positions: vec![[0.0, 2.0, 0.0]],
                ..Default::default()
            }],
            ..Default::default()
        };
        let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        let row = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, Vec3::ZERO);
        let out = skin_vertices(&mesh(&primitive), &[Affine3x4::IDENTITY, row], &[0.5]);
        assert!((out[0].position - Vec3::Z).length() < 1e-6);
    }

    #[test]
    fn normals_stay_across_the_surface_under_skewed_and_mirrored_scale() {
        for scale in [Vec3::new(3.0, 0.5, 1.0), Vec3::new(-2.0, 1.0, 0.3)] {
            let q = Quat::from_rotation_y(0.7);
            let m = Affine3x4::from_scale_rotation_translation(scale, q, Vec3::ZERO);
            let (a, b) = (Vec3::new(1.0, 2.0, 0.0), Vec3::new(0.0, -1.0, 1.0));
            let (ta, tb) = (m.transform_vector3(a), m.transform_vector3(b));
            let n = transform_normal(&m, a.cross(b)).normalize();
            assert!(n.dot(ta).abs() < 1e-4 && n.dot(tb).abs() < 1e-4);
            // On the same side as a point that was above the surface.
            let above = m.transform_vector3(a.cross(b));
            assert!(n.dot(above) > 0.0);
        }
    }
}
