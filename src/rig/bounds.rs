//! Boxes: of a rig's slots, and of an instance.

use super::RigMesh;
use crate::mesh::Primitive;
use crate::skeleton::Skin;
use glam::Vec3;

/// An axis-aligned box; empty if `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least corner.
    pub min: Vec3,
    /// Greatest corner.
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// The box that holds nothing.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all())
    }

    /// Grows to hold a point; a NaN coordinate is passed over.
    pub fn add(&mut self, p: Vec3) {
        self.min = self.min.min(p);
        self.max = self.max.max(p);
    }

    /// Grows to hold another box.
    pub fn union(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Its centre; the origin if it is empty.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            (self.min + self.max) * 0.5
        }
    }

    /// Half its size; zero if it is empty.
    pub fn half_size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            (self.max - self.min) * 0.5
        }
    }
}

/// For every palette row of a rig, the box (in mesh space) of the vertices that it moves.
///
/// A skinned vertex is a weighted mean of its places under each of its slots, so the union of the
/// moved boxes holds the deformed mesh (weights that sum to 1, morph weights in [0, 1]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotBounds {
    boxes: Vec<Aabb>,
}

impl SlotBounds {
    /// Measures the boxes of all slots.
    pub(crate) fn measure(skins: &[Skin], offsets: &[usize], meshes: &[RigMesh]) -> Self {
        let rows = skins.iter().map(Skin::len).sum();
        let mut boxes = vec![Aabb::EMPTY; rows];
        for mesh in meshes {
            let first = offsets[mesh.skin];
            let boxes = &mut boxes[first..first + skins[mesh.skin].len()];
            for p in &mesh.mesh.primitives {
                for v in 0..p.positions.len() {
                    let reach = reach(p, v);
                    let mut grow = |slot: u16| {
                        if let Some(b) = boxes.get_mut(usize::from(slot)) {
                            b.union(&reach);
                        }
                    };
                    if let Some(slot) = mesh.rigid_slot {
                        grow(slot);
                        continue;
                    }
                    let n = p.influences.per_vertex;
                    for k in v * n..(v + 1) * n {
                        if p.influences.weights[k] > 0.0 {
                            grow(p.influences.joints[k]);
                        }
                    }
                }
            }
        }
        Self { boxes }
    }

    /// One box per palette row; empty for slots that move no vertex.
    pub fn boxes(&self) -> &[Aabb] {
        &self.boxes
    }
}

/// Where morph weights in [0, 1] can bring a vertex.
fn reach(p: &Primitive, v: usize) -> Aabb {
    let at = Vec3::from(p.positions[v]);
    let mut out = Aabb { min: at, max: at };
    for target in &p.targets {
        if let Some(&d) = target.positions.get(v) {
            let d = Vec3::from(d);
            out.min += d.min(Vec3::ZERO);
            out.max += d.max(Vec3::ZERO);
        }
    }
    out
}
