//! Any two skeletons whose joints share some names, and any clips: laid out anew, bound, retargeted and mirrored.
//! Whatever is made fits the skeleton that it is for, and is played.
#![no_main]

mod support;

use arbitrary::{Arbitrary, Unstructured};
use glam::{Quat, Vec3};
use libfuzzer_sys::fuzz_target;
use phalanx::build::{BuildOptions, build_rig, with_clips};
use phalanx::clip::reorder_lanes;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::retarget::{
    BindOptions, Binding, HumanoidMap, Reference, RetargetOptions, Retargeting, TranslationMode,
    mirror,
};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// Names that bind to each other in every way, some of them of a humanoid.
const NAMES: [&str; 24] = [
    "",
    "Hips",
    "mixamorig:Hips",
    "hips",
    "Armature",
    "Armature|Spine",
    "Spine",
    "Chest",
    "Neck",
    "Head",
    "LeftUpperLeg",
    "LeftLowerLeg",
    "LeftFoot",
    "RightUpperLeg",
    "RightLowerLeg",
    "RightFoot",
    "LeftUpperArm",
    "LeftLowerArm",
    "LeftHand",
    "RightUpperArm",
    "RightLowerArm",
    "RightHand",
    "Spine.001",
    "x",
];

#[derive(Arbitrary, Debug)]
struct Node {
    name: u8,
    parent: u8,
    translation: [i8; 3],
    rotation: [i8; 4],
    scale: i8,
}

#[derive(Arbitrary, Debug)]
struct Track {
    node: u8,
    channel: u8,
    interpolation: u8,
    steps: Vec<u8>,
    values: Vec<i16>,
}

#[derive(Arbitrary, Debug)]
struct Input {
    source: Vec<Node>,
    target: Vec<Node>,
    clips: Vec<Vec<Track>>,
    order: u8,
    translations: u8,
    root_scale: Option<f32>,
    map: String,
}

/// Largest number of keys of a track.
const MOST_KEYS: usize = 12;

fn nodes(list: &[Node]) -> Vec<RawNode> {
    let nodes = list.iter().take(40).enumerate();
    nodes
        .map(|(at, n)| {
            let parent = usize::from(n.parent);
            RawNode {
                source: at,
                name: Some(NAMES[usize::from(n.name) % NAMES.len()].to_owned()),
                parent: (at > 0 && parent < 200).then(|| parent % at),
                local: Trs {
                    translation: Vec3::from(n.translation.map(f32::from)) * 0.05,
                    // All zeros have no direction.
                    rotation: rotation(n.rotation),
                    scale: Vec3::splat(1.0 + f32::from(n.scale) / 400.0),
                },
                ..RawNode::default()
            }
        })
        .collect()
}

fn rotation(numbers: [i8; 4]) -> Quat {
    let q = Quat::from_array(numbers.map(f32::from));
    match q.length_squared() > 0.0 {
        true => q.normalize(),
        false => Quat::IDENTITY,
    }
}

fn scene(nodes: Vec<RawNode>, clips: &[Vec<Track>]) -> RawScene {
    let count = nodes.len();
    let clip = |tracks: &Vec<Track>| RawClip {
        name: Some("take".to_owned()),
        duration: 4.0,
        tracks: tracks.iter().take(40).filter_map(|t| track(t, count)).collect(),
        ..RawClip::default()
    };
    RawScene { clips: clips.iter().take(3).map(clip).collect(), nodes, ..RawScene::default() }
}

fn track(t: &Track, nodes: usize) -> Option<RawTrack> {
    let mut times = vec![0.0f32];
    for &step in t.steps.iter().take(MOST_KEYS) {
        let last = times.last().copied().unwrap_or_default();
        times.push(last + f32::from(step % 64 + 1) / 256.0);
    }
    let channel = match t.channel % 3 {
        0 => RawChannel::Translation,
        1 => RawChannel::Rotation,
        _ => RawChannel::Scale,
    };
    let interpolation = match t.interpolation % 3 {
        0 => Interpolation::Linear,
        1 => Interpolation::Step,
        _ => Interpolation::CubicSpline,
    };
    let width = if channel == RawChannel::Rotation { 4 } else { 3 };
    let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let some = t.values.iter().copied().chain(std::iter::repeat(1)).map(|v| f32::from(v) / 8192.0);
    Some(RawTrack {
        node: usize::from(t.node).checked_rem(nodes)?,
        channel,
        interpolation,
        values: some.take(times.len() * width * per_key).collect(),
        times,
    })
}

fn built(scene: RawScene, step: u8) -> Option<Rig> {
    let joints = build_rig(scene.clone(), &BuildOptions::default()).ok()?.skeleton().len();
    let turned = (0..joints).map(|l| ((l + usize::from(step)) % joints) as u16);
    let options = BuildOptions { lane_order: Some(turned.collect()), ..BuildOptions::default() };
    build_rig(scene, &options).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(bytes)) else {
        return;
    };
    let source = scene(nodes(&input.source), &input.clips);
    let Some(from) = built(source.clone(), 0) else {
        return;
    };
    // In another lane order of the same skeleton every clip is laid out, or refused with a reason.
    if let Some(other) = built(source, input.order) {
        for clip in from.clips() {
            if let Ok(laid) = reorder_lanes(clip, other.skeleton(), clip.reorder_limit()) {
                assert!(laid.fits(other.skeleton()), "a reordered clip fits");
                assert_eq!(laid.duration(), clip.duration());
            }
        }
    }
    let Some(onto) = built(scene(nodes(&input.target), &[]), input.order) else {
        return;
    };
    let options = BindOptions {
        translations: match input.translations % 5 {
            0 => TranslationMode::Skeleton,
            3 => TranslationMode::SameOffset,
            1 => TranslationMode::Animation,
            2 => TranslationMode::AnimationScaled,
            _ => TranslationMode::AnimationRelative,
        },
        root_scale: input.root_scale,
    };
    let mut clips = Vec::new();
    if let Ok(binding) = Binding::new(from.skeleton(), onto.skeleton(), &options) {
        let report = binding.report();
        assert_eq!(report.bound.len() + report.target_left.len(), onto.skeleton().len());
        for clip in from.clips() {
            clips.extend(binding.clip(clip).map(|bound| bound.clip));
        }
    }
    let maps = [&from, &onto].map(|rig| {
        let text = HumanoidMap::from_json(&input.map, rig.skeleton()).ok();
        text.or_else(|| HumanoidMap::of_rig(rig).ok())
    });
    if let [Some(a), Some(b)] = &maps {
        let sides = ((from.skeleton(), a), (onto.skeleton(), b));
        let found = Reference::find(&from, a, "source").map(|found| found.0);
        let options = RetargetOptions {
            source_reference: found.unwrap_or(Reference::Rest),
            ..RetargetOptions::default()
        };
        if let Ok(retargeting) = Retargeting::new(sides.0, sides.1, options) {
            for clip in from.clips() {
                clips.extend(retargeting.retarget(clip).map(|made| made.0));
            }
        }
        for clip in from.clips() {
            let _ = mirror(clip, from.skeleton(), a);
        }
    }
    for clip in &clips {
        assert!(clip.fits(onto.skeleton()), "a bound clip fits");
    }
    if let Ok(rig) = with_clips(&onto, clips) {
        support::play(rig);
    }
});
