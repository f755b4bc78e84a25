//! `phalanx render`: contact sheets, animated GIFs, things hung on joints.

use super::crowd::write_gltf;
use super::support::{Tested, check, one_line, output, png_size, run, scratch};
use gif::{ColorOutput, DecodeOptions, Repeat};
use image::RgbImage;
use libtest_mimic::Failed;
use phalanx_testkit::trials::needed;
use std::fs::{self, File};

/// Runs `phalanx render` with the software rasteriser, small unless stated otherwise.
fn render(args: &[&str], out: &str) -> Result<String, Failed> {
    let mut all = vec!["render"];
    all.extend(args);
    all.extend(["--renderer", "software", "--out", out]);
    if !args.contains(&"--size") {
        all.extend(["--size", "96x80"]);
    }
    output(&all)
}

fn picture(name: &str) -> Result<RgbImage, Failed> {
    Ok(image::open(scratch().join(name))?.to_rgb8())
}

/// Mean difference of two pictures' channels, and the largest.
fn difference(a: &RgbImage, b: &RgbImage) -> (f64, u8) {
    let all = a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| a.abs_diff(*b));
    let sum: f64 = all.clone().map(f64::from).sum();
    (sum / a.as_raw().len() as f64, all.max().unwrap_or(0))
}

/// A cell of a sheet, without the line at its edges.
fn cell(sheet: &RgbImage, column: u32, row: u32) -> RgbImage {
    image::imageops::crop_imm(sheet, column * 96, row * 80, 95, 79).to_image()
}

pub fn sheets() -> Tested {
    let text = render(&["--clip", "Walk", "--frames", "6", "--columns", "4"], "walk.png")?;
    for part in ["walk.png", "384 x 160", "6 frames", "Walk, 0.000 to 0.833 s", "software"] {
        check(text.contains(part), format!("no {part:?} in {text}"))?;
    }
    check(png_size(&scratch().join("walk.png"))? == (384, 160), "size of the sheet")?;
    let sheet = picture("walk.png")?;
    let cells: Vec<RgbImage> = (0..6).map(|i| cell(&sheet, i % 4, i / 4)).collect();
    for a in 0..6 {
        for b in 0..a {
            let (mean, _) = difference(&cells[a], &cells[b]);
            check(mean > 0.2, format!("frames {a} and {b} differ by {mean}"))?;
            check(mean < 12.0, format!("frames {a} and {b} have other backgrounds: {mean}"))?;
        }
    }
    // The place without a frame shows the background, as the margins of the others do, without a label.
    let empty = cell(&sheet, 3, 1);
    let margin = |image: &RgbImage| image::imageops::crop_imm(image, 0, 14, 10, 60).to_image();
    let (mean, _) = difference(&margin(&empty), &margin(&cells[0]));
    check(mean < 2.0, format!("the empty place is off by {mean}"))?;
    let white = |image: &RgbImage| image.pixels().filter(|p| p.0 == [255; 3]).count();
    check(white(&empty) == 0, "a label on no frame")?;
    check(cells.iter().all(|c| white(c) > 40), "cells without a label")?;
    // A range shows what it says: its first frame is the one at that time.
    render(&["--clip", "Walk", "--time", "0.5..0.5", "--frames", "1"], "half.png")?;
    check(png_size(&scratch().join("half.png"))? == (96, 80), "size of one frame")?;
    let text = render(&["--time", "-1..3"], "rest.png")?;
    check(text.contains("rest pose\n"), text)?;
    // The times printed are those of the cells: held at the ends of the clip.
    for (args, printed) in [
        (&["--clip", "Walk", "--time", "-0.1"][..], "Walk, 0.000 s\n"),
        (&["--blend", "Walk:100:1", "--frames", "2"], "Walk, 1.000 s\n"),
        (&["--blend", "Walk:0:0.5", "--frames", "1"], "0.5 Walk, 0.000 s\n"),
    ] {
        let text = render(args, "printed.png")?;
        check(text.contains(printed), format!("no {printed:?} in {text}"))?;
    }
    Ok(())
}

/// Several rounds of a loop: a sheet without `--frames` shows different poses, and a sheet whose frames show one pose
/// is warned of.
pub fn rounds() -> Tested {
    let small = ["--renderer", "software", "--size", "32x32", "--out", "rounds.png"];
    let repeat = ["render", "--clip", "Walk", "--loop", "repeat", "--time"];
    for (more, warned) in [
        (&["0..4", "--frames", "4"][..], true),
        (&["0..7", "--frames", "8"], true),
        (&["0..7"], false),
        (&["0..1", "--frames", "4"], false),
    ] {
        let out = run(&[&repeat[..], more, &small].concat());
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        check(out.status.success(), said.clone())?;
        let lines = usize::from(warned);
        check(said.lines().count() == lines, format!("{more:?}: {said}"))?;
        check(said.contains("give more --frames") == warned, said)?;
    }
    Ok(())
}

/// Cells of a loop leave out its end, which is its start; a blow is shown to its end.
pub fn ends() -> Tested {
    let last = |clip: &str| -> Result<(f64, f64), Failed> {
        let text = render(&["--clip", clip, "--frames", "4"], "ends.png")?;
        let time = text.split(" to ").nth(1).and_then(|t| t.split(' ').next());
        let info = super::support::json(&["info", "--json"])?;
        let clips = super::support::list(&info, "clips")?;
        let found = clips.iter().find(|c| c["name"] == clip);
        let duration = found.and_then(|c| c["duration"].as_f64());
        Ok((time.ok_or("no time")?.parse()?, duration.ok_or("no clip")?))
    };
    for (clip, share) in [("Walk", 0.75), ("Run", 0.75), ("Walk_RootMotion", 1.0)] {
        let (time, duration) = last(clip)?;
        let wanted = duration * share;
        check((time - wanted).abs() < 2e-3, format!("{clip}: {time} of {duration}"))?;
    }
    Ok(())
}

/// A nod is a loop if its end is its beginning, by the measure of the nod itself.
pub fn nods() -> Tested {
    for (degrees, last) in [
        ([0.0, 1.25, 2.5, 3.75, 5.0], "1.000"),
        ([0.0, 2.5, 5.0, 2.5, 0.2], "1.000"),
        ([0.0, 2.5, 5.0, 2.5, 0.04], "0.750"),
        ([0.0, 0.05, 0.1, 0.05, 0.0], "0.750"),
        ([0.0; 5], "0.750"),
    ] {
        let frames: String = degrees.iter().map(|d| format!("0 0 0 0 0 {d}\n")).collect();
        let text = format!(
            "HIERARCHY\nROOT neck\n{{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation \
             Yrotation Xrotation\n End Site\n {{\n OFFSET 0 1 0\n }}\n}}\nMOTION\nFrames: 5\n\
             Frame Time: 0.25\n{frames}"
        );
        fs::write(scratch().join("nod.bvh"), text)?;
        let text = render(&["nod.bvh", "--clip", "0", "--frames", "4"], "nod.png")?;
        let wanted = format!(", 0.000 to {last} s");
        check(text.contains(&wanted), format!("{degrees:?}: {text}"))?;
    }
    // A part of a loop is none.
    let part = ["--clip", "Walk", "--time", "0..0.02", "--frames", "2"];
    let text = render(&part, "part.png")?;
    check(text.contains(", 0.000 to 0.020 s"), text)
}

/// Models side by side have one ground and one scale, or are fitted; those that are not seen are named.
pub fn beside() -> Tested {
    let named = |name: &str, scale: f32, y: f32| {
        let node =
            format!(r#"[{{"mesh":0,"scale":[{scale},{scale},{scale}],"translation":[0,{y},0]}}]"#);
        write_gltf(&format!("{name}.gltf"), &node)
    };
    named("plain", 1.0, 0.0)?;
    let shown = |name: &str, fit: bool, warned: &str| -> Result<RgbImage, Failed> {
        let (file, out) = (format!("{name}.gltf"), format!("{name}_{fit}.png"));
        let mut args = vec!["render", "plain.gltf", "--beside", &file, "--out", &out];
        args.extend(["--renderer", "software", "--size", "320x240"]);
        args.extend(fit.then_some("--fit-each"));
        let done = run(&args);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        check(done.status.success(), said.clone())?;
        let lines = usize::from(!warned.is_empty());
        check(said.lines().count() == lines, format!("{name}: {said}"))?;
        check(said.contains(warned), format!("{name}: {said}"))?;
        check(said.is_empty() || said.contains(&file), said)?;
        picture(&out)
    };
    let alike = shown("plain", false, "")?;
    check(
        difference(&shown("plain", true, "")?, &alike).0 < 0.01,
        "models of one height are fitted as they are",
    )?;
    for (name, scale, y, warned) in [
        ("small", 0.4, 0.0, ""),
        ("large", 2.5, 0.0, ""),
        ("high", 1.0, 0.5, ""),
        ("giant", 100.0, 0.0, "is out of the picture in 1 of 1 frame; --fit-each"),
        ("away", 1.0, 90.0, "is out of the picture in 1 of 1 frame; --fit-each"),
        ("under", 1.0, -3.0, "is out of the picture in 1 of 1 frame; --fit-each"),
        ("dwarf", 0.004, 0.0, "is too small to be seen in 1 of 1 frame; --fit-each"),
    ] {
        named(name, scale, y)?;
        let (as_it_is, fitted) = (shown(name, false, warned)?, shown(name, true, "")?);
        let (mean, _) = difference(&fitted, &alike);
        check(mean < 0.05, format!("{name}, fitted, differs by {mean}"))?;
        let (mean, _) = difference(&as_it_is, &alike);
        check(mean > 1.0, format!("{name} differs by {mean} only"))?;
        let lower = image::imageops::crop_imm(&as_it_is, 0, 228, 320, 12).to_image();
        let marked = lower.pixels().any(|p| p.0 == [255; 3]);
        check(marked != warned.is_empty(), format!("{name}: marked is {marked}"))?;
    }
    Ok(())
}

pub fn blends() -> Tested {
    // All of the weight for the second clip is that clip, in step, frame by frame.
    let frames = ["--frames", "3", "--columns", "3"];
    let mut args = vec!["--blend", "Run:0:1", "--blend", "Walk:0:0"];
    args.extend(frames);
    render(&args, "all_run.png")?;
    render(&[&["--clip", "Run"][..], &frames].concat(), "run.png")?;
    // The names of both clips are on the cells, hence what is below the label is compared.
    let below = |name: &str| -> Result<RgbImage, Failed> {
        Ok(image::imageops::crop_imm(&picture(name)?, 0, 12, 288, 68).to_image())
    };
    let (all, run) = (below("all_run.png")?, below("run.png")?);
    check(all == run, "a blend of one clip is not the clip")?;
    render(&[&["--blend", "Run:0:1"][..], &frames].concat(), "only_run.png")?;
    check(picture("only_run.png")? == picture("run.png")?, "one clip is a blend of one")?;
    // TIME is where a clip stands, and --time is added to it.
    render(&["--clip", "Run", "--time", "0.3"], "at.png")?;
    render(&["--blend", "Run:0.1:1", "--time", "0.2"], "added.png")?;
    check(picture("at.png")? == picture("added.png")?, "times do not add up")?;
    check(png_size(&scratch().join("at.png"))? == (96, 80), "a time is one frame")?;
    args[1] = "Run:0:0.5";
    args[3] = "Walk:0:0.5";
    args.push("--in-step");
    render(&args, "half_run.png")?;
    render(&[&["--clip", "Walk"][..], &frames].concat(), "no_run.png")?;
    let (half, walk) = (below("half_run.png")?, below("no_run.png")?);
    check(difference(&half, &run).0 > 0.2, "the blend is the second clip")?;
    check(difference(&half, &walk).0 > 0.2, "the blend is the first clip")
}

/// The frames of a GIF as displayed, their delays in hundredths of a second, and the repeats.
fn frames_of(name: &str) -> Result<(Vec<RgbImage>, Vec<u16>, Repeat), Failed> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    let mut decoder = options.read_info(File::open(scratch().join(name))?)?;
    let (w, h) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let (mut seen, mut delays) = (Vec::new(), Vec::new());
    let mut canvas = RgbImage::new(w, h);
    while let Some(frame) = decoder.read_next_frame()? {
        for (i, p) in frame.buffer.chunks_exact(4).enumerate() {
            let (x, y) = (i as u32 % u32::from(frame.width), i as u32 / u32::from(frame.width));
            if p[3] == 255 {
                let at = (u32::from(frame.left) + x, u32::from(frame.top) + y);
                canvas.put_pixel(at.0, at.1, image::Rgb([p[0], p[1], p[2]]));
            }
        }
        delays.push(frame.delay);
        seen.push(canvas.clone());
    }
    let repeat = decoder.repeat();
    Ok((seen, delays, repeat))
}

/// A cell with its lines.
fn sheet_of(column: usize, sheet: &RgbImage) -> RgbImage {
    image::imageops::crop_imm(sheet, column as u32 * 96, 0, 96, 80).to_image()
}

pub fn gifs() -> Tested {
    render(&["--clip", "Jog", "--frames", "7"], "jog.gif")?;
    render(&["--clip", "Jog", "--frames", "7", "--columns", "7"], "jog.png")?;
    let (seen, delays, repeat) = frames_of("jog.gif")?;
    check(seen.len() == 7, format!("{} frames", seen.len()))?;
    check(repeat == Repeat::Infinite, format!("{repeat:?}"))?;
    let total: u16 = delays.iter().sum();
    check(total == 73, format!("the clip takes {total} hundredths of a second"))?;
    // Colours are those of the sheet, nearly, in every frame.
    let sheet = picture("jog.png")?;
    for (i, seen) in seen.iter().enumerate() {
        // A sheet leaves room for its labels.
        check(seen.dimensions() == (96, 80), "size of a frame")?;
        let (mean, _) = difference(seen, &sheet_of(i, &sheet));
        check(mean < 25.0, format!("frame {i} is off by {mean}"))?;
    }
    // The last frame is not the first one again: the step over the end is like the others.
    let step = |a: usize, b: usize| difference(&seen[a], &seen[b]).0;
    let steps: Vec<f64> = (0..7).map(|i| step(i, (i + 1) % 7)).collect();
    let least = steps.iter().fold(f64::MAX, |a, &b| a.min(b));
    check(least > 0.2, format!("{steps:?}"))?;
    check(
        steps[6] < 2.0 * steps[..6].iter().fold(0.0, |a: f64, &b| a.max(b)),
        format!("{steps:?}"),
    )?;
    // By rate; and a picture in which nothing moves.
    render(&["--clip", "Walk", "--fps", "5", "--time", "0..2", "--loop", "repeat"], "slow.gif")?;
    let (seen, delays, _) = frames_of("slow.gif")?;
    check(seen.len() == 10 && delays == [20; 10], format!("{delays:?}"))?;
    render(&["--frames", "3"], "still.gif")?;
    let (seen, _, _) = frames_of("still.gif")?;
    check(seen.len() == 3 && seen[0] == seen[2], "the rest pose moves")
}

pub fn attachments() -> Tested {
    write_gltf("flag.gltf", r#"[{"mesh":0,"scale":[0.4,0.4,0.4]}]"#)?;
    let base = ["--clip", "Wave", "--frames", "4", "--columns", "4"];
    let with = |joint: &str, out: &str| -> Result<RgbImage, Failed> {
        let mut args = base.to_vec();
        args.extend(["--attach", joint]);
        render(&args, out)?;
        picture(out)
    };
    render(&base, "bare.png")?;
    let bare = picture("bare.png")?;
    let left = with("flag.gltf@LeftHand", "left.png")?;
    let right = with(
        "flag.gltf@Hips/Spine/Spine1/Chest/RightShoulder/RightArm/RightForeArm/RightHand",
        "right.png",
    )?;
    check(difference(&left, &bare).0 > 0.2, "nothing hangs on the left hand")?;
    check(difference(&left, &right).0 > 0.2, "left and right are the same")?;
    let out = run(&["render", "--clip", "Wave", "--attach", "flag.gltf@Hand", "--out", "no.png"]);
    one_line(&out, &["built-in character", "\"Hand\"", "\"LeftHand\"", "\"RightHand\""])?;
    let out = run(&["render", "--attach", "missing.glb@LeftHand", "--out", "no.png"]);
    one_line(&out, &["missing.glb"])?;
    check(!scratch().join("no.png").exists(), "a picture of a run that failed")
}

pub fn refusals() -> Tested {
    let usage: &[&[&str]] = &[
        &["render"],
        &["render", "--out", "a.bmp"],
        &["render", "--out", "a"],
        &["render", "--fit-each", "--out", "a.png"],
        &["render", "--out", "a.png", "--size", "0x5"],
        &["render", "--out", "a.png", "--size", "16384x16384"],
        &["render", "--out", "a.png", "--fps", "0"],
        &["render", "--out", "a.gif", "--fps", "1000"],
        &["render", "--out", "a.gif", "--frames", "0"],
        &["render", "--out", "a.gif", "--time", "2..1"],
        &["render", "--out", "a.gif", "--time", "soon"],
        &["render", "--out", "a.png", "--columns", "0"],
        &["render", "--out", "a.png", "--blend", "Run"],
        &["render", "--out", "a.png", "--blend", "Run:0:-1"],
        &["render", "--out", "a.png", "--blend", "Run=0.5"],
        &["render", "--out", "a.png", "--attach", "sword.glb"],
    ];
    for args in usage {
        let out = run(args);
        let error = String::from_utf8_lossy(&out.stderr);
        check(out.status.code() == Some(2), format!("{args:?}: {:?} {error}", out.status))?;
        check(!error.contains("panicked"), error)?;
    }
    let fails = |args: &[&str], parts: &[&str]| {
        let mut all = vec!["render"];
        all.extend(args);
        one_line(&run(&all), parts)
    };
    fails(
        &["--clip", "Moonwalk", "--out", "a.png"],
        &["Moonwalk", "did you mean \"Walk\"", "1 \"Walk\""],
    )?;
    let blend = ["--blend", "Hop:0:0.5", "--out", "a.png"];
    fails(&blend, &["\"Hop\"", "1 \"Walk\""])?;
    let mut five = vec!["--out", "a.png"];
    five.extend(["--blend", "Walk:0:0.2"].into_iter().cycle().take(10));
    fails(&five, &["5 clips are blended", "limit is 4"])?;
    let huge = ["--clip", "Walk", "--size", "4000x4000", "--frames", "10", "--out", "a.png"];
    fails(&huge, &["10 frames", "160000000", "67108864"])?;
    let wide = ["--clip", "Walk", "--size", "9000x2", "--columns", "8", "--out", "a.png"];
    fails(&wide, &["8 columns", "16384"])?;
    fails(&["--clip", "Walk", "--out", "no/folder/a.png"], &["no/folder/a.png"])?;
    check(!scratch().join("a.png").exists(), "a picture of a run that failed")
}

/// The greenman with a sword, and the rider whose joints belong to two skins.
pub fn files() -> Tested {
    let (man, sword) = (needed("greenman.glb")?, needed("greenman_sword.glb")?);
    let man = man.to_string_lossy();
    let held = format!("{}@socket_hand_R", sword.to_string_lossy());
    let base = [&*man, "--clip", "3_attack", "--frames", "4", "--columns", "4"];
    render(&base, "green.png")?;
    let mut args = base.to_vec();
    args.extend(["--attach", &held]);
    render(&args, "green_sword.png")?;
    let (bare, armed) = (picture("green.png")?, picture("green_sword.png")?);
    check(difference(&bare, &armed).0 > 0.2, "there is no sword")?;
    // A character can be attached to a joint of another one, and plays.
    let horse = needed("bl_rider.glb")?;
    let horse = horse.to_string_lossy();
    let riding = format!("{man}@back");
    render(&[&horse, "--clip", "Gallop", "--attach", &riding, "--frames", "3"], "riding.gif")?;
    check(frames_of("riding.gif")?.0.len() == 3, "frames")?;
    check(fs::metadata(scratch().join("riding.gif"))?.len() > 1000, "an empty GIF")
}
