//! The error of a clip against the file that it was made from: the tracks of the file, evaluated in f64 as glTF defines
//! them. Only this measurement shows what a build dropped or rebuilt; comparing two clips does not.

use super::metric::{BETWEEN, Sampler};
use super::shells::{rounding, shells};
use super::times::{key_times, near_peaks};
use super::{BakeError, BakeOptions, MAX_BAKED_KEYS, is_additive};
use crate::clip::Clip;
use crate::raw::{Interpolation, RawChannel, RawClip, RawScene, RawTrack};
use crate::rig::Rig;
use std::collections::HashMap;

/// Fractions of an interval between two keys at which the error is measured.
const BESIDE: [f64; 3] = [0.21, 0.5, 0.79];

/// The rows of an affine matrix.
type Matrix = [[f64; 4]; 3];

const IDENTITY: Matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// Measures a clip of a rig against the tracks of the file, metres of model space.
///
/// `scene` is the content of the file and `clip` the index of its animation; `rig` was built from it, without root motion,
/// in the lane order of `built`. The points and the allowances for rounding and for times between the measured ones are
/// the same as in [`measure_error`](super::measure_error). The weights of joints are not compared. If nodes × times
/// exceed four times [`MAX_BAKED_KEYS`], evenly chosen times are measured.
///
/// # Errors
/// If a setting is out of range, the clip does not fit the rig, the scene has no such animation or other nodes than the
/// rig, or the clip is additive, or larger than [`MAX_BAKED_KEYS`].
pub fn measure_source(
    (scene, clip): (&RawScene, usize),
    built: &Clip,
    rig: &Rig,
    settings: &BakeOptions,
) -> Result<f32, BakeError> {
    let skeleton = rig.skeleton();
    settings.check(skeleton)?;
    super::metric::check(built, skeleton)?;
    let different = |what, have: String, needed: &str| BakeError::Different {
        clip: built.name().to_owned(),
        what,
        have,
        needed: needed.to_owned(),
    };
    if is_additive(built) {
        return Err(different("the kind", built.kind().to_string(), "full"));
    }
    let animation = scene.clips.get(clip).ok_or_else(|| {
        let last = format!("one of {}", scene.clips.len());
        different("its place in the file", clip.to_string(), &last)
    })?;
    let nodes = Nodes::new(scene, animation);
    let place: HashMap<usize, usize> = scene.nodes.iter().map(|n| n.source).zip(0..).collect();
    let mut node_of = vec![None; skeleton.len()];
    for node in rig.nodes() {
        if let Some(of) = node.joint.and_then(|j| node_of.get_mut(usize::from(j))) {
            *of = place.get(&node.source).copied();
        }
    }
    let node_of: Option<Vec<usize>> = node_of.into_iter().collect();
    let node_of =
        node_of.ok_or_else(|| different("a joint", "no node".to_owned(), "a node of the file"))?;
    let times = times(animation, built);
    // Very long clips are measured at some of the times only.
    let work = times.len().saturating_mul(scene.nodes.len());
    let stride = work.div_ceil(4 * MAX_BAKED_KEYS).max(1);
    let shells = shells(built, skeleton, settings);
    let mut sampler = Sampler::new(built, skeleton);
    let mut wanted = vec![IDENTITY; scene.nodes.len()];
    let mut shown: Vec<Matrix> = Vec::with_capacity(skeleton.len());
    let mut square_at = |time: f32| -> Result<f64, BakeError> {
        nodes.evaluate(time.into(), &mut wanted);
        sampler.sample(time)?;
        shown.clear();
        let mut worst = 0.0f64;
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let local = composed(&sampler.local(joint).map(f64::from));
            let model = match shown.get(usize::from(parent)) {
                Some(above) => multiply(above, &local),
                None => local,
            };
            shown.push(model);
            let raw = &wanted[node_of[joint]];
            for (axis, &most) in shells[joint].offsets.iter().enumerate() {
                let mut offset = most;
                if !shells[joint].steady {
                    let square: f64 = raw.iter().map(|row| row[axis] * row[axis]).sum();
                    offset = offset.min(shells[joint].distance / square.sqrt());
                }
                let moved =
                    |r: usize| (model[r][axis] - raw[r][axis]) * offset + (model[r][3] - raw[r][3]);
                worst = worse((0..3).map(|r| moved(r).powi(2)).sum(), worst);
            }
        }
        Ok(worst)
    };
    let times: Vec<f32> = times.into_iter().step_by(stride).collect();
    let squares: Vec<f64> = times.iter().map(|&t| square_at(t)).collect::<Result<_, _>>()?;
    let mut worst = squares.iter().copied().fold(0.0, worse);
    let errors: Vec<f32> = squares.iter().map(|s| s.sqrt() as f32).collect();
    for time in near_peaks(&times, &errors, 1) {
        worst = worse(square_at(time)?, worst);
    }
    let rounding = rounding(built, skeleton, &shells);
    Ok((worst.sqrt() * (1.0 + BETWEEN) + rounding) as f32)
}

/// The key times of file and clip, and times between them.
fn times(animation: &RawClip, built: &Clip) -> Vec<f32> {
    let last = built.duration();
    let own = animation.tracks.iter().flat_map(|t| &t.times).copied();
    let mut keys: Vec<f32> = own.chain(key_times(built)).collect();
    keys.retain(|t| (0.0..=last).contains(t));
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let mut times = keys.clone();
    for pair in keys.windows(2) {
        let [a, b] = [pair[0], pair[1]].map(f64::from);
        times.extend(BESIDE.map(|part| (a + (b - a) * part) as f32));
    }
    times.sort_by(f32::total_cmp);
    times
}

/// The larger of two squares; NaN is the largest.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The nodes of a scene with the tracks of an animation, parents first.
struct Nodes<'a> {
    scene: &'a RawScene,
    order: Vec<usize>,
    /// For each node, the tracks of its translation, rotation and scale.
    tracks: Vec<[Option<&'a RawTrack>; 3]>,
}

impl<'a> Nodes<'a> {
    fn new(scene: &'a RawScene, animation: &'a RawClip) -> Self {
        let mut children = vec![Vec::new(); scene.nodes.len()];
        let mut order = Vec::with_capacity(scene.nodes.len());
        for (i, node) in scene.nodes.iter().enumerate() {
            match node.parent.and_then(|p| children.get_mut(p)) {
                Some(siblings) => siblings.push(i),
                None => order.push(i),
            }
        }
        let mut at = 0;
        while at < order.len() {
            let next = std::mem::take(&mut children[order[at]]);
            order.extend(next);
            at += 1;
        }
        let mut tracks = vec![[None; 3]; scene.nodes.len()];
        for track in &animation.tracks {
            let which = match track.channel {
                RawChannel::Translation => 0,
                RawChannel::Rotation => 1,
                RawChannel::Scale => 2,
                RawChannel::Weights => continue,
            };
            if let Some(of) = tracks.get_mut(track.node) {
                of[which] = Some(track);
            }
        }
        Self { scene, order, tracks }
    }

    /// The model matrices at a time.
    fn evaluate(&self, time: f64, out: &mut [Matrix]) {
        for &i in &self.order {
            let node = &self.scene.nodes[i];
            let tracks = &self.tracks[i];
            let local: Matrix = match &node.matrix {
                Some(m) if tracks.iter().all(Option::is_none) => {
                    std::array::from_fn(|r| std::array::from_fn(|c| f64::from(m[c * 4 + r])))
                }
                _ => {
                    let mut trs = node.local.to_array().map(f64::from);
                    let places = [0..3, 3..7, 7..10];
                    for (track, at) in tracks.iter().zip(places) {
                        if let Some(track) = track {
                            sample(track, time, &mut trs[at]);
                        }
                    }
                    composed(&trs)
                }
            };
            out[i] = match node.parent.and_then(|p| out.get(p)) {
                Some(above) => multiply(above, &local),
                None => local,
            };
        }
    }
}

/// A track at a time; without keys `out` is unchanged. Rotations are not normalised.
fn sample(track: &RawTrack, time: f64, out: &mut [f64]) {
    let (width, cubic) = (out.len(), track.interpolation == Interpolation::CubicSpline);
    let value = |key: usize, part: usize, c: usize| -> f64 {
        let row = if cubic { key * 3 + part } else { key };
        let value = track.values.get(row * width + c);
        value.copied().map_or(f64::NAN, f64::from)
    };
    let after = track.times.partition_point(|&t| f64::from(t) <= time);
    let last = after == track.times.len();
    if track.times.is_empty() {
        return;
    }
    if after == 0 || last || track.interpolation == Interpolation::Step {
        let key = after.saturating_sub(1);
        for (c, v) in out.iter_mut().enumerate() {
            *v = value(key, 1, c);
        }
        return;
    }
    let key = after - 1;
    let [t0, t1] = [track.times[key], track.times[after]].map(f64::from);
    let (h, u) = (t1 - t0, (time - t0) / (t1 - t0));
    if cubic {
        for (c, v) in out.iter_mut().enumerate() {
            let from = (value(key, 1, c), value(key, 2, c) * h);
            let to = (value(after, 1, c), value(after, 0, c) * h);
            *v = crate::math::hermite(from, to, u).0;
        }
        return;
    }
    let (mut from, mut to) = (1.0 - u, u);
    if track.channel == RawChannel::Rotation {
        let dot = |a: usize, b: usize| -> f64 {
            (0..width).map(|c| value(a, 1, c) * value(b, 1, c)).sum()
        };
        let lengths = [dot(key, key), dot(after, after)].map(f64::sqrt);
        let cosine = dot(key, after) / (lengths[0] * lengths[1]);
        let angle = cosine.abs().min(1.0).acos();
        // Below, slerp and lerp are the same in f64.
        if angle > 1e-6 {
            from = (from * angle).sin();
            to = (to * angle).sin();
        }
        from /= lengths[0];
        to /= lengths[1] * if cosine < 0.0 { -1.0 } else { 1.0 };
    }
    for (c, v) in out.iter_mut().enumerate() {
        *v = from * value(key, 1, c) + to * value(after, 1, c);
    }
}

/// The matrix of a translation, a rotation of any length and a scale.
fn composed(trs: &[f64; 10]) -> Matrix {
    let length = trs[3..7].iter().map(|v| v * v).sum::<f64>().sqrt();
    let [x, y, z, w] = [3, 4, 5, 6].map(|c| trs[c] / length);
    let turn = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    std::array::from_fn(|r| [turn[r][0] * trs[7], turn[r][1] * trs[8], turn[r][2] * trs[9], trs[r]])
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|r| {
        std::array::from_fn(|c| {
            let sum: f64 = (0..3).map(|k| a[r][k] * b[k][c]).sum();
            if c == 3 { sum + a[r][3] } else { sum }
        })
    })
}
