//! What lies between keys: bones turn as those of the source, within a bound on keys.

use crate::support::*;
use crate::transfer::unaligned;
use glam::DQuat;
use phalanx::clip::Clip;
use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
use phalanx::retarget::{HumanoidMap, MapOrigin, Retargeting};
use phalanx::rig::Rig;
use std::collections::HashSet;

const MODELS: [(&str, &str); 5] = [
    ("pab.glb", "walk"),
    ("mannequin.glb", "Walk"),
    ("bl_humanoid.glb", "Walk"),
    ("robot.glb", "Robot_Walking"),
    ("CesiumMan.glb", ""),
];

/// Bones of which maps may be without: the rotation of each reaches the bones below through a product.
const LACKED: [B; 8] = [
    B::Chest,
    B::UpperChest,
    B::Neck,
    B::LeftShoulder,
    B::RightShoulder,
    B::LeftUpperArm,
    B::RightUpperArm,
    B::LeftUpperLeg,
];

/// Eight times in each of at most `intervals` intervals between keys.
fn between(clip: &Clip, intervals: usize) -> Vec<f32> {
    let timelines = clip.timelines().iter();
    let mut keys: Vec<f32> = timelines.flat_map(|t| clip.times(t).to_vec()).collect();
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let step = (keys.len() / intervals).max(1);
    let pairs = keys.windows(2).step_by(step);
    pairs.flat_map(|k| (1..=8).map(move |i| k[0] + (k[1] - k[0]) * (i as f32 / 9.0))).collect()
}

/// The map of a rig without some bones.
fn lacking(rig: &Rig, bones: &[B]) -> HumanoidMap {
    let pairs: Vec<_> = map(rig).bones().filter(|b| !bones.contains(&b.0)).collect();
    HumanoidMap::new(rig.skeleton(), &pairs, MapOrigin::Given).unwrap()
}

/// The largest angle in model space between what bones of both turn from the rest poses.
fn worst(
    a: (&Rig, &HumanoidMap, &Clip),
    b: (&Rig, &HumanoidMap, &Clip),
    times: &[f32],
) -> (f64, B) {
    let rests = [a.0, b.0].map(|rig| Posed::rest(rig.skeleton()));
    let mut worst = (0.0, B::Hips);
    for &time in times {
        let poses = [a, b].map(|(rig, _, clip)| Posed::at(rig.skeleton(), clip, time));
        for (bone, joint) in b.1.bones() {
            let Some(from) = a.1.joint(bone) else {
                continue;
            };
            let turned = poses[0].turns[from] * rests[0].turns[from].conjugate();
            let have = poses[1].turns[joint] * rests[1].turns[joint].conjugate();
            let error = angle(turned.normalize(), have.normalize());
            if error > worst.0 {
                worst = (error, bone);
            }
        }
    }
    worst
}

fn transfer(a: (&Rig, &HumanoidMap), b: (&Rig, &HumanoidMap), clip: &Clip) -> Retargeted {
    let sides = ((a.0.skeleton(), a.1), (b.0.skeleton(), b.1));
    let ready = Retargeting::new(sides.0, sides.1, unaligned()).unwrap();
    ready.retarget(clip).unwrap().into()
}

#[test]
fn bones_of_models_turn_alike_between_keys() {
    for (from, name) in MODELS {
        for (to, _) in MODELS {
            let (Some(a), Some(b)) = (model(from), model(to)) else {
                continue;
            };
            let walk = clip(&a, name);
            let own = map(&a);
            for other in [map(&b), lacking(&b, &LACKED)] {
                let done = transfer((&a, &own), (&b, &other), walk);
                let times = between(walk, 12);
                let (off, bone) = worst((&a, &own, walk), (&b, &other, &done.clip), &times);
                println!(
                    "{from} on {to}, {} bones: {off:.1e} at {bone}, {} keys, between {:.1e}",
                    other.bones().count(),
                    done.report.keys,
                    done.report.between_keys
                );
                assert!(off < 1e-4, "{from} on {to}: {bone} {off:e}");
                assert!(done.report.between_keys <= 5e-5, "{:e}", done.report.between_keys);
            }
        }
    }
}

/// Keys that are far apart: more than four halvings of an interval are needed.
#[test]
fn sparse_keys_are_followed() {
    let from = Made { axes: 4, twists: true, ..Made::default() };
    let a = from.with_turns(5, 5, 2.0).rig();
    let to = Made { axes: 6, ..Made::default() };
    let b = to.rig();
    let (own, other) = (map(&a), lacking(&b, &LACKED));
    let dance = clip(&a, "dance");
    let done = transfer((&a, &own), (&b, &other), dance);
    let (off, bone) = worst((&a, &own, dance), (&b, &other, &done.clip), &between(dance, 4));
    println!("{off:e} at {bone}, {:?}", done.report.between_keys);
    assert!(off < 1e-4, "{bone} {off:e}");
    assert!(done.report.between_keys <= 5e-5);
}

/// Noise in a long take needs more keys than a timeline holds: the report bounds what is left.
#[test]
fn long_takes_say_how_far_they_are_off() {
    let from = Made { axes: 4, twists: true, ..Made::default() }.with_dance(5, 12_000);
    let to = Made { axes: 6, ..Made::default() };
    let (a, b) = (from.rig(), to.rig());
    let (own, other) = (map(&a), map(&b));
    let dance = clip(&a, "dance");
    let done = transfer((&a, &own), (&b, &other), dance);
    let left = done.report.between_keys;
    assert!(left > 1e-4, "{left:e}");
    let all: HashSet<u32> = (done.clip.timelines().iter())
        .flat_map(|t| done.clip.times(t).iter().map(|t| t.to_bits()))
        .collect();
    let mut keys = dance.times(&dance.timelines()[0]).iter();
    assert!(keys.all(|t| all.contains(&t.to_bits())), "keys are gone");
    let times = between(dance, 50);
    let (off, bone) = worst((&a, &own, dance), (&b, &other, &done.clip), &times);
    println!("{off:e} at {bone}, reported {left:e}, {} keys", done.report.keys);
    assert!(off > 1e-4 && off <= left, "{bone} {off:e}, reported {left:e}");
}

/// Two joints of one limb ease in and out: in the middle of the interval their product meets its chord.
#[test]
fn eased_turns_are_followed_between_keys() {
    let mut from = Made { twists: true, ..Made::default() };
    let rig = from.rig();
    let arm = rig.skeleton().joint("mixamorig:LeftArm").unwrap();
    let twist = rig.skeleton().joint("twist_LeftForeArm").unwrap();
    let ease = |node: usize| RawTrack {
        node,
        channel: RawChannel::Rotation,
        interpolation: Interpolation::CubicSpline,
        times: vec![0.0, 1.0],
        values: {
            let still = [0.0; 4];
            let turned = DQuat::from_rotation_z(0.7).as_quat().to_array();
            [still, [0.0, 0.0, 0.0, 1.0], still, still, turned, still].concat()
        },
    };
    let node = |joint: usize| {
        let name = &rig.skeleton().names()[joint];
        rig.nodes().iter().position(|n| n.name.as_ref() == Some(name)).unwrap()
    };
    from.clips.push(phalanx::import::raw::RawClip {
        name: Some("ease".into()),
        duration: 1.0,
        tracks: vec![ease(node(arm)), ease(node(twist))],
        ..Default::default()
    });
    let a = from.rig();
    let b = Made { without: &[B::LeftUpperArm], ..Made::default() }.rig();
    let ease = clip(&a, "ease");
    let done = retarget(&a, &b, ease, unaligned());
    assert!(done.report.between_keys < 1e-4, "{}", done.report.between_keys);
    let (map_a, map_b) = (map(&a), map(&b));
    for time in times(ease) {
        let source = Posed::at(a.skeleton(), ease, time);
        let result = Posed::at(b.skeleton(), &done.clip, time);
        let (have, wanted) =
            (result.turn(&map_b, B::LeftLowerArm), source.turn(&map_a, B::LeftLowerArm));
        let error = angle(wanted, have);
        assert!(error < 1e-4, "{time}: {error:e}");
    }
}
