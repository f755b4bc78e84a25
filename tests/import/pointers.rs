//! KHR_animation_pointer: pointers to properties of nodes are channels; others are reported.

use phalanx::import::Severity;
use phalanx::import::raw::RawChannel;
use phalanx_testkit::gltf_file::*;
use serde_json::{Value, json};

/// Two nodes, the second with a mesh of two targets; one animation whose channels have these targets and the
/// values of their kind.
fn file(targets: &[(Value, RawChannel)]) -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    let target = json!({ "POSITION": positions });
    file.push(
        "meshes",
        json!({ "primitives": [{ "attributes": { "POSITION": positions }, "targets": [target, target] }] }),
    );
    file.push("nodes", json!({ "name": "hips" }));
    file.push("nodes", json!({ "name": "head", "mesh": 0 }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let three = file.floats("VEC3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]);
    let weights = file.floats("SCALAR", &[0.0, 0.25, 0.5, 1.0]);
    let outputs = [three, turns, three, weights];
    let samplers = outputs.map(|o| json!({ "input": times, "output": o }));
    let channels = targets
        .iter()
        .map(|(target, channel)| json!({ "sampler": *channel as usize, "target": target }));
    let channels: Vec<Value> = channels.collect();
    file.push("animations", json!({ "name": "wave", "samplers": samplers, "channels": channels }));
    file
}

fn pointer(text: &str) -> Value {
    json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": text } } })
}

#[test]
fn pointers_to_nodes_are_ordinary_channels() {
    use RawChannel::{Rotation, Scale, Translation, Weights};
    let plain = |node: usize, path: &str| json!({ "node": node, "path": path });
    let ordinary = file(&[
        (plain(0, "translation"), Translation),
        (plain(0, "rotation"), Rotation),
        (plain(1, "scale"), Scale),
        (plain(1, "weights"), Weights),
    ]);
    let pointed = file(&[
        (pointer("/nodes/0/translation"), Translation),
        (pointer("/nodes/0/rotation"), Rotation),
        (pointer("/nodes/1/scale"), Scale),
        (pointer("/nodes/1/weights"), Weights),
    ]);
    assert_eq!(ordinary.read_clean().clips, pointed.read_clean().clips);
    assert_eq!(pointed.read_clean().clips[0].tracks.len(), 4);
    // The pointer decides, not a node beside it, which is forbidden; and one property has one channel.
    let mut both = pointer("/nodes/0/translation");
    both["node"] = json!(1);
    let (scene, report) =
        file(&[(both, Translation), (plain(0, "translation"), Translation)]).read();
    assert_eq!(scene.clips[0].tracks.len(), 1);
    assert_eq!(scene.clips[0].tracks[0].node, 0);
    assert_reported(&report, Severity::Dropped, &["channel 1", "already"]);
}

#[test]
fn other_pointers_are_counted_with_an_example() {
    let colour = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    let (scene, report) = file(&[
        (pointer("/nodes/0/translation"), RawChannel::Translation),
        (pointer(colour), RawChannel::Rotation),
        (pointer("/nodes/0/matrix"), RawChannel::Scale),
        (pointer("/nodes/1/weights/0"), RawChannel::Weights),
    ])
    .read();
    assert_eq!(scene.clips[0].tracks.len(), 1);
    assert_eq!(
        entries(&report, Severity::Dropped),
        [
            "animation 0 \"wave\", channel 1: 3 channels animate no property of a node; the first of them \
             \"/materials/0/pbrMetallicRoughness/baseCo…\" (KHR_animation_pointer)"
        ]
    );
    let place =
        |channel: usize, to: &str| format!("animation 0 \"wave\", channel {channel}: {to:?}");
    assert_eq!(
        report[0].items,
        [place(1, colour), place(2, "/nodes/0/matrix"), place(3, "/nodes/1/weights/0")]
    );
    let (_, report) = file(&[(pointer("/cameras/0/yfov"), RawChannel::Scale)]).read();
    assert_reported(
        &report,
        Severity::Dropped,
        &["channel 0", "\"/cameras/0/yfov\"", "no property of a node"],
    );
}

#[test]
fn broken_pointers_are_reported_or_refused() {
    let numbers = [
        "/nodes/+0/translation",
        "/nodes/-1/translation",
        "/nodes/00/translation",
        "/nodes/0x0/translation",
        "/nodes/99999999999999999999999999/translation",
        "/nodes//translation",
        "/nodes/0/translation/",
        "/nodes/0",
        "/nodes",
        "nodes/0/translation",
        "/Nodes/0/translation",
        "/nodes/0/Translation",
        "/nodes/0~1translation",
        "/",
        "",
        "\u{202e}\n/nodes",
    ];
    let mut targets: Vec<Value> = numbers.map(pointer).to_vec();
    targets.push(json!({ "path": "pointer" }));
    for wrong in [json!(7), json!([]), json!({}), json!(null), json!("/nodes/0/translation")] {
        targets.push(json!({ "path": "pointer", "extensions": wrong }));
        let extensions = json!({ "KHR_animation_pointer": wrong });
        targets.push(json!({ "path": "pointer", "extensions": extensions }));
        let extensions = json!({ "KHR_animation_pointer": { "pointer": wrong } });
        if !wrong.is_string() {
            targets.push(json!({ "path": "pointer", "extensions": extensions }));
        }
    }
    targets.push(pointer(&format!("/nodes/{}", "9".repeat(100_000))));
    for target in targets {
        let (scene, report) = file(&[(target.clone(), RawChannel::Translation)]).read();
        assert!(scene.clips[0].tracks.is_empty(), "{target}");
        let lines = entries(&report, Severity::Dropped);
        assert_eq!(lines.len(), 1, "{target}: {lines:?}");
        assert!(lines[0].contains("KHR_animation_pointer") && lines[0].len() < 300);
        assert!(!lines[0].contains('\n'), "{lines:?}");
    }
    // As for a channel with a target node.
    let line = file(&[(pointer("/nodes/2/translation"), RawChannel::Translation)]).error();
    assert_says(&line, &["animation 0", "channel 0", "target node 2", "there are 2"]);
    let line = file(&[(pointer("/nodes/0/rotation"), RawChannel::Translation)]).error();
    assert_says(&line, &["channel 0", "VEC3", "VEC4"]);
}
