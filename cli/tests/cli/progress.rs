//! `phalanx bake --progress json`: the lines, their order and fields, with faults among the inputs and without a reader.

use super::bake::{bake, contents, copies, folder, mannequin, text};
use super::support::{Tested, check, list, one_line, phalanx, run};
use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

/// Fields beside `event`, by event, in alphabetical order.
const FIELDS: [(&str, &[&str]); 6] = [
    ("start", &["inputs", "inputs_of_all", "out", "shard", "version"]),
    ("clip", &["bytes", "clip", "done", "file", "max_error", "raw_bytes", "seconds"]),
    ("input", &["done", "seconds"]),
    ("failed", &["file", "reason"]),
    ("output", &["bytes", "clips", "file", "skipped"]),
    ("end", &["clips", "failed", "ok", "outputs", "seconds", "skipped"]),
];

fn events_of(inputs: &[&Path], out: &Path, more: &[&str]) -> Output {
    let mut args = vec!["bake"];
    args.extend(inputs.iter().map(|p| text(p)));
    args.extend(["--out", text(out), "--progress", "json"]);
    args.extend(more);
    run(&args)
}

/// Parses the lines and checks what holds of every bake: fields, one start and one end, counts that rise by one,
/// seconds that do not fall, and outputs after all inputs.
fn events(out: &Output) -> Result<Vec<Value>, Failed> {
    let lines = std::str::from_utf8(&out.stdout)?;
    check(lines.ends_with('\n'), format!("no whole line at the end: {lines}"))?;
    let all = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let (mut seconds, mut counts, mut outputs) = (0.0, BTreeMap::new(), false);
    for (at, event) in all.iter().enumerate() {
        let name = kind(event);
        let known = FIELDS.iter().find(|(known, _)| *known == name);
        let (_, fields) = known.ok_or_else(|| format!("unknown: {event}"))?;
        let object = event.as_object().ok_or("not an object")?;
        let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
        found.retain(|key| *key != "event");
        found.sort_unstable();
        check(found == *fields, format!("{event}"))?;
        check((at == 0) == (name == "start"), format!("line {at}: {event}"))?;
        check((at + 1 == all.len()) == (name == "end"), format!("line {at}: {event}"))?;
        if let Some(now) = event["seconds"].as_f64() {
            check(now >= seconds, format!("time runs backwards: {event}"))?;
            seconds = now;
        }
        if let Some(done) = event["done"].as_u64() {
            let count = counts.entry(name).or_insert(0);
            *count += 1;
            check(done == *count, format!("not the {count}th: {event}"))?;
        }
        outputs |= name == "output";
        let early = ["clip", "input", "failed"].contains(&name);
        check(!(outputs && early), format!("after an output: {event}"))?;
    }
    Ok(all)
}

fn kind(event: &Value) -> &str {
    event["event"].as_str().unwrap_or("no name")
}

fn named<'a>(all: &'a [Value], name: &str) -> Vec<&'a Value> {
    all.iter().filter(|e| kind(e) == name).collect()
}

fn only<'a>(all: &'a [Value], name: &str) -> Result<&'a Value, Failed> {
    match named(all, name)[..] {
        [one] => Ok(one),
        _ => Err(format!("not one {name}: {all:?}").into()),
    }
}

/// Checks some fields of an event.
fn has(event: &Value, fields: &Value) -> Tested {
    let fields = fields.as_object().ok_or("not an object")?;
    for (key, value) in fields {
        check(event[key] == *value, format!("{key} is not {value}: {event}"))?;
    }
    Ok(())
}

/// The clips of a folder of outputs say what `--json` says of the same bake, and what is up to date has no clips.
pub fn tells_clips_and_outputs() -> Tested {
    let folder = folder("events")?;
    let inputs = copies(&folder, 2)?;
    let (out, other) = (folder.join("out"), folder.join("other"));
    let summary = bake(&inputs, &other, &[])?;
    let made = events_of(&[&inputs], &out, &["--jobs", "1"]);
    check(made.status.success() && made.stderr.is_empty(), format!("{made:?}"))?;
    let all = events(&made)?;
    let version = env!("CARGO_PKG_VERSION");
    let start = serde_json::json!({"version": version, "out": text(&out), "shard": null});
    has(&all[0], &start)?;
    has(&all[0], &serde_json::json!({"inputs": 2, "inputs_of_all": 2}))?;
    check(named(&all, "input").len() == 2, "two inputs")?;
    check(contents(&out)? == contents(&other)?, "other bytes than with --json")?;
    let clips = named(&all, "clip");
    let mut told = 0;
    for (input, file) in ["take-0.glb", "take-1.glb"].iter().zip(list(&summary, "files")?) {
        let of_input = |c: &&&Value| c["file"] == text(&inputs.join(input));
        let of_input: Vec<_> = clips.iter().filter(of_input).collect();
        for clip in list(file, "clips")? {
            let same = of_input.iter().filter(|c| c["clip"] == clip["name"]);
            let same: Vec<_> = same.collect();
            let [same] = same[..] else {
                return Err(format!("{input}: not one line of {clip}").into());
            };
            let report = &clip["report"];
            check(same["bytes"] == report["runtime_bytes"], format!("{same} {clip}"))?;
            check(same["raw_bytes"] == report["raw_bytes"], format!("{same} {clip}"))?;
            let error = |v: &Value| v["max_error"].as_f64().map(|e| e as f32);
            check(error(same).is_some() && error(same) == error(clip), format!("{same} {clip}"))?;
            told += 1;
        }
    }
    check(told == 22 && clips.len() == told, format!("{} clips", clips.len()))?;
    for (output, name) in named(&all, "output").iter().zip(["take-0.phx", "take-1.phx"]) {
        let file = out.join(name);
        let bytes = fs::metadata(&file)?.len();
        let expected =
            serde_json::json!({"file": text(&file), "skipped": false, "clips": 11, "bytes": bytes});
        has(output, &expected)?;
    }
    let end = serde_json::json!({"ok": true, "outputs": 2, "skipped": 0, "clips": 22, "failed": 0});
    has(only(&all, "end")?, &end)?;
    // One share of what is done: its input is skipped.
    let again = events(&events_of(&[&inputs], &out, &["--shard", "1/2"]))?;
    has(&again[0], &serde_json::json!({"shard": "1/2", "inputs": 1, "inputs_of_all": 2}))?;
    check(named(&again, "clip").is_empty(), "a clip is baked again")?;
    let skipped = serde_json::json!({"file": text(&out.join("take-1.phx")), "skipped": true});
    has(only(&again, "output")?, &skipped)?;
    let end = serde_json::json!({"ok": true, "outputs": 1, "skipped": 1, "failed": 0});
    has(only(&again, "end")?, &end)
}

/// Inputs that fail have a line, the others are baked, and the exit status is 1. A library fails as a whole.
pub fn tells_faults() -> Tested {
    let folder = folder("event-faults")?;
    let inputs = copies(&folder, 3)?;
    let (damaged, missing) = (inputs.join("take-1.glb"), folder.join("missing.glb"));
    fs::write(&damaged, b"glTF is not this")?;
    let out = folder.join("out");
    let made = events_of(&[&missing, &inputs], &out, &["--exact"]);
    let error = String::from_utf8_lossy(&made.stderr).into_owned();
    check(made.status.code() == Some(1), format!("{:?}: {error}", made.status))?;
    // Messages for people stay, a line per fault.
    check(error.lines().count() == 2 && error.lines().all(|l| l.starts_with("phalanx: ")), error)?;
    let all = events(&made)?;
    has(&all[0], &serde_json::json!({"inputs": 4, "inputs_of_all": 4}))?;
    let failed = named(&all, "failed");
    check(failed.len() == 2, format!("{failed:?}"))?;
    for path in [&missing, &damaged] {
        // Inputs are baked side by side, so faults come in any order.
        let event = failed.iter().find(|e| e["file"] == text(path)).ok_or("an untold fault")?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let reason = event["reason"].as_str().unwrap_or_default();
        check(reason.contains(&*name), format!("{event}"))?;
    }
    check(named(&all, "input").len() == 4, "an input is done if it failed, too")?;
    let names: Vec<String> = contents(&out)?.into_iter().map(|(name, _)| name).collect();
    check(names == ["take-0.phx", "take-2.phx"], format!("{names:?}"))?;
    check(named(&all, "output").len() == 2, "two outputs")?;
    let end = serde_json::json!({"ok": false, "outputs": 2, "clips": 22, "failed": 2});
    has(only(&all, "end")?, &end)?;

    let library = folder.join("library.phx");
    let end = serde_json::json!({"ok": false, "outputs": 0, "clips": 0, "failed": 1});
    let whole = events_of(&[&inputs], &library, &["--prefix", "--exact"]);
    check(whole.status.code() == Some(1) && !library.exists(), "a part of a library")?;
    let all = events(&whole)?;
    let files: Vec<_> = named(&all, "failed").iter().map(|e| e["file"].clone()).collect();
    check(files == [Value::from(text(&damaged))], format!("{files:?}"))?;
    has(only(&all, "end")?, &end)?;
    // What is the fault of no input is one of the whole bake.
    fs::remove_file(&damaged)?;
    let layout = folder.join("layout.phx");
    let more = ["--prefix", "--layout", text(&layout)];
    let all = events(&events_of(&[&inputs], &library, &more))?;
    let failed = only(&all, "failed")?;
    let reason = failed["reason"].as_str().unwrap_or_default();
    check(failed["file"].is_null() && reason.contains("layout.phx"), format!("{failed}"))?;
    has(only(&all, "end")?, &serde_json::json!({"ok": false, "outputs": 0, "failed": 0}))
}

/// `--json` also prints to standard output, so both together are refused.
pub fn not_with_json() -> Tested {
    let folder = folder("event-usage")?;
    let (input, out) = (mannequin(), folder.join("out"));
    for (form, more, said) in [
        ("json", &["--json"][..], "--json and --progress json"),
        ("lines", &[], "--progress <bar|json>"),
    ] {
        let args = ["bake", text(&input), "--exact", "--out", text(&out), "--progress", form];
        let made = run(&[&args[..], more].concat());
        check(made.status.code() == Some(2) && made.stdout.is_empty(), format!("{made:?}"))?;
        let error = String::from_utf8_lossy(&made.stderr).into_owned();
        check(error.contains(said), error)?;
    }
    check(!out.exists(), "a refused bake leaves files")?;
    // The bar is the default, and `--json` goes with it.
    let bar = ["--out", text(&out), "--progress", "bar", "--json"];
    let made = run(&[&["bake", text(&input), "--exact"][..], &bar].concat());
    let summary: Value = serde_json::from_slice(&made.stdout)?;
    check(list(&summary, "files")?.len() == 1 && made.stderr.is_empty(), format!("{made:?}"))
}

/// A reader that closes the stream does not stop the bake, and is no error; a full disk is one, at the end.
pub fn outlives_its_reader() -> Tested {
    let folder = folder("event-pipe")?;
    let (out, other, third) = (folder.join("a.phx"), folder.join("b.phx"), folder.join("c.phx"));
    bake(&mannequin(), &other, &["--exact"])?;
    let command = |out: &Path| {
        let mut command = phalanx();
        command.args(["bake", text(&mannequin()), "--exact", "--out", text(out)]);
        command.args(["--progress", "json"]);
        command.stderr(Stdio::piped());
        command
    };
    let mut child = command(&out).stdout(Stdio::piped()).spawn()?;
    let mut first = String::new();
    // The first line is there before the bake ends.
    BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut first)?;
    check(kind(&serde_json::from_str(&first)?) == "start", first)?;
    let done = child.wait_with_output()?;
    check(done.status.success() && done.stderr.is_empty(), format!("{done:?}"))?;
    check(fs::read(&out)? == fs::read(&other)?, "other bytes")?;
    // Only Linux has a device that is always full.
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return Ok(());
    };
    one_line(&command(&third).stdout(full).output()?, &["standard output"])?;
    check(fs::read(&third)? == fs::read(&other)?, "other bytes on a full disk")
}
