//! The .phx file: what is written is read, wherever it lies; and nothing damaged is.

mod bounds;
mod coded;
mod damage;
mod images;
mod lanes;
mod merge;
mod models;
mod quartet;
mod roundtrip;
mod stored;
mod ways;

use libtest_mimic::Trial;
use phalanx_testkit::trials::trial;

pub type Tested = Result<(), libtest_mimic::Failed>;
type Test = (&'static str, fn() -> Tested);

pub fn trials() -> Vec<Trial> {
    let plain: Vec<Test> = vec![
        ("a_library_is_what_was_written", roundtrip::everything),
        ("long_timelines_are_read", roundtrip::long_timelines),
        ("rows_lie_in_the_map", roundtrip::rows_lie_in_the_map),
        ("clips_are_read_one_by_one", roundtrip::one_by_one),
        ("the_same_calls_give_the_same_bytes", roundtrip::same_bytes),
        ("other_lane_orders", roundtrip::other_lane_orders),
        ("additive_clips_of_other_lane_orders", roundtrip::additive_lanes),
        ("truncations", quartet::truncations),
        ("extra_bytes", quartet::extra_bytes),
        ("every_byte_is_looked_at", quartet::every_byte),
        ("other_versions_and_damaged_headers", quartet::headers),
        ("unknown_sections", quartet::unknown_sections),
        ("sections_cut_short_and_drawn_long", quartet::sections),
        ("malformed_values_of_every_section", damage::values),
        ("human_bones_by_their_codes", damage::bones),
        ("names_that_every_clip_repeats", damage::repeated_names),
        ("long_names_of_many_clips", damage::long_names),
        ("provenance_that_no_reader_would_take", damage::provenance),
        ("malformed_coded_clips", damage::coded_values),
        ("malformed_packed_blocks", damage::packed_values),
        ("damaged_variants", damage::variants),
        ("the_stored_file_of_version_1", stored::version_1),
        ("bounds_are_those_measured", bounds::read_as_measured),
        ("files_without_bounds", bounds::files_without),
        ("malformed_bounds", bounds::refused),
        ("coded_clips_of_stored_files", coded::stored),
        ("saved_files_are_whole", stored::saving),
        ("saved_files_and_links", stored::saving_beside_links),
        ("files_cut_after_opening", ways::cut_after_opening),
        ("files_written_after_opening", ways::written_after_opening),
        ("memory_of_an_open_file", ways::memory),
        ("rows_of_their_own", ways::rows_of_their_own),
        ("what_is_no_file", ways::not_files),
        ("refused_parts", merge::refused),
        ("images_as_their_sources_hold_them", images::encoded),
        ("damaged_encoded_images", images::damaged),
        ("mime_types_of_encoded_images", images::mime_types),
    ];
    let mut trials: Vec<Trial> = plain.into_iter().map(|(n, t)| trial(n, &[], t)).collect();
    for file in ["pab.glb", "robot.glb", "CesiumMan.glb"] {
        let name = format!("moved_lanes_keep_their_keys_{file}");
        trials.push(trial(name, &[file], move || lanes::keep_their_keys(file)));
    }
    for file in [
        "pab.glb",
        "Fox.glb",
        "MorphStressTest.gltf",
        "robot.glb",
        "bl_morphbones.glb",
        "greenman.glb",
    ] {
        trials.push(trial(format!("model_{file}"), &[file], move || models::file(file)));
    }
    trials
}
