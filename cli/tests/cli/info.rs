//! `phalanx info`.

use super::support::{Tested, check, json, list, output, same_bits};
use phalanx::import::mannequin;

pub fn info_json_and_text() -> Tested {
    let rig = mannequin()?;
    let info = json(&["info", "--json"])?;
    check(info["file"] == "built-in character", "file")?;
    let joints = list(&info["skeleton"], "joints")?;
    check(joints.len() == 47 && joints[0]["parent"] == -1, "joints")?;
    for (i, joint) in joints.iter().enumerate() {
        check(
            joint["name"] == rig.skeleton().names()[i].as_str(),
            format!("joint {i}"),
        )?;
        check(
            joint["parent"].as_i64() < Some(i as i64),
            format!("parent of joint {i}"),
        )?;
    }
    let clips = list(&info, "clips")?;
    check(clips.len() == 11, "clips")?;
    for (clip, c) in clips.iter().zip(rig.clips()) {
        check(clip["name"] == c.name(), "name of a clip")?;
        same_bits("duration", &clip["duration"], [c.duration()])?;
        check(clip["keys"].as_u64() == Some(c.key_count() as u64), "keys")?;
        check(clip["bytes"].as_u64() == Some(c.bytes() as u64), "bytes")?;
        check(
            clip["tracks"]["rotation"]["animated"].as_u64() > Some(0),
            "tracks",
        )?;
        let timelines = &clip["timelines"];
        let sum = timelines["regular"]
            .as_u64()
            .zip(timelines["irregular"].as_u64());
        let expected = Some(c.timelines().len() as u64);
        check(sum.map(|(a, b)| a + b) == expected, "timelines")?;
    }
    check(info["levels_of_detail"] == 3, "levels of detail")?;
    let triangles: Vec<Option<u64>> = list(&info, "meshes")?
        .iter()
        .map(|m| m["triangles"].as_u64())
        .collect();
    check(
        triangles == [Some(3062), Some(894), Some(262)],
        format!("{triangles:?}"),
    )?;
    for key in ["skins", "morphs", "materials", "images", "report"] {
        list(&info, key)?;
    }
    let text = output(&["info"])?;
    for part in [
        "└─ Root › Hips",
        "├─ Spine",
        "47 joints",
        "\"Walk\"",
        "3,062",
        "Import report",
    ] {
        check(text.contains(part), format!("no {part:?} in\n{text}"))?;
    }
    Ok(())
}
