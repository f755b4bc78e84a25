//! Humanoid maps: found by names, read from JSON, refused.

use crate::support::*;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::retarget::{HumanBone, HumanoidMap, MapOrigin, RetargetError};
use phalanx::rig::Rig;
use phalanx::skeleton::{Joint, NO_JOINT, Skeleton, Trs};

fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
    let joint = |(name, parent): &(&str, Option<usize>)| Joint {
        name: (*name).into(),
        parent: *parent,
        rest: Trs::IDENTITY,
    };
    let joints: Vec<Joint> = joints.iter().map(joint).collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

/// Unity names the three bones of a thumb as those of other fingers, VRM does not.
#[test]
fn thumbs_of_unity_and_vrm() {
    let body: [(&str, Option<usize>); 9] = [
        ("Hips", None),
        ("Spine", Some(0)),
        ("Head", Some(1)),
        ("LeftUpperLeg", Some(0)),
        ("LeftLowerLeg", Some(3)),
        ("LeftFoot", Some(4)),
        ("LeftUpperArm", Some(1)),
        ("LeftLowerArm", Some(6)),
        ("LeftHand", Some(7)),
    ];
    let right: Vec<String> = body[3..].iter().map(|b| b.0.replace("Left", "Right")).collect();
    let thumbs = [
        ("Unity", ["LeftThumbProximal", "LeftThumbIntermediate", "LeftThumbDistal"]),
        ("VRM", ["LeftThumbMetacarpal", "LeftThumbProximal", "LeftThumbDistal"]),
    ];
    for (table, thumb) in thumbs {
        let mut joints = body.to_vec();
        for (name, above) in right.iter().zip([0, 9, 10, 1, 12, 13]) {
            joints.push((name, Some(above)));
        }
        for (name, above) in thumb.into_iter().zip([8, 15, 16]) {
            joints.push((name, Some(above)));
        }
        let map = HumanoidMap::find(&skeleton(&joints)).unwrap();
        assert_eq!(map.origin(), MapOrigin::Names(table));
        let bones = [
            HumanBone::LeftThumbMetacarpal,
            HumanBone::LeftThumbProximal,
            HumanBone::LeftThumbDistal,
        ];
        assert_eq!(bones.map(|b| map.joint(b)), [Some(15), Some(16), Some(17)], "{table}");
    }
}

/// Joints by convention: names of hips, spine, head, and of one leg and arm, with `~` for the side.
#[test]
fn conventions_are_known() {
    let conventions: [(&str, [&str; 2], [&str; 12]); 8] = [
        (
            "Mixamo, CMU and LAFAN1",
            ["Left", "Right"],
            [
                "mixamorig:Hips",
                "mixamorig:Spine",
                "mixamorig:Neck",
                "mixamorig:Head",
                "mixamorig:~UpLeg",
                "mixamorig:~Leg",
                "mixamorig:~Foot",
                "mixamorig:~ToeBase",
                "mixamorig:~Shoulder",
                "mixamorig:~Arm",
                "mixamorig:~ForeArm",
                "mixamorig:~Hand",
            ],
        ),
        (
            "Mixamo, CMU and LAFAN1",
            ["Left", "Right"],
            [
                "Hips",
                "LowerBack",
                "Neck",
                "Head",
                "~UpLeg",
                "~Leg",
                "~Foot",
                "~ToeBase",
                "~Shoulder",
                "~Arm",
                "~ForeArm",
                "~Hand",
            ],
        ),
        (
            "VRM",
            ["left", "right"],
            [
                "hips",
                "spine",
                "neck",
                "head",
                "~UpperLeg",
                "~LowerLeg",
                "~Foot",
                "~Toes",
                "~Shoulder",
                "~UpperArm",
                "~LowerArm",
                "~Hand",
            ],
        ),
        (
            "VRoid",
            ["L", "R"],
            [
                "J_Bip_C_Hips",
                "J_Bip_C_Spine",
                "J_Bip_C_Neck",
                "J_Bip_C_Head",
                "J_Bip_~_UpperLeg",
                "J_Bip_~_LowerLeg",
                "J_Bip_~_Foot",
                "J_Bip_~_ToeBase",
                "J_Bip_~_Shoulder",
                "J_Bip_~_UpperArm",
                "J_Bip_~_LowerArm",
                "J_Bip_~_Hand",
            ],
        ),
        (
            "Unreal",
            ["l", "r"],
            [
                "pelvis",
                "spine_01",
                "neck_01",
                "head",
                "thigh_~",
                "calf_~",
                "foot_~",
                "ball_~",
                "clavicle_~",
                "upperarm_~",
                "lowerarm_~",
                "hand_~",
            ],
        ),
        (
            "Rigify",
            ["L", "R"],
            [
                "DEF-spine",
                "DEF-spine.001",
                "DEF-spine.004",
                "DEF-spine.006",
                "DEF-thigh.~",
                "DEF-shin.~",
                "DEF-foot.~",
                "DEF-toe.~",
                "DEF-shoulder.~",
                "DEF-upper_arm.~",
                "DEF-forearm.~",
                "DEF-hand.~",
            ],
        ),
        (
            "Biped",
            ["L", "R"],
            [
                "Bip01 Pelvis",
                "Bip01 Spine",
                "Bip01 Neck",
                "Bip01 Head",
                "Bip01 ~ Thigh",
                "Bip01 ~ Calf",
                "Bip01 ~ Foot",
                "Bip01 ~ Toe0",
                "Bip01 ~ Clavicle",
                "Bip01 ~ UpperArm",
                "Bip01 ~ Forearm",
                "Bip01 ~ Hand",
            ],
        ),
        (
            "Poser",
            ["l", "r"],
            [
                "hip", "abdomen", "neck", "head", "~Thigh", "~Shin", "~Foot", "~Toe", "~Collar",
                "~Shldr", "~ForeArm", "~Hand",
            ],
        ),
    ];
    let bones = [
        "hips",
        "spine",
        "neck",
        "head",
        "~UpperLeg",
        "~LowerLeg",
        "~Foot",
        "~Toes",
        "~Shoulder",
        "~UpperArm",
        "~LowerArm",
        "~Hand",
    ];
    for (table, sides, names) in conventions {
        let mut joints: Vec<(String, Option<usize>)> = Vec::new();
        let mut expected = Vec::new();
        for (which, side) in ["left", "right"].into_iter().zip(sides) {
            for (place, (name, bone)) in names.iter().zip(bones).enumerate() {
                if place < 4 && which == "right" {
                    continue;
                }
                let parent = match place {
                    0 => None,
                    4 => Some(0),
                    8 => Some(1),
                    _ if which == "right" => Some(joints.len() - 1),
                    place => Some(place - 1),
                };
                expected.push(bone.replace('~', which));
                joints.push((name.replace('~', side), parent));
            }
        }
        let named: Vec<(&str, Option<usize>)> =
            joints.iter().map(|j| (j.0.as_str(), j.1)).collect();
        let skeleton = skeleton(&named);
        let map = HumanoidMap::find(&skeleton).unwrap();
        assert_eq!(map.origin(), MapOrigin::Names(table));
        for (joint, bone) in expected.iter().enumerate() {
            let bone = HumanBone::named(bone).unwrap();
            assert_eq!(map.joint(bone), Some(joint), "{table}: {bone}");
        }
        assert_eq!(map.lacking().count(), 0);
    }
}

#[test]
fn models_of_files_are_known() {
    for (file, bones, some) in [
        (
            "pab.glb",
            52,
            &[(B::Chest, "Spine2"), (B::UpperChest, "Spine3"), (B::LeftHand, "Lefthand")][..],
        ),
        ("mannequin.glb", 46, &[(B::UpperChest, "Chest"), (B::LeftToes, "LeftToe")]),
        (
            "CesiumMan.glb",
            19,
            &[(B::RightHand, "Skeleton_arm_joint_R__3_"), (B::LeftFoot, "leg_joint_L_3")],
        ),
        ("bl_humanoid.glb", 52, &[(B::Hips, "pelvis"), (B::LeftLowerLeg, "calf_l")]),
        ("robot.glb", 19, &[(B::Hips, "Body"), (B::LeftFoot, "Foot.L"), (B::LeftHand, "Palm2.L")]),
    ] {
        let Some(rig) = model(file) else { continue };
        let map = map(&rig);
        let names = rig.skeleton().names();
        let listed: Vec<String> = map.bones().map(|(b, j)| format!("{b}={}", names[j])).collect();
        assert_eq!(listed.len(), bones, "{file}: {listed:?}");
        for (bone, name) in some {
            assert_eq!(names[map.joint(*bone).unwrap()], *name, "{file}: {bone}");
        }
    }
    // Legs of one bone, and hands without arms: what is there is known, and what VRM requires is named.
    if let Some(rig) = model("greenman.glb") {
        let refused = HumanoidMap::find(rig.skeleton()).unwrap_err().to_string();
        for part in [
            "Greenman, finds 7 bones",
            "lacks head, leftLowerLeg, leftFoot, rightLowerLeg, rightFoot, leftUpperArm",
        ] {
            assert!(refused.contains(part), "{refused}");
        }
        let text = HumanoidMap::draft(&rig).to_json(rig.skeleton());
        for part in [r#""leftUpperLeg": "leg_L""#, r#""leftLowerLeg": null"#] {
            assert!(text.contains(part), "{text}");
        }
    }
    // A horse with a rider is no humanoid by its names.
    if let Some(rig) = model("Fox.glb") {
        let refused = HumanoidMap::find(rig.skeleton());
        assert!(matches!(refused, Err(RetargetError::NoHumanoid { .. })), "{refused:?}");
    }
}

/// Sketchfab appends the index of every joint to its name.
#[test]
fn names_of_sketchfab_are_known() {
    for names in
        [(|_, name| format!("mixamorig:{name}")) as fn(Option<B>, &str) -> String, |_, name| {
            format!("Armature_{name}|{name}")
        }]
    {
        let plain = Made { names, ..Made::default() }.rig();
        let joints = plain.skeleton().names().iter().enumerate();
        let joints: Vec<(String, Option<usize>)> = joints
            .map(|(j, name)| {
                let parent = plain.skeleton().parents()[j];
                let parent = (parent != NO_JOINT).then_some(usize::from(parent));
                (format!("{name}_0{j}"), parent)
            })
            .collect();
        let joints: Vec<_> = joints.iter().map(|(n, p)| (n.as_str(), *p)).collect();
        let indexed = skeleton(&joints);
        let found = HumanoidMap::find(&indexed).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, map(&plain));
    }
}

/// Blender appends a number to every joint of a copy.
#[test]
fn names_of_copies_are_known() {
    for number in [".001", ".012"] {
        let plain = Made::default().rig();
        let joints = plain.skeleton().names().iter().enumerate();
        let joints: Vec<(String, Option<usize>)> = joints
            .map(|(j, name)| {
                let parent = plain.skeleton().parents()[j];
                let parent = (parent != NO_JOINT).then_some(usize::from(parent));
                (format!("{name}{number}"), parent)
            })
            .collect();
        let joints: Vec<_> = joints.iter().map(|(n, p)| (n.as_str(), *p)).collect();
        let copy = skeleton(&joints);
        let found = HumanoidMap::find(&copy).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, map(&plain));
    }
}

#[test]
fn json_goes_out_and_in() {
    let rig = Made { axes: 3, ..Made::default() }.rig();
    let found = map(&rig);
    let text = found.to_json(rig.skeleton());
    assert!(text.starts_with("{\n  \"hips\": \"mixamorig:Hips\",\n"), "{text}");
    let read = HumanoidMap::from_json(&text, rig.skeleton()).unwrap();
    assert!(read.bones().eq(found.bones()));
    assert_eq!(read.origin(), MapOrigin::Given);
    // Names that several joints have are written as paths or indices.
    let twice = skeleton(&[
        ("a", None),
        ("b", Some(0)),
        ("c", Some(0)),
        ("x", Some(1)),
        ("x", Some(2)),
        ("x", Some(2)),
    ]);
    let pairs = [(B::Hips, 0), (B::Spine, 3), (B::LeftUpperLeg, 4), (B::RightUpperLeg, 5)];
    let map = HumanoidMap::new(&twice, &pairs, MapOrigin::Given).unwrap();
    let text = map.to_json(&twice);
    assert!(
        text.contains("\"spine\": \"a/b/x\"") && text.contains("\"leftUpperLeg\": 4"),
        "{text}"
    );
    let read = HumanoidMap::from_json(&text, &twice).unwrap();
    assert_eq!(read.joint(B::Spine), Some(3));
    assert_eq!(read.joint(B::RightUpperLeg), Some(5));
}

/// A rig whose skin has all joints of a skeleton, in their order.
fn rig(skeleton: &Skeleton) -> Rig {
    let node = |j: usize| RawNode {
        name: Some(skeleton.names()[j].clone()),
        parent: Some(usize::from(skeleton.parents()[j])).filter(|p| *p < skeleton.len()),
        ..RawNode::default()
    };
    let skin = RawSkin {
        joints: (0..skeleton.len()).collect(),
        inverse_bind: vec![glam::Mat4::IDENTITY.to_cols_array(); skeleton.len()],
        ..RawSkin::default()
    };
    let raw = RawScene {
        nodes: (0..skeleton.len()).map(node).collect(),
        skins: vec![skin],
        ..RawScene::default()
    };
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    assert_eq!(rig.skeleton().names(), skeleton.names());
    rig
}

#[test]
fn drafts_are_completed_by_hand() {
    // Hips and spine have names of their own: no humanoid, and the rest is found.
    let s = skeleton(&[
        ("middle", None),
        ("back", Some(0)),
        ("Head", Some(1)),
        ("LeftUpLeg", Some(0)),
        ("LeftLeg", Some(3)),
        ("LeftFoot", Some(4)),
        ("RightUpLeg", Some(0)),
        ("RightLeg", Some(6)),
    ]);
    assert!(HumanoidMap::find(&s).is_err());
    let draft = HumanoidMap::draft(&rig(&s));
    assert_eq!(draft.origin(), MapOrigin::Names("Mixamo, CMU and LAFAN1"));
    let found = [
        (B::Head, 2),
        (B::LeftUpperLeg, 3),
        (B::LeftLowerLeg, 4),
        (B::LeftFoot, 5),
        (B::RightUpperLeg, 6),
        (B::RightLowerLeg, 7),
    ];
    assert!(draft.bones().eq(found));
    let lacking = [
        B::Hips,
        B::Spine,
        B::RightFoot,
        B::LeftUpperArm,
        B::LeftLowerArm,
        B::LeftHand,
        B::RightUpperArm,
        B::RightLowerArm,
        B::RightHand,
    ];
    assert!(draft.lacking().eq(lacking));
    let text = draft.to_json(&s);
    assert!(
        text.starts_with("{\n  \"hips\": null,\n  \"spine\": null,\n  \"head\": \"Head\",\n"),
        "{text}"
    );
    // Null is a bone that is missing: hips must be given, others need not.
    let refused = HumanoidMap::from_json(&text, &s);
    assert_eq!(refused, Err(RetargetError::NoHips { bones: 6 }));
    let edited = text.replace("\"hips\": null", "\"hips\": \"middle\"");
    let map = HumanoidMap::from_json(&edited, &s).unwrap();
    assert!(map.bones().eq([(B::Hips, 0)].into_iter().chain(found)));
    // Of nothing, all 15 bones that VRM requires.
    let none = skeleton(&[("x", None)]);
    let text = HumanoidMap::draft(&rig(&none)).to_json(&none);
    assert_eq!(text.matches(": null").count(), 15, "{text}");
    // Editors of Windows write a mark first.
    let marked = HumanoidMap::from_json(&format!("\u{feff}{edited}"), &s);
    assert_eq!(marked.as_ref(), Ok(&map));
}

#[test]
fn maps_that_are_none_are_refused() {
    let s = skeleton(&[("hips", None), ("thigh", Some(0)), ("shin", Some(1)), ("shin", Some(1))]);
    let new = |pairs: &[(B, usize)]| HumanoidMap::new(&s, pairs, MapOrigin::Given).unwrap_err();
    let says = |error: RetargetError, parts: &[&str]| {
        let text = error.to_string();
        assert!(parts.iter().all(|p| text.contains(p)), "{text}");
    };
    says(new(&[]), &["no hips", "0 other bones"]);
    says(new(&[(B::LeftUpperLeg, 1)]), &["no hips; 1 other bone is in it"]);
    says(new(&[(B::Hips, 0), (B::Spine, 0)]), &["joint 0 \"hips\"", "\"hips\" and \"spine\""]);
    says(
        new(&[(B::Hips, 0), (B::Hips, 1)]),
        &["\"hips\" is given twice", "0 \"hips\"", "1 \"thigh\""],
    );
    says(new(&[(B::Hips, 9)]), &["joint 9", "4 joints"]);
    // The knee above the thigh: the order of bones and that of joints form a cycle.
    let cycle = new(&[(B::Hips, 0), (B::LeftLowerLeg, 1), (B::LeftUpperLeg, 2)]);
    assert!(matches!(cycle, RetargetError::BoneOrder { bone: B::LeftLowerLeg, cycle: true, .. }));
    says(cycle, &["leftLowerLeg", "leftUpperLeg", "1 \"thigh\"", "2 \"shin\""]);
    // The knee beside the thigh, and the thigh beside the hips.
    let beside = new(&[(B::Hips, 0), (B::LeftUpperLeg, 2), (B::LeftLowerLeg, 3)]);
    assert!(matches!(
        beside,
        RetargetError::BoneOrder {
            bone: B::LeftLowerLeg,
            above: B::LeftUpperLeg,
            cycle: false,
            ..
        }
    ));
    says(beside, &["leftLowerLeg", "leftUpperLeg", "2 \"shin\"", "3 \"shin\""]);
    let beside = new(&[(B::Hips, 2), (B::LeftUpperLeg, 3)]);
    says(beside, &["leftUpperLeg", "hips", "2 \"shin\"", "3 \"shin\""]);
    // Feet may hang elsewhere.
    let feet = [(B::Hips, 2), (B::LeftFoot, 3)];
    assert!(HumanoidMap::new(&s, &feet, MapOrigin::Given).is_ok());
    let hips_below = new(&[(B::Hips, 2), (B::LeftFoot, 0)]);
    assert!(matches!(hips_below, RetargetError::BoneOrder { above: B::Hips, cycle: true, .. }));
    let read = |text: &str| HumanoidMap::from_json(text, &s).unwrap_err();
    says(read("{\"hips\": \"hips\",\n \"spine\": }"), &["line 2"]);
    says(read("[1]"), &["line 1", "an object of bones and joints"]);
    says(read("{\"hips\": 1.5}"), &["a joint's name, path or index"]);
    says(read("{\"hips\": -1}"), &["a joint's name, path or index"]);
    let second = read("{\n \"hips\": 1.5\n}");
    assert!(matches!(second, RetargetError::MapJson { line: 2, .. }), "{second:?}");
    says(second, &["line 2", "1.5", "a joint's name, path or index, or null"]);
    says(read("{\"hips\": \"nobody\"}"), &["\"hips\"", "no joint \"nobody\""]);
    says(read("{\"hips\": \"shin\"}"), &["\"hips\"", "2 joints"]);
    says(read("{\"hips\": \"hips\", \"hips\": \"thigh\"}"), &["given twice"]);
    says(read("{\"hip\": \"hips\"}"), &["no human bone \"hip\""]);
    says(read("{\"hips\": 18446744073709551615}"), &["out of range"]);
    says(read(&" ".repeat((1 << 20) + 1)), &["1048577", "1048576"]);
    says(read(&format!("{}1", "[".repeat(100_000))), &["line 1"]);
    let unknown = HumanoidMap::find(&s).unwrap_err();
    says(unknown, &["name tables", "lacks"]);
    assert!(HumanoidMap::find(&skeleton(&[])).is_err());
}

/// The tables of VRM 1.0 and 0.x, with what is broken in them.
#[test]
fn extensions_of_files_are_read() {
    use phalanx::import::{ImportOptions, Severity, import_slice};
    use phalanx_testkit::gltf_file::{File, assert_reported};
    use serde_json::json;
    let file = |extensions: serde_json::Value| {
        let mut file = File::new();
        for name in ["a", "b", "c", "d", "e"] {
            file.push("nodes", json!({ "name": name }));
        }
        for (node, child) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            file.root["nodes"][node]["children"] = json!([child]);
        }
        let times = file.floats("SCALAR", &[0.0, 1.0]);
        let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        file.clip(4, "rotation", "LINEAR", times, turns);
        let names: Vec<&String> = extensions.as_object().unwrap().keys().collect();
        file.root["extensionsUsed"] = json!(names);
        file.root["extensions"] = extensions;
        import_slice(&file.glb(), "test", None, &ImportOptions::default()).unwrap()
    };
    let imported = file(json!({ "VRMC_vrm": { "specVersion": "1.0", "humanoid": { "humanBones": {
        "hips": { "node": 1 }, "spine": { "node": 2 }, "leftThumbProximal": { "node": 3 },
        "nose": { "node": 0 }, "head": { "node": 77 }, "neck": { "node": -1 }, "jaw": {}
    } } } }));
    let rig = &imported.rigs[0];
    let joint = |name: &str| rig.skeleton().joint(name).unwrap();
    let map = HumanoidMap::of_rig(rig).unwrap();
    assert_eq!(map.origin(), MapOrigin::Extension);
    assert_eq!(map.joint(B::Hips), Some(joint("b")));
    assert_eq!(map.joint(B::LeftThumbProximal), Some(joint("d")));
    assert_eq!(map.bones().count(), 3);
    for (bone, what) in
        [("nose", "no such bone"), ("head", "77"), ("neck", "no node"), ("jaw", "no node")]
    {
        assert_reported(&imported.report, Severity::Dropped, &["VRMC_vrm", bone, what]);
    }
    assert_reported(&imported.report, Severity::Note, &["VRMC_vrm", "only its humanoid is read"]);
    // VRM 0.x names the joints of the thumb differently.
    let imported = file(json!({ "VRM": { "humanoid": { "humanBones": [
        { "bone": "hips", "node": 0 }, { "bone": "hips", "node": 1 }, { "bone": "leftThumbProximal", "node": 2 },
        { "bone": "leftThumbIntermediate", "node": 3 }, { "bone": "leftThumbDistal", "node": 4 }, 5
    ] } } }));
    let rig = &imported.rigs[0];
    let map = HumanoidMap::of_rig(rig).unwrap();
    let joint = |name: &str| Some(rig.skeleton().joint(name).unwrap());
    assert_eq!(map.joint(B::Hips), joint("a"));
    assert_eq!(map.joint(B::LeftThumbMetacarpal), joint("c"));
    assert_eq!(map.joint(B::LeftThumbProximal), joint("d"));
    assert_eq!(map.joint(B::LeftThumbDistal), joint("e"));
    assert_reported(&imported.report, Severity::Dropped, &["hips", "twice"]);
    // One node for two bones: the first counts. Bones of a rig ascend.
    let imported = file(json!({ "VRM": { "humanoid": { "humanBones": [
        { "bone": "spine", "node": 2 }, { "bone": "hips", "node": 1 }, { "bone": "head", "node": 2 }
    ] } } }));
    let rig = &imported.rigs[0];
    let joint = |name: &str| rig.skeleton().joint(name).unwrap() as u16;
    assert_eq!(rig.humanoid(), [(B::Hips, joint("b")), (B::Spine, joint("c"))]);
    assert_reported(
        &imported.report,
        Severity::Dropped,
        &["bone \"head\"", "its node 2 is that of \"spine\""],
    );
    // Of no use, but no reason to refuse the file.
    for broken in [
        json!({ "VRM": 1 }),
        json!({ "VRMC_vrm": { "humanoid": [] } }),
        json!({ "VRM": { "humanoid": { "humanBones": {} } } }),
    ] {
        assert!(file(broken).rigs[0].humanoid().is_empty());
    }
    let cycle = file(
        json!({ "VRMC_vrm": { "humanoid": { "humanBones": { "hips": { "node": 2 }, "spine": { "node": 1 } } } } }),
    );
    assert!(matches!(
        HumanoidMap::of_rig(&cycle.rigs[0]),
        Err(RetargetError::BoneOrder { cycle: true, .. })
    ));
    // A draft has what the file states, for editing.
    let draft = HumanoidMap::draft(&cycle.rigs[0]);
    assert_eq!(draft.origin(), MapOrigin::Extension);
    let joint = |name: &str| cycle.rigs[0].skeleton().joint(name).unwrap();
    assert!(draft.bones().eq([(B::Hips, joint("c")), (B::Spine, joint("b"))]));
}

/// A .vrma file has a humanoid and neither skin nor mesh: bones without motion are joints, too, and what hangs on them.
#[test]
fn humanoids_of_motions_are_read() {
    use phalanx::import::{ImportOptions, import_slice};
    use phalanx_testkit::gltf_file::File;
    use serde_json::json;
    for (extension, moves) in [("VRMC_vrm_animation", true), ("VRMC_vrm", false)] {
        let mut file = File::new();
        for name in ["above", "n0", "n1", "n2", "below", "prop"] {
            file.push("nodes", json!({ "name": name }));
        }
        for (node, children) in [(0, json!([1])), (1, json!([2, 3])), (3, json!([4]))] {
            file.root["nodes"][node]["children"] = children;
        }
        if moves {
            let times = file.floats("SCALAR", &[0.0, 1.0]);
            let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
            file.clip(2, "rotation", "LINEAR", times, turns);
        }
        file.root["extensionsUsed"] = json!([extension]);
        file.root["extensions"] = json!({ extension: { "specVersion": "1.0", "humanoid": { "humanBones": {
            "hips": { "node": 1 }, "spine": { "node": 2 }, "leftUpperLeg": { "node": 3 } } } } });
        let imported = import_slice(&file.glb(), "test", None, &ImportOptions::default()).unwrap();
        let rig = &imported.rigs[0];
        let names = rig.skeleton().names();
        assert_eq!(names, ["above", "n0", "n1", "n2", "below"], "{extension}");
        let map = HumanoidMap::of_rig(rig).unwrap();
        assert_eq!(map.origin(), MapOrigin::Extension);
        let bones = [B::Hips, B::Spine, B::LeftUpperLeg].map(|b| map.joint(b));
        assert_eq!(bones, [Some(1), Some(2), Some(3)], "{extension}");
    }
}

/// A joint with a name of the shoulder and of the arm is the arm.
#[test]
fn an_upper_arm_is_no_shoulder() {
    let s = skeleton(&[
        ("pelvis", None),
        ("spine", Some(0)),
        ("head", Some(1)),
        ("hip_l", Some(0)),
        ("knee_l", Some(3)),
        ("hip_r", Some(0)),
        ("knee_r", Some(5)),
        ("shoulder_l", Some(1)),
        ("elbow_l", Some(7)),
        ("shoulder_r", Some(1)),
        ("elbow_r", Some(9)),
    ]);
    let map = HumanoidMap::find(&s).unwrap();
    assert_eq!(map.joint(B::LeftShoulder), None);
    assert_eq!(map.joint(B::LeftUpperArm), Some(7));
    // Without arms there is no map.
    let armless: Vec<(&str, Option<usize>)> = (0..7)
        .map(|j| {
            (s.names()[j].as_str(), (s.parents()[j] != NO_JOINT).then(|| s.parents()[j].into()))
        })
        .collect();
    let refused = HumanoidMap::find(&skeleton(&armless)).unwrap_err().to_string();
    assert!(
        refused.contains("leftUpperArm, leftLowerArm")
            && refused.contains("give the map as a file"),
        "{refused}"
    );
}
