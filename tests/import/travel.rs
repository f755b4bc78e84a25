//! Clips that end elsewhere than they begin.

use phalanx::build::RootMotionOptions;
use phalanx::import::{ImportOptions, ReportEntry, Severity, UpAxis, import_slice};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

/// Two metres of joints below an armature of scale 0.01, turned so that its Z is up in the file's Y.
fn body() -> File {
    let mut file = File::new();
    let half = 0.5f32.sqrt();
    file.push(
        "nodes",
        json!({ "name": "Armature", "children": [1], "scale": [0.01, 0.01, 0.01],
        "rotation": [-half, 0.0, 0.0, half] }),
    );
    file.push("nodes", json!({ "name": "Hips", "children": [2, 3], "translation": [0, 0, 100] }));
    file.push("nodes", json!({ "name": "Head", "translation": [0, 0, 100] }));
    file.push("nodes", json!({ "name": "Hand", "translation": [0, 20, 20] }));
    file.push("nodes", json!({ "name": "Foot", "translation": [0, 0, 0] }));
    file.root["nodes"][1]["children"] = json!([2, 3, 4]);
    file.push("skins", json!({ "joints": [1, 2, 3, 4] }));
    file
}

/// A clip that moves a node from its first place to the second.
fn moves(file: &mut File, name: &str, node: usize, from: [f32; 3], to: [f32; 3], mode: &str) {
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let still = [0.0f32; 3];
    let values = match mode {
        "CUBICSPLINE" => [still, from, [9e3; 3], [9e3; 3], to, still].concat(),
        _ => [from, to].concat(),
    };
    let values = file.floats("VEC3", &values);
    file.clip(node, "translation", mode, times, values);
    let clips = file.root["animations"].as_array_mut().unwrap();
    clips.last_mut().unwrap()["name"] = json!(name);
}

fn report(file: &File, options: &ImportOptions) -> Vec<ReportEntry> {
    import_slice(&file.glb(), "x.glb", None, options).unwrap().report
}

#[test]
fn clips_that_travel_are_noted_with_their_distance() {
    let mut file = body();
    let hips = [0.0, 0.0, 100.0];
    moves(&mut file, "Walk", 1, hips, [0.0, -130.0, 100.0], "LINEAR");
    moves(&mut file, "Run", 1, hips, [0.0, 250.0, 95.0], "CUBICSPLINE");
    for options in
        [UpAxis::Y, UpAxis::Z].map(|up_axis| ImportOptions { up_axis, ..ImportOptions::default() })
    {
        let found = report(&file, &options);
        let parts =
            ["clips", "\"Walk\" by 1.300 m", "\"Run\" by 2.500 m", "each loop", "root motion"];
        assert_reported(&found, Severity::Note, &parts);
        let entry = found.iter().find(|e| e.message.contains("root motion"));
        assert_eq!(entry.unwrap().items.len(), 2);
    }
    let taken = ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    };
    let found = report(&file, &taken);
    assert!(!found.iter().any(|e| e.message.contains("travel")), "{found:?}");
}

/// Each of several bodies in a file counts by itself, however many joints the others have.
#[test]
fn the_smaller_of_two_bodies_travels() {
    let mut file = body();
    let first = file.root["nodes"].as_array().unwrap().len();
    file.push("nodes", json!({ "name": "Cat", "children": [first + 1] }));
    file.push("nodes", json!({ "name": "Tail", "translation": [0, 0.3, 0] }));
    file.push("skins", json!({ "joints": [first, first + 1] }));
    moves(&mut file, "Stroll", first, [0.0; 3], [0.0, 0.0, 3.0], "LINEAR");
    let found = report(&file, &ImportOptions::default());
    assert_reported(&found, Severity::Note, &["clips", "\"Stroll\" by 3.000 m"]);
}

/// Height, a hand, and the last centimetres of a loop are no way.
#[test]
fn clips_that_stay_are_not_noted() {
    let mut file = body();
    let hips = [0.0, 0.0, 100.0];
    moves(&mut file, "Fall", 1, hips, [0.0, 0.0, 10.0], "LINEAR");
    moves(&mut file, "Throw", 3, [0.0, 20.0, 20.0], [0.0, 500.0, 20.0], "LINEAR");
    moves(&mut file, "Idle", 1, hips, [5.0, 0.0, 100.0], "STEP");
    let found = report(&file, &ImportOptions::default());
    assert!(!found.iter().any(|e| e.message.contains("travel")), "{found:?}");
}
