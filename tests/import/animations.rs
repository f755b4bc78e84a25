//! Samplers and channels.

use phalanx::import::raw::{Interpolation, RawChannel, RawScene};
use phalanx::import::{ImportOptions, Severity, import_slice};
use phalanx_testkit::gltf_file::*;
use phalanx_testkit::sample::sample;
use serde_json::json;

fn node_file() -> File {
    let mut file = File::new();
    file.push("nodes", json!({}));
    file
}

#[test]
fn the_three_interpolations_keep_their_keys() {
    let mut file = node_file();
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let plain: Vec<f32> = (0..6).map(|i| i as f32).collect();
    let cubic: Vec<f32> = (0..24).map(|i| 1.0 + i as f32).collect();
    let plain_at = file.floats("VEC3", &plain);
    let cubic_at = file.floats("VEC4", &cubic);
    let animation = json!({
        "name": "Gang",
        "samplers": [
            { "input": times, "output": plain_at },
            { "input": times, "output": plain_at, "interpolation": "STEP" },
            { "input": times, "output": cubic_at, "interpolation": "CUBICSPLINE" }
        ],
        "channels": [
            { "sampler": 0, "target": { "node": 0, "path": "translation" } },
            { "sampler": 1, "target": { "node": 0, "path": "scale" } },
            { "sampler": 2, "target": { "node": 0, "path": "rotation" } }
        ],
        "extras": { "speed": 1.50, "notes": [1] }
    });
    file.push("animations", animation);
    let scene = file.read_clean();
    let clip = &scene.clips[0];
    assert_eq!((clip.name.as_deref(), clip.duration), (Some("Gang"), 1.0));
    let extras: serde_json::Value = serde_json::from_str(clip.extras.as_deref().unwrap()).unwrap();
    assert_eq!(extras, json!({ "speed": 1.5, "notes": [1] }));
    let found: Vec<_> = clip
        .tracks
        .iter()
        .map(|t| (t.node, t.channel, t.interpolation, t.values.as_slice()))
        .collect();
    // Keys of rotations are made unit length when they are read, their tangents stay as they are.
    let mut cubic = cubic;
    for key in cubic.chunks_exact_mut(12) {
        let square = |v: &f32| f64::from(*v).powi(2);
        let length = key[4..8].iter().map(square).sum::<f64>().sqrt();
        let unit = |v: &mut f32| *v = (f64::from(*v) / length) as f32;
        key[4..8].iter_mut().for_each(unit);
    }
    let (plain, cubic) = (plain.as_slice(), cubic.as_slice());
    assert_eq!(
        found,
        [
            (0, RawChannel::Translation, Interpolation::Linear, plain),
            (0, RawChannel::Scale, Interpolation::Step, plain),
            (0, RawChannel::Rotation, Interpolation::CubicSpline, cubic),
        ]
    );
    assert!(clip.tracks.iter().all(|t| t.times == [0.0, 1.0]));
}

#[test]
fn integer_keys_are_fractions() {
    let expected = |values: [f32; 4]| values.to_vec();
    let cases = [
        (I8, vec![129u8, 128, 127, 64], expected([-1.0, -1.0, 1.0, 64.0 / 127.0])),
        (U8, vec![0, 255, 51, 128], expected([0.0, 1.0, 0.2, 128.0 / 255.0])),
        (I16, i16_bytes(&[-32768, -32767, 32767, 1]), expected([-1.0, -1.0, 1.0, 1.0 / 32767.0])),
        (U16, u16_bytes(&[0, 65535, 13107, 1]), expected([0.0, 1.0, 0.2, 1.0 / 65535.0])),
    ];
    for (component, bytes, expected) in cases {
        for flagged in [true, false] {
            let mut file = node_file();
            let times = file.floats("SCALAR", &[0.0]);
            let values = file.accessor(component, "VEC4", 1, &bytes);
            file.root["accessors"][values]["normalized"] = json!(flagged);
            file.clip(0, "rotation", "LINEAR", times, values);
            let scene = file.read_clean();
            assert_eq!(scene.clips[0].tracks[0].values, expected, "{component}");
        }
    }
}

#[test]
fn durations_count_every_sampler_and_empty_clips_stay() {
    let mut file = node_file();
    let short = file.floats("SCALAR", &[0.25]);
    let long = file.floats("SCALAR", &[0.0, 3.5]);
    let none = file.floats("SCALAR", &[]);
    let one = file.floats("VEC3", &[1.0; 3]);
    let two = file.floats("VEC3", &[1.0; 6]);
    let empty = file.floats("VEC3", &[]);
    file.push(
        "animations",
        json!({
            "samplers": [{ "input": short, "output": one }, { "input": long, "output": two },
                         { "input": none, "output": empty }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "scale" } },
                         { "sampler": 2, "target": { "node": 0, "path": "translation" } }]
        }),
    );
    file.push("animations", json!({ "samplers": [], "channels": [], "name": "nothing" }));
    let (scene, report) = file.read();
    assert_eq!(scene.clips[0].duration, 0.25);
    assert_eq!(scene.clips[0].tracks.len(), 1);
    assert_eq!(scene.clips[1].duration, 0.0);
    assert!(scene.clips[1].tracks.is_empty());
    assert_reported(&report, Severity::Dropped, &["animation 0, channel 1", "no keys"]);
    // Of the samplers that are used, the first key is late.
    assert_reported(&report, Severity::Note, &["animation 0", "begins late", "0.25 s"]);
    let parts = ["animation 1 \"nothing\"", "empty clip", "no channels"];
    assert_reported(&report, Severity::Note, &parts);
    let parts = ["animation 0", "sampler 1", "no channel", "not read"];
    assert_reported(&report, Severity::Note, &parts);
    assert_eq!(report.len(), 4);
}

/// Of the keys at one time the first ends what is before, the last begins what is behind.
#[test]
fn keys_at_one_time_are_a_jump() {
    let mut file = node_file();
    let times = file.floats("SCALAR", &[0.0, 1.0, 1.0, 1.0, 2.0]);
    let values: Vec<f32> = (0..15).map(|i| i as f32).collect();
    let at = file.floats("VEC3", &values);
    let cubic: Vec<f32> = (0..45).map(|i| i as f32).collect();
    let cubic_at = file.floats("VEC3", &cubic);
    file.clip(0, "translation", "LINEAR", times, at);
    file.clip(0, "scale", "CUBICSPLINE", times, cubic_at);
    file.clip(0, "scale", "STEP", times, at);
    let (scene, report) = file.read();
    let before = 1.0f32.next_down();
    let track = &scene.clips[0].tracks[0];
    assert_eq!(track.times, [0.0, before, 1.0, 2.0]);
    assert_eq!(track.values, [&values[0..6], &values[9..15]].concat());
    let track = &scene.clips[1].tracks[0];
    assert_eq!(track.times, [0.0, before, 1.0, 2.0]);
    assert_eq!(track.values, [&cubic[0..18], &cubic[27..45]].concat());
    let track = &scene.clips[2].tracks[0];
    assert_eq!(track.times, [0.0, 1.0, 2.0]);
    assert_eq!(track.values, [&values[0..3], &values[9..15]].concat());
    for clip in ["animation 0", "animation 1", "animation 2"] {
        let parts = [clip, "2 keys have the time of the key before", "jumps", "1 s of sampler 0"];
        assert_reported(&report, Severity::Repaired, &parts);
    }
    assert_eq!(report.len(), 3);
}

/// Nothing leads to a jump with which a clip begins; neighbours in f32 leave no place for one.
#[test]
fn jumps_without_a_place_keep_the_last_key() {
    let mut file = node_file();
    let near = 1.0f32.next_up();
    for times in [[0.0, 0.0, 1.0], [1.0, near, near], [-0.0, 0.0, 1.0]] {
        let times = file.floats("SCALAR", &times);
        let values = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        file.clip(0, "translation", "LINEAR", times, values);
    }
    let (scene, _) = file.read();
    let first = |clip: usize| {
        (&scene.clips[clip].tracks[0].times[..], scene.clips[clip].tracks[0].values[0])
    };
    assert_eq!(first(0), (&[0.0, 1.0][..], 1.0));
    assert_eq!(first(1), (&[1.0, near][..], 0.0));
    assert_eq!(scene.clips[1].tracks[0].values[3], 2.0);
    assert_eq!(first(2), (&[0.0, 1.0][..], 1.0));
}

/// The motion up to a jump and behind it, in a rig that was built.
#[test]
fn motion_before_a_jump_is_that_of_the_file() {
    let mut file = node_file();
    let times = file.floats("SCALAR", &[0.0, 1.0, 1.0, 2.0]);
    let values = [0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 100.0, 0.0, 0.0, 110.0, 0.0, 0.0];
    let values = file.floats("VEC3", &values);
    file.clip(0, "translation", "LINEAR", times, values);
    let rig =
        import_slice(&file.glb(), "x", None, &ImportOptions::default()).unwrap().rigs.remove(0);
    for (time, expected) in
        [(0.0, 0.0), (0.5, 5.0), (0.99, 9.9), (1.0, 100.0), (1.5, 105.0), (2.0, 110.0)]
    {
        let pose = sample(&rig.clips()[0], rig.skeleton(), time).unwrap();
        let found = pose.lane(usize::from(rig.skeleton().lane_of()[0])).translation.x;
        assert!((found - expected).abs() < 1e-3, "{time}: {found} {expected}");
    }
}

#[test]
fn keys_below_zero_refuse_their_animation_alone() {
    let mut file = node_file();
    let early = file.floats("SCALAR", &[-0.5, 0.25, 0.25, 1.0]);
    let sound = file.floats("SCALAR", &[0.0, 1.0, 2.0, 3.0]);
    let back = file.floats("SCALAR", &[0.0, 2.0, 1.0, 3.0]);
    let none = file.floats("SCALAR", &[0.0, 1.0, f32::NAN, 3.0]);
    let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let values = file.floats("VEC3", &values);
    for (name, times) in [("Early", early), ("Back", back), ("None", none), ("Walk", sound)] {
        file.clip(0, "translation", "LINEAR", times, values);
        let last = file.root["animations"].as_array_mut().unwrap().last_mut().unwrap();
        last["name"] = json!(name);
        last["extras"] = json!({ "markers": [{ "name": "step", "time": 0.5 }] });
    }
    let names = |scene: &RawScene| -> Vec<String> {
        scene.clips.iter().map(|c| c.name.clone().unwrap()).collect()
    };
    let (scene, report) = file.read();
    assert_eq!(names(&scene), ["Walk"]);
    for parts in [
        ["animation 0 \"Early\"", "left out", "-0.5 s", "trimming", "leniently"],
        ["animation 1 \"Back\"", "left out", "sampler 0", "time 2 is 1", "after 2"],
        ["animation 2 \"None\"", "left out", "sampler 0", "time 2 is NaN", ""],
    ] {
        assert_reported(&report, Severity::Dropped, &parts);
    }
    for (trim, lenient) in [(true, false), (false, true)] {
        let options = ImportOptions { trim, lenient, ..ImportOptions::default() };
        let (scene, report) = file.read_with(&options).unwrap();
        assert_eq!(names(&scene), ["Early", "Walk"]);
        let clip = &scene.clips[0];
        assert_eq!(clip.tracks[0].times, [0.0, 0.75f32.next_down(), 0.75, 1.5]);
        assert_eq!((clip.duration, clip.trimmed), (1.5, -0.5));
        assert_eq!(clip.markers[0].time, 1.0);
        let parts = ["animation 0 \"Early\"", "moved", "-0.5 s"];
        assert_reported(&report, Severity::Repaired, &parts);
    }
}

/// Channels that are not read state the length of a clip, too; samplers without a channel do not.
#[test]
fn channels_decide_the_length_of_a_clip() {
    let mut file = node_file();
    let ends = [2.0, 5.0, 11.0].map(|end| file.floats("SCALAR", &[0.0, end]));
    let early = file.floats("SCALAR", &[-3.0, 1.0]);
    let values = file.floats("VEC3", &[0.0; 6]);
    let sampler = |input: usize| json!({ "input": input, "output": values });
    file.push(
        "animations",
        json!({ "name": "A",
        "samplers": [sampler(ends[0]), sampler(ends[1]), sampler(ends[2]), sampler(early)],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } },
                     { "sampler": 1, "target": { "node": 0, "path": "weights" } }] }),
    );
    let (scene, report) = file.read();
    assert_eq!((scene.clips[0].duration, scene.clips[0].trimmed), (5.0, 0.0));
    let parts = ["animation 0 \"A\"", "2 samplers", "no channel", "the first is 2"];
    assert_reported(&report, Severity::Note, &parts);
}

#[test]
fn rotation_keys_without_a_direction_are_mended() {
    let mut file = node_file();
    let times = file.floats("SCALAR", &[0.0, 1.0, 2.0]);
    let zero = [0.0f32; 4];
    let turned = [0.0, 2.0, 0.0, 0.0f32];
    let values = file.floats("VEC4", &[zero, turned, zero].concat());
    file.clip(0, "rotation", "LINEAR", times, values);
    let tangent = [9.0f32; 4];
    let cubic = [zero, turned, zero, tangent, zero, tangent, zero, turned, zero].concat();
    let cubic = file.floats("VEC4", &cubic);
    file.clip(0, "rotation", "CUBICSPLINE", times, cubic);
    let (scene, report) = file.read();
    let (identity, unit) = ([0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]);
    // Linear keys keep their lengths, which the clip builder makes unit length; splines' are made so here.
    assert_eq!(scene.clips[0].tracks[0].values, [identity, turned, turned].concat());
    assert_eq!(
        scene.clips[1].tracks[0].values,
        [zero, unit, zero, tangent, unit, tangent, zero, unit, zero].concat()
    );
    assert_reported(&report, Severity::Repaired, &["animation 0, channel 0", "2 rotation keys"]);
    assert_reported(
        &report,
        Severity::Repaired,
        &["animation 1, channel 0", "1 rotation key of length 0 was replaced"],
    );
}

#[test]
fn channels_that_move_nothing_known_are_dropped() {
    let mut file = node_file();
    let times = file.floats("SCALAR", &[0.0]);
    let values = file.floats("VEC3", &[1.0; 3]);
    let target = |target: serde_json::Value| json!({ "sampler": 0, "target": target });
    file.push(
        "animations",
        json!({
            "samplers": [{ "input": times, "output": values }],
            "channels": [
                target(json!({ "path": "translation" })),
                target(json!({ "path": "pointer", "extensions": { "KHR_animation_pointer":
                    { "pointer": "/materials/0/pbrMetallicRoughness/baseColorFactor" } } })),
                target(json!({ "node": 0, "path": "colour\nful" })),
                target(json!({ "node": 0, "path": "weights" })),
                target(json!({ "node": 0, "path": "translation" })),
                target(json!({ "node": 0, "path": "translation" })),
            ]
        }),
    );
    let (scene, report) = file.read();
    assert_eq!(scene.clips[0].tracks.len(), 1);
    for parts in [
        ["channel 0", "no target node"],
        ["channel 1", "KHR_animation_pointer"],
        ["channel 2", "\"colour\\nful\""],
        ["channel 3", "no morph targets"],
        ["channel 5", "already"],
    ] {
        assert_reported(&report, Severity::Dropped, &parts);
    }
    assert_eq!(report.len(), 5);
}

#[test]
fn an_animated_matrix_node_is_noted_once() {
    let mut file = File::new();
    let matrix = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1];
    file.push("nodes", json!({ "matrix": matrix }));
    let times = file.floats("SCALAR", &[0.0]);
    let values = file.floats("VEC3", &[1.0; 3]);
    file.clip(0, "translation", "STEP", times, values);
    file.clip(0, "scale", "STEP", times, values);
    let (scene, report) = file.read();
    assert_eq!(scene.nodes[0].local.scale.to_array(), [2.0; 3]);
    assert_eq!(scene.clips[1].tracks.len(), 1);
    assert_reported(&report, Severity::Note, &["animation 0, channel 0", "node 0", "matrix"]);
    assert_eq!(report.len(), 1);
}

#[test]
fn morph_weights_are_animated_key_major() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 3]);
    let node = file.vertices(json!({ "POSITION": positions }));
    let targets = json!([{ "POSITION": positions }, { "POSITION": positions }]);
    file.root["meshes"][0]["primitives"][0]["targets"] = targets;
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("SCALAR", &[0.0, 0.1, 1.0, 1.1]);
    let cubic: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let cubic_at = file.floats("SCALAR", &cubic);
    file.clip(node, "weights", "LINEAR", times, values);
    file.clip(node, "weights", "CUBICSPLINE", times, cubic_at);
    let scene = file.read_clean();
    assert_eq!(scene.clips[0].tracks[0].values, [0.0, 0.1, 1.0, 1.1]);
    assert_eq!(scene.clips[0].tracks[0].channel, RawChannel::Weights);
    assert_eq!(scene.clips[1].tracks[0].values, cubic);
}

/// A file of four clips: with a camera, with a channel that is dropped, with a pointer, with a sampler left over.
#[test]
fn lengths_are_those_of_the_channels() {
    let text = include_bytes!("../data/gltf/c43_durations.gltf");
    let options = ImportOptions::default();
    let (scene, report) = phalanx::import::read_slice(text, "x", None, &options).unwrap();
    let lengths: Vec<f32> = scene.clips.iter().map(|c| c.duration).collect();
    assert_eq!(lengths, [5.0, 7.0, 9.0, 2.0]);
    let parts = ["animation 3 \"UnusedSampler\"", "sampler 1", "no channel"];
    assert_reported(&report, Severity::Note, &parts);
}
