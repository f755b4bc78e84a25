//! JSON as exporters write it: integers as floats, keys twice, `null`, byte order marks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phalanx::import::ImportOptions;
use phalanx::import::raw::RawScene;
use phalanx::import::read_slice;
use phalanx::import::{ReportEntry, Severity};
use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

fn read(text: &str) -> (RawScene, Vec<ReportEntry>) {
    read_slice(text.as_bytes(), "test", None, &ImportOptions::default()).unwrap()
}

fn refused(text: &str) -> String {
    let error = read_slice(text.as_bytes(), "test", None, &ImportOptions::default());
    error.unwrap_err().to_string()
}

/// A character with a skin, morph targets, sparse values, a texture and a clip, in one text with its buffer.
fn whole() -> String {
    let mut file = File::new();
    let at = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let joints = file.accessor(U8, "VEC4", 3, &[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(3));
    let list = file.accessor(U16, "SCALAR", 3, &u16_bytes(&[0, 1, 2]));
    let sparse = file.view(&[2]);
    let values = file.view(&f32_bytes(&[0.0, 2.0, 0.0]));
    let target = file.push(
        "accessors",
        json!({ "componentType": F32, "type": "VEC3", "count": 3, "sparse": { "count": 1,
            "indices": { "bufferView": sparse, "byteOffset": 0, "componentType": U8 },
            "values": { "bufferView": values, "byteOffset": 0 } } }),
    );
    let inverse = file.floats("MAT4", &[glam::Mat4::IDENTITY.to_cols_array(); 2].concat());
    let times = file.floats("SCALAR", &[0.0, 2.0]);
    let turned = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    file.root["bufferViews"][0]["byteStride"] = json!(12);
    file.root["bufferViews"][0]["target"] = json!(34962);
    for accessor in file.root["accessors"].as_array_mut().unwrap() {
        if accessor.get("sparse").is_none() {
            accessor["byteOffset"] = json!(0);
        }
    }
    file.push("nodes", json!({ "name": "A", "children": [1], "translation": [-0.0, 1.0, 3.0] }));
    file.push(
        "nodes",
        json!({ "name": "B", "matrix":
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 4.0, 5.0, 6.0, 1.0] }),
    );
    file.push("nodes", json!({ "mesh": 0, "skin": 0, "weights": [1.0], "camera": 0 }));
    file.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 1.0 } }),
    );
    file.push("skins", json!({ "joints": [0, 1], "skeleton": 0, "inverseBindMatrices": inverse }));
    file.push("images", json!({ "uri": "data:image/png;base64,AAAA" }));
    file.push(
        "samplers",
        json!({ "wrapS": 33071, "wrapT": 33648, "minFilter": 9728, "magFilter": 9729 }),
    );
    file.push("textures", json!({ "source": 0, "sampler": 0 }));
    file.push("materials", json!({ "pbrMetallicRoughness": { "metallicFactor": 0.0,
        "baseColorFactor": [1.0, 0.0, 1.0, 1.0], "baseColorTexture": { "index": 0, "texCoord": 0 } } }));
    file.push(
        "meshes",
        json!({ "weights": [0.0], "primitives": [{ "material": 0, "mode": 4, "indices": list,
        "attributes": { "POSITION": at, "JOINTS_0": joints, "WEIGHTS_0": weights },
        "targets": [{ "POSITION": target }] }] }),
    );
    file.push(
        "animations",
        json!({ "name": "Turn", "samplers": [{ "input": times, "output": turned }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }],
        "extras": { "node": 1.0, "empty": null } }),
    );
    file.root["scene"] = json!(0);
    file.push("scenes", json!({ "nodes": [0, 2] }));
    let uri = format!("data:;base64,{}", STANDARD.encode(&file.bin));
    String::from_utf8(file.gltf(&uri)).unwrap()
}

/// Writes every whole number of a value another way; `extras` stay.
fn rewritten(value: &Value, write: &dyn Fn(i64) -> String) -> String {
    match value {
        Value::Number(n) => n.as_i64().map_or_else(|| n.to_string(), write),
        Value::Array(all) => {
            let all: Vec<_> = all.iter().map(|v| rewritten(v, write)).collect();
            format!("[{}]", all.join(","))
        }
        Value::Object(all) => {
            let all = all.iter().map(|(key, v)| match key.as_str() {
                "extras" => format!("{key:?}:{v}"),
                _ => format!("{key:?}:{}", rewritten(v, write)),
            });
            format!("{{{}}}", all.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn integers_may_have_fraction_and_exponent_in_every_field() {
    let text = whole();
    let plain = read(&text);
    assert_eq!(plain.0.clips[0].duration, 2.0);
    assert_eq!(plain.0.skins[0].joints, [0, 1]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let ways: [&dyn Fn(i64) -> String; 5] = [
        &|n| format!("{n}.0"),
        &|n| format!("{n}e0"),
        &|n| {
            if n == 0 { "0E-1".into() } else { format!("{n}0E-1") }
        },
        &|n| format!("{}.{}E+1", n / 10, n % 10),
        &|n| {
            if n == 0 { "-0.0".into() } else { format!("{n}.000") }
        },
    ];
    for write in ways {
        let text = rewritten(&value, write);
        assert_ne!(text, value.to_string());
        assert_eq!(read(&text), plain, "{text}");
    }
}

#[test]
fn floats_and_extras_stay_as_they_are() {
    let (scene, _) = read(&whole().replace("\"node\":0,\"path\"", "\"node\":0.0,\"path\""));
    let at = scene.nodes[0].local.translation;
    assert_eq!(at.to_array().map(f32::to_bits), [-0.0f32, 1.0, 3.0].map(f32::to_bits));
    let extras: Value = serde_json::from_str(scene.clips[0].extras.as_deref().unwrap()).unwrap();
    assert_eq!(extras, json!({ "node": 1.0, "empty": null }));
    assert!(extras["node"].is_f64());
}

#[test]
fn fractions_and_numbers_beyond_f64_are_refused_where_integers_stand() {
    let text = whole();
    for bad in ["0.5", "1e308", "1e999", "-1.0", "9007199254740993.0", "1e-400"] {
        let bad_text = text.replace("\"skeleton\":0", "\"skeleton\":0,\"joints\":[0,0.5]");
        assert!(refused(&bad_text).contains("JSON line 1"), "{bad}");
        let bad_text = text.replace("\"node\":0,\"path\"", &format!("\"node\":{bad},\"path\""));
        // A number so small that it rounds to 0 is 0.
        if bad == "1e-400" {
            read(&bad_text);
            continue;
        }
        let error = refused(&bad_text);
        assert!(error.contains("JSON line 1, column"), "{bad}: {error}");
    }
    let error = refused(&text.replace("\"componentType\":5126", "\"componentType\":5126.5"));
    assert!(error.contains("5126.5"), "{error}");
}

#[test]
fn the_last_of_equal_keys_wins_and_is_reported() {
    let text = whole();
    let twice = text
        .replace("\"name\":\"B\"", "\"name\":\"B\",\"name\":\"C\"")
        .replace("\"extras\":{", "\"extras\":{\"empty\":7,");
    let (scene, report) = read(&twice);
    let (plain, before) = read(&text);
    assert_eq!(scene.nodes[1].name.as_deref(), Some("C"));
    let extras: Value = serde_json::from_str(scene.clips[0].extras.as_deref().unwrap()).unwrap();
    assert_eq!(extras["empty"], Value::Null);
    assert_eq!((scene.meshes, scene.skins), (plain.meshes, plain.skins));
    assert_eq!(report.len(), before.len() + 1);
    let parts = ["JSON", "2 keys", "/nodes/1/name", "/animations/0/extras/empty", "the last"];
    assert_reported(&report, Severity::Repaired, &parts);
}

#[test]
fn a_member_that_is_null_is_absent() {
    let text = whole();
    let plain = read(&text);
    let value: Value = serde_json::from_str(&text).unwrap();
    // Each property that glTF defines and the file lacks, in every object that could have it.
    let mut nulls = value.clone();
    for (list, keys) in [
        ("nodes", &["rotation", "scale", "extensions", "extras"][..]),
        ("accessors", &["min", "max", "name", "normalized"]),
        ("bufferViews", &["name", "extensions"]),
        ("images", &["bufferView", "mimeType"]),
        ("textures", &["name", "extensions"]),
        (
            "materials",
            &["normalTexture", "alphaMode", "alphaCutoff", "doubleSided", "emissiveFactor"],
        ),
        ("meshes", &["name", "extras"]),
        ("skins", &["name"]),
        ("samplers", &["name"]),
        ("scenes", &["name"]),
        ("buffers", &["name"]),
    ] {
        for object in nulls[list].as_array_mut().unwrap() {
            for key in keys {
                if object.get(key).is_none() {
                    object[*key] = Value::Null;
                }
            }
        }
    }
    for key in ["extensionsUsed", "extensionsRequired", "extensions"] {
        nulls[key] = Value::Null;
    }
    nulls["asset"]["minVersion"] = Value::Null;
    nulls["animations"][0]["samplers"][0]["interpolation"] = Value::Null;
    assert_eq!(read(&nulls.to_string()), plain);
    // As Babylon writes it.
    let mut none = value;
    none["animations"][0]["channels"] = Value::Null;
    none["animations"][0]["samplers"] = Value::Null;
    let (scene, report) = read(&none.to_string());
    assert!(scene.clips[0].tracks.is_empty());
    assert_reported(&report, Severity::Note, &["\"Turn\"", "no channels"]);
    // What glTF requires is lacking.
    none["animations"][0]["samplers"] = json!([{ "input": null, "output": 0 }]);
    assert!(refused(&none.to_string()).contains("input"));
    none["animations"] = json!([null]);
    assert!(refused(&none.to_string()).contains("JSON line"));
}

#[test]
fn a_byte_order_mark_may_stand_before_json_in_both_containers() {
    let text = whole();
    let mark = "\u{feff}";
    let plain = read(&text);
    let marked = glb(format!("{mark}{text}").as_bytes(), &[]);
    let options = ImportOptions::default();
    assert_eq!(read_slice(&marked, "test", None, &options).unwrap(), plain);
    assert_eq!(read(&format!("{mark}{text}")), plain);
}

#[test]
fn text_of_many_keys_stays_bounded() {
    let options = ImportOptions::default();
    let many = |member: &str, n: usize| {
        let all = vec![member; n].join(",");
        format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{{{all}}}}}")
    };
    // Each is read or refused by a named limit.
    for text in [many("\"a\":1", 200_000), many("\"a\":{\"a\":null,\"a\":1e2}", 50_000)] {
        match read_slice(text.as_bytes(), "test", None, &options) {
            Ok((_, report)) => assert!(report.iter().all(|e| e.items.len() <= 10_000)),
            Err(error) => assert!(error.to_string().contains("the limit is"), "{error}"),
        }
    }
    let deep = format!("{}{}", "{\"a\":".repeat(5000), "null");
    assert!(refused(&deep).contains("nested"));
}

/// Files of users: component types alone as floats, and a name that is written twice.
#[test]
fn files_with_floats_for_integers_and_equal_keys() {
    let (scene, report) = read(include_str!("../data/gltf/c06_component_type_only.gltf"));
    assert_eq!((scene.clips.len(), scene.skins[0].joints.len()), (1, 2));
    assert!(report.is_empty(), "{report:?}");
    let (scene, report) = read(include_str!("../data/gltf/c10_dup_key.gltf"));
    assert_eq!(scene.nodes[1].name.as_deref(), Some("B"));
    let parts = ["JSON", "/nodes/1/name", "occurs twice", "the last"];
    assert_reported(&report, Severity::Repaired, &parts);
}
