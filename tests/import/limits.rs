//! Named limits: memory, reports.

use crate::refusals::{refused, sound};
use phalanx::import::ImportOptions;
use phalanx::import::Severity;
use phalanx_testkit::gltf_file::*;
use serde_json::json;

#[test]
fn memory_is_limited_by_the_file() {
    // Accessors without a buffer view cost the file nothing.
    let zeros = |count: usize, accessors: usize| {
        let mut file = sound();
        for _ in 0..accessors {
            let accessor = file
                .push("accessors", json!({ "componentType": F32, "type": "VEC3", "count": count }));
            file.mesh(json!({ "POSITION": accessor }));
        }
        file
    };
    let limit = "elements of an accessor without a buffer view: 4194305";
    assert_says(&zeros(4_194_305, 1).error(), &["accessor 7", limit, "4194304"]);
    // The mesh is at a node of no scene, so it is read, and not drawn.
    let (_, report) = zeros(2_499_999, 1).read();
    assert_reported(&report, Severity::Dropped, &["no scene", "not drawn"]);
    assert_eq!(report.len(), 1);
    assert_says(&zeros(2_499_999, 2).error(), &["mesh 2", "memory of the import"]);
    // Many accessors over the same bytes.
    let mut file = sound();
    let accessor = file.floats("VEC3", &vec![0.0; 30_000]);
    for _ in 0..2000 {
        file.mesh(json!({ "POSITION": accessor }));
    }
    assert_says(&file.error(), &["memory of the import", "limit is"]);
    let options = ImportOptions { memory_limit: Some(1 << 30), ..ImportOptions::default() };
    assert!(file.read_with(&options).is_ok());
    // Many channels over the same keys.
    let mut file = sound();
    let times: Vec<f32> = (0..30_000).map(|i| i as f32).collect();
    let times = file.floats("SCALAR", &times);
    let values = file.floats("VEC3", &vec![0.0; 90_000]);
    for _ in 0..1500 {
        file.clip(2, "scale", "LINEAR", times, values);
    }
    assert_says(&file.error(), &["animation", "memory of the import"]);
    // Text that becomes much more than itself.
    let text = format!("{{\"nodes\":[{}{{}}]", "{},".repeat(3_000_000));
    refused(text.as_bytes(), &["memory of the import"]);
}

#[test]
fn reports_do_not_grow_without_end() {
    let mut file = File::new();
    file.root["nodes"] = json!(vec![json!({ "rotation": [0, 0, 0, 0] }); 12_000]);
    let (_, report) = file.read();
    assert_eq!(report.len(), 10_001);
    assert!(report[10_000].message.starts_with("2000 further"));
}

/// Every node repeats the weights of all targets: 240 MB of what takes 250 KB in the file.
#[test]
fn weights_are_counted_for_every_node() {
    let with = |nodes: usize| {
        let mut file = File::new();
        let zeros = json!({ "componentType": F32, "type": "VEC3", "count": 3 });
        let zeros = file.push("accessors", zeros);
        file.mesh(json!({ "POSITION": zeros }));
        file.root["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({}); 3000]);
        file.root["nodes"] = json!(vec![json!({ "mesh": 0 }); nodes]);
        file
    };
    assert_eq!(with(100).read().0.nodes[99].weights.len(), 3000);
    assert_says(&with(20_000).error(), &["node ", "memory of the import"]);
}
