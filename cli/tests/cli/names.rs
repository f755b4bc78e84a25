//! Names that hold what a terminal would obey or not show: escapes in tables, errors and JSON.

use super::bake::{folder, text};
use super::clashes::taken_apart;
use super::support::{Tested, check, list, phalanx};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

/// Control characters of three kinds, directions of writing, separators, and what has no width.
const HIDDEN: &str = "\u{1}\t\n\r\u{1b}\u{7f}\u{80}\u{85}\u{9b}\u{9f}\u{ad}\u{61c}\u{200b}\u{200c}\u{200d}\
    \u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2066}\u{2067}\u{2068}\
    \u{2069}\u{feff}\u{fe0f}\u{e0041}";

/// Expects no such character but line breaks, and no line that is not the program's own.
fn harmless(what: &str, bytes: &[u8]) -> Result<String, Failed> {
    let text = String::from_utf8(bytes.to_vec())?;
    if let Some(c) = text.chars().find(|&c| c != '\n' && HIDDEN.contains(c)) {
        return Err(format!("{what}: {c:?} in {text:?}").into());
    }
    Ok(text)
}

/// Checks that lines of a table have one width: these names have no wide characters but escapes.
fn straight(what: &str, shown: &str) -> Tested {
    let mut width = None;
    for line in shown.lines() {
        let own = line.chars().count();
        match line.chars().next() {
            Some('╭') => width = Some(own),
            Some('│' | '╞' | '├' | '╰') => {
                check(width == Some(own), format!("{what}: {line}\n{shown}"))?;
            }
            _ => width = None,
        }
    }
    Ok(())
}

fn ran(folder: &Path, args: &[&str]) -> Result<Output, Failed> {
    let mut command = phalanx();
    let out = command.current_dir(folder).args(args).output()?;
    harmless(&format!("{args:?}"), &out.stderr)?;
    let shown = harmless(&format!("{args:?}"), &out.stdout)?;
    straight(&format!("{args:?}"), &shown)?;
    Ok(out)
}

fn json_of(folder: &Path, args: &[&str]) -> Result<Value, Failed> {
    let out = ran(folder, args)?;
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.success(), format!("{args:?}: {error}"))?;
    Ok(serde_json::from_slice(&out.stdout)?)
}

fn shown(folder: &Path, args: &[&str]) -> Result<String, Failed> {
    let out = ran(folder, args)?;
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.success(), format!("{args:?}: {error}"))?;
    Ok(String::from_utf8(out.stdout)?)
}

/// Every name of the built-in character with one of the characters, in turn.
fn model(folder: &Path, name: &str) -> Result<Value, Failed> {
    let (mut document, binary) = taken_apart()?;
    let hidden: Vec<char> = HIDDEN.chars().collect();
    for kind in ["nodes", "animations", "meshes", "materials", "skins"] {
        for (i, thing) in document[kind].as_array_mut().into_iter().flatten().enumerate() {
            let own = thing["name"].as_str().unwrap_or(kind);
            let c = hidden[i % hidden.len()];
            thing["name"] = json!(format!("{own}{c}{i}"));
        }
    }
    // More clips than there are characters.
    let clips = document["animations"].as_array().ok_or("no clips")?;
    let mut all = Vec::new();
    for (i, &c) in hidden.iter().enumerate() {
        let mut clip = clips[i % clips.len()].clone();
        clip["name"] = json!(format!("{i}{c}{c}"));
        all.push(clip);
    }
    document["animations"] = json!(all);
    document["buffers"] = json!([{ "uri": "m.bin", "byteLength": binary.len() }]);
    fs::write(folder.join("m.bin"), binary)?;
    fs::write(folder.join(name), document.to_string())?;
    Ok(document)
}

/// The names of a list in JSON.
fn names(value: &Value, key: &str) -> Result<Vec<String>, Failed> {
    let all = list(value, key)?.iter();
    Ok(all.filter_map(|n| n["name"].as_str().map(str::to_owned)).collect())
}

/// File names that a file system takes.
#[cfg(unix)]
const FILE: &str = "a\u{202e}\u{9b}31m\n\u{200b}\u{7f}b";
#[cfg(not(unix))]
const FILE: &str = "a\u{202e}\u{200b}b";

pub fn from_files() -> Tested {
    let folder = folder("hidden-names")?;
    let file = &format!("{FILE}.gltf")[..];
    let document = model(&folder, file)?;
    let given = |kind: &str| names(&document, kind);

    let info = json_of(&folder, &["info", file, "--json"])?;
    check(info["file"] == file, info["file"].to_string())?;
    check(names(&info, "clips")? == given("animations")?, "clips")?;
    check(names(&info, "materials")? == given("materials")?, "materials")?;
    let nodes = given("nodes")?;
    let joints = names(&info["skeleton"], "joints")?;
    check(joints.len() > HIDDEN.chars().count(), "joints")?;
    check(joints.iter().all(|j| nodes.contains(j)), format!("{joints:?}"))?;
    let table = shown(&folder, &["info", file])?;
    for part in ["\\u{202e}", "\\u{9b}", "\\u{7f}", "\\u{2028}", "\\u{200b}", "\\n", "\\u{e0041}"] {
        check(table.contains(part), format!("no {part} in {table}"))?;
    }

    let clips = given("animations")?;
    let evil = &clips[HIDDEN.chars().position(|c| c == '\u{202e}').unwrap_or(0)][..];
    let pose = json_of(&folder, &["pose", file, "--clip", evil, "--json"])?;
    check(pose["clip"] == evil, pose["clip"].to_string())?;
    let posed = names(&pose, "nodes")?;
    check(posed.iter().all(|n| nodes.contains(n)) && posed.len() > 40, "nodes of a pose")?;
    let table = shown(&folder, &["pose", file, "--clip", evil])?;
    check(table.contains("\\u{202e}\\u{202e}\" at"), table)?;
    let blend = format!("{evil}:0:0.5");
    shown(&folder, &["pose", file, "--blend", &blend])?;
    ran(&folder, &["pose", file, "--clip", "none\u{202e}"])?;
    ran(&folder, &["pose", &format!("{FILE}-missing.glb")])?;

    let picture = ["--size", "32x32", "--renderer", "software", "--out"];
    let png = &format!("{FILE}.png")[..];
    let render = ["render", file, "--clip", evil, "--frames", "2"];
    shown(&folder, &[&render[..], &picture, &[png]].concat())?;
    let attach = format!("{file}@nowhere\u{202e}\n");
    let out = ran(&folder, &[&render[..], &["--attach", &attach], &picture, &[png]].concat())?;
    check(out.status.code() == Some(1), "a joint that is not there")?;
    let figures = format!("{FILE}.json");
    let crowd = ["crowd", file, "--count", "2", "--frames", "1", "--json", &figures];
    shown(&folder, &[&crowd[..], &picture, &[png]].concat())?;
    let written = fs::read(folder.join(&figures))?;
    harmless("crowd's JSON", &written)?;
    let value: Value = serde_json::from_slice(&written)?;
    check(value["model"] == file, value["model"].to_string())?;

    let library = format!("{FILE}.phx");
    let bake = ["bake", file, "--exact", "--out", &library];
    let baked = json_of(&folder, &[&bake[..], &["--json"]].concat())?;
    check(baked["files"][0]["file"] == library, baked["files"][0]["file"].to_string())?;
    check(names(&baked["files"][0], "clips")? == clips, "baked clips")?;
    check(shown(&folder, &bake)?.contains("up to date"), "again")?;
    let verified = json_of(&folder, &["verify", &library, "--source", file, "--json"])?;
    check(verified[0]["file"] == library, verified.to_string())?;
    shown(&folder, &["verify", &library])?;
    let info = json_of(&folder, &["info", &library, "--json"])?;
    check(names(&info, "clips")? == clips, "clips of a library")?;
    shown(&folder, &["info", &library])?;
    let merge = ["merge", &library, "--out", "merged.phx"];
    shown(&folder, &merge)?;
    let twice = ["merge", &library, "merged.phx", "--out", "twice.phx"];
    let output = ran(&folder, &twice)?;
    check(output.status.code() == Some(1), "clips of one name in two files")?;
    let output =
        ran(&folder, &["bake", file, file, "--out", &format!("{FILE}.glb/x\u{202e}.phx")])?;
    check(output.status.code() == Some(1), "a folder that is not there")
}

/// A baseline of names in CSV and one in JSON are of the same model.
pub fn in_benches() -> Tested {
    let folder = folder("hidden-benches")?;
    let file = &format!("{FILE}.gltf")[..];
    let document = model(&folder, file)?;
    let clips = names(&document, "animations")?;
    let mut joints = names(&document, "nodes")?.into_iter();
    let joint = joints.find(|n| n.starts_with("Spine")).ok_or("no spine")?;
    let small = ["--count", "1", "--threads", "1", "--seconds", "0.00001", "--tolerance", "1e6"];
    let chosen = ["bench", file, "--additive", &clips[23], "--mask", &joint];
    let bench = |more: &[&str]| shown(&folder, &[&chosen[..], &small, more].concat());
    bench(&["--json", "b.json", "--csv", "b.csv"])?;
    let csv = harmless("CSV", &fs::read(folder.join("b.csv"))?)?;
    let widths: Vec<usize> = csv.lines().map(|l| l.split(',').count()).collect();
    check(widths.len() > 3, csv.clone())?;
    let json = fs::read(folder.join("b.json"))?;
    harmless("JSON", &json)?;
    let value: Value = serde_json::from_slice(&json)?;
    check(value["model"] == file && value["rows"][0]["additive"] == clips[23], "names")?;
    for baseline in ["b.json", "b.csv"] {
        let compared = bench(&["--baseline", baseline])?;
        check(!compared.contains("differs: baseline"), compared)?;
    }
    Ok(())
}

pub fn from_arguments() -> Tested {
    let folder = folder("hidden-arguments")?;
    let evil = &format!("x{}y", HIDDEN.replace('\0', ""))[..];
    let cases: &[(&[&str], i32)] = &[
        (&[evil], 2),
        (&["info", "a", evil], 2),
        (&[&format!("--{evil}")], 2),
        (&["info", &format!("--{evil}=3")], 2),
        (&["--simd", evil, "info"], 2),
        (&["crowd", "--count", evil], 2),
        (&["crowd", "--size", evil], 2),
        (&["crowd", "--renderer", evil], 2),
        (&["pose", "--blend", &format!("Walk:0:{evil}")], 2),
        (&["pose", "--blend", &format!("Walk:{evil}:1")], 2),
        (&["pose", "--time", evil], 2),
        (&["render", "--out", "a.png", "--blend", &format!("Run:0:{evil}")], 2),
        (&["render", "--out", evil], 2),
        (&["bake", "a.glb", "--out", "x", "--shard", evil], 2),
        (&["info", evil], 1),
        (&["pose", "--clip", evil], 1),
        (&["pose", "--blend", &format!("{evil}:0:1")], 1),
        (&["bench", "--baseline", evil], 1),
        (&["bench", "--additive", evil], 1),
        (&["bench", "--mask", evil], 1),
        (&["bake", evil, "--out", "x"], 1),
        (&["merge", evil, "--out", "x.phx"], 1),
        (&["crowd", "--out", &format!("{evil}/a.png")], 1),
    ];
    let plain = ran(&folder, &["crowd", "--count", "many"])?;
    let usual = String::from_utf8_lossy(&plain.stderr).lines().count();
    for (args, code) in cases {
        let out = ran(&folder, args)?;
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        check(out.status.code() == Some(*code), format!("{args:?}: {:?} {error}", out.status))?;
        check(error.contains("\\u{202e}") && error.contains("\\n"), error.clone())?;
        // No line of its own: what the program says of a harmless one is as long.
        let most = if *code == 1 { 1 } else { usual.max(6) };
        check(error.lines().count() <= most, format!("{args:?}: {error}"))?;
        check(!error.lines().any(|l| l.starts_with('y')), error)?;
    }
    let environment = phalanx().env("PHALANX_SIMD", "m\u{202e}\n").arg("info").output()?;
    harmless("the environment", &environment.stderr).and_then(|error| {
        check(error.lines().count() == 1 && error.contains(text(Path::new("m\\u{202e}\\n"))), error)
    })
}
