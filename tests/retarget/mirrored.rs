//! Left and right swapped.

use crate::support::*;
use glam::{DQuat, DVec3, Quat, Vec3};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::retarget::mirror;
use phalanx::skeleton::Trs;

/// Every bone does what its twin did, seen in a mirror; twice is the clip itself.
#[test]
fn sides_are_swapped() {
    for made in [
        Made::default().with_dance(13, 20),
        Made { armature: 0.01, size: 2.0, twists: true, ..Made::default() }.with_dance(13, 20),
    ] {
        let rig = made.rig();
        let map = map(&rig);
        let dance = clip(&rig, "dance");
        let done = Retargeted::from(mirror(dance, rig.skeleton(), &map).unwrap());
        let back = Retargeted::from(mirror(&done.clip, rig.skeleton(), &map).unwrap());
        let rest = Posed::rest(rig.skeleton());
        let flip = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
        for time in times(dance) {
            let source = Posed::at(rig.skeleton(), dance, time);
            let result = Posed::at(rig.skeleton(), &done.clip, time);
            for (bone, end) in LIMBS {
                let wanted = flip(source.direction(&map, bone.mirrored(), end.mirrored()));
                let error = (result.direction(&map, bone, end) - wanted).length();
                assert!(error < 1e-4, "{bone} at {time}: {error:e}");
            }
            // A rotation in the mirror: its axis is reflected and its sense reversed.
            let turned = |p: &Posed, b: B| p.turn(&map, b) * rest.turn(&map, b).inverse();
            for bone in [B::Hips, B::Head, B::LeftFoot] {
                let q = turned(&source, bone.mirrored());
                let (axis, angle_of) = q.to_axis_angle();
                let wanted = DQuat::from_axis_angle(flip(axis), -angle_of);
                assert!(angle(turned(&result, bone), wanted) < 2e-4, "{bone}");
            }
            let hips = flip(source.place(&map, B::Hips)) - result.place(&map, B::Hips);
            assert!(hips.length() < 1e-5, "{hips}");
            let again = Posed::at(rig.skeleton(), &back.clip, time);
            for (bone, joint) in map.bones() {
                let error = angle(source.turns[joint], again.turns[joint]);
                assert!(error < 4e-4, "{bone}: {error:e}");
            }
        }
    }
}

#[test]
fn pab_walks_with_the_other_foot_first() {
    let Some(rig) = model("pab.glb") else { return };
    let map = map(&rig);
    let walk = clip(&rig, "walk");
    let done = Retargeted::from(mirror(walk, rig.skeleton(), &map).unwrap());
    for time in times(walk) {
        let source = Posed::at(rig.skeleton(), walk, time);
        let result = Posed::at(rig.skeleton(), &done.clip, time);
        let wanted = source.direction(&map, B::LeftUpperLeg, B::LeftLowerLeg);
        let have = result.direction(&map, B::RightUpperLeg, B::RightLowerLeg);
        assert!((have - DVec3::new(-wanted.x, wanted.y, wanted.z)).length() < 1e-4);
    }
}

/// Joints without a bone go to those of the other side by their names, however these state it; without a twin they stay.
#[test]
fn extra_joints_swap_by_their_names() {
    let twins = [
        ("EarL", "EarR"),
        ("左角", "右角"),
        ("LHorn", "RHorn"),
        ("lWing1", "rWing1"),
        ("hair.L.001", "hair.R.001"),
        ("TailL", "TailL"),
    ];
    let body = [
        ("Hips", 0, [0.0, 1.0, 0.0]),
        ("Spine", 0, [0.0, 0.1, 0.0]),
        ("Head", 1, [0.0, 0.5, 0.0]),
        ("LeftUpLeg", 0, [0.1, 0.0, 0.0]),
        ("LeftLeg", 3, [0.0, -0.45, 0.0]),
        ("RightUpLeg", 0, [-0.1, 0.0, 0.0]),
        ("RightLeg", 5, [0.0, -0.45, 0.0]),
        ("LeftArm", 1, [0.2, 0.3, 0.0]),
        ("LeftForeArm", 7, [0.3, 0.0, 0.0]),
        ("RightArm", 1, [-0.2, 0.3, 0.0]),
        ("RightForeArm", 9, [-0.3, 0.0, 0.0]),
    ];
    let extra = twins.iter().flat_map(|&(l, r)| {
        let both = [(l, 2, [0.1, 0.1, 0.0]), (r, 2, [-0.1, 0.1, 0.0])];
        both.into_iter().take(if l == r { 1 } else { 2 })
    });
    let joints: Vec<_> = body.into_iter().chain(extra).collect();
    let node = |(at, &(name, parent, place)): (usize, &(&str, usize, [f32; 3]))| RawNode {
        source: at,
        name: Some(name.into()),
        parent: (at > 0).then_some(parent),
        local: Trs { translation: Vec3::from_array(place), ..Trs::IDENTITY },
        ..RawNode::default()
    };
    let turn = |node: usize| Quat::from_euler(glam::EulerRot::XYZ, 0.1 * node as f32, 0.4, -0.3);
    let track = |node: usize| RawTrack {
        node,
        channel: RawChannel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: [Quat::IDENTITY.to_array(), turn(node).to_array()].concat(),
    };
    let raw = RawScene {
        name: "made".into(),
        nodes: joints.iter().enumerate().map(node).collect(),
        clips: vec![RawClip {
            name: Some("moves".into()),
            duration: 1.0,
            tracks: (0..joints.len()).map(track).collect(),
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    let done = Retargeted::from(mirror(&rig.clips()[0], rig.skeleton(), &map(&rig)).unwrap());
    let [source, result] = [&rig.clips()[0], &done.clip].map(|c| Posed::at(rig.skeleton(), c, 1.0));
    let turn = |pose: &Posed, name: &str| {
        let joint = rig.skeleton().joint(name).unwrap();
        pose.locals[joint].rotation.as_dquat()
    };
    for (l, r) in twins {
        for (from, to) in [(l, r), (r, l)] {
            let q = turn(&source, from);
            let wanted = DQuat::from_xyzw(q.x, -q.y, -q.z, q.w);
            let error = angle(turn(&result, to), wanted);
            assert!(error < 1e-4, "{from} on {to}: {error:e}");
        }
    }
}
