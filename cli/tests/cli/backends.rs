//! `--backend`: pictures through every way in which shaders read palettes.
//!
//! Trials are ignored where there is no adapter, unless `PHALANX_REQUIRE_GPU=1`.

use super::crowd::write_mesh;
use super::support::{Tested, check, one_line_beside, output, run, scratch};
use image::RgbImage;
use libtest_mimic::{Completion, Failed, Trial};
use phalanx_testkit::trials::begin;
use serde_json::Value;
use std::fs;

/// Values of `--backend` other than `auto`.
const BACKENDS: [&str; 3] = ["storage", "texture", "uniform"];

/// Colours may differ by that much of 255,
const STEP: u8 = 2;
/// in all but this share of the pixels.
const SHARE: f64 = 0.001;

/// One trial per command that draws, and what none of them draws.
pub fn trials() -> [Trial; 3] {
    let on_a_device = |name: &'static str, trial: fn() -> Result<(), Failed>| {
        Trial::ignorable_test(name, move || {
            begin(name);
            match no_adapter() {
                None => trial().map(|()| Completion::Completed),
                Some(reason) if std::env::var("PHALANX_REQUIRE_GPU").is_ok_and(|v| v == "1") => {
                    Err(reason.into())
                }
                Some(reason) => Ok(Completion::ignored_with(reason)),
            }
        })
    };
    [
        on_a_device("backends_of_crowd", crowds),
        on_a_device("backends_of_render", sheets),
        on_a_device("backends_that_cannot_hold_a_rig", too_many_joints),
    ]
}

/// The reason why no device can draw here; `None` if one can.
fn no_adapter() -> Option<String> {
    let mut small = vec!["crowd", "--count", "1", "--frames", "1", "--size", "16x16"];
    small.extend(["--renderer", "gpu", "--out", "adapter.png"]);
    let error = String::from_utf8_lossy(&run(&small).stderr).into_owned();
    error.contains("no graphics adapter").then_some(error)
}

fn crowds() -> Result<(), Failed> {
    let mut pictures = Vec::new();
    for backend in BACKENDS.iter().chain(&["auto"]) {
        let mut args = vec!["crowd", "--count", "40", "--frames", "2", "--threads", "1"];
        args.extend(["--size", "192x128", "--renderer", "gpu", "--backend", backend]);
        args.extend(["--out", "backend.png", "--json", "backend.json"]);
        let table = output(&args)?;
        let figures: Value = serde_json::from_slice(&fs::read(scratch().join("backend.json"))?)?;
        let drawn_by = figures["picture"]["drawn_by"].as_str().unwrap_or("-");
        check_name(backend, drawn_by)?;
        check(table.contains(" palettes"), table)?;
        // What is measured is the same whatever draws.
        check(figures["evaluated_into"] == "heap memory", "where to")?;
        check(figures["picture"]["characters"] == 40, "who is in view")?;
        pictures.push((*backend, picture("backend.png")?));
    }
    alike(&pictures)
}

fn sheets() -> Result<(), Failed> {
    let mut pictures = Vec::new();
    for backend in BACKENDS {
        let mut args = vec!["render", "--clip", "Run", "--frames", "2", "--size", "96x96"];
        args.extend(["--renderer", "gpu", "--backend", backend]);
        args.extend(["--out", "backends.png"]);
        check_name(backend, &output(&args)?)?;
        pictures.push((backend, picture("backends.png")?));
    }
    alike(&pictures)
}

/// A skin of 1,500 joints is more than a window of uniforms holds: an error, unless software is asked for.
fn too_many_joints() -> Tested {
    let nodes: Vec<String> = (1..=1500).map(chain_node).collect();
    let joints: Vec<String> = (1..=1500).map(|i| i.to_string()).collect();
    write_mesh(
        "chain.gltf",
        &format!(
            r#"[{{"mesh":0,"skin":0,"children":[1]}},{}],"skins":[{{"joints":[{}]}}]"#,
            nodes.join(","),
            joints.join(",")
        ),
        r#","JOINTS_0":1,"WEIGHTS_0":2"#,
    )?;
    let crowd = ["crowd", "--count", "2", "--frames", "1"];
    for command in [&crowd[..], &["render", "--frames", "1"]] {
        let mut args = command.to_vec();
        args.extend(["chain.gltf", "--size", "32x32", "--out", "chain.png"]);
        args.extend(["--backend", "uniform"]);
        for renderer in [&[][..], &["--renderer", "auto"], &["--renderer", "gpu"]] {
            let out = run(&[&args, renderer].concat());
            one_line_beside(&out, &["1500 joints", "the uniform backend"])?;
            check(!scratch().join("chain.png").exists(), "a picture")?;
        }
        let said = output(&[&args[..], &["--renderer", "software"]].concat())?;
        check(said.contains("software rasteriser"), said)?;
        fs::remove_file(scratch().join("chain.png"))?;
    }
    Ok(())
}

fn chain_node(i: usize) -> String {
    match i {
        1500 => "{}".into(),
        i => format!(r#"{{"children":[{}]}}"#, i + 1),
    }
}

/// Whether what is said names the backend, and no other.
fn check_name(backend: &str, said: &str) -> Result<(), Failed> {
    let named = |b: &&str| said.contains(&format!("{b} palettes"));
    let found: Vec<_> = BACKENDS.into_iter().filter(named).collect();
    check(
        found.len() == 1 && (backend == "auto" || found == [backend]),
        format!("--backend {backend}: {said}"),
    )
}

fn picture(name: &str) -> Result<RgbImage, Failed> {
    Ok(image::open(scratch().join(name))?.to_rgb8())
}

/// Pictures of the same, and of something.
fn alike(pictures: &[(&str, RgbImage)]) -> Result<(), Failed> {
    let (first_name, first) = pictures.first().ok_or("no pictures")?;
    let differ = |a: &RgbImage, b: &RgbImage| {
        let far = |(a, b): (&image::Rgb<u8>, &image::Rgb<u8>)| {
            a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > STEP)
        };
        a.pixels().zip(b.pixels()).filter(|&p| far(p)).count()
    };
    let plain = RgbImage::from_pixel(first.width(), first.height(), *first.get_pixel(0, 0));
    let all = first.pixels().len() as f64;
    check(differ(first, &plain) as f64 > 0.05 * all, "the picture is plain")?;
    for (name, picture) in pictures {
        let share = differ(first, picture) as f64 / all;
        check(share <= SHARE, format!("{first_name} and {name} differ in {share} of all pixels"))?;
    }
    Ok(())
}
