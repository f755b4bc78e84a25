//! `--clips`: clips of other files on a model.

use super::support::{
    Tested, check, json, list, numbers, one_line, output, png_size, run, scratch,
};
use phalanx::format::Library;
use phalanx_testkit::gltf_file::{File, U8};
use phalanx_testkit::trials::needed;
use serde_json::json;
use std::fs;
use std::path::Path;

/// A skinned triangle on two joints, hips and a leg below; `prefix` stands before their names.
pub fn hero(prefix: &str) -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let joints = file.accessor(U8, "VEC4", 3, &[0, 0, 0, 0].repeat(3));
    let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(3));
    let mesh =
        file.mesh(json!({ "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights }));
    let leg = json!({ "name": format!("{prefix}Leg"), "translation": [0.0, -1.0, 0.0] });
    let leg = file.push("nodes", leg);
    let hips = json!({
        "name": format!("{prefix}Hips"), "translation": [0.0, 1.0, 0.0], "children": [leg]
    });
    let hips = file.push("nodes", hips);
    file.push("skins", json!({ "joints": [hips, leg] }));
    file.root["nodes"][mesh]["skin"] = json!(0);
    file
}

/// The same joints without the mesh, twice as large, below an armature, with a clip that moves and turns the hips.
pub fn motion(name: &str, height: f32) -> File {
    let mut file = File::new();
    let leg = json!({ "name": "Leg", "translation": [0.0, -2.0, 0.0] });
    let leg = file.push("nodes", leg);
    let hips = json!({ "name": "Hips", "translation": [0.0, 2.0, 0.0], "children": [leg] });
    let hips = file.push("nodes", hips);
    file.push("nodes", json!({ "name": "Armature", "children": [hips] }));
    let times = file.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let places = [0.0, 2.0, 0.0, 0.0, height, 0.0, 0.0, 2.0, 0.0];
    let places = file.floats("VEC3", &places);
    file.clip(hips, "translation", "LINEAR", times, places);
    let half = 0.5f32.sqrt();
    let turns = [0.0, 0.0, 0.0, 1.0, half, 0.0, 0.0, half, 0.0, 0.0, 0.0, 1.0];
    let turns = file.floats("VEC4", &turns);
    let clip = &mut file.root["animations"][0];
    if let Some(samplers) = clip["samplers"].as_array_mut() {
        samplers.push(json!({ "input": times, "output": turns, "interpolation": "LINEAR" }));
    }
    if let Some(channels) = clip["channels"].as_array_mut() {
        channels.push(json!({ "sampler": 1, "target": { "node": leg, "path": "rotation" } }));
    }
    file.root["animations"][0]["name"] = json!(name);
    file
}

/// A model and two files of one clip each, both named by their exporter.
pub fn written() -> Result<(), libtest_mimic::Failed> {
    let folder = scratch();
    fs::create_dir(folder.join("anims"))?;
    fs::write(folder.join("hero.glb"), hero("mixamorig:").glb())?;
    fs::write(folder.join("anims/walk.glb"), motion("mixamo.com", 2.4).glb())?;
    fs::write(folder.join("anims/run.glb"), motion("Take 001", 3.0).glb())?;
    Ok(())
}

/// A library of files with one clip each names meaningless clips after the files; a file baked alone keeps its names.
pub fn library_of_exported_files() -> Tested {
    let folder = scratch();
    fs::create_dir(folder.join("motions"))?;
    for file in ["walk", "run"] {
        let motion = motion("mixamo.com", 2.4).glb();
        fs::write(folder.join(format!("motions/{file}.glb")), motion)?;
    }
    for (input, expected) in
        [("motions", &["run", "walk"][..]), ("motions/run.glb", &["mixamo.com"])]
    {
        let summary = json(&["bake", input, "--out", "motions.phx", "--json"])?;
        check(list(&summary, "files")?.len() == 1, "one file")?;
        let library = Library::open(&folder.join("motions.phx"))?;
        let names: Vec<_> =
            (0..library.clip_count()).filter_map(|c| Some(library.clip_info(c)?.name)).collect();
        check(names == expected, format!("{input}: {names:?}"))?;
    }
    Ok(())
}

/// Clips that the exporter named take the names of their files; the report says what was bound how.
pub fn bound_by_name() -> Tested {
    written()?;
    let found = json(&["info", "hero.glb", "--clips", "anims/*.glb", "--json"])?;
    let clips = list(&found, "clips")?.iter();
    let names: Vec<_> = clips.map(|c| c["name"].as_str().unwrap_or("?")).collect();
    check(names == ["run", "walk"], format!("{names:?}"))?;
    let bound = list(&found, "bound")?;
    check(bound.len() == 2, "two files")?;
    let report = bound[0]["report"].to_string();
    for part in [
        "2 joints bound, 2 by the same name without prefix",
        "1 joint of the clips is not in the target: \\\"Armature\\\"",
        "root translations are scaled by 0.5000",
    ] {
        check(report.contains(part), format!("{part}: {report}"))?;
    }
    // Two metres of hips are one here: what rises by 0.2 of 2 rises by 0.2 of 1.
    let pose = json(&[
        "pose", "hero.glb", "--clips", "anims", "--clip", "walk", "--time", "0.5", "--json",
    ])?;
    let nodes = list(&pose, "nodes")?.iter();
    let hips = nodes.clone().find(|n| n["name"] == "mixamorig:Hips").ok_or("no hips")?;
    let place = numbers(&hips["local"]);
    check((place[1] - 1.2).abs() < 1e-6 && place[0] == 0.0, format!("{place:?}"))
}

/// Bound clips are drawn, measured, baked and verified.
pub fn played_everywhere() -> Tested {
    written()?;
    let clips = ["--clips", "anims/walk.glb", "--clips", "anims/run.glb"];
    let all = |args: &[&str]| output(&[args, &clips[..]].concat());
    all(&[
        "render", "hero.glb", "--clip", "run", "--out", "a.png", "--frames", "2", "--size", "64x64",
    ])?;
    check(png_size(&scratch().join("a.png"))?.1 > 0, "a picture")?;
    all(&[
        "crowd", "hero.glb", "--count", "5", "--frames", "2", "--size", "64x64", "--out", "b.png",
    ])?;
    let text = all(&["bench", "hero.glb", "--count", "3", "--seconds", "0.01"])?;
    check(text.contains("walk"), text)?;
    all(&["bake", "hero.glb", "--out", "hero.phx"])?;
    let text = output(&[
        "verify",
        "hero.phx",
        "--source",
        "hero.glb",
        "--source",
        "anims/walk.glb",
        "--source",
        "anims/run.glb",
    ])?;
    check(text.contains("2 of 2"), text)?;
    let again = all(&["bake", "hero.glb", "--out", "hero.phx"])?;
    check(again.contains("up to date"), again)?;
    let found = json(&["info", "hero.phx", "--json"])?;
    let names = list(&found, "clips")?.iter();
    let names: Vec<_> = names.map(|c| c["name"].as_str().unwrap_or("?")).collect();
    check(names == ["walk", "run"], format!("{names:?}"))?;
    // A library is a source of clips, too; a clip of a name that is taken gets its file's before it.
    let found = json(&["info", "hero.phx", "--clips", "hero.phx", "--json"])?;
    let names = list(&found, "clips")?.iter();
    let names: Vec<_> = names.map(|c| c["name"].as_str().unwrap_or("?")).collect();
    check(names == ["walk", "run", "hero/walk", "hero/run"], format!("{names:?}"))
}

/// Every command takes the library's options of binding. They are part of the record of sources, and `verify` uses them
/// again.
pub fn bound_with_options() -> Tested {
    written()?;
    // The clip lifts the leg by half a metre, from a rest pose of two metres down; that of the model is one.
    let mut kick = motion("kick", 2.4);
    let times = kick.floats("SCALAR", &[0.0, 1.0]);
    let places = kick.floats("VEC3", &[0.0, -2.0, 0.0, 0.0, -1.5, 0.0]);
    let clip = &mut kick.root["animations"][0];
    if let Some(samplers) = clip["samplers"].as_array_mut() {
        samplers.push(json!({ "input": times, "output": places, "interpolation": "LINEAR" }));
    }
    if let Some(channels) = clip["channels"].as_array_mut() {
        channels.push(json!({ "sampler": 2, "target": { "node": 0, "path": "translation" } }));
    }
    fs::write(scratch().join("kick.glb"), kick.glb())?;
    let at = |name: &str, time: &str, options: &[&str]| -> Result<f32, libtest_mimic::Failed> {
        let pose =
            ["pose", "hero.glb", "--clips", "kick.glb", "--clip", "kick", "--json", "--time", time];
        let pose = json(&[&pose[..], options].concat())?;
        let named = list(&pose, "nodes")?.iter().find(|n| n["name"] == name);
        Ok(numbers(&named.ok_or("no such node")?["local"])[1])
    };
    let close = |found: f32, expected: f32, what: &str| {
        check((found - expected).abs() < 1e-5, format!("{what}: {found}, not {expected}"))
    };
    for (mode, expected) in [
        ("same-offset", -1.0),
        ("skeleton", -1.0),
        ("animation", -1.5),
        ("animation-scaled", -0.75),
        ("animation-relative", -0.5),
    ] {
        close(at("mixamorig:Leg", "1", &["--translations", mode])?, expected, mode)?;
    }
    close(at("mixamorig:Hips", "0.5", &[])?, 1.2, "the ratio of heights")?;
    close(at("mixamorig:Hips", "0.5", &["--root-scale", "0.25"])?, 0.6, "a scale")?;
    // The other commands take them, too.
    let options = ["--clips", "kick.glb", "--translations", "animation", "--root-scale", "0.25"];
    let all = |args: &[&str]| output(&[args, &options[..]].concat());
    let info = all(&["info", "hero.glb", "--json"])?;
    check(info.contains("\"kick\""), info)?;
    all(&[
        "crowd", "hero.glb", "--count", "2", "--frames", "1", "--size", "32x32", "--out", "a.png",
    ])?;
    all(&[
        "render", "hero.glb", "--clip", "kick", "--size", "32x32", "--frames", "1", "--out",
        "b.png",
    ])?;
    all(&["bench", "hero.glb", "--count", "2", "--seconds", "0.01"])?;
    // A bake with other options is another one.
    let bake = |options: &[&str]| {
        let bake = ["bake", "hero.glb", "--clips", "kick.glb", "--out", "hero.phx"];
        let text = output(&[&bake[..], options].concat())?;
        Ok::<bool, libtest_mimic::Failed>(text.contains("(1 up to date)"))
    };
    let modes = ["--translations", "animation"];
    let both = ["--translations", "animation", "--root-scale", "0.25"];
    for (options, done) in [
        (&[][..], false),
        (&[][..], true),
        (&modes[..], false),
        (&modes[..], true),
        (&both[..], false),
        (&both[..], true),
    ] {
        check(bake(options)? == done, format!("{options:?}: {done}"))?;
    }
    let pose = json(&["pose", "hero.phx", "--clip", "kick", "--json", "--time", "1"])?;
    let leg = list(&pose, "nodes")?.iter().find(|n| n["name"] == "mixamorig:Leg");
    // Baking may move a point by 0.1 mm.
    let place = numbers(&leg.ok_or("no leg")?["local"])[1];
    check((place + 1.5).abs() < 1e-4, format!("baked: {place}"))?;
    let verified = output(&["verify", "hero.phx", "--source", "kick.glb"])?;
    check(verified.contains("1 of 1"), verified)?;
    // Clips of an equal skeleton are bound, too, if an option is given.
    let pose = json(&[
        "pose",
        "kick.glb",
        "--clips",
        "kick.glb",
        "--clip",
        "kick/kick",
        "--root-scale",
        "2",
        "--time",
        "0.5",
        "--json",
    ])?;
    let hips = list(&pose, "nodes")?.iter().find(|n| n["name"] == "Hips");
    close(numbers(&hips.ok_or("no hips")?["local"])[1], 4.8, "equal skeletons")?;
    // Usage errors.
    for (args, part) in [
        (
            &["--translations", "bones", "--clips", "kick.glb"][..],
            "animation-scaled or animation-relative",
        ),
        (
            &["--root-scale", "0", "--clips", "kick.glb"][..],
            "expected a number from 0.000001 to 1000000",
        ),
        (
            &["--root-scale", "-1", "--clips", "kick.glb"][..],
            "expected a number from 0.000001 to 1000000",
        ),
        (&["--root-scale", "1"][..], "--clips <FILE>"),
        (&["--translations", "animation"][..], "--clips <FILE>"),
    ] {
        for command in ["info", "pose", "crowd", "render", "bench"] {
            let out = run(&[&[command, "hero.glb"], args].concat());
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            check(
                out.status.code() == Some(2) && text.contains(part),
                format!("{command} {args:?}: {text}"),
            )?;
        }
    }
    Ok(())
}

/// Joints of one name and one parent are found by index; the error says so, and the command line takes it.
pub fn joints_by_index() -> Tested {
    let folder = scratch();
    let mut model = hero("");
    let times = model.floats("SCALAR", &[0.0, 1.0]);
    let values = model.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let twin = model.push("nodes", json!({ "name": "Leg" }));
    let children = [&model.root["nodes"][2]["children"][0], &json!(twin)];
    model.root["nodes"][2]["children"] = json!(children);
    model.clip(twin, "translation", "LINEAR", times, values);
    fs::write(folder.join("twins.glb"), model.glb())?;
    fs::write(folder.join("sword.glb"), hero("").glb())?;
    let attach = |joint: &str| {
        let sword = format!("sword.glb@{joint}");
        run(&[
            "render",
            "twins.glb",
            "--attach",
            &sword,
            "--frames",
            "1",
            "--size",
            "32x32",
            "--out",
            "a.png",
        ])
    };
    one_line(
        &attach("Leg"),
        &[
            "\"Leg\" matches 2 joints, among them Hips/Leg (joint 1) and Hips/Leg (joint 2); their paths are equal, an \
           index finds each",
        ],
    )?;
    for joint in ["1", "2"] {
        let out = attach(joint);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        check(out.status.success(), text)?;
    }
    one_line(&attach("3"), &["joint 3 is out of range, the skeleton has 3 joints"])?;
    fs::write(folder.join("fine.json"), r#"{ "2": { "max_error": 0.00001 } }"#)?;
    output(&["bake", "twins.glb", "--quality", "fine.json", "--out", "twins.phx"])?;
    Ok(())
}

/// Each refusal is one line with the file, the place and both numbers.
pub fn refused() -> Tested {
    written()?;
    let folder = scratch();
    fs::write(folder.join("still.glb"), hero("").glb())?;
    let mut strange = motion("walk", 2.4);
    strange.root["nodes"][0]["name"] = json!("x");
    strange.root["nodes"][1]["name"] = json!("y");
    fs::write(folder.join("strange.glb"), strange.glb())?;
    let info = |file: &str| run(&["info", "hero.glb", "--clips", file]);
    one_line(&info("still.glb"), &["still.glb: contains no clips"])?;
    one_line(
        &info("strange.glb"),
        &[
            "strange.glb: no joint of the clips' skeleton (3 joints, the first \"Armature\") has the name of a joint \
             of the target (2 joints, the first \"mixamorig:Hips\")",
        ],
    )?;
    one_line(&info("none.glb"), &["none.glb"])?;
    one_line(&info("nothing/*.glb"), &["nothing: No such file"])?;
    let out = run(&["bake", "hero.glb", "--clips", "anims", "--out", "folder"]);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    check(out.status.code() == Some(2), format!("{:?}", out.status))?;
    check(text.contains("--clips makes one library"), text)?;
    check(!Path::new("folder").exists(), "nothing is made")?;
    let out = run(&["bake", "hero.glb", "--clips", "strange.glb", "--out", "a.phx"]);
    check(out.status.code() == Some(1), format!("{:?}", out.status))?;
    check(!folder.join("a.phx").exists(), "nothing half done")
}

/// Outfits: a file with the skeleton of the clips twice. Both are driven, and the report says how many are copies.
pub fn on_copies() -> Tested {
    let folder = scratch();
    let mut file = hero("mixamorig:");
    let other = hero("mixamorig:");
    let nodes = other.root["nodes"].as_array().ok_or("nodes")?.clone();
    let first = list(&file.root, "nodes")?.len();
    for mut node in nodes {
        if let Some(children) = node.get_mut("children") {
            let moved: Vec<usize> = numbers(children).iter().map(|n| *n as usize + first).collect();
            *children = json!(moved);
        }
        if node.get("skin").is_some() {
            node["skin"] = json!(1);
        }
        file.push("nodes", node);
    }
    let joints = numbers(&file.root["skins"][0]["joints"]);
    let joints: Vec<usize> = joints.iter().map(|n| *n as usize + first).collect();
    file.push("skins", json!({ "joints": joints }));
    fs::write(folder.join("outfits.glb"), file.glb())?;
    fs::write(folder.join("walk.glb"), motion("Walk", 2.4).glb())?;
    let args = ["pose", "outfits.glb", "--clips", "walk.glb", "--clip", "Walk", "--time", "0.5"];
    let out = run(&args);
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(error.contains("4 joints bound") && error.contains("2 of them in copies"), error)?;
    let pose = json(&[&args[..], &["--json"]].concat())?;
    let hips: Vec<f64> = list(&pose, "nodes")?
        .iter()
        .filter(|n| n["name"] == "mixamorig:Hips")
        .map(|n| n["world"][13].as_f64().unwrap_or(f64::NAN))
        .collect();
    // The clip is of a body twice as large.
    check(hips.len() == 2 && hips.iter().all(|h| (h - 1.2).abs() < 1e-4), format!("{hips:?}"))
}

/// A character, and a clip whose joints have cubic rotations of different key times.
pub const CUBIC_HERO: &str = "../reports/bl_corners_hero.glb";
pub const CUBIC_MOTION: &str = "../reports/two_cubic_motion.glb";

/// The rotation of the first node at [`CUBIC_TIME`], computed from the file's keys in f64.
const CUBIC_ROTATION: [f32; 4] = [-0.58602, 0.19697, 0.08179, 0.78172];
const CUBIC_TIME: &str = "0.7833333333333333";

pub fn cubic_keys_at_other_times() -> Tested {
    let (hero, motion) = (needed(CUBIC_HERO)?, needed(CUBIC_MOTION)?);
    let (hero, motion) = (hero.display().to_string(), motion.display().to_string());
    let turned = |model: &[&str], most: f32| {
        let at = ["--clip", "0", "--time", CUBIC_TIME, "--json"];
        let pose = json(&[&["pose"], model, &at].concat())?;
        let found = numbers(&list(&pose, "nodes")?[0]["local"]);
        let pairs = CUBIC_ROTATION.iter().zip(&found[3..7]);
        let off = |sign: f32| pairs.clone().map(|(a, b)| (a - sign * b).abs()).fold(0.0, f32::max);
        let off = off(1.0).min(off(-1.0));
        check(off < most, format!("{model:?}: {:?}, {off} off", &found[3..7]))
    };
    turned(&[&hero, "--clips", &motion], 2e-5)?;
    // Baked files state how far they are from the file, and `verify` measures the same.
    for (out, exact) in [("exact.phx", true), ("baked.phx", false)] {
        let bake = ["bake", &hero, "--clips", &motion, "--out", out];
        let options: &[&str] = if exact { &["--exact"] } else { &[] };
        output(&[&bake[..], options].concat())?;
        turned(&[out], if exact { 2e-5 } else { 2e-3 })?;
        let verified = json(&["verify", out, "--source", &motion, "--json"])?;
        let error = |key: &str| verified[0][key].as_f64().unwrap_or(f64::NAN);
        let (stated, measured) = (error("stated_error"), error("measured_error"));
        check(
            (exact || measured > 0.0) && stated >= measured * 0.999 && stated < 1.1e-4,
            format!("{out}: {stated} stated, {measured} measured"),
        )?;
    }
    // What binding and f32 round is more than was asked.
    let bake = ["bake", &hero, "--clips", &motion, "--out", "fine.phx"];
    let said = run(&[&bake[..], &["--max-error", "1e-8"]].concat());
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    check(
        said.status.success()
            && text.contains("two_cubic_motion.glb: 1 of 1 clip states more than the max error"),
        text,
    )
}
