//! Left and right swapped.

use crate::support::*;
use glam::{DQuat, DVec3};
use phalanx::retarget::mirror;

/// Every bone does what its twin did, seen in a mirror; twice is the clip itself.
#[test]
fn sides_are_swapped() {
    for made in [
        Made::default().with_dance(13, 20),
        Made {
            armature: 0.01,
            size: 2.0,
            twists: true,
            ..Made::default()
        }
        .with_dance(13, 20),
    ] {
        let rig = made.rig();
        let map = map(&rig);
        let dance = clip(&rig, "dance");
        let done = mirror(dance, rig.skeleton(), &map).unwrap();
        let back = mirror(&done.clip, rig.skeleton(), &map).unwrap();
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
    let done = mirror(walk, rig.skeleton(), &map).unwrap();
    for time in times(walk) {
        let source = Posed::at(rig.skeleton(), walk, time);
        let result = Posed::at(rig.skeleton(), &done.clip, time);
        let wanted = source.direction(&map, B::LeftUpperLeg, B::LeftLowerLeg);
        let have = result.direction(&map, B::RightUpperLeg, B::RightLowerLeg);
        assert!((have - DVec3::new(-wanted.x, wanted.y, wanted.z)).length() < 1e-4);
    }
}
