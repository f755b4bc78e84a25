//! What is refused, and what must not panic.

use crate::support::*;
use phalanx::build::{AdditiveReference, BuildOptions, build_additive, build_rig};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::retarget::{
    HumanoidMap, MapOrigin, Reference, RetargetError, RetargetOptions, Retargeting,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{Joint, Skeleton, Trs};
use std::sync::Arc;

#[test]
fn clips_of_others_are_refused() {
    let (a, b) = (
        Made::default().with_dance(1, 5).rig(),
        Made { axes: 2, ..Made::default() }.with_dance(1, 5).rig(),
    );
    let ready = prepared(&a, &b, RetargetOptions::default());
    let refused = ready.retarget(clip(&b, "dance")).err().unwrap();
    assert!(matches!(refused, RetargetError::Skeleton { .. }), "{refused}");
    let pose = Reference::of_clip(clip(&b, "dance"), a.skeleton(), 0.0);
    for refused in [refused, pose.err().unwrap()] {
        let says = refused.to_string();
        let joint = "joint 0 \"mixamorig:Armature\"";
        assert!(says.contains(joint) && says.contains("in the other skeleton"), "{says}");
    }
    let late = Reference::of_clip(clip(&a, "dance"), a.skeleton(), f32::NAN);
    assert!(matches!(late, Err(RetargetError::Time { .. })));
    let additive =
        build_additive(&a, a.find_clip("dance").unwrap(), AdditiveReference::Rest).unwrap();
    let refused = ready.retarget(&additive).err().unwrap();
    assert!(matches!(refused, RetargetError::Additive { .. }), "{refused}");
    assert!(Reference::of_clip(&additive, a.skeleton(), 0.0).is_err());
}

#[test]
fn maps_of_other_skeletons_are_refused() {
    let small =
        Made { without: &[B::RightIndexProximal, B::LeftIndexProximal], ..Made::default() }.rig();
    let large = Made { twists: true, ..Made::default() }.rig();
    let (map_small, map_large) = (map(&small), map(&large));
    let refused = Retargeting::new(
        (small.skeleton(), &map_large),
        (large.skeleton(), &map_small),
        RetargetOptions::default(),
    );
    let refused = refused.err().unwrap();
    assert!(matches!(refused, RetargetError::Foreign { side: "source", .. }), "{refused}");
}

#[test]
fn reference_poses_of_other_lengths_are_refused() {
    let rig = Made::default().rig();
    let map = map(&rig);
    let side = (rig.skeleton(), &map);
    let joints = rig.skeleton().len();
    let mut bad = vec![Trs::IDENTITY; joints];
    bad[3].translation.x = f32::NAN;
    for pose in [vec![], vec![Trs::IDENTITY; joints + 1], bad] {
        let options = RetargetOptions {
            target_reference: Reference::Pose(pose),
            ..RetargetOptions::default()
        };
        let refused = Retargeting::new(side, side, options).err().unwrap();
        assert!(matches!(refused, RetargetError::Reference { side: "target", .. }), "{refused}");
    }
}

/// A skeleton of joints in one place, and others that have no shape of a body: typed errors or clips, no panic.
#[test]
fn times_beyond_a_clip_are_refused() {
    let rig = Made::default().with_dance(4, 31).rig();
    let dance = clip(&rig, "dance");
    assert_eq!(dance.duration(), 1.0);
    let at = |time: f32| Reference::of_clip(dance, rig.skeleton(), time);
    for time in [1e9, 1.001, -0.001, f32::MAX] {
        let error = at(time).unwrap_err();
        assert!(matches!(error, RetargetError::Time { .. }), "{error}");
        let text = format!(
            "the time of the reference pose is {time} s, clip \"dance\" goes from 0 to 1.000 s"
        );
        assert_eq!(error.to_string(), text);
    }
    assert!(matches!(at(f32::NAN), Err(RetargetError::Time { .. })));
    // Durations are printed with three digits.
    assert_eq!(at(1.0004), at(1.0));
    assert_ne!(at(1.0), at(0.0));
}

#[test]
fn bodies_without_a_shape() {
    let good = Made::default().with_dance(4, 6).rig();
    let good_map = map(&good);
    let pairs: Vec<(B, usize)> = good_map.bones().collect();
    let names = good.skeleton().names();
    let mut random = Random(99);
    for case in 0..200 {
        let joints: Vec<Joint> = (0..good.skeleton().len())
            .map(|j| {
                let mut rest = good.skeleton().rest(j);
                let wild = |random: &mut Random| match (random.next() * 4.0) as i32 {
                    0 => 0.0f32,
                    1 => 1e12,
                    -1 => -1e-30,
                    _ => random.next() as f32,
                };
                match case % 4 {
                    0 => rest.translation = glam::Vec3::ZERO,
                    1 => rest.translation = glam::Vec3::splat(wild(&mut random)),
                    2 => rest.scale = glam::Vec3::splat(if j % 5 == case % 5 { 0.0 } else { 1.0 }),
                    _ => {
                        rest.translation.y = wild(&mut random);
                        rest.rotation = glam::Quat::from_rotation_y(wild(&mut random));
                    }
                }
                Joint {
                    name: names[j].clone(),
                    parent: Some(good.skeleton().parents()[j])
                        .filter(|&p| p != u16::MAX)
                        .map(usize::from),
                    rest,
                }
            })
            .collect();
        let skeleton = Arc::new(Skeleton::new(&joints, None, Vec::new()).unwrap());
        let map = HumanoidMap::new(&skeleton, &pairs, MapOrigin::Given).unwrap();
        let options = RetargetOptions { plant_feet: true, ..RetargetOptions::default() };
        for side in [(good.skeleton(), &good_map), (&skeleton, &map)] {
            if let Ok(ready) = Retargeting::new(side, (&skeleton, &map), options.clone())
                && std::ptr::eq(side.1, &good_map)
            {
                let _ = ready.retarget(clip(&good, "dance"));
            }
        }
    }
}

#[test]
fn bones_in_a_row_and_in_disorder() {
    // Every map of few bones over a chain and a fan: refused or used, never a panic.
    let made = Made::default().with_dance(4, 6);
    let rig = made.rig();
    let joints = rig.skeleton().len();
    let bones: Vec<B> = phalanx::retarget::HumanBone::all().collect();
    let mut random = Random(5);
    let mut used = 0;
    for trial in 0..500 {
        let mut pairs = vec![(B::Hips, ((random.next() + 1.0) * 2.0) as usize)];
        for _ in 0..1 + trial % 8 {
            let bone = bones[((random.next() + 1.0) * 0.5 * 54.99) as usize];
            let joint = ((random.next() + 1.0) * 0.5 * (joints as f64 - 0.01)) as usize;
            pairs.push((bone, joint));
        }
        pairs.sort();
        pairs.dedup_by_key(|p| p.0);
        let Ok(map) = HumanoidMap::new(rig.skeleton(), &pairs, MapOrigin::Given) else {
            continue;
        };
        let side = (rig.skeleton(), &map);
        let own = self::map(&rig);
        for (a, b) in [(side, side), (side, (rig.skeleton(), &own)), ((rig.skeleton(), &own), side)]
        {
            if let Ok(ready) = Retargeting::new(a, b, RetargetOptions::default()) {
                used += 1;
                let done = ready.retarget(clip(&rig, "dance"));
                assert!(done.is_ok(), "{:?}", done.err());
            }
        }
    }
    assert!(used > 20, "{used}");
}

/// Chains of as many joints as there may be, with names that are all equal, or all known.
#[test]
fn skeletons_of_65535_joints() {
    let chain = |name: &dyn Fn(usize) -> String| {
        let joint = |j: usize| Joint {
            name: name(j),
            parent: j.checked_sub(1),
            rest: Trs { translation: glam::Vec3::Y, ..Trs::IDENTITY },
        };
        let joints: Vec<Joint> = (0..65_535).map(joint).collect();
        Arc::new(Skeleton::new(&joints, None, Vec::new()).unwrap())
    };
    assert!(HumanoidMap::find(&chain(&|_| "Hips".into())).is_err());
    assert!(HumanoidMap::find(&chain(&|_| "Spine".into())).is_err());
    let names = ["Hips", "LeftUpLeg", "LeftLeg", "RightUpLeg", "RightLeg", "Spine"];
    let _ = HumanoidMap::find(&chain(&|j| names[j % 6].into()));
    let unique = chain(&|j| format!("j{j}"));
    for hips in [1, 65_000] {
        let pairs = [(B::Hips, hips), (B::Spine, hips + 1), (B::Head, hips + 500)];
        let map = HumanoidMap::new(&unique, &pairs, MapOrigin::Given).unwrap();
        let side = (&unique, &map);
        let _ = Retargeting::new(side, side, RetargetOptions::default());
    }
}

/// A joint above the hips without a size is named, on either side.
#[test]
fn zero_scales_above_the_hips_are_named() {
    let good = Made::default().rig();
    let flat = Made { armature: 0.0, ..Made::default() };
    // Places below a scale of zero are not finite: the rest pose is that of the whole body.
    let joints: Vec<Joint> = (0..good.skeleton().len())
        .map(|j| {
            let mut rest = good.skeleton().rest(j);
            if j == 0 {
                rest.scale = glam::Vec3::splat(flat.armature as f32);
            }
            let parent = good.skeleton().parents()[j];
            Joint {
                name: good.skeleton().names()[j].clone(),
                parent: (parent != u16::MAX).then_some(parent.into()),
                rest,
            }
        })
        .collect();
    let skeleton = Arc::new(Skeleton::new(&joints, None, Vec::new()).unwrap());
    let map = map(&good);
    let (a, b) = ((good.skeleton(), &map), (&skeleton, &map));
    for (from, to, side) in [(a, b, "target"), (b, a, "source")] {
        let refused = Retargeting::new(from, to, RetargetOptions::default());
        let says = refused.err().unwrap().to_string();
        let joint =
            format!("joint 0 \"mixamorig:Armature\" of the {side} has scale [0.0, 0.0, 0.0]");
        assert!(says.contains(&joint), "{says}");
    }
}

const CHAIN: usize = 30_000;
const KEYS: usize = 10;

/// A chain below the hips of which every joint eases in and out, with three bones at its end. Every 16 joints begin
/// later than those above by `delay` seconds.
fn ready_chain(delay: f32) -> (Rig, Retargeting) {
    let bones = [B::Spine, B::LeftUpperLeg, B::RightUpperLeg];
    let node = |name: String, parent: Option<usize>, y: f32| RawNode {
        name: Some(name),
        parent,
        local: Trs { translation: glam::Vec3::Y * y, ..Trs::IDENTITY },
        ..RawNode::default()
    };
    let mut nodes = vec![node("hips".into(), None, 1.0)];
    let below = -1.0 / CHAIN as f32;
    nodes.extend((0..CHAIN).map(|j| node(format!("j{j}"), Some(j), below)));
    // The trunk goes up from the hips.
    let heights = [2.0, 0.0, 0.0].into_iter();
    let ends = bones.into_iter().zip(heights);
    nodes.extend(ends.map(|(b, y)| node(b.name().into(), Some(CHAIN), y)));
    let turn = |k: usize| glam::Quat::from_rotation_x(0.1 * (k % 2) as f32).to_array();
    let track = |node: usize| RawTrack {
        node,
        channel: RawChannel::Rotation,
        interpolation: Interpolation::CubicSpline,
        times: (0..KEYS).map(|k| k as f32 + delay * (node / 16) as f32).collect(),
        values: (0..KEYS).flat_map(|k| [[0.0; 4], turn(k), [0.0; 4]].concat()).collect(),
    };
    let clips = vec![RawClip {
        duration: (KEYS - 1) as f32 + delay * CHAIN as f32,
        tracks: (1..nodes.len()).map(track).collect(),
        ..RawClip::default()
    }];
    let raw = RawScene { nodes, clips, ..RawScene::default() };
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    let joint = |name: &str| rig.skeleton().joint(name).unwrap();
    let mut pairs = vec![(B::Hips, joint("hips"))];
    pairs.extend(bones.map(|b| (b, joint(b.name()))));
    let map = HumanoidMap::new(rig.skeleton(), &pairs, MapOrigin::Given).unwrap();
    let good = Made::default().rig();
    let own = self::map(&good);
    let sides = ((rig.skeleton(), &map), (good.skeleton(), &own));
    let ready = Retargeting::new(sides.0, sides.1, RetargetOptions::default());
    let ready = ready.unwrap_or_else(|e| panic!("{e}"));
    (rig, ready)
}

/// The steps at key times are summed before one is made.
#[test]
fn long_chains_that_move_are_refused_at_once() {
    let (rig, ready) = ready_chain(1e-4);
    let refused = ready.retarget(&rig.clips()[0]).map(|done| done.1);
    let Err(RetargetError::Work { steps, limit }) = refused else {
        panic!("{refused:?}");
    };
    // Of each of three bones the key, and three times between, in the joints of the chain.
    let all = (CHAIN / 16 * KEYS * 4) as u64 * (CHAIN * 3) as u64;
    assert!(steps > limit && steps >= all, "{steps} of {all}, {limit}");
}

/// Keys are inserted as long as that does not take too many steps.
#[test]
fn long_chains_get_few_keys() {
    let (rig, ready) = ready_chain(0.0);
    let done = ready.retarget(&rig.clips()[0]).unwrap_or_else(|e| panic!("{e}"));
    let done = Retargeted::from(done);
    let report = done.report;
    assert!(report.keys < 3000 && report.between_keys > 1e-4, "{report:?}");
}
