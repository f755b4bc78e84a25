//! Clips that begin late: reported, or cut with their markers; and names that occur twice.

use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Marker;
use phalanx::import::ImportOptions;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawScene, RawTrack};
use phalanx::import::read_slice;
use phalanx::import::{ReportEntry, Severity, add_markers, import_path, import_rig, parse_markers};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::skeleton::{ChannelValue, UserChannel};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

const TRIM: fn() -> ImportOptions = || ImportOptions { trim: true, ..ImportOptions::default() };

/// Two nodes, and a clip that moves one from 1.25 s to 3 s and turns the other from 1.5 s to 2 s.
fn late() -> File {
    let mut file = File::new();
    file.push("nodes", json!({ "name": "hips", "children": [1] }));
    file.push("nodes", json!({ "name": "head" }));
    let slow = file.floats("SCALAR", &[1.25, 2.0, 3.0]);
    let places = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 2.0, 0.0]);
    let quick = file.floats("SCALAR", &[1.5, 2.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]);
    file.push(
        "animations",
        json!({
            "name": "Walk",
            "samplers": [{ "input": slow, "output": places }, { "input": quick, "output": turns }],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "translation" } },
                { "sampler": 1, "target": { "node": 1, "path": "rotation" } }
            ],
            "extras": { "markers": [
                { "name": "before", "time": 0.5 },
                { "name": "first", "time": 1.25 },
                { "name": "step", "time": 2.0 },
                { "name": "end", "time": 3.0 }
            ] }
        }),
    );
    file
}

fn markers(clip: &RawClip) -> Vec<(&str, f32)> {
    let markers = clip.markers.iter();
    markers.map(|m| (m.name.as_str(), m.time)).collect()
}

#[test]
fn a_late_clip_is_reported_and_kept() {
    let (scene, report) = late().read();
    assert_eq!(
        entries(&report, Severity::Note),
        [
            "animation 0 \"Walk\": begins late, its first key is at 1.25 s; trimming cuts what is before it"
        ]
    );
    assert_eq!(report.len(), 1);
    let clip = &scene.clips[0];
    assert_eq!((clip.duration, clip.trimmed), (3.0, 0.0));
    assert_eq!(clip.tracks[0].times, [1.25, 2.0, 3.0]);
    assert_eq!((scene.first_key(0), scene.first_key(1)), (Some(1.25), None));
}

#[test]
fn trimmed_keys_and_markers_begin_at_zero() {
    let (scene, report) = late().read_with(&TRIM()).unwrap();
    assert_eq!(
        entries(&report, Severity::Repaired),
        ["animation 0 \"Walk\": cut before its first key, which was at 1.25 s"]
    );
    assert_eq!(report.len(), 1);
    let clip = &scene.clips[0];
    assert_eq!((clip.duration, clip.trimmed), (1.75, 1.25));
    assert_eq!(clip.tracks[0].times, [0.0, 0.75, 1.75]);
    assert_eq!(clip.tracks[1].times, [0.25, 0.75]);
    assert_eq!(markers(clip), [("before", 0.0), ("first", 0.0), ("step", 0.75), ("end", 1.75)]);
    assert_eq!(scene.first_key(0), Some(0.0));
    // Nothing is left to cut.
    let mut again = scene.clone();
    again.trim_clips();
    assert_eq!(again, scene);
}

#[test]
fn a_trimmed_clip_plays_what_the_whole_one_played_later() {
    let read = |options: &ImportOptions| {
        let (raw, _) = late().read_with(options).unwrap();
        build_rig(raw, &BuildOptions::default()).unwrap()
    };
    let (whole, cut) = (read(&ImportOptions::default()), read(&TRIM()));
    assert_eq!((whole.clips()[0].duration(), cut.clips()[0].duration()), (3.0, 1.75));
    for step in 0..=14 {
        let time = step as f32 * 0.125;
        let at = |time| PoseAction { clip: 0, time, weight: 1.0 };
        let later = evaluate_pose(&whole, &[at(time + 1.25)]).unwrap();
        let now = evaluate_pose(&cut, &[at(time)]).unwrap();
        for (a, b) in later.locals.iter().zip(&now.locals) {
            // The times are exact; where one lies between two keys may round differently.
            let (moved, turned) = (a.translation - b.translation, a.rotation - b.rotation);
            assert!(moved.length() < 1e-6, "{a:?} {b:?} at {time} s");
            assert!(turned.length() < 1e-6, "{a:?} {b:?} at {time} s");
        }
    }
}

#[test]
fn several_late_clips_are_one_entry() {
    let mut file = late();
    let early = file.floats("SCALAR", &[0.0, 1.0]);
    let places = file.floats("VEC3", &[0.0; 6]);
    file.clip(0, "translation", "LINEAR", early, places);
    for first in 1..6 {
        let times = file.floats("SCALAR", &[first as f32, 7.0]);
        file.clip(0, "translation", "LINEAR", times, places);
    }
    let (_, report) = file.read();
    let notes = entries(&report, Severity::Note);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_says(
        &notes[0],
        &[
            "animations: 6 begin late: ",
            "animation 0 \"Walk\" at 1.25 s, animation 2 at 1 s",
            "animation 4 at 3 s and 2 more",
        ],
    );
    let items = &report[0].items;
    assert_eq!(items.len(), 6, "{items:?}");
    assert_eq!(items[5], "animation 6 at 5 s");
    let (scene, _) = file.read_with(&TRIM()).unwrap();
    let cut: Vec<f32> = scene.clips.iter().map(|c| c.trimmed).collect();
    assert_eq!(cut, [1.25, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_clip_of_one_late_key_is_a_pose() {
    let mut file = File::new();
    file.push("nodes", json!({ "name": "hips" }));
    let times = file.floats("SCALAR", &[0.5]);
    let places = file.floats("VEC3", &[1.0, 2.0, 3.0]);
    file.clip(0, "translation", "LINEAR", times, places);
    let (raw, _) = file.read_with(&TRIM()).unwrap();
    assert_eq!((raw.clips[0].duration, raw.clips[0].trimmed), (0.0, 0.5));
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    assert_eq!(rig.clips()[0].duration(), 0.0);
}

#[test]
fn user_channels_count_and_move() {
    let mut scene = RawScene {
        clips: vec![RawClip {
            duration: 2.0,
            user_tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Weights,
                interpolation: Interpolation::Linear,
                times: vec![0.5, 2.0],
                values: vec![0.0, 1.0],
            }],
            ..RawClip::default()
        }],
        channels: vec![UserChannel { name: "heat".into(), rest: ChannelValue::Float(0.0) }],
        ..RawScene::default()
    };
    assert_eq!(scene.first_key(0), Some(0.5));
    scene.trim_clips();
    assert_eq!(scene.clips[0].user_tracks[0].times, [0.0, 1.5]);
    assert_eq!(scene.clips[0].duration, 1.5);
}

#[test]
fn markers_beside_the_file_have_its_times() {
    let folder = std::env::temp_dir().join(format!("phalanx-late-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.glb"), late().glb()).unwrap();
    let text = r#"{"clips": {"Walk": {"early": 1.0, "strike": 2.5, "end": 3.0005}}}"#;
    std::fs::write(folder.join("a.events.json"), text).unwrap();
    let times = |options: &ImportOptions| -> Vec<(String, f32)> {
        let rigs = import_path(&folder.join("a.glb"), options).unwrap().rigs;
        let markers = rigs[0].clips()[0].markers().iter();
        markers.map(|m| (m.name.clone(), m.time)).collect()
    };
    let named = |list: [(&str, f32); 3]| list.map(|(n, t)| (n.to_owned(), t)).to_vec();
    let whole = [("early", 1.0), ("strike", 2.5), ("end", 3.0)];
    assert_eq!(times(&ImportOptions::default()), named(whole));
    let cut = [("early", 0.0), ("strike", 1.25), ("end", 1.75)];
    assert_eq!(times(&TRIM()), named(cut));
    // The common case in one call: the file's rig, with what lies beside it.
    let rig = import_rig(folder.join("a.glb")).unwrap();
    let markers = rig.clips()[0].markers().iter();
    let own: Vec<_> = markers.map(|m| (m.name.clone(), m.time)).collect();
    assert_eq!(own, named(whole));
    let missing = import_rig("gone.glb").unwrap_err().to_string();
    assert!(missing.contains("gone.glb"), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();

    // Times that the whole clip did not have are refused as before.
    let (raw, _) = late().read_with(&TRIM()).unwrap();
    let cuts = [raw.clips[0].trimmed];
    let mut rigs = vec![build_rig(raw, &BuildOptions::default()).unwrap()];
    for time in ["-0.5", "3.25"] {
        let text = format!(r#"{{"clips": {{"Walk": {{"wrong": {time}}}}}}}"#);
        let given = parse_markers(&text, "m").unwrap();
        let error = add_markers(&mut rigs, &cuts, &given, "m").unwrap_err();
        assert_says(&error.to_string(), &["m: ", "wrong"]);
        assert_eq!(rigs[0].clips()[0].markers()[0], Marker::new("before", 0.0));
    }
}

fn named(file: &File) -> Vec<String> {
    let (_, report): (RawScene, Vec<ReportEntry>) =
        read_slice(&file.glb(), "x", None, &ImportOptions::default()).unwrap();
    entries(&report, Severity::Note)
}

#[test]
fn names_that_occur_twice_are_told_apart() {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0; 9]);
    for name in ["Cube", "Cube", "Sphere"] {
        let primitive = json!({ "attributes": { "POSITION": positions } });
        let mesh = file.push("meshes", json!({ "name": name, "primitives": [primitive] }));
        file.push("nodes", json!({ "mesh": mesh }));
    }
    // Two joints and an object have one name; two other nodes share one, but are no joints.
    for name in ["Hand", "Hand", "Hand", "Rock", "Rock", ""] {
        file.push("nodes", json!({ "name": name }));
    }
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("VEC3", &[0.0; 6]);
    for (clip, name) in ["Run", "Walk", "Run", "Walk", "Walk"].iter().enumerate() {
        file.clip(3 + clip % 2, "scale", "LINEAR", times, values);
        file.root["animations"][clip]["name"] = json!(name);
    }
    assert_eq!(
        named(&file),
        [
            "clips: names that occur more than once: \"Run\" (animations 0 and 2) and \
             \"Walk\" (animations 1, 3 and 4); a name finds the first, an index each",
            "joints: names that occur more than once: \"Hand\" (nodes 3 and 4); the index of the joint finds each; a \
             path (PARENT/NAME) does not, as some of one name have one parent; the name alone finds none",
            "nodes: names that occur more than once: \"Hand\" (nodes 3, 4 and 5); not all nodes of one name are joints: \
             look-ups find the joints alone",
            "meshes: names that occur more than once: \"Cube\" (meshes 0 and 1); an index finds each",
        ]
    );
    // As the report says.
    let (raw, report) = file.read();
    let clips = ["\"Run\" (animations 0 and 2)", "\"Walk\" (animations 1, 3 and 4)"];
    assert_eq!(report[0].items, clips);
    assert_eq!(raw.clips[0].tracks[0].channel, RawChannel::Scale);
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    assert_eq!((rig.find_clip("Run"), rig.find_clip("Walk")), (Some(0), Some(1)));
    assert!(rig.skeleton().joint("Hand").is_err());
}

/// A path tells joints of one name apart unless they are siblings; the report names the cure that works.
#[test]
fn the_cure_for_repeated_joints_depends_on_their_parents() {
    let mut file = File::new();
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("VEC3", &[0.0; 6]);
    for (name, child) in [("Left", 1), ("Hand", 0), ("Right", 3), ("Hand", 0)] {
        let mut node = json!({ "name": name });
        if child > 0 {
            node["children"] = json!([child]);
        }
        file.push("nodes", node);
    }
    file.clip(1, "scale", "LINEAR", times, values);
    file.clip(3, "scale", "LINEAR", times, values);
    assert_eq!(
        named(&file)[0],
        "joints: names that occur more than once: \"Hand\" (nodes 1 and 3); a path (PARENT/NAME) or the index of the \
         joint finds each, the name alone none"
    );
    let cures = |file: &File| {
        let (raw, _) = file.read();
        let rig = build_rig(raw, &BuildOptions::default()).unwrap();
        let skeleton = rig.skeleton();
        let hands = (0..skeleton.len()).filter(|&j| skeleton.names()[j] == "Hand");
        let path = skeleton.joint("Right/Hand");
        (path.is_ok(), hands.map(|j| skeleton.joint(j)).all(|j| j.is_ok()))
    };
    assert_eq!(cures(&file), (true, true));
    // A second hand of one arm.
    let hand = file.push("nodes", json!({ "name": "Hand" }));
    file.root["nodes"][2]["children"] = json!([3, hand]);
    file.clip(hand, "scale", "LINEAR", times, values);
    let says = &named(&file)[0];
    assert!(
        says.contains(
            "(nodes 1, 3 and 4); the index of the joint finds each; a path (PARENT/NAME) does not"
        ),
        "{says}"
    );
    assert_eq!(cures(&file), (false, true));
}

#[test]
fn many_equal_names_are_counted() {
    let mut file = File::new();
    let long = "n".repeat(500);
    for i in 0..3000 {
        let name = if i % 2 == 0 { &long } else { "short" };
        file.push("meshes", json!({ "name": name, "primitives": [] }));
        file.push("nodes", json!({ "mesh": i }));
    }
    for i in 0..40 {
        file.push("meshes", json!({ "name": format!("m{}", i / 2), "primitives": [] }));
        file.push("nodes", json!({ "mesh": 3000 + i }));
    }
    let notes = named(&file);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_says(&notes[0], &["meshes 0, 2, 4, 6 and 1496 more", "and 18 more"]);
    assert!(notes[0].len() < 500, "{}", notes[0]);
    // The message is short, the items are all.
    let (_, report) = file.read();
    let items = &report[0].items;
    assert_eq!(items.len(), 22);
    let odd: Vec<String> = (0..1500).map(|i| (2 * i + 1).to_string()).collect();
    let (last, others) = odd.split_last().unwrap();
    let all = format!("\"short\" (meshes {} and {last})", others.join(", "));
    assert_eq!(items[1], all);
    assert_eq!(items[21], "\"m19\" (meshes 3038 and 3039)");
}
