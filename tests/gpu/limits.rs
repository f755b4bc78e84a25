//! Devices that can do less, asked for on purpose.

use crate::models::chain;
use crate::support::{bones, crowd_of, downlevel, open};
use phalanx::gpu::{ComputeSkinner, GpuBoneBuffer, GpuBoneOptions, GpuError, PaletteBackend};

pub fn webgl2() {
    let gpu = downlevel();
    let limits = gpu.palette_limits();
    assert_eq!((limits.window, limits.storage, limits.line), (341, 0, 672));
    assert_eq!(gpu.vertex_storage_buffers(), 0);
    let refused = GpuBoneBuffer::new(&gpu, GpuBoneOptions::new(PaletteBackend::Storage));
    assert!(matches!(refused, Err(GpuError::Joints { limit: 0, .. })));
    for joints in [1, 67, 201, 341, 342, 1500] {
        assert_eq!(
            PaletteBackend::choose(&gpu, joints),
            Ok(PaletteBackend::Texture)
        );
    }
    let compute = ComputeSkinner::new(&gpu, PaletteBackend::Texture).unwrap_err();
    assert!(matches!(compute, GpuError::Unsupported { .. }), "{compute}");
    // A line of the texture holds 672 rows: 1,500 joints wrap twice.
    let (mut crowd, _, _) = crowd_of(&[chain(1500), chain(201)], 3);
    let mut texture = bones(&gpu, PaletteBackend::Texture);
    texture.evaluate(&mut crowd, &gpu).unwrap();
    assert_eq!(texture.read(&gpu).unwrap().len(), 3 * 1701);
    let (mut crowd, _, _) = crowd_of(&[chain(201)], 3);
    let mut uniform = bones(&gpu, PaletteBackend::Uniform);
    uniform.evaluate(&mut crowd, &gpu).unwrap();
    assert_eq!(uniform.read(&gpu).unwrap().len(), 3 * 208);
}

pub fn too_many_joints() {
    for (gpu, limit) in [(open(), 1365), (downlevel(), 341)] {
        let mut bones = bones(&gpu, PaletteBackend::Uniform);
        assert_eq!(PaletteBackend::Uniform.max_joints(&gpu), limit);
        let (mut crowd, all, _) = crowd_of(&[chain(1500)], 2);
        let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
        let expected = GpuError::Joints {
            backend: PaletteBackend::Uniform,
            needed: 1500,
            limit,
        };
        assert_eq!(error, expected);
        let text = error.to_string();
        assert!(
            text.contains("1500") && text.contains(&limit.to_string()),
            "{text}"
        );
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
