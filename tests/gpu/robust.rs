//! What goes wrong on devices: typed errors or recovery, and the crowd goes on.

use crate::adopt::lent;
use crate::models::chain;
use crate::support::{Truth, bones, crowd_of, open};
use phalanx::crowd::{Crowd, InstanceId};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, PaletteBackend};
use std::time::Duration;

const COUNT: usize = 120;

/// A frame's rows, wherever they are.
pub fn rows_of(bones: &GpuBoneBuffer, gpu: &Gpu) -> Vec<phalanx::math::Affine3x4> {
    match bones.heap() {
        Some(heap) => heap.rows().to_vec(),
        None => bones.read(gpu).expect("the device has the rows"),
    }
}

/// Compares the palettes of all instances, on the device or in the heap, with a crowd with no history.
fn assert_sound(bones: &GpuBoneBuffer, gpu: &Gpu, crowd: &Crowd, all: &[InstanceId]) {
    let rows = rows_of(bones, gpu);
    let mut truth = Truth::new(&[chain(30)], &[COUNT]);
    let truth = truth.of(&crowd.snapshot());
    for &id in all {
        let range = crowd.palette_range(id).expect("everyone is shown");
        assert_eq!(Some(&rows[range]), truth.palette(id));
    }
}

pub fn destroyed_between_frames() {
    let gpu = open();
    let mut bones = bones(&gpu, PaletteBackend::Storage);
    let (mut crowd, all, _) = crowd_of(&[chain(30)], COUNT);
    bones.evaluate(&mut crowd, &gpu).unwrap();
    gpu.device.destroy();
    for &id in &all[..50] {
        crowd.set_scheduled(id, false).unwrap();
    }
    for _ in 0..3 {
        crowd.advance(0.02).unwrap();
        let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
        assert!(matches!(error, GpuError::Lost { .. }), "{error}");
        assert!(!error.to_string().ends_with(": "), "{error}: what?");
        assert!(bones.heap().is_some());
    }
    crowd.advance(0.02).unwrap();
    for &id in &all {
        crowd.set_scheduled(id, true).unwrap();
    }
    bones.evaluate(&mut crowd, &gpu).unwrap_err();
    assert_sound(&bones, &gpu, &crowd, &all);
    drop(gpu);
    // On a new device it continues, with the rows of all instances.
    let gpu = open();
    for &id in &all[..50] {
        crowd.set_scheduled(id, false).unwrap();
    }
    let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
    assert_eq!((upload.frame.instances, upload.frame.carried), (COUNT, 0));
    assert_sound(&bones, &gpu, &crowd, &all);
}

/// Destroyed by another thread at any moment of a frame: an error or none, never a panic, and the rows
/// are somewhere.
pub fn destroyed_within_a_frame() {
    let mut lost = 0;
    for attempt in 0..12u64 {
        // Half of them are of an engine, whose callbacks tell the library nothing.
        let gpu = if attempt < 6 { open() } else { lent() };
        let mut bones = bones(&gpu, PaletteBackend::ALL[attempt as usize % 3]);
        let (mut crowd, all, _) = crowd_of(&[chain(30)], COUNT);
        let device = gpu.device.clone();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(300 * (attempt % 6)));
            device.destroy();
        });
        // Whenever the other thread runs. A destroyed device reports its loss when its last work is done: the frame
        // after that fails.
        let mut told = false;
        loop {
            let gone = killer.is_finished();
            crowd.advance(0.01).unwrap();
            if bones.evaluate(&mut crowd, &gpu).is_err() {
                lost += 1;
                assert!(bones.heap().is_some());
                assert_sound(&bones, &gpu, &crowd, &all);
                break;
            }
            assert!(!told, "attempt {attempt}: a frame of a device that is gone");
            if gone {
                gpu.wait().expect_err("the device is gone");
                told = true;
            }
        }
        killer.join().unwrap();
    }
    assert_eq!(lost, 12);
}

/// After another device was opened (one was lost, for example), the bone buffer recovers without a call.
pub fn bone_buffer_recovers_after_device_change() {
    for backend in PaletteBackend::ALL {
        let first = open();
        let mut bones = bones(&first, backend);
        let (mut crowd, all, _) = crowd_of(&[chain(30)], COUNT);
        for &id in &all[..50] {
            crowd.set_scheduled(id, false).unwrap();
        }
        for _ in 0..3 {
            bones.evaluate(&mut crowd, &first).unwrap();
        }
        let second = open();
        let astray = bones.read(&second).unwrap_err();
        assert!(matches!(astray, GpuError::Refused { .. }), "{astray}");
        let timed = backend == PaletteBackend::Storage;
        bones.set_options(&GpuBoneOptions { timed, ..GpuBoneOptions::default() });
        crowd.advance(0.02).unwrap();
        let upload = bones.evaluate(&mut crowd, &second).unwrap();
        assert_eq!((upload.frame.instances, upload.frame.carried), (COUNT, 0));
        assert_sound(&bones, &second, &crowd, &all);
        let able = wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let able = timed && second.device.features().contains(able);
        assert_eq!(bones.copy_time(&second).unwrap().is_some(), able);
        assert_eq!(bones.copy_time(&first), Ok(None));
    }
}

/// An error that no scope captures comes back from the next call, and does not end the process.
pub fn an_uncaptured_error_is_returned_by_the_next_call() {
    let gpu = open();
    impossible_texture(&gpu);
    let error = gpu.checked(|| Ok(())).unwrap_err();
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    assert_eq!(gpu.checked(|| Ok(7)), Ok(7));
}

/// No device has textures of this size.
pub fn impossible_texture(gpu: &Gpu) {
    let _ = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: u32::MAX, height: 1, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R8Unorm,
        usage: wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
}
