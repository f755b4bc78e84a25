//! What goes wrong on devices: typed errors or recovery, and the crowd goes on.

use crate::models::chain;
use crate::support::{Truth, bones, crowd_of, open};
use phalanx::crowd::{Crowd, InstanceId};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuError, GpuOptions, PaletteBackend};
use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

/// Names a trial to a process of its own.
pub const CHILD: &str = "PHALANX_GPU_TEST_CHILD";

const COUNT: usize = 120;

fn rows_of(bones: &GpuBoneBuffer, gpu: &Gpu) -> Vec<phalanx::math::Affine3x4> {
    match bones.heap() {
        Some(heap) => heap.rows().to_vec(),
        None => bones.read(gpu).expect("the device has the rows"),
    }
}

/// The palettes of everyone, wherever they are, against a crowd with no history.
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
        crowd.set_due(id, false).unwrap();
    }
    for _ in 0..3 {
        crowd.advance(0.02).unwrap();
        let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
        assert!(matches!(error, GpuError::Lost { .. }), "{error}");
        assert!(bones.heap().is_some());
    }
    crowd.advance(0.02).unwrap();
    for &id in &all {
        crowd.set_due(id, true).unwrap();
    }
    bones.evaluate(&mut crowd, &gpu).unwrap_err();
    assert_sound(&bones, &gpu, &crowd, &all);
    drop(gpu);
    // On a new device it goes on, with everyone's rows.
    let gpu = open();
    for &id in &all[..50] {
        crowd.set_due(id, false).unwrap();
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
        let gpu = open();
        let mut bones = bones(&gpu, PaletteBackend::ALL[attempt as usize % 3]);
        let (mut crowd, all, _) = crowd_of(&[chain(30)], COUNT);
        let device = gpu.device.clone();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(150 * attempt));
            device.destroy();
        });
        for _ in 0..2000 {
            crowd.advance(0.01).unwrap();
            if bones.evaluate(&mut crowd, &gpu).is_err() {
                lost += 1;
                assert!(bones.heap().is_some());
                assert_sound(&bones, &gpu, &crowd, &all);
                break;
            }
        }
        killer.join().unwrap();
    }
    assert_eq!(lost, 12);
}

/// A device without memory to spare: heap rows in the same frame, and the device's again once it can.
pub fn no_memory() {
    out_of_memory(CHILD_MEMORY);
}

const CHILD_MEMORY: &str = "memory";
const CHILD_ADAPTER: &str = "adapter";

pub fn no_adapter() {
    let out = spawn(CHILD_ADAPTER, None);
    assert!(out.contains("no graphics adapter"), "{out}");
}

fn out_of_memory(name: &str) {
    // Kilobytes of address space beyond what the process has: enough for a device and its threads,
    // too little for the crowd's pages.
    let out = spawn(name, Some(()));
    assert!(out.contains("heap") && out.contains("again"), "{out}");
}

fn spawn(name: &str, _limited: Option<()>) -> String {
    let program = std::env::current_exe().expect("the test knows itself");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(program);
    command.env(CHILD, name).env("XDG_RUNTIME_DIR", folder);
    if name == CHILD_ADAPTER {
        command
            .env("VK_ICD_FILENAMES", "/nonexistent.json")
            .env("VK_DRIVER_FILES", "/nonexistent.json")
            .env("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json");
    }
    let out = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{:?}: {text}{error}", out.status);
    text
}

/// What runs in a process of its own.
pub fn child(name: &OsStr) {
    if name == CHILD_ADAPTER {
        let options = GpuOptions {
            backends: wgpu::Backends::VULKAN,
            ..GpuOptions::default()
        };
        match Gpu::open(&options) {
            Err(error @ GpuError::NoAdapter { .. }) => println!("{error}"),
            other => panic!("{other:?}"),
        }
    } else {
        memory();
    }
}

/// Buffers are held until the device refuses more; then a frame is evaluated, and again when they are
/// gone.
fn memory() {
    let gpu = open();
    let size = 1 << 30;
    let mut held = Vec::new();
    let full = loop {
        let one = gpu.checked(|| {
            Ok(gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }))
        });
        match one {
            Ok(buffer) if held.len() < 4096 => held.push(buffer),
            Ok(_) => break None,
            Err(error) => break Some(error),
        }
    };
    println!("{} buffers, then {full:?}", held.len());
    assert_eq!(full, Some(GpuError::OutOfMemory));
    let mut bones = GpuBoneBuffer::new(&gpu, GpuBoneOptions::new(PaletteBackend::Storage)).unwrap();
    let (mut crowd, all, _) = crowd_of(&[chain(30)], COUNT);
    println!("{:?}", bones.evaluate(&mut crowd, &gpu).map(|u| u.way));
    drop(held);
    gpu.wait().unwrap();
    bones.evaluate(&mut crowd, &gpu).unwrap();
    assert_sound(&bones, &gpu, &crowd, &all);
    println!("again");
}
