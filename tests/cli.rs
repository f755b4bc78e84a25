//! The `phalanx` binary as a process: outputs, exit codes, one line per error.

mod common;

use common::{needed, trial};
use libtest_mimic::{Failed, Trial};
use phalanx::offline::{ImportOptions, import_path, mannequin};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

type Tested = Result<(), Failed>;
type Test = (&'static str, fn() -> Tested);

fn main() {
    let plain: Vec<Test> = vec![
        ("help_and_version", help_and_version),
        ("usage_errors_exit_with_2", usage_errors),
        ("files_that_are_no_models", files_that_are_no_models),
        ("unknown_clips_are_named_with_what_there_is", unknown_clips),
        ("outputs_that_cannot_be_written", unwritable_outputs),
        ("crowds_beyond_memory", crowds_beyond_memory),
        ("simd_levels", simd_levels),
        ("a_closed_pipe_is_no_error", closed_pipe),
        ("a_full_disk_is_one_line", full_disk),
        ("pose_json_reads_back_exactly", pose_reads_back_exactly),
        ("pose_loops_and_blends", pose_loops_and_blends),
        ("pose_tables", pose_tables),
        ("info_json_and_text", info_json_and_text),
        ("crowd_draws_and_reports", crowd_draws_and_reports),
        ("crowd_without_an_adapter", crowd_without_an_adapter),
        (
            "crowd_keeps_what_it_could_not_replace",
            crowd_keeps_old_files,
        ),
        ("crowds_of_any_size", crowds_of_any_size),
        ("crowds_of_what_cannot_be_drawn", crowds_without_meshes),
    ];
    let mut trials: Vec<Trial> = plain.into_iter().map(|(n, t)| trial(n, &[], t)).collect();
    trials.push(trial(
        "pose_of_files",
        &["bl_morphbones.glb", "robot.glb"],
        pose_of_files,
    ));
    for file in [
        "Fox.glb",
        "MorphStressTest.gltf",
        "SimpleSkin.gltf",
        "greenman_hat.glb",
        "pab.glb",
    ] {
        trials.push(trial(
            format!("crowd_and_info_of_{file}"),
            &[file],
            move || any_model(file),
        ));
    }
    common::run(trials);
}

fn phalanx() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phalanx"));
    command.env_remove("PHALANX_SIMD").current_dir(scratch());
    command
}

fn run(args: &[&str]) -> Output {
    phalanx()
        .args(args)
        .output()
        .expect("the binary was built for this test")
}

/// A folder for files of these tests.
fn scratch() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    fs::create_dir_all(&folder).expect("cargo gives tests a folder that can be written");
    folder
}

fn check(ok: bool, message: impl Into<String>) -> Tested {
    if ok {
        Ok(())
    } else {
        Err(message.into().into())
    }
}

/// Runs, expects success, and gives standard output.
fn output(args: &[&str]) -> Result<String, Failed> {
    let out = run(args);
    let error = String::from_utf8_lossy(&out.stderr);
    check(out.status.success(), format!("{args:?} failed: {error}"))?;
    Ok(String::from_utf8(out.stdout)?)
}

fn json(args: &[&str]) -> Result<Value, Failed> {
    Ok(serde_json::from_str(&output(args)?)?)
}

/// Expects exit status 1 and exactly one line that begins `phalanx: ` and holds all of `parts`.
fn one_line(out: &Output, parts: &[&str]) -> Tested {
    let error = String::from_utf8(out.stderr.clone())?;
    check(
        out.status.code() == Some(1),
        format!("{:?}: {error}", out.status),
    )?;
    let line = error.strip_suffix('\n').unwrap_or("no newline");
    check(!line.contains('\n'), format!("several lines: {error}"))?;
    check(line.starts_with("phalanx: "), error.clone())?;
    for part in parts {
        check(line.contains(part), format!("no {part:?} in {error}"))?;
    }
    check(out.stdout.is_empty(), "an error printed to standard output")
}

fn help_and_version() -> Tested {
    let version = output(&["--version"])?;
    check(
        version == concat!("phalanx ", env!("CARGO_PKG_VERSION"), "\n"),
        version,
    )?;
    for args in [
        &["--help"][..],
        &["crowd", "--help"],
        &["info", "--help"],
        &["pose", "--help"],
    ] {
        let help = output(args)?;
        check(
            help.contains("Examples:"),
            format!("{args:?} shows no examples"),
        )?;
        check(
            help.contains("--simd"),
            format!("{args:?} does not show --simd"),
        )?;
    }
    Ok(())
}

fn usage_errors() -> Tested {
    let cases: &[&[&str]] = &[
        &[],
        &["march"],
        &["--simd", "mmx", "info"],
        &["crowd", "--count", "0"],
        &["crowd", "--count", "many"],
        &["crowd", "--count", "-5"],
        &["crowd", "--frames", "0"],
        &["crowd", "--threads", "0"],
        &["crowd", "--threads", "100000"],
        &["crowd", "--size", "640"],
        &["crowd", "--size", "0x480"],
        &["crowd", "--size", "16384x16384"],
        &["crowd", "--renderer", "crayon"],
        &["info", "a.glb", "b.glb"],
        &["pose", "--loop", "twice"],
        &["pose", "--time", "soon"],
        &["pose", "--time", "inf"],
        &["pose", "--blend", "Walk"],
        &["pose", "--blend", "Walk:0.5"],
        &["pose", "--blend", "Walk:0.5:-1"],
        &["pose", "--blend", "Walk:0:1", "--clip", "Walk"],
        &["pose", "--blend", "Walk:0:1", "--time", "1"],
    ];
    for args in cases {
        let out = run(args);
        let error = String::from_utf8_lossy(&out.stderr);
        check(
            out.status.code() == Some(2),
            format!("{args:?}: {:?} {error}", out.status),
        )?;
        check(!error.contains("panicked"), error)?;
    }
    Ok(())
}

fn files_that_are_no_models() -> Tested {
    let folder = scratch();
    fs::write(folder.join("empty.glb"), b"")?;
    fs::write(folder.join("text.gltf"), b"no glTF")?;
    fs::write(
        folder.join("cut.glb"),
        &phalanx::offline::MANNEQUIN[0].1[..5000],
    )?;
    fs::write(
        folder.join("future.gltf"),
        br#"{"asset":{"version":"9.0"}}"#,
    )?;
    for (file, part) in [
        ("missing.glb", ""),
        (".", ""),
        ("empty.glb", "empty"),
        ("text.gltf", ""),
        ("cut.glb", "5000"),
        ("future.gltf", "9.0"),
    ] {
        one_line(&run(&["info", file]), &[file, part])?;
        one_line(&run(&["info", file, "--json"]), &[file, part])?;
        one_line(&run(&["pose", file, "--json"]), &[file, part])?;
        one_line(
            &run(&["crowd", "--model", file, "--out", "never.png"]),
            &[file, part],
        )?;
    }
    check(
        !folder.join("never.png").exists(),
        "a picture was made of nothing",
    )?;
    // A name with a line break is still one line.
    one_line(&run(&["info", "two\nlines.glb"]), &["two\\nlines.glb"])
}

fn unknown_clips() -> Tested {
    for args in [
        &["pose", "--clip", "Moonwalk"][..],
        &["pose", "--clip", "11"],
        &["pose", "--clip=-1"],
        &["pose", "--blend", "Walk:0:1", "--blend", "Moonwalk:0:1"],
    ] {
        let last = args.last().map_or("", |a| a.trim_start_matches("--clip="));
        let wanted = last.split(':').next().unwrap_or(last);
        one_line(
            &run(args),
            &[
                "built-in character",
                wanted,
                "1 \"Walk\"",
                "7 \"LookAround\"",
            ],
        )?;
    }
    Ok(())
}

fn unwritable_outputs() -> Tested {
    let small = ["crowd", "--count", "2", "--frames", "1", "--size", "32x32"];
    for (option, path) in [
        ("--out", "no/such/folder/a.png"),
        ("--out", "."),
        ("--json", "."),
    ] {
        let mut args = small.to_vec();
        args.extend(["--out", "made.png", option, path]);
        if option == "--out" {
            args.drain(7..9);
        }
        one_line(&run(&args), &[path, "cannot be written"])?;
    }
    check(
        !scratch().join("made.png").exists(),
        "a file is left of a run that failed",
    )
}

fn crowds_beyond_memory() -> Tested {
    for count in ["100000000", "4294967296", "18446744073709551615"] {
        let out = run(&["crowd", "--count", count, "--out", "beyond.png"]);
        one_line(&out, &[count, "MAX_CROWD_BYTES", "8589934592"])?;
    }
    check(
        !scratch().join("beyond.png").exists(),
        "a picture of a crowd that was refused",
    )
}

fn simd_levels() -> Tested {
    let with = |level: &str| phalanx().env("PHALANX_SIMD", level).arg("info").output();
    one_line(&with("mmx")?, &["mmx", "portable"])?;
    check(
        with("portable")?.status.success(),
        "PHALANX_SIMD=portable was refused",
    )?;
    check(
        with("")?.status.success(),
        "an empty PHALANX_SIMD was refused",
    )?;
    // The option counts, whatever the environment says.
    let both = phalanx()
        .env("PHALANX_SIMD", "mmx")
        .args(["--simd", "portable", "info"])
        .output()?;
    check(
        both.status.success(),
        "--simd did not override PHALANX_SIMD",
    )
}

fn closed_pipe() -> Tested {
    for args in [
        &["pose", "--vertices", "--json"][..],
        &["pose", "--clip", "Run"],
    ] {
        let mut child = phalanx()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut some = [0; 10];
        child
            .stdout
            .take()
            .ok_or("no pipe")?
            .read_exact(&mut some)?;
        let out = child.wait_with_output()?;
        let error = String::from_utf8_lossy(&out.stderr);
        check(
            out.status.success() && error.is_empty(),
            format!("{:?} {error}", out.status),
        )?;
    }
    Ok(())
}

fn full_disk() -> Tested {
    // Only Linux has a device that is always full.
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return Ok(());
    };
    let out = phalanx().args(["pose", "--json"]).stdout(full).output()?;
    one_line(&out, &["standard output"])
}

/// The numbers at a path of keys and indices, flattened, as f32.
fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Number(n) => vec![n.as_f64().unwrap_or(f64::NAN) as f32],
        _ => vec![f32::NAN],
    }
}

fn same_bits(what: &str, found: &Value, expected: impl IntoIterator<Item = f32>) -> Tested {
    let (found, expected) = (numbers(found), Vec::from_iter(expected));
    check(
        found.len() == expected.len(),
        format!("{what}: {} numbers for {}", found.len(), expected.len()),
    )?;
    for (a, b) in found.iter().zip(&expected) {
        check(
            a.to_bits() == b.to_bits(),
            format!("{what}: {a:?} is not {b:?}"),
        )?;
    }
    Ok(())
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, Failed> {
    value[key]
        .as_array()
        .ok_or_else(|| format!("no list {key}: {:?}", value.get(key)).into())
}

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
        check(
            entry["name"].as_str() == node.name.as_deref(),
            format!("name of {entry}"),
        )?;
        let parent = node.parent.map_or(-1, |p| rig.nodes()[p].source as i64);
        check(
            entry["parent"].as_i64() == Some(parent),
            format!("parent of {entry}"),
        )?;
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
            let node = rig
                .nodes()
                .iter()
                .find(|n| n.joint == Some(skin.joints()[slot]));
            let source = node.map(|n| n.source as u64);
            check(
                source.is_some() && joint.as_u64() == source,
                format!("slot {slot}"),
            )?;
            let listed = list(document, "nodes")?.iter().any(|n| n["node"] == *joint);
            check(listed, format!("joint {joint} is not among the nodes"))?;
        }
        let palette = pose.palettes[s].iter().flat_map(|m| m.to_cols_array());
        same_bits("palette", &entry["palette"], palette)?;
    }
    let morphs = list(document, "morph")?;
    check(
        morphs.len() == rig.morphs().len(),
        "nodes with morph weights",
    )?;
    for entry in morphs {
        same_bits(
            "weights",
            &entry["weights"],
            pose.morph_weights(rig, at(entry)?),
        )?;
    }
    let Some(primitives) = document.get("primitives") else {
        return Ok(());
    };
    let posed = pose.vertices(rig)?;
    let primitives = primitives.as_array().ok_or("primitives are no list")?;
    check(primitives.len() == posed.len(), "number of primitives")?;
    for (entry, posed) in primitives.iter().zip(&posed) {
        let mesh = &rig.meshes()[posed.mesh];
        check(at(entry)? == mesh.node, "node of a primitive")?;
        check(
            entry["mesh"].as_u64() == Some(mesh.source as u64),
            "mesh of a primitive",
        )?;
        check(
            entry["primitive"].as_u64() == Some(posed.primitive as u64),
            "its index",
        )?;
        let skin = mesh.rigid_slot.is_none().then_some(mesh.skin as u64);
        check(
            entry["skin"].as_u64() == skin,
            format!("skin {} for {skin:?}", entry["skin"]),
        )?;
        same_bits(
            "positions",
            &entry["positions"],
            posed.positions.iter().flatten().copied(),
        )?;
    }
    Ok(())
}

fn pose_reads_back_exactly() -> Tested {
    let rig = mannequin()?;
    let run = rig.find_clip("Run").ok_or("no clip Run")?;
    let action = |clip, time, weight| PoseAction { clip, time, weight };
    let document = json(&[
        "pose",
        "--clip",
        "Run",
        "--time",
        "0.123",
        "--vertices",
        "--json",
    ])?;
    check(
        document["clip"] == "Run" && document["index"] == 3,
        "which clip",
    )?;
    same_bits("time", &document["time"], [0.123])?;
    same_bits(
        "duration",
        &document["duration"],
        [rig.clips()[run].duration()],
    )?;
    compare(&document, &rig, &[action(run, 0.123, 1.0)])?;
    let nodes = list(&document, "nodes")?;
    check(
        nodes.len() == rig.nodes().len(),
        "the built-in character is one scene",
    )?;
    let order: Vec<u64> = nodes.iter().filter_map(|n| n["node"].as_u64()).collect();
    check(order.is_sorted(), "nodes are not in the file's order")?;

    let rest = json(&["pose", "--json"])?;
    check(
        rest["clip"].is_null() && rest.get("primitives").is_none(),
        "the rest pose",
    )?;
    compare(&rest, &rig, &[])?;

    let walk = rig.find_clip("Walk").ok_or("no clip Walk")?;
    let blend = [
        "pose",
        "--blend",
        "Walk:0.25:0.75",
        "--blend",
        "3:0.1:0.25",
        "--json",
    ];
    let blend = json(&blend)?;
    check(
        blend["clip"].is_null() && blend["time"].is_null(),
        "a blend is not one clip",
    )?;
    check(blend["blend"][1]["clip"] == "Run", "the second action")?;
    compare(
        &blend,
        &rig,
        &[action(walk, 0.25, 0.75), action(run, 0.1, 0.25)],
    )
}

fn pose_loops_and_blends() -> Tested {
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
        check(
            (found - expected).abs() < 1e-6,
            format!("{args:?}: {found} for {expected}"),
        )?;
    }
    // One action of weight 1 is the clip; the loop mode holds for blends too.
    let single = json(&[
        "pose",
        "--blend",
        "Walk:1.25:1",
        "--loop",
        "repeat",
        "--json",
    ])?;
    let clip = json(&["pose", "--clip", "Walk", "--time", "0.25", "--json"])?;
    check(single == clip, "a blend of one clip is not the clip")?;
    // Half of a clip is half-way to the rest pose; no weight at all is the rest pose.
    let none = json(&["pose", "--blend", "Walk:0.25:0", "--json"])?;
    let rest = json(&["pose", "--json"])?;
    check(
        none["nodes"] == rest["nodes"],
        "an action without weight moves something",
    )?;
    let half = json(&["pose", "--blend", "Walk:0.25:0.5", "--json"])?;
    let hips = |d: &Value| numbers(&d["nodes"][1]["local"])[1];
    let middle = (hips(&clip) + hips(&rest)) * 0.5;
    check(
        (hips(&half) - middle).abs() < 1e-6,
        "half a weight is not half the way",
    )
}

fn pose_tables() -> Tested {
    let text = output(&["pose", "--clip", "Wave", "--time", "0.5", "--vertices"])?;
    for part in [
        "clip \"Wave\" at 0.5 of 2.8 s",
        "\"LeftHandThumb1\"",
        "Skins",
        "Deformed primitives",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    check(
        output(&["pose"])?.contains("rest pose"),
        "the rest pose is not named",
    )
}

fn info_json_and_text() -> Tested {
    let rig = mannequin()?;
    let info = json(&["info", "--json"])?;
    check(info["file"] == "built-in character", "file")?;
    let joints = list(&info["skeleton"], "joints")?;
    check(joints.len() == 47 && joints[0]["parent"] == -1, "joints")?;
    for (i, joint) in joints.iter().enumerate() {
        check(
            joint["name"] == rig.skeleton().names()[i].as_str(),
            format!("joint {i}"),
        )?;
        check(
            joint["parent"].as_i64() < Some(i as i64),
            format!("parent of joint {i}"),
        )?;
    }
    let clips = list(&info, "clips")?;
    check(clips.len() == 11, "clips")?;
    for (clip, c) in clips.iter().zip(rig.clips()) {
        check(clip["name"] == c.name(), "name of a clip")?;
        same_bits("duration", &clip["duration"], [c.duration()])?;
        check(clip["keys"].as_u64() == Some(c.key_count() as u64), "keys")?;
        check(clip["bytes"].as_u64() == Some(c.bytes() as u64), "bytes")?;
        check(
            clip["tracks"]["rotation"]["animated"].as_u64() > Some(0),
            "tracks",
        )?;
        let timelines = &clip["timelines"];
        let sum = timelines["regular"]
            .as_u64()
            .zip(timelines["irregular"].as_u64());
        let expected = Some(c.timelines().len() as u64);
        check(sum.map(|(a, b)| a + b) == expected, "timelines")?;
    }
    check(info["levels_of_detail"] == 3, "levels of detail")?;
    let triangles: Vec<Option<u64>> = list(&info, "meshes")?
        .iter()
        .map(|m| m["triangles"].as_u64())
        .collect();
    check(
        triangles == [Some(3062), Some(894), Some(262)],
        format!("{triangles:?}"),
    )?;
    for key in ["skins", "morphs", "materials", "images", "report"] {
        list(&info, key)?;
    }
    let text = output(&["info"])?;
    for part in [
        "└─ Root › Hips",
        "├─ Spine",
        "47 joints",
        "\"Walk\"",
        "3,062",
        "Import report",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    Ok(())
}

/// Width and height of a PNG.
fn png_size(path: &Path) -> Result<(u32, u32), Failed> {
    let bytes = fs::read(path)?;
    check(
        bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 24,
        "no PNG",
    )?;
    let number = |at: usize| {
        bytes[at..at + 4]
            .iter()
            .fold(0, |n, &b| n << 8 | u32::from(b))
    };
    Ok((number(16), number(20)))
}

fn crowd_draws_and_reports() -> Tested {
    let folder = scratch();
    let table = output(&[
        "crowd",
        "--count",
        "50",
        "--frames",
        "3",
        "--threads",
        "2",
        "--out",
        "fifty.png",
        "--json",
        "fifty.json",
        "--size",
        "320x180",
    ])?;
    check(
        png_size(&folder.join("fifty.png"))? == (320, 180),
        "size of the picture",
    )?;
    for part in [
        "characters",
        "50",
        "47",
        "2 threads",
        "1 thread",
        "median frame",
        "p99 frame",
        "per character",
        "instruction set",
        "palette hash",
        "drawn by",
        "fifty.png",
    ] {
        check(table.contains(part), format!("no {part:?} in\n{table}"))?;
    }
    let figures: Value = serde_json::from_slice(&fs::read(folder.join("fifty.json"))?)?;
    check(
        figures["characters"] == 50 && figures["joints"] == 47,
        "figures",
    )?;
    check(
        figures["frames"] == 3 && figures["clips"].as_array().map(Vec::len) == Some(8),
        "clips",
    )?;
    let runs = list(&figures, "runs")?;
    check(
        runs.len() == 2 && runs[0]["threads"] == 2 && runs[1]["threads"] == 1,
        "runs",
    )?;
    for run in runs {
        check(run["bytes_per_frame"] == 50 * 47 * 48, "bytes of a frame")?;
        let median = run["median_ns"].as_f64().unwrap_or(0.0);
        let each = run["ns_per_character"].as_f64().unwrap_or(0.0);
        check(
            median > 0.0 && (each * 50.0 - median).abs() < 1e-6 * median,
            "times",
        )?;
        check(run["p99_ns"].as_f64() >= run["median_ns"].as_f64(), "p99")?;
    }
    check(
        runs[0]["palette_hash"] == runs[1]["palette_hash"],
        "bits differ with the threads",
    )?;
    check(
        table.contains(runs[0]["palette_hash"].as_str().unwrap_or("-")),
        "hash in the table",
    )?;
    check(figures["picture"]["width"] == 320, "picture")?;
    // The same crowd again has the same bits; one thread alone is one column.
    let table = output(&[
        "crowd",
        "--count",
        "50",
        "--frames",
        "3",
        "--threads",
        "1",
        "--out",
        "fifty.png",
        "--size",
        "32x18",
        "--renderer",
        "software",
    ])?;
    check(
        table.contains(runs[0]["palette_hash"].as_str().unwrap_or("-")),
        "another hash",
    )?;
    check(
        !table.contains("threads\u{20}│") && table.contains("software"),
        table,
    )?;
    check(
        png_size(&folder.join("fifty.png"))? == (32, 18),
        "the picture was not replaced",
    )
}

fn crowd_without_an_adapter() -> Tested {
    let mut command = phalanx();
    command
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .env("WGPU_BACKEND", "vulkan");
    command.env("VK_DRIVER_FILES", "/nonexistent.json");
    let small = [
        "crowd", "--count", "5", "--frames", "2", "--size", "64x64", "--out", "five.png",
    ];
    let out = command.args(small).output()?;
    let text = String::from_utf8(out.stdout)?;
    check(out.status.success(), String::from_utf8_lossy(&out.stderr))?;
    check(
        !cfg!(target_os = "linux") || text.contains("software"),
        text,
    )?;
    check(
        png_size(&scratch().join("five.png"))? == (64, 64),
        "size of the picture",
    )
}

fn crowd_keeps_old_files() -> Tested {
    let path = scratch().join("old.png");
    fs::write(&path, b"kept")?;
    let out = run(&["crowd", "--model", "missing.glb", "--out", "old.png"]);
    one_line(&out, &["missing.glb"])?;
    let out = run(&[
        "crowd",
        "--count",
        "3",
        "--out",
        "old.png",
        "--json",
        "no/folder.json",
    ]);
    one_line(&out, &["no/folder.json"])?;
    check(
        fs::read(&path)? == b"kept",
        "a run that failed has changed the old picture",
    )
}

/// A glTF file of one triangle (unless `nodes` say otherwise) that a node scales.
fn write_gltf(name: &str, nodes: &str) -> Tested {
    // Corners (0, 0, 0), (1, 0, 0) and (0, 1, 0).
    let bytes = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":{nodes},
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3",
            "min":[0,0,0],"max":[1,1,0]}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}}],
        "buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{bytes}"}}]}}"#
    );
    fs::write(scratch().join(name), text)?;
    Ok(())
}

fn crowds_of_any_size() -> Tested {
    for scale in ["1e-12", "0.01", "1", "30000", "1e12"] {
        write_gltf(
            "scaled.gltf",
            &format!(r#"[{{"mesh":0,"scale":[{scale},{scale},{scale}]}}]"#),
        )?;
        let args = [
            "crowd",
            "--model",
            "scaled.gltf",
            "--count",
            "4",
            "--frames",
            "1",
            "--size",
            "64x48",
            "--out",
            "scaled.png",
            "--json",
            "scaled.json",
            "--renderer",
            "software",
        ];
        output(&args)?;
        let figures: Value = serde_json::from_slice(&fs::read(scratch().join("scaled.json"))?)?;
        let (seen, triangles) = (
            &figures["picture"]["characters"],
            &figures["picture"]["triangles"],
        );
        check(
            seen == 4 && triangles == 4,
            format!("{scale}: {seen} in view, {triangles} triangles"),
        )?;
    }
    Ok(())
}

fn crowds_without_meshes() -> Tested {
    write_gltf(
        "bare.gltf",
        r#"[{"name":"a","children":[1]},{"name":"b","translation":[0,1,0]}]"#,
    )?;
    let args = [
        "crowd",
        "--model",
        "bare.gltf",
        "--count",
        "4",
        "--frames",
        "1",
        "--size",
        "64x48",
        "--out",
        "bare.png",
    ];
    check(
        output(&args)?.contains(" 0 triangles"),
        "triangles of nothing",
    )?;
    check(
        output(&["info", "bare.gltf"])?.contains("No meshes"),
        "meshes of nothing",
    )?;
    let pose = json(&["pose", "bare.gltf", "--json", "--vertices"])?;
    check(
        list(&pose, "nodes")?.len() == 2 && list(&pose, "primitives")?.is_empty(),
        "nodes",
    )?;
    same_bits("world", &pose["nodes"][1]["world"][13], [1.0])
}

fn pose_of_files() -> Tested {
    for (name, clip, time) in [("bl_morphbones.glb", "Talk", 0.4), ("robot.glb", "2", 1.5)] {
        let path = needed(name)?;
        let rig = import_path(&path, &ImportOptions::default())?;
        let rig = rig.rigs.into_iter().next().ok_or("no rig")?;
        let index = rig.find_clip(clip).map_or_else(|| clip.parse(), Ok)?;
        let path = path.to_string_lossy();
        let seconds = time.to_string();
        let args = [
            "pose",
            &path,
            "--clip",
            clip,
            "--time",
            &seconds,
            "--vertices",
            "--json",
        ];
        let action = PoseAction {
            clip: index,
            time,
            weight: 1.0,
        };
        compare(&json(&args)?, &rig, &[action])?;
    }
    Ok(())
}

fn any_model(file: &str) -> Tested {
    let path = needed(file)?;
    let path = path.to_string_lossy();
    let info = json(&["info", &path, "--json"])?;
    check(!list(&info, "meshes")?.is_empty(), "no meshes")?;
    check(
        output(&["info", &path])?.contains("Import report"),
        "no report",
    )?;
    let png = format!("{file}.png");
    let args = [
        "crowd",
        "--model",
        &path,
        "--count",
        "9",
        "--frames",
        "2",
        "--size",
        "96x64",
        "--out",
        &png,
        "--renderer",
        "software",
    ];
    let table = output(&args)?;
    check(table.contains("software"), table.clone())?;
    check(
        !table.contains(" 0 characters"),
        format!("nobody is in view:\n{table}"),
    )?;
    check(
        png_size(&scratch().join(&png))? == (96, 64),
        "size of the picture",
    )
}
