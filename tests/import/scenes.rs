//! The default scene, and the nodes outside it.

use phalanx::import::ImportOptions;
use phalanx::import::raw::RawScene;
use phalanx::import::{Imported, Severity, import_slice};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

/// Two trees of a node and a child with a mesh, `a` `b` and `c` `d`; and a clip of node `d`.
fn trees() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    for _ in 0..2 {
        let mesh = json!({ "primitives": [{ "attributes": { "POSITION": positions } }] });
        file.push("meshes", mesh);
    }
    file.push("nodes", json!({ "name": "a", "children": [1] }));
    file.push("nodes", json!({ "name": "b", "mesh": 0 }));
    file.push("nodes", json!({ "name": "c", "children": [3] }));
    file.push("nodes", json!({ "name": "d", "mesh": 1 }));
    file
}

fn animate(file: &mut File, node: usize) {
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    file.clip(node, "translation", "LINEAR", times, values);
}

fn scenes(file: &mut File, roots: &[&[usize]], default: Option<usize>) {
    for roots in roots {
        file.push("scenes", json!({ "nodes": roots }));
    }
    if let Some(scene) = default {
        file.root["scene"] = json!(scene);
    }
}

/// The nodes that draw a mesh.
fn drawn(scene: &RawScene) -> Vec<usize> {
    let nodes = 0..scene.nodes.len();
    nodes.filter(|&n| scene.nodes[n].mesh.is_some()).collect()
}

fn import(file: &File) -> Imported {
    import_slice(&file.glb(), "x", None, &ImportOptions::default()).unwrap()
}

/// The roots of all scenes, the scene that the file names, and the nodes that draw a mesh then.
type Case<'a> = (&'a [&'a [usize]], Option<usize>, &'a [usize]);

#[test]
fn the_default_scene_is_the_named_one_the_first_or_all() {
    let cases: [Case; 5] = [
        (&[&[0], &[2]], Some(1), &[3]),
        (&[&[0], &[2]], None, &[1]),
        (&[&[0, 2], &[2]], None, &[1, 3]),
        (&[], None, &[1, 3]),
        (&[&[]], None, &[]),
    ];
    for (roots, default, expected) in cases {
        let mut file = trees();
        scenes(&mut file, roots, default);
        let (scene, _) = file.read();
        assert_eq!(drawn(&scene), expected, "{roots:?} {default:?}");
        let imported = import(&file);
        let meshes: Vec<usize> = imported.rigs[0].meshes().iter().map(|m| m.node).collect();
        assert_eq!(meshes, expected, "{roots:?} {default:?}");
        // Every node of the file is still there, at its index.
        assert_eq!(imported.rigs[0].nodes().len(), 4);
    }
    let mut file = trees();
    scenes(&mut file, &[&[0]], Some(1));
    assert_says(&file.error(), &["default scene 1", "there is 1"]);
}

#[test]
fn what_is_not_drawn_is_reported_by_scene() {
    let mut file = trees();
    file.push("nodes", json!({ "name": "lost" }));
    scenes(&mut file, &[&[0], &[2]], None);
    file.root["scenes"][0]["name"] = json!("Main");
    file.root["scenes"][1]["name"] = json!("Props");
    let (_, report) = file.read();
    assert_eq!(
        entries(&report, Severity::Dropped),
        ["scene 1 \"Props\": 2 nodes outside the default scene 0 \"Main\": 1 mesh is not drawn"]
    );
    assert_eq!(
        entries(&report, Severity::Note),
        ["nodes of no scene: 1 node outside the default scene 0 \"Main\", without meshes"]
    );
    // Scenes that only share the default one's nodes say nothing.
    let mut file = trees();
    scenes(&mut file, &[&[0, 2], &[0], &[2]], None);
    file.read_clean();
}

#[test]
fn joints_outside_the_default_scene_are_kept() {
    let mut file = trees();
    file.push("nodes", json!({ "name": "bone" }));
    // A skin of the default scene has a joint of no scene, and a clip moves a node of another scene.
    file.push("skins", json!({ "joints": [4] }));
    file.root["nodes"][1]["skin"] = json!(0);
    animate(&mut file, 3);
    scenes(&mut file, &[&[0], &[2]], None);
    let (scene, report) = file.read();
    assert_eq!(drawn(&scene), [1]);
    assert_eq!((scene.nodes[1].skin, scene.nodes[3].skin), (Some(0), None));
    assert_eq!(
        entries(&report, Severity::Dropped),
        ["scene 1: 2 nodes outside the default scene 0: 1 mesh is not drawn; \
             2 joints that skins or clips need are kept"]
    );
    // The joint of no scene is used, so there is nothing to say of it.
    assert_eq!(report.len(), 1, "{:?}", report);
    let rig = &import(&file).rigs[0];
    let mut joints: Vec<&str> = rig.skeleton().names().iter().map(String::as_str).collect();
    joints.sort_unstable();
    assert_eq!(joints, ["bone", "c", "d"]);
    assert_eq!(rig.meshes().len(), 1);
}

#[test]
fn weights_of_a_mesh_that_is_not_drawn_are_left_out() {
    let mut file = trees();
    let moved = file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(3));
    file.root["meshes"][1]["primitives"][0]["targets"] = json!([{ "POSITION": moved }]);
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("SCALAR", &[0.0, 1.0]);
    file.clip(3, "weights", "LINEAR", times, values);
    assert_eq!(file.read_clean().clips[0].tracks.len(), 1);
    scenes(&mut file, &[&[0], &[2]], None);
    let (scene, report) = file.read();
    assert!(scene.clips[0].tracks.is_empty() && scene.nodes[3].weights.is_empty());
    assert_reported(
        &report,
        Severity::Dropped,
        &["channel 0", "weights of node 3", "not in the default scene"],
    );
    let rig = &import(&file).rigs[0];
    assert_eq!(rig.skeleton().scalars().len(), 0);
}

#[test]
fn the_report_of_many_scenes_is_short() {
    let mut file = trees();
    scenes(&mut file, &[&[0]], None);
    for _ in 0..5000 {
        file.push("scenes", json!({ "nodes": [2] }));
    }
    for node in 4..40 {
        file.push("nodes", json!({}));
        file.push("scenes", json!({ "nodes": [node] }));
    }
    let (_, report) = file.read();
    assert!(report.len() < 40, "{}", report.len());
    assert_reported(&report, Severity::Dropped, &["scene 1", "1 mesh"]);
    assert_reported(&report, Severity::Note, &["further scenes"]);
}
