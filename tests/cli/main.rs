//! The `phalanx` binary as a process: outputs, exit codes, one line per error.

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod errors;
mod info;
mod pose;
mod support;

use common::trial;
use libtest_mimic::Trial;
use support::Tested;

type Test = (&'static str, fn() -> Tested);

fn main() {
    let plain: Vec<Test> = vec![
        ("help_and_version", errors::help_and_version),
        ("usage_errors_exit_with_2", errors::usage_errors),
        ("files_that_are_no_models", errors::files_that_are_no_models),
        (
            "unknown_clips_are_named_with_what_there_is",
            errors::unknown_clips,
        ),
        ("outputs_that_cannot_be_written", errors::unwritable_outputs),
        ("crowds_beyond_memory", errors::crowds_beyond_memory),
        ("simd_levels", errors::simd_levels),
        ("a_closed_pipe_is_no_error", errors::closed_pipe),
        ("a_full_disk_is_one_line", errors::full_disk),
        (
            "pose_json_reads_back_exactly",
            pose::pose_reads_back_exactly,
        ),
        ("pose_loops_and_blends", pose::pose_loops_and_blends),
        ("pose_tables", pose::pose_tables),
        ("info_json_and_text", info::info_json_and_text),
        ("crowd_draws_and_reports", crowd::crowd_draws_and_reports),
        ("crowd_without_an_adapter", crowd::crowd_without_an_adapter),
        (
            "crowd_keeps_what_it_could_not_replace",
            crowd::crowd_keeps_old_files,
        ),
        ("crowds_of_any_size", crowd::crowds_of_any_size),
        (
            "crowds_of_what_cannot_be_drawn",
            crowd::crowds_without_meshes,
        ),
    ];
    let mut trials: Vec<Trial> = plain.into_iter().map(|(n, t)| trial(n, &[], t)).collect();
    trials.push(trial(
        "pose_of_files",
        &["bl_morphbones.glb", "robot.glb"],
        pose::pose_of_files,
    ));
    for file in [
        "Fox.glb",
        "MorphStressTest.gltf",
        "SimpleSkin.gltf",
        "greenman_hat.glb",
        "pab.glb",
    ] {
        trials.push(trial(
            format!("crowd_and_info_of_{file}"),
            &[file],
            move || crowd::any_model(file),
        ));
    }
    common::run(trials);
}
