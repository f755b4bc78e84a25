//! What the report says of parts of a file that are not read.

use phalanx::import::ReportEntry;
use phalanx_testkit::gltf_file::*;
use serde_json::json;

/// Lines of the report whose place is this one.
fn at(report: &[ReportEntry], place: &str) -> Vec<String> {
    let lines = report.iter().filter(|e| e.place == place);
    lines.map(|e| format!("{}: {}", e.severity, e.message)).collect()
}

#[test]
fn extensions_that_the_file_does_not_list_are_named() {
    let mut file = File::new();
    file.root["extensionsUsed"] = json!(["FOO_listed", "FOO_nowhere"]);
    file.root["extensions"] = json!({ "KHR_lights_punctual": { "lights": [{ "type": "point" }] } });
    let odd = json!({ "FOO_odd": {}, "FOO_listed": {}, "KHR_mesh_quantization": {} });
    let light = json!({ "KHR_lights_punctual": { "light": 0 } });
    file.push(
        "nodes",
        json!({ "extensions": odd, "extras": { "extensions": { "FOO_private": 1 } } }),
    );
    file.push("nodes", json!({ "extensions": light }));
    file.push("nodes", json!({ "extensions": { "EXT_mesh_gpu_instancing": {} } }));
    // Inside of another extension, too.
    let coat = json!({ "clearcoatTexture": { "index": 0, "extensions": { "FOO_odd": {} } } });
    let pbr = json!({ "metallicFactor": 0.0 });
    file.push(
        "materials",
        json!({ "pbrMetallicRoughness": pbr, "extensions": { "KHR_materials_clearcoat": coat } }),
    );
    let (_, report) = file.read();
    let cases = [
        ("FOO_listed", "note: is ignored; it is not known; 1 object has it"),
        ("FOO_nowhere", "note: is ignored; it is not known; no object has it"),
        (
            "FOO_odd",
            "note: is ignored; it is not known; found on 2 objects, but not listed in extensionsUsed",
        ),
        (
            "EXT_mesh_gpu_instancing",
            "dropped: is ignored, though it changes geometry; found on 1 object, but not listed in extensionsUsed",
        ),
        (
            "KHR_lights_punctual",
            "note: is ignored; it changes nothing of a rig or its clips; found on 2 objects, but not listed in \
             extensionsUsed",
        ),
        (
            "KHR_materials_clearcoat",
            "note: is ignored; it changes how surfaces look in the light; found on 1 object, but not listed in \
             extensionsUsed",
        ),
    ];
    for (name, line) in cases {
        assert_eq!(at(&report, &format!("extension {name:?}")), [line]);
    }
    assert_eq!(report.len(), cases.len(), "{:?}", report);
}

#[test]
fn cameras_are_counted() {
    let mut file = File::new();
    file.push(
        "cameras",
        json!({ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }),
    );
    file.push("nodes", json!({ "camera": 0 }));
    file.push("nodes", json!({ "camera": 0 }));
    let (_, report) = file.read();
    let line =
        "note: 1 camera is ignored; 2 nodes have one; they change nothing of a rig or its clips";
    assert_eq!(at(&report, "cameras"), [line]);
    assert_eq!(report.len(), 1);
}

#[test]
fn attributes_that_are_not_read_are_named() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    let uvs = file.floats("VEC2", &[0.0; 6]);
    let target = json!({ "POSITION": positions, "COLOR_0": positions, "TEXCOORD_0": uvs });
    let first = json!({ "POSITION": positions, "COLOR_1": positions, "TEXCOORD_1": uvs, "TEXCOORD_2": uvs });
    let second =
        json!({ "POSITION": positions, "COLOR_1": positions, "_A": uvs, "_odd name\n": uvs });
    file.push(
        "meshes",
        json!({ "primitives": [{ "attributes": first, "targets": [target, target] }, { "attributes": second,
            "targets": [target, { "POSITION": positions }] }] }),
    );
    file.push("nodes", json!({ "mesh": 0 }));
    let (scene, report) = file.read();
    assert!(scene.meshes[0].primitives[0].uvs1.is_empty());
    assert_eq!(
        at(&report, "meshes"),
        [
            "note: vertex attributes that are not read: TEXCOORD_1 (1 primitive), COLOR_1 (2 primitives), \
             TEXCOORD_2 (1 primitive), _A (1 primitive) and 1 more",
            "dropped: attributes of morph targets that are not read: COLOR_0 (2 primitives) and TEXCOORD_0 \
             (2 primitives)",
        ]
    );
    assert_eq!(report[0].items[4], "\"_odd name\\n\" (1 primitive)");
    assert_eq!(report.len(), 2, "{:?}", report);
}

#[test]
fn textures_without_coordinates_are_reported() {
    let mut file = File::new();
    file.push("images", json!({ "uri": "data:image/png;base64," }));
    file.push("textures", json!({ "source": 0 }));
    let pbr = json!({ "metallicFactor": 0.0, "baseColorTexture": { "index": 0 } });
    let normal = json!({ "index": 0, "texCoord": 1 });
    file.push(
        "materials",
        json!({ "name": "cloth", "pbrMetallicRoughness": pbr, "normalTexture": normal }),
    );
    let positions = file.floats("VEC3", &[0.0; 9]);
    let uvs = file.floats("VEC2", &[0.0; 6]);
    let bare = json!({ "attributes": { "POSITION": positions }, "material": 0 });
    let mapped =
        json!({ "attributes": { "POSITION": positions, "TEXCOORD_0": uvs }, "material": 0 });
    let whole = json!({ "attributes": { "POSITION": positions, "TEXCOORD_0": uvs, "TEXCOORD_1": uvs },
        "material": 0 });
    file.push("meshes", json!({ "primitives": [whole, mapped, bare] }));
    file.push("nodes", json!({ "mesh": 0 }));
    let (_, report) = file.read();
    let uses = |name: &str| {
        format!("which textures of material 0 \"cloth\" use: {name}; it is drawn without these")
    };
    assert_eq!(
        at(&report, "mesh 0, primitive 2"),
        [format!("note: lacks TEXCOORD_0, {}", uses("base colour"))]
    );
    assert_eq!(
        at(&report, "mesh 0, primitive 1"),
        [format!("note: lacks TEXCOORD_1 (and 1 more primitive), {}", uses("normal"))]
    );
}

#[test]
fn meshes_and_images_without_use_are_counted() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    for _ in 0..3 {
        let primitive = json!({ "attributes": { "POSITION": positions } });
        file.push("meshes", json!({ "primitives": [primitive] }));
    }
    file.push("nodes", json!({ "mesh": 1 }));
    file.push("images", json!({ "uri": "never-fetched.png" }));
    let (_, report) = file.read();
    let meshes = "note: 2 of 3 are on no node and left out of rigs; the first is 0";
    assert_eq!(at(&report, "meshes"), [meshes]);
    let images =
        "note: 1 of 1 has no use in what is read of materials and is left out; the first is 0";
    assert_eq!(at(&report, "images"), [images]);
    assert_eq!(report.len(), 2, "{:?}", report);
}

#[test]
fn clips_that_lose_all_channels_are_named() {
    let mut file = File::new();
    file.push("nodes", json!({ "name": "hips" }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("VEC3", &[0.0; 6]);
    let pointer = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": "/materials/0/x" } } });
    let channel = json!({ "sampler": 0, "target": pointer });
    let kept = json!({ "sampler": 0, "target": { "node": 0, "path": "scale" } });
    let sampler = json!({ "input": times, "output": values });
    for (name, channels) in [("glow", json!([channel])), ("walk", json!([channel, kept]))] {
        file.push(
            "animations",
            json!({ "name": name, "samplers": [sampler], "channels": channels }),
        );
    }
    let (scene, report) = file.read();
    assert_eq!(scene.clips.len(), 2);
    let line = "note: is an empty clip: none of its channels is read";
    assert_eq!(at(&report, "animation 0 \"glow\""), [line]);
    assert!(at(&report, "animation 1 \"walk\"").is_empty());
}
