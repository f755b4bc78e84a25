//! Where rows lie, that they are what the oracle says, and that bounds and model matrices agree with them.

use glam::Vec3;
use phalanx::crowd::{
    BoneBuffer, Crowd, InstanceId, LayerOptions, PaletteMemory, PlayOptions, RowLayout, RowSpan,
};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::{close, palette, raw, rig, rig_of_clips};
use phalanx_testkit::reference::{self, Beside};
use phalanx_testkit::ruler::{ROWS, held, ruler, stands};
use phalanx_workload::standard_crowd;

#[test]
fn ranges_follow_visibility_and_several_rigs() {
    let (one, two) = (rig(), rig());
    let mut crowd = Crowd::new();
    let (r1, r2) = (crowd.add_rig(one).unwrap(), crowd.add_rig(two).unwrap());
    let first: Vec<_> = (0..70).map(|_| crowd.spawn(r1).unwrap()).collect();
    let second: Vec<_> = (0..50).map(|_| crowd.spawn(r2).unwrap()).collect();
    let c = crowd.clip_named(r2, "c").unwrap();
    for (n, &i) in second.iter().enumerate() {
        let options = PlayOptions { time: 0.03 * n as f64, ..PlayOptions::default() };
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
    for (n, &i) in second.iter().enumerate() {
        let rows = &buffer.rows()[crowd.palette_range(i).unwrap()];
        close(rows, &palette(&[(2, (0.03 * n as f64) as f32, 1.0)]));
    }
    assert_eq!(crowd.instances().count(), 119);
}

#[test]
fn bounds_hold_every_vertex_and_model_matrices_agree_with_palettes() {
    let (mut crowd, instances) = standard_crowd(rig(), &[], 12).unwrap();
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let id = instances[0].rig();
    let rig = crowd.rig(id).unwrap().clone();
    let mut beside = Beside::new(&raw(), &rig, [(LayerOptions::default(), None)]);
    for c in 0..rig.clips().len() {
        beside.clip(crowd.clip_by_index(id, c).unwrap(), c);
    }
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
        let layers = beside.playing(&crowd, i, |_| unreachable!("no blend space plays"));
        let layers = layers.expect("every clip plays once");
        let wanted = reference::palette(&beside.scene, &layers);
        assert_eq!(wanted.len(), rows.len());
        for (row, wanted) in reference::wide(rows).iter().zip(&wanted) {
            let off = reference::apart(row, wanted);
            assert!(off < 1e-5, "{off:e}: {row:?} {wanted:?}");
        }
        let bind = rig.skins()[0].inverse_bind()[19];
        let joint = usize::from(rig.skins()[0].joints()[19]);
        close(&[crowd.model_matrix(i, joint).unwrap() * bind], &rows[19..]);
    }
}

/// A crowd of one instance of the ruler at a place along x.
fn one_at(x: f64) -> (Crowd, InstanceId) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(ruler()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let clip = crowd.clip_named(id, "x").unwrap();
    crowd.play(i, clip, &held(x, 1.0)).unwrap();
    (crowd, i)
}

#[test]
fn memory_of_one_crowd_holds_no_frame_of_another() {
    let [(mut one, _), (mut other, i)] = [0.25, 0.75].map(one_at);
    let (mut of_one, mut of_other) = (BoneBuffer::new(), BoneBuffer::new());
    one.evaluate(&mut of_one);
    other.evaluate(&mut of_other);
    other.set_scheduled(i, false).unwrap();
    let stats = other.evaluate(&mut of_one);
    assert_eq!((stats.instances, stats.carried), (1, 0));
    stands(of_one.rows(), [0.75, 0.0, 0.0]);
    let layout = RowLayout { align: 1, compact: false, holds: None };
    let ids = [&mut one, &mut other].map(|crowd| crowd.schedule(&layout).id());
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn spans_tell_where_rows_lie() {
    let mut crowd = Crowd::new();
    let rigs = [ruler(), rig()].map(|rig| crowd.add_rig(rig).unwrap());
    let small = [0; 3].map(|_| crowd.spawn(rigs[0]).unwrap());
    let large = [0; 2].map(|_| crowd.spawn(rigs[1]).unwrap());
    let layout = |holds| RowLayout { align: 8, compact: true, holds };
    let span = |first, stride, palette, instances| RowSpan { first, stride, palette, instances };
    let mut schedule = crowd.schedule(&layout(None));
    let all: Vec<RowSpan> = schedule.spans().collect();
    assert_eq!(all, [span(0, 8, ROWS, 3), span(24, 24, 20, 2)]);
    schedule.write(&mut vec![Affine3x4::IDENTITY; 72][..]);
    let last = schedule.id();
    for i in [small[1], small[2], large[0]] {
        crowd.set_scheduled(i, false).unwrap();
    }
    let schedule = crowd.schedule(&layout(Some(last)));
    // They stay where they are, and those that are evaluated are written one after another.
    let same: Vec<RowSpan> = schedule.spans().collect();
    assert_eq!(same, all);
    let written: Vec<RowSpan> = schedule.written_spans().collect();
    assert_eq!(written, [span(0, 8, ROWS, 1), span(8, 24, 20, 1)]);
    assert_eq!((schedule.rows(), schedule.written_rows()), (72, 32));
    let mut places = Vec::new();
    schedule.scatter(|from, to| places.push([from.start, to, from.len()]));
    assert_eq!(places, [[0, 0, 8], [8, 48, 24]]);
    // Rows at the end go with those who had them.
    for i in large {
        crowd.set_visible(i, false).unwrap();
    }
    let schedule = crowd.schedule(&layout(None));
    let all: Vec<RowSpan> = schedule.spans().collect();
    assert_eq!(all, [span(0, 8, ROWS, 3)]);
}

/// Rows that take palettes one by one.
pub(super) struct Rows<'a>(pub &'a mut [Affine3x4]);

impl PaletteMemory for Rows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows);
        (Rows(now), Rows(later))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        self.0[row..row + palette.len()].copy_from_slice(palette);
    }
}

/// Palettes are finished in memory of the worker's own, which is as long as that of the largest rig.
#[test]
fn rigs_of_every_size_are_copied_whole() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(|| {
        let mut crowd = Crowd::new();
        for rig in [rig(), ruler()] {
            let id = crowd.add_rig(rig).unwrap();
            let clip = crowd.clip_by_index(id, 0).unwrap();
            for n in 0..3 {
                let i = crowd.spawn(id).unwrap();
                crowd.play(i, clip, &held(0.3 * f64::from(n), 1.0)).unwrap();
            }
        }
        let mut buffer = BoneBuffer::new();
        crowd.evaluate(&mut buffer);
        for frame in 0..3 {
            let mut schedule = crowd.schedule(&RowLayout { align: 1, compact: false, holds: None });
            let mut rows = vec![Affine3x4::from_cols_array(&[f32::NAN; 16]); schedule.rows()];
            schedule.write(Rows(&mut rows));
            assert!(rows == buffer.rows(), "frame {frame}");
        }
    });
}

/// Instances run in the order of their clips; their rows lie in the order of the instances.
#[test]
fn palettes_of_many_clips_are_copied_to_their_rows() {
    let rig = rig_of_clips(30);
    for workers in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
        pool.unwrap().install(|| {
            let mut crowd = Crowd::new();
            let id = crowd.add_rig(rig.clone()).unwrap();
            let clip = |n: usize| n * 7 % 30;
            let time = |n: usize| 0.002 * n as f64;
            let mut all = Vec::new();
            crowd.spawn_many(id, 160, &mut all).unwrap();
            for (n, &i) in all.iter().enumerate() {
                let clip = crowd.clip_by_index(id, clip(n)).unwrap();
                crowd.play(i, clip, &held(time(n), 1.0)).unwrap();
            }
            crowd.set_visible(all[5], false).unwrap();
            for compact in [false, true] {
                for align in [1, 16] {
                    let layout = RowLayout { align, compact, holds: None };
                    let mut schedule = crowd.schedule(&layout);
                    let nothing = Affine3x4::from_cols_array(&[f32::NAN; 16]);
                    let mut rows = vec![nothing; schedule.rows()];
                    schedule.write(Rows(&mut rows));
                    // All are written, in the order of their rows.
                    for (n, &i) in all.iter().enumerate().filter(|&(n, _)| n != 5) {
                        let rows = &rows[crowd.palette_range(i).unwrap()];
                        close(rows, &palette(&[(clip(n) % 3, time(n) as f32, 1.0)]));
                    }
                }
            }
        });
    }
}

/// The build script sets the flag for the tests of the package, too.
#[test]
fn frames_report_a_build_without_optimisation() {
    let (mut crowd, _) = standard_crowd(rig(), &[], 2).unwrap();
    let stats = crowd.evaluate(&mut BoneBuffer::new());
    assert_eq!(stats.unoptimized, cfg!(phalanx_unoptimized));
    assert_eq!(stats.instances, 2);
}
