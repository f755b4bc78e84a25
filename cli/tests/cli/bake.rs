//! `phalanx bake`: outputs, what is skipped, settings, and that other commands read them.

use super::support::{Tested, check, json, list, numbers, one_line, output, phalanx, run, scratch};
use libtest_mimic::Failed;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The built-in character's file.
pub fn mannequin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/mannequin.glb")
}

/// An empty folder for one test.
pub fn folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = scratch().join("phx").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Copies of the built-in character under other names.
pub fn copies(folder: &Path, count: usize) -> Result<PathBuf, Failed> {
    let inputs = folder.join("inputs");
    fs::create_dir_all(&inputs)?;
    for i in 0..count {
        fs::copy(mannequin(), inputs.join(format!("take-{i}.glb")))?;
    }
    Ok(inputs)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// `bake` as JSON.
pub fn bake(inputs: &Path, out: &Path, more: &[&str]) -> Result<Value, Failed> {
    let mut args = vec!["bake", text(inputs), "--out", text(out), "--json"];
    args.extend(more);
    json(&args)
}

/// Every file of a folder with its bytes.
pub fn contents(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, Failed> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        all.push((name, fs::read(entry.path())?));
    }
    all.sort();
    Ok(all)
}

fn skipped(summary: &Value) -> Result<usize, Failed> {
    let files = list(summary, "files")?.iter();
    Ok(files.filter(|f| f["skipped"] == true).count())
}

pub fn within_the_error() -> Tested {
    let folder = folder("within")?;
    let (small, exact) = (folder.join("small.phx"), folder.join("exact.phx"));
    let summary = bake(&mannequin(), &small, &[])?;
    let clips = list(&summary["files"][0], "clips")?;
    check(clips.len() == 11, "eleven clips")?;
    for c in clips {
        let error = c["max_error"].as_f64().ok_or("no error")?;
        check(error > 0.0 && error <= 1e-4, format!("{c}"))?;
        // At most its own error in the mean, and a tenth of the raw bytes.
        let report = &c["report"];
        check(report["mean_error"].as_f64() < Some(error), format!("{c}"))?;
        check(report["raw_bytes"].as_u64() > c["bytes"].as_u64().map(|b| 2 * b), format!("{c}"))?;
    }
    bake(&mannequin(), &exact, &["--exact"])?;
    let size = |p: &Path| Ok::<u64, Failed>(fs::metadata(p)?.len());
    check(size(&small)? < size(&exact)?, "smaller than exact")?;
    // The poses of both, by another command: joints stay where they were, to a tenth of a millimetre.
    for (clip, time) in [("Walk", "0.5"), ("Attack", "0.37"), ("Run", "0")] {
        let pose = |file: &Path| {
            let args = ["pose", text(file), "--clip", clip, "--time", time, "--json"];
            let pose = json(&args)?;
            let nodes = list(&pose, "nodes")?.iter();
            let worlds = nodes.map(|n| numbers(&n["world"]));
            Ok::<Vec<Vec<f32>>, Failed>(worlds.collect())
        };
        let (a, b) = (pose(&mannequin())?, pose(&small)?);
        check(a.len() == b.len(), "nodes")?;
        let mut worst = 0.0f32;
        for (a, b) in a.iter().zip(&b) {
            let place = |m: &[f32]| [m[12], m[13], m[14]];
            let apart = place(a).into_iter().zip(place(b)).map(|(a, b)| (a - b).abs());
            worst = apart.fold(worst, f32::max);
        }
        check(worst > 0.0 && worst < 1.05e-4, format!("{clip}: {worst}"))?;
    }
    let table = output(&["bake", text(&mannequin()), "--out", text(&small)])?;
    check(table.contains("up to date") && table.contains("clips/s"), table)
}

/// An exact bake gives other commands what the glTF file gives them, bit for bit.
pub fn read_like_gltf() -> Tested {
    let folder = folder("read")?;
    let (gltf, phx) = (mannequin(), folder.join("mannequin.phx"));
    bake(&gltf, &phx, &["--exact"])?;
    let without = |args: &[&str], keys: &[&str]| {
        let mut value = json(args)?;
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| !keys.contains(&key.as_str()));
        }
        Ok::<Value, Failed>(value)
    };
    let pose = |file: &Path| {
        let args = ["pose", text(file), "--clip", "Wave", "--time", "1.1"];
        without(&[&args[..], &["--vertices", "--json"]].concat(), &["file"])
    };
    check(pose(&gltf)? == pose(&phx)?, "pose")?;
    // A .phx file has no import report.
    let own = ["file", "library", "report"];
    let info = |file: &Path| without(&["info", text(file), "--json"], &own);
    check(info(&gltf)? == info(&phx)?, "info")?;
    let library = &json(&["info", text(&phx), "--json"])?["library"];
    check(
        library["sources"][0]["name"] == "mannequin.glb" && list(library, "clips")?.len() == 11,
        format!("{library}"),
    )?;
    check(output(&["info", text(&phx)])?.contains("baked from mannequin.glb"), "info as text")?;
    let crowd = |file: &Path, name: &str| {
        let (picture, figures) = (folder.join("crowd.png"), folder.join(name));
        let args = ["crowd", text(file), "--count", "7", "--frames", "3"];
        let out = ["--out", text(&picture), "--size", "64x64", "--json", text(&figures)];
        output(&[&args[..], &out, &["--renderer", "software"]].concat())?;
        let figures: Value = serde_json::from_slice(&fs::read(figures)?)?;
        Ok::<_, Failed>((figures["runs"][0]["palette_hash"].clone(), fs::read(picture)?))
    };
    let (a, b) = (crowd(&gltf, "a.json")?, crowd(&phx, "b.json")?);
    check(a.0.is_string() && a == b, "crowd")?;
    let render = |file: &Path| {
        let picture = folder.join("render.png");
        let args = ["render", text(file), "--clip", "Run", "--out", text(&picture)];
        output(&[&args[..], &["--size", "64x64", "--renderer", "software"]].concat())?;
        Ok::<_, Failed>(fs::read(picture)?)
    };
    check(render(&gltf)? == render(&phx)?, "render")?;
    let bench = ["--count", "2", "--threads", "1", "--seconds", "0.00001"];
    let table = output(&[&["bench", text(&phx)][..], &bench].concat())?;
    check(table.contains("mannequin.phx") && table.contains("C3"), table)
}

pub fn skips_what_is_done() -> Tested {
    let folder = folder("skips")?;
    let inputs = copies(&folder, 3)?;
    let out = folder.join("out");
    check(skipped(&bake(&inputs, &out, &[])?)? == 0, "the first time")?;
    let first = contents(&out)?;
    check(first.len() == 3, "three files")?;
    check(skipped(&bake(&inputs, &out, &[])?)? == 3, "the second time")?;
    // Other settings, another input, a file that was cut or changed: each is baked again.
    let coarse = bake(&inputs, &out, &["--max-error", "0.001"])?;
    check(skipped(&coarse)? == 0, "other settings")?;
    check(contents(&out)? != first, "other settings give other files")?;
    check(skipped(&bake(&inputs, &out, &[])?)? == 0, "the first settings")?;
    check(contents(&out)? == first, "the same bytes again")?;
    fs::write(
        inputs.join("take-1.events.json"),
        r#"{"clips": {"Walk": [{"name": "x", "time": 0.1}]}}"#,
    )?;
    check(skipped(&bake(&inputs, &out, &[])?)? == 2, "markers beside an input")?;
    fs::remove_file(inputs.join("take-1.events.json"))?;
    bake(&inputs, &out, &[])?;
    let file = out.join("take-2.phx");
    let whole = fs::read(&file)?;
    let mut damaged = whole.clone();
    // Within a clip's rows: the header does not tell.
    damaged[whole.len() / 2] ^= 1;
    for bytes in [&damaged[..], &whole[..whole.len() - 1], &[]] {
        fs::write(&file, bytes)?;
        check(skipped(&bake(&inputs, &out, &[])?)? == 2, "a damaged output")?;
        check(fs::read(&file)? == whole, "it is whole again")?;
    }
    Ok(())
}

/// Kills a bake once something of it is on the disk; runs it again.
fn killed(out: &Path, args: &[&str], begun: impl Fn() -> bool) -> Result<Value, Failed> {
    let mut child = phalanx().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let started = Instant::now();
    while !begun() {
        let waited = started.elapsed() > Duration::from_secs(120);
        if waited || child.try_wait()?.is_some() {
            child.kill()?;
            return Err(format!("nothing to kill: {}", out.display()).into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL: no handler runs.
    child.kill()?;
    check(!child.wait()?.success(), "it had ended before it was killed")?;
    json(args)
}

pub fn killed_in_the_middle() -> Tested {
    let folder = folder("killed")?;
    let inputs = copies(&folder, 8)?;
    let (out, calm) = (folder.join("out"), folder.join("calm"));
    bake(&inputs, &calm, &["--jobs", "1"])?;
    let args = ["bake", text(&inputs), "--out", text(&out), "--json", "--jobs", "1"];
    let finished = || {
        let names = fs::read_dir(&out).into_iter().flatten().flatten();
        let mut names = names.map(|e| e.file_name());
        names.any(|n| n.to_string_lossy().ends_with(".phx"))
    };
    let summary = killed(&out, &args, finished)?;
    let skipped = skipped(&summary)?;
    check((1..8).contains(&skipped), format!("{skipped} of 8 were skipped"))?;
    check(contents(&out)? == contents(&calm)?, "files differ")?;

    let (whole, calm) = (folder.join("whole.phx"), folder.join("calm.phx"));
    bake(&inputs, &calm, &["--prefix"])?;
    let args = ["bake", text(&inputs), "--out", text(&whole), "--json", "--prefix"];
    // A library that is half written has no name yet.
    let half = folder.join(".whole.phx.partial");
    let begun = || fs::metadata(&half).is_ok_and(|m| m.len() > 0);
    let old = b"what was there before";
    fs::write(&whole, old)?;
    killed(&whole, &args, || {
        let there = fs::read(&whole).is_ok_and(|bytes| bytes == old);
        begun() && there
    })?;
    check(fs::read(&whole)? == fs::read(&calm)?, "libraries differ")?;
    check(!half.exists(), "the half file was left")
}

pub fn joints_of_their_own() -> Tested {
    let folder = folder("quality")?;
    let settings = folder.join("quality.json");
    let (plain, fine) = (folder.join("plain.phx"), folder.join("fine.phx"));
    let coarse = ["--max-error", "0.002", "--form", "coded"];
    bake(&mannequin(), &plain, &coarse)?;
    fs::write(&settings, r#"{"LeftHand": {"max_error": 0.00005, "shell": 0.1}}"#)?;
    let more = [&coarse[..], &["--quality", text(&settings)]].concat();
    bake(&mannequin(), &fine, &more)?;
    let bytes = |p: &Path| -> Result<u64, Failed> {
        let all = json(&["info", text(p), "--json"])?;
        let clips = list(&all["library"], "clips")?.iter();
        Ok(clips.filter_map(|c| c["bytes"].as_u64()).sum())
    };
    check(bytes(&fine)? > bytes(&plain)?, "a finer hand takes no more bytes")?;
    // The file says enough to be measured again.
    let source = mannequin();
    output(&["verify", text(&fine), "--source", text(&source)])?;
    fs::write(&settings, r#"{"LeftHnad": {"max_error": 0.00005}}"#)?;
    let args = ["bake", text(&source), "--out", text(&fine)];
    let failed = run(&[&args[..], &more].concat());
    let words = ["mannequin.glb", "\"LeftHnad\"; did you mean \"LeftHand\""];
    one_line(&failed, &words)?;
    let cases: [(&str, &[&str]); 5] = [
        (r#"{"LeftHand": {"size": 1}}"#, &["quality.json", "size"]),
        (r#"{"LeftHand": {"shell": -1}}"#, &["quality.json", "-1: expected metres above 0"]),
        (
            r#"{"LeftHand": {"shell": 1}, "LeftHand": {"shell": 2}}"#,
            &["quality.json", "\"LeftHand\"", "twice"],
        ),
        ("[]", &["quality.json", "an object with one entry per joint"]),
        (
            r#"{"LeftHand": {"shell": 1}, "LeftForeArm/LeftHand": {"shell": 2}}"#,
            &["mannequin.glb", "\"LeftHand\"", "\"LeftForeArm/LeftHand\""],
        ),
    ];
    for (quality, words) in cases {
        fs::write(&settings, quality)?;
        one_line(&run(&[&args[..], &more].concat()), words)?;
    }
    Ok(())
}

/// A length in per cent has the effect of the same length in metres.
pub fn per_cent_of_the_size() -> Tested {
    let folder = folder("per-cent")?;
    let (relative, metres) = (folder.join("relative.phx"), folder.join("metres.phx"));
    let source = mannequin();
    bake(&source, &relative, &["--max-error", "0.01%", "--shell", "2%"])?;
    let clips = |p: &Path| -> Result<Vec<Value>, Failed> {
        let all = json(&["info", text(p), "--json"])?;
        Ok(list(&all["library"], "clips")?.to_vec())
    };
    let made = clips(&relative)?;
    let shell = made[0]["shell"].as_f64().ok_or("no shell")?;
    // The mannequin is 1.8 m tall; its joints lie between its ankles and its head.
    check((0.02 * 1.2..0.02 * 1.85).contains(&shell), format!("{shell}"))?;
    for clip in &made {
        let error = clip["max_error"].as_f64().ok_or("no error")?;
        check(error > 0.0 && error <= shell / 200.0, format!("{clip}"))?;
    }
    output(&["verify", text(&relative), "--source", text(&source)])?;
    let (error, shell) = ((shell / 200.0).to_string(), shell.to_string());
    bake(&source, &metres, &["--max-error", &error, "--shell", &shell])?;
    for (clip, same) in made.iter().zip(clips(&metres)?) {
        let bytes = |c: &Value| c["bytes"].as_f64().unwrap_or(0.0);
        check((bytes(clip) / bytes(&same) - 1.0).abs() < 0.01, format!("{clip} {same}"))?;
    }
    let bad = run(&["bake", text(&source), "--out", text(&metres), "--shell", "0%"]);
    check(bad.status.code() == Some(2), "0% of the size")?;
    let words = String::from_utf8_lossy(&bad.stderr);
    check(words.contains("or per cent of the model's size"), words.into_owned())
}

pub fn up() -> Tested {
    let folder = folder("up")?;
    let (y, z) = (folder.join("y.phx"), folder.join("z.phx"));
    bake(&mannequin(), &y, &["--exact"])?;
    bake(&mannequin(), &z, &["--exact", "--up", "z"])?;
    let heads = |file: &Path| {
        let pose = json(&["pose", text(file), "--clip", "Idle", "--time", "0", "--json"])?;
        let nodes = list(&pose, "nodes")?.iter();
        let head = nodes.clone().find(|n| n["name"] == "Head");
        let m = numbers(&head.ok_or("no head")?["world"]);
        Ok::<_, Failed>([m[12], m[13], m[14]])
    };
    let ([x, y, z], turned) = (heads(&y)?, heads(&z)?);
    check(y > 1.0, "the head is up")?;
    // A quarter turn around x: y becomes z, and z becomes -y.
    let apart = [x - turned[0], -z - turned[1], y - turned[2]];
    check(apart.iter().all(|d| d.abs() < 1e-5), format!("{apart:?}"))?;
    output(&["verify", text(&folder.join("z.phx")), "--source", text(&mannequin())]).map(|_| ())
}

pub fn refusals() -> Tested {
    let folder = folder("refusals")?;
    let (input, out) = (mannequin(), folder.join("out.phx"));
    let (input, out) = (text(&input), text(&out));
    let usage: &[&[&str]] = &[
        &["bake"],
        &["bake", input],
        &["bake", input, "--out", out, "--max-error", "0"],
        &["bake", input, "--out", out, "--max-error", "nan"],
        &["bake", input, "--out", out, "--shell", "-1"],
        &["bake", input, "--out", out, "--max-error", "%"],
        &["bake", input, "--out", out, "--up", "x"],
        &["bake", input, "--out", out, "--form", "zip"],
        &["bake", input, "--out", out, "--shard", "2/2"],
        &["bake", input, "--out", out, "--jobs", "0"],
        &["bake", input, "--out", out, "--exact", "--max-error", "1"],
        &["merge", input],
        &["verify"],
    ];
    for args in usage {
        let code = run(args).status.code();
        check(code == Some(2), format!("{args:?}: {code:?}"))?;
    }
    // Only .phx files are written, so that other names are mistakes.
    let (other, dotted) = (folder.join("x.glb"), folder.join("v1.2"));
    for command in ["bake", "merge"] {
        let made = run(&[command, input, "--out", text(&other)]);
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        let code = made.status.code();
        check(code == Some(2), format!("{command}: {code:?}"))?;
        check(said.contains("only .phx files are written"), said)?;
        check(!other.exists(), format!("{command} made x.glb"))?;
    }
    check(run(&["bake", input, "--out", text(&dotted)]).status.success(), "v1.2 is a folder")?;
    fs::remove_dir_all(&dotted)?;
    let empty = folder.join("empty");
    fs::create_dir_all(&empty)?;
    let refused = |args: &[&str], parts: &[&str]| one_line(&run(args), parts);
    refused(
        &["bake", text(&empty), "--out", out],
        &["empty", "no .gltf, .glb, .vrm, .vrma or .bvh file found"],
    )?;
    refused(&["bake", "missing.glb", "--out", out], &["missing.glb"])?;
    let pattern = folder.join("[");
    refused(&["bake", text(&pattern), "--out", out], &["["])?;
    let damaged = folder.join("damaged.glb");
    fs::write(&damaged, b"glTF is not this")?;
    refused(&["bake", text(&damaged), "--out", out], &["damaged.glb"])?;
    check(fs::read_dir(&folder)?.count() == 2, "a failure leaves files")?;
    // Clips of one name, and inputs of one name.
    let inputs = copies(&folder, 2)?;
    refused(&["bake", text(&inputs), "--out", out], &["take-1.glb", "take-0.glb", "--prefix"])?;
    fs::create_dir_all(inputs.join("more"))?;
    fs::copy(mannequin(), inputs.join("more/take-1.glb"))?;
    let all = folder.join("all");
    let (one, other) = (inputs.join("take-1.glb"), inputs.join("more/take-1.glb"));
    refused(
        &["bake", text(&one), text(&other), "--out", text(&all)],
        &["more/take-1.glb", "inputs/take-1.glb", "take-1.phx"],
    )
}
