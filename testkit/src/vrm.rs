//! A character with springs as VRM files of both versions: strands of hair that swing from a head, a tail that branches, a
//! body that they do not pass.

use crate::gltf_file::File;
use glam::{Quat, Vec3};
use serde_json::{Value, json};

/// Versions of VRM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `secondaryAnimation`.
    Oldest,
    /// `VRMC_springBone`.
    Newest,
}

/// Seconds of the file's only clip, in which the body turns and nods.
pub const SECONDS: f32 = 6.0;

/// The strands of hair, of four nodes each and one at the end.
pub const STRANDS: usize = 6;

/// Adds a node to the file and returns its index.
fn node(file: &mut File, parent: Option<usize>, name: &str, at: Vec3, turn: Quat) -> usize {
    let rotation = turn.to_array();
    let node = json!({ "name": name, "translation": at.to_array(), "rotation": rotation });
    let index = file.push("nodes", node);
    if let Some(parent) = parent {
        let children = &mut file.root["nodes"][parent]["children"];
        match children.as_array_mut() {
            Some(children) => children.push(json!(index)),
            None => *children = json!([index]),
        }
    }
    index
}

/// The file, and the JSON that states its springs.
pub fn file(version: Version) -> (File, Value) {
    let mut file = File::new();
    let turn = |x: f32, y: f32, z: f32| Quat::from_euler(glam::EulerRot::XYZ, x, y, z);
    let still = Quat::IDENTITY;
    let hips = node(&mut file, None, "hips", Vec3::new(0.0, 1.0, 0.0), still);
    let spine = node(&mut file, Some(hips), "spine", Vec3::new(0.0, 0.3, 0.0), turn(0.1, 0.0, 0.0));
    let head =
        node(&mut file, Some(spine), "head", Vec3::new(0.0, 0.3, 0.02), turn(-0.1, 0.0, 0.0));
    let mut skinned = vec![hips, spine, head];
    let mut strands = Vec::new();
    for strand in 0..STRANDS {
        let around = strand as f32 - 2.5;
        let mut at = Vec3::new(0.05 * around, 0.1, -0.1);
        let (mut parent, mut nodes) = (head, Vec::new());
        for n in 0..5 {
            let turned = if n == 0 { turn(0.2, 0.1 * around, 0.0) } else { turn(0.05, 0.0, 0.03) };
            parent = node(&mut file, Some(parent), &format!("hair{strand}.{n}"), at, turned);
            nodes.push(parent);
            at = Vec3::new(0.01 * around, -0.08, -0.02);
        }
        // The last one is an end: of VRM 0.x, a bone like the others.
        let joints = if version == Version::Newest { 4 } else { 5 };
        skinned.extend(&nodes[..joints]);
        strands.push(nodes);
    }
    let mut tail =
        vec![node(&mut file, Some(hips), "tail0", Vec3::new(0.0, 0.0, -0.1), turn(0.4, 0.0, 0.0))];
    for n in 1..5 {
        let above = tail[n - 1];
        tail.push(node(
            &mut file,
            Some(above),
            &format!("tail{n}"),
            Vec3::new(0.0, 0.0, -0.12),
            still,
        ));
    }
    let mut tuft = Vec::new();
    for n in 0..3 {
        let above = if n == 0 { tail[1] } else { tuft[n - 1] };
        tuft.push(node(
            &mut file,
            Some(above),
            &format!("tuft{n}"),
            Vec3::new(0.06, 0.01, -0.05),
            still,
        ));
    }
    skinned.extend(tail.iter().chain(&tuft));
    let binds: Vec<f32> =
        skinned.iter().flat_map(|_| glam::Mat4::IDENTITY.to_cols_array()).collect();
    let binds = file.floats("MAT4", &binds);
    file.push("skins", json!({ "joints": skinned, "inverseBindMatrices": binds }));
    animate(&mut file, hips, head);
    let springs = match version {
        Version::Newest => newest((hips, spine, head), &strands, (&tail, &tuft)),
        Version::Oldest => oldest((hips, spine, head), &strands, &tail),
    };
    let used = if version == Version::Newest { "VRMC_springBone" } else { "VRM" };
    file.root["extensionsUsed"] = json!([used]);
    file.root["extensions"] = match version {
        Version::Newest => json!({ "VRMC_springBone": springs }),
        Version::Oldest => json!({ "VRM": { "secondaryAnimation": springs } }),
    };
    (file, springs)
}

/// Hips that turn and hop, a head that nods.
fn animate(file: &mut File, hips: usize, head: usize) {
    let keys = 121;
    let time = |k: usize| SECONDS * k as f32 / (keys - 1) as f32;
    let times: Vec<f32> = (0..keys).map(time).collect();
    let turns = |of: &dyn Fn(f32) -> Quat| -> Vec<f32> {
        (0..keys).flat_map(|k| of(time(k)).to_array()).collect()
    };
    let of_hips = turns(&|t| Quat::from_rotation_y(1.2 * (2.0 * t).sin()));
    let of_head = turns(&|t| Quat::from_rotation_x(-0.1 + 0.4 * (3.0 * t).sin()));
    let hops: Vec<f32> =
        (0..keys).flat_map(|k| [0.0, 1.0 + 0.1 * (5.0 * time(k)).sin(), 0.0]).collect();
    let times = file.floats("SCALAR", &times);
    let outputs =
        [file.floats("VEC4", &of_hips), file.floats("VEC4", &of_head), file.floats("VEC3", &hops)];
    let samplers: Vec<Value> =
        outputs.iter().map(|output| json!({ "input": times, "output": output })).collect();
    let target = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    let channels =
        [target(0, hips, "rotation"), target(1, head, "rotation"), target(2, hips, "translation")];
    file.push("animations", json!({ "samplers": samplers, "channels": channels }));
}

fn newest(
    (hips, spine, head): (usize, usize, usize),
    strands: &[Vec<usize>],
    (tail, tuft): (&[usize], &[usize]),
) -> Value {
    let joints = |nodes: &[usize], strand: usize| -> Vec<Value> {
        let joint = |(n, &node): (usize, &usize)| {
            json!({
                "node": node, "hitRadius": 0.02 + 0.005 * n as f32,
                "stiffness": 0.6 + 0.2 * strand as f32, "gravityPower": 0.1 * n as f32,
                "gravityDir": [0.1, -1.0, 0.05 * strand as f32], "dragForce": 0.2 + 0.1 * n as f32,
            })
        };
        nodes.iter().enumerate().map(joint).collect()
    };
    let mut springs: Vec<Value> = Vec::new();
    for (strand, nodes) in strands.iter().enumerate() {
        // One of them skips a node.
        let nodes: Vec<usize> = match strand {
            1 => [nodes[0], nodes[1], nodes[3], nodes[4]].to_vec(),
            _ => nodes.clone(),
        };
        springs.push(json!({
            "name": "hair", "joints": joints(&nodes, strand), "colliderGroups": [0, 1],
        }));
    }
    springs.push(json!({ "joints": joints(tail, 1), "colliderGroups": [1], "center": hips }));
    springs.push(json!({ "joints": joints(tuft, 2), "colliderGroups": [2] }));
    let far = json!({ "sphere": { "radius": 0.0, "offset": [0.0, -10000.0, 0.0] } });
    let extended = |node: usize, shape: Value| {
        let extension = json!({ "specVersion": "1.0-draft", "shape": shape });
        json!({
            "node": node, "shape": far,
            "extensions": { "VRMC_springBone_extended_collider": extension },
        })
    };
    json!({
        "specVersion": "1.0",
        "colliders": [
            { "node": head, "shape": { "sphere": { "offset": [0.0, 0.05, 0.0], "radius": 0.09 } } },
            {
                "node": spine,
                "shape": { "capsule": {
                    "offset": [-0.1, 0.1, 0.0], "radius": 0.08, "tail": [0.1, 0.15, -0.02],
                } },
            },
            extended(head, json!({ "sphere": { "radius": 0.36, "inside": true } })),
            extended(hips, json!({ "plane": { "offset": [0.0, -0.2, 0.0], "normal": [0.0, 1.0, 0.1] } })),
            extended(hips, json!({ "capsule": {
                "offset": [0.0, 0.0, 0.2], "tail": [0.0, 0.0, -0.6], "radius": 0.3, "inside": true,
            } })),
        ],
        "colliderGroups": [
            { "name": "head", "colliders": [0, 1, 0] },
            { "name": "around", "colliders": [2, 3] },
            { "name": "tail", "colliders": [4] },
        ],
        "springs": springs,
    })
}

fn oldest(
    (hips, spine, head): (usize, usize, usize),
    strands: &[Vec<usize>],
    tail: &[usize],
) -> Value {
    let roots: Vec<usize> = strands.iter().map(|nodes| nodes[0]).collect();
    let group = |bones: &[usize], stiffiness: f32, center: i64, colliders: &[usize]| {
        json!({
            "comment": "", "stiffiness": stiffiness, "gravityPower": 0.2,
            "gravityDir": { "x": 0.05, "y": -1.0, "z": 0.3 }, "dragForce": 0.4, "center": center,
            "hitRadius": 0.02, "bones": bones, "colliderGroups": colliders,
        })
    };
    let sphere = |x: f32, y: f32, z: f32, radius: f32| json!({ "offset": { "x": x, "y": y, "z": z }, "radius": radius });
    json!({
        "boneGroups": [
            group(&roots, 0.8, -1, &[0, 1]),
            group(&tail[..1], 1.5, hips as i64, &[1]),
        ],
        "colliderGroups": [
            { "node": head, "colliders": [sphere(0.0, 0.05, 0.02, 0.1)] },
            {
                "node": spine,
                "colliders": [sphere(-0.05, 0.1, 0.05, 0.12), sphere(0.05, 0.1, 0.05, 0.12)],
            },
        ],
    })
}
