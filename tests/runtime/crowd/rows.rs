//! Where rows lie, and that bounds and model matrices agree with them.

use glam::Vec3;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::{close, palette, rig};
use phalanx_workload::standard_crowd;

#[test]
fn ranges_follow_visibility_and_several_rigs() {
    let (one, two) = (rig(), rig());
    let mut crowd = Crowd::new();
    let (r1, r2) = (crowd.add_rig(one).unwrap(), crowd.add_rig(two).unwrap());
    let first: Vec<_> = (0..70).map(|_| crowd.spawn(r1).unwrap()).collect();
    let second: Vec<_> = (0..50).map(|_| crowd.spawn(r2).unwrap()).collect();
    let c = crowd.find_clip(r2, "c").unwrap();
    for (n, &i) in second.iter().enumerate() {
        let options = PlayOptions {
            time: 0.03 * n as f64,
            ..PlayOptions::default()
        };
        crowd.play(i, c, &options).unwrap();
    }
    crowd.set_visible(first[3], false).unwrap();
    crowd.despawn(first[10]).unwrap();
    let mut buffer = BoneBuffer::new();
    let stats = crowd.evaluate(&mut buffer);
    assert_eq!((stats.instances, stats.rows), (118, 118 * 20));
    assert_eq!(crowd.palette_range(first[3]), None);
    assert_eq!(crowd.palette_range(first[4]), Some(60..80));
    assert_eq!(crowd.palette_range(first[11]), Some(180..200));
    assert_eq!(crowd.palette_range(second[0]), Some(68 * 20..69 * 20));
    let rig = crowd.rig(r2).unwrap().clone();
    for (n, &i) in second.iter().enumerate() {
        let rows = &buffer.rows()[crowd.palette_range(i).unwrap()];
        close(rows, &palette(&rig, &[(2, (0.03 * n as f64) as f32, 1.0)]));
    }
    assert_eq!(crowd.instances().count(), 119);
}

#[test]
fn bounds_hold_every_vertex_and_model_matrices_agree_with_palettes() {
    let (mut crowd, instances) = standard_crowd(rig(), &[], 12).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let rig = crowd.rig(instances[0].rig()).unwrap().clone();
    let p = &rig.meshes()[0].mesh.primitives[0];
    for &i in &instances {
        let rows = &buffer.rows()[crowd.palette_range(i).unwrap()];
        let bounds = crowd.bounds(i).unwrap();
        let mut positions = vec![[0.0; 3]; p.positions.len()];
        phalanx::runtime::SkinningJob {
            primitive: p,
            palette: rows,
            rigid: Affine3x4::IDENTITY,
            morph_weights: &[],
            positions: &mut positions,
            normals: &mut [],
            tangents: &mut [],
        }
        .run()
        .unwrap();
        for v in positions.into_iter().map(Vec3::from) {
            let slack = Vec3::splat(1e-5);
            assert!(v.cmpge(bounds.min - slack).all() && v.cmple(bounds.max + slack).all());
        }
        assert!(bounds.half_size().max_element() < 3.0, "not boundless");
        let bind = rig.skins()[0].inverse_bind()[19];
        let joint = usize::from(rig.skins()[0].joints()[19]);
        close(
            &[crowd.model_matrix(i, joint).unwrap().mul(&bind)],
            &rows[19..],
        );
    }
}
