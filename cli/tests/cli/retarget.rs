//! `phalanx retarget`, and models side by side in `phalanx render`.

use super::bake::mannequin;
use super::support::{
    Tested, check, json, list, one_line, one_line_beside, output, png_size, run, scratch,
};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn man() -> String {
    mannequin().display().to_string()
}

/// The built-in character with other joint names, under a name of its own.
fn renamed(file: &str, name: impl Fn(&str) -> String) -> Result<PathBuf, Failed> {
    let (mut document, binary) = super::clashes::taken_apart()?;
    for node in document["nodes"].as_array_mut().into_iter().flatten() {
        let old = node["name"].as_str().unwrap_or_default().to_owned();
        node["name"] = json!(name(&old));
    }
    let path = scratch().join(file);
    let text = document.to_string().into_bytes();
    fs::write(&path, phalanx_testkit::gltf_file::glb(&text, &binary))?;
    Ok(path)
}

fn clip_names(file: &str) -> Result<Vec<String>, Failed> {
    let info = json(&["info", file, "--json"])?;
    let clips = list(&info, "clips")?.iter();
    Ok(clips
        .map(|c| c["name"].as_str().unwrap_or_default().to_owned())
        .collect())
}

pub fn onto_another() -> Tested {
    let other = renamed("other.glb", |name| format!("mixamorig:{name}"))?;
    let other = other.display().to_string();
    let args = [
        "retarget",
        &man(),
        "--onto",
        &other,
        "--clip",
        "Walk",
        "--out",
        "walk.phx",
    ];
    let said = output(&args)?;
    check(
        said.contains("walk.phx: 1 clip") && said.contains("46 bones by names of Mixamo"),
        said,
    )?;
    check(clip_names("walk.phx")? == ["Walk"], "other clips")?;
    // The same pose on the same body: what is printed of both is the same within rounding.
    let pose = |file: &str| json(&["pose", file, "--clip", "Walk", "--time", "0.4", "--json"]);
    let (a, b) = (pose(&man())?, pose("walk.phx")?);
    let joints = |pose: &Value| -> Vec<f32> {
        let all = pose["nodes"].as_array().cloned().unwrap_or_default();
        all.iter()
            .flat_map(|j| super::support::numbers(&j["world"]))
            .collect()
    };
    let (a, b) = (joints(&a), joints(&b));
    check(
        !a.is_empty() && a.len() == b.len(),
        format!("{} and {}", a.len(), b.len()),
    )?;
    let apart = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    check(apart < 1e-4, format!("{apart}"))?;
    let report = json(&[&args[..], &["--plant-feet", "--json"]].concat())?;
    let clip = &report["files"][0]["clips"][0];
    check(
        list(clip, "bones")?.len() == 46 && clip["ratio"] == 1.0,
        clip.to_string(),
    )?;
    check(
        clip["feet"]["contacts"].as_u64() > Some(1),
        clip["feet"].to_string(),
    )?;
    check(
        clip["bones"][0] == json!({ "bone": "hips", "source": "Hips", "target": "mixamorig:Hips" }),
        "hips",
    )
}

pub fn maps_are_printed_and_read() -> Tested {
    let odd = renamed("odd.glb", |name| {
        format!(
            "j{}",
            name.len() * 1000 + name.bytes().map(usize::from).sum::<usize>()
        )
    })?;
    let odd = odd.display().to_string();
    let unknown = run(&["retarget", &odd, "--onto", &man(), "--out", "x.phx"]);
    one_line_beside(&unknown, &["odd.glb: no humanoid is known", "name tables"])?;
    check(!scratch().join("x.phx").exists(), "a file was written")?;
    let map = output(&["retarget", &man(), "--print-map"])?;
    let named: Value = serde_json::from_str(&map)?;
    check(named["leftLowerLeg"] == "LeftLeg", map.clone())?;
    let lines: Vec<&str> = map.lines().collect();
    check(lines[1] == "  \"hips\": \"Hips\",", "hips come first")?;
    let other = |name: &str| {
        format!(
            "j{}",
            name.len() * 1000 + name.bytes().map(usize::from).sum::<usize>()
        )
    };
    let pairs = named.as_object().into_iter().flatten();
    let own: serde_json::Map<String, Value> = pairs
        .map(|(bone, joint)| {
            (
                bone.clone(),
                json!(other(joint.as_str().unwrap_or_default())),
            )
        })
        .collect();
    fs::write(
        scratch().join("odd.json"),
        Value::Object(own.clone()).to_string(),
    )?;
    output(&[
        "retarget",
        &odd,
        "--map",
        "odd.json",
        "--onto",
        &man(),
        "--clip",
        "1",
        "--out",
        "there.phx",
    ])?;
    output(&[
        "retarget",
        &man(),
        "--onto-map",
        "odd.json",
        "--onto",
        &odd,
        "--clip",
        "Walk",
        "--out",
        "back.phx",
    ])?;
    let mut twice = own;
    twice.insert("spine".into(), json!(other("Hips")));
    fs::write(scratch().join("bad.json"), Value::Object(twice).to_string())?;
    let refused = run(&[
        "retarget",
        &odd,
        "--map",
        "bad.json",
        "--onto",
        &man(),
        "--out",
        "x.phx",
    ]);
    one_line_beside(
        &refused,
        &["bad.json: joint", "two bones", "\"hips\" and \"spine\""],
    )?;
    fs::write(scratch().join("bad.json"), "{\n\"hips\" 1}")?;
    let refused = run(&[
        "retarget",
        &man(),
        "--onto-map",
        "bad.json",
        "--onto",
        &odd,
        "--out",
        "x.phx",
    ]);
    one_line(&refused, &["bad.json: line 2"])
}

pub fn folders_and_mirrors() -> Tested {
    let folder = scratch().join("in/deep");
    fs::create_dir_all(&folder)?;
    fs::copy(mannequin(), folder.join("a.glb"))?;
    fs::copy(mannequin(), scratch().join("in/b.glb"))?;
    fs::write(scratch().join("in/broken.glb"), b"glTF")?;
    let made = run(&[
        "retarget",
        "in",
        "--onto",
        &man(),
        "--clip",
        "Walk",
        "--out",
        "out",
    ]);
    one_line_beside(&made, &["broken.glb"])?;
    check(
        clip_names("out/deep/a.phx")? == ["Walk"] && clip_names("out/b.phx")? == ["Walk"],
        "other clips",
    )?;
    // One file of all is whole or not at all.
    let made = run(&[
        "retarget",
        "in",
        "--onto",
        &man(),
        "--clip",
        "Walk",
        "--out",
        "all.phx",
    ]);
    one_line_beside(&made, &["broken.glb"])?;
    check(!scratch().join("all.phx").exists(), "a file with holes")?;
    fs::remove_file(scratch().join("in/broken.glb"))?;
    output(&[
        "retarget",
        "in",
        "--onto",
        &man(),
        "--clip",
        "Walk",
        "--out",
        "all.phx",
    ])?;
    check(
        clip_names("all.phx")? == ["b/Walk", "a/Walk"],
        format!("{:?}", clip_names("all.phx")?),
    )?;
    output(&[
        "retarget",
        &man(),
        "--clip",
        "Wave",
        "--mirror",
        "--out",
        "wave.phx",
    ])?;
    check(clip_names("wave.phx")? == ["Wave"], "other clips")
}

pub fn refusals() -> Tested {
    let glb = man();
    let refused = run(&[
        "retarget", &glb, "--onto", &glb, "--clip", "Wlak", "--out", "x.phx",
    ]);
    one_line_beside(&refused, &["no clip \"Wlak\"", "Walk"])?;
    fs::copy(mannequin(), scratch().join("a.glb"))?;
    output(&[
        "retarget", "a.glb", "--mirror", "--clip", "Walk", "--out", "a.phx",
    ])?;
    let refused = run(&["retarget", "a.phx", "--onto", &glb, "--out", "a.phx"]);
    one_line(&refused, &["a.phx", "would overwrite it"])?;
    for (args, part) in [
        (&["retarget", "a.glb", "--out", "x.phx"][..], "--onto"),
        (&["retarget", "a.glb", "--onto", "b.glb"], "--out"),
        (
            &[
                "retarget",
                "a.glb",
                "--mirror",
                "--out",
                "x.phx",
                "--reference",
                "Walk",
            ],
            "CLIP:TIME",
        ),
        (
            &[
                "retarget", "a.glb", "--mirror", "--out", "x.phx", "--align", "legs",
            ],
            "limbs",
        ),
    ] {
        let out = run(args);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        check(
            out.status.code() == Some(2) && error.contains(part),
            format!("{args:?}: {error}"),
        )?;
    }
    let late = run(&[
        "retarget",
        "a.glb",
        "--mirror",
        "--out",
        "x.phx",
        "--reference",
        "Jump:1",
    ]);
    one_line_beside(&late, &["no clip \"Jump\""])
}

/// Two models in one sheet: the pictures have the size of one, and both are in them.
pub fn side_by_side() -> Tested {
    fs::copy(mannequin(), scratch().join("man.glb"))?;
    let sheet = |more: &[&str], out: &str| {
        let args = [
            "render",
            "man.glb",
            "--clip",
            "Walk",
            "--frames",
            "2",
            "--columns",
            "2",
            "--renderer",
            "software",
            "--size",
            "160x120",
            "--out",
            out,
        ];
        output(&[&args[..], more].concat())
    };
    sheet(&[], "one.png")?;
    sheet(&["--beside", "man.glb"], "two.png")?;
    check(
        png_size(&scratch().join("two.png"))? == (320, 120),
        "another size",
    )?;
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
    let clash = run(&[
        "render", "man.glb", "--beside", "man.glb", "--out", "man.png", "--clip", "Nothing",
    ]);
    one_line(&clash, &["no clip \"Nothing\""])
}
