use super::*;
use crate::skeleton::{Joint, Trs};

fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
    let joints: Vec<Joint> = joints
        .iter()
        .map(|&(name, parent)| Joint { name: name.into(), parent, rest: Trs::IDENTITY })
        .collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

#[test]
fn prefixes_are_stripped() {
    for (name, short) in [
        ("mixamorig:Hips", "Hips"),
        ("mixamorig1:Hips", "Hips"),
        ("mixamorigHips", "Hips"),
        ("mixamorig9_Hips", "Hips"),
        ("mixamorig", "mixamorig"),
        ("Armature|Hips.001", "Hips"),
        ("a:b:Hips", "Hips"),
        ("Hips", "Hips"),
        ("Spine.1", "Spine.1"),
        (".001", ".001"),
        ("ns:", "ns:"),
        ("", ""),
    ] {
        assert_eq!(stripped(name), short, "{name}");
    }
}

#[test]
fn hips_are_known_by_their_names() {
    for name in [
        "mixamorig:Hips",
        "Hips.001",
        "Hips_01",
        "mixamorig:Hips_010",
        "Bip01_Pelvis_02",
        "DEF-spine",
    ] {
        assert!(is_hips(name), "{name}");
    }
    for name in ["DEF-spine.001", "DEF-spine_01", "Hips_1", "Hips2", "spine_01", "_01", ""] {
        assert!(!is_hips(name), "{name}");
    }
}

#[test]
fn equal_names_come_first_and_case_last() {
    let source = skeleton(&[("mixamorig:Hips", None), ("Leg", Some(0)), ("ARM.001", Some(0))]);
    let target = skeleton(&[
        ("Armature", None),
        ("Hips", Some(0)),
        ("leg", Some(1)),
        ("Leg", Some(1)),
        ("Arm", Some(1)),
    ]);
    let mut ambiguous = Vec::new();
    let found = pairs(&source, &target, &mut ambiguous);
    let expected = [
        None,
        Some((0, BindMatch::WithoutPrefix)),
        None,
        Some((1, BindMatch::Exact)),
        Some((2, BindMatch::WithoutCase)),
    ];
    assert_eq!(found, expected);
    assert!(ambiguous.is_empty());
}

#[test]
fn numbers_that_tell_joints_apart_are_kept() {
    let bound = |source: &[&str], target: &[&str]| -> Vec<(String, String)> {
        let [source, target] = [source, target].map(|names| {
            let joints: Vec<_> = names.iter().map(|n| (*n, None)).collect();
            skeleton(&joints)
        });
        let mut ambiguous = Vec::new();
        let found = pairs(&source, &target, &mut ambiguous);
        assert!(ambiguous.is_empty(), "{ambiguous:?}");
        let names = |(b, a): (usize, u16)| {
            let a = source.names()[usize::from(a)].clone();
            (a, target.names()[b].clone())
        };
        let pairs = found.iter().enumerate();
        pairs.filter_map(|(b, p)| Some(names((b, p.as_ref()?.0)))).collect()
    };
    let same = |names: &[&str]| -> Vec<(String, String)> {
        let both = names.iter().map(|n| (n.to_string(), n.to_string()));
        both.collect()
    };
    // The remaining joints of both are different bones.
    let a = ["DEF-spine", "DEF-spine.001", "DEF-spine.006"];
    let b = ["DEF-spine", "DEF-spine.001", "DEF-spine.003"];
    assert_eq!(bound(&a, &b), same(&a[..2]));
    // One side alone may have the numbered names, without the bare one.
    assert_eq!(bound(&a[2..], &b), []);
    assert_eq!(bound(&b, &a[2..]), []);
    assert_eq!(bound(&["spine"], &["spine.001", "spine.002"]), []);
    assert_eq!(bound(&["spine.002"], &["Spine", "SPINE.001"]), []);
    // Below a prefix, and without case, equal numbers still bind.
    let prefixed = ["rig:DEF-spine", "rig:DEF-Spine.003"];
    let expected = [("DEF-spine", "rig:DEF-spine"), ("DEF-spine.003", "rig:DEF-Spine.003")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(bound(&b, &prefixed), expected);
    // The target is a copy of a whole armature.
    let copy = ["Hips.001", "Leg.L.001", "Leg.R.001"];
    assert_eq!(bound(&copy, &["Hips", "Leg.L", "Leg.R"]).len(), 3);
}

#[test]
fn names_that_repeat_bind_by_their_paths_alone() {
    let source = skeleton(&[("l", None), ("end", Some(0)), ("r", None), ("end", Some(2))]);
    let target = skeleton(&[("r", None), ("l", None), ("end", Some(0)), ("end", Some(1))]);
    let mut ambiguous = Vec::new();
    let found = pairs(&source, &target, &mut ambiguous);
    let joints: Vec<_> = found.iter().map(|p| p.map(|p| p.0)).collect();
    assert_eq!(joints, [Some(2), Some(0), Some(3), Some(1)]);
    assert!(ambiguous.is_empty());
    let other = skeleton(&[("x", None), ("end", Some(0)), ("end", Some(0))]);
    let found = pairs(&source, &other, &mut ambiguous);
    assert!(found.iter().all(Option::is_none));
    assert_eq!(ambiguous, ["end"]);
}
