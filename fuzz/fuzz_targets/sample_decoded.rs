//! Any bytes as a clip's section, in any form: whatever decodes is sampled, blended and evaluated.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::format::{ClipForm, Library, RigOptions};
use phalanx_testkit::{made, seal};
use std::sync::OnceLock;
use support::play;

/// Parts of a valid library, one per clip form.
static SOUND: OnceLock<Vec<Vec<seal::Part>>> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let sound = SOUND.get_or_init(|| {
        let rig = made::travelling();
        let in_form = |&form: &ClipForm| seal::parts(&made::library_in(&rig, form));
        ClipForm::ALL.iter().map(in_form).collect()
    });
    let Some((&form, payload)) = bytes.split_first() else {
        return;
    };
    let form = usize::from(form) % sound.len();
    let mut parts = sound[form].clone();
    let place = seal::find(&parts, b"CLIP");
    // The head is kept; otherwise every change would fail at the skeleton's hashes.
    let head = made::head_bytes(ClipForm::ALL[form]);
    parts[place].bytes.truncate(head);
    parts[place].bytes.extend_from_slice(payload);
    let Ok(library) = Library::from_bytes(&seal::file(&parts)) else {
        panic!("everything but the clip is valid");
    };
    if let Ok(rig) = library.rig(&RigOptions::default()) {
        play(rig);
    }
});
