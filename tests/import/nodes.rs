//! Nodes, scenes, skins.

use glam::{Mat4, Quat, Vec3};
use phalanx::import::Severity;
use phalanx::skeleton::Trs;
use phalanx_testkit::gltf_file::*;
use serde_json::json;

#[test]
fn transforms_parents_and_names_arrive() {
    let mut file = File::new();
    for name in ["Hüfte", "腰", "מותן", "same", "same", ""] {
        file.push("nodes", json!({ "name": name }));
    }
    file.push("nodes", json!({}));
    // Children before their parents, and two roots.
    file.root["nodes"][5]["children"] = json!([0, 3]);
    file.root["nodes"][3]["children"] = json!([1]);
    file.root["nodes"][1]["translation"] = json!([1.0, 2.5, -3.0]);
    file.root["nodes"][1]["rotation"] = json!([0.5, 0.5, -0.5, 0.5]);
    file.root["nodes"][1]["scale"] = json!([1.0, -2.0, 0.25]);
    let scene = file.read_clean();
    let names: Vec<_> = scene.nodes.iter().map(|n| n.name.as_deref()).collect();
    let expected = ["Hüfte", "腰", "מותן", "same", "same", ""].map(Some);
    assert_eq!(names, [expected.as_slice(), &[None]].concat());
    let parents: Vec<_> = scene.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [Some(5), Some(3), None, Some(5), None, None, None]);
    assert_eq!(
        scene.nodes[1].local,
        Trs {
            translation: Vec3::new(1.0, 2.5, -3.0),
            rotation: Quat::from_xyzw(0.5, 0.5, -0.5, 0.5),
            scale: Vec3::new(1.0, -2.0, 0.25),
        }
    );
    assert_eq!(scene.nodes[0].local, Trs::IDENTITY);
    let sources: Vec<_> = scene.nodes.iter().map(|n| n.source).collect();
    assert_eq!(sources, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn matrices_come_apart_and_shear_is_reported() {
    let mut file = File::new();
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0);
    let mirrored = Mat4::from_scale_rotation_translation(
        Vec3::new(2.0, -3.0, 0.5),
        turn,
        Vec3::new(1.0, 2.0, 3.0),
    );
    let mut sheared = Mat4::IDENTITY.to_cols_array();
    sheared[4] = 0.5;
    let mut odd = Mat4::IDENTITY.to_cols_array();
    odd[15] = 2.0;
    for matrix in [mirrored.to_cols_array(), sheared, odd] {
        file.push("nodes", json!({ "matrix": matrix }));
    }
    file.push("nodes", json!({ "matrix": Mat4::IDENTITY.to_cols_array(), "scale": [2, 2, 2] }));
    let (scene, report) = file.read();
    assert_eq!(scene.nodes[0].matrix, Some(mirrored.to_cols_array()));
    let local = scene.nodes[0].local;
    let product =
        Mat4::from_scale_rotation_translation(local.scale, local.rotation, local.translation);
    assert!(product.abs_diff_eq(mirrored, 1e-6), "{product}");
    assert!(local.scale.x * local.scale.y * local.scale.z < 0.0);
    assert_eq!(scene.nodes[1].matrix, Some(sheared));
    assert_reported(&report, Severity::Repaired, &["node 1", "shear", "e-"]);
    assert_reported(&report, Severity::Repaired, &["node 2", "last row"]);
    assert_reported(&report, Severity::Dropped, &["node 3", "matrix"]);
    assert_eq!(scene.nodes[3].local, Trs::IDENTITY);
    assert_eq!(report.len(), 3);
}

#[test]
fn rest_rotations_become_unit_length() {
    let mut file = File::new();
    for rotation in [[0.0, 0.0, 3.0, 4.0], [0.0; 4], [0.0, 0.0, 0.6, 0.8001], [0.0, 0.0, 0.6, 0.8]]
    {
        file.push("nodes", json!({ "rotation": rotation }));
    }
    let (scene, report) = file.read();
    let q = |node: usize| scene.nodes[node].local.rotation;
    assert!(q(0).abs_diff_eq(Quat::from_xyzw(0.0, 0.0, 0.6, 0.8), 1e-7));
    assert_eq!(q(1), Quat::IDENTITY);
    assert!((q(2).length() - 1.0).abs() < 1e-6);
    assert_eq!(q(3), Quat::from_xyzw(0.0, 0.0, 0.6, 0.8));
    assert_reported(&report, Severity::Repaired, &["node 0", "length 5"]);
    assert_reported(&report, Severity::Repaired, &["node 1", "length 0"]);
    assert_eq!(report.len(), 2);
}

#[test]
fn scenes_and_the_default_one() {
    let mut file = File::new();
    for _ in 0..3 {
        file.push("nodes", json!({}));
    }
    file.root["nodes"][0]["children"] = json!([2]);
    assert_eq!(file.read_clean().default_scene, None);
    file.push("scenes", json!({ "nodes": [1] }));
    file.push("scenes", json!({}));
    let (scene, report) = file.read();
    assert_eq!(scene.default_scene, Some(0));
    assert_reported(&report, Severity::Note, &["no scene", "2 nodes"]);
    assert_eq!(report.len(), 1);
    file.push("scenes", json!({ "nodes": [0, 1, 0, 2] }));
    file.root["scene"] = json!(2);
    let (scene, report) = file.read();
    assert_eq!(scene.scenes, [vec![1], vec![], vec![0, 1, 2]]);
    assert_eq!(scene.default_scene, Some(2));
    assert_reported(&report, Severity::Repaired, &["scene 2", "node 0", "twice"]);
    assert_reported(&report, Severity::Note, &["scene 2", "node 2", "child of 0"]);
}

#[test]
fn skins_with_and_without_inverse_bind_matrices() {
    let mut file = File::new();
    for _ in 0..3 {
        file.push("nodes", json!({}));
    }
    let mut matrices: Vec<f32> = Vec::new();
    for i in 0..3 {
        let matrix = Mat4::from_translation(Vec3::new(i as f32, 0.5, 0.0));
        matrices.extend(matrix.to_cols_array());
    }
    matrices[3] = 1e-3;
    let matrices = file.floats("MAT4", &matrices);
    // More matrices than joints are allowed; node 1 is a joint of both skins.
    let two = json!({ "joints": [2, 1], "inverseBindMatrices": matrices, "name": "two" });
    file.push("skins", two);
    file.push("skins", json!({ "joints": [1, 0, 1], "skeleton": 0 }));
    let (scene, report) = file.read();
    assert_eq!(scene.skins[0].joints, [2, 1]);
    assert_eq!(scene.skins[0].name.as_deref(), Some("two"));
    assert_eq!(scene.skins[0].inverse_bind.len(), 2);
    assert_eq!(
        scene.skins[0].inverse_bind[1],
        Mat4::from_translation(Vec3::new(1.0, 0.5, 0.0)).to_cols_array()
    );
    assert_eq!(scene.skins[0].inverse_bind[0][3], 0.0);
    assert_eq!(scene.skins[1].inverse_bind, [Mat4::IDENTITY.to_cols_array(); 3]);
    let place = ["skin 0 \"two\"", "inverse bind matrix 0", "last row"];
    assert_reported(&report, Severity::Repaired, &place);
    assert_reported(&report, Severity::Note, &["skin 1", "node 1", "more than once"]);
}
