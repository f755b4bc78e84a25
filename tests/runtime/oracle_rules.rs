//! The oracle against numbers worked out by hand: what no golden file covers (layers, masks, additive
//! layers, loop modes, normalised keys).

use phalanx_testkit::oracle;
use phalanx_testkit::oracle::blend::scaled_rotation;
use phalanx_testkit::oracle::curve::{Curve, Interpolation};
use phalanx_testkit::oracle::math::{Quat, product};
use phalanx_testkit::oracle::{Action, Additive, Layer, LoopMode, Missing, Reference, Scene};

const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A turn about z by `degrees`.
fn turn(degrees: f64) -> Quat {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin(), half.cos()]
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-12, "{a:?} is not {b:?}");
}

/// Little-endian floats as a data URI.
fn data_uri(floats: &[f32]) -> String {
    use base64::Engine;
    let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("data:application/octet-stream;base64,{text}")
}

/// Two nodes, the second below the first, which rests at (0, 4, 0). Clip 0 holds node 0 at (8, 0, 0) and
/// 90 degrees; clip 1 at 90 degrees with the opposite sign; clip 2 moves it in one second from the origin,
/// 90 degrees and scale 2 to (0, 3, 0), 180 degrees and scale 3.
fn scene() -> Scene {
    let h = HALF as f32;
    let floats = [
        [0.0, 1.0, 0.0, 0.0], // times, at 0
        [8.0, 0.0, 0.0, 0.0], // translation of clip 0, at 16
        [0.0, 0.0, h, h],     // rotation of clip 0, at 32
        [0.0, 0.0, -h, -h],   // rotation of clip 1, at 48
        [0.0, 0.0, h, h],     // rotations of clip 2, at 64
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0], // translations of clip 2, at 96
        [3.0, 0.0, 2.0, 2.0], // its scales, at 120
        [2.0, 3.0, 3.0, 3.0],
    ];
    let accessor = |offset: usize, count: usize, kind: &str| {
        serde_json::json!({"bufferView": 0, "byteOffset": offset, "count": count,
            "componentType": 5126, "type": kind})
    };
    let channel = |sampler: usize, path: &str| serde_json::json!({"sampler": sampler, "target": {"node": 0, "path": path}});
    let gltf = serde_json::json!({
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 144, "uri": data_uri(floats.as_flattened())}],
        "bufferViews": [{"buffer": 0, "byteLength": 144}],
        "accessors": [
            accessor(0, 1, "SCALAR"), accessor(0, 2, "SCALAR"), accessor(16, 1, "VEC3"),
            accessor(32, 1, "VEC4"), accessor(48, 1, "VEC4"), accessor(64, 2, "VEC4"),
            accessor(96, 2, "VEC3"), accessor(120, 2, "VEC3")
        ],
        "nodes": [{"children": [1], "translation": [0, 4, 0]}, {"translation": [1, 0, 0]}],
        "animations": [
            {"samplers": [{"input": 0, "output": 2}, {"input": 0, "output": 3}],
             "channels": [channel(0, "translation"), channel(1, "rotation")]},
            {"samplers": [{"input": 0, "output": 4}], "channels": [channel(0, "rotation")]},
            {"samplers": [{"input": 1, "output": 5}, {"input": 1, "output": 6},
                {"input": 1, "output": 7}],
             "channels": [channel(0, "rotation"), channel(1, "translation"), channel(2, "scale")]},
        ],
    });
    Scene::parse(&gltf.to_string()).expect("a valid file")
}

#[test]
fn weights_below_one_leave_the_remainder_to_the_rest_pose() {
    let pose = scene().blend_actions(&[Action::new(0, 0.0, 0.25)]);
    close(&pose[0].t, &[2.0, 3.0, 0.0]);
    // (1 - w)·identity + w·q, normalised.
    let (z, w) = (0.25 * HALF, 0.75 + 0.25 * HALF);
    let length = z.hypot(w);
    close(&pose[0].r[2..], &[z / length, w / length]);
    close(&scene().blend_actions(&[])[0].t, &[0.0, 4.0, 0.0]);
}

#[test]
fn weights_above_one_are_divided_by_their_sum() {
    let actions = [Action::new(0, 0.0, 3.0), Action::new(2, 1.0, 1.0)];
    let pose = scene().blend_actions(&actions);
    close(&pose[0].t, &[6.0, 0.75, 0.0]);
    close(&pose[0].s, &[1.5, 1.5, 1.5]);
}

#[test]
fn rotations_are_aligned_to_the_running_sum_and_a_missing_channel_is_the_rest_pose() {
    let actions = [Action::new(0, 0.0, 0.5), Action::new(1, 0.0, 0.5)];
    let pose = scene().blend_actions(&actions);
    close(&pose[0].r, &turn(90.0));
    close(&pose[0].t, &[4.0, 2.0, 0.0]);
    let reversed = scene().blend_actions(&[actions[1], actions[0]]);
    close(&reversed[0].r, &turn(90.0).map(|c| -c));
    let skip = actions.map(|a| Action { missing: Missing::Skip, ..a });
    // Of the translation only half is spoken for, so the rest pose still has the other half.
    close(&scene().blend_actions(&skip)[0].t, &[4.0, 2.0, 0.0]);
    let full = skip.map(|a| Action { weight: 1.0, ..a });
    close(&scene().blend_actions(&full)[0].t, &[8.0, 0.0, 0.0]);
}

#[test]
fn layers_go_over_each_other_by_weight_times_mask() {
    let scene = scene();
    let mut above = Layer::of(vec![Action::new(0, 0.0, 1.0)]);
    above.weight = 0.5;
    above.mask = Some(vec![0.5, 1.0]);
    let below = Layer::of(vec![Action::new(2, 1.0, 1.0)]);
    let pose = scene.mix(&[below.clone(), above.clone()]);
    close(&pose[0].t, &[2.0, 2.25, 0.0]);
    close(&pose[0].s, &[2.5, 2.5, 2.5]);
    // Half way on the arc a lerp is a slerp: 180 and 90 degrees make 135.
    above.mask = None;
    close(&scene.mix(&[below, above])[0].r, &turn(135.0));
}

#[test]
fn additive_layers_add_the_difference_to_their_reference() {
    let scene = scene();
    let additive =
        |weight: f64, reference| Additive { clip: 2, time: 1.0, reference, weight, mask: None };
    let mixed = |additive: Vec<Additive>| {
        let mut layer = Layer::of(vec![Action::new(0, 0.0, 1.0)]);
        layer.additive = additive;
        scene.mix(&[layer])[0].clone()
    };
    let first = Reference::Time(0.0);
    let full = mixed(vec![additive(1.0, first)]);
    close(&full.r, &turn(180.0));
    close(&full.t, &[8.0, 3.0, 0.0]);
    close(&full.s, &[1.5, 1.5, 1.5]);
    let half = mixed(vec![additive(0.5, first)]);
    close(&half.r, &turn(135.0));
    close(&half.t, &[8.0, 1.5, 0.0]);
    close(&half.s, &[1.25, 1.25, 1.25]);
    close(&mixed(vec![additive(-1.0, first)]).r, &turn(0.0));
    close(&mixed(vec![additive(0.3, first), additive(-0.3, first)]).r, &turn(90.0));
    let rest = mixed(vec![additive(1.0, Reference::Rest)]);
    close(&rest.t, &[8.0, -1.0, 0.0]);
    close(&rest.r, &turn(270.0));
    let mut masked = additive(1.0, first);
    masked.mask = Some(vec![0.0, 1.0]);
    close(&mixed(vec![masked]).r, &turn(90.0));
}

#[test]
fn an_additive_rotation_acts_in_the_space_of_the_joint() {
    // A difference about x applied after (inside) a turn about z is not one about the parent's x.
    let d = [HALF, 0.0, 0.0, HALF];
    let q = product(turn(90.0), scaled_rotation(d, 1.0));
    close(&q, &[0.5, 0.5, 0.5, 0.5]);
    close(&scaled_rotation(d.map(|c| -c), 0.5), &scaled_rotation(d, 0.5));
}

#[test]
fn loop_modes_map_times_into_the_clip() {
    let at = |mode: LoopMode, t: f64| mode.apply(t, 2.0);
    assert_eq!(at(LoopMode::Once, 2.5), 2.0);
    assert_eq!(at(LoopMode::Once, -1.0), 0.0);
    assert_eq!(at(LoopMode::Repeat, 2.0), 0.0);
    assert_eq!(at(LoopMode::Repeat, -0.5), 1.5);
    assert_eq!(at(LoopMode::PingPong, 2.0), 2.0);
    assert_eq!(at(LoopMode::PingPong, 2.5), 1.5);
    assert_eq!(at(LoopMode::PingPong, 4.5), 0.5);
    assert_eq!(LoopMode::Repeat.apply(1.0, 0.0), 0.0);
}

#[test]
fn curves_follow_appendix_c() {
    let curve = |interpolation, keys: &[f64]| Curve {
        interpolation,
        times: vec![1.0, 3.0],
        keys: keys.to_vec(),
        width: 1,
    };
    let step = curve(Interpolation::Step, &[5.0, 7.0]);
    assert_eq!([0.0, 1.0, 2.9, 3.0, 9.0].map(|t| step.scalars(t)[0]), [5.0, 5.0, 5.0, 7.0, 7.0]);
    let linear = curve(Interpolation::Linear, &[5.0, 7.0]);
    assert_eq!([0.0, 1.5, 3.0].map(|t| linear.scalars(t)[0]), [5.0, 5.5, 7.0]);
    // In, value, out of each key; half way: (v0 + v1) / 2 + span·(out - in) / 8.
    let cubic = curve(Interpolation::CubicSpline, &[90.0, 5.0, 4.0, -2.0, 7.0, 90.0]);
    assert_eq!([1.0, 2.0, 3.0].map(|t| cubic.scalars(t)[0]), [5.0, 7.5, 7.0]);
}

#[test]
fn a_parent_moves_its_child() {
    let scene = scene();
    let world = scene.evaluate(&scene.pose(0, 0.0)).world;
    // (1, 0, 0) below a quarter turn at (8, 0, 0).
    close(&world[1].expect("evaluated")[12..], &[8.0, 1.0, 0.0, 1.0]);
}

#[test]
fn normalised_integers_and_sparse_values_are_read() {
    use base64::Engine;
    // Four i8 at 0 with stride 8, two u16 at 16, then the sparse index 1 and its value.
    let mut bytes = vec![127u8, 129, 128, 0, 9, 9, 9, 9, 64, 0, 0, 0, 9, 9, 9, 9];
    bytes.extend([255, 255, 0, 0, 1, 0, 51, 51]);
    let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let gltf = serde_json::json!({
        "buffers": [{"byteLength": 24, "uri": format!("data:;base64,{text}")}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 16, "byteStride": 8},
            {"buffer": 0, "byteOffset": 16, "byteLength": 8},
        ],
        "accessors": [
            {"bufferView": 0, "count": 2, "componentType": 5120, "normalized": true, "type": "VEC4"},
            {"bufferView": 1, "count": 2, "componentType": 5123, "normalized": true, "type": "SCALAR",
             "sparse": {"count": 1,
                "indices": {"bufferView": 1, "byteOffset": 4, "componentType": 5123},
                "values": {"bufferView": 1, "byteOffset": 6}}},
            {"count": 2, "componentType": 5126, "type": "VEC3"},
        ],
    });
    let folder = std::path::Path::new("");
    let file = oracle::file::File::parse(gltf.to_string().as_bytes(), folder).expect("valid");
    let values = |accessor| file.accessor(accessor).expect("valid").values;
    close(&values(0), &[1.0, -1.0, -1.0, 0.0, 64.0 / 127.0, 0.0, 0.0, 0.0]);
    close(&values(1), &[1.0, 0.2]);
    close(&values(2), &[0.0; 6]);
}
