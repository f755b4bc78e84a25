//! Inputs that are longer, slower or larger than expected: one short line, and status 1.

use super::bake::{folder, mannequin, text};
#[cfg(target_os = "linux")]
use super::support::phalanx_in;
use super::support::{Tested, check, one_line, phalanx, run};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

/// The most bytes of what is said about one name, however long it is.
const MOST: usize = 8 << 10;

/// A name of a megabyte.
fn long() -> String {
    "n".repeat(1 << 20)
}

/// A chain of two joints of this name in a .bvh.
fn take(joint: &str, frames: usize) -> String {
    let mut text = format!(
        "HIERARCHY\nROOT {joint}\n{{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
         End Site\n{{\nOFFSET 0 1 0\n}}\n}}\nMOTION\nFrames: {frames}\nFrame Time: 0.0083333\n"
    );
    for frame in 0..frames {
        let _ = writeln!(text, "{} 0 {}", frame % 9, frame % 7);
    }
    text
}

fn run_in(folder: &Path, args: &[&str]) -> io::Result<Output> {
    phalanx().args(args).current_dir(folder).output()
}

fn succeeds_in(folder: &Path, args: &[&str]) -> Tested {
    let out = run_in(folder, args)?;
    check(out.status.success(), String::from_utf8_lossy(&out.stderr))
}

/// Expects a refusal of few bytes.
fn short(folder: &Path, args: &[&str]) -> Tested {
    let out = run_in(folder, args)?;
    let said = out.stderr.len() + out.stdout.len();
    let shown: String = String::from_utf8_lossy(&out.stderr).chars().take(300).collect();
    let status = out.status.code();
    check(status == Some(1) || status == Some(2), format!("{args:.40?}: {status:?}: {shown}"))?;
    check(said <= MOST && said > 0, format!("{said} bytes: {shown}"))
}

pub fn long_names() -> Tested {
    let folder = folder("long_names")?;
    let (n, model) = (long(), mannequin());
    let model = text(&model);
    let put = |name: &str, content: String| fs::write(folder.join(name), content);
    // A glTF file that names what it does not have, and a mode that is none.
    let gltf = |rest: &str| format!(r#"{{"asset": {{"version": "2.0"}}, {rest}}}"#);
    put("extension.gltf", gltf(&format!(r#""extensionsRequired": ["{n}"]"#)))?;
    put("type.gltf", gltf(&format!(r#""accessors": [{{"type": "{n}"}}]"#)))?;
    put(
        "uri.gltf",
        gltf(&format!(
            r#""buffers": [{{"byteLength": 4, "uri": "{n}"}}],
               "bufferViews": [{{"buffer": 0, "byteLength": 4}}],
               "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR"}}],
               "nodes": [{{"name": "a"}}], "scenes": [{{"nodes": [0]}}],
               "animations": [{{"samplers": [{{"input": 0, "output": 0}}],
                 "channels": [{{"sampler": 0, "target": {{"node": 0, "path": "scale"}}}}]}}]"#
        )),
    )?;
    let packed = format!(
        r#""extensionsUsed": ["EXT_meshopt_compression"], "extensionsRequired": ["EXT_meshopt_compression"],
           "buffers": [{{"byteLength": 4, "uri": "data:;base64,AAAAAA=="}}],
           "bufferViews": [{{"buffer": 0, "byteLength": 4, "extensions": {{"EXT_meshopt_compression":
             {{"buffer": 0, "byteLength": 4, "byteStride": 4, "count": 1, "mode": "{n}"}}}}}}],
           "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR"}}],
           "nodes": [{{"name": "a"}}], "scenes": [{{"nodes": [0]}}],
           "animations": [{{"samplers": [{{"input": 0, "output": 0}}],
             "channels": [{{"sampler": 0, "target": {{"node": 0, "path": "scale"}}}}]}}]"#
    );
    put("mode.gltf", gltf(&packed))?;
    // A skeleton of a long name, twice of the same one, and broken.
    put("word.bvh", format!("HIERARCHY {n}"))?;
    put("value.bvh", take("a", 2).replace("0.0083333", &n))?;
    put("channel.bvh", take("a", 2).replace("Xrotation", &n))?;
    put("megabyte.bvh", take(&n, 3))?;
    // As long as a .bvh may have it.
    put("joint.bvh", take(&n[..1024], 3))?;
    for file in [
        "extension.gltf",
        "type.gltf",
        "uri.gltf",
        "mode.gltf",
        "word.bvh",
        "value.bvh",
        "channel.bvh",
        "megabyte.bvh",
    ] {
        short(&folder, &["info", file])?;
        short(&folder, &["bake", file, "--out", "out.phx"])?;
    }
    // Files of settings.
    put("bone.json", format!(r#"{{"{n}": 0}}"#))?;
    put("joint.json", format!(r#"{{"hips": "{}"}}"#, &n[..n.len() - 20]))?;
    put("quality.json", format!(r#"{{"{n}": {{"shell": 0.1}}}}"#))?;
    put("field.json", format!(r#"{{"hips": {{"{n}": 0.1}}}}"#))?;
    put("value.json", format!(r#"{{"hips": "{n}"}}"#))?;
    put("tiers.json", format!(r#"{{"tiers": [{{"height": "{}"}}]}}"#, &n[..n.len() - 60]))?;
    put(
        "leave.json",
        format!(r#"{{"tiers": [{{"height": 0, "leave_out": ["{}"]}}]}}"#, &n[..n.len() - 90]),
    )?;
    for map in ["bone.json", "joint.json"] {
        let args =
            ["retarget", model, "--map", map, "--clip", "Walk", "--mirror", "--out", "x.phx"];
        short(&folder, &args)?;
    }
    for quality in ["quality.json", "field.json", "value.json"] {
        short(&folder, &["bake", model, "--quality", quality, "--out", "x.phx"])?;
    }
    for tiers in ["tiers.json", "leave.json"] {
        short(&folder, &["crowd", "--count", "2", "--frames", "1", "--tiers", tiers])?;
    }
    fs::copy(mannequin(), folder.join("m.glb"))?;
    for markers in [
        format!(r#"{{"clips": {{"{n}": {{"step": 0.1}}}}}}"#),
        format!(r#"{{"clips": {{"Walk": {{"{n}": 0.1}}}}}}"#),
        format!(r#"{{"clips": {{"Walk": {{"step": "{n}"}}}}}}"#),
        format!(r#"{{"clips": {{"Walk": {{"{}": "x"}}}}}}"#, &n[..200]),
        n.clone(),
    ] {
        put("m.events.json", markers)?;
        short(&folder, &["info", "m.glb"])?;
    }
    // Arguments. One of Linux has at most 128 KiB.
    let n = &n[..100_000];
    for args in [
        &["info", n][..],
        &["pose", "--clip", n],
        &["pose", "--joint", n],
        &["bake", n, "--out", "x.phx"],
        &["crowd", "--count", n],
        &["crowd", "--tiers", n],
        &["retarget", n, "--out", "x.phx"],
        &[n],
        &["info", "--unknown", n],
    ] {
        short(&folder, args)?;
    }
    // Joints, clips and markers of a .phx file.
    succeeds_in(&folder, &["bake", "joint.bvh", "--out", "long.phx"])?;
    for args in [
        &["pose", "long.phx", "--joint", "no such"][..],
        &["pose", "long.phx", "--clip", "no such"],
        &["verify", "long.phx", "--source", "take.bvh"],
        &["retarget", "long.phx", "--mirror", "--out", "x.phx"],
        &["bake", model, "--clips", "joint.bvh", "--out", "x.phx"],
    ] {
        short(&folder, args)?;
    }
    // A clip that is named by its file, and one that is not there.
    short(&folder, &["pose", "joint.bvh", "--joint", "no such"])?;
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// A pipe without a writer is not waited for; a pipe that a shell has opened is read.
#[cfg(unix)]
pub fn pipes_of_settings() -> Tested {
    let folder = folder("pipes_of_settings")?;
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status()?;
    check(made.success(), "no pipe was made")?;
    let model = mannequin();
    let model = text(&model);
    for args in [
        &["crowd", "--count", "2", "--frames", "1", "--tiers", "pipe"][..],
        &["bake", model, "--quality", "pipe", "--out", "x.phx"],
        &["retarget", model, "--map", "pipe", "--clip", "Walk", "--mirror", "--out", "x.phx"],
        &["retarget", model, "--onto", model, "--onto-map", "pipe", "--out", "x.phx"],
        &["bake", model, "--layout", "pipe", "--out", "x.phx"],
        &["bench", "--baseline", "pipe"],
    ] {
        let out = run_in(&folder, args)?;
        if out.status.code() == Some(2) {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
        }
        one_line(&out, &["pipe", "not a regular file"])?;
    }
    Ok(())
}

pub fn help_on_a_full_disk() -> Tested {
    let open = || fs::OpenOptions::new().write(true).open("/dev/full");
    // Only Linux has a device that is always full.
    if open().is_err() {
        return Ok(());
    }
    let commands =
        ["bake", "bench", "crowd", "info", "merge", "pose", "render", "retarget", "verify"];
    let helps =
        commands.iter().flat_map(|c| [vec![*c, "--help"], vec![*c, "-h"], vec!["help", *c]]);
    let plain = [vec!["--help"], vec!["-h"], vec!["--version"], vec!["-V"], vec!["help"]];
    for args in plain.into_iter().chain(helps) {
        let out = phalanx().args(&args).stdout(open()?).output()?;
        one_line(&out, &["standard output", "space"])?;
        // With room, and into a pipe that is closed, it is no error.
        let out = run(&args);
        check(
            out.status.success() && !out.stdout.is_empty() && out.stderr.is_empty(),
            format!("{args:?}"),
        )?;
        let closed = phalanx().args(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let out = closed.wait_with_output()?;
        check(out.status.success(), format!("{args:?}"))?;
    }
    Ok(())
}

/// A file system of 64 KiB, where the tests may mount one.
#[cfg(target_os = "linux")]
pub fn a_bake_onto_a_full_disk() -> Tested {
    let folder = folder("full_disk_bake")?;
    let model = mannequin();
    // In a name space of its own: nothing is left mounted.
    let script = "mount -t tmpfs -o size=64k none . && cd \"$PWD\" && exec \"$0\" bake \"$1\" --exact --out full.phx";
    let unshare = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", script])
        .arg(env!("CARGO_BIN_EXE_phalanx"))
        .arg(&model)
        .current_dir(&folder)
        .output();
    let Ok(out) = unshare.map(Some).or_else(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Ok(None),
        _ => Err(e),
    }) else {
        return Err("unshare failed".into());
    };
    let Some(out) = out else {
        return Ok(());
    };
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    if !error.starts_with("phalanx: ") {
        eprintln!("skipped: nothing can be mounted here: {error}");
        return Ok(());
    }
    one_line(&out, &["full.phx: cannot be written: No space left on device"])
}

/// A take whose clip needs more than a file of its size may is refused as `info` refuses it, and what a killed bake left
/// is gone after the next run.
pub fn a_bake_is_bounded_by_its_file() -> Tested {
    let folder = folder("bounded_bake")?;
    let frames = 400_000;
    fs::write(folder.join("take.bvh"), take("a", frames))?;
    fs::write(folder.join("small.bvh"), take("a", 40))?;
    fs::create_dir_all(folder.join("out"))?;
    for left in [".lib.phx.partial", "out/.take.phx.partial", "out/.small.phx.partial"] {
        fs::write(folder.join(left), "left")?;
    }
    let said = ["take.bvh: ", "bytes of rows, the limit is", "24 for each of the"];
    one_line(&run_in(&folder, &["info", "take.bvh"])?, &said)?;
    for args in [
        &["bake", "take.bvh", "--out", "lib.phx"][..],
        &["bake", "take.bvh", "--out", "out/"],
        &["bake", "take.bvh", "--exact", "--out", "lib.phx"],
        &["bake", "small.bvh", "--layout", "take.bvh", "--out", "lib.phx"],
    ] {
        let out = run_in(&folder, args)?;
        let error = String::from_utf8(out.stderr.clone())?;
        check(
            out.status.code() == Some(1) && error.lines().count() == 1,
            format!("{args:?}: {error}"),
        )?;
        for part in said {
            check(error.contains(part), format!("{args:?}: {error}"))?;
        }
    }
    succeeds_in(&folder, &["bake", "small.bvh", "--out", "out/"])?;
    for folder in [folder.clone(), folder.join("out")] {
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            check(!name.to_string_lossy().ends_with(".partial"), format!("{name:?} is left"))?;
        }
    }
    Ok(())
}

/// A bake with too little memory prints one line and leaves no file.
#[cfg(target_os = "linux")]
pub fn a_bake_without_memory() -> Tested {
    let folder = folder("bake_memory")?;
    // A chain of 16 joints.
    let (joints, frames) = (16, 60_000);
    let mut take = "HIERARCHY\nROOT a0\n".to_owned();
    for joint in 0..joints {
        if joint > 0 {
            let _ = writeln!(take, "JOINT a{joint}");
        }
        take += "{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n";
    }
    take += "End Site\n{\nOFFSET 0 1 0\n}\n";
    take += &"}\n".repeat(joints);
    let _ = writeln!(take, "MOTION\nFrames: {frames}\nFrame Time: 0.01");
    for frame in 0..frames {
        take += &format!("{} 0 {} ", frame % 9, frame % 7).repeat(joints);
        take.push('\n');
    }
    fs::write(folder.join("take.bvh"), take)?;
    // 288 MB are asked for: 16 × 60,000 × 300 bytes.
    let bake = ["bake", "take.bvh", "--jobs", "1", "--out", "out.phx"];
    let out = phalanx_in(240_000)?.args(bake).current_dir(&folder).output()?;
    let said = "take.bvh: baking clip \"take\" needs 288000000 bytes of memory";
    one_line(&out, &[said])?;
    // Where not even reading has enough, too.
    for kilobytes in [30_000, 60_000, 90_000, 120_000] {
        let out = phalanx_in(kilobytes)?.args(bake).current_dir(&folder).output()?;
        one_line(&out, &["take.bvh: ", "bytes of memory, more than there are"])?;
    }
    let mut left: Vec<_> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    left.sort();
    check(left == ["take.bvh"], format!("{left:?}"))
}

pub fn quality_in_words() -> Tested {
    let folder = folder("quality_words")?;
    let model = mannequin();
    for (content, said) in [
        (r#"{"hips": 1}"#, "expected an object"),
        (r#"{"hips": [0.1, 0.2]}"#, "expected an object"),
        (r#"{"hips": null}"#, "expected an object"),
    ] {
        fs::write(folder.join("q.json"), content)?;
        let args = ["bake", text(&model), "--quality", "q.json", "--out", "x.phx"];
        let out = run_in(&folder, &args)?;
        one_line(&out, &["q.json: ", said])?;
        check(!String::from_utf8(out.stderr)?.contains("struct"), content)?;
    }
    Ok(())
}
