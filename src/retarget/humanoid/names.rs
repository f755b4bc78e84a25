//! Joint names as the tables compare them.

use std::collections::{HashMap, HashSet};

/// A joint's name without namespace, prefix and separators, in lower case.
///
/// `mixamorig:LeftUpLeg` is `leftupleg`, `DEF-upper_arm.L` is `upperarml`, `Bip01 L Thigh` is `lthigh`.
pub(super) fn plain(name: &str) -> String {
    // What stands before the last colon or bar is a namespace or the name of an armature.
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    let own = ["DEF-", "ORG-"]
        .iter()
        .find_map(|prefix| own.strip_prefix(prefix))
        .unwrap_or(own);
    let letters = own.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.'));
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    let digit = |c: char| c.is_ascii_digit();
    // Some programs leave out the colon behind Mixamo's namespace.
    if let Some(rest) = plain.strip_prefix("mixamorig") {
        return rest.trim_start_matches(digit).to_owned();
    }
    // Biped's name is followed by its number.
    match plain.strip_prefix("bip") {
        Some(rest) if rest.starts_with(digit) => rest.trim_start_matches(digit).to_owned(),
        _ => plain,
    }
}

/// What most names begin with, up to a separator: the name of a character or a rig (`Character1_`, `Robot_`, `Biped `).
pub(super) fn prefix(names: &[String]) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let named = names.iter().filter(|n| !n.is_empty());
    for name in named.clone() {
        if let Some(at) = name.find([' ', '_', '-', '.', ':', '|'])
            && at > 0
            && at + 1 < name.len()
        {
            *counts.entry(&name[..=at]).or_default() += 1;
        }
    }
    let (prefix, count) = counts
        .into_iter()
        .max_by_key(|c| (c.1, std::cmp::Reverse(c.0)))?;
    // The root and a few others may have names of their own.
    (4 * count >= 3 * named.count() && count > 3).then(|| prefix.to_owned())
}

/// A name without the index that Sketchfab appends: `_0` and a number, as `Hips_01` and `LeftHand_010`.
pub(in crate::retarget) fn unindexed(name: &str) -> &str {
    index(name).map_or(name, |digits| &name[..name.len() - digits.len() - 2])
}

/// The digits of that index.
fn index(name: &str) -> Option<&str> {
    let (stem, digits) = name.rsplit_once("_0")?;
    let sound = !stem.is_empty() && !digits.is_empty();
    (sound && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// Whether names have Sketchfab's indices: three quarters of those that are not empty, each another one. Names of
/// other files may end so, as Unreal's `spine_01`.
pub(super) fn are_indexed(names: &[String]) -> bool {
    let named = names.iter().filter(|n| !n.is_empty()).count();
    let indices: Vec<&str> = names.iter().filter_map(|n| index(n)).collect();
    let each: HashSet<&str> = indices.iter().copied().collect();
    !indices.is_empty() && each.len() == indices.len() && 4 * indices.len() >= 3 * named
}

#[cfg(test)]
mod tests {
    use super::{are_indexed, plain, unindexed};

    #[test]
    fn indices_of_sketchfab_are_left_out() {
        for (name, expected) in [
            ("mixamorig:Hips_01", "mixamorig:Hips"),
            ("Bip01_L_Thigh_010", "Bip01_L_Thigh"),
            ("spine_02_00", "spine_02"),
            ("Hips_1", "Hips_1"),
            ("_rootJoint", "_rootJoint"),
            ("Hips_0", "Hips_0"),
            ("_01", "_01"),
            ("", ""),
        ] {
            assert_eq!(unindexed(name), expected, "{name}");
        }
        let names = |all: &[&str]| all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert!(are_indexed(&names(&[
            "_rootJoint",
            "Hips_00",
            "Spine_01",
            "Head_02"
        ])));
        assert!(!are_indexed(&names(&[
            "pelvis",
            "spine_01",
            "spine_02",
            "thumb_01_l"
        ])));
        assert!(!are_indexed(&names(&["spine_01", "neck_01", "head_02"])));
        assert!(!are_indexed(&names(&["", ""])));
    }

    #[test]
    fn prefixes_and_separators_are_left_out() {
        for (name, expected) in [
            ("mixamorig:LeftUpLeg", "leftupleg"),
            ("Armature|mixamorig9:Hips", "hips"),
            ("mixamorigLeftUpLeg", "leftupleg"),
            ("mixamorig_1_Hips", "hips"),
            ("DEF-upper_arm.L", "upperarml"),
            ("Bip01 L Thigh", "lthigh"),
            ("Bip001 R Finger01", "rfinger01"),
            ("Bip01", ""),
            ("J_Bip_L_UpperLeg", "jbiplupperleg"),
            ("Biped", "biped"),
            ("Größe_L", "größel"),
            ("", ""),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
