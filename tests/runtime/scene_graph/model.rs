//! A naive model of a scene graph: nodes by their handles, worlds by recursion in f64.

use phalanx::math::Affine3x4;
use phalanx::scene::NodeId;
use std::collections::BTreeMap;

pub type Matrix = [[f64; 4]; 3];

pub const IDENTITY: Matrix = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

pub fn wide(m: &Affine3x4) -> Matrix {
    m.rows.map(|row| row.map(f64::from))
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = [[0.0; 4]; 3];
    for r in 0..3 {
        for c in 0..4 {
            out[r][c] = (0..3).map(|k| a[r][k] * b[k][c]).sum();
        }
        out[r][3] += a[r][3];
    }
    out
}

/// Relative to the largest entry, at least 1.
pub fn difference(a: &Matrix, b: &Matrix) -> f64 {
    let pairs = || a.iter().flatten().zip(b.iter().flatten());
    let largest = pairs().fold(1.0f64, |m, (a, b)| m.max(a.abs()).max(b.abs()));
    pairs().fold(0.0, |d: f64, (a, b)| d.max((a - b).abs())) / largest
}

/// What a node should be.
#[derive(Clone, Debug)]
pub struct Naive {
    pub parent: Option<NodeId>,
    pub local: Matrix,
    pub mirror: Option<NodeId>,
    pub joint: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct Model(pub BTreeMap<NodeId, Naive>);

impl Model {
    pub fn world(&self, node: NodeId) -> Matrix {
        let n = &self.0[&node];
        let above = n.parent.map_or(IDENTITY, |p| self.world(p));
        times(&above, &n.local)
    }

    pub fn at_or_below(&self, node: NodeId, top: NodeId) -> bool {
        node == top || self.0[&node].parent.is_some_and(|p| self.at_or_below(p, top))
    }
}
