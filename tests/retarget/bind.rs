//! Binding by name, against rotations and places in model space by the oracle.

use super::support::{Made, bind, retarget};
use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3};
use phalanx::build::{
    AdditiveReference, BuildOptions, RootMotionOptions, build_additive, build_rig, raw_joints,
    with_clips,
};
use phalanx::clip::{BlockKind, Channel, Clip};
use phalanx::import::ImportOptions;
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::import::read_path;
use phalanx::retarget::{BindOptions, Binding, RetargetError, RetargetOptions, TranslationMode};
use phalanx::rig::Rig;
use phalanx::skeleton::{Joint, Skeleton, SkeletonMismatch, Trs};
use phalanx_testkit::{reference, sample, trials};

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    fn rotation(&mut self, angle: f64) -> DQuat {
        let axis = DVec3::new(self.roll(), self.roll(), self.roll()).normalize_or(DVec3::X);
        DQuat::from_axis_angle(axis, angle * self.roll())
    }
}

/// A body of 13 joints: hips, spine of three, head, arms and legs of two.
const BODY: [(&str, Option<usize>, [f32; 3]); 13] = [
    ("Hips", None, [0.0, 1.0, 0.0]),
    ("Spine", Some(0), [0.0, 0.2, 0.0]),
    ("Chest", Some(1), [0.0, 0.2, 0.01]),
    ("Neck", Some(2), [0.0, 0.2, 0.0]),
    ("Head", Some(3), [0.0, 0.1, 0.0]),
    ("LeftArm", Some(2), [0.2, 0.1, 0.0]),
    ("LeftHand", Some(5), [0.3, 0.0, 0.0]),
    ("RightArm", Some(2), [-0.2, 0.1, 0.0]),
    ("RightHand", Some(7), [-0.3, 0.0, 0.0]),
    ("LeftLeg", Some(0), [0.1, 0.0, 0.0]),
    ("LeftFoot", Some(9), [0.0, -0.95, 0.0]),
    ("RightLeg", Some(0), [-0.1, 0.0, 0.0]),
    ("RightFoot", Some(11), [0.0, -0.95, 0.0]),
];

fn node(name: &str, parent: Option<usize>, t: [f32; 3]) -> RawNode {
    RawNode {
        name: Some(name.to_owned()),
        parent,
        local: Trs { translation: t.into(), ..Trs::IDENTITY },
        ..RawNode::default()
    }
}

fn with_skin(mut raw: RawScene) -> RawScene {
    let joints = raw.nodes.len();
    raw.skins = vec![RawSkin {
        name: None,
        joints: (0..joints).collect(),
        inverse_bind: vec![Affine3A::IDENTITY.into(); joints]
            .into_iter()
            .map(|m: glam::Mat4| m.to_cols_array())
            .collect(),
    }];
    raw
}

fn body() -> RawScene {
    with_skin(RawScene {
        nodes: BODY.iter().map(|&(n, p, t)| node(n, p, t)).collect(),
        ..RawScene::default()
    })
}

/// The body, `longer` times as large, below an armature of a scale: its places are in metres all the same.
fn below_armature(unit: f32, longer: f32) -> RawScene {
    let mut nodes = vec![node("Armature", None, [0.0; 3])];
    nodes[0].local.scale = glam::Vec3::splat(unit);
    nodes.extend(BODY.iter().map(|&(name, parent, at)| {
        let parent = Some(parent.map_or(0, |p| p + 1));
        node(name, parent, at.map(|v| v * longer / unit))
    }));
    with_skin(RawScene { nodes, ..RawScene::default() })
}

/// A clip that turns every joint but those that `still` names, and moves the first of `movers`.
fn add_clip(
    raw: &mut RawScene,
    seed: u64,
    interpolation: Interpolation,
    movers: &[usize],
    still: &[&str],
) {
    let mut dice = Dice(seed);
    let mut tracks = Vec::new();
    for (n, node) in raw.nodes.iter().enumerate() {
        let name = node.name.as_deref().unwrap_or("");
        if still.contains(&name) {
            continue;
        }
        let times: Vec<f32> = (0..=12).map(|k| k as f32 / 12.0).collect();
        let mut values = Vec::new();
        for _ in &times {
            let q = dice.rotation(0.5).as_quat().to_array();
            let tangent = q.map(|v| v * 0.2);
            match interpolation {
                Interpolation::CubicSpline => values.extend([tangent, q, tangent].concat()),
                _ => values.extend(q),
            }
        }
        tracks.push(RawTrack {
            node: n,
            channel: RawChannel::Rotation,
            interpolation,
            times: times.clone(),
            values,
        });
        if movers.contains(&n) {
            let rest = node.local.translation;
            let values = times.iter().flat_map(|_| {
                let mut by = || rest.y.abs().max(0.1) * 0.2 * dice.roll() as f32;
                [rest.x + by(), rest.y + by(), rest.z + by()]
            });
            tracks.push(RawTrack {
                node: n,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: values.collect(),
            });
        }
    }
    raw.clips.push(RawClip {
        name: Some(format!("clip {}", raw.clips.len())),
        duration: 1.0,
        tracks,
        ..RawClip::default()
    });
}

fn rig(raw: RawScene) -> Rig {
    build_rig(raw, &BuildOptions::default()).unwrap()
}

/// Model matrices of a clip of a skeleton at a time, in f64, from the sampled locals.
fn models(clip: &Clip, skeleton: &Skeleton, time: f32) -> Vec<DAffine3> {
    let pose = sample::sample(clip, skeleton, time).unwrap();
    let mut all: Vec<DAffine3> = Vec::new();
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        let trs = pose.lane(usize::from(skeleton.lane_of()[joint]));
        let local = DAffine3::from_scale_rotation_translation(
            trs.scale.as_dvec3(),
            trs.rotation.as_dquat().normalize(),
            trs.translation.as_dvec3(),
        );
        let above = all.get(usize::from(parent)).copied();
        all.push(above.unwrap_or(DAffine3::IDENTITY) * local);
    }
    all
}

fn turn(m: &DAffine3) -> DQuat {
    m.to_scale_rotation_translation().1
}

/// Checks every bound joint's model rotation, and the root's place, against the oracle of the source's file.
/// Returns the largest differences.
fn compare(
    raw: &RawScene,
    number: usize,
    clip: &Clip,
    target: &Skeleton,
    names: impl Fn(&str) -> String,
    scale: f64,
) -> (f64, f64) {
    let scene = reference::scene(raw);
    let (mut turned, mut moved) = (0.0f64, 0.0f64);
    for step in 0..=40 {
        let time = step as f32 / 40.0;
        let there = scene.evaluate(&scene.pose(number, time.into()));
        let here = models(clip, target, time);
        for (n, node) in raw.nodes.iter().enumerate() {
            let name = names(node.name.as_deref().unwrap());
            let Some(joint) = target.names().iter().position(|other| *other == name) else {
                continue;
            };
            let world = DMat4::from_cols_array(&there.world[n].unwrap());
            let world = DAffine3::from_mat4(world);
            let (a, b) = (turn(&world), turn(&here[joint]));
            turned = turned.max(a.angle_between(b).min(a.angle_between(-b)));
            if name.ends_with("Hips") {
                moved = moved.max((world.translation * scale).distance(here[joint].translation));
            }
        }
    }
    (turned, moved)
}

#[test]
fn equal_joints_with_another_rest_pose_keep_their_keys() {
    let mut source = body();
    add_clip(&mut source, 1, Interpolation::Linear, &[0, 5], &[]);
    add_clip(&mut source, 2, Interpolation::CubicSpline, &[0], &[]);
    add_clip(&mut source, 3, Interpolation::Step, &[0], &[]);
    let mut other = body();
    other.nodes[5].local.translation.x += 1e-4;
    let (from, to) = (rig(source.clone()), rig(other));
    let binding = Binding::new(from.skeleton(), to.skeleton(), &BindOptions::default()).unwrap();
    let report = binding.report();
    assert_eq!(report.bound.len(), BODY.len());
    assert!(report.source_left.is_empty() && report.target_left.is_empty());
    assert_eq!(report.translation_joint, "LeftArm");
    assert_eq!(report.translations, [[0.2, 0.1, 0.0], [0.2001, 0.1, 0.0]]);
    assert!((report.translation_distance - 1e-4).abs() < 1e-7);
    assert_eq!(report.rotation_angle, 0.0);
    assert_eq!(report.root_scale, 1.0);
    for (n, clip) in from.clips().iter().enumerate() {
        let bound = binding.clip(clip).unwrap();
        assert_eq!(bound.sampled, 0);
        assert_eq!(bound.translations_left, usize::from(n == 0));
        assert_eq!(bound.clip.name(), clip.name());
        let kinds = |c: &Clip| c.blocks(Channel::Rotation)[0].kind;
        assert_eq!(kinds(&bound.clip), kinds(clip));
        // Every rotation key has the bits that it had.
        let rows = |c: &Clip, s: &Skeleton, joint: usize| {
            let pose = sample::sample(c, s, 0.5).unwrap();
            pose.lane(usize::from(s.lane_of()[joint])).rotation
        };
        for joint in 0..BODY.len() {
            let name = &to.skeleton().names()[joint];
            let before = from.skeleton().names().iter().position(|n| n == name).unwrap();
            assert_eq!(
                rows(&bound.clip, to.skeleton(), joint),
                rows(clip, from.skeleton(), before)
            );
        }
        let (turned, moved) = compare(&source, n, &bound.clip, to.skeleton(), str::to_owned, 1.0);
        assert!(turned < 2e-5 && moved < 1e-6, "{n}: {turned:e}, {moved:e}");
    }
    assert!(matches!(from.clips()[1].blocks(Channel::Rotation)[0].kind, BlockKind::Cubic));
}

/// A file of the kind that Mixamo's and Blender's exporters write: prefixes, an `Armature` above that turns and scales
/// centimetres to metres.
fn prefixed(clips: &RawScene) -> RawScene {
    let armature = DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
    let mut raw = RawScene {
        nodes: vec![RawNode {
            local: Trs {
                translation: glam::Vec3::ZERO,
                rotation: armature.as_quat(),
                scale: glam::Vec3::splat(0.01),
            },
            ..node("Armature", None, [0.0; 3])
        }],
        ..RawScene::default()
    };
    for n in &clips.nodes {
        let t = n.local.translation * 100.0;
        let mut new = node(
            &format!("mixamorig:{}", n.name.as_ref().unwrap()),
            Some(n.parent.map_or(0, |p| p + 1)),
            t.to_array(),
        );
        new.local.rotation = n.local.rotation;
        if n.parent.is_none() {
            new.local.rotation = armature.inverse().as_quat() * n.local.rotation;
            new.local.translation = armature.inverse().as_quat() * t;
        }
        raw.nodes.push(new);
    }
    with_skin(raw)
}

#[test]
fn prefixes_and_an_armature_above_are_folded() {
    for seed in 0..8 {
        let mut source = prefixed(&body());
        let kinds = [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline];
        let kind = kinds[seed as usize % 3];
        add_clip(&mut source, seed, kind, &[1], &["Armature"]);
        let mut taller = body();
        for n in &mut taller.nodes {
            n.local.translation *= 1.2;
        }
        let (from, to) = (rig(source.clone()), rig(taller));
        let (bound, report) =
            bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
        assert_eq!(report.bound.len(), BODY.len());
        assert_eq!(report.without_prefix, BODY.len());
        assert_eq!(report.source_left, ["Armature"]);
        assert_eq!((report.hips.as_deref(), report.hips_by_lengths), (Some("Hips"), false));
        let words = "\"Hips\" is 0.9500 m above the lowest bound joint in the clips' rest pose, 1.1400 m here";
        assert!(report.to_string().contains(words), "{report}");
        let [below, here] = report.hip_heights;
        assert!((below - 0.95).abs() < 1e-6 && (here - 1.14).abs() < 1e-6);
        assert!((report.root_scale - 1.2).abs() < 1e-6);
        // The armature does not move: keys are multiplied, not sampled.
        assert_eq!(bound.sampled, 0);
        let name = |n: &str| n.replace("mixamorig:", "");
        let (turned, moved) = compare(&source, 0, &bound.clip, to.skeleton(), name, 1.2);
        assert!(turned < 2e-5 && moved < 1e-5, "{seed}: {turned:e}, {moved:e}");
        // And back: the armature is then a joint of the target that rests.
        let mut first = body();
        add_clip(&mut first, seed, kind, &[0], &[]);
        let clips = rig(first.clone());
        let (bound, report) =
            bind(&clips.clips()[0], from.skeleton(), &BindOptions::default()).unwrap();
        assert_eq!(report.target_left, ["Armature"]);
        let name = |n: &str| format!("mixamorig:{n}");
        let (turned, moved) = compare(&first, 0, &bound.clip, from.skeleton(), name, 1.0);
        assert!(turned < 2e-5 && moved < 1e-5, "{seed}: {turned:e}, {moved:e}");
    }
}

/// The body with joints put between and others left out, rest rotations turned, and the order of nodes changed.
fn rearranged(seed: u64) -> RawScene {
    let mut dice = Dice(seed);
    let mut raw =
        RawScene { nodes: vec![node("Root", None, [0.0, 0.1, 0.0])], ..RawScene::default() };
    raw.nodes[0].local.rotation = dice.rotation(1.0).as_quat();
    let mut place = vec![0; BODY.len()];
    let left_out = 1 + (seed as usize % 4);
    for (n, &(name, parent, t)) in BODY.iter().enumerate() {
        let mut above = parent.map_or(0, |p| place[p]);
        if n == left_out {
            place[n] = above;
            continue;
        }
        if (n + seed as usize).is_multiple_of(3) {
            let mut twist = node(&format!("twist {n}"), Some(above), [0.01, 0.02, 0.03]);
            twist.local.rotation = dice.rotation(0.7).as_quat();
            above = raw.nodes.len();
            raw.nodes.push(twist);
        }
        place[n] = raw.nodes.len();
        let mut new = node(name, Some(above), t);
        new.local.rotation = dice.rotation(0.3).as_quat();
        raw.nodes.push(new);
    }
    with_skin(raw)
}

#[test]
fn joints_between_and_missing_ones_keep_model_rotations() {
    let mut sampled = 0;
    for seed in 0..24u64 {
        let mut source = rearranged(seed);
        let kinds = [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline];
        let kind = kinds[seed as usize % 3];
        let hips = source.nodes.iter().position(|n| n.name.as_deref() == Some("Hips"));
        add_clip(&mut source, seed + 100, kind, &[hips.unwrap()], &[]);
        let target = rearranged(seed + 1);
        let (from, to) = (rig(source.clone()), rig(target));
        let (bound, report) =
            bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
        assert!(report.bound.len() >= BODY.len() - 2);
        sampled += bound.sampled;
        // Rotation of the root is bound too, so everything below is in its space.
        let (turned, _) =
            compare(&source, 0, &bound.clip, to.skeleton(), str::to_owned, report.root_scale);
        let allowed = if kind == Interpolation::Linear { 3e-4 } else { 1e-3 };
        assert!(turned < allowed, "{seed}: {turned:e}, sampled {}", bound.sampled);
        let worst = bound.sampled_rotation;
        assert!(worst < 1e-3, "{worst}");
    }
    assert!(sampled > 20, "{sampled}");
}

#[test]
fn additive_clips_are_bound_as_differences() {
    let mut source = prefixed(&body());
    add_clip(&mut source, 5, Interpolation::Linear, &[1], &["Armature"]);
    let from = rig(source);
    let added = build_additive(&from, 0, AdditiveReference::Rest).unwrap();
    let to = rig(body());
    let (full, _) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
    let (bound, _) = bind(&added, to.skeleton(), &BindOptions::default()).unwrap();
    assert_eq!(bound.clip.kind(), added.kind());
    for step in 0..=10 {
        let time = step as f32 / 10.0;
        let pose = sample::sample(&bound.clip, to.skeleton(), time).unwrap();
        let whole = sample::sample(&full.clip, to.skeleton(), time).unwrap();
        for joint in 0..to.skeleton().len() {
            let lane = usize::from(to.skeleton().lane_of()[joint]);
            let (d, rest, q) = (pose.lane(lane), to.skeleton().rest(joint), whole.lane(lane));
            let unit = |q: glam::Quat| q.as_dquat().normalize();
            let sum = unit(rest.rotation) * unit(d.rotation);
            let q_full = unit(q.rotation);
            let apart = sum.angle_between(q_full).min(sum.angle_between(-q_full));
            assert!(apart < 1e-5, "{joint}: {apart:e}");
            let place = rest.translation + d.translation;
            assert!(place.distance(q.translation) < 1e-5, "{joint}");
        }
    }
}

/// A clip in which the hips go from `from` to `to` in a second.
fn walk(raw: &mut RawScene, hips: usize, from: [f32; 3], to: [f32; 3]) {
    raw.clips.push(RawClip {
        name: Some("walk".into()),
        duration: 1.0,
        tracks: vec![RawTrack {
            node: hips,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [from, to].concat(),
        }],
        ..RawClip::default()
    });
}

/// Where the hips are at the end of a clip that is bound to a skeleton, in model space.
fn hips_at_end(clip: &Clip, to: &Skeleton) -> DVec3 {
    let (bound, _) = bind(clip, to, &BindOptions::default()).unwrap();
    let hips = to.names().iter().position(|n| n == "Hips").unwrap();
    models(&bound.clip, to, 1.0)[hips].translation
}

/// An armature of scale 0.01 above hips that are 100 high is one of scale 1 above hips that are 1 m high.
#[test]
fn bound_armatures_of_other_units() {
    let of = |unit: f32| {
        let mut raw = below_armature(unit, 1.0);
        walk(&mut raw, 1, [0.0, 1.0 / unit, 0.0], [1.0 / unit, 1.0 / unit, 0.5 / unit]);
        rig(raw)
    };
    let rigs = [of(0.01), of(1.0), of(0.4)];
    for from in &rigs {
        for to in &rigs {
            let found = hips_at_end(&from.clips()[0], to.skeleton());
            let expected = DVec3::new(1.0, 1.0, 0.5);
            assert!(found.distance(expected) < 1e-5, "{found} {expected}");
        }
    }
}

/// Whatever the unit of an armature, translations mean the same in space.
#[test]
fn translations_of_every_mode_are_in_metres() {
    let of = |unit: f32, longer: f32| {
        let mut raw = below_armature(unit, longer);
        let arm = raw.nodes[6].local.translation;
        walk(&mut raw, 6, arm.to_array(), [arm.x, arm.y + 0.3 / unit, arm.z]);
        rig(raw)
    };
    for translations in [
        TranslationMode::SameOffset,
        TranslationMode::Skeleton,
        TranslationMode::Animation,
        TranslationMode::AnimationScaled,
        TranslationMode::AnimationRelative,
    ] {
        let options = BindOptions { translations, ..BindOptions::default() };
        let place = |units: [f32; 2], longer: f32, additive: bool| {
            let (from, to) = (of(units[0], 1.0), of(units[1], longer));
            let reference = AdditiveReference::Rest;
            let clip = match additive {
                false => Clip::clone(&from.clips()[0]),
                true => build_additive(&from, 0, reference).unwrap(),
            };
            let (bound, _) = bind(&clip, to.skeleton(), &options).unwrap();
            let arm = to.skeleton().joint("LeftArm").unwrap();
            let pose = sample::sample(&bound.clip, to.skeleton(), 1.0).unwrap();
            let lane = usize::from(to.skeleton().lane_of()[arm]);
            pose.lane(lane).translation.as_dvec3() * f64::from(units[1])
        };
        for (longer, additive) in [(1.0, false), (1.5, false), (1.0, true), (1.5, true)] {
            let expected = place([1.0, 1.0], longer, additive);
            for units in [[0.01, 1.0], [1.0, 0.01], [0.01, 0.02], [1e-3, 1e3], [1e3, 1e-3]] {
                let found = place(units, longer, additive);
                assert!(
                    found.distance(expected) < 1e-5,
                    "{translations:?}, {units:?}, {longer}, {additive}: {found}, not {expected}"
                );
            }
        }
    }
}

/// Differences of rest poses and of what is left out are in metres, whatever the units of the armatures.
#[test]
fn differences_are_in_metres_below_scaled_armatures() {
    let of = |unit: f32, longer: f32| {
        let mut raw = below_armature(unit, 1.0);
        // The hand lies farther out, and the clip takes it 0.3 m up.
        raw.nodes[7].local.translation.x += longer / unit;
        let hand = raw.nodes[7].local.translation;
        walk(&mut raw, 7, hand.to_array(), [hand.x, 0.3 / unit, hand.z]);
        rig(raw)
    };
    for (unit, other) in [(1.0, 1.0), (1.0, 0.01), (0.01, 1.0), (0.01, 0.4)] {
        let (from, to) = (of(unit, 0.25), of(other, 0.0));
        let (clip, target) = (&from.clips()[0], to.skeleton());
        let (bound, report) = bind(clip, target, &BindOptions::default()).unwrap();
        assert_eq!(report.translation_joint, "LeftHand");
        let (found, apart) = (report.translations, report.translation_distance);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-5;
        assert!(close(apart, 0.25), "{unit}, {other}: {apart}");
        assert!(close(found[0][0].into(), 0.55), "{found:?}");
        assert!(close(found[1][0].into(), 0.3), "{found:?}");
        assert!(close(bound.farthest_left, 0.3), "{}", bound.farthest_left);
        assert!(report.to_string().contains(", 0.2500 m apart"), "{report}");
    }
}

/// A rest pose in which all bones lie along x, as in motion captures, says nothing of how high the hips are: the
/// lengths of the bones do.
#[test]
fn rest_poses_that_do_not_stand() {
    let to = rig(body());
    for size in [1.0, 0.5] {
        let mut lying = body();
        for (n, node) in lying.nodes.iter_mut().enumerate() {
            let length = node.local.translation.length() * size;
            // Shoulders lie a little below the hips.
            let down = if BODY[n].0.ends_with("Arm") { -0.04 } else { 0.0 };
            node.local.translation = glam::Vec3::new(length, down, 0.0);
        }
        walk(&mut lying, 0, [0.0, 0.9, 0.0], [1.0, 0.9, 0.0]);
        let from = rig(lying);
        let binding = Binding::new(from.skeleton(), to.skeleton(), &BindOptions::default());
        let report = binding.unwrap().report().clone();
        assert!(report.hips.is_some() && report.hips_by_lengths);
        let words = "m above the lowest bound joint in the clips' rest pose by the lengths of its bones, 0.9500 m here";
        if size != 1.0 {
            assert!(report.to_string().contains(words), "{report}");
        }
        let found = hips_at_end(&from.clips()[0], to.skeleton());
        let expected = DVec3::new(1.0, 0.9, 0.0) / f64::from(size);
        assert!(found.distance(expected) < 0.02 / f64::from(size), "{found} {expected}");
    }
}

#[test]
fn translations_come_from_where_the_options_say() {
    let mut source = body();
    add_clip(&mut source, 7, Interpolation::Linear, &[0, 5], &[]);
    let mut other = body();
    other.nodes[5].local.translation *= 2.0;
    let (from, to) = (rig(source), rig(other));
    let arm = |s: &Skeleton| s.names().iter().position(|n| n == "LeftArm").unwrap();
    let place = |clip: &Clip, s: &Skeleton| {
        let pose = sample::sample(clip, s, 0.25).unwrap();
        pose.lane(usize::from(s.lane_of()[arm(s)])).translation
    };
    let clip = &from.clips()[0];
    let was = place(clip, from.skeleton());
    let rest = |s: &Skeleton| s.rest(arm(s)).translation;
    let (a, b) = (rest(from.skeleton()), rest(to.skeleton()));
    for (translations, expected) in [
        (TranslationMode::Skeleton, b),
        (TranslationMode::Animation, was),
        (TranslationMode::AnimationScaled, was * 2.0),
        (TranslationMode::AnimationRelative, b + was - a),
    ] {
        let options = BindOptions { translations, ..BindOptions::default() };
        let (bound, _) = bind(clip, to.skeleton(), &options).unwrap();
        let found = place(&bound.clip, to.skeleton());
        assert!(found.distance(expected) < 1e-6, "{translations:?}: {found} {expected}");
        let left = usize::from(translations == TranslationMode::Skeleton);
        assert_eq!(bound.translations_left, left);
    }
}

#[test]
fn what_cannot_be_bound_is_named() {
    let mut source = body();
    add_clip(&mut source, 1, Interpolation::Linear, &[0], &[]);
    let from = rig(source);
    let clip = &from.clips()[0];
    let mut other = body();
    for n in &mut other.nodes {
        n.name = Some(format!("{}x", n.name.as_ref().unwrap()));
    }
    let other = rig(other);
    let refused = bind(clip, other.skeleton(), &BindOptions::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no joint of the clips' skeleton (13 joints, the first \"Hips\") has the name of a joint of the target (13 \
         joints, the first \"Hipsx\")"
    );
    // Two bodies in one file: every name is that of two joints.
    let mut both =
        with_skin(RawScene { nodes: [body().nodes, body().nodes].concat(), ..RawScene::default() });
    for (n, node) in both.nodes.iter_mut().enumerate() {
        let side = if n < BODY.len() { "a" } else { "b" };
        node.name = Some(format!("{side}:{}", node.name.as_deref().unwrap()));
        if n >= BODY.len() {
            node.parent = node.parent.map(|p| p + BODY.len());
        }
    }
    let both = rig(both);
    // A file with two bodies says nothing of which of them drives one.
    let two = bind_of(&both, from.skeleton());
    assert!(matches!(&two, Err(RetargetError::Ambiguous { names: 13, .. })), "{two:?}");
    for value in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e7] {
        let options = BindOptions { root_scale: Some(value), ..BindOptions::default() };
        let refused = bind(clip, from.skeleton(), &options);
        assert!(matches!(refused, Err(RetargetError::Option { option: "root_scale", .. })));
    }
    let binding = Binding::new(other.skeleton(), other.skeleton(), &BindOptions::default());
    let refused = binding.unwrap().clip(clip);
    assert!(matches!(
        refused,
        Err(RetargetError::Skeleton { skeleton: "the skeleton that was bound", .. })
    ));
}

/// Morph weights are bound as joints are: without the prefixes of their nodes, and without case.
#[test]
fn morph_weights_are_bound_without_prefixes_and_case() {
    let weights = |face: &str, teeth: &str| {
        let mut raw = body();
        for (name, weights) in [(face, vec![0.0; 2]), (teeth, vec![0.0])] {
            raw.nodes.push(RawNode { weights, ..node(name, Some(4), [0.0; 3]) });
        }
        raw
    };
    let mut source = weights("rig:Face.001", "rig:TEETH");
    let keys = |node: usize, values: Vec<f32>| RawTrack {
        node,
        channel: RawChannel::Weights,
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values,
    };
    source.clips.push(RawClip {
        duration: 1.0,
        tracks: vec![
            keys(BODY.len(), vec![0.25, 0.5, 0.75, 0.5]),
            keys(BODY.len() + 1, vec![0.0, 1.0]),
        ],
        ..RawClip::default()
    });
    let from = rig(source);
    for (face, teeth, left) in [("Face", "Teeth", 0), ("Face", "Tongue", 1)] {
        let to = rig(weights(face, teeth));
        let (bound, _) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
        assert_eq!(bound.scalars_left.len(), left, "{:?}", bound.scalars_left);
        let pose = sample::sample(&bound.clip, to.skeleton(), 1.0).unwrap();
        let scalar = |i: usize| pose.scalar(i);
        assert_eq!([scalar(0), scalar(1)], [0.75, 0.5]);
        assert_eq!(scalar(2), if left == 0 { 1.0 } else { 0.0 });
    }
}

/// Two joints that ease in and out are folded into one: in the middle of every interval the curve meets its chord.
#[test]
fn eased_turns_that_are_folded_keep_their_way() {
    let ease = |node: usize| RawTrack {
        node,
        channel: RawChannel::Rotation,
        interpolation: Interpolation::CubicSpline,
        times: vec![0.0, 1.0],
        values: {
            let still = [0.0; 4];
            let turned = DQuat::from_rotation_z(1.0).as_quat().to_array();
            [still, [0.0, 0.0, 0.0, 1.0], still, still, turned, still].concat()
        },
    };
    let mut source = body();
    source.clips.push(RawClip {
        duration: 1.0,
        tracks: vec![ease(0), ease(1), ease(2)],
        ..RawClip::default()
    });
    // A target without the hips and the spine: both are folded into the chest.
    let target = with_skin(RawScene {
        nodes: vec![node("Chest", None, [0.0, 1.4, 0.0])],
        ..RawScene::default()
    });
    let (from, to) = (rig(source.clone()), rig(target));
    let (bound, _) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
    assert_eq!(bound.sampled, 1);
    let (turned, _) = compare(&source, 0, &bound.clip, to.skeleton(), str::to_owned, 1.0);
    assert!(turned < 1e-4, "{turned:e}");
    assert!(bound.sampled_rotation < 1e-4);
}

/// A folded joint that moves is named among what is left.
#[test]
fn translations_that_are_folded_are_counted() {
    let mut source = body();
    source.clips.push(RawClip {
        duration: 1.0,
        tracks: vec![RawTrack {
            node: 1,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, 0.2, 0.0, 0.0, 0.7, 0.0],
        }],
        ..RawClip::default()
    });
    let mut target = body();
    target.nodes[1].name = Some("other".into());
    let (from, to) = (rig(source), rig(target));
    let (bound, _) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
    assert_eq!(bound.translations_left, 1);
    assert!((bound.farthest_left - 0.5).abs() < 1e-6);
}

/// Two chains of the same names in opposite order: the ways between their joints are long.
#[test]
fn long_ways_end_at_a_limit() {
    let chain = |names: &mut dyn Iterator<Item = usize>| {
        let joints: Vec<Joint> = names
            .enumerate()
            .map(|(n, name)| Joint {
                name: name.to_string(),
                parent: n.checked_sub(1),
                rest: Trs::IDENTITY,
            })
            .collect();
        Skeleton::new(&joints, None, Vec::new()).unwrap()
    };
    const JOINTS: usize = 20_000;
    let down = chain(&mut (0..JOINTS));
    // Every other joint is far away in the source.
    let up = chain(&mut (0..JOINTS).map(|n| if n % 2 == 0 { n } else { JOINTS - n }));
    let refused = Binding::new(&down, &up, &BindOptions::default()).map(|_| ());
    assert!(matches!(refused, Err(RetargetError::BindSteps { limit }) if limit == 1 << 20));
}

fn bind_of(source: &Rig, target: &Skeleton) -> Result<Binding, RetargetError> {
    Binding::new(source.skeleton(), target, &BindOptions::default())
}

/// Copies whose roots have names of their own, of which the clips' may have one.
#[test]
fn copies_below_other_roots_are_driven() {
    let of = |roots: &[&str], name: &dyn Fn(usize, &str) -> String| {
        let mut nodes = Vec::new();
        for (copy, root) in roots.iter().enumerate() {
            let first = nodes.len();
            nodes.push(node(root, None, [0.0; 3]));
            nodes.extend(BODY.iter().map(|&(n, parent, at)| {
                let parent = first + parent.map_or(0, |p| p + 1);
                node(&name(copy, n), Some(parent), at)
            }));
        }
        with_skin(RawScene { nodes, ..RawScene::default() })
    };
    let plain = |_: usize, name: &str| name.to_owned();
    let prefixed = |_: usize, name: &str| format!("mixamorig:{name}");
    let numbered = |copy: usize, name: &str| format!("{name}.00{}", copy + 1);
    let counted = |copy: usize, name: &str| match copy {
        0 => name.to_owned(),
        copy => format!("{name}_{copy}"),
    };
    let namespaces = |copy: usize, name: &str| match copy {
        0 => format!("mixamorig:{name}"),
        copy => format!("mixamorig{copy}:{name}"),
    };
    type Name<'a> = &'a dyn Fn(usize, &str) -> String;
    let cases: [(Name<'_>, Name<'_>); 6] = [
        (&plain, &plain),
        (&prefixed, &plain),
        (&prefixed, &namespaces),
        (&plain, &namespaces),
        (&plain, &numbered),
        (&plain, &counted),
    ];
    for (case, (own, copies)) in cases.into_iter().enumerate() {
        let mut source = of(&["Armature"], own);
        add_clip(&mut source, 3, Interpolation::Linear, &[1], &["Armature"]);
        let from = rig(source);
        for roots in [
            ["Armature", "Outfit"],
            ["Outfit", "Armature"],
            ["Hero", "Outfit"],
            ["Armature", "Armature"],
        ] {
            let to = rig(of(&roots, copies));
            let (bound, report) =
                bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
            let size = BODY.len() + 1;
            let places = models(&bound.clip, to.skeleton(), 0.4);
            for joint in 1..size {
                let (a, b) = (places[joint], places[joint + size]);
                let apart = a.translation.distance(b.translation);
                let turned = turn(&a).angle_between(turn(&b));
                assert!(apart < 1e-6 && turned < 1e-6, "{case}, {roots:?}: {joint}, {report}");
            }
            let moved = places[1].translation.distance(DVec3::Y);
            assert!(moved > 1e-3, "{case}, {roots:?}: {moved}");
        }
    }
}

/// Blender numbers the names of a copied armature, or that of its root alone.
#[test]
fn copies_with_numbers_are_driven() {
    let mut source = body();
    source.nodes.push(node("Armature", None, [0.0; 3]));
    source.nodes[0].parent = Some(BODY.len());
    let source = with_skin(RawScene { nodes: source.nodes, ..RawScene::default() });
    let mut moving = source.clone();
    add_clip(&mut moving, 3, Interpolation::Linear, &[0], &[]);
    let from = rig(moving);
    let size = BODY.len() + 1;
    for all in [false, true] {
        let mut many = source.nodes.clone();
        many.extend(source.nodes.iter().cloned().enumerate().map(|(i, mut n)| {
            n.parent = n.parent.map(|p| p + size);
            if all || i == size - 1 {
                n.name = n.name.map(|name| format!("{name}.001"));
            }
            n
        }));
        let many = rig(with_skin(RawScene { nodes: many, ..RawScene::default() }));
        let (bound, report) =
            bind(&from.clips()[0], many.skeleton(), &BindOptions::default()).unwrap();
        assert_eq!(report.bound.len(), 2 * size, "{all}: {report}");
        let pose = sample::sample(&bound.clip, many.skeleton(), 0.3).unwrap();
        let hips = many.skeleton().names().iter().enumerate();
        let hips = hips.filter(|(_, n)| n.starts_with("Hips"));
        let places: Vec<_> = hips
            .map(|(joint, _)| {
                let lane = usize::from(many.skeleton().lane_of()[joint]);
                pose.lane(lane).translation
            })
            .collect();
        assert_eq!(places.len(), 2);
        assert_eq!(places[0], places[1], "{all}");
    }
}

/// Outfits: the same names in copies below nodes of their own, and as roots. The hips move below a root in each.
#[test]
fn every_copy_of_a_skeleton_is_driven() {
    let mut source = body();
    source.nodes.push(node("Root", None, [0.0; 3]));
    source.nodes[0].parent = Some(BODY.len());
    let source = with_skin(RawScene { nodes: source.nodes, ..RawScene::default() });
    let mut moving = source.clone();
    add_clip(&mut moving, 3, Interpolation::Linear, &[0], &[]);
    let from = rig(moving);
    let size = BODY.len() + 1;
    let mut many = source.nodes.clone();
    for copy in 1..3 {
        many.extend(source.nodes.iter().cloned().map(|mut n| {
            n.parent = n.parent.map(|p| p + copy * size);
            n
        }));
    }
    // The second stands below a node, the others are roots.
    many.push(node("Outfit", None, [0.0; 3]));
    many[2 * size - 1].parent = Some(3 * size);
    let many = rig(with_skin(RawScene { nodes: many, ..RawScene::default() }));
    let to = many.skeleton();
    let clip = &from.clips()[0];
    let (bound, report) = bind(clip, to, &BindOptions::default()).unwrap();
    assert_eq!(report.bound.len(), 3 * size);
    assert!(report.ambiguous.is_empty(), "{report}");
    assert!(report.to_string().contains(&format!("{} of them in copies", 2 * size)), "{report}");
    let time = 0.3 * clip.duration();
    let was = sample::sample(clip, from.skeleton(), time).unwrap();
    let now = sample::sample(&bound.clip, to, time).unwrap();
    let mut seen = 0;
    for (joint, name) in to.names().iter().enumerate().filter(|(_, n)| *n != "Outfit") {
        let of = from.skeleton().names().iter().position(|n| n == name).unwrap();
        let a = was.lane(usize::from(from.skeleton().lane_of()[of]));
        let b = now.lane(usize::from(to.lane_of()[joint]));
        assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6, "{joint} {name}");
        if name == "Hips" {
            let moved = a.translation.distance(from.skeleton().rest(of).translation);
            assert!(moved > 1e-3, "the hips move: {moved}");
            assert!(a.translation.distance(b.translation) < 1e-5, "{joint} {name}");
        }
        seen += 1;
    }
    assert_eq!(seen, 3 * size);
}

/// A scene whose skins list their joints in a random order, without meshes.
fn shuffled(raw: &RawScene, seed: u64) -> RawScene {
    let mut dice = Dice(seed);
    let mut other = raw.clone();
    for node in &mut other.nodes {
        (node.mesh, node.skin) = (None, None);
    }
    for skin in &mut other.skins {
        let mut slots: Vec<(i64, usize)> =
            (0..skin.joints.len()).map(|slot| ((dice.roll() * 1e9) as i64, slot)).collect();
        slots.sort_unstable();
        let old = skin.clone();
        let slots = slots.iter().map(|(_, slot)| *slot);
        skin.joints = slots.clone().map(|slot| old.joints[slot]).collect();
        skin.inverse_bind = slots.map(|slot| old.inverse_bind[slot]).collect();
    }
    other
}

/// The largest distance of a joint, by its node's name, from where the file's clip has it.
fn farthest(raw: &RawScene, number: usize, clip: &Clip, target: &Skeleton) -> f64 {
    let scene = reference::scene(raw);
    let mut most = 0.0f64;
    for step in 0..=16 {
        let time = clip.duration() * (step as f32 / 16.0);
        let there = scene.evaluate(&scene.pose(number, time.into()));
        let here = models(clip, target, time);
        for (n, node) in raw.nodes.iter().enumerate() {
            let name = node.name.as_deref().unwrap_or_default();
            let mut named = (0..target.len()).filter(|j| target.names()[*j] == name);
            let nodes = raw.nodes.iter().filter(|other| other.name == node.name);
            // A mesh may have the name of a joint.
            let (Some(joint), 1) = (named.next(), nodes.count()) else {
                continue;
            };
            let world = DMat4::from_cols_array(&there.world[n].unwrap());
            most = most.max(here[joint].translation.distance(world.w_axis.truncate()));
        }
    }
    most
}

#[test]
fn skins_that_list_joints_in_another_order_are_of_one_skeleton() {
    for name in ["greenman.glb", "robot.glb"] {
        let Some(path) = trials::model(name) else {
            continue;
        };
        let raw = read_path(&path, &ImportOptions::default()).unwrap().0;
        let hero = rig(raw.clone());
        let other = rig(shuffled(&raw, 5));
        assert_ne!(hero.skeleton().names(), other.skeleton().names());
        let binding =
            Binding::new(other.skeleton(), hero.skeleton(), &BindOptions::default()).unwrap();
        let report = binding.report();
        assert_eq!(report.bound.len(), hero.skeleton().len());
        assert_eq!(report.root_scale, 1.0);
        assert!(report.target_left.is_empty() && report.source_left.is_empty());
        for (number, clip) in other.clips().iter().enumerate() {
            let bound = binding.clip(clip).unwrap();
            assert_eq!(bound.translations_left, 0, "{name}");
            let off = farthest(&raw, number, &bound.clip, hero.skeleton());
            assert!(off < 2e-5, "{name}, {}: {off:e}", clip.name());
            // Crowds and mixers lay clips out in the same way.
            let laid = hero.lay_out(clip).unwrap();
            assert!(laid.fits(hero.skeleton()));
            let off = farthest(&raw, number, &laid, hero.skeleton());
            assert!(off < 2e-5, "{name}, {} laid out: {off:e}", clip.name());
        }
    }
}

/// Compares a clip of one skeleton with what became of it on the same joints in another order.
fn compare_by_name(what: &str, (clip, from): (&Clip, &Skeleton), (made, to): (&Clip, &Skeleton)) {
    for step in 0..=20 {
        let time = clip.duration() * (step as f32 / 20.0);
        let there = sample::sample(clip, from, time).unwrap();
        let here = sample::sample(made, to, time).unwrap();
        for (joint, name) in to.names().iter().enumerate() {
            let own = from.joint(name.as_str()).unwrap();
            let a = there.lane(usize::from(from.lane_of()[own])).to_array();
            let b = here.lane(usize::from(to.lane_of()[joint])).to_array();
            let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f32::max);
            assert!(apart < 1e-6, "{what}, {name} at {time}: {a:?}, {b:?}");
        }
    }
}

#[test]
fn clips_of_joints_in_another_order_keep_every_key() {
    let mut raw = body();
    add_clip(&mut raw, 8, Interpolation::CubicSpline, &[0, 5, 7], &[]);
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions {
            joint: Some("Hips".into()),
            ..RootMotionOptions::default()
        }),
        ..BuildOptions::default()
    };
    // The hips come second in one of both.
    raw.nodes[0].parent = Some(13);
    raw.nodes.push(node("Armature", None, [0.0; 3]));
    let mut raw = with_skin(raw);
    let mut other = shuffled(&raw, 3);
    other.nodes.push(node("Prop", None, [0.0; 3]));
    other.skins[0].joints.insert(0, 14);
    let identity = other.skins[0].inverse_bind[0];
    other.skins[0].inverse_bind.push(identity);
    raw.nodes.push(node("Prop", None, [0.0; 3]));
    let mut bare = raw.clone();
    bare.clips.clear();
    let bare = rig(with_skin(bare));
    let hero = rig(with_skin(raw));
    let other = build_rig(other, &options).unwrap();
    let (from, to) = (other.skeleton(), hero.skeleton());
    assert_ne!(from.names(), to.names());
    assert_ne!(from.joint("Hips").unwrap(), to.joint("Hips").unwrap());
    assert_eq!(from.mismatch(to), Some(SkeletonMismatch::JointOrder));
    let clip = &other.clips()[0];
    let laid = hero.lay_out(clip).unwrap();
    compare_by_name("laid out", (clip, from), (&laid, to));
    let joint = usize::from(laid.root_motion().unwrap().parts().joint);
    assert_eq!(to.names()[joint], "Hips");
    // A binding takes it as it takes clips of its source.
    let binding = Binding::new(to, to, &BindOptions::default()).unwrap();
    let bound = binding.clip(clip).unwrap();
    assert!(bound.error.iter().all(|e| *e < 1e-6), "{:?}", bound.error);
    compare_by_name("bound", (clip, from), (&bound.clip, to));
    let joint = usize::from(bound.clip.root_motion().unwrap().parts().joint);
    assert_eq!(to.names()[joint], "Hips");
    let found = binding.measure(clip, &bound.clip, 0.05).unwrap();
    assert!(found < 1e-6, "{found:?}");
    // What became of it has the order of the target.
    let refused = binding.measure(clip, clip, 0.05).unwrap_err().to_string();
    assert!(refused.contains("in another order; `reorder_lanes`"), "{refused}");
    // A rig has more clips in the lane order that it would have of its own.
    let more = with_clips(&bare, vec![clip.as_ref().clone()]).unwrap();
    compare_by_name("with clips", (clip, from), (&more.clips()[0], more.skeleton()));
    let own = with_clips(&bare, vec![bare.lay_out(clip).unwrap().as_ref().clone()]).unwrap();
    assert_eq!(more.skeleton().lane_of(), own.skeleton().lane_of());
}

/// A retargeting to the same body copies keys.
#[test]
fn bodies_with_joints_in_another_order_are_the_same_body() {
    let made = Made::default().with_dance(3, 12).rig();
    let raw = with_skin(raw_joints(&made));
    let (hero, other) = (rig(raw.clone()), rig(shuffled(&raw, 3)));
    let (from, to) = (other.skeleton(), hero.skeleton());
    assert_ne!(from.names(), to.names());
    for clip in other.clips() {
        let made = retarget(&other, &hero, clip, RetargetOptions::default());
        compare_by_name("retargeted", (clip, from), (&made.clip, to));
        let keys = |clip: &Clip| clip.timelines().map(<[f32]>::len).sum::<usize>();
        assert_eq!(keys(&made.clip), keys(clip));
    }
    // A skeleton with another rest pose is another one.
    let mut longer = shuffled(&raw, 3);
    longer.nodes[5].local.translation.x += 0.01;
    let longer = rig(longer);
    let mismatch = longer.skeleton().mismatch(to);
    assert!(matches!(mismatch, Some(SkeletonMismatch::Structure(_))));
}

/// What is measured is the distance to the file's motion, not to what binding made of it.
#[test]
fn bound_clips_are_measured_against_the_file() {
    const SHELL: f32 = 0.05;
    let mut source = body();
    add_clip(&mut source, 7, Interpolation::CubicSpline, &[0, 5], &[]);
    add_clip(&mut source, 9, Interpolation::Linear, &[0], &[]);
    let mut more = body();
    more.nodes.push(node("Tail", Some(0), [0.0; 3]));
    let (from, to) = (rig(source.clone()), rig(with_skin(more)));
    let binding = Binding::new(from.skeleton(), to.skeleton(), &BindOptions::default()).unwrap();
    let clips = from.clips().iter();
    let clips: Vec<Clip> = clips.map(|clip| binding.clip(clip).unwrap().clip).collect();
    let scene = reference::scene(&source);
    let worlds = |number: usize, time: f64| {
        let all = scene.evaluate(&scene.pose(number, time)).world;
        let all = all.into_iter().flatten();
        all.map(|m| DMat4::from_cols_array(&m)).collect::<Vec<_>>()
    };
    for (a, b) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        let found = binding.measure(&from.clips()[a], &clips[b], SHELL).unwrap();
        let mut most = 0.0f64;
        // The keys are at twelfths, where distances peak.
        for step in 0..=1200 {
            let time = f64::from(from.clips()[a].duration()) * f64::from(step) / 1200.0;
            for (here, there) in worlds(a, time).iter().zip(worlds(b, time)) {
                for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ZERO] {
                    let point = axis * f64::from(SHELL);
                    let apart = here.transform_point3(point);
                    most = most.max(apart.distance(there.transform_point3(point)));
                }
            }
        }
        if a == b {
            assert!(found < 2e-5, "{found:?}");
        } else {
            let share = found / most;
            assert!((0.97..1.001).contains(&share), "{found:?}, not {most}");
        }
    }
    // A clip of another skeleton is refused.
    assert!(binding.measure(&clips[0], &clips[0], SHELL).is_err());
}

/// Twins have one name, one parent and one place; what is below them stays below its own.
#[test]
fn twins_in_another_order_keep_what_is_below_them() {
    let twins = |order: [usize; 5]| {
        let of = [
            ("root", None, 0.0),
            ("twin", Some(0), 1.0),
            ("twin", Some(0), 1.0),
            ("left", Some(1), 1.0),
            ("right", Some(2), 1.0),
        ];
        let place = |n: usize| order.iter().position(|o| *o == n).unwrap();
        let joints: Vec<Joint> = order
            .iter()
            .map(|n| Joint {
                name: of[*n].0.into(),
                parent: of[*n].1.map(place),
                rest: Trs { translation: [of[*n].2, 0.0, 0.0].into(), ..Trs::IDENTITY },
            })
            .collect();
        Skeleton::new(&joints, None, Vec::new()).unwrap()
    };
    let (a, b) = (twins([0, 1, 2, 3, 4]), twins([0, 2, 1, 4, 3]));
    let binding = Binding::new(&a, &b, &BindOptions::default()).unwrap();
    for &(source, target) in &binding.report().bound {
        let above = |s: &Skeleton, j: u16| s.parents()[usize::from(j)];
        let pair = binding.report().bound.iter().find(|p| p.1 == above(&b, target));
        assert_eq!(pair.map(|p| p.0), (source != 0).then(|| above(&a, source)));
    }
}

/// Of joints that share a block, the clip moves one alone.
#[test]
fn joints_without_translations_keep_the_rest_of_the_target() {
    let mut source = body();
    add_clip(&mut source, 3, Interpolation::Linear, &[0, 5], &[]);
    let mut longer = body();
    for node in longer.nodes.iter_mut().skip(1) {
        node.local.translation *= 1.5;
    }
    let (from, to) = (rig(source), rig(longer));
    for translations in [
        TranslationMode::Animation,
        TranslationMode::AnimationScaled,
        TranslationMode::AnimationRelative,
        TranslationMode::SameOffset,
    ] {
        let options = BindOptions { translations, ..BindOptions::default() };
        let (bound, _) = bind(&from.clips()[0], to.skeleton(), &options).unwrap();
        let pose = sample::sample(&bound.clip, to.skeleton(), 0.4).unwrap();
        for (joint, name) in to.skeleton().names().iter().enumerate() {
            let place = pose.lane(usize::from(to.skeleton().lane_of()[joint])).translation;
            if !["Hips", "LeftArm"].contains(&name.as_str()) {
                assert_eq!(
                    place,
                    to.skeleton().rest(joint).translation,
                    "{translations:?}: {name}"
                );
            }
        }
    }
}

#[test]
fn translations_are_kept_where_offsets_are_the_same() {
    let mut source = body();
    add_clip(&mut source, 4, Interpolation::CubicSpline, &[0, 5, 7], &[]);
    let mut other = body();
    // One arm is longer, and a tail makes another skeleton.
    other.nodes[7].local.translation.x *= 2.0;
    other.nodes.push(node("Tail", Some(0), [0.0, 0.1, 0.0]));
    let (from, to) = (rig(source.clone()), rig(with_skin(other)));
    let (bound, _) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
    assert_eq!(bound.translations_left, 1);
    let scene = reference::scene(&source);
    for step in 0..=20 {
        let time = step as f32 / 20.0;
        let file = scene.pose(0, time.into());
        let pose = sample::sample(&bound.clip, to.skeleton(), time).unwrap();
        let place = |name: &str| {
            let joint = to.skeleton().joint(name).unwrap();
            let lane = to.skeleton().lane_of()[joint];
            (pose.lane(usize::from(lane)).translation.as_dvec3(), joint)
        };
        let (arm, _) = place("LeftArm");
        assert!(arm.distance(DVec3::from_array(file[5].t)) < 1e-6);
        let (longer, joint) = place("RightArm");
        assert_eq!(longer, to.skeleton().rest(joint).translation.as_dvec3());
    }
}

#[test]
fn skeletons_without_names_are_bound_by_index_where_hierarchies_are_equal() {
    let mut source = body();
    add_clip(&mut source, 6, Interpolation::Linear, &[0], &[]);
    let mut nameless = body();
    nameless.nodes.iter_mut().for_each(|n| n.name = None);
    nameless.nodes[5].local.translation.x += 0.1;
    let (from, to) = (rig(source.clone()), rig(nameless.clone()));
    let (bound, report) = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
    assert_eq!(report.by_index, BODY.len());
    let scene = reference::scene(&source);
    for step in 0..=20 {
        let time = step as f32 / 20.0;
        let there = scene.evaluate(&scene.pose(0, time.into()));
        for (joint, here) in models(&bound.clip, to.skeleton(), time).iter().enumerate() {
            let world = DMat4::from_cols_array(&there.world[joint].unwrap());
            let (a, b) = (turn(&DAffine3::from_mat4(world)), turn(here));
            assert!(a.angle_between(b).min(a.angle_between(-b)) < 1e-5);
        }
    }
    // Of another hierarchy nothing is known.
    nameless.nodes[12].parent = Some(0);
    let to = rig(nameless);
    let refused = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no joint can be bound: the target has no names (13 joints in the clips' skeleton, 13 joints in the target), and \
         without names joints are bound by index, which needs equal hierarchies: joint 12 has another joint above it"
    );
}

/// A clip of morph weights alone: its file has no joints.
#[test]
fn clips_of_morph_weights_alone_are_bound_by_name_or_index() {
    let face = |name: &str, count: usize| RawNode {
        weights: vec![0.0; count],
        ..node(name, None, [0.0; 3])
    };
    let clip = |name: &str, faces: usize| {
        let keys = |node: usize| RawTrack {
            node,
            channel: RawChannel::Weights,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, 0.0, 0.5, 1.0],
        };
        rig(RawScene {
            nodes: vec![face(name, 2); faces],
            clips: vec![RawClip {
                duration: 1.0,
                tracks: (0..faces).map(keys).collect(),
                ..RawClip::default()
            }],
            ..RawScene::default()
        })
    };
    let hero = |name: &str, count: usize| {
        let mut raw = body();
        raw.nodes.push(RawNode { weights: vec![0.0; count], ..node(name, Some(4), [0.0; 3]) });
        rig(raw)
    };
    for (source, target, index) in [
        ("Face", "rig:Face", false),
        ("Head_mesh", "Face", true),
        ("", "Face", true),
        ("", "", false),
    ] {
        let (from, to) = (clip(source, 1), hero(target, 2));
        let (bound, report) =
            bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap();
        assert_eq!(report.scalars_by_index, index);
        let pose = sample::sample(&bound.clip, to.skeleton(), 1.0).unwrap();
        assert_eq!([pose.scalar(0), pose.scalar(1)], [0.5, 1.0]);
        assert_eq!(
            to.skeleton().rest(3).translation,
            pose.lane(usize::from(to.skeleton().lane_of()[3])).translation
        );
    }
    // Two nodes without names are not told apart.
    let mut two = body();
    for count in [2, 3] {
        two.nodes.push(RawNode { weights: vec![0.0; count], ..node("", Some(4), [0.0; 3]) });
    }
    let two = rig(two);
    let refused = bind(&clip("", 1).clips()[0], two.skeleton(), &BindOptions::default());
    assert!(refused.unwrap_err().to_string().contains("by index"));
    // Of as many weights only, and of one node.
    for (faces, count) in [(1, 3), (2, 2)] {
        let (from, to) = (clip("Head_mesh", faces), hero("Face", count));
        let refused = bind(&from.clips()[0], to.skeleton(), &BindOptions::default()).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("\"Head_mesh.weights[0]\"") && text.contains("by index"), "{text}");
    }
}
