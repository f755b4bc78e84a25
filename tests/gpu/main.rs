//! The bone buffer and the shaders on a device, against the heap and the CPU skinning job.
//!
//! Trials are ignored where there is no adapter, unless `PHALANX_REQUIRE_GPU=1`.

mod bones;
mod limits;
mod models;
mod robust;
mod shaders;
mod skinning;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    // A process of its own for what the environment decides.
    if let Some(name) = std::env::var_os(robust::CHILD) {
        return robust::child(&name);
    }
    let args = Arguments::from_args();
    let required = std::env::var("PHALANX_REQUIRE_GPU").is_ok_and(|v| v == "1");
    let missing = support::no_adapter();
    if let Some(reason) = &missing {
        let what = if required { "fail" } else { "are ignored" };
        println!("trials on the GPU {what}: {reason}");
    }
    let gpu = |name: &'static str, trial: fn()| {
        Trial::test(name, move || {
            let _one_at_a_time = support::device_lock();
            // On a thread that has ended for good before the process exits: drivers keep data per
            // thread, and the harness does not wait for its own threads.
            match std::thread::spawn(trial).join() {
                Ok(()) => Ok(()),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
        .with_ignored_flag(missing.is_some() && !required)
    };
    let file = |trial: Trial| {
        let there = models::asset("bl_manyjoints.glb").exists();
        trial.with_ignored_flag(!there || missing.is_some() && !required)
    };
    let cpu = |name: &'static str, trial: fn()| {
        Trial::test(name, move || {
            trial();
            Ok(())
        })
    };
    let trials = vec![
        gpu(
            "rows_on_the_device_are_those_of_the_heap",
            bones::rows_equal_the_heap,
        ),
        gpu(
            "one_copy_per_frame_and_page",
            bones::one_copy_per_frame_and_page,
        ),
        gpu("the_frame_before_is_kept", bones::the_frame_before_is_kept),
        gpu("a_device_that_is_behind", bones::a_device_that_is_behind),
        gpu("an_empty_crowd", bones::an_empty_crowd),
        gpu("skinning_of_every_kind", skinning::every_kind),
        gpu("skinning_of_1500_joints", skinning::many_joints),
        file(gpu(
            "skinning_of_bl_manyjoints",
            skinning::file_of_201_joints,
        )),
        file(gpu("skinning_of_bl_morphbones", skinning::file_with_morphs)),
        gpu("webgl2_limits", limits::webgl2),
        gpu("too_many_joints", limits::too_many_joints),
        gpu(
            "a_device_destroyed_between_frames",
            robust::destroyed_between_frames,
        ),
        gpu(
            "a_device_destroyed_within_a_frame",
            robust::destroyed_within_a_frame,
        ),
        gpu("no_memory_for_pages", robust::no_memory),
        cpu("no_adapter", robust::no_adapter),
        cpu("shaders_are_valid", shaders::valid),
    ];
    libtest_mimic::run(&args, trials).exit();
}
