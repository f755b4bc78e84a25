//! Steady frames of a crowd with a scene graph allocate nothing, counted by the global allocator.

use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, PoseSpace, PoseStage};
use phalanx::math::Affine3x4;
use phalanx::scene::SceneGraph;
use phalanx_testkit::alloc::{self, allocations, pool};
use phalanx_testkit::chain::forty;
use phalanx_workload::standard_crowd;
use std::sync::Arc;

#[test]
fn steady_frames_with_a_scene_allocate_nothing() {
    let _alone = alloc::alone();
    for threads in [1, 4] {
        let counted = pool(threads).install(|| {
            let rig = Arc::new(build_rig(forty(), &Default::default()).unwrap());
            let (mut crowd, instances) = standard_crowd(rig, &[], 700).unwrap();
            let mut buffer = BoneBuffer::new();
            // Some are mirrored, with something in their hands, one on another, one with an override.
            let mut scene = SceneGraph::new();
            let mirrors = instances[..5].iter().map(|&i| crowd.mirror(i, &mut scene, None));
            let mirrors: Vec<_> = mirrors.map(Result::unwrap).collect();
            let one = Affine3x4::IDENTITY;
            for &mirror in &mirrors {
                let held = scene.add(None, one).unwrap();
                scene.attach(held, mirror, 39, one).unwrap();
            }
            scene.attach(mirrors[0], mirrors[1], 20, one).unwrap();
            crowd.player(instances[2]).unwrap().set_override(7, one).unwrap();
            // Others hold something on mirrors of the hand alone.
            for &i in &instances[5..60] {
                let mirror = crowd.mirror(i, &mut scene, Some(&[39])).unwrap();
                let held = scene.add(None, one).unwrap();
                scene.attach(held, mirror, 39, one).unwrap();
            }
            let rig = instances[0].rig();
            crowd.watch(rig, &[3, 20], PoseStage::After).unwrap();
            let turned = vec![one; 100 * 2];
            let mut frame = |crowd: &mut phalanx::crowd::Crowd| {
                crowd.advance(1.0 / 60.0).unwrap();
                let some = &instances[300..400];
                crowd.set_overrides(rig, &[5, 9], some, &turned, PoseSpace::Local, &[1.0]).unwrap();
                crowd.evaluate(&mut buffer);
                let stats = crowd.update_scene(&mut scene);
                assert_eq!((stats.mirrored, stats.evaluated), (60, 0));
                let watched = crowd.watched(instances[400], PoseStage::After).unwrap();
                assert_eq!(watched.age, Some(0));
                crowd.model_matrix(instances[9], 39).unwrap();
                assert!(!scene.changed().is_empty());
            };
            // The first frames make the buffers.
            (0..3).for_each(|_| frame(&mut crowd));
            let before = allocations();
            (0..100).for_each(|_| frame(&mut crowd));
            let steady = allocations() - before;
            // That the count can rise at all.
            crowd.snapshot();
            assert!(allocations() > before + steady);
            steady
        });
        assert_eq!(counted, 0, "{threads} workers");
    }
}
