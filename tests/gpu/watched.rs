//! Watched joints and swords of frames that are evaluated into device memory.

use crate::models::chain;
use crate::support::{crowd_of, open};
use phalanx::crowd::{BoneBuffer, PoseStage};
use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx::scene::SceneGraph;

/// The same crowd is evaluated into device memory, mapped or written, and into the heap.
pub fn joints_equal_those_of_the_heap() {
    let gpu = open();
    let rigs = [chain(20), chain(33)];
    for mapped in [true, false] {
        let options = GpuBoneOptions { mapped, ..GpuBoneOptions::default() };
        let mut device = GpuBoneBuffer::new(&gpu, PaletteBackend::Storage, &options).unwrap();
        let mut heap = BoneBuffer::new();
        let both = [true, false].map(|_| {
            let (mut crowd, all, ids) = crowd_of(&rigs, 40);
            ids.iter().for_each(|&rig| crowd.watch(rig, &[1, 18], PoseStage::After).unwrap());
            let mut scene = SceneGraph::new();
            let swords = all.iter().step_by(7).map(|&i| {
                let mirror = crowd.mirror(i, &mut scene, Some(&[15])).unwrap();
                let sword = scene.add(None, Affine3x4::IDENTITY).unwrap();
                let one = Affine3x4::IDENTITY;
                scene.attach(sword, mirror, 15, one).unwrap();
                sword
            });
            let swords: Vec<_> = swords.collect();
            (crowd, all, scene, swords)
        });
        let [mut on_device, mut on_heap] = both;
        for frame in 0..12 {
            for (crowd, all, ..) in [&mut on_device, &mut on_heap] {
                crowd.advance(1.0 / 30.0).unwrap();
                for (n, &i) in all.iter().enumerate() {
                    crowd.set_scheduled(i, (n + frame) % 3 > 0).unwrap();
                }
            }
            device.evaluate(&mut on_device.0, &gpu).unwrap();
            on_heap.0.evaluate(&mut heap);
            let mut kept = 0;
            for (&a, &b) in on_device.1.iter().zip(&on_heap.1) {
                let a = on_device.0.watched(a, PoseStage::After).unwrap();
                let b = on_heap.0.watched(b, PoseStage::After).unwrap();
                assert_eq!((a.models, a.age), (b.models, b.age), "frame {frame}");
                kept += usize::from(a.age != Some(0));
            }
            assert_eq!(kept > 0, frame > 0, "frame {frame}");
            let a = on_device.0.update_scene(&mut on_device.2);
            let b = on_heap.0.update_scene(&mut on_heap.2);
            assert_eq!(a, b, "frame {frame}");
            for (&a, &b) in on_device.3.iter().zip(&on_heap.3) {
                assert_eq!(on_device.2.world(a), on_heap.2.world(b), "frame {frame}");
            }
        }
    }
}
