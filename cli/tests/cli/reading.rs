//! The parts of a glTF file that commands read, and the messages about the rest: extensions, late clips, scenes, names.

use super::support::{Tested, check, json, list, one_line, output, run, scratch};
use phalanx_testkit::gltf_file::File;
use serde_json::json;
use std::fs;

/// A skinned triangle that a clip moves from 0.5 s to 1.5 s, with a marker.
fn late() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let joints = file.accessor(phalanx_testkit::gltf_file::U8, "VEC4", 3, &[0, 0, 0, 0].repeat(3));
    let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(3));
    let mesh =
        file.mesh(json!({ "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights }));
    let hips = file.push("nodes", json!({ "name": "hips" }));
    file.push("skins", json!({ "joints": [hips] }));
    file.root["nodes"][mesh]["skin"] = json!(0);
    let times = file.floats("SCALAR", &[0.5, 1.0, 1.5]);
    let places = file.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
    file.clip(hips, "translation", "LINEAR", times, places);
    file.root["animations"][0]["name"] = json!("Walk");
    file.root["animations"][0]["extras"] = json!({ "markers": [{ "name": "step", "time": 1.0 }] });
    file
}

/// Every command that reads a glTF file refuses what it does not understand, in one line that says what to do.
pub fn required_extensions() -> Tested {
    let folder = scratch();
    let mut file = late();
    file.root["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    fs::write(folder.join("hero.glb"), file.glb())?;
    let commands: [&[&str]; 6] = [
        &["info", "hero.glb"],
        &["pose", "hero.glb"],
        &["crowd", "hero.glb", "--out", "a.png"],
        &["render", "hero.glb", "--out", "a.png"],
        &["bench", "hero.glb", "--count", "1"],
        &["bake", "hero.glb", "--out", "hero.phx"],
    ];
    for args in commands {
        one_line(
            &run(args),
            &[
                "hero.glb: requires the extension \"KHR_draco_mesh_compression\", which changes geometry",
                "`gltf-transform copy IN.glb OUT.glb` decodes it",
                "; --lenient reads the file without it",
            ],
        )?;
    }
    check(!folder.join("hero.phx").exists(), "baked all the same")?;
    output(&["pose", "hero.glb", "--lenient"])?;
    output(&["bake", "hero.glb", "--lenient", "--out", "hero.phx"])?;
    // What was baked leniently can be measured again.
    output(&["verify", "hero.phx", "--source", "hero.glb"])?;
    let text = output(&["info", "hero.glb", "--lenient", "--wide"])?;
    let line = "dropped: extension \"KHR_draco_mesh_compression\": is required and ignored, though it changes \
                geometry";
    check(text.contains(line), text)?;
    // An extension that nobody knows.
    file.root["extensionsRequired"] = json!(["FOO_bones\u{202e}"]);
    fs::write(folder.join("hero.glb"), file.glb())?;
    one_line(
        &run(&["info", "hero.glb"]),
        &["FOO_bones", "is not known and is not supported; --lenient"],
    )
}

/// A clip that begins late is offered to be cut, and every command cuts it alike.
pub fn trimmed_clips() -> Tested {
    let folder = scratch();
    fs::write(folder.join("late.glb"), late().glb())?;
    let text = output(&["info", "late.glb", "--wide"])?;
    let line = "note: animation 0 \"Walk\": begins late, its first key is at 0.5 s; trimming (--trim) cuts what is before it";
    check(text.contains(line), text)?;
    let text = output(&["info", "late.glb", "--trim", "--wide"])?;
    check(text.contains("cut before its first key"), text.clone())?;
    check(!text.contains("--trim"), text)?;
    let clip = |args: &[&str]| -> Result<(f64, f64), libtest_mimic::Failed> {
        let info = json(args)?;
        let clip = list(&info, "clips")?[0].clone();
        let time = &clip["markers"][0]["time"];
        Ok((clip["duration"].as_f64().unwrap_or(f64::NAN), time.as_f64().unwrap_or(f64::NAN)))
    };
    check(clip(&["info", "late.glb", "--json"])? == (1.5, 1.0), "whole")?;
    let cut = clip(&["info", "late.glb", "--trim", "--json"])?;
    check(cut == (1.0, 0.5), format!("{cut:?}"))?;
    let height = |args: &[&str]| -> Result<f64, libtest_mimic::Failed> {
        let pose = json(args)?;
        let hips = list(&pose, "nodes")?[1].clone();
        Ok(hips["world"][13].as_f64().unwrap_or(f64::NAN))
    };
    let pose = ["pose", "late.glb", "--clip", "Walk", "--time", "0.5", "--json"];
    let (whole, cut) = (height(&pose)?, height(&[&pose[..], &["--trim"]].concat())?);
    check((whole, cut) == (0.0, 1.0), format!("{whole} {cut}"))?;
    output(&[
        "render", "late.glb", "--trim", "--out", "a.png", "--frames", "2", "--size", "32x32",
    ])?;

    // Markers beside the file have the times of the file.
    fs::write(
        folder.join("late.events.json"),
        r#"{"clips": {"Walk": [{"name": "strike", "time": 1.25}]}}"#,
    )?;
    output(&["bake", "late.glb", "--trim", "--out", "late.phx"])?;
    let baked = clip(&["info", "late.phx", "--json"])?;
    check(baked == (1.0, 0.75), format!("{baked:?}"))?;
    output(&["verify", "late.phx", "--source", "late.glb"])?;
    // The same file without the option is another bake.
    output(&["bake", "late.glb", "--out", "late.phx"])?;
    let baked = clip(&["info", "late.phx", "--json"])?;
    check(baked == (1.5, 1.25), format!("{baked:?}"))?;
    output(&["verify", "late.phx", "--source", "late.glb"])?;

    // A .phx file has its clips as they are; the option is not ignored without a word.
    let out = run(&["pose", "late.phx", "--trim", "--lenient"]);
    let error = String::from_utf8(out.stderr)?;
    let warning =
        "phalanx: warning: late.phx: --lenient and --trim have no effect on a .phx file\n";
    check(error == warning, error.clone())?;
    check(out.status.success(), error)
}

/// Nodes outside the default scene are not drawn; `pose` lists those that are joints.
pub fn other_scenes() -> Tested {
    let folder = scratch();
    let mut file = late();
    let prop = file.push("nodes", json!({ "name": "prop", "mesh": 0, "translation": [50, 0, 0] }));
    let bone = file.push("nodes", json!({ "name": "bone" }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let places = file.floats("VEC3", &[0.0; 6]);
    file.clip(bone, "translation", "LINEAR", times, places);
    file.push("scenes", json!({ "name": "Main", "nodes": [0, 1] }));
    fs::write(folder.join("one.glb"), file.glb())?;
    file.push("scenes", json!({ "name": "Props", "nodes": [prop, bone] }));
    fs::write(folder.join("two.glb"), file.glb())?;
    let text = output(&["info", "two.glb", "--wide"])?;
    let line = "dropped: scene 1 \"Props\": 2 nodes outside the default scene 0 \"Main\": 1 mesh is not drawn; \
                1 joint that skins or clips need is kept";
    check(text.contains(line), text)?;
    let text = output(&["info", "one.glb", "--wide"])?;
    check(text.contains("dropped: nodes of no scene: 2 nodes"), text)?;
    let info = json(&["info", "two.glb", "--json"])?;
    check(list(&info, "meshes")?.len() == 1, "meshes")?;
    let width = info["bounds"]["size"][0].as_f64();
    check(width < Some(2.0), format!("{width:?}"))?;
    let pose = json(&["pose", "two.glb", "--json"])?;
    let nodes = list(&pose, "nodes")?;
    let indices: Vec<_> = nodes.iter().map(|n| n["node"].as_u64()).collect();
    check(indices == [Some(0), Some(1), Some(3)], format!("{indices:?}"))?;
    check(nodes[2]["name"] == "bone", "the joint of the other scene")?;
    // The other scene, if the file says so.
    file.root["scene"] = json!(1);
    fs::write(folder.join("two.glb"), file.glb())?;
    let info = json(&["info", "two.glb", "--json"])?;
    check(info["bounds"]["max"][0].as_f64() == Some(51.0), info["bounds"].to_string())
}

/// Clips of one name: the report names both, and both can be chosen.
pub fn names_that_occur_twice() -> Tested {
    let mut file = late();
    let times = file.floats("SCALAR", &[0.0, 2.0]);
    let places = file.floats("VEC3", &[3.0; 6]);
    file.clip(1, "translation", "LINEAR", times, places);
    file.root["animations"][1]["name"] = json!("Walk");
    fs::write(scratch().join("twice.glb"), file.glb())?;
    let text = output(&["info", "twice.glb", "--wide"])?;
    let line = "note: clips: names that occur more than once: \"Walk\" (animations 0 and 1); a name finds the \
                first, an index each";
    check(text.contains(line), text)?;
    for (clip, duration) in [("Walk", 1.5), ("0", 1.5), ("1", 2.0)] {
        let pose = json(&["pose", "twice.glb", "--clip", clip, "--json"])?;
        check(pose["duration"].as_f64() == Some(duration), pose["duration"].to_string())?;
    }
    Ok(())
}

/// Commands that use a model print the losses and repairs of its import; without such entries they print nothing.
pub fn what_is_dropped_is_told() -> Tested {
    let folder = scratch();
    fs::write(folder.join("plain.glb"), late().glb())?;
    let mut file = late();
    file.root["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    file.push("materials", json!({ "emissiveFactor": [9.0, 0.0, 0.0] }));
    fs::write(folder.join("hero.glb"), file.glb())?;
    let dropped = "phalanx: hero.glb: dropped: extension \"KHR_draco_mesh_compression\": is required and ignored";
    let repaired =
        "phalanx: hero.glb: repaired: material 0: its emissive factor was 9 and was set to 1";
    let told = |args: &[&str]| -> Result<(String, Vec<u8>), libtest_mimic::Failed> {
        let out = run(args);
        let error = String::from_utf8(out.stderr)?;
        check(out.status.success(), format!("{args:?}: {error}"))?;
        Ok((error, out.stdout))
    };
    // A late clip is a note: commands do not tell of it.
    let (quiet, _) = told(&["bake", "plain.glb", "--out", "plain.phx"])?;
    check(quiet.is_empty(), quiet)?;
    for args in [
        &["bake", "hero.glb", "--lenient", "--json", "--out", "hero.phx"][..],
        &["bake", "hero.glb", "--lenient", "--json", "--out", "out"][..],
    ] {
        let (text, found) = told(args)?;
        check(text.matches(dropped).count() == 1, text.clone())?;
        check(text.matches(repaired).count() == 1, text.clone())?;
        check(text.lines().count() == 2, text)?;
        let found: serde_json::Value = serde_json::from_slice(&found)?;
        let imports = list(&found, "imports")?;
        check(imports[0]["file"] == "hero.glb", "the file")?;
        let severities: Vec<_> =
            list(&imports[0], "entries")?.iter().map(|e| e["severity"].clone()).collect();
        // Notes are in the whole report.
        for severity in ["dropped", "repaired", "note"] {
            check(severities.contains(&json!(severity)), format!("{severities:?}"))?;
        }
    }
    let (again, _) = told(&["bake", "hero.glb", "--lenient", "--out", "hero.phx"])?;
    check(again.is_empty(), again)?;
    let draw = ["--frames", "2", "--size", "32x32", "--out", "a.png"];
    for (args, count) in [
        (&["pose", "hero.glb", "--lenient"][..], 1),
        (&[&["render", "hero.glb", "--lenient"][..], &draw].concat(), 1),
        (&["info", "hero.glb", "--lenient"][..], 0),
        (&["pose", "hero.phx"][..], 0),
    ] {
        let (text, _) = told(args)?;
        check(text.matches(dropped).count() == count, text.clone())?;
        check(!text.contains("repaired"), text)?;
    }
    Ok(())
}

/// Buffers and images in other folders are read if an option says so, which the refusal names.
pub fn parent_folders() -> Tested {
    let folder = scratch();
    fs::create_dir(folder.join("models"))?;
    let file = late();
    fs::write(folder.join("shared.bin"), &file.bin)?;
    fs::write(folder.join("models/up.gltf"), file.gltf("../shared.bin"))?;
    let file = "models/up.gltf";
    let commands: [&[&str]; 4] = [
        &["info", file],
        &["pose", file],
        &["bench", file, "--count", "1"],
        &["bake", file, "--out", "up.phx"],
    ];
    for args in commands {
        let parts =
            ["\"../shared.bin\"", "leaves the folder", "; --allow-parent-folders follows it"];
        one_line(&run(args), &parts)?;
    }
    let open = "--allow-parent-folders";
    output(&["pose", file, open])?;
    output(&["bake", file, open, "--out", "up.phx"])?;
    output(&["verify", "up.phx", "--source", file, open])?;
    let closed = run(&["verify", "up.phx", "--source", file]);
    let advice = "; --allow-parent-folders reads the files of other folders that it refers to";
    one_line(&closed, &["models/up.gltf has hash", advice])?;
    // The buffer is part of the input: with another, the output is made anew.
    let args = ["bake", file, open, "--json", "--out", "out"];
    let skipped = |args: &[&str]| -> Result<bool, libtest_mimic::Failed> {
        let summary = json(args)?;
        Ok(list(&summary, "files")?[0]["skipped"] == true)
    };
    check(!skipped(&args)?, "made")?;
    check(skipped(&args)?, "nothing has changed")?;
    fs::write(folder.join("shared.bin"), [&late().bin[..], &[0; 4]].concat())?;
    check(!skipped(&args)?, "the buffer has changed")?;
    // Absolute paths and schemes are refused all the same.
    for uri in ["/etc/hostname", "http://host/x.bin"] {
        fs::write(folder.join("models/far.gltf"), late().gltf(uri))?;
        one_line(&run(&["info", "models/far.gltf", open]), &["is rejected", "relative"]).or_else(
            |_| one_line(&run(&["info", "models/far.gltf", open]), &["is rejected", "absolute"]),
        )?;
    }
    let mut file = late();
    file.push("images", json!({ "uri": "../picture.png" }));
    file.push("textures", json!({ "source": 0 }));
    let texture = json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } });
    file.push("materials", texture);
    file.root["meshes"][0]["primitives"][0]["material"] = json!(0);
    fs::write(folder.join("models/picture.glb"), file.glb())?;
    let text = output(&["info", "models/picture.glb", "--wide"])?;
    check(text.contains("(--allow-parent-folders)"), text)
}

/// Limits that a legal file may exceed are raised by an option that the message names.
pub fn limits_that_can_be_raised() -> Tested {
    let folder = scratch();
    let head = "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 1 Xrotation } MOTION Frames: 100000 Frame Time: 0.01\n";
    fs::write(folder.join("long.bvh"), format!("{head}{}", "0\n9\n".repeat(50_000)))?;
    let parts = [
        "long.bvh",
        "needs 25600000 bytes of rows",
        "24 for each of the",
        "; --memory-limit SIZE raises the limit",
    ];
    one_line(&run(&["info", "long.bvh"]), &parts)?;
    output(&["info", "long.bvh", "--memory-limit", "256M"])?;
    fs::write(folder.join("late.glb"), late().glb())?;
    let parts = [
        "late.glb",
        "memory of the import",
        "the limit is 1024; --memory-limit SIZE raises the limit",
    ];
    one_line(&run(&["info", "late.glb", "--memory-limit", "1K"]), &parts)?;
    let parts = ["long.bvh", parts[1], parts[2]];
    one_line(&run(&["info", "long.bvh", "--memory-limit", "1K"]), &parts)?;
    output(&["info", "late.glb", "--memory-limit", "1M"])?;
    let out = run(&["info", "late.glb", "--memory-limit", "much"]);
    check(out.status.code() == Some(2), "no size")
}

/// A clip with keys below 0 s is left out, or moved where an option says so; the others are read. What was baked can
/// be measured again either way.
pub fn clips_that_begin_early() -> Tested {
    let folder = scratch();
    let mut file = late();
    let times = file.floats("SCALAR", &[-0.5, 0.25, 0.25, 1.0]);
    let places = file.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 7.0, 0.0, 0.0, 7.0, 0.0]);
    let hips = file.root["animations"][0]["channels"][0]["target"]["node"].clone();
    let early = json!({ "name": "Early", "samplers": [{ "input": times, "output": places }],
        "channels": [{ "sampler": 0, "target": { "node": hips, "path": "translation" } }] });
    let animations = file.root["animations"].as_array_mut().ok_or("animations")?;
    animations.insert(0, early);
    fs::write(folder.join("early.glb"), file.glb())?;
    let text = output(&["info", "early.glb", "--wide"])?;
    let line = "dropped: animation 0 \"Early\": is left out: its first key is at -0.5 s, below 0; trimming (--trim)";
    check(text.contains(line), text)?;
    let pose = ["pose", "early.glb", "--clip", "Early", "--time", "0.5", "--json"];
    // Who asks for the clip is told why there is none.
    let out = run(&pose);
    let error = String::from_utf8(out.stderr)?;
    let parts = ["\"Early\": is left out", "reading leniently (--lenient) moves its keys"];
    check(out.status.code() == Some(1), error.clone())?;
    check(parts.iter().all(|part| error.contains(part)), error)?;
    for option in ["--trim", "--lenient"] {
        let pose = json(&[&pose[..], &[option]].concat())?;
        let height = list(&pose, "nodes")?[1]["world"][13].as_f64().unwrap_or(f64::NAN);
        check((height - 2.0).abs() < 1e-5, format!("{option}: {height}"))?;
        let out = run(&["bake", "early.glb", option, "--out", "moved.phx"]);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        check(error.contains("repaired: animation 0 \"Early\": moved"), error.clone())?;
        check(error.contains("1 key has the time of the key before"), error)?;
        output(&["verify", "moved.phx", "--source", "early.glb"])?;
    }
    output(&["bake", "early.glb", "--out", "left.phx"])?;
    output(&["verify", "left.phx", "--source", "early.glb"])?;
    // So it is if no other clip is left.
    let animations = file.root["animations"].as_array_mut();
    animations.ok_or("animations")?.truncate(1);
    fs::write(folder.join("only.glb"), file.glb())?;
    for (args, said) in [
        (&["pose", "early.glb", "--clips", "only.glb"][..], "no clips"),
        (&["bake", "early.glb", "--clips", "only.glb", "--out", "b.phx"], "no clips"),
        (&["bench", "only.glb", "--count", "1"], "no clips"),
    ] {
        let out = run(args);
        let error = String::from_utf8(out.stderr)?;
        let told = error.contains(said) && parts.iter().all(|part| error.contains(part));
        check(out.status.code() == Some(1) && told, error)?;
    }
    Ok(())
}
