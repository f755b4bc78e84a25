//! The `phalanx` binary as a process: outputs, exit codes, one line per error.

mod backends;
mod bake;
mod bench;
mod bvh;
mod chatter;
mod clashes;
mod clip_files;
mod clips;
mod crowd;
mod edges;
mod errors;
mod hostile;
mod info;
mod inputs;
mod library;
mod names;
mod plaza;
mod pose;
mod progress;
mod reading;
mod render;
mod retarget;
mod support;
mod vrm;
mod widths;

use libtest_mimic::Trial;
use phalanx_testkit::trials;
use phalanx_testkit::trials::trial;
use support::Tested;

type Test = (&'static str, fn() -> Tested);

fn main() {
    let plain: Vec<Test> = vec![
        ("help_and_version", errors::help_and_version),
        #[cfg(not(feature = "view"))]
        ("no_window_without_the_feature", errors::no_window),
        ("usage_errors_exit_with_2", errors::usage_errors),
        ("reading_required_extensions", reading::required_extensions),
        ("reading_trimmed_clips", reading::trimmed_clips),
        ("reading_parent_folders", reading::parent_folders),
        ("reading_beyond_limits", reading::limits_that_can_be_raised),
        ("reading_early_clips", reading::clips_that_begin_early),
        ("clips_on_copies", clips::on_copies),
        ("reading_other_scenes", reading::other_scenes),
        ("clips_bound_by_name", clips::bound_by_name),
        ("clips_of_a_library", clips::library_of_exported_files),
        ("clips_played_everywhere", clips::played_everywhere),
        ("clips_refused", clips::refused),
        ("clips_bound_with_options", clips::bound_with_options),
        ("joints_by_index", clips::joints_by_index),
        ("clips_of_skeletons_that_differ", clip_files::skeletons_that_differ),
        ("clips_on_a_model_that_is_refused", clip_files::a_model_that_is_refused),
        ("clips_baked_under_other_names", clip_files::other_names),
        ("clips_with_import_reports", clip_files::import_reports),
        ("clips_and_units", clip_files::units),
        ("clips_in_shards", clip_files::shards),
        ("clips_of_joints_in_another_order", clip_files::joints_in_another_order),
        ("clips_of_several_bad_files", clip_files::several_bad_files),
        ("reading_what_is_dropped_is_told", reading::what_is_dropped_is_told),
        ("reading_names_that_occur_twice", reading::names_that_occur_twice),
        ("widths_of_the_built_in_character", widths::of_the_built_in_character),
        ("widths_of_long_names", widths::of_long_names),
        ("widths_of_help", widths::of_help),
        ("widths_of_narrow_terminals", widths::of_narrow_terminals),
        ("drivers_are_not_heard", chatter::none_on_success),
        ("errors_of_drivers_are_printed", chatter::errors_are_printed),
        ("render_ends", render::ends),
        ("render_nods", render::nods),
        ("render_beside", render::beside),
        ("render_rounds", render::rounds),
        ("info_begins_with_size_and_clips", info::begins_with_size_and_clips),
        ("info_of_markers_and_root_motion", info::markers_and_root_motion),
        ("verify_of_other_files", library::verify_other_files),
        ("refused_numbers_are_named_in_words", errors::refused_numbers),
        ("files_that_are_no_models", errors::files_that_are_no_models),
        ("unknown_clips_are_named_with_what_there_is", errors::unknown_clips),
        ("outputs_that_cannot_be_written", errors::unwritable_outputs),
        ("crowds_beyond_memory", errors::crowds_beyond_memory),
        #[cfg(target_os = "linux")]
        ("crowds_in_little_memory", errors::crowds_in_little_memory),
        ("simd_levels", errors::simd_levels),
        ("a_closed_pipe_is_no_error", errors::closed_pipe),
        ("a_full_disk_is_one_line", errors::full_disk),
        ("pose_json_reads_back_exactly", pose::pose_reads_back_exactly),
        ("pose_loops_and_blends", pose::pose_loops_and_blends),
        ("pose_tables", pose::pose_tables),
        ("pose_outside_the_scene", pose::outside_the_scene),
        ("pose_beyond_f32", pose::beyond_f32),
        ("merge_of_other_lane_orders", library::merge_orders),
        ("info_json_and_text", info::info_json_and_text),
        ("crowd_draws_and_reports", crowd::crowd_draws_and_reports),
        ("crowd_without_an_adapter", crowd::crowd_without_an_adapter),
        ("crowd_keeps_what_it_could_not_replace", crowd::crowd_keeps_old_files),
        ("crowds_of_any_size", crowd::crowds_of_any_size),
        ("plaza_figures", plaza::figures),
        ("plaza_budgets", plaza::budgets),
        ("plaza_tiers_of_files", plaza::tiers_of_files),
        ("plaza_details", plaza::details),
        ("plaza_pictures_of_any_shape", plaza::pictures_of_any_shape),
        ("textures_that_are_missing_are_named", crowd::textures_that_are_missing),
        ("render_sheets", render::sheets),
        ("render_blends", render::blends),
        ("render_gifs", render::gifs),
        ("render_attachments", render::attachments),
        ("render_refusals", render::refusals),
        ("crowds_of_what_cannot_be_drawn", crowd::crowds_without_meshes),
        ("bench_tables_and_rows", bench::tables_and_rows),
        ("bench_against_its_own_figures", bench::a_baseline_of_the_same_machine),
        ("bench_regressions_exit_with_1", bench::regressions_exit_with_1),
        ("bench_says_what_cannot_be_compared", bench::what_cannot_be_compared_is_said),
        ("bench_of_files_that_are_no_baselines", bench::files_that_are_no_baselines),
        ("bench_of_choices_that_do_not_exist", bench::choices_that_do_not_exist),
        ("bench_of_a_model_without_clips", bench::no_clips),
        ("bench_of_a_living_crowd", bench::of_a_living_crowd),
        ("bench_of_living_crowds_that_are_refused", bench::living_crowds_that_are_refused),
        ("bvh_is_read_by_every_command", bvh::every_command),
        ("bvh_of_tiny_models", bvh::tiny_models_are_spoken_of),
        ("bvh_is_drawn_as_a_skeleton", bvh::is_drawn),
        ("bvh_is_baked", bvh::is_baked),
        ("bvh_refusals", bvh::refusals),
        ("bake_within_the_error", bake::within_the_error),
        ("phx_files_are_read_like_gltf", bake::read_like_gltf),
        ("bake_skips_what_is_done", bake::skips_what_is_done),
        ("bakes_killed_in_the_middle", bake::killed_in_the_middle),
        ("bake_with_joints_of_their_own", bake::joints_of_their_own),
        ("bake_lengths_in_per_cent", bake::per_cent_of_the_size),
        ("bake_with_z_up", bake::up),
        ("bake_refusals", bake::refusals),
        ("bake_events_of_clips_and_outputs", progress::tells_clips_and_outputs),
        ("bake_events_of_faults", progress::tells_faults),
        ("bake_events_beside_json", progress::not_with_json),
        ("bake_events_without_a_reader", progress::outlives_its_reader),
        ("bake_goes_on_past_faults", inputs::goes_on_past_faults),
        ("bake_keeps_folders", inputs::keeps_folders),
        ("bake_takes_a_file_once", inputs::takes_a_file_once),
        ("bake_sees_files_beside", inputs::sees_files_beside),
        ("bake_names_what_is_no_text", inputs::names_what_is_no_text),
        ("shards_make_the_whole", library::shards_make_the_whole),
        ("merge_refuses", library::merge_refuses),
        ("merge_in_the_order_of_files", library::merge_in_order),
        ("verify_tells_what_it_cannot_measure", library::verify_unmeasured),
        #[cfg(unix)]
        ("pipes_are_refused", inputs::pipes),
        #[cfg(unix)]
        ("pipes_of_settings_are_refused", hostile::pipes_of_settings),
        ("long_names_are_cut_in_messages", hostile::long_names),
        ("help_on_a_full_disk", hostile::help_on_a_full_disk),
        #[cfg(target_os = "linux")]
        ("bake_onto_a_full_disk", hostile::a_bake_onto_a_full_disk),
        ("bake_is_bounded_by_its_file", hostile::a_bake_is_bounded_by_its_file),
        #[cfg(target_os = "linux")]
        ("bake_without_memory", hostile::a_bake_without_memory),
        ("quality_errors_are_words", hostile::quality_in_words),
        ("outputs_that_are_inputs", clashes::refused),
        ("outputs_beside_one_that_is_an_input", clashes::others_go_on),
        #[cfg(unix)]
        ("outputs_to_pipes_and_devices", clashes::streams),
        #[cfg(unix)]
        ("outputs_behind_links_and_beside_them", clashes::links_and_permissions),
        ("hidden_characters_of_files", names::from_files),
        ("hidden_characters_of_benches", names::in_benches),
        ("hidden_characters_of_arguments", names::from_arguments),
        ("retarget_onto_another", retarget::onto_another),
        ("retarget_maps", retarget::maps_are_printed_and_read),
        ("retarget_maps_completed", retarget::maps_are_completed),
        ("retarget_maps_by_shape", retarget::maps_by_shape),
        ("retarget_maps_bounded", retarget::maps_are_bounded),
        ("retarget_two_skeletons", retarget::two_skeletons),
        ("retarget_folders_and_mirrors", retarget::folders_and_mirrors),
        ("retarget_refusals", retarget::refusals),
        ("retarget_settings_are_named", retarget::settings_are_named),
        ("retarget_clips_named_after_files", retarget::clips_named_after_files),
        ("retarget_what_is_dropped_is_told", retarget::what_is_dropped_is_told),
        ("humanoids_of_vrm_files", vrm::humanoids_are_stored),
        ("humanoids_against_their_hierarchy", vrm::against_the_hierarchy),
        ("render_side_by_side", retarget::side_by_side),
        ("verify_tells", library::verify_tells),
        ("verify_many", library::verify_many),
    ];
    let mut trials: Vec<Trial> = plain.into_iter().map(|(n, t)| trial(n, &[], t)).collect();
    trials.extend(backends::trials());
    trials.push(trial(
        "clips_of_cubic_keys_at_other_times",
        &[clips::CUBIC_HERO, clips::CUBIC_MOTION],
        clips::cubic_keys_at_other_times,
    ));
    for (name, test) in edges::TRIALS {
        trials.push(trial(name, &edges::NEEDS, test));
    }
    trials.push(trial(
        "verify_measures_morph_weights",
        &["MorphStressTest.gltf"],
        library::verify_scalars,
    ));
    trials.push(trial("pose_of_files", &["bl_morphbones.glb", "robot.glb"], pose::pose_of_files));
    trials.push(trial(
        "render_files",
        &["greenman.glb", "greenman_sword.glb", "bl_rider.glb"],
        render::files,
    ));
    for file in
        ["Fox.glb", "MorphStressTest.gltf", "SimpleSkin.gltf", "greenman_hat.glb", "pab.glb"]
    {
        trials.push(trial(format!("crowd_and_info_of_{file}"), &[file], move || {
            crowd::any_model(file)
        }));
    }
    for file in ["Fox.glb", "MorphStressTest.gltf"] {
        trials.push(trial(format!("plaza_of_{file}"), &[file], move || plaza::of_a_file(file)));
    }
    for file in ["pab.glb", "Fox.glb", "CesiumMan.glb", "bl_morphbones.glb"] {
        trials.push(trial(format!("bake_of_{file}"), &[file], move || library::any_model(file)));
    }
    trials.push(trial("info_of_centimetres", &["Fox.glb"], info::centimetres));
    for (file, clip) in [("pab.glb", "walk"), ("Fox.glb", "Walk")] {
        trials.push(trial(format!("widths_of_{file}"), &[file], move || {
            widths::of_a_file(file, clip)
        }));
    }
    for (file, clips, additive) in [
        ("Fox.glb", "Survey, Walk, Run", "Run, on b_Spine01_02 and below"),
        ("MorphStressTest.gltf", "Individuals, Pulse, TheWave", "TheWave, on all joints"),
        ("bl_manyjoints.glb", "Grab, Swim, Grab", "Swim, on all joints"),
        ("pab.glb", "walk, jog, run", "atlas, on Spine1 and below"),
    ] {
        trials.push(trial(format!("bench_of_{file}"), &[file], move || {
            bench::any_model(file, clips, additive)
        }));
    }
    trials::run(trials);
}
