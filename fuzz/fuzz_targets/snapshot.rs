//! Any bytes as a stored snapshot: must not panic, nor use more memory than the stated multiple of the input; what is
//! restored plays on, with finite palettes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use phalanx::crowd::{BoneBuffer, CrowdSnapshot};
use phalanx::playback::{Mixer, MixerSnapshot, SNAPSHOT_MEMORY_PER_BYTE};
use phalanx_testkit::alloc;
use phalanx_testkit::lively::{Dice, Lively, layers, seal_snapshot, travelling};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// What an error and an empty snapshot may take.
const MEMORY_BASE: u64 = 64 << 10;

/// Where the checksum stands.
const CHECKSUM: std::ops::Range<usize> = 24..32;

/// Whether a restored crowd gives the bytes that it was restored from. Clips keep the `names` that they have here, and
/// those that the bytes lack stay: texts of names may differ, and bytes of other lengths are not compared.
fn is_restored(after: &[u8], bytes: &[u8], names: &[String]) -> bool {
    if after.len() != bytes.len() {
        return true;
    }
    let (mut left, mut right) = (after.to_vec(), bytes.to_vec());
    for name in names {
        let stored = [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
        let places = after.windows(stored.len()).enumerate();
        for (at, _) in places.filter(|(_, here)| *here == stored) {
            let (length, end) = (at..at + 4, at + stored.len());
            if bytes[length.clone()] != after[length] {
                return true;
            }
            left[at + 4..end].fill(0);
            right[at + 4..end].fill(0);
        }
    }
    left[CHECKSUM].fill(0);
    right[CHECKSUM].fill(0);
    left == right
}

fn crowd(bytes: &[u8]) {
    alloc::start();
    let read = CrowdSnapshot::from_bytes(bytes);
    let allowed = MEMORY_BASE + SNAPSHOT_MEMORY_PER_BYTE * bytes.len() as u64;
    assert!(alloc::peak() <= allowed, "{} bytes for {}", alloc::peak(), bytes.len());
    let Ok(read) = read else { return };
    assert!(read.to_bytes() == bytes, "a snapshot has one form");
    let (mut dice, mut buffer) = (Dice(bytes.len() as u32), BoneBuffer::new());
    let mut lively = Lively::new();
    if bytes.len() % 2 == 1 {
        // It shows something.
        lively.rank();
        lively.heights(&mut dice);
        lively.crowd.evaluate(&mut buffer);
    }
    let (before, names) = (lively.crowd.snapshot(), lively.clip_names());
    if lively.crowd.restore(&read).is_err() {
        assert!(lively.crowd.snapshot() == before, "a restore that fails changes nothing");
        return;
    }
    let after = lively.crowd.snapshot();
    assert!(is_restored(&after.to_bytes(), bytes, &names));
    let mut other = Lively::new();
    other.crowd.restore(&after).expect("it is of this crowd");
    assert!(other.crowd.snapshot().to_bytes() == after.to_bytes());
    lively.crowd.evaluate(&mut buffer);
    for _ in 0..4 {
        lively.heights(&mut dice);
        lively.round(&mut dice, &mut buffer);
        // A frame is hashed by instance: every range lies within the rows.
        assert!(buffer.rows().iter().all(|row| row.is_finite()));
    }
    let stored = lively.crowd.snapshot().to_bytes();
    CrowdSnapshot::from_bytes(&stored).expect("what is written is read");
}

fn mixer(bytes: &[u8]) {
    let Ok(read) = MixerSnapshot::from_bytes(bytes) else {
        return;
    };
    assert!(read.to_bytes() == bytes, "a snapshot has one form");
    let rig = travelling();
    let mut mixer = Mixer::with_layers(rig.clone(), layers(&rig)).expect("the rig is valid");
    if mixer.restore(&read).is_ok() {
        for dt in [0.1, 3.0, -0.2] {
            mixer.advance(dt).expect("the step is valid");
            assert!(mixer.evaluate().iter().all(|row| row.is_finite()));
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    crowd(bytes);
    mixer(bytes);
    // Contents behind the checksum are reached by making it valid.
    let mut sealed = bytes.to_vec();
    seal_snapshot(&mut sealed);
    crowd(&sealed);
    mixer(&sealed);
});
