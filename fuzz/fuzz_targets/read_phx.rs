//! Any bytes as a .phx file: must not panic, nor use more memory than the stated multiple of the input.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::format::{Library, MEMORY_BASE, MEMORY_PER_BYTE, RigOptions};
use phalanx::rig::Rig;
use phalanx::skeleton::{Joint, NO_JOINT, Skeleton};
use phalanx_testkit::{alloc, seal};
use std::hint::black_box;
use std::sync::Once;
use support::{parts, play};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// The skeleton with its lane order reversed; `None` if it has user channels, which `Skeleton::new` does not
/// accept.
fn turned(skeleton: &Skeleton) -> Option<Skeleton> {
    if skeleton.channels().len() > 0 {
        return None;
    }
    let joints = skeleton.names().iter().zip(skeleton.parents()).enumerate();
    let joints: Vec<Joint> = joints
        .map(|(j, (name, &parent))| Joint {
            name: name.clone(),
            parent: (parent != NO_JOINT).then_some(usize::from(parent)),
            rest: skeleton.rest(j),
        })
        .collect();
    let order: Vec<u16> = (0..joints.len() as u16).rev().collect();
    let scalars = skeleton.scalars().to_vec();
    let turned = Skeleton::new(&joints, Some(&order), scalars);
    Some(turned.expect("the joints come from a skeleton"))
}

/// Opens a file and reads everything in it; returns the rig, if there is one.
fn read(file: &[u8]) -> Option<Rig> {
    let library = Library::from_bytes(file).ok()?;
    for clip in 0..library.clip_count() {
        let name = library.clip_info(clip).expect("the index is in range").name;
        let first = library.find_clip(name).expect("the name exists");
        assert!(library.clip_info(first).is_some_and(|c| c.name == name));
        let _ = black_box(library.clip(clip));
    }
    assert!(library.clip(library.clip_count()).is_err());
    // One after the other, since each may use the memory that the file's size allows.
    if let Some(turned) = turned(library.skeleton()) {
        for clip in 0..library.clip_count() {
            let moved = library.clip_for(clip, &turned);
            assert!(moved.is_err() || library.clip(clip).is_ok());
        }
    }
    black_box(library.sections().count());
    let _ = black_box(library.verify());
    library.rig(&RigOptions::default()).ok()
}

/// Reads a file and compares the peak memory with FORMAT.md's limit, plus the copy of the file.
fn within_memory_limit(file: &[u8]) {
    alloc::start();
    let rig = read(file);
    let allowed = MEMORY_BASE + (MEMORY_PER_BYTE + 2) * file.len() as u64;
    let peak = alloc::peak();
    // Vectors that grow by pushing may have twice the capacity they need.
    assert!(peak <= 2 * allowed, "{peak} bytes for a file of {}", file.len());
    if let Some(rig) = rig {
        play(rig);
    }
}

/// rayon's workers read the clips; a pool of only this thread makes their memory count.
static ONE_THREAD: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    ONE_THREAD.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        let pool = pool.use_current_thread().build_global();
        pool.expect("the pool is built once");
    });
    within_memory_limit(bytes);
    // Contents behind checksums are reached by making the checksums valid.
    if let Some(parts) = parts(bytes) {
        within_memory_limit(&seal::file(&parts));
    }
});
