//! The models and their golden poses: what the import hands over, evaluated in f64, is what the
//! files mean.

use libtest_mimic::Trial;
use phalanx::import::ImportOptions;
use phalanx::import::Severity;
use phalanx::import::raw::RawScene;
use phalanx::import::read_path;
use phalanx_testkit::gltf_file::*;
use phalanx_testkit::raw_pose::{Matrix, Pose, assert_close, evaluate, models};
use phalanx_testkit::trials;
use serde_json::Value;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    let needs = &["golden/pab.json", "pab.glb", "bl_rider.glb"];
    vec![
        trials::trial("models_mean_what_their_golden_poses_say", needs, || {
            models_mean_what_their_golden_poses_say();
            Ok(())
        }),
        trials::trial("models_need_few_repairs", needs, || {
            models_need_few_repairs();
            Ok(())
        }),
    ]
}

fn numbers(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Array(values) => values.iter().for_each(|v| numbers(v, out)),
        Value::Number(number) => out.extend(number.as_f64()),
        _ => {}
    }
}

fn flat(value: &Value) -> Vec<f64> {
    let mut out = Vec::new();
    numbers(value, &mut out);
    out
}

fn columns(m: &Matrix) -> impl Iterator<Item = f64> {
    (0..16).map(|i| m[i % 4][i / 4])
}

/// Compares a golden sample with a pose; returns how many numbers were compared.
fn compare(golden: &Value, scene: &RawScene, pose: &Pose, prims: &Value, what: &str) -> usize {
    let mut count = 0;
    let mut check = |name: &str, part: &Value, found: Vec<f64>| {
        let expected = flat(part);
        if !expected.is_empty() {
            count += assert_close(&expected, &found, 1e-5, &format!("{what}, {name}"));
        }
    };
    let some = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for (skin, part) in some(&golden["jointWorld"]).iter().enumerate() {
        let joints = scene.skins[skin].joints.iter();
        check("jointWorld", part, joints.flat_map(|&j| columns(&pose.world[j])).collect());
    }
    for (skin, part) in some(&golden["skinMatrix"]).iter().enumerate() {
        let palette = pose.palettes[skin].iter();
        check("skinMatrix", part, palette.flat_map(columns).collect());
    }
    for (part, primitive) in some(&golden["pos"]).iter().zip(some(prims)) {
        let index = |key: &str| primitive[key].as_u64().unwrap() as usize;
        let (node, mesh) = (index("node"), &scene.meshes[index("mesh")]);
        let before = &mesh.primitives[..index("prim")];
        let first: usize = before.iter().map(|p| p.positions.len()).sum();
        let vertices = flat(&primitive["verts"]).into_iter();
        let found = vertices.flat_map(|v| pose.positions[node][first + v as usize]);
        check("pos", part, found.collect());
    }
    count
}

fn models_mean_what_their_golden_poses_say() {
    let folder = trials::asset_folders().swap_remove(0);
    let files = std::fs::read_dir(folder.join("golden")).unwrap();
    let options =
        ImportOptions { images: phalanx::mesh::ImageMode::Skip, ..ImportOptions::default() };
    for file in files {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        let name = golden["asset"].as_str().unwrap();
        let name = Path::new(name).file_name().unwrap();
        let (scene, _) = read_path(&folder.join(name), &options).unwrap();
        let pose = evaluate(&scene, None, 0.0);
        let what = format!("{name:?}, rest");
        let mut count = compare(&golden["rest"], &scene, &pose, &golden["prims"], &what);
        for animation in golden["animations"].as_array().into_iter().flatten() {
            let clip = animation["index"].as_u64().unwrap() as usize;
            assert_eq!(animation["name"].as_str(), scene.clips[clip].name.as_deref());
            let duration = animation["duration"].as_f64().unwrap();
            let off = (f64::from(scene.clips[clip].duration) - duration).abs();
            assert!(off < 1e-6 * duration.max(1.0), "{name:?}: duration of clip {clip}");
            // A few per clip: playback is checked against all of them elsewhere.
            for sample in animation["samples"].as_array().into_iter().flatten().step_by(3) {
                let time = sample["te"].as_f64().unwrap();
                let pose = evaluate(&scene, Some(clip), time);
                let what = format!("{name:?}, clip {clip}, {time} s");
                count += compare(sample, &scene, &pose, &golden["prims"], &what);
            }
        }
        println!("{name:?}: {count} numbers agree");
    }
}

fn models_need_few_repairs() {
    for scene in models(&["mannequin.glb", "pab.glb", "bl_humanoid.glb", "bl_rider.glb"]) {
        let (_, report) = read_path(Path::new(&scene.name), &ImportOptions::default()).unwrap();
        assert_eq!(entries(&report, Severity::Repaired), [] as [String; 0], "{}", scene.name);
        assert_eq!(entries(&report, Severity::Dropped), [] as [String; 0], "{}", scene.name);
    }
}
