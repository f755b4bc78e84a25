//! Watched joints with tiers.

use super::{DT, at, chains, every, plain, shared};
use phalanx::crowd::{BoneBuffer, PoseStage, Tiers, View};
use phalanx::math::Affine3x4;

/// They are those of the present pose, whatever the palettes show.
#[test]
fn watched_joints_are_exact_in_every_frame() {
    for tiers in [every(1, false), every(8, false), every(8, true), shared(4)] {
        for workers in [1, 3] {
            let (mut crowd, all, id, _) = chains(100);
            let rig = crowd.rig(id).unwrap().clone();
            crowd.watch(id, &[1, 5], PoseStage::After).unwrap();
            crowd.set_tiers(Some(tiers.clone())).unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
            pool.build().unwrap().install(|| {
                let mut bones = BoneBuffer::new();
                for _ in 0..20 {
                    crowd.advance(DT).unwrap();
                    crowd.evaluate(&mut bones);
                    let copy = plain(&crowd, &rig);
                    for &i in &all {
                        let watched = crowd.watched(i, PoseStage::After).unwrap();
                        assert_eq!((watched.age, watched.current), (Some(0), true));
                        let exact = [1, 5].map(|joint| copy.model_matrix(i, joint).unwrap());
                        assert_eq!(watched.models, exact);
                    }
                }
            });
        }
    }
}

/// Out of the picture, and not scheduled, they stay as they are.
#[test]
fn watched_joints_out_of_the_picture_grow_old() {
    let (mut crowd, all, id, _) = chains(3);
    crowd.watch(id, &[5], PoseStage::After).unwrap();
    crowd.set_tiers(Some(Tiers::default())).unwrap();
    let view = View {
        clip_from_world: glam::camera::rh::proj::directx::perspective_infinite_reverse(
            1.0, 1.0, 0.1,
        )
        .to_cols_array_2d(),
        height: 1080.0,
        shadows: false,
    };
    crowd.set_views(&[view]).unwrap();
    for &i in &all {
        crowd.set_world(i, at([0.0, 0.0, -8.0])).unwrap();
    }
    let mut bones = BoneBuffer::new();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    crowd.set_world(all[1], at([0.0, 0.0, 900.0])).unwrap();
    crowd.set_scheduled(all[2], false).unwrap();
    let models = |crowd: &phalanx::crowd::Crowd| -> Vec<Vec<Affine3x4>> {
        let of = |&i| crowd.watched(i, PoseStage::After).unwrap().models.to_vec();
        all.iter().map(of).collect()
    };
    let before = models(&crowd);
    for _ in 0..7 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    let after = models(&crowd);
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1..], after[1..]);
    let age = |n: usize| crowd.watched(all[n], PoseStage::After).unwrap().age;
    assert_eq!((age(0), age(1), age(2)), (Some(0), Some(7), Some(7)));
}
