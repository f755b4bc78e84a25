//! Springs of files: what rigs keep of them, what is refused.

use super::{body, chain};
use glam::Vec3;
use phalanx::crowd::Crowd;
use phalanx::format::{Library, RigOptions};
use phalanx::playback::PlaybackError;
use phalanx::skeleton::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};
use phalanx_testkit::vrm::{self, Version};

/// Names of a chain's joints.
fn names(body: &crate::modifiers::Body, chain: &SpringChain) -> Vec<String> {
    chain.joints.iter().map(|j| body.rig.skeleton().names()[j.joint].clone()).collect()
}

#[test]
fn files_of_vrm_1_are_read() {
    let (body, _) = body(Version::Newest);
    let springs = body.rig.springs();
    assert_eq!((springs.chains.len(), springs.colliders.len()), (8, 5));
    assert_eq!(names(&body, &springs.chains[1]), ["hair1.0", "hair1.1", "hair1.3"]);
    assert_eq!(springs.chains[0].colliders, [0, 1, 2, 3]);
    assert_eq!(springs.chains[7].colliders, [4]);
    let hips = body.joint("hips");
    assert_eq!(springs.chains[6].center, Some(hips));
    // The ends of strands are no joints.
    assert!(body.rig.skeleton().joint("hair0.4").is_err());
    let last = springs.chains[0].joints.last().unwrap();
    assert!(last.tail.unwrap().distance(Vec3::new(-0.025, -0.08, -0.02)) < 1e-6);
    assert_eq!(springs.chains[0].joints[0].gravity, Vec3::ZERO);
    let plane = springs.colliders[3].shape;
    assert!(matches!(plane, ColliderShape::Plane { point, .. } if point == Vec3::NEG_Y * 0.2));
}

#[test]
fn files_of_vrm_0_are_read() {
    let (body, _) = body(Version::Oldest);
    let springs = body.rig.springs();
    let tails: Vec<_> = springs.chains.iter().map(|chain| names(&body, chain)).collect();
    assert_eq!(tails[0], ["hair0.0", "hair0.1", "hair0.2", "hair0.3", "hair0.4"]);
    // The first child goes on; the second one begins a chain.
    assert_eq!(tails[6], ["tail0", "tail1", "tail2", "tail3", "tail4"]);
    assert_eq!(tails[7], ["tuft0", "tuft1", "tuft2"]);
    // Unity's vectors have another z.
    assert_eq!(springs.chains[0].joints[0].gravity, Vec3::new(0.05, -1.0, -0.3) * 0.2);
    let head = ColliderShape::sphere(Vec3::new(0.0, 0.05, -0.02), 0.1);
    assert_eq!(springs.colliders[0].shape, head);
    let last = springs.chains[0].joints[4].tail.unwrap();
    assert!((last.length() - 0.07).abs() < 1e-6);
}

/// The default direction is that of a file that states none. Components that one leaves out are 0.
#[test]
fn directions_of_gravity_may_lack_components() {
    let read = |version, stated: Option<serde_json::Value>| {
        let (mut file, _) = vrm::file(version);
        let extensions = &mut file.root["extensions"];
        let of = match version {
            Version::Newest => &mut extensions["VRMC_springBone"]["springs"][0]["joints"][0],
            Version::Oldest => &mut extensions["VRM"]["secondaryAnimation"]["boneGroups"][0],
        };
        of["gravityPower"] = 2.into();
        match stated {
            Some(stated) => of["gravityDir"] = stated,
            None => drop(of.as_object_mut().unwrap().remove("gravityDir")),
        }
        file.read().0.springs.chains[0].joints[0].gravity
    };
    use serde_json::json;
    assert_eq!(read(Version::Newest, None), Vec3::NEG_Y * 2.0);
    assert_eq!(read(Version::Newest, Some(json!([0.5, 0.0, 1.0]))), Vec3::new(1.0, 0.0, 2.0));
    assert_eq!(read(Version::Newest, Some(json!([0.5]))), Vec3::X);
    assert_eq!(read(Version::Oldest, None), Vec3::NEG_Y * 2.0);
    assert_eq!(read(Version::Oldest, Some(json!({ "x": 0.5 }))), Vec3::X);
    assert_eq!(read(Version::Oldest, Some(json!({ "z": 0.5 }))), Vec3::NEG_Z);
    assert_eq!(read(Version::Oldest, Some(json!({}))), Vec3::ZERO);
}

/// What a file states wrongly is reported and left out; the others stay.
#[test]
fn broken_springs_are_reported() {
    let broken = |version, change: &dyn Fn(&mut serde_json::Value)| {
        let (mut file, _) = vrm::file(version);
        change(&mut file.root["extensions"]);
        let (raw, mut report) = file.read();
        let (rig, more) = phalanx::build::build_rig_reporting(raw, &Default::default()).unwrap();
        report.extend(more);
        let lines: Vec<String> = report.iter().map(|e| e.to_string()).collect();
        (rig.springs().clone(), lines.join("\n"))
    };
    let springs = "VRMC_springBone";
    let (left, report) = broken(Version::Newest, &|e| {
        e[springs]["springs"][0]["joints"][1]["node"] = 999.into();
        e[springs]["springs"][2]["joints"][0]["stiffness"] = (-1).into();
        e[springs]["colliders"][1]["shape"] = serde_json::json!({ "box": {} });
        // The same joints as the third.
        e[springs]["springs"][4]["joints"] = e[springs]["springs"][3]["joints"].clone();
        e[springs]["springs"][5]["joints"] = serde_json::json!([{ "node": 3 }]);
    });
    assert_eq!(left.chains.len(), 4, "{report}");
    for part in ["spring 0: a joint has no node", "is -1", "collider 1", "is in chain", "spring 5"]
    {
        assert!(report.contains(part), "{part:?} in\n{report}");
    }
    assert!(report.contains("hair2.0"), "{report}");
    let (left, report) = broken(Version::Oldest, &|e| {
        let old = &mut e["VRM"]["secondaryAnimation"];
        old["boneGroups"][0]["bones"][0] = (-1).into();
        old["colliderGroups"][1]["node"] = 999.into();
        // Below another one.
        old["boneGroups"][1]["bones"] = serde_json::json!([3, 4, 33]);
        old["boneGroups"][1]["dragForce"] = 7.5.into();
    });
    assert_eq!(left.colliders.len(), 1, "{report}");
    assert!(report.contains("bone group 0") && report.contains("collider group 1"), "{report}");
    assert!(left.chains.iter().all(|chain| chain.joints.iter().all(|j| j.drag <= 1.0)));
}

#[test]
fn files_keep_springs() {
    for version in [Version::Newest, Version::Oldest] {
        let (body, _) = body(version);
        let bytes = phalanx_testkit::made::library(&body.rig);
        let library = Library::from_bytes(&bytes).unwrap();
        let read = library.rig(&RigOptions::default()).unwrap();
        assert_eq!(read.springs(), body.rig.springs());
    }
}

/// Errors name joints and numbers.
#[test]
fn impossible_springs_are_refused() {
    let (body, springs) = chain(3);
    let refused = |change: &dyn Fn(&mut SpringBones)| {
        let mut springs = springs.clone();
        change(&mut springs);
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(body.rig.clone()).unwrap();
        match crowd.add_modifier(rig, springs) {
            Err(PlaybackError::Modifier { what }) => what,
            other => panic!("{other:?}"),
        }
    };
    let plane = ColliderShape::Plane { point: Vec3::ZERO, normal: Vec3::ZERO };
    let all = [
        (refused(&|s| s.chains.clear()), "no chains"),
        (refused(&|s| s.teleport = 0.0), "the distance of teleports is 0"),
        (refused(&|s| s.chains[0].joints.truncate(1)), "no joint has a tail"),
        (refused(&|s| s.chains[0].joints.swap(0, 1)), "joint 1 (\"joint1\") is not below joint 2"),
        (refused(&|s| s.chains[0].joints[1].joint = 99), "99"),
        (refused(&|s| s.chains[0].joints[1].drag = 1.5), "joint 2 (\"joint2\"): the drag is 1.5"),
        (refused(&|s| s.chains[0].joints[1].stiffness = f32::NAN), "the stiffness is NaN"),
        (refused(&|s| s.chains[0].joints[1].gravity.y = f32::INFINITY), "gravity is"),
        (refused(&|s| s.chains[0].colliders.push(0)), "there is no collider 0 of 0"),
        (refused(&|s| s.chains[0].center = Some(50)), "50"),
        (refused(&|s| s.chains.push(s.chains[0].clone())), "is in chain 0, too"),
        (
            refused(&|s| s.colliders.push(SpringCollider { joint: 0, shape: plane })),
            "collider 0: the normal is",
        ),
        (
            refused(&|s| s.chains[0].joints = vec![SpringJoint::new(1); 4097]),
            "springs have 4097 joints; the limit is 4096",
        ),
    ];
    for (what, part) in all {
        assert!(what.contains(part), "{what:?} / {part:?}");
    }
}
