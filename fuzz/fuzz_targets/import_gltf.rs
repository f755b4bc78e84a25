//! Any bytes as a glTF file: must not panic; whatever imports is sampled, blended and evaluated.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::import::{ImportOptions, import_slice};

fuzz_target!(|bytes: &[u8]| {
    let options = ImportOptions {
        images: phalanx::mesh::ImageMode::Skip,
        // One of four, so that an input always runs the same way.
        lenient: bytes.len() % 2 == 1,
        trim: bytes.len() % 4 > 1,
        ..ImportOptions::default()
    };
    let Ok(imported) = import_slice(bytes, "fuzz", None, &options) else {
        return;
    };
    for rig in imported.rigs {
        support::play(rig);
    }
});
