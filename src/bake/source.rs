//! The error of a clip against the file that it was made from: the tracks of the file, evaluated in f64 as glTF defines
//! them. Only this measurement shows what a build dropped or rebuilt; comparing two clips does not.

use super::metric::{BETWEEN, Sampler, key_times, near_peaks};
use super::shells::{rounding, shells};
use super::{BakeError, BakeOptions, MAX_BAKED_KEYS, is_additive};
use crate::build::curve::Curve;
use crate::clip::Clip;
use crate::raw::{RawClip, RawScene};
use crate::rig::Rig;
use glam::{DAffine3, DMat4, DQuat, DVec3};
use std::collections::HashMap;

/// Fractions of an interval between two keys at which the error is measured.
const BESIDE: [f64; 3] = [0.21, 0.5, 0.79];

/// Measures a clip of a rig against the tracks of the file, metres of model space.
///
/// `scene` is the content of the file and `clip` the index of its animation; `rig` was built from it, without root motion,
/// in the lane order of `built`. The points and the allowances for rounding and for times between the measured ones are
/// those of [`measure_error`](super::measure_error). The weights of joints are not compared. If nodes × times exceed four
/// times [`MAX_BAKED_KEYS`], evenly chosen times are measured.
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
    let mut wanted = vec![DAffine3::IDENTITY; scene.nodes.len()];
    let mut shown: Vec<DAffine3> = Vec::with_capacity(skeleton.len());
    let mut square_at = |time: f32| -> Result<f64, BakeError> {
        nodes.evaluate(time, &mut wanted);
        sampler.sample(time)?;
        shown.clear();
        let mut worst = 0.0f64;
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let local = composed(&sampler.local(joint).map(f64::from));
            let model = shown.get(usize::from(parent)).map_or(local, |above| *above * local);
            shown.push(model);
            let raw = &wanted[node_of[joint]];
            for (axis, &most) in shells[joint].offsets.iter().enumerate() {
                let mut offset = most;
                if !shells[joint].steady {
                    offset = offset.min(shells[joint].distance / raw.matrix3.col(axis).length());
                }
                let point = |m: &DAffine3| m.matrix3.col(axis) * offset + m.translation;
                worst = worse(point(&model).distance_squared(point(raw)), worst);
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

/// The nodes of a scene with the curves of an animation, parents first.
struct Nodes<'a> {
    scene: &'a RawScene,
    order: Vec<usize>,
    /// For each node, the curves of its translation, rotation and scale.
    curves: Vec<[Option<Curve>; 3]>,
}

impl<'a> Nodes<'a> {
    fn new(scene: &'a RawScene, animation: &RawClip) -> Self {
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
        let mut curves = vec![[const { None }; 3]; scene.nodes.len()];
        for track in animation.tracks.iter().filter(|track| !track.times.is_empty()) {
            let of = curves.get_mut(track.node);
            // Weights are no part of a transform.
            if let Some(of) = of.and_then(|of| of.get_mut(track.channel.to_channel() as usize)) {
                *of = Some(Curve::new(track, 0));
            }
        }
        Self { scene, order, curves }
    }

    /// The model matrices at a time.
    fn evaluate(&self, time: f32, out: &mut [DAffine3]) {
        for &i in &self.order {
            let (node, curves) = (&self.scene.nodes[i], &self.curves[i]);
            let local = match &node.matrix {
                Some(m) if curves.iter().all(Option::is_none) => {
                    DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)))
                }
                _ => {
                    let mut trs = node.local.to_array().map(f64::from);
                    for (curve, at) in curves.iter().zip([0..3, 3..7, 7..10]) {
                        if let Some(curve) = curve {
                            trs[at].copy_from_slice(&curve.at(time).value[..curve.width]);
                        }
                    }
                    composed(&trs)
                }
            };
            out[i] = node.parent.and_then(|p| out.get(p)).map_or(local, |above| *above * local);
        }
    }
}

/// The matrix of a translation, a rotation of any length and a scale.
fn composed(trs: &[f64; 10]) -> DAffine3 {
    let vector = |at: usize| DVec3::from_slice(&trs[at..]);
    let rotation = DQuat::from_slice(&trs[3..7]).normalize();
    DAffine3::from_scale_rotation_translation(vector(7), rotation, vector(0))
}
