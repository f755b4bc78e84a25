//! Inputs of `phalanx bake`: many inputs with faults among them, folders, repeated files, files that others refer to.

use super::bake::{bake, copies, folder, mannequin, text};
use super::support::{Tested, check, json, list, output, phalanx, run};
use libtest_mimic::Failed;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Expects exit status 1, and one line for each of `parts` that holds it, in this order.
fn lines(out: &Output, parts: &[&str]) -> Tested {
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.code() == Some(1), format!("{:?}: {error}", out.status))?;
    let lines: Vec<&str> = error.lines().collect();
    check(lines.len() == parts.len(), format!("{parts:?}: {error}"))?;
    for (line, part) in lines.iter().zip(parts) {
        check(
            line.starts_with("phalanx: ") && line.contains(part),
            format!("no {part:?} in {error}"),
        )?;
    }
    Ok(())
}

/// The inputs that JSON names as faulty.
fn faulty(out: &Output) -> Result<Vec<String>, Failed> {
    let summary: Value = serde_json::from_slice(&out.stdout)?;
    let faults = list(&summary, "faults")?.iter();
    let names = faults.map(|f| {
        let named = f["fault"].as_str().is_some_and(|f| !f.is_empty());
        check(named, f.to_string())?;
        let path = Path::new(f["input"].as_str().ok_or("no input")?);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(name.into_owned())
    });
    names.collect()
}

fn names(folder: &Path) -> Result<Vec<String>, Failed> {
    let entries = fs::read_dir(folder)?.map(|e| Ok(e?.file_name().to_string_lossy().into_owned()));
    let mut names = entries.collect::<Result<Vec<_>, Failed>>()?;
    names.sort();
    Ok(names)
}

/// The mannequin below `inputs` under names with folders.
fn tree(folder: &Path, names: &[&str]) -> Result<PathBuf, Failed> {
    let inputs = folder.join("inputs");
    for name in names {
        let file = inputs.join(name);
        fs::create_dir_all(file.parent().ok_or("no folder")?)?;
        fs::copy(mannequin(), file)?;
    }
    Ok(inputs)
}

pub fn goes_on_past_faults() -> Tested {
    let folder = folder("faults")?;
    let inputs = copies(&folder, 4)?;
    fs::write(inputs.join("take-1.glb"), b"glTF is not this")?;
    fs::write(inputs.join("take-3.glb"), b"{}")?;
    fs::write(inputs.join("take-3.events.json"), b"[")?;
    let (out, library) = (folder.join("out"), folder.join("library.phx"));
    let missing = folder.join("missing.glb");
    let args = ["bake", text(&missing), text(&inputs), "--jobs", "2"];
    let into = |out: &Path, more: &[&str]| run(&[&args[..], &["--out", text(out)], more].concat());
    let faults = ["missing.glb", "take-1.glb", "take-3"];
    let made = into(&out, &[]);
    lines(&made, &faults)?;
    let table = String::from_utf8_lossy(&made.stdout).into_owned();
    check(table.contains("take-2.phx") && table.contains("in 2 files"), table)?;
    check(names(&out)? == ["take-0.phx", "take-2.phx"], "the others")?;
    let again = into(&out, &["--json"]);
    let all = ["missing.glb", "take-1.glb", "take-3.glb"];
    lines(&again, &faults)?;
    check(faulty(&again)? == all, "as JSON")?;
    let summary: Value = serde_json::from_slice(&again.stdout)?;
    check(summary["files"][1]["skipped"] == true, summary.to_string())?;
    // A library is whole or not at all; a share of one says the same of its own inputs.
    let layout = folder.join("layout.phx");
    bake(&mannequin(), &layout, &["--exact"])?;
    let layout = ["--layout", text(&layout)];
    for more in [&["--prefix"][..], &[&["--prefix"][..], &layout].concat()] {
        lines(&into(&library, more), &faults)?;
        let output = into(&library, &[more, &["--json"]].concat());
        check(faulty(&output)? == all, "a library as JSON")?;
        check(output.status.code() == Some(1), "a library as JSON")?;
    }
    fs::remove_file(inputs.join("take-1.glb"))?;
    fs::write(inputs.join("take-0.events.json"), b"[")?;
    for more in ["take-8.glb", "take-9.glb"] {
        fs::copy(mannequin(), inputs.join(more))?;
    }
    let args = ["bake", text(&inputs), "--out", text(&library)];
    // One clash is found only after a bake; clips of one name are reported as well.
    let mut output = run(&[&args[..], &layout, &["--jobs", "1"]].concat());
    lines(&output, &["take-0", "take-3", "take-8.glb: clip \"Idle\"", "take-9.glb"])?;
    output = run(&[&args[..], &layout, &["--shard", "0/2"]].concat());
    lines(&output, &["take-0"])?;
    check(names(&folder)? == ["inputs", "layout.phx", "out"], "a refused library leaves files")
}

pub fn keeps_folders() -> Tested {
    let folder = folder("folders")?;
    let inputs = tree(&folder, &["a/walk.glb", "b/walk.glb", "b/c/walk.glb"])?;
    let out = folder.join("out");
    let made = |summary: &Value| -> Result<Vec<String>, Failed> {
        let files = list(summary, "files")?.iter();
        let files = files.filter_map(|f| Path::new(f["file"].as_str()?).strip_prefix(&out).ok());
        Ok(files.map(|f| f.display().to_string()).collect())
    };
    let all = ["a/walk.phx", "b/c/walk.phx", "b/walk.phx"];
    let first = bake(&inputs, &out, &[])?;
    check(made(&first)? == all, first.to_string())?;
    let again = bake(&inputs, &out, &[])?;
    let skipped = list(&again, "files")?.iter();
    check(skipped.clone().all(|f| f["skipped"] == true), "again")?;
    // Below the folder in which a pattern begins.
    let pattern = inputs.join("*/w?lk.glb");
    let some = bake(&pattern, &out, &[])?;
    check(made(&some)? == ["a/walk.phx", "b/walk.phx"], some.to_string())?;
    let pattern = inputs.join("**/c/*.glb");
    check(made(&bake(&pattern, &out, &[])?)? == all[1..2], "any depth")?;
    let (a, b) = (inputs.join("a/walk.glb"), inputs.join("b/walk.glb"));
    check(made(&bake(&a, &out, &[])?)? == ["walk.phx"], "by name")?;
    // Two of one name: neither; a third goes on.
    let elsewhere = folder.join("elsewhere");
    let args = ["bake", text(&a), text(&b)];
    let third = folder.join("third.glb");
    fs::copy(mannequin(), &third)?;
    let args = [&args[..], &[text(&third), "--out", text(&elsewhere)]].concat();
    lines(&run(&args), &["b/walk.glb"])?;
    check(names(&elsewhere)? == ["third.phx"], "the third")?;
    output(&["verify", text(&out.join("b")), "--source", text(&b)])?;
    // As one library, and in shares.
    let whole = folder.join("whole.phx");
    let summary = bake(&inputs, &whole, &["--prefix"])?;
    let clips = list(&summary["files"][0], "clips")?;
    let named = |at: usize| clips[at]["name"].as_str().unwrap_or_default();
    check(clips.len() == 33, "three times eleven clips")?;
    check(
        named(0).starts_with("a/walk/") && named(11).starts_with("b/c/walk/"),
        format!("{} {}", named(0), named(11)),
    )?;
    let parts = folder.join("parts.phx");
    for shard in ["0/2", "1/2"] {
        bake(&inputs, &parts, &["--prefix", "--shard", shard])?;
    }
    let shares = folder.join("parts.part-*.phx");
    json(&["merge", text(&shares), "--out", text(&parts), "--json"])?;
    check(fs::read(&parts)? == fs::read(&whole)?, "shares")?;
    // From another folder, clips have other names: not what is there.
    let summary = bake(&inputs.join("b"), &whole, &["--prefix"])?;
    check(summary["files"][0]["skipped"] == false, "other inputs")?;
    let summary = bake(&b, &whole, &["--prefix"])?;
    let name = &summary["files"][0]["clips"][0]["name"];
    check(name.as_str().is_some_and(|n| n.starts_with("walk/")), "name")?;
    let summary = bake(&inputs.join("../inputs/*/walk.glb"), &parts, &["--prefix"])?;
    check(summary["clips"] == 22, summary.to_string())
}

pub fn takes_a_file_once() -> Tested {
    let folder = folder("once")?;
    let inputs = copies(&folder, 1)?;
    let run = |files: &[&str]| -> Result<String, Failed> {
        let mut command = phalanx();
        command.current_dir(&inputs).arg("bake").args(files);
        let out = command.args(["--out", "out"]).output()?;
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        check(out.status.success(), format!("{files:?}: {error}"))?;
        Ok(String::from_utf8(out.stdout)?)
    };
    let table = run(&["take-0.glb", "./take-0.glb", "../inputs/take-0.glb", "."])?;
    check(table.contains("11 clips in 1 file (0 up to date)"), table)?;
    let table = run(&["*.glb", text(&inputs)])?;
    check(table.contains("in 1 file (1 up to date)"), table)
}

/// Files that a .glb refers to are part of it, like those of a .gltf.
pub fn sees_files_beside() -> Tested {
    let folder = folder("beside")?;
    let bytes = fs::read(mannequin())?;
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i])) as usize;
    let (text_end, end) = (20 + word(12), word(8));
    let mut document: Value = serde_json::from_slice(&bytes[20..text_end])?;
    let image = serde_json::json!([{ "uri": "skin%20a.png" }]);
    document["images"] = image;
    let mut text = serde_json::to_vec(&document)?;
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = |n: usize| (n as u32).to_le_bytes();
    let mut glb = bytes[..8].to_vec();
    glb.extend(length(20 + text.len() + end - text_end));
    glb.extend(length(text.len()));
    glb.extend(b"JSON");
    glb.extend(&text);
    glb.extend(&bytes[text_end..end]);
    let (input, out) = (folder.join("one.glb"), folder.join("one.phx"));
    fs::write(&input, glb)?;
    for (picture, skipped) in
        [(Some("a"), false), (Some("a"), true), (Some("b"), false), (None, false), (None, true)]
    {
        let file = folder.join("skin a.png");
        match picture {
            Some(bytes) => fs::write(file, bytes)?,
            None if file.exists() => fs::remove_file(file)?,
            None => {}
        }
        let summary = bake(&input, &out, &["--exact"])?;
        let file = &summary["files"][0];
        check(file["skipped"] == skipped, format!("{picture:?}"))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
pub fn names_what_is_no_text() -> Tested {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("no-text")?;
    let inputs = copies(&folder, 1)?;
    let odd = inputs.join(std::ffi::OsStr::from_bytes(b"caf\xe9.glb"));
    fs::copy(mannequin(), odd)?;
    let out = folder.join("out");
    for files in [inputs.clone(), inputs.join("*.glb"), folder.join("*/*.glb")] {
        let output = run(&["bake", text(&files), "--out", text(&out)]);
        lines(&output, &["caf\u{fffd}.glb: the name of the file or of its folder is not UTF-8"])?;
    }
    let made = ["take-0.phx", "inputs/take-0.phx"];
    check(made.iter().all(|f| out.join(f).exists()), "the other one")?;
    let library = folder.join("library.phx");
    let output = run(&["bake", text(&inputs), "--out", text(&library)]);
    lines(&output, &["UTF-8"])?;
    check(!library.exists(), "a library without one of its inputs")
}

/// Other systems have no such names, or do not give them.
#[cfg(not(target_os = "linux"))]
pub fn names_what_is_no_text() -> Tested {
    Ok(())
}

/// A pipe in the place of a file would be waited for.
#[cfg(unix)]
pub fn pipes() -> Tested {
    let folder = folder("pipes")?;
    let model = folder.join("m.glb");
    fs::copy(mannequin(), &model)?;
    let [gltf, phx, markers] = ["p.glb", "p.phx", "m.events.json"].map(|name| folder.join(name));
    for pipe in [&gltf, &phx, &markers] {
        let made = std::process::Command::new("mkfifo").arg(pipe).status()?;
        check(made.success(), "no pipe was made")?;
    }
    let out = folder.join("out.phx");
    let refused = |args: &[&str], file: &Path| {
        let mut args = args.to_vec();
        if args[0] == "bake" {
            args.extend(["--out", text(&out)]);
        }
        super::support::one_line_beside(&run(&args), &[text(file), "not a regular file"])
    };
    for (file, fault) in [(&gltf, &gltf), (&phx, &phx), (&model, &markers)] {
        refused(&["info", text(file)], fault)?;
    }
    for (file, fault) in [(&gltf, &gltf), (&model, &markers)] {
        refused(&["bake", text(file)], fault)?;
    }
    let args = ["verify", text(&phx)];
    let found = run(&args);
    let error = String::from_utf8_lossy(&found.stderr).into_owned();
    let right = found.status.code() == Some(1) && error.contains("not a regular file");
    check(right, error)
}
