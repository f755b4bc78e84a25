//! Any bytes as a BVH file: must not panic; whatever is read is built, sampled, blended and evaluated. The first
//! byte chooses the unit and the up axis.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::ImportOptions;
use phalanx::import::UpAxis;
use phalanx::import::bvh::read_slice;

fuzz_target!(|bytes: &[u8]| {
    let (&choice, text) = bytes.split_first().unwrap_or((&0, &[]));
    let options = ImportOptions {
        unit: [1.0, 0.01, 1e-30, 1e9][usize::from(choice & 3)],
        up_axis: match choice & 4 {
            0 => UpAxis::Y,
            _ => UpAxis::Z,
        },
        memory_limit: Some(64 << 20),
        ..ImportOptions::default()
    };
    let Ok((scene, report)) = read_slice(text, "fuzz", &options) else {
        return;
    };
    assert!(report.len() <= 3, "entries are few: {report:?}");
    for track in scene.clips.iter().flat_map(|c| &c.tracks) {
        let finite = track.values.iter().chain(&track.times).all(|v| v.is_finite());
        assert!(finite, "tracks of a file that was read are finite");
    }
    let build = BuildOptions { max_clip_bytes: 256 << 20, ..BuildOptions::default() };
    if let Ok(rig) = build_rig(scene, &build) {
        support::play(rig);
    }
});
