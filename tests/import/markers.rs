//! Markers in extras, in files beside a model, and in neither.

use phalanx::build::{BuildError, build_rig};
use phalanx::clip::Marker;
use phalanx::import::{
    ImportError, ImportFault, ImportOptions, Severity, add_markers, import_path, mannequin,
    marker_file, parse_markers, read_markers,
};
use phalanx::rig::Rig;
use phalanx_testkit::gltf_file::File;
use serde_json::{Value, json};

/// One node that moves for a second, and what its animation's extras are.
fn file(extras: Value) -> File {
    let mut file = File::new();
    file.push("nodes", json!({ "name": "joint" }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let values = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    file.clip(0, "translation", "LINEAR", times, values);
    file.root["animations"][0]["name"] = json!("move");
    file.root["animations"][0]["extras"] = extras;
    file
}

fn rig(extras: Value) -> Rig {
    let (raw, _) = file(extras).read();
    build_rig(raw, &Default::default()).unwrap()
}

fn list(markers: &[Marker]) -> Vec<(&str, f32)> {
    markers.iter().map(|m| (m.name.as_str(), m.time)).collect()
}

#[test]
fn extras_hold_lists_and_times_by_name() {
    let listed = rig(json!({ "markers": [
        { "name": "late", "time": 0.75 },
        { "name": "step", "time": 0.25, "colour": "red" },
        { "name": "end", "time": 1.0004 },
    ] }));
    assert_eq!(list(listed.clips()[0].markers()), [("step", 0.25), ("late", 0.75), ("end", 1.0)]);
    let named = rig(json!({ "events": {
        "clap": [0.5, 0.25],
        "shout": 0.125,
        "LeftFoot": { "strike": 0.0, "lift": [0.625] },
    } }));
    assert_eq!(
        list(named.clips()[0].markers()),
        [
            ("LeftFoot.strike", 0.0),
            ("shout", 0.125),
            ("clap", 0.25),
            ("clap", 0.5),
            ("LeftFoot.lift", 0.625),
        ]
    );
    assert!(rig(json!({ "speed": 1 })).clips()[0].markers().is_empty());
    let walk = mannequin().unwrap();
    let walk = &walk.clips()[walk.find_clip("Walk").unwrap()];
    let strikes = walk.markers().iter().filter(|m| m.name.ends_with("strike"));
    assert_eq!(strikes.count(), 2);
}

#[test]
fn what_cannot_be_used_is_reported_and_the_clip_stays() {
    for (extras, message) in [
        (json!({ "events": [1] }), "markers: marker 0: expected a name and time, found 1"),
        (
            json!({ "markers": "soon" }),
            "markers: marker list: expected a list of markers, found \"soon\"",
        ),
        (
            json!({ "events": { "a": "b" } }),
            "markers: marker \"a\": expected a time in seconds, found \"b\"",
        ),
        (
            json!({ "markers": [{ "name": "m", "time": 1.5 }] }),
            "marker \"m\" at 1.5 s is outside the clip",
        ),
        (
            json!({ "markers": [{ "name": "m", "time": -0.5 }] }),
            "marker \"m\" at -0.5 s is outside the clip",
        ),
        (json!({ "markers": { "m": 1e300 } }), "marker \"m\" at inf s is outside the clip"),
    ] {
        let (raw, report) = file(extras).read();
        let found =
            report.iter().any(|e| e.severity == Severity::Dropped && e.message.contains(message));
        assert!(found, "{message}: {:?}", report);
        assert_eq!(raw.clips[0].tracks.len(), 1);
        assert!(raw.clips[0].markers.is_empty());
    }
    let long = "x".repeat(300);
    let (raw, report) = file(json!({ "markers": { long: [0.0, 0.1] } })).read();
    assert!(raw.clips[0].markers.is_empty() && !report.is_empty());
}

#[test]
fn a_file_beside_the_model_gives_markers_to_clips_by_name() {
    let folder = std::env::temp_dir().join(format!("phalanx-markers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = folder.join("thing.glb");
    std::fs::write(&model, file(json!({ "events": { "old": 0.5 } })).glb()).unwrap();
    let options = ImportOptions::default();
    let markers =
        |model| import_path(model, &options).map(|i| i.rigs[0].clips()[0].markers().to_vec());
    assert_eq!(list(&markers(&model).unwrap()), [("old", 0.5)]);
    let beside = marker_file(&model);
    assert_eq!(beside.file_name().unwrap(), "thing.events.json");
    let write = |text: &str| std::fs::write(&beside, text).unwrap();
    write(r#"{"clips": {"move": [{"name": "new", "time": 0.25}]}}"#);
    assert_eq!(list(&markers(&model).unwrap()), [("new", 0.25)]);
    write(r#"{"clips": {"move": {"events": {"a": [0.1]}, "markers": []}}}"#);
    assert_eq!(list(&markers(&model).unwrap()), [("a", 0.1)]);
    let refused = |text: &str| {
        write(text);
        match markers(&model) {
            Err(error @ ImportError::Fault { .. }) => {
                assert!(error.to_string().contains("thing.events.json"), "{error}");
                let ImportError::Fault { place, fault, .. } = error else { unreachable!() };
                (place, fault)
            }
            other => panic!("{text}: {other:?}"),
        }
    };
    for text in ["{", "[]"] {
        let (place, fault) = refused(text);
        assert!(place.is_empty() && matches!(fault, ImportFault::Invalid(_)), "{place}: {fault}");
    }
    assert!(matches!(
        refused(r#"{"clips": {"gone": []}}"#),
        (place, ImportFault::Invalid(words)) if place.is_empty() && words == "there is no clip \"gone\""
    ));
    assert!(matches!(
        refused(r#"{"clips": {"move": [{"name": "m"}]}}"#),
        (place, ImportFault::Invalid(words)) if place == "clip \"move\"" && words.starts_with("marker 0: expected a name and time")
    ));
    assert!(matches!(
        refused(r#"{"clips": {"move": {"m": 2.0}}}"#),
        (place, ImportFault::MarkedClip(fault)) if place.is_empty()
            && matches!(&*fault, BuildError::Marker { marker, .. } if marker == "m")
    ));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(
        read_markers(&beside),
        Err(ImportError::Fault { fault: ImportFault::Io(error), .. })
            if error.kind() == std::io::ErrorKind::NotFound
    ));
}

#[test]
fn markers_added_in_code_replace_and_refuse_as_a_whole() {
    let mut rigs = [rig(json!({}))];
    rigs[0].set_markers(0, vec![Marker::new("m", 0.5)]).unwrap();
    assert_eq!(list(rigs[0].clips()[0].markers()), [("m", 0.5)]);
    assert!(matches!(
        rigs[0].set_markers(1, Vec::new()),
        Err(BuildError::Index { index: 1, have: 1, .. })
    ));
    assert!(rigs[0].set_markers(0, vec![Marker::new("m", 1.5)]).is_err());
    let text = r#"{"clips": {"move": {"n": 0.25}, "gone": []}}"#;
    let markers = parse_markers(text, "some file").unwrap();
    assert!(add_markers(&mut rigs, &[], &markers, "some file").is_err());
    assert_eq!(list(rigs[0].clips()[0].markers()), [("m", 0.5)]);
}
