//! Phalanx's blending rules: actions within a layer, layers in order, and additive layers after the layer
//! that they follow.

use super::math::{Quat, Vec3, conjugate, dot, lerp, nlerp, normalize, product};
use super::scene::{NodePose, Pose, Sampled, Scene};

/// A playing clip, sampled at `time` seconds, which is already a time within the clip.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub clip: usize,
    pub time: f64,
    pub weight: f64,
    pub missing: Missing,
}

/// How a channel that a clip lacks is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Missing {
    /// It counts as the rest pose, with the action's weight.
    Rest,
    /// It is skipped: the action has no weight there.
    Skip,
}

/// A layer of actions, applied over the layers below it, and the additive layers that follow it.
#[derive(Clone, Debug)]
pub struct Layer {
    pub actions: Vec<Action>,
    pub weight: f64,
    /// A factor per node's transform; `None` is 1 everywhere. Morph weights belong to no joint and use only
    /// the layer's weight.
    pub mask: Option<Vec<f64>>,
    pub additive: Vec<Additive>,
}

/// The difference between a clip's pose and a reference, added with a weight in [-1, 1].
#[derive(Clone, Debug)]
pub struct Additive {
    pub clip: usize,
    pub time: f64,
    pub reference: Reference,
    pub weight: f64,
    pub mask: Option<Vec<f64>>,
}

/// The reference of an additive clip.
#[derive(Clone, Copy, Debug)]
pub enum Reference {
    /// The same clip at a time in seconds.
    Time(f64),
    /// The rest pose.
    Rest,
}

impl Action {
    pub fn new(clip: usize, time: f64, weight: f64) -> Self {
        Self { clip, time, weight, missing: Missing::Rest }
    }
}

impl Layer {
    /// A layer of full weight without a mask.
    pub fn of(actions: Vec<Action>) -> Self {
        Self { actions, weight: 1.0, mask: None, additive: Vec::new() }
    }
}

/// Terms of a weighted sum of one property over the actions of a layer, in order.
struct Terms<T> {
    values: Vec<(T, f64)>,
}

impl<T> Terms<T> {
    /// Weights that sum to more than 1 are divided by the sum; otherwise the rest pose, last, gets the
    /// remainder.
    fn of(values: impl Iterator<Item = (T, f64)>, rest: T) -> Self {
        let mut values: Vec<(T, f64)> = values.filter(|(_, w)| *w > 0.0).collect();
        let sum: f64 = values.iter().map(|(_, w)| w).sum();
        if sum > 1.0 {
            values.iter_mut().for_each(|(_, w)| *w /= sum);
        } else {
            values.push((rest, 1.0 - sum));
        }
        Self { values }
    }
}

impl Terms<Vec3> {
    fn vector(&self) -> Vec3 {
        std::array::from_fn(|i| self.values.iter().map(|(v, w)| v[i] * w).sum())
    }
}

impl Terms<Vec<f64>> {
    fn weights(&self, count: usize) -> Vec<f64> {
        (0..count).map(|i| self.values.iter().map(|(v, w)| v[i] * w).sum()).collect()
    }
}

impl Terms<Quat> {
    /// Adds each quaternion on the hemisphere of the sum so far.
    fn rotation(&self) -> Quat {
        let mut sum = [0.0; 4];
        for (q, w) in &self.values {
            let w = if dot(sum, *q) < 0.0 { -w } else { *w };
            sum = std::array::from_fn(|i| sum[i] + q[i] * w);
        }
        normalize(sum)
    }
}

impl Scene {
    /// The pose of several layers on top of the rest pose.
    pub fn mix(&self, layers: &[Layer]) -> Pose {
        let mut pose = self.rest();
        for layer in layers {
            // A layer that plays nothing has no effect; its additive layers still apply.
            let playing = layer.actions.iter().any(|a| a.weight > 0.0);
            let weight = if playing { layer.weight } else { 0.0 };
            let above = self.blend_actions(&layer.actions);
            for (n, (below, above)) in pose.iter_mut().zip(&above).enumerate() {
                let w = weight * masked(&layer.mask, n);
                *below = between(below, above, w, weight);
            }
            for additive in &layer.additive {
                self.add(&mut pose, additive);
            }
        }
        pose
    }

    /// The pose of one layer's actions.
    pub fn blend_actions(&self, actions: &[Action]) -> Pose {
        let samples: Vec<(Vec<Sampled>, &Action)> =
            actions.iter().map(|a| (self.sample(a.clip, a.time), a)).collect();
        self.nodes
            .iter()
            .enumerate()
            .map(|(n, node)| {
                let rest = &node.rest;
                let of = || samples.iter().map(|(s, a)| (&s[n], *a));
                NodePose {
                    t: terms(of(), |s| s.t, rest.t).vector(),
                    r: terms(of(), |s| s.r, rest.r).rotation(),
                    s: terms(of(), |s| s.s, rest.s).vector(),
                    weights: terms(of(), |s| s.weights.clone(), rest.weights.clone())
                        .weights(rest.weights.len()),
                }
            })
            .collect()
    }

    /// Adds the difference between a clip and its reference to `pose`. Channels the clip lacks add nothing.
    pub fn add(&self, pose: &mut Pose, additive: &Additive) {
        let clip = self.sample(additive.clip, additive.time);
        let reference: Vec<Sampled> = match additive.reference {
            Reference::Time(t) => self.sample(additive.clip, t),
            Reference::Rest => self.rest().into_iter().map(Sampled::from).collect(),
        };
        for (n, out) in pose.iter_mut().enumerate() {
            let w = additive.weight * masked(&additive.mask, n);
            let (clip, reference) = (&clip[n], &reference[n]);
            if let (Some(q), Some(q_ref)) = (clip.r, reference.r) {
                let d = product(conjugate(q_ref), q);
                out.r = normalize(product(out.r, scaled_rotation(d, w)));
            }
            if let (Some(t), Some(t_ref)) = (clip.t, reference.t) {
                out.t = std::array::from_fn(|i| out.t[i] + w * (t[i] - t_ref[i]));
            }
            if let (Some(s), Some(s_ref)) = (clip.s, reference.s) {
                out.s = std::array::from_fn(|i| out.s[i] * lerp(1.0, s[i] / s_ref[i], w));
            }
            if let (Some(v), Some(v_ref)) = (&clip.weights, &reference.weights) {
                for (out, (v, v_ref)) in out.weights.iter_mut().zip(v.iter().zip(v_ref)) {
                    *out += additive.weight * (v - v_ref);
                }
            }
        }
    }
}

impl From<NodePose> for Sampled {
    fn from(pose: NodePose) -> Self {
        Self { t: Some(pose.t), r: Some(pose.r), s: Some(pose.s), weights: Some(pose.weights) }
    }
}

/// The terms of one property; a channel that a clip lacks is handled as its action's `missing` requires.
fn terms<'a, T: Clone>(
    actions: impl Iterator<Item = (&'a Sampled, &'a Action)>,
    property: impl Fn(&Sampled) -> Option<T>,
    rest: T,
) -> Terms<T> {
    let values = actions.filter_map(|(sampled, action)| {
        let value = property(sampled).or_else(|| match action.missing {
            Missing::Rest => Some(rest.clone()),
            Missing::Skip => None,
        });
        value.map(|v| (v, action.weight))
    });
    Terms::of(values, rest.clone())
}

fn masked(mask: &Option<Vec<f64>>, node: usize) -> f64 {
    mask.as_ref().map_or(1.0, |m| m[node])
}

/// nlerp(1, d, w). A negative weight rotates by the same amount the other way, nlerp(1, d⁻¹, -w), so that
/// adding with w and then with -w restores the pose. (1 - w)·1 + w·d would rotate by too little near -1.
pub fn scaled_rotation(d: Quat, w: f64) -> Quat {
    let identity = [0.0, 0.0, 0.0, 1.0];
    if w < 0.0 { nlerp(identity, conjugate(d), -w) } else { nlerp(identity, d, w) }
}

/// Blends one pose over another with weight `w`; morph weights with `scalar`.
fn between(below: &NodePose, above: &NodePose, w: f64, scalar: f64) -> NodePose {
    let three = |a: Vec3, b: Vec3| std::array::from_fn(|i| lerp(a[i], b[i], w));
    let weights = below.weights.iter().zip(&above.weights);
    NodePose {
        t: three(below.t, above.t),
        r: nlerp(below.r, above.r, w),
        s: three(below.s, above.s),
        weights: weights.map(|(&a, &b)| lerp(a, b, scalar)).collect(),
    }
}
