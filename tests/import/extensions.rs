//! Extensions: refused, reported or read, by what they change.

use super::refusals::sound;
use phalanx::import::ImportError;
use phalanx::import::ImportFault;
use phalanx::import::ImportOptions;
use phalanx::import::{Severity, import_slice};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

const LENIENT: fn() -> ImportOptions =
    || ImportOptions { lenient: true, ..ImportOptions::default() };

/// The sound file that requires an extension.
fn requiring(name: &str) -> File {
    let mut file = sound();
    file.root["extensionsUsed"] = json!([name]);
    file.root["extensionsRequired"] = json!([name]);
    file
}

#[test]
fn required_extensions_that_change_what_is_imported_are_refused() {
    let cases = [
        ("KHR_draco_mesh_compression", "changes geometry"),
        ("EXT_mesh_gpu_instancing", "changes geometry"),
        ("KHR_texture_basisu", "changes textures"),
        ("KHR_materials_pbrSpecularGlossiness", "changes textures"),
        ("VRMC_node_constraint", "changes animation"),
        ("FOO_bar", "is not known"),
    ];
    for (name, effect) in cases {
        let file = requiring(name);
        let line = file.error();
        assert_says(&line, &["test.glb: requires", name, effect, "not supported"]);
        let error = file.read_with(&ImportOptions::default()).map(|_| ());
        match error.unwrap_err() {
            ImportError::Fault {
                fault: ImportFault::Extension { name: found, effect: changed, .. },
                ..
            } => assert_eq!((found.as_str(), changed), (name, effect)),
            other => panic!("{other}"),
        }
        // With the option, all else is there, and the report says what is not.
        let (scene, report) = file.read_with(&LENIENT()).unwrap();
        assert_eq!((scene.nodes.len(), scene.clips.len()), (3, 1));
        assert_reported(&report, Severity::Dropped, &["extension", name, "required"]);
        assert_eq!(report.len(), 1, "{:?}", report);
    }
}

#[test]
fn messages_name_the_cure() {
    let draco = requiring("KHR_draco_mesh_compression").error();
    assert_eq!(
        draco,
        "test.glb: requires the extension \"KHR_draco_mesh_compression\", which changes geometry and is not \
         supported; `gltf-transform copy IN.glb OUT.glb` decodes it"
    );
    let old = requiring("KHR_materials_pbrSpecularGlossiness").error();
    assert_says(&old, &["gltf-transform metalrough"]);
    assert_says(&requiring("KHR_texture_basisu").error(), &["PNG or JPEG textures"]);
    // A hostile name is short and on one line.
    let long = format!("A\n{}", "x".repeat(5000));
    assert!(requiring(&long).error().len() < 200);
}

#[test]
fn required_extensions_that_change_only_looks_pass() {
    for name in ["KHR_lights_punctual", "KHR_materials_clearcoat", "KHR_xmp_json_ld"] {
        let (scene, report) = requiring(name).read();
        assert_eq!(scene.clips.len(), 1);
        assert_reported(&report, Severity::Note, &["extension", name, "required"]);
        assert_eq!(report.len(), 1, "{:?}", report);
    }
    for (name, part) in [
        ("VRM", "only its humanoid and its springs are read"),
        ("VRMC_vrm", "only its humanoid is read"),
    ] {
        let (scene, report) = requiring(name).read();
        assert_eq!(scene.clips.len(), 1);
        assert_reported(&report, Severity::Note, &[name, part]);
        assert_eq!(report.len(), 1, "{:?}", report);
    }
    for name in [
        "KHR_mesh_quantization",
        "KHR_animation_pointer",
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "KHR_materials_emissive_strength",
        "EXT_texture_webp",
    ] {
        requiring(name).read_clean();
    }
}

#[test]
fn extensions_that_are_used_but_not_required_are_reported_once() {
    let mut file = sound();
    file.root["extensionsUsed"] = json!([
        "KHR_materials_sheen",
        "KHR_draco_mesh_compression",
        "KHR_materials_pbrSpecularGlossiness",
        "KHR_materials_sheen",
        "FOO_bar",
        "KHR_mesh_quantization",
        "KHR_xmp_json_ld",
    ]);
    let (_, report) = file.read();
    let cases: [(Severity, &[&str]); 5] = [
        (Severity::Note, &["KHR_materials_sheen", "surfaces look"]),
        (Severity::Note, &["KHR_draco_mesh_compression", "is ignored; no object has it"]),
        (Severity::Dropped, &["pbrSpecularGlossiness", "read as base colour", "ignored"]),
        (Severity::Note, &["FOO_bar", "not known"]),
        (Severity::Note, &["KHR_xmp_json_ld", "nothing of a rig or its clips"]),
    ];
    for (severity, parts) in cases {
        assert_reported(&report, severity, parts);
    }
    assert_eq!(report.len(), 5, "{:?}", report);
    assert_eq!(report.iter().map(|e| e.severity).max(), Some(Severity::Dropped));
}

/// A triangle that is also compressed; without its plain data if `alone`.
fn compressed(alone: bool) -> File {
    let mut file = sound();
    let view = file.view(&[1, 2, 3, 4]);
    let primitive = &mut file.root["meshes"][0]["primitives"][0];
    primitive["extensions"] = json!({ "KHR_draco_mesh_compression": { "bufferView": view, "attributes": { "POSITION": 0 } } });
    let position = primitive["attributes"]["POSITION"].as_u64().unwrap() as usize;
    if alone {
        let accessor = file.root["accessors"][position].as_object_mut();
        accessor.unwrap().remove("bufferView");
    }
    file
}

#[test]
fn draco_data_with_a_plain_copy_is_not_needed() {
    let (scene, report) = compressed(false).read();
    let (plain, _) = sound().read();
    assert_eq!(scene.meshes, plain.meshes);
    let parts = ["draco", "the data beside it is read", "1 object, but not listed"];
    assert_reported(&report, Severity::Note, &parts);
    assert_eq!(report.len(), 1, "{:?}", report);
}

#[test]
fn vertices_that_are_in_draco_data_alone_are_no_zeros() {
    let file = compressed(true);
    let line = file.error();
    assert_says(&line, &["mesh 0, primitive 0", "requires", "draco", "gltf-transform"]);
    let (scene, report) = file.read_with(&LENIENT()).unwrap();
    assert!(scene.meshes[0].primitives[0].positions.is_empty());
    assert_eq!(scene.clips.len(), 1);
    let parts = ["mesh 0, primitive 0", "Draco", "left out"];
    assert_reported(&report, Severity::Dropped, &parts);
    // There was no data beside it.
    let parts = ["draco", "is ignored, though it changes geometry; found on 1 object"];
    assert_reported(&report, Severity::Dropped, &parts);
    assert!(report.iter().all(|e| !e.message.contains("beside")));
    // One that has other data, and one that has none.
    let mut both = compressed(false);
    let mut alone = both.root["meshes"][0]["primitives"][0].clone();
    let position = json!({ "componentType": 5126, "count": 3, "type": "VEC3" });
    let position = both.push("accessors", position);
    alone["attributes"] = json!({ "POSITION": position });
    alone.as_object_mut().unwrap().remove("indices");
    let primitives = both.root["meshes"][0]["primitives"].as_array_mut();
    primitives.unwrap().push(alone);
    let (_, report) = both.read_with(&LENIENT()).unwrap();
    let parts = ["draco", "the data beside it is read where there is some"];
    assert_reported(&report, Severity::Note, &parts);
    let imported = import_slice(&file.glb(), "x", None, &LENIENT()).unwrap();
    assert_eq!(imported.rigs[0].skeleton().len(), 2);
}
