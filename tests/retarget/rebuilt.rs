//! Wherever keys are rebuilt, the curves between them stay: random cubics, arcs and steps with key times of their own,
//! against the tracks evaluated here in f64, by the formulas of appendix C of glTF 2.0.

use super::support::{Made, Random, retarget};
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};
use phalanx::build::{
    AdditiveReference, BuildOptions, RootMotionOptions, build_additive, build_rig, raw_joints,
    with_clips,
};
use phalanx::clip::{BlockKind, Channel, Clip, reorder_lanes};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::retarget::{BindOptions, Binding, RetargetOptions, TranslationMode};
use phalanx::rig::Rig;
use phalanx::skeleton::{ChannelValue, Skeleton, Trs, UserChannel};
use phalanx_testkit::sample::sample;
use proptest::prelude::*;

const JOINTS: usize = 21;
const END: f32 = 2.0;

/// A track's value at a time, and its length where it is a rotation: a spline that comes near 0 has no direction that
/// f32 could follow.
fn value(track: &RawTrack, time: f64) -> (Vec<f64>, f64) {
    let cubic = track.interpolation == Interpolation::CubicSpline;
    let parts = if cubic { 3 } else { 1 };
    let width = match track.channel {
        RawChannel::Rotation => 4,
        RawChannel::Weights => track.values.len() / (track.times.len() * parts),
        _ => 3,
    };
    let part = |key: usize, part: usize| -> Vec<f64> {
        let from = (key * parts + part) * width;
        let of = track.values[from..from + width].iter();
        of.map(|v| f64::from(*v)).collect()
    };
    let key = |k: usize| part(k, if cubic { 1 } else { 0 });
    let times: Vec<f64> = track.times.iter().map(|t| f64::from(*t)).collect();
    let next = times.partition_point(|t| *t <= time);
    let mut value = if next == 0 || next == times.len() {
        key(next.saturating_sub(1))
    } else {
        let (k, h) = (next - 1, times[next] - times[next - 1]);
        let u = (time - times[k]) / h;
        let (a, b) = (key(k), key(next));
        let weights = match track.interpolation {
            Interpolation::Step => [1.0, 0.0, 0.0, 0.0],
            Interpolation::Linear => {
                let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
                let theta = dot.abs().min(1.0).acos();
                let (from, to, sign) = match track.channel == RawChannel::Rotation {
                    true if theta > 1e-6 => {
                        let share = |u: f64| (u * theta).sin() / theta.sin();
                        (share(1.0 - u), share(u), dot.signum())
                    }
                    // So near to each other, f32 keys may be longer than 1.
                    true => (1.0 - u, u, dot.signum()),
                    false => (1.0 - u, u, 1.0),
                };
                [from, to * sign, 0.0, 0.0]
            }
            Interpolation::CubicSpline => [
                2.0 * u * u * u - 3.0 * u * u + 1.0,
                3.0 * u * u - 2.0 * u * u * u,
                h * (u * u * u - 2.0 * u * u + u),
                h * (u * u * u - u * u),
            ],
        };
        let (m, n) = match cubic {
            true => (part(k, 2), part(next, 0)),
            false => (a.clone(), b.clone()),
        };
        (0..width)
            .map(|c| weights[0] * a[c] + weights[1] * b[c] + weights[2] * m[c] + weights[3] * n[c])
            .collect()
    };
    let length = match track.channel {
        RawChannel::Rotation => value.iter().map(|v| v * v).sum::<f64>().sqrt(),
        _ => 1.0,
    };
    value.iter_mut().for_each(|v| *v /= length);
    (value, length)
}

/// Key times of their own: from 2 to 6, the first not always at 0.
fn times(random: &mut Random) -> Vec<f32> {
    let keys = 2 + (2.5 * (random.next() + 1.0)) as usize;
    let mut times: Vec<f32> =
        (0..keys).map(|_| (f64::from(END) * 0.5 * (random.next() + 1.0)) as f32).collect();
    times.sort_by(f32::total_cmp);
    times.dedup_by(|b, a| *b - *a < 0.02);
    if times.len() == 1 {
        // A clip ends at END.
        let by = if times[0] < 1.0 { 0.5 } else { -0.5 };
        times.push(times[0] + by);
        times.sort_by(f32::total_cmp);
    }
    times
}

fn interpolation(random: &mut Random) -> Interpolation {
    match random.next() {
        r if r < 0.2 => Interpolation::CubicSpline,
        r if r < 0.7 => Interpolation::Linear,
        _ => Interpolation::Step,
    }
}

fn f32s(values: impl IntoIterator<Item = f64>) -> Vec<f32> {
    values.into_iter().map(|v| v as f32).collect()
}

/// A track of rotations around `rest`. Splines turn by less than half a turn between keys, arcs by up to half of one;
/// keys may be of either sign.
fn turns(random: &mut Random, node: usize, rest: DQuat, times: Vec<f32>) -> RawTrack {
    let interpolation = interpolation(random);
    let mut values = Vec::new();
    let mut at = rest;
    for _ in &times {
        let most = match interpolation {
            Interpolation::CubicSpline => 1.2,
            _ => 3.1,
        };
        at = (at * random.turn(most)).normalize();
        let mut key = at.to_array();
        let mut tangent = |values: &mut Vec<f32>| {
            values.extend(f32s([(); 4].map(|()| 1.5 * random.next())));
        };
        match interpolation {
            Interpolation::CubicSpline => {
                tangent(&mut values);
                values.extend(f32s(key));
                tangent(&mut values);
            }
            _ => {
                if random.next() < 0.0 {
                    key = key.map(|v| -v);
                }
                values.extend(f32s(key));
            }
        }
    }
    RawTrack { node, channel: RawChannel::Rotation, interpolation, times, values }
}

/// A track of vectors around `rest`.
fn vectors(random: &mut Random, node: usize, channel: RawChannel, rest: DVec3) -> RawTrack {
    let (interpolation, times) = (interpolation(random), times(random));
    let parts = match interpolation {
        Interpolation::CubicSpline => 3,
        _ => 1,
    };
    let mut values = Vec::new();
    for _ in &times {
        for part in 0..parts {
            let base = if parts == 1 || part == 1 { rest } else { DVec3::ZERO };
            let near = |v: f64, random: &mut Random| v + 0.2 * random.next();
            values.extend(f32s(base.to_array().map(|v| near(v, random))));
        }
    }
    RawTrack { node, channel, interpolation, times, values }
}

/// A body of random joints, with one clip in which most of them move, each in its own way.
fn scene(seed: u64) -> RawScene {
    let mut random = Random(seed);
    let nodes = (0..JOINTS).map(|j| RawNode {
        source: j,
        name: Some(format!("joint {j}")),
        parent: j.checked_sub(1).map(|p| p - p.min((2.0 * (random.next() + 1.0)) as usize)),
        local: Trs {
            translation: Vec3::from_array([0.3, 0.5, 0.1].map(|v: f64| (v * random.next()) as f32)),
            rotation: Quat::from_array(random.turn(3.0).to_array().map(|v| v as f32)).normalize(),
            scale: Vec3::ONE,
        },
        ..RawNode::default()
    });
    let nodes: Vec<RawNode> = nodes.collect();
    let mut tracks = Vec::new();
    for (j, node) in nodes.iter().enumerate() {
        // Some share their times.
        let of = match j % 3 {
            0 => vec![0.0, 0.5, 1.25, END],
            _ => times(&mut random),
        };
        if j % 7 != 6 {
            tracks.push(turns(&mut random, j, node.local.rotation.as_dquat(), of));
        }
        if j % 4 == 1 {
            let rest = node.local.translation.as_dvec3();
            tracks.push(vectors(&mut random, j, RawChannel::Translation, rest));
        }
        if j % 6 == 2 {
            tracks.push(vectors(&mut random, j, RawChannel::Scale, DVec3::ONE));
        }
    }
    RawScene {
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: vec![glam::Mat4::IDENTITY.to_cols_array(); JOINTS],
        }],
        clips: vec![RawClip {
            name: Some("all".into()),
            duration: END,
            tracks,
            ..RawClip::default()
        }],
        nodes,
        ..RawScene::default()
    }
}

fn built(raw: RawScene) -> Rig {
    build_rig(raw, &BuildOptions::default()).unwrap()
}

/// The times at which curves are compared: many between the keys, which fall anywhere.
fn probes() -> impl Iterator<Item = f32> {
    (0..=160).map(|i| END * (i as f32 / 160.0))
}

/// What is expected of a joint's property: its value in f64, and the length that the spline has there.
type Expected<'a> = dyn Fn(&str, RawChannel, f64) -> Option<(Vec<f64>, f64)> + 'a;

/// The most that f32 and the runtime's own interpolation of arcs make of rotations, radians, of a spline of length 1,
/// and of other numbers.
const ROTATION: f64 = 4e-5;
const NUMBER: f64 = 4e-6;

/// Compares a clip with what is expected of it.
fn compare(what: &str, clip: &Clip, skeleton: &Skeleton, expected: &Expected<'_>) {
    for time in probes() {
        let pose = sample(clip, skeleton, time).unwrap();
        for (joint, name) in skeleton.names().iter().enumerate() {
            let trs = pose.lane(usize::from(skeleton.lane_of()[joint]));
            for channel in [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale] {
                let Some((value, length)) = expected(name, channel, time.into()) else {
                    continue;
                };
                let apart = match channel {
                    RawChannel::Rotation => {
                        if length < 0.2 {
                            continue;
                        }
                        let a = DQuat::from_slice(&value);
                        super::support::angle(a, trs.rotation.as_dquat().normalize()) * length
                    }
                    RawChannel::Translation => {
                        trs.translation.as_dvec3().distance(DVec3::from_slice(&value))
                    }
                    _ => trs.scale.as_dvec3().distance(DVec3::from_slice(&value)),
                };
                let most = match channel {
                    RawChannel::Rotation => ROTATION,
                    _ => NUMBER,
                };
                assert!(apart <= most, "{what}: {name}, {channel} at {time} s is {apart:e} off");
            }
        }
    }
}

/// The scene's own tracks; the rest pose where there is none.
fn of_scene(raw: &RawScene) -> impl Fn(&str, RawChannel, f64) -> Option<(Vec<f64>, f64)> + '_ {
    move |name, channel, time| {
        let node = raw.nodes.iter().position(|n| n.name.as_deref() == Some(name))?;
        let mut tracks = raw.clips[0].tracks.iter();
        let track = tracks.find(|t| t.node == node && t.channel == channel);
        let rest = raw.nodes[node].local;
        Some(match (track, channel) {
            (Some(track), _) => value(track, time),
            (None, RawChannel::Rotation) => (rest.rotation.to_array().map(f64::from).to_vec(), 1.0),
            (None, RawChannel::Translation) => {
                (rest.translation.to_array().map(f64::from).to_vec(), 1.0)
            }
            (None, _) => (rest.scale.to_array().map(f64::from).to_vec(), 1.0),
        })
    }
}

/// A random order of the joints.
fn order(seed: u64) -> Vec<u16> {
    let mut random = Random(seed ^ 0x5555);
    let mut order: Vec<(u64, u16)> =
        (0..JOINTS as u16).map(|j| ((random.next() * 1e9) as i64 as u64, j)).collect();
    order.sort_unstable();
    order.into_iter().map(|o| o.1).collect()
}

fn bound(from: &Clip, to: &Skeleton, translations: TranslationMode) -> Clip {
    let options = BindOptions { translations, root_scale: Some(1.0) };
    let binding = Binding::new(from.skeleton(), to, &options).unwrap();
    let bound = binding.clip(from).unwrap();
    let [rotation, translation, scale] = bound.error;
    assert!(rotation < 2e-5 && translation < 2e-6 && scale < 2e-6, "{:?}", bound.error);
    bound.clip
}

/// Gives a scene morph weights and a user channel, with tracks of their own.
fn add_scalars(raw: &mut RawScene, seed: u64) {
    let mut random = Random(seed ^ 0x1234);
    let three = |random: &mut Random| {
        let track = vectors(random, 4, RawChannel::Weights, DVec3::ZERO);
        (track.interpolation, track.times, track.values)
    };
    let (interpolation, times, values) = three(&mut random);
    raw.nodes[4].weights = vec![0.0; 3];
    raw.clips[0].tracks.push(RawTrack {
        node: 4,
        channel: RawChannel::Weights,
        interpolation,
        times,
        values,
    });
    let (interpolation, times, values) = three(&mut random);
    let (node, channel) = (raw.channels.len(), RawChannel::Weights);
    raw.channels.push(UserChannel { name: "grip".into(), rest: ChannelValue::Vec3([0.0; 3]) });
    raw.clips[0].user_tracks.push(RawTrack { node, channel, interpolation, times, values });
}

/// Compares the scalars of a clip with the tracks of [`add_scalars`].
fn compare_scalars(what: &str, clip: &Clip, skeleton: &Skeleton, raw: &RawScene) {
    let channel = &raw.clips[0].user_tracks[0];
    let grip = RawTrack {
        node: 4,
        channel: RawChannel::Translation,
        interpolation: channel.interpolation,
        times: channel.times.clone(),
        values: channel.values.clone(),
    };
    let weights = raw.clips[0].tracks.iter();
    let mut weights = weights.filter(|t| t.channel == RawChannel::Weights);
    let weights = weights.next().unwrap();
    let scalars = skeleton.scalars();
    assert_eq!(scalars.len(), 6, "{what}");
    for time in probes() {
        let pose = sample(clip, skeleton, time).unwrap();
        for (k, scalar) in scalars.iter().enumerate() {
            let track = match scalar.name.starts_with("grip") {
                true => &grip,
                false => weights,
            };
            let (expected, _) = value(track, time.into());
            let apart = (f64::from(pose.scalar(k)) - expected[k % 3]).abs();
            let name = &scalar.name;
            assert!(apart <= NUMBER, "{what}: {name} at {time} s is {apart:e} off");
        }
    }
}

/// A body with one joint more, which makes another skeleton, without clips.
fn with_hat(raw: &RawScene) -> Rig {
    let mut onto = raw.clone();
    onto.clips.clear();
    onto.nodes.push(RawNode { name: Some("hat".into()), parent: Some(3), ..RawNode::default() });
    onto.skins[0].joints.push(JOINTS);
    onto.skins[0].inverse_bind.push(glam::Mat4::IDENTITY.to_cols_array());
    built(onto)
}

/// The Hermite fit of an arc in a block of splines, and the rounding of its keys to f32: of quaternions, as distances.
const ARC: f64 = 3e-6;
const KEYS: f64 = 4e-7;

#[test]
fn great_arcs_beside_splines_stay_within_their_bound() {
    let mut worst = 0.0f64;
    for seed in 0..60 {
        let mut random = Random(seed);
        let unit = |random: &mut Random| {
            let q = [(); 4].map(|()| random.next());
            DQuat::from_array(q).normalize().to_array()
        };
        let keys: Vec<[f64; 4]> = (0..4).map(|_| unit(&mut random)).collect();
        let track = |node, interpolation, times: Vec<f32>, values| RawTrack {
            node,
            channel: RawChannel::Rotation,
            interpolation,
            times,
            values,
        };
        let spline = (0..3).flat_map(|k| {
            let key = DQuat::from_rotation_x(0.3 * f64::from(k)).to_array();
            [[0.0; 4], key, [0.0; 4]]
        });
        let spline: Vec<f64> = spline.flatten().collect();
        let arcs = track(
            1,
            Interpolation::Linear,
            vec![0.0, 0.4, 1.3, END],
            f32s(keys.into_iter().flatten()),
        );
        let mut raw = scene(1);
        raw.clips[0].tracks = vec![
            track(0, Interpolation::CubicSpline, vec![0.0, 0.7, END], f32s(spline)),
            arcs.clone(),
        ];
        let rig = built(raw.clone());
        let onto = with_hat(&raw);
        let (first, second) = (
            rig.clips()[0].as_ref().clone(),
            bound(&rig.clips()[0], onto.skeleton(), TranslationMode::SameOffset),
        );
        for (clip, skeleton) in [(&first, rig.skeleton()), (&second, onto.skeleton())] {
            let joint = skeleton.joint("joint 1").unwrap();
            let block = usize::from(skeleton.lane_of()[joint]) / 16;
            let blocks = clip.blocks(Channel::Rotation).iter();
            let mut own = blocks.filter(|b| usize::from(b.block) == block);
            assert_eq!(own.next().unwrap().kind, BlockKind::Cubic);
            for time in probes() {
                let pose = sample(clip, skeleton, time).unwrap();
                let is = pose.lane(usize::from(skeleton.lane_of()[joint])).rotation;
                let is = is.as_dquat().normalize().to_array();
                let (expected, _) = value(&arcs, time.into());
                let far = |sign: f64| {
                    let squares = is.iter().zip(&expected).map(|(a, b)| (a - sign * b).powi(2));
                    squares.sum::<f64>().sqrt()
                };
                worst = worst.max(far(1.0).min(far(-1.0)));
            }
        }
    }
    assert!(worst <= ARC + KEYS, "{worst:e}");
}

/// The joint whose motion is taken out.
const ROOT: &str = "joint 1";

/// How far root motion on top of the pose may be from the file, as a share of the model's size and in radians.
const COMPOSED: f64 = 1e-3;

/// The diagonal of the box around all nodes at rest.
fn size(nodes: &[RawNode]) -> f64 {
    let mut all: Vec<DAffine3> = Vec::new();
    for node in nodes {
        let local = &node.local;
        let own = DAffine3::from_rotation_translation(
            local.rotation.as_dquat(),
            local.translation.as_dvec3(),
        );
        all.push(node.parent.map_or(DAffine3::IDENTITY, |p| all[p]) * own);
    }
    let places = all.iter().map(|m| m.translation);
    let low = places.clone().fold(DVec3::INFINITY, DVec3::min);
    places.fold(DVec3::NEG_INFINITY, DVec3::max).distance(low)
}

/// A place and a rotation below a still joint, in model space.
fn in_model(above: &Trs, place: DVec3, turn: DQuat) -> (DVec3, DQuat) {
    let rotation = above.rotation.as_dquat().normalize();
    (above.translation.as_dvec3() + rotation * place, rotation * turn)
}

/// The largest distance of points around joints between two clips of the same nodes, at many times.
fn farthest(clips: [&RawClip; 2], nodes: &[RawNode], shell: f64) -> f64 {
    let mut most = 0.0f64;
    for step in 0..=2000 {
        let time = f64::from(END) * f64::from(step) / 2000.0;
        let worlds = clips.map(|clip| {
            let mut all: Vec<DAffine3> = Vec::new();
            for (n, node) in nodes.iter().enumerate() {
                let of = |channel: RawChannel| {
                    let mut tracks = clip.tracks.iter();
                    let track = tracks.find(|t| t.node == n && t.channel == channel)?;
                    Some(value(track, time).0)
                };
                let local = &node.local;
                let three = |v: Vec<f64>| DVec3::from_slice(&v);
                let own = DAffine3::from_scale_rotation_translation(
                    of(RawChannel::Scale).map_or(local.scale.as_dvec3(), three),
                    of(RawChannel::Rotation)
                        .map_or(local.rotation.as_dquat(), |v| DQuat::from_slice(&v).normalize()),
                    of(RawChannel::Translation).map_or(local.translation.as_dvec3(), three),
                );
                let above = node.parent.map_or(DAffine3::IDENTITY, |p| all[p]);
                all.push(above * own);
            }
            all
        });
        for (a, b) in worlds[0].iter().zip(&worlds[1]) {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ZERO] {
                let point = axis * shell;
                most = most.max(a.transform_point3(point).distance(b.transform_point3(point)));
            }
        }
    }
    most
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Laid out, added to a rig, bound again and again, and taken apart and built anew, a clip is what it was.
    #[test]
    fn rebuilt_clips_follow_the_curves_of_the_file(seed in any::<u64>()) {
        let mut raw = scene(seed);
        add_scalars(&mut raw, seed);
        let raw = raw;
        let expected = of_scene(&raw);
        let rig = built(raw.clone());
        let clip = &rig.clips()[0];
        compare("built", clip, rig.skeleton(), &expected);
        compare_scalars("built", clip, rig.skeleton(), &raw);

        let other = rig.skeleton().in_lane_order(&order(seed)).unwrap();
        let laid = reorder_lanes(clip, &other, clip.reorder_limit()).unwrap();
        compare("laid out", &laid, &other, &expected);
        compare_scalars("laid out", &laid, &other, &raw);
        let back = reorder_lanes(&laid, rig.skeleton(), laid.reorder_limit()).unwrap();
        compare("laid out and back", &back, rig.skeleton(), &expected);

        // Another clip gives the rig another lane order.
        let mut two = raw.clone();
        two.clips[0].tracks.retain(|t| t.node % 2 == 0);
        let more = built(two);
        let alone = reorder_lanes(clip, more.skeleton(), clip.reorder_limit()).unwrap();
        let more = with_clips(&more, vec![alone]).unwrap();
        compare("with clips", &more.clips()[1], more.skeleton(), &expected);

        let anew = built(raw_joints(&rig));
        compare("built anew", &anew.clips()[0], anew.skeleton(), &expected);

        let onto = with_hat(&raw);
        for mode in [TranslationMode::SameOffset, TranslationMode::Animation] {
            let once = bound(&laid, onto.skeleton(), mode);
            compare("bound", &once, onto.skeleton(), &expected);
            compare_scalars("bound", &once, onto.skeleton(), &raw);
            let twice = bound(&once, rig.skeleton(), mode);
            compare("bound back", &twice, rig.skeleton(), &expected);
        }

        let options = BuildOptions {
            root_motion: Some(RootMotionOptions { joint: Some("joint 1".into()), ..RootMotionOptions::default() }),
            ..BuildOptions::default()
        };
        let mut still = raw.clone();
        still.clips[0].tracks.retain(|t| t.node > 0);
        let of_still = of_scene(&still);
        let moved = build_rig(still.clone(), &options).unwrap();
        let all_but_the_root = |name: &str, channel: RawChannel, time: f64| {
            let taken = name == "joint 1" && channel == RawChannel::Translation;
            of_still(name, channel, time).filter(|_| !taken)
        };
        let clip = &moved.clips()[0];
        compare("without root motion", clip, moved.skeleton(), &all_but_the_root);
        let once = bound(clip, onto.skeleton(), TranslationMode::SameOffset);
        compare("bound without root motion", &once, onto.skeleton(), &all_but_the_root);
    }

    /// The motion of the root on top of its pose is the motion of the file, up to the sampling of turns.
    #[test]
    fn root_motion_on_top_of_the_pose_follows_the_file(seed in any::<u64>()) {
        let mut raw = scene(seed);
        // Nothing above the root moves.
        raw.clips[0].tracks.retain(|t| t.node > 0);
        let of_file = of_scene(&raw);
        let onto = with_hat(&raw);
        let above = raw.nodes[0].local;
        let size = size(&raw.nodes).max(1.0);
        for rotation in [false, true] {
            let options = BuildOptions {
                root_motion: Some(RootMotionOptions {
                    joint: Some(ROOT.into()),
                    rotation,
                    ..RootMotionOptions::default()
                }),
                ..BuildOptions::default()
            };
            let rig = build_rig(raw.clone(), &options).unwrap();
            let clip = &rig.clips()[0];
            let other = rig.skeleton().in_lane_order(&order(seed)).unwrap();
            let laid = reorder_lanes(clip, &other, clip.reorder_limit()).unwrap();
            let once = bound(clip, onto.skeleton(), TranslationMode::SameOffset);
            for (what, clip, skeleton) in [
                ("built", clip.as_ref(), rig.skeleton().as_ref()),
                ("laid out", &laid, &other),
                ("bound", &once, onto.skeleton().as_ref()),
            ] {
                for time in probes() {
                    let (place, _) = of_file(ROOT, RawChannel::Translation, time.into()).unwrap();
                    let (turn, length) = of_file(ROOT, RawChannel::Rotation, time.into()).unwrap();
                    if length < 0.2 {
                        continue;
                    }
                    let (there, turns) = in_model(&above, DVec3::from_slice(&place), DQuat::from_slice(&turn));
                    let pose = sample(clip, skeleton, time).unwrap();
                    let joint = skeleton.joint(ROOT).unwrap();
                    let own = pose.lane(usize::from(skeleton.lane_of()[joint]));
                    let own = in_model(&above, own.translation.as_dvec3(), own.rotation.as_dquat().normalize());
                    let motion = clip.root_motion().unwrap().at(time.into());
                    let apart = there.distance(motion.translation + motion.rotation * own.0);
                    let turned = super::support::angle(turns, motion.rotation * own.1) * length;
                    assert!(
                        apart <= COMPOSED * size && turned <= COMPOSED,
                        "{what}, with turns: {rotation}: at {time} s {apart:e} m, {turned:e} rad off"
                    );
                }
            }
            // All other joints are as in the file.
            let others = |name: &str, channel: RawChannel, time: f64| {
                of_file(name, channel, time).filter(|_| name != ROOT || channel == RawChannel::Scale)
            };
            compare("beside root motion", clip, rig.skeleton(), &others);
            compare("bound beside root motion", &once, onto.skeleton(), &others);
        }
    }

    /// Clips of no length are a pose.
    #[test]
    fn clips_of_no_length_are_the_pose_of_the_file(seed in any::<u64>()) {
        let mut raw = scene(seed);
        add_scalars(&mut raw, seed);
        let clip = &mut raw.clips[0];
        clip.duration = 0.0;
        let first = |times: &mut Vec<f32>, values: &mut Vec<f32>| {
            values.truncate(values.len() / times.len());
            *times = vec![0.0];
        };
        clip.tracks.iter_mut().for_each(|t| first(&mut t.times, &mut t.values));
        let grip = &mut raw.clips[0].user_tracks[0];
        first(&mut grip.times, &mut grip.values);
        let expected = of_scene(&raw);
        let rig = built(raw.clone());
        let clip = &rig.clips()[0];
        compare("built", clip, rig.skeleton(), &expected);
        let other = rig.skeleton().in_lane_order(&order(seed)).unwrap();
        let laid = reorder_lanes(clip, &other, clip.reorder_limit()).unwrap();
        compare("laid out", &laid, &other, &expected);
        let onto = with_hat(&raw);
        let once = bound(&laid, onto.skeleton(), TranslationMode::SameOffset);
        compare("bound", &once, onto.skeleton(), &expected);
        compare_scalars("bound", &once, onto.skeleton(), &raw);
        assert_eq!(once.duration(), 0.0);
        let options = BindOptions { root_scale: Some(1.0), ..BindOptions::default() };
        let binding = Binding::new(&other, onto.skeleton(), &options).unwrap();
        let found = binding.measure(&laid, &once, 0.05).unwrap();
        assert!(found < 2e-5, "{found:?}");
    }

    /// The distance between differences on top of the rest pose is that of the files' clips.
    #[test]
    fn additive_clips_are_measured_against_the_file(seed in any::<u64>()) {
        const SHELL: f64 = 0.05;
        let raw = scene(seed);
        let mut two = raw.clone();
        two.clips.extend(scene(seed ^ 0x7777).clips);
        let rig = built(two.clone());
        let onto = with_hat(&raw);
        let options = BindOptions { root_scale: Some(1.0), ..BindOptions::default() };
        let binding = Binding::new(rig.skeleton(), onto.skeleton(), &options).unwrap();
        let added = [0, 1].map(|c| build_additive(&rig, c, AdditiveReference::Rest).unwrap());
        let bound = [0, 1].map(|c| binding.clip(&added[c]).unwrap().clip);
        for (from, to) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
            let found = binding.measure(&added[from], &bound[to], SHELL as f32).unwrap();
            let most = farthest([&two.clips[from], &two.clips[to]], &raw.nodes, SHELL);
            match from == to {
                true => assert!(found < 1e-4, "{found:?}"),
                false => {
                    let share = found / most;
                    assert!((0.95..1.05).contains(&share), "{found:?}, not {most}");
                }
            }
        }
    }

    /// A joint that the target lacks stands still: the keys of those below are multiplied with a constant.
    #[test]
    fn keys_that_are_folded_follow_the_curves_of_the_file(seed in any::<u64>()) {
        let mut raw = scene(seed);
        // Joint 6 has no rotation track; a constant is no rest.
        let mut random = Random(seed ^ 1);
        raw.clips[0].tracks.retain(|t| t.node != 6);
        let turned = random.turn(3.0);
        raw.clips[0].tracks.push(RawTrack {
            node: 6,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: vec![0.0],
            values: f32s(turned.to_array()),
        });
        let rig = built(raw.clone());
        let mut onto = raw.clone();
        onto.clips.clear();
        let above = onto.nodes[6].parent;
        for node in &mut onto.nodes {
            if node.parent == Some(6) {
                node.parent = above;
            }
        }
        onto.nodes[6].parent = None;
        onto.nodes[6].name = Some("none".into());
        let onto = built(onto);
        let clip = bound(&rig.clips()[0], onto.skeleton(), TranslationMode::SameOffset);
        let own = of_scene(&raw);
        let expected = |name: &str, channel: RawChannel, time: f64| {
            let node = raw.nodes.iter().position(|n| n.name.as_deref() == Some(name))?;
            let (value, length) = own(name, channel, time)?;
            match (raw.nodes[node].parent == Some(6), channel) {
                (true, RawChannel::Rotation) => {
                    let q = turned * DQuat::from_slice(&value);
                    Some((q.to_array().to_vec(), length))
                }
                (true, _) | (_, RawChannel::Translation) => None,
                _ => Some((value, length)),
            }
        };
        compare("folded", &clip, onto.skeleton(), &expected);
    }

    /// Differences to a pose, on top of it again, are the file's curves.
    #[test]
    fn additive_clips_follow_the_curves_of_the_file(seed in any::<u64>()) {
        let raw = scene(seed);
        let rig = built(raw.clone());
        let skeleton = rig.skeleton();
        let added = build_additive(&rig, 0, AdditiveReference::Rest).unwrap();
        let own = of_scene(&raw);
        let expected = |name: &str, channel: RawChannel, time: f64| {
            let (value, length) = own(name, channel, time)?;
            let rest = raw.nodes[skeleton_node(&raw, name)?].local;
            let three = DVec3::from_slice(&value);
            Some(match channel {
                RawChannel::Translation => {
                    ((three - rest.translation.as_dvec3()).to_array().to_vec(), 1.0)
                }
                RawChannel::Scale => ((three / rest.scale.as_dvec3()).to_array().to_vec(), 1.0),
                _ => {
                    let q = rest.rotation.as_dquat().conjugate() * DQuat::from_slice(&value);
                    (q.normalize().to_array().to_vec(), length)
                }
            })
        };
        compare("additive", &added, skeleton, &expected);
        let other = skeleton.in_lane_order(&order(seed)).unwrap();
        let laid = reorder_lanes(&added, &other, added.reorder_limit()).unwrap();
        compare("additive, laid out", &laid, &other, &expected);
        let mut onto = raw.clone();
        onto.clips.clear();
        onto.nodes[JOINTS - 1].name = Some("other".into());
        let onto = built(onto);
        let once = bound(&laid, onto.skeleton(), TranslationMode::SameOffset);
        compare("additive, bound", &once, onto.skeleton(), &expected);
    }

    /// Cut at its beginning, a clip is what it was later.
    #[test]
    fn trimmed_clips_follow_the_curves_of_the_file(seed in any::<u64>()) {
        let mut raw = scene(seed);
        for track in &mut raw.clips[0].tracks {
            track.times.iter_mut().for_each(|t| *t += 0.5);
        }
        raw.clips[0].duration += 0.5;
        let own = of_scene(&raw);
        let mut cut = raw.clone();
        cut.trim_clips();
        let first = f64::from(cut.clips[0].trimmed);
        let rig = built(cut);
        let later = |name: &str, channel: RawChannel, time: f64| own(name, channel, time + first);
        compare("trimmed", &rig.clips()[0], rig.skeleton(), &later);
        let other = rig.skeleton().in_lane_order(&order(seed)).unwrap();
        let clip = &rig.clips()[0];
        let laid = reorder_lanes(clip, &other, clip.reorder_limit()).unwrap();
        compare("trimmed, laid out", &laid, &other, &later);
    }

    /// Retargeted to a body of another size with the same rest rotations, every bone turns as in the file.
    #[test]
    fn retargeted_clips_follow_the_curves_of_the_file(seed in any::<u64>()) {
        let mut random = Random(seed);
        let bones = Made::default().bones();
        let tracks = bones.iter().map(|(_, node)| {
            let times = times(&mut random);
            turns(&mut random, *node, DQuat::IDENTITY, times)
        });
        let clip = RawClip {
            name: Some("random".into()),
            duration: END,
            tracks: tracks.collect(),
            ..RawClip::default()
        };
        let from = Made { clips: vec![clip.clone()], ..Made::default() }.rig();
        let own = from.clips().iter().find(|c| c.name() == "random").unwrap();
        for size in [1.0, 1.3] {
            let to = Made { size, ..Made::default() }.rig();
            let made = retarget(&from, &to, own, RetargetOptions::default());
            let joints: Vec<String> = (0..to.skeleton().len())
                .map(|j| to.skeleton().names()[j].clone())
                .collect();
            // The nodes of a made body are its joints, in their order.
            let expected = |name: &str, channel: RawChannel, time: f64| {
                let node = joints.iter().position(|n| n == name)?;
                let track = clip.tracks.iter().find(|t| t.node == node && t.channel == channel)?;
                Some(value(track, time))
            };
            compare(&format!("retargeted, size {size}"), &made.clip, to.skeleton(), &expected);
        }
        // The body is its own mirror image: a bone turns as that of the other side does, with x reflected.
        let options = RetargetOptions { mirror: true, ..RetargetOptions::default() };
        let made = retarget(&from, &from, own, options);
        let names = from.skeleton().names();
        let expected = |name: &str, channel: RawChannel, time: f64| {
            let other = match name.contains("Left") {
                true => name.replace("Left", "Right"),
                false => name.replace("Right", "Left"),
            };
            let node = names.iter().position(|n| *n == other)?;
            let track = clip.tracks.iter().find(|t| t.node == node && t.channel == channel)?;
            let (v, length) = value(track, time);
            Some((vec![v[0], -v[1], -v[2], v[3]], length))
        };
        compare("mirrored", &made.clip, from.skeleton(), &expected);
    }
}

fn skeleton_node(raw: &RawScene, name: &str) -> Option<usize> {
    raw.nodes.iter().position(|n| n.name.as_deref() == Some(name))
}
