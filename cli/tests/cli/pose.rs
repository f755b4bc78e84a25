//! `phalanx pose` against the library's own evaluation, and its modes.

use super::support::{
    Tested, check, json, list, numbers, one_line, output, run, same_bits, scratch,
};
use base64::Engine;
use libtest_mimic::Failed;
use phalanx::import::{ImportOptions, import_path, mannequin};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx_testkit::trials::needed;
use serde_json::{Value, json as value};

/// Compares a document with the library's own evaluation, bit by bit.
fn compare(document: &Value, rig: &Rig, actions: &[PoseAction]) -> Tested {
    let pose = evaluate_pose(rig, actions)?;
    let at = |entry: &Value| -> Result<usize, Failed> {
        let source = entry["node"].as_u64().ok_or("a node without its index")? as usize;
        let found = rig.nodes().iter().position(|n| n.source == source);
        found.ok_or_else(|| format!("node {source} is none of the rig").into())
    };
    for entry in list(document, "nodes")? {
        let n = at(entry)?;
        let node = &rig.nodes()[n];
        check(entry["name"].as_str() == node.name.as_deref(), format!("name of {entry}"))?;
        let parent = node.parent.map_or(-1, |p| rig.nodes()[p].source as i64);
        check(entry["parent"].as_i64() == Some(parent), format!("parent of {entry}"))?;
        same_bits("local", &entry["local"], pose.locals[n].to_array())?;
        same_bits("world", &entry["world"], pose.worlds[n].to_cols_array())?;
    }
    let skins = list(document, "skins")?;
    check(skins.len() == rig.file_skins().len(), "number of skins")?;
    for (s, (entry, skin)) in skins.iter().zip(rig.file_skins()).enumerate() {
        check(entry["skin"].as_u64() == Some(s as u64), "index of a skin")?;
        let joints = list(entry, "joints")?;
        check(joints.len() == skin.len(), "joints of a skin")?;
        for (slot, joint) in joints.iter().enumerate() {
            let node = rig.nodes().iter().find(|n| n.joint == Some(skin.joints()[slot]));
            let source = node.map(|n| n.source as u64);
            check(source.is_some() && joint.as_u64() == source, format!("slot {slot}"))?;
            let listed = list(document, "nodes")?.iter().any(|n| n["node"] == *joint);
            check(listed, format!("joint {joint} is not among the nodes"))?;
        }
        let palette = pose.palettes[s].iter().flat_map(|m| m.to_cols_array());
        same_bits("palette", &entry["palette"], palette)?;
    }
    let morphs = list(document, "morph")?;
    let nodes = rig.nodes().iter().filter(|n| !n.morphs.is_empty());
    check(morphs.len() == nodes.count(), "nodes with morph weights")?;
    for entry in morphs {
        same_bits("weights", &entry["weights"], pose.morph_weights(rig, at(entry)?))?;
    }
    let Some(primitives) = document.get("primitives") else {
        return Ok(());
    };
    let posed = pose.vertices(rig)?;
    let primitives = primitives.as_array().ok_or("primitives are no list")?;
    let posed = rig.meshes().iter().zip(&posed);
    let posed = posed.flat_map(|(mesh, posed)| posed.iter().enumerate().map(move |p| (mesh, p)));
    check(primitives.len() == posed.clone().count(), "number of primitives")?;
    for (entry, (mesh, (primitive, positions))) in primitives.iter().zip(posed) {
        check(at(entry)? == mesh.node, "node of a primitive")?;
        check(entry["mesh"].as_u64() == Some(mesh.source as u64), "mesh of a primitive")?;
        check(entry["primitive"].as_u64() == Some(primitive as u64), "its index")?;
        let skin = mesh.rigid_slot.is_none().then_some(mesh.skin as u64);
        check(entry["skin"].as_u64() == skin, format!("skin {} for {skin:?}", entry["skin"]))?;
        same_bits("positions", &entry["positions"], positions.iter().flatten().copied())?;
    }
    Ok(())
}

pub fn pose_reads_back_exactly() -> Tested {
    let rig = mannequin()?;
    let run = rig.find_clip("Run").ok_or("no clip Run")?;
    let action = |clip, time, weight| PoseAction { clip, time, weight };
    let document = json(&["pose", "--clip", "Run", "--time", "0.123", "--vertices", "--json"])?;
    check(document["clip"] == "Run" && document["index"] == 3, "which clip")?;
    same_bits("time", &document["time"], [0.123])?;
    same_bits("duration", &document["duration"], [rig.clips()[run].duration()])?;
    compare(&document, &rig, &[action(run, 0.123, 1.0)])?;
    let nodes = list(&document, "nodes")?;
    check(nodes.len() == rig.nodes().len(), "the built-in character is one scene")?;
    let order: Vec<u64> = nodes.iter().filter_map(|n| n["node"].as_u64()).collect();
    check(order.is_sorted(), "nodes are not in the file's order")?;

    let rest = json(&["pose", "--json"])?;
    check(rest["clip"].is_null() && rest.get("primitives").is_none(), "the rest pose")?;
    compare(&rest, &rig, &[])?;

    let walk = rig.find_clip("Walk").ok_or("no clip Walk")?;
    let blend = ["pose", "--blend", "Walk:0.25:0.75", "--blend", "3:0.1:0.25", "--json"];
    let blend = json(&blend)?;
    check(blend["clip"].is_null() && blend["time"].is_null(), "a blend is not one clip")?;
    check(blend["blend"][1]["clip"] == "Run", "the second action")?;
    compare(&blend, &rig, &[action(walk, 0.25, 0.75), action(run, 0.1, 0.25)])
}

pub fn pose_loops_and_blends() -> Tested {
    let time = |args: &[&str]| -> Result<f32, Failed> {
        let all = [&["pose", "--json", "--clip", "Walk"], args].concat();
        Ok(json(&all)?["time"].as_f64().ok_or("no time")? as f32)
    };
    // Walk lasts one second.
    for (args, expected) in [
        (&["--time", "2.5"][..], 1.0),
        (&["--time", "-0.25"], 0.0),
        (&["--time", "1", "--loop", "once"], 1.0),
        (&["--time", "1", "--loop", "repeat"], 0.0),
        (&["--time", "2.25", "--loop", "repeat"], 0.25),
        (&["--time", "-0.25", "--loop", "repeat"], 0.75),
        (&["--time", "1.25", "--loop", "pingpong"], 0.75),
        (&["--time", "2.25", "--loop", "pingpong"], 0.25),
    ] {
        let found = time(args)?;
        check((found - expected).abs() < 1e-6, format!("{args:?}: {found} for {expected}"))?;
    }
    // One action of weight 1 is the clip; the loop mode holds for blends too.
    let single = json(&["pose", "--blend", "Walk:1.25:1", "--loop", "repeat", "--json"])?;
    let clip = json(&["pose", "--clip", "Walk", "--time", "0.25", "--json"])?;
    check(single == clip, "a blend of one clip is not the clip")?;
    // --time is added to the time of every clip.
    let added = json(&["pose", "--blend", "Walk:0.15:1", "--time", "0.1", "--json"])?;
    let near = |a: &Value, b: &Value| {
        let pairs = numbers(a).into_iter().zip(numbers(b));
        pairs.fold(0.0f32, |gap, (a, b)| gap.max((a - b).abs()))
    };
    let gap = near(&added["nodes"][1]["world"], &clip["nodes"][1]["world"]);
    check(gap < 1e-5, format!("times do not add up: {gap}"))?;
    // Half of a clip is half-way to the rest pose; no weight at all is the rest pose.
    let none = json(&["pose", "--blend", "Walk:0.25:0", "--json"])?;
    let rest = json(&["pose", "--json"])?;
    check(none["nodes"] == rest["nodes"], "an action without weight moves something")?;
    let half = json(&["pose", "--blend", "Walk:0.25:0.5", "--json"])?;
    let hips = |d: &Value| numbers(&d["nodes"][1]["local"])[1];
    let middle = (hips(&clip) + hips(&rest)) * 0.5;
    check((hips(&half) - middle).abs() < 1e-6, "half a weight is not half the way")
}

pub fn pose_tables() -> Tested {
    let text = output(&["pose", "--clip", "Wave", "--time", "0.5", "--vertices"])?;
    for part in
        ["clip \"Wave\" at 0.5 of 2.8 s", "\"LeftHandThumb1\"", "Skins", "Deformed primitives"]
    {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    check(output(&["pose"])?.contains("rest pose"), "the rest pose is not named")
}

pub fn pose_of_files() -> Tested {
    for (name, clip, time) in [("bl_morphbones.glb", "Talk", 0.4), ("robot.glb", "2", 1.5)] {
        let path = needed(name)?;
        let rig = import_path(&path, &ImportOptions::default())?;
        let rig = rig.rigs.into_iter().next().ok_or("no rig")?;
        let index = rig.find_clip(clip).map_or_else(|| clip.parse(), Ok)?;
        let path = path.to_string_lossy();
        let seconds = time.to_string();
        let args = ["pose", &path, "--clip", clip, "--time", &seconds, "--vertices", "--json"];
        let action = PoseAction { clip: index, time, weight: 1.0 };
        compare(&json(&args)?, &rig, &[action])?;
    }
    Ok(())
}

/// A file of nodes, an animation that moves the last but one, and whatever else the root object has. The
/// accessors are times (0 and 1), the animation's values, three positions and three displacements.
fn file(
    name: &str,
    nodes: Value,
    scale: [f32; 3],
    position: f32,
    more: Value,
) -> std::io::Result<String> {
    let animated = nodes.as_array().map_or(0, Vec::len) - 2;
    let floats = [vec![0.0, 1.0], [scale, scale].concat(), vec![position; 18]].concat();
    let bytes: Vec<u8> = floats.iter().flat_map(|v| v.to_le_bytes()).collect();
    let uri = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let accessor = |kind: &str, count: usize, offset: usize| value!({ "bufferView": 0, "componentType": 5126, "type": kind, "count": count, "byteOffset": offset });
    let mut root = value!({
        "asset": { "version": "2.0" },
        "buffers": [{ "byteLength": bytes.len(),
            "uri": format!("data:application/octet-stream;base64,{uri}") }],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "accessors": [accessor("SCALAR", 2, 0), accessor("VEC3", 2, 8), accessor("VEC3", 3, 32),
            accessor("VEC3", 3, 68)],
        "animations": [{ "name": "grow", "samplers": [{ "input": 0, "output": 1 }],
            "channels": [{ "sampler": 0, "target": { "node": animated, "path": "scale" } }] }],
        "nodes": nodes
    });
    for (key, more) in more.as_object().into_iter().flatten() {
        root[key] = more.clone();
    }
    let path = scratch().join(name);
    std::fs::write(&path, root.to_string())?;
    Ok(path.display().to_string())
}

/// Node 1 is in no scene, but a clip moves it, so that it is a joint; node 2 is in none and stands still.
pub fn outside_the_scene() -> Tested {
    let nodes = value!([{ "name": "shown" }, { "name": "moved", "translation": [5.0, 0.0, 0.0] },
        { "name": "idle" }]);
    let scenes = value!({ "scenes": [{ "nodes": [0] }], "scene": 0 });
    let file = file("outside.gltf", nodes, [2.0, 3.0, 4.0], 0.0, scenes)?;
    let document = json(&["pose", &file, "--clip", "grow", "--time", "0.5", "--json"])?;
    let listed = list(&document, "nodes")?;
    let names: Vec<&str> = listed.iter().filter_map(|n| n["name"].as_str()).collect();
    check(names == ["shown", "moved"], format!("{names:?}"))?;
    let wanted = [5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0];
    same_bits("local", &listed[1]["local"], wanted)?;
    let table = output(&["pose", &file, "--clip", "grow"])?;
    check(table.contains("moved") && !table.contains("idle"), table.clone())?;
    let info = json(&["info", &file, "--json"])?;
    let joints = list(&info["skeleton"], "joints")?;
    check(joints.len() == 1 && joints[0]["name"] == "moved", "the skeleton has it")
}

/// Numbers near the end of f32 are refused when the file is read; what still overflows ends with an error.
pub fn beyond_f32() -> Tested {
    let nodes = value!([{ "name": "arm" }, { "name": "hand" }]);
    let far = file("far.gltf", nodes, [3e38, 1.0, 1.0], 0.0, value!({}))?;
    for command in ["pose", "info"] {
        let out = run(&[command, &far, "--json"]);
        one_line(&out, &["far.gltf", "\"grow\"", "\"arm\"", "3e38", "1e12"])?;
    }
    // Every number is within its limit, and so are the matrices; the deformed vertices are not.
    let nodes = value!([
        { "name": "arm", "children": [1] },
        { "name": "hand", "scale": [1e12, 1e12, 1e12], "mesh": 0, "weights": [1e12] }
    ]);
    let mesh = value!({ "meshes": [{ "primitives": [
        { "attributes": { "POSITION": 2 }, "targets": [{ "POSITION": 3 }] }] }] });
    let wide = file("wide.gltf", nodes, [1e12; 3], 1e12, mesh)?;
    let action = ["pose", wide.as_str(), "--clip", "grow", "--json"];
    let text = output(&action)?;
    check(!text.contains("null,null") && !text.contains("[null"), "null among numbers")?;
    let out = run(&[&action[..], &["--vertices"]].concat());
    one_line(&out, &["wide.gltf", "a deformed vertex of node 1", "not finite"])
}
