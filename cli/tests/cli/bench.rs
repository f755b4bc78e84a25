//! `phalanx bench`: tables, rows in files, baselines.

use super::support::{Tested, check, list, one_line, output, run, scratch};
use libtest_mimic::Failed;
use phalanx_testkit::trials::needed;
use serde_json::Value;
use std::fs;

/// The options that make a run as short as it can be.
const SHORT: [&str; 3] = ["bench", "--seconds", "0.00001"];

fn short(more: &[&'static str]) -> Vec<&'static str> {
    SHORT.iter().chain(more).copied().collect()
}

fn read(name: &str) -> Result<Value, Failed> {
    Ok(serde_json::from_slice(&fs::read(scratch().join(name))?)?)
}

fn write(name: &str, value: &Value) -> Tested {
    Ok(fs::write(scratch().join(name), value.to_string())?)
}

/// One workload's chains and all stages, as JSON in a file.
fn small(name: &'static str) -> Result<Value, Failed> {
    output(&short(&["--count", "2", "--threads", "1", "--json", name]))?;
    read(name)
}

pub fn tables_and_rows() -> Tested {
    let table = output(&short(&[
        "--wide",
        "--count",
        "1",
        "--count",
        "5",
        "--count",
        "1",
        "--threads",
        "1",
        "--threads",
        "2",
        "--json",
        "rows.json",
        "--csv",
        "rows.csv",
    ]))?;
    for part in [
        "built-in character",
        "47 joints",
        "Walk, Jog, Run",
        "Wave, on Spine1 and below",
        "processor",
        "instruction set",
        "local_to_model",
        "blend+additive",
        "C1",
        "C3",
        "textbook",
        "advance",
        "GB/s",
    ] {
        check(table.contains(part), format!("no {part:?} in\n{table}"))?;
    }
    check(
        table.contains("build with --release") == cfg!(debug_assertions),
        "debug builds are warned of, others are not",
    )?;
    let document = read("rows.json")?;
    check(document["machine"]["cores"].as_u64() > Some(0), "the machine")?;
    let rows = list(&document, "rows")?;
    check(rows.len() == 5 + 3 * 2 * 2, format!("{} rows", rows.len()))?;
    for row in rows {
        let number = |field: &str| row[field].as_f64().unwrap_or(f64::NAN);
        for field in ["ns_per_character", "min", "textbook_ns", "textbook_min"] {
            check(number(field) > 0.0, format!("{field} in {row}"))?;
        }
        check(number("min") <= number("ns_per_character"), row.to_string())?;
        check(number("noise") >= 0.0, row.to_string())?;
        check(row["simd"].is_string(), row.to_string())?;
        if row["kind"] == "chain" {
            check(number("bytes") == 47.0 * 48.0, row.to_string())?;
            check(number("advance_ns") > 0.0, row.to_string())?;
            let written = number("bytes") / number("ns_per_character");
            check((number("gb_per_s") - written).abs() <= 1e-9 * written, row.to_string())?;
        }
    }
    for workload in ["C1", "C2", "C3"] {
        for (count, threads) in [(1, 1), (1, 2), (5, 1), (5, 2)] {
            let found = rows.iter().filter(|r| {
                r["workload"] == workload && r["count"] == count && r["threads"] == threads
            });
            check(found.count() == 1, format!("{workload} of {count} on {threads}"))?;
        }
    }
    let csv = fs::read_to_string(scratch().join("rows.csv"))?;
    let mut lines = csv.lines();
    let header = lines.next().unwrap_or_default();
    let fields: Vec<&str> = header.split(',').collect();
    let of_json = rows[0].as_object().ok_or("a row is no object")?;
    check(
        fields.len() == of_json.len() && fields.iter().all(|&f| of_json.contains_key(f)),
        format!("fields of CSV and JSON differ: {header}"),
    )?;
    check(lines.count() == rows.len(), "rows of CSV and JSON differ")
}

/// Makes every row of a file so slow that no run comes near it, with so much noise or none.
fn slowed(figures: &Value, name: &str, noise: f64) -> Tested {
    let mut slow = figures.clone();
    for row in slow["rows"].as_array_mut().ok_or("no rows")? {
        row["ns_per_character"] = 1e30.into();
        row["noise"] = noise.into();
    }
    write(name, &slow)
}

/// Two runs of the same take different times, hence the baselines' times are made up: no real one is near.
pub fn a_baseline_of_the_same_machine() -> Tested {
    let same = ["--count", "2", "--threads", "1"];
    output(&[&short(&same)[..], &["--json", "base.json", "--csv", "base.csv"]].concat())?;
    let figures = read("base.json")?;
    slowed(&figures, "noisy.json", 1e30)?;
    slowed(&figures, "slow.json", 0.0)?;
    for (file, still) in [("noisy.json", 8), ("slow.json", 0)] {
        let text = output(&[&short(&same)[..], &["--baseline", file]].concat())?;
        check(
            text.contains(&format!("Against {file}, tolerance 5%:"))
                && text.contains(&format!("{still} of 8 rows moved by no more than the noise"))
                && text.matches("faster").count() == 8 - still
                && !text.contains("differs: baseline")
                && !text.contains("only in the baseline"),
            text,
        )?;
    }
    // A bare list of rows is read, too; the file that is read may be written again.
    write("list.json", &read("slow.json")?["rows"])?;
    output(&[&short(&same)[..], &["--baseline", "list.json", "--json", "list.json"]].concat())?;
    check(list(&read("list.json")?, "rows")?.len() == 8, "not replaced")
}

/// Nothing is measured: what a run stored is held against itself, in both forms, and against copies of it
/// with other times.
pub fn regressions_exit_with_1() -> Tested {
    let same = ["--count", "2", "--threads", "1"];
    let both = ["--json", "now.json", "--csv", "now.csv"];
    output(&[&short(&same)[..], &both].concat())?;
    for newer in both.iter().skip(1).step_by(2) {
        let text = output(&["bench", "--compare", newer, "--baseline", "now.json"])?;
        check(
            text.starts_with("Against now.json, tolerance 5%:")
                && text.contains("8 of 8 rows moved by no more than the noise"),
            text,
        )?;
    }
    // 1,000 ns and no noise, but for one row that takes 1,060.
    let mut rows = read("now.json")?["rows"].clone();
    let rows = rows.as_array_mut().ok_or("no rows")?;
    for row in rows.iter_mut() {
        row["ns_per_character"] = 1000.0.into();
        row["noise"] = 0.0.into();
    }
    write("fast.json", &rows.clone().into())?;
    let row = rows.iter_mut().find(|r| r["workload"] == "C2");
    row.ok_or("no row C2")?["ns_per_character"] = 1060.0.into();
    write("now.json", &rows.clone().into())?;
    let compare = ["bench", "--compare", "now.json", "--baseline", "fast.json"];
    let out = run(&compare);
    let error = String::from_utf8(out.stderr)?;
    check(out.status.code() == Some(1), format!("{:?}", out.status))?;
    let expected = "phalanx: slower than fast.json by more than 5%: C2 of 2 on 1 thread \
                (1.00 µs to 1.06 µs, +6.0%)\n";
    check(error == expected, error)?;
    let table = String::from_utf8(out.stdout)?;
    check(table.contains("regression"), table)?;
    let text = output(&[&compare[..], &["--tolerance", "7"]].concat())?;
    check(text.contains("slower, tolerated"), text)?;
    let text = output(&["bench", "--compare", "fast.json", "--baseline", "now.json"])?;
    check(text.contains("faster"), text)?;
    // What is measured is not asked for where nothing is.
    for more in [&["--count", "2"][..], &["--json", "a.json"], &["pab.glb"]] {
        let out = run(&[&compare[..], more].concat());
        check(out.status.code() == Some(2), format!("{more:?}"))?;
    }
    let out = run(&["bench", "--compare", "now.json"]);
    check(out.status.code() == Some(2), "nothing to compare with")
}

pub fn what_cannot_be_compared_is_said() -> Tested {
    let mut other = small("other.json")?;
    let same = ["--count", "2", "--threads", "1"];
    let rows = other["rows"].as_array_mut().ok_or("no rows")?;
    for row in rows.iter_mut() {
        row["cpu"] = "abacus".into();
        row["ns_per_character"] = 1e30.into();
    }
    if let Some(row) = rows.last_mut() {
        row["count"] = 77.into();
    }
    write("other.json", &other)?;
    let text = output(&[&short(&same)[..], &["--baseline", "other.json"]].concat())?;
    for part in [
        "processor differs: baseline \"abacus\"",
        "only in the baseline: C3 of 77 on 1 thread",
        "not in the baseline: C3 of 2 on 1 thread",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    // Another model, and another level, have nothing in common with this run.
    for (field, value) in [("model", "horse.glb"), ("simd", "mmx")] {
        let mut none = small("none.json")?;
        for row in none["rows"].as_array_mut().ok_or("no rows")? {
            row[field] = value.into();
        }
        write("none.json", &none)?;
        let out = run(&[&short(&same)[..], &["--baseline", "none.json"]].concat());
        let error = String::from_utf8(out.stderr)?;
        check(
            out.status.code() == Some(1)
                && error.starts_with("phalanx: none.json: none of its 8 rows")
                && error.contains(value)
                && error.lines().count() == 1,
            error,
        )?;
    }
    Ok(())
}

pub fn files_that_are_no_baselines() -> Tested {
    let good = small("good.json")?;
    let doctored = |name: &str, change: fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        write(name, &value)
    };
    doctored("negative.json", |v| v["rows"][3]["ns_per_character"] = (-1.0).into())?;
    doctored("zero.json", |v| v["rows"][0]["ns_per_character"] = 0.into())?;
    doctored("text.json", |v| v["rows"][0]["noise"] = "much".into())?;
    doctored("missing.json", |v| {
        v["rows"][0].as_object_mut().map(|row| row.remove("count"));
    })?;
    doctored("twice.json", |v| v["rows"][1] = v["rows"][0].clone())?;
    for (name, bytes) in [
        ("empty.base", &b""[..]),
        ("words.base", b"once upon a time"),
        ("other.csv", b"a,b\n1,2\n"),
        ("cut.json", b"{\"rows\":[{"),
        ("binary.base", b"\xff\xfe\x00"),
        ("norows.json", b"{}"),
    ] {
        fs::write(scratch().join(name), bytes)?;
    }
    for (file, part) in [
        ("nowhere.json", "cannot be read"),
        (".", ""),
        ("empty.base", "not written by `phalanx bench`"),
        ("words.base", "not written by `phalanx bench`"),
        ("other.csv", "not written by `phalanx bench`"),
        ("cut.json", "not written by `phalanx bench`"),
        ("binary.base", "cannot be read"),
        ("norows.json", "not written by `phalanx bench`"),
        ("negative.json", "row 4: ns_per_character is -1"),
        ("zero.json", "row 1: ns_per_character is 0"),
        ("text.json", "much"),
        ("missing.json", "count"),
        ("twice.json", "rows 1 and 2 are both sample"),
    ] {
        one_line(&run(&["bench", "--baseline", file]), &[file, part])?;
    }
    // It has no end, and says that it has no bytes.
    if cfg!(unix) {
        let endless = run(&["bench", "--baseline", "/dev/zero"]);
        one_line(&endless, &["/dev/zero", "larger than 16777216 bytes"])?;
    }
    Ok(())
}

pub fn choices_that_do_not_exist() -> Tested {
    let unknown = |args: &[&str], parts: &[&str]| one_line(&run(args), parts);
    unknown(
        &["bench", "--clip", "Walk", "--clip", "Moonwalk"],
        &["Moonwalk", "did you mean \"Walk\"", "1 \"Walk\""],
    )?;
    unknown(&["bench", "--additive", "Moonwalk"], &["Moonwalk", "1 \"Walk\""])?;
    unknown(&["bench", "--mask", "Tail"], &["Tail", "47"])?;
    unknown(&["bench", "--mask", "spine"], &["\"spine\"; did you mean \"Spine\""])?;
    let four = ["--clip", "0", "--clip", "1", "--clip", "2", "--clip", "3"];
    let out = run(&[&["bench"], &four[..]].concat());
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.code() == Some(2), error.clone())?;
    check(error.contains("4 clips") && error.contains("up to 3"), error)?;
    let twice = ["bench", "--json", "same.out", "--csv", "same.out"];
    unknown(&twice, &["same.out", "--json", "--csv"])?;
    let text = output(&short(&[
        "--count",
        "1",
        "--threads",
        "1",
        "--clip",
        "Idle",
        "--clip",
        "4",
        "--additive",
        "Cheer",
        "--mask",
        "Hips/Spine",
        "--json",
        "chosen.json",
    ]))?;
    check(text.contains("Idle, Wave, Idle"), text.clone())?;
    check(text.contains("Cheer, on Spine and below"), text)?;
    let chosen = read("chosen.json")?;
    check(chosen["rows"][0]["mask"] == "Spine", "mask")
}

/// The default clips and the default additive clip of a model's workloads.
pub fn any_model(file: &'static str, clips: &str, additive: &str) -> Tested {
    let path = needed(file)?;
    let path = path.to_string_lossy();
    let args = ["--count", "1", "--count", "33", "--threads", "2"];
    let text = output(&[&SHORT[..], &[&path], &args].concat())?;
    for part in [file, clips, additive] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    Ok(())
}

pub fn no_clips() -> Tested {
    let bare = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{}]}"#;
    fs::write(scratch().join("clipless.gltf"), bare)?;
    one_line(&run(&["bench", "clipless.gltf"]), &["clipless.gltf", "no clips"])
}

/// A living crowd as small as it can be, without its long clips.
const LIVE: [&str; 27] = [
    "bench",
    "--live",
    "--count",
    "200",
    "--library",
    "30",
    "--frames",
    "3",
    "--seconds",
    "0.00001",
    "--group",
    "workloads",
    "--group",
    "variety",
    "--group",
    "churn",
    "--group",
    "attachments",
    "--group",
    "overrides",
    "--group",
    "pose",
    "--group",
    "rigs",
    "--group",
    "mixers",
    "--wide",
];

/// Rows, aims, frames and plot of a living crowd, and its own figures as a baseline.
pub fn of_a_living_crowd() -> Tested {
    let files = ["--json", "live.json", "--csv", "live.csv", "--plot", "live.svg"];
    let text = output(&[&LIVE[..], &files].concat())?;
    for part in [
        "47 joints",
        "one clip each",
        "churn of 200, 30 clips",
        "worst frame",
        "serial share",
        "C1, evaluate alone",
        "1 rig",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    let document = read("live.json")?;
    let rows = list(&document, "rows")?;
    // C1 and C2 are rows of the workloads, and compared with in other groups.
    check(rows.len() == 3 + 4 + 2 + 3 + 2 + 15 + 6 + 1, format!("{} rows", rows.len()))?;
    for row in rows {
        let number = |field: &str| row[field].as_f64().unwrap_or(f64::NAN);
        for field in ["ns_per_character", "min", "advance_ns", "clip_count", "rigs"] {
            check(number(field) > 0.0, format!("{field} in {row}"))?;
        }
        check(row["kind"] == "live", row.to_string())?;
        let churn = row["workload"] == "churn";
        check(row["worst_ns"].is_f64() == churn, row.to_string())?;
        let calls = ["overrides", "two legs", "look-at", "feet", "set_poses"];
        let name = row["workload"].as_str().unwrap_or_default();
        let asks = churn || calls.iter().any(|call| name.starts_with(call));
        check(row["requests_ns"].is_f64() == asks, row.to_string())?;
    }
    let aims = list(&document, "aims")?;
    for aim in aims {
        check(aim["value"].is_f64(), aim.to_string())?;
        // They are for the default sizes.
        check(aim["aim"].is_null() && aim["kept"].is_null(), aim.to_string())?;
    }
    let frames = list(&document, "frames")?;
    check(frames.iter().all(|f| f["ns"].as_array().map(Vec::len) == Some(3)), "the frames")?;
    let csv = fs::read_to_string(scratch().join("live.csv"))?;
    check(csv.lines().count() == 1 + rows.len(), "rows of CSV and JSON differ")?;
    for newer in ["live.json", "live.csv"] {
        let text = output(&["bench", "--compare", newer, "--baseline", "live.json"])?;
        let still = format!("{0} of {0} rows moved by no more", rows.len());
        check(text.contains(&still), text)?;
    }
    let plot = fs::read_to_string(scratch().join("live.svg"))?;
    check(plot.starts_with("<svg"), "no SVG")?;
    for part in ["two clips each", "ns per character", "Frames of churn"] {
        check(plot.contains(part), format!("no {part:?} in the plot"))?;
    }
    check(!plot.contains("baseline"), "there was no baseline")?;
    // Beside the baseline, however slow it was.
    let rest = ["--plot", "both.svg", "--baseline", "live.json", "--tolerance", "1000000"];
    output(&[&LIVE[..], &rest].concat())?;
    let plot = fs::read_to_string(scratch().join("both.svg"))?;
    check(plot.contains("churn, baseline"), "no baseline in the plot")?;
    check(plot.contains("30 clips, baseline"), "no frames of the baseline")
}

pub fn living_crowds_that_are_refused() -> Tested {
    let name = |args: &[&str], parts: &[&str]| one_line(&run(args), parts);
    name(&["bench", "--live", "--plot", "a.glb"], &["a.glb", "--plot"])?;
    let twice = ["bench", "--live", "--plot", "same.out", "--csv", "same.out"];
    name(&twice, &["same.out", "--plot", "--csv"])?;
    let many = ["bench", "--live", "--count", "999999999"];
    name(&many, &["999999999", "bytes"])
}
