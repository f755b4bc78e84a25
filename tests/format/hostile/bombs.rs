//! Files that take more memory than bytes: each pattern is repeated until the memory limit refuses it, and files that
//! are accepted must keep within the limit.

use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

/// A named way to make a file out of a number of repetitions.
pub type Bomb = (&'static str, fn(usize) -> Vec<u8>);

/// All patterns.
pub const BOMBS: &[Bomb] = &[
    ("nodes", |n| list("nodes", "{}", n)),
    ("nodes with reports", |n| list("nodes", r#"{"rotation":[0,0,0,0]}"#, n)),
    ("children", |n| {
        let children: Vec<String> = (1..n).map(|i| i.to_string()).collect();
        let first = format!(r#"{{"children":[{}]}}"#, children.join(","));
        text(&format!(r#""nodes":[{first}{}]"#, ",{}".repeat(n - 1)))
    }),
    ("materials", |n| list("materials", "{}", n)),
    ("accessors", |n| {
        let accessor = r#"{"count":9,"componentType":5126,"type":"VEC3"}"#;
        list("accessors", accessor, n)
    }),
    ("primitives", |n| {
        let primitives = vec![r#"{"attributes":{}}"#; n].join(",");
        list("meshes", &format!(r#"{{"primitives":[{primitives}]}}"#), 1)
    }),
    ("targets", |n| {
        let targets = vec!["{}"; n].join(",");
        let primitive = format!(r#"{{"attributes":{{}},"targets":[{targets}]}}"#);
        list("meshes", &format!(r#"{{"primitives":[{primitive}]}}"#), 1)
    }),
    ("animations", |n| list("animations", "{}", n)),
    ("channels", |n| {
        let channel = vec![r#"{"sampler":0,"target":{"path":""}}"#; n].join(",");
        list("animations", &format!(r#"{{"channels":[{channel}]}}"#), 1)
    }),
    // Every node repeats the weights of all targets.
    ("nodes that share targets", |n| {
        let targets = vec!["{}"; n].join(",");
        let primitive = format!(r#"{{"attributes":{{}},"targets":[{targets}]}}"#);
        let nodes = vec![r#"{"mesh":0}"#; n].join(",");
        text(&format!(r#""nodes":[{nodes}],"meshes":[{{"primitives":[{primitive}]}}]"#))
    }),
    // Every animation has tables for the joints that it moves, not for all there are. A rig compares what its clips hold
    // still, joint by joint, so more of both take minutes.
    ("animations of many joints", |n| {
        let n = n.min(8_000);
        let joints: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        text(&format!(
            r#""nodes":[{}],"skins":[{{"joints":[{}]}}],"animations":[{}]"#,
            vec!["{}"; n].join(","),
            joints.join(","),
            vec!["{}"; n].join(","),
        ))
    }),
    // A step for every node and every vertex would be 10^12 of them.
    ("nodes that share a mesh", |n| {
        let mut file = File::new();
        let zeros = json!({ "componentType": F32, "type": "VEC3", "count": n });
        let zeros = file.push("accessors", zeros);
        file.vertices(json!({ "POSITION": zeros }));
        for _ in 1..n {
            file.push("nodes", json!({ "mesh": 0 }));
        }
        file.glb()
    }),
    // Each is the child of the one before, and has a mesh: the paths to the root would be 10^9 steps.
    ("a chain of meshes", |n| {
        let n = n.min(65_000);
        let nodes = (0..n).map(|i| match i + 1 < n {
            true => format!(r#"{{"mesh":0,"children":[{}]}}"#, i + 1),
            false => r#"{"mesh":0}"#.to_owned(),
        });
        let nodes: Vec<String> = nodes.collect();
        text(&format!(
            r#""nodes":[{}],"meshes":[{{"primitives":[{{"attributes":{{}}}}]}}]"#,
            nodes.join(",")
        ))
    }),
    ("skins", |n| {
        let skins = vec![r#"{"joints":[0,0,0,0]}"#; n].join(",");
        text(&format!(r#""nodes":[{{}}],"skins":[{skins}]"#))
    }),
    ("joints", |n| {
        let joints = vec!["0"; n].join(",");
        text(&format!(r#""nodes":[{{}}],"skins":[{{"joints":[{joints}]}}]"#))
    }),
    ("scenes", |n| {
        let roots = vec!["0"; n].join(",");
        text(&format!(r#""nodes":[{{}}],"scenes":[{{"nodes":[{roots}]}}]"#))
    }),
    // Walking every node for every scene would be 10^10 steps.
    ("scenes of other nodes", |n| {
        let n = n.min(100_000);
        let nodes = vec!["{}"; n].join(",");
        let scenes: Vec<String> = (0..n).map(|i| format!(r#"{{"nodes":[{i}]}}"#)).collect();
        text(&format!(r#""nodes":[{nodes}],"scenes":[{}]"#, scenes.join(",")))
    }),
    ("equal names", |n| list("meshes", r#"{"name":"n","primitives":[]}"#, n)),
    ("names that occur twice", |n| {
        let mesh = |i| format!(r#"{{"name":"{}","primitives":[]}}"#, i / 2);
        let meshes: Vec<String> = (0..n).map(mesh).collect();
        text(&format!(r#""meshes":[{}]"#, meshes.join(",")))
    }),
    ("pointers", |n| {
        let pointer = r#"{"KHR_animation_pointer":{"pointer":"/nodes/0/matrix"}}"#;
        let target = format!(r#"{{"path":"pointer","extensions":{pointer}}}"#);
        let channels = vec![format!(r#"{{"sampler":0,"target":{target}}}"#); n.min(100_000)];
        list("animations", &format!(r#"{{"channels":[{}]}}"#, channels.join(",")), 1)
    }),
    ("a long pointer", |n| {
        let pointer = format!("/nodes/{}/rotation", "9".repeat(n));
        let target = format!(
            r#"{{"path":"pointer","extensions":{{"KHR_animation_pointer":{{"pointer":"{pointer}"}}}}}}"#
        );
        list("animations", &format!(r#"{{"channels":[{{"sampler":0,"target":{target}}}]}}"#), 1)
    }),
    ("required extensions", |n| {
        let names: Vec<String> = (0..n).map(|i| format!(r#""FOO_{i}""#)).collect();
        let names = names.join(",");
        text(&format!(r#""extensionsRequired":[{names}],"extensionsUsed":[{names}]"#))
    }),
    ("values", |n| {
        let values = vec!["0"; n].join(",");
        let accessor = r#""count":9,"componentType":5126,"type":"VEC3""#;
        list("accessors", &format!(r#"{{{accessor},"min":[{values}]}}"#), 1)
    }),
    ("keys", |n| {
        let keys: Vec<String> = (0..n).map(|i| format!(r#""{i}":0"#)).collect();
        list("nodes", &format!(r#"{{"extensions":{{{}}}}}"#, keys.join(",")), 1)
    }),
    ("extension names", |n| text(&format!(r#""extensionsUsed":[{}]"#, vec![r#""""#; n].join(",")))),
    ("long names in reports", |n| {
        let name = "n".repeat(n);
        let channel = vec![r#"{"sampler":0,"target":{"path":""}}"#; 500].join(",");
        list("animations", &format!(r#"{{"name":"{name}","channels":[{channel}]}}"#), 1)
    }),
    ("zeros", |n| {
        let mut file = File::new();
        let zeros = json!({ "componentType": F32, "type": "VEC3", "count": n });
        let zeros = file.push("accessors", zeros);
        for _ in 0..8 {
            file.vertices(json!({ "POSITION": zeros, "NORMAL": zeros, "COLOR_0": zeros }));
        }
        file.glb()
    }),
    ("influences", |n| {
        let mut file = File::new();
        let zeros = |kind: &str, component: u32| json!({ "componentType": component, "type": kind, "count": n });
        let positions = file.push("accessors", zeros("VEC3", F32));
        let joints = file.push("accessors", zeros("VEC4", U8));
        let mut attributes = json!({ "POSITION": positions });
        for set in 0..8 {
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(joints);
        }
        file.vertices(attributes);
        file.glb()
    }),
    ("sparse", |n| {
        let mut file = File::new();
        let at = file.view(&[0]);
        let values = file.view(&[0; 64]);
        let sparse = json!({ "count": 1, "indices": { "bufferView": at, "componentType": U8 },
            "values": { "bufferView": values } });
        let accessor = json!({ "componentType": F32, "type": "VEC3", "count": n,
            "sparse": sparse });
        let accessor = file.push("accessors", accessor);
        for _ in 0..4 {
            file.mesh(json!({ "POSITION": accessor }));
        }
        file.glb()
    }),
    ("equal times", |n| {
        let mut file = File::new();
        file.push("nodes", json!({}));
        let times = json!({ "componentType": F32, "type": "SCALAR", "count": n });
        let times = file.push("accessors", times);
        let values = json!({ "componentType": F32, "type": "VEC3", "count": n });
        let values = file.push("accessors", values);
        file.clip(0, "translation", "LINEAR", times, values);
        file.glb()
    }),
    ("shared keys", |n| {
        let mut file = File::new();
        file.push("nodes", json!({}));
        let times: Vec<f32> = (0..2000).map(|i| i as f32).collect();
        let times = file.floats("SCALAR", &times);
        let values = file.floats("VEC3", &[1.0; 6000]);
        for _ in 0..n.min(20_000) {
            file.clip(0, "translation", "LINEAR", times, values);
        }
        file.glb()
    }),
    ("compressed zeros", |n| {
        let mut file = File::new();
        let rows = vec![[0u32; 64]; n];
        let packed = meshopt::encode_vertex_buffer_level(&rows, 3, Some(1)).unwrap();
        let source = file.view(&packed);
        for _ in 0..4 {
            let extension = json!({ "buffer": 0, "byteLength": packed.len(), "byteStride": 256,
                "count": n, "mode": "ATTRIBUTES" });
            let mut view = file.root["bufferViews"][source].clone();
            view["byteLength"] = json!(n * 256);
            view["byteStride"] = json!(256);
            view["extensions"] = json!({ "EXT_meshopt_compression": extension });
            let view = file.push("bufferViews", view);
            let accessor = json!({ "bufferView": view, "componentType": F32, "type": "VEC3",
                "count": n });
            let accessor = file.push("accessors", accessor);
            file.vertices(json!({ "POSITION": accessor }));
        }
        file.glb()
    }),
    ("data URIs", |n| {
        let mut file = File::new();
        for buffer in 0..4 {
            let uri = format!("data:;base64,{}", "A".repeat(n * 4));
            file.push("buffers", json!({ "byteLength": n * 3, "uri": uri }));
            let view = json!({ "buffer": buffer, "byteLength": n * 3 });
            let view = file.push("bufferViews", view);
            let accessor = json!({ "bufferView": view, "componentType": U8, "type": "VEC3",
                "count": n });
            let accessor = file.push("accessors", accessor);
            file.vertices(json!({ "POSITION": accessor }));
        }
        file.glb()
    }),
    ("PNG", |n| picture(n, image::ImageFormat::Png)),
    ("JPEG", |n| picture(n, image::ImageFormat::Jpeg)),
    ("WebP", |n| picture(n, image::ImageFormat::WebP)),
];

fn text(body: &str) -> Vec<u8> {
    format!(r#"{{"asset":{{"version":"2.0"}},{body}}}"#).into_bytes()
}

fn list(name: &str, element: &str, n: usize) -> Vec<u8> {
    text(&format!(r#""{name}":[{}]"#, vec![element; n].join(",")))
}

/// Four uses of one black picture of about `64 n` pixels.
fn picture(n: usize, format: image::ImageFormat) -> Vec<u8> {
    let side = ((n * 64) as f64).sqrt().min(8192.0) as u32;
    let mut bytes = std::io::Cursor::new(Vec::new());
    let black = image::RgbImage::new(side, side);
    black.write_to(&mut bytes, format).unwrap();
    let mut file = File::new();
    let view = file.view(bytes.get_ref());
    for image in 0..4 {
        file.push("images", json!({ "bufferView": view }));
        file.push("textures", json!({ "source": image }));
        let color: Value = json!({ "baseColorTexture": { "index": image } });
        file.push("materials", json!({ "pbrMetallicRoughness": color }));
    }
    file.glb()
}
