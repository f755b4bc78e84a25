//! Output for people fits 80 columns; words are whole, and what is left out is named.

use super::bake::{folder, text};
use super::clashes::taken_apart;
use super::support::{Tested, check, list, output, phalanx};
use libtest_mimic::Failed;
use phalanx_testkit::trials::needed;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Lines drawn by tables, and trees.
const DRAWN: [char; 6] = ['│', '╭', '╰', '╞', '├', '└'];

/// Standard output with `COLUMNS` set to `columns`.
fn shown(folder: &Path, columns: &str, args: &[&str]) -> Result<String, Failed> {
    let out = phalanx().current_dir(folder).env("COLUMNS", columns).args(args).output()?;
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.success(), format!("{args:?}: {error}"))?;
    Ok(String::from_utf8(out.stdout)?)
}

/// No line is wider than the columns, unless it is one word. Every word is one of the whole output's, or is
/// visibly shortened.
fn fits(folder: &Path, args: &[&str]) -> Tested {
    let wide = shown(folder, "80", &[&["--wide"], args].concat())?;
    let narrow = shown(folder, "80", args)?;
    let words =
        |text: &str| -> BTreeSet<String> { text.split_whitespace().map(str::to_owned).collect() };
    let mut known = words(&wide);
    // The program's own words on what it left out.
    known.extend(words("Left out: shows all columns. Names with are shortened; them whole. more"));
    for line in narrow.lines() {
        let long = line.chars().count() > 80;
        let drawn = line.trim_start().starts_with(DRAWN);
        let one_word = !drawn && !line.trim().contains(' ');
        check(!long || one_word, format!("{args:?}: too wide: {line}\n{narrow}"))?;
        // Timings and sizes differ from run to run; names and headings do not.
        let letters =
            |w: &&str| w.len() > 3 && w.chars().all(|c| c.is_alphabetic() || "_\"'".contains(c));
        for word in line.split_whitespace().filter(letters) {
            check(
                known.contains(word) || word.contains('…') || word == "characters,",
                format!("{args:?}: {word:?} is part of a word in\n{narrow}"),
            )?;
        }
    }
    Ok(())
}

/// The commands that print tables, for a model.
fn every_command(folder: &Path, file: Option<&str>, clip: &str) -> Tested {
    let model: Vec<&str> = file.into_iter().collect();
    let with =
        |before: &[&str], after: &[&str]| fits(folder, &[before, &model[..], after].concat());
    with(&["info"], &[])?;
    with(&["pose"], &["--clip", clip, "--time", "0.1", "--vertices"])?;
    let small = ["--size", "32x32", "--renderer", "software", "--frames", "1"];
    with(&["render"], &[&["--clip", clip, "--out", "a.png"][..], &small].concat())?;
    with(&["crowd"], &[&["--count", "2", "--out", "a.png"][..], &small].concat())?;
    with(&["bench"], &["--count", "2", "--threads", "1", "--seconds", "0.00001"])
}

pub fn of_the_built_in_character() -> Tested {
    let folder = folder("widths")?;
    every_command(&folder, None, "Walk")?;
    let file = super::bake::mannequin();
    output(&["bake", text(&file), "--out", text(&folder.join("m.phx"))])?;
    fits(&folder, &["bake", text(&file), "--out", "m.phx"])?;
    fits(&folder, &["verify", "m.phx", "--source", text(&file)])?;
    fits(&folder, &["info", "m.phx"])?;
    fits(&folder, &["merge", "m.phx", "--out", "n.phx"])?;
    let live = ["bench", "--live", "--group", "churn", "--group", "rigs"];
    let small = ["--count", "200", "--library", "3", "--frames", "2", "--seconds", "0.00001"];
    fits(&folder, &[&live[..], &small].concat())?;
    // What is left out is named, and a wider terminal shows it.
    let narrow = shown(&folder, "80", &["info"])?;
    check(narrow.contains("Left out: ") && narrow.contains("scalars"), narrow.clone())?;
    let wide = shown(&folder, "200", &["info"])?;
    check(!wide.contains("Left out: "), wide)
}

/// Names that are longer than a line, of clips, joints, meshes and materials.
pub fn of_long_names() -> Tested {
    let folder = folder("long-names")?;
    let (mut document, binary) = taken_apart()?;
    for kind in ["nodes", "animations", "meshes", "materials", "skins"] {
        let all = document[kind].as_array_mut().into_iter().flatten();
        for (i, thing) in all.enumerate() {
            let name = format!("{i}_{}_{}", "a_name_without_any_space_".repeat(6), kind);
            let name = match i % 2 {
                0 => name,
                _ => format!("{i} {} {kind}", "a name of many words ".repeat(6)),
            };
            thing["name"] = json!(name);
        }
    }
    document["buffers"] = json!([{ "uri": "m.bin", "byteLength": binary.len() }]);
    fs::write(folder.join("m.bin"), binary)?;
    fs::write(folder.join("long.gltf"), document.to_string())?;
    every_command(&folder, Some("long.gltf"), "1")?;
    let narrow = shown(&folder, "80", &["info", "long.gltf"])?;
    check(narrow.contains("are shortened") || narrow.contains("Left out"), narrow.clone())?;
    // A name takes one row.
    let rows = narrow.lines().filter(|l| l.starts_with("│  ") && l.contains("words"));
    check(rows.count() == 0, narrow)?;
    // JSON holds the names whole.
    let info: Value =
        serde_json::from_str(&shown(&folder, "80", &["info", "long.gltf", "--json"])?)?;
    let clip = list(&info, "clips")?[0]["name"].as_str().unwrap_or_default();
    check(clip.len() > 140, clip)
}

pub fn of_a_file(file: &str, clip: &str) -> Tested {
    let path = needed(file)?;
    let folder = folder(&format!("widths-{file}"))?;
    fs::copy(&path, folder.join(file))?;
    every_command(&folder, Some(file), clip)
}

/// Help is broken at spaces, too.
pub fn of_help() -> Tested {
    let folder = folder("widths-help")?;
    for command in
        ["crowd", "info", "pose", "render", "bench", "bake", "merge", "verify", "view", ""]
    {
        let mut args: Vec<&str> = vec![command, "--help"];
        args.retain(|a| !a.is_empty());
        // As wide in a pipe that says nothing.
        let help = output(&args)?;
        check(help == shown(&folder, "80", &args)?, format!("{args:?}"))?;
        for columns in [60, 80] {
            let help = shown(&folder, &columns.to_string(), &args)?;
            let lines: Vec<&str> = help.lines().collect();
            for line in &lines {
                check(line.chars().count() <= columns, format!("{args:?}: {line}"))?;
            }
            // Lines of a paragraph are broken once: the next word would not fit.
            let text = |line: &str| line.starts_with(char::is_alphanumeric);
            for pair in lines.windows(2).filter(|p| text(p[0]) && text(p[1])) {
                let next = pair[1].split(' ').next().unwrap_or_default();
                let joined = pair[0].chars().count() + 1 + next.chars().count();
                check(joined > columns, format!("{args:?}: {pair:?}"))?;
            }
        }
    }
    Ok(())
}

/// Columns are left out before the program's own words are cut, and names are shortened on one line.
pub fn of_narrow_terminals() -> Tested {
    let folder = folder("widths-narrow")?;
    let file = super::bake::mannequin();
    let bench = ["bench", "--count", "2", "--threads", "1", "--seconds", "0.00001"];
    let table = shown(&folder, "60", &bench)?;
    check(!table.contains('…') && table.contains("Left out: "), table.clone())?;
    for column in ["advance", "written"] {
        let listed = table.contains(&format!("\"{column}\": "));
        let header = table.lines().find(|l| l.contains("workload"));
        let has = header.is_some_and(|l| l.contains(column));
        check(listed == has, format!("{column} in\n{table}"))?;
    }
    let crowd = ["crowd", text(&file), "--count", "2", "--frames", "1"];
    let drawn = ["--renderer", "software", "--size", "32x32", "--out", "a.png"];
    let table = shown(&folder, "60", &[crowd, drawn].concat())?;
    check(table.contains("│ mannequin.glb"), table)?;
    // Channels are shown together, and what stands in a cell is explained.
    for columns in ["80", "110", "120", "130", "140", "200"] {
        let info = shown(&folder, columns, &["info"])?;
        let header = info.lines().find(|l| l.contains("seconds")).unwrap_or("");
        let channels = ["translations", "rotations", "scales"].map(|c| header.contains(c));
        check(channels[0] == channels[1] && channels[1] == channels[2], info.clone())?;
        let explained = info.contains("animated + constant");
        let shown = channels[0] || header.contains("scalars");
        check(explained == shown, format!("{columns}: {info}"))?;
        let explained = info.contains("regular + irregular");
        check(explained == header.contains("timelines"), format!("{columns}: {info}"))?;
    }
    Ok(())
}
