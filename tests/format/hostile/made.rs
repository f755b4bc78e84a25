//! Small files: one with every kind of data that the import reads, one with little more than a clip.

use phalanx_testkit::gltf_file::*;
use serde_json::json;

/// Every kind of data.
pub fn everything() -> Vec<u8> {
    const COUNT: usize = 120;
    let mut file = File::new();
    let places: Vec<[f32; 3]> = (0..COUNT).map(|i| [i as f32, (i % 5) as f32, 0.5]).collect();
    let positions = file.floats("VEC3", places.as_flattened());
    let compress = |file: &mut File, bytes: &[u8], stride: usize, mode: &str, filter: &str| {
        let source = file.view(bytes);
        let offset = file.root["bufferViews"][source]["byteOffset"].clone();
        let extension = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len(),
            "byteStride": stride, "count": COUNT, "mode": mode, "filter": filter });
        file.push(
            "bufferViews",
            json!({ "buffer": 0, "byteLength": stride * COUNT,
                    "extensions": { "EXT_meshopt_compression": extension } }),
        )
    };
    let over = |file: &mut File, view: usize, component: u32, shape: &str| {
        file.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "type": shape,
                    "count": COUNT, "normalized": component == I16 || component == I8 }),
        )
    };
    let packed = meshopt::encode_vertex_buffer(&places).unwrap();
    let view = compress(&mut file, &packed, 12, "ATTRIBUTES", "NONE");
    let compressed = over(&mut file, view, F32, "VEC3");
    let axes: Vec<[f32; 4]> = vec![[0.6, 0.0, 0.8, 0.0]; COUNT];
    let oct: Vec<[i8; 4]> = meshopt::encode_filter_oct(&axes, 8);
    let packed = meshopt::encode_vertex_buffer(&oct).unwrap();
    let view = compress(&mut file, &packed, 4, "ATTRIBUTES", "OCTAHEDRAL");
    let tangents = over(&mut file, view, I8, "VEC4");
    let turns = meshopt::encode_filter_quat(&axes, 12);
    let packed = meshopt::encode_vertex_buffer(&turns).unwrap();
    let view = compress(&mut file, &packed, 8, "ATTRIBUTES", "QUATERNION");
    let turns = over(&mut file, view, I16, "VEC4");
    let times: Vec<[f32; 1]> = (0..COUNT).map(|i| [i as f32]).collect();
    let exp = meshopt::encode_filter_exp(&times, 15, meshopt::EncodeExpMode::Separate);
    let packed = meshopt::encode_vertex_buffer(&exp).unwrap();
    let view = compress(&mut file, &packed, 4, "ATTRIBUTES", "EXPONENTIAL");
    let times = over(&mut file, view, F32, "SCALAR");
    let corners: Vec<u32> = (0..COUNT as u32).collect();
    let packed = meshopt::encode_index_buffer(&corners, COUNT).unwrap();
    let view = compress(&mut file, &packed, 4, "TRIANGLES", "NONE");
    let triangles = over(&mut file, view, U32, "SCALAR");
    let packed = meshopt::encode_index_sequence(&corners, COUNT).unwrap();
    let view = compress(&mut file, &packed, 2, "INDICES", "NONE");
    let strip = over(&mut file, view, U16, "SCALAR");

    let joints = file.accessor(U8, "VEC4", COUNT, &[0, 1, 2, 0].repeat(COUNT));
    let weights = file.fractions(U8, "VEC4", COUNT, &[100, 100, 55, 0].repeat(COUNT));
    let sparse_at = file.view(&[3, 9]);
    let sparse_values = file.view(&f32_bytes(&[1.0; 6]));
    let sparse = file.push(
        "accessors",
        json!({ "componentType": F32, "type": "VEC3", "count": COUNT, "sparse": { "count": 2,
            "indices": { "bufferView": sparse_at, "componentType": U8 },
            "values": { "bufferView": sparse_values } } }),
    );
    let picture = file.view(include_bytes!("../../import/pixel.png"));
    file.push("images", json!({ "bufferView": picture }));
    file.push(
        "samplers",
        json!({ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9987 }),
    );
    file.push("textures", json!({ "source": 0, "sampler": 0 }));
    let webp = json!({ "EXT_texture_webp": { "source": 0 } });
    file.push("textures", json!({ "extensions": webp }));
    let transform = json!({ "KHR_texture_transform":
        { "offset": [0.5, 0.25], "rotation": 0.5, "scale": [2, 3], "texCoord": 1 } });
    let texture = json!({ "index": 0, "extensions": transform });
    let color = json!({ "baseColorTexture": texture, "baseColorFactor": [1, 0.5, 0, 1],
        "metallicFactor": 0.5, "roughnessFactor": 0.25, "metallicRoughnessTexture": { "index": 1 } });
    file.push(
        "materials",
        json!({ "pbrMetallicRoughness": color, "doubleSided": true,
            "alphaMode": "MASK", "alphaCutoff": 0.25,
            "normalTexture": { "index": 0, "scale": 0.5 },
            "occlusionTexture": { "index": 1, "strength": 0.75, "texCoord": 1 },
            "emissiveTexture": { "index": 0 }, "emissiveFactor": [1, 0.5, 0],
            "extensions": { "KHR_materials_unlit": {},
                "KHR_materials_emissive_strength": { "emissiveStrength": 4 } } }),
    );
    let attributes = json!({ "POSITION": compressed, "NORMAL": positions, "TANGENT": tangents,
        "JOINTS_0": joints, "WEIGHTS_0": weights, "JOINTS_1": joints, "WEIGHTS_1": weights });
    let targets = json!([{ "POSITION": sparse }, { "POSITION": positions, "NORMAL": sparse }]);
    file.push(
        "meshes",
        json!({ "weights": [0.5, 0.25], "primitives": [
            { "attributes": attributes, "indices": triangles, "targets": targets, "material": 0 },
            { "attributes": attributes, "indices": strip, "targets": targets, "mode": 5 },
            { "attributes": { "POSITION": positions }, "targets": targets, "mode": 6 } ] }),
    );
    let matrix = [1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 1, 2, 3, 1];
    file.push("nodes", json!({ "matrix": matrix, "children": [1, 4], "name": "above" }));
    file.push("nodes", json!({ "translation": [0, 1, 0], "children": [2, 3] }));
    file.push("nodes", json!({ "rotation": [0.6, 0, 0, 0.8], "scale": [1, -1, 1] }));
    file.push("nodes", json!({ "name": "same" }));
    file.push("nodes", json!({ "name": "same", "mesh": 0, "skin": 0, "weights": [0, 1] }));
    let binds = file.floats("MAT4", &glam::Mat4::IDENTITY.to_cols_array().repeat(3));
    file.push("skins", json!({ "joints": [1, 2, 3], "inverseBindMatrices": binds }));
    file.push("skins", json!({ "joints": [3, 1, 2] }));
    file.push("scenes", json!({ "nodes": [0] }));
    // A mesh that is not drawn, and a node that a pointer moves.
    file.push("nodes", json!({ "name": "other", "mesh": 0 }));
    file.push("scenes", json!({ "name": "others", "nodes": [5] }));
    file.root["scene"] = json!(0);
    let keys = file.floats("SCALAR", &[0.0, 0.5, 2.0]);
    let cubic = file.floats("VEC4", &[0.1, 0.2, 0.3, 0.9].repeat(9));
    let morph = file.floats("SCALAR", &[0.0, 1.0].repeat(3));
    file.clip(2, "rotation", "CUBICSPLINE", keys, cubic);
    file.clip(1, "rotation", "LINEAR", times, turns);
    file.clip(1, "translation", "STEP", times, positions);
    file.clip(4, "weights", "LINEAR", keys, morph);
    let late = file.floats("SCALAR", &[0.25, 0.5, 2.0]);
    let pointer = |to: &str| {
        let pointer = json!({ "KHR_animation_pointer": { "pointer": to } });
        json!({ "sampler": 0, "target": { "path": "pointer", "extensions": pointer } })
    };
    file.push(
        "animations",
        json!({ "name": "late", "samplers": [{ "input": late, "output": cubic, "interpolation": "CUBICSPLINE" }],
            "channels": [pointer("/nodes/5/rotation"), pointer("/materials/0/alphaCutoff")],
            "extras": { "markers": [{ "name": "early", "time": 0.125 }] } }),
    );
    file.root["extensionsUsed"] = json!(["KHR_animation_pointer", "FOO_unknown"]);
    file.root["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    file.glb()
}

/// Two joints, a skin and a clip: what a fuzzer can take apart.
pub fn little() -> File {
    let mut file = File::new();
    file.push("nodes", json!({ "name": "a", "children": [1], "translation": [0, 1, 0] }));
    file.push("nodes", json!({ "name": "b", "rotation": [0, 0, 0, 1] }));
    let binds = file.floats("MAT4", &glam::Mat4::IDENTITY.to_cols_array().repeat(2));
    file.push("skins", json!({ "joints": [0, 1], "inverseBindMatrices": binds }));
    file.push("scenes", json!({ "nodes": [0] }));
    let keys = file.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let places = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.1, 1.2, 0.0, 0.0, 1.0, 0.3]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8, 0.0, 0.6, 0.0, 0.8]);
    let spline = file.floats("VEC3", &[1.0; 27]);
    file.clip(0, "translation", "LINEAR", keys, places);
    file.clip(1, "rotation", "STEP", keys, turns);
    file.clip(1, "scale", "CUBICSPLINE", keys, spline);
    file
}
