//! EXT_meshopt_compression: encoded here by the library that the format comes from.

use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

/// A view whose data is `encoded`; its own buffer is a fallback without data.
fn compressed(file: &mut File, name: &str, encoded: &[u8], stride: usize, count: usize) -> usize {
    let source = file.view(encoded);
    let offset = file.root["bufferViews"][source]["byteOffset"].clone();
    if file.root["buffers"].is_null() {
        file.push("buffers", json!({ "byteLength": 0 }));
        let fallback = json!({ name: { "fallback": true } });
        file.push("buffers", json!({ "byteLength": 1 << 20, "extensions": fallback }));
    }
    let extension = json!({ "buffer": 0, "byteOffset": offset, "byteLength": encoded.len(),
        "byteStride": stride, "count": count, "mode": "ATTRIBUTES" });
    file.push(
        "bufferViews",
        json!({ "buffer": 1, "byteLength": stride * count, "byteStride": stride,
                "extensions": { name: extension } }),
    )
}

fn extension(file: &mut File, view: usize) -> &mut Value {
    let extensions = &mut file.root["bufferViews"][view]["extensions"];
    let key = extensions.as_object().unwrap().keys().next().unwrap().clone();
    &mut extensions[&key]
}

fn over(file: &mut File, view: usize, component: u32, shape: &str, count: usize) -> usize {
    file.push(
        "accessors",
        json!({ "bufferView": view, "componentType": component, "type": shape, "count": count,
                "normalized": component != F32 }),
    )
}

fn finish(file: &mut File) {
    file.root["buffers"][0]["byteLength"] = json!(file.bin.len());
    file.root["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
}

const COUNT: usize = 300;

fn positions() -> Vec<[f32; 3]> {
    let at = |i: usize| [i as f32 * 0.25, (i % 7) as f32, -(i as f32)];
    (0..COUNT).map(at).collect()
}

#[test]
fn attributes_triangles_and_indices_decode() {
    let indices: Vec<u32> = (0..COUNT as u32 - 2).flat_map(|i| [i, i + 1, i + 2]).collect();
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        for (version, wide) in [(0, true), (0, false), (1, true), (1, false)] {
            let mut file = File::new();
            let encoded =
                meshopt::encode_vertex_buffer_level(&positions(), 2, Some(version)).unwrap();
            let view = compressed(&mut file, name, &encoded, 12, COUNT);
            let vertices = over(&mut file, view, F32, "VEC3", COUNT);
            let (stride, component) = if wide { (4, U32) } else { (2, U16) };
            let count = indices.len();
            for mode in ["TRIANGLES", "INDICES"] {
                let encoded = match mode {
                    "TRIANGLES" => meshopt::encode_index_buffer(&indices, COUNT),
                    _ => meshopt::encode_index_sequence(&indices, COUNT),
                };
                let view = compressed(&mut file, name, &encoded.unwrap(), stride, count);
                extension(&mut file, view)["mode"] = json!(mode);
                let view_json = &mut file.root["bufferViews"][view];
                view_json.as_object_mut().unwrap().remove("byteStride");
                let accessor = over(&mut file, view, component, "SCALAR", count);
                file.push(
                    "meshes",
                    json!({ "primitives": [{ "attributes": { "POSITION": vertices },
                            "indices": accessor }] }),
                );
            }
            finish(&mut file);
            file.root["extensionsRequired"] = json!([name]);
            for mesh in 0..file.root["meshes"].as_array().unwrap().len() {
                file.push("nodes", json!({ "mesh": mesh }));
            }
            let scene = file.read_clean();
            for mesh in &scene.meshes {
                assert_eq!(mesh.primitives[0].positions, positions());
            }
            // The triangle codec may turn a triangle around, the index codec may not.
            let turned = |t: &[u32]| {
                let first = t.iter().min().unwrap();
                let at = t.iter().position(|i| i == first).unwrap();
                [t[at], t[(at + 1) % 3], t[(at + 2) % 3]]
            };
            let triangles = &scene.meshes[0].primitives[0].indices;
            assert_eq!(
                triangles.chunks(3).map(turned).collect::<Vec<_>>(),
                indices.chunks(3).map(turned).collect::<Vec<_>>()
            );
            assert_eq!(scene.meshes[1].primitives[0].indices, indices);
        }
    }
}

/// Unit quaternions that turn around changing axes.
fn quaternions() -> Vec<[f32; 4]> {
    let at = |i: usize| {
        let a = i as f32 * 0.37;
        glam::Quat::from_euler(glam::EulerRot::XYZ, a, 0.5 * a, -0.3 * a).to_array()
    };
    (0..COUNT).map(at).collect()
}

#[test]
fn rotations_decode_through_the_quaternion_filter() {
    let mut file = File::new();
    file.push("nodes", json!({}));
    let packed = meshopt::encode_filter_quat(&quaternions(), 16);
    let encoded = meshopt::encode_vertex_buffer(&packed).unwrap();
    let view = compressed(&mut file, "EXT_meshopt_compression", &encoded, 8, COUNT);
    extension(&mut file, view)["filter"] = json!("QUATERNION");
    let values = over(&mut file, view, I16, "VEC4", COUNT);
    // Times through the exponential filter: exact, for multiples of 1/64.
    let times: Vec<[f32; 1]> = (0..COUNT).map(|i| [i as f32 / 64.0]).collect();
    let packed = meshopt::encode_filter_exp(&times, 15, meshopt::EncodeExpMode::SharedComponent);
    let encoded = meshopt::encode_vertex_buffer(&packed).unwrap();
    let view = compressed(&mut file, "EXT_meshopt_compression", &encoded, 4, COUNT);
    extension(&mut file, view)["filter"] = json!("EXPONENTIAL");
    let inputs = over(&mut file, view, F32, "SCALAR", COUNT);
    file.clip(0, "rotation", "LINEAR", inputs, values);
    finish(&mut file);
    let scene = file.read_clean();
    let track = &scene.clips[0].tracks[0];
    assert_eq!(track.times, times.as_flattened());
    for (found, expected) in track.values.chunks(4).zip(quaternions()) {
        let dot: f32 = found.iter().zip(expected).map(|(a, b)| a * b).sum();
        assert!((dot.abs() - 1.0).abs() < 1e-4, "{found:?} {expected:?}");
    }
}

#[test]
fn normals_and_colours_decode_through_their_filters() {
    let normals: Vec<[f32; 4]> = (0..COUNT)
        .map(|i| {
            let (a, b) = (i as f32 * 0.41, i as f32 * 0.13);
            [a.cos() * b.sin(), a.sin() * b.sin(), b.cos(), 0.0]
        })
        .collect();
    let colors: Vec<[f32; 4]> =
        (0..COUNT).map(|i| [0, 1, 2, 3].map(|c| ((i * (c + 3)) % 17) as f32 / 16.0)).collect();
    let mut file = File::new();
    let encoded = meshopt::encode_vertex_buffer(&positions()).unwrap();
    let view = compressed(&mut file, "EXT_meshopt_compression", &encoded, 12, COUNT);
    let vertices = over(&mut file, view, F32, "VEC3", COUNT);
    let oct8: Vec<[i8; 4]> = meshopt::encode_filter_oct(&normals, 8);
    let oct16: Vec<[i16; 4]> = meshopt::encode_filter_oct(&normals, 16);
    let color8: Vec<[u8; 4]> = meshopt::encode_filter_color(&colors, 8);
    let color16: Vec<[u16; 4]> = meshopt::encode_filter_color(&colors, 16);
    let streams = [
        ("OCTAHEDRAL", 4, I8, meshopt::encode_vertex_buffer(&oct8)),
        ("OCTAHEDRAL", 8, I16, meshopt::encode_vertex_buffer(&oct16)),
        ("COLOR", 4, U8, meshopt::encode_vertex_buffer(&color8)),
        ("COLOR", 8, U16, meshopt::encode_vertex_buffer(&color16)),
    ];
    for (filter, stride, component, encoded) in streams {
        let name = "KHR_meshopt_compression";
        let view = compressed(&mut file, name, &encoded.unwrap(), stride, COUNT);
        extension(&mut file, view)["filter"] = json!(filter);
        let (semantic, shape) = match filter {
            "COLOR" => ("COLOR_0", "VEC4"),
            _ => ("NORMAL", "VEC3"),
        };
        let accessor = over(&mut file, view, component, shape, COUNT);
        file.mesh(json!({ "POSITION": vertices, semantic: accessor }));
    }
    finish(&mut file);
    let scene = file.read_clean();
    let near = |found: &[f32], expected: &[f32], tolerance: f32| {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < tolerance, "{found:?} {expected:?}");
        }
    };
    for (mesh, tolerance) in [(0, 2e-2), (1, 1e-4)] {
        for (n, expected) in scene.meshes[mesh].primitives[0].normals.iter().zip(&normals) {
            near(n, &expected[..3], tolerance);
        }
    }
    for (mesh, tolerance) in [(2, 2e-2), (3, 1e-4)] {
        for (c, expected) in scene.meshes[mesh].primitives[0].colors.iter().zip(&colors) {
            near(c, expected, tolerance);
        }
    }
}

#[test]
fn every_vertex_size_decodes() {
    fn check<const N: usize>() {
        let rows: Vec<[u32; N]> =
            (0..40u32).map(|i| std::array::from_fn(|c| i * 977 + c as u32)).collect();
        let mut file = File::new();
        let encoded = meshopt::encode_vertex_buffer(&rows).unwrap();
        let view = compressed(&mut file, "EXT_meshopt_compression", &encoded, N * 4, 40);
        let accessor = over(&mut file, view, U32, "SCALAR", 40);
        file.root["accessors"][accessor]["byteOffset"] = json!((N - 1) * 4);
        file.root["accessors"][accessor]["normalized"] = json!(false);
        let vertices = file
            .push("accessors", json!({ "componentType": F32, "type": "VEC3", "count": 40 * 1000 }));
        let primitive = json!({ "attributes": { "POSITION": vertices }, "indices": accessor,
            "mode": 5 });
        let mesh = file.push("meshes", json!({ "primitives": [primitive] }));
        file.push("nodes", json!({ "mesh": mesh }));
        finish(&mut file);
        let indices = file.read_clean().meshes[0].primitives[0].indices.clone();
        let firsts: Vec<u32> = indices.chunks(3).map(|t| *t.iter().min().unwrap()).collect();
        let expected: Vec<u32> = rows.iter().take(38).map(|row| row[N - 1]).collect();
        assert_eq!(firsts, expected);
    }
    check::<1>();
    check::<2>();
    check::<5>();
    check::<16>();
    check::<33>();
    check::<63>();
    check::<64>();
}

#[test]
fn broken_streams_and_settings_are_refused() {
    let encoded = meshopt::encode_vertex_buffer(&positions()).unwrap();
    let file = |change: &dyn Fn(&mut Value)| {
        let mut file = File::new();
        let view = compressed(&mut file, "EXT_meshopt_compression", &encoded, 12, COUNT);
        let vertices = over(&mut file, view, F32, "VEC3", COUNT);
        file.mesh(json!({ "POSITION": vertices }));
        finish(&mut file);
        change(extension(&mut file, view));
        file.error()
    };
    type Change<'c> = &'c dyn Fn(&mut Value);
    let cases: [(Change, &[&str]); 12] = [
        (&|e| e["byteLength"] = json!(100), &["ends too early"]),
        (&|e| e["byteLength"] = json!(0), &["meshopt"]),
        (&|e| e["byteOffset"] = json!(1), &["ends at byte"]),
        (&|e| e["byteOffset"] = json!(u64::MAX), &["ends at byte"]),
        (&|e| e["count"] = json!(COUNT - 1), &["expected 3600, found 3588"]),
        (&|e| e["count"] = json!(1u64 << 60), &["memory of the import"]),
        (&|e| e["byteStride"] = json!(13), &["byteStride 13"]),
        (&|e| e["byteStride"] = json!(260), &["byteStride 260"]),
        (&|e| e["filter"] = json!("QUATERNION"), &["QUATERNION", "byteStride 12"]),
        (&|e| e["mode"] = json!("TRIANGLES"), &["TRIANGLES", "byteStride 12"]),
        (&|e| e["mode"] = json!("ODD"), &["ODD"]),
        (&|e| e["buffer"] = json!(1), &["buffer 1", "no uri"]),
    ];
    for (change, parts) in cases {
        let line = file(change);
        assert_says(&line, &["buffer view 1"]);
        assert_says(&line, parts);
    }
    // No stream may decode to nonsense silently: every truncation is an error.
    for length in 0..encoded.len() {
        file(&|e| e["byteLength"] = json!(length));
    }
}
