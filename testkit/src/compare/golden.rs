//! Reads golden files (`gltf-anim-golden/1`) and checks a subject against every array in them.

use super::{Category, Subject, Tally};
use crate::oracle::{Action, Evaluated, Layer, LoopMode, Scene};
use crate::trials;
use serde_json::Value;

/// Golden files (`golden/NAME.json`) that must exist if assets are required.
const NAMES: [&str; 16] = [
    "CesiumMan",
    "Fox",
    "MorphStressTest",
    "SimpleSkin",
    "bl_corners",
    "bl_humanoid",
    "bl_manyjoints",
    "bl_morphbones",
    "bl_rider",
    "greenman",
    "greenman_hat",
    "greenman_shield",
    "greenman_sword",
    "mannequin",
    "pab",
    "robot",
];

/// Golden file and model of every comparison, relative to the asset folders: the required ones, and any
/// other golden file found.
pub fn golden_names() -> Vec<(String, String)> {
    let mut names: Vec<String> = NAMES.iter().map(|n| n.to_string()).collect();
    for folder in trials::asset_folders() {
        let entries = std::fs::read_dir(folder.join("golden")).into_iter().flatten();
        let stems = entries
            .flatten()
            .filter(|e| e.path().extension().is_some_and(|e| e == "json"))
            .filter_map(|e| Some(e.path().file_stem()?.to_str()?.to_owned()));
        names.extend(stems);
    }
    names.sort();
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            let golden = format!("golden/{name}.json");
            let model = read(&golden).ok().and_then(|g| Some(g["asset"].as_str()?.to_owned()));
            (golden, model.unwrap_or(format!("{name}.glb")))
        })
        .collect()
}

fn read(golden: &str) -> Result<Value, String> {
    let path = trials::asset(golden).ok_or(format!("{golden} is missing"))?;
    let text = std::fs::read(&path).map_err(|e| format!("{golden}: {e}"))?;
    serde_json::from_slice(&text).map_err(|e| format!("{golden}: {e}"))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn indices(value: &Value) -> Vec<usize> {
    let numbers = items(value).iter().filter_map(Value::as_u64);
    numbers.map(|i| i as usize).collect()
}

/// All numbers of an array, however deeply nested.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(inner) => inner.iter().flat_map(flat).collect(),
        Value::Null => Vec::new(),
        number => vec![number.as_f64().unwrap_or(f64::NAN)],
    }
}

/// Checks the subject against every array of every sample in a golden file.
pub fn check(golden: &str, subject: &impl Subject, tally: &mut Tally) -> Result<(), String> {
    let golden = read(golden)?;
    let before = tally.values();
    let locals = subject.has_locals();
    let mut compare = |expected: &Value, animated: &[usize], place: &str, actual: &Evaluated| {
        // Local transforms are not compared if the subject has none.
        let local = match locals {
            true => &expected["local"],
            false => &Value::Null,
        };
        sample(&golden, expected, local, animated, place, actual, tally);
    };
    compare(&golden["rest"], &[], "rest", &subject.rest()?);
    for animation in items(&golden["animations"]) {
        let clip = animation["index"].as_u64().ok_or("animation without index")? as usize;
        let animated = indices(&animation["animated"]);
        for expected in items(&animation["samples"]) {
            let t = expected["t"].as_f64().ok_or("sample without t")?;
            let mode = match expected["kind"].as_str() {
                Some("wrapped") => LoopMode::Repeat,
                Some(_) => LoopMode::Once,
                None => return Err("sample without kind".into()),
            };
            let place = format!("clip {clip} at {t}");
            let actual = subject.clip(clip, t, mode)?;
            compare(expected, &animated, &place, &actual);
        }
    }
    for blend in items(&golden["blends"]) {
        let mut actions = Vec::new();
        for part in [&blend["a"], &blend["b"]] {
            let number = |key: &str| part[key].as_f64().ok_or(format!("blend without {key}"));
            let clip = part["animation"].as_u64().ok_or("blend without clip")?;
            actions.push(Action::new(clip as usize, number("t")?, number("weight")?));
        }
        let animated = indices(&blend["animated"]);
        let place = format!("blend of clips {} and {}", actions[0].clip, actions[1].clip);
        let actual = subject.mix(&[Layer::of(actions)])?;
        compare(blend, &animated, &place, &actual);
    }
    // Guards against values skipped by a mistake in this function.
    let (compared, stored) = (tally.values() - before, stored_values(&golden, locals));
    if compared != stored {
        tally.fail(format!("{compared} values compared of {stored} stored"));
    }
    Ok(())
}

/// Number of values in a golden file's samples, with or without local transforms.
fn stored_values(golden: &Value, locals: bool) -> usize {
    let fields = &SAMPLE_FIELDS[usize::from(!locals)..];
    let animations = items(&golden["animations"]).iter();
    let samples = animations.flat_map(|a| items(&a["samples"]));
    std::iter::once(&golden["rest"])
        .chain(samples)
        .chain(items(&golden["blends"]))
        .flat_map(|sample| fields.iter().map(|&field| flat(&sample[field]).len()))
        .sum()
}

/// The arrays that a sample may have, local transforms first.
const SAMPLE_FIELDS: [&str; 6] = ["local", "jointWorld", "skinMatrix", "nodeWorld", "morph", "pos"];

/// Compares one sample: every array it has, and `local` for the animated nodes.
fn sample(
    golden: &Value,
    expected: &Value,
    local: &Value,
    animated: &[usize],
    place: &str,
    actual: &Evaluated,
    tally: &mut Tally,
) {
    for (&node, local) in animated.iter().zip(items(local)) {
        let place = format!("{place}: local of node {node}");
        match actual.local.get(node) {
            _ if local.is_null() => {}
            Some(Some(ten)) => tally.local(&place, &flat(local), ten),
            _ => tally.fail(format!("{place}: not evaluated")),
        }
    }
    for (&node, matrix) in animated.iter().zip(items(&expected["nodeWorld"])) {
        let place = format!("{place}: world of node {node}");
        let world = worlds(actual, &[node]);
        tally.array(Category::World, &place, &flat(matrix), &world);
    }
    let nodes = items(&golden["nodes"]).len();
    if actual.world.len() != nodes || actual.world.contains(&None) {
        tally.fail(format!("{place}: not every one of {nodes} nodes"));
    }
    let skins = items(&golden["skins"]);
    for (s, matrices) in items(&expected["jointWorld"]).iter().enumerate() {
        let world = worlds(actual, &indices(&skins[s]["joints"]));
        let place = format!("{place}: joints of skin {s}");
        tally.array(Category::World, &place, &flat(matrices), &world);
    }
    for (s, matrices) in items(&expected["skinMatrix"]).iter().enumerate() {
        let palette = actual.palettes.get(s).map_or(&[][..], Vec::as_slice);
        let place = format!("{place}: palette of skin {s}");
        let palette = palette.as_flattened();
        tally.array(Category::Palette, &place, &flat(matrices), palette);
    }
    let morph_nodes = indices(&golden["morphNodes"]);
    for (node, weights) in morph_nodes.iter().zip(items(&expected["morph"])) {
        let actual = actual.morph.get(node).map_or(&[][..], Vec::as_slice);
        let place = format!("{place}: weights of node {node}");
        tally.array(Category::Morph, &place, &flat(weights), actual);
    }
    for (prim, positions) in items(&golden["prims"]).iter().zip(items(&expected["pos"])) {
        let key = |name: &str| prim[name].as_u64().unwrap_or(u64::MAX) as usize;
        let at = (key("node"), key("prim"));
        let vertices = actual.positions.get(&at).map_or(&[][..], Vec::as_slice);
        let sampled: Vec<f64> = indices(&prim["verts"])
            .iter()
            .flat_map(|&v| *vertices.get(v).unwrap_or(&[f64::NAN; 3]))
            .collect();
        let place = format!("{place}: primitive {} of node {}", at.1, at.0);
        tally.array(Category::Position, &place, &flat(positions), &sampled);
    }
}

/// World matrices of the given nodes, concatenated; a node that was not evaluated adds nothing.
fn worlds(actual: &Evaluated, nodes: &[usize]) -> Vec<f64> {
    let matrices = nodes.iter().filter_map(|&n| *actual.world.get(n)?);
    matrices.flatten().collect()
}

/// Checks the oracle's scene structure against the golden file: names, parents, skins, durations, animated
/// nodes.
pub fn structure(golden: &str, scene: &Scene) -> Result<(), String> {
    let golden = read(golden)?;
    let same = |what: String, a: Value, b: &Value| match a == *b {
        true => Ok(()),
        false => Err(format!("{what}: {a}, expected {b}")),
    };
    for (n, (node, expected)) in scene.nodes.iter().zip(items(&golden["nodes"])).enumerate() {
        let parent = node.parent.map_or(-1, |p| p as i64);
        let row = serde_json::json!([node.name, parent]);
        same(format!("node {n}"), row, expected)?;
    }
    for (s, (skin, expected)) in scene.skins.iter().zip(items(&golden["skins"])).enumerate() {
        let row = serde_json::json!({"name": skin.name, "joints": skin.joints});
        same(format!("skin {s}"), row, expected)?;
    }
    for (clip, expected) in scene.clips.iter().zip(items(&golden["animations"])) {
        let mut nodes: Vec<usize> = clip.channels.iter().map(|c| c.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let name = || format!("clip {:?}", clip.name);
        same(name(), nodes.into(), &expected["animated"])?;
        let duration = expected["duration"].as_f64().unwrap_or(f64::NAN);
        if clip.duration != duration {
            return Err(format!("{}: {} s, not {duration}", name(), clip.duration));
        }
    }
    let counts = [scene.nodes.len(), scene.skins.len(), scene.clips.len()];
    let expected = ["nodes", "skins", "animations"].map(|key| items(&golden[key]).len());
    match counts == expected {
        true => Ok(()),
        false => Err(format!("counts {counts:?}, expected {expected:?}")),
    }
}
