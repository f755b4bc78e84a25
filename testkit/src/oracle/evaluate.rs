//! Evaluates a pose of all nodes to world matrices, palettes and deformed vertices, all in scene space.

use super::math::{IDENTITY, Mat4, Vec3, from_trs, mul, transform_point};
use super::scene::{NodePose, Pose, Primitive, Scene};
use std::collections::BTreeMap;

/// Everything that can be compared about a pose, with the file's indices. What an evaluator does not provide
/// is left out (`None`, no entry), and a comparison that needs it fails.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// Per node: tx ty tz, qx qy qz qw, sx sy sz; `None` for a node with a matrix.
    pub local: Vec<Option<[f64; 10]>>,
    /// Per node: column-major world matrix.
    pub world: Vec<Option<Mat4>>,
    /// Per skin and slot: column-major skinning matrix.
    pub palettes: Vec<Vec<Mat4>>,
    /// Morph weights by node.
    pub morph: BTreeMap<usize, Vec<f64>>,
    /// Deformed positions by node and primitive of its mesh.
    pub positions: BTreeMap<(usize, usize), Vec<Vec3>>,
}

impl Scene {
    /// World matrices, palettes, weights and vertices of a pose.
    pub fn evaluate(&self, pose: &Pose) -> Evaluated {
        let world = self.world_matrices(pose);
        let palettes: Vec<Vec<Mat4>> = self
            .skins
            .iter()
            .map(|skin| {
                let pairs = skin.joints.iter().zip(&skin.inverse_bind);
                pairs.map(|(&j, bind)| mul(&world[j], bind)).collect()
            })
            .collect();
        let mut out = Evaluated::default();
        for (index, (node, pose)) in self.nodes.iter().zip(pose).enumerate() {
            out.local.push(node.matrix.is_none().then(|| ten(pose)));
            if !pose.weights.is_empty() {
                out.morph.insert(index, pose.weights.clone());
            }
            let Some(mesh) = node.mesh else { continue };
            for (p, primitive) in self.meshes[mesh].primitives.iter().enumerate() {
                let palette = node.skin.map(|s| palettes[s].as_slice());
                let positions = deform(primitive, &pose.weights, palette, &world[index]);
                out.positions.insert((index, p), positions);
            }
        }
        out.world = world.into_iter().map(Some).collect();
        out.palettes = palettes;
        out
    }

    fn world_matrices(&self, pose: &Pose) -> Vec<Mat4> {
        let local = |n: usize| {
            let NodePose { t, r, s, .. } = pose[n];
            self.nodes[n].matrix.unwrap_or_else(|| from_trs(t, r, s))
        };
        let mut world: Vec<Option<Mat4>> = vec![None; self.nodes.len()];
        for n in 0..self.nodes.len() {
            // Up to an ancestor with a known matrix, then down again: parents may have any index.
            let chain: Vec<usize> = std::iter::successors(Some(n), |&n| self.nodes[n].parent)
                .take_while(|&n| world[n].is_none())
                .collect();
            for &n in chain.iter().rev() {
                let above = self.nodes[n].parent.and_then(|p| world[p]);
                world[n] = Some(mul(&above.unwrap_or(IDENTITY), &local(n)));
            }
        }
        world.into_iter().flatten().collect()
    }
}

fn ten(pose: &NodePose) -> [f64; 10] {
    let NodePose { t, r, s, .. } = pose;
    let mut numbers = t.iter().chain(r).chain(s).copied();
    std::array::from_fn(|_| numbers.next().unwrap_or(f64::NAN))
}

/// Applies morph targets, then linear blend skinning with the stored weights; without a skin, the node's
/// world matrix. The transform of a skinned mesh's own node is ignored (3.7.3.3).
fn deform(
    primitive: &Primitive,
    weights: &[f64],
    palette: Option<&[Mat4]>,
    world: &Mat4,
) -> Vec<Vec3> {
    let vertices = primitive.positions.iter().enumerate();
    vertices
        .map(|(v, base)| {
            let mut p = *base;
            for (target, w) in primitive.targets.iter().zip(weights) {
                if let Some(delta) = target.get(v) {
                    p = std::array::from_fn(|i| p[i] + w * delta[i]);
                }
            }
            match (palette, primitive.influences.get(v)) {
                (Some(palette), Some(influences)) => {
                    let mut sum = [0.0; 3];
                    for &(slot, w) in influences.iter().filter(|(_, w)| *w != 0.0) {
                        let moved = transform_point(&palette[slot], p);
                        sum = std::array::from_fn(|i| sum[i] + w * moved[i]);
                    }
                    sum
                }
                _ => transform_point(world, p),
            }
        })
        .collect()
}
