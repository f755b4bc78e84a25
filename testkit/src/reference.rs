//! What a crowd should show, in f64: the oracle's scene of a raw scene, and the oracle's layers of what an
//! instance plays. Numbers are copied; nothing of the library's arithmetic is used.

use crate::oracle::curve::{Curve, Interpolation};
use crate::oracle::math::normalize;
use crate::oracle::scene::{Channel, Clip, Node, NodePose, Property, Skin};
use crate::oracle::{Action, Additive, Layer, Reference, Scene};
use phalanx::crowd::{ClipId, Crowd, InstanceId, LayerOptions};
use phalanx::import::raw::{self, RawChannel, RawScene};
use phalanx::math::Affine3x4;
use phalanx::playback::{BlendSpaceId, Fill};
use phalanx::rig::Rig;

/// The oracle's scene of a raw scene, without its meshes.
pub fn scene(raw: &RawScene) -> Scene {
    let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
    let node = |n: &raw::RawNode| {
        let [tx, ty, tz, rx, ry, rz, rw, sx, sy, sz] = n.local.to_array().map(f64::from);
        Node {
            name: n.name.clone(),
            parent: n.parent,
            rest: NodePose {
                t: [tx, ty, tz],
                r: normalize([rx, ry, rz, rw]),
                s: [sx, sy, sz],
                weights: wide(&n.weights),
            },
            matrix: n.matrix.map(|m| m.map(f64::from)),
            mesh: None,
            skin: n.skin,
        }
    };
    let channel = |t: &raw::RawTrack| {
        let interpolation = match t.interpolation {
            raw::Interpolation::Linear => Interpolation::Linear,
            raw::Interpolation::Step => Interpolation::Step,
            raw::Interpolation::CubicSpline => Interpolation::CubicSpline,
        };
        let parts = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        Channel {
            node: t.node,
            path: match t.channel {
                RawChannel::Translation => Property::Translation,
                RawChannel::Rotation => Property::Rotation,
                RawChannel::Scale => Property::Scale,
                RawChannel::Weights => Property::Weights,
            },
            curve: Curve {
                interpolation,
                times: wide(&t.times),
                keys: wide(&t.values),
                width: t.values.len() / t.times.len() / parts,
            },
        }
    };
    Scene {
        nodes: raw.nodes.iter().map(node).collect(),
        skins: (raw.skins.iter())
            .map(|s| Skin {
                name: s.name.clone(),
                joints: s.joints.clone(),
                inverse_bind: s.inverse_bind.iter().map(|m| m.map(f64::from)).collect(),
            })
            .collect(),
        clips: (raw.clips.iter())
            .map(|c| Clip {
                name: c.name.clone(),
                duration: c.duration.into(),
                channels: c.tracks.iter().map(channel).collect(),
            })
            .collect(),
        meshes: Vec::new(),
    }
}

/// The palette of layers, all skins of the file one after another.
pub fn palette(scene: &Scene, layers: &[Layer]) -> Vec<[f64; 16]> {
    scene.evaluate(&scene.mix(layers)).palettes.concat()
}

/// Palette rows as numbers in the oracle's order.
pub fn wide(rows: &[Affine3x4]) -> Vec<[f64; 16]> {
    let wide = |m: &Affine3x4| m.to_cols_array().map(f64::from);
    rows.iter().map(wide).collect()
}

/// The largest difference of an entry; NaN counts as infinite.
pub fn apart(a: &[f64; 16], b: &[f64; 16]) -> f64 {
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    off.map(|d| if d.is_nan() { f64::INFINITY } else { d }).fold(0.0, f64::max)
}

/// A rig of a crowd beside the oracle's scene of it.
pub struct Beside {
    pub scene: Scene,
    layers: Vec<(LayerOptions, Option<Vec<f64>>)>,
    clips: Vec<(ClipId, usize)>,
    additive: Vec<(ClipId, usize, Reference)>,
    spaces: Vec<BlendSpaceId>,
}

impl Beside {
    /// With the layers of the rig, and the weight of every joint that their masks were made of.
    pub fn new(
        raw: &RawScene,
        rig: &Rig,
        layers: impl IntoIterator<Item = (LayerOptions, Option<Vec<f32>>)>,
    ) -> Self {
        let of_nodes = |weights: Vec<f32>| {
            let mut mask = vec![1.0; raw.nodes.len()];
            for node in rig.nodes() {
                if let Some(joint) = node.joint {
                    mask[node.source] = f64::from(weights[usize::from(joint)]);
                }
            }
            mask
        };
        let layers = layers.into_iter();
        Self {
            scene: scene(raw),
            layers: layers.map(|(o, mask)| (o, mask.map(of_nodes))).collect(),
            clips: Vec::new(),
            additive: Vec::new(),
            spaces: Vec::new(),
        }
    }

    /// A clip of the crowd is this one of the scene.
    pub fn clip(&mut self, id: ClipId, clip: usize) {
        // A clip that is added again has the handle it had.
        self.clips.retain(|known| known.0 != id);
        self.clips.push((id, clip));
    }

    /// An additive clip of the crowd is the difference of this one of the scene to a reference.
    pub fn additive(&mut self, id: ClipId, clip: usize, reference: Reference) {
        self.additive.push((id, clip, reference));
    }

    /// A blend space of clips that are known.
    pub fn space(&mut self, id: BlendSpaceId) {
        self.spaces.push(id);
    }

    /// What an instance plays, by what the crowd says of its actions. Those of a layer are in the order in
    /// which their clips were named, not of their starts. A blend space says nothing of its parameter:
    /// `parameter` of the layer.
    ///
    /// `None` if a clip plays twice on a layer: the crowd reports one of the two.
    pub fn playing(
        &self,
        crowd: &Crowd,
        instance: InstanceId,
        parameter: impl Fn(usize) -> f32,
    ) -> Option<Vec<Layer>> {
        let mut out: Vec<Layer> = Vec::new();
        for (layer, (options, mask)) in self.layers.iter().enumerate() {
            let playing = crowd.playing(instance).expect("the instance is alive");
            let layer_weight = playing.layer_weight(layer).expect("the layer exists");
            if options.additive {
                for &(id, clip, reference) in &self.additive {
                    let Ok(state) = playing.action(layer, id) else {
                        continue;
                    };
                    let weight = layer_weight * state.weight;
                    let below = out.last_mut().expect("no additive layer is the first");
                    below.additive.push(Additive {
                        clip,
                        // As the clip is sampled.
                        time: f64::from(state.time as f32),
                        reference,
                        weight: weight.into(),
                        mask: mask.clone(),
                    });
                }
                continue;
            }
            let mut actions = Vec::new();
            for &(id, clip) in &self.clips {
                if let Ok(state) = playing.action(layer, id) {
                    let time = f64::from(state.time as f32);
                    actions.push(Action::new(clip, time, state.weight.into()));
                }
            }
            let states: Vec<_> = (self.spaces.iter())
                .filter_map(|&id| Some((id, playing.action(layer, id).ok()?)))
                .collect();
            for (id, state) in states {
                let space = crowd.blend_space(id).expect("the space exists");
                let points: Vec<(f32, ClipId)> = space.map(|(at, clip)| (at.x, clip)).collect();
                for (clip, share) in neighbours(&points, parameter(layer)) {
                    let clip = self.known(clip);
                    // The time of a blend space is a phase, which its clips share.
                    let time = state.time * self.scene.clips[clip].duration;
                    let weight = f64::from(state.weight) * share;
                    actions.push(Action::new(clip, f64::from(time as f32), weight));
                }
            }
            let mut weight = f64::from(layer_weight);
            let sum: f64 = actions.iter().map(|a| a.weight).sum();
            if options.fill == Fill::Below && sum < 1.0 && sum > 0.0 {
                // What the actions leave is the lower layers'.
                weight *= sum;
                actions.iter_mut().for_each(|a| a.weight /= sum);
            }
            out.push(Layer { actions, weight, mask: mask.clone(), additive: Vec::new() });
        }
        let found = |l: &Layer| l.actions.len() + l.additive.len();
        let all = crowd.playing(instance).expect("the instance is alive");
        (out.iter().map(found).sum::<usize>() == all.clips().count()).then_some(out)
    }

    fn known(&self, clip: ClipId) -> usize {
        let found = self.clips.iter().find(|(id, _)| *id == clip);
        found.expect("the clip was named").1
    }
}

/// The clips on both sides of a value, with their shares.
fn neighbours(points: &[(f32, ClipId)], value: f32) -> Vec<(ClipId, f64)> {
    let (first, last) = (points[0], points[points.len() - 1]);
    if value <= first.0 {
        return vec![(first.1, 1.0)];
    }
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if value == a.0 {
            return vec![(a.1, 1.0)];
        }
        if value < b.0 {
            let share = (f64::from(value) - f64::from(a.0)) / (f64::from(b.0) - f64::from(a.0));
            return vec![(a.1, 1.0 - share), (b.1, share)];
        }
    }
    vec![(last.1, 1.0)]
}

/// The layers with all actions in the opposite order: where it changes a pose, that depends on which action
/// was started first.
pub fn reversed(layers: &[Layer]) -> Vec<Layer> {
    let mut layers = layers.to_vec();
    for layer in &mut layers {
        layer.actions.reverse();
        layer.additive.reverse();
    }
    layers
}
