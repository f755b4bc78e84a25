//! VRM files: their humanoid goes into .phx files, and `retarget` finds it there.

use super::bake::mannequin;
use super::support::{Tested, check, json, list, one_line, output, run, scratch};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::fs;

/// The built-in character with joint names that no table has, as a VRM file. Gives its humanoid by those names.
fn vrm(file: &str) -> Result<Value, Failed> {
    changed(file, |_| {})
}

/// [`vrm`], with other bones.
fn changed(file: &str, change: impl Fn(&mut Value)) -> Result<Value, Failed> {
    let (mut document, binary) = super::clashes::taken_apart()?;
    let named = output(&["retarget", &mannequin().display().to_string(), "--print-map"])?;
    let named: Value = serde_json::from_str(&named)?;
    let nodes = document["nodes"].as_array_mut().ok_or("no nodes")?;
    let (mut bones, mut joints) = (json!({}), json!({}));
    for (bone, joint) in named.as_object().into_iter().flatten() {
        let node = nodes.iter().position(|node| node["name"] == *joint);
        let node = node.ok_or("a bone without a node")?;
        bones[bone] = json!({ "node": node });
        joints[bone] = json!(format!("j{node}"));
    }
    for (place, node) in nodes.iter_mut().enumerate() {
        node["name"] = json!(format!("j{place}"));
    }
    change(&mut bones);
    document["extensionsUsed"] = json!(["VRMC_vrm"]);
    document["extensions"] =
        json!({ "VRMC_vrm": { "specVersion": "1.0", "humanoid": { "humanBones": bones } } });
    let text = document.to_string().into_bytes();
    let bytes = phalanx_testkit::gltf_file::glb(&text, &binary);
    fs::write(scratch().join(file), bytes)?;
    Ok(joints)
}

pub fn humanoids_are_stored() -> Tested {
    let joints = vrm("odd.glb")?;
    output(&["bake", "odd.glb", "--out", "odd.phx"])?;
    output(&["merge", "odd.phx", "--out", "merged.phx"])?;
    let man = mannequin().display().to_string();
    for file in ["odd.glb", "odd.phx", "merged.phx"] {
        let map: Value = serde_json::from_str(&output(&["retarget", file, "--print-map"])?)?;
        check(map == joints, format!("{file}: {map}"))?;
        let args = ["retarget", file, "--onto", &man, "--clip", "Walk"];
        output(&[&args[..], &["--out", "man.phx"]].concat())?;
        let info = json(&["info", file, "--json"])?;
        let bones = list(&info["humanoid"], "bones")?;
        check(bones.len() == 46, format!("{} bones", bones.len()))?;
        check(info["humanoid"]["lacking"] == json!([]), "lacking bones")?;
        for bone in bones {
            let joint = bone["joint"].as_u64().ok_or("no index")? as usize;
            let name = &info["skeleton"]["joints"][joint]["name"];
            let stated = bone["bone"].as_str().unwrap_or_default();
            check(*name == joints[stated], format!("{file}: {bone} is {name}"))?;
        }
        let text = output(&["info", file])?;
        check(text.contains("\nhumanoid of the file: 46 bones\n"), text)?;
    }
    // The character that clips are put onto keeps its own.
    output(&["retarget", &man, "--onto", "odd.phx", "--clip", "Walk", "--out", "walk.phx"])?;
    let map: Value = serde_json::from_str(&output(&["retarget", "walk.phx", "--print-map"])?)?;
    check(map == joints, map.to_string())?;
    let info = json(&["info", "--json"])?;
    check(info.get("humanoid").is_none(), "a file that states none")
}

/// A stated humanoid whose bones contradict the hierarchy is printed with the hint that `--map` refuses it.
pub fn against_the_hierarchy() -> Tested {
    changed("odd.glb", |bones| {
        let upper = bones["leftUpperLeg"].take();
        bones["leftUpperLeg"] = bones["leftLowerLeg"].take();
        bones["leftLowerLeg"] = upper;
    })?;
    let out = run(&["retarget", "odd.glb", "--print-map"]);
    let said = String::from_utf8(out.stderr)?;
    check(out.status.success() && said.lines().count() == 1, said.clone())?;
    let hint = "(--map would refuse this map as it is)";
    check(said.contains("leftLowerLeg") && said.contains(hint), said)?;
    fs::write(scratch().join("odd.json"), out.stdout)?;
    let man = mannequin().display().to_string();
    let refused =
        run(&["retarget", "odd.glb", "--map", "odd.json", "--onto", &man, "--out", "x.phx"]);
    one_line(&refused, &["odd.json: ", "leftLowerLeg"])
}
