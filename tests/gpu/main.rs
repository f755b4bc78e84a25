//! The bone buffer and the shaders on a device, against the heap and the CPU skinning job.
//!
//! Trials are ignored where there is no adapter, unless `PHALANX_REQUIRE_GPU=1`.

mod adopt;
mod bones;
mod child;
mod history;
mod limits;
mod models;
mod pictures;
mod readback;
mod robust;
mod shaders;
mod sizes;
mod skinning;
mod subject;
mod support;
mod test_renderer;
mod twins;
mod watched;

use libtest_mimic::{Arguments, Trial};
use phalanx_testkit::trials;

fn main() {
    // A process of its own for what the environment decides.
    if let Some(name) = std::env::var_os(child::CHILD) {
        return child::run(&name);
    }
    let args = Arguments::from_args();
    let required = std::env::var("PHALANX_REQUIRE_GPU").is_ok_and(|v| v == "1");
    let missing = support::no_adapter();
    if let Some(reason) = &missing {
        let what = if required { "fail" } else { "are ignored" };
        println!("trials on the GPU {what}: {reason}");
    }
    let with = |name: &'static str, files: &'static [&'static str], trial: fn()| {
        trials::trial(name, files, move || {
            let _one_at_a_time = support::device_lock();
            trials::on_ended_thread(trial);
            Ok(())
        })
        .with_ignored_flag(missing.is_some() && !required)
    };
    let gpu = |name: &'static str, trial: fn()| with(name, &[], trial);
    let cpu = |name: &'static str, trial: fn()| {
        Trial::test(name, move || {
            trial();
            Ok(())
        })
    };
    let joints = &["bl_manyjoints.glb"];
    let mut trials = vec![
        gpu("rows_equal_the_heap", bones::rows_equal_the_heap),
        gpu("rows_of_many_clips_equal_the_heap", bones::rows_of_many_clips_equal_the_heap),
        gpu("rows_of_a_hook_equal_the_heap", bones::rows_of_a_hook_equal_the_heap),
        gpu("rows_with_tiers_equal_the_heap", bones::rows_with_tiers_equal_the_heap),
        gpu("one_copy_per_page", bones::one_copy_per_frame_and_page),
        gpu("copies_into_textures_are_counted", sizes::copies_into_textures_are_counted),
        gpu("growth", bones::growth),
        gpu("watched_joints_equal_those_of_the_heap", watched::joints_equal_those_of_the_heap),
        gpu("the_frame_before_is_kept", bones::the_frame_before_is_kept),
        gpu("rows_of_the_frame_before", history::the_frame_before_has_its_rows),
        gpu("both_ways_of_uploading", history::both_ways_of_uploading),
        gpu("times_of_copies", bones::the_device_times_its_copies),
        gpu("an_empty_crowd", bones::an_empty_crowd),
        gpu("skinning_every_kind", skinning::every_kind),
        gpu("skinning_mirrored", skinning::mirrored),
        gpu("skinning_between_two_poses", skinning::between_two_poses),
        gpu("skinning_refusals", skinning::refusals),
        gpu("skinning_1500_joints", skinning::many_joints),
        with("skinning_a_file", joints, skinning::file_of_201_joints),
        with("skinning_morphs", &["bl_morphbones.glb"], skinning::file_with_morphs),
        gpu("pictures_every_kind", pictures::every_kind),
        gpu("pictures_1500_joints", pictures::many_joints),
        gpu("pictures_with_few_limits", pictures::few_limits),
        with("pictures_of_a_file", joints, pictures::file_of_201_joints),
        gpu("webgl2_limits", limits::webgl2),
        with("webgl2_pictures_of_a_file", joints, pictures::file_with_few_limits),
        gpu("too_many_joints", limits::too_many_joints),
        gpu("pairs_of_palettes", limits::pairs_of_palettes),
        gpu("backends_of_1500_joints", limits::many_joints),
        gpu("destroyed_between_frames", robust::destroyed_between_frames),
        gpu("destroyed_within_a_frame", robust::destroyed_within_a_frame),
        gpu(
            "bone_buffer_recovers_after_device_change",
            robust::bone_buffer_recovers_after_device_change,
        ),
        gpu(
            "an_uncaptured_error_is_returned_by_the_next_call",
            robust::an_uncaptured_error_is_returned_by_the_next_call,
        ),
        gpu("handlers_stay_the_hosts", adopt::handlers_stay_the_hosts),
        gpu(
            "own_handlers_know_the_reason_of_a_loss",
            adopt::own_handlers_know_the_reason_of_a_loss,
        ),
        cpu("no_adapter", child::no_adapter),
        cpu("shaders_are_valid", shaders::valid),
    ];
    if cfg!(target_os = "linux") {
        // The limit on a process's memory is set in Linux's way.
        trials.push(gpu("no_memory_for_pages", child::no_memory));
    }
    libtest_mimic::run(&args, trials).exit();
}
