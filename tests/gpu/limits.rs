//! Devices that can do less, asked for on purpose.

use crate::models::chain;
use crate::support::{Truth, bones, crowd_of, downlevel, open, paged};
use phalanx::gpu::{ComputeSkinner, Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, PaletteBackend};

pub fn webgl2() {
    let gpu = downlevel();
    assert_eq!(gpu.window_rows(), 341);
    let refused = GpuBoneBuffer::new(&gpu, PaletteBackend::Storage, &GpuBoneOptions::default());
    assert!(matches!(refused, Err(GpuError::Joints { limit: 0, .. })));
    for joints in [1, 67, 201, 341, 342, 1500] {
        assert_eq!(PaletteBackend::choose(&gpu, joints), Ok(PaletteBackend::Texture));
    }
    let compute = ComputeSkinner::new(&gpu, PaletteBackend::Texture).unwrap_err();
    assert!(matches!(compute, GpuError::Unsupported { .. }), "{compute}");
    // A line of the texture holds 672 rows: 1,500 joints wrap twice. What shaders make of them is seen
    // in pictures.
    assert_eq!(rows(&gpu, PaletteBackend::Texture, &[1500, 201]), 3 * 1701);
    assert_eq!(rows(&gpu, PaletteBackend::Uniform, &[201]), 3 * 208);
}

/// Brings three of each chain to the device and compares their rows there; how many there are.
fn rows(gpu: &Gpu, backend: PaletteBackend, joints: &[usize]) -> usize {
    let rigs: Vec<_> = joints.iter().map(|&n| chain(n)).collect();
    let (mut crowd, all, _) = crowd_of(&rigs, 3);
    let mut bones = bones(gpu, backend);
    bones.evaluate(&mut crowd, gpu).unwrap();
    let rows = bones.read(gpu).unwrap();
    let mut truth = Truth::new(&rigs, &vec![3; rigs.len()]);
    let truth = truth.of(&crowd.snapshot());
    for id in all {
        let range = crowd.palette_range(id).unwrap();
        assert_eq!(Some(&rows[range]), truth.palette(id), "{backend}, {id:?}");
    }
    rows.len()
}

/// 1,500 joints through every backend: it holds them, or says how many it holds.
pub fn many_joints() {
    for (gpu, held) in [(open(), [1365, u64::MAX, u64::MAX]), (downlevel(), [341, u64::MAX, 0])] {
        for (backend, limit) in PaletteBackend::ALL.into_iter().zip(held) {
            if limit == u64::MAX {
                assert_eq!(backend.check(&gpu, 1500), Ok(()));
                assert_eq!(rows(&gpu, backend, &[1500]), 4500);
                continue;
            }
            let error = backend.check(&gpu, 1500).unwrap_err();
            let expected = GpuError::Joints { backend, needed: 1500, limit };
            assert_eq!(error, expected);
            let text = error.to_string();
            assert!(text.contains("1500 joints"), "{text}");
            assert!(text.contains(&format!("holds {limit}")), "{text}");
        }
    }
}

pub fn too_many_joints() {
    for (gpu, limit) in [(open(), 1365), (downlevel(), 341)] {
        let mut bones = bones(&gpu, PaletteBackend::Uniform);
        assert_eq!(PaletteBackend::Uniform.max_joints(&gpu, false), limit);
        let (mut crowd, all, _) = crowd_of(&[chain(1500)], 2);
        let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
        let expected = GpuError::Joints { backend: PaletteBackend::Uniform, needed: 1500, limit };
        assert_eq!(error, expected);
        let text = error.to_string();
        assert!(text.contains("1500") && text.contains(&limit.to_string()), "{text}");
        // The frame is there all the same, in the heap.
        let rows = bones.heap().expect("the heap has it").rows();
        assert_eq!(rows.len(), 3000);
        assert_eq!(crowd.palette_range(all[1]), Some(1500..3000));
        assert!(PaletteBackend::choose(&gpu, 1500).is_ok());
        // What fits goes to the device again.
        let (mut small, _, _) = crowd_of(&[chain(limit as usize)], 2);
        bones.evaluate(&mut small, &gpu).unwrap();
        assert!(bones.heap().is_none());
    }
}

/// The two palettes of an interpolated instance share a window or a page.
pub fn pairs_of_palettes() {
    for (gpu, limit) in [(open(), 677), (downlevel(), 165)] {
        let uniform = PaletteBackend::Uniform;
        assert_eq!(uniform.max_joints(&gpu, true), limit);
        // One palette of that many fits.
        assert_eq!(uniform.check(&gpu, limit as usize + 1), Ok(()));
        let texture = PaletteBackend::Texture;
        assert_eq!(texture.max_joints(&gpu, true), texture.max_joints(&gpu, false) / 2);
    }
    // Pages of 100 rows hold pairs of 50, of 48 where palettes are aligned.
    let gpu = paged(100 * 48);
    assert_eq!(PaletteBackend::ALL.map(|backend| backend.max_joints(&gpu, true)), [48, 50, 50]);
}
