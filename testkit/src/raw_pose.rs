//! A small evaluator in f64, written from the specification: what a raw scene looks like at a time.
//! Nothing of the library's arithmetic is used.

use phalanx::import::raw::{Interpolation, RawChannel, RawScene, RawTrack};
use phalanx::mesh::Primitive;

pub type Matrix = [[f64; 4]; 4];

/// Everything that can be seen of a scene at one time.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    /// World matrix of every node, as rows.
    pub world: Vec<Matrix>,
    /// Skinning matrices of every skin.
    pub palettes: Vec<Vec<Matrix>>,
    /// Positions in the scene of every node's primitives; empty without a mesh.
    pub positions: Vec<Vec<[f64; 3]>>,
}

pub fn mul(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|r| std::array::from_fn(|c| (0..4).map(|k| a[r][k] * b[k][c]).sum()))
}

pub fn apply(m: &Matrix, p: [f64; 3], w: f64) -> [f64; 3] {
    std::array::from_fn(|r| m[r][0] * p[0] + m[r][1] * p[1] + m[r][2] * p[2] + m[r][3] * w)
}

fn from_columns(m: &[f32; 16]) -> Matrix {
    std::array::from_fn(|r| std::array::from_fn(|c| f64::from(m[c * 4 + r])))
}

fn compose(t: &[f64], q: &[f64], s: &[f64]) -> Matrix {
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| q[i] / length);
    let r = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    let row = |i: usize| [r[i][0] * s[0], r[i][1] * s[1], r[i][2] * s[2], t[i]];
    [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]]
}

fn sample(track: &RawTrack, time: f64) -> Vec<f64> {
    let keys = track.times.len();
    let cubic = track.interpolation == Interpolation::CubicSpline;
    let width = track.values.len() / keys / if cubic { 3 } else { 1 };
    let part = |key: usize, part: usize| -> Vec<f64> {
        let row = if cubic { key * 3 + part } else { key };
        let values = &track.values[row * width..(row + 1) * width];
        values.iter().map(|&v| f64::from(v)).collect()
    };
    let value = |key: usize| {
        let mut value = part(key, 1);
        if track.channel == RawChannel::Rotation && !cubic {
            let length = value.iter().map(|v| v * v).sum::<f64>().sqrt();
            value.iter_mut().for_each(|v| *v /= length);
        }
        value
    };
    let after = track.times.partition_point(|&t| f64::from(t) <= time);
    if after == 0 || after == keys || track.interpolation == Interpolation::Step {
        return value(after.saturating_sub(1));
    }
    let (a, b) = (value(after - 1), value(after));
    let (t0, t1) = (f64::from(track.times[after - 1]), f64::from(track.times[after]));
    let (step, u) = (t1 - t0, (time - t0) / (t1 - t0));
    if cubic {
        let (out, into) = (part(after - 1, 2), part(after, 0));
        let (u2, u3) = (u * u, u * u * u);
        return (0..width)
            .map(|i| {
                (2.0 * u3 - 3.0 * u2 + 1.0) * a[i]
                    + step * (u3 - 2.0 * u2 + u) * out[i]
                    + (3.0 * u2 - 2.0 * u3) * b[i]
                    + step * (u3 - u2) * into[i]
            })
            .collect();
    }
    let (mut from, mut to) = (1.0 - u, u);
    if track.channel == RawChannel::Rotation {
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let angle = dot.abs().min(1.0).acos();
        if angle > 1e-9 {
            from = ((1.0 - u) * angle).sin() / angle.sin();
            to = (u * angle).sin() / angle.sin();
        }
        to *= dot.signum();
    }
    a.iter().zip(&b).map(|(a, b)| from * a + to * b).collect()
}

/// The pose of `clip` at `time`, of the rest pose without a clip.
pub fn evaluate(scene: &RawScene, clip: Option<usize>, time: f64) -> Pose {
    let mut locals: Vec<Matrix> = Vec::new();
    let mut weights: Vec<Vec<f64>> = Vec::new();
    for (index, node) in scene.nodes.iter().enumerate() {
        let rest: Vec<f64> = node.local.to_array().iter().map(|&v| f64::from(v)).collect();
        let (mut t, mut q, mut s) = (rest[..3].to_vec(), rest[3..7].to_vec(), rest[7..].to_vec());
        let mut w: Vec<f64> = node.weights.iter().map(|&v| f64::from(v)).collect();
        let mut moved = false;
        let tracks = clip.map_or(&[][..], |clip| &scene.clips[clip].tracks);
        for track in tracks.iter().filter(|track| track.node == index) {
            let value = sample(track, time);
            match track.channel {
                RawChannel::Translation => t = value,
                RawChannel::Rotation => q = value,
                RawChannel::Scale => s = value,
                RawChannel::Weights => w = value,
            }
            moved |= track.channel != RawChannel::Weights;
        }
        locals.push(match &node.matrix {
            Some(matrix) if !moved => from_columns(matrix),
            _ => compose(&t, &q, &s),
        });
        weights.push(w);
    }
    let world: Vec<Matrix> = (0..scene.nodes.len())
        .map(|start| {
            let (mut world, mut at) = (locals[start], scene.nodes[start].parent);
            while let Some(parent) = at {
                world = mul(&locals[parent], &world);
                at = scene.nodes[parent].parent;
            }
            world
        })
        .collect();
    let palettes: Vec<Vec<Matrix>> = (scene.skins.iter())
        .map(|skin| {
            let slots = skin.joints.iter().zip(&skin.inverse_bind);
            slots.map(|(&j, bind)| mul(&world[j], &from_columns(bind))).collect()
        })
        .collect();
    let positions = (scene.nodes.iter().enumerate())
        .map(|(index, node)| {
            let Some(mesh) = node.mesh else {
                return Vec::new();
            };
            let palette = node.skin.map(|skin| palettes[skin].as_slice());
            let primitives = scene.meshes[mesh].primitives.iter();
            primitives.flat_map(|p| vertices(p, &weights[index], palette, &world[index])).collect()
        })
        .collect();
    Pose { world, palettes, positions }
}

fn vertices(
    primitive: &Primitive,
    weights: &[f64],
    palette: Option<&[Matrix]>,
    world: &Matrix,
) -> Vec<[f64; 3]> {
    let influences = &primitive.influences;
    let vertex = |(v, position): (usize, &[f32; 3])| {
        let mut p = position.map(f64::from);
        for (target, weight) in primitive.targets.iter().zip(weights) {
            if let Some(delta) = target.positions.get(v) {
                p = std::array::from_fn(|i| p[i] + weight * f64::from(delta[i]));
            }
        }
        let Some(palette) = palette.filter(|_| !influences.is_empty()) else {
            return apply(world, p, 1.0);
        };
        let mut out = [0.0; 3];
        for k in v * influences.per_vertex..(v + 1) * influences.per_vertex {
            let moved = apply(&palette[usize::from(influences.joints[k])], p, 1.0);
            let weight = f64::from(influences.weights[k]);
            out = std::array::from_fn(|i| out[i] + weight * moved[i]);
        }
        out
    };
    primitive.positions.iter().enumerate().map(vertex).collect()
}

/// Fails unless two lists of numbers agree within `tolerance` of the largest of them (or of 1).
#[track_caller]
pub fn assert_close<'v>(
    a: impl IntoIterator<Item = &'v f64>,
    b: impl IntoIterator<Item = &'v f64>,
    tolerance: f64,
    what: &str,
) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        let off = (*a - *b).abs() / size;
        assert!(off <= tolerance, "{what}: number {i} is {a} and {b}");
    }
    a.len()
}

/// The scenes that tests use beside those made in code: the models that are there; where models are
/// required, all must be.
pub fn models(names: &[&str]) -> Vec<RawScene> {
    use phalanx::import::ImportOptions;
    use phalanx::import::read_path;
    let mut scenes = Vec::new();
    for name in names {
        if let Some(path) = crate::trials::model(name) {
            scenes.push(read_path(&path, &ImportOptions::default()).unwrap().0);
        }
    }
    scenes
}
