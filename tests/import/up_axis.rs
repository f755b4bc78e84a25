//! Converting to Z-up and evaluating may be swapped.

use phalanx::import::ImportOptions;
use phalanx::import::UpAxis;
use phalanx::import::raw::RawScene;
use phalanx_testkit::gltf_file::*;
use phalanx_testkit::raw_pose::{Matrix, Pose, assert_close, evaluate, models, mul};
use serde_json::json;

/// (x, y, z) to (x, -z, y).
const TO_Z: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
const FROM_Z: Matrix =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

fn turned(m: &Matrix) -> Matrix {
    mul(&mul(&TO_Z, m), &FROM_Z)
}

#[track_caller]
fn assert_turned(y_up: &Pose, z_up: &Pose, what: &str) -> usize {
    let flat = |m: &[Matrix]| m.as_flattened().as_flattened().to_vec();
    let convert = |m: &[Matrix]| m.iter().map(turned).collect::<Vec<_>>();
    let mut count = assert_close(&flat(&convert(&y_up.world)), &flat(&z_up.world), 1e-12, what);
    for (a, b) in y_up.palettes.iter().zip(&z_up.palettes) {
        count += assert_close(&flat(&convert(a)), &flat(b), 1e-12, what);
    }
    for (a, b) in y_up.positions.iter().zip(&z_up.positions) {
        let a: Vec<[f64; 3]> = a.iter().map(|&[x, y, z]| [x, -z, y]).collect();
        count += assert_close(a.as_flattened(), b.as_flattened(), 1e-12, what);
    }
    count
}

fn check(scene: &RawScene) -> usize {
    let mut z_up = scene.clone();
    z_up.convert_up_axis(UpAxis::Z);
    let mut count = assert_turned(&evaluate(scene, None, 0.0), &evaluate(&z_up, None, 0.0), "rest");
    for (clip, raw) in scene.clips.iter().enumerate() {
        for k in 0..5 {
            let time = f64::from(raw.duration) * 0.23 * f64::from(k);
            let (a, b) = (evaluate(scene, Some(clip), time), evaluate(&z_up, Some(clip), time));
            let what = format!("{}, clip {clip}, {time} s", scene.name);
            count += assert_turned(&a, &b, &what);
        }
    }
    count
}

/// Everything that turns, on one small file: see `converts_every_stream` for what is not evaluated.
pub fn small() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[1.0, 2.0, 3.0, -1.0, 0.5, 0.25, 0.0, 1.0, 0.0]);
    let deltas = file.floats("VEC3", &[0.1, 0.2, 0.3, 0.0, 0.0, 0.0, -0.4, 0.5, 0.6]);
    let tangents = file.floats("VEC4", &[0.0, 0.6, 0.8, -1.0].repeat(3));
    let joints = file.accessor(U8, "VEC4", 3, &[0, 1, 0, 0].repeat(3));
    let weights = file.floats("VEC4", &[0.75, 0.25, 0.0, 0.0].repeat(3));
    let skinned = file.mesh(json!({ "POSITION": positions, "NORMAL": positions,
        "TANGENT": tangents, "JOINTS_0": joints, "WEIGHTS_0": weights }));
    let targets = json!([{ "POSITION": deltas, "NORMAL": deltas, "TANGENT": deltas }]);
    file.root["meshes"][0]["primitives"][0]["targets"] = targets;
    file.root["nodes"][skinned] = json!({ "mesh": 0, "skin": 0, "weights": [0.5] });
    let matrix =
        [1.0, 0.5, 0.0, 0.0, -0.5, 1.0, 0.25, 0.0, 0.0, 0.0, -2.0, 0.0, 1.0, 2.0, 3.0, 1.0];
    file.push("nodes", json!({ "matrix": matrix, "children": [2] }));
    file.push(
        "nodes",
        json!({ "translation": [1, 2, 3], "rotation": [0.5, -0.5, 0.5, 0.5],
        "scale": [1.0, -2.0, 0.5], "children": [3] }),
    );
    file.push("nodes", json!({ "translation": [0.0, 1.0, 0.5], "mesh": 0 }));
    let binds =
        [matrix, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 3.0, 2.0, 1.0, 1.0]];
    let binds: Vec<f32> = binds.as_flattened().to_vec();
    let binds = file.floats("MAT4", &binds);
    file.push("skins", json!({ "joints": [2, 3], "inverseBindMatrices": binds }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let keys: Vec<f32> = (0..24).map(|i| ((i * 7 + 3) % 11) as f32 * 0.2 - 0.9).collect();
    let vec3 = file.floats("VEC3", &keys[..18]);
    let vec4 = file.floats("VEC4", &keys);
    let plain3 = file.floats("VEC3", &keys[3..9]);
    let plain4 = file.floats("VEC4", &keys[4..12]);
    file.clip(2, "translation", "CUBICSPLINE", times, vec3);
    file.clip(3, "scale", "CUBICSPLINE", times, vec3);
    file.clip(3, "rotation", "CUBICSPLINE", times, vec4);
    file.clip(2, "translation", "LINEAR", times, plain3);
    file.clip(2, "rotation", "LINEAR", times, plain4);
    file.clip(2, "scale", "STEP", times, plain3);
    file.clip(1, "scale", "LINEAR", times, plain3);
    file
}

#[test]
fn evaluating_and_converting_may_be_swapped() {
    let mut count = check(&small().read().0);
    let scenes = models(&[
        "bl_corners.glb",
        "bl_morphbones.glb",
        "bl_rider.glb",
        "SimpleSkin.gltf",
        "CesiumMan.glb",
        "greenman.glb",
    ]);
    for scene in &scenes {
        count += check(scene);
    }
    println!("{count} numbers of {} scenes agree", scenes.len() + 1);
}

#[test]
fn converts_every_stream() {
    let scene = small().read().0;
    let options = ImportOptions { up_axis: UpAxis::Z, ..ImportOptions::default() };
    let z_up = small().read_with(&options).unwrap().0;
    let (a, b) = (&scene.meshes[0].primitives[0], &z_up.meshes[0].primitives[0]);
    let turn = |v: &[[f32; 3]]| v.iter().map(|&[x, y, z]| [x, -z, y]).collect::<Vec<_>>();
    assert_eq!(b.positions, turn(&a.positions));
    assert_eq!(b.normals, turn(&a.normals));
    assert_eq!(b.tangents[0], [0.0, -0.8, 0.6, -1.0]);
    assert_eq!(b.targets[0].positions, turn(&a.targets[0].positions));
    assert_eq!(b.targets[0].normals, turn(&a.targets[0].normals));
    assert_eq!(b.targets[0].tangents, turn(&a.targets[0].tangents));
    // Up points up: the node that stands at y = 1 stands at z = 1.
    assert_eq!(z_up.nodes[3].local.translation.to_array(), [0.0, -0.5, 1.0]);
    assert_eq!(z_up.nodes[2].local.scale.to_array(), [1.0, 0.5, -2.0]);
    let mut again = z_up.clone();
    again.convert_up_axis(UpAxis::Y);
    assert_eq!(again, z_up);
}
