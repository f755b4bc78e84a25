//! Pictures: both ways of drawing against each other, against known geometry and against bad scenes.
//!
//! Trials that need an adapter are ignored where there is none, unless `PHALANX_REQUIRE_GPU=1`.

mod agree;
mod alpha;
mod backends;
mod between;
mod bounds;
mod colors;
mod detail;
mod faults;
mod known;
mod model;
mod parade;
mod refuse;
mod scenes;
mod winding;

use libtest_mimic::{Arguments, Trial};
use phalanx_testkit::trials;

fn main() {
    // A process of its own, with less memory.
    if let Ok(what) = std::env::var(faults::CHILD) {
        return faults::child(&what);
    }
    let args = Arguments::from_args();
    let required = std::env::var("PHALANX_REQUIRE_GPU").is_ok_and(|v| v == "1");
    let missing = scenes::no_adapter();
    if let Some(reason) = &missing {
        let what = if required { "fail" } else { "are ignored" };
        println!("trials on the GPU {what}: {reason}");
    }
    let models = trials::asset("mannequin.glb").is_some();
    if !models {
        println!(
            "trials of the mannequin are ignored: set PHALANX_ASSETS to the folder of test models"
        );
    }
    let gpu = |name: &'static str, trial: fn()| {
        Trial::test(format!("gpu::{name}"), move || {
            trials::on_ended_thread(trial);
            Ok(())
        })
        .with_ignored_flag(missing.is_some() && !required)
    };
    let cpu = |name: &'static str, trial: fn()| {
        Trial::test(name, move || {
            trial();
            Ok(())
        })
    };
    let turned = gpu("boxes_keep_their_fronts", winding::boxes_keep_their_fronts);
    let corners = trials::trial("gpu::corners_look_alike", &["bl_corners.glb"], || {
        std::thread::spawn(winding::corners_look_alike)
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let without_memory = cpu("gpu::no_memory_for_pictures", faults::no_memory);
    // The limit on a process's memory is set in Linux's way.
    let linux = cfg!(target_os = "linux");
    let trials = vec![
        without_memory.with_ignored_flag(!linux || missing.is_some() && !required),
        cpu("no_memory_for_pictures_in_software", faults::no_memory_in_software)
            .with_ignored_flag(!linux),
        gpu("destroyed_while_drawing", faults::destroyed_while_drawing),
        turned,
        corners.with_ignored_flag(missing.is_some() && !required),
        trials::trial(
            "only_what_can_turn_asks_its_rows",
            &["pab.glb", "mannequin.glb", "bl_corners.glb"],
            winding::only_what_can_turn_asks_its_rows,
        ),
        gpu("tubes_look_alike", agree::tubes_look_alike),
        gpu("eight_influences_look_alike", agree::eight_influences_look_alike),
        gpu("morphs_look_alike", agree::morphs_look_alike),
        gpu("textures_and_colours_look_alike", agree::textures_and_colours_look_alike),
        gpu("rigid_mirrored_and_flat_meshes_look_alike", agree::odd_meshes_look_alike),
        gpu(
            "triangles_between_mirrored_and_plain_joints_look_alike",
            agree::triangles_between_mirrored_and_plain_joints_look_alike,
        ),
        cpu("the_first_vertex_decides_nothing", agree::the_first_vertex_decides_nothing),
        gpu("pages_change_nothing", agree::pages_change_nothing),
        gpu("mannequins_look_alike", agree::mannequins_look_alike)
            .with_ignored_flag(!models || missing.is_some() && !required),
        gpu("backends_draw_the_same", backends::backends_draw_the_same),
        gpu("between_two_palettes_backends_draw_the_same", between::backends_draw_the_same),
        gpu("between_two_palettes_wireframes", between::wireframes_are_between),
        gpu("between_two_palettes_on_a_device", between::rows_on_a_device),
        gpu("between_two_palettes_apart", between::palettes_apart_are_refused),
        cpu("between_two_palettes_refused", between::what_does_not_fit_is_refused),
        gpu("wireframes_show_edges", backends::wireframes_show_edges),
        gpu("the_choice_follows_the_device", backends::the_choice_follows_the_device),
        gpu("rows_on_a_device_draw_the_same", backends::rows_on_a_device_draw_the_same),
        gpu("crowds_outlive_their_device", backends::crowds_outlive_their_device),
        gpu("backends_that_do_not_fit_are_refused", backends::backends_that_do_not_fit_are_refused),
        gpu("what_another_device_has_is_refused", backends::what_another_device_has_is_refused),
        cpu("parades_use_all_details", backends::parades_use_all_details),
        gpu("details_draw_the_same", detail::details_draw_the_same_on_the_gpu),
        cpu("details_draw_the_same_in_software", detail::details_draw_the_same_in_software),
        gpu(
            "tiers_with_details_draw_the_same",
            detail::tiers_with_details_draw_the_same_on_the_gpu,
        ),
        cpu(
            "tiers_with_details_draw_the_same_in_software",
            detail::tiers_with_details_draw_the_same_in_software,
        ),
        cpu("details_without_models_are_refused", detail::details_without_models_are_refused),
        cpu("overrides_are_seen", bounds::overrides_are_seen),
        cpu("tiers_see_the_picture_and_its_shadows", bounds::tiers_see_the_picture_and_its_shadows),
        cpu("clips_that_came_later_are_seen", bounds::clips_that_came_later_are_seen),
        gpu("blended_back_to_front", alpha::blended_back_to_front),
        gpu("alpha_of_factor_texture_and_vertices", alpha::alpha_of_factor_texture_and_vertices),
        gpu("masked_by_the_cutoff", alpha::masked_by_the_cutoff),
        gpu("textures_lie_as_they_are_told", alpha::textures_lie_as_they_are_told),
        gpu("alpha_looks_alike", alpha::alpha_looks_alike),
        gpu(
            "shadows_of_masked_and_blended_surfaces",
            alpha::shadows_of_masked_and_blended_surfaces,
        ),
        cpu("colours", colors::colours_in_software),
        gpu("colours", colors::colours_on_the_gpu),
        gpu("known_places", known::places_on_the_gpu),
        gpu("far_from_the_origin", known::far_from_the_origin_on_the_gpu),
        gpu("empty_scene", known::empty_scene_on_the_gpu),
        gpu("lost_device", refuse::lost_device),
        gpu("page_too_small", refuse::page_too_small),
        gpu("picture_larger_than_the_device", refuse::picture_larger_than_the_device),
        gpu("strange_rows", refuse::strange_rows_on_the_gpu),
        cpu("known_places", known::places_in_software),
        cpu("far_from_the_origin", known::far_from_the_origin_in_software),
        cpu("empty_scene", known::empty_scene_in_software),
        cpu("workers_change_nothing", known::workers_change_nothing),
        cpu("details_follow_size", known::details_follow_size),
        cpu("instances_outside_are_culled", known::instances_outside_are_culled),
        cpu("shadows_lie_away_from_the_light", known::shadows_lie_away_from_the_light),
        cpu("no_adapter", refuse::no_adapter),
        cpu("bad_sizes", refuse::bad_sizes),
        cpu("bad_scenes", refuse::bad_scenes),
        cpu("bad_meshes", refuse::bad_meshes),
        cpu("strange_rows", refuse::strange_rows_in_software),
        cpu("numbers_that_are_none", refuse::numbers_that_are_none),
    ];
    libtest_mimic::run(&args, trials).exit();
}
