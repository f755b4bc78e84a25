//! `phalanx retarget` on small files of every kind that real ones fail with: the values were computed independently.

use super::support::{Tested, check, json, list, numbers, one_line_beside, output, run};
use libtest_mimic::Failed;
use phalanx_testkit::trials::needed;
use std::collections::HashMap;

/// Needed files, in addition to the folder of models.
pub const NEEDS: [&str; 13] = [
    "mannequin.glb",
    "../reports/all_x.bvh",
    "../reports/flat_legs.bvh",
    "../reports/lying_fall.bvh",
    "../reports/mirror_asym.bvh",
    "../reports/ref_tilt_45.bvh",
    "../reports/ref_yaw_25.bvh",
    "../reports/splayed_20.bvh",
    "../reports/c27_src_mixamo.glb",
    "../reports/c42_idle_rest_tpose_bind.glb",
    "../reports/c42_tpose_rest.glb",
    "../reports/c62_mirrored_root.glb",
    "../reports/c27_vrm1.vrm",
];

type Test = fn() -> Tested;

pub const TRIALS: [(&str, Test); 6] = [
    ("retarget_poses_that_do_not_stand", poses_that_do_not_stand),
    ("retarget_heights_of_clips_that_lie", heights_of_clips_that_lie),
    ("retarget_level_soles", level_soles),
    ("retarget_turned_and_leaning_references", turned_and_leaning_references),
    ("retarget_bind_poses", bind_poses),
    ("retarget_mirrors", mirrors),
];

fn file(name: &str) -> Result<String, Failed> {
    let path = match name {
        "mannequin.glb" => needed(name)?,
        name => needed(&format!("../reports/{name}"))?,
    };
    Ok(path.display().to_string())
}

/// World matrices by the names of nodes.
type Pose = HashMap<String, Vec<f32>>;

fn pose(file: &str, time: &str) -> Result<Pose, Failed> {
    let pose = json(&["pose", file, "--clip", "0", "--time", time, "--json"])?;
    let nodes = list(&pose, "nodes")?.iter();
    Ok(nodes
        .map(|node| {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            (name, numbers(&node["world"]))
        })
        .collect())
}

fn place(pose: &Pose, joint: &str) -> Result<[f32; 3], Failed> {
    let matrix = pose.get(joint).ok_or_else(|| format!("no {joint}"))?;
    Ok([matrix[12], matrix[13], matrix[14]])
}

fn near(what: &str, found: f32, expected: f32, within: f32) -> Tested {
    let right = (found - expected).abs() <= within;
    check(right, format!("{what}: {found}, expected {expected}"))
}

/// Onto the mannequin, with more options; what is said.
fn onto_mannequin(name: &str, more: &[&str]) -> Result<String, Failed> {
    let (from, onto) = (file(name)?, file("mannequin.glb")?);
    let args = ["retarget", &from, "--onto", &onto, "--out", "edge.phx"];
    let said = output(&[&args[..], more].concat())?;
    // Long lines are broken at spaces.
    Ok(said.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn poses_that_do_not_stand() -> Tested {
    let onto = file("mannequin.glb")?;
    for name in ["all_x.bvh", "flat_legs.bvh"] {
        let from = file(name)?;
        let line = ["retarget", &from, "--onto", &onto, "--out", "none.phx"];
        let parts = [name, "the rest pose of the source does not stand", "--reference CLIP:TIME"];
        one_line_beside(&run(&line), &parts)?;
        let there = super::support::scratch().join("none.phx").exists();
        check(!there, "a file was written")?;
    }
    Ok(())
}

fn heights_of_clips_that_lie() -> Tested {
    onto_mannequin("lying_fall.bvh", &[])?;
    for (time, height) in [("0", 0.962), ("0.5", 0.192), ("2.5", 0.115)] {
        let hips = place(&pose("edge.phx", time)?, "Hips")?;
        near(time, hips[1], height, 3e-3)?;
    }
    Ok(())
}

fn level_soles() -> Tested {
    let said = onto_mannequin("splayed_20.bvh", &[])?;
    check(said.contains("turned along with its spread legs"), said)?;
    let pose = pose("edge.phx", "0")?;
    for side in ["Left", "Right"] {
        let toe = place(&pose, &format!("{side}Toe"))?;
        near(side, toe[1], 0.02, 3e-3)?;
        let foot = pose.get(&format!("{side}Foot")).ok_or("no foot")?;
        near(side, foot[5], 1.0, 1e-6)?;
    }
    Ok(())
}

fn turned_and_leaning_references() -> Tested {
    onto_mannequin("ref_tilt_45.bvh", &["--reference", "ref_tilt_45:0"])?;
    let [from, to] = ["0", "0.033"].map(|time| pose("edge.phx", time));
    let (from, to) = (place(&from?, "Hips")?, place(&to?, "Hips")?);
    near("level", to[1], from[1], 1e-4)?;
    check(to[2] - from[2] > 2.0, format!("{from:?} {to:?}"))?;
    onto_mannequin("ref_yaw_25.bvh", &["--reference", "ref_yaw_25:0"])?;
    let [first, last] = ["0", "0.033"].map(|time| pose("edge.phx", time));
    let (first, last) = (first?, last?);
    let (from, to) = (place(&first, "Hips")?, place(&last, "Hips")?);
    near("path", to[0], from[0], 1e-4)?;
    let [arm, hand] = [place(&first, "LeftArm")?, place(&first, "LeftHand")?];
    near("arm", hand[2], arm[2], 2e-3)?;
    // The trunk and the feet face as the arms do.
    for joint in ["Hips", "Head", "LeftFoot"] {
        let matrix = first.get(joint).ok_or("no joint")?;
        near(joint, matrix[8], 0.0, 1e-4)?;
    }
    Ok(())
}

fn bind_poses() -> Tested {
    let from = file("c27_src_mixamo.glb")?;
    let on = |name: &str, more: &[&str]| -> Result<(String, Pose), Failed> {
        let onto = file(name)?;
        let args = ["retarget", &from, "--onto", &onto, "--out", "edge.phx"];
        let said = output(&[&args[..], more].concat())?;
        Ok((said, pose("edge.phx", "0.5")?))
    };
    let (_, expected) = on("c42_tpose_rest.glb", &[])?;
    let (said, found) = on("c42_idle_rest_tpose_bind.glb", &[])?;
    check(said.contains("onto-reference=bind"), said)?;
    let apart = |found: &Pose| -> Result<f32, Failed> {
        let mut apart = 0.0f32;
        for (joint, matrix) in &expected {
            let other = found.get(joint).ok_or("another skeleton")?;
            let pairs = matrix.iter().zip(other);
            apart = pairs.map(|(a, b)| (a - b).abs()).fold(apart, f32::max);
        }
        Ok(apart)
    };
    let same = apart(&found)?;
    check(same < 1e-5, format!("{same}"))?;
    let (_, found) = on("c42_idle_rest_tpose_bind.glb", &["--onto-reference", "rest"])?;
    check(apart(&found)? > 0.1, "the rest pose is not the bind pose")
}

fn mirrors() -> Tested {
    let from = file("mirror_asym.bvh")?;
    output(&["retarget", &from, "--mirror", "--out", "edge.phx"])?;
    let hips = place(&pose("edge.phx", "0")?, "mixamorig:Hips")?;
    near("hips", hips[1], 1.0, 1e-5)?;
    let (from, onto) = (file("c27_src_mixamo.glb")?, file("c62_mirrored_root.glb")?);
    let line = ["retarget", &from, "--onto", &onto, "--out", "none.phx"];
    one_line_beside(&run(&line), &["joint 0 \"Armature\" of the target", "mirrors"])
}
