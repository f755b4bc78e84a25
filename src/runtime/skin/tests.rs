use super::*;
use crate::mesh::{Influences, MorphTarget};
use glam::Quat;

fn primitive() -> Primitive {
    Primitive {
        positions: vec![[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
        normals: vec![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        tangents: vec![[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, -1.0]],
        influences: Influences {
            per_vertex: 8,
            joints: vec![0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            weights: vec![
                0.25, 0.25, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            ],
        },
        targets: vec![
            MorphTarget {
                positions: vec![[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]],
                ..MorphTarget::default()
            },
            MorphTarget::default(),
        ],
        ..Primitive::default()
    }
}

fn palette() -> Vec<Affine3x4> {
    vec![
        Affine3x4::IDENTITY,
        Affine3A::from_scale_rotation_translation(
            Vec3::new(2.0, 1.0, -0.5),
            Quat::from_rotation_z(0.5),
            Vec3::new(0.0, 0.0, 3.0),
        )
        .into(),
    ]
}

fn run(
    p: &Primitive,
    palette: &[Affine3x4],
    weights: &[f32],
) -> (Vec<Vec3>, Vec<Vec3>, Vec<[f32; 4]>) {
    let mut out = (vec![[0.0; 3]; 2], vec![[0.0; 3]; 2], vec![[0.0; 4]; 2]);
    SkinningJob {
        primitive: p,
        palette,
        rigid: Affine3x4::IDENTITY,
        morph_weights: weights,
        positions: &mut out.0,
        normals: &mut out.1,
        tangents: &mut out.2,
    }
    .run()
    .unwrap();
    let vectors = |v: Vec<[f32; 3]>| v.into_iter().map(Vec3::from).collect();
    (vectors(out.0), vectors(out.1), out.2)
}

#[test]
fn all_influences_and_morph_targets_count() {
    let (p, palette) = (primitive(), palette());
    let (positions, _, _) = run(&p, &palette, &[0.5]);
    let bent = Affine3A::from(palette[1]);
    let v0 = Vec3::new(1.0, 0.0, 0.5);
    let v1 = Vec3::new(0.0, 2.0, 1.0);
    assert!((positions[0] - (0.25 * v0 + 0.75 * bent.transform_point3(v0))).length() < 1e-6);
    assert!((positions[1] - bent.transform_point3(v1)).length() < 1e-6);
}

#[test]
fn normals_stay_perpendicular_under_mirroring_and_uneven_scale() {
    let (p, palette) = (primitive(), palette());
    let (_, normals, tangents) = run(&p, &palette, &[]);
    let bent = Affine3A::from(palette[1]);
    let want = bent.matrix3.inverse().transpose() * Vec3::X;
    assert!((normals[1] - want.normalize()).length() < 1e-6);
    // The normal is across both tangents of the surface, which move as points do.
    for tangent in [Vec3::Y, Vec3::Z] {
        let moved = bent.transform_vector3(tangent);
        assert!(normals[1].dot(moved).abs() < 1e-6);
    }
    let t = Vec3::from_slice(&tangents[1]);
    assert!((t - bent.transform_vector3(Vec3::Z).normalize()).length() < 1e-6);
    assert_eq!(tangents[1][3], 1.0, "a mirror turns the bitangent's sign");
}

#[test]
fn rigid_primitives_follow_their_node() {
    let p = Primitive { influences: Influences::default(), ..primitive() };
    let mut positions = vec![[0.0; 3]; 2];
    SkinningJob {
        primitive: &p,
        palette: &[],
        rigid: palette()[1],
        morph_weights: &[],
        positions: &mut positions,
        normals: &mut [],
        tangents: &mut [],
    }
    .run()
    .unwrap();
    let want = palette()[1].transform_point3(Vec3::X);
    assert!((Vec3::from(positions[0]) - want).length() < 1e-6);
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let run = |p: &Primitive, palette: usize, sizes: [usize; 3], weights: &[f32]| {
        SkinningJob {
            primitive: p,
            palette: &vec![Affine3x4::IDENTITY; palette],
            rigid: Affine3x4::IDENTITY,
            morph_weights: weights,
            positions: &mut vec![[0.0; 3]; sizes[0]],
            normals: &mut vec![[0.0; 3]; sizes[1]],
            tangents: &mut vec![[0.0; 4]; sizes[2]],
        }
        .run()
    };
    let good = primitive();
    let name = |r: Result<(), JobError>| match r {
        Err(JobError::Size { buffer, .. }) => buffer,
        Err(JobError::Index { what, .. } | JobError::Value { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(run(&good, 2, [2, 2, 2], &[0.0; 3]), Ok(()));
    assert_eq!(run(&good, 2, [2, 0, 0], &[]), Ok(()));
    assert_eq!(name(run(&good, 2, [1, 2, 2], &[])), "positions");
    assert_eq!(name(run(&good, 2, [2, 1, 2], &[])), "normals");
    assert_eq!(name(run(&good, 2, [2, 2, 3], &[])), "tangents");
    assert_eq!(name(run(&good, 1, [2, 2, 2], &[])), "slot");
    // Without a palette the influences do not count.
    assert_eq!(run(&good, 0, [2, 2, 2], &[]), Ok(()));
    assert_eq!(name(run(&good, 2, [2, 2, 2], &[f32::NAN])), "morph weight");
    let mut bad = primitive();
    bad.influences.weights.pop();
    assert_eq!(name(run(&bad, 2, [2, 2, 2], &[])), "influences.weights");
    bad = primitive();
    bad.influences.joints.pop();
    assert_eq!(name(run(&bad, 2, [2, 2, 2], &[])), "influences.joints");
    bad = primitive();
    bad.targets[0].positions.pop();
    assert_eq!(name(run(&bad, 2, [2, 2, 2], &[])), "target.positions");
    bad = primitive();
    bad.normals.pop();
    assert_eq!(name(run(&bad, 2, [2, 2, 2], &[])), "primitive.normals");
}
