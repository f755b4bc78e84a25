//! Vertex streams, triangles, influences, morph targets.

use phalanx::import::Severity;
use phalanx::mesh::Influences;
use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

/// Four vertices on the x axis.
fn four(file: &mut File) -> usize {
    let x = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    file.floats("VEC3", &x)
}

#[test]
fn streams_of_floats_arrive_as_they_are() {
    let mut file = File::new();
    let positions = four(&mut file);
    let normals = file.floats("VEC3", &[0.0, 1.0, 0.0].repeat(4));
    let tangents = file.floats("VEC4", &[0.0, 0.0, 1.0, -1.0].repeat(4));
    let uvs = file.floats("VEC2", &[0.25, 1.5].repeat(4));
    let colors = file.floats("VEC3", &[0.25, 0.5, 1.0].repeat(4));
    file.vertices(json!({ "POSITION": positions, "NORMAL": normals, "TANGENT": tangents,
        "TEXCOORD_0": uvs, "COLOR_0": colors }));
    let scene = file.read_clean();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.positions[3], [3.0, 0.0, 0.0]);
    assert_eq!(primitive.normals, [[0.0, 1.0, 0.0]; 4]);
    assert_eq!(primitive.tangents, [[0.0, 0.0, 1.0, -1.0]; 4]);
    assert_eq!(primitive.uvs, [[0.25, 1.5]; 4]);
    assert_eq!(primitive.colors, [[0.25, 0.5, 1.0, 1.0]; 4]);
    assert!(primitive.influences.is_empty() && primitive.targets.is_empty());
}

#[test]
fn quantised_streams_become_floats() {
    let mut file = File::new();
    file.root["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let mut padded = |component, shape, normalized: bool, stride: usize, bytes: &[u8]| {
        let view = file.view(bytes);
        file.root["bufferViews"][view]["byteStride"] = json!(stride);
        file.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "type": shape, "count": 1,
                    "normalized": normalized }),
        )
    };
    let position = padded(I16, "VEC3", false, 8, &i16_bytes(&[-300, 20, 32767, 0]));
    let normal = padded(I8, "VEC3", true, 4, &[0, 127, 0, 0]);
    let tangent = padded(I8, "VEC4", true, 4, &[127, 0, 0, 129]);
    let uv = padded(U16, "VEC2", true, 4, &u16_bytes(&[65535, 13107]));
    let delta = padded(I8, "VEC3", false, 4, &[254, 3, 0, 0]);
    let delta_normal = padded(I16, "VEC3", true, 8, &i16_bytes(&[-32767, 0, 32767, 0]));
    let byte = padded(U8, "VEC3", true, 4, &[255, 51, 0, 0]);
    let word = padded(U16, "VEC3", false, 8, &u16_bytes(&[1, 2, 65535, 0]));
    file.vertices(json!({ "POSITION": position, "NORMAL": normal, "TANGENT": tangent,
        "TEXCOORD_0": uv, "COLOR_0": byte }));
    let targets = json!([{ "POSITION": delta, "NORMAL": delta_normal }, { "POSITION": word }]);
    file.root["meshes"][0]["primitives"][0]["targets"] = targets;
    let scene = file.read_clean();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.positions, [[-300.0, 20.0, 32767.0]]);
    assert_eq!(primitive.normals, [[0.0, 1.0, 0.0]]);
    assert_eq!(primitive.tangents, [[1.0, 0.0, 0.0, -1.0]]);
    assert_eq!(primitive.uvs, [[1.0, 0.2]]);
    assert_eq!(primitive.colors, [[1.0, 0.2, 0.0, 1.0]]);
    assert_eq!(primitive.targets[0].positions, [[-2.0, 3.0, 0.0]]);
    assert_eq!(primitive.targets[0].normals, [[-1.0, 0.0, 1.0]]);
    assert!(primitive.targets[0].tangents.is_empty());
    assert_eq!(primitive.targets[1].positions, [[1.0, 2.0, 65535.0]]);
}

#[test]
fn coarse_normals_become_unit_length() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    let normals = [0.0, 3.0, 4.0, 0.0, 0.0, 0.0, f32::NAN, 1.0, 0.0];
    let normals = file.floats("VEC3", &normals);
    file.vertices(json!({ "POSITION": positions, "NORMAL": normals }));
    let (scene, report) = file.read();
    assert_eq!(scene.meshes[0].primitives[0].normals, [[0.0, 0.6, 0.8], [0.0; 3], [0.0, 1.0, 0.0]]);
    assert_reported(
        &report,
        Severity::Repaired,
        &["primitive 0", "1 number of NORMAL was not finite and was set to 0"],
    );
}

#[test]
fn colours_of_integers_are_fractions() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 3]);
    let bytes = file.fractions(U8, "VEC4", 1, &[255, 51, 0, 102]);
    let words = file.fractions(U16, "VEC4", 1, &u16_bytes(&[65535, 13107, 0, 26214]));
    for colors in [bytes, words] {
        file.vertices(json!({ "POSITION": positions, "COLOR_0": colors }));
    }
    let scene = file.read_clean();
    for mesh in &scene.meshes {
        assert_eq!(mesh.primitives[0].colors, [[1.0, 0.2, 0.0, 0.4]]);
    }
}

#[test]
fn strips_and_fans_unroll_and_points_keep_vertices() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 15]);
    let bytes = file.accessor(U8, "SCALAR", 5, &[4, 3, 2, 1, 0]);
    let words = file.accessor(U16, "SCALAR", 5, &u16_bytes(&[4, 3, 2, 1, 0]));
    let longs = file.accessor(U32, "SCALAR", 3, &u32_bytes(&[4, 3, 2]));
    let mut add = |mode: usize, indices: Option<usize>| {
        let mut primitive = json!({ "attributes": { "POSITION": positions }, "mode": mode });
        if let Some(indices) = indices {
            primitive["indices"] = json!(indices);
        }
        file.push("meshes", json!({ "primitives": [primitive] }))
    };
    add(5, Some(bytes));
    add(6, Some(words));
    add(4, Some(longs));
    add(5, None);
    add(6, None);
    add(4, Some(bytes));
    for mode in 0..4 {
        add(mode, Some(bytes));
    }
    add(4, None);
    let (scene, report) = file.read();
    let indices = |mesh: usize| scene.meshes[mesh].primitives[0].indices.as_slice();
    assert_eq!(indices(0), [4, 3, 2, 3, 1, 2, 2, 1, 0]);
    assert_eq!(indices(1), [3, 2, 4, 2, 1, 4, 1, 0, 4]);
    assert_eq!(indices(2), [4, 3, 2]);
    assert_eq!(indices(3), [0, 1, 2, 1, 3, 2, 2, 3, 4]);
    assert_eq!(indices(4), [1, 2, 0, 2, 3, 0, 3, 4, 0]);
    assert_eq!(indices(5), [4, 3, 2]);
    assert_eq!(indices(10), [0, 1, 2]);
    for mesh in ["mesh 5", "mesh 10"] {
        assert_reported(&report, Severity::Dropped, &[mesh, "2 indices"]);
    }
    for (mesh, name) in [(6, "points"), (7, "lines"), (8, "lines"), (9, "lines")] {
        assert!(indices(mesh).is_empty());
        assert_eq!(scene.meshes[mesh].primitives[0].positions.len(), 5);
        let place = format!("mesh {mesh}, primitive 0: {name} ");
        assert_reported(&report, Severity::Note, &[&place]);
    }
}

#[test]
fn a_primitive_without_positions_has_no_vertices() {
    let mut file = File::new();
    let normals = file.floats("VEC3", &[0.0, 1.0, 0.0]);
    file.vertices(json!({ "NORMAL": normals }));
    let (scene, report) = file.read();
    let primitive = &scene.meshes[0].primitives[0];
    assert!(primitive.positions.is_empty() && primitive.normals.is_empty());
    assert_reported(&report, Severity::Note, &["mesh 0, primitive 0", "no positions"]);
}

#[test]
fn default_weights_come_from_node_mesh_or_zero() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[1.0; 3]);
    let targets = json!([{ "POSITION": positions }, { "NORMAL": positions, "TANGENT": positions }]);
    for weights in [Value::Null, json!([0.25, 0.5])] {
        let node = file.vertices(json!({ "POSITION": positions }));
        let mesh = &mut file.root["meshes"][node];
        mesh["primitives"][0]["targets"] = targets.clone();
        mesh["weights"] = weights;
    }
    file.push("nodes", json!({ "mesh": 1, "weights": [0.75, 1.0] }));
    file.push("nodes", json!({ "mesh": 1, "weights": [0.75] }));
    file.push("nodes", json!({}));
    let (scene, report) = file.read();
    let weights: Vec<_> = scene.nodes.iter().map(|n| n.weights.as_slice()).collect();
    let expected: [&[f32]; 5] = [&[0.0, 0.0], &[0.25, 0.5], &[0.75, 1.0], &[0.75, 0.0], &[]];
    assert_eq!(weights, expected);
    assert_eq!(scene.meshes[0].weights, [0.0, 0.0]);
    let targets = &scene.meshes[1].primitives[0].targets;
    assert_eq!(targets[0].positions, [[1.0; 3]]);
    assert!(targets[0].normals.is_empty());
    assert_eq!(targets[1].tangents, [[1.0; 3]]);
    assert_reported(&report, Severity::Repaired, &["node 3", "1 weight for 2 morph targets"]);
    assert_eq!(report.len(), 1);
}

/// A file whose mesh is skinned to `joints` nodes, with the given influence attributes.
fn skinned(joints: usize, vertices: usize, attributes: impl Fn(&mut File) -> Value) -> File {
    let mut file = File::new();
    for _ in 0..joints {
        file.push("nodes", json!({}));
    }
    file.push("skins", json!({ "joints": (0..joints).collect::<Vec<_>>() }));
    let positions = file.floats("VEC3", &vec![0.0; vertices * 3]);
    let mut attributes = attributes(&mut file);
    attributes["POSITION"] = json!(positions);
    let node = file.vertices(attributes);
    file.root["nodes"][node]["skin"] = json!(0);
    file
}

fn influences(file: &File) -> Influences {
    file.read().0.meshes[0].primitives[0].influences.clone()
}

#[test]
fn influences_of_every_type_and_any_number_of_sets() {
    let bytes = [1, 2, 0, 3u8];
    let joints: [(u32, Vec<u8>); 6] = [
        (U8, bytes.to_vec()),
        (I8, bytes.to_vec()),
        (U16, u16_bytes(&bytes.map(u16::from))),
        (I16, u16_bytes(&bytes.map(u16::from))),
        (U32, u32_bytes(&bytes.map(u32::from))),
        (F32, f32_bytes(&bytes.map(f32::from))),
    ];
    let weights: [(u32, Vec<u8>, f32); 5] = [
        (U8, vec![51, 51, 102, 51], 255.0),
        (I8, vec![25, 25, 52, 25], 127.0),
        (U16, u16_bytes(&[13107, 13107, 26214, 13107]), 65535.0),
        (I16, u16_bytes(&[6553, 6553, 13108, 6553]), 32767.0),
        (F32, f32_bytes(&[0.2, 0.2, 0.4, 0.2]), 1.0),
    ];
    for (joint_type, joint_bytes) in &joints {
        for (weight_type, weight_bytes, unit) in &weights {
            let file = skinned(4, 1, |file| {
                let joints = file.accessor(*joint_type, "VEC4", 1, joint_bytes);
                let weights = file.fractions(*weight_type, "VEC4", 1, weight_bytes);
                json!({ "JOINTS_0": joints, "WEIGHTS_0": weights })
            });
            let scene = file.read_clean();
            let found = &scene.meshes[0].primitives[0].influences;
            assert_eq!((found.per_vertex, found.joints.as_slice()), (4, &[1u16, 2, 0, 3][..]));
            assert!((found.weights[0] - 0.2).abs() < 0.5 / unit + 1e-6, "{found:?} {unit}");
        }
    }
    let file = skinned(12, 2, |file| {
        let mut attributes = json!({});
        for set in 0..3u8 {
            let rows: Vec<u8> = (0..8).map(|i| set * 4 + i % 4).collect();
            let joints = file.accessor(U8, "VEC4", 2, &rows);
            let weights = file.floats("VEC4", &[f32::from(set + 1) / 24.0; 8]);
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        attributes
    });
    let found = influences(&file);
    assert_eq!((found.per_vertex, found.joints.len()), (12, 24));
    assert_eq!(found.joints[12..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(found.weights[4..8], [2.0 / 24.0; 4]);
}

#[test]
fn weights_are_normalised_and_reported() {
    let rows = [
        [1.0, 1.0, 0.0, 0.0],
        [0.0; 4],
        [0.5, 0.50001, 0.0, 0.0],
        [2.0, f32::NAN, -1.0, 0.0],
        [f32::MAX, f32::MAX, f32::MAX, f32::MAX],
    ];
    let file = skinned(2, 5, |file| {
        let joints = file.accessor(U8, "VEC4", 5, &[0, 1, 0, 0].repeat(5));
        let weights = file.floats("VEC4", rows.as_flattened());
        json!({ "JOINTS_0": joints, "WEIGHTS_0": weights })
    });
    let (scene, report) = file.read();
    let found = &scene.meshes[0].primitives[0].influences.weights;
    assert_eq!(found[..4], [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(found[4..8], [0.0; 4]);
    assert_eq!(found[8..12], rows[2]);
    assert_eq!(found[12..16], [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(found[16..], [0.25; 4]);
    let place = "mesh 0, primitive 0";
    assert_reported(&report, Severity::Repaired, &[place, "2 weights were negative"]);
    assert_reported(&report, Severity::Repaired, &[place, "weights of 3 vertices", "inf"]);
    assert_reported(&report, Severity::Note, &[place, "1 vertex without weights above 0"]);
    assert_eq!(report.len(), 3);
}

#[test]
fn joints_beyond_the_skin_matter_only_with_a_weight() {
    let make = |weight: f32| {
        skinned(2, 1, |file| {
            let joints = file.accessor(U8, "VEC4", 1, &[0, 1, 7, 2]);
            let weights = file.floats("VEC4", &[0.5, 0.5 - weight, 0.0, weight]);
            json!({ "JOINTS_0": joints, "WEIGHTS_0": weights })
        })
    };
    let (scene, report) = make(0.0).read();
    assert_eq!(scene.meshes[0].primitives[0].influences.joints, [0, 1, 0, 0]);
    assert_reported(&report, Severity::Repaired, &["mesh 0", "2 joint indices"]);
    let parts = ["mesh 0", "primitive 0", "vertex 0", "joint 2", "0.25", "has 2"];
    assert_says(&make(0.25).error(), &parts);
}

#[test]
fn a_mesh_may_hang_on_several_skins() {
    let mut file = skinned(3, 1, |file| {
        let joints = file.accessor(U8, "VEC4", 1, &[2, 0, 0, 0]);
        let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0]);
        json!({ "JOINTS_0": joints, "WEIGHTS_0": weights })
    });
    file.push("skins", json!({ "joints": [2, 1, 0] }));
    file.push("nodes", json!({ "mesh": 0, "skin": 1 }));
    let scene = file.read_clean();
    assert_eq!(scene.nodes[4].skin, Some(1));
    assert_eq!(scene.meshes.len(), 1);
    // The smallest of the skins decides.
    file.root["skins"][1]["joints"] = json!([2, 1]);
    assert_says(&file.error(), &["joint 2", "has 2"]);
}

#[test]
fn unpaired_sets_are_dropped() {
    let file = skinned(2, 1, |file| {
        let joints = file.accessor(U8, "VEC4", 1, &[1, 0, 0, 0]);
        let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0]);
        json!({ "JOINTS_0": joints, "WEIGHTS_0": weights, "JOINTS_1": joints,
                "WEIGHTS_2": weights })
    });
    let (scene, report) = file.read();
    assert_eq!(scene.meshes[0].primitives[0].influences.per_vertex, 4);
    assert_reported(&report, Severity::Dropped, &["JOINTS_1 has no WEIGHTS_1"]);
    assert_reported(&report, Severity::Dropped, &["WEIGHTS_2 has no JOINTS_2"]);
}
