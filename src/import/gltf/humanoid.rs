//! The humanoid of VRM files: the nodes of its bones (`VRMC_vrm` 1.0, `VRM` 0.x, and `VRMC_vrm_animation` of .vrma
//! files).

use super::document::Extensions;
use super::error::shorten;
use super::limits::Notes;
use crate::skeleton::HumanBone;
use serde_json::Value;

/// Bones with their nodes. Broken entries are reported and left out; of a bone or a node that occurs twice, the first
/// counts.
pub(super) fn humanoid(
    extensions: &Extensions,
    nodes: usize,
    notes: &mut Notes,
) -> Vec<(HumanBone, usize)> {
    let mut bones: Vec<(HumanBone, usize)> = Vec::new();
    let mut add = |place: &str, name: &str, bone: Option<HumanBone>, node: Option<&Value>| {
        let node = node.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let place = format!("extension {place:?}, bone {:?}", shorten(name));
        match (bone, node) {
            (None, _) => notes.dropped(place, "there is no such bone"),
            (_, None) => notes.dropped(place, "it has no node"),
            (_, Some(node)) if node >= nodes => {
                notes.dropped(place, format!("its node is {node}, there are {nodes}"));
            }
            (Some(bone), _) if bones.iter().any(|b| b.0 == bone) => {
                notes.dropped(place, "it is stated twice");
            }
            (Some(bone), Some(node)) => match bones.iter().find(|b| b.1 == node) {
                Some((first, _)) => {
                    notes.dropped(place, format!("its node {node} is that of \"{first}\""));
                }
                None => bones.push((bone, node)),
            },
        }
    };
    let newest =
        [("VRMC_vrm", &extensions.vrm_1), ("VRMC_vrm_animation", &extensions.vrm_animation)];
    let newest = newest.into_iter().find_map(|(name, vrm)| Some((name, vrm.as_ref()?)));
    if let Some((extension, vrm)) = newest {
        let table = vrm.pointer("/humanoid/humanBones").and_then(Value::as_object);
        for (name, bone) in table.into_iter().flatten() {
            add(extension, name, HumanBone::named(name), bone.get("node"));
        }
    } else if let Some(vrm) = &extensions.vrm_0 {
        let table = vrm.pointer("/humanoid/humanBones").and_then(Value::as_array);
        for bone in table.into_iter().flatten() {
            let name = bone.get("bone").and_then(Value::as_str).unwrap_or_default();
            add("VRM", name, of_vrm_0(name), bone.get("node"));
        }
    }
    bones
}

/// A bone by its name in VRM 0.x, which names the joints of the thumb like the joints of other fingers.
fn of_vrm_0(name: &str) -> Option<HumanBone> {
    let thumb = ["ThumbProximal", "ThumbIntermediate"].iter().position(|end| name.ends_with(end));
    match thumb {
        Some(0) => HumanBone::named(&name.replace("Proximal", "Metacarpal")),
        Some(_) => HumanBone::named(&name.replace("Intermediate", "Proximal")),
        None => HumanBone::named(name),
    }
}
