//! What is refused, and what must not panic.

use crate::support::*;
use phalanx::build::{AdditiveReference, build_additive};
use phalanx::retarget::{
    HumanoidMap, MapOrigin, Reference, RetargetError, RetargetOptions, Retargeting,
};
use phalanx::skeleton::{Joint, Skeleton, Trs};
use std::sync::Arc;

#[test]
fn clips_of_others_are_refused() {
    let (a, b) = (
        Made::default().with_dance(1, 5).rig(),
        Made {
            axes: 2,
            ..Made::default()
        }
        .with_dance(1, 5)
        .rig(),
    );
    let ready = prepared(&a, &b, RetargetOptions::default());
    let refused = ready.retarget(clip(&b, "dance")).err().unwrap();
    assert!(
        matches!(refused, RetargetError::Skeleton { .. }),
        "{refused}"
    );
    assert!(Reference::of_clip(clip(&b, "dance"), a.skeleton(), 0.0).is_err());
    let late = Reference::of_clip(clip(&a, "dance"), a.skeleton(), f32::NAN);
    assert!(matches!(late, Err(RetargetError::Time { .. })));
    let additive =
        build_additive(&a, a.find_clip("dance").unwrap(), AdditiveReference::Rest).unwrap();
    let refused = ready.retarget(&additive).err().unwrap();
    assert!(
        matches!(refused, RetargetError::Additive { .. }),
        "{refused}"
    );
    assert!(Reference::of_clip(&additive, a.skeleton(), 0.0).is_err());
}

#[test]
fn maps_of_other_skeletons_are_refused() {
    let small = Made {
        without: &[B::RightIndexProximal, B::LeftIndexProximal],
        ..Made::default()
    }
    .rig();
    let large = Made {
        twists: true,
        ..Made::default()
    }
    .rig();
    let (map_small, map_large) = (map(&small), map(&large));
    let refused = Retargeting::new(
        (small.skeleton(), &map_large),
        (large.skeleton(), &map_small),
        RetargetOptions::default(),
    );
    let refused = refused.err().unwrap();
    assert!(
        matches!(refused, RetargetError::Foreign { side: "source", .. }),
        "{refused}"
    );
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
        assert!(
            matches!(refused, RetargetError::Reference { side: "target", .. }),
            "{refused}"
        );
    }
}

/// A skeleton of joints in one place, and others that have no shape of a body: typed errors or clips, no panic.
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
        let options = RetargetOptions {
            feet: Some(Default::default()),
            ..RetargetOptions::default()
        };
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
    for _ in 0..500 {
        let mut pairs = vec![(B::Hips, ((random.next() + 1.0) * 2.0) as usize)];
        for _ in 0..8 {
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
        for (a, b) in [
            (side, side),
            (side, (rig.skeleton(), &own)),
            ((rig.skeleton(), &own), side),
        ] {
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
            rest: Trs {
                translation: glam::Vec3::Y,
                ..Trs::IDENTITY
            },
        };
        let joints: Vec<Joint> = (0..65_535).map(joint).collect();
        Arc::new(Skeleton::new(&joints, None, Vec::new()).unwrap())
    };
    assert!(HumanoidMap::find(&chain(&|_| "Hips".into())).is_err());
    assert!(HumanoidMap::find(&chain(&|_| "Spine".into())).is_err());
    let names = [
        "Hips",
        "LeftUpLeg",
        "LeftLeg",
        "RightUpLeg",
        "RightLeg",
        "Spine",
    ];
    let _ = HumanoidMap::find(&chain(&|j| names[j % 6].into()));
    let unique = chain(&|j| format!("j{j}"));
    for hips in [1, 65_000] {
        let pairs = [(B::Hips, hips), (B::Spine, hips + 1), (B::Head, hips + 500)];
        let map = HumanoidMap::new(&unique, &pairs, MapOrigin::Given).unwrap();
        let side = (&unique, &map);
        let _ = Retargeting::new(side, side, RetargetOptions::default());
    }
}
