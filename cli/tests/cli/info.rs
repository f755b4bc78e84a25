//! `phalanx info`.

use super::support::{Tested, check, json, list, numbers, output, same_bits, scratch};
use phalanx::import::{ImportOptions, import_path, mannequin};
use phalanx_testkit::trials::needed;
use std::fs;

pub fn info_json_and_text() -> Tested {
    let rig = mannequin()?;
    let info = json(&["info", "--json"])?;
    check(info["file"] == "built-in character", "file")?;
    let joints = list(&info["skeleton"], "joints")?;
    check(joints.len() == 47 && joints[0]["parent"] == -1, "joints")?;
    for (i, joint) in joints.iter().enumerate() {
        check(joint["name"] == rig.skeleton().names()[i].as_str(), format!("joint {i}"))?;
        check(joint["parent"].as_i64() < Some(i as i64), format!("parent of joint {i}"))?;
    }
    let clips = list(&info, "clips")?;
    check(clips.len() == 11, "clips")?;
    // What one looks for comes first.
    let text = output(&["info", "--json"])?;
    let at = ["bounds", "unit_hint", "clips", "meshes", "skins", "skeleton"]
        .map(|key| text.find(&format!("\n  \"{key}\"")));
    check(at.is_sorted() && at[0].is_some(), format!("order: {at:?}"))?;
    for (clip, c) in clips.iter().zip(rig.clips()) {
        check(clip["name"] == c.name(), "name of a clip")?;
        same_bits("duration", &clip["duration"], [c.duration()])?;
        check(clip["keys"].as_u64() == Some(c.key_count() as u64), "keys")?;
        check(clip["bytes"].as_u64() == Some(c.bytes() as u64), "bytes")?;
        check(clip["tracks"]["rotation"]["animated"].as_u64() > Some(0), "tracks")?;
        let timelines = &clip["timelines"];
        let sum = timelines["regular"].as_u64().zip(timelines["irregular"].as_u64());
        let expected = Some(c.timelines().len() as u64);
        check(sum.map(|(a, b)| a + b) == expected, "timelines")?;
    }
    check(info["levels_of_detail"] == 3, "levels of detail")?;
    let triangles: Vec<Option<u64>> =
        list(&info, "meshes")?.iter().map(|m| m["triangles"].as_u64()).collect();
    check(triangles == [Some(3062), Some(894), Some(262)], format!("{triangles:?}"))?;
    for key in ["skins", "morphs", "materials", "images", "report"] {
        list(&info, key)?;
    }
    let text = output(&["info"])?;
    for part in ["└─ Root › Hips", "├─ Spine", "47 joints", "\"Walk\"", "3,062", "Import report"]
    {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    Ok(())
}

/// Size and clips stand first; the joints, which take many lines, stand last.
pub fn begins_with_size_and_clips() -> Tested {
    let text = output(&["info"])?;
    let places: Vec<Option<usize>> = ["\nsize ", "\nClips", "\nSkins", "\nMeshes", "\nSkeleton"]
        .iter()
        .map(|part| text.find(part))
        .collect();
    check(places.iter().all(Option::is_some), text.clone())?;
    check(places.is_sorted(), text.clone())?;
    check(places[1] < text.match_indices('\n').nth(5).map(|(at, _)| at), text.clone())?;
    check(!text.contains("centimetres"), text)?;
    let info = json(&["info", "--json"])?;
    // The box of the vertices at rest.
    let pose = json(&["pose", "--vertices", "--json"])?;
    let all = numbers(
        &pose["primitives"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|p| p["positions"].clone())
            .collect(),
    );
    for axis in 0..3 {
        let values = all.iter().skip(axis).step_by(3).copied();
        let (min, max) = (values.clone().fold(f32::MAX, f32::min), values.fold(f32::MIN, f32::max));
        same_bits("min", &info["bounds"]["min"][axis], [min])?;
        same_bits("max", &info["bounds"]["max"][axis], [max])?;
        same_bits("size", &info["bounds"]["size"][axis], [max - min])?;
    }
    check(info["unit_hint"].is_null(), "the unit is metres")?;
    for (clip, travels) in [("Walk", false), ("Idle", false), ("Walk_RootMotion", true)] {
        let clips = list(&info, "clips")?.iter();
        let found = clips.into_iter().find(|c| c["name"] == clip).ok_or("no clip")?;
        check(found["moving_joints"].as_u64() > Some(10), found.to_string())?;
        check(found["root_motion"].is_object() == travels, found.to_string())?;
        if travels {
            let number = |key: &str| found["root_motion"][key].as_f64().unwrap_or(f64::NAN);
            check(number("distance") > 0.5, found.to_string())?;
            let speed = number("distance") / found["duration"].as_f64().unwrap_or(f64::NAN);
            check((speed - number("speed")).abs() < 1e-5, found.to_string())?;
        }
    }
    Ok(())
}

/// The fox is 150 units long.
pub fn centimetres() -> Tested {
    let path = needed("Fox.glb")?;
    let path = path.to_string_lossy();
    let info = json(&["info", &path, "--json"])?;
    check(info["unit_hint"] == "centimetres", info["unit_hint"].to_string())?;
    let text = output(&["info", &path])?;
    check(text.contains("seems to be in centimetres: ") && text.contains(" 1.5"), text.clone())?;
    check(text.contains("bake it with"), text)?;
    // A .phx file cannot be baked again.
    let baked = scratch().join("fox.phx");
    let baked = baked.to_string_lossy();
    output(&["bake", &path, "--exact", "--out", &baked])?;
    let text = output(&["info", &baked])?;
    check(text.contains("in centimetres") && !text.contains("bake it"), text)
}

/// Markers of a marker file, and root motion of a .phx file.
pub fn markers_and_root_motion() -> Tested {
    let folder = scratch();
    fs::copy(super::bake::mannequin(), folder.join("m.glb"))?;
    let markers =
        r#"{"clips": {"Walk": [{"name": "left", "time": 0.25}, {"name": "right", "time": 0.75}]}}"#;
    fs::write(folder.join("m.events.json"), markers)?;
    let info = json(&["info", "m.glb", "--json"])?;
    let clips = list(&info, "clips")?;
    let walk = clips.iter().find(|c| c["name"] == "Walk").ok_or("no Walk")?;
    check(
        walk["markers"][1]["name"] == "right" && walk["markers"][1]["time"] == 0.75,
        walk.to_string(),
    )?;
    let text = output(&["info", "m.glb"])?;
    check(text.contains("markers of \"Walk\": left 0.250 s, right 0.750 s"), text)?;
    let options =
        ImportOptions { root_motion: Some(Default::default()), ..ImportOptions::default() };
    let rig = import_path(&folder.join("m.glb"), &options)?.rigs.remove(0);
    let travelling = rig.clips().iter().position(|c| c.root_motion().is_some());
    let clip = travelling.ok_or("no root motion")?;
    phalanx::format::save(&folder.join("m.phx"), |out| -> Tested {
        let mut writer = phalanx::format::LibraryWriter::new(out, rig.skeleton())?;
        writer.add_rig(&rig)?;
        for clip in rig.clips() {
            writer.add_clip(clip, clip.name(), Default::default())?;
        }
        writer.finish(&Default::default())?;
        Ok(())
    })?;
    // The section's kind alone, and no advice to bake what is baked.
    let text = output(&["info", "m.phx"])?;
    check(text.contains("│ CLIP "), text.clone())?;
    // What the import repaired is not stored.
    check(text.contains("holds no import report") && !text.contains("nothing repaired"), text)?;
    let info = json(&["info", "m.phx", "--json"])?;
    check(info["report"].is_null(), info["report"].to_string())?;
    let found = &list(&info, "clips")?[clip]["root_motion"];
    let whole = rig.clips()[clip].root_motion().ok_or("none")?.whole();
    check(found["extracted"] == true, found.to_string())?;
    same_bits("distance", &found["distance"], [whole.translation.length() as f32])
}
