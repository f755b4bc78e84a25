//! Trials in a process of their own: what its environment or its limits decide.

use crate::models::chain;
use crate::robust::rows_of;
use crate::support::{Truth, bones, crowd_of, open};
use phalanx::crowd::{Crowd, CrowdError};
use phalanx::gpu::{Gpu, GpuError, GpuOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx_testkit::memory::with_memory;
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
    assert!(out.contains("then on the device"), "{out}");
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
    let options = GpuOptions { backends: wgpu::Backends::VULKAN, ..GpuOptions::default() };
    match Gpu::open(&options) {
        Err(error @ GpuError::NoAdapter { .. }) => println!("{error}"),
        other => panic!("{other:?}"),
    }
}

const JOINTS: usize = 1300;
const COUNT: usize = 5000;
const ROW_BYTES: usize = COUNT * JOINTS * 48;

/// Memory beside that of the rows, for what drivers and threads take meanwhile.
const BESIDE: u64 = 64 << 20;

/// A crowd of 298 MiB of rows meets too little memory: for pages with room to grow, then for the heap, too.
/// Whatever the driver makes of that, a frame ends with an error of its kind and with its rows in the heap,
/// or nowhere; once there is memory, the next frame has them on the device.
fn memory() {
    let mut gpu = open();
    let fresh = |gpu: &Gpu| bones(gpu, PaletteBackend::Uniform);
    let mut bones = fresh(&gpu);
    let rigs = [chain(JOINTS)];
    let (mut small, _, _) = crowd_of(&rigs, 64);
    // Threads, buffers and shaders that a frame needs are there from here on.
    bones.evaluate(&mut small, &gpu).unwrap();
    bones = fresh(&gpu);
    gpu.wait().unwrap();
    let (mut crowd, all, _) = crowd_of(&rigs, COUNT);
    crowd.evaluate(&mut phalanx::crowd::BoneBuffer::new());
    let mut truth = Truth::new(&rigs, &[COUNT]);
    let truth = truth.of(&crowd.snapshot());
    let sound = |crowd: &Crowd, rows: &[Affine3x4]| {
        for &id in all.iter().step_by(499) {
            let range = crowd.palette_range(id).unwrap();
            assert_eq!(Some(&rows[range]), truth.palette(id));
        }
    };
    let mut told = Vec::new();
    for more in [BESIDE, ROW_BYTES as u64 + BESIDE] {
        let done = with_memory(more, || bones.evaluate(&mut crowd, &gpu));
        let error = done.unwrap_err();
        // The rows of the frame, or with those that align each instance to the windows of uniform buffers.
        let rows = [JOINTS, JOINTS.next_multiple_of(16)].map(|rows| COUNT * rows);
        let no_rows = rows.map(|rows| {
            let bytes = rows as u64 * 48;
            GpuError::HeapMemory(CrowdError::RowMemory { rows, bytes })
        });
        // GL reports a buffer that cannot be mapped as a lost device.
        let lost = matches!(error, GpuError::Lost { .. });
        match bones.heap() {
            Some(heap) => {
                assert!(more > BESIDE, "{error}");
                assert!(lost || error == GpuError::OutOfMemory, "{error}");
                sound(&crowd, heap.rows());
            }
            None => assert!(lost || no_rows.contains(&error), "{error}"),
        }
        told.push(format!("{error}, in the heap: {}", bones.heap().is_some()));
        if gpu.lost().is_some() {
            gpu = open();
        }
        let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
        assert_eq!(upload.frame.instances, COUNT);
        assert!(bones.heap().is_none());
        let rows = rows_of(&bones, &gpu);
        assert_eq!(rows.len(), COUNT * JOINTS.next_multiple_of(16));
        sound(&crowd, &rows);
        bones = fresh(&gpu);
        gpu.wait().unwrap();
    }
    println!("in the heap or nowhere, then on the device: {told:?}");
}
