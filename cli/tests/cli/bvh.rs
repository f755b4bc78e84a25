//! Motion capture (.bvh) as a model of every command.

use super::support::{Tested, check, json, list, numbers, one_line, output, run, scratch};
use libtest_mimic::Failed;
use phalanx::import::ImportOptions;
use phalanx::import::bvh::read_slice;
use phalanx::import::raw::RawChannel;
use std::fmt::Write;
use std::fs;

/// A leg of 85 units that walks two metres along X in two seconds, at 30 Hz.
fn walk(frames: usize) -> String {
    let mut text = "HIERARCHY
ROOT Hips
{
  OFFSET 0 85 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Knee
  {
    OFFSET 0 -45 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -40 0
    }
  }
}
MOTION
"
    .to_owned();
    let _ = writeln!(text, "Frames: {frames}\nFrame Time: 0.033333");
    for frame in 0..frames {
        let x = 200.0 * frame as f64 / 60.0;
        let bend = 30.0 * (frame as f64 / 5.0).sin();
        let _ = writeln!(text, "{x:.3} 85 0  0 {bend:.3} 90  0 {:.3} 0", 0.5 * bend);
    }
    text
}

fn write(name: &str) -> Tested {
    Ok(fs::write(scratch().join(name), walk(61))?)
}

/// Pixels of the bones' colour.
fn bones(picture: &str) -> Result<usize, Failed> {
    let picture = image::open(scratch().join(picture))?.to_rgb8();
    // Sky is blue and the ground grey; sunlit bones are yellowish.
    let bone = |p: &&image::Rgb<u8>| p.0[0] > 120 && i32::from(p.0[0]) - i32::from(p.0[2]) > 28;
    Ok(picture.pixels().filter(bone).count())
}

pub fn every_command() -> Tested {
    write("walk.bvh")?;
    // By its content, too.
    write("walk.txt")?;
    for file in ["walk.bvh", "walk.txt"] {
        let info = json(&["info", file, "--unit", "cm", "--json"])?;
        let joints = list(&info["skeleton"], "joints")?;
        check(joints.len() == 2 && joints[1]["name"] == "Knee", "joints")?;
        let clip = &list(&info, "clips")?[0];
        check(clip["name"] == "walk", "a clip is named after its file")?;
        check(clip["timelines"]["regular"] == 1, "a regular timeline")?;
        let report = list(&info, "report")?;
        let travels = report.iter().all(|e| e["message"].to_string().contains("by 2.000 m"));
        check(report.len() == 1 && travels, format!("{report:?}"))?;
    }
    let info = json(&["info", "walk.bvh", "--json"])?;
    let report = info["report"].to_string();
    check(report.contains("in centimetres (unit 0.01) it is"), format!("no hint in {report}"))?;
    let text = output(&["info", "walk.bvh"])?;
    check(text.contains("--unit cm, or metres as a number"), text)?;
    let args = ["pose", "walk.bvh", "--unit", "0.01", "--clip", "walk", "--time", "2", "--json"];
    let pose = json(&args)?;
    let world = numbers(&pose["nodes"][0]["world"]);
    check((world[12] - 2.0).abs() < 1e-3 && (world[13] - 0.85).abs() < 1e-6, format!("{world:?}"))?;
    check(pose["nodes"][2]["name"] == "Knee_end", "the End Site is a node")?;
    let rows = "walk.csv";
    let bench = ["bench", "walk.bvh", "--count", "1", "--seconds", "0.01", "--csv", rows];
    output(&bench)?;
    check(fs::read_to_string(scratch().join(rows))?.contains("walk.bvh"), "rows of the bench")
}

/// A leg of 0.85 mm: the default error is a tenth of it, and the shell 35 times as long. `info` and `bake` say so, and how
/// to bake it; of a leg of 0.85 m, and of errors in proportion, they say nothing.
pub fn tiny_models_are_spoken_of() -> Tested {
    write("tiny.bvh")?;
    let text = output(&["info", "tiny.bvh", "--unit", "0.00001"])?;
    check(text.contains("0.45") && text.contains(" mm (width x height x depth)"), text.clone())?;
    check(text.contains("0.1 mm, is 22% of its longest side"), text.clone())?;
    check(text.contains("--max-error 0.005% --shell 1.5%"), text)?;
    let text = output(&["info", "tiny.bvh", "--unit", "cm"])?;
    check(!text.contains("tiny:") && !text.contains("max-error"), text)?;
    let bake = |unit: &str, more: &[&str]| -> Result<String, Failed> {
        let args = ["bake", "tiny.bvh", "--unit", unit, "--out", "tiny.phx"];
        let _ = fs::remove_file(scratch().join("tiny.phx"));
        let out = run(&[&args, more].concat());
        check(out.status.success(), "a bake failed")?;
        Ok(String::from_utf8(out.stderr)?)
    };
    let error = bake("0.00001", &[])?;
    for part in [
        "the max error, 0.1 mm, is 22% of the model's longest side, 0.45 mm; --max-error 0.005%",
        "the shell, 30 mm, is 6667% of the model's longest side, 0.45 mm; --shell 1.5%",
    ] {
        check(error.contains(part), error.clone())?;
    }
    let error = bake("0.00001", &["--exact"])?;
    check(!error.contains("longest side"), error)?;
    let error = bake("0.00001", &["--max-error", "1e-7", "--shell", "1e-5"])?;
    check(!error.contains("longest side"), error)?;
    // Of a model of 45 units the shell is nothing.
    let error = bake("1", &[])?;
    check(
        error.contains("the shell, 30 mm, is 0.0667% of")
            && !error.contains("the max error, 0.1 mm, is"),
        error.clone(),
    )?;
    // But f32 rounds 45 m to more than a tenth of a millimetre.
    check(error.contains("1 of 1 clip states more than the max error, 0.1 mm: up to 0.1"), error)?;
    let error = bake("cm", &[])?;
    check(!error.contains("longest side"), error)
}

/// Models without meshes are drawn as octahedra, by both renderers and in crowds.
pub fn is_drawn() -> Tested {
    write("walk.bvh")?;
    let small = ["--unit", "cm", "--size", "160x160", "--renderer", "software"];
    let render = |more: &[&str]| {
        let args = [&["render", "walk.bvh", "--frames", "1"], &small[..], more].concat();
        output(&args)
    };
    render(&["--clip", "walk", "--time", "0", "--out", "start.png"])?;
    render(&["--clip", "walk", "--time", "1", "--out", "later.png"])?;
    for picture in ["start.png", "later.png"] {
        let drawn = bones(picture)?;
        check((40..4_000).contains(&drawn), format!("{picture}: {drawn} pixels"))?;
    }
    let read = |name: &str| fs::read(scratch().join(name));
    check(read("start.png")? != read("later.png")?, "the same pose twice")?;
    let crowd = ["crowd", "walk.bvh", "--count", "9", "--frames", "2", "--out", "crowd.png"];
    let said = output(&[&crowd[..], &small].concat())?;
    // Two bones of eight triangles each.
    check(said.contains(" 144 triangles"), said)?;
    check(bones("crowd.png")? > 50, "a crowd of nothing")
}

pub fn is_baked() -> Tested {
    write("walk.bvh")?;
    fs::create_dir_all(scratch().join("takes/day"))?;
    fs::write(scratch().join("takes/day/one.BVH"), walk(31))?;
    fs::write(scratch().join("takes/two.bvh"), walk(40))?;
    let done = output(&["bake", "takes", "--unit", "cm", "--out", "all.phx", "--prefix"])?;
    check(done.contains("2 clips"), done)?;
    let info = json(&["info", "all.phx", "--json"])?;
    let names: Vec<_> = list(&info, "clips")?.iter().map(|c| &c["name"]).collect();
    check(names == ["day/one/one", "two/two"], format!("{names:?}"))?;
    // The unit is part of what an output was made from.
    let bake = |unit: &str| output(&["bake", "walk.bvh", "--unit", unit, "--out", "walk.phx"]);
    check(bake("cm")?.contains("(0 up to date)"), "a first bake")?;
    check(bake("0.01")?.contains("(1 up to date)"), "the same unit")?;
    let verified = output(&["verify", "walk.phx", "--source", "walk.bvh"])?;
    check(verified.contains("1 of 1"), verified)?;
    check(bake("0.02")?.contains("(0 up to date)"), "another unit")?;
    // What was baked is what was captured.
    bake("cm")?;
    let options = ImportOptions { unit: 0.01, ..ImportOptions::default() };
    let (raw, _) = read_slice(walk(61).as_bytes(), "walk.bvh", &options)?;
    let tracks = &raw.clips[0].tracks;
    let track = tracks.iter().find(|t| t.channel == RawChannel::Translation);
    let places = &track.ok_or("no translations")?.values;
    for frame in [0usize, 17, 60] {
        let time = (frame as f64 * 0.033_333).to_string();
        let pose = json(&["pose", "walk.phx", "--clip", "0", "--time", &time, "--json"])?;
        let world = numbers(&pose["nodes"][0]["world"]);
        let apart = (0..3).map(|c| (world[12 + c] - places[3 * frame + c]).abs());
        let apart = apart.fold(0.0, f32::max);
        check(apart < 2e-4, format!("frame {frame}: {apart} m"))?;
    }
    Ok(())
}

pub fn refusals() -> Tested {
    let broken = walk(3).replace("Frames: 3", "Frames: 4");
    fs::write(scratch().join("broken.bvh"), &broken)?;
    fs::write(scratch().join("other.bvh"), b"{}")?;
    fs::write(scratch().join("cut.txt"), &walk(3)[..60])?;
    let line = broken.lines().count() + 1;
    let place = format!("line {line}, column 1: 4 frames are declared, there are 3");
    for command in ["info", "pose", "bench"] {
        one_line(&run(&[command, "broken.bvh"]), &["broken.bvh: ", &place])?;
    }
    for (command, out) in [("crowd", "a.png"), ("render", "a.png"), ("bake", "a.phx")] {
        one_line(&run(&[command, "broken.bvh", "--out", out]), &["broken.bvh: ", &place])?;
        check(!scratch().join(out).exists(), "an output of nothing")?;
    }
    one_line(
        &run(&["info", "other.bvh"]),
        &["other.bvh: line 1, column 1: a BVH file begins with HIERARCHY, this one with \"{\""],
    )?;
    one_line(&run(&["info", "cut.txt"]), &["cut.txt: line 5"])?;
    // The name of a take is not taken for a picture.
    let wrong = run(&["crowd", "--out", "walk.png", "--json", "walk.bvh"]);
    one_line(&wrong, &["walk.bvh", "--json"])?;
    for unit in ["0", "-1", "feet", "nan"] {
        let out = run(&["info", "broken.bvh", &format!("--unit={unit}")]);
        check(out.status.code() == Some(2), format!("--unit={unit}"))?;
    }
    Ok(())
}
