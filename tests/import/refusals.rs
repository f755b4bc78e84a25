//! Bad input: each case is refused with one line that names the place and both numbers.

use phalanx::import::ImportOptions;
use phalanx::import::read_slice;
use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

#[track_caller]
pub fn refused(bytes: &[u8], parts: &[&str]) {
    let error = read_slice(bytes, "bad", None, &ImportOptions::default());
    let line = error.map(|_| ()).unwrap_err().to_string();
    assert_says(&line, &["bad: "]);
    assert_says(&line, parts);
    assert!(!line.contains('\n'), "{line}");
}

/// A file with a bit of everything, which reads without repairs.
pub fn sound() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]); // accessor 0
    let indices = file.accessor(U16, "SCALAR", 3, &u16_bytes(&[0, 1, 2])); // 1
    let joints = file.accessor(U8, "VEC4", 3, &[0, 1, 0, 0].repeat(3)); // 2
    let weights = file.floats("VEC4", &[0.5, 0.5, 0.0, 0.0].repeat(3)); // 3
    let times = file.floats("SCALAR", &[0.0, 1.0, 2.0]); // 4
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0].repeat(3)); // 5
    let binds = file.floats("MAT4", &glam::Mat4::IDENTITY.to_cols_array().repeat(2)); // 6
    let node = file.mesh(json!({ "POSITION": positions, "JOINTS_0": joints,
        "WEIGHTS_0": weights }));
    file.root["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    file.push("nodes", json!({ "name": "a\nb", "children": [2] }));
    file.push("nodes", json!({}));
    file.push("skins", json!({ "joints": [1, 2], "inverseBindMatrices": binds }));
    file.root["nodes"][node]["skin"] = json!(0);
    file.clip(2, "rotation", "LINEAR", times, turns);
    file.push("scenes", json!({ "nodes": [0, 1] }));
    file
}

#[test]
fn the_sound_file_is_sound() {
    sound().read_clean();
}

/// Reads the sound file after a change.
#[track_caller]
fn changed(change: impl FnOnce(&mut Value), parts: &[&str]) {
    let mut file = sound();
    change(&mut file.root);
    assert_says(&file.error(), parts);
}

/// Reads the sound file after a change of the bytes of an accessor.
#[track_caller]
fn with_bytes(accessor: usize, at: usize, bytes: &[u8], parts: &[&str]) {
    let mut file = sound();
    let view = &file.root["accessors"][accessor]["bufferView"];
    let view = &file.root["bufferViews"][view.as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap() as usize + at;
    file.bin[start..start + bytes.len()].copy_from_slice(bytes);
    assert_says(&file.error(), parts);
}

#[test]
fn indices_of_every_kind() {
    let index = |path: &'static str, value: Value| {
        move |root: &mut Value| *root.pointer_mut(path).unwrap() = value
    };
    let cases: [(&str, &[&str]); 15] = [
        ("/accessors/0/bufferView", &["mesh 0", "POSITION", "accessor 0", "buffer view 77"]),
        ("/bufferViews/0/buffer", &["buffer view 0", "buffer 77", "there is 1"]),
        ("/meshes/0/primitives/0/attributes/POSITION", &["accessor 77", "there are 7"]),
        ("/meshes/0/primitives/0/indices", &["primitive 0", "indices", "accessor 77"]),
        ("/nodes/0/mesh", &["node 0", "mesh 77", "there is 1"]),
        ("/nodes/0/skin", &["node 0", "skin 77", "there is 1"]),
        ("/nodes/1/children/0", &["node 1 \"a\\nb\"", "child node 77", "there are 3"]),
        ("/skins/0/joints/1", &["skin 0", "joint 1", "joint node 77", "there are 3"]),
        ("/skins/0/inverseBindMatrices", &["skin 0", "accessor 77", "there are 7"]),
        ("/scenes/0/nodes/0", &["scene 0", "node 77", "there are 3"]),
        ("/animations/0/samplers/0/input", &["animation 0", "sampler 0", "accessor 77"]),
        ("/animations/0/samplers/0/output", &["animation 0", "output accessor 77"]),
        ("/animations/0/channels/0/sampler", &["channel 0", "sampler 77", "there is 1"]),
        ("/animations/0/channels/0/target/node", &["channel 0", "target node 77"]),
        ("/meshes/0/primitives/0/attributes/JOINTS_0", &["JOINTS", "accessor 77"]),
    ];
    for (path, parts) in cases {
        changed(index(path, json!(77)), parts);
    }
    changed(|root| root["scene"] = json!(1), &["default scene 1", "there is 1"]);
    let material = |root: &mut Value| root["meshes"][0]["primitives"][0]["material"] = json!(3);
    changed(material, &["material 3", "there are 0"]);
    let texture = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 4 } } }]);
    let materials = |root: &mut Value| root["materials"] = texture.clone();
    changed(materials, &["material 0", "texture 4", "there are 0"]);
    let both = |root: &mut Value| {
        root["materials"] = texture.clone();
        root["textures"] = json!([{}, {}, {}, {}, { "source": 9 }]);
    };
    changed(both, &["material 0", "image 9", "there are 0"]);
    for value in [json!(-1), json!(1.5), json!("0"), json!(null), json!(1e300)] {
        let line = |root: &mut Value| root["animations"][0]["channels"][0]["sampler"] = value;
        changed(line, &["JSON line"]);
    }
}

#[test]
fn ranges_strides_and_types() {
    let set = |path: &'static str, value: Value| {
        move |root: &mut Value| {
            let (parent, key) = path.rsplit_once('/').unwrap();
            root.pointer_mut(parent).unwrap()[key] = value;
        }
    };
    let huge = u64::MAX;
    let here = "accessor 0";
    changed(set("/accessors/0/count", json!(4)), &[here, "byte 48", "buffer view 0", "36"]);
    changed(set("/accessors/0/count", json!(huge)), &[here]);
    changed(set("/accessors/0/count", json!(-3)), &["JSON line"]);
    changed(set("/accessors/0/byteOffset", json!(4)), &[here, "byte 40", "which has 36"]);
    changed(set("/accessors/0/byteOffset", json!(huge)), &[here, "which has 36"]);
    changed(set("/accessors/0/componentType", json!(5124)), &[here, "componentType"]);
    changed(set("/accessors/0/type", json!("VEC5")), &[here, "type"]);
    changed(set("/accessors/0/type", json!("VEC4")), &[here, "VEC4 of FLOAT", "VEC3"]);
    changed(
        set("/accessors/1/componentType", json!(F32)),
        &["indices", "SCALAR of FLOAT", "UNSIGNED_SHORT"],
    );
    changed(set("/accessors/5/type", json!("VEC3")), &["channel 0", "VEC3 of FLOAT", "VEC4"]);
    changed(
        set("/accessors/6/componentType", json!(U8)),
        &["skin 0", "MAT4 of UNSIGNED_BYTE", "FLOAT"],
    );
    let view = "buffer view 0";
    changed(set("/bufferViews/0/byteLength", json!(huge)), &[view, "buffer 0"]);
    changed(set("/bufferViews/0/byteOffset", json!(huge)), &[view, "buffer 0"]);
    changed(set("/bufferViews/0/byteStride", json!(8)), &["byteStride is 8", "12 bytes"]);
    changed(set("/bufferViews/0/byteStride", json!(252)), &[here, "byte 516", "36"]);
    changed(
        set("/buffers", json!([{ "byteLength": 100_000 }])),
        &["buffer 0", "byteLength is 100000", "has "],
    );
    changed(
        set("/buffers", json!([{ "byteLength": 4, "uri": "data:,abc" }])),
        &["buffer 0", "byteLength is 4", "has 3 bytes"],
    );
    changed(set("/buffers", json!([{ "uri": "http://h/x", "byteLength": 4 }])), &["rejected"]);
    changed(set("/meshes/0/primitives/0/mode", json!(9)), &["primitive 0", "mode"]);
    changed(
        set("/animations/0/samplers/0/interpolation", json!("SMOOTH")),
        &["channel 0", "interpolation"],
    );
}

#[test]
fn sparse_indices_and_counts() {
    for (count, indices, parts) in [
        (2, [1u8, 3], &["POSITION", "accessor 0", "sparse", "element 3", "there are 3"][..]),
        (4, [0, 1], &["sparse", "at most", "3", "4"]),
        (3, [0, 1], &["sparse", "byte 3", "which has 2"]),
    ] {
        let mut file = sound();
        let indices = file.view(&indices);
        let values = file.view(&[0; 48]);
        file.root["accessors"][0]["sparse"] = json!({ "count": count,
            "indices": { "bufferView": indices, "componentType": U8 },
            "values": { "bufferView": values } });
        assert_says(&file.error(), parts);
    }
}

#[test]
fn counts_that_must_agree() {
    let set = |accessor: usize, count: usize| {
        move |root: &mut Value| root["accessors"][accessor]["count"] = json!(count)
    };
    changed(set(2, 2), &["primitive 0", "JOINTS", "expected 3, found 2"]);
    changed(set(3, 2), &["primitive 0", "WEIGHTS", "expected 3, found 2"]);
    changed(set(5, 2), &["channel 0", "accessor 5", "expected 3, found 2"]);
    changed(set(4, 2), &["channel 0", "expected 2, found 3"]);
    changed(set(6, 1), &["skin 0", "inverse bind matrices", "2, found 1"]);
    let cubic = |root: &mut Value| {
        root["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE");
    };
    changed(cubic, &["channel 0", "expected 9, found 3"]);
    let short = |root: &mut Value| {
        let attributes = &mut root["meshes"][0]["primitives"][0]["attributes"];
        attributes["NORMAL"] = json!(7);
        let shorter = json!({ "componentType": F32, "type": "VEC3", "count": 2 });
        root["accessors"].as_array_mut().unwrap().push(shorter);
    };
    changed(short, &["NORMAL", "accessor 7", "expected 3, found 2"]);
    let target = |root: &mut Value| {
        root["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": 7 }]);
        let shorter = json!({ "componentType": F32, "type": "VEC3", "count": 2 });
        root["accessors"].as_array_mut().unwrap().push(shorter);
    };
    changed(target, &["target 0", "POSITION", "expected 3, found 2"]);
}

#[test]
fn keys_and_times_that_are_no_numbers() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let text = bad.to_string();
        let at = ["animation 0", "channel 0", "accessor 5", "key 2", text.as_str()];
        with_bytes(5, 36, &bad.to_le_bytes(), &at);
        let at = ["skin 0", "inverse bind matrix 1", "matrix 5", text.as_str()];
        with_bytes(6, 64 + 20, &bad.to_le_bytes(), &at);
    }
    // JSON has no NaN, and a number beyond f32 does not parse.
    let large = |root: &mut Value| root["nodes"][2]["scale"] = json!([1, 1e39, 1]);
    changed(large, &["JSON line 1", "out of range"]);
}

#[test]
fn vertex_indices_beyond_the_vertices() {
    with_bytes(1, 2, &[3, 0], &["indices", "accessor 1", "index 1 is 3", "3 vertices"]);
    with_bytes(1, 0, &[255, 255], &["index 0 is 65535", "3 vertices"]);
}

#[test]
fn node_cycles_and_double_parents() {
    let children = |node: usize, children: Value| {
        move |root: &mut Value| root["nodes"][node]["children"] = children
    };
    changed(children(2, json!([2])), &["node 2", "child of node 1 and of node 2"]);
    changed(children(0, json!([0])), &["node 0", "own ancestor"]);
    changed(children(2, json!([1])), &["own ancestor"]);
    changed(children(0, json!([2])), &["node 2", "child of node 0 and of node 1"]);
    let ring = |root: &mut Value| {
        let node = |next: usize| json!({ "children": [next] });
        let ring: Vec<_> = (0..1000).map(|i| node((i + 1) % 1000)).collect();
        root["nodes"] = json!(ring);
    };
    changed(ring, &["own ancestor"]);
    let mut file = File::new();
    let mut chain: Vec<_> = (1..20_000).map(|i| json!({ "children": [i] })).collect();
    chain.push(json!({}));
    file.root["nodes"] = json!(chain);
    assert_eq!(file.read_clean().nodes.len(), 20_000);
}
