//! `phalanx retarget`, and models side by side in `phalanx render`.

use super::bake::mannequin;
use super::support::{
    Tested, check, json, list, one_line, one_line_beside, output, phalanx, png_size, run, scratch,
};
use libtest_mimic::Failed;
use serde_json::{Map, Value, json};
use std::fs;
use std::process::Output;

/// The arguments of a command without spaces in them.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The built-in character as `man.glb`.
fn man() -> Tested {
    fs::copy(mannequin(), scratch().join("man.glb"))?;
    Ok(())
}

/// The built-in character with changed nodes.
fn changed(file: &str, change: impl Fn(&mut Value)) -> Tested {
    let (mut document, binary) = super::clashes::taken_apart()?;
    let nodes = document["nodes"].as_array_mut();
    nodes.into_iter().flatten().for_each(change);
    let text = document.to_string().into_bytes();
    let glb = phalanx_testkit::gltf_file::glb(&text, &binary);
    Ok(fs::write(scratch().join(file), glb)?)
}

/// The built-in character with other joint names.
fn renamed(file: &str, name: impl Fn(&str) -> String) -> Tested {
    changed(file, |node| node["name"] = json!(name(node["name"].as_str().unwrap_or_default())))
}

/// The same with one shin twice as long, and without a bind pose: it has no shape of a humanoid.
fn limping(file: &str, name: impl Fn(&str) -> String) -> Tested {
    let (mut document, binary) = super::clashes::taken_apart()?;
    for skin in document["skins"].as_array_mut().into_iter().flatten() {
        let skin = skin.as_object_mut().ok_or("no skin")?;
        skin.remove("inverseBindMatrices");
    }
    for node in document["nodes"].as_array_mut().into_iter().flatten() {
        if node["name"] == "LeftFoot" {
            node["translation"] = json!([0.0, -0.9, 0.0]);
        }
        node["name"] = json!(name(node["name"].as_str().unwrap_or_default()));
    }
    let text = document.to_string().into_bytes();
    let glb = phalanx_testkit::gltf_file::glb(&text, &binary);
    Ok(fs::write(scratch().join(file), glb)?)
}

/// A name that no table knows.
fn odd(name: &str) -> String {
    let sum = name.bytes().map(usize::from).sum::<usize>();
    format!("j{}", name.len() * 1000 + sum)
}

/// Writes a map.
fn put(file: &str, map: &Map<String, Value>) -> Tested {
    let text = Value::from(map.clone()).to_string();
    Ok(fs::write(scratch().join(file), text)?)
}

/// The map and the messages of `--print-map`.
fn printed(file: &str) -> Result<(Map<String, Value>, String), Failed> {
    let out = run(&["retarget", file, "--print-map"]);
    let said = String::from_utf8(out.stderr)?;
    check(out.status.success(), format!("{file}: {said}"))?;
    Ok((serde_json::from_slice(&out.stdout)?, said))
}

/// Expects exit status 2 and an error with a part.
fn usage(out: &Output, part: &str) -> Tested {
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    let right = out.status.code() == Some(2) && error.contains(part);
    check(right, format!("no {part:?} in {error}"))
}

fn clip_names(file: &str) -> Result<Vec<String>, Failed> {
    let info = json(&["info", file, "--json"])?;
    let clips = list(&info, "clips")?.iter();
    Ok(clips.map(|c| c["name"].as_str().unwrap_or_default().to_owned()).collect())
}

pub fn onto_another() -> Tested {
    man()?;
    renamed("other.glb", |name| format!("mixamorig:{name}"))?;
    let args = words("retarget man.glb --onto other.glb --clip Walk --out walk.phx");
    let said = output(&args)?;
    // Long lines are broken at spaces.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "walk.phx: 1 clip",
        "46 bones (source: names of Mixamo, CMU and LAFAN1; target: names of Mixamo, CMU and LAFAN1), hips ",
    ] {
        check(said.contains(part), said.clone())?;
    }
    check(clip_names("walk.phx")? == ["Walk"], "other clips")?;
    // The same pose on the same body: what is printed of both is the same within rounding.
    let pose = |file: &str| json(&["pose", file, "--clip", "Walk", "--time", "0.4", "--json"]);
    let (a, b) = (pose("man.glb")?, pose("walk.phx")?);
    let joints = |pose: &Value| -> Vec<f32> {
        let all = pose["nodes"].as_array().cloned().unwrap_or_default();
        all.iter().flat_map(|j| super::support::numbers(&j["world"])).collect()
    };
    let (a, b) = (joints(&a), joints(&b));
    check(!a.is_empty() && a.len() == b.len(), format!("{} and {}", a.len(), b.len()))?;
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    check(apart < 1e-4, format!("{apart}"))?;
    let report = json(&[&args[..], &["--plant-feet", "--json"]].concat())?;
    let clip = &report["files"][0]["clips"][0];
    check(list(clip, "bones")?.len() == 46 && clip["ratio"] == 1.0, clip.to_string())?;
    check(clip["feet"]["contacts"].as_u64() > Some(1), clip["feet"].to_string())?;
    check(
        clip["bones"][0] == json!({ "bone": "hips", "source": "Hips", "target": "mixamorig:Hips" }),
        "hips",
    )
}

pub fn maps_are_printed_and_read() -> Tested {
    man()?;
    limping("odd.glb", odd)?;
    let unknown = run(&words("retarget odd.glb --onto man.glb --out x.phx"));
    one_line_beside(&unknown, &["odd.glb: no humanoid is known", "name tables", "--print-map"])?;
    check(!scratch().join("x.phx").exists(), "a file was written")?;
    let text = output(&words("retarget man.glb --print-map"))?;
    let lines: Vec<&str> = text.lines().collect();
    check(lines[1] == "  \"hips\": \"Hips\",", "hips come first")?;
    let (mut own, said) = printed("man.glb")?;
    check(own["leftLowerLeg"] == "LeftLeg" && said.is_empty(), said)?;
    for joint in own.values_mut() {
        *joint = json!(odd(joint.as_str().unwrap_or_default()));
    }
    put("odd.json", &own)?;
    let clip = "--clip Walk --out";
    output(&words(&format!("retarget odd.glb --map odd.json --onto man.glb {clip} there.phx")))?;
    output(&words(&format!(
        "retarget man.glb --onto-map odd.json --onto odd.glb {clip} back.phx"
    )))?;
    own.insert("spine".into(), json!(odd("Hips")));
    put("bad.json", &own)?;
    let bad = words("retarget odd.glb --map bad.json --onto man.glb --out x.phx");
    let parts = ["bad.json: joint", "two bones", "\"hips\" and \"spine\""];
    one_line_beside(&run(&bad), &parts)?;
    fs::write(scratch().join("bad.json"), "{\n\"hips\" 1}")?;
    one_line(&run(&bad), &["bad.json: line 2"])
}

/// The map found for an unknown humanoid is printed, and works when it is completed.
pub fn maps_are_completed() -> Tested {
    man()?;
    let rename = |name: &str| match name {
        "Hips" | "LeftUpLeg" | "LeftFoot" => odd(name),
        _ => name.to_owned(),
    };
    limping("odd.glb", rename)?;
    let (whole, _) = printed("man.glb")?;
    let (mut map, said) = printed("odd.glb")?;
    check(
        said.lines().count() == 1 && said.starts_with("phalanx: odd.glb: no humanoid is known"),
        said.clone(),
    )?;
    let missing = "missing bones are null: hips, leftUpperLeg, leftFoot\n";
    check(said.ends_with(missing), said)?;
    for (bone, joint) in &whole {
        let known = ["hips", "leftUpperLeg", "leftFoot"].iter().all(|b| b != bone);
        let expected = if known { joint } else { &Value::Null };
        check(map.get(bone) == Some(expected), format!("{bone}: {map:?}"))?;
    }
    put("odd.json", &map)?;
    let args = words("retarget odd.glb --map odd.json --onto man.glb --clip Walk --out there.phx");
    one_line(&run(&args), &["odd.json: the map has no hips"])?;
    // The foot stays null.
    map.insert("hips".into(), json!(odd("Hips")));
    map.insert("leftUpperLeg".into(), json!(odd("LeftUpLeg")));
    put("odd.json", &map)?;
    let report = json(&[&args[..], &["--json"]].concat())?;
    let bones = list(&report["files"][0]["clips"][0], "bones")?.len();
    check(bones == 45, format!("{bones} bones"))?;
    let again = words("retarget odd.glb --map odd.json --print-map");
    let out = run(&again);
    let said = String::from_utf8(out.stderr)?;
    let missing = "phalanx: odd.glb: missing bones are null: leftFoot\n";
    check(out.status.success() && said == missing, said)
}

/// A model whose names tell nothing, or little, has a map by its shape, and it is said how sure that is.
pub fn maps_by_shape() -> Tested {
    man()?;
    let (whole, _) = printed("man.glb")?;
    let some = |name: &str| match name {
        "Hips" | "LeftUpLeg" | "LeftFoot" => odd(name),
        _ => name.to_owned(),
    };
    for (file, name, bones) in [("odd.glb", odd as fn(&str) -> String, 20), ("some.glb", some, 46)]
    {
        renamed(file, name)?;
        let (map, said) = printed(file)?;
        let sure =
            said.contains(&format!("{file}: found by shape, 9")) && said.lines().count() == 1;
        check(sure, said)?;
        check(map.len() >= bones, format!("{file}: {map:?}"))?;
        for (bone, joint) in &map {
            let expected = json!(name(whole[bone].as_str().unwrap_or_default()));
            check(*joint == expected, format!("{file}: {bone} is {joint}, not {expected}"))?;
        }
        let said = output(&["retarget", file, "--onto", "man.glb", "--out", "shape.phx"])?;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        check(said.contains("(source: shape, 9"), said)?;
    }
    Ok(())
}

/// Maps of other encodings, too long ones, and one from a pipe.
pub fn maps_are_bounded() -> Tested {
    man()?;
    let text = output(&words("retarget man.glb --print-map"))?;
    let args = words("retarget man.glb --map map.json --clip Walk --mirror --out x.phx");
    let refused = |bytes: &[u8], parts: &[&str]| -> Tested {
        fs::write(scratch().join("map.json"), bytes)?;
        one_line(&run(&args), parts)
    };
    refused(&vec![b' '; (1 << 20) + 7], &["map.json: the map is 1048583 bytes", "1048576"])?;
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
    refused(&wide, &["map.json: cannot be read: it is UTF-16 text"])?;
    refused(b"{\xff", &["map.json", "not UTF-8"])?;
    fs::write(scratch().join("map.json"), format!("\u{feff}{text}"))?;
    output(&args)?;
    #[cfg(target_os = "linux")]
    {
        let endless = words("retarget man.glb --map /dev/zero --mirror --out x.phx");
        one_line(&run(&endless), &["/dev/zero", "longer than 1048576"])?;
        let piped = words("retarget man.glb --map /dev/stdin --clip Walk --mirror --out x.phx");
        let mut command = phalanx();
        let file = fs::File::open(scratch().join("map.json"))?;
        let mut cat = std::process::Command::new("cat")
            .stdin(file)
            .stdout(std::process::Stdio::piped())
            .spawn()?;
        let pipe = cat.stdout.take().ok_or("no pipe")?;
        let out = command.args(piped).stdin(pipe).output()?;
        cat.wait()?;
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        check(out.status.success(), error)?;
    }
    Ok(())
}

pub fn folders_and_mirrors() -> Tested {
    man()?;
    let folder = scratch().join("in/deep");
    fs::create_dir_all(&folder)?;
    fs::copy(mannequin(), folder.join("a.glb"))?;
    fs::copy(mannequin(), scratch().join("in/b.glb"))?;
    fs::write(scratch().join("in/broken.glb"), b"glTF")?;
    let each = words("retarget in --onto man.glb --clip Walk --out out");
    one_line_beside(&run(&each), &["broken.glb"])?;
    check(
        clip_names("out/deep/a.phx")? == ["Walk"] && clip_names("out/b.phx")? == ["Walk"],
        "other clips",
    )?;
    // One file of all is whole or not at all.
    let all = words("retarget in --onto man.glb --clip Walk --out all.phx");
    one_line_beside(&run(&all), &["broken.glb"])?;
    check(!scratch().join("all.phx").exists(), "a file with holes")?;
    fs::remove_file(scratch().join("in/broken.glb"))?;
    output(&all)?;
    check(clip_names("all.phx")? == ["b/Walk", "a/Walk"], format!("{:?}", clip_names("all.phx")?))?;
    output(&words("retarget man.glb --clip Wave --mirror --out wave.phx"))?;
    check(clip_names("wave.phx")? == ["Wave"], "other clips")
}

pub fn refusals() -> Tested {
    man()?;
    let refused = run(&words("retarget man.glb --onto man.glb --clip Wlak --out x.phx"));
    one_line_beside(&refused, &["no clip \"Wlak\"", "Walk"])?;
    output(&words("retarget man.glb --mirror --clip Walk --out a.phx"))?;
    let refused = run(&words("retarget a.phx --onto man.glb --out a.phx"));
    one_line(&refused, &["a.phx", "would overwrite it"])?;
    for (line, part) in [
        ("retarget a.glb --out x.phx", "--onto"),
        ("retarget a.glb --onto b.glb", "--out"),
        ("retarget a.glb --mirror --out x.phx --reference Walk", "CLIP:TIME"),
        ("retarget a.glb --mirror --out x.phx --align legs", "limbs"),
        ("retarget a.glb --mirror --out x.glb", "only .phx files are written"),
        ("retarget a.glb --mirror --out deep/x.Fbx", "deep/x.Fbx"),
    ] {
        usage(&run(&words(line)), part).map_err(|e| format!("{line}: {e:?}"))?;
    }
    check(!scratch().join("x.glb").exists(), "a folder was made")?;
    // A folder may have a dot in its name.
    fs::create_dir(scratch().join("there.d"))?;
    for out in ["there.d", "new.d/", "v1.2"] {
        let line = format!("retarget man.glb --mirror --clip Walk --out {out}");
        output(&words(&line))?;
        check(scratch().join(out).join("man.phx").exists(), out)?;
    }
    let late = run(&words("retarget man.glb --mirror --out x.phx --reference Jump:1"));
    one_line_beside(&late, &["no clip \"Jump\""])
}

/// The report, as text and as JSON, and the written file name what was asked for and what was found.
pub fn settings_are_named() -> Tested {
    man()?;
    fs::write(scratch().join("own.json"), output(&words("retarget man.glb --print-map"))?)?;
    let args = words(
        "retarget man.glb --map own.json --onto man.glb --clip Walk --mirror --plant-feet --plant-speed 0.5 \
         --plant-height 0.0625 --reference Walk:0.25 --onto-reference Wave:0 --align none --drop-scale --out walk.phx",
    );
    let text = output(&args)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let settings = "onto=man.glb map=\"file own.json\" onto-map=\"names of Mixamo, CMU and LAFAN1\" \
        reference=Walk:0.25 onto-reference=Wave:0 align=none scale=drop ground=auto mirror \
        plant-feet plant-height=0.0625 plant-speed=0.5 plant-fade=0.1";
    for part in [
        &*format!("settings: {settings} 46 bones"),
        "(source: file own.json; target: names of Mixamo, CMU and LAFAN1)",
        "ratio 1.01",
        "contacts of",
        "the ground moves",
    ] {
        check(text.contains(part), format!("no {part:?} in {text}"))?;
    }
    let report = json(&[&args[..], &["--json"]].concat())?;
    let clip = &report["files"][0]["clips"][0];
    let expected = json!({
        "onto": "man.glb",
        "map": "file own.json",
        "onto_map": "names of Mixamo, CMU and LAFAN1",
        "reference": "Walk:0.25",
        "onto_reference": "Wave:0",
        "align": "none",
        "scale": "drop",
        "ground": "auto",
        "mirror": true,
        "plant_feet": { "height": 0.0625, "speed": 0.5, "fade": 0.1 },
    });
    check(clip["settings"] == expected, clip["settings"].to_string())?;
    let info = json(&["info", "walk.phx", "--json"])?.to_string();
    let written = Value::from(format!("retarget {settings}")).to_string();
    check(info.contains(&written), info)?;
    // What holds without options.
    let plain = json(&words("retarget man.glb --mirror --clip Walk --out m.phx --json"))?;
    let plain = &plain["files"][0]["clips"][0]["settings"];
    check(
        plain["reference"] == "rest" && plain["plant_feet"].is_null() && plain["scale"] == "keep",
        plain.to_string(),
    )?;
    for option in
        ["--plant-speed 1", "--plant-feet --plant-height 0", "--plant-feet --plant-speed x"]
    {
        let line = format!("retarget man.glb --mirror --out x.phx {option}");
        usage(&run(&words(&line)), "--plant-")?;
    }
    for option in ["height", "speed", "fade"] {
        let line =
            format!("retarget man.glb --mirror --plant-feet --plant-{option} -1 --out x.phx");
        usage(&run(&words(&line)), "it must be a finite number above 0")?;
    }
    for (option, time) in
        [("--reference", "1e9"), ("--onto-reference", "-1"), ("--reference", "1.002")]
    {
        let line = format!("retarget man.glb --onto man.glb --out x.phx {option} Walk:{time}");
        one_line_beside(
            &run(&words(&line)),
            &["man.glb", "reference pose is", "\"Walk\"", "0 to 1.000 s"],
        )?;
    }
    check(!scratch().join("x.phx").exists(), "a file was written")
}

/// Files retargeted without `--onto` go into one file only if their skeletons are equal.
pub fn two_skeletons() -> Tested {
    man()?;
    changed("long.glb", |node| {
        if node["name"] == "LeftFoot" {
            node["translation"] = json!([0.0, -0.5, 0.25]);
        }
    })?;
    let refused = run(&words("retarget man.glb long.glb --mirror --clip Walk --out both.phx"));
    one_line(
        &refused,
        &[
            "long.glb: its skeleton differs from that of man.glb: joint ",
            "\"LeftFoot\": the rest translation is [0.0, -0.5, 0.25], in the other skeleton [",
            "a folder as --out",
        ],
    )?;
    check(!scratch().join("both.phx").exists(), "a file was written")
}

/// Two models in one sheet: the pictures have the size of one, and both are in them.
pub fn side_by_side() -> Tested {
    man()?;
    let sheet = |more: &[&str], out: &str| {
        let args = "render man.glb --clip Walk --frames 2 --columns 2 --renderer software --size 160x120 --out";
        output(&[&words(args)[..], &[out], more].concat())
    };
    sheet(&[], "one.png")?;
    sheet(&["--beside", "man.glb"], "two.png")?;
    check(png_size(&scratch().join("two.png"))? == (320, 120), "another size")?;
    let dark = |file: &str| -> Result<[usize; 2], Failed> {
        let picture = image::open(scratch().join(file))?.to_rgb8();
        // The character is blue, the ground is not.
        let blue = |x: &u32, y: &u32| {
            let p = picture.get_pixel(*x, *y).0;
            usize::from(p[2] > p[0].saturating_add(30))
        };
        let half = |from: u32| (from..from + 80).flat_map(|x| (0..120).map(move |y| (x, y)));
        Ok([0, 80].map(|from| half(from).map(|(x, y)| blue(&x, &y)).sum()))
    };
    let (one, two) = (dark("one.png")?, dark("two.png")?);
    // Of one model both halves show the middle; two stand in one half each.
    check(two[0] > 40 && two[1] > 40, format!("{one:?} {two:?}"))?;
    let clash = run(&words("render man.glb --beside man.glb --out man.png --clip Nothing"));
    one_line(&clash, &["no clip \"Nothing\""])
}

/// The built-in character with one clip of a given name.
fn with_clip(file: &str, name: &str) -> Tested {
    let (mut document, binary) = super::clashes::taken_apart()?;
    let animations = document["animations"].as_array_mut();
    let animations = animations.ok_or("no animations")?;
    animations.truncate(1);
    animations[0]["name"] = json!(name);
    let text = document.to_string().into_bytes();
    let glb = phalanx_testkit::gltf_file::glb(&text, &binary);
    Ok(fs::write(scratch().join(file), glb)?)
}

/// With several files in one output, clips with meaningless names take the names of their files, as in `bake`.
pub fn clips_named_after_files() -> Tested {
    man()?;
    for (file, name) in [
        ("walk.glb", "mixamo.com"),
        ("run.glb", "Take 001"),
        ("wave.glb", ""),
        ("idle.glb", "Rest"),
    ] {
        with_clip(file, name)?;
    }
    let line = "retarget idle.glb run.glb walk.glb wave.glb --onto man.glb --out all.phx";
    output(&words(line))?;
    let found = clip_names("all.phx")?;
    check(found == ["Rest", "run", "walk", "wave"], format!("{found:?}"))?;
    // One file by itself keeps its name.
    output(&words("retarget walk.glb --onto man.glb --out one.phx"))?;
    let found = clip_names("one.phx")?;
    check(found == ["mixamo.com"], format!("{found:?}"))
}

/// The losses of importing the character and the files are printed once, and are complete in the JSON.
pub fn what_is_dropped_is_told() -> Tested {
    man()?;
    let (mut document, binary) = super::clashes::taken_apart()?;
    document["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
    let text = document.to_string().into_bytes();
    let glb = phalanx_testkit::gltf_file::glb(&text, &binary);
    fs::write(scratch().join("hero.glb"), &glb)?;
    fs::write(scratch().join("from.glb"), &glb)?;
    let told = |line: &str| -> Result<(Vec<String>, Value), Failed> {
        let out = run(&words(line));
        let said = String::from_utf8(out.stderr)?;
        check(out.status.success(), said.clone())?;
        let lines = said.lines().map(str::to_owned).collect();
        Ok((lines, serde_json::from_slice(&out.stdout)?))
    };
    let end = "--clip Walk --lenient --json --out";
    let dropped = "dropped: extension \"EXT_mesh_gpu_instancing\": is required and ignored";
    for place in ["x.phx", "folder/"] {
        let line = format!("retarget from.glb man.glb --onto hero.glb {end} {place}");
        let (lines, report) = told(&line)?;
        check(lines.len() == 2, format!("{lines:?}"))?;
        for (line, file) in lines.iter().zip(["hero.glb", "from.glb"]) {
            let begin = format!("phalanx: {file}: {dropped}");
            check(line.starts_with(&begin), line.clone())?;
        }
        let files: Vec<_> = list(&report, "imports")?.iter().map(|i| i["file"].clone()).collect();
        check(files == ["hero.glb", "from.glb", "man.glb"], format!("{files:?}"))?;
    }
    let (lines, _) = told(&format!("retarget man.glb --onto man.glb {end} y.phx"))?;
    check(lines.is_empty(), format!("{lines:?}"))
}
