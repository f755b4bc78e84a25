//! The humanoid of a raw scene: bones of nodes become bones of joints.

use crate::raw::{ImportReport, Severity};
use crate::skeleton::{HumanBone, NO_JOINT};

/// The bones with their joints, in the order of the bones, no bone and no joint twice. The first statement counts; others
/// are reported and left out.
pub(super) fn humanoid(
    stated: &[(HumanBone, usize)],
    joint_of_node: &[u16],
    report: &mut ImportReport,
) -> Vec<(HumanBone, u16)> {
    let mut bones: Vec<(HumanBone, u16)> = Vec::new();
    for &(bone, node) in stated {
        let joint = joint_of_node.get(node).copied().unwrap_or(NO_JOINT);
        let message = if joint == NO_JOINT {
            format!("its node {node} is no joint")
        } else if bones.iter().any(|b| b.0 == bone) {
            "it is stated twice".into()
        } else if let Some((first, _)) = bones.iter().find(|b| b.1 == joint) {
            format!("its node {node} is that of the bone \"{first}\"")
        } else {
            bones.push((bone, joint));
            continue;
        };
        let place = format!("humanoid, bone \"{bone}\"");
        report.push(Severity::Dropped, place, message);
    }
    bones.sort_unstable_by_key(|b| b.0);
    bones
}
