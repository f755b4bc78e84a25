//! Skins one mesh of one character with the CPU skinning job, with all its influences.

use glam::Vec3;

use super::super::{DrawMesh, Placement, Winding};
use phalanx::math::Affine3x4;
use phalanx::runtime::{JobError, SkinningJob};

/// A mesh's vertices in model space.
pub(super) struct Skinned {
    pub positions: Vec<[f32; 3]>,
    /// Empty if the mesh has no normals.
    pub normals: Vec<[f32; 3]>,
}

/// Morphs and skins the vertices of a mesh into model space.
///
/// `rows` begin with the instance's palette rows, `weights` with the mesh's morph weights; empty weights mean
/// no morphing.
pub(super) fn skin_vertices(
    mesh: &DrawMesh,
    rows: &[Affine3x4],
    weights: &[f32],
) -> Result<Skinned, JobError> {
    let p = mesh.primitive;
    let mut out = Skinned {
        positions: vec![[0.0; 3]; p.positions.len()],
        normals: vec![[0.0; 3]; p.normals.len()],
    };
    let (palette, rigid) = match mesh.placement {
        // Without a palette the job transforms a primitive as a whole, whatever its influences.
        Placement::Rigid(place) => (&[][..], place),
        Placement::Skinned { first_slot, .. } => {
            (rows.get(first_slot as usize..).unwrap_or(&[]), Affine3x4::IDENTITY)
        }
    };
    SkinningJob {
        primitive: p,
        palette,
        rigid,
        morph_weights: weights.get(..p.targets.len()).unwrap_or(weights),
        positions: &mut out.positions,
        normals: &mut out.normals,
        tangents: &mut [],
    }
    .run()?;
    Ok(out)
}

/// The side of each vertex's blended row, for meshes with [`Winding::ByRows`]; empty for others.
pub(super) fn vertex_sides(mesh: &DrawMesh, rows: &[Affine3x4]) -> Vec<f32> {
    let Placement::Skinned { first_slot, winding: Winding::ByRows } = mesh.placement else {
        return Vec::new();
    };
    let palette = rows.get(first_slot as usize..).unwrap_or(&[]);
    let p = mesh.primitive;
    let of = |v| {
        let row = p.influences.blended_row(palette, v);
        row.map_or(1.0, |row| side(&row))
    };
    (0..p.positions.len()).map(of).collect()
}

/// A determinant this near to 0, of rows whose largest entry is 1, tells no side.
const LEAST_VOLUME: f32 = 1e-4;

/// Whether a transform keeps the winding of triangles: 1, or mirrors it: -1; between them where it is singular. `side`
/// of `shaders/character.wgsl`.
fn side(m: &Affine3x4) -> f32 {
    let [x, y, z] = m.rows.map(|[a, b, c, _]| Vec3::new(a, b, c));
    let largest = x.abs().max(y.abs()).max(z.abs()).max_element();
    if largest <= 0.0 {
        return 0.0;
    }
    let volume = (x / largest).dot((y / largest).cross(z / largest));
    (volume / LEAST_VOLUME).clamp(-1.0, 1.0)
}

/// Transforms a normal by the inverse transpose, up to a positive factor: `transform_normal` of
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
    use crate::Winding;
    use phalanx::mesh::{Influences, Material, MorphTarget, Primitive};

    fn mesh(primitive: &Primitive) -> DrawMesh<'_> {
        static MATERIAL: std::sync::LazyLock<Material> =
            std::sync::LazyLock::new(Material::default);
        DrawMesh {
            primitive,
            material: &MATERIAL,
            image: None,
            tint: 0.0,
            placement: Placement::Skinned { first_slot: 1, winding: Winding::Kept },
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
        let out = skin_vertices(&mesh(&primitive), &rows, &[]).unwrap();
        let near = |a: [f32; 3], b: Vec3| (Vec3::from_array(a) - b).length() < 1e-5;
        // 0.25 · (5, 0, 0) + 0.75 · (8, 1, 0)
        assert!(near(out.positions[0], Vec3::new(7.25, 0.75, 0.0)));
        assert!(near(out.positions[1], Vec3::new(6.0, 0.0, 0.0)));
        assert!(near(out.normals[1], Vec3::Y));
    }

    #[test]
    fn rigid_meshes_ignore_their_influences_and_rows() {
        let primitive = Primitive {
            positions: vec![[1.0, 0.0, 0.0]],
            influences: Influences { per_vertex: 4, joints: vec![9; 4], weights: vec![0.25; 4] },
            ..Default::default()
        };
        let at = Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, Vec3::Z);
        let rigid = DrawMesh { placement: Placement::Rigid(at), ..mesh(&primitive) };
        let out = skin_vertices(&rigid, &[Affine3x4::IDENTITY; 3], &[0.5; 9]).unwrap();
        assert_eq!((out.positions[0], out.normals.len()), ([1.0, 0.0, 1.0], 0));
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
            targets: vec![MorphTarget { positions: vec![[0.0, 2.0, 0.0]], ..Default::default() }],
            ..Default::default()
        };
        let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        let row = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, Vec3::ZERO);
        // Weights of further meshes follow.
        let out = skin_vertices(&mesh(&primitive), &[Affine3x4::IDENTITY, row], &[0.5, 9.0]);
        let [x, y, z] = out.unwrap().positions[0];
        assert!(x.abs() < 1e-6 && y.abs() < 1e-6 && (z - 1.0).abs() < 1e-6);
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
