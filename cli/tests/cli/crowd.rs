//! `phalanx crowd`: figures, pictures, models of any kind.

use super::support::{
    Tested, check, json, list, one_line, output, phalanx, png_size, run, same_bits, scratch,
};
use phalanx_testkit::trials::needed;
use serde_json::Value;
use std::fs;

pub fn crowd_draws_and_reports() -> Tested {
    let folder = scratch();
    let table = output(&[
        "crowd",
        "--count",
        "50",
        "--frames",
        "3",
        "--threads",
        "2",
        "--out",
        "fifty.png",
        "--json",
        "fifty.json",
        "--size",
        "320x180",
    ])?;
    check(png_size(&folder.join("fifty.png"))? == (320, 180), "size of the picture")?;
    for part in [
        "characters",
        "50",
        "47",
        "2 threads",
        "1 thread",
        "median frame",
        "p99 frame",
        "per character",
        "instruction set",
        "evaluated into",
        "heap memory",
        "palette hash",
        "drawn by",
        "fifty.png",
    ] {
        check(table.contains(part), format!("no {part:?} in\n{table}"))?;
    }
    let figures: Value = serde_json::from_slice(&fs::read(folder.join("fifty.json"))?)?;
    check(figures["characters"] == 50 && figures["joints"] == 47, "figures")?;
    check(figures["frames"] == 3 && figures["clips"].as_array().map(Vec::len) == Some(8), "clips")?;
    let runs = list(&figures, "runs")?;
    check(runs.len() == 2 && runs[0]["threads"] == 2 && runs[1]["threads"] == 1, "runs")?;
    for run in runs {
        check(run["bytes_per_frame"] == 50 * 47 * 48, "bytes of a frame")?;
        let median = run["median_ns"].as_f64().unwrap_or(0.0);
        let each = run["ns_per_character"].as_f64().unwrap_or(0.0);
        check(median > 0.0 && (each * 50.0 - median).abs() < 1e-6 * median, "times")?;
        check(run["p99_ns"].as_f64() >= run["median_ns"].as_f64(), "p99")?;
    }
    check(runs[0]["palette_hash"] == runs[1]["palette_hash"], "bits differ with the threads")?;
    check(table.contains(runs[0]["palette_hash"].as_str().unwrap_or("-")), "hash in the table")?;
    check(figures["picture"]["width"] == 320, "picture")?;
    // The same crowd again has the same bits; one thread alone is one column.
    let table = output(&[
        "crowd",
        "--count",
        "50",
        "--frames",
        "3",
        "--threads",
        "1",
        "--out",
        "fifty.png",
        "--size",
        "32x18",
        "--renderer",
        "software",
    ])?;
    check(table.contains(runs[0]["palette_hash"].as_str().unwrap_or("-")), "another hash")?;
    check(!table.contains("threads\u{20}│") && table.contains("software"), table)?;
    check(png_size(&folder.join("fifty.png"))? == (32, 18), "the picture was not replaced")
}

pub fn crowd_without_an_adapter() -> Tested {
    let mut command = phalanx();
    command.env("VK_ICD_FILENAMES", "/nonexistent.json").env("WGPU_BACKEND", "vulkan");
    command.env("VK_DRIVER_FILES", "/nonexistent.json");
    let small = ["crowd", "--count", "5", "--frames", "2", "--size", "64x64", "--out", "five.png"];
    let out = command.args(small).output()?;
    let text = String::from_utf8(out.stdout)?;
    check(out.status.success(), String::from_utf8_lossy(&out.stderr))?;
    check(!cfg!(target_os = "linux") || text.contains("software"), text)?;
    check(png_size(&scratch().join("five.png"))? == (64, 64), "size of the picture")
}

pub fn crowd_keeps_old_files() -> Tested {
    let path = scratch().join("old.png");
    fs::write(&path, b"kept")?;
    let out = run(&["crowd", "missing.glb", "--out", "old.png"]);
    one_line(&out, &["missing.glb"])?;
    let out = run(&["crowd", "--count", "3", "--out", "old.png", "--json", "no/folder.json"]);
    one_line(&out, &["no/folder.json"])?;
    check(fs::read(&path)? == b"kept", "a run that failed has changed the old picture")
}

/// A glTF file of one triangle (unless `nodes` say otherwise) that a node scales.
pub fn write_gltf(name: &str, nodes: &str) -> Tested {
    write_mesh(name, nodes, "")
}

/// [`write_gltf`] with more attributes of the triangle: accessor 1 has joint 0, accessor 2 weight 1.
pub fn write_mesh(name: &str, nodes: &str, attributes: &str) -> Tested {
    // Corners (0, 0, 0), (1, 0, 0) and (0, 1, 0); three times 0, 0, 0, 0; three times 255, 0, 0, 0.
    let bytes = concat!(
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA",
        "AAAAAAAAAAAAAAAA",
        "/wAAAP8AAAD/AAAA"
    );
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":{nodes},
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0{attributes}}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3",
            "min":[0,0,0],"max":[1,1,0]}},
            {{"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"}},
            {{"bufferView":2,"componentType":5121,"normalized":true,"count":3,"type":"VEC4"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":12}},
            {{"buffer":0,"byteOffset":48,"byteLength":12}}],
        "buffers":[{{"byteLength":60,"uri":"data:application/octet-stream;base64,{bytes}"}}]}}"#
    );
    fs::write(scratch().join(name), text)?;
    Ok(())
}

pub fn crowds_of_any_size() -> Tested {
    for scale in ["1e-12", "0.01", "1", "30000", "1e12"] {
        write_gltf("scaled.gltf", &format!(r#"[{{"mesh":0,"scale":[{scale},{scale},{scale}]}}]"#))?;
        let args = [
            "crowd",
            "scaled.gltf",
            "--count",
            "4",
            "--frames",
            "1",
            "--size",
            "64x48",
            "--out",
            "scaled.png",
            "--json",
            "scaled.json",
            "--renderer",
            "software",
        ];
        output(&args)?;
        let figures: Value = serde_json::from_slice(&fs::read(scratch().join("scaled.json"))?)?;
        let (seen, triangles) =
            (&figures["picture"]["characters"], &figures["picture"]["triangles"]);
        check(
            seen == 4 && triangles == 4,
            format!("{scale}: {seen} in view, {triangles} triangles"),
        )?;
    }
    Ok(())
}

pub fn crowds_without_meshes() -> Tested {
    write_gltf("bare.gltf", r#"[{"name":"a","children":[1]},{"name":"b","translation":[0,1,0]}]"#)?;
    let args = [
        "crowd",
        "bare.gltf",
        "--count",
        "4",
        "--frames",
        "1",
        "--size",
        "64x48",
        "--out",
        "bare.png",
    ];
    check(output(&args)?.contains(" 0 triangles"), "triangles of nothing")?;
    check(output(&["info", "bare.gltf"])?.contains("No meshes"), "meshes of nothing")?;
    let pose = json(&["pose", "bare.gltf", "--json", "--vertices"])?;
    check(list(&pose, "nodes")?.len() == 2 && list(&pose, "primitives")?.is_empty(), "nodes")?;
    same_bits("world", &pose["nodes"][1]["world"][13], [1.0])
}

/// Textures that are missing or are not pictures are left out, with exit status 0 and one line.
pub fn textures_that_are_missing() -> Tested {
    write_gltf("plain.gltf", r#"[{"mesh":0}]"#)?;
    let mut file: Value = serde_json::from_slice(&fs::read(scratch().join("plain.gltf"))?)?;
    file["meshes"][0]["primitives"][0]["material"] = 0.into();
    file["materials"] = serde_json::json!([
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}},
    ]);
    file["textures"] = serde_json::json!([{"source": 0}, {"source": 1}]);
    let text = "data:image/png;base64,AAAA";
    file["images"] = serde_json::json!([{"name": "skin", "uri": "not-there.png"}, {"uri": text}]);
    fs::write(scratch().join("bare-skin.gltf"), file.to_string())?;
    output(&["bake", "bare-skin.gltf", "--out", "bare-skin.phx"])?;
    let small = ["--size", "32x32", "--renderer", "software", "--frames", "1"];
    for (file, part) in [
        ("bare-skin.gltf", r#"image 0 "skin": "#),
        ("bare-skin.phx", "image 0: the file contains no usable image"),
        ("plain.gltf", ""),
    ] {
        for command in [
            &["crowd", "--count", "1", "--out", "bare-skin.png"][..],
            &["render", "--out", "bare-skin.png"],
        ] {
            let out = run(&[command, &[file], &small].concat());
            let said = String::from_utf8(out.stderr)?;
            check(out.status.success(), said.clone())?;
            if part.is_empty() {
                check(said.is_empty(), said)?;
                continue;
            }
            let line = format!("phalanx: warning: {file}: drawn without {part}");
            check(said.starts_with(&line), said.clone())?;
            let end = said.ends_with(" (and 1 more)\n");
            check(end && said.lines().count() == 1, said)?;
        }
    }
    Ok(())
}

pub fn any_model(file: &str) -> Tested {
    let path = needed(file)?;
    let path = path.to_string_lossy();
    let info = json(&["info", &path, "--json"])?;
    check(!list(&info, "meshes")?.is_empty(), "no meshes")?;
    check(output(&["info", &path])?.contains("Import report"), "no report")?;
    let png = format!("{file}.png");
    let args = [
        "crowd",
        &path,
        "--count",
        "9",
        "--frames",
        "2",
        "--size",
        "96x64",
        "--out",
        &png,
        "--renderer",
        "software",
    ];
    let table = output(&args)?;
    check(table.contains("software"), table.clone())?;
    check(!table.contains(" 0 characters"), format!("no character is in view:\n{table}"))?;
    check(png_size(&scratch().join(&png))? == (96, 64), "size of the picture")
}
