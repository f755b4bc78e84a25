//! Any bytes as a clip's section, of any form: whatever decodes is sampled, blended and walked.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use phalanx::format::{ClipForm, Library, RigOptions};
use std::sync::OnceLock;
use phalanx_testkit::{made, seal};
use support::play;

/// A sound library, in parts, with clips in every form.
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
    // The head stays, or no change would come past the hashes of the skeleton.
    let head = made::head_bytes(ClipForm::ALL[form]);
    parts[place].bytes.truncate(head);
    parts[place].bytes.extend_from_slice(payload);
    let Ok(library) = Library::from_bytes(&seal::file(&parts)) else {
        panic!("all but the clip is sound");
    };
    if let Ok(rig) = library.rig(RigOptions::default()) {
        play(rig);
    }
});
