//! User channels of every type against the oracle's curves and rules of its own in f64: sampled, blended
//! within a layer, between layers, and added.

use phalanx::build::{BuildError, build_additive_raw, build_rig};
use phalanx::crowd::{
    CrossFade, Crowd, CrowdError, FadeKind, InstanceId, LayerOptions, PlayOptions,
};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{ChannelValue, UserChannel};
use phalanx_testkit::oracle::blend::scaled_rotation;
use phalanx_testkit::oracle::curve::{Curve, Interpolation as Kind};
use phalanx_testkit::oracle::inertia::Decay;
use phalanx_testkit::oracle::math::{dot, lerp, nlerp, normalize, product};
use phalanx_workload::hash01;
use std::sync::Arc;

const CLIPS: usize = 4;
const SECONDS: f32 = 2.0;
/// Rounding of a few f32 operations on values up to 3; quaternions follow slerp to 2e-7.
const TOLERANCE: f64 = 3e-6;

/// One of every type; the morph weights before them and their order leave quaternions across blocks of 16.
fn channels() -> Vec<UserChannel> {
    let channel = |name: &str, rest| UserChannel { name: name.into(), rest };
    vec![
        channel("float", ChannelValue::Float(0.25)),
        channel("vec2", ChannelValue::Vec2([0.5, -1.0])),
        channel("vec3", ChannelValue::Vec3([1.0, 2.0, -3.0])),
        channel("vec4", ChannelValue::Vec4([0.0, 0.1, -0.2, 0.3])),
        channel("look", ChannelValue::Quaternion([0.0, 0.6, 0.0, 0.8])),
        channel("aim", ChannelValue::Quaternion([0.0, 0.0, 0.0, 1.0])),
    ]
}

/// A track for channel `c` of a clip: linear, held or cubic by turns, and none in clip 3 for some.
fn track(channel: &UserChannel, c: usize, clip: usize) -> Option<RawTrack> {
    if clip == 3 && c % 2 == 1 {
        return None;
    }
    let interpolation = [
        Interpolation::Linear,
        Interpolation::Step,
        Interpolation::CubicSpline,
        Interpolation::Linear,
    ][(c + clip) % 4];
    let keys = 5;
    let per_key = match interpolation {
        Interpolation::CubicSpline => 3,
        _ => 1,
    };
    let times = (0..keys).map(|k| SECONDS * (k as f32 / (keys - 1) as f32).powf(1.3));
    let width = channel.rest.as_slice().len();
    let count = keys * per_key * width;
    let number = |i: usize| {
        let seed = ((clip * 16 + c) * 256 + i) as u64;
        let value = hash01(seed) as f32 - 0.5;
        // Splines' quaternions stay away from zero: their tangents are small, their keys near.
        match channel.rest {
            ChannelValue::Quaternion(rest) if per_key == 3 => match (i / width) % 3 {
                1 => rest[i % width] + 0.4 * value,
                _ => 0.2 * value,
            },
            ChannelValue::Quaternion(_) => value,
            _ => 4.0 * value,
        }
    };
    let mut values: Vec<f32> = (0..count).map(number).collect();
    if matches!(channel.rest, ChannelValue::Quaternion(_)) && per_key == 3 {
        // Splines are taken with the lengths of their keys; those of files are unit quaternions.
        for key in values.chunks_exact_mut(12) {
            let length = key[4..8].iter().map(|v| v * v).sum::<f32>().sqrt();
            key[4..8].iter_mut().for_each(|v| *v /= length);
        }
    }
    let (node, channel) = (c, RawChannel::Weights);
    Some(RawTrack { node, channel, interpolation, times: times.collect(), values })
}

pub fn raw() -> RawScene {
    let still = RawTrack {
        node: 0,
        channel: RawChannel::Rotation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, SECONDS],
        values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8],
    };
    let clip = |i: usize| RawClip {
        name: Some(format!("clip{i}")),
        duration: SECONDS,
        tracks: vec![still.clone()],
        user_tracks: channels()
            .iter()
            .enumerate()
            .filter_map(|(c, channel)| track(channel, c, i))
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        nodes: vec![RawNode { weights: vec![0.5; 3], ..RawNode::default() }],
        clips: (0..CLIPS).map(clip).collect(),
        channels: channels(),
        ..RawScene::default()
    }
}

fn rig() -> Arc<Rig> {
    Arc::new(build_rig(raw(), &Default::default()).unwrap())
}

/// What the oracle says of one channel.
struct Expected {
    curves: Vec<Option<Curve>>,
    rest: Vec<f64>,
    quaternion: bool,
}

fn four(v: &[f64]) -> [f64; 4] {
    std::array::from_fn(|i| v[i])
}

impl Expected {
    fn of(c: usize) -> Self {
        let channel = &channels()[c];
        let wide = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
        let curve = |t: RawTrack| Curve {
            interpolation: match t.interpolation {
                Interpolation::Linear => Kind::Linear,
                Interpolation::Step => Kind::Step,
                Interpolation::CubicSpline => Kind::CubicSpline,
            },
            times: wide(&t.times),
            keys: wide(&t.values),
            width: channel.rest.as_slice().len(),
        };
        Self {
            curves: (0..CLIPS).map(|i| track(channel, c, i).map(curve)).collect(),
            rest: wide(channel.rest.as_slice()),
            quaternion: matches!(channel.rest, ChannelValue::Quaternion(_)),
        }
    }

    fn sample(&self, clip: usize, t: f64) -> Vec<f64> {
        match &self.curves[clip] {
            None => self.rest.clone(),
            Some(curve) if self.quaternion => curve.rotation(t).to_vec(),
            Some(curve) => curve.scalars(t),
        }
    }

    /// Actions of one layer.
    fn blend(&self, actions: &[(usize, f64, f64)]) -> Vec<f64> {
        let mut terms: Vec<(Vec<f64>, f64)> =
            actions.iter().map(|&(clip, t, w)| (self.sample(clip, t), w)).collect();
        let total: f64 = actions.iter().map(|a| a.2).sum();
        if total < 1.0 {
            terms.push((self.rest.clone(), 1.0 - total));
        }
        let mut sum = vec![0.0; self.rest.len()];
        for (value, weight) in terms {
            let ahead: f64 = sum.iter().zip(&value).map(|(a, b)| a * b).sum();
            let sign = if self.quaternion && ahead < 0.0 { -1.0 } else { 1.0 };
            for (sum, v) in sum.iter_mut().zip(&value) {
                *sum += sign * weight * v / total.max(1.0);
            }
        }
        if self.quaternion { normalize(four(&sum)).to_vec() } else { sum }
    }

    fn over(&self, below: &[f64], above: &[f64], w: f64) -> Vec<f64> {
        if self.quaternion {
            return nlerp(four(below), four(above), w).to_vec();
        }
        below.iter().zip(above).map(|(&a, &b)| lerp(a, b, w)).collect()
    }

    /// The difference of a clip to the rest value, added; what the clip lacks adds nothing.
    fn add(&self, below: &[f64], clip: usize, t: f64, w: f64) -> Vec<f64> {
        if self.curves[clip].is_none() {
            return below.to_vec();
        }
        let value = self.sample(clip, t);
        if self.quaternion {
            let [x, y, z, w0] = four(&self.rest);
            let d = product([-x, -y, -z, w0], four(&value));
            return normalize(product(four(below), scaled_rotation(d, w))).to_vec();
        }
        let delta = value.iter().zip(&self.rest);
        below.iter().zip(delta).map(|(b, (v, r))| b + w * (v - r)).collect()
    }
}

fn compare(actual: &[f32], expected: &[f64], quaternion: bool, place: &str) {
    let mut actual: Vec<f64> = actual.iter().map(|v| f64::from(*v)).collect();
    if quaternion && dot(four(&actual), four(expected)) < 0.0 {
        actual.iter_mut().for_each(|v| *v = -*v);
    }
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= TOLERANCE, "{place}: {actual:?} {expected:?}");
    }
    assert_eq!(actual.len(), expected.len());
}

/// Times on keys, between them, at both ends.
fn times() -> impl Iterator<Item = f32> {
    (0..40).map(|i| SECONDS * i as f32 / 40.0)
}

#[test]
fn samples_and_blends_of_jobs_follow_the_oracle() {
    let rig = rig();
    for t in times() {
        let sets: [&[(usize, f32)]; 6] = [
            &[(0, 1.0)],
            &[(3, 1.0)],
            &[(0, 0.5), (1, 0.5)],
            &[(2, 0.25), (3, 0.375)],
            &[(0, 0.75), (1, 0.5), (2, 0.5)],
            &[],
        ];
        for set in sets {
            let actions: Vec<PoseAction> =
                set.iter().map(|&(clip, weight)| PoseAction { clip, time: t, weight }).collect();
            let posed = evaluate_pose(&rig, &actions).unwrap();
            for (c, channel) in channels().iter().enumerate() {
                let expected = Expected::of(c);
                let oracle: Vec<_> =
                    set.iter().map(|&(clip, w)| (clip, f64::from(t), f64::from(w))).collect();
                let handle = rig.skeleton().channel(&channel.name).unwrap();
                let actual = posed.channel(&rig, handle).unwrap();
                let place = format!("{} at {t} of {set:?}", channel.name);
                let quaternion = expected.quaternion;
                compare(actual.as_slice(), &expected.blend(&oracle), quaternion, &place);
            }
        }
    }
}

/// A crowd with a layer, one over it and an additive one.
fn layered(rig: &Arc<Rig>, t: f32, weights: [f32; 3]) -> (Crowd, InstanceId) {
    let mut crowd = Crowd::new();
    let layers =
        [false, false, true].map(|additive| LayerOptions { additive, ..LayerOptions::default() });
    let id = crowd.add_rig_with_layers(rig.clone(), layers.into()).unwrap();
    let rest = rig.skeleton().rest_pose();
    let delta = Arc::new(build_additive_raw(rig, (&raw(), 3), rest).unwrap());
    let delta = crowd.add_clip(id, delta).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let options = |weight| PlayOptions { time: f64::from(t), weight, ..PlayOptions::default() };
    let clip = |i| crowd.clip_by_index(id, i).unwrap();
    let (a, b, c) = (clip(0), clip(1), clip(2));
    crowd.player(instance).unwrap().add(0, a, &options(weights[0])).unwrap();
    crowd.player(instance).unwrap().add(0, b, &options(0.25)).unwrap();
    crowd.player(instance).unwrap().add(1, c, &options(1.0)).unwrap();
    crowd.player(instance).unwrap().set_layer_weight(1, weights[1]).unwrap();
    crowd.player(instance).unwrap().add(2, delta, &options(weights[2])).unwrap();
    (crowd, instance)
}

#[test]
fn layers_and_additive_layers_of_a_crowd_follow_the_oracle() {
    let rig = rig();
    for t in times() {
        for weights in [
            [0.75, 0.0, 0.0],
            [0.5, 0.625, 0.0],
            [1.0, 0.0, 1.0],
            [0.25, 0.375, 0.5],
            [0.5, 1.0, -0.75],
        ] {
            let (crowd, instance) = layered(&rig, t, weights);
            let [w0, w1, w2] = weights.map(f64::from);
            let time = f64::from(t);
            for (c, channel) in channels().iter().enumerate() {
                let expected = Expected::of(c);
                let mut value = expected.blend(&[(0, time, w0), (1, time, 0.25)]);
                value = expected.over(&value, &expected.blend(&[(2, time, 1.0)]), w1);
                if w2 != 0.0 {
                    value = expected.add(&value, 3, time, w2);
                }
                let handle = rig.skeleton().channel(&channel.name).unwrap();
                let actual = crowd.channel(instance, handle).unwrap();
                let place = format!("{} at {t}, {weights:?}", channel.name);
                compare(actual.as_slice(), &value, expected.quaternion, &place);
                assert_eq!(matches!(actual, ChannelValue::Quaternion(_)), expected.quaternion);
            }
        }
    }
}

#[test]
fn without_clips_there_is_the_rest_value_and_scalars_hold_the_same() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let mut next = 3;
    let mut scalars = Vec::new();
    crowd.scalars(instance, &mut scalars).unwrap();
    assert_eq!(scalars[..3], [0.5; 3]);
    for channel in channels() {
        let handle = rig.skeleton().channel(&channel.name).unwrap();
        let value = crowd.channel(instance, handle).unwrap();
        assert_eq!(value, channel.rest);
        let width = channel.rest.as_slice().len();
        assert_eq!(scalars[next..next + width], *value.as_slice());
        next += width;
    }
    assert_eq!(scalars.len(), next);
}

#[test]
fn what_does_not_fit_is_refused() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let handle = rig.skeleton().channel("aim").unwrap();
    let foreign = {
        let mut raw = raw();
        raw.channels.truncate(2);
        raw.clips.iter_mut().for_each(|c| c.user_tracks.retain(|t| t.node < 2));
        let rig = build_rig(raw, &Default::default()).unwrap();
        rig.skeleton().channel("float").unwrap()
    };
    assert!(matches!(crowd.channel(instance, foreign), Err(CrowdError::UnknownChannel { .. })));
    crowd.despawn(instance).unwrap();
    assert!(matches!(crowd.channel(instance, handle), Err(CrowdError::UnknownInstance { .. })));

    let refused = |spoil: &dyn Fn(&mut RawScene)| {
        let mut raw = raw();
        spoil(&mut raw);
        match build_rig(raw, &Default::default()) {
            Err(fault) => fault,
            Ok(_) => panic!("was built"),
        }
    };
    let fault = refused(&|raw| raw.channels[1].name = "float".into());
    assert!(fault.to_string().contains("\"float\" of a user channel is already in use"), "{fault}");
    let fault = refused(&|raw| raw.clips[0].user_tracks[0].node = 99);
    assert!(matches!(fault, BuildError::Index { .. }), "{fault}");
    // Three numbers a key where the type has one, and so on.
    let spoils: [fn(&mut RawTrack); 5] = [
        |t| t.values.push(0.0),
        |t| t.times[0] = -1.0,
        |t| t.times.swap(1, 2),
        |t| t.values[0] = f32::NAN,
        |t| (t.times, t.values) = (vec![], vec![]),
    ];
    for spoil in spoils {
        let fault = refused(&|raw| spoil(&mut raw.clips[0].user_tracks[0]));
        let track = match &fault {
            BuildError::Animation { source, .. } => source.to_string().contains("user channel \""),
            _ => false,
        };
        assert!(track, "{fault}");
    }
    let fault = refused(&|raw| {
        let again = raw.clips[0].user_tracks[0].clone();
        raw.clips[0].user_tracks.push(again);
    });
    assert!(fault.to_string().contains("tracks: 2, needed: 1"), "{fault}");
}

/// Numbers of user channels and morph weights have offsets of their own in inertial fades; quaternions keep length 1.
#[test]
fn inertial_fades_offset_every_number_by_its_own() {
    let (rig, step) = (rig(), 1.0 / 60.0);
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let i = crowd.spawn(id).unwrap();
    let [a, b] = [0, 3].map(|c| crowd.clip_by_index(id, c).unwrap());
    let options = PlayOptions { time: 0.3, ..PlayOptions::default() };
    crowd.play(i, a, &options).unwrap();
    crowd.advance(0.25).unwrap();
    let seconds = 0.5;
    let fade = CrossFade { seconds, kind: FadeKind::Inertial, ..CrossFade::default() };
    crowd.player(i).unwrap().cross_fade(0, a, b, fade, &options).unwrap();
    for frame in 0..14 {
        let t = 0.04 * f64::from(frame);
        for (c, channel) in channels().iter().enumerate() {
            let of = Expected::of(c);
            let handle = rig.skeleton().channel(&channel.name).unwrap();
            let found = crowd.channel(i, handle).unwrap();
            let found: Vec<f64> = found.as_slice().iter().map(|v| f64::from(*v)).collect();
            if of.quaternion {
                assert!((dot(four(&found), four(&found)) - 1.0).abs() < 1e-5, "{found:?}");
                continue;
            }
            let at = |clip: usize, time: f64| of.sample(clip, time);
            let (shown, then) = (at(0, 0.55), at(0, 0.55 - step));
            let (next, after) = (at(3, 0.3), at(3, 0.3 + step));
            for (n, found) in found.into_iter().enumerate() {
                let d = shown[n] - next[n];
                let v = (shown[n] - then[n] - (after[n] - next[n])) / step;
                let decay = Decay { x0: d.abs(), v0: v * d.signum(), seconds: f64::from(seconds) };
                let expected = at(3, 0.3 + t)[n] + d.signum() * decay.after(t);
                assert!(
                    (found - expected).abs() < 1e-4,
                    "{} {t}: {found} {expected}",
                    channel.name
                );
            }
        }
        crowd.advance(0.04).unwrap();
    }
    assert_eq!(crowd.inertial_bytes(), 0);
}
