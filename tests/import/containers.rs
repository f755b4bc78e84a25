//! Files, buffers, accessors.

use base64::Engine;
use phalanx::import::ImportOptions;
use phalanx::import::{read_path, read_slice};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

fn triangle() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5]);
    file.mesh(json!({ "POSITION": positions }));
    file
}

const CORNERS: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]];

#[test]
fn external_embedded_and_binary_buffers_give_the_same_scene() {
    let folder = std::env::temp_dir().join(format!("phalanx-import-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("sub dir")).unwrap();
    let file = triangle();
    std::fs::write(folder.join("sub dir/tri ü.bin"), &file.bin).unwrap();
    std::fs::write(folder.join("a.gltf"), file.gltf("sub%20dir/tri%20%C3%BC.bin")).unwrap();
    std::fs::write(folder.join("a.glb"), file.glb()).unwrap();
    std::fs::write(folder.join("sub dir/up.gltf"), file.gltf("../sub%20dir/tri%20ü.bin")).unwrap();
    std::fs::write(folder.join("long.gltf"), file.gltf("long.bin")).unwrap();
    std::fs::write(folder.join("long.bin"), [file.bin.as_slice(), &[7; 5]].concat()).unwrap();
    let options = ImportOptions::default();

    let expected = read_path(&folder.join("a.glb"), &options).unwrap().0;
    assert_eq!(expected.meshes[0].primitives[0].positions, CORNERS);
    for name in ["a.gltf", "long.gltf"] {
        let (mut scene, report) = read_path(&folder.join(name), &options).unwrap();
        assert!(report.is_empty());
        scene.name.clone_from(&expected.name);
        assert_eq!(scene, expected, "{name}");
    }
    let up = folder.join("sub dir/up.gltf");
    let error = read_path(&up, &options).unwrap_err().to_string();
    assert_says(&error, &["up.gltf", "buffer 0", "leaves the folder"]);
    let open = ImportOptions { parent_folders: true, ..options.clone() };
    assert!(read_path(&up, &open).is_ok());

    let encoded = base64::engine::general_purpose::STANDARD.encode(&file.bin);
    let uri = format!("data:application/octet-stream;base64,{encoded}");
    let (mut scene, _) = read_slice(&file.gltf(&uri), "x", None, &options).unwrap();
    scene.name.clone_from(&expected.name);
    assert_eq!(scene, expected);

    let refused = read_slice(&file.gltf("tri.bin"), "x.gltf", None, &options).unwrap_err();
    assert_says(&refused.to_string(), &["x.gltf", "buffer 0", "tri.bin", "no folder"]);
    let missing = folder.join("nowhere.gltf");
    let error = read_path(&missing, &options).unwrap_err().to_string();
    assert_says(&error, &["nowhere.gltf", "cannot be read"]);
    assert!(read_path(&folder, &options).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn marks_paddings_and_unknown_chunks_are_skipped() {
    let options = ImportOptions::default();
    let text = [b"\xef\xbb\xbf \n".as_slice(), &File::new().gltf("")].concat();
    assert!(read_slice(&text, "x", None, &options).is_ok());
    let mut glb = triangle().glb();
    let json = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let padding = glb[..json].iter_mut().rev().take_while(|b| **b == b' ');
    padding.for_each(|byte| *byte = 0);
    glb.extend_from_slice(&[4, 0, 0, 0, b'X', b'Y', b'Z', b'W', 1, 2, 3, 4]);
    let length = (glb.len() as u32).to_le_bytes();
    glb[8..12].copy_from_slice(&length);
    glb.extend_from_slice(b"bytes behind the declared length");
    let (scene, _) = read_slice(&glb, "x", None, &options).unwrap();
    assert_eq!(scene.meshes[0].primitives[0].positions, CORNERS);
}

#[test]
fn interleaved_streams_follow_the_stride() {
    let mut file = File::new();
    let mut bytes = Vec::new();
    for [x, y, z] in CORNERS {
        bytes.extend(f32_bytes(&[9.0, x, y, z, 0.25]));
    }
    let view = file.view(&bytes[..bytes.len() - 4]);
    file.root["bufferViews"][view]["byteStride"] = json!(20);
    let positions = file.push(
        "accessors",
        json!({ "bufferView": view, "byteOffset": 4, "componentType": F32, "type": "VEC3",
                "count": 3 }),
    );
    file.mesh(json!({ "POSITION": positions }));
    assert_eq!(file.read_clean().meshes[0].primitives[0].positions, CORNERS);
}

#[test]
fn sparse_values_replace_base_values_or_zeros() {
    for with_base in [true, false] {
        let mut file = File::new();
        let positions = file.floats("VEC3", &[1.0; 12]);
        let indices = file.view(&[1, 3]);
        let values = file.view(&f32_bytes(&[5.0, 6.0, 7.0, -1.0, -2.0, -3.0]));
        let accessor = &mut file.root["accessors"][positions];
        accessor["sparse"] = json!({
            "count": 2,
            "indices": { "bufferView": indices, "componentType": U8 },
            "values": { "bufferView": values }
        });
        let rest = if with_base { 1.0 } else { 0.0 };
        if !with_base {
            accessor.as_object_mut().unwrap().remove("bufferView");
        }
        file.vertices(json!({ "POSITION": positions }));
        let scene = file.read_clean();
        assert_eq!(
            scene.meshes[0].primitives[0].positions,
            [[rest; 3], [5.0, 6.0, 7.0], [rest; 3], [-1.0, -2.0, -3.0]]
        );
    }
}

#[test]
fn accessors_without_a_view_are_zeros() {
    let mut file = File::new();
    let positions =
        file.push("accessors", json!({ "componentType": F32, "type": "VEC3", "count": 5 }));
    file.vertices(json!({ "POSITION": positions }));
    let scene = file.read_clean();
    assert_eq!(scene.meshes[0].primitives[0].positions, vec![[0.0; 3]; 5]);
}
