//! Files of clips for a model: skeletons that differ, names that clash, and the messages about them.

use super::clips::{hero, motion, written};
use super::support::{Tested, check, json, list, numbers, one_line, output, run, scratch};
use libtest_mimic::Failed;
use phalanx_testkit::gltf_file::File;
use serde_json::json;
use std::fs;
use std::process::Output;

fn error(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// True if a text holds a word of 16 hexadecimal digits.
fn has_hash(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|w| w.len() == 16 && w.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Bake and merge name the first joint that differs with both values, and how its clips can be bound.
pub fn skeletons_that_differ() -> Tested {
    let folder = scratch();
    let mut tall = motion("walk", 2.4);
    tall.root["nodes"][0]["translation"] = json!([0.0, -2.5, 0.0]);
    fs::write(folder.join("walk.glb"), motion("walk", 2.4).glb())?;
    fs::write(folder.join("tall.glb"), tall.glb())?;
    let mut strange = motion("walk", 2.4);
    for (node, name) in ["x", "y", "z"].iter().enumerate() {
        strange.root["nodes"][node]["name"] = json!(name);
    }
    fs::write(folder.join("strange.glb"), strange.glb())?;
    for file in ["walk", "tall", "strange"] {
        output(&["bake", &format!("{file}.glb"), "--out", &format!("{file}.phx")])?;
    }
    let differs = "its skeleton differs from that of";
    let values = "joint 2 \"Leg\": the rest translation is [0.0, -2.5, 0.0], in the other skeleton [0.0, -2.0, 0.0]";
    let bake = "; --clips binds clips of other skeletons by the names of joints";
    let baked = run(&["bake", "walk.glb", "tall.glb", "--prefix", "--out", "a.phx"]);
    let said = format!("tall.glb: {differs} walk.glb: {values}{bake}");
    check(error(&baked).contains(&said), error(&baked))?;
    let laid = run(&["bake", "tall.glb", "--layout", "walk.phx", "--out", "out"]);
    let said = format!("tall.glb: {differs} walk.phx: {values}{bake}");
    check(error(&laid).contains(&said), error(&laid))?;
    let laid = run(&["bake", "tall.glb", "--layout", "walk.phx", "--out", "b.phx"]);
    check(error(&laid).contains(&said), error(&laid))?;
    let merged = run(&["merge", "walk.phx", "tall.phx", "--out", "a.phx"]);
    let advice =
        "; `phalanx bake MODEL --clips FILE` binds clips of other skeletons by the names of joints";
    let said = format!("tall.phx: {differs} walk.phx: {values}{advice}");
    one_line(&merged, &[&said])?;
    // Nothing would be bound: no advice.
    let other = run(&["merge", "walk.phx", "strange.phx", "--out", "a.phx"]);
    one_line(&other, &["strange.phx: ", "the name is \"z\""])?;
    for out in [&baked, &laid, &merged, &other] {
        check(!has_hash(&error(out)), error(out))?;
    }
    check(!error(&other).contains("--clips"), error(&other))?;
    check(!folder.join("a.phx").exists(), "nothing is made")
}

/// Two legs in the order that a skin lists them, of which one moves; `legs` are in that order.
fn two_legs(name: &str, legs: [&str; 2], height: f32) -> File {
    let mut file = File::new();
    let mut joints = Vec::new();
    for (leg, side) in [("Left", 0.1), ("Right", -0.1)] {
        joints.push(file.push("nodes", json!({ "name": leg, "translation": [side, -1.0, 0.0] })));
    }
    let hips = json!({ "name": "Hips", "translation": [0.0, 1.0, 0.0], "children": joints });
    let hips = file.push("nodes", hips);
    let listed = legs.map(|leg| joints[usize::from(leg == "Right")]);
    file.push("skins", json!({ "joints": [hips, listed[0], listed[1]] }));
    let times = file.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let places = [0.1, -1.0, 0.0, 0.1, height, 0.3, 0.1, -1.0, 0.0];
    let places = file.floats("VEC3", &places);
    file.clip(joints[0], "translation", "LINEAR", times, places);
    file.root["animations"][0]["name"] = json!(name);
    file
}

/// Files whose skins list the same joints in different orders are baked and merged.
pub fn joints_in_another_order() -> Tested {
    let folder = scratch();
    fs::write(folder.join("walk.glb"), two_legs("walk", ["Left", "Right"], -0.5).glb())?;
    fs::write(folder.join("run.glb"), two_legs("run", ["Right", "Left"], -0.25).glb())?;
    for (file, out) in [("walk.glb", "walk.phx"), ("run.glb", "run.phx")] {
        output(&["bake", file, "--out", out])?;
    }
    output(&["bake", "walk.glb", "run.glb", "--out", "baked.phx"])?;
    output(&["merge", "walk.phx", "run.phx", "--out", "merged.phx"])?;
    // A file of its own keeps its order, which a layout does not fit.
    let laid = run(&["bake", "run.glb", "--layout", "walk.phx", "--out", "out"]);
    let said = "walk.phx: the joints are the same, in another order; --clips binds clips";
    check(error(&laid).contains(said), error(&laid))?;
    for library in ["baked.phx", "merged.phx"] {
        check(names(library)? == ["walk", "run"], library)?;
        for (clip, height) in [("walk", -0.5), ("run", -0.25)] {
            let pose = json(&["pose", library, "--clip", clip, "--time", "0.5", "--json"])?;
            for (leg, expected) in [("Left", [0.1, height, 0.3]), ("Right", [-0.1, -1.0, 0.0])] {
                let mut nodes = list(&pose, "nodes")?.iter();
                let node = nodes.find(|n| n["name"] == leg).ok_or("no leg")?;
                let found = numbers(&node["local"]);
                let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
                let apart = apart.fold(0.0, f32::max);
                check(apart < 1e-3, format!("{library}, {clip}, {leg}: {found:?}"))?;
            }
        }
        let sources = ["--source", "walk.glb", "--source", "run.glb"];
        let verified = output(&[&["verify", library][..], &sources].concat())?;
        check(verified.contains("2 of 2"), verified)?;
    }
    Ok(())
}

/// A model that is read and cannot be built is named once, and no file of clips in its place.
pub fn a_model_that_is_refused() -> Tested {
    written()?;
    let mut broken = hero("");
    let mut far = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    far[12] = 1e30;
    let matrices = broken.floats("MAT4", &far.repeat(2));
    broken.root["skins"][0]["inverseBindMatrices"] = json!(matrices);
    fs::write(scratch().join("broken.glb"), broken.glb())?;
    let out = run(&["bake", "broken.glb", "--clips", "anims", "--out", "a.phx"]);
    let text = error(&out);
    check(out.status.code() == Some(1), text.clone())?;
    check(text.matches("broken.glb: skin 0: ").count() == 1, text.clone())?;
    check(text.lines().count() == 1, text.clone())?;
    check(!text.contains("walk.glb"), text)
}

fn names(file: &str) -> Result<Vec<String>, Failed> {
    let found = json(&["info", file, "--json"])?;
    let names = list(&found, "clips")?.iter();
    Ok(names.map(|c| c["name"].as_str().unwrap_or("?").to_owned()).collect())
}

/// A bound clip whose name is taken is named after its file, as in the other commands.
pub fn other_names() -> Tested {
    let folder = scratch();
    fs::create_dir_all(folder.join("anims"))?;
    fs::write(folder.join("hero.glb"), motion("walk", 2.2).glb())?;
    fs::write(folder.join("anims/fast.glb"), motion("walk", 2.4).glb())?;
    fs::write(folder.join("anims/slow.glb"), motion("walk", 2.6).glb())?;
    let args = ["bake", "hero.glb", "--clips", "anims/*.glb", "--out", "hero.phx"];
    let out = run(&args);
    let text = error(&out);
    check(out.status.success(), text.clone())?;
    for part in [
        "anims/fast.glb: clip \"walk\" is named \"fast/walk\": there is one of that name",
        "anims/slow.glb: clip \"walk\" is named \"slow/walk\": there is one of that name",
    ] {
        check(text.contains(part), format!("{part}: {text}"))?;
    }
    let expected = ["walk", "fast/walk", "slow/walk"];
    let found = names("hero.phx")?;
    check(found == expected, format!("{found:?}"))?;
    let played = json(&["info", "hero.glb", "--clips", "anims/*.glb", "--json"])?;
    let played: Vec<_> = list(&played, "clips")?.iter().map(|c| &c["name"]).collect();
    check(played == expected, format!("{played:?}"))?;
    let verified = output(&[
        "verify",
        "hero.phx",
        "--source",
        "anims/fast.glb",
        "--source",
        "anims/slow.glb",
        "--source",
        "hero.glb",
    ])?;
    check(verified.contains("3 of 3"), verified)?;
    check(output(&args)?.contains("(1 up to date)"), "done before")?;
    // Clips that are not bound keep the refusal.
    let out = run(&["bake", "hero.glb", "anims/fast.glb", "--out", "two.phx"]);
    check(error(&out).contains("has the same name as a clip of"), error(&out))
}

/// The import report of a file of clips is printed also if the file has meshes.
pub fn import_reports() -> Tested {
    let folder = scratch();
    fs::write(folder.join("hero.glb"), hero("").glb())?;
    let mut walk = motion("walk", 2.4);
    let positions = walk.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    walk.mesh(json!({ "POSITION": positions }));
    walk.root["extensionsUsed"] = json!(["EXT_that_nobody_reads"]);
    fs::write(folder.join("walk.glb"), walk.glb())?;
    let own = json(&["info", "walk.glb", "--json"])?;
    let entries = list(&own, "report")?.len();
    check(entries > 0, "the import has a report")?;
    let out = run(&["pose", "hero.glb", "--clips", "walk.glb", "--clip", "walk"]);
    let text = error(&out);
    check(out.status.success(), text.clone())?;
    check(text.contains("walk.glb: ") && text.contains("EXT_that_nobody_reads"), text)
}

/// A unit is warned of where no file has one; of a .bvh file one hint is given.
pub fn units() -> Tested {
    written()?;
    let warning = "phalanx: warning: --unit has no effect: no .bvh file is read\n";
    let pose = |args: &[&str]| run(&[&["pose"], args].concat());
    let warned = |out: &Output| error(out).matches(warning).count();
    let plain = pose(&["hero.glb", "--unit", "cm"]);
    check(plain.status.success() && error(&plain) == warning, error(&plain))?;
    let clips = pose(&["hero.glb", "--unit", "cm", "--clips", "anims"]);
    check(warned(&clips) == 1, error(&clips))?;
    check(error(&pose(&["hero.glb"])).is_empty(), "no unit is given")?;
    let take = "HIERARCHY\nROOT\nHips\n{\nOFFSET 0 0 0\nCHANNELS 1 Yrotation\nEnd Site\n{\nOFFSET 0 1700 0\n}\n}\n\
        MOTION\nFrames: 2\nFrame Time: 0.5\n0\n90\n";
    fs::write(scratch().join("take.bvh"), take)?;
    let clips = pose(&["hero.glb", "--unit", "cm", "--clips", "take.bvh"]);
    check(clips.status.success() && warned(&clips) == 0, error(&clips))?;
    output(&["bake", "hero.glb", "--out", "hero.phx"])?;
    check(warned(&pose(&["hero.phx", "--unit", "m"])) == 1, "a .phx file")?;
    let baked = run(&["bake", "hero.glb", "--unit", "cm", "--out", "cm.phx"]);
    check(warned(&baked) == 1, error(&baked))?;
    // Options for glTF files do nothing where all are .bvh files.
    for (args, warnings) in [
        (&["info", "take.bvh", "--trim", "--lenient"][..], 1),
        (&["pose", "hero.glb", "--clips", "take.bvh", "--trim"][..], 0),
        (&["bake", "take.bvh", "--trim", "--out", "take.phx"][..], 1),
    ] {
        let out = run(args);
        let text = error(&out);
        let count = text.matches("no effect: no glTF file is read").count();
        check(out.status.success() && count == warnings, text)?;
    }
    let out = run(&["info", "take.bvh", "--unit", "-1"]);
    check(
        out.status.code() == Some(2) && error(&out).contains("expected m, cm, or metres above 0"),
        error(&out),
    )?;
    let read = run(&["info", "take.bvh", "--unit", "cm"]);
    check(warned(&read) == 0, error(&read))?;
    let text = output(&["info", "take.bvh"])?;
    check(text.contains("in millimetres (unit 0.001) it is 1.70 m"), text.clone())?;
    check(!text.contains("seems to be in centimetres"), text.clone())?;
    check(text.matches(" units in size").count() == 1, text.clone())?;
    check(text.contains("Skeleton: 1 joint\n"), text)
}

/// The parts of a library with bound clips join to the library that is baked at once: the same names, the same clips.
pub fn shards() -> Tested {
    let folder = scratch();
    fs::create_dir_all(folder.join("anims"))?;
    fs::write(folder.join("hero.glb"), motion("walk", 2.2).glb())?;
    for (file, height) in [("a", 2.4), ("b", 2.6), ("walk", 2.8)] {
        let path = folder.join(format!("anims/{file}.glb"));
        fs::write(path, motion("walk", height).glb())?;
    }
    let bake = |out: &str, more: &[&str]| {
        let args = ["bake", "hero.glb", "--clips", "anims/*.glb", "--out", out];
        let out = run(&[&args[..], more].concat());
        check(out.status.success(), error(&out)).map(|()| error(&out))
    };
    let layouts: [&[&str]; 2] = [&[], &["--layout", "hero.glb"]];
    for layout in layouts {
        bake("whole.phx", layout)?;
        let mut told = String::new();
        for shard in ["0/3", "1/3", "2/3"] {
            told += &bake("q.phx", &[layout, &["--shard", shard]].concat())?;
        }
        // Each part tells of its own clips.
        let renamed = "anims/a.glb: clip \"walk\" is named \"a/walk\"";
        check(told.matches(renamed).count() == 1, told)?;
        output(&["merge", "q.part-*.phx", "--out", "m.phx"])?;
        let expected = ["walk", "a/walk", "b/walk", "walk/walk"];
        for file in ["whole.phx", "m.phx"] {
            let found = names(file)?;
            check(found == expected, format!("{file}: {found:?}"))?;
        }
        for clip in expected {
            let pose = |file: &str| {
                let args = ["pose", file, "--clip", clip, "--time", "0.4", "--json"];
                json(&args).map(|pose| pose["nodes"].clone())
            };
            check(pose("whole.phx")? == pose("m.phx")?, clip)?;
        }
        output(&["verify", "m.phx", "--source", "anims/walk.glb"])?;
        fs::remove_file(folder.join("whole.phx"))?;
    }
    // Parts of another bake are still refused.
    bake("q.phx", &["--shard", "0/3", "--max-error", "0.001"])?;
    one_line(&run(&["merge", "q.part-*.phx", "--out", "m.phx"]), &["max-error=0.001"])
}

/// Every file of clips that cannot be used is named.
pub fn several_bad_files() -> Tested {
    written()?;
    let folder = scratch();
    fs::create_dir_all(folder.join("bad"))?;
    for file in ["a", "b"] {
        fs::write(folder.join(format!("bad/{file}.bvh")), "HIERARCHY\nROOT\n")?;
    }
    fs::write(folder.join("bad/c.glb"), motion("walk", 2.4).glb())?;
    let out = run(&["pose", "hero.glb", "--clips", "bad"]);
    let text = error(&out);
    check(out.status.code() == Some(1), text.clone())?;
    check(text.lines().count() == 2, text.clone())?;
    for line in ["phalanx: bad/a.bvh: line ", "phalanx: bad/b.bvh: line "] {
        check(text.contains(line), text.clone())?;
    }
    // Files that cannot be bound, too.
    for file in ["a", "b"] {
        fs::remove_file(folder.join(format!("bad/{file}.bvh")))?;
        let mut strange = motion("walk", 2.4);
        for (node, name) in ["x", "y", "z"].iter().enumerate() {
            strange.root["nodes"][node]["name"] = json!(name);
        }
        fs::write(folder.join(format!("bad/{file}.glb")), strange.glb())?;
    }
    let text = error(&run(&["pose", "hero.glb", "--clips", "bad"]));
    check(text.lines().count() == 2, text.clone())?;
    check(text.contains("bad/a.glb: ") && text.contains("bad/b.glb: "), text)
}
