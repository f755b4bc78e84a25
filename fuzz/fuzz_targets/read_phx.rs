//! Any bytes as a .phx file: never a panic, never more memory than the stated multiple of the input.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::format::{Library, MEMORY_BASE, MEMORY_PER_BYTE, RigOptions};
use phalanx::rig::Rig;
use phalanx::skeleton::{Joint, NO_JOINT, Skeleton};
use std::hint::black_box;
use std::sync::Once;
use phalanx_testkit::{alloc, seal};
use support::{parts, play};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// The skeleton with its joints in the opposite lanes; none if it has user channels, whose scalars come
/// with them.
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
    Some(turned.expect("it is one already"))
}

/// Opens and reads all there is; gives the character, if there is one.
fn read(file: &[u8]) -> Option<Rig> {
    let library = Library::from_bytes(file).ok()?;
    for clip in 0..library.len() {
        let name = library.clip_name(clip).expect("it is within the library");
        let first = library.find_clip(name).expect("a name that is there");
        assert!(library.clip_name(first) == Some(name));
        let _ = black_box(library.clip(clip));
    }
    assert!(library.clip(library.len()).is_err());
    // One after the other, as each may take what the file's size allows.
    if let Some(turned) = turned(library.skeleton()) {
        for clip in 0..library.len() {
            let moved = library.clip_for(clip, &turned);
            assert!(moved.is_err() || library.clip(clip).is_ok());
        }
    }
    black_box(library.sections().count());
    let _ = black_box(library.verify());
    library.rig(RigOptions::default()).ok()
}

/// Reads, and compares the memory with what FORMAT.md allows: the budget, and the copy of the file.
fn within_budget(file: &[u8]) {
    alloc::start();
    let rig = read(file);
    let allowed = MEMORY_BASE + (MEMORY_PER_BYTE + 2) * file.len() as u64;
    let peak = alloc::peak();
    // Vectors that grow by pushing have up to twice what they hold.
    assert!(
        peak <= 2 * allowed,
        "{peak} bytes for a file of {}",
        file.len()
    );
    if let Some(rig) = rig {
        play(rig);
    }
}

/// Clips are read by rayon's workers: by one, which is this thread, so that its memory is counted.
static ONE_THREAD: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    ONE_THREAD.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        let pool = pool.use_current_thread().build_global();
        pool.expect("the pool is built once");
    });
    within_budget(bytes);
    // What lies behind checksums is reached by making them right.
    if let Some(parts) = parts(bytes) {
        within_budget(&seal::file(&parts));
    }
});
