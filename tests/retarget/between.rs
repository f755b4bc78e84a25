//! What lies between keys: bones turn as those of the source, within a bound on keys.

use crate::support::*;
use crate::transfer::unaligned;
use glam::DQuat;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Clip;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::retarget::{HumanoidMap, MapOrigin, Retargeting};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::raw_pose;
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
    let mut keys: Vec<f32> = clip.timelines().flatten().copied().collect();
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
    let all: HashSet<u32> = done.clip.timelines().flatten().map(|t| t.to_bits()).collect();
    let mut keys = dance.timelines().flatten();
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

/// Number of joints of a tail.
const TAIL: usize = 12;

/// Hips with a tail along z. With `halves` there is a joint without a partner before each of the tail, and both turn about
/// axes at right angles: their product leaves the arc between two keys in the same direction at all joints.
fn tailed(halves: bool) -> RawScene {
    let mut scene = RawScene { name: "tail".into(), ..RawScene::default() };
    let mut tracks = Vec::new();
    let mut node = |name: String, parent: Option<usize>, place: [f32; 3], turn: Option<DQuat>| {
        let source = scene.nodes.len();
        let local = Trs { translation: place.into(), ..Trs::IDENTITY };
        let name = Some(name);
        scene.nodes.push(RawNode { source, name, parent, local, ..RawNode::default() });
        let turned = narrow(turn.unwrap_or(DQuat::from_rotation_y(0.1))).to_array();
        tracks.push(RawTrack {
            node: source,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [[0.0, 0.0, 0.0, 1.0], turned].concat(),
        });
        source
    };
    let hips = node("hips".into(), None, [0.0, 1.0, 0.0], None);
    node("sole".into(), Some(hips), [0.0, -1.0, 0.0], None);
    let mut above = hips;
    for at in 0..TAIL {
        // Neighbours turn back, so that the tail stays nearly straight.
        let turn = if at % 2 == 0 { 0.192 } else { -0.192 };
        if halves {
            let half = Some(DQuat::from_rotation_x(turn));
            above = node(format!("half{at}"), Some(above), [0.0, 0.0, 0.05], half);
        }
        let place = [0.0, 0.0, if halves { 0.05 } else { 0.1 }];
        above = node(format!("tail{at}"), Some(above), place, Some(DQuat::from_rotation_y(turn)));
    }
    scene.clips.push(RawClip {
        name: Some("wag".into()),
        duration: 1.0,
        tracks,
        ..RawClip::default()
    });
    scene
}

/// In model space the deviations of a joint and of those above it add up: the bound holds for their sum, which the report
/// states. The source is evaluated from its keys in f64 by the testkit.
#[test]
fn deviations_down_a_chain_stay_within_the_bound_together() {
    let scene = tailed(true);
    let build = |raw: &RawScene| build_rig(raw.clone(), &BuildOptions::default()).unwrap();
    let (from, to) = (build(&scene), build(&tailed(false)));
    let hips = |rig: &Rig| {
        let hips = rig.skeleton().joint("hips").unwrap();
        HumanoidMap::new(rig.skeleton(), &[(B::Hips, hips)], MapOrigin::Given).unwrap()
    };
    let done = transfer((&from, &hips(&from)), (&to, &hips(&to)), clip(&from, "wag"));
    assert_eq!(done.report.by_name.len(), TAIL + 1, "{:?}", done.report.by_name);
    let mut worst = 0.0f64;
    for time in between(&done.clip, usize::MAX) {
        let wanted = raw_pose::evaluate(&scene, Some(0), time.into()).world;
        let have = Posed::at(to.skeleton(), &done.clip, time);
        for at in 0..TAIL {
            let name = format!("tail{at}");
            let node = scene.nodes.iter().position(|n| n.name.as_ref() == Some(&name)).unwrap();
            let rows = wanted[node];
            let column = |c: usize| glam::DVec3::new(rows[0][c], rows[1][c], rows[2][c]);
            let matrix = glam::DMat3::from_cols(column(0), column(1), column(2));
            let turn = have.turns[to.skeleton().joint(name.as_str()).unwrap()];
            worst = worst.max(angle(DQuat::from_mat3(&matrix).normalize(), turn.normalize()));
        }
    }
    let stated = done.report.between_keys;
    println!("{worst:e}, stated {stated:e}, {} keys", done.report.keys);
    // Keys and samples are rounded to f32.
    assert!(worst <= stated + 3e-6, "{worst:e}, stated {stated:e}");
    assert!(stated > 1e-5 && stated <= 5e-5, "{stated:e}");
}
