//! `phalanx crowd` on a plaza: figures, tiers, budgets, and pictures of any shape.

use super::support::{Tested, check, list, one_line, output, run, scratch};
use image::{Rgb, RgbImage};
use libtest_mimic::Failed;
use serde_json::Value;
use std::fs;

/// A run of few characters on one thread; returns its tables and its figures.
fn plaza(options: &[&str]) -> Result<(String, Value), Failed> {
    let small = [
        "crowd",
        "--plaza",
        "--frames",
        "30",
        "--out",
        "plaza.png",
        "--json",
        "plaza.json",
        "--renderer",
        "software",
    ];
    let text = output(&[&small, options].concat())?;
    let bytes = fs::read(scratch().join("plaza.json"))?;
    Ok((text, serde_json::from_slice(&bytes)?))
}

const SMALL: [&str; 6] = ["--count", "400", "--size", "64x36", "--threads", "1"];

fn small(options: &[&str]) -> Result<(String, Value), Failed> {
    plaza(&[&SMALL, options].concat())
}

/// A figure of the first run; NaN if it is not there.
fn figure(figures: &Value, path: &str) -> f64 {
    let value = figures["runs"][0].pointer(path);
    value.and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// The sum of a figure over the tiers.
fn sum(figures: &Value, name: &str) -> Result<f64, Failed> {
    let tiers = list(&figures["runs"][0], "by_tier")?;
    Ok(tiers.iter().filter_map(|t| t[name].as_f64()).sum())
}

fn near(what: &str, a: f64, b: f64) -> Tested {
    check((a - b).abs() < 1e-6, format!("{what}: {a} is not {b}"))
}

pub fn figures() -> Tested {
    let (text, two) = plaza(&["--count", "400", "--threads", "2", "--size", "64x36"])?;
    for part in [
        "2 threads",
        "1 thread",
        "median frame",
        "advance",
        "events, read",
        "schedule",
        "evaluate",
        "in view of 1920 x 1080",
        "evaluated",
        "crossfades begun",
        "│ tier",
        "evaluation",
        "shared palettes",
        "Tiers with 2 threads: means of 30 frames",
        "plaza.png, 64 x 36",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    check(!text.contains("budget"), "a budget that was not set")?;
    check(two["frames"] == 30 && two["warm_up_frames"] == 240 && two["tiers"] == true, "frames")?;
    let runs = list(&two, "runs")?;
    check(runs.len() == 2 && runs[1]["threads"] == 1, "runs")?;
    // What frames do does not depend on the threads.
    for name in
        ["evaluated_per_frame", "in_view_per_frame", "crossfades_per_frame", "events_per_frame"]
    {
        check(runs[0][name] == runs[1][name], format!("{name} differs"))?;
    }
    for part in ["advance", "events", "schedule", "evaluate"] {
        let time = figure(&two, &format!("/{part}_ns"));
        check(time > 0.0 && time < figure(&two, "/worst_ns"), part)?;
    }
    // Means of all measured frames add up.
    let seen = figure(&two, "/in_view_per_frame");
    check(seen > 80.0 && seen < 250.0, format!("{seen} in view"))?;
    near("characters", sum(&two, "characters_per_frame")?, seen)?;
    let shared = figure(&two, "/shared/characters_per_frame");
    near("shared", sum(&two, "shared_per_frame")?, shared)?;
    let own = sum(&two, "evaluated_per_frame")?;
    let all = own + figure(&two, "/shared/evaluated_per_frame");
    near("evaluated", all, figure(&two, "/evaluated_per_frame"))?;
    check(sum(&two, "ns_per_frame")? > 0.0, "times of tiers")?;
    // Steps of the built-in clips; a fiftieth of the characters fades in every second.
    let steps = figure(&two, "/events_per_frame/markers");
    check(steps > 5.0 && steps < 100.0, format!("{steps} markers"))?;
    near("ends", figure(&two, "/events_per_frame/finishes"), 0.0)?;
    let fades = figure(&two, "/crossfades_per_frame");
    check((0.1..0.2).contains(&fades), format!("{fades} crossfades"))?;

    // Events and crossfades do not depend on tiers.
    let (text, full) = small(&["--full"])?;
    check(text.contains("plaza at full rate"), text.clone())?;
    check(!text.contains("in view of") && !text.contains("│ tier"), text)?;
    check(full["tiers"] == false, "tiers at full rate")?;
    near("all", figure(&full, "/evaluated_per_frame"), 400.0)?;
    check(list(&full["runs"][0], "by_tier")?.is_empty(), "no tiers")?;
    for name in ["events_per_frame", "crossfades_per_frame"] {
        let same = full["runs"][0][name] == runs[0][name];
        check(same, format!("{name} differs at full rate"))?;
    }
    Ok(())
}

pub fn budgets() -> Tested {
    let (text, ten) = small(&["--budget", "10"])?;
    check(ten["budget"] == "10" && text.contains("of a budget of"), text)?;
    near("budget", figure(&ten, "/budget_per_frame"), 10.0)?;
    let beyond = figure(&ten, "/beyond_budget_per_frame");
    let evaluated = figure(&ten, "/evaluated_per_frame");
    check(evaluated <= 10.0 + beyond, "more than the budget")?;
    check(sum(&ten, "waiting_per_frame")? > 1.0, "no palette waits")?;
    let (_, none) = small(&["--budget", "0"])?;
    let beyond = figure(&none, "/beyond_budget_per_frame");
    near("forced", figure(&none, "/evaluated_per_frame"), beyond)?;
    let (_, time) = small(&["--budget", "1.5ms"])?;
    check(time["budget"] == "1500us", "a budget of time")?;
    let allowed = figure(&time, "/budget_per_frame");
    check(allowed >= 64.0, format!("{allowed} palettes allowed"))?;
    // No frame takes a microsecond.
    let (text, little) = small(&["--budget", "1us"])?;
    near("least", figure(&little, "/budget_per_frame"), 64.0)?;
    let text = text.replace('\n', " ");
    check(text.contains("more than the budget of 1.00 µs"), text)
}

pub fn tiers_of_files() -> Tested {
    let write = |text: &str| fs::write(scratch().join("tiers.json"), text);
    write(
        r#"{"tiers": [{"height": 200}, {"height": 1, "rate": 2, "error": 0.02, "level": 2,
        "leave_out": ["LeftHandIndex1"]}], "max_age": 8}"#,
    )?;
    let tiers = ["--tiers", "tiers.json"];
    let (text, figures) = small(&[&tiers[..], &["--wide"]].concat())?;
    let rows = list(&figures["runs"][0], "by_tier")?;
    check(rows.len() == 2 && rows[1]["rate"] == 2, "two tiers")?;
    for part in ["20 mm", "1/2, held", "level 2, 1 left out"] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    // A level that the model lacks is its last, and one line says so.
    write(r#"{"tiers": [{"height": 1, "level": 5}]}"#)?;
    let line = [&["crowd", "--frames", "1", "--out", "plaza.png"], &SMALL[..], &tiers].concat();
    let out = run(&line);
    let said = String::from_utf8(out.stderr)?;
    check(out.status.success() && said.lines().count() == 1, said.clone())?;
    let start = "phalanx: warning: tiers.json: tier 0: level is 5; ";
    check(said.starts_with(start), said)?;

    for (text, parts) in [
        (
            r#"{"tiers": [{"height": 9}, {"height": 1, "leave_out": ["LeftHnad"]}]}"#,
            ["tier 1: leave_out", "no joint \"LeftHnad\"", "\"LeftHand\""],
        ),
        (
            r#"{"tiers": [{"height": 1, "error": 0}]}"#,
            ["tier 0", "error of sharing is 0", "outside"],
        ),
        (r#"{"tiers": []}"#, ["0 tiers", "1 to 16", ""]),
        ("{", ["EOF", "line 1", ""]),
    ] {
        write(text)?;
        let out = run(&line);
        one_line(&out, &["phalanx: tiers.json: ", parts[0], parts[1], parts[2]])?;
    }
    // Files that are none, or too large to be tiers.
    fs::write(scratch().join("large.json"), vec![b' '; (1 << 20) + 1])?;
    for (file, part) in [
        ("missing.json", "missing.json: "),
        (".", ".: "),
        ("large.json", "it has more than 1048576 bytes"),
    ] {
        let out = run(&["crowd", "--count", "5", "--out", "plaza.png", "--tiers", file]);
        one_line(&out, &[part])?;
    }
    // The file is not overwritten.
    write("kept")?;
    for output in ["--json", "--out"] {
        let out = run(&["crowd", "--tiers", "tiers.json", output, "./tiers.json"]);
        let code = out.status.code();
        check(matches!(code, Some(1 | 2)), format!("{output}: {code:?}"))?;
    }
    let kept = fs::read(scratch().join("tiers.json"))? == b"kept";
    check(kept, "the tiers were overwritten")
}

pub fn details() -> Tested {
    let (text, figures) = small(&["--details", "--wide"])?;
    check(text.contains("level 1"), text)?;
    let rows = list(&figures["runs"][0], "by_tier")?;
    check(rows[0]["detail"] == "-" && rows[3]["detail"] == "level 2", "details by tier")
}

/// The share of pixels of people in columns of the lower half: ground and sky are almost grey or blue.
fn people(picture: &RgbImage, columns: std::ops::Range<u32>) -> f64 {
    let rows = picture.height() / 2..picture.height();
    let mut found = 0;
    for x in columns.clone() {
        for y in rows.clone() {
            let [r, g, b] = picture.get_pixel(x, y).0.map(i32::from);
            let warm = r.max(g) - b.min(g) > 40;
            found += u32::from(warm || b - r > 25);
        }
    }
    f64::from(found) / f64::from(columns.len() as u32 * rows.len() as u32)
}

/// The same characters are drawn with tiers as without, in pictures of any shape.
pub fn pictures_of_any_shape() -> Tested {
    for size in ["480x80", "96x96", "60x120"] {
        let options = ["--count", "800", "--threads", "1", "--size", size];
        let mut pictures = Vec::new();
        let mut drawn = Vec::new();
        for more in [&["--full"][..], &[]] {
            let (_, figures) = plaza(&[&options[..], more].concat())?;
            drawn.push(figures["picture"]["characters"].clone());
            let file = scratch().join("plaza.png");
            pictures.push(image::open(file)?.to_rgb8());
        }
        check(
            drawn[0] == drawn[1],
            format!("{size}: {} characters at full rate, {} with tiers", drawn[0], drawn[1]),
        )?;
        let (full, tiers) = (&pictures[0], &pictures[1]);
        let differ = |(a, b): &(&Rgb<u8>, &Rgb<u8>)| {
            let mut pairs = a.0.iter().zip(b.0);
            pairs.any(|(a, b)| a.abs_diff(b) > 40)
        };
        let differ = full.pixels().zip(tiers.pixels()).filter(differ).count();
        let pixels = full.pixels().len();
        check(differ * 50 < pixels, format!("{size}: {differ} of {pixels} pixels differ"))?;
        let width = full.width();
        for flank in [0..width / 8, width - width / 8..width] {
            let (full, tiers) = (people(full, flank.clone()), people(tiers, flank));
            check(
                full > 0.01 && (full - tiers).abs() < 0.05,
                format!("{size}: people on a flank: {full} at full rate, {tiers} with tiers"),
            )?;
        }
    }
    Ok(())
}

/// Models of other sizes than people are scaled, so that the camera is not inside of them.
pub fn of_a_file(file: &str) -> Tested {
    let path = phalanx_testkit::trials::needed(file)?;
    let path = path.to_string_lossy();
    let (text, figures) = plaza(&[&path, "--count", "200", "--threads", "1", "--size", "64x36"])?;
    check(!text.contains("phalanx:"), text)?;
    let seen = figure(&figures, "/in_view_per_frame");
    check(seen > 40.0 && seen < 120.0, format!("{seen} in view"))?;
    // The default tiers are fitted to the model: some of its palettes are shared, by errors of its own units.
    let sharing = list(&figures["runs"][0], "by_tier")?[1]["sharing"].clone();
    check(sharing != "3 mm", format!("errors of people: {sharing}"))?;
    let shared = sum(&figures, "shared_per_frame")?;
    check(shared > 0.0, "no palette is shared")
}
