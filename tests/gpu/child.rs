//! Trials in a process of their own: what its environment or its limits decide.

use crate::memory::{in_use, limit_memory};
use crate::models::chain;
use crate::robust::rows_of;
use crate::support::{Truth, bones, crowd_of, open};
use phalanx::gpu::{Gpu, GpuError, GpuOptions, PaletteBackend};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Names a trial to a process of its own.
pub const CHILD: &str = "PHALANX_GPU_TEST_CHILD";

const MEMORY: &str = "memory";
const ADAPTER: &str = "adapter";

pub fn no_adapter() {
    let out = spawn(ADAPTER);
    assert!(out.contains("no graphics adapter"), "{out}");
}

pub fn no_memory() {
    let out = spawn(MEMORY);
    assert!(out.contains("in the heap, then on the device"), "{out}");
}

fn spawn(name: &str) -> String {
    let program = std::env::current_exe().expect("the test knows itself");
    // Mesa's device selection prints a line of its own to standard error without this folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(program);
    command.env(CHILD, name).env("XDG_RUNTIME_DIR", folder);
    if name == ADAPTER {
        command
            .env("VK_ICD_FILENAMES", "/nonexistent.json")
            .env("VK_DRIVER_FILES", "/nonexistent.json");
    }
    let out = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{:?}: {text}{error}", out.status);
    text
}

/// What runs in the process of its own.
pub fn run(name: &OsStr) {
    match name.to_str() {
        Some(ADAPTER) => adapter(),
        Some(MEMORY) => memory(),
        _ => panic!("there is no trial {name:?}"),
    }
}

fn adapter() {
    let options = GpuOptions {
        backends: wgpu::Backends::VULKAN,
        ..GpuOptions::default()
    };
    match Gpu::open(&options) {
        Err(error @ GpuError::NoAdapter { .. }) => println!("{error}"),
        other => panic!("{other:?}"),
    }
}

const JOINTS: usize = 1300;
const COUNT: usize = 5000;

/// A crowd of 298 MiB of rows meets 372 MiB of memory: enough for the heap, too little for pages with room
/// to grow. Afterwards there is more.
fn memory() {
    let gpu = open();
    let mut bones = bones(&gpu, PaletteBackend::Uniform);
    let rigs = [chain(JOINTS)];
    let (mut small, _, _) = crowd_of(&rigs, 64);
    // Threads, buffers and shaders that a frame needs are there from here on.
    bones.evaluate(&mut small, &gpu).unwrap();
    bones.forget();
    gpu.wait().unwrap();
    let (mut crowd, all, _) = crowd_of(&rigs, COUNT);
    crowd.evaluate(&mut phalanx::crowd::BoneBuffer::new());
    let rows = (COUNT * JOINTS * 48) as u64;
    limit_memory(Some(in_use() + rows + rows / 4));
    let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
    assert_eq!(error, GpuError::OutOfMemory);
    limit_memory(None);
    let mut truth = Truth::new(&rigs, &[COUNT]);
    let truth = truth.of(&crowd.snapshot());
    let sound = |rows: &[phalanx::math::Affine3x4]| {
        for &id in all.iter().step_by(499) {
            let range = crowd.palette_range(id).unwrap();
            assert_eq!(Some(&rows[range]), truth.palette(id));
        }
    };
    sound(&rows_of(&bones, &gpu));
    assert!(bones.heap().is_some());
    let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
    assert_eq!(upload.frame.instances, COUNT);
    assert!(bones.heap().is_none());
    assert_eq!(
        rows_of(&bones, &gpu).len(),
        COUNT * JOINTS.next_multiple_of(16)
    );
    println!("in the heap, then on the device");
}
